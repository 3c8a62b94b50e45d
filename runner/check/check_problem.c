// SPDX-License-Identifier: MIT
// Collects problems, and prints them in order; see check.h.
#include "check.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// Returns true if the problem is among the last ones, which are of the same line: so it is for a
// macro that is missing in many shapes. Others are not looked at, since a list may have any number.
static bool check_problem_is_told(const struct check *check, int order, int line, const char *text)
{
    for (size_t i = check->nproblems; i-- > 0;) {
        const struct check_problem *problem = &check->problems[i];
        if (problem->line != line || problem->order != order)
            return false;
        if (strcmp(problem->text, text) == 0)
            return true;
    }
    return false;
}

void check_problem_add(struct check *check, int order, int line, const char *text)
{
    if (check_problem_is_told(check, order, line, text))
        return;
    check->problems =
        xgrow(check->problems, &check->capacity, check->nproblems + 1, sizeof *check->problems);
    check->problems[check->nproblems] = (struct check_problem){order, line, (int)check->nproblems,
                                                               arena_strdup(&check->arena, text)};
    check->nproblems++;
}

static int check_order(const struct check *check, const char *path)
{
    for (int i = 0; i < check->nlists; i++)
        if (check->lists[i].list.path == path)
            return i;
    return check->nlists;
}

void check_table_problem(struct check *check, const char *text)
{
    check_problem_add(check, check->nlists, 0, text);
}

__attribute__((format(printf, 4, 0))) static void check_add_at(struct check *check,
                                                               const struct list_row *row,
                                                               int column, const char *format,
                                                               va_list ap)
{
    char message[1024];
    struct err err;
    vsnprintf(message, sizeof message, format, ap);
    list_row_error_at(row, column, &err, message);
    check_problem_add(check, check_order(check, row->path), row->line, err.text);
}

void check_row_problem(struct check *check, const struct list_row *row, const char *token,
                       const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    check_add_at(check, row, list_row_column(row, token), format, ap);
    va_end(ap);
}

// Returns the 1-based column of operand `index`: operands are the second field, which needs no
// quotes.
static int check_operand_column(const struct list_row *row, int index)
{
    const char *at = strchr(row->source, ',');
    if (!at)
        return 1;
    at++;
    for (at += strspn(at, " \t\""); index > 0; index--) {
        at += strcspn(at, " \t,");
        at += strspn(at, " \t");
    }
    return (int)(at - row->source) + 1;
}

void check_operand_problem(struct check *check, const struct list_row *row, int index,
                           const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    check_add_at(check, row, check_operand_column(row, index), format, ap);
    va_end(ap);
}

static int check_compare_problems(const void *a, const void *b)
{
    const struct check_problem *x = a, *y = b;
    if (x->order != y->order)
        return x->order - y->order;
    if (x->line != y->line)
        return x->line - y->line;
    return x->number - y->number;
}

void check_print(struct check *check, FILE *out)
{
    if (check->nproblems)
        qsort(check->problems, check->nproblems, sizeof *check->problems, check_compare_problems);
    for (size_t i = 0; i < check->nproblems; i++)
        fprintf(out, "%s\n", check->problems[i].text);
}

// Counts the rows of the list at this line, or at all lines (0).
static int check_rows_at(const struct list *list, int line)
{
    int n = 0;
    for (int i = 0; i < list->nrows; i++)
        n += !line || list->rows[i].line == line;
    return n;
}

int check_keep_lines(struct check *check, const int *lines)
{
    size_t kept = 0;
    int without = -1;
    for (size_t i = 0; i < check->nproblems; i++) {
        const struct check_problem *problem = &check->problems[i];
        int line = problem->order < check->nlists ? lines[problem->order] : 0;
        if (!line || line == problem->line)
            check->problems[kept++] = *problem;
    }
    check->nproblems = kept;
    check->nrows = 0;
    for (int l = check->nlists - 1; l >= 0; l--) {
        int rows = check_rows_at(&check->lists[l].list, lines[l]);
        check->nrows += rows;
        bool said = false; // a row that cannot be read is itself a problem
        for (size_t i = 0; i < kept; i++)
            said |= check->problems[i].order == l;
        if (rows == 0 && lines[l] && !said)
            without = l;
    }
    return without;
}
