// SPDX-License-Identifier: MIT
// A run of properties; see property_run.h.
#include "property_run.h"

#include "measure/run_info.h"
#include "property_machine.h"
#include "property_measure.h"
#include "store/store_cpu.h"
#include "store/store_run.h"
#include "util/clock.h"
#include "util/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct sweeps {
    struct store *store;
    const struct properties *properties;
    const struct property_run_options *options;
    struct property_run_summary *summary;
    struct session session;
    struct run_facts facts;
    int64_t cpu_id;
    struct progress *progress;
    int failed; // properties that could not be measured at all
};

// What has to be known before the first property.
static int sweeps_calibrate(struct sweeps *run, struct err *err)
{
    struct exec_kernel measured = {.selected = true};
    struct arena arena = {0};
    struct program program = {0};
    struct exec_summary summary;
    const struct session_floor from = {
        .store = run->store, .cpu_id = run->cpu_id, .anew = run->options->new_floor};
    int status = session_build_nop(&run->session, "floor", 64, &arena, &program, err);
    if (status == 0)
        status = session_find_floor(&run->session, &from, program.path, err);
    if (status == 0) {
        const struct exec_params params = session_params(&run->session, 64);
        const struct exec_job job = {program.path, &params, &measured, 1, NULL};
        status = exec_run(&job, &arena, &summary, err);
    }
    if (status == 0) {
        run->facts = (struct run_facts){.core_hz = summary.core_hz,
                                        .overhead_tsc = summary.overhead_tsc,
                                        .imul_per_add = summary.imul_per_add,
                                        .issue_width = run->session.issue_width};
        if (run->session.floor_guessed)
            run->facts.floor_guessed = run->session.floor_seen.text;
        run->session.params.config.calib_link_clk = summary.calib_link_clk;
    }
    if (program.path)
        unlink(program.path);
    arena_free(&arena);
    return status;
}

// The newest unfinished run of this kind, which is ours from now on: 1; 0: there is none; -1.
static int sweeps_resume(struct sweeps *run, const struct run_info *info, struct err *err)
{
    int64_t *run_id = &run->summary->run_id;
    int found = store_run_resume(run->store, run->cpu_id, info, run_id, err);
    if (found != 1)
        return found;
    int claimed = store_run_claim(run->store, *run_id, err);
    run->summary->claimed = claimed == 1;
    return claimed == 0 ? 1 : -1;
}

// The lists as they stand in the database: "properties/core".
static struct selection sweeps_lists(const struct sweeps *run, struct arena *arena)
{
    const struct properties *properties = run->properties;
    struct selection selection = {
        .lists = arena_alloc(arena, ((size_t)properties->npaths + 1) * sizeof *selection.lists),
        .nlists = properties->npaths};
    for (int i = 0; i < properties->npaths; i++) {
        const char *path = properties->paths[i], *slash = strrchr(path, '/');
        const char *base = slash ? slash + 1 : path;
        selection.lists[i].path = path;
        selection.lists[i].name =
            arena_printf(arena, "properties/%.*s", (int)strcspn(base, "."), base);
    }
    return selection;
}

static int sweeps_begin(struct sweeps *run, struct err *err)
{
    struct arena arena = {0};
    struct run_info info;
    const struct selection lists = sweeps_lists(run, &arena);
    const char *selection = arena_printf(&arena, "property %s", run->options->selection);
    const struct run_subject subject = {run->session.cpu, &run->session.params.config, &run->facts,
                                        &lists, selection};
    int status = run_info_collect(&subject, &arena, &info, err), found = 0;
    if (status == 0 && run->options->resume)
        found = sweeps_resume(run, &info, err);
    if (status == 0 && found == 0)
        status = store_run_begin(run->store, run->cpu_id, &info, &run->summary->run_id, err);
    if (status == 0 && found == 0)
        status = store_run_claim(run->store, run->summary->run_id, err);
    if (found < 0)
        status = -1;
    if (status == 0)
        status =
            run_info_warn(run->store, run->summary->run_id, run->session.cpu, &run->facts, err);
    arena_free(&arena);
    return status;
}

static void sweeps_kernel_done(void *context, bool failed)
{
    struct sweeps *run = context;
    progress_step(run->progress, 1, failed);
}

