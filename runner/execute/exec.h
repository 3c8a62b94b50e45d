// SPDX-License-Identifier: MIT
// Stage 5: runs a program (core + bodies) and collects timings. Starts the process again for what
// is left when a body ended or blocked it; a body that does so costs one outcome, not its
// neighbours'.
#pragma once

#include "core/core_abi.h"
#include "exec_move.h"
#include "exec_pages.h"
#include "timing.h"
#include "util/err.h"
#include "util/mem.h"

#include <stdbool.h>
#include <stdint.h>

enum { EXEC_TIMINGS_MAX = CORE_PASSES_MAX, EXEC_THREADS_MAX = 64 };
// Processes of a batch that may be put aside, in favour of new ones. What the one after them does
// not measure either is unstable.
enum { EXEC_ASIDE_MAX = 2 };

// Counts of the samples of one timing, by struct exec_params' counters.
struct exec_counts {
    int ncounters;
    // Counts of an empty timing, and of one round of an empty loop.
    double overhead[CORE_TIMED_MAX], loop[CORE_TIMED_MAX];
    uint32_t samples[CORE_SAMPLES_MAX][CORE_TIMED_MAX]; // overhead not yet subtracted
};

// All results of the core for one kernel.
struct exec_kernel {
    bool selected;        // in: measure it (unless finished is set already)
    bool finished;        // nothing more to measure; false after exec_stop
    enum outcome outcome; // out
    const char *detail;
    struct timing timings[EXEC_TIMINGS_MAX];
    int ntimings;
    const struct exec_counts *counts[EXEC_TIMINGS_MAX]; // by timing; NULL: nothing was counted
    uint8_t code[CORE_CODE_MAX];
    uint32_t code_bytes;     // length of the body
    struct exec_reach reach; // of its addresses, where the parameters have pages
    bool began;              // in the process that runs, without a fault for want of memory so far
};

// Parameters of a whole run, from the CPU tables and the database.
struct exec_params {
    struct core_config config; // cpu, tables, gate; nselected and mode are set here
    int hang_ms;               // no word from the core for so long: the body does not return
    // Counted in every kernel, at most CORE_TIMED_MAX; config.counts_clk: the first of them counts
    // core cycles, which are then in the samples.
    const struct core_counter *counters;
    int ncounters;
    // Pages of all kernels, where code invents addresses; NULL: a fault is an outcome.
    struct exec_pages *pages;
    const int
        *corunners; // other CPUs, at most CORE_CORUNNERS_MAX, for kernels that want some there
    int ncorunners;
};
// Returns the defaults of the method (docs/MEASUREMENT.md), without facts about the CPU.
struct exec_params exec_defaults(void);
// Returns the rounds of the canary for a core that claims this width; 0: it is not known.
uint32_t exec_canary_iterations(int issue_width);

struct exec_progress {
    void (*kernel_done)(void *context, bool failed); // after each kernel's last pass; may be NULL
    void (*waiting)(void *context);                  // the core waits for quiet; may be NULL
    void *context;
};

struct exec_summary {
    double core_hz, overhead_tsc;
    double imul_per_add; // measured ratio of latencies: the check on calib_link_clk
    uint32_t calib_link_clk;
    bool confirmed; // what the last process says of itself was found on an undisturbed core
    uint64_t area_bytes, area_huge_bytes; // large data, and how much of it in huge pages
    double link_counts[CORE_TIMED_MAX];   // per link of the calibration chain, by counter
    int restarts;
    int aside;      // processes that were put aside
    int64_t passes; // accepted passes: timings with outcome OK
    bool stopped;   // exec_stop was called
};

struct exec_job {
    const char *program; // path
    const struct exec_params *params;
    struct exec_kernel *kernels; // all of the program
    int nkernels;
    const struct exec_progress *progress; // may be NULL
    struct exec_mover *mover;             // may be NULL: the process stays on params' CPU
};
// Measures the selected kernels of the program, and counts in them. Strings and samples are owned
// by the arena. -1 when the program cannot work at all.
int exec_run(const struct exec_job *job, struct arena *arena, struct exec_summary *summary,
             struct err *err);
// Runs the kernels briefly, again and again, until all pages that they need are in params->pages.
// What has no outcome then is OK. Takes milliseconds a process, since nothing is timed.
int exec_probe(const struct exec_job *job, struct arena *arena, struct err *err);

// Times of the canaries: of each canary the number of samples by core cycles per instruction, in
// bins of CORE_FLOOR_BIN_CLK.
struct exec_floor {
    uint32_t counts[CORE_CANARIES][CORE_FLOOR_BINS]; // by canary: its number in core_time.c
    double imul_per_add;                             // by the last timing
};
// Times all canaries for floor_ms, and adds the samples to *floor. 0, or -1 with a message.
int exec_floor(const char *program, const struct exec_params *params, uint32_t floor_ms,
               struct exec_floor *floor, struct err *err);

// One timing of CORE_MODE_BENCH.
struct exec_repeat {
    int thread;     // index in struct exec_bench's cpus
    int repetition; // from 0
    bool cold;      // code and data of the kernel were in no cache
    bool accepted;  // passed the gate; if not, it is the last try
    int tried;
    uint32_t late_tsc; // after the start that the threads had agreed on
    uint32_t copies, iterations;
    double calib_clk, overhead_tsc;
    struct sample sample;
    uint64_t counts[CORE_COUNTERS_MAX]; // by event of struct exec_bench
};

// One kernel, repetition by repetition: the first one cold, then `repeats` warm ones.
struct exec_bench {
    uint32_t copies;     // in: of the body in the loop; 0: chosen
    uint32_t iterations; // in: of the loop; 0: only finds out copies and iterations
    uint32_t repeats;
    bool cold;       // all repetitions are cold
    int nthreads;    // processes that repeat in step; 0 or 1: one, on params' CPU
    const int *cpus; // one per thread, if there are several
    const struct core_counter *counters; // events to count, at the same time
    int ncounters;                       // at most CORE_COUNTERS_MAX
    bool timed; // kernels read the counters by RDPMC; then at most CORE_TIMED_MAX
    // out
    enum outcome outcome; // OK: all repetitions are there
    const char *detail;
    struct exec_repeat *repeats_done; // by repetition, then thread
    int nrepeats;                     // over all threads; a multiple of their number
    struct exec_summary summary;      // thread 0
    struct exec_reach reach;          // where the parameters have pages
    uint8_t code[CORE_CODE_MAX];
    uint32_t code_bytes;
};
// Measures kernel 0 of the program, in up to EXEC_THREADS_MAX processes. Strings and repetitions
// are owned by the arena. Returns -1 when the program cannot work at all.
int exec_bench(const char *program, const struct exec_params *params, struct exec_bench *bench,
               struct arena *arena, struct err *err);

// Returns true if the measuring process is a stand-in and nothing is measured: $LATPUT_MACHINE has
// a program `core` (a core made of text, tests/text/README.md).
bool exec_is_text(void);

// Ends as soon as possible; callable from a signal handler. Finished measurements are returned.
void exec_stop(void);
