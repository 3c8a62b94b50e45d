// SPDX-License-Identifier: MIT
// Conclusions from made-up samples, without a database: the first bytes choose the reading and its
// options, the others are points and samples. Whatever they are, a conclusion has a sentence and a
// confidence, its values lie in their intervals, and there is one per curve at most.
#include "fuzz.h"

#include "conclude/conclude.h"
#include "util/mem.h"

#include <math.h>
#include <string.h>

enum { HEAD_BYTES = 6, POINT_BYTES = 3, CURVES_MAX = 4, POINTS_MAX = 64, SAMPLES_MAX = 12 };

// Returns a value that times may have, or one at the edge of numbers.
static double value_of(const uint8_t *bytes)
{
    static const double odd[] = {0.0, -1, 1e300, -1e300, 5e-324, NAN, INFINITY, 1e-9};
    unsigned number = (unsigned)bytes[0] << 8 | bytes[1];
    return bytes[2] >= 248 ? odd[bytes[2] & 7] : 1 + number / 64.0 + bytes[2] / 16384.0;
}

static struct curve curve_make(const uint8_t **at, const uint8_t *end, int npasses,
                               struct arena *arena)
{
    static const char *const names[] = {"a", "b", "", "c"};
    struct curve_point *points = arena_alloc(arena, sizeof *points * POINTS_MAX);
    struct curve curve = {names[*at < end ? **at & 3 : 0], points, 0};
    int most = *at < end ? **at >> 2 : 0;
    for (*at += *at < end; curve.npoints < most && end - *at > POINT_BYTES; curve.npoints++) {
        int nsamples = *(*at)++ % SAMPLES_MAX;
        struct curve_sample *samples = arena_alloc(arena, sizeof *samples * SAMPLES_MAX);
        struct curve_point *point = &points[curve.npoints];
        *point = (struct curve_point){1 + curve.npoints, samples, 0};
        for (; point->nsamples < nsamples && end - *at >= POINT_BYTES; *at += POINT_BYTES) {
            samples[point->nsamples] =
                (struct curve_sample){point->nsamples % npasses, value_of(*at)};
            point->nsamples++;
        }
    }
    return curve;
}

static void check(const struct conclusion *conclusion)
{
    fuzz_check(conclusion->sentence && *conclusion->sentence, "a conclusion has a sentence");
    fuzz_check(conclusion->confidence >= 0 && conclusion->confidence <= 1,
               "a confidence lies between 0 and 1");
    for (int i = 0; i < conclusion->nvalues; i++)
        fuzz_check(conclusion->values[i].label && conclusion->values[i].unit,
                   "a value has a label and a unit");
}

void fuzz_conclude(const uint8_t *bytes, size_t size)
{
    struct arena arena = {0};
    struct curve curves[CURVES_MAX] = {0};
    const uint8_t *at = bytes + HEAD_BYTES, *end = bytes + size;
    int ncurves = 0, nconclusions = 0;
    if (size < HEAD_BYTES)
        return;
    const struct conclude_question question = {
        .reading = (enum reading)(bytes[0] % READING_COUNT),
        .x_unit = bytes[1] & 1 ? "bytes" : "entries",
        .y_unit = "clk",
        .geometric = bytes[1] & 2,
        .falls = bytes[1] & 4,
        .bends = bytes[1] & 8,
        .fastest = bytes[1] & 16,
        .control = bytes[1] & 32 ? "a" : NULL,
        .least_step = bytes[2] / 64.0,
        .factor = bytes[3] / 16.0,
        .add = bytes[4],
        .seed = bytes[5],
        .passes_per_replicate = bytes[4] % 4,
    };
    while (ncurves < CURVES_MAX && at < end)
        curves[ncurves++] = curve_make(&at, end, 1 + bytes[5] % 9, &arena);
    const struct conclusion *conclusions =
        conclude(&question, curves, ncurves, &arena, &nconclusions);
    fuzz_check(nconclusions <= (ncurves ? ncurves : 1), "a curve has one conclusion");
    for (int i = 0; i < nconclusions; i++)
        check(&conclusions[i]);
    arena_free(&arena);
}
