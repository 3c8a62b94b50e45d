// SPDX-License-Identifier: MIT
// Runs in the database: their beginning, provenance, warnings, lists and end; and which there are.
#ifndef LATPUT_STORE_RUN_H
#define LATPUT_STORE_RUN_H

#include "core/outcome.h"
#include "cpuinfo/cpuinfo.h"
#include "store.h"
#include "util/spent.h"

#include <stdint.h>

// An event that a run counted.
struct run_event {
    const char *event, *code; // id of the table; "event=0x3c,umask=0x00"
    const char *backend;
    const char *counter_table, *table_version; // "skylake" of counters/skylake.csv, "1"
};

// Provenance of a run, without names of hosts, users or paths.
struct run_info {
    const char *version; // of latput
    const char *nasm_version;
    const char *os_kernel;  // uname release
    const char *backend;    // "tsc", "perf", "msr"; "text": nothing was measured (exec_is_text())
    const char *lists;      // "name:sha256 name:sha256 ..." of what was asked for
    const char *tables;     // versions or hashes of the CPU tables used
    const char *frequency;  // governor, boost, or what is known
    const char *selection;  // filters and tests, "" for everything: part of what --resume matches
    double tsc_hz, core_hz; // core_hz: estimate at the start
    double overhead_tsc;    // of one timing
    int issue_width, calib_link_clk; // facts of the uarch that were used
    int measuring_cpu;
    const char *claimed_uarch, *decided; // of struct cpu_info, as texts; NULL: "unknown"
    const char *evidence;                // cpu_evidence_text(); NULL: none
    int measured_width;                  // 0: not measured
    const struct run_event *events;      // what is counted beside the clock
    int nevents;
};
int store_run_begin(struct store *store, int64_t cpu_id, const struct run_info *info,
                    int64_t *run_id, struct err *err);
// The newest run of this machine with the same version, lists, backend and selection that was not
// finished, whatever it took the machine for (but for what cpu_override() said: that must be the
// same); 1 found, 0 none, -1 error.
int store_run_resume(struct store *store, int64_t cpu_id, const struct run_info *info,
                     int64_t *run_id, struct err *err);
// That no other process measures this run until the store is closed, or this one has ended. 0 it is
// ours, 1 another one has it (with a message), -1 error.
int store_run_claim(struct store *store, int64_t run_id, struct err *err);
// Where the time of an invocation that measured for the run went; those of one run add up.
int store_put_run_time(struct store *store, int64_t run_id, const struct spent *spent,
                       struct err *err);
// Files an unfinished run under what its CPU is judged to be by now.
int store_run_file(struct store *store, int64_t run_id, const struct cpu_info *cpu, int issue_width,
                   struct err *err);
// The best rate of a throughput of the run that is no more than `most`, in instructions a cycle; 0:
// there is none.
int store_run_rate(struct store *store, int64_t run_id, double most, double *rate, struct err *err);
// Marks the run finished; as store_commit(). `kernels` timed in `seconds` of this invocation.
int store_run_finish(struct store *store, int64_t run_id, int64_t kernels, double seconds,
                     struct err *err);
// A warning with its remedy, shown at the end and in reports; the same text once a run.
int store_run_warning(struct store *store, int64_t run_id, const char *text, const char *remedy,
                      struct err *err);

// A list that the run measures, with the title of its file (as far as 200 characters of it); does
// nothing where the run has it.
int store_put_run_list(struct store *store, int64_t run_id, const char *list_name,
                       const char *title, struct err *err);

// Results by outcome of a run: counts[OUTCOME_*] over its tests and port results, *forms
// over its rows.
int store_run_summary(struct store *store, int64_t run_id, int64_t counts[OUTCOME_COUNT],
                      int64_t *forms, struct err *err);
// How many throughputs of a run came to no steady state, and have a bound for a value.
int store_run_scattered(struct store *store, int64_t run_id, int64_t *tests, struct err *err);
// The tests of a run that were asked in two ways, as run_doubt_table (db/views.sql) has them.
struct store_doubts {
    int64_t repeated;       // again in another arrangement
    int64_t differing;      // of these
    int64_t contradictions; // of values that cannot be true beside others of their form
};
int store_run_doubts(struct store *store, int64_t run_id, struct store_doubts *doubts,
                     struct err *err);

// The newest finished run of a uarch (NULL: of any; the newest of all if none is finished); one of
// forms, if there is any, before one of a piece of code, and of these one that was measured here
// before one that was merged. 1 found, 0 none, -1 error.
int store_run_newest(struct store *store, const char *uarch, int64_t *run_id, struct err *err);
// Whether it came by a merge. 1, 0, -1.
int store_run_is_merged(struct store *store, int64_t run_id, struct err *err);
// The finished runs that the best tables of this run's CPU are made of, with itself, oldest first;
// *run_ids is to be freed by the caller. A run of pieces of code is alone. 0 or -1.
int store_table_runs(struct store *store, int64_t run_id, int64_t **run_ids, int *nruns,
                     struct err *err);
// The uarchs that have results (of these, with commas between them, where it is not NULL), each
// with a terminating NUL, an empty one at the end; to be freed. NULL after an error.
char *store_uarchs(struct store *store, const char *asked, struct err *err);
// Whether there is such a run. 1, 0, -1.
int store_has_run(struct store *store, int64_t run_id, struct err *err);

// The names of the lists that a run measured, each with a terminating NUL, an empty name at the
// end; to be freed by the caller. NULL after an error.
char *store_run_lists(struct store *store, int64_t run_id, struct err *err);
// The same for all runs on this run's CPU.
char *store_listed(struct store *store, int64_t run_id, struct err *err);
// The title of one of them as this run has it, else the newest of the others on its CPU, else its
// name; to be freed by the caller. NULL after an error.
char *store_run_list_title(struct store *store, int64_t run_id, const char *list, struct err *err);

#endif
