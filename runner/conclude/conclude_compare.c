// SPDX-License-Identifier: MIT
// Readings that are one number a point: how high curves lie, and how far from a control.
#include "conclude_internal.h"

#include "util/random.h"

#include <math.h>
#include <string.h>

struct pair {
    const struct shape *ours, *control;
    int at, control_at;
};

static double compare_two(const struct conclude_question *question, double y, double control)
{
    return question_factor(question) *
           (question->reading == READING_RATIO ? y / control : y - control);
}

// Returns the number of replicates, and in values[] a value for each pass that has both points:
// what disturbs a pass, and the host's clock in it, is the same for both. If no pass has both, the
// one value is of all passes together. first[i] is the first of values[] of replicate i, without
// empty replicates; first[n] is the number of values.
static int pass_values(const struct conclude_question *question, const struct pair *pair,
                       double *values, int *first)
{
    const struct shape *ours = pair->ours, *control = pair->control;
    int n = 0, replicates = 0, last = -1;
    for (int pass = 0; pass < ours->npasses && pass < control->npasses; pass++) {
        double y = shape_y(ours, ours->pass_v[pass * ours->n + pair->at]);
        double other = shape_y(control, control->pass_v[pass * control->n + pair->control_at]);
        if (isnan(y) || isnan(other))
            continue;
        if (pass / ours->per_replicate != last)
            first[replicates++] = n;
        last = pass / ours->per_replicate;
        values[n++] = compare_two(question, y, other);
    }
    if (n == 0) {
        first[replicates++] = 0;
        values[n++] = compare_two(question, shape_y(ours, ours->v[pair->at]),
                                  shape_y(control, control->v[pair->control_at]));
    }
    first[replicates] = n;
    return replicates;
}

// Replicates drawn as wholes; of one, its passes. Returns how many values that makes.
static int draw_values(const double *values, const int *first, int replicates, uint64_t *state,
                       double *drawn)
{
    int n = 0;
    for (int i = 0; replicates == 1 && i < first[1]; i++)
        drawn[n++] = values[random_below(state, first[1])];
    for (int i = 0; replicates > 1 && i < replicates; i++) {
        int replicate = random_below(state, replicates);
        for (int k = first[replicate]; k < first[replicate + 1]; k++)
            drawn[n++] = values[k];
    }
    return n;
}

// Returns -1, 0 or 1: less than the control, the same, or more, by the least difference that
// counts.
static int direction(double off, double size)
{
    return (off > size) - (off < -size);
}

// Returns the value of the resampled point; its passes are drawn already. Neighbouring points need
// not be similar, so a point scatters as its passes do.
static double resampled_y(const struct shape *shape, int at, const int *passes, uint64_t *state)
{
    struct shape alone = *shape;
    double v, none = 0;
    alone.points += at;
    alone.v += at;
    alone.sigma = &none;
    resample_points(&alone, 0, 0, passes, state, &v);
    return shape_y(shape, v);
}

// Compares the fastest times of both points, whichever passes they came in; `passes`: a resample of
// the passes, or NULL.
static double fastest_pair(const struct conclude_question *question, const struct pair *pair,
                           const int *passes, uint64_t *state)
{
    const struct shape *ours = pair->ours, *control = pair->control;
    if (!passes)
        return compare_two(question, shape_y(ours, ours->v[pair->at]),
                           shape_y(control, control->v[pair->control_at]));
    double y = resampled_y(ours, pair->at, passes, state);
    return compare_two(question, y, resampled_y(control, pair->control_at, passes, state));
}

// Share of resampled values that must lie near the reported one.
static const double SURE = CONFIDENCE_HIGH;

