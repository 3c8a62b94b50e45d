// SPDX-License-Identifier: MIT
// The provenance of a run: what was measured with what, under which conditions, and the warnings
// that a reader of its numbers should see. Collects nothing that names a host, a user or a path.
#pragma once

#include "core/core_abi.h"
#include "cpuinfo/counters.h"
#include "cpuinfo/cpuinfo.h"
#include "list/select.h"
#include "parallel.h"
#include "session_count.h"
#include "store/store_run.h"

// Results of calibration.
struct run_facts {
    double core_hz, overhead_tsc, imul_per_add;
    int issue_width;           // measured
    const char *floor_guessed; // description of a core that was never undisturbed; NULL: it was
    const struct counter_table *counters;    // from which events were counted; NULL: none were
    const struct session_counting *counting; // the events; NULL: none
    bool interrupts_off;                     // while something was timed
    int counted_link_clk; // core cycles that they give the calibration's link; 0: none
};

// Subject of a run, and its tools.
struct run_subject {
    const struct cpu_info *cpu;
    const struct core_config *config;
    const struct run_facts *facts;
    const struct selection *selection;
    const char *selection_text; // the user's words
};
// Fills info; its strings are owned by the arena.
int run_info_collect(const struct run_subject *subject, struct arena *arena, struct run_info *info,
                     struct err *err);
// Returns true if the ratio of the calibration's link to an addition contradicts the CPU's known
// one. A ratio that is no whole number shows that something disturbed it, and contradicts nothing.
bool run_info_calibration_off(const struct cpu_info *cpu, const struct run_facts *facts);
// Records the warnings that follow from what the CPU is believed to be.
int run_info_warn_identity(struct store *store, int64_t run_id, const struct cpu_info *cpu,
                           struct err *err);
// Records those that follow from the CPU and the facts.
int run_info_warn(struct store *store, int64_t run_id, const struct cpu_info *cpu,
                  const struct run_facts *facts, struct err *err);
// Records how many kernels had counts that were left out.
int run_info_warn_doubted(struct store *store, int64_t run_id, int64_t doubted, struct err *err);
// Records how many tests have no steady value. `unstable` of `tests`.
int run_info_warn_unstable(struct store *store, int64_t run_id, int64_t unstable, int64_t tests,
                           struct err *err);
// Records why forms of 32-bit mode are skipped.
int run_info_warn_no_32(struct store *store, int64_t run_id, const char *why, struct err *err);
// Records how many tests came out otherwise in another way of asking, if these are more than some.
int run_info_warn_doubts(struct store *store, int64_t run_id, const struct store_doubts *doubts,
                         struct err *err);
// Records that several cores have measured at once, and what the comparison said.
int run_info_warn_parallel(struct store *store, int64_t run_id, const struct parallel *parallel,
                           struct err *err);
// Records how many throughputs have a bound for want of a steady state.
int run_info_warn_scattered(struct store *store, int64_t run_id, int64_t tests, struct err *err);
