// SPDX-License-Identifier: MIT
#include "explain_many.h"

#include "measure/session.h"
#include "util/progress.h"

struct portion {
    struct explain_work *work;
    struct explain_job *jobs;
    struct explain_row *rows;
    int n;
    int which[EXPLAIN_PORTION], nwhich; // numbers of those that can be measured
    struct arena arena;
};

// Predicts a block. Its instructions take megabytes, of which the row keeps nothing.
static int portion_predict(struct portion *portion, int i, struct err *err)
{
    struct explain_job *job = &portion->jobs[i];
    struct arena arena = {0};
    struct explain_result result;
    if (explain_job_prepare(portion->work, job, &portion->arena, err) != 0)
        return -1;
    int status = job->refused ? 0 : explain_job_predict(portion->work, job, &result, &arena, err);
    if (status == 0)
        portion->rows[i] = explain_row_make(job, &result.explanation, &portion->arena);
    portion->rows[i].settings = portion->work->settings;
    if (status == 0 && !job->refused)
        portion->which[portion->nwhich++] = i;
    arena_free(&arena);
    return session_check_stopped(status, err);
}

// Measures the blocks that are code of programs, or the others, in processes of their own: the
// first have pages where they ask for some, and memory full of addresses.
static int portion_measure_kind(struct portion *portion, bool foreign, struct err *err)
{
    struct bench_spec specs[EXPLAIN_PORTION];
    int which[EXPLAIN_PORTION], n = 0;
    for (int i = 0; i < portion->nwhich; i++) {
        struct explain_job *job = &portion->jobs[portion->which[i]];
        if (job->foreign != foreign)
            continue;
        which[n] = portion->which[i];
        specs[n++] = explain_job_spec(portion->work, job);
    }
    if (n == 0)
        return 0;
    struct bench_result *results = arena_alloc(&portion->arena, (size_t)n * sizeof *results);
    if (bench_measure_many(specs, n, results, &portion->arena, err) != 0)
        return -1;
    for (int i = 0; i < n; i++)
        explain_row_measured(&portion->rows[which[i]], &results[i], &portion->arena);
    return 0;
}

static int portion_measure(struct portion *portion, struct err *err)
{
    return portion_measure_kind(portion, true, err) == 0 ? portion_measure_kind(portion, false, err)
                                                         : -1;
}

static int portion_take(struct portion *portion, const struct explain_taker *taker,
                        struct progress *progress, struct err *err)
{
    int status = 0;
    for (int i = 0; i < portion->n && status == 0; i++)
        status = portion_predict(portion, i, err);
    if (status == 0 && !portion->work->request->predict)
        status = portion_measure(portion, err);
    if (status == 0)
        status = session_check_stopped(0, err);
    if (status == 0)
        status = taker->take(taker->context, portion->rows, portion->n, err);
    for (int i = 0; i < portion->n && status == 0; i++) {
        bool fine = !*portion->rows[i].refused && !*portion->rows[i].failure;
        progress_step(progress, 1, !fine);
        progress_form(progress, "blocks", portion->work->njobs, fine);
    }
    return status;
}

int explain_all(struct explain_work *work, int from, const struct explain_taker *taker,
                struct err *err)
{
    struct explain_row rows[EXPLAIN_PORTION];
    struct progress *progress = progress_start(work->njobs - from, taker->quiet);
    int status = explain_settings(work, err);
    progress_name(progress, "blocks");
    progress_more(progress, work->njobs - from, work->njobs - from);
    for (int at = from; at < work->njobs && status == 0; at += EXPLAIN_PORTION) {
        int left = work->njobs - at;
        struct portion portion = {.work = work,
                                  .jobs = &work->jobs[at],
                                  .rows = rows,
                                  .n = left < EXPLAIN_PORTION ? left : EXPLAIN_PORTION};
        status = portion_take(&portion, taker, progress, err);
        arena_free(&portion.arena);
    }
    progress_end(progress);
    return status;
}
