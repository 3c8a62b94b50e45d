// SPDX-License-Identifier: MIT
#include "run_start.h"

#include "floor.h"
#include "observed.h"
#include "store/store_cpu.h"
#include "store/store_run.h"

#include <unistd.h>

// Confirms that the counters are of use, or gives them back.
static int start_confirm(struct run_start *start, const char *program, struct err *err)
{
    struct session *session = start->session;
    int status = session_count_confirm(session, start->counters, program,
                                       &start->facts.counted_link_clk, err);
    start->facts.counting = session->counting;
    start->facts.counters = session->counting ? &session->counting->table : NULL;
    return status;
}

// Measures the frequency of the core and the latency of the chain's link, with the new floor. The
// run goes by that link, so one that no table says takes two processes that agree.
static int start_hello(const struct session *session, const char *program, struct arena *arena,
                       struct exec_summary *summary, struct err *err)
{
    enum { HELLOS_MAX = 4 };
    const struct exec_params params = session_params_hello(session, 64);
    uint32_t before = params.config.calib_link_clk; // 0: no table says it
    for (int i = 0; i < HELLOS_MAX; i++) {
        struct exec_kernel measured = {.selected = true};
        const struct exec_job job = {program, &params, &measured, 1, NULL, NULL};
        if (exec_run(&job, arena, summary, err) != 0)
            return -1;
        if (summary->calib_link_clk == params.config.calib_link_clk ||
            summary->calib_link_clk == before || summary->stopped)
            return 0;
        before = summary->calib_link_clk;
    }
    return err_set(err,
                   "the latency of imul was different in each of %d processes: core cycles "
                   "cannot be calibrated; stop other programs, or try again later",
                   HELLOS_MAX);
}

static int start_measure(struct run_start *start, const char *program, struct arena *arena,
                         struct err *err)
{
    struct session *session = start->session;
    struct exec_summary summary;
    if (start_hello(session, program, arena, &summary, err) != 0)
        return -1;
    session_learn_link(session, 64, &summary);
    start->facts.core_hz = summary.core_hz;
    start->facts.overhead_tsc = summary.overhead_tsc;
    start->facts.imul_per_add = summary.imul_per_add;
    session_see_ratio(session, summary.imul_per_add);
    start->facts.issue_width = session->issue_width;
    if (session->floor_guessed)
        start->facts.floor_guessed = session->floor_seen.text;
    session->params.config.calib_link_clk = summary.calib_link_clk;
    return 0;
}

static int start_program(struct run_start *start, struct err *err)
{
    struct arena arena = {0};
    struct program program = {0};
    const struct session_floor from = {
        .store = start->store, .cpu_id = start->cpu_id, .anew = start->new_floor};
    int status = session_build_nop(start->session, "floor", 64, &arena, &program, err);
    if (status == 0)
        status = start_confirm(start, program.path, err);
    if (status == 0)
        status = session_find_floor(start->session, &from, program.path, err);
    if (status == 0)
        status = start_measure(start, program.path, &arena, err);
    if (program.path)
        unlink(program.path);
    arena_free(&arena);
    return status;
}

int run_start_calibrate(struct run_start *start, struct err *err)
{
    const struct session *session = start->session;
    if (store_put_cpu(start->store, session->cpu, &start->cpu_id, err) != 0 ||
        session_check_stopped(start_program(start, err), err) != 0)
        return -1;
    return store_put_cpu(start->store, session->cpu, &start->cpu_id, err);
}

// Claims the newest unfinished run of this kind: 1; 0: there is none; -1.
static int start_claim(struct run_start *start, const struct run_info *info, struct err *err)
{
    int found = store_run_resume(start->store, start->cpu_id, info, &start->run_id, err);
    while (found == 1) {
        int64_t claimed_id = start->run_id;
        int claimed = store_run_claim(start->store, claimed_id, err);
        start->claimed = claimed == 1;
        if (claimed != 0)
            return -1;
        // Whoever had it may have finished it just before.
        found = store_run_resume(start->store, start->cpu_id, info, &start->run_id, err);
        if (found == 1 && start->run_id == claimed_id)
            return 1;
    }
    return found;
}

// The same, unless a newer run of this kind is finished and the caller wants one only.
static int start_resume(struct run_start *start, const struct run_info *info, struct err *err)
{
    int64_t unfinished = 0, finished = 0;
    if (!start->once)
        return start_claim(start, info, err);
    int done = store_run_done(start->store, start->cpu_id, info, &finished, err);
    int found = store_run_resume(start->store, start->cpu_id, info, &unfinished, err);
    if (done < 0 || found < 0)
        return -1;
    start->done = done == 1 && finished > unfinished;
    start->run_id = finished;
    return start->done ? 1 : start_claim(start, info, err);
}

static int start_new(struct run_start *start, const struct run_info *info, struct err *err)
{
    if (store_run_begin(start->store, start->cpu_id, info, &start->run_id, err) != 0)
        return -1;
    return store_run_claim(start->store, start->run_id, err);
}

int run_start_row(struct run_start *start, const struct selection *lists, const char *selection,
                  struct err *err)
{
    struct arena arena = {0};
    struct run_info info;
    const struct session *session = start->session;
    const struct run_subject subject = {session->cpu, &session->params.config, &start->facts, lists,
                                        selection};
    int status = run_info_collect(&subject, &arena, &info, err);
    info.label = start->label;
    info.completes = start->completes;
    int found = status == 0 && start->resume ? start_resume(start, &info, err) : 0;
    if (status == 0 && found == 0)
        status = start_new(start, &info, err);
    if (found < 0)
        status = -1;
    if (status == 0 && !start->done)
        status = run_info_warn(start->store, start->run_id, session->cpu, &start->facts, err);
    arena_free(&arena);
    return status;
}

int run_start_learn(struct run_start *start, struct err *err)
{
    struct session *session = start->session;
    double rate;
    if (store_run_rate(start->store, start->run_id, floor_rate(session->cpu->issue_width), &rate,
                       err) != 0)
        return -1;
    session->nobserved = observed_read(start->store, session->cpu, session->observed, err);
    if (session->nobserved < 0)
        return -1;
    session_see_rate(session, rate);
    session_judge(session);
    return 0;
}

// Files the run under what all of it shows, and with the warnings that follow where it is complete.
static int start_file(struct run_start *start, bool complete, struct err *err)
{
    const struct session *session = start->session;
    if (run_start_learn(start, err) != 0 ||
        store_run_file(start->store, start->run_id, session->cpu, session->issue_width, err) != 0)
        return -1;
    return complete ? run_info_warn_identity(start->store, start->run_id, session->cpu, err) : 0;
}

int run_start_finish(struct run_start *start, const struct spent *before, int64_t kernels,
                     bool complete, double *seconds, struct err *err)
{
    int status = start_file(start, complete, err);
    const struct spent spent = spent_since(before);
    *seconds = spent.at_s;
    if (status == 0)
        status = store_put_run_time(start->store, start->run_id, &spent, err);
    if (status == 0 && complete)
        status = store_run_finish(start->store, start->run_id, kernels, *seconds, err);
    return status;
}
