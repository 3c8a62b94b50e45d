// SPDX-License-Identifier: MIT
// The account of where time goes: what is added from several threads is there, a part of it is what
// was added since, and the rest of a time is what was spent on nothing that is told apart.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/clock.h"
#include "util/spent.h"

#include <pthread.h>
#include <time.h>

enum { THREADS = 4, TIMES = 10000 };

static void *add(void *argument)
{
    (void)argument;
    for (int i = 0; i < TIMES; i++)
        spent_add(SPENT_LINKING, 0.5);
    return NULL;
}

static void threads_add_up(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    const struct spent before = spent_now();
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    const struct spent since = spent_since(&before);
    assert_true(since.on[SPENT_LINKING] == THREADS * TIMES * 0.5);
    assert_true(since.on[SPENT_ASSEMBLING] == 0);
}

// So long something takes, of which so much was measuring, and assembling beside it.
static double rest_s(double measuring_s)
{
    const struct spent before = spent_now();
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    spent_add(SPENT_MEASURING, measuring_s);
    spent_add(SPENT_ASSEMBLING, 100);
    spent_add_rest(SPENT_INFERRING, &before);
    const struct spent since = spent_since(&before);
    assert_true(since.at_s >= 0.02);
    assert_true(since.on[SPENT_MEASURING] + since.on[SPENT_INFERRING] <= since.at_s + measuring_s);
    return since.on[SPENT_INFERRING];
}

static void the_rest_is_what_nothing_took(void **state)
{
    (void)state;
    assert_true(rest_s(0) >= 0.02);
    assert_true(rest_s(0.01) >= 0.009);
    assert_true(rest_s(1e6) == 0); // never less than nothing
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_add_up),
        cmocka_unit_test(the_rest_is_what_nothing_took),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
