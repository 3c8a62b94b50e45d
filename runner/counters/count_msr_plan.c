// SPDX-License-Identifier: MIT
// Registers and their bits that count events, for every scheme of counters: after Intel's SDM
// volume 3 (chapters on performance monitoring: architectural, P5, P6, NetBurst) and AMD's
// programmer's manual volume 2, chapter 13. Pure functions; count_msr_device.c carries plans out.
// NetBurst, where an event needs a second register, is in count_msr_netburst.c.
#include "count_msr_plan.h"

#include "count_passes.h"
#include "cpuinfo/environment.h"

enum {
    BIT_USER = 16,
    BIT_KERNEL = 17,
    BIT_ENABLE = 22,
    P6_BITS = 40, // width of counters without one in CPUID: P5, P6, NetBurst, VIA
    AMD_BITS = 48,
    P5_FIELD_BITS = 16, // distance of the two counters' fields in CESR
    P5_FIELD = 0x3ff,   // event select, CC, PC
    P5_CC_SHIFT = 6,
    P5_CC_CLOCKS = 4, // in CC: clocks instead of events
    P5_CC_RINGS = 3,  // in CC: levels 0 to 2, level 3; as enum count_rings the other way round
    FIXED_BITS = 4,   // distance of the fixed counters' fields in FIXED_CTR_CTRL
    FIXED_KERNEL = 1,
    FIXED_USER = 2,
    FIRST_FIXED = 32, // in sets of counters, and in the global registers
};

static const uint32_t P5_CESR = 0x11, P5_COUNTER = 0x12;
static const uint32_t INTEL_SELECT = 0x186, INTEL_COUNTER = 0xc1, INTEL_COUNTER_FULL = 0x4c1;
static const uint32_t FIXED_CONTROL = 0x38d, FIXED_COUNTER = 0x309;
static const uint32_t INTEL_STATUS = 0x38e, INTEL_GLOBAL = 0x38f, INTEL_CLEAR = 0x390;
static const uint32_t K7_SELECT = 0xc0010000, K7_COUNTER = 0xc0010004;
static const uint32_t AMD_SELECT = 0xc0010200, AMD_COUNTER = 0xc0010201;
static const uint32_t AMD_STATUS = 0xc0000300, AMD_GLOBAL = 0xc0000301, AMD_CLEAR = 0xc0000302;
static const uint32_t RDPMC_FIXED = 0x40000000;
static const uint64_t AMD_MERGE = 0xf000000ff; // event 0xfff: upper half of the counter before it

// Numbers of AMD's counters, and whether the newer registers are there: a hypervisor may hide them.
static void layout_amd(const struct cpu_info *cpu, struct msr_layout *layout)
{
    const struct cpuid_leaf *v2 = cpu_leaf_find(cpu, 0x80000022, 0);
    const struct cpuid_leaf *extended = cpu_leaf_find(cpu, 0x80000001, 0);
    layout->general_bits = AMD_BITS;
    if (layout->scheme == SCHEME_AMD_V2 && v2 && v2->eax & 1) {
        layout->general = (int)(v2->ebx & 0xf);
        return;
    }
    bool core = extended && extended->ecx >> 23 & 1;
    layout->scheme = layout->scheme != SCHEME_K7 && core ? SCHEME_AMD15H : SCHEME_K7;
    layout->general = layout->scheme == SCHEME_K7 ? 4 : 6;
}

static enum count_obstacle layout_intel(const struct cpu_info *cpu, struct msr_layout *layout,
                                        struct err *err)
{
    const struct cpuid_leaf *leaf = cpu_leaf_find(cpu, 0x0a, 0);
    const struct cpuid_leaf *features = cpu_leaf_find(cpu, 1, 0);
    if (!leaf || (leaf->eax & 0xff) == 0) {
        err_set(err, "CPUID leaf 0AH announces no counters%s",
                cpu->hypervisor[0]
                    ? ": the hypervisor hides them. Measure on bare metal, or switch "
                      "the virtual PMU on (QEMU: -cpu host,pmu=on)"
                    : ". The firmware may have switched them off");
        return COUNT_NO_PMU;
    }
    layout->version = (int)(leaf->eax & 0xff);
    layout->general = (int)(leaf->eax >> 8 & 0xff);
    layout->general_bits = (int)(leaf->eax >> 16 & 0xff);
    if (layout->version >= 2) {
        layout->fixed = (int)(leaf->edx & 0x1f);
        layout->fixed_bits = (int)(leaf->edx >> 5 & 0xff);
    }
    layout->capabilities = features && features->ecx >> 15 & 1;
    return COUNT_FINE;
}

