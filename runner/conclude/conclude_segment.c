// SPDX-License-Identifier: MIT
// Finds the changes of a curve: the cheapest way to cut it into segments, each a level or a line,
// by dynamic programming over all ways ("optimal partitioning": Jackson et al., 2005). A segment
// costs the squares of its residuals in units of the noise, each capped, so that an outlier does
// not become a segment (Fearnhead and Rigaill, 2019), and a penalty that grows with the logarithm
// of the number of points, as in BIC.
#include "conclude_internal.h"

#include "util/quantile.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    SEGMENT_MIN = 3, // points; what fewer say is an outlier
    LINE_MIN = 5,    // a line through fewer fits too well
};
static const double CAP = 9; // three standard errors: beyond, a point is an outlier
// A cut costs this times log(n), more than twice the cap: two outliers side by side are no segment.
// Found by simulation (tests/unit/conclude/test_conclude.c): level curves are cut in less than 1 %.
static const double CUT = 6;
static const double LINE = 2; // so does a slope

double segment_at(const struct segment *segment, const struct shape *shape, int point)
{
    return segment->start + segment->slope * (shape->axis[point] - shape->axis[segment->first]);
}

static double residual_cost(const struct segment *segment, const struct shape *shape, int point)
{
    double off = (shape->v[point] - segment_at(segment, shape, point)) / shape->sigma[point];
    double square = off * off;
    return square < CAP ? square : CAP; // fmin() is a call, of the innermost loop
}

static double segment_cost(const struct segment *segment, const struct shape *shape)
{
    double cost = 0;
    for (int i = segment->first; i <= segment->last; i++)
        cost += residual_cost(segment, shape, i);
    return cost;
}

// Values of points first to next - 1, sorted. Points come at the end, and leave at the beginning.
struct window {
    double *sorted;
    int first, next;
};

