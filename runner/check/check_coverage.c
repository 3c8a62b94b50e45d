// SPDX-License-Identifier: MIT
// Coverage of a table of instruction variants by the lists. The table is tab-separated with a
// header; its columns `form` ("mnemonic op,op"), `enc`, `isa_set` and `exec_status` are used, and
// `gas_exec`, if it exists, for variants that only another assembler could encode. A table of
// variants that no CPU at hand executes has `cpl`, `attrs` and `opcode` instead of `exec_status`:
// wanted is what user code may execute, by that opcode, unless it is withdrawn or an alias.
#include "check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIELD_FORM,
    FIELD_ENC,
    FIELD_ISA_SET,
    FIELD_STATUS,
    FIELD_OTHER_STATUS,
    FIELD_CPL,
    FIELD_ATTRS,
    FIELD_OPCODE
};
enum { COVERAGE_COLUMNS = 8, COVERAGE_REQUIRED = 4, COVERAGE_FIELDS_MAX = 64 };
static const char *const coverage_columns[COVERAGE_COLUMNS] = {
    "form", "enc", "isa_set", "exec_status", "gas_exec", "cpl", "attrs", "opcode"};

struct coverage_set { // one instruction set
    const char *name;
    int have, want;
};

struct coverage {
    const char **keys; // sorted: "enc mnemonic op op"
    size_t nkeys;
    struct coverage_set *sets;
    size_t nsets, capacity;
    struct arena arena;
};

static int coverage_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int coverage_compare_sets(const void *a, const void *b)
{
    return strcmp(((const struct coverage_set *)a)->name, ((const struct coverage_set *)b)->name);
}

// Writes an operand of a row as the table does: without values, addresses as agen(B_IS_D8).
static void coverage_append_operand(const struct operand *op, char *out, size_t size)
{
    size_t used = strlen(out);
    if (op->kind == OPERAND_AGEN) {
        struct agen_parts parts = render_agen_parts(op);
        char text[32] = "";
        if (parts.relative)
            strcat(text, "_R");
        if (parts.base)
            strcat(text, "_B");
        if (parts.index)
            strcat(text, parts.scale > 1 ? "_IS" : "_I");
        if (parts.disp || parts.relative)
            strcat(text, parts.disp == 8 ? "_D8" : "_D32");
        snprintf(out + used, size - used, " agen(%s)", text + 1);
        return;
    }
    snprintf(out + used, size - used, " %s%s%s", op->text, op->masked ? "{k}" : "",
             op->zeroing ? "{z}" : "");
    used = strlen(out);
    if (op->broadcast)
        snprintf(out + used, size - used, "{1to%d}", op->broadcast);
}

static const char *coverage_row_key(struct coverage *coverage, const struct list_row *row)
{
    char key[256];
    snprintf(key, sizeof key, "%s %s%s", encoding_name(row->enc),
             strstr(row->nasm_mnemonic, "{nf}") ? "{nf} " : "", row->mnemonic);
    for (int i = 0; i < row->nops; i++)
        coverage_append_operand(&row->ops[i], key, sizeof key);
    size_t used = strlen(key);
    snprintf(key + used, sizeof key - used, "%s",
             row->rounding == ROUND_ER    ? " {er}"
             : row->rounding == ROUND_SAE ? " {sae}"
                                          : "");
    return arena_strdup(&coverage->arena, key);
}

// Returns true if the mnemonic implies the register, which tables leave out; some assemblers want
// it (fnstsw ax).
static bool coverage_is_implied(const struct list_row *row)
{
    for (int i = 0; i < row->nops; i++)
        if (row->ops[i].kind != OPERAND_GPR || row->ops[i].fixed < 0)
            return false;
    return row->nops > 0;
}