// Adds the values of the pair to the draft. Returns the share of resampled pairs that go the same
// way; *wide: too few of them lie within the least step.
static double put_pair(struct draft *draft, const struct conclude_question *question,
                       const struct pair *pair, const char *label, bool *wide)
{
    double control = shape_y(pair->control, pair->control->v[pair->control_at]);
    double least = question_least_step(question), values[RESAMPLES], low, high;
    double same = compare_two(question, control, control);
    double size = fabs(compare_two(question, control + least * fabs(control), control) - same);
    const struct shape *most_passes =
        pair->control->npasses > pair->ours->npasses ? pair->control : pair->ours;
    size_t room = (size_t)shape_passes(most_passes) + 1;
    double *passes = arena_alloc(draft->arena, room * sizeof *passes);
    double *drawn = arena_alloc(draft->arena, room * sizeof *drawn);
    int *first = arena_alloc(draft->arena, (room + 1) * sizeof *first), alike = 0, near = 0;
    int *shapes = arena_alloc(draft->arena, room * sizeof *shapes);
    uint64_t state = question->seed;
    int replicates = pass_values(question, pair, passes, first);
    memcpy(drawn, passes, sizeof *drawn * (size_t)first[replicates]);
    double value = question->fastest ? fastest_pair(question, pair, NULL, &state)
                                     : shortest_half(drawn, first[replicates]);
    double most = fmax(size, least * fabs(value));
    for (int i = 0; i < RESAMPLES; i++) {
        resample_passes(most_passes, &state, shapes);
        values[i] =
            question->fastest
                ? fastest_pair(question, pair, shapes, &state)
                : shortest_half(drawn, draw_values(passes, first, replicates, &state, drawn));
        alike += direction(values[i] - same, size) == direction(value - same, size);
        near += fabs(values[i] - value) <= most;
    }
    resample_interval_about(question->fastest, value, values, RESAMPLES, &low, &high);
    draft_value(draft, label, value, low, high,
                question->reading == READING_RATIO ? "" : question->y_unit);
    *wide = near < SURE * RESAMPLES;
    return (double)alike / RESAMPLES;
}

// Puts the point's value, times the factor. Returns the share of resampled points that say the same
// within the least step; *wide: whether too few do.
static double put_level(struct draft *draft, const struct conclude_question *question,
                        const struct pair *pair, const char *label, bool *wide)
{
    const struct shape *shape = pair->ours;
    double factor = question_factor(question), least = question_least_step(question);
    double value = factor * shape_y(shape, shape->v[pair->at]), values[RESAMPLES], low, high;
    int *passes = arena_alloc(draft->arena, sizeof *passes * (size_t)(shape_passes(shape) + 1));
    int near = 0;
    uint64_t state = question->seed;
    for (int i = 0; i < RESAMPLES; i++) {
        resample_passes(shape, &state, passes);
        values[i] = factor * resampled_y(shape, pair->at, passes, &state);
        near += fabs(values[i] - value) <= least * fabs(value);
    }
    resample_interval_about(question->fastest, value, values, RESAMPLES, &low, &high);
    draft_value(draft, label, value, low, high, question->y_unit);
    *wide = near < SURE * RESAMPLES;
    return (double)near / RESAMPLES;
}

static int find_x(const struct shape *shape, double x)
{
    for (int i = 0; i < shape->n; i++)
        if (shape->points[i]->x == x)
            return i;
    return -1;
}

static int find_control(const struct conclude_question *question, const struct curve *curves,
                        int ncurves)
{
    for (int i = 0; question->control && i < ncurves; i++)
        if (strcmp(curves[i].variant, question->control) == 0)
            return i;
    return question->control ? -1 : 0;
}

// Values of all curves, one per point.
struct point_values {
    struct draft draft, doubt; // doubt: values that too few resampled ones lie near
    double share, doubt_share; // the least of each
    int npasses;               // the most of all curves
};

// Moves the last value to the doubtful ones.
static void move_to_doubt(struct point_values *put)
{
    const struct conclusion_value *value = &put->draft.values[--put->draft.nvalues];
    draft_value(&put->doubt, value->label, value->value, value->low, value->high, value->unit);
}

// Puts a value for each point; beside a control, for those that have theirs on its curve, at the
// same x. `control_at`: the control among the curves; -1: there is none.
static void put_points(const struct conclude_question *question, const struct curve *curves,
                       int ncurves, int control_at, struct point_values *put)
{
    struct arena *arena = put->draft.arena;
    struct shape control = {0};
    if (control_at >= 0)
        control = shape_of(question, &curves[control_at], arena);
    for (int i = 0; i < ncurves; i++) {
        struct shape ours = shape_of(question, &curves[i], arena);
        for (int k = 0; i != control_at && k < ours.n; k++) {
            double x = ours.points[k]->x;
            struct pair pair = {&ours, &control, k, find_x(&control, x)};
            if (control_at >= 0 && pair.control_at < 0)
                continue;
            const char *label = control_at >= 0 ? curves[i].variant : "level";
            if (curves[i].npoints > 1)
                label = arena_printf(arena, "%s at %s", label,
                                     conclude_quantity(arena, x, question->x_unit));
            bool wide;
            double share = control_at >= 0 ? put_pair(&put->draft, question, &pair, label, &wide)
                                           : put_level(&put->draft, question, &pair, label, &wide);
            if (wide)
                move_to_doubt(put);
            double *least = wide ? &put->doubt_share : &put->share;
            *least = fmin(*least, share);
            put->npasses = ours.npasses > put->npasses ? ours.npasses : put->npasses;
        }
    }
}

