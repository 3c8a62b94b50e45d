// SPDX-License-Identifier: MIT
// The clock of a file: its cycles may be those of another clock than the core's (the TSC, where the
// core turbos), and its ns may have no clock. Rows that take one core cycle show the factor.
#include "compare_tables_internal.h"

#include "util/quantile.h"

#include <math.h>
#include <stdlib.h>

// So many rows, of which that share must agree within the tolerance; a factor nearer to 1 is none.
enum { ROWS_MIN = 8, ROWS_MAX = 4096 };
static const double share_min = 0.75, apart = 0.03, factor_min = 0.03;

// Returns true for a form that adds and the like: general registers alone, one cycle from any of
// them, however densely.
static bool is_one_cycle(const struct compare_match *match, const struct compare_ours *ours)
{
    for (int i = 0; i < match->row->nops; i++)
        if (match->row->ops[i].class[0] != 'r')
            return false;
    return match->row->nops > 0 && fabs(ours->least - 1) < 0.02 && fabs(ours->bound - 1) < 0.02 &&
           fabs(ours->dense - 1) < 0.02;
}

// Collects what those rows take. Returns their number.
static int one_cycle_rows(const struct compare_tables *tables, bool ns, double *found)
{
    int n = 0;
    for (int i = 0; i < tables->nmatches && n < ROWS_MAX; i++) {
        const struct compare_match *match = &tables->matches[i];
        const struct foreign_row *row = match->row;
        for (int v = 0; match->form && v < row->nvalues && n < ROWS_MAX; v++) {
            const struct foreign_value *theirs = &row->values[v];
            if (theirs->quantity != FOREIGN_LATENCY || theirs->src || theirs->upper ||
                theirs->rounding > 0 || theirs->ns != ns || theirs->most <= 0)
                continue;
            struct compare_ours ours = compare_ours_of(match, match->form, theirs);
            if (is_one_cycle(match, &ours))
                found[n++] = theirs->most;
        }
    }
    return n;
}

double compare_clock_factor(const struct compare_tables *tables, bool ns)
{
    double *found = xmalloc(ROWS_MAX * sizeof *found);
    int n = one_cycle_rows(tables, ns, found), near = 0;
    double factor = n > 0 ? quantile_median_unsorted(found, n) : 1;
    for (int i = 0; i < n; i++)
        near += fabs(found[i] - factor) <= apart * factor;
    free(found);
    bool known = n >= ROWS_MIN && near >= share_min * n;
    if (ns)
        return known ? factor : (double)NAN;
    return known && fabs(factor - 1) > factor_min ? factor : 1;
}