// Returns the number of sorted values below the value.
static int window_place(const struct window *window, double value)
{
    int low = 0, high = window->next - window->first;
    while (low < high) {
        int middle = (low + high) / 2;
        if (window->sorted[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Moves the window to points first to next - 1, neither of which may go back. Returns the median.
static double window_move(struct window *window, const double *v, int first, int next)
{
    while (window->next < next) {
        int at = window_place(window, v[window->next]);
        int behind = window->next++ - window->first - at;
        memmove(window->sorted + at + 1, window->sorted + at, sizeof *v * (size_t)behind);
        window->sorted[at] = v[window->next - 1];
    }
    while (window->first < first) {
        int at = window_place(window, v[window->first]);
        int behind = window->next - ++window->first - at;
        assert(behind >= 0); // it is there
        memmove(window->sorted + at, window->sorted + at + 1, sizeof *v * (size_t)behind);
    }
    return quantile_median(window->sorted, next - first);
}

// Segments that begin at one point: all of their values; the values of their outer thirds, which
// lines are fitted to; and the weight of each point.
struct windows {
    struct window all, low, high;
    const double *weights;
};

static struct windows windows_alloc(const struct shape *shape, struct arena *arena)
{
    size_t bytes = sizeof(double) * (size_t)(shape->n + 1);
    double *weights = arena_alloc(arena, bytes);
    for (int i = 0; i < shape->n; i++)
        weights[i] = 1 / (shape->sigma[i] * shape->sigma[i]);
    return (struct windows){
        {arena_alloc(arena, bytes), 0, 0},
        {arena_alloc(arena, bytes), 0, 0},
        {arena_alloc(arena, bytes), 0, 0},
        weights
    };
}

static void windows_begin(struct windows *windows, int first)
{
    windows->all.first = windows->all.next = first;
    windows->low.first = windows->low.next = first;
    windows->high.first = windows->high.next = first;
}

// Fits a line again by least squares, without outliers.
static void line_fit_again(struct segment *segment, const struct shape *shape,
                           const double *weights)
{
    double w = 0, wa = 0, wv = 0, waa = 0, wav = 0, origin = shape->axis[segment->first];
    for (int i = segment->first; i <= segment->last; i++) {
        if (residual_cost(segment, shape, i) >= CAP)
            continue;
        double weight = weights[i], a = shape->axis[i] - origin;
        w += weight;
        wa += weight * a;
        wv += weight * shape->v[i];
        waa += weight * a * a;
        wav += weight * a * shape->v[i];
    }
    double spread = w * waa - wa * wa;
    if (w == 0 || spread <= 1e-9 * w * waa)
        return;
    segment->slope = (w * wav - wa * wv) / spread;
    segment->start = (wv - segment->slope * wa) / w;
}

static double level_cost(const struct segment *level, const struct shape *shape, int point)
{
    double off = (shape->v[point] - level->start) / shape->sigma[point];
    double square = off * off;
    return square < CAP ? square : CAP;
}

// Fits a level: the median, then the mean of what lies about it.
static struct segment fit_level(const struct shape *shape, int first, int last,
                                const struct windows *windows, double median)
{
    struct segment level = {.first = first, .last = last, .start = median};
    double w = 0, wv = 0;
    for (int i = first; i <= last; i++)
        if (level_cost(&level, shape, i) < CAP) {
            w += windows->weights[i];
            wv += windows->weights[i] * shape->v[i];
        }
    if (w != 0)
        level.start = wv / w;
    for (int i = first; i <= last; i++)
        level.cost += level_cost(&level, shape, i);
    return level;
}

// Fits a line: through the medians of the outer thirds (Tukey's resistant line), then by least
// squares.
static struct segment fit_line(const struct shape *shape, int first, int last,
                               struct windows *windows)
{
    struct segment line = {.first = first, .last = last};
    int n = last - first + 1, third = (n + 1) / 3;
    double low = window_move(&windows->low, shape->v, first, first + third);
    double high = window_move(&windows->high, shape->v, last - third + 1, last + 1);
    double low_axis = quantile_median(shape->axis + first, third); // in order already
    double high_axis = quantile_median(shape->axis + last - third + 1, third);
    line.slope = (high - low) / (high_axis - low_axis);
    line.start = low - line.slope * (low_axis - shape->axis[first]);
    line_fit_again(&line, shape, windows->weights);
    line.cost = segment_cost(&line, shape);
    return line;
}

// Returns the cheaper of level and line, with the line's penalty for its slope. `median`: of the
// values. A line is only tried if it may cost less than `most`.
static struct segment fit_segment(const struct shape *shape, int first, int last, double median,
                                  double most, struct windows *windows)
{
    double slope_cost = LINE * log(shape->n);
    struct segment level = fit_level(shape, first, last, windows, median);
    if (last - first + 1 < LINE_MIN || level.cost <= slope_cost || slope_cost >= most ||
        shape->axis[last] <= shape->axis[first])
        return level;
    struct segment line = fit_line(shape, first, last, windows);
    line.cost += slope_cost;
    return line.cost < level.cost ? line : level;
}

int segments_find(const struct shape *shape, struct segment **segments, struct arena *arena)
{
    int n = shape->n, count = 0, at = 0;
    // best[i]: the cheapest way to cut the points before i; ending[i]: its last segment.
    double *best = arena_alloc(arena, sizeof *best * (size_t)(n + 1));
    struct segment *ending = arena_alloc(arena, sizeof *ending * (size_t)(n + 1));
    struct windows windows = windows_alloc(shape, arena);
    double cut = CUT * log(n > 1 ? n : 2);
    for (int end = 1; end <= n; end++)
        best[end] = INFINITY;
    for (int first = 0; first < n; first++) {
        windows_begin(&windows, first);
        for (int last = first; isfinite(best[first]) && last < n; last++) {
            if (last - first + 1 < SEGMENT_MIN && (first > 0 || last < n - 1))
                continue;
            // Most that the segment may cost; without any left it is not fitted.
            double most = best[last + 1] - (best[first] + cut);
            if (most <= 0)
                continue;
            double median = window_move(&windows.all, shape->v, first, last + 1);
            struct segment segment = fit_segment(shape, first, last, median, most, &windows);
            if (best[first] + segment.cost + cut < best[last + 1]) {
                best[last + 1] = best[first] + segment.cost + cut;
                ending[last + 1] = segment;
            }
        }
    }
    for (int end = n; end > 0; end = ending[end].first)
        count++;
    *segments = arena_alloc(arena, sizeof **segments * (size_t)(count + 1));
    for (int end = n; end > 0; end = ending[end].first)
        (*segments)[count - 1 - at++] = ending[end];
    return count;
}
