// SPDX-License-Identifier: MIT
// Properties of a stranger that are small to write and much work to conclude from: refused before
// any of it is done. The largest that are not refused are worked on in little memory.
#include "fixtures/merge_fixture.h"
#include "fixtures/sanitized.h"
#include "fixtures/store_fixture.h"

#include "conclude/conclude.h"
#include "conclude/conclude_question.h"
#include "merge/merge.h"
#include "store/store_property.h"
#include "store/store_run.h"
#include "util/mem.h"
#include "util/random.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

// Dimensions of a sweep: curves, variants or values of `by`, and points of each; passes of each
// point, and their samples.
struct sweep {
    const char *reading;
    int variants, bys, points, passes, samples;
};

// Returns the passes of a point: values that scatter and have steps, or all differ.
static const struct timing *make_timings(const struct sweep *sweep, int point, uint64_t *random,
                                         struct arena *arena)
{
    struct timing *timings = arena_alloc(arena, sizeof *timings * (size_t)(sweep->passes + 1));
    for (int pass = 0; pass < sweep->passes; pass++) {
        struct sample *samples = arena_alloc(arena, sizeof *samples * (size_t)sweep->samples);
        for (int i = 0; i < sweep->samples; i++)
            samples[i] =
                (struct sample){.kernel_tsc = 100000 + 20000 * (uint32_t)(point / 3) +
                                              (uint32_t)random_below(random, 40 * (1 + point % 64)),
                                .before_tsc = 1000,
                                .after_tsc = 1000,
                                .canary_tsc = 1000};
        timings[pass] = (struct timing){.pass = pass + 1,
                                        .iterations = 100,
                                        .copies = 10,
                                        .detail = "",
                                        .calib_clk = 1000,
                                        .accepted = sweep->samples,
                                        .tried = sweep->samples,
                                        .samples = samples,
                                        .nsamples = sweep->samples};
    }
    return timings;
}

static struct swept_property make_property(const struct sweep *sweep, struct arena *arena)
{
    int n = 0;
    uint64_t random = 1;
    struct swept_property property = fixture_property("crafted", sweep->reading);
    property.nvariants = sweep->variants;
    property.variants = arena_alloc(arena, sizeof *property.variants * (size_t)sweep->variants);
    property.points = arena_alloc(arena, sizeof *property.points * (size_t)sweep->variants *
                                             (size_t)sweep->bys * (size_t)sweep->points);
    for (int v = 0; v < sweep->variants; v++) {
        property.variants[v] =
            (struct swept_variant){arena_printf(arena, "v%d", v), OUTCOME_OK, ""};
        for (int i = 0; i < sweep->bys * sweep->points; i++)
            property.points[n++] = (struct swept_point){
                .timings = make_timings(sweep, i, &random, arena),
                .ntimings = sweep->passes,
                .variant = v,
                .x = i % sweep->points,
                .by = sweep->bys > 1 ? i / sweep->points : (double)NAN,
                .instances = 1,
                .outcome = OUTCOME_OK,
                .detail = "",
                .y = NAN,
            };
    }
    property.npoints = n;
    return property;
}

// Packs a run with the property, and as many more without points, and merges it: what
// merge_runs() says.
static int merge(const struct sweep *sweep, int more, struct err *err)
{
    struct fixture fixture;
    struct arena arena = {0};
    struct store_merged merged;
    struct store *store = fixture_start(&fixture);
    struct swept_property property = make_property(sweep, &arena);
    int64_t run_id = fixture_run(store, "testa", 1);
    if (store_put_property(store, run_id, &property, err) != 0)
        fail_msg("%s", err->text);
    char *copies = arena_printf(
        &arena,
        "INSERT INTO property SELECT property_id + value, run_id, value, grp, name || value, "
        "title, question, x_unit, by_unit, y_unit, reading, compare, definition, tsc_hz, "
        "area_bytes, area_huge_bytes, seconds, outcome, 'left out', vm FROM property, "
        "(WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < %d) "
        "SELECT value FROM n WHERE value <= %d)",
        more, more);
    fixture_ask(store->db, copies);
    if (store_run_finish(store, run_id, 0, 1, err) != 0)
        fail_msg("%s", err->text);
    char *pack = xasprintf("%s.pack", fixture.db), *into = xasprintf("%s.into", fixture.db);
    const struct merge_extract extract = {&run_id, 1, MERGE_KEEP_SAMPLES};
    if (merge_extract_runs(store, &extract, pack, err) != 0)
        fail_msg("%s", err->text);
    struct store *target = fixture_open(into, STORE_WRITE);
    int added = merge_runs(target, pack, "stranger.zip", &merged, err);
    fixture_expect(target, "SELECT count(*) FROM run", added > 0 ? "1" : "0");
    store_close(target);
    unlink(pack);
    unlink(into);
    free(pack);
    free(into);
    arena_free(&arena);
    fixture_end(&fixture, store);
    return added;
}

