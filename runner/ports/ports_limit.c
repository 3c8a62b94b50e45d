// SPDX-License-Identifier: MIT
// Oracle that ends a search which takes too long: every series is timed in pieces, if the kernels
// and the time of each still fit.
#include "plan/plan.h"
#include "ports.h"

#include <inttypes.h>

enum { PIECE_MIXES = 2000 };

static int64_t mixes_kernels(const struct port_mix *mixes, int n)
{
    int64_t kernels = 0;
    for (int i = 0; i < n; i++)
        kernels += __builtin_popcount(mixes[i].orders & MIX_ORDERS_ALL);
    return kernels;
}

static int limit_measure(void *context, const struct port_mix *mixes, int n,
                         struct port_timing *timings, struct err *err)
{
    struct port_limit *limit = context;
    for (int at = 0; at < n; at += PIECE_MIXES) {
        int piece = n - at < PIECE_MIXES ? n - at : PIECE_MIXES;
        int64_t kernels = mixes_kernels(mixes + at, piece);
        double passed_s = limit->now_s() - limit->begun_s;
        if (limit->kernels + kernels > limit->kernels_most || passed_s > limit->most_s)
            return err_set(err,
                           "the search for their structure may take %" PRId64 " kernels and %.0f "
                           "s, and had taken %" PRId64 " and %.0f s when \"%s\" was to be timed",
                           limit->kernels_most, limit->most_s, limit->kernels, passed_s,
                           limit->what);
        limit->kernels += kernels;
        if (limit->oracle->measure(limit->oracle->context, mixes + at, piece, timings + at, err) !=
            0)
            return -1;
    }
    return 0;
}

static void limit_step(void *context, const char *what, int mixes)
{
    struct port_limit *limit = context;
    limit->what = what;
    if (limit->oracle->step)
        limit->oracle->step(limit->oracle->context, what, mixes);
}

struct port_oracle port_limited(struct port_limit *limit)
{
    struct port_oracle oracle = *limit->oracle;
    limit->begun_s = limit->now_s();
    limit->kernels = 0;
    limit->what = "forms alone";
    oracle.measure = limit_measure;
    oracle.step = limit_step;
    oracle.context = limit;
    return oracle;
}
