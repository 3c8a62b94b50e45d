// SPDX-License-Identifier: MIT
#include "property_run.h"

#include "measure/run_start.h"
#include "property_machine.h"
#include "property_measure.h"
#include "util/clock.h"
#include "util/progress.h"
#include "util/spent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sweeps {
    struct store *store;
    const struct properties *properties;
    const struct property_run_options *options;
    struct property_run_summary *summary;
    struct session session;
    struct run_start start;
    struct property_machine machine;
    struct progress *progress;
    int failed; // properties that could not be measured at all
};

// Returns the lists as they stand in the database: "properties/core".
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

// Prepares the session and the machine, and makes the run's row in the database.
static int sweeps_start(struct sweeps *run, struct err *err)
{
    static const struct session_counters none = {0};
    struct arena arena = {0};
    run->start = (struct run_start){.store = run->store,
                                    .session = &run->session,
                                    .counters = &none,
                                    .label = run->options->label,
                                    .new_floor = run->options->new_floor,
                                    .resume = run->options->resume};
    const struct selection lists = sweeps_lists(run, &arena);
    const char *selection = arena_printf(&arena, "property %s", run->options->selection);
    int status = run_start_calibrate(&run->start, err);
    if (status == 0)
        status = run_start_row(&run->start, &lists, selection, err);
    run->summary->run_id = run->start.run_id;
    run->summary->claimed = run->start.claimed;
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

// A property that was measured, but not yet as often as it shall be. It is measured again a while
// later, since what else uses the machine, where the host puts it, and where code and data lie,
// changes from time to time: what holds each time is kept apart from what held once.
struct replicated {
    const struct property *property;
    struct swept_property result;
    struct property_codes codes;
    struct arena arena; // owns the result and the codes
    double at_s;        // when the last replicate ended
};
enum { REPLICATES = 5, REPLICATES_APART_S = 60 };

static int sweeps_measure(struct sweeps *run, struct replicated *row, int replicate,
                          struct err *err)
{
    const struct exec_progress progress = {sweeps_kernel_done, sweeps_waiting, run};
    struct property_measuring measuring = {.session = &run->session,
                                           .machine = &run->machine,
                                           .progress = &progress,
                                           .codes = &row->codes,
                                           .planned = sweeps_planned,
                                           .keep = run->options->keep};
    int status = replicate
                     ? property_measure_again(&measuring, row->property, replicate, &row->arena,
                                              &row->result, err)
                     : property_measure(&measuring, row->property, &row->arena, &row->result, err);
    row->at_s = clock_now_s();
    run->summary->stopped |= measuring.stopped;
    run->summary->kernels += measuring.kernels;
    if (status != 0 && session_stopped_by()) { // its assembler was ended
        run->summary->stopped = true;
        return 0;
    }
    return status;
}

// Records a property that could not be measured at all, for want of memory, say.
static void replicated_fail(struct sweeps *run, struct replicated *row, const struct err *err)
{
    struct swept_property *result = &row->result;
    result->outcome = OUTCOME_NOT_MEASURABLE;
    result->detail = arena_strdup(&row->arena, err->text);
    result->npoints = result->nconclusions = 0;
    run->failed++;
}

static int sweeps_first(struct sweeps *run, struct replicated *row, struct err *err)
{
    progress_more(run->progress, 0, 1);
    int status = sweeps_measure(run, row, 0, err);
    if (status != 0)
        replicated_fail(run, row, err);
    return 0;
}

// Measures a property again; after the last replicate, stores it. If measuring fails, the other
// replicates count.
static int sweeps_again(struct sweeps *run, struct replicated *row, int replicate, struct err *err)
{
    const struct property *property = row->property;
    int status = sweeps_measure(run, row, replicate, err);
    if (run->summary->stopped)
        return status;
    if (replicate < REPLICATES - 1)
        return 0;
    if (property_conclude(&row->result, &row->arena, err) != 0)
        replicated_fail(run, row, err);
    const struct spent before = spent_now();
    status = store_put_property(run->store, run->summary->run_id, &row->result, err);
    spent_add_rest(SPENT_WRITING, &before);
    progress_form(run->progress, property->grp, group_rows(run->properties, property->grp),
                  row->result.outcome == OUTCOME_OK);
    run->summary->measured++;
    return status;
}

// Properties that are measured again: the first n, in order; done[r] of them have had replicate r.
struct replicates {
    struct replicated *rows;
    int n, done[REPLICATES];
};

// Measures the properties whose time has come; all of them with `last`.
static int sweeps_replicate(struct sweeps *run, struct replicates *replicates, bool last,
                            struct err *err)
{
    int status = 0;
    replicates->done[0] = replicates->n;
    for (int replicate = REPLICATES - 1; replicate > 0; replicate--) {
        // Later replicates first, since a property with all of them is stored.
        int *done = &replicates->done[replicate];
        while (*done < replicates->done[replicate - 1] && status == 0 && !run->summary->stopped &&
               (last || clock_now_s() - replicates->rows[*done].at_s >= REPLICATES_APART_S))
            status = sweeps_again(run, &replicates->rows[(*done)++], replicate, err);
    }
    return status;
}

// Measures what is left when each has had its first replicate.
static int sweeps_rest(struct sweeps *run, struct replicates *replicates, struct err *err)
{
    int status = 0;
    while (replicates->done[REPLICATES - 1] < replicates->n && status == 0 &&
           !run->summary->stopped)
        status = sweeps_replicate(run, replicates, true, err);
    return status;
}

static int sweeps_all(struct sweeps *run, struct err *err)
{
    const struct properties *properties = run->properties;
    run->machine = property_machine_find("", run->session.cpu, &run->session.kinds,
                                         run->session.params.config.cpu);
    struct replicates replicates = {
        xcalloc((size_t)properties->n + 1, sizeof *replicates.rows), 0, {0}};
    int status = 0;
    run->progress = progress_start(properties->n, run->options->quiet);
    progress_name(run->progress, "properties");
    for (int i = 0; i < properties->n && status == 0 && !run->summary->stopped; i++) {
        const struct property *property = &properties->rows[i];
        int has = store_has_property(run->store, run->summary->run_id, property->name, err);
        if (has > 0)
            run->summary->had++;
        if (has < 0)
            status = -1;
        if (has != 0)
            continue;
        replicates.rows[replicates.n].property = property;
        status = sweeps_first(run, &replicates.rows[replicates.n++], err);
        if (status == 0)
            status = sweeps_replicate(run, &replicates, false, err);
    }
    if (status == 0)
        status = sweeps_rest(run, &replicates, err);
    for (int i = 0; i < replicates.n; i++)
        arena_free(&replicates.rows[i].arena);
    free(replicates.rows);
    progress_end(run->progress);
    // If none could be measured, all have one reason; the message is about the last.
    bool none = run->failed && run->failed == run->summary->measured;
    return none && !run->summary->stopped ? -1 : status;
}

static int sweeps_prepared(struct sweeps *run, struct err *err)
{
    if (session_begin(run->options->cpu, run->options->kind, &run->session, err) != 0 ||
        session_make_directory(&run->session, err) != 0 || sweeps_start(run, err) != 0)
        return -1;
    int status = sweeps_all(run, err);
    run->summary->floor_guessed = run->session.floor_guessed;
    return status;
}

int property_run(struct store *store, const struct properties *properties,
                 const struct property_run_options *options, struct property_run_summary *summary,
                 struct err *err)
{
    const struct spent before = spent_now();
    *summary = (struct property_run_summary){0};
    struct sweeps run = {
        .store = store, .properties = properties, .options = options, .summary = summary};
    int status = sweeps_prepared(&run, err);
    if (options->keep && run.session.directory[0])
        fprintf(stderr, "latput property: the assembly files are in %s\n", run.session.directory);
    if (status == 0)
        status = run_start_finish(&run.start, &before, summary->kernels, !summary->stopped,
                                  &summary->seconds, err);
    session_end(&run.session, options->keep);
    return status;
}