enum count_obstacle msr_layout_make(const struct cpu_info *cpu, enum counter_scheme scheme,
                                    struct msr_layout *layout, struct err *err)
{
    const struct cpuid_leaf *features = cpu_leaf_find(cpu, 1, 0);
    *layout = (struct msr_layout){.scheme = scheme, .general = 2, .general_bits = P6_BITS};
    switch (scheme) {
    case SCHEME_ARCH:
        return layout_intel(cpu, layout, err);
    case SCHEME_K7:
    case SCHEME_AMD15H:
    case SCHEME_AMD_V2:
        layout_amd(cpu, layout);
        return COUNT_FINE;
    case SCHEME_NETBURST:
        layout->general = MSR_GENERAL_MAX;
        // Bit 28: several threads per core; the lowest bit of the APIC id is the number of this
        // one.
        layout->second = features && features->edx >> 28 & 1 && features->ebx >> 24 & 1;
        return COUNT_FINE;
    default:
        return COUNT_FINE;
    }
}

static uint32_t select_msr(const struct msr_layout *layout, int counter)
{
    switch (layout->scheme) {
    case SCHEME_K7:
        return K7_SELECT + (uint32_t)counter;
    case SCHEME_AMD15H:
    case SCHEME_AMD_V2:
        return AMD_SELECT + 2 * (uint32_t)counter;
    default:
        return INTEL_SELECT + (uint32_t)counter;
    }
}

static uint32_t counter_msr(const struct msr_layout *layout, int counter)
{
    switch (layout->scheme) {
    case SCHEME_P5:
        return P5_COUNTER + (uint32_t)counter;
    case SCHEME_NETBURST:
        return NETBURST_COUNTER + (uint32_t)counter;
    case SCHEME_K7:
        return K7_COUNTER + (uint32_t)counter;
    case SCHEME_AMD15H:
    case SCHEME_AMD_V2:
        return AMD_COUNTER + 2 * (uint32_t)counter;
    default:
        return (layout->full_width ? INTEL_COUNTER_FULL : INTEL_COUNTER) + (uint32_t)counter;
    }
}

// Returns the register with an enable bit for each counter; 0 if there is none.
static uint32_t global_msr(const struct msr_layout *layout)
{
    if (layout->scheme == SCHEME_AMD_V2)
        return AMD_GLOBAL;
    return layout->scheme == SCHEME_ARCH && layout->version >= 2 ? INTEL_GLOBAL : 0;
}

bool msr_busy_look(const struct msr_layout *layout, int index, uint32_t *msr, uint64_t *bits,
                   uint64_t *counters)
{
    *counters = (uint64_t)1 << index;
    if (index >= layout->general) {
        index -= layout->general;
        *msr = FIXED_CONTROL;
        *bits = (uint64_t)(FIXED_KERNEL | FIXED_USER) << FIXED_BITS * index;
        *counters = (uint64_t)1 << (FIRST_FIXED + index);
        return index < layout->fixed;
    }
    if (layout->scheme == SCHEME_P5) {
        *msr = P5_CESR;
        *bits = (uint64_t)P5_CC_RINGS << (P5_CC_SHIFT + P5_FIELD_BITS * index);
    } else if (layout->scheme == SCHEME_NETBURST) {
        *msr = NETBURST_CONTROL + (uint32_t)index;
        *bits = NETBURST_ENABLE;
    } else if (layout->scheme == SCHEME_P6) { // one bit for both
        *msr = INTEL_SELECT;
        *bits = (uint64_t)1 << BIT_ENABLE;
        *counters = 3;
    } else {
        *msr = select_msr(layout, index);
        *bits = (uint64_t)1 << BIT_ENABLE;
    }
    return true;
}

static uint64_t rings_bits(enum count_rings rings)
{
    return (rings & COUNT_USER ? 1ull << BIT_USER : 0) |
           (rings & COUNT_KERNEL ? 1ull << BIT_KERNEL : 0);
}

static void fixed_program(const struct count_event *event, int fixed, struct msr_plan *plan)
{
    uint64_t field = (event->rings & COUNT_KERNEL ? FIXED_KERNEL : 0) |
                     (event->rings & COUNT_USER ? FIXED_USER : 0);
    int shift = FIXED_BITS * fixed;
    msr_steps_set(&plan->prepare, FIXED_CONTROL, 0xfull << shift, field << shift);
}

