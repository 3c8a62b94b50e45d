// SPDX-License-Identifier: MIT
// Counts of a run's kernels besides the clock: core cycles, and µops by port and slot in as many
// passes as the counters need. The runner finds out what works and sets the core's way to each
// count (core_abi.h); the core reads.
#pragma once

#include "core/core_abi.h"
#include "counters/count_choose.h"
#include "counters/count_rdpmc.h"
#include "cpuinfo/cpuinfo.h"
#include "execute/exec.h"

enum { SESSION_EVENTS_MAX = CPU_PORT_GROUPS_MAX + 2 }; // core_clk, slots, ports

struct session;
struct session_counting;
struct count_source;

// Counters that a command wants.
struct session_counters {
    enum count_choice choice;          // the user's choice
    const struct count_source *source; // counts instead; NULL: none does
    bool ports;                        // ports and slots, too
};

// A way of counting in the core.
struct count_source {
    const char *name;                    // backend, as the run records it
    const struct count_backend *backend; // to be probed; NULL: nothing to find out
    // Makes these events countable on the measuring CPU, and sets the core's way to read them.
    enum count_obstacle (*open)(struct session_counting *counting, const struct count_event *events,
                                int nevents, struct core_counter *counters, struct err *err);
    // Ends what open began. An obstacle: the counts since then were not complete.
    enum count_obstacle (*close)(struct session_counting *counting, struct err *err);
};
extern const struct count_source count_source_perf, count_source_msr; // session_source.c

struct session_counting {
    const struct count_source *source;
    struct count_machine machine;
    struct counter_table table;
    int cpu; // the measuring CPU
    // All events of the run; pass[i] is the pass that counts event i. Event 0 is core_clk and alone
    // in pass 0 of `clk`; ports and slots have passes of their own.
    struct count_event events[SESSION_EVENTS_MAX];
    int pass[SESSION_EVENTS_MAX];
    int nevents;
    int npasses;    // at least 1, which counts core_clk
    int slots;      // index of the event that counts dispatch slots; -1: none
    char note[512]; // reason why ports and slots are not counted though the tables have them; ""
    // The pass that is open.
    struct core_counter counters[CORE_TIMED_MAX];
    int which[CORE_TIMED_MAX]; // event of each
    int ncounters;
    struct count_group *group; // group of the source, or NULL
    struct count_rdpmc rdpmc;  // permission that the source took
};

// Begins to count; session->counting stays NULL where nothing is counted: for tsc, and for auto
// where no counter can be used. 0, or -1 with the reason and the remedy where perf or msr was asked
// for and cannot be used. Ended by session_end().
int session_count_begin(struct session *session, const struct session_counters *wanted,
                        struct err *err);
// Does the same with the caller's source.
int session_count_with(struct session *session, const struct count_source *source, bool ports,
                       struct err *err);
// Gives the counters back. NULL counting is allowed.
void session_count_end(struct session *session);

// Runs a program of the session with the counters, and checks their counts of the calibration
// chain. Core cycles make the latency of its link a whole number, *link_clk, whatever the CPU's
// table says. Returns -1 if they are no core cycles, or the core cannot count.
int session_count_check(struct session *session, const char *program, int *link_clk,
                        struct err *err);

// Checks the counters that session_count_begin() was asked for. Useless ones are given back, with 0
// unless the user requested them. Does nothing if nothing is counted.
int session_count_confirm(struct session *session, const struct session_counters *wanted,
                          const char *program, int *link_clk, struct err *err);

// Opens a pass instead of the open one. Returns -1 if it cannot be counted (any more), or the
// counts until now are incomplete.
int session_count_pass(const struct session *session, int pass, struct err *err);
// Puts the counters of the open pass into the parameters.
void session_count_params(const struct session *session, struct exec_params *params);
