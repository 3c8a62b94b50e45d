// SPDX-License-Identifier: MIT
// What decoding costs; see decoding.h.
#include "decoding.h"

#include "plan/plan.h"
#include "util/mem.h"

#include <math.h>
#include <stdlib.h>

enum {
    CACHED_INSTANCES = 40,
    UNCACHED_INSTANCES = 9000, // more than any µop cache holds
};
// What fetching from a second-level cache costs an instance is less.
static const double DECODING_CLK = 0.7;

static struct port_mix decoding_mix(int form, int instances)
{
    return (struct port_mix){.parts = {{form, instances}},
                             .nparts = 1,
                             .orders = 1u << MIX_BLOCKS | PORT_MIX_INDEPENDENT};
}

int decoding_measure(const struct port_oracle *oracle, const int *which, int n, double *decode_clk,
                     struct err *err)
{
    struct port_mix *mixes = xcalloc(2 * (size_t)n + 1, sizeof *mixes);
    struct port_timing *timings = xcalloc(2 * (size_t)n + 1, sizeof *timings);
    for (int i = 0; i < n; i++) {
        mixes[2 * i] = decoding_mix(which[i], CACHED_INSTANCES);
        mixes[2 * i + 1] = decoding_mix(which[i], UNCACHED_INSTANCES);
    }
    int status = n ? oracle->measure(oracle->context, mixes, 2 * n, timings, err) : 0;
    for (int i = 0; i < n && status == 0; i++) {
        const struct port_timing *cached = &timings[2 * i], *uncached = &timings[2 * i + 1];
        decode_clk[i] = (double)NAN;
        if (cached->outcome != OUTCOME_OK || uncached->outcome != OUTCOME_OK)
            continue;
        double more = uncached->clk / UNCACHED_INSTANCES - cached->clk / CACHED_INSTANCES;
        decode_clk[i] = more > DECODING_CLK ? more : 0;
    }
    free(mixes);
    free(timings);
    return status;
}
