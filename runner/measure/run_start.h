// SPDX-License-Identifier: MIT
// Starts a run of any kind after its session has begun: measures the facts of the CPU that all else
// depends on, and makes the run's row in the database. Later measurements decide, when the run
// ends, which CPU it is filed under.
#pragma once

#include "run_info.h"
#include "session.h"
#include "util/spent.h"

struct run_start {
    struct store *store;
    struct session *session;                 // begun, with a directory and its counters
    const struct session_counters *counters; // counters that the user wanted
    const char *label;                       // struct run_info's
    bool new_floor;                          // find the canary's floor again
    const char *completes;                   // struct run_info's
    bool resume;                             // go on with an unfinished run of the same kind
    bool once;                               // then none is begun after a finished one
    struct run_facts facts;                  // out: what calibrating found
    int64_t cpu_id, run_id;                  // out
    bool claimed;                            // out: another process measures the run to be resumed
    bool done;                               // out: the newest run of this kind is finished
};

// Calibrates, and finds the row that says what the CPU was measured to be so far. -1 also where a
// signal stopped it.
int run_start_calibrate(struct run_start *start, struct err *err);
// Gets the run's row, an unfinished one of the same kind or a new one, claimed for this process and
// with the warnings that follow from the facts; or the row of the finished run (`done`), which is
// not to be touched. `lists` and `selection` describe the subject.
int run_start_row(struct run_start *start, const struct selection *lists, const char *selection,
                  struct err *err);
// Judges the CPU again by all that the run has in the database: before ports, which need its width.
int run_start_learn(struct run_start *start, struct err *err);
// Closes the run's row at the end of an invocation: files it under the CPU that came out, and
// stores the account of time since `before`, in *seconds. A `complete` run is marked as finished,
// with the warnings that follow from the CPU; `kernels` were timed.
int run_start_finish(struct run_start *start, const struct spent *before, int64_t kernels,
                     bool complete, double *seconds, struct err *err);
