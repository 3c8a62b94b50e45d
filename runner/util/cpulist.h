// SPDX-License-Identifier: MIT
// Lists of CPUs as people and the kernel write them: "0-3,8".
#pragma once

#include "strbuf.h"

#include <sched.h>

// Reads CPUs in the order of the text, which may end with a line feed. Returns their number, or -1
// if the text is no list, names a CPU from CPU_SETSIZE on, or has more than `most`.
int cpulist_parse(const char *text, int *cpus, int most);
// Reads a list as a set; an empty text is the empty set. Returns 0 or -1.
int cpulist_parse_set(const char *text, cpu_set_t *set);
// Appends the list of a set.
void cpulist_write(const cpu_set_t *set, struct strbuf *out);
