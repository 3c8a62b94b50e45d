// SPDX-License-Identifier: MIT
#include "portrun_mixes.h"

#include "derive/plausible.h"
#include "measure/parallel.h"
#include "measure/session_count.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/quantile.h"

#include <math.h>
#include <string.h>

// The groups of ports of session_count.h must fit into the counts of mixes in ports.h.
_Static_assert((int)PORT_GROUPS_MAX == (int)CPU_PORT_GROUPS_MAX, "cpuinfo.h and ports.h differ");

enum { BATCH_KERNELS = 8000, FIRST_KERNELS = 4000, PASSES = 4, PASS_GAP_MS = 50 };
// Batches with fewer kernels without a value are not measured once more: the search for ports asks
// for many mixes that never settle, a few at a time. So many batches are put aside at most.
enum { RETRY_LEAST = 10, POOR_MAX = 4 };

struct mixes {
    const struct portrun_mixes *measure;
    const struct port_mix *mixes;
};

static int mixes_bits(void *context, int index)
{
    const struct mixes *mixes = context;
    return mixes->measure->rows[mixes->mixes[index].parts[0].form]->bits;
}

static int mixes_plan(void *context, int index, const struct plan_params *params,
                      struct arena *arena, struct plan *plan, struct err *err)
{
    (void)err;
    const struct mixes *mixes = context;
    const struct port_mix *mix = &mixes->mixes[index];
    struct mix_part parts[PORT_MIX_PARTS_MAX];
    for (int i = 0; i < mix->nparts; i++)
        parts[i] = (struct mix_part){mixes->measure->rows[mix->parts[i].form], mix->parts[i].count};
    enum breaking breaking = mix->orders & PORT_MIX_INDEPENDENT ? BREAK_ALL
                             : mix->orders & PORT_MIX_BREAKING  ? BREAK_REGISTERS
                                                                : BREAK_NEEDED;
    const struct mix wanted = {parts,
                               mix->nparts,
                               mix->orders & MIX_ORDERS_ALL,
                               breaking,
                               mix->orders & PORT_MIX_SINGLE,
                               mix->orders & PORT_MIX_CHAINED};
    mix_plan(&wanted, params, arena, plan);
    return 0; // a mix without kernels says why in its test
}

// Kernels of a batch in each pass of the session's counting.
struct mixes_passes {
    const struct exec_kernel *kernels[SESSION_EVENTS_MAX + 1];
    int repeats; // copies of the mix in a body
};

// Returns the least time over the kernels of a mix, without unstable ones. *kernel: the kernel that
// decides, by its number in the batch.
static struct port_timing mix_timing(const struct batch *batch, const struct batch_row *row,
                                     int issue_width, int *kernel)
{
    const struct test *test = &row->plan.tests[0];
    struct port_timing timing = {.outcome = test->outcome, .clk = NAN, .spread_clk = NAN};
    for (int i = 0; i < row->nkernels; i++) {
        int k = row->first_kernel + i;
        const struct exec_kernel *measured = &batch->measured[k];
        struct estimate estimate = batch_estimate(batch, k, measured, issue_width);
        enum outcome outcome =
            measured->outcome != OUTCOME_OK ? measured->outcome : estimate.outcome;
        if (outcome == OUTCOME_OK && !(timing.clk <= estimate.clk)) {
            timing.clk = estimate.clk;
            timing.spread_clk = estimate.spread_clk;
            *kernel = k;
        }
        if (isnan(timing.clk))
            timing.outcome = outcome;
        else
            timing.outcome = OUTCOME_OK;
    }
    return timing;
}

// Returns the count of counter `at` of a pass per body of the kernel: the median over all samples,
// without the cost of reading and of the loop; NaN: it was not counted.
static double kernel_count(const struct exec_kernel *kernel, int at)
{
    double values[EXEC_TIMINGS_MAX * CORE_SAMPLES_MAX];
    int n = 0;
    for (int t = 0; t < kernel->ntimings; t++) {
        const struct timing *timing = &kernel->timings[t];
        const struct exec_counts *counts = kernel->counts[t];
        if (timing->outcome != OUTCOME_OK || !counts || at >= counts->ncounters)
            continue;
        for (int i = 0; i < timing->nsamples; i++) {
            double loops = (counts->samples[i][at] - counts->overhead[at]) / timing->iterations;
            values[n++] = (loops - counts->loop[at]) / timing->copies;
        }
    }
    if (n == 0)
        return NAN;
    quantile_sort(values, n);
    return quantile_median(values, n);
}

