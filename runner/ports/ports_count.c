// SPDX-License-Identifier: MIT
// Counters of the ports; see ports_count.h. A blocker that keeps its set busy puts the same number
// of µops on each of its ports, so its counts show the number of the set's ports in each group.
// Ports that are in the same sets are symmetric, and any that satisfy all sets will do.
#include "ports_count.h"

#include "ports_internal.h"

#include <math.h>

enum {
    STEPS_MAX = 100000, // steps of the search; real CPUs need a few dozen
};

struct assignment {
    const struct port_model *model;
    int ngroups; // those of the counters, and one of ports without
    int left[PORT_CLASSES_MAX][PORT_GROUPS_MAX + 1]; // ports of a class still to be found
    int group[PORTS_MAX];
    int steps;
};

static uint32_t model_ports(const struct port_model *model)
{
    uint32_t ports = 0;
    for (int c = 0; c < model->nclasses; c++)
        ports |= model->classes[c].set;
    return ports;
}

static bool class_has(const struct port_model *model, int c, int port)
{
    return model->classes[c].set & 1u << port;
}

static bool assignment_fits(const struct assignment *a, int port, int group)
{
    for (int c = 0; c < a->model->nclasses; c++)
        if (class_has(a->model, c, port) && a->left[c][group] == 0)
            return false;
    return true;
}

static void assignment_take(struct assignment *a, int port, int group, int ports)
{
    for (int c = 0; c < a->model->nclasses; c++)
        if (class_has(a->model, c, port))
            a->left[c][group] -= ports;
}

// Finds groups for this port and those after it.
static bool assignment_search(struct assignment *a, int port)
{
    uint32_t ports = model_ports(a->model);
    while (port < PORTS_MAX && !(ports & 1u << port))
        a->group[port++] = a->ngroups - 1;
    if (port == PORTS_MAX)
        return true; // each class has as many ports as places, so no place is left
    for (int group = 0; group < a->ngroups; group++) {
        if (++a->steps > STEPS_MAX || !assignment_fits(a, port, group))
            continue;
        assignment_take(a, port, group, 1);
        a->group[port] = group;
        if (assignment_search(a, port + 1))
            return true;
        assignment_take(a, port, group, -1);
    }
    return false;
}

// Fills in how many of a class's ports each group has. Returns false if the counts contradict that.
static bool assignment_class(struct assignment *a, int c, const struct port_timing *timing,
                             int uops)
{
    int size = port_set_size(a->model->classes[c].set), sum = 0;
    if (timing->outcome != OUTCOME_OK || !timing->counted)
        return false;
    for (int g = 0; g < a->ngroups - 1; g++) {
        double ports = timing->uops[g] * size / uops;
        a->left[c][g] = (int)lround(ports);
        if (!(fabs(ports - a->left[c][g]) < PORT_NOISE_BEST))
            return false;
        sum += a->left[c][g];
    }
    a->left[c][a->ngroups - 1] = size - sum;
    return sum <= size;
}

static bool assignment_make(struct assignment *a, const struct port_mix *mixes,
                            const struct port_timing *timings)
{
    for (int c = 0; c < a->model->nclasses; c++)
        if (!assignment_class(a, c, &timings[c], mixes[c].parts[0].count))
            return false;
    return assignment_search(a, 0);
}

int port_groups_find(const struct port_oracle *oracle, const struct port_model *model,
                     struct port_groups *groups, struct err *err)
{
    struct port_mix mixes[PORT_CLASSES_MAX];
    struct port_timing timings[PORT_CLASSES_MAX] = {{.outcome = OUTCOME_OK}};
    struct assignment a = {.model = model, .ngroups = oracle->ngroups + 1};
    *groups = (struct port_groups){.n = 0};
    if (oracle->ngroups == 0)
        return 0;
    for (int c = 0; c < model->nclasses; c++) {
        const struct port_class *class = &model->classes[c];
        mixes[c] =
            (struct port_mix){{{class->blocker, port_set_size(class->set) * 2 * PORT_BUSY_CLK}},
                              1,
                              1u << MIX_INTERLEAVED};
    }
    if (ports_time(oracle, "counters", mixes, model->nclasses, timings, err) != 0)
        return -1;
    if (!assignment_make(&a, mixes, timings))
        return 0;
    groups->n = oracle->ngroups;
    for (int port = 0; port < PORTS_MAX; port++)
        if (a.group[port] < groups->n)
            groups->sets[a.group[port]] |= 1u << port;
    return 0;
}

double port_groups_uops(const struct port_groups *groups, const struct port_model *model,
                        const struct port_timing *timing, uint32_t set)
{
    if (set == 0)
        set = model_ports(model);
    double uops = 0;
    uint32_t covered = 0;
    if (groups->n == 0 || timing->outcome != OUTCOME_OK || !timing->counted)
        return (double)NAN;
    for (int g = 0; g < groups->n; g++) {
        if ((groups->sets[g] & set) == 0)
            continue;
        uops += timing->uops[g];
        covered |= groups->sets[g];
    }
    return covered == set ? uops : (double)NAN;
}

double port_groups_total(const struct port_groups *groups, const struct port_timing *timing)
{
    double uops = 0;
    for (int g = 0; g < groups->n; g++)
        uops += timing->uops[g];
    return groups->n && timing->outcome == OUTCOME_OK && timing->counted ? uops : (double)NAN;
}

uint32_t port_groups_touched(const struct port_groups *groups, const struct port_timing *timing)
{
    uint32_t touched = 0;
    double all = 0;
    if (timing->outcome != OUTCOME_OK || !timing->counted)
        return 0;
    for (int g = 0; g < groups->n; g++) {
        all += timing->uops[g];
        if (timing->uops[g] > PORT_NOISE_ALONE && !groups->sets[g])
            return 0;
        if (timing->uops[g] > PORT_NOISE_ALONE)
            touched |= groups->sets[g];
    }
    double even = all / port_set_size(touched);
    for (int g = 0; g < groups->n; g++) {
        double each = timing->uops[g] / port_set_size(groups->sets[g]);
        if ((groups->sets[g] & touched) != 0 && fabs(each / even - 1) > PORT_NOISE)
            return 0;
    }
    return touched;
}
