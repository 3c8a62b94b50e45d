// SPDX-License-Identifier: MIT
#include "cpu_places.h"

#include "util/cpulist.h"

#include <stdio.h>

enum { LIST_BYTES = 4096, CPU_TYPES = 3 };

// Linux's names of the types of core of one processor.
static const char *const cpu_type_names[CPU_TYPES] = {"cpu_core", "cpu_atom", "cpu_lowpower"};

// Reads a list of CPUs from a file of the kernel. Returns false if there is none.
static bool list_file_read(const char *root, const char *path, cpu_set_t *set)
{
    char full[512], text[LIST_BYTES] = "";
    CPU_ZERO(set);
    snprintf(full, sizeof full, "%s%s", root, path);
    FILE *file = fopen(full, "re");
    if (!file)
        return false;
    if (!fgets(text, sizeof text, file))
        text[0] = '\0';
    fclose(file);
    return cpulist_parse_set(text, set) == 0;
}

static struct cpu_place place_read(const char *root, int cpu)
{
    struct cpu_place read = {cpu, -1, -1};
    char path[128];
    cpu_set_t set;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    if (list_file_read(root, path, &set))
        for (int sibling = 0; sibling < CPU_SETSIZE && read.core < 0; sibling++)
            if (CPU_ISSET((size_t)sibling, &set))
                read.core = sibling;
    for (int type = 0; type < CPU_TYPES; type++) {
        snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s/cpus", cpu_type_names[type]);
        if (list_file_read(root, path, &set) && CPU_ISSET((size_t)cpu, &set))
            read.type = type;
    }
    return read;
}

int cpu_place_type(const char *root, int cpu)
{
    return place_read(root, cpu).type;
}

void cpu_places_read(const char *root, const cpu_set_t *allowed, struct cpu_places *cpus)
{
    cpus->n = 0;
    cpus->kinds = NULL;
    list_file_read(root, "/sys/devices/system/cpu/present", &cpus->present);
    bool known = list_file_read(root, "/sys/devices/system/cpu/online", &cpus->online);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((size_t)cpu, allowed) && (!known || CPU_ISSET((size_t)cpu, &cpus->online)))
            cpus->usable[cpus->n++] = place_read(root, cpu);
}

void cpu_places_read_kinds(const char *root, const struct cpu_kinds *kinds, struct cpu_places *cpus)
{
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int k = 0; k < kinds->n; k++)
        CPU_OR(&all, &all, &kinds->kinds[k].cpus);
    cpu_places_read(root, &all, cpus);
    if (kinds->n == 1)
        return;
    cpus->kinds = kinds;
    for (int i = 0; i < cpus->n; i++)
        cpus->usable[i].type = (int)(cpu_kinds_of(kinds, cpus->usable[i].cpu) - kinds->kinds);
}

const char *cpu_places_type_name(const struct cpu_places *cpus, int type)
{
    if (type < 0)
        return "not known";
    if (cpus->kinds)
        return type < cpus->kinds->n ? cpus->kinds->kinds[type].name : NULL;
    return type < CPU_TYPES ? cpu_type_names[type] : NULL;
}

bool cpu_places_share(const struct cpu_place *a, const struct cpu_place *b)
{
    return a->core >= 0 && a->core == b->core;
}

void cpu_places_leave_core(const struct cpu_places *cpus, int cpu, cpu_set_t *set)
{
    const struct cpu_place *own = NULL;
    for (int i = 0; i < cpus->n; i++)
        if (cpus->usable[i].cpu == cpu)
            own = &cpus->usable[i];
    CPU_CLR((size_t)cpu, set);
    cpu_set_t others = *set;
    for (int i = 0; own && i < cpus->n; i++)
        if (cpu_places_share(own, &cpus->usable[i]))
            CPU_CLR((size_t)cpus->usable[i].cpu, &others);
    if (CPU_COUNT(&others) > 0)
        *set = others;
}
