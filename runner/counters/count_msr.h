// SPDX-License-Identifier: MIT
// Counting by the model-specific registers themselves, through /dev/cpu/N/msr: the common part of
// the msr backend and `latput counters start`. A plan lists the bits for each register, without
// touching anything; a device carries it out and remembers the old contents.
#pragma once

#include "core/core_abi.h"
#include "count.h"

enum { MSR_STEPS_MAX = 160, MSR_GENERAL_MAX = 18, MSR_FIXED_MAX = 16 };
static const uint64_t MSR_ALL_BITS = UINT64_MAX;
static const uint32_t MSR_NO_RDPMC = UINT32_MAX;

// Bits of a register that get a value; the others stay as they are.
struct msr_step {
    uint32_t msr;
    bool command; // writing has an effect, reading no meaning: neither read before nor restored
    uint64_t mask, value;
};
struct msr_steps {
    struct msr_step steps[MSR_STEPS_MAX];
    int n;
};

// The counters of a CPU. Bits of sets of counters, here and in count_passes_place(): general
// counter i is bit i, fixed counter j bit 32 + j.
struct msr_layout {
    enum counter_scheme scheme; // the table's, or an older one if CPUID hides the newer
    int version;                // version of Intel's architectural monitoring; 0: none
    int general, fixed;         // numbers of counters
    int general_bits, fixed_bits;
    bool full_width;   // the counters can be written whole (at 0x4c1); set by whoever has the MSR
    bool capabilities; // MSR 0x345, which says so, exists
    bool second;       // NetBurst: the second thread of its core
};
// Pure. COUNT_NO_PMU, with the remedy, where CPUID announces no counters.
enum count_obstacle msr_layout_make(const struct cpu_info *cpu, enum counter_scheme scheme,
                                    struct msr_layout *layout, struct err *err);

struct msr_slot {
    uint32_t msr;      // to be read
    uint32_t high_msr; // second of a pair of counters, with the bits from `bits` on; 0: none
    uint32_t rdpmc;    // value of ecx for RDPMC, or MSR_NO_RDPMC
    uint64_t counters; // the one or two that it takes; 0: a register that counts by itself
    int bits;          // width of the counter
};

struct msr_plan {
    struct msr_slot slots[COUNT_EVENTS_MAX]; // one per event
    int nevents;
    struct msr_steps prepare; // the counters stand still afterwards
    struct msr_steps start;   // from 0
    struct msr_steps stop;
    struct msr_steps hold; // contents of the registers while the counters run
    uint32_t overflow_msr; // shows with overflow_bits that a counter has run over; 0: none
    uint64_t overflow_bits;
};
// Pure. `busy`: counters that something else uses. COUNT_TOO_MANY or COUNT_NO_EVENT.
enum count_obstacle msr_plan_make(const struct msr_layout *layout, const struct count_event *events,
                                  int nevents, uint64_t busy, struct msr_plan *plan,
                                  struct err *err);
// Sets the register and the bits that show that a counter is in use, and the counters that are in
// use then. Returns false beyond the last counter.
bool msr_busy_look(const struct msr_layout *layout, int index, uint32_t *msr, uint64_t *bits,
                   uint64_t *counters);

// An open /dev/cpu/N/msr, or a regular file in its place, which has 8 bytes a register: register R
// at offset 8 * R.
struct msr_device {
    const struct count_machine *machine; // the caller's
    int cpu, fd;
    bool regular;
};
enum count_obstacle msr_device_open(const struct count_machine *machine, int cpu,
                                    struct msr_device *device, struct err *err);
void msr_device_close(struct msr_device *device);
enum count_obstacle msr_device_read(const struct msr_device *device, uint32_t msr, uint64_t *value,
                                    struct err *err);
// Reads where bits are to stay, then writes.
enum count_obstacle msr_device_step(const struct msr_device *device, const struct msr_step *step,
                                    struct err *err);
enum count_obstacle msr_device_steps(const struct msr_device *device, const struct msr_steps *steps,
                                     struct err *err);
// Checks that the registers hold what the steps put there: COUNT_NO_PMU if a hypervisor swallows
// writes; with `later` COUNT_MULTIPLEXED, since something else has written since.
enum count_obstacle msr_device_verify(const struct msr_device *device,
                                      const struct msr_steps *steps, bool later, struct err *err);
// Explains why opening, reading or writing register `msr` was refused. Register 0: opening.
enum count_obstacle msr_explain(const struct count_machine *machine, int cpu, uint32_t msr,
                                bool writing, int error, struct err *err);

// A plan on a device: looks which counters are in use, plans, reads what is to be restored.
// *restore: steps that stop the counters and give every register back the bits that it had.
enum count_obstacle msr_device_plan(const struct msr_device *device,
                                    const struct count_event *events, int nevents,
                                    struct msr_plan *plan, struct msr_steps *restore,
                                    struct err *err);
// Reads the count of a slot's event. The device has the plan's counters.
enum count_obstacle msr_slot_read(const struct msr_device *device, const struct msr_slot *slot,
                                  uint64_t *value, struct err *err);

// Sets the measuring core's way to read event `index` of an open group of count_msr. Files that
// stand for the devices of a machine do not count: there event i is i + 1 ticks of the time stamp.
// COUNT_NO_EVENT: RDPMC does not read it.
enum count_obstacle count_msr_counter(const struct count_group *group, int index,
                                      struct core_counter *counter, struct err *err);
