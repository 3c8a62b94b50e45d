// SPDX-License-Identifier: MIT
// Measures the selected kernels in passes, with a record for each. Bodies run while the seal is
// shut (work_run), and cannot change the state of another kernel unnoticed (kernel_take). The core
// never decides what a number means, only which repeats were undisturbed. A kernel that was
// disturbed has another turn; if the core never becomes quiet, it ends in `unstable`.
#include "core_internal.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum {
    LATER_GAPS = 3,     // the gaps after the first are shorter by this: there are up to six of them
    SLEEP_MOST_MS = 20, // after a sweep without a pass; doubles up to it from 2
    FILL_LONG_MS = 20,  // for data that take longer to write, a kernel waits for quiet itself
    FILL_LONG_BYTES = 8 << 20, // more data than this take long
    GAP_STEP_MS = 20,
    AWAKE_TRIES = 32, // looks, 0.3 ms: wide units fall asleep in 0.7
};

static const struct core_config *config;
static const struct times *times;
struct kernel_run *measure_runs;            // config->nselected of them; bodies can reach them
static CORE_KEPT struct kernel_run current; // the one that is under way
static CORE_KEPT uint64_t sweep;            // counts the visits of all kernels

// State of the current kernel that its bodies can reach, and its results. They can forge all of it,
// so it counts as a statement about this kernel only.
static struct work {
    struct kernel_run run; // a copy
    bool trial;            // choose the unrolling; else a pass
    bool done;             // all was done, or ended by an outcome
    bool enough;           // the accepted repeats of the pass will do
    struct kept_outcome end;
    uint32_t wanted, accepted, refused[CORE_REFUSALS];
    struct core_record record, counts; // a timing, if enough was accepted
} * work;

// The tag of a finished kernel covers nothing else, since its state does not matter any more.
static uint64_t kernel_tag(uint32_t i, uint64_t when)
{
    if (measure_runs[i].finished)
        return seal_tag(NULL, 0, UINT64_MAX - i);
    return seal_tag(&measure_runs[i], offsetof(struct kernel_run, tag),
                    when * config->nselected + i);
}

// Makes a kernel the current one, as it was put away in the sweep before; false if it is finished.
static bool kernel_take(uint32_t i)
{
    if (measure_runs[i].tag != kernel_tag(i, sweep)) {
        send_all();
        seal_broken(CORE_EXIT_TAMPERED);
    }
    if (measure_runs[i].finished)
        return false;
    current = measure_runs[i];
    return true;
}

static void kernel_put(uint32_t i)
{
    measure_runs[i] = current;
    measure_runs[i].tag = kernel_tag(i, sweep + 1);
}

static double sample_value(const struct core_sample *sample)
{
    return (sample->kernel_tsc - times->overhead_tsc) /
           ((sample->before_tsc + sample->after_tsc) / 2.0 - times->overhead_tsc);
}

// Converts samples to cycles per instance.
static void sample_values(const struct kernel_run *run, const struct core_sample *samples,
                          uint32_t n, double *values)
{
    double scale = times->calib_clk / ((double)run->iterations * run->variant->copies *
                                       (run->kernel->instances ? run->kernel->instances : 1));
    for (uint32_t i = 0; i < n; i++)
        values[i] = sample_value(&samples[i]) * scale;
}

static void keep_values(struct kernel_run *run, const struct core_record *record)
{
    run->nsamples[run->nvalues] = record->timing.accepted;
    double *values = run->values[run->nvalues++];
    sample_values(run, record->timing.samples, record->timing.accepted, values);
    values_sort(values, (int)record->timing.accepted);
}

static void send_timing(struct kernel_run *run, struct core_record *record,
                        struct core_record *counts)
{
    keep_values(run, record);
    run->finished = run->nvalues == config->passes || steady_settled(run, config->passes_tolerance);
    record->timing.last = run->finished;
    if (config->ncounters && !(run->kernel->flags & CORE_RING0)) { // whose loops read no counters
        counts->counts.pass = run->pass;
        counts->counts.ncounters = config->ncounters;
        send_record(counts);
    }
    run_send(record);
}

// Returns the number of repeats until the next look: one if a repeat is long, or if quiet times
// were too short for more.
static uint32_t work_together(void)
{
    const struct kernel_run *run = &work->run;
    uint32_t left = work->wanted - work->accepted, most = config->together;
    double window_tsc = config->window_ns * config->tsc_hz / 1e9;
    if (run->kernel->flags & CORE_COLD || run->requeued ||
        run->loop_tsc * run->iterations > 2 * window_tsc)
        most = 1;
    return left < most ? left : most ? most : 1;
}

