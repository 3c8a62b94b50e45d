// SPDX-License-Identifier: MIT
#include "property_measure.h"

#include "assemble/assemble.h"
#include "execute/exec.h"
#include "util/clock.h"
#include "util/random.h"
#include "util/spent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ROUNDS_MAX = 8,
    ROUND_POINTS_MAX = 16, // per curve, in a round that refines
    POINTS_MAX = 1 << 16,
    SECONDS_USUAL = 20,
    PASS_GAP_MS = 100, // replicates are much farther apart
    GIVE_UP_MS = 15000,
    MOST_SECONDS = 2, // times property.seconds: then it ends with what there is
    ROUND_LEAST_S = 3,
    REQUEUES = 12, // of a point, and for so long at least; then the curve does without it
    REQUEUES_MS = 4000,
    ACCEPT = 6,
};
// Points scatter more than the time of an instruction: passes that differ by less are of one state.
static const double PASSES_TOLERANCE = 0.05;

struct sweep {
    struct property_measuring *measuring;
    const struct property *property;
    struct swept_property *result;
    struct arena *arena;
    size_t capacity; // room in result->points
    double start_s;
    int replicate; // from 0
    int processes; // per replicate, one after another, with equally many passes
};

static const char *to_text(struct arena *arena, const struct err *err)
{
    return arena_strdup(arena, err->text);
}

static struct swept_point *sweep_add(struct sweep *sweep, int variant, double x, double by)
{
    struct swept_property *result = sweep->result;
    if ((size_t)result->npoints == sweep->capacity) {
        size_t capacity = sweep->capacity ? 2 * sweep->capacity : 64;
        struct swept_point *points = arena_alloc(sweep->arena, capacity * sizeof *points);
        if (result->npoints)
            memcpy(points, result->points, (size_t)result->npoints * sizeof *points);
        result->points = points;
        sweep->capacity = capacity;
    }
    struct swept_point *point = &result->points[result->npoints++];
    *point = (struct swept_point){.variant = variant,
                                  .x = x,
                                  .by = by,
                                  .instances = 1,
                                  .outcome = OUTCOME_SKIPPED,
                                  .detail = "not measured",
                                  .y = (double)NAN};
    return point;
}

static void begin_variants(const struct property *property, const struct cpu_info *cpu,
                           struct arena *arena, struct swept_property *result)
{
    result->variants = arena_alloc(arena, (size_t)property->nvariants * sizeof *result->variants);
    result->nvariants = property->nvariants;
    for (int i = 0; i < property->nvariants; i++) {
        const struct property_variant *variant = &property->variants[i];
        bool has = !*variant->isa || cpu_has_isa(cpu, variant->isa);
        result->variants[i] = (struct swept_variant){
            variant->name, has ? OUTCOME_OK : OUTCOME_UNSUPPORTED,
            has ? "" : arena_printf(arena, "this CPU has no %s", variant->isa)};
    }
}

static void begin_result(const struct property *property, struct swept_property *result)
{
    *result = (struct swept_property){.grp = property->grp,
                                      .name = property->name,
                                      .title = property->title,
                                      .question = property->question,
                                      .x_unit = property->x_unit,
                                      .by_unit = property->by_unit,
                                      .y_unit = property->y_unit,
                                      .reading = property->reading,
                                      .compare = property->compare,
                                      .definition = property->source,
                                      .vm = property->vm,
                                      .outcome = OUTCOME_OK,
                                      .detail = ""};
}