// Returns where a value of a curve lies: "12 lines" of "level at 12 lines"; NULL: it says none.
static const char *level_place(const struct conclusion_value *value)
{
    static const char begins[] = "level at ";
    return strncmp(value->label, begins, sizeof begins - 1) == 0 ? value->label + sizeof begins - 1
                                                                 : NULL;
}

// Returns by what factor two values differ, at least 1; infinite if one is 0 or below.
static double level_step(const struct conclusion_value *one, const struct conclusion_value *other)
{
    double less = fmin(one->value, other->value), more = fmax(one->value, other->value);
    return less > 0 ? more / less : more > less ? (double)INFINITY : 1;
}

// Returns "4.75 clk at 4 lines".
static const char *level_text(struct arena *arena, const struct conclusion_value *value)
{
    return arena_printf(arena, "%s at %s", conclude_quantity(arena, value->value, value->unit),
                        level_place(value));
}

// Returns the values as a sentence: all of them where these are few; of the many levels of a curve
// the ends and the greatest step.
static const char *values_text(const struct draft *draft)
{
    enum { FEW = 3 };
    static const double STEP = 1.05; // less is no step
    struct arena *arena = draft->arena;
    const struct conclusion_value *values = draft->values;
    int n = draft->nvalues, at = 0;
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < n; i++) {
        if (n <= FEW || !level_place(&values[i]))
            return draft_values_text(draft);
        low = fmin(low, values[i].value);
        high = fmax(high, values[i].value);
        if (i + 1 < n &&
            level_step(&values[i], &values[i + 1]) > level_step(&values[at], &values[at + 1]))
            at = i;
    }
    if (level_step(&values[at], &values[at + 1]) < STEP)
        return arena_printf(arena, "%s to %s, no step from %s to %s",
                            conclude_quantity(arena, low, ""),
                            conclude_quantity(arena, high, values[0].unit), level_place(&values[0]),
                            level_place(&values[n - 1]));
    return arena_printf(arena, "%s, %s; the greatest step from %s to %s",
                        level_text(arena, &values[0]), level_text(arena, &values[n - 1]),
                        level_text(arena, &values[at]), level_text(arena, &values[at + 1]));
}

// `named`: a single value has its name in the sentence, too; `after`: the end of the sentence.
static struct conclusion values_conclude(struct point_values *put, const char *variant, bool named,
                                         const char *after)
{
    struct arena *arena = put->draft.arena;
    int doubt = put->doubt.nvalues;
    bool any = put->draft.nvalues > 0;
    struct draft *shown = any ? &put->draft : &put->doubt;
    const char *sentence =
        named ? values_text(shown)
              : conclude_quantity(arena, shown->values[0].value, shown->values[0].unit);
    sentence = arena_printf(arena, "%s%s%s", sentence, after, any ? "" : "; passes disagree");
    if (any && doubt) {
        sentence = arena_printf(arena, "%s; in doubt: %s", sentence, values_text(&put->doubt));
        draft_value(shown, "doubt", doubt, doubt, doubt, "");
    }
    return draft_end(shown, variant, any ? CONCLUSION_OK : CONCLUSION_UNSTABLE,
                     (any ? put->share : put->doubt_share) * (put->npasses > 1 ? 1 : 0.5),
                     sentence);
}

static bool no_values(const struct point_values *put)
{
    return put->draft.nvalues + put->doubt.nvalues == 0;
}

struct conclusion conclude_level(const struct conclude_question *question,
                                 const struct curve *curve, struct arena *arena)
{
    struct point_values put = {
        .draft = {.arena = arena}, .doubt = {.arena = arena}, .share = 1, .doubt_share = 1};
    put_points(question, curve, 1, -1, &put);
    if (no_values(&put))
        return conclude_nothing(curve->variant, CONCLUSION_TOO_FEW, "no point came back");
    return values_conclude(&put, curve->variant, curve->npoints > 1, "");
}

struct conclusion conclude_compare(const struct conclude_question *question,
                                   const struct curve *curves, int ncurves, struct arena *arena)
{
    int at = find_control(question, curves, ncurves);
    struct point_values put = {
        .draft = {.arena = arena}, .doubt = {.arena = arena}, .share = 1, .doubt_share = 1};
    if (at >= 0)
        put_points(question, curves, ncurves, at, &put);
    if (no_values(&put))
        return conclude_nothing("", CONCLUSION_TOO_FEW, "no point came back that has a control");
    return values_conclude(&put, "", true,
                           arena_printf(arena, " %s %s",
                                        question->reading == READING_RATIO ? "times" : "more than",
                                        curves[at].variant));
}
