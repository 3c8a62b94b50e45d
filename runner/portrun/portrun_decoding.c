// SPDX-License-Identifier: MIT
#include "portrun_decoding.h"

#include "plan/plan.h"
#include "util/mem.h"

#include <math.h>
#include <stdlib.h>

enum {
    CACHED_INSTANCES = 40,
    UNCACHED_INSTANCES = 9000, // more than any µop cache holds
};
// Excess per instance in cycles from which decoding is slow; fetching from a second-level cache
// costs less.
static const double DECODING_CLK = 0.7;

static struct port_mix decoding_mix(int form, int instances)
{
    return (struct port_mix){.parts = {{form, instances}},
                             .nparts = 1,
                             .orders = 1u << MIX_BLOCKS | PORT_MIX_INDEPENDENT};
}

double portrun_decoding_explained_clk(const struct port_model *model,
                                      const struct port_usage *usage)
{
    const int one = 1;
    struct port_limits limits;
    port_limits(model, &usage, &one, 1, &limits);
    return fmax(fmax(limits.front_clk, limits.delivery_clk), limits.ports_clk);
}

int portrun_decoding_measure(const struct port_oracle *oracle, struct portrun_decoding *forms,
                             int n, struct err *err)
{
    struct port_mix *mixes = xcalloc(2 * (size_t)n + 1, sizeof *mixes);
    struct port_timing *timings = xcalloc(2 * (size_t)n + 1, sizeof *timings);
    for (int i = 0; i < n; i++) {
        mixes[2 * i] = decoding_mix(forms[i].form, CACHED_INSTANCES);
        mixes[2 * i + 1] = decoding_mix(forms[i].form, UNCACHED_INSTANCES);
    }
    int status = n ? oracle->measure(oracle->context, mixes, 2 * n, timings, err) : 0;
    for (int i = 0; i < n && status == 0; i++) {
        const struct port_timing *cached = &timings[2 * i], *uncached = &timings[2 * i + 1];
        forms[i].decode_clk = (double)NAN;
        if (cached->outcome != OUTCOME_OK || uncached->outcome != OUTCOME_OK)
            continue;
        double least = fmin(cached->clk / CACHED_INSTANCES, forms[i].explained_clk);
        double more = uncached->clk / UNCACHED_INSTANCES - least;
        forms[i].decode_clk = more > DECODING_CLK ? more : 0;
    }
    free(mixes);
    free(timings);
    return status;
}
