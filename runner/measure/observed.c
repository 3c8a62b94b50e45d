// SPDX-License-Identifier: MIT
// Observations of a CPU by properties; see observed.h.
#include "observed.h"

#include "store/store_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MOST = 3 };

// Relative difference from which two runs disagree: one of them was disturbed.
static const double SAME_TOLERANCE = 0.05;

// Values of one property, newest first.
struct observing {
    struct cpu_observed *observed;
    int n;
    struct cpu_observed values[RUNS_MOST];
    int nvalues;
};

static int observed_order(const void *a, const void *b)
{
    double x = ((const struct cpu_observed *)a)->value, y = ((const struct cpu_observed *)b)->value;
    return (x > y) - (x < y);
}

// Adds the median of the gathered values, if all agree.
static void observing_end(struct observing *to)
{
    struct cpu_observed *values = to->values;
    int n = to->nvalues;
    to->nvalues = 0;
    qsort(values, (size_t)n, sizeof *values, observed_order);
    if (n && values[n - 1].value - values[0].value <= SAME_TOLERANCE * values[n - 1].value &&
        to->n < CPU_OBSERVED_MAX)
        to->observed[to->n++] = values[(n - 1) / 2];
}

static void column_name(sqlite3_stmt *stmt, int column, char name[CPU_OBSERVED_NAME])
{
    snprintf(name, CPU_OBSERVED_NAME, "%s", store_text(stmt, column));
}

static void observing_row(struct observing *to, sqlite3_stmt *stmt)
{
    struct cpu_observed row = {.value = sqlite3_column_double(stmt, 3),
                               .low = sqlite3_column_double(stmt, 4),
                               .high = sqlite3_column_double(stmt, 5)};
    column_name(stmt, 0, row.property);
    column_name(stmt, 1, row.variant);
    column_name(stmt, 2, row.label);
    const struct cpu_observed *before = to->values;
    if (to->nvalues &&
        (strcmp(before->property, row.property) != 0 || strcmp(before->variant, row.variant) != 0 ||
         strcmp(before->label, row.label) != 0))
        observing_end(to);
    if (to->nvalues < RUNS_MOST && cpu_observes(row.property, row.variant, row.label))
        to->values[to->nvalues++] = row;
}

int observed_read(struct store *store, const struct cpu_info *cpu,
                  struct cpu_observed observed[CPU_OBSERVED_MAX], struct err *err)
{
    struct observing to = {.observed = observed};
    struct strbuf features = {0};
    sqlite3_stmt *stmt = store_bind_cpu(
        store,
        "SELECT property.name, conclusion.variant, conclusion_value.label, value, low, high "
        "FROM cpu JOIN run USING (cpu_id) JOIN property USING (run_id) "
        "JOIN conclusion USING (property_id) JOIN conclusion_value USING (conclusion_id) "
        "WHERE " STORE_THIS_CPU "AND " STORE_RUN_IS_OWN " AND conclusion.outcome = 'ok' "
        "AND confidence >= 0.9 AND value > 0 AND low > 0 AND high > 0 "
        "ORDER BY property.name, conclusion.variant, conclusion_value.label, started_utc DESC, "
        "run_id DESC",
        cpu, &features, err);
    int got = stmt ? sqlite3_step(stmt) : SQLITE_ERROR;
    for (; got == SQLITE_ROW; got = sqlite3_step(stmt))
        observing_row(&to, stmt);
    observing_end(&to);
    strbuf_free(&features);
    if (!stmt)
        return -1;
    return store_rows_end(store, stmt, got, err) != 0 ? -1 : to.n;
}
