// SPDX-License-Identifier: MIT
// The state that `latput counters start` keeps for stop and status: a text file in
// $XDG_RUNTIME_DIR, or else in /run, which a reboot clears like the counters themselves.
#pragma once

#include "count_msr.h"

struct state_slot { // an event on a CPU
    int cpu;
    struct msr_slot slot;
    char name[COUNTER_LABEL_BYTES];
};
struct state_step { // write that restores a register of a CPU
    int cpu;
    struct msr_step step;
};
struct counters_state {
    char rdpmc_path[256]; // file that lets user code use RDPMC; "": unchanged
    int rdpmc_before;     // its old content
    struct state_slot *slots;
    size_t nslots, slots_capacity;
    struct state_step *steps; // in the order of execution
    size_t nsteps, steps_capacity;
};

// Returns the path, valid until the next call.
const char *counters_state_path(void);
void counters_state_add(struct counters_state *state, int cpu, const struct count_event *events,
                        const struct msr_plan *plan, const struct msr_steps *restore);
// Makes the file, which must not exist. Returns 0 or -1 with a message.
int counters_state_write(const struct counters_state *state, struct err *err);
// Reads the state. Returns 0, 1 if there is no file, or -1 with a message if it cannot be trusted:
// another user's, or of another version. The caller frees the state in any case.
int counters_state_read(struct counters_state *state, struct err *err);
void counters_state_free(struct counters_state *state);

// Executes the steps, continues if a CPU refuses, and restores the RDPMC file. Returns 0, or -1
// with the message of the last refusal.
int counters_state_restore(const struct counters_state *state, const struct count_machine *machine,
                           struct err *err);
// Writes a number into a file of the machine. Returns 0, or -1 with errno.
int counters_number_write(const struct count_machine *machine, const char *path, int number);
