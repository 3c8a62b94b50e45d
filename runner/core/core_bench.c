// SPDX-License-Identifier: MIT
// Repetition by repetition: one kernel, a record for each timing, the first of them cold. Cold
// means that the kernel's code and data were in no cache; translations stay, and what predictors
// have learnt. A warm repetition that the gate refuses is tried again; one that never passes is
// reported as it was, marked, because a reader of single timings wants to see that, too.
#include "core_internal.h"

#include <emmintrin.h>
#include <string.h>

extern const char __executable_start[], _end[]; // image of the static program

enum {
    LINE_BYTES = 64,
    GATE_WARM_ROUNDS = 10,
    OVERHEAD_ROUNDS = 32,
    PRELUDE_ROUNDS = 32,
    PRELUDE_WARM_NS = 15000,
    PRELUDE_STEP_NS = 100, // limit for a late start
    PRELUDE_SHRINKS = 16,  // steps back to undo one forward
    PRELUDE_MOST = 4,      // times what it takes at least
    TOUCH_WINDOWS = 100,   // a kernel that takes as long does not notice its first touches
};

struct bench {
    const struct core_config *config;
    const struct times *times;
    struct kernel_run *run;
    struct surroundings now;              // result of the last look around
    uint32_t late_tsc, last_tsc;          // last_tsc: of the last timing
    uint64_t overhead[CORE_COUNTERS_MAX]; // counts of an empty kernel
    uint64_t prelude_tsc;                 // from the first reading of the counters to the clock
    uint64_t prelude_least_tsc;
    uint64_t counts[CORE_COUNTERS_MAX]; // counts of the last try
};

static void bench_flush(const void *from, const void *to)
{
    for (const char *line = from; line < (const char *)to; line += LINE_BYTES)
        _mm_clflush(line);
}

// Takes code and data of the kernel out of all caches; the program is in it for what a body calls.
static void bench_make_cold(const struct kernel_run *run)
{
    const void *data_end, *data = time_data(&data_end);
    bench_flush(run->variant->entry, run->variant->end);
    bench_flush(data, data_end);
    bench_flush(__executable_start, _end);
    _mm_mfence();
}

// Lets the threads of a team look around in turn: canaries at the same time would disturb each
// other on a shared core. Returns false if another thread cannot go on.
static bool bench_look_around(struct bench *bench, bool needed)
{
    for (uint32_t thread = 0; thread < bench->config->threads || thread == 0; thread++) {
        bool mine;
        if (!team_turn(thread, &mine))
            return false;
        if (mine && needed)
            bench->now = run_look_around();
    }
    return true;
}

// Waits until just before the start that the threads agreed on. Counters that are read through the
// system count from before this wait, so the rest begins just in time; `late` adapts it.
static void bench_wait(struct bench *bench)
{
    uint64_t warm_tsc = (uint64_t)(bench->config->tsc_hz / 1e9 * PRELUDE_WARM_NS);
    uint64_t ignored[CORE_COUNTERS_MAX];
    if (!core_state.start_tsc)
        return;
    // Reading once before, since what was not used for milliseconds takes much longer.
    while (time_now() + bench->prelude_tsc + warm_tsc < core_state.start_tsc)
        _mm_pause();
    count_read(ignored);
    while (time_now() + bench->prelude_tsc < core_state.start_tsc)
        _mm_pause();
}

static void bench_adapt_wait(struct bench *bench)
{
    uint64_t step_tsc = (uint64_t)(bench->config->tsc_hz / 1e9 * PRELUDE_STEP_NS);
    if (!core_state.start_tsc)
        return;
    // A thread that did not run at all is late as well: no reason to begin ever earlier.
    if (bench->late_tsc > step_tsc / 2 &&
        bench->prelude_tsc < PRELUDE_MOST * bench->prelude_least_tsc)
        bench->prelude_tsc += bench->late_tsc < step_tsc ? bench->late_tsc : step_tsc;
    else if (bench->prelude_tsc > bench->prelude_least_tsc)
        bench->prelude_tsc -= step_tsc / PRELUDE_SHRINKS;
}

