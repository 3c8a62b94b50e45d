// SPDX-License-Identifier: MIT
// The CPU that is disturbed least is taken; the last one where several are about as quiet.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/cpu_quiet.h"
#include "util/mem.h"
#include "util/random.h"

#include <stdlib.h>

enum { CPUS = 4, LOOKS = 500 };
static const double QUIET = 1.5, BUSY = 2.7;

// A core whose sibling is busy for this share of the time; where it computes now and then in
// another's place, a chain is cut, and a ratio much too small.
static void look(struct quiet_seen *seen, int cpu, double busy, uint64_t *state)
{
    *seen = (struct quiet_seen){.cpu = cpu, .n = LOOKS};
    for (int i = 0; i < LOOKS; i++) {
        double scatter = 1 + random_below(state, 1000) * 1e-5;
        seen->ratios[i] = (random_below(state, 1000) < busy * 1000 ? BUSY : QUIET) * scatter;
    }
    seen->ratios[random_below(state, LOOKS)] = QUIET / 3;
}

static int best(const double busy[CPUS], uint64_t seed)
{
    struct quiet_seen *seen = xcalloc(CPUS, sizeof *seen);
    for (int i = 0; i < CPUS; i++)
        look(&seen[i], 10 + i, busy[i], &seed);
    double least = 0, share;
    int cpu = cpu_quiet_best(seen, CPUS, &least, &share);
    assert_true(least >= QUIET && least < QUIET * 1.02);
    assert_true(share >= 0 && share <= 1);
    free(seen);
    return cpu;
}

static void the_quietest_is_taken(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 50; seed++) {
        assert_int_equal(best((double[]){0.9, 0.1, 0.5, 0.9}, seed), 11);
        assert_int_equal(best((double[]){0, 0, 0, 0}, seed), 13);
        assert_int_equal(best((double[]){0.02, 0.5, 0, 0.03}, seed), 13); // about as good
        assert_int_equal(best((double[]){0.3, 1, 1, 1}, seed), 10);
        assert_int_equal(best((double[]){0.99, 0.98, 0.97, 0.96}, seed), 13);
    }
}

static void what_was_not_seen_is_not_taken(void **state)
{
    (void)state;
    struct quiet_seen *seen = xcalloc(2, sizeof *seen);
    uint64_t random = 1;
    look(&seen[0], 3, 0.5, &random);
    seen[1].cpu = 7;
    double least = 0, share;
    assert_int_equal(cpu_quiet_best(seen, 2, &least, &share), 3);
    assert_int_equal(cpu_quiet_best(seen, 0, &least, &share), -1);
    free(seen);
}

// The share is that of repeats, which are longer than looks; what is always disturbed shows in the
// ratio that an undisturbed CPU had.
static void the_share_is_of_repeats(void **state)
{
    (void)state;
    struct quiet_seen *seen = xcalloc(1, sizeof *seen);
    double least = 0, share;
    uint64_t random = 1;
    look(seen, 3, 0, &random);
    cpu_quiet_best(seen, 1, &least, &share);
    assert_true(share > 0.97);
    for (int i = 0; i < LOOKS; i += 3) // a neighbour at each third look
        seen->ratios[i] = BUSY;
    cpu_quiet_best(seen, 1, &least, &share);
    assert_true(share == 0);
    for (int i = 0; i < LOOKS; i++)
        seen->ratios[i] = BUSY;
    double known = QUIET;
    assert_int_equal(cpu_quiet_best(seen, 1, &known, &share), 3);
    assert_true(share == 0 && known == QUIET);
    free(seen);
}

// No CPU is named but one that is allowed.
static void only_what_may_be_used(void **state)
{
    (void)state;
    cpu_set_t all, one;
    double least = 0, share;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET((size_t)cpu, &all))
            continue;
        CPU_ZERO(&one);
        CPU_SET((size_t)cpu, &one);
        assert_int_equal(cpu_quiet_choose(&one, -1, &least, &share), cpu);
    }
    int chosen = cpu_quiet_choose(&all, -1, &least, &share);
    assert_true(chosen >= 0 && CPU_ISSET((size_t)chosen, &all));
    assert_int_equal(sched_getaffinity(0, sizeof one, &one), 0);
    assert_true(CPU_EQUAL(&all, &one)); // and comes back
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_quietest_is_taken),
        cmocka_unit_test(what_was_not_seen_is_not_taken),
        cmocka_unit_test(the_share_is_of_repeats),
        cmocka_unit_test(only_what_may_be_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
