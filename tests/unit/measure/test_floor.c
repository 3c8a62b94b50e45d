// SPDX-License-Identifier: MIT
// The canary and the floor chosen from timed candidates, and the number of passes of a kernel: two
// decisions of the measurement that need no CPU to be tested.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/core_internal.h"
#include "measure/floor.h"

// The core is a program of its own; this file of it has no state and no dependencies.
#include "core/core_steady.c"
#include "store/store_cpu.h"

#include <stdlib.h>
#include <string.h>

// A core as its canaries show it. What nobody disturbs takes the time of the width, or what
// fetching allows; a busy sibling leaves half of it.
struct core {
    int width;
    double nops_fused;     // nops that take one slot: up to so many, now more, now fewer; 0: one
    double byte_slower;    // what each byte of a nop beyond the first takes longer: share
    double mixture_slower; // what the mixtures lose on ports
    double idioms_slower;  // what zero idioms alone take longer: share
    double quiet;          // share of the time
    double halved;       // share of the time that a sibling takes every other cycle; the rest: some
    double too_fast;     // share of samples whose calibrations both were slow, by 1.6
    int too_fast_window; // only in this one; -1: at all times
    unsigned
        misplaced_in; // windows in which nops of seven bytes and more lie badly: bits; they take
    double misplaced; // longer by this share, and others are disturbed half of the time
    double spread;    // each loop, calibrations too, takes longer by up to this share
    double slowed, slowed_by; // share of the quiet time when all take longer by this share
};

static uint64_t random_state;

static double random_share(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) / 9007199254740992.0;
}

// Cycles an instruction of one sample.
static double core_sample(const struct core *core, int kind, int window)
{
    double fetch = kind < CORE_CANARY_MIXTURES ? kind * 0.03 : 0.02; // bytes: 33 a cycle
    double rate = core->width;
    if (kind < CORE_CANARY_MIXTURES && core->nops_fused > 0)
        rate *= 1 + (core->nops_fused - 1) * (0.6 + 0.4 * random_share());
    double clk = 961.0 / 960 / rate;
    clk = fetch / 3 > clk ? fetch / 3 : clk;
    if (kind < CORE_CANARY_MIXTURES)
        clk *= 1 + (kind - 1) * core->byte_slower;
    if (kind == CORE_CANARY_MIXTURES)
        clk *= 1 + core->mixture_slower * (0.5 + random_share());
    if (kind == CORE_CANARY_MIXTURES + 1)
        clk *= 1 + core->idioms_slower;
    if (kind >= 7 && kind < CORE_CANARY_MIXTURES && (core->misplaced_in >> window & 1))
        clk *= 1 + core->misplaced;
    if (core->misplaced > 0 && (kind < 7 || kind >= CORE_CANARY_MIXTURES) && random_share() < 0.5)
        clk *= 1.2;
    double when = random_share();
    if (when < core->quiet && random_share() < core->slowed)
        clk *= 1 + core->slowed_by;
    if (when >= core->quiet)
        clk *= when - core->quiet < core->halved ? 2 : 1.25 + 0.75 * random_share();
    if (random_share() < core->too_fast &&
        (core->too_fast_window < 0 || core->too_fast_window == window))
        clk /= 1.6;
    clk *= (1 + core->spread * random_share()) / (1 + core->spread * random_share());
    return clk * (1 + 0.004 * (random_share() - 0.3));
}

static void core_windows(const struct core *core, int samples, struct exec_floor *windows)
{
    memset(windows, 0, FLOOR_WINDOWS * sizeof *windows);
    for (int window = 0; window < FLOOR_WINDOWS; window++)
        for (int kind = 1; kind < CORE_CANARIES; kind++)
            for (int i = 0; i < samples; i++) {
                int bin = (int)(core_sample(core, kind, window) / CORE_FLOOR_BIN_CLK);
                if (bin < CORE_FLOOR_BINS)
                    windows[window].counts[kind][bin]++;
            }
}

static enum floor_trust core_floor(const struct core *core, int samples,
                                   const struct floor_witness *witness, struct canary_floor *floor,
                                   struct err *seen)
{
    struct exec_floor *windows = calloc(FLOOR_WINDOWS, sizeof *windows);
    assert_non_null(windows);
    core_windows(core, samples, windows);
    enum floor_trust trust = floor_choose(windows, witness, floor, seen);
    free(windows);
    return trust;
}