static void test_sizes(void **state)
{
    (void)state;
    static const struct {
        struct sweep sweep;
        const char *refused; // NULL: it is merged
    } cases[] = {
        {{"knee", 2, 1, 512, 0, 0},     NULL                                  },
        {{"knee", 2, 1, 513, 0, 0},
         "513 points in one curve of the property crafted, and "
         "there may be 512; sweep it in larger steps"                         },
        {{"slope", 1, 1, 3000, 0, 0},   "3000 points in one curve of"         },
        {{"level", 1, 1, 4096, 0, 0},   NULL                                  },
        {{"level", 1, 1, 4097, 0, 0},   "4097 points in one curve of"         },
        {{"level", 1, 4097, 1, 0, 0},   "4097 curves of the property crafted" },
        {{"level", 4097, 1, 1, 0, 0},   "4097 variants of"                    },
        {{"matrix", 1, 33, 2000, 0, 0}, "66000 points of the property crafted"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = {0};
        int added = merge(&cases[i].sweep, 0, &err);
        if (!cases[i].refused && added != 1)
            fail_msg("case %zu: %s", i, err.text);
        if (cases[i].refused && (added != -1 || strncmp(err.text, "stranger.zip: ", 14) != 0 ||
                                 !strstr(err.text, cases[i].refused)))
            fail_msg("case %zu: %d, '%s'", i, added, err.text);
    }
}

// The largest number of properties in a run, and one more.
static void test_number(void **state)
{
    (void)state;
    static const struct sweep sweep = {"level", 1, 1, 1, 0, 0};
    struct err err = {0};
    assert_int_equal(merge(&sweep, 4095, &err), 1);
    assert_int_equal(merge(&sweep, 4096, &err), -1);
    assert_string_equal(err.text,
                        "stranger.zip: there are 4097 properties in a run, and there may be 4096");
}

// A reading of fewer than 500 characters, of which byte 511 lies in the last word.
#define E16 "éééééééééééééééé"
#define E64 E16 E16 E16 E16
#define WIDE "plateaus control=" E64 E64 E64 E16 E16 E16 "ééééé geometric"

// Each property is within its size, the sum of the work is not: refused with the sum before it is
// done.
static void test_work(void **state)
{
    (void)state;
    static const struct {
        struct sweep sweep;
        const char *refused; // NULL: it is merged
    } cases[] = {
        {{"knee", 1, 1, 200, 3, 1},      NULL                                                },
        {{"plateaus", 24, 1, 512, 1, 1}, "s of CPU time, and they may take 60; crafted takes"},
        {{"slope", 1, 2, 100, 3, 1},     NULL                                                },
        {{WIDE, 24, 1, 512, 1, 1},       "s of CPU time, and they may take 60; crafted takes"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = {0};
        clock_t begin = clock();
        int added = merge(&cases[i].sweep, 0, &err);
        if (added != (cases[i].refused ? -1 : 1) ||
            (cases[i].refused && !strstr(err.text, cases[i].refused)))
            fail_msg("case %zu: %d, '%s'", i, added, err.text);
        if (cases[i].refused && clock() - begin > 20 * CLOCKS_PER_SEC)
            fail_msg("case %zu was refused after the work", i);
    }
}

static double estimate(const struct sweep *sweep, int curves)
{
    struct arena arena = {0};
    struct conclude_question question;
    struct err err;
    const char *at;
    struct curve_size size = {sweep->points,
                              (int64_t)sweep->points * sweep->passes * sweep->samples,
                              (int64_t)sweep->passes * sweep->samples, sweep->passes};
    struct curve_size *sizes = arena_alloc(&arena, sizeof *sizes * (size_t)curves);
    for (int i = 0; i < curves; i++)
        sizes[i] = size;
    assert_int_equal(conclude_question_read(sweep->reading, &question, &arena, &at, &err), 0);
    double seconds = conclude_seconds(&question, sizes, curves);
    arena_free(&arena);
    return seconds;
}

static double conclude_cpu_seconds(const struct sweep *sweep)
{
    struct arena arena = {0};
    struct err err;
    struct swept_property property = make_property(sweep, &arena);
    clock_t begin = clock();
    if (swept_conclude(&property, &arena, &err) != 0)
        fail_msg("%s", err.text);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    arena_free(&arena);
    return seconds;
}

// Properties of each reading: of the most points, of the most passes, of the most samples.
static const struct sweep readings[] = {
    {"knee",               1, 1,  512, 1,    1  },
    {"knee",               1, 1,  64,  200,  1  },
    {"knee",               1, 1,  64,  9,    50 },
    {"plateaus",           1, 1,  200, 3,    1  },
    {"plateaus",           1, 1,  64,  200,  1  },
    {"slope",              1, 1,  200, 3,    1  },
    {"difference",         1, 2,  300, 3,    1  },
    {"difference fastest", 1, 2,  50,  200,  2  },
    {"ratio",              1, 2,  300, 3,    1  },
    {"matrix",             1, 20, 50,  3,    1  },
    {"matrix",             1, 2,  50,  200,  1  },
    {"distribution",       1, 1,  50,  3,    300},
    {"distribution",       1, 1,  5,   1000, 20 },
    {"level",              1, 1,  300, 9,    5  },
    {"level",              1, 1,  20,  500,  2  },
    {"grid",               1, 1,  50,  3,    300},
    {"grid",               1, 1,  5,   1000, 20 },
};

enum { SLOWER = SANITIZED ? 40 : 6 };

// The estimate is no less than what it takes, but for a slower machine or sanitizers.
static void test_estimate(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(readings); i++) {
        double seconds = conclude_cpu_seconds(&readings[i]);
        double most = estimate(&readings[i], readings[i].variants * readings[i].bys);
        if (seconds > SLOWER * most + 0.02)
            fail_msg("%s, case %zu: %.3f s, estimated %.3f s", readings[i].reading, i, seconds,
                     most);
    }
}

// Prints what the largest properties that are merged take: as many curves as 60 s allow.
static int print_largest(const char *reading)
{
    printf("%-20s %6s %6s %6s %7s %11s %7s\n", "reading", "curves", "points", "passes", "samples",
           "estimated s", "CPU s");
    for (size_t i = 0; i < ARRAY_LEN(readings); i++) {
        struct sweep sweep = readings[i];
        if (reading && strncmp(sweep.reading, reading, strlen(reading)) != 0)
            continue;
        int curves = CONCLUDE_POINTS_MAX / sweep.points;
        while (curves > CONCLUDE_CURVES_MAX || estimate(&sweep, curves) > 60 ||
               (int64_t)curves * sweep.points * sweep.passes * sweep.samples > 4000000)
            curves -= 1 + curves / 50;
        sweep.bys = curves;
        printf("%-20s %6d %6d %6d %7d %11.1f", sweep.reading, curves, sweep.points, sweep.passes,
               sweep.samples, estimate(&sweep, curves));
        fflush(stdout);
        printf(" %7.1f\n", conclude_cpu_seconds(&sweep));
    }
    return 0;
}

// Limits the additional memory of this process.
static void bound_memory(size_t bytes)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%llu", &pages) != 1)
        _exit(2);
    fclose(file);
    rlim_t most = (rlim_t)(pages * (unsigned long long)sysconf(_SC_PAGESIZE) + bytes);
    if (setrlimit(RLIMIT_AS, &(struct rlimit){most, most}) != 0)
        _exit(2);
}

// With the largest number of curves, each once had room for the points of all: 400 MB.
static void test_memory(void **state)
{
    (void)state;
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        struct arena arena = {0};
        struct err err;
        struct swept_property property =
            make_property(&(struct sweep){"level", 1, CONCLUDE_CURVES_MAX, 1, 0, 0}, &arena);
        bound_memory(100 << 20);
        int failed = swept_conclude(&property, &arena, &err);
        _exit(failed != 0 || property.nconclusions != CONCLUDE_CURVES_MAX);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "largest") == 0)
        return print_largest(argc > 2 ? argv[2] : NULL);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes), cmocka_unit_test(test_number),
                                       cmocka_unit_test(test_work), cmocka_unit_test(test_estimate),
                                       cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