static void coverage_collect(struct coverage *coverage, const struct check *check)
{
    coverage->keys = xcalloc(3 * (size_t)check->nrows + 1, sizeof *coverage->keys);
    for (int i = 0; i < check->nlists; i++)
        for (int j = 0; check->lists[i].read && j < check->lists[i].list.nrows; j++) {
            const struct list_row *row = &check->lists[i].list.rows[j];
            if (row->bits != 64 || row->same)
                continue;
            const char *key = coverage_row_key(coverage, row);
            coverage->keys[coverage->nkeys++] = key;
            // Rows without opcode= may have any.
            coverage->keys[coverage->nkeys++] =
                row->opcode.given ? arena_printf(&coverage->arena, "%s %02x", key, row->opcode.byte)
                                  : arena_printf(&coverage->arena, "%s any", key);
            if (coverage_is_implied(row))
                coverage->keys[coverage->nkeys++] =
                    arena_printf(&coverage->arena, "%s %s", encoding_name(row->enc), row->mnemonic);
        }
    qsort(coverage->keys, coverage->nkeys, sizeof *coverage->keys, coverage_compare);
}

static bool coverage_find(const struct coverage *coverage, const char *key)
{
    return bsearch(&key, coverage->keys, coverage->nkeys, sizeof *coverage->keys,
                   coverage_compare) != NULL;
}

// Turns memory of a width ("m512") into memory without one, in place.
static void coverage_drop_widths(char *key)
{
    char *to = key;
    for (const char *at = key; *at;) {
        bool memory = at > key && at[-1] == ' ' && at[0] == 'm' && at[1] >= '0' && at[1] <= '9';
        *to++ = *at++;
        if (memory)
            at += strspn(at, "0123456789");
    }
    *to = '\0';
}

// Copies the text without a word such as "{evex} ", in place.
static void coverage_drop_word(char *text, const char *word)
{
    char *at = strstr(text, word);
    size_t len = strlen(word);
    if (at)
        memmove(at, at + len, strlen(at + len) + 1);
}

// Finds the form with the opcode ("": any), or in a row that names none.
static bool coverage_has_opcode(const struct coverage *coverage, const char *form,
                                const char *opcode)
{
    char key[300];
    if (!*opcode)
        return coverage_find(coverage, form);
    snprintf(key, sizeof key, "%s %s", form, opcode);
    for (char *at = key + strlen(form); *at; at++)
        *at |= *at >= 'A' && *at <= 'F' ? 0x20 : 0;
    if (coverage_find(coverage, key))
        return true;
    snprintf(key, sizeof key, "%s any", form);
    return coverage_find(coverage, key);
}

static bool coverage_has(const struct coverage *coverage, const char *enc, const char *form,
                         const char *opcode)
{
    char key[256];
    enc = strcmp(enc, "evex-map4") == 0 ? "evex" : strcmp(enc, "rex2") == 0 ? "legacy" : enc;
    snprintf(key, sizeof key, "%s %s", enc, form);
    coverage_drop_word(key, "{evex} ");
    coverage_drop_word(key, "{dfv=} ");
    for (char *at = key; *at; at++)
        if (*at == ',')
            *at = ' ';
    if (coverage_has_opcode(coverage, key, opcode))
        return true;
    coverage_drop_widths(key); // lists have `m` for memory without a size keyword in NASM
    return coverage_has_opcode(coverage, key, opcode);
}

static struct coverage_set *coverage_find_set(struct coverage *coverage, const char *name)
{
    for (size_t i = 0; i < coverage->nsets; i++)
        if (strcmp(coverage->sets[i].name, name) == 0)
            return &coverage->sets[i];
    coverage->sets =
        xgrow(coverage->sets, &coverage->capacity, coverage->nsets + 1, sizeof *coverage->sets);
    coverage->sets[coverage->nsets] =
        (struct coverage_set){arena_strdup(&coverage->arena, name), 0, 0};
    return &coverage->sets[coverage->nsets++];
}

// Cuts a line at its tabs, in place; returns the number of fields.
static int coverage_split(char *line, char **fields)
{
    int n = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; at && n < COVERAGE_FIELDS_MAX;) {
        fields[n++] = at;
        at = strchr(at, '\t');
        if (at)
            *at++ = '\0';
    }
    return n;
}

