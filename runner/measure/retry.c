// SPDX-License-Identifier: MIT
#include "retry.h"

#include "util/clock.h"

#include <math.h>
#include <stdlib.h>

// Share of a batch without a value from which its process is doubted.
static const double POOR_SHARE = 0.1;
// Share of the time of a run that may be spent, but at least so many seconds, from which short runs
// profit; less than LEAST_S is too little for a process.
static const double TIME_SHARE = 0.1, ALLOWED_S = 5, LEAST_S = 0.3;
// Time of a kernel on a core that is mostly quiet, over all passes: those for which there is no
// time would take it from the others.
static const double KERNEL_S = 0.001;

double retry_left_s(const struct retry *retry)
{
    double left_s = fmax(ALLOWED_S, TIME_SHARE * (clock_now_s() - retry->began_s)) - retry->spent_s;
    return left_s < LEAST_S ? 0 : left_s;
}

// Returns true if the kernel ran and has no value.
static bool kernel_is_missing(const struct batch *batch, int k, int issue_width)
{
    const struct exec_kernel *measured = &batch->measured[k];
    if (!measured->finished || measured->outcome != OUTCOME_OK)
        return measured->finished && outcome_is_missing(measured->outcome);
    return batch_estimate(batch, k, measured, issue_width).outcome == OUTCOME_UNSTABLE;
}

int retry_missing(const struct batch *batch, int issue_width)
{
    int n = 0;
    for (int k = 0; k < batch->nkernels && batch->program.path; k++)
        n += kernel_is_missing(batch, k, issue_width);
    return n;
}

bool retry_wanted(const struct batch *batch, int issue_width, int least)
{
    int n = retry_missing(batch, issue_width);
    return n >= least && n > POOR_SHARE * batch->nkernels;
}

// The kernels of a batch that are measured once more, with their first results.
struct retried {
    int n;
    int *which;
    struct exec_kernel *first;
};

// Takes the results of kernels without a value away. A body that does not return costs the time
// that it is waited for, twice, so not all of them may be worth it.
static struct retried retry_take(struct batch *batch, int issue_width, int hang_ms, double left_s)
{
    size_t most = (size_t)batch->nkernels + 1;
    struct retried retried = {0, xcalloc(most, sizeof(int)),
                              xcalloc(most, sizeof(struct exec_kernel))};
    for (int k = 0; k < batch->nkernels; k++) {
        struct exec_kernel *measured = &batch->measured[k];
        if (!kernel_is_missing(batch, k, issue_width))
            continue;
        double takes_s = measured->outcome == OUTCOME_TIMED_OUT ? 2 * hang_ms / 1000.0 : KERNEL_S;
        if (takes_s > left_s)
            continue;
        left_s -= takes_s;
        retried.which[retried.n] = k;
        retried.first[retried.n++] = *measured;
        *measured = (struct exec_kernel){.selected = true, .detail = ""};
    }
    return retried;
}

// Gives kernels that again have no value their first results back.
static void retry_give_back(struct retry *retry, struct batch *batch, int issue_width,
                            const struct retried *retried)
{
    for (int i = 0; i < retried->n; i++) {
        struct exec_kernel *measured = &batch->measured[retried->which[i]];
        bool has = measured->finished && measured->outcome == OUTCOME_OK &&
                   !kernel_is_missing(batch, retried->which[i], issue_width);
        retry->gained += has;
        if (!has)
            *measured = retried->first[i];
    }
    retry->kernels += retried->n;
}

static int retry_execute(struct retry *retry, struct batch *batch, const struct exec_params *params,
                         const struct exec_progress *progress, bool *stopped, struct err *err)
{
    struct session *session = retry->session;
    struct exec_params limited = *params;
    struct exec_summary summary = {0};
    uint32_t left_ms = (uint32_t)(1000 * retry_left_s(retry));
    int before = session_leave(session);
    limited.config.cpu = session->params.config.cpu;
    limited.config.most_ms = left_ms;
    if (limited.config.give_up_ms > left_ms)
        limited.config.give_up_ms = left_ms;
    const struct exec_job job = {batch->program.path, &limited, batch->measured,
                                 batch->nkernels,     progress, session_mover(session)};
    int status = exec_run(&job, &batch->arena, &summary, err);
    session_return(session, before);
    *stopped |= summary.stopped;
    return status;
}

int retry_batch(struct retry *retry, struct batch *batch, const struct exec_params *params,
                const struct exec_progress *progress, bool *stopped, struct err *err)
{
    double left_s = retry_left_s(retry), begin_s = clock_now_s();
    int issue_width = retry->session->issue_width;
    if (left_s <= 0 || !batch->program.path)
        return 0;
    struct retried retried = retry_take(batch, issue_width, params->hang_ms, left_s);
    int status = retried.n > 0 ? retry_execute(retry, batch, params, progress, stopped, err) : 0;
    retry_give_back(retry, batch, issue_width, &retried);
    retry->spent_s += clock_now_s() - begin_s;
    free(retried.which);
    free(retried.first);
    return status;
}
