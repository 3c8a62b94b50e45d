// SPDX-License-Identifier: MIT
// The inference on what CPUs said: an oracle answers from the trials that recordings hold (the
// nearest one, where a trial differs), and what is found must be what the run found that was
// recorded, with far fewer kernels. LATPUT_REPLAY_DB names a database with further port runs.
#include "fixtures/lists_fixture.h"
#include "fixtures/pack_fixture.h"
#include "fixtures/ports_dump.h"

#include "ports/ports_fit.h"
#include "ports/ports_forms.h"
#include "ports/ports_internal.h"
#include "store/store_ports.h"
#include "util/quantile.h"

#include <glob.h>
#include <limits.h>
#include <math.h>

enum { FORM_KERNELS_MOST = 44, SERIES_MAX = 32, INSTANCES_FEW = 4 };
static const double SAME_USES = 0.99, SAME_SHARES = 0.95;
static const double SHARE_APART_CLK = 0.1;
static const double DIFFER_MOST = 0.005; // of all forms, ten times as many of those that are drawn

struct stored_trial {
    char blocker[PORT_NAME_MAX];
    int instances, blockers;
    double clk;
};

struct replay_series {
    const char *what;
    int series, mixes;
    long kernels;
};

struct replay {
    struct store *store;
    int64_t run_id;
    struct arena arena;
    struct stored_port_model stored;
    struct port_model model;
    struct port_form *forms;
    const struct list_row **rows;
    struct {
        struct stored_trial *trials;
        int n;
    } * trials;                         // by form
    const struct port_usage **recorded; // by form; NULL: a blocker that was not asked
    int n;
    int *asked, nasked;          // forms with trials, in the order of the run
    int *kernels_of, *missed_of; // by form; missed: mixes for paths that are not recorded
    double filler_clk;           // of a filler among many
    long kernels, missed;
    struct replay_series series[SERIES_MAX]; // by what is timed, the last one under way
    int nseries;
};

static int replay_form(struct replay *replay, const char *name, const struct port_usage *usage,
                       double clk)
{
    const struct list_row *row = NULL;
    for (int f = 0; f < replay->n; f++)
        if (strcmp(replay->forms[f].name, name) == 0)
            return f;
    for (int r = 0; r < lists_all.nrows && !row; r++)
        if (lists_all.rows[r].row->bits == 64 && strcmp(lists_all.rows[r].row->form, name) == 0)
            row = lists_all.rows[r].row;
    if (!row)
        return -1;
    replay->rows[replay->n] = row;
    replay->forms[replay->n] = ports_form(row);
    replay->forms[replay->n].rthroughput_clk = clk;
    replay->recorded[replay->n] = usage;
    return replay->n++;
}

static void replay_read_trials(struct replay *replay)
{
    sqlite3_stmt *stmt;
    assert_int_equal(
        sqlite3_prepare_v2(replay->store->db,
                           "SELECT form.form, blocker, instances, blockers, clk FROM port_trial "
                           "JOIN run_form USING (run_form_id) JOIN form USING (form_id) "
                           "WHERE run_id = ?1 AND form.bits = 64 AND clk > 0 AND blockers > 0 "
                           "ORDER BY run_form_id, port_trial.position",
                           -1, &stmt, NULL),
        SQLITE_OK);
    sqlite3_bind_int64(stmt, 1, replay->run_id);
    int form = -1;
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        if (form < 0 || strcmp(replay->forms[form].name, name) != 0)
            form = replay_form(replay, name, NULL, (double)NAN);
        if (form < 0)
            continue;
        if (replay->trials[form].n == 0)
            replay->asked[replay->nasked++] = form;
        int n = replay->trials[form].n++;
        replay->trials[form].trials =
            xrealloc(replay->trials[form].trials, (size_t)(n + 1) * sizeof(struct stored_trial));
        struct stored_trial *trial = &replay->trials[form].trials[n];
        snprintf(trial->blocker, sizeof trial->blocker, "%s",
                 (const char *)sqlite3_column_text(stmt, 1));
        trial->instances = sqlite3_column_int(stmt, 2);
        trial->blockers = sqlite3_column_int(stmt, 3);
        trial->clk = sqlite3_column_double(stmt, 4);
    }
    sqlite3_finalize(stmt);
}

