// SPDX-License-Identifier: MIT
// Which reading answers a question.
#include "conclude.h"

#include "conclude_internal.h"

static struct conclusion (*const OF_ONE[READING_COUNT])(const struct conclude_question *question,
                                                        const struct curve *curve,
                                                        struct arena *arena) = {
    [READING_KNEE] = conclude_knee,   [READING_PLATEAUS] = conclude_plateaus,
    [READING_SLOPE] = conclude_slope, [READING_DISTRIBUTION] = conclude_distribution,
    [READING_LEVEL] = conclude_level, [READING_GRID] = conclude_grid,
};
static struct conclusion (*const OF_ALL[READING_COUNT])(const struct conclude_question *question,
                                                        const struct curve *curves, int ncurves,
                                                        struct arena *arena) = {
    [READING_DIFFERENCE] = conclude_compare,
    [READING_RATIO] = conclude_compare,
    [READING_MATRIX] = conclude_matrix,
};

const struct conclusion *conclude(const struct conclude_question *question,
                                  const struct curve *curves, int ncurves, struct arena *arena,
                                  int *nconclusions)
{
    struct conclusion *conclusions =
        arena_alloc(arena, sizeof *conclusions * (size_t)(ncurves + 1));
    *nconclusions = OF_ALL[question->reading] ? ncurves > 0 : ncurves;
    if (OF_ALL[question->reading] && ncurves > 0)
        conclusions[0] = OF_ALL[question->reading](question, curves, ncurves, arena);
    for (int i = 0; OF_ONE[question->reading] && i < ncurves; i++)
        conclusions[i] = OF_ONE[question->reading](question, &curves[i], arena);
    return conclusions;
}
