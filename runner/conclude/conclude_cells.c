// SPDX-License-Identifier: MIT
// Readings that sort values into levels: the cells of a matrix, the samples of a distribution. A
// level ends where the next value lies farther away than a step that counts, and than the noise.
#include "conclude_internal.h"

#include "util/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct cell {
    int at; // in the matrix
    const struct shape *shape;
    int point;        // index in the shape
    double v;         // value on the scale of the shape
    double low, high; // interval of its passes
    double most_lie;  // least width that holds two thirds of them
    bool logs;
    bool again; // more than one pass has it
};

static int cell_compare(const void *a, const void *b)
{
    const struct cell *left = a, *right = b;
    return (left->v > right->v) - (left->v < right->v);
}

static int find_columns(const struct curve *curves, int ncurves, double *columns)
{
    int n = 0, unique = 0;
    for (int i = 0; i < ncurves; i++)
        for (int k = 0; k < curves[i].npoints; k++)
            columns[n++] = curves[i].points[k].x;
    quantile_sort(columns, n);
    for (int i = 0; i < n; i++)
        if (i == 0 || columns[i] > columns[unique - 1])
            columns[unique++] = columns[i];
    return unique;
}

static int column_compare(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static int column_of(const double *columns, int n, double x)
{
    const double *found = bsearch(&x, columns, (size_t)n, sizeof x, column_compare);
    return found ? (int)(found - columns) : -1;
}

enum { FASTEST = 3 }; // passes: the value is the second of them

// Sets the interval of the cell from the passes of its point. `room` holds a value per pass.
static void find_passes(const struct shape *shape, int at, struct cell *cell, double *room)
{
    int passes = 0;
    cell->low = cell->high = cell->v;
    for (int pass = 0; pass < shape->npasses; pass++) {
        double v = shape->pass_v[pass * shape->n + at];
        if (!isnan(v))
            room[passes++] = cell->logs == shape->logs ? v : shape_y(shape, v);
    }
    cell->again = passes > 1;
    if (!passes)
        return;
    quantile_sort(room, passes);
    // Slower passes say nothing about the fastest time.
    if (shape->fastest && passes > FASTEST)
        passes = FASTEST;
    cell->low = room[0];
    cell->high = room[passes - 1];
    cell->most_lie = cell->high - cell->low;
    int most = (2 * passes + 2) / 3;
    for (int i = 0; i + most <= passes; i++)
        cell->most_lie = fmin(cell->most_lie, room[i + most - 1] - room[i]);
}

enum { MATRICES = 40, SPARSE = 64 };
static const double GAP_NOISE = 2; // so many steps that count may be lost in noise

// Lists the measured cells, ascending; `columns`: x of the columns. Returns their number.
static int gather_cells(const struct shape *shapes, int nshapes, const double *columns,
                        int ncolumns, struct cell *cells, struct arena *arena)
{
    int n = 0;
    bool logs = true;
    for (int i = 0; i < nshapes; i++)
        logs = shapes[i].logs && logs;
    for (int i = 0; i < nshapes; i++) {
        const struct shape *shape = &shapes[i];
        double *room = arena_alloc(arena, sizeof *room * ((size_t)shape->npasses + 1));
        for (int k = 0; k < shape->n; k++) {
            int column = column_of(columns, ncolumns, shape->points[k]->x);
            cells[n] = (struct cell){
                .at = i * ncolumns + column,
                .shape = shape,
                .point = k,
                .v = logs == shape->logs ? shape->v[k] : shape_y(shape, shape->v[k]),
                .logs = logs,
            };
            find_passes(shape, k, &cells[n++], room);
        }
    }
    qsort(cells, (size_t)n, sizeof *cells, cell_compare);
    return n;
}

// Returns the least step that counts, on the scale of the cells.
static double least_size(const struct conclude_question *question, const struct cell *cells, int n)
{
    double least = question_least_step(question);
    return cells[0].logs ? log1p(least) : least * fabs(cells[n / 2].v);
}

// Returns the gap that separates levels: twice the distance between a cell's passes, one replicate
// of three left out.
static double noise_gap(const struct cell *cells, int n, struct arena *arena)
{
    double *spreads = arena_alloc(arena, sizeof *spreads * (size_t)n);
    for (int i = 0; i < n; i++)
        spreads[i] = cells[i].most_lie;
    quantile_sort(spreads, n);
    return 2 * quantile_of(spreads, n, 0.75);
}

static double cell_y(const struct cell *of, double v)
{
    return of->logs ? exp(v) : v;
}

// Cells that have one level. Their number is as sure as their passes: some cells may belong to
// neighbouring levels, and cells of these to this one; of cells that did not come back nobody
// knows.
struct level {
    int first, n;           // range in the sorted cells
    int leaving, joining;   // by some of their passes
    double lowest, highest; // between the levels beside it
    double low, high;       // v of the passes
};

static int find_levels(const struct cell *cells, int n, double gap, struct level *levels)
{
    int nlevels = 0;
    for (int i = 0, first = 0; i < n; i++) {
        if (i + 1 < n && cells[i + 1].v - cells[i].v <= gap)
            continue;
        levels[nlevels++] = (struct level){
            .first = first,
            .n = i + 1 - first,
            .lowest = first ? (cells[first - 1].v + cells[first].v) / 2 : -(double)INFINITY,
            .highest = i + 1 < n ? (cells[i].v + cells[i + 1].v) / 2 : (double)INFINITY,
            .low = cells[first].v,
            .high = cells[i].v};
        first = i + 1;
    }
    return nlevels;
}

// Sets, for each level, the interval of its passes and the numbers of cells that may belong
// elsewhere.
static void judge_levels(const struct cell *cells, struct level *levels, int nlevels)
{
    for (int l = 0; l < nlevels; l++) {
        struct level *level = &levels[l];
        for (int i = level->first; i < level->first + level->n; i++) {
            bool down = cells[i].low<level->lowest, up = cells[i].high> level->highest;
            level->leaving += down || up;
            if (down)
                levels[l - 1].joining++;
            if (up)
                levels[l + 1].joining++;
            level->low = down ? level->low : fmin(level->low, cells[i].low);
            level->high = up ? level->high : fmax(level->high, cells[i].high);
        }
    }
}

// Adds one level of the sorted cells to the draft: its value and its number of cells. Returns its
// text.
static const char *put_level(struct draft *draft, const struct conclude_question *question,
                             const struct cell *cells, const struct level *level, int number)
{
    struct arena *arena = draft->arena;
    cells += level->first;
    double middle = cell_y(cells, cells[level->n / 2].v);
    draft_value(draft, arena_printf(arena, "level %d", number), middle, cell_y(cells, level->low),
                cell_y(cells, level->high), question->y_unit);
    draft_value(draft, arena_printf(arena, "cells %d", number), level->n, level->n - level->leaving,
                level->n + level->joining, "");
    return arena_printf(arena, "%s in %d %s", conclude_quantity(arena, middle, question->y_unit),
                        level->n, level->n > 1 ? "cells" : "cell");
}

enum { LEVELS_FEW = 6 }; // are all in the sentence

// Returns how far above a level the next one begins.
static double step_above(const struct cell *cells, const struct level *level)
{
    const struct cell *last = &cells[level->first + level->n - 1];
    return last[1].v - last->v;
}

// Returns the levels as a sentence: of many the ends and the greatest step between neighbours.
static const char *levels_text(const struct cell *cells, const struct level *levels,
                               const char *const *texts, int n, const struct matrix_cells *matrix,
                               struct arena *arena)
{
    const char *text = "";
    const char **named = arena_alloc(arena, sizeof *named * (size_t)n);
    int at = 0;
    for (int l = 0; l < n; l++) {
        const char *words = matrix_words(matrix, l, arena);
        named[l] = *words ? arena_printf(arena, "%s (%s)", texts[l], words) : texts[l];
        if (n <= LEVELS_FEW)
            text = arena_printf(arena, "%s%s%s", text, l > 0 ? ", " : "", named[l]);
        else if (l + 1 < n && step_above(cells, &levels[l]) > step_above(cells, &levels[at]))
            at = l;
    }
    if (n <= LEVELS_FEW)
        return text;
    return arena_printf(arena, "%d levels, from %s to %s; the greatest step from %s to %s", n,
                        named[0], named[n - 1], named[at], named[at + 1]);
}

// Returns the share of resampled matrices with as many levels. Neighbouring columns need not be
// similar, so cells scatter as their passes do.
static double levels_come_back(const struct conclude_question *question, const struct cell *cells,
                               int n, double gap, int nlevels, struct arena *arena)
{
    struct cell *again = arena_alloc(arena, sizeof *again * (size_t)n);
    struct level *levels = arena_alloc(arena, sizeof *levels * (size_t)n);
    double *none = arena_alloc(arena, sizeof *none * (size_t)n); // zeros
    int alike = 0, npasses = 1;
    memset(none, 0, sizeof *none * (size_t)n);
    for (int i = 0; i < n; i++)
        npasses = shape_passes(cells[i].shape) > npasses ? shape_passes(cells[i].shape) : npasses;
    int *passes = arena_alloc(arena, sizeof *passes * (size_t)npasses);
    uint64_t state = question->seed;
    for (int i = 0; i < MATRICES; i++) {
        for (int k = 0; k < n; k++) {
            struct shape shape = *cells[k].shape;
            shape.sigma = none;
            again[k] = cells[k];
            resample_passes(&shape, &state, passes);
            resample_points(&shape, cells[k].point, cells[k].point, passes, &state, &again[k].v);
            if (cells[k].logs != shape.logs)
                again[k].v = shape_y(&shape, again[k].v);
        }
        qsort(again, (size_t)n, sizeof *again, cell_compare);
        alike += find_levels(again, n, gap, levels) == nlevels;
    }
    return (double)alike / MATRICES;
}

// Returns true if neighbouring cells differ by a step that counts, but by less than their passes
// do. They would merge into one level, which would seem the surer the more they differ.
static bool steps_lost(const struct cell *cells, int n, double size, double gap)
{
    for (int i = 1; i < n; i++) {
        double step = cells[i].v - cells[i - 1].v;
        if (step > size && step <= gap)
            return true;
    }
    return false;
}

static const char *noisy(const struct cell *cells, double size, double noise, struct arena *arena)
{
    if (cells[0].logs)
        return arena_printf(arena,
                            "the passes of cells differ by %.0f %%, levels %.0f %% apart are not "
                            "to be told from that",
                            100 * expm1(noise / 2), 100 * expm1(size));
    return arena_printf(arena,
                        "the passes of cells differ by %.3g, levels %.3g apart are not to be told "
                        "from that",
                        noise / 2, size);
}

static struct conclusion matrix_levels(const struct conclude_question *question,
                                       const struct cell *cells, int n, int missing,
                                       const struct matrix_cells *matrix, struct arena *arena)
{
    double size = least_size(question, cells, n), noise = noise_gap(cells, n, arena);
    double gap = fmax(size, noise);
    if (noise > GAP_NOISE * size && steps_lost(cells, n, size, gap))
        return conclude_nothing("", CONCLUSION_UNSTABLE, noisy(cells, size, noise, arena));
    struct level *levels = arena_alloc(arena, sizeof *levels * (size_t)n);
    int nlevels = find_levels(cells, n, gap, levels), doubtful = 0, once = 0;
    struct draft draft = {.arena = arena};
    const char **texts = arena_alloc(arena, sizeof *texts * (size_t)nlevels);
    judge_levels(cells, levels, nlevels);
    for (int l = 0; l < nlevels; l++) {
        levels[l].joining += missing;
        for (int i = levels[l].first; i < levels[l].first + levels[l].n; i++) {
            matrix->levels[cells[i].at] = l;
            // More than one replicate of three may have this cell on another level.
            doubtful += cells[i].most_lie > gap;
            once += !cells[i].again;
        }
    }
    for (int l = 0; l < nlevels; l++)
        texts[l] = put_level(&draft, question, cells, &levels[l], l + 1);
    const char *sentence = levels_text(cells, levels, texts, nlevels, matrix, arena);
    if (doubtful)
        sentence = arena_printf(arena, "%s; passes disagree in %d", sentence, doubtful);
    if (missing)
        sentence = arena_printf(arena, "%s; %d did not come back", sentence, missing);
    bool unstable = doubtful * 10 > n;
    double share =
        fmin(levels_come_back(question, cells, n, gap, nlevels, arena), 1 - (double)doubtful / n);
    return draft_end(&draft, "", unstable ? CONCLUSION_UNSTABLE : CONCLUSION_OK,
                     share * (1 - 0.5 * once / n), sentence);
}

struct conclusion conclude_matrix(const struct conclude_question *question,
                                  const struct curve *curves, int ncurves, struct arena *arena)
{
    int npoints = 0;
    for (int i = 0; i < ncurves; i++)
        npoints += curves[i].npoints;
    double *columns = arena_alloc(arena, sizeof *columns * (size_t)(npoints + 1));
    struct cell *cells = arena_alloc(arena, sizeof *cells * (size_t)(npoints + 1));
    int ncolumns = find_columns(curves, ncurves, columns);
    struct shape *shapes = arena_alloc(arena, sizeof *shapes * (size_t)(ncurves + 1));
    for (int i = 0; i < ncurves; i++)
        shapes[i] = shape_of(question, &curves[i], arena);
    int n = gather_cells(shapes, ncurves, columns, ncolumns, cells, arena);
    if (n == 0)
        return conclude_nothing("", CONCLUSION_TOO_FEW, "no cell came back");
    if (2 * n < npoints)
        return conclude_nothing("", CONCLUSION_TOO_FEW,
                                arena_printf(arena, "only %d of %d cells came back", n, npoints));
    int64_t all = (int64_t)ncurves * ncolumns;
    if (all / SPARSE > n) // curves that hardly share an x are no matrix
        return conclude_nothing(
            "", CONCLUSION_TOO_FEW,
            arena_printf(arena, "only %d of %lld cells were measured", n, (long long)all));
    int *levels = arena_alloc(arena, sizeof *levels * (size_t)(ncurves * ncolumns));
    for (int i = 0; i < ncurves * ncolumns; i++)
        levels[i] = -1;
    const struct matrix_cells matrix = {curves,  ncurves,          ncolumns,
                                        columns, question->x_unit, levels};
    struct conclusion conclusion = matrix_levels(question, cells, n, npoints - n, &matrix, arena);
    conclusion.cells = levels;
    conclusion.nrows = ncurves;
    conclusion.ncolumns = ncolumns;
    return conclusion;
}

// --- distribution ---

enum { DIVISORS = 8, VALUES_FEW = 6 };
static const double MODE_SHARE = 0.02, STEP_SHARE = 0.95, MISS = 0.1;

// Returns the greatest common step of the values above the least one; 0: none. It is the smallest
// distance between two frequent values, or an integer part of it.
static double find_step(const double *sorted, int n)
{
    double smallest = INFINITY, before = sorted[0];
    for (int i = 0; i < n;) {
        int same = i;
        while (same < n && sorted[same] - sorted[i] <= 1e-6 * fabs(sorted[i]))
            same++;
        if (sorted[i] > before && (same - i) * 100 >= n)
            smallest = fmin(smallest, sorted[i] - before);
        if ((same - i) * 100 >= n)
            before = sorted[i];
        i = same;
    }
    for (int divisor = 1; isfinite(smallest) && divisor <= DIVISORS; divisor++) {
        double step = smallest / divisor;
        int on = 0;
        for (int i = 0; i < n; i++) {
            double multiple = (sorted[i] - before) / step;
            on += fabs(multiple - nearbyint(multiple)) <= MISS;
        }
        if (on >= STEP_SHARE * n)
            return step;
    }
    return 0;
}

// Returns true if the values lie on so few steps that each is listed; else they are grouped.
static bool few_steps(const double *sorted, int n, double step)
{
    int values = 0;
    for (int i = 0, first = 0; step > 0 && i < n; i++)
        if (i + 1 == n || sorted[i + 1] - sorted[i] > step / 2) {
            values += i + 1 - first >= MODE_SHARE * n;
            first = i + 1;
        }
    return values > 0 && values <= VALUES_FEW;
}

// Runs of values that lie no farther apart than `gap`, and their shares.
static const char *put_modes(struct draft *draft, const struct conclude_question *question,
                             const double *sorted, int n, double gap)
{
    const char *sentence = "";
    struct arena *arena = draft->arena;
    int number = 1;
    for (int first = 0, i = 1; i <= n; i++) {
        if (i < n && sorted[i] - sorted[i - 1] <= gap)
            continue;
        double share = (double)(i - first) / n, mode = quantile_median(sorted + first, i - first);
        if (share >= MODE_SHARE) {
            draft_value(draft, arena_printf(arena, "mode %d", number), mode, sorted[first],
                        sorted[i - 1], question->y_unit);
            draft_value(draft, arena_printf(arena, "share %d", number), share, share, share, "");
            sentence = arena_printf(arena, "%s%s%s (%.0f %%)", sentence, number > 1 ? ", " : "",
                                    conclude_quantity(arena, mode, question->y_unit), 100 * share);
            number++;
        }
        first = i;
    }
    return sentence;
}

static int pass_values(const struct curve *curve, int pass, double *values)
{
    int n = 0;
    for (int i = 0; i < curve->npoints; i++)
        for (int k = 0; k < curve->points[i].nsamples; k++) {
            const struct curve_sample *sample = &curve->points[i].samples[k];
            if (isfinite(sample->value) && (pass < 0 || sample->pass == pass))
                values[n++] = sample->value;
        }
    quantile_sort(values, n);
    return n;
}

static double share_below(const double *sorted, int n, double value)
{
    int below = 0, above = n;
    while (below < above) {
        int middle = below + (above - below) / 2;
        if (sorted[middle] <= value)
            below = middle + 1;
        else
            above = middle;
    }
    return (double)below / n;
}

// Returns true if one pass has another distribution than all together: by Kolmogorov and Smirnov at
// 1 %, and with a distance of at least a fifth, so that many samples do not make a small difference
// count.
static bool passes_differ(const struct curve *curve, const double *sorted, int n, int npasses,
                          double *room)
{
    for (int pass = 0; pass < npasses; pass++) {
        int count = pass_values(curve, pass, room);
        double distance = 0;
        for (int i = 0; i < count; i++)
            distance = fmax(distance, fabs(share_below(room, count, room[i]) -
                                           share_below(sorted, n, room[i])));
        if (count && distance > fmax(0.2, 1.63 / sqrt(count)))
            return true;
    }
    return false;
}

// All values of a curve, in order, and how many passes they are of.
struct values {
    double *sorted, *room; // room: as much, for the values of one pass
    int n, npasses;
};
enum { VALUES_LEAST = 20 };

static struct values curve_values(const struct curve *curve, struct arena *arena)
{
    struct values values = {0};
    int total = 1;
    for (int i = 0; i < curve->npoints; i++) {
        total += curve->points[i].nsamples;
        for (int k = 0; k < curve->points[i].nsamples; k++)
            if (curve->points[i].samples[k].pass >= values.npasses)
                values.npasses = curve->points[i].samples[k].pass + 1;
    }
    values.sorted = arena_alloc(arena, sizeof *values.sorted * (size_t)total);
    values.room = arena_alloc(arena, sizeof *values.room * (size_t)total);
    values.n = pass_values(curve, -1, values.sorted);
    return values;
}

static struct conclusion values_too_few(const struct curve *curve, int n, struct arena *arena)
{
    return conclude_nothing(
        curve->variant, CONCLUSION_TOO_FEW,
        arena_printf(arena, "only %d values came back, and %d are needed", n, VALUES_LEAST));
}

// Returns true if a pass has the step. A pass of few values may show only a multiple of it.
static bool pass_has_step(const struct curve *curve, int pass, double step, double *room)
{
    int n = pass_values(curve, pass, room);
    double own = n ? find_step(room, n) : step, times = nearbyint(own / step);
    return own > 0 && times >= 1 && fabs(own / step - times) <= MISS;
}

// Lists the distances of the values from the least of their pass, ascending. Each process finds its
// own overhead, which is no multiple of the step. Returns their number.
static int values_over_least(const struct curve *curve, const struct values *values, double *over)
{
    int n = 0;
    for (int pass = 0; pass < values->npasses; pass++) {
        int count = pass_values(curve, pass, values->room);
        for (int i = 0; i < count; i++)
            over[n++] = values->room[i] - values->room[0];
    }
    quantile_sort(over, n);
    return n;
}

struct conclusion conclude_grid(const struct conclude_question *question, const struct curve *curve,
                                struct arena *arena)
{
    struct values values = curve_values(curve, arena);
    if (values.n < VALUES_LEAST)
        return values_too_few(curve, values.n, arena);
    double *over = arena_alloc(arena, sizeof *over * (size_t)values.n);
    double step = find_step(over, values_over_least(curve, &values, over));
    if (step <= 0)
        return conclude_nothing(curve->variant, CONCLUSION_NONE, "they are multiples of nothing");
    struct draft draft = {.arena = arena};
    bool all = true;
    for (int pass = 0; pass < values.npasses; pass++)
        all = all && pass_has_step(curve, pass, step, values.room);
    draft_value(&draft, "step", step, step, step, question->y_unit);
    const char *quantity = conclude_quantity(arena, step, question->y_unit);
    return draft_end(
        &draft, curve->variant, all ? CONCLUSION_OK : CONCLUSION_UNSTABLE,
        all && values.npasses > 1 ? 1 : 0.5,
        arena_printf(arena, "multiples of %s%s", quantity, all ? "" : "; passes disagree"));
}

struct conclusion conclude_distribution(const struct conclude_question *question,
                                        const struct curve *curve, struct arena *arena)
{
    struct values values = curve_values(curve, arena);
    const double *sorted = values.sorted;
    int n = values.n;
    if (n < VALUES_LEAST)
        return values_too_few(curve, n, arena);
    struct draft draft = {.arena = arena};
    double step = find_step(sorted, n), median = quantile_median(sorted, n);
    double p99 = quantile_of(sorted, n, 0.99);
    draft_value(&draft, "median", median, quantile_of(sorted, n, 0.25),
                quantile_of(sorted, n, 0.75), question->y_unit);
    draft_value(&draft, "least", sorted[0], sorted[0], sorted[0], question->y_unit);
    draft_value(&draft, "p99", p99, p99, p99, question->y_unit);
    if (step > 0)
        draft_value(&draft, "step", step, step, step, question->y_unit);
    // Without a step, bins as wide as the data ask for (Freedman and Diaconis, 1981).
    double bin = step > 0 ? step : 2 * quantile_spread(sorted, n) / cbrt(n);
    double gap = few_steps(sorted, n, step) ? step / 2 : 1.5 * bin;
    const char *sentence = put_modes(&draft, question, sorted, n, gap);
    if (step > 0)
        sentence = arena_printf(arena, "%s, in steps of %s", sentence,
                                conclude_quantity(arena, step, question->y_unit));
    bool differ = passes_differ(curve, sorted, n, values.npasses, values.room);
    if (differ)
        sentence = arena_printf(arena, "%s; passes disagree", sentence);
    return draft_end(&draft, curve->variant, differ ? CONCLUSION_UNSTABLE : CONCLUSION_OK,
                     !differ && values.npasses > 1 ? 1 : 0.5, sentence);
}