static void check_floor(const struct core *core, const struct floor_witness *witness,
                        enum floor_trust least, const char *what)
{
    struct canary_floor floor;
    struct err seen = {0};
    random_state = 88172645463325252ULL;
    enum floor_trust trust = core_floor(core, 2000, witness, &floor, &seen);
    double least_clk = 961.0 / 960 / core->width;
    if (trust < least || floor.issue_width != core->width ||
        floor.clk_per_instr < least_clk * 0.99 || floor.clk_per_instr > least_clk * 1.09)
        fail_msg("%s, width %d: canary %d, %.4f clk, width %d, trust %d (%s)", what, core->width,
                 floor.canary, floor.clk_per_instr, floor.issue_width, (int)trust, seen.text);
    if (core->nops_fused > 0)
        assert_true(floor.canary >= CORE_CANARY_MIXTURES);
}

static const struct floor_witness nobody = {0};

static void the_width_is_what_comes_back_whatever_tables_say(void **state)
{
    (void)state;
    for (int width = 3; width <= 16; width++) {
        const struct core quiet = {.width = width, .quiet = 0.95, .mixture_slower = 0.06};
        check_floor(&quiet, &nobody, FLOOR_STEADY, "no table");
        // A table's width that is smaller, or a little larger, is refuted.
        for (int claimed = 2; claimed <= width * 4 / 3; claimed++) {
            const struct floor_witness claim = {.claimed = claimed};
            check_floor(&quiet, &claim, FLOOR_STEADY, "false table");
        }
        const struct core fused = {.width = width, .quiet = 0.9, .nops_fused = 1.8};
        check_floor(&fused, &nobody, FLOOR_STEADY, "fused nops");
        const struct core busy = {.width = width, .quiet = 0.05, .halved = 0.6};
        const struct floor_witness known = {width, 1ULL << width | 1ULL << (width + 1)};
        check_floor(&busy, &known, FLOOR_SEEN, "seldom quiet");
    }
}

// Zero idioms of a Zen 5 reach six of its eight slots, and nops are fused with nothing: what is
// slower than the core is no proof of a table that has it so.
static void a_slow_mixture_proves_no_table(void **state)
{
    (void)state;
    static const struct core core = {.width = 8, .quiet = 0.95, .idioms_slower = 0.2};
    for (int claimed = 6; claimed <= 9; claimed++) {
        const struct floor_witness claim = {claimed, 1ULL << claimed};
        check_floor(&core, &claim, FLOOR_STEADY, "a table that a mixture seems to prove");
    }
}

static void a_quiet_core_is_not_needed_for_long(void **state)
{
    (void)state;
    const struct core core = {.width = 6, .quiet = 0.2, .halved = 0.4};
    check_floor(&core, &nobody, FLOOR_STEADY, "a fifth of the time");
}

static void samples_that_are_too_fast_are_no_floor(void **state)
{
    (void)state;
    const struct core once = {.width = 6, .quiet = 0.8, .too_fast = 0.3, .too_fast_window = 1};
    check_floor(&once, &nobody, FLOOR_STEADY, "calibrations that are slow at one time");
    const struct floor_witness families = {0, 1ULL << 4 | 1ULL << 5 | 1ULL << 6};
    const struct core often = {.width = 6, .quiet = 0.8, .too_fast = 0.05, .too_fast_window = -1};
    check_floor(&often, &families, FLOOR_STEADY, "now and then at all times");
    check_floor(&often, &nobody, FLOOR_STEADY, "now and then at all times, no table");
}

// If all timings spread, calibrations are slow by chance as often as canaries: apparently faster
// samples come back, but as the fringe of a spread, and refute no table.
static void times_that_spread_make_no_core_wider(void **state)
{
    (void)state;
    static const struct floor_witness known = {8, 1ULL << 8};
    random_state = 88172645463325252ULL;
    for (int round = 0; round < 100; round++) {
        const struct core spread = {.width = 8, .quiet = 1, .spread = 0.06 + round * 0.001};
        struct canary_floor floor;
        struct err seen = {0};
        core_floor(&spread, 900, &known, &floor, &seen);
        if (floor.issue_width != 8)
            fail_msg("%.3f: width %d (%s)", spread.spread, floor.issue_width, seen.text);
    }
}