// Returns the count of event `event`, in the pass that has it.
static double mix_count(const struct session_counting *counting, const struct mixes_passes *passes,
                        int kernel, int event)
{
    const struct exec_kernel *kernels = passes->kernels[counting->pass[event]];
    int at = 0; // among the events of its pass
    for (int i = 0; i < event; i++)
        at += counting->pass[i] == counting->pass[event];
    return kernels ? kernel_count(&kernels[kernel], at) / passes->repeats : (double)NAN;
}

// Returns true if the session counts all ports of the family that counters can distinguish.
static bool ports_whole(const struct session_counting *counting, int nports)
{
    const struct cpu_family *family = cpu_family_find(counting->machine.cpu->uarch);
    int n = 0;
    for (const char *at = family ? family->ports : ""; *at; n++) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    return n == nports;
}

// Adds what was counted to a timing, unless it cannot be true: then it stays without counts.
static void mix_add_counts(struct portrun_mixes *measure, const struct mixes_passes *passes,
                           int kernel, struct port_timing *timing)
{
    const struct session_counting *counting = measure->session->counting;
    struct counted_port ports[PORT_GROUPS_MAX];
    char text[160];
    int nports = 0;
    bool complete = true;
    timing->slots = NAN;
    if (timing->outcome != OUTCOME_OK)
        return;
    for (int i = 1; i < counting->nevents; i++) {
        double count = mix_count(counting, passes, kernel, i);
        complete &= !isnan(count);
        if (i == counting->slots) {
            timing->slots = fmax(count, 0);
            continue;
        }
        timing->uops[nports] = fmax(count, 0); // a few hundredths below are the overhead's
        ports[nports++] = (struct counted_port){counting->events[i].name, count};
    }
    timing->counted = complete && counting->nevents > 1;
    if (!timing->counted ||
        !plausible_ports_check(ports, nports, timing->clk, ports_whole(counting, nports), text,
                               sizeof text))
        return;
    timing->counted = false;
    measure->doubted++;
}

static void mixes_kernel_done(void *context, bool failed)
{
    struct portrun_mixes *measure = context;
    (void)failed; // no time is an answer, too
    if (measure->progress)
        progress_step(measure->progress, 1, false);
}

static void mixes_waiting(void *context)
{
    struct portrun_mixes *measure = context;
    if (measure->progress)
        progress_waiting(measure->progress);
}

static int mixes_stopped(struct err *err)
{
    const char *by = session_stopped_by();
    return err_set(err, "stopped by %s", by ? by : "a signal");
}

// Runs the batch again, once for each pass of ports and slots, and goes back to core cycles. What
// is counted needs no steady state of several passes.
static int mixes_count(struct portrun_mixes *measure, struct batch *batch,
                       struct mixes_passes *passes, struct err *err)
{
    struct session_counting *counting = measure->session->counting;
    for (int pass = 1; pass < counting->npasses; pass++) {
        struct exec_kernel *kernels =
            arena_alloc(&batch->arena, (size_t)batch->nkernels * sizeof *kernels);
        for (int k = 0; k < batch->nkernels; k++) {
            bool ok = batch->measured[k].outcome == OUTCOME_OK;
            kernels[k] = (struct exec_kernel){.selected = ok, .finished = !ok, .detail = ""};
        }
        if (session_count_pass(measure->session, pass, err) != 0)
            return -1;
        struct exec_params params = session_params(measure->session, batch->bits);
        params.config.passes = 1;
        struct exec_summary summary;
        const struct exec_job job = {batch->program.path, &params, kernels,
                                     batch->nkernels,     NULL,    NULL};
        if (exec_run(&job, &batch->arena, &summary, err) != 0)
            return -1;
        measure->stopped |= summary.stopped;
        if (summary.stopped)
            return mixes_stopped(err);
        passes->kernels[pass] = kernels;
    }
    return session_count_pass(measure->session, 0, err);
}

static struct exec_params mixes_params(const struct portrun_mixes *measure,
                                       const struct batch *batch)
{
    struct exec_params params = session_params(measure->session, batch->bits);
    // The least over many mixes decides; one that does not settle is left out sooner.
    params.config.passes = PASSES;
    params.config.pass_gap_ms = PASS_GAP_MS;
    if (measure->hurry)
        params.config.most_ms = 1 + (uint32_t)(1000 * retry_left_s(measure->retry));
    return params;
}

