// SPDX-License-Identifier: MIT
// Declarations that the files of bench share.
#pragma once

#include "bench.h"
#include "bench_column.h"
#include "bench_source.h"
#include "counters/count_deal.h"
#include "counters/count_rdpmc.h"
#include "derive/derive.h"
#include "measure/session.h"

// Counting in one pass over the events.
struct bench_counting {
    const struct count_backend *backend; // NULL: there are none
    bool timed;                          // kernels read the counters themselves, by RDPMC
};

// One measurement while it lasts.
struct bench {
    const struct bench_spec *spec;
    struct bench_result *result;
    struct arena *arena;
    struct session session;
    struct bench_source source;
    struct program program;
    struct exec_params params;
    struct exec_pages pages; // of params, where the code invents addresses
    struct kernel_facts facts;
    // Events, and in which of several passes each is counted.
    struct count_machine machine;
    struct count_event events[BENCH_EVENTS_MAX];
    struct core_counter counters[BENCH_EVENTS_MAX]; // for perf
    int counter_pass[BENCH_EVENTS_MAX];
    int counter_passes; // at least 1
    struct bench_counting passes[BENCH_EVENTS_MAX + 1];
    struct count_rdpmc rdpmc;                      // msr: user code may read counters
    struct count_group *groups[BENCH_THREADS_MAX]; // msr: of the current pass, one per thread
    double start_s;                                // on the monotonic clock
    struct bench_column columns[BENCH_COLUMNS_MAX];
};

// bench.c: the floor of the program's CPU, as this process knows it already or finds it.
int bench_find_floor(struct bench *bench, struct err *err);
uint32_t bench_give_up_ms(const struct bench_spec *spec);

// bench_pass.c: times the built program in passes; fills rows, summaries and outcome.
int bench_measure_passes(struct bench *bench, struct err *err);

// bench_events.c: fills counters, counter_pass, counter_passes, and the events of the result.
// Returns -1 if an event is unknown (result->refused) or cannot be counted here.
int bench_prepare_events(struct bench *bench, struct err *err);

// bench_msr.c: programs the registers of the CPUs for a pass and fills `counters`. Afterwards the
// registers get their old contents back, also if this process is killed. bench_msr_end() may be
// called at any time; it fails if something else has used the counters meanwhile.
enum count_obstacle bench_msr_begin(struct bench *bench, int pass, struct core_counter *counters,
                                    struct err *err);
enum count_obstacle bench_msr_end(struct bench *bench, struct err *err);

// bench_events.c: reads the columns of the spec; the names of events are known by then.
int bench_prepare_columns(struct bench *bench, struct err *err);
// Computes the columns of a row from its counts and times.
void bench_compute_columns(const struct bench *bench, struct bench_row *row);

// bench_keep.c: keeps the result as a run of its own; nothing of it when that fails.
int bench_keep(const struct bench *bench, struct err *err);

// bench_cpus.c: fills result->cpus and nthreads. -1: there are not so many CPUs.
int bench_choose_cpus(const struct bench_spec *spec, struct bench_result *result,
                      struct arena *arena, struct err *err);