static int sweep_begin(struct sweep *sweep, const struct property_machine *machine,
                       const struct cpu_info *cpu)
{
    const struct property *property = sweep->property;
    struct swept_property *result = sweep->result;
    double *xs = arena_alloc(sweep->arena, SWEEP_POINTS_MAX * sizeof *xs);
    double *bys = arena_alloc(sweep->arena, SWEEP_POINTS_MAX * sizeof *bys), limit;
    struct err why = {0};
    begin_result(property, result);
    begin_variants(property, cpu, sweep->arena, result);
    int nxs = property_points(property, machine, xs, &limit, &why);
    int nbys = property_by_points(property, machine, bys);
    if (nxs == 0) {
        result->outcome = OUTCOME_SKIPPED;
        result->detail = to_text(sweep->arena, &why);
    } else if (!isnan(limit)) {
        result->detail =
            arena_printf(sweep->arena, "memory of this machine ends the sweep at %.0f", limit);
    } else if (property->corunner == CORUNNER_CPU) {
        result->detail = arena_strdup(sweep->arena, machine->kinds);
    }
    for (int v = 0; v < property->nvariants && nxs; v++)
        for (int b = 0; b < nbys && result->variants[v].outcome == OUTCOME_OK; b++)
            for (int x = 0; x < nxs && result->npoints < POINTS_MAX; x++) {
                const struct property_point point = {xs[x], bys[b]};
                int measuring_cpu, cpus[CORE_CORUNNERS_MAX];
                if (property_places(property, machine, &point, &measuring_cpu, cpus, &why) >= 0)
                    sweep_add(sweep, v, xs[x], bys[b]);
            }
    if (nxs && result->npoints == 0) {
        result->outcome = OUTCOME_UNSUPPORTED;
        result->detail = *why.text ? to_text(sweep->arena, &why) : result->variants[0].detail;
    }
    return result->npoints;
}

int property_begin(const struct property *property, const struct property_machine *machine,
                   const struct cpu_info *cpu, struct arena *arena, struct swept_property *result)
{
    struct sweep sweep = {.property = property, .result = result, .arena = arena};
    return sweep_begin(&sweep, machine, cpu);
}

// A round: the kernels of points [first, result->npoints), in a random order, so that what disturbs
// for a while scatters over the curve.
struct round {
    struct gen_kernel *kernels;
    struct exec_kernel *measured;
    int *points; // by kernel
    int n;
    struct round_group { // kernels that are measured on one CPU
        int cpu;         // -1: the session's
        int corunners[CORE_CORUNNERS_MAX], ncorunners;
        bool *has; // by kernel
    } * groups;
    int ngroups;
};

static struct round_group *round_group(const struct sweep *sweep, struct round *round, int cpu)
{
    for (int i = 0; i < round->ngroups; i++)
        if (round->groups[i].cpu == cpu)
            return &round->groups[i];
    struct round_group *group = &round->groups[round->ngroups++];
    size_t bytes = (size_t)round->n * sizeof *group->has;
    *group = (struct round_group){.cpu = cpu, .has = arena_alloc(sweep->arena, bytes)};
    memset(group->has, 0, bytes);
    return group;
}

// Sets the measuring CPU of a kernel, and which of the group's CPUs run its corunners: a range,
// since the corunners of one kernel come in one order.
static void round_place(const struct sweep *sweep, struct round *round, int kernel,
                        struct kernel_spec *spec)
{
    const struct swept_point *at = &sweep->result->points[round->points[kernel]];
    const struct property_point point = {at->x, at->by};
    struct err why;
    int cpu = -1, cpus[CORE_CORUNNERS_MAX];
    int n = property_places(sweep->property, sweep->measuring->machine, &point, &cpu, cpus, &why);
    struct round_group *group = round_group(sweep, round, cpu);
    group->has[kernel] = true;
    for (int i = 0; i < n; i++) {
        int index = 0;
        while (index < group->ncorunners && group->corunners[index] != cpus[i])
            index++;
        if (index == group->ncorunners)
            group->corunners[group->ncorunners++] = cpus[i];
        spec->corunner_from = i == 0 ? index : spec->corunner_from;
    }
    spec->corunner_to = spec->corunner_from + (n > 0 ? n : 0);
}

static const struct list_row *round_row(struct sweep *sweep)
{
    struct list_row *row = arena_alloc(sweep->arena, sizeof *row);
    row->form = row->mnemonic = sweep->property->name;
    return row;
}

static void round_order(const struct sweep *sweep, int first, struct round *round)
{
    uint64_t seed = (uint64_t)first + 1 + ((uint64_t)sweep->replicate << 32);
    round->n = sweep->result->npoints - first;
    round->points = arena_alloc(sweep->arena, (size_t)round->n * sizeof *round->points);
    for (int i = 0; i < round->n; i++) {
        int at = random_below(&seed, i + 1);
        round->points[i] = round->points[at];
        round->points[at] = first + i;
    }
}