static int mixes_exec(struct portrun_mixes *measure, struct batch *batch, struct err *err)
{
    if (batch->failed && session_stopped_by()) { // its assembler was ended
        measure->stopped = true;
        return mixes_stopped(err);
    }
    if (batch->failed)
        return err_set(err, "%s", batch->err.text);
    if (!batch->program.path)
        return 0;
    const struct exec_progress progress = {mixes_kernel_done, mixes_waiting, measure};
    const struct exec_params params = mixes_params(measure, batch);
    struct exec_summary summary;
    double begin_s = clock_now_s();
    if (parallel_measure(measure->session, batch, &params, &progress, &summary, err) != 0)
        return -1;
    if (measure->hurry)
        measure->retry->spent_s += clock_now_s() - begin_s;
    session_learn_link(measure->session, batch->bits, &summary);
    measure->kernels += batch->nkernels;
    measure->passes += summary.passes;
    measure->stopped |= summary.stopped;
    return summary.stopped ? mixes_stopped(err) : 0;
}

// Takes the timings of the mixes of a measured batch, and counts in its kernels.
static int mixes_take(struct portrun_mixes *measure, struct batch *batch,
                      struct port_timing *timings, struct err *err)
{
    struct mixes_passes passes = {.repeats = 1};
    if (measure->session->counting && batch->program.path &&
        mixes_count(measure, batch, &passes, err) != 0)
        return -1;
    for (int i = 0; i < batch->nrows; i++) {
        struct port_timing *timing = &timings[batch->rows[i].index];
        int kernel = 0;
        *timing = mix_timing(batch, &batch->rows[i], measure->plan.issue_width, &kernel);
        if (batch->rows[i].nkernels > 0)
            passes.repeats = batch->rows[i].plan.tests[0].kernels[0].instances;
        if (measure->session->counting)
            mix_add_counts(measure, &passes, kernel, timing);
    }
    return 0;
}

// Measures batches that were put aside once more: other processes have measured meanwhile.
static int mixes_retry(struct portrun_mixes *measure, struct batch *const *poor, int npoor,
                       struct port_timing *timings, struct err *err)
{
    const struct exec_progress progress = {NULL, mixes_waiting, measure};
    int status = 0;
    for (int i = 0; i < npoor && status == 0; i++) {
        const struct exec_params params = mixes_params(measure, poor[i]);
        status = retry_batch(measure->retry, poor[i], &params, &progress, &measure->stopped, err);
        if (status == 0 && measure->stopped)
            status = mixes_stopped(err);
        if (status == 0)
            status = mixes_take(measure, poor[i], timings, err);
    }
    return status;
}

static int mixes_source(struct portrun_mixes *measure, struct batch_source *source,
                        struct port_timing *timings, struct err *err)
{
    struct batch *batch, *poor[POOR_MAX];
    int status = 0, npoor = 0;
    while (status == 0 && (batch = batch_source_next(source))) {
        status = mixes_exec(measure, batch, err);
        if (status == 0 && measure->retry && !measure->hurry && npoor < POOR_MAX &&
            retry_wanted(batch, measure->plan.issue_width, RETRY_LEAST)) {
            poor[npoor++] = batch;
            continue;
        }
        if (status == 0)
            status = mixes_take(measure, batch, timings, err);
        batch_free(batch);
    }
    if (status == 0)
        status = mixes_retry(measure, poor, npoor, timings, err);
    for (int i = 0; i < npoor; i++)
        batch_free(poor[i]);
    return status;
}

static int mixes_measure(void *context, const struct port_mix *mixes, int n,
                         struct port_timing *timings, struct err *err)
{
    struct portrun_mixes *measure = context;
    if (measure->hurry && retry_left_s(measure->retry) <= 0) {
        for (int i = 0; i < n; i++)
            timings[i] = (struct port_timing){
                .outcome = OUTCOME_UNSTABLE, .clk = NAN, .spread_clk = NAN, .slots = NAN};
        return 0;
    }
    struct mixes feed_context = {measure, mixes};
    const struct batch_feed feed = {n, mixes_bits, mixes_plan, &feed_context, NULL};
    const struct batch_options options = {.plan = measure->plan,
                                          .directory = measure->session->directory,
                                          .keep = measure->keep,
                                          .kernels = BATCH_KERNELS,
                                          .first = FIRST_KERNELS,
                                          .ahead = measure->ahead};
    struct batch_source *source = batch_source_start(&feed, &options);
    int status = mixes_source(measure, source, timings, err);
    batch_source_stop(source);
    return status;
}

struct port_oracle portrun_mixes_oracle(struct portrun_mixes *measure)
{
    const struct session_counting *counting = measure->session->counting;
    struct port_oracle oracle = {.measure = mixes_measure, .context = measure};
    for (int i = 1; counting && i < counting->nevents; i++)
        if (i != counting->slots)
            oracle.groups[oracle.ngroups++] = counting->events[i].name;
    return oracle;
}

const char *portrun_mixes_slots(const struct portrun_mixes *measure)
{
    const struct session_counting *counting = measure->session->counting;
    return counting && counting->slots >= 0 ? counting->events[counting->slots].name : NULL;
}
