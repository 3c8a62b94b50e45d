// SPDX-License-Identifier: MIT
// Measures the selected kernels in passes, sending a record for each. It never decides what a
// number means; it only decides which repeats were undisturbed. A kernel that was not measured is
// requeued to the end of its pass; a core that never becomes quiet ends in `unstable`.
#include "core_internal.h"

#include <stdio.h>

enum {
    LATER_GAPS = 3, // the gaps after the first are shorter by this: there are up to six of them
    PAUSE_LAST_MS = 500, // before a requeued round; doubles up to it from PAUSE_FIRST_MS
};

static const struct core_config *config;
static const struct times *times;
static struct kernel_run *runs; // config->nselected of them

static double sample_value(const struct core_sample *sample)
{
    return (sample->kernel_tsc - times->overhead_tsc) /
           ((sample->before_tsc + sample->after_tsc) / 2.0 - times->overhead_tsc);
}

static void keep_values(struct kernel_run *run, const struct core_record *record)
{
    double scale = times->calib_clk / ((double)run->iterations * run->variant->copies *
                                       (run->kernel->instances ? run->kernel->instances : 1));
    run->nsamples[run->nvalues] = record->timing.accepted;
    double *values = run->values[run->nvalues++];
    for (uint32_t i = 0; i < record->timing.accepted; i++) {
        double value = sample_value(&record->timing.samples[i]) * scale;
        uint32_t at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
}

static void send_timing(struct kernel_run *run, struct core_record *record,
                        struct core_record *counts)
{
    keep_values(run, record);
    run->finished = run->nvalues == config->passes || steady_settled(run, config->passes_tolerance);
    record->timing.last = run->finished;
    if (config->ncounters) {
        counts->counts.pass = run->pass;
        counts->counts.ncounters = config->ncounters;
        guard_send(counts);
    }
    run_send(record);
}

// One attempt at a pass of a kernel. Returns false when too few repeats were accepted.
static bool run_measure(struct kernel_run *run)
{
    struct core_record record = {.type = CORE_REC_TIMING, .kernel = run->kernel->id};
    struct core_record counts = {.type = CORE_REC_COUNTS, .kernel = run->kernel->id};
    uint32_t accepted = 0, accept = steady_accept(run, config->accept, config->passes_tolerance);
    struct surroundings before = run_look_around();
    for (uint32_t tries = 0; tries < config->tries && accepted < accept; tries++) {
        run->tried++;
        if (!before.quiet) {
            before = run_look_around();
            continue;
        }
        uint32_t ticks = time_kernel(run->kernel, run->variant->entry, run->iterations);
        bool counted = rdpmc_take(counts.counts.samples[accepted]);
        struct surroundings after = run_look_around();
        if (run_damaged(run))
            return true;
        if (after.quiet && counted && run_calibrations_agree(before.calib_tsc, after.calib_tsc)) {
            uint32_t canary =
                before.canary_tsc > after.canary_tsc ? before.canary_tsc : after.canary_tsc;
            record.timing.samples[accepted++] =
                (struct core_sample){ticks, before.calib_tsc, after.calib_tsc, canary};
            run_accepted();
        }
        before = after;
    }
    if (accepted < accept)
        return false;
    record.timing.pass = run->pass;
    record.timing.outcome = OUTCOME_OK;
    record.timing.accepted = accepted;
    record.timing.tried = run->tried;
    record.timing.iterations = run->iterations;
    record.timing.copies = run->variant->copies;
    record.timing.overhead_tsc = times->overhead_tsc;
    record.timing.calib_clk = times->calib_clk;
    send_timing(run, &record, &counts);
    return true;
}

// Returns false when the kernel has to be requeued.
static bool run_pass(struct kernel_run *run)
{
    if (run->tried == 0)
        run_send_event(CORE_REC_BEGIN, run->kernel->id, run->pass);
    time_fill_data(run->kernel);
    guard_protect(__builtin_frame_address(0));
    if (!run_warm(run))
        return true;
    return run_measure(run);
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

// Measures each run that is in pass `pass`, requeueing what was disturbed.
static void measure_pass(uint32_t pass)
{
    uint32_t pause_ms = 0;
    run_cool();
    for (bool again = true; again;) {
        again = false;
        if (pause_ms) {
            run_pause_for_quiet(pause_ms);
            run_cool();
        }
        for (uint32_t i = 0; i < config->nselected; i++) {
            struct kernel_run *run = &runs[i];
            if (run->finished || run->pass != pass)
                continue;
            if (run_pass(run)) {
                run->pass++;
                run->tried = run->requeued = 0;
            } else if (++run->requeued > config->requeues || run_gave_up()) {
                run_give_up(run);
            } else {
                again = true;
            }
        }
        pause_ms = pause_ms ? (pause_ms * 2 > PAUSE_LAST_MS ? PAUSE_LAST_MS : pause_ms * 2)
                            : PAUSE_FIRST_MS;
    }
}

// Runs each kernel briefly before any is measured: a body that ends the process is found before
// there is work to lose.
static void try_all(void)
{
    for (uint32_t i = 0; i < config->nselected; i++) {
        run_send_event(CORE_REC_BEGIN, runs[i].kernel->id, 0);
        time_fill_data(runs[i].kernel);
        guard_protect(__builtin_frame_address(0));
        run_trial(&runs[i]);
    }
}

void measure_passes(const struct core_config *wanted, const struct times *found,
                    struct kernel_run *selected)
{
    config = wanted;
    times = found;
    runs = selected;
    try_all();
    uint64_t next = time_now(); // when the next pass may begin
    for (uint32_t pass = 1; pass <= config->passes; pass++) {
        measure_pass(pass);
        bool more = false;
        for (uint32_t i = 0; i < config->nselected; i++)
            more |= !runs[i].finished;
        if (!more)
            break;
        // A short batch waits, so that one disturbance does not cover all passes. A long one, whose
        // first passes have taken their time, has no reason to wait for the few kernels of the
        // later.
        next += run_ms_to_tsc(pass == 1 ? config->pass_gap_ms : config->pass_gap_ms / LATER_GAPS);
        while (pass < config->passes && time_now() < next) {
            run_send_event(CORE_REC_WAIT, 0, 0);
            guard_sleep_ms(PAUSE_FIRST_MS);
        }
    }
}
