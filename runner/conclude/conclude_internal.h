// SPDX-License-Identifier: MIT
// Between the files of conclude: a curve as a shape with its noise, its segments, its steps. All
// arrays are the arena's.
#pragma once

#include "conclude.h"

static inline double question_factor(const struct conclude_question *question)
{
    return question->factor != 0 ? question->factor : 1;
}
// Returns the share of a value that counts as a difference.
static inline double question_least_step(const struct conclude_question *question)
{
    return question->least_step > 0 ? question->least_step : CONCLUDE_LEAST_STEP;
}

// The points that were measured, ascending in x. `v` is what is fitted: the logarithm of y where
// all y are positive, since the noise of times is a share of them; else y itself.
struct shape {
    int n;
    const struct curve_point **points;
    double *axis;      // x, or its logarithm
    bool logs_x;       // axis is the logarithm
    double *v, *sigma; // standard error of v
    bool logs, fastest;
    double least;      // a step of question.least_step, in units of v
    int npasses;       // the highest number of a pass and one
    double *pass_v;    // npasses rows of n: v of each pass; NaN where it has no sample
    int per_replicate; // so many passes are of one replicate, the first of them of the first
};
struct shape shape_of(const struct conclude_question *question, const struct curve *curve,
                      struct arena *arena);
// Returns the level of points first to last: the mean of their values v without outliers; v[0]
// belongs to point `first`.
double shape_level(const struct shape *shape, const double *v, int first, int last,
                   struct arena *arena);
double shape_y(const struct shape *shape, double v);     // back from v
double shape_x(const struct shape *shape, double place); // place 3.5: half-way from point 3 to 4
// Returns the standard error that three in four points do not exceed.
double shape_upper_sigma(const struct shape *shape, struct arena *arena);

// Points first to last lie about start + slope * (axis - axis of first).
struct segment {
    int first, last;
    double start, slope;
    double cost; // capped squares of the residuals
};
double segment_at(const struct segment *segment, const struct shape *shape, int point);
// Finds the best way to cut the shape into segments; at least one where there are points.
int segments_find(const struct shape *shape, struct segment **segments, struct arena *arena);

// From one level to another.
struct step {
    int last, next;       // last point on the level before, first one on the level after
    double before, after; // v at these
    bool bend;            // there is no level after it: it goes on to grow
    const struct segment *left, *right;
    int first, end; // points of the level before, of the level after, and between
    // Place of the step, on the scale of shape_x(): a third of the way, or for a bend the end of
    // the level. 95 % of resampled curves have it between low and high, `share` of them near it.
    double place, low, high;
    double share;
    double again;  // this share of curves cut anew has the step (steps_keep)
    bool disputed; // a replicate does not have it (step_is_disputed)
};
// Returns the place where the values v of the points step->first to step->end have gone a third of
// the way from the level before to the one after.
double step_crossing(const struct step *step, const struct shape *shape, const double *v,
                     struct arena *arena);
// Steps that count, up or down.
int steps_find(const struct conclude_question *question, const struct shape *shape,
               const struct segment *segments, int nsegments, struct step **steps,
               struct arena *arena);

// Lists the steps between the segments, without resampling. `steps` holds one for each segment.
// Returns their number.
int steps_between(const struct shape *shape, const struct segment *segments, int nsegments,
                  struct step *steps, struct arena *arena);
// Sets place, low, high and share of the step, by its levels and by resampled curves.
void step_settle(struct step *step, const struct shape *shape, uint64_t *state,
                 struct arena *arena);
// Returns true if a replicate lacks the step: most of its passes have less than half of its height.
// A single pass may have been disturbed.
bool step_is_disputed(const struct step *step, const struct shape *shape, struct arena *arena);
// Returns true if `again`, a place in a resampled curve, is near enough to `place`.
bool step_is_near(const struct shape *shape, double place, double again);

// Leaves of the steps between levels those that come back in most of the resampled curves, cut
// anew, and settles where they are by the levels that this makes. Returns how many are left;
// *doubt, one for each level and so one more: which share of these curves have a step within it.
int steps_keep(const struct conclude_question *question, const struct shape *shape,
               struct step *steps, int nsteps, double **doubt, struct arena *arena);
// Sets first and last to the points of level i, 0 to nsteps.
void steps_level(const struct shape *shape, const struct step *steps, int nsteps, int i, int *first,
                 int *last);

// --- resampling (conclude_resample.c) ---

enum { RESAMPLES = 200 };
// Resamples the points first to last of a curve into v[0] and on: whole replicates (passes, if
// there is one replicate), then samples in their passes, and noise of sigma for what the samples do
// not show. `passes` holds shape_passes() numbers, by resample_passes().
int shape_passes(
    const struct shape *shape); // npasses, the last replicate being as long as the others
void resample_passes(const struct shape *shape, uint64_t *state, int *passes);
void resample_points(const struct shape *shape, int first, int last, const int *passes,
                     uint64_t *state, double *v);
