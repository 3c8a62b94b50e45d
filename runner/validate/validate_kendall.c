// SPDX-License-Identifier: MIT
// Kendall's rank correlation tau-b; see validate.h. Knight's method (Journal of the American
// Statistical Association 61, 1966): after sorting by one value, the pairs in the wrong order are
// the exchanges that sorting by the other takes, so the time is n log n.
#include "validate.h"

#include "util/mem.h"

#include <math.h>
#include <stdlib.h>

struct point {
    double a, b;
};

static int compare_numbers(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare_points(const void *left, const void *right)
{
    const struct point *x = left, *y = right;
    int order = compare_numbers(x->a, y->a);
    return order ? order : compare_numbers(x->b, y->b);
}

static bool same_a(const struct point *x, const struct point *y)
{
    return x->a == y->a;
}

static bool same_b(const struct point *x, const struct point *y)
{
    return x->b == y->b;
}

static bool same_both(const struct point *x, const struct point *y)
{
    return same_a(x, y) && same_b(x, y);
}

// Counts pairs within runs of equal points.
static int64_t count_ties(const struct point *points, int n,
                          bool (*same)(const struct point *x, const struct point *y))
{
    int64_t pairs = 0, run = 0;
    for (int i = 1; i < n; i++) {
        run = same(&points[i - 1], &points[i]) ? run + 1 : 0;
        pairs += run;
    }
    return pairs;
}

// Merges two sorted halves. Returns the number of pairs between them in the wrong order.
static int64_t merge_by_b(struct point *points, int half, int n, struct point *scratch)
{
    int64_t exchanges = 0;
    int left = 0, right = half;
    for (int i = 0; i < n; i++) {
        bool take_left = right == n || (left < half && points[left].b <= points[right].b);
        exchanges += take_left ? 0 : half - left;
        scratch[i] = points[take_left ? left++ : right++];
    }
    for (int i = 0; i < n; i++)
        points[i] = scratch[i];
    return exchanges;
}

static int64_t sort_by_b(struct point *points, int n, struct point *scratch)
{
    if (n < 2)
        return 0;
    int half = n / 2;
    int64_t exchanges =
        sort_by_b(points, half, scratch) + sort_by_b(points + half, n - half, scratch);
    return exchanges + merge_by_b(points, half, n, scratch);
}

double validate_kendall(const double *a, const double *b, int n)
{
    struct point *points = xcalloc(2 * (size_t)n, sizeof *points);
    for (int i = 0; i < n; i++)
        points[i] = (struct point){a[i], b[i]};
    qsort(points, (size_t)n, sizeof *points, compare_points);
    int64_t pairs = (int64_t)n * (n - 1) / 2;
    int64_t ties_a = count_ties(points, n, same_a), ties_both = count_ties(points, n, same_both);
    int64_t exchanges = sort_by_b(points, n, points + n);
    int64_t ties_b = count_ties(points, n, same_b);
    free(points);
    // Pairs in the same order minus those in the other; ties are neither.
    int64_t agree = pairs - ties_a - ties_b + ties_both - 2 * exchanges;
    // A single root: rounding the product of two could make tau larger than 1.
    double scale = sqrt((double)(pairs - ties_a) * (double)(pairs - ties_b));
    return scale > 0 ? (double)agree / scale : (double)NAN;
}