// One look is enough where the floor is met in half of its samples.
static void a_floor_that_is_met_needs_one_look(void **state)
{
    (void)state;
    static const struct {
        double quiet;
        double clk; // beside the core's: share
        int canary;
        bool met;
    } cases[] = {
        {0.95, 1,    1,             true },
        {0.6,  1.01, 1,             true },
        {0.95, 1.05, 1,             false},
        {0.3,  1,    1,             false},
        {0.95, 1,    0,             false},
        {0.95, 1,    CORE_CANARIES, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct core core = {.width = 8, .quiet = cases[i].quiet, .halved = 1};
        const struct canary_floor floor = {cases[i].canary, 0.1252 * cases[i].clk, 8};
        struct exec_floor *windows = calloc(FLOOR_WINDOWS, sizeof *windows);
        random_state = 88172645463325252ULL;
        core_windows(&core, 500, windows);
        if (floor_is_met(&windows[0], &floor) != cases[i].met)
            fail_msg("case %zu", i);
        free(windows);
    }
}

static void a_busy_core_gives_no_floor_to_keep(void **state)
{
    (void)state;
    const struct core busy = {.width = 6, .halved = 1};
    const struct floor_witness claim = {.claimed = 6};
    const struct floor_witness families = {0, 1ULL << 5 | 1ULL << 6};
    struct canary_floor floor;
    struct err seen = {0};
    random_state = 88172645463325252ULL;
    assert_int_equal(core_floor(&busy, 2000, &claim, &floor, &seen), FLOOR_GUESS);
    assert_non_null(strstr(seen.text, "3.00 instructions per cycle"));
    assert_non_null(strstr(seen.text, "other thread"));
    assert_int_equal(core_floor(&busy, 2000, &families, &floor, &seen), FLOOR_GUESS);
    // Nothing comes back.
    const struct core noise = {.width = 6, .halved = 0};
    assert_int_equal(core_floor(&noise, 40, &claim, &floor, &seen), FLOOR_GUESS);
    assert_true(floor.canary > 0 && floor.clk_per_instr > 0 && floor.issue_width > 0);
    assert_true(seen.text[0]);
    // No sample at all.
    assert_int_equal(core_floor(&noise, 0, &nobody, &floor, &seen), FLOOR_GUESS);
    assert_true(floor.canary > 0 && floor.clk_per_instr > 0 && floor.issue_width > 0);
}

// A core that is busy while it is looked at looks narrow; so a narrow one is looked at longer, and
// again by the next run. So is one that looks wider than any: something made it look fast once.
static void an_odd_core_is_looked_at_longer(void **state)
{
    (void)state;
    static const struct {
        struct floor_witness witness;
        int width;
        bool narrow;
    } cases[] = {
        {{.claimed = 6},                     5, true },
        {{.claimed = 6},                     6, false},
        {{.claimed = 6},                     7, false},
        {{.allowed = 1ULL << 5 | 1ULL << 6}, 4, true },
        {{.allowed = 1ULL << 5 | 1ULL << 6}, 7, false},
        {{.allowed = 1ULL << 5 | 1ULL << 6}, 5, false},
        {{0},                                3, false}, // nothing is known
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct canary_floor floor = {.issue_width = cases[i].width};
        const struct floor_witness *witness = &cases[i].witness;
        assert_int_equal(floor_is_narrow(witness, &floor), cases[i].narrow);
        bool odd = cases[i].narrow || cases[i].width == 7; // wider than any
        assert_int_equal(floor_settled(witness, &floor, FLOOR_STEADY, 3), !odd);
        assert_true(floor_settled(witness, &floor, FLOOR_STEADY, 40));
        assert_false(floor_settled(witness, &floor, FLOOR_SEEN, 40));
        assert_false(floor_settled(witness, &floor, FLOOR_GUESS, 159));
    }
}

// Long nops share the caches of decoded code with what lies beside them, which is something else in
// each process; where they are undisturbed most often, they are not always.
static void a_canary_is_undisturbed_at_all_times(void **state)
{
    (void)state;
    static const struct core cores[] = {
        {.width = 8, .quiet = 0.9, .misplaced_in = 1 << 1,                   .misplaced = 0.08},
        {.width = 8, .quiet = 0.9, .misplaced_in = 1 << 0 | 1 << 1 | 1 << 2, .misplaced = 0.07},
    };
    for (size_t i = 0; i < sizeof cores / sizeof cores[0]; i++) {
        struct canary_floor floor;
        struct err seen = {0};
        random_state = 88172645463325252ULL;
        assert_int_equal(core_floor(&cores[i], 2000, &nobody, &floor, &seen), FLOOR_STEADY);
        if (floor.canary >= 7 && floor.canary < CORE_CANARY_MIXTURES)
            fail_msg("core %zu: canary %d", i, floor.canary);
    }
}

// A small cost per byte shows which canaries depend on the place of the code, although it showed in
// no look.
static void the_canary_is_the_one_that_comes_nearest_to_the_width(void **state)
{
    (void)state;
    static const struct core core = {
        .width = 8, .quiet = 0.95, .byte_slower = 0.006, .mixture_slower = 0.05};
    for (unsigned round = 0; round < 10; round++) {
        struct canary_floor floor;
        struct err seen = {0};
        random_state = 88172645463325252ULL + round;
        assert_int_equal(core_floor(&core, 2000, &nobody, &floor, &seen), FLOOR_STEADY);
        if (floor.canary > 2 && floor.canary < CORE_CANARY_MIXTURES)
            fail_msg("round %u: canary %d", round, floor.canary);
    }
}

static void the_floor_is_the_fastest_state_though_another_is_there_more_often(void **state)
{
    (void)state;
    static const struct core core = {.width = 8, .quiet = 0.9, .slowed = 0.7, .slowed_by = 0.035};
    const struct floor_witness known = {8, 1ULL << 8};
    check_floor(&core, &known, FLOOR_STEADY, "slowed for most of the time");
    struct canary_floor floor;
    struct err seen = {0};
    random_state = 88172645463325252ULL;
    core_floor(&core, 2000, &known, &floor, &seen);
    double rate = 961.0 / 960 / floor.clk_per_instr;
    if (fabs(rate - 8) > 0.16)
        fail_msg("canary %d: floor at %.3f a cycle", floor.canary, rate);
}

// A floor of a bad time is refused when the core is quiet, and only then.
static void a_floor_is_refuted_by_a_quiet_core(void **state)
{
    (void)state;
    static const struct core quiet = {.width = 8, .quiet = 0.8}, busy = {.width = 8, .halved = 1};
    const struct floor_witness known = {8, 1ULL << 8};
    static const struct {
        struct canary_floor floor;
        bool quiet, holds;
    } cases[] = {
        {{1, 961.0 / 960 / 8, 8},         true,  true },
        {{1, 961.0 / 960 / 8 * 1.01, 8},  true,  true },
        {{1, 961.0 / 960 / 8 * 1.035, 8}, true,  false},
        {{1, 961.0 / 960 / 8 * 1.035, 8}, false, true }, // nothing better is known
        {{8, 961.0 / 960 / 7.41, 8},      true,  false},
        {{0, 0.125, 8},                   true,  false}, // no canary
    };
    struct exec_floor *windows = calloc(FLOOR_WINDOWS, sizeof *windows);
    assert_non_null(windows);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        random_state = 88172645463325252ULL;
        core_windows(cases[i].quiet ? &quiet : &busy, 300, windows);
        assert_int_equal(floor_holds(windows, &known, &cases[i].floor), cases[i].holds);
    }
    free(windows);
}

