// SPDX-License-Identifier: MIT
// The names of the modes, and of syntaxes of text.
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

int bench_syntax_parse(const char *name, enum bench_syntax *syntax)
{
    static const char *const names[] = {"nasm", "att", "intel"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcasecmp(names[i], name) == 0) {
            *syntax = (enum bench_syntax)i;
            return 0;
        }
    return -1;
}