// Returns the place of a point's code.
static const struct gen_code **codes_at(const struct sweep *sweep, int point)
{
    struct property_codes *codes = sweep->measuring->codes;
    size_t points = (size_t)sweep->result->npoints;
    if (points > codes->capacity) {
        const struct gen_code **more = arena_alloc(sweep->arena, 2 * points * sizeof *more);
        if (codes->capacity)
            memcpy(more, codes->by_point, codes->capacity * sizeof *more);
        *codes = (struct property_codes){more, 2 * points};
    }
    return &codes->by_point[point];
}

static void round_plan(struct sweep *sweep, int first, struct round *round)
{
    static const struct test test = {.kind = TEST_PORTS};
    const struct list_row *row = round_row(sweep);
    round_order(sweep, first, round);
    size_t n = (size_t)round->n;
    struct kernel_spec *specs = arena_alloc(sweep->arena, n * sizeof *specs);
    round->kernels = arena_alloc(sweep->arena, n * sizeof *round->kernels);
    round->measured = arena_alloc(sweep->arena, n * sizeof *round->measured);
    int most_groups = sweep->measuring->machine->ncpus + 1;
    round->groups = arena_alloc(sweep->arena, (size_t)most_groups * sizeof *round->groups);
    for (int i = 0; i < round->n; i++) {
        struct swept_point *point = &sweep->result->points[round->points[i]];
        specs[i] = property_kernel(sweep->property, &sweep->property->variants[point->variant],
                                   sweep->measuring->machine, point->x, point->by, sweep->arena);
        point->instances = specs[i].instances;
        round->kernels[i] = (struct gen_kernel){.row = row,
                                                .test = &test,
                                                .spec = &specs[i],
                                                .composed = *codes_at(sweep, round->points[i])};
        round_place(sweep, round, i, &specs[i]);
    }
}

static int round_build(struct sweep *sweep, struct round *round, struct program *program,
                       struct err *err)
{
    const struct assemble_options options = {.directory = sweep->measuring->session->directory,
                                             .stem = sweep->property->name,
                                             .bits = 64,
                                             .compose = !sweep->measuring->keep,
                                             .keep = sweep->measuring->keep};
    double start_s = clock_now_s();
    if (assemble_program(round->kernels, round->n, &options, sweep->arena, program, err) != 0)
        return -1;
    spent_add_time(SPENT_PROGRAMS, start_s);
    for (int i = 0; i < round->n; i++)
        *codes_at(sweep, round->points[i]) = round->kernels[i].composed;
    for (int i = 0; i < program->nfailures; i++) {
        struct exec_kernel *kernel = &round->measured[program->failures[i].kernel];
        kernel->finished = true;
        kernel->outcome = program->failures[i].outcome;
        kernel->detail = program->failures[i].detail;
    }
    return 0;
}

static int sweep_seconds(const struct sweep *sweep)
{
    return sweep->property->seconds ? sweep->property->seconds : SECONDS_USUAL;
}

// Returns the time that is left to the property while something else uses its CPUs.
static uint32_t round_most_ms(const struct sweep *sweep)
{
    double left_s = MOST_SECONDS * sweep_seconds(sweep) - (clock_now_s() - sweep->start_s);
    return (uint32_t)(1000 * fmax(left_s, ROUND_LEAST_S));
}

static struct exec_params round_params(const struct sweep *sweep)
{
    struct exec_params params = session_params(sweep->measuring->session, 64);
    params.config.passes = (uint32_t)(CONCLUDE_PASSES_PER_REPLICATE / sweep->processes);
    params.config.passes_tolerance = sweep->property->how.fastest ? 0 : PASSES_TOLERANCE;
    params.config.pass_gap_ms = PASS_GAP_MS;
    params.config.give_up_ms = GIVE_UP_MS;
    params.config.most_ms = round_most_ms(sweep);
    params.config.requeues = REQUEUES;
    params.config.requeues_ms = REQUEUES_MS;
    params.config.accept = ACCEPT;
    params.config.enough = params.config.together = 0; // the scatter of samples is needed, too
    if (sweep->property->window_us)
        params.config.window_ns = (uint32_t)sweep->property->window_us * 1000;
    // Counting would only cost time here.
    params.counters = NULL;
    params.ncounters = 0;
    params.config.counts_clk = 0;
    params.config.permits = sweep->property->permits;
    return params;
}

