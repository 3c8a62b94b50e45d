// SPDX-License-Identifier: MIT
// Pentium 4: 18 counters in four groups. A counter's control register (CCCR) chooses one of the
// event registers (ESCR) of its group, and half of the group's counters see one copy of those
// registers, half the other. After Intel's SDM volume 3, the table of counters and ESCRs.
#include "count_msr_plan.h"

enum { GROUPS = 4, SELECTS = 8, ESCR_KERNEL = 2, CCCR_THREADS = 16 };

// ESCRs of the first half by group and select; the registers of the second half have the next
// number.
static const uint16_t escrs[GROUPS][SELECTS] = {
    {0x3b2, 0x3b4, 0x3aa, 0x3b6, 0x3ac, 0x3c8, 0x3a2, 0x3a0}, // counters 0 to 3
    {0x3c0, 0x3c4, 0x3c2, 0,     0,     0,     0,     0    }, // 4 to 7
    {0x3a6, 0x3a4, 0x3ae, 0x3b0, 0,     0x3a8, 0,     0    }, // 8 to 11
    {0x3ba, 0x3ca, 0x3bc, 0x3be, 0x3b8, 0x3cc, 0x3e0, 0    }, // 12 to 17
};
static const uint16_t ssu_escr = 0x3be; // has no second copy

// Returns the half of a counter: of 12 to 17, 12 13 16 and 14 15 17 are halves; else two neighbours
// each.
static int half_of(int counter)
{
    return counter < 16 ? counter >> 1 & 1 : counter & 1;
}

static uint32_t escr_of(const struct count_event *event, int counter)
{
    int group = counter < 12 ? counter / 4 : GROUPS - 1;
    uint32_t escr = escrs[group][event->hardware.select % SELECTS];
    if (!escr || (half_of(counter) && escr == ssu_escr))
        return 0;
    return escr + (uint32_t)half_of(counter);
}

static uint32_t escr_value(const struct msr_layout *layout, const struct count_event *event)
{
    uint32_t rings = (event->rings & COUNT_USER ? 1u : 0) | (event->rings & COUNT_KERNEL ? 2u : 0);
    uint32_t code = (uint32_t)counter_event_code(&event->hardware);
    return code | rings << (layout->second ? 0 : ESCR_KERNEL);
}

struct placing {
    const struct count_event *events;
    int nevents;
    uint64_t free;
    int *places;
    int deepest; // the event that could not be placed last
};

static bool fits(const struct placing *p, int event, int counter)
{
    const struct msr_layout first = {.second = false};
    uint32_t escr = escr_of(&p->events[event], counter);
    if (!(p->free >> counter & 1) || !(p->events[event].hardware.counters >> counter & 1) || !escr)
        return false;
    for (int i = 0; i < event; i++) {
        if (p->events[i].hardware.kind == COUNTER_MSR)
            continue;
        if (p->places[i] == counter ||
            (escr_of(&p->events[i], p->places[i]) == escr &&
             escr_value(&first, &p->events[i]) != escr_value(&first, &p->events[event])))
            return false;
    }
    return true;
}

// Places the events from this one on, depth-first; the groups are small.
static bool place_from(struct placing *p, int event) // NOLINT(misc-no-recursion)
{
    if (event == p->nevents)
        return true;
    p->deepest = event > p->deepest ? event : p->deepest;
    p->places[event] = 0;
    if (p->events[event].hardware.kind == COUNTER_MSR)
        return place_from(p, event + 1);
    for (int counter = 0; counter < MSR_GENERAL_MAX; counter++) {
        p->places[event] = counter;
        if (fits(p, event, counter) && place_from(p, event + 1))
            return true;
    }
    return false;
}

int netburst_place(const struct count_event *events, int nevents, uint64_t free, int *places)
{
    struct placing p = {.events = events, .nevents = nevents, .free = free, .places = places};
    return place_from(&p, 0) ? -1 : p.deepest;
}

void netburst_program(const struct msr_layout *layout, const struct count_event *event, int counter,
                      struct msr_plan *plan)
{
    uint32_t control = NETBURST_CONTROL + (uint32_t)counter;
    // The ESCR selects the threads to count; the CCCR lets both through.
    uint64_t code = counter_event_code(&event->hardware) >> 32 | 3ull << CCCR_THREADS;
    uint64_t whole = 0xffffffff;
    msr_steps_set(&plan->prepare, control, whole, code);
    msr_steps_set(&plan->prepare, escr_of(event, counter), whole, escr_value(layout, event));
    msr_steps_set(&plan->start, control, whole, code | NETBURST_ENABLE);
    msr_steps_set(&plan->stop, control, whole, code);
}
