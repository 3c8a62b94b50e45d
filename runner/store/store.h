// SPDX-License-Identifier: MIT
// Stage 7: the database. The only module that knows SQLite. Facts (cpu, run, form, test, kernel,
// timing, sample) are append-only; results and views can be rebuilt from them (store_rederive).
// All functions that return int give 0, or -1 with a message that names the database file.
#ifndef LATPUT_STORE_H
#define LATPUT_STORE_H

#include "cpuinfo/cpuinfo.h"
#include "derive/derive.h"
#include "plan/plan.h"
#include "ports/ports.h"
#include "util/err.h"
#include "util/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store; // an open database; used by one thread at a time

enum store_mode {
    STORE_READ,  // must exist; opened read-only, defensively
    STORE_WRITE, // created and migrated as needed
    STORE_UPDATE // migrated as needed, but must exist
};
// The file is something else than a latput database, or one of a newer latput.
enum { STORE_FOREIGN = -2 };
// 0, -1 or STORE_FOREIGN.
int store_open(const char *path, enum store_mode mode, struct store **store, struct err *err);
void store_close(struct store *store); // NULL is fine
// The same, but leaves no file behind if store_open() made it, it has no run and nobody else has it
// open.
void store_close_unused(struct store *store);
const char *store_path(const struct store *store);
// Where the database is without --db: db/latput.db of the source tree, or, where that cannot be
// written (an installed latput), latput/latput.db below $XDG_DATA_HOME or ~/.local/share. The
// string lives as long as the program.
const char *store_default_path(void);

// Everything between store_begin and store_commit becomes visible at once, or not at all. It is an
// error if the file has been deleted, moved or replaced meanwhile; what it holds is then copied to
// a file beside the old place, which the message names.
int store_begin(struct store *store, struct err *err);
int store_commit(struct store *store, struct err *err);
void store_rollback(struct store *store);

// The row of this CPU (signature, microcode, brand, hypervisor, features, CPUID dump), added if
// new.
int store_put_cpu(struct store *store, const struct cpu_info *cpu, int64_t *cpu_id,
                  struct err *err);

// The canary of a CPU: which one, its floor, and the width that was measured with it. 1 found, 0
// none stored, -1 error.
struct canary_floor {
    int canary;           // as in struct exec_floor
    double clk_per_instr; // its floor: time on an undisturbed core
    int issue_width;      // instructions that rename and dispatch take in a cycle
};
int store_get_floor(struct store *store, int64_t cpu_id, struct canary_floor *floor,
                    struct err *err);
int store_put_floor(struct store *store, int64_t cpu_id, const struct canary_floor *floor,
                    struct err *err);

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
    const char *backend;    // "tsc", "perf", "msr"
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
// The newest run of this CPU with the same version, lists, backend and selection that was not
// finished; 1 found, 0 none, -1 error.
int store_run_resume(struct store *store, int64_t cpu_id, const struct run_info *info,
                     int64_t *run_id, struct err *err);
// That no other process measures this run until the store is closed, or this one has ended. 0 it is
// ours, 1 another one has it (with a message), -1 error.
int store_run_claim(struct store *store, int64_t run_id, struct err *err);
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

// Whether this run has the form of the row (all its tests) already. 1, 0, or -1.
int store_has_form(struct store *store, int64_t run_id, const struct list_row *row,
                   struct err *err);

// A form with all that was measured of it. Arrays run parallel to plan->tests and test->kernels.
struct measured_kernel {
    enum outcome outcome;
    const char *detail;
    const uint8_t *code; // machine code of the body (at most 64 bytes kept), NULL if none
    int code_bytes;
    const struct timing *timings;
    int ntimings;
    struct estimate estimate;
};
struct measured_test {
    const struct measured_kernel *kernels;
    struct test_result result;
};
int store_put_form(struct store *store, int64_t run_id, const char *list_name, int position,
                   const struct plan *plan, const struct measured_test *tests, struct err *err);

// --- ports (store_ports.c) ---

// A port model with the forms that its indices stand for, as texts (form.form): in the database the
// caller's numbering of forms has no meaning. "" where there is none.
struct stored_port_model {
    struct port_model model; // out of the store, `filler`, blockers and probes are -1
    const char *filler;
    const char *class_blockers[PORT_CLASSES_MAX];
    const char *unit_blockers[PORT_UNITS_MAX], *unit_wholes[PORT_UNITS_MAX];
    const char *probe_forms[PORT_PROBES_MAX];
};
// Once a run; an error if the run has one.
int store_put_port_model(struct store *store, int64_t run_id, const struct stored_port_model *model,
                         struct err *err);
// The model of a run, its texts owned by the arena. 1 found, 0 none, -1 error.
int store_get_port_model(struct store *store, int64_t run_id, struct stored_port_model *model,
                         struct arena *arena, struct err *err);