// Returns the time of a filler among many, by the values derived from it.
static double replay_filler_clk(const struct replay *replay)
{
    double *clks = xcalloc((size_t)replay->n + 1, sizeof *clks);
    int n = 0;
    for (int f = 0; f < replay->n; f++) {
        double least = INFINITY;
        for (int t = 0; t < replay->trials[f].n && replay->recorded[f]; t++) {
            const struct stored_trial *trial = &replay->trials[f].trials[t];
            if (strcmp(trial->blocker, "front end") == 0)
                least =
                    fmin(least, trial->clk / (replay->recorded[f]->front.slots * trial->instances +
                                              trial->blockers));
        }
        if (isfinite(least))
            clks[n++] = least;
    }
    quantile_sort(clks, n);
    double clk = n ? quantile_median(clks, n) : 1.0 / replay->model.width;
    free(clks);
    return clk;
}

// Blockers and probes that the run did not ask for have no trials: nothing is seen beside them.
static void replay_units(struct replay *replay)
{
    struct port_model *model = &replay->model;
    for (int u = 0; u < model->nunits; u++) {
        model->units[u].blocker =
            replay_form(replay, replay->stored.unit_blockers[u], NULL, (double)NAN);
        const char *whole = replay->stored.unit_wholes[u];
        model->units[u].whole_blocker = *whole ? replay_form(replay, whole, NULL, (double)NAN) : -1;
    }
}

static void replay_open(struct replay *replay, struct store *store, int64_t run_id)
{
    struct err err = {0};
    struct stored_port_usages usages;
    struct stored_throughputs throughputs;
    *replay = (struct replay){.store = store, .run_id = run_id};
    if (store_get_port_model(store, run_id, &replay->stored, &replay->arena, &err) != 1 ||
        store_get_port_usages(store, run_id, &usages, &replay->arena, &err) != 0 ||
        store_get_throughputs(store, run_id, &throughputs, &replay->arena, &err))
        fail_msg("%s", err.text);
    size_t n = (size_t)usages.n + PORT_CLASSES_MAX + 2 * PORT_UNITS_MAX + 2;
    replay->forms = arena_alloc(&replay->arena, n * sizeof *replay->forms);
    replay->rows = arena_alloc(&replay->arena, n * sizeof *replay->rows);
    replay->trials = arena_alloc(&replay->arena, n * sizeof *replay->trials);
    memset(replay->trials, 0, n * sizeof *replay->trials);
    replay->recorded = arena_alloc(&replay->arena, n * sizeof *replay->recorded);
    replay->asked = arena_alloc(&replay->arena, n * sizeof *replay->asked);
    for (int i = 0; i < usages.n; i++) {
        if (usages.usages[i].form.bits == 64)
            replay_form(replay, usages.usages[i].form.form, &usages.usages[i].usage,
                        stored_throughput_clk(&throughputs, &usages.usages[i].form));
    }
    replay->model = replay->stored.model;
    for (int c = 0; c < replay->model.nclasses; c++) {
        replay->model.classes[c].blocker =
            replay_form(replay, replay->stored.class_blockers[c], NULL, (double)NAN);
        assert_true(replay->model.classes[c].blocker >= 0);
    }
    replay->model.filler = replay_form(replay, replay->stored.filler, NULL, (double)NAN);
    replay_units(replay);
    replay_read_trials(replay);
    replay->filler_clk = replay_filler_clk(replay);
}

static void replay_close(struct replay *replay)
{
    for (int f = 0; f < replay->n; f++)
        free(replay->trials[f].trials);
    arena_free(&replay->arena);
}

// The fillers that a form was first timed beside, in order and in none: the fewest that it has
// twice.
static int replay_fillers(const struct replay *replay, int form)
{
    int twice = INT_MAX, once = INT_MAX;
    for (int t = 0; t < replay->trials[form].n; t++) {
        const struct stored_trial *trial = &replay->trials[form].trials[t];
        int same = 0;
        if (strcmp(trial->blocker, "front end") != 0 || trial->instances > INSTANCES_FEW)
            continue;
        for (int u = 0; u < replay->trials[form].n; u++)
            same += strcmp(replay->trials[form].trials[u].blocker, "front end") == 0 &&
                    replay->trials[form].trials[u].blockers == trial->blockers;
        int *least = same > 1 ? &twice : &once;
        *least = trial->blockers < *least ? trial->blockers : *least;
    }
    return twice < INT_MAX ? twice : once < INT_MAX ? once : 0;
}

