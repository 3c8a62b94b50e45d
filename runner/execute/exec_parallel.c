// SPDX-License-Identifier: MIT
#include "exec_parallel.h"

#include "exec_internal.h"
#include "util/spent.h"

#include <assert.h>
#include <pthread.h>

struct portion {
    const struct exec_job *job;
    int cpu;
    struct exec_share share;
    pthread_t thread;
    // out
    struct arena arena;
    struct exec_summary summary;
    int status;
    struct err err;
};

static void *portion_run(void *context)
{
    struct portion *portion = context;
    struct exec_params params = *portion->job->params;
    struct exec_job job = *portion->job;
    params.config.cpu = portion->cpu;
    job.params = &params;
    job.mover = NULL;
    portion->status =
        exec_run_share(&job, portion->share, &portion->arena, &portion->summary, &portion->err);
    return NULL;
}

static void portion_add(struct exec_summary *summary, const struct exec_summary *portion)
{
    summary->restarts += portion->restarts;
    summary->aside += portion->aside;
    summary->passes += portion->passes;
    summary->stopped |= portion->stopped;
}

// Corrects the account: processes beside each other have added up their times.
static void parallel_spend(const struct spent *before, int n)
{
    const struct spent since = spent_since(before);
    static const enum spent_on shared[] = {SPENT_QUIET, SPENT_GAPS};
    spent_add(SPENT_MEASURING, since.at_s - since.on[SPENT_MEASURING]);
    for (size_t i = 0; i < ARRAY_LEN(shared); i++)
        spent_add(shared[i], since.on[shared[i]] / n - since.on[shared[i]]);
}

// A thread that cannot be started leaves its share to this one.
int exec_run_parallel(const struct exec_job *job, const int *cpus, int ncpus, struct arena *arena,
                      struct exec_summary *summary, struct err *err)
{
    struct portion portions[EXEC_PARALLEL_MAX] = {{0}};
    bool started[EXEC_PARALLEL_MAX] = {false};
    const struct spent before = spent_now();
    int status = 0;
    assert(ncpus > 0 && ncpus <= EXEC_PARALLEL_MAX);
    for (int i = 0; i < ncpus; i++) {
        portions[i] = (struct portion){
            .job = job, .cpu = cpus[i], .share = {i, ncpus}
        };
        if (i > 0)
            started[i] = pthread_create(&portions[i].thread, NULL, portion_run, &portions[i]) == 0;
    }
    for (int i = 0; i < ncpus; i++)
        if (!started[i])
            portion_run(&portions[i]);
    *summary = portions[0].summary;
    for (int i = 0; i < ncpus; i++) {
        if (started[i])
            pthread_join(portions[i].thread, NULL);
        if (i > 0)
            portion_add(summary, &portions[i].summary);
        if (portions[i].status != 0 && status == 0)
            status = err_set(err, "%s", portions[i].err.text);
        arena_join(arena, &portions[i].arena);
    }
    parallel_spend(&before, ncpus);
    return status;
}
