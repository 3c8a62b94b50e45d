// SPDX-License-Identifier: MIT
#include "explain_missing.h"

#include "run/run.h"

#include <stdlib.h>

static void missing_add(const struct explain_table *table, const struct block_instr *instr,
                        struct selection *missing)
{
    const struct table_row *found = table_match(table, instr);
    if (!found || found->form)
        return;
    for (int r = 0; r < missing->nrows; r++)
        if (missing->rows[r].row == found->row)
            return;
    for (int r = 0; r < table->selection.nrows; r++)
        if (table->selection.rows[r].row == found->row)
            missing->rows[missing->nrows++] = table->selection.rows[r];
}

int explain_measure_missing(const struct explain_table *table, struct store *store,
                            const struct block *blocks, int nblocks, const struct bench_spec *spec,
                            struct err *err)
{
    const struct run_options options = {.tests = TESTS_LATENCY | TESTS_THROUGHPUT |
                                                 (table->model ? TESTS_PORTS : 0),
                                        .cpu = spec->cpu,
                                        .give_up_s = spec->give_up_ms / 1000,
                                        .selection = "explain --measure"};
    struct selection missing = {.lists = table->selection.lists, .nlists = table->selection.nlists};
    struct run_summary summary;
    int most = 0;
    for (int b = 0; b < nblocks; b++)
        most += blocks[b].n;
    missing.rows = xcalloc((size_t)most + 1, sizeof *missing.rows);
    for (int b = 0; b < nblocks; b++)
        for (int i = 0; i < blocks[b].n; i++)
            missing_add(table, &blocks[b].instrs[i], &missing);
    int status = missing.nrows > 0 ? run_rows(store, &missing, &options, &summary, err) : 0;
    if (status == 0 && missing.nrows > 0)
        status = 1;
    free(missing.rows);
    return status;
}