// The newest run with a port model: of this CPU (cpu_id), or with cpu_id 0 of this uarch; with both
// 0 and NULL of all. 1 found, 0 none, -1 error.
int store_newest_port_run(struct store *store, int64_t cpu_id, const char *uarch, int64_t *run_id,
                          struct err *err);

// One mix that was timed for a form, as struct port_evidence tells it.
struct measured_port_trial {
    const char *blocker; // name of the class or unit, "front end", or the form of a probe
    int blockers, instances;
    struct port_timing timing;
};
struct measured_ports {
    const struct list_row *row;
    const char *list_name;
    int position;       // of the row in its list
    const char *method; // "throughput" or "counter"
    const struct port_usage *usage;
    const struct measured_port_trial *trials;
    int ntrials;
    // The events of the timings' uops (as the oracle has them) and slots, where they are counted.
    const char *const *groups;
    int ngroups;
    const char *slots; // NULL: not counted
};
// All of them or none. Forms that the run has not measured otherwise are added to it; those that it
// has port results of are an error. `model`: of the run, for the texts of the port sets.
int store_put_port_results(struct store *store, int64_t run_id, const struct port_model *model,
                           const struct measured_ports *results, int n, struct err *err);
// Whether this run has a port result of the row. 1, 0, or -1.
int store_has_port_result(struct store *store, int64_t run_id, const struct list_row *row,
                          struct err *err);

// What identifies a form in a database.
struct stored_form {
    const char *form, *enc; // enc: as encoding_name()
    int bits;
};
// By form (strcmp), enc, bits: the order of the arrays below, for bsearch().
int stored_form_compare(const struct stored_form *a, const struct stored_form *b);
// The item with this form among n items of `bytes` bytes in that order, each of which begins with
// its struct stored_form. NULL: there is none.
const void *stored_form_find(const struct stored_form *form, const void *items, int n,
                             size_t bytes);

struct stored_port_usage {
    struct stored_form form;
    struct port_usage usage; // `unit` is the index in the run's model
};
// All port results of a run, those that are not ok included. *usages is owned by the arena.
int store_get_port_usages(struct store *store, int64_t run_id, struct stored_port_usage **usages,
                          int *n, struct arena *arena, struct err *err);

struct stored_throughput {
    struct stored_form form;
    double value_clk; // for fast data, where the time depends on data
};
// The throughputs that are ok of a run, or if it has none, of the newest run on its CPU that has.
// *values is owned by the arena.
int store_get_throughputs(struct store *store, int64_t run_id, struct stored_throughput **values,
                          int *n, struct arena *arena, struct err *err);

// How well the table of a run predicts random mixes. Numbers that do not exist are NaN.
struct validation_class {
    const char *name;
    int64_t mixes;
    double mape_percent, within_10_percent;
};
struct validation_mix {
    const char *text; // "2*add r64 r64; 1*mulps x x"
    double measured_clk, predicted_clk;
};
struct validation {
    int64_t seed, mixes;
    double mape_percent, kendall_tau, within_10_percent;
    const struct validation_class *classes;
    int nclasses;
    const struct validation_mix *worst; // the worst first
    int nworst;
};
int store_put_validation(struct store *store, int64_t run_id, const struct validation *validation,
                         struct err *err);
// The newest of a run; texts and rows are owned by the arena. 1 found, 0 none, -1 error.
int store_get_validation(struct store *store, int64_t run_id, struct validation *validation,
                         struct arena *arena, struct err *err);

// --- pieces of code (store_bench.c) ---

// Numbers that do not exist are NaN, texts that do not are "".
struct stored_bench_metric {
    bool computed; // a column, else an event
    const char *name, *code, *backend, *table_version;
};
struct stored_bench_thread {
    int cpu;
    double instance_clk, median_clk, spread_clk;
    int accepted, tried, passes;
};
struct stored_bench_repetition {
    int thread, pass, repetition, tried;
    bool cold, accepted;
    double late_ns, elapsed_tsc, elapsed_clk;
    const double *values; // one a metric
};
struct stored_bench {
    const char *label, *source, *code, *file, *file_sha256, *symbol, *cflags, *compiler, *init;
    const char *mode, *breakers;
    int bits, instances, copies, iterations, pass;
    bool cold;
    enum outcome outcome;
    const char *detail;
    const uint8_t *machine_code; // at most 64 bytes kept, NULL if none
    int code_bytes;
    const struct stored_bench_thread *threads;
    int nthreads;
    const struct stored_bench_metric *metrics;
    int nmetrics;
    const struct stored_bench_repetition *repetitions;
    int nrepetitions;
};
// Adds it to a run, all of it or nothing. Text with control characters (but tabs and line feeds) or
// that is not UTF-8 is an error: packs could not carry it.
int store_put_bench(struct store *store, int64_t run_id, const struct stored_bench *bench,
                    struct err *err);

