// SPDX-License-Identifier: MIT
#include "parallel.h"

#include "cpu_places.h"
#include "session.h"
#include "session_count.h"
#include "util/mem.h"
#include "util/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// One in so many kernels is measured alone, too, but so many of a batch at least.
enum { DRAWN_ONE_IN = 32, DRAWN_LEAST = 16 };
// Values differ that are further apart than this share and than they scatter. A kernel that two
// processes measure otherwise is nothing that other cores can be blamed for; of those left, so many
// and more than such a share of all that were drawn end it.
static const double APART = 0.02, DIFFER_SHARE = 0.02;
enum { DIFFER_LEAST = 3 };
// Fewer kernels of each core are not worth the processes.
enum { KERNELS_LEAST = 32 };

// Chooses one CPU of each core, the session's first. Returns how many there are.
static int parallel_choose(const struct session *session, int wanted, int cpus[])
{
    struct cpu_places *places = xcalloc(1, sizeof *places);
    const struct cpu_place *chosen[EXEC_PARALLEL_MAX];
    int n = 0;
    cpu_places_read("", &session->usable, places);
    for (int i = 0; i < places->n && n == 0; i++)
        if (places->usable[i].cpu == session->params.config.cpu)
            chosen[n++] = &places->usable[i];
    for (int i = 0; i < places->n && n > 0 && n < wanted; i++) {
        bool shares = false;
        for (int j = 0; j < n; j++)
            shares |= chosen[j]->cpu == places->usable[i].cpu ||
                      cpu_places_share(chosen[j], &places->usable[i]);
        if (!shares)
            chosen[n++] = &places->usable[i];
    }
    for (int i = 0; i < n; i++)
        cpus[i] = chosen[i]->cpu;
    free(places);
    return n;
}

int parallel_begin(struct session *session, int wanted, struct err *err)
{
    struct parallel *parallel = xcalloc(1, sizeof *parallel);
    session->parallel = parallel;
    parallel->n = parallel_choose(session, wanted, parallel->cpus);
    if (session->counting && session->counting->source == &count_source_msr)
        return err_set(err, "--parallel and --backend msr exclude each other: the counters are of "
                            "one CPU");
    if (parallel->n < wanted)
        return err_set(err, "--parallel %d: this process may use %d core%s of this kind", wanted,
                       parallel->n, parallel->n == 1 ? "" : "s");
    session_leave_cpu(session, session->params.config.cpu);
    return 0;
}

// A kernel of a batch that is measured alone, too; values in core cycles.
struct drawn {
    int kernel;
    struct estimate together, alone;
};

// Draws kernels that have a value. Returns their number.
static int parallel_draw(struct parallel *parallel, const struct batch *batch, int issue_width,
                         struct drawn drawn[])
{
    int n = 0, every = batch->nkernels / DRAWN_LEAST;
    every = every < 1 ? 1 : every > DRAWN_ONE_IN ? DRAWN_ONE_IN : every;
    for (int k = random_below(&parallel->state, every); k < batch->nkernels; k += every) {
        if (!batch->measured[k].finished || batch->measured[k].outcome != OUTCOME_OK)
            continue;
        struct estimate estimate = batch_estimate(batch, k, &batch->measured[k], issue_width);
        if (estimate.outcome == OUTCOME_OK)
            drawn[n++] = (struct drawn){.kernel = k, .together = estimate};
    }
    return n;
}

// Returns true if these are two values of one thing, as far as they tell.
static bool parallel_agree(const struct estimate *a, const struct estimate *b)
{
    double apart = fabs(a->clk - b->clk);
    return apart <= APART * fmax(a->clk, b->clk) || apart <= fmax(a->spread_clk, b->spread_clk);
}

// A batch that is measured alone, and where that goes.
struct alone {
    struct batch *batch;
    const struct exec_params *params;
    int issue_width;
    struct exec_kernel *measured; // parallel to the batch's kernels
    struct exec_summary *summary; // of the batch
};

static int alone_run(const struct alone *alone, const struct drawn drawn[], int n, struct err *err)
{
    struct batch *batch = alone->batch;
    struct exec_summary summary;
    const struct exec_job job = {batch->program.path, alone->params, alone->measured,
                                 batch->nkernels,     NULL,          NULL};
    memset(alone->measured, 0, (size_t)batch->nkernels * sizeof *alone->measured);
    for (int i = 0; i < n; i++)
        alone->measured[drawn[i].kernel] = (struct exec_kernel){.selected = true, .detail = ""};
    int status = n > 0 ? exec_run(&job, &batch->arena, &summary, err) : 0;
    if (n > 0 && status == 0)
        alone->summary->stopped |= summary.stopped;
    return status;
}

