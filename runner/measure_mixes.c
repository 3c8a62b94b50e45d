// SPDX-License-Identifier: MIT
// Times mixes on this machine; see measure_mixes.h.
#include "measure_mixes.h"

#include "derive.h"
#include "util/mem.h"

#include <math.h>

enum { BATCH_KERNELS = 8000, FIRST_KERNELS = 2000, PASSES = 4, PASS_GAP_MS = 400 };

struct mixes {
    const struct measure_mixes *measure;
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
    mix_plan(parts, mix->nparts, mix->orders & MIX_ORDERS_ALL, mix->orders & PORT_MIX_BREAKING,
             params, arena, plan);
    return 0; // a mix without kernels says why in its test
}

// The least over the kernels of a mix; one that is unstable does not count.
static struct port_timing mix_timing(const struct batch *batch, const struct batch_row *row,
                                     int issue_width)
{
    const struct test *test = &row->plan.tests[0];
    struct port_timing timing = {.outcome = test->outcome, .clk = NAN, .spread_clk = NAN};
    for (int i = 0; i < row->nkernels; i++) {
        const struct exec_kernel *measured = &batch->measured[row->first_kernel + i];
        const struct kernel_facts facts = {
            .shape = test->kernels[i].shape, .instances = 1, .instrs = test->kernels[i].instrs};
        struct estimate estimate =
            derive_kernel(&facts, issue_width, measured->timings, measured->ntimings);
        enum outcome outcome =
            measured->outcome != OUTCOME_OK ? measured->outcome : estimate.outcome;
        if (outcome == OUTCOME_OK && !(timing.clk <= estimate.clk)) {
            timing.clk = estimate.clk;
            timing.spread_clk = estimate.spread_clk;
        }
        if (isnan(timing.clk))
            timing.outcome = outcome;
        else
            timing.outcome = OUTCOME_OK;
    }
    return timing;
}

static void mixes_kernel_done(void *context, bool failed)
{
    struct measure_mixes *measure = context;
    if (measure->progress)
        progress_step(measure->progress, 1, failed);
}

static void mixes_waiting(void *context)
{
    struct measure_mixes *measure = context;
    if (measure->progress)
        progress_waiting(measure->progress);
}

static int mixes_exec(struct measure_mixes *measure, struct batch *batch, struct err *err)
{
    if (batch->failed)
        return err_set(err, "%s", batch->err.text);
    if (!batch->program.path)
        return 0;
    const struct exec_progress progress = {mixes_kernel_done, mixes_waiting, measure};
    struct exec_params params = session_params(measure->session, batch->bits);
    // The least over many mixes decides; one that does not settle is left out sooner.
    params.config.passes = PASSES;
    params.config.pass_gap_ms = PASS_GAP_MS;
    struct exec_summary summary;
    if (exec_run(batch->program.path, &params, batch->measured, batch->nkernels, &progress,
                 &batch->arena, &summary, err) != 0)
        return -1;
    measure->kernels += batch->nkernels;
    measure->passes += summary.passes;
    measure->stopped |= summary.stopped;
    return summary.stopped ? err_set(err, "stopped") : 0;
}

static int mixes_measure(void *context, const struct port_mix *mixes, int n,
                         struct port_timing *timings, struct err *err)
{
    struct measure_mixes *measure = context;
    struct mixes feed_context = {measure, mixes};
    const struct batch_feed feed = {n, mixes_bits, mixes_plan, &feed_context};
    const struct batch_options options = {.plan = measure->plan,
                                          .directory = measure->session->directory,
                                          .keep = measure->keep,
                                          .kernels = BATCH_KERNELS,
                                          .first = FIRST_KERNELS,
                                          .ahead = measure->ahead};
    struct batch_source *source = batch_source_start(&feed, &options);
    int status = 0;
    struct batch *batch;
    while (status == 0 && (batch = batch_source_next(source))) {
        status = mixes_exec(measure, batch, err);
        for (int i = 0; i < batch->nrows && status == 0; i++)
            timings[batch->rows[i].index] =
                mix_timing(batch, &batch->rows[i], measure->plan.issue_width);
        batch_free(batch);
    }
    batch_source_stop(source);
    return status;
}

struct port_oracle measure_mixes_oracle(struct measure_mixes *measure)
{
    return (struct port_oracle){.measure = mixes_measure, .context = measure};
}
