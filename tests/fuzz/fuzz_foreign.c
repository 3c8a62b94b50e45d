// SPDX-License-Identifier: MIT
// Tables of others: each reader, chosen by content, and the shapes of what it has read. (Databases
// and packs are the targets pack and merge.)
#include "fuzz.h"

#include "foreign/foreign.h"

#include <math.h>
#include <string.h>

static void check_row(const struct foreign_row *row)
{
    struct strbuf shape = {0};
    fuzz_check(row->nops >= 0 && row->nops <= FOREIGN_OPERANDS_MAX, "operands are bounded");
    fuzz_check(row->nvalues <= FOREIGN_VALUES_MAX, "values are bounded");
    fuzz_check(row->why || row->form || *row->mnemonic, "a row is named or has a reason");
    for (int i = FOREIGN_EXACT; i <= FOREIGN_WIDTH; i++)
        foreign_shape_of(row, (enum foreign_shape)i, &shape);
    for (int i = 0; i < row->nvalues; i++)
        fuzz_check(row->values[i].least >= 0 && row->values[i].most < 1e8 &&
                       isfinite(row->values[i].most),
                   "a value is a time");
    strbuf_free(&shape);
}

void fuzz_foreign(const uint8_t *bytes, size_t size)
{
    struct foreign_table table;
    struct err err = {0};
    const char *path = fuzz_file(bytes, size);
    enum foreign_format format = foreign_recognise(path, &err);
    if (format == FOREIGN_LATPUT || format == FOREIGN_PACK)
        return;
    if (format == FOREIGN_NONE) {
        fuzz_check_message(&err);
        return;
    }
    int status = foreign_read(path, "skylakex", &table, &err);
    if (status != 0) // the row under way is not complete
        fuzz_check_message(&err);
    for (int i = 0; status == 0 && i < table.nrows; i++)
        check_row(&table.rows[i]);
    foreign_free(&table);
}
