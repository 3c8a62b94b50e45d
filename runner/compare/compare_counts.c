// SPDX-License-Identifier: MIT
// Frequencies of forms in compiled code, from cpuinfo/instruction_counts.csv, by mnemonic and kinds
// of operands: forms that differ in other ways share a count.
#include "compare_internal.h"

#include "list/list_mnemonic.h"
#include "util/csvfile.h"
#include "util/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct counted_shape {
    const char *shape;
    double count;
};
struct compare_counts {
    struct csv_file file;
    struct counted_shape *shapes; // sorted by shape
    size_t n;
    double total;
};

static int counts_compare(const void *a, const void *b)
{
    return strcmp(((const struct counted_shape *)a)->shape,
                  ((const struct counted_shape *)b)->shape);
}

struct compare_counts *compare_counts_read(struct err *err)
{
    static const char *const columns[] = {"shape", "count"};
    static const struct csv_spec spec = {columns, ARRAY_LEN(columns), 0};
    struct compare_counts *counts = xcalloc(1, sizeof *counts);
    if (csv_file_read(path_data("cpuinfo/instruction_counts.csv"), &spec, &counts->file, err) !=
        0) {
        free(counts);
        return NULL;
    }
    counts->n = counts->file.nrecords;
    counts->shapes = xmalloc((counts->n + 1) * sizeof *counts->shapes);
    for (size_t i = 0; i < counts->n; i++) {
        const char *const *fields = counts->file.records[i].fields;
        counts->shapes[i] = (struct counted_shape){fields[0], strtod(fields[1], NULL)};
        counts->total += counts->shapes[i].count;
    }
    if (counts->n > 0)
        qsort(counts->shapes, counts->n, sizeof *counts->shapes, counts_compare);
    return counts;
}

// Returns an operand's kind in the words of tools/count-instructions.
static const char *counts_kind(const struct operand *op, char text[16])
{
    switch (op->kind) {
    case OPERAND_GPR:
        // Short encodings with rax get a shape that has no count: objdump's count includes them.
        if (op->fixed == 0)
            return "rax";
        snprintf(text, 16, op->high8 ? "r%dh" : "r%d", op->bits);
        return text;
    case OPERAND_VEC:
        return op->bits == 128 ? "x" : op->bits == 256 ? "y" : "z";
    case OPERAND_MMX:
        return "mm";
    case OPERAND_MASK:
        return "k";
    case OPERAND_X87:
        return "st";
    case OPERAND_IMM:
        if (op->literal)
            snprintf(text, 16, "%d", (int)op->value);
        return op->literal ? text : op->bits == 8 ? "i8" : op->bits == 64 ? "i64" : "i";
    case OPERAND_REL:
        return "i";
    case OPERAND_MOFFS:
        return "moffs";
    case OPERAND_AGEN:
        return op->text;
    default:
        snprintf(text, 16, op->bits ? "m%d" : "m", op->bits);
        return text;
    }
}

// Assemblers do not choose an encoding that a row prescribes, so the count is of the other one.
double compare_counts_of(const struct compare_counts *counts, const struct known_form *form)
{
    if (form->row->opcode.given)
        return 0;
    char name[64], kind[16];
    const char *space = strrchr(form->row->mnemonic, ' ');
    struct strbuf shape = {0};
    list_mnemonic_canonical(space ? space + 1 : form->row->mnemonic, name, sizeof name);
    strbuf_puts(&shape, name);
    for (int i = 0; i < form->row->nops; i++)
        strbuf_printf(&shape, " %s", counts_kind(&form->row->ops[i], kind));
    struct counted_shape key = {.shape = strbuf_text(&shape)};
    const struct counted_shape *found =
        counts->n ? bsearch(&key, counts->shapes, counts->n, sizeof key, counts_compare) : NULL;
    strbuf_free(&shape);
    return found ? found->count : 0;
}

double compare_counts_total(const struct compare_counts *counts)
{
    return counts->total;
}

const char *compare_counts_files(const struct compare_counts *counts)
{
    const char *files = csv_file_comment(&counts->file, "files");
    return files ? files : "";
}

void compare_counts_free(struct compare_counts *counts)
{
    if (!counts)
        return;
    csv_file_free(&counts->file);
    free(counts->shapes);
    free(counts);
}