// Finds the time to read the counters and enter a kernel.
static void bench_find_prelude(struct bench *bench)
{
    core_state.start_tsc = 0;
    for (int i = 0; i < PRELUDE_ROUNDS; i++) {
        uint64_t counted[CORE_COUNTERS_MAX], begin = time_now();
        count_read(counted);
        time_kernel(&bench->run->empty, bench->run->empty_code.variants[0].entry, 1);
        uint64_t prelude_tsc = core_state.tsc_begin - begin;
        if (i == 0 || prelude_tsc < bench->prelude_least_tsc)
            bench->prelude_least_tsc = prelude_tsc;
    }
    bench->prelude_tsc = bench->prelude_least_tsc;
}

// Finds the overhead of counting: the least counts of an empty kernel.
static void bench_find_overhead(struct bench *bench)
{
    const struct kernel_run *run = bench->run;
    uint32_t ncounters = bench->config->ncounters;
    for (int round = 0; round < OVERHEAD_ROUNDS; round++) {
        uint64_t before[CORE_COUNTERS_MAX], after[CORE_COUNTERS_MAX];
        count_read(before);
        time_kernel(&run->empty, run->empty_code.variants[0].entry, 1);
        count_read(after);
        for (uint32_t i = 0; i < ncounters; i++)
            if (round == 0 || after[i] - before[i] < bench->overhead[i])
                bench->overhead[i] = after[i] - before[i];
    }
}

// Times the kernel with its counts. False where a counter did not count all of it.
static bool bench_time(struct bench *bench, uint32_t *ticks)
{
    struct kernel_run *run = bench->run;
    if (core_is_timed(bench->config)) {
        uint32_t counts[CORE_TIMED_MAX];
        *ticks = time_kernel(run->kernel, run->variant->entry, run->iterations);
        bool whole = rdpmc_take(counts);
        for (uint32_t i = 0; i < bench->config->ncounters; i++) {
            double count = counts[i] - bench->times->overhead_counts[i];
            bench->counts[i] = count > 0 ? (uint64_t)(count + 0.5) : 0;
        }
        return whole;
    }
    uint64_t counted[CORE_COUNTERS_MAX];
    if (bench->config->ncounters)
        bench_wait(bench);
    count_read(counted);
    *ticks = time_kernel(run->kernel, run->variant->entry, run->iterations);
    count_read(bench->counts);
    for (uint32_t i = 0; i < bench->config->ncounters; i++) {
        uint64_t count = bench->counts[i] - counted[i];
        bench->counts[i] = count > bench->overhead[i] ? count - bench->overhead[i] : 0;
    }
    return true;
}

// Runs the kernel untimed, so that its first touches are no part of the next timing. What lies
// between two repetitions, such as sending a record, loses address translations and lines of
// caches: the first load took a hundred cycles and more, which is 1 % of a window.
static void bench_touch(const struct bench *bench)
{
    const struct kernel_run *run = bench->run;
    double window_tsc = bench->config->window_ns * bench->config->tsc_hz / 1e9;
    if (bench->last_tsc < TOUCH_WINDOWS * window_tsc)
        time_kernel(run->kernel, run->variant->entry, run->iterations);
}

// Makes one timing with its surroundings. Returns false if the body did damage, with its outcome
// sent, or if another thread cannot go on.
static bool bench_try(struct bench *bench, bool cold, struct core_sample *sample, bool *accepted)
{
    struct kernel_run *run = bench->run;
    uint32_t ticks;
    if (!bench_look_around(bench, !bench->now.quiet))
        return false;
    if (cold)
        bench_make_cold(run);
    else
        bench_touch(bench);
    if (!team_start())
        return false;
    bool counted = bench_time(bench, &ticks);
    bench->last_tsc = ticks;
    uint64_t late_tsc = core_state.start_tsc ? core_state.tsc_begin - core_state.start_tsc : 0;
    if (run_damaged(run))
        return false;
    bench->late_tsc = late_tsc > UINT32_MAX ? UINT32_MAX : (uint32_t)late_tsc;
    bench_adapt_wait(bench);
    if (cold)
        run_look_around(); // the gate's own code is cold, too
    struct surroundings before = bench->now;
    if (!bench_look_around(bench, true))
        return false;
    struct surroundings after = bench->now;
    *sample = (struct core_sample){ticks, before.calib_tsc, after.calib_tsc,
                                   before.canary_tsc > after.canary_tsc ? before.canary_tsc
                                                                        : after.canary_tsc};
    bool quiet = counted && before.quiet && after.quiet &&
                 run_calibrations_agree(before.calib_tsc, after.calib_tsc);
    return team_agree(quiet, bench->late_tsc, accepted);
}