// Results by outcome of a run: counts[OUTCOME_*] over its tests and port results, *forms
// over its rows.
int store_run_summary(struct store *store, int64_t run_id, int64_t counts[OUTCOME_COUNT],
                      int64_t *forms, struct err *err);

// Reading, for reports: rows of the public views (design of their columns: db/README.md).
enum store_view {
    STORE_VIEW_INSTRUCTION, // instruction_table
    STORE_VIEW_LATENCY,     // latency_table
    STORE_VIEW_PORT,        // port_table
    STORE_VIEW_EVIDENCE,    // port_evidence: what was timed for the rows of port_table
    STORE_VIEW_FAILURE,     // failure_table
    STORE_VIEW_RUN,         // run_table: one row a run, newest first
    STORE_VIEW_WARNING,     // run_warning
    STORE_VIEW_BENCH,       // bench_table
    STORE_VIEW_REPETITION,  // bench_repetition_table
    STORE_VIEW_LIST,        // list_table: the lists of each run
    // The next two want the filter's run_id and list, and take nothing else of it.
    STORE_VIEW_LIST_BEST,    // the best of every form that any run on that run's CPU measured of it
    STORE_VIEW_LIST_FAILURE, // what failed in the runs that these rows are of
};
struct store_filter {
    const char *glob;  // on "mnemonic", "mnemonic operands" and the form; case and commas between
                       // operands do not matter; of pieces of code on label and snippet;
                       // NULL: all
    const char *uarch; // NULL: all
    int64_t run_id;    // 0: the best run of each form (instruction, latency, port,
                       // evidence), or every run
    const char *list;  // name of a list, NULL: all
};
struct store_rows; // a query under way; columns in the order of the view
// Collects what STORE_VIEW_LIST_BEST and STORE_VIEW_LIST_FAILURE read, in memory, for this run's CPU:
// once for all lists, before the first. Later changes of the database are not in it.
int store_listed_begin(struct store *store, int64_t run_id, struct err *err);
struct store_rows *store_rows_open(struct store *store, enum store_view view,
                                   const struct store_filter *filter, struct err *err);
int store_rows_next(struct store_rows *rows, struct err *err); // 1: a row, 0: the end, -1: error
void store_rows_close(struct store_rows *rows);                // NULL is fine
int store_rows_columns(const struct store_rows *rows);
const char *store_rows_name(const struct store_rows *rows, int column);
int store_rows_column(const struct store_rows *rows, const char *name); // asserts that it exists
// Values of the current row. Text is valid until the next row; "" where it is NULL.
enum store_type { STORE_NULL, STORE_INTEGER, STORE_REAL, STORE_TEXT };
enum store_type store_rows_type(struct store_rows *rows, int column);
const char *store_rows_text(struct store_rows *rows, int column);
double store_rows_real(struct store_rows *rows, int column); // NaN where it is NULL
int64_t store_rows_integer(struct store_rows *rows, int column);

// The newest finished run (the newest of all if none is finished); one of forms, if there is any,
// before one of a piece of code. 1 found, 0 none, -1 error.
int store_run_newest(struct store *store, int64_t *run_id, struct err *err);
// Whether there is such a run, such a uarch. 1, 0, -1.
int store_has_run(struct store *store, int64_t run_id, struct err *err);
// What this CPU was taken for by the newest run that measured it, and was not told: measuring finds
// more than CPUID says. Where there is no such run, or cpu_override() decides, that is cpu->uarch.
// To be freed by the caller; NULL after an error.
char *store_uarch_here(struct store *store, const struct cpu_info *cpu, struct err *err);
int store_has_uarch(struct store *store, const char *uarch, struct err *err);
// The names of the lists that a run measured, each with a terminating NUL, an empty name at the
// end; to be freed by the caller. NULL after an error.
char *store_run_lists(struct store *store, int64_t run_id, struct err *err);
// The title of one of them, or its name where the run has none; to be freed by the caller. NULL
// after an error.
char *store_run_list_title(struct store *store, int64_t run_id, const char *list, struct err *err);

// Makes estimates and results again from the stored samples of a run (0: of all), in one
// transaction. *results: how many were made; *changed: how many have another value or outcome.
int store_rederive(struct store *store, int64_t run_id, int64_t *results, int64_t *changed,
                   struct err *err);

// Packing and merging. store_extract_run() writes a new database file that holds this run only; the
// same run gives the same bytes. store_merge_run() copies the run of such a file, which is taken
// for untrusted, into a database open for writing; messages call it `label`. 1: added as *run_id,
// 0: this run is there already (as *run_id), -1: refused, with nothing added.
int store_extract_run(struct store *store, int64_t run_id, const char *path, struct err *err);
int store_merge_run(struct store *store, const char *path, const char *label, int64_t *run_id,
                    struct err *err);

#endif