// Returns the middle of the shortest interval with half of the values in it; sorts them. NaN: n is
// 0.
double shortest_half(double *values, int n);
// Returns the second of n values in order, or the only one; sorts them. NaN: n is 0.
double second_least(double *values, int n);
// Sets the 2.5 % and 97.5 % quantiles of n values; sorts them.
void resample_interval(double *values, int n, double *low, double *high);
// Sets an interval that contains the value itself; `fastest`: the value is the fastest time.
void resample_interval_about(bool fastest, double value, double *values, int n, double *low,
                             double *high);

// --- what knees and plateaus have in common (conclude_knee.c) ---

#define STEP_SURE 0.7       // share of resampled curves that must have a step
#define STEP_RIVAL 0.6      // height of a second step that is as good, as a share of the highest
enum { CURVE_END_MIN = 3 }; // points that say what a curve begins or ends with
// Returns the conclusion for a curve that allows no answer, before any step is sought; NULL: it may
// have one.
const struct conclusion *curve_refuse(const struct shape *shape, const struct curve *curve,
                                      struct arena *arena);
// Returns true if a step of the least height could not be seen: three standard errors of a point
// hide it, and not only in the quiet half of the curve.
bool curve_is_noisy(const struct shape *shape, struct arena *arena);
// Returns the range of the segments and of the ends of the curve. If points scatter, one segment
// may have many of them as outliers.
double segments_range(const struct shape *shape, const struct segment *segments, int nsegments,
                      struct arena *arena);
// Returns true if the rise or fall of the curve is a drift. `range`: segments_range().
bool curve_is_flat(const struct conclude_question *question, const struct shape *shape,
                   double range);
// Returns true if points were requested beyond all that came back: a step may lie there.
bool curve_is_cut_short(const struct shape *shape, const struct curve *curve);
struct conclusion curve_missing(const struct conclude_question *question, const struct curve *curve,
                                const struct shape *shape, struct arena *arena);
// Returns the conclusion for a curve without a step, or with none that comes back.
struct conclusion curve_no_step(const struct conclude_question *question, const struct curve *curve,
                                const struct shape *shape, double range, struct arena *arena);
// Returns the x of a place (shape_x) as the question has it.
double curve_x(const struct conclude_question *question, const struct shape *shape, double place);
// Returns the middle of the shortest half of n values of the shape from the first on. `room`: for n
// values.
double shape_middle(const struct shape *shape, int first, int n, double *room);

// --- readings ---

struct conclusion conclude_knee(const struct conclude_question *question, const struct curve *curve,
                                struct arena *arena);
struct conclusion conclude_plateaus(const struct conclude_question *question,
                                    const struct curve *curve, struct arena *arena);
struct conclusion conclude_slope(const struct conclude_question *question,
                                 const struct curve *curve, struct arena *arena);
struct conclusion conclude_compare(const struct conclude_question *question,
                                   const struct curve *curves, int ncurves, struct arena *arena);
// The levels of the cells of a matrix, a row a curve.
struct matrix_cells {
    const struct curve *curves;
    int nrows, ncolumns;
    const double *columns; // their x
    const char *x_unit;
    int *levels; // -1: not measured
};
// Returns which cells have the level: "cmp, test at 2, 6"; "" if that is all of one row, or long.
const char *matrix_words(const struct matrix_cells *matrix, int level, struct arena *arena);
struct conclusion conclude_matrix(const struct conclude_question *question,
                                  const struct curve *curves, int ncurves, struct arena *arena);
struct conclusion conclude_level(const struct conclude_question *question,
                                 const struct curve *curve, struct arena *arena);
struct conclusion conclude_grid(const struct conclude_question *question, const struct curve *curve,
                                struct arena *arena);
struct conclusion conclude_distribution(const struct conclude_question *question,
                                        const struct curve *curve, struct arena *arena);

// --- building a conclusion ---

struct draft {
    struct conclusion_value *values;
    int nvalues, capacity;
    struct arena *arena;
};
void draft_value(struct draft *draft, const char *label, double value, double low, double high,
                 const char *unit);
// Adds to the draft the place of a step, or the level of the points first to last, with the
// confidence of resampled curves.
void draft_x(struct draft *draft, const struct conclude_question *question,
             const struct shape *shape, const char *label, const struct step *step);
void draft_level(struct draft *draft, const struct conclude_question *question,
                 const struct shape *shape, const char *label, int first, int last);
// Returns all values as text, "random: 16.2 clk, shuffled: 3 clk"; of very many the first ones.
const char *draft_values_text(const struct draft *draft);
struct conclusion draft_end(const struct draft *draft, const char *variant,
                            enum conclusion_outcome outcome, double confidence,
                            const char *sentence);
struct conclusion conclude_nothing(const char *variant, enum conclusion_outcome outcome,
                                   const char *sentence);