// Returns true if a form with that time alone would have had the blockers of a trial.
static bool replay_fits(const struct replay *replay, const struct stored_trial *trial, double clk)
{
    int cycles = (int)fmax(2, ceil(1.5 * clk) + 1);
    for (int c = 0; c < replay->model.nclasses; c++)
        if (strcmp(trial->blocker, replay->model.classes[c].name) == 0)
            return trial->blockers ==
                   trial->instances * cycles * port_set_size(replay->model.classes[c].set);
    return false;
}

// Returns the time of an instance alone, by its number of fillers, which was rounded up; within the
// remaining range, by its blockers.
static double replay_alone_clk(const struct replay *replay, int form)
{
    int fillers = replay_fillers(replay, form), width = replay->model.width;
    double most = ((double)fillers / INSTANCES_FEW / width - 1) / 1.2;
    double least = most - 1 / (1.2 * width);
    if (!fillers)
        return (double)NAN;
    for (int step = 9; step > 0; step--)
        for (int t = 0; t < replay->trials[form].n; t++) {
            double clk = least + (most - least) * step / 10;
            if (clk > 0 && replay_fits(replay, &replay->trials[form].trials[t], clk))
                return clk;
        }
    return fmax((most + least) / 2, most / 2);
}

static bool replay_is_of(const struct replay *replay, const struct stored_trial *trial, int blocker)
{
    if (blocker == replay->model.filler && strcmp(trial->blocker, "front end") == 0)
        return true;
    for (int c = 0; c < replay->model.nclasses; c++)
        if (replay->model.classes[c].blocker == blocker &&
            strcmp(replay->model.classes[c].name, trial->blocker) == 0)
            return true;
    for (int u = 0; u < replay->model.nunits; u++)
        if ((replay->model.units[u].blocker == blocker ||
             replay->model.units[u].whole_blocker == blocker) &&
            strcmp(replay->model.units[u].name, trial->blocker) == 0)
            return true;
    return strcmp(replay->forms[blocker].name, trial->blocker) == 0; // of a path
}

static struct port_timing replay_time(struct replay *replay, const struct port_mix *mix)
{
    struct port_timing timing = {.outcome = OUTCOME_OK, .clk = NAN, .spread_clk = 0};
    int form = mix->parts[0].form, instances = mix->parts[0].count;
    replay->kernels += __builtin_popcount(mix->orders & MIX_ORDERS_ALL);
    replay->series[replay->nseries - 1].kernels += __builtin_popcount(mix->orders & MIX_ORDERS_ALL);
    replay->kernels_of[form] += __builtin_popcount(mix->orders & MIX_ORDERS_ALL);
    if (mix->nparts == 1 && !(mix->orders & PORT_MIX_INDEPENDENT)) // by what moves is not recorded
        timing.clk = instances * (form == replay->model.filler && instances > 8
                                      ? replay->filler_clk
                                      : replay_alone_clk(replay, form));
    double nearest = 0.35; // in logarithms of blockers an instance
    for (int t = 0; mix->nparts == 2 && t < replay->trials[form].n; t++) {
        const struct stored_trial *trial = &replay->trials[form].trials[t];
        double ratio = (double)mix->parts[1].count / instances * trial->instances / trial->blockers;
        if (!replay_is_of(replay, trial, mix->parts[1].form) || fabs(log(ratio)) > nearest)
            continue;
        nearest = fabs(log(ratio));
        timing.clk =
            trial->clk * instances / trial->instances +
            (ratio - 1) * trial->blockers * instances / trial->instances /
                (mix->parts[1].form == replay->model.filler ? 1 / replay->filler_clk : 1e9);
    }
    if (isnan(timing.clk)) {
        timing.outcome = OUTCOME_UNSTABLE;
        replay->missed++;
        replay->missed_of[form] += strcmp(replay->series[replay->nseries - 1].what, "paths") == 0;
    }
    return timing;
}

