// SPDX-License-Identifier: MIT
// See ../README.md: what the core's sources take from Linux's header of this name.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// One CPU is all that the core asks for.
typedef struct {
    size_t cpu;
} cpu_set_t;
#define CPU_ZERO(set) ((set)->cpu = 0)
#define CPU_SET(number, set) ((set)->cpu = (number))
int sched_setaffinity(int thread, size_t bytes, const cpu_set_t *set); // thread 0: this one
