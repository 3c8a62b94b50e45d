// SPDX-License-Identifier: MIT
// Validation of lists: duplicates, selections, macros; see check.h.
#include "check.h"

#include "check_known.h"
#include "cpuinfo/counter_check.h"
#include "list/form_shown.h"
#include "list/form_words.h"
#include "port_names/port_names_file.h"
#include "sheet/sheet.h"
#include "util/paths.h"

#include "cpuinfo/cpuinfo.h"

#include <stdlib.h>
#include <string.h>

struct check_read {
    struct check *check;
    int order;
};

static void check_on_fault(const struct err *err, void *data)
{
    struct check_read *read = data;
    check_problem_add(read->check, read->order, err->line, err->text);
}

static void check_read_lists(struct check *check, const char *const *paths)
{
    for (int i = 0; i < check->nlists; i++) {
        struct check_list *item = &check->lists[i];
        struct check_read read = {check, i};
        item->selection = strstr(paths[i], "selection/") != NULL;
        item->read = list_read_all(paths[i], &item->list, check_on_fault, &read) >= 0;
        check->nrows += item->read ? item->list.nrows : 0;
    }
}

static int check_compare_rows(const void *a, const void *b)
{
    const struct list_row *x = *(const struct list_row *const *)a;
    const struct list_row *y = *(const struct list_row *const *)b;
    int order = strcmp(x->form, y->form);
    if (order == 0)
        order = strcmp(x->path, y->path);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

// Returns true if all columns are equal but the tests, of which a selection may want fewer.
static bool check_fields_equal(const struct list_row *a, const struct list_row *b)
{
    for (int i = 0; i < LIST_COLUMNS; i++)
        if (i != LIST_TESTS && strcmp(a->fields[i], b->fields[i]) != 0)
            return false;
    return true;
}

// Checks that a selection describes a form like the list that it selects from: the results of both
// are filed under one form.
static void check_selection_row(struct check *check, const struct list_row *row,
                                const struct list_row *const *rows, size_t nrows)
{
    size_t low = 0, high = nrows;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(rows[middle]->form, row->form) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct list_row *same = low < nrows ? rows[low] : NULL;
    if (!same || strcmp(same->form, row->form) != 0) {
        check_row_problem(check, row, NULL,
                          "'%s' is in none of lists/*.csv; a selection repeats rows of them",
                          row->form);
        return;
    }
    if (!check_fields_equal(same, row))
        check_row_problem(check, row, NULL, "differs from the same form in %s:%d:\n  %s",
                          same->path, same->line, same->source);
}

// Fills `rows` with the rows of the lists that are (not) selections, with `unknown` only those that
// are not known to be good; returns their number.
static size_t check_gather_rows(const struct check *check, bool selection, bool unknown,
                                const struct list_row **rows)
{
    size_t n = 0;
    for (int i = 0; i < check->nlists; i++) {
        const struct check_list *item = &check->lists[i];
        if (item->selection != selection || !item->read || (unknown && item->known))
            continue;
        for (int j = 0; j < item->list.nrows; j++)
            rows[n++] = &item->list.rows[j];
    }
    return n;
}

static void check_forms(struct check *check)
{
    const struct list_row **rows = xcalloc((size_t)check->nrows + 1, sizeof *rows);
    size_t n = check_gather_rows(check, false, false, rows);
    qsort(rows, n, sizeof *rows, check_compare_rows);
    for (size_t i = 1; i < n; i++)
        if (strcmp(rows[i]->form, rows[i - 1]->form) == 0)
            check_row_problem(check, rows[i], NULL, "'%s' is already in %s:%d; remove one",
                              rows[i]->form, rows[i - 1]->path, rows[i - 1]->line);
    for (int i = 0; i < check->nlists && check->complete; i++)
        for (int j = 0;
             check->lists[i].selection && check->lists[i].read && j < check->lists[i].list.nrows;
             j++)
            check_selection_row(check, &check->lists[i].list.rows[j], rows, n);
    free(rows);
}

// Returns true if the macro file defines the multi-line macro `name`.
static bool check_macro_defined(FILE *file, const char *name)
{
    char line[1024], word[128];
    rewind(file);
    while (fgets(line, sizeof line, file))
        if (strchr(line, '%') &&
            (sscanf(line, " %%macro %127s", word) == 1 ||
             sscanf(line, " %%imacro %127s", word) == 1) &&
            strcmp(word, name) == 0)
            return true;
    return false;
}

// Checks that the macros named by a contract line exist: its body, by default `name`, and its init.
static void check_contract(struct check *check, const struct list_row *row, const char *path,
                           const char *name, const char *line)
{
    char body[128], init[128] = "";
    snprintf(body, sizeof body, "%s", name);
    const char *at = strstr(line, " body=");
    if (at)
        sscanf(at, " body=%127s", body);
    at = strstr(line, " init=");
    if (at)
        sscanf(at, " init=%127s", init);
    FILE *file = fopen(path, "r");
    if (file && !check_macro_defined(file, body))
        check_row_problem(check, row, name, "%s does not define '%%macro %s'", path, body);
    if (file && *init && !check_macro_defined(file, init))
        check_row_problem(check, row, name, "%s does not define '%%macro %s'", path, init);
    if (file)
        fclose(file);
}

static void check_contracts(struct check *check, const struct list_row *row, const char *path,
                            FILE *file, const char *name)
{
    char line[1024], word[128];
    int found = 0;
    while (fgets(line, sizeof line, file))
        if (line[0] == ';' && sscanf(line, ";@ %127s", word) == 1 && strcmp(word, name) == 0) {
            check_contract(check, row, path, name, line);
            found++;
        }
    if (!found)
        check_row_problem(check, row, name, "%s has no contract line ';@ %s ...'", path, name);
}

static void check_macro(struct check *check, const struct list_row *row)
{
    char relative[256];
    snprintf(relative, sizeof relative, "macros/%s", row->macro.file);
    const char *path = path_data(relative);
    FILE *file = fopen(path, "r");
    if (!file)
        check_row_problem(check, row, row->macro.file, "there is no file %s", path);
    else
        check_contracts(check, row, path, file, row->macro.name);
    if (file)
        fclose(file);
}

// Assembles and decodes every row of one mode. Rows with a macro are no single instruction.
static int check_rows(struct check *check, int bits, struct check_exceptions *exceptions,
                      struct err *err)
{
    const struct list_row **rows = xcalloc((size_t)check->nrows + 1, sizeof *rows);
    struct check_code *codes =
        arena_alloc(&check->arena, ((size_t)check->nrows + 1) * sizeof *codes);
    size_t nrows = check_gather_rows(check, false, true, rows);
    if (!check->complete) // a complete check compares them with rows that are checked
        nrows += check_gather_rows(check, true, true, rows + nrows);
    int n = 0;
    for (size_t i = 0; i < nrows; i++)
        if (rows[i]->bits == bits && !rows[i]->macro.file)
            codes[n++].row = rows[i];
        else if (rows[i]->bits == bits)
            check_macro(check, rows[i]);
    const unsigned char *bytes = NULL;
    int status = n ? check_assemble(check, codes, n, bits, &bytes, err) : 0;
    for (int i = 0; i < n && status == 0; i++)
        if (!codes[i].refused)
            check_decode(check, &codes[i], bytes, exceptions);
    if (bits == 64 && status == 0) {
        check->codes = codes;
        check->ncodes = n;
        check->bytes = bytes;
    }
    free(rows);
    return status;
}

static const struct list_row *check_find_row(const char *form, void *data)
{
    const struct check *check = data;
    for (int i = 0; i < check->nlists; i++)
        for (int r = 0; r < check->lists[i].list.nrows; r++)
            if (check->lists[i].list.rows[r].bits == 64 &&
                strcmp(check->lists[i].list.rows[r].form, form) == 0)
                return &check->lists[i].list.rows[r];
    return NULL;
}

static void check_on_table_fault(const struct err *err, void *data)
{
    check_table_problem(data, err->text);
}

void check_port_names(struct check *check)
{
    port_names_check_all(check_find_row, check, check_on_table_fault, check);
}

static void check_sheet(struct check *check)
{
    struct sheet_lines lines;
    struct err fault = {0};
    if (sheet_lines_load(&lines, &fault) != 0)
        check_table_problem(check, fault.text);
    else
        sheet_lines_free(&lines);
}

int check_lists(const char *const *paths, int npaths, bool complete, struct check *check,
                struct err *err)
{
    struct err fault;
    *check = (struct check){.nlists = npaths, .complete = complete};
    check->lists = xcalloc((size_t)npaths + 1, sizeof *check->lists);
    if (form_words_load(&fault) != 0 || form_shown_load(&fault) != 0)
        check_table_problem(check, fault.text);
    if (cpuinfo_check(&fault) != 0)
        check_table_problem(check, fault.text);
    else if (complete) {
        counters_check(NULL, check_on_table_fault, check);
        check_sheet(check);
    }
    check_read_lists(check, paths);
    check_forms(check);
    struct check_exceptions *exceptions = check->exceptions = check_exceptions_read(check);
    if (check_rows(check, 64, exceptions, err) != 0 || check_rows(check, 32, exceptions, err) != 0)
        return -1;
    if (complete)
        check_exceptions_unused(exceptions, check);
    return 0;
}

// Takes the lists of the selection, each with its key if results can be remembered.
static void check_borrow(struct check *check, const struct selection *selection,
                         const struct check_known *known, char (*keys)[CHECK_KEY_BYTES])
{
    for (int i = 0; i < selection->nlists; i++) {
        const struct list *list = &selection->lists[i];
        check_known_key(known, list, keys[i]);
        check->lists[i] = (struct check_list){.list = *list,
                                              .selection = strstr(list->path, "selection/"),
                                              .read = true,
                                              .known = check_known_has(known, keys[i])};
        check->nrows += list->nrows;
    }
}

int check_selection(const struct selection *selection, const char *nasm, struct check *check,
                    struct err *err)
{
    *check = (struct check){.nlists = selection->nlists, .borrowed = true};
    check->lists = xcalloc((size_t)check->nlists + 1, sizeof *check->lists);
    char(*keys)[CHECK_KEY_BYTES] = xcalloc((size_t)check->nlists + 1, sizeof *keys);
    struct check_known *known = check_known_open(nasm);
    check_borrow(check, selection, known, keys);
    check_forms(check);
    struct check_exceptions *exceptions = check_exceptions_read(check);
    int status = check_rows(check, 64, exceptions, err);
    if (status == 0)
        status = check_rows(check, 32, exceptions, err);
    // A problem may concern any of them.
    for (int i = 0; i < check->nlists && status == 0 && check->nproblems == 0; i++)
        if (!check->lists[i].known)
            check_known_add(known, keys[i]);
    check_known_close(known);
    free(keys);
    return status;
}

void check_free(struct check *check)
{
    for (int i = 0; i < check->nlists && !check->borrowed; i++)
        list_free(&check->lists[i].list);
    free(check->lists);
    free(check->problems);
    arena_free(&check->arena);
    *check = (struct check){0};
}