// Times the kernel so often, into samples that are not accepted yet. False if it did damage;
// *counted: the counters ran all the time.
static bool work_repeat(uint32_t repeats, const struct surroundings *before, bool *counted)
{
    struct kernel_run *run = &work->run;
    struct core_sample *samples = work->record.timing.samples + work->accepted;
    double expected_ms = run->loop_tsc * run->iterations / config->tsc_hz * 1000;
    for (uint32_t i = 0; i < repeats; i++) {
        run->tried++;
        if (run->kernel->flags & CORE_COLD)
            area_chill(run);
        if (interrupts_may_be_off(run->kernel, expected_ms))
            interrupts_off();
        samples[i].kernel_tsc = time_kernel(run->kernel, run->variant->entry, run->iterations);
        samples[i].before_tsc = before->calib_tsc;
        if (!(run->kernel->flags & CORE_RING0))
            *counted &= rdpmc_take(work->counts.counts.samples[work->accepted + i]);
        if (run_damaged(run))
            return false;
    }
    return true;
}

// Passes over a look at a disturbed core. The kernel runs untimed now and then, so that wide units
// stay awake. False if it did damage.
static bool work_wait(void)
{
    struct kernel_run *run = &work->run;
    work->refused[CORE_REFUSED_CANARY]++;
    if (++run->tried % AWAKE_TRIES)
        return true;
    time_kernel(run->kernel, run->variant->entry, run->iterations);
    return !run_damaged(run);
}

static void work_accept(uint32_t repeats, const struct surroundings *before,
                        const struct surroundings *after)
{
    struct core_sample *samples = work->record.timing.samples + work->accepted;
    for (uint32_t i = 0; i < repeats; i++) {
        samples[i].after_tsc = after->calib_tsc;
        samples[i].canary_tsc =
            before->canary_tsc > after->canary_tsc ? before->canary_tsc : after->canary_tsc;
    }
    work->accepted += repeats;
    double values[CORE_SAMPLES_MAX];
    sample_values(&work->run, work->record.timing.samples, work->accepted, values);
    work->enough = work->accepted == work->wanted ||
                   (config->enough && work->accepted >= config->enough &&
                    steady_agree(&work->run, values, work->accepted, config->passes_tolerance));
}

// Returns the reason to refuse the repeats between two looks; CORE_REFUSALS: none.
static enum core_refusal work_judge(const struct surroundings *before,
                                    const struct surroundings *after, bool counted)
{
    if (!after->quiet)
        return CORE_REFUSED_CANARY;
    if (!counted)
        return CORE_REFUSED_COUNTER;
    return run_calibrations_agree(before->calib_tsc, after->calib_tsc) ? CORE_REFUSALS
                                                                       : CORE_REFUSED_CALIB;
}

// Returns true if a round of the kernel leaves caches, predictors or TLBs so full of its own that
// the code of the gate is slow the next time, which would look like a neighbour.
static bool work_leaves_cold(const struct kernel_run *run)
{
    enum { CODE_BYTES = 8 << 10, DATA_BYTES = 128 << 10 };
    return run->variant->end - run->variant->entry > CODE_BYTES ||
           area_fills_bytes(run->kernel) > DATA_BYTES;
}

static struct surroundings work_look_around(const struct kernel_run *run)
{
    if (work_leaves_cold(run))
        run_look_around();
    return run_look_around();
}

// Makes one attempt at a pass of a kernel; bodies run.
static void work_measure(struct kernel_run *run)
{
    struct surroundings before = work_look_around(run);
    for (uint32_t last = run->tried + config->tries; run->tried < last && !work->enough;) {
        if (!before.quiet) {
            if (!work_wait())
                return;
            before = work_look_around(run);
            continue;
        }
        uint32_t repeats = work_together();
        bool counted = true;
        if (!work_repeat(repeats, &before, &counted))
            return;
        struct surroundings after = work_look_around(run);
        enum core_refusal refusal = work_judge(&before, &after, counted);
        if (refusal == CORE_REFUSALS)
            work_accept(repeats, &before, &after);
        else
            work->refused[refusal] += repeats;
        before = after;
    }
}

static void work_do(void)
{
    struct kernel_run *run = &work->run;
    if (work->trial) {
        run_trial(run);
        if (config->probe && !run->finished)
            run_warm(run); // as often as it will be timed
    } else if (run_warm(run)) {
        work_measure(run);
    }
    work->done = true;
}

// Returns the number of the unrolling that a run has chosen, or -1.
static int variant_index(const struct kernel_run *run)
{
    for (int i = 0; i < VARIANTS_MAX && i < run->code.nvariants; i++)
        if (run->variant == &run->code.variants[i])
            return i;
    return -1;
}

// Adds the repeats of the attempt to the tally.
static void work_count(void)
{
    struct core_tally *tally = run_tally();
    uint32_t most = config->tries + config->together, accepted = work->accepted;
    for (int i = 0; i < CORE_REFUSALS; i++)
        tally->refused[i] += work->refused[i] < most ? work->refused[i] : most;
    accepted = accepted < CORE_SAMPLES_MAX ? accepted : CORE_SAMPLES_MAX;
    *(work->enough ? &tally->accepted : &tally->refused[CORE_REFUSED_FEW]) += accepted;
}