// Runs each group of the round in processes of its own.
static int round_run(struct sweep *sweep, struct round *round, const struct program *program,
                     struct exec_summary *summary, struct err *err)
{
    int status = 0;
    bool stopped = false;
    for (int g = 0; g < round->ngroups && status == 0 && !stopped; g++) {
        const struct round_group *group = &round->groups[g];
        struct exec_params params = round_params(sweep);
        params.corunners = group->corunners;
        params.ncorunners = group->ncorunners;
        if (group->cpu >= 0)
            params.config.cpu = group->cpu;
        for (int i = 0; i < round->n; i++)
            round->measured[i].selected = group->has[i];
        const struct exec_job job = {
            program->path, &params, round->measured, round->n, sweep->measuring->progress, NULL};
        status = exec_run(&job, sweep->arena, summary, err);
        stopped = status == 0 && summary->stopped;
    }
    return status;
}

// Adds what the kernel's passes have given to what the point has of earlier processes. `before`:
// passes of these, whether they came back or not.
static void point_take(const struct sweep *sweep, const struct exec_kernel *kernel, int before,
                       struct swept_point *point)
{
    size_t room = (size_t)point->ntimings + EXEC_TIMINGS_MAX + 1;
    struct timing *timings = arena_alloc(sweep->arena, room * sizeof *timings);
    if (point->ntimings)
        memcpy(timings, point->timings, (size_t)point->ntimings * sizeof *timings);
    for (int t = 0; t < kernel->ntimings; t++)
        if (kernel->timings[t].outcome == OUTCOME_OK && kernel->timings[t].nsamples) {
            timings[point->ntimings] = kernel->timings[t];
            timings[point->ntimings++].pass += before;
        }
    point->timings = timings;
    if (before && point->outcome == OUTCOME_OK)
        return; // it has values, whatever became of it this time
    point->outcome = kernel->outcome;
    point->detail = kernel->detail ? kernel->detail : "";
}

static void round_take(struct sweep *sweep, const struct round *round, int process)
{
    int before = sweep->replicate * CONCLUDE_PASSES_PER_REPLICATE +
                 process * (CONCLUDE_PASSES_PER_REPLICATE / sweep->processes);
    for (int i = 0; i < round->n; i++) {
        const struct exec_kernel *kernel = &round->measured[i];
        if (!kernel->finished)
            continue;
        point_take(sweep, kernel, before, &sweep->result->points[round->points[i]]);
        sweep->measuring->kernels += kernel->outcome == OUTCOME_OK;
    }
}

// Forgets the kernels that a process left unmeasured, unless no other process could measure them
// either.
static void round_forget(struct round *round)
{
    for (int i = 0; i < round->n; i++) {
        struct exec_kernel *kernel = &round->measured[i];
        bool again = !kernel->finished || kernel->outcome == OUTCOME_OK ||
                     kernel->outcome == OUTCOME_UNSTABLE;
        if (again)
            *kernel = (struct exec_kernel){.ntimings = 0};
        kernel->ntimings = 0;
    }
}

// Measures all kernels of a round once.
static int round_process(struct sweep *sweep, struct round *round, const struct program *program,
                         int process, struct err *err)
{
    struct property_measuring *measuring = sweep->measuring;
    struct exec_summary summary = {0};
    if (process > 0)
        round_forget(round);
    if (round_run(sweep, round, program, &summary, err) != 0)
        return -1;
    measuring->stopped |= summary.stopped;
    sweep->result->area_bytes = (int64_t)summary.area_bytes;
    sweep->result->area_huge_bytes = (int64_t)summary.area_huge_bytes;
    round_take(sweep, round, process);
    return 0;
}

static int sweep_round(struct sweep *sweep, int first, struct err *err)
{
    struct property_measuring *measuring = sweep->measuring;
    struct round round = {0};
    struct program program = {0};
    sweep->processes = sweep->property->anew ? CONCLUDE_PASSES_PER_REPLICATE : 1;
    round_plan(sweep, first, &round);
    if (measuring->planned)
        measuring->planned(measuring->progress->context, round.n * sweep->processes);
    int status = round_build(sweep, &round, &program, err);
    if (status == 0 && !program.path)
        round_take(sweep, &round, 0);
    for (int process = 0;
         process < sweep->processes && status == 0 && program.path && !measuring->stopped;
         process++)
        status = round_process(sweep, &round, &program, process, err);
    if (program.path && !measuring->keep)
        unlink(program.path);
    return status;
}

