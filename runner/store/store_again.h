// SPDX-License-Identifier: MIT
// The forms that a finished run has no value for, so that another one can ask for it (`latput run
// --again`). A value is missing where a test, or the ports of a form, ran and came out unstable,
// with a bound for want of a steady state, or timed out; ports also where two ways of finding them
// differ.
#pragma once

#include "core/outcome.h"
#include "cpuinfo/cpuinfo.h"
#include "store_ports.h"

#include <stdint.h>

// Reasons for which there is no run to be completed.
enum store_again {
    AGAIN_FOUND,
    AGAIN_NONE,       // no run is finished
    AGAIN_MERGED,     // all finished ones came by a merge
    AGAIN_OTHER_CPU,  // none of them is of this CPU
    AGAIN_OTHER_LATER // the newest of this CPU is of another version
};
// The newest finished run of forms that was measured here; one that completes another stands for
// that.
struct stored_base {
    enum store_again found;
    int64_t run_id; // also where it is of another version
    const char *uuid, *version, *lists, *selection, *label;
    bool override;          // the user said which CPU it is
    int64_t calib_link_clk; // of the chain by which its cycles were found
};
int store_get_base(struct store *store, const struct cpu_info *cpu, const char *version,
                   struct stored_base *base, struct arena *arena, struct err *err);

// A form of the run, with what it lacks, also by the runs that complete it.
struct stored_lack {
    struct stored_form form;
    bool values;   // of latency or throughput
    bool ports;    // they were asked for
    bool no_ports; // nobody has asked for them
    bool begun;    // an unfinished run that completes this one has it
};
// Reads all forms of the run in the order of stored_form_compare(). Owned by the arena.
int store_get_lacks(struct store *store, int64_t run_id, struct stored_lack **lacks, int *n,
                    struct arena *arena, struct err *err);

// Reads the throughputs of the run. Forms without one get theirs from the runs that complete the
// run, the newest first. Owned by the arena.
int store_get_completed_throughputs(struct store *store, int64_t run_id,
                                    struct stored_throughputs *values, struct arena *arena,
                                    struct err *err);

// Counts results like store_run_summary() and store_run_scattered(), each test and each form's
// ports as the runs that complete this one have them.
int store_completed_summary(struct store *store, int64_t run_id, int64_t counts[OUTCOME_COUNT],
                            int64_t *scattered, struct err *err);
