// SPDX-License-Identifier: MIT
// Dealing events into passes; see count_passes.h. Events fit into a pass if a matching of events to
// counters exists, which augmenting paths find: there are few enough of both that nothing faster is
// needed.
#include "count_passes.h"

#include "cpuinfo/environment.h"

#include <string.h>

enum { GENERAL_MAX = COUNTERS_GENERAL_MAX, FIXED_MAX = COUNTERS_FIXED_MAX };
enum { SLOTS = GENERAL_MAX + FIXED_MAX };

struct count_capacity count_capacity_of(const struct cpu_info *cpu)
{
    struct count_capacity capacity;
    cpu_counters(cpu, &capacity.general, &capacity.fixed);
    const struct cpu_family *family = cpu_family_find(cpu->uarch);
    if (capacity.general == 0 && capacity.fixed == 0 && family) {
        capacity.general = family->general_counters;
        capacity.fixed = family->fixed_counters;
    }
    return capacity;
}

bool count_capacity_reduce(struct count_capacity *capacity)
{
    if (capacity->general > 1) {
        capacity->general--;
        return true;
    }
    bool had = capacity->fixed > 0;
    capacity->fixed = 0;
    return had;
}

bool count_capacity_yield(struct count_capacity *capacity, enum count_obstacle obstacle)
{
    bool crowded =
        obstacle == COUNT_TOO_MANY || obstacle == COUNT_WATCHDOG || obstacle == COUNT_MULTIPLEXED;
    return crowded && count_capacity_reduce(capacity);
}

static uint64_t general_slots(struct count_capacity capacity)
{
    int general = capacity.general < GENERAL_MAX ? capacity.general : GENERAL_MAX;
    return ((uint64_t)1 << general) - 1;
}

// Returns the counters that can count the event, one bit each: general ones from 0, fixed from
// GENERAL_MAX.
static uint64_t slots_of(const struct counter_event *event, struct count_capacity capacity)
{
    uint64_t slots = 0;
    if (event->kind == COUNTER_GENERAL)
        slots = event->counters & general_slots(capacity);
    if (event->fixed_index >= 0 && event->fixed_index < capacity.fixed &&
        event->fixed_index < FIXED_MAX)
        slots |= (uint64_t)1 << (GENERAL_MAX + event->fixed_index);
    return slots;
}

struct matching {
    uint64_t slots[COUNT_EVENTS_MAX]; // counters that each event of the pass may take
    int holder[SLOTS];                // event that has the slot; -1: free
    int n;
};

// Finds a slot for the event, moving others if none is free; `tried` has the slots that were looked
// at.
static bool slot_find(struct matching *m, int event, uint64_t *tried)
{
    for (int slot = 0; slot < SLOTS; slot++)
        if (m->slots[event] >> slot & 1 && m->holder[slot] < 0) {
            m->holder[slot] = event;
            return true;
        }
    for (int slot = 0; slot < SLOTS; slot++) {
        uint64_t bit = (uint64_t)1 << slot;
        if (!(m->slots[event] & bit) || *tried & bit)
            continue;
        *tried |= bit;
        if (slot_find(m, m->holder[slot], tried)) { // NOLINT: depth <= SLOTS
            m->holder[slot] = event;
            return true;
        }
    }
    return false;
}

static bool match_slots(struct matching *m, uint64_t slots)
{
    uint64_t tried = 0;
    if (m->n == COUNT_EVENTS_MAX)
        return false;
    m->slots[m->n] = slots;
    return slots != 0 && slot_find(m, m->n++, &tried);
}

// Returns true if two events want different contents of one second register, so that they exclude
// each other.
static bool registers_clash(const struct counter_event *a, const struct counter_event *b)
{
    return a->extra_msr && a->extra_msr == b->extra_msr && a->extra_value != b->extra_value;
}

// Returns true if the events dealt to `which` leave room for one more.
static bool pass_has_room(const struct count_event *events, int nevents, const int *pass, int which,
                          const struct count_event *more, struct count_capacity capacity)
{
    struct matching m = {.n = 0};
    memset(m.holder, -1, sizeof m.holder);
    int n = 0;
    for (int i = 0; i <= nevents; i++) {
        const struct count_event *event = i < nevents ? &events[i] : more;
        if (i < nevents && pass[i] != which)
            continue;
        if (++n > COUNT_EVENTS_MAX)
            return false;
        if (event->kind == COUNT_SOFTWARE)
            continue;
        if (!match_slots(&m, slots_of(&event->hardware, capacity)) ||
            (more->kind == COUNT_HARDWARE && registers_clash(&event->hardware, &more->hardware)))
            return false;
        // The second counter of a pair is its neighbour; any stands for it here.
        if (event->hardware.pair && !match_slots(&m, general_slots(capacity)))
            return false;
    }
    return true;
}

int count_passes_plan(const struct count_event *events, int nevents, struct count_capacity capacity,
                      int *pass)
{
    int npasses = 0;
    for (int i = 0; i < nevents; i++) {
        int which = 0;
        while (which < npasses && !pass_has_room(events, i, pass, which, &events[i], capacity))
            which++;
        pass[i] = which;
        if (which == npasses)
            npasses++;
    }
    return npasses;
}

// Pairs first, for only they are particular about neighbours.
static int pairs_place(const struct count_event *events, int nevents, uint64_t *free, int *places)
{
    for (int i = 0; i < nevents; i++) {
        if (!events[i].hardware.pair)
            continue;
        places[i] = -1;
        for (int even = 0; even + 1 < GENERAL_MAX && places[i] < 0; even += 2)
            if (*free >> even & events[i].hardware.counters >> even & 1 && *free >> even & 2)
                places[i] = even;
        if (places[i] < 0)
            return i;
        *free &= ~((uint64_t)3 << places[i]);
    }
    return -1;
}

// Matches an event to a fixed counter first, which leaves the general ones to others.
static bool match_fixed_first(struct matching *m, uint64_t slots)
{
    uint64_t fixed = slots >> GENERAL_MAX << GENERAL_MAX;
    int own = m->n;
    bool matched = fixed && match_slots(m, fixed);
    if (!matched) {
        m->n = own;
        return match_slots(m, slots);
    }
    m->slots[own] = slots; // it may be moved all the same
    return true;
}

int count_passes_place(const struct count_event *events, int nevents, uint64_t free, int *places)
{
    const struct count_capacity all = {.general = GENERAL_MAX, .fixed = FIXED_MAX};
    struct matching m = {.n = 0};
    int members[COUNT_EVENTS_MAX];
    memset(m.holder, -1, sizeof m.holder);
    int misfit = pairs_place(events, nevents, &free, places);
    for (int i = 0; i < nevents && misfit < 0; i++) {
        const struct counter_event *event = &events[i].hardware;
        if (event->pair)
            continue;
        places[i] = 0;
        if (event->kind == COUNTER_MSR)
            continue;
        members[m.n] = i;
        if (!match_fixed_first(&m, slots_of(event, all) & free))
            misfit = i;
    }
    for (int slot = 0; slot < SLOTS && misfit < 0; slot++)
        if (m.holder[slot] >= 0)
            places[members[m.holder[slot]]] = slot;
    return misfit;
}
