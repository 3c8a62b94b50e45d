// SPDX-License-Identifier: MIT
// Chooses the CPUs of a point; see property.h.
#include "property.h"

static const struct cpu_place *place_find(const struct property_machine *machine, int cpu)
{
    for (int i = 0; i < machine->ncpus; i++)
        if (machine->cpus[i].cpu == cpu)
            return &machine->cpus[i];
    return NULL;
}

// Returns the first other CPU that is (`sharing`), or is not, a thread of the same core; -1: there
// is none.
static int place_other(const struct property_machine *machine, const struct cpu_place *own,
                       bool sharing)
{
    for (int i = 0; i < machine->ncpus; i++) {
        const struct cpu_place *place = &machine->cpus[i];
        if (place != own && cpu_places_share(place, own) == sharing)
            return place->cpu;
    }
    return -1;
}

static int places_others(const struct property_machine *machine, const struct cpu_place *own,
                         int wanted, int cpus[CORE_CORUNNERS_MAX])
{
    int n = 0;
    for (int i = 0; i < machine->ncpus && n < wanted; i++)
        if (&machine->cpus[i] != own)
            cpus[n++] = machine->cpus[i].cpu;
    return n;
}

int property_places(const struct property *property, const struct property_machine *machine,
                    const struct property_point *point, int *measuring,
                    int cpus[CORE_CORUNNERS_MAX], struct err *why)
{
    const struct cpu_place *own = &machine->cpus[0];
    *why = (struct err){0};
    if (property->corunner == CORUNNER_NONE)
        return 0;
    if (machine->ncpus + (property->corunner == CORUNNER_CPU ? machine->nothers : 0) < 2)
        return err_set(why, "it takes two CPUs that may be used, and there is one");
    if (property->on_by)
        own = place_find(machine, (int)point->by);
    *measuring = own->cpu;
    switch (property->corunner) {
    case CORUNNER_CPU:
        cpus[0] = (int)point->x;
        return cpus[0] == own->cpu ? -1 : 1;
    case CORUNNER_SIBLING:
        cpus[0] = place_other(machine, own, true);
        return cpus[0] >= 0 ? 1
                            : err_set(why, "the system shows no other thread of the core of CPU %d",
                                      own->cpu);
    case CORUNNER_CORE:
        cpus[0] = place_other(machine, own, false);
        return cpus[0] >= 0 ? 1 : err_set(why, "the system shows one core only");
    case CORUNNER_THREADS:
        return places_others(machine, own, (int)point->x - 1, cpus);
    default:
        return places_others(machine, own, CORE_CORUNNERS_MAX, cpus);
    }
}
