// SPDX-License-Identifier: MIT
// What `latput counters start` leaves behind for stop and status: a file of text in
// $XDG_RUNTIME_DIR, or else in /run, which no reboot survives, like the counters themselves.
#ifndef LATPUT_CMD_COUNTERS_STATE_H
#define LATPUT_CMD_COUNTERS_STATE_H

#include "counters/count_msr.h"

struct state_slot { // an event on a CPU
    int cpu;
    struct msr_slot slot;
    char name[COUNTER_LABEL_BYTES];
};
struct state_step { // what restores a register of a CPU
    int cpu;
    struct msr_step step;
};
struct counters_state {
    char rdpmc_path[256]; // file that lets user code use RDPMC; "": it was not changed
    int rdpmc_before;     // what was in it
    struct state_slot *slots;
    size_t nslots, slots_capacity;
    struct state_step *steps; // in the order in which they are to be carried out
    size_t nsteps, steps_capacity;
};

// Lives until the next call.
const char *counters_state_path(void);
void counters_state_add(struct counters_state *state, int cpu, const struct count_event *events,
                        const struct msr_plan *plan, const struct msr_steps *restore);
// Makes the file, which must not exist. Returns 0 or -1 with a message.
int counters_state_write(const struct counters_state *state, struct err *err);
// Returns 0, 1 if there is no file, or -1 with a message where it is not to be trusted: not ours,
// or not of this version. The caller frees the state in any case.
int counters_state_read(struct counters_state *state, struct err *err);
void counters_state_free(struct counters_state *state);

// Carries out the steps, goes on where a CPU refuses, and puts the RDPMC file right. Returns 0, or
// -1 with the message of the last refusal.
int counters_state_restore(const struct counters_state *state, const struct count_machine *machine,
                           struct err *err);
// Writes a number into a file of the machine. 0, or -1 with errno.
int counters_number_write(const struct count_machine *machine, const char *path, int number);

#endif
