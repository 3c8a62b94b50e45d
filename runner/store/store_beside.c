// SPDX-License-Identifier: MIT
// See store_beside.h. The table is temporary.
#include "store_beside.h"
#include "store_internal.h"

#include "columns/columns.h"

#include <assert.h>
#include <math.h>

int store_beside_begin(struct store *store, struct err *err)
{
    assert(store->mode == STORE_READ);
    store_temporary_begin(store);
    int result = store_script(
        store, err,
        "CREATE TEMP TABLE IF NOT EXISTS beside (uarch TEXT, form TEXT, "
        "enc TEXT, bits INTEGER, their_latency_clk REAL, "
        "their_latency_bound TEXT, their_rthroughput_clk REAL, "
        "their_ports TEXT, their_rthroughput_bound TEXT, PRIMARY KEY (form, enc, bits, uarch)) "
        "WITHOUT ROWID",
        "put a table of others beside it");
    store->beside = result == 0;
    columns_show_beside(store->beside);
    return result;
}

static const char *bound_name(double clk, bool upper)
{
    return isnan(clk) ? NULL : upper ? "upper" : "exact";
}

int store_beside_put(struct store *store, const struct store_beside *row, struct err *err)
{
    const char *bound = bound_name(row->latency_clk, row->latency_upper);
    return store_execute(
        store, err, "INSERT OR IGNORE INTO temp.beside VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        "sssidtdtt", row->uarch, row->form, row->enc, (int64_t)row->bits, row->latency_clk, bound,
        row->rthroughput_clk, row->ports, bound_name(row->rthroughput_clk, row->rthroughput_upper));
}

void store_beside_end(struct store *store)
{
    store_temporary_end(store);
}
