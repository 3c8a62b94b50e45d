// SPDX-License-Identifier: MIT
// Finds the kinds of cores of this machine; see cpu_kinds.h.
#include "cpu_decode.h"
#include "util/affinity.h"
#include "util/mem.h"
#include "util/paths.h"

#include <stdlib.h>
#include <string.h>

// Reads the CPU that executes this. Returns 0 or -1.
static int cpu_read(struct cpu_info *cpu, struct err *err)
{
    memset(cpu, 0, sizeof *cpu);
    cpu_leaves_capture(cpu);
    return cpu_decode(cpu, err);
}

// Adds the CPUs of `usable` one by one, which are of several kinds; those that cannot be visited
// are left out.
static int kinds_visit(const cpu_set_t *usable, struct cpu_info *cpu, struct cpu_kinds *kinds,
                       struct err *err)
{
    int status = 0;
    for (int i = 0; i < CPU_SETSIZE && status == 0; i++) {
        if (!CPU_ISSET((size_t)i, usable))
            continue;
        const struct affinity_visit visit = affinity_visit(&i, 1);
        if (!visit.moved)
            continue;
        status = cpu_read(cpu, err);
        affinity_return(&visit);
        if (status == 0)
            CPU_SET((size_t)i, &cpu_kinds_add(kinds, cpu)->cpus);
    }
    return status;
}

static int kinds_find_live(struct cpu_kinds *kinds, struct err *err)
{
    cpu_set_t usable;
    struct cpu_info *cpu = xcalloc(1, sizeof *cpu);
    int status = sched_getaffinity(0, sizeof usable, &usable) == 0
                     ? cpu_read(cpu, err)
                     : err_set(err, "cannot read which CPUs may be used");
    if (status == 0 && cpu_is_hybrid(cpu))
        status = kinds_visit(&usable, cpu, kinds, err);
    if (status == 0 && kinds->n == 0)
        cpu_kinds_add(kinds, cpu)->cpus = usable;
    free(cpu);
    return status;
}

int cpu_kinds_find(struct cpu_kinds *kinds, struct err *err)
{
    const char *dump = path_machine("cpuid");
    *kinds = (struct cpu_kinds){.n = 0};
    if (cpuinfo_load(err) != 0)
        return -1;
    if (dump)
        return cpu_kinds_load(dump, kinds, err);
    if (kinds_find_live(kinds, err) != 0) {
        cpu_kinds_free(kinds);
        return -1;
    }
    cpu_kinds_name(kinds);
    return 0;
}