// Returns the value of the kernel alone.
static struct estimate alone_estimate(const struct alone *alone, int kernel)
{
    struct estimate none = {.outcome = OUTCOME_UNSTABLE};
    const struct exec_kernel *measured = &alone->measured[kernel];
    if (!measured->finished || measured->outcome != OUTCOME_OK)
        return none;
    return batch_estimate(alone->batch, kernel, measured, alone->issue_width);
}

// Measures the drawn kernels alone, and those that come out otherwise once more. Leaves these in
// drawn[], with their values alone in place. Returns their number, -1 after an error.
static int parallel_compare(struct parallel *parallel, const struct alone *alone,
                            struct drawn drawn[], int n, struct err *err)
{
    struct batch *batch = alone->batch;
    int suspects = 0, differ = 0;
    if (alone_run(alone, drawn, n, err) != 0)
        return -1;
    for (int i = 0; i < n; i++) {
        drawn[i].alone = alone_estimate(alone, drawn[i].kernel);
        if (drawn[i].alone.outcome != OUTCOME_OK)
            continue;
        parallel->drawn++;
        if (!parallel_agree(&drawn[i].together, &drawn[i].alone))
            drawn[suspects++] = drawn[i];
    }
    if (alone_run(alone, drawn, suspects, err) != 0)
        return -1;
    for (int i = 0; i < suspects; i++) {
        const struct estimate again = alone_estimate(alone, drawn[i].kernel);
        if (again.outcome != OUTCOME_OK || !parallel_agree(&again, &drawn[i].alone) ||
            parallel_agree(&again, &drawn[i].together))
            continue;
        batch->measured[drawn[i].kernel] = alone->measured[drawn[i].kernel];
        differ++;
    }
    parallel->differ += differ;
    return differ;
}

// Measures the whole batch alone, without a word to the progress that has counted it already.
static int parallel_give_up(struct session *session, const struct alone *alone,
                            const struct exec_progress *progress, struct err *err)
{
    struct batch *batch = alone->batch;
    const struct exec_progress waits = {NULL, progress->waiting, progress->context};
    const struct exec_job job = {batch->program.path, alone->params, batch->measured,
                                 batch->nkernels,     &waits,        session_mover(session)};
    session->parallel->ended = true;
    session->parallel->n = 1;
    batch_forget_timings(batch);
    return exec_run(&job, &batch->arena, alone->summary, err);
}

static int parallel_check(struct session *session, struct batch *batch,
                          const struct exec_params *params, const struct exec_progress *progress,
                          struct exec_summary *summary, struct err *err)
{
    struct parallel *parallel = session->parallel;
    struct drawn *drawn = xcalloc((size_t)batch->nkernels, sizeof *drawn);
    const struct alone alone = {batch, params, session->issue_width,
                                xcalloc((size_t)batch->nkernels, sizeof *alone.measured), summary};
    int n = parallel_draw(parallel, batch, session->issue_width, drawn);
    int status = parallel_compare(parallel, &alone, drawn, n, err) < 0 ? -1 : 0;
    if (status == 0 && !summary->stopped && parallel->differ >= DIFFER_LEAST &&
        (double)parallel->differ > DIFFER_SHARE * (double)parallel->drawn)
        status = parallel_give_up(session, &alone, progress, err);
    free(alone.measured);
    free(drawn);
    return status;
}

int parallel_measure(struct session *session, struct batch *batch, const struct exec_params *params,
                     const struct exec_progress *progress, struct exec_summary *summary,
                     struct err *err)
{
    const struct parallel *parallel = session->parallel;
    bool together = parallel && parallel->n > 1 && batch->nkernels >= KERNELS_LEAST * parallel->n;
    const struct exec_job job = {
        batch->program.path, params,   batch->measured,
        batch->nkernels,     progress, together ? NULL : session_mover(session)};
    if (!together)
        return exec_run(&job, &batch->arena, summary, err);
    int status = exec_run_parallel(&job, parallel->cpus, parallel->n, &batch->arena, summary, err);
    if (status == 0 && !summary->stopped)
        status = parallel_check(session, batch, params, progress, summary, err);
    return status;
}