enum { SAMPLES = 4 };

static bool settled(uint32_t grid, uint32_t passes, const double *clk)
{
    struct core_kernel kernel = {.grid = grid};
    struct kernel_run run = {.kernel = &kernel, .nvalues = passes};
    for (uint32_t pass = 0; pass < passes; pass++) {
        run.nsamples[pass] = SAMPLES;
        for (uint32_t i = 0; i < SAMPLES; i++)
            run.values[pass][i] = clk[pass];
    }
    return steady_settled(&run, 0.005);
}

static void passes_go_on_until_the_fastest_state_came_back(void **state)
{
    (void)state;
    static const struct {
        uint32_t grid, passes;
        double clk[5];
        bool settled;
    } cases[] = {
        {1, 1, {3},                            false},
        {1, 2, {3, 3.001},                     true },
        {1, 2, {3, 4},                         false}, // 3 was seen once
        {1, 3, {4, 4, 3},                      false},
        {1, 4, {4, 4, 3, 3, 4},                true },
        {1, 2, {3.15, 3.15},                   false}, // no whole cycle: look longer
        {1, 5, {3.15, 3.15, 3.15, 3.15, 3.15}, true },
        {6, 2, {0.5, 0.5},                     true },
        {6, 2, {0.333, 0.333},                 true },
        {6, 2, {0.532, 0.532},                 false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(settled(cases[i].grid, cases[i].passes, cases[i].clk), cases[i].settled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_width_is_what_comes_back_whatever_tables_say),
        cmocka_unit_test(a_slow_mixture_proves_no_table),
        cmocka_unit_test(a_quiet_core_is_not_needed_for_long),
        cmocka_unit_test(samples_that_are_too_fast_are_no_floor),
        cmocka_unit_test(times_that_spread_make_no_core_wider),
        cmocka_unit_test(a_floor_that_is_met_needs_one_look),
        cmocka_unit_test(a_busy_core_gives_no_floor_to_keep),
        cmocka_unit_test(an_odd_core_is_looked_at_longer),
        cmocka_unit_test(a_canary_is_undisturbed_at_all_times),
        cmocka_unit_test(the_canary_is_the_one_that_comes_nearest_to_the_width),
        cmocka_unit_test(the_floor_is_the_fastest_state_though_another_is_there_more_often),
        cmocka_unit_test(a_floor_is_refuted_by_a_quiet_core),
        cmocka_unit_test(passes_go_on_until_the_fastest_state_came_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