// Programs P5: one register for both counters, with the levels to count beside the event.
static void p5_program(const struct count_event *event, int counter, struct msr_plan *plan)
{
    int shift = P5_FIELD_BITS * counter;
    uint64_t cc = (event->hardware.umask & P5_CC_CLOCKS) | (event->rings & COUNT_KERNEL ? 1 : 0) |
                  (event->rings & COUNT_USER ? 2 : 0);
    uint64_t field = event->hardware.event | cc << P5_CC_SHIFT;
    msr_steps_set(&plan->prepare, P5_CESR, (uint64_t)P5_FIELD << shift, 0);
    msr_steps_set(&plan->start, P5_CESR, (uint64_t)P5_FIELD << shift, field << shift);
    msr_steps_set(&plan->stop, P5_CESR, (uint64_t)P5_FIELD << shift, 0);
}

// Programs a select register with an enable bit of its own. If there is a global register, too,
// that one starts and stops.
static void select_program(const struct msr_layout *layout, uint64_t code, int counter,
                           struct msr_plan *plan)
{
    uint32_t msr = select_msr(layout, counter);
    uint64_t enable = 1ull << BIT_ENABLE;
    if (global_msr(layout)) {
        msr_steps_set(&plan->prepare, msr, MSR_ALL_BITS, code | enable);
        return;
    }
    msr_steps_set(&plan->prepare, msr, MSR_ALL_BITS, code);
    if (layout->scheme != SCHEME_P6) {
        msr_steps_set(&plan->start, msr, MSR_ALL_BITS, code | enable);
        msr_steps_set(&plan->stop, msr, MSR_ALL_BITS, code);
    }
}

static void event_program(const struct msr_layout *layout, const struct count_event *event,
                          int counter, struct msr_plan *plan)
{
    if (layout->scheme == SCHEME_P5)
        p5_program(event, counter, plan);
    else if (layout->scheme == SCHEME_NETBURST)
        netburst_program(layout, event, counter, plan);
    else
        select_program(layout, counter_event_code(&event->hardware) | rings_bits(event->rings),
                       counter, plan);
}

// Sets the counter of the event, and adds the step that sets it to 0.
static struct msr_slot slot_make(const struct msr_layout *layout, const struct count_event *event,
                                 int place, struct msr_plan *plan)
{
    struct msr_slot slot = {.msr = event->hardware.event, .rdpmc = MSR_NO_RDPMC, .bits = 64};
    if (event->hardware.kind == COUNTER_MSR)
        return slot;
    if (place >= FIRST_FIXED) {
        int fixed = place - FIRST_FIXED;
        slot = (struct msr_slot){.msr = FIXED_COUNTER + (uint32_t)fixed,
                                 .rdpmc = RDPMC_FIXED + (uint32_t)fixed,
                                 .bits = layout->fixed_bits};
    } else {
        slot = (struct msr_slot){.msr = counter_msr(layout, place),
                                 .rdpmc = (uint32_t)place,
                                 .bits = layout->general_bits};
    }
    slot.counters = 1ull << place;
    msr_steps_set(&plan->start, slot.msr, MSR_ALL_BITS, 0);
    if (event->hardware.pair) {
        slot.counters |= slot.counters << 1;
        slot.high_msr = counter_msr(layout, place + 1);
        msr_steps_set(&plan->start, slot.high_msr, MSR_ALL_BITS, 0);
    }
    return slot;
}

static enum count_obstacle events_check(const struct count_event *events, int nevents,
                                        struct err *err)
{
    for (int i = 0; i < nevents; i++) {
        const struct counter_event *a = &events[i].hardware;
        if (events[i].kind == COUNT_SOFTWARE) {
            err_set(err, "'%s' is counted by the kernel, not by a register. Use --backend perf",
                    events[i].name);
            return COUNT_NO_EVENT;
        }
        for (int k = 0; k < i; k++) {
            const struct counter_event *b = &events[k].hardware;
            if (a->extra_msr && a->extra_msr == b->extra_msr && a->extra_value != b->extra_value) {
                err_set(err,
                        "'%s' and '%s' want different values in MSR 0x%x: count one after the "
                        "other",
                        events[i].name, events[k].name, a->extra_msr);
                return COUNT_TOO_MANY;
            }
        }
    }
    return COUNT_FINE;
}

// Programs the global enable bits of all counters of the plan, and the register that clears their
// overflow.
static void global_program(const struct msr_layout *layout, uint64_t counters,
                           struct msr_plan *plan)
{
    uint32_t msr = global_msr(layout);
    if (!msr || !counters)
        return;
    bool amd = layout->scheme == SCHEME_AMD_V2;
    plan->overflow_msr = amd ? AMD_STATUS : INTEL_STATUS;
    plan->overflow_bits = counters;
    msr_steps_add(&plan->start, &(struct msr_step){.msr = amd ? AMD_CLEAR : INTEL_CLEAR,
                                                   .command = true,
                                                   .mask = MSR_ALL_BITS,
                                                   .value = counters});
    msr_steps_set(&plan->start, msr, counters, counters);
    msr_steps_set(&plan->stop, msr, counters, 0);
}

