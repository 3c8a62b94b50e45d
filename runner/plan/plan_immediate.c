// SPDX-License-Identifier: MIT
// Immediates other than the usual one. The work of an instruction may depend on its immediate: a
// shift by 0, a permutation that leaves all in place, the lower half of a vector. The table
// macros/immediates.csv has the values to measure per class of forms. One kernel of each kind
// suffices: it is compared with the same kernel at the usual value.
#include "plan_internal.h"

#include "util/csvfile.h"
#include "util/paths.h"

#include <fnmatch.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { IMMEDIATE_BITS = 8, IMMEDIATE_VALUES_MAX = 4 };

static const char UPPER[] = "upper"; // value that stands for PLAN_UPPER, not for an immediate

struct immediates {
    const char *forms; // glob on mnemonic and operands
    struct immediate values[IMMEDIATE_VALUES_MAX];
    int n;
};

static struct immediates *immediates;
static size_t nimmediates;
static struct err immediates_err;
static int immediates_status;

// Parses one record of the table; columns as in immediates_read().
static int immediate_parse(struct csv_file *file, const struct csv_record *record,
                           struct immediates *to, struct err *err)
{
    const char *at = record->fields[1];
    *to = (struct immediates){.forms = record->fields[0]};
    while (*at) {
        size_t len = strcspn(at, " ");
        char *end;
        struct immediate *immediate = &to->values[to->n];
        immediate->upper = strncmp(at, UPPER, len) == 0 && len == strlen(UPPER);
        long value = immediate->upper ? (end = (char *)at + len, 0) : strtol(at, &end, 0);
        if (to->n == IMMEDIATE_VALUES_MAX || end != at + len || len == 0 || value < -128 ||
            value > 255)
            return csv_record_error(file->path, record, 1, err,
                                    "values must be at most %d numbers that fit into a byte, or "
                                    "%s, with one blank between them",
                                    IMMEDIATE_VALUES_MAX, UPPER);
        immediate->value = (int)value;
        immediate->variant = immediate->upper
                                 ? PLAN_UPPER
                                 : arena_printf(&file->arena, PLAN_IMMEDIATE "%.*s", (int)len, at);
        to->n++;
        at += len + (at[len] == ' ');
    }
    return 0;
}

static void immediates_read(void)
{
    static const char *const columns[] = {"forms", "values", "note"};
    static struct csv_file file; // owns the text of the table as long as the program runs
    const struct csv_spec spec = {columns, ARRAY_LEN(columns), 1};
    immediates_status =
        csv_file_read(path_data("macros/immediates.csv"), &spec, &file, &immediates_err);
    if (immediates_status != 0)
        return;
    immediates = xcalloc(file.nrecords + 1, sizeof *immediates);
    for (; nimmediates < file.nrecords && immediates_status == 0; nimmediates++)
        immediates_status = immediate_parse(&file, &file.records[nimmediates],
                                            &immediates[nimmediates], &immediates_err);
}

int immediates_load(struct err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, immediates_read);
    return immediates_status == 0 ? 0 : err_set(err, "%s", immediates_err.text);
}

bool immediate_takes(const struct row_plan *rp, const struct operand *op)
{
    return !rp->immediate->upper && op->kind == OPERAND_IMM && op->bits == IMMEDIATE_BITS &&
           !op->has_value && !op->literal;
}

bool immediate_is_requested(const struct row_plan *rp)
{
    const struct list_row *row = rp->row;
    if (rp->immediate->upper)
        return row->enc == ENC_LEGACY && rp->points[0].class == CLASS_VEC && rp->points[0].read;
    for (int i = 0; i < row->nops; i++)
        if (immediate_takes(rp, &row->ops[i]))
            return true;
    return false;
}

int immediates_of(const struct row_plan *rp, const struct immediate **values)
{
    const struct list_row *row = rp->row;
    const char *name = arena_printf(rp->arena, "%s %s", row->mnemonic, row->operands_text);
    for (size_t i = 0; i < nimmediates; i++)
        if (fnmatch(immediates[i].forms, name, 0) == 0) {
            *values = immediates[i].values;
            return immediates[i].n;
        }
    return 0;
}
