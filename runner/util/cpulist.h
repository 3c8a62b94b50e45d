// SPDX-License-Identifier: MIT
// Lists of CPUs as people and the kernel write them: "0-3,8".
#ifndef LATPUT_CPULIST_H
#define LATPUT_CPULIST_H

#include "strbuf.h"

#include <sched.h>

// The CPUs in the order of the text, which may end with a line feed. Their number, or -1 where it
// is no list, names a CPU from CPU_SETSIZE on, or has more than `most`.
int cpulist_parse(const char *text, int *cpus, int most);
// The same as a set. 0 or -1; of an empty text the empty set.
int cpulist_parse_set(const char *text, cpu_set_t *set);
// Appends the list of a set.
void cpulist_write(const cpu_set_t *set, struct strbuf *out);

#endif