// Takes over what measuring has changed in the copy.
static void work_take(struct kernel_run *run)
{
    int index = variant_index(&work->run);
    uint32_t most = run->tried + config->tries + config->together;
    run->tried = work->run.tried < most ? work->run.tried : most;
    work_count();
    if (index < 0 || index >= run->code.nvariants || work->run.iterations == 0)
        work->done = false;
    else
        run->variant = &run->code.variants[index];
    run->iterations = work->run.iterations;
    run->loop_tsc = work->run.loop_tsc;
}

static void work_end(struct kernel_run *run, enum outcome outcome, int signal_number,
                     const char *detail)
{
    run->finished = true;
    run_send_outcome(run, outcome, signal_number, detail);
}

// Runs a kernel's bodies sealed off from others: a pass of so many repeats, or with 0 a trial.
// Returns false if that finished the kernel; its outcome was sent.
static bool work_run(struct kernel_run *run, uint32_t wanted)
{
    int index = variant_index(run);
    *work = (struct work){.run = *run, .trial = !wanted, .wanted = wanted};
    work->run.variant = index < 0 ? NULL : &work->run.code.variants[index];
    guard_take_fault();
    seal_watch(!wanted);
    send_all();
    core_sealed(work_do);
    run_used(run);
    struct core_record said = work->end.record;
    said.timing.detail[CORE_TEXT_MAX - 1] = 0;
    if (!work->end.there)
        work_take(run);
    run->fault = said.timing.fault;
    if (work->end.there) // by a fault
        work_end(run, (enum outcome)said.timing.outcome, said.timing.signal, said.timing.detail);
    else if (!work->done)
        seal_broken(CORE_EXIT_DAMAGED);
    else if (work->accepted)
        run_accepted();
    return !run->finished;
}

static void send_pass(struct kernel_run *run, uint32_t accepted, int32_t cpu)
{
    struct core_record record = {.type = CORE_REC_TIMING, .kernel = run->kernel->id};
    struct core_record counts = {.type = CORE_REC_COUNTS, .kernel = run->kernel->id};
    record.cpu = cpu;
    record.timing.pass = run->pass;
    record.timing.outcome = OUTCOME_OK;
    record.timing.accepted = accepted;
    record.timing.tried = run->tried;
    record.timing.iterations = run->iterations;
    record.timing.copies = run->variant->copies;
    record.timing.overhead_tsc = times->overhead_tsc;
    record.timing.calib_clk = times->calib_clk;
    memcpy(record.timing.samples, work->record.timing.samples, sizeof record.timing.samples);
    memcpy(counts.counts.samples, work->counts.counts.samples, sizeof counts.counts.samples);
    send_timing(run, &record, &counts);
}

// Makes attempts at a pass until one is accepted or the kernel is finished. Another kernel would
// overwrite the data of this one, so this one waits for quiet as long as writing them took before
// it gives up its turn.
static bool run_attempts(struct kernel_run *run, uint32_t accept, uint64_t fill_tsc)
{
    uint64_t end = time_now() + fill_tsc;
    bool goes_on = work_run(run, accept);
    while (goes_on && !work->enough && fill_tsc > run_ms_to_tsc(FILL_LONG_MS) && time_now() < end) {
        run_pause_for_quiet(1);
        run_wake(run);
        area_walk(run->kernel);
        goes_on = work_run(run, accept);
    }
    return goes_on;
}

// Returns false when the kernel has to be requeued. All samples of a pass are of one CPU.
static bool run_pass(struct kernel_run *run)
{
    int32_t cpu = time_cpu();
    run_send_event(CORE_REC_BEGIN, run->kernel->id, run->pass);
    uint64_t begin = time_now();
    time_fill_data(run->kernel);
    pages_fill(run->kernel->mem_fill);
    area_fill(run->kernel, true);
    uint64_t fill_tsc = time_now() - begin;
    run_wake(run);
    if (!run->variant && !work_run(run, 0)) // has not been tried
        return true;
    uint32_t accept = steady_accept(run, config->accept, config->passes_tolerance);
    if (!run_attempts(run, accept, fill_tsc))
        return true;
    if (!work->enough || work->accepted < 1 || work->accepted > accept || time_cpu() != cpu)
        return false;
    send_pass(run, work->accepted, cpu);
    return true;
}

static void run_give_up(struct kernel_run *run)
{
    char detail[CORE_TEXT_MAX];
    snprintf(detail, sizeof detail,
             "no %u undisturbed repeats in %u tries: something else uses this core",
             steady_accept(run, config->accept, config->passes_tolerance), run->tried);
    run_send_outcome(run, OUTCOME_UNSTABLE, 0, detail);
    run->finished = true;
}

