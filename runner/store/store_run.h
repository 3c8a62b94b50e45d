// SPDX-License-Identifier: MIT
// Runs in the database: their beginning, provenance, warnings, lists and end; and finding them.
#pragma once

#include "core/outcome.h"
#include "cpuinfo/cpuinfo.h"
#include "store.h"
#include "util/spent.h"

#include <stdint.h>

// An event counted by a run.
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
    const char *lists;      // "name:sha256 name:sha256 ..." of the lists asked for
    const char *tables;     // versions or hashes of the CPU tables used
    const char *frequency;  // governor, boost, or as much as is known
    const char *selection;  // filters and tests, "" for everything: part of what --resume matches
    const char *label;      // the machine's, "": none; NULL: as its newest run in the database
    const char *completes;  // uuid of the run whose missing values it asks for; NULL: none
    double tsc_hz, core_hz; // core_hz: estimate at the start
    double overhead_tsc;    // of one timing
    int issue_width, calib_link_clk; // facts of the uarch used in the run
    int measuring_cpu;
    const char *claimed_uarch, *decided; // of struct cpu_info, as texts; NULL: "unknown"
    const char *evidence;                // cpu_evidence_text(); NULL: none
    int measured_width;                  // 0: not measured
    const struct run_event *events;      // events counted beside the clock
    int nevents;
};
int store_run_begin(struct store *store, int64_t cpu_id, const struct run_info *info,
                    int64_t *run_id, struct err *err);
// Finds the newest unfinished run of this machine with the same version, lists, backend, label,
// selection and completed run, whatever family it was filed under (but cpu_override() must be the
// same). Returns 1 if found, 0 if none, -1.
int store_run_resume(struct store *store, int64_t cpu_id, const struct run_info *info,
                     int64_t *run_id, struct err *err);
// Finds the newest finished one of this kind that was measured here.
int store_run_done(struct store *store, int64_t cpu_id, const struct run_info *info,
                   int64_t *run_id, struct err *err);
// Claims the run, so that no other process measures it until the store is closed or this process
// has ended. Returns 0 if claimed, 1 if another process has it (with a message), -1.
int store_run_claim(struct store *store, int64_t run_id, struct err *err);
// Stores where the time of an invocation that measured for the run went; the invocations of one run
// add up.
int store_put_run_time(struct store *store, int64_t run_id, const struct spent *spent,
                       struct err *err);
// Files an unfinished run under the family that its CPU is judged to be by now.
int store_run_file(struct store *store, int64_t run_id, const struct cpu_info *cpu, int issue_width,
                   struct err *err);
// Finds the best rate of a throughput of the run that does not exceed `most`, in instructions per
// cycle; 0: none.
int store_run_rate(struct store *store, int64_t run_id, double most, double *rate, struct err *err);
// Marks the run finished and commits. `kernels` were timed in `seconds` by this invocation.
int store_run_finish(struct store *store, int64_t run_id, int64_t kernels, double seconds,
                     struct err *err);
// Stores a warning with its remedy, shown at the end and in reports; each text once per run.
int store_run_warning(struct store *store, int64_t run_id, const char *text, const char *remedy,
                      struct err *err);

// Stores a list that the run measures, with the title of its file (at most 200 characters of it),
// unless the run has it.
int store_put_run_list(struct store *store, int64_t run_id, const char *list_name,
                       const char *title, struct err *err);

// Counts results of a run: counts[OUTCOME_*] over its tests and port results, *forms over its rows.
int store_run_summary(struct store *store, int64_t run_id, int64_t counts[OUTCOME_COUNT],
                      int64_t *forms, struct err *err);
// Counts throughputs of a run without a steady state, whose value is a bound.
int store_run_scattered(struct store *store, int64_t run_id, int64_t *tests, struct err *err);
// Tests of a run that were asked in two ways, as run_doubt_table (db/views.sql) counts them.
struct store_doubts {
    int64_t repeated;       // tests repeated in another arrangement
    int64_t differing;      // those with another value
    int64_t contradictions; // values that cannot be true beside others of their form
};
int store_run_doubts(struct store *store, int64_t run_id, struct store_doubts *doubts,
                     struct err *err);

// Finds the newest finished run of a uarch (NULL: of any; the newest of all if none is finished). A
// run of forms is preferred to one of a piece of code, and then one measured here to a merged one.
// Returns 1 if found, 0 if none, -1.
int store_run_newest(struct store *store, const char *uarch, int64_t *run_id, struct err *err);
// Finds the newest run measured here on a CPU like this one, in the same order.
int store_run_newest_here(struct store *store, const struct cpu_info *cpu, int64_t *run_id,
                          struct err *err);
// Returns 1 if the run came by a merge, 0 if not, -1 on error.
int store_run_is_merged(struct store *store, int64_t run_id, struct err *err);
// Finds the finished runs that the best tables of this run's CPU are made of, and the run itself,
// oldest first; the caller frees *run_ids. A run of pieces of code is alone. Returns 0 or -1.
int store_table_runs(struct store *store, int64_t run_id, int64_t **run_ids, int *nruns,
                     struct err *err);
// Returns the uarchs that have results (only those in `asked`, separated by commas, unless NULL),
// each with a terminating NUL, an empty one at the end. The caller frees them; NULL after an error.
char *store_uarchs(struct store *store, const char *asked, struct err *err);
// Returns 1 if there is such a run, 0 if not, -1 on error.
int store_has_run(struct store *store, int64_t run_id, struct err *err);

// Returns the names of the lists that a run measured, each with a terminating NUL, an empty name at
// the end. The caller frees them; NULL after an error.
char *store_run_lists(struct store *store, int64_t run_id, struct err *err);
// Returns the same for all runs on this run's CPU.
char *store_listed(struct store *store, int64_t run_id, struct err *err);
// Returns the title of a list in this run, else the newest title in other runs on its CPU, else its
// name. The caller frees it; NULL after an error.
char *store_run_list_title(struct store *store, int64_t run_id, const char *list, struct err *err);