// Programs P6: the enable bit of counter 0 is for both, so its register is written last, and also
// if only counter 1 counts.
static void p6_program(uint64_t counters, struct msr_plan *plan)
{
    uint64_t code = 0;
    if (!counters)
        return;
    for (int i = 0; i < plan->prepare.n; i++)
        if (plan->prepare.steps[i].msr == INTEL_SELECT)
            code = plan->prepare.steps[i].value;
    msr_steps_set(&plan->start, INTEL_SELECT, MSR_ALL_BITS, code | 1ull << BIT_ENABLE);
    msr_steps_set(&plan->stop, INTEL_SELECT, MSR_ALL_BITS, code);
}

// Writes the register steps of all events; event i has counter places[i]. There are three groups:
// prepare, while nothing counts; start, which first sets the counters to 0 and last enables them
// all; and stop.
static void plan_program(const struct msr_layout *layout, const struct count_event *events,
                         const int *places, struct msr_plan *plan)
{
    uint64_t counters = 0;
    if (global_msr(layout)) // first of all: everything stands still while it is programmed
        msr_steps_set(&plan->prepare, global_msr(layout), 0, 0);
    for (int i = 0; i < plan->nevents; i++) {
        const struct counter_event *hardware = &events[i].hardware;
        plan->slots[i] = slot_make(layout, &events[i], places[i], plan);
        counters |= plan->slots[i].counters;
        if (hardware->extra_msr)
            msr_steps_set(&plan->prepare, hardware->extra_msr, MSR_ALL_BITS, hardware->extra_value);
    }
    if (global_msr(layout)) {
        plan->prepare.steps[0].mask = counters;
        if (!counters)
            plan->prepare.n = 0;
    }
    for (int i = 0; i < plan->nevents; i++) {
        uint64_t own = plan->slots[i].counters;
        if (!own)
            continue;
        if (plan->slots[i].high_msr) // starts before the counter that carries into it
            select_program(layout, AMD_MERGE, places[i] + 1, plan);
        if (places[i] >= FIRST_FIXED)
            fixed_program(&events[i], places[i] - FIRST_FIXED, plan);
        else
            event_program(layout, &events[i], places[i], plan);
    }
    global_program(layout, counters, plan);
    if (layout->scheme == SCHEME_P6)
        p6_program(counters, plan);
}

// Lists the contents of the registers while the counters run.
static void hold_make(struct msr_plan *plan)
{
    for (int i = 0; i < plan->prepare.n; i++) {
        bool changed = false;
        for (int k = 0; k < plan->start.n; k++)
            changed = changed || plan->start.steps[k].msr == plan->prepare.steps[i].msr;
        if (!changed)
            msr_steps_add(&plan->hold, &plan->prepare.steps[i]);
    }
    for (int k = 0; k < plan->start.n; k++) {
        const struct msr_step *step = &plan->start.steps[k];
        bool counter = step->mask == MSR_ALL_BITS && step->value == 0;
        if (!step->command && !counter)
            msr_steps_add(&plan->hold, step);
    }
}

enum count_obstacle msr_plan_make(const struct msr_layout *layout, const struct count_event *events,
                                  int nevents, uint64_t busy, struct msr_plan *plan,
                                  struct err *err)
{
    int places[COUNT_EVENTS_MAX];
    uint64_t all = ((1ull << layout->general) - 1) | ((1ull << layout->fixed) - 1) << FIRST_FIXED;
    *plan = (struct msr_plan){.nevents = nevents};
    enum count_obstacle obstacle = events_check(events, nevents, err);
    if (obstacle)
        return obstacle;
    int misfit = layout->scheme == SCHEME_NETBURST
                     ? netburst_place(events, nevents, all & ~busy, places)
                     : count_passes_place(events, nevents, all & ~busy, places);
    if (misfit >= 0) {
        err_set(err,
                "'%s' finds no counter among %d general and %d fixed ones%s beside the events "
                "before it",
                events[misfit].name, layout->general, layout->fixed,
                busy ? ", some of which something else uses," : "");
        return COUNT_TOO_MANY;
    }
    plan_program(layout, events, places, plan);
    hold_make(plan);
    return COUNT_FINE;
}
