// SPDX-License-Identifier: MIT
#include "property_machine.h"

#include "util/cpulist.h"
#include "util/strbuf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Share of the free memory that data may take, and a limit for any property.
static const double MEMORY_SHARE = 0.6, MEMORY_MOST = 2.0 * (1 << 30);

// Files with the limit and the use of a group: of the unified hierarchy (version 2), or of the
// memory hierarchy of version 1.
static const struct cgroup_files {
    const char *mount, *most, *taken;
} unified = {"", "memory.max", "memory.current"},
  legacy = {"/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"};

// Returns the number of a small file; NaN where there is none ("max").
static double file_number(const char *root, const char *mount, const char *group, const char *name)
{
    char path[1024];
    double number = (double)NAN;
    snprintf(path, sizeof path, "%s/sys/fs/cgroup%s%s/%s", root, mount, group, name);
    FILE *file = fopen(path, "r");
    if (!file)
        return number;
    if (fscanf(file, "%lf", &number) != 1)
        number = (double)NAN;
    fclose(file);
    return number;
}

// Returns the free memory of the group and of the groups that it is in.
static double group_free(const char *root, const struct cgroup_files *files, char *group)
{
    double least = (double)NAN;
    for (;;) {
        double room = file_number(root, files->mount, group, files->most) -
                      file_number(root, files->mount, group, files->taken);
        least = fmin(least, room); // NaN where one is none
        char *slash = strrchr(group, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

// Returns true if one of the names between the commas is the memory hierarchy's.
static bool has_memory(char *controllers)
{
    bool has = false;
    for (char *name; (name = strsep(&controllers, ","));)
        has |= strcmp(name, "memory") == 0;
    return has;
}

// Returns the least free memory of all groups of the process: a system may have both hierarchies.
static double cgroup_free(const char *root)
{
    char path[1024], line[1024];
    double least = (double)NAN;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "r");
    if (!file)
        return least;
    while (fgets(line, sizeof line, file)) { // NUMBER:CONTROLLERS:/GROUP
        char *group = line;
        strsep(&group, ":");
        char *controllers = strsep(&group, ":");
        if (!group || strlen(group) > 700)
            continue;
        group[strcspn(group, "\n")] = '\0';
        if (!*controllers)
            least = fmin(least, group_free(root, &unified, group));
        else if (has_memory(controllers))
            least = fmin(least, group_free(root, &legacy, group));
    }
    fclose(file);
    return least;
}

static double meminfo_free(const char *root)
{
    char path[1024], line[256];
    double kilobytes = (double)NAN;
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    FILE *file = fopen(path, "r");
    if (!file)
        return kilobytes;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %lf kB", &kilobytes) == 1)
            break;
    fclose(file);
    return kilobytes * 1024;
}

double property_memory_free(const char *root)
{
    double bytes = fmin(meminfo_free(root), cgroup_free(root));
    return isnan(bytes) ? (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) : bytes;
}

static void machine_add(struct property_machine *machine, const struct cpu_place *place)
{
    int n = machine->ncpus + machine->nothers;
    if (n > CORE_CORUNNERS_MAX)
        return;
    machine->cpus[n] = *place;
    if (place->type == machine->cpus[0].type)
        machine->ncpus++;
    else
        machine->nothers++;
}

// Lists the measuring CPU, those that share its core, the others of its kind, since cycles are
// calibrated for one, and those of other kinds.
static void machine_find_cpus(const char *root, const struct cpu_kinds *kinds, int measuring,
                              struct property_machine *machine)
{
    static struct cpu_places places; // large
    const struct cpu_place *own = NULL;
    cpu_places_read_kinds(root, kinds, &places);
    for (int i = 0; i < places.n && !own; i++)
        own = places.usable[i].cpu == measuring ? &places.usable[i] : NULL;
    if (!own)
        return;
    machine_add(machine, own);
    for (int sharing = 1; sharing >= 0; sharing--)
        for (int i = 0; i < places.n; i++)
            if (&places.usable[i] != own && places.usable[i].type == own->type &&
                cpu_places_share(&places.usable[i], own) == (sharing == 1))
                machine_add(machine, &places.usable[i]);
    for (int i = 0; i < places.n; i++)
        if (places.usable[i].type != own->type)
            machine_add(machine, &places.usable[i]);
}

static void machine_name_kinds(const struct cpu_kinds *kinds, struct property_machine *machine)
{
    struct strbuf text = {0};
    for (int i = 0; i < kinds->n && kinds->n > 1; i++) {
        strbuf_puts(&text, i ? ", " : "CPUs ");
        cpulist_write(&kinds->kinds[i].cpus, &text);
        strbuf_printf(&text, "%s%s", i ? " " : " are ", kinds->kinds[i].name);
    }
    snprintf(machine->kinds, sizeof machine->kinds, "%s", strbuf_text(&text));
    strbuf_free(&text);
}

struct property_machine property_machine_find(const char *root, const struct cpu_info *cpu,
                                              const struct cpu_kinds *kinds, int measuring)
{
    struct property_machine machine = {
        .memory_bytes = fmin(MEMORY_SHARE * property_memory_free(""), MEMORY_MOST)};
    for (int i = 0; i < cpu->ncaches; i++) {
        const struct cpu_cache *cache = &cpu->caches[i];
        enum property_base base = cache->level == 1   ? cache->type == 'i' ? BASE_L1I : BASE_L1D
                                  : cache->level == 2 ? BASE_L2
                                  : cache->level == 3 ? BASE_L3
                                                      : BASE_ONE;
        machine.cache_bytes[base] = (double)cache->bytes;
    }
    machine_find_cpus(root, kinds, measuring, &machine);
    machine_name_kinds(kinds, &machine);
    return machine;
}
