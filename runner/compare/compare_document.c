// SPDX-License-Identifier: MIT
// The part of docs/COMPARISON.md that follows from the records: tolerances and groups.
#include "compare_tables_internal.h"

static void put_tolerances(struct strbuf *out)
{
    strbuf_puts(out, "| quantity | the same up to | or this share of ours |\n|---|---|---|\n");
    for (int q = 0; q < FOREIGN_QUANTITIES; q++) {
        const struct column_tolerance *tolerance = &compare_tolerances[q];
        bool clk = q == FOREIGN_LATENCY || q == FOREIGN_THROUGHPUT;
        strbuf_printf(out, "| %s | %g%s |", foreign_quantity_names[q], tolerance->clk,
                      clk ? " cycles" : "");
        if (tolerance->share > 0)
            strbuf_printf(out, " %g %% |\n", tolerance->share * 100);
        else
            strbuf_puts(out, " |\n");
    }
}

void compare_document(struct strbuf *out)
{
    put_tolerances(out);
    strbuf_puts(out, "\n| group | evidence | in doubt |\n|---|---|---|\n");
    for (int g = GROUP_AGREES + 1; g < COMPARE_GROUPS; g++)
        strbuf_printf(out, "| %s | %s | %s |\n", compare_group_records[g].name,
                      compare_group_records[g].says, compare_group_records[g].judged);
}