static void bench_send(const struct bench *bench, uint32_t repetition, bool cold, bool accepted,
                       const struct core_sample *sample)
{
    struct core_record record = {.type = CORE_REC_REPEAT, .kernel = bench->run->kernel->id};
    record.repeat.repetition = repetition;
    record.repeat.cold = cold;
    record.repeat.accepted = accepted;
    record.repeat.tried = bench->run->tried;
    record.repeat.copies = bench->run->variant->copies;
    record.repeat.iterations = bench->run->iterations;
    record.repeat.late_tsc = bench->late_tsc;
    record.repeat.overhead_tsc = bench->times->overhead_tsc;
    record.repeat.calib_clk = bench->times->calib_clk;
    record.repeat.sample = *sample;
    memcpy(record.repeat.counts, bench->counts, sizeof bench->counts);
    run_send(&record);
}

// Makes one repetition, and with `again` repeats it until it passes the gate. Returns false if the
// body did damage.
static bool bench_repeat(struct bench *bench, uint32_t repetition, bool cold, bool again)
{
    struct core_sample sample;
    bool accepted, gave_up;
    bench->run->tried = 0;
    do {
        if (bench->run->tried && bench->run->tried % bench->config->tries == 0 &&
            bench->config->thread == 0)
            run_pause_for_quiet(1);
        bench->run->tried++;
        run_show_life(); // changes what is guarded: nothing may do that until run_damaged()
        guard_protect(NULL);
        bool goes_on = bench_try(bench, cold, &sample, &accepted);
        own_restore();
        if (!goes_on || !team_give_up(run_gave_up(), &gave_up))
            return false;
    } while (!accepted && again && !gave_up);
    if (accepted)
        run_accepted();
    bench_send(bench, repetition, cold, accepted, &sample);
    return true;
}

static void bench_find_shape(struct kernel_run *run)
{
    run_trial(run);
    run_wake(run);
    guard_protect(NULL); // waking is remembered
    if (run->finished || !run_warm(run))
        return;
    struct core_record record = {.type = CORE_REC_SHAPE, .kernel = run->kernel->id};
    record.shape.copies = run->variant->copies;
    record.shape.iterations = run->iterations;
    send_record(&record);
}

void bench_measure(const struct core_config *config, const struct times *times,
                   struct kernel_run *run)
{
    // Frames above this one do not change from here on and are guarded; those below are not.
    guard_protect(__builtin_frame_address(0));
    struct core_record begin = {.type = CORE_REC_BEGIN, .kernel = run->kernel->id};
    begin.begin.pass = run->pass;
    send_record(&begin);
    send_all();
    time_fill_data(run->kernel);
    pages_fill(run->kernel->mem_fill);
    guard_protect(NULL);
    if (!config->iterations) {
        bench_find_shape(run);
        return;
    }
    struct bench bench = {.config = config, .times = times, .run = run};
    run->variant = &run->code.variants[0];
    run->iterations = config->iterations;
    if (config->ncounters && !core_is_timed(config)) {
        bench_find_prelude(&bench);
        bench_find_overhead(&bench);
        if (run_damaged(run)) // by its init
            return;
    }
    run->pass = 2; // the iterations are settled
    // Only the kernel is to be cold, not the gate.
    for (int i = 0; i < GATE_WARM_ROUNDS && !bench.now.quiet; i++)
        bench.now = run_look_around();
    if (!bench_repeat(&bench, 0, true, config->cold))
        return;
    run_wake(run);
    guard_protect(NULL);
    if (!config->cold && !run_warm(run))
        return;
    for (uint32_t i = 1; i <= config->repeats; i++)
        if (!bench_repeat(&bench, i, config->cold, true))
            return;
}
