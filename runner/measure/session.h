// SPDX-License-Identifier: MIT
// Needs of every measuring command before its first kernel: a CPU to measure on that everything
// else of this process leaves alone, the facts about it, the canary's floor, and a directory for
// scratch files. Shared by `latput run` and `latput bench`.
#pragma once

#include "assemble/assemble.h"
#include "cpuinfo/cpu_kinds.h"
#include "execute/exec.h"
#include "store/store_cpu.h"
#include "util/err.h"

#include <sched.h>
#include <stdbool.h>

struct parallel;
struct session_counting;
struct session_counters;

struct session {
    struct cpu_info *cpu;              // the measuring CPU; owned
    struct exec_params params;         // the method's, with the facts about this CPU
    char directory[256];               // scratch files; "" before session_make_directory()
    char *scratch;                     // the same, owned by util/scratch.c
    cpu_set_t affinity;                // the calling thread's, before the session
    cpu_set_t usable;                  // those of its CPUs that are of the measuring CPU's kind
    struct cpu_kinds kinds;            // of cores that may be used; owned
    double quiet_least;                // of cpu_quiet_best(); 0: the CPU was not chosen by a look
    bool cpu_wanted;                   // the CPU was asked for
    struct exec_mover mover;           // session_mover()
    struct parallel *parallel;         // parallel.h; NULL: one CPU measures; owned
    struct session_counting *counting; // session_count.h; NULL: nothing is counted
    // After session_find_floor(): instructions per cycle that rename and dispatch take, as
    // measured; and whether the floor is only a guess, since the core was never seen undisturbed.
    // Then no number may be believed; floor_seen has the observations.
    int issue_width;
    bool width_measured; // else the width is a guess, too
    bool floor_guessed;
    struct err floor_seen;
    uint32_t link_clk;   // of the calibration chain, as processes have confirmed it; 0: not yet
    double imul_per_add; // ratio of these latencies as measured; 0: not known
    bool imul_doubted;   // it was not always the same
    // Properties of this CPU in the database: witnesses of its identity.
    struct cpu_observed observed[CPU_OBSERVED_MAX];
    int nobserved;
};

enum { SESSION_CPU_QUIET = -1, SESSION_CPU_LAST = -2 };
// Chooses the measuring CPU (`wanted`, or of those of the kind that may be used the quietest now,
// or the last one), identifies it, and takes it out of the affinity of the calling thread, and so
// of all that it starts from then on. kind: as cpu_kinds_called() takes it; NULL: the kind of the
// CPU that is wanted, or of the last one. *session is then to be ended with session_end(), also
// after -1.
int session_begin(int wanted, const char *kind, struct session *session, struct err *err);
// Leaves CPU `cpu` alone, and those that measure beside it as far as another is left: this process,
// all its threads and its tools run elsewhere from now on. Not on other threads of these cores
// either, as far as the system knows of them and there are more CPUs.
void session_leave_cpu(const struct session *session, int cpu);
int session_make_directory(struct session *session, struct err *err);
// Removes the scratch directory unless `keep`, gives counters and the thread's affinity back,
// frees.
void session_end(struct session *session, bool keep);

// Makes SIGINT, SIGTERM, SIGHUP and SIGPIPE (unless they are ignored: nohup) call exec_stop() from
// now on. A second signal ends the program, unless it is SIGPIPE.
void session_stop_on_signals(void);
// Returns the signal that came, in words for a message; NULL: none.
const char *session_stopped_by(void);
// Returns `status`, or -1 with a message if a signal came: results of a core after it was stopped
// mean nothing, nor does the reason of its failure.
int session_check_stopped(int status, struct err *err);

// Returns the parameters for a core of this mode, 64 or 32, with the counters of the open pass.
struct exec_params session_params(const struct session *session, int bits);

// Takes the latency of the chain's link from a process that has confirmed it: those that
// session_params() is for from then on find the same, or do not measure.
void session_learn_link(struct session *session, int bits, const struct exec_summary *summary);

// Returns what moves the session's measuring processes to the quietest CPU of the same type, and
// everything else away from it; NULL where they must stay on one that was asked for, or that
// counters are of.
struct exec_mover *session_mover(struct session *session);

// Lets the next process measure on another CPU of the same type, if there is one with undisturbed
// time and none was asked for. Returns the CPU until now, for session_return().
int session_leave(struct session *session);
void session_return(struct session *session, int cpu);

// Returns the parameters for one short pass, whose only purpose is what the core finds out at its
// start.
struct exec_params session_params_hello(const struct session *session, int bits);

// Builds a program of one nop, as `stem` in the scratch directory.
int session_build_nop(const struct session *session, const char *stem, int bits,
                      struct arena *arena, struct program *program, struct err *err);
// Tries to build and run a 32-bit program. Returns 0, or -1 with the reason.
int session_probe_32(const struct session *session, struct err *err);

// Source of the canary's floor.
struct session_floor {
    struct store *store; // NULL: no database
    int64_t cpu_id;      // row in the database
    bool anew;           // do not take the stored one
    // Limits the search while other programs disturb: to two seconds, else 24. On a quiet core
    // either takes half a second.
    bool quick;
};
// Sets the canary, its floor and the issue width in *session: the stored ones, if they still hold,
// or those measured with `program`, stored if they can be trusted. This decides anew which CPU it
// is: the family in session->cpu may change (cpu_judge()).
int session_find_floor(struct session *session, const struct session_floor *from,
                       const char *program, struct err *err);
// Looks whether the session's floor still holds (floor_holds()), and finds another if it does not.
int session_check_floor(struct session *session, const struct session_floor *from,
                        const char *program, bool *holds, struct err *err);
// Does the same with a floor that is known already.
void session_take_floor(struct session *session, const struct canary_floor *floor);
// Adds evidence about the CPU: a ratio of the latencies of imul and add; the rate of something that
// was timed. The next session_judge() uses them and decides anew which CPU this is. A rate can show
// that the core is as wide as its family although the floor has seen less, never that it is wider:
// some cores run some instructions faster than they dispatch µops.
void session_see_ratio(struct session *session, double imul_per_add);
void session_see_rate(struct session *session, double instrs_per_clk);
void session_judge(struct session *session);
// Prepares for mixes with a program of its own: counters as wanted, which count or are refused
// (session_count.h), and the floor. Returns -1 also if the floor is only a guess.
int session_prepare(struct session *session, const struct session_counters *wanted,
                    const struct session_floor *from, struct err *err);