static int coverage_header(const char *path, char *line, int *columns, struct err *err)
{
    char *fields[COVERAGE_FIELDS_MAX];
    int n = coverage_split(line, fields);
    for (int i = 0; i < COVERAGE_COLUMNS; i++) {
        columns[i] = -1;
        for (int j = 0; j < n; j++)
            if (strcmp(fields[j], coverage_columns[i]) == 0)
                columns[i] = j;
    }
    bool newer = columns[FIELD_STATUS] < 0 && columns[FIELD_CPL] >= 0 &&
                 columns[FIELD_ATTRS] >= 0 && columns[FIELD_OPCODE] >= 0;
    if (!newer)
        columns[FIELD_OPCODE] = -1; // such tables have one row for all opcodes of a form
    for (int i = 0; i < COVERAGE_REQUIRED; i++) {
        if (columns[i] < 0 && !(newer && i == FIELD_STATUS))
            return err_set(err,
                           "%s:1: column '%s' is missing; a table of variants is "
                           "tab-separated and has a header row",
                           path, coverage_columns[i]);
    }
    return 0;
}

// Returns true if the lists should have the variant.
static bool coverage_wants(char *const *fields, const int *columns)
{
    int status = columns[FIELD_STATUS], other = columns[FIELD_OTHER_STATUS];
    if (status >= 0)
        return strcmp(fields[status], "ok") == 0 ||
               (other >= 0 && strcmp(fields[other], "ok") == 0);
    return strcmp(fields[columns[FIELD_CPL]], "3") == 0 &&
           !strstr(fields[columns[FIELD_ATTRS]], "withdrawn=") &&
           !strstr(fields[columns[FIELD_ATTRS]], "alias=");
}

static int coverage_line(struct coverage *coverage, char *line, const int *columns, bool missing,
                         FILE *out)
{
    char *fields[COVERAGE_FIELDS_MAX];
    int n = coverage_split(line, fields);
    for (int i = 0; i < COVERAGE_COLUMNS; i++)
        if (columns[i] >= n)
            return -1;
    if (!coverage_wants(fields, columns))
        return 0;
    struct coverage_set *set = coverage_find_set(coverage, fields[columns[FIELD_ISA_SET]]);
    const char *enc = fields[columns[FIELD_ENC]], *form = fields[columns[FIELD_FORM]];
    const char *opcode = columns[FIELD_OPCODE] < 0 ? "" : fields[columns[FIELD_OPCODE]];
    set->want++;
    if (coverage_has(coverage, enc, form, opcode))
        set->have++;
    else if (missing)
        fprintf(out, "missing\t%s\t%s\t%s%s%s\n", set->name, enc, form, *opcode ? "\t" : "",
                opcode);
    return 0;
}

static void coverage_print(struct coverage *coverage, FILE *out)
{
    int have = 0, want = 0;
    if (coverage->nsets)
        qsort(coverage->sets, coverage->nsets, sizeof *coverage->sets, coverage_compare_sets);
    for (size_t i = 0; i < coverage->nsets; i++) {
        const struct coverage_set *set = &coverage->sets[i];
        fprintf(out, "%-28s %6d of %6d\n", set->name, set->have, set->want);
        have += set->have;
        want += set->want;
    }
    fprintf(out, "%-28s %6d of %6d\n", "all", have, want);
}

int check_coverage(const struct check *check, const char *path, bool missing, FILE *out,
                   struct err *err)
{
    struct coverage coverage = {0};
    int columns[COVERAGE_COLUMNS] = {0}, status = 0, number = 0;
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        return err_set(err, "%s: cannot be read: %s", path, strerror(errno));
    coverage_collect(&coverage, check);
    while (status == 0 && getline(&line, &room, file) >= 0) {
        number++;
        if (number == 1)
            status = coverage_header(path, line, columns, err);
        else if (coverage_line(&coverage, line, columns, missing, out) != 0)
            status = err_set(err, "%s:%d: has fewer fields than the header", path, number);
    }
    if (status == 0 && number == 0)
        status = err_set(err, "%s: cannot be read or is empty", path);
    if (status == 0)
        coverage_print(&coverage, out);
    free(line);
    fclose(file);
    free(coverage.keys);
    free(coverage.sets);
    arena_free(&coverage.arena);
    return status;
}