static int replay_measure(void *context, const struct port_mix *mixes, int n,
                          struct port_timing *timings, struct err *err)
{
    (void)err;
    for (int i = 0; i < n; i++)
        timings[i] = replay_time(context, &mixes[i]);
    return 0;
}

// The series that begins is the last one.
static void replay_step(void *context, const char *what, int mixes)
{
    struct replay *replay = context;
    int at = 0, last = replay->nseries - 1;
    while (at <= last && strcmp(replay->series[at].what, what) != 0)
        at++;
    if (at > last) {
        assert_true(at < SERIES_MAX);
        replay->series[replay->nseries++].what = what;
        last = at;
    }
    replay->series[at].series++;
    replay->series[at].mixes += mixes;
    struct replay_series swapped = replay->series[at];
    replay->series[at] = replay->series[last];
    replay->series[last] = swapped;
}

// Returns true if both need the same paths for as long.
static bool shares_same(const struct port_model *model, const struct port_usage *a,
                        const struct port_usage *b)
{
    bool same = true;
    for (int unit = 0; unit < model->nunits; unit++) {
        if (!port_unit_is_path(&model->units[unit]))
            continue;
        const struct port_demand *of_a = port_demand_on(&a->demands, unit);
        const struct port_demand *of_b = port_demand_on(&b->demands, unit);
        same &= fabs((of_a ? of_a->clk : 0) - (of_b ? of_b->clk : 0)) < SHARE_APART_CLK;
    }
    return same;
}

// Returns true if the form waits for something other than ports and paths.
static bool usage_waits(const struct port_model *model, const struct port_usage *usage)
{
    return port_usage_wait_clk(usage) > 0 || port_usage_unit(model, usage);
}

static void print_uses(const struct replay *replay, int form, const struct port_usage *is)
{
    struct strbuf texts[2] = {{0}, {0}};
    port_usage_text(&replay->model, replay->recorded[form], &texts[0]);
    port_usage_text(&replay->model, is, &texts[1]);
    print_message("  %s: %s, was %s\n", replay->forms[form].name, strbuf_text(&texts[1]),
                  strbuf_text(&texts[0]));
    strbuf_free(&texts[0]);
    strbuf_free(&texts[1]);
}

// Prints how kernels were spent: series, and forms by the way that they went. Returns how many
// forms were drawn and differ.
static int judge_kernels(const struct replay *replay, const int *which,
                         const struct port_usage *usages, int n)
{
    int ways[PORT_WAYS] = {0}, kernels[PORT_WAYS] = {0};
    for (int s = 0; s < replay->nseries; s++)
        print_message("  %s: %d series, %d mixes, %ld kernels\n", replay->series[s].what,
                      replay->series[s].series, replay->series[s].mixes, replay->series[s].kernels);
    for (int i = 0; i < n; i++) {
        ways[usages[i].way]++;
        kernels[usages[i].way] += replay->kernels_of[which[i]];
    }
    for (int way = 0; way < PORT_WAYS; way++)
        print_message("  %s: %d forms, %.1f kernels;", port_way_name((enum port_way)way), ways[way],
                      ways[way] ? (double)kernels[way] / ways[way] : 0);
    print_message("\n");
    return ways[PORT_WAY_DIFFERS];
}