// Adds the points that a closer look wants. Returns how many.
static int sweep_refine(struct sweep *sweep, const double *xs, int nxs)
{
    struct swept_property *result = sweep->result;
    int ncurves, before = result->npoints;
    const struct curve *curves = swept_curves(result, sweep->arena, &ncurves);
    const struct refine_limits limits = {
        .least_x = xs[0], .most_x = xs[nxs - 1], .grain = sweep->property->sweep.grain};
    for (int c = 0, at = 0; c < ncurves; c++) {
        double next[ROUND_POINTS_MAX];
        const struct swept_point *leader = NULL;
        for (at = 0; at < before && !leader; at++)
            if (strcmp(swept_curve_name(result, &result->points[at], sweep->arena),
                       curves[c].variant) == 0)
                leader = &result->points[at];
        if (!leader)
            continue;
        int variant = leader->variant;
        double by = leader->by;
        int n = conclude_refine(&sweep->property->how, &curves[c], &limits, next, ROUND_POINTS_MAX);
        for (int i = 0; i < n && result->npoints < POINTS_MAX; i++)
            sweep_add(sweep, variant, next[i], by);
    }
    return result->npoints - before;
}

static bool sweep_goes_on(const struct sweep *sweep)
{
    return sweep->property->sweep.refine && !sweep->measuring->stopped &&
           clock_now_s() - sweep->start_s < sweep_seconds(sweep);
}

// Sets the outcome of the property: it was swept if one point has a value.
static void sweep_judge(struct swept_property *result)
{
    for (int i = 0; i < result->npoints; i++)
        if (result->points[i].outcome == OUTCOME_OK) {
            result->outcome = OUTCOME_OK;
            return;
        }
    result->outcome = result->points[0].outcome;
    result->detail = result->points[0].detail;
}

// Makes all that was measured with a guess for the canary's floor worth nothing.
static void sweep_disbelieve(struct sweep *sweep)
{
    for (int i = 0; i < sweep->result->npoints; i++) {
        struct swept_point *point = &sweep->result->points[i];
        point->outcome = OUTCOME_UNSTABLE;
        point->detail = "the core was never seen undisturbed";
        point->ntimings = 0;
    }
}

static void sweep_end(struct sweep *sweep)
{
    if (sweep->measuring->session->floor_guessed)
        sweep_disbelieve(sweep);
    sweep_judge(sweep->result);
    sweep->result->seconds += clock_now_s() - sweep->start_s;
}

int property_conclude(struct swept_property *result, struct arena *arena, struct err *err)
{
    const struct spent before = spent_now();
    int status = result->npoints ? swept_conclude(result, arena, err) : 0;
    spent_add_rest(SPENT_INFERRING, &before);
    return status;
}

int property_measure(struct property_measuring *measuring, const struct property *property,
                     struct arena *arena, struct swept_property *result, struct err *err)
{
    struct sweep sweep = {.measuring = measuring,
                          .property = property,
                          .result = result,
                          .arena = arena,
                          .start_s = clock_now_s()};
    int status = 0, first = 0,
        points = sweep_begin(&sweep, measuring->machine, measuring->session->cpu);
    result->tsc_hz = measuring->session->params.config.tsc_hz;
    if (points == 0)
        return 0;
    double *xs = arena_alloc(arena, SWEEP_POINTS_MAX * sizeof *xs), limit;
    int nxs = property_points(property, measuring->machine, xs, &limit, err);
    for (int round = 0; round < ROUNDS_MAX && points && status == 0; round++) {
        status = sweep_round(&sweep, first, err);
        first = result->npoints;
        points = status == 0 && sweep_goes_on(&sweep) ? sweep_refine(&sweep, xs, nxs) : 0;
    }
    if (status != 0)
        return err_prefix(err, "property %s: ", property->name);
    sweep_end(&sweep);
    return 0;
}

int property_measure_again(struct property_measuring *measuring, const struct property *property,
                           int replicate, struct arena *arena, struct swept_property *result,
                           struct err *err)
{
    struct sweep sweep = {.measuring = measuring,
                          .property = property,
                          .result = result,
                          .arena = arena,
                          .start_s = clock_now_s(),
                          .replicate = replicate};
    if (result->npoints == 0)
        return 0;
    if (sweep_round(&sweep, 0, err) != 0)
        return err_prefix(err, "property %s: ", property->name);
    sweep_end(&sweep);
    return 0;
}
