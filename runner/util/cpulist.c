// SPDX-License-Identifier: MIT
#include "cpulist.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// Reads a number without sign or blanks before it. Returns -1 if there is none.
static long cpulist_number(const char *text, char **end)
{
    *end = (char *)text;
    return isdigit((unsigned char)*text) ? strtol(text, end, 10) : -1;
}

int cpulist_parse(const char *text, int *cpus, int most)
{
    int n = 0;
    for (;; text++) {
        char *end;
        long first = cpulist_number(text, &end), last = first;
        if (*end == '-' && first >= 0)
            last = cpulist_number(end + 1, &end);
        if (first < 0 || last < first || last >= CPU_SETSIZE || last - first >= most - n)
            return -1;
        while (first <= last)
            cpus[n++] = (int)first++;
        text = end;
        if (!*text || strcmp(text, "\n") == 0)
            return n;
        if (*text != ',')
            return -1;
    }
}

int cpulist_parse_set(const char *text, cpu_set_t *set)
{
    int cpus[CPU_SETSIZE];
    CPU_ZERO(set);
    if (!*text || strcmp(text, "\n") == 0)
        return 0;
    int n = cpulist_parse(text, cpus, CPU_SETSIZE);
    for (int i = 0; i < n; i++)
        CPU_SET((size_t)cpus[i], set);
    return n < 0 ? -1 : 0;
}

void cpulist_write(const cpu_set_t *set, struct strbuf *out)
{
    const char *comma = "";
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        int last = cpu;
        if (!CPU_ISSET((size_t)cpu, set))
            continue;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET((size_t)last + 1, set))
            last++;
        strbuf_printf(out, last > cpu ? "%s%d-%d" : "%s%d", comma, cpu, last);
        comma = ",";
        cpu = last;
    }
}
