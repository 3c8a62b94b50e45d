// SPDX-License-Identifier: MIT
// See compare_beside.h: the values are those that compare_tables_make() has made core cycles.
#include "compare_beside.h"
#include "compare_tables_internal.h"

#include "store/store_beside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool compare_is_of_result(const struct compare_value *value)
{
    const struct foreign_value *theirs = value->theirs;
    if (!theirs->src)
        return true;
    for (int i = 0; i < value->form->npairs; i++) {
        const struct known_pair *pair = &value->form->pairs[i];
        if (pair->in_result && strcmp(pair->src, theirs->src) == 0 &&
            strcmp(pair->dst, theirs->dst) == 0)
            return true;
    }
    return false;
}

static void beside_add(struct store_beside *row, const struct compare_value *value)
{
    const struct foreign_value *theirs = value->theirs;
    if (theirs->quantity == FOREIGN_THROUGHPUT) {
        row->rthroughput_clk = theirs->most;
        row->rthroughput_upper = theirs->upper;
    }
    if (theirs->quantity != FOREIGN_LATENCY || !compare_is_of_result(value))
        return;
    if (isnan(row->latency_clk) || theirs->most > row->latency_clk) {
        row->latency_clk = theirs->most;
        row->latency_upper = theirs->upper;
    }
}

int compare_beside(struct store *store, const struct foreign_table *theirs, const char *uarch,
                   int *forms, struct err *err)
{
    const struct store_filter filter = {.uarch = uarch};
    struct known_cpu data;
    struct compare_tables tables = {.nvalues = 0};
    int result = known_read(store, &filter, KNOWN_ROWS | KNOWN_FALSE, &data, err);
    if (result == 0)
        compare_tables_make(theirs, &data, NULL, &tables);
    if (result == 0)
        result = store_beside_begin(store, err);
    bool *seen = xcalloc((size_t)data.nforms + 1, sizeof *seen);
    *forms = 0;
    for (int i = 0; i < tables.nvalues && result == 0;) {
        const struct compare_match *match = tables.values[i].match;
        const struct known_form *form = tables.values[i].form;
        const struct stored_form *id = &form->id;
        struct store_beside row = {.uarch = uarch,
                                   .form = id->form,
                                   .enc = id->enc,
                                   .bits = id->bits,
                                   .latency_clk = NAN,
                                   .rthroughput_clk = NAN,
                                   .ports = match->row->ports};
        for (;
             i < tables.nvalues && tables.values[i].match == match && tables.values[i].form == form;
             i++)
            beside_add(&row, &tables.values[i]);
        bool none = isnan(row.latency_clk) && isnan(row.rthroughput_clk) && !row.ports;
        if (none || seen[form - data.forms])
            continue;
        seen[form - data.forms] = true;
        result = store_beside_put(store, &row, err);
        ++*forms;
    }
    free(seen);
    store_beside_end(store);
    compare_tables_free(&tables);
    known_free(&data);
    return result;
}