static void sweeps_waiting(void *context)
{
    struct sweeps *run = context;
    progress_waiting(run->progress);
}

static void sweeps_planned(void *context, int kernels)
{
    struct sweeps *run = context;
    progress_more(run->progress, kernels, 0);
}

static int group_rows(const struct properties *properties, const char *grp)
{
    int n = 0;
    for (int i = 0; i < properties->n; i++)
        n += strcmp(properties->rows[i].grp, grp) == 0;
    return n;
}

// One property: measured, concluded, stored.
static int sweeps_one(struct sweeps *run, const struct property_machine *machine,
                      const struct property *property, struct err *err)
{
    const struct exec_progress progress = {sweeps_kernel_done, sweeps_waiting, run};
    struct property_measuring measuring = {.session = &run->session,
                                           .machine = machine,
                                           .progress = &progress,
                                           .planned = sweeps_planned,
                                           .keep = run->options->keep};
    struct arena arena = {0};
    struct stored_property result;
    progress_more(run->progress, 0, 1);
    int status = property_measure(&measuring, property, &arena, &result, err);
    if (status != 0 && !session_stopped_by()) { // of one: memory that is not there, say
        result.outcome = OUTCOME_NOT_MEASURABLE;
        result.detail = arena_strdup(&arena, err->text);
        result.npoints = result.nconclusions = 0;
        run->failed++;
        status = 0;
    }
    run->summary->stopped |= measuring.stopped;
    run->summary->kernels += measuring.kernels;
    if (status == 0 && !measuring.stopped) {
        status = store_put_property(run->store, run->summary->run_id, &result, err);
        progress_form(run->progress, property->grp, group_rows(run->properties, property->grp),
                      result.outcome == OUTCOME_OK);
        run->summary->measured++;
    }
    arena_free(&arena);
    return status;
}

static int sweeps_all(struct sweeps *run, struct err *err)
{
    const struct properties *properties = run->properties;
    const struct property_machine machine = property_machine_find(run->session.cpu);
    int status = 0;
    run->progress = progress_start(properties->n, run->options->quiet);
    progress_name(run->progress, "properties");
    for (int i = 0; i < properties->n && status == 0 && !run->summary->stopped; i++) {
        const struct property *property = &properties->rows[i];
        int has = store_has_property(run->store, run->summary->run_id, property->name, err);
        if (has > 0)
            run->summary->had++;
        status = has < 0 ? -1 : has ? 0 : sweeps_one(run, &machine, property, err);
    }
    progress_end(run->progress);
    // Where none could be, it is for a reason that all have; the message is that of the last.
    bool none = run->failed && run->failed == run->summary->measured;
    return none && !run->summary->stopped ? -1 : status;
}

static int sweeps_prepared(struct sweeps *run, struct err *err)
{
    char nasm[128];
    if (build_nasm_version(nasm, sizeof nasm, err) != 0 ||
        session_begin(run->options->cpu, &run->session, err) != 0 ||
        session_make_directory(&run->session, err) != 0 ||
        store_put_cpu(run->store, run->session.cpu, &run->cpu_id, err) != 0 ||
        session_check_stopped(sweeps_calibrate(run, err), err) != 0 ||
        // Filed under what it was measured to be.
        store_put_cpu(run->store, run->session.cpu, &run->cpu_id, err) != 0 ||
        sweeps_begin(run, err) != 0)
        return -1;
    int status = sweeps_all(run, err);
    run->summary->floor_guessed = run->session.floor_guessed;
    return status;
}

int property_run(struct store *store, const struct properties *properties,
                 const struct property_run_options *options, struct property_run_summary *summary,
                 struct err *err)
{
    double start_s = clock_now_s();
    *summary = (struct property_run_summary){0};
    struct sweeps run = {
        .store = store, .properties = properties, .options = options, .summary = summary};
    int status = sweeps_prepared(&run, err);
    if (options->keep && run.session.directory[0])
        fprintf(stderr, "latput property: the assembly files are in %s\n", run.session.directory);
    summary->seconds = clock_now_s() - start_s;
    if (status == 0 && !summary->stopped)
        status = store_run_finish(store, summary->run_id, summary->kernels, summary->seconds, err);
    session_end(&run.session, options->keep);
    return status;
}
