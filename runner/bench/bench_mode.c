// SPDX-License-Identifier: MIT
// The names of the modes.
#include "bench.h"

#include "util/mem.h"

#include <strings.h>

static const char *const mode_names[] = {"latency", "throughput"};

const char *bench_mode_name(enum bench_mode mode)
{
    return mode_names[mode];
}

int bench_mode_parse(const char *name, enum bench_mode *mode)
{
    for (size_t i = 0; i < ARRAY_LEN(mode_names); i++)
        if (strcasecmp(mode_names[i], name) == 0) {
            *mode = (enum bench_mode)i;
            return 0;
        }
    return -1;
}