static void judge_usages(const struct replay *replay, const char *name, const int *which,
                         const struct port_usage *usages, int n)
{
    int judged = 0, same = 0, ambiguous[2] = {0}, busy = 0, beside = 0, shares = 0, recorded = 0;
    for (int i = 0; i < n; i++) {
        const struct port_usage *was = replay->recorded[which[i]], *is = &usages[i];
        ambiguous[0] += was->outcome == OUTCOME_OK && was->ambiguous;
        ambiguous[1] += is->outcome == OUTCOME_OK && is->ambiguous;
        // Mixes that were not recorded tell nothing again.
        bool told = replay->missed_of[which[i]] == 0 && is->outcome == was->outcome;
        recorded += told;
        shares += told && shares_same(&replay->model, was, is);
        if (was->outcome != OUTCOME_OK || is->outcome != OUTCOME_OK || was->ambiguous ||
            is->ambiguous)
            continue;
        if (replay->forms[which[i]].decoding) // was taken for slow by its ports: adc r16 i16 as p6
            continue;
        bool equal = port_uses_same(&was->uses, &is->uses);
        judged++;
        same += equal;
        busy += usage_waits(&replay->model, was) == usage_waits(&replay->model, is);
        beside += port_uses_same(&was->wide_uses, &is->wide_uses);
        if (!equal && getenv("LATPUT_SIM_VERBOSE"))
            print_uses(replay, which[i], is);
    }
    print_message(
        "%s: %d forms, %.1f kernels a form (%ld mixes not recorded); %d ambiguous, were "
        "%d; shares of %d the same %d; of %d others the same %d, busy %d, beside wide %d\n",
        name, n, (double)replay->kernels / n, replay->missed, ambiguous[1], ambiguous[0], recorded,
        shares, judged, same, busy, beside);
    assert_true(judged > 50);
    assert_true(same >= SAME_USES * judged);
    assert_true(recorded > 50);
    assert_true(shares >= SAME_SHARES * recorded);
}

static void judge(struct replay *replay, const char *name)
{
    struct err err = {0};
    size_t most = (size_t)replay->n + 1;
    int *which = xcalloc(most, sizeof *which), n = 0;
    struct port_usage *usages = xcalloc(most, sizeof *usages);
    replay->kernels_of = xcalloc(most, sizeof *replay->kernels_of);
    replay->missed_of = xcalloc(most, sizeof *replay->missed_of);
    for (int k = 0; k < replay->nasked; k++)
        if (replay->recorded[replay->asked[k]])
            which[n++] = replay->asked[k];
    const struct port_oracle oracle = {
        .measure = replay_measure, .context = replay, .step = replay_step};
    uint32_t seed = replay->model.drawn_seed;
    struct port_siblings *siblings = port_siblings_new(seed ? seed : 1);
    const struct port_question question = {
        .oracle = &oracle, .forms = replay->forms, .which = which, .n = n, .siblings = siblings};
    if (port_infer_units(&oracle, replay->forms, &replay->model, &err) != 0 ||
        port_infer(&question, &replay->model, usages, &err) != 0 ||
        port_assign_units(&question, &replay->model, usages, &err) != 0)
        fail_msg("%s", err.text);
    port_siblings_free(siblings);
    ports_dump(name, &replay->model, replay->forms, which, usages, n);
    int differ = judge_kernels(replay, which, usages, n);
    judge_usages(replay, name, which, usages, n);
    assert_true(differ <= DIFFER_MOST * n);
    assert_true(replay->kernels <= (long)FORM_KERNELS_MOST * n);
    free(replay->kernels_of);
    free(replay->missed_of);
    free(which);
    free(usages);
}

static void recordings_say_the_same(void **state)
{
    (void)state;
    glob_t found;
    assert_int_equal(glob("tests/fixtures/recorded/*/run.zip", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct fixture fixture;
        struct replay replay;
        int64_t run_id;
        struct store *store = fixture_merged(&fixture, found.gl_pathv[i], &run_id);
        replay_open(&replay, store, run_id);
        judge(&replay, found.gl_pathv[i]);
        replay_close(&replay);
        fixture_end(&fixture, store);
    }
    globfree(&found);
}

static void further_runs_say_the_same(void **state)
{
    (void)state;
    const char *path = getenv("LATPUT_REPLAY_DB");
    if (!path || !*path)
        skip();
    struct store *store = fixture_open(path, STORE_READ);
    sqlite3_stmt *stmt;
    assert_int_equal(
        sqlite3_prepare_v2(store->db, "SELECT run_id FROM port_model", -1, &stmt, NULL), SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        struct replay replay;
        replay_open(&replay, store, sqlite3_column_int64(stmt, 0));
        judge(&replay, path);
        replay_close(&replay);
    }
    sqlite3_finalize(stmt);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(recordings_say_the_same),
                                       cmocka_unit_test(further_runs_say_the_same)};
    return cmocka_run_group_tests(tests, lists_setup, lists_teardown);
}