// Returns true if the kernel may not be requeued any more. The limit is also a time, since rounds
// of a few kernels are short and one disturbance outlasts many.
static bool run_requeues_end(struct kernel_run *run)
{
    if (run->requeued++ == 0)
        run->requeued_tsc = time_now();
    return run->requeued > config->requeues &&
           time_now() - run->requeued_tsc > run_ms_to_tsc(config->requeues_ms);
}

// Ends a kernel for which no time is left.
static void run_miss(struct kernel_run *run)
{
    run_send_event(CORE_REC_BEGIN, run->kernel->id, run->pass);
    run_send_outcome(run, OUTCOME_UNSTABLE, 0,
                     "no time was left: something else uses the CPUs that it takes");
    run->finished = true;
}

// Gives a kernel its turn. Returns true if it was disturbed and must come again in this round.
static bool run_turn(struct kernel_run *run)
{
    if (run_out_of_time()) {
        run_miss(run);
    } else if (run_pass(run)) {
        run->pass++;
        run->tried = run->requeued = 0;
    } else if (run_requeues_end(run) || run_gave_up()) {
        run_give_up(run);
    } else {
        run_pause_for_quiet(1);
        return true;
    }
    return false;
}

// Gives a turn to each kernel that is due; the first sweep of a round makes all unfinished kernels
// due. Returns true if some must come again; *others: some need not wait for them; *progress: some
// had a pass.
static bool measure_sweep(bool first, bool *others, bool *progress)
{
    bool again = false;
    *others = *progress = false;
    for (uint32_t i = 0; i < config->nselected; i++) {
        if (!kernel_take(i))
            continue;
        current.due |= first;
        if (current.due) {
            current.due = run_turn(&current);
            *progress |= !current.due;
        }
        again |= current.due;
        *others |= !current.due && !current.finished;
        kernel_put(i);
    }
    sweep++;
    return again;
}

// Repeats sweeps, with pauses, until no kernel is due. After `next` the others no longer wait for a
// disturbed kernel: it joins their next round, provided that some kernel had a pass. Returns true
// if all are finished. After sweeps without a pass the core sleeps longer and longer, since a
// kernel may disturb itself.
static bool measure_round(uint64_t next)
{
    uint32_t sleep_ms = 1;
    bool others, progress;
    for (bool first = true; measure_sweep(first, &others, &progress); first = false) {
        if (others && progress && time_now() >= next)
            return false;
        sleep_ms = progress ? 1 : 2 * sleep_ms;
        sleep_ms = sleep_ms < SLEEP_MOST_MS ? sleep_ms : SLEEP_MOST_MS;
        if (!progress)
            run_pause_for_quiet(sleep_ms);
    }
    return !others;
}

// Runs each kernel briefly before any is measured: a body that ends the process is found before
// there is work to lose. Those whose data take long to write are tried when it is their turn.
static void try_all(void)
{
    for (uint32_t i = 0; i < config->nselected; i++) {
        if (!kernel_take(i))
            continue;
        if (area_fills_bytes(current.kernel) <= FILL_LONG_BYTES) {
            run_send_event(CORE_REC_BEGIN, current.kernel->id, 0);
            time_fill_data(current.kernel);
            pages_fill(current.kernel->mem_fill);
            area_fill(current.kernel, false);
            work_run(&current, 0);
        }
        kernel_put(i);
    }
    sweep++;
}

void measure_setup(const struct core_config *wanted, const struct times *found,
                   struct kernel_run *selected)
{
    config = wanted;
    times = found;
    measure_runs = selected;
    work = mmap(NULL, sizeof *work, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (work == MAP_FAILED)
        send_fatal("cannot map the state of a kernel");
    run_keep_outcomes(&work->end);
}

void measure_passes(void)
{
    for (uint32_t i = 0; i < config->nselected; i++)
        measure_runs[i].tag = kernel_tag(i, sweep);
    try_all();
    if (config->probe)
        return;
    run_wait_for_facts(); // the core is not quiet meanwhile: the time would bring nothing else
    // When the next round begins. A short batch waits, so that one disturbance does not cover all
    // passes. A long one, whose first rounds have taken their time, has no reason to wait for the
    // few kernels of the later.
    uint64_t next = time_now() + run_ms_to_tsc(config->pass_gap_ms);
    while (!measure_round(next)) {
        uint64_t begin = time_now();
        while (time_now() < next) {
            run_send_event(CORE_REC_WAIT, 0, 0);
            guard_sleep_ms(GAP_STEP_MS);
        }
        run_tally()->gap_tsc += time_now() - begin;
        next += run_ms_to_tsc(config->pass_gap_ms / LATER_GAPS);
    }
}
