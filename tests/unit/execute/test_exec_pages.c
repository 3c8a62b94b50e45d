// SPDX-License-Identifier: MIT
// Pages that faults ask for: those that walk on, those that may not be, and too many.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/core_abi.h"
#include "execute/exec_pages.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t PLACE = UINT64_C(0x70000000);

static struct exec_pages pages;
static struct exec_reach reach;
static char why[EXEC_PAGES_TEXT];

static int begin(void **state)
{
    (void)state;
    exec_pages_free(&pages);
    reach = (struct exec_reach){0};
    return 0;
}

static bool fault(uint64_t address)
{
    return exec_pages_add(&pages, &reach, address, 0, why);
}

// A process takes what there is.
static void run_process(void)
{
    uint64_t *given = malloc((size_t)pages.n * sizeof *given + 1);
    assert_int_equal(exec_pages_put(&pages, given), (size_t)pages.n * sizeof *given);
    assert_memory_equal(given, pages.at, (size_t)pages.n * sizeof *given);
    free(given);
}

static bool is_mapped(uint64_t address)
{
    for (int i = 0; i < pages.n; i++)
        if (pages.at[i] == address / CORE_PAGE * CORE_PAGE)
            return true;
    return false;
}

static void a_fault_adds_its_page(void **state)
{
    (void)state;
    assert_true(fault(PLACE + 123));
    assert_int_equal(pages.n, 1);
    assert_int_equal(pages.at[0], PLACE);
    run_process();
    assert_true(fault(4 * PLACE));
    assert_int_equal(pages.n, 2);
    assert_int_equal(reach.rounds, 2);
}

// Code that walks through memory needs few processes, upwards and downwards.
static void walks_grow(void **state)
{
    (void)state;
    static const int64_t steps[] = {CORE_PAGE, -CORE_PAGE, 3 * CORE_PAGE + 8};
    for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
        enum { WALK = 200 };
        begin(NULL);
        int processes = 0;
        for (int i = 0; i < WALK; i++) {
            uint64_t at = 16 * PLACE + (uint64_t)(i * steps[s]);
            if (is_mapped(at))
                continue;
            run_process();
            assert_true(fault(at));
            assert_true(is_mapped(at));
            processes++;
        }
        assert_true(processes <= 14);
        assert_int_equal(reach.nruns, 1);
    }
}

// Two kernels of a process may fault at the same page, before it is mapped.
static void a_page_is_asked_for_twice(void **state)
{
    (void)state;
    struct exec_reach other = {0};
    run_process();
    assert_true(fault(PLACE));
    assert_true(exec_pages_add(&pages, &other, PLACE + 8, 0, why));
    assert_int_equal(pages.n, 1);
    // Once it was to be mapped, the core itself must lie there.
    run_process();
    assert_false(fault(PLACE));
    assert_non_null(strstr(why, "where the measurement core itself lies"));
}

static void some_addresses_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint64_t address;
        const char *why;
    } cases[] = {
        {0x10,                         "0x10, which is below the least that the system gives"   },
        {UINT64_C(0xffffffffff600008), "0xffffffffff600008, which is the system's vsyscall page"},
        {UINT64_C(0xffff800000000000), "0xffff800000000000, which belongs to the system"        },
        {UINT64_C(0x3ff0000000000000), "0x3ff0000000000000, which belongs to the system"        },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_false(fault(cases[i].address));
        assert_non_null(strstr(why, cases[i].why));
        assert_int_equal(pages.n, 0);
    }
}

static void pages_and_processes_and_time_end(void **state)
{
    (void)state;
    int rounds = 0;
    while (fault(PLACE + (uint64_t)rounds * 1024 * CORE_PAGE))
        rounds++;
    assert_int_equal(rounds, EXEC_PAGES_ROUNDS);
    assert_non_null(strstr(why, "ever new pages: 64 were mapped in 64 processes"));
    begin(NULL);
    uint64_t at = PLACE;
    while (fault(at))
        for (; is_mapped(at); at += CORE_PAGE)
            ;
    assert_true(reach.pages >= EXEC_PAGES_MAX && reach.rounds < EXEC_PAGES_ROUNDS);
    begin(NULL);
    assert_true(fault(PLACE));
    // The time of other kernels between is not its own.
    assert_true(exec_pages_add(&pages, &reach, 2 * PLACE, EXEC_PAGES_MS - 1, why));
    assert_true(exec_pages_add(&pages, &reach, 3 * PLACE, 1, why));
    assert_false(exec_pages_add(&pages, &reach, 4 * PLACE, 1, why));
    begin(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_fault_adds_its_page, begin),
        cmocka_unit_test_setup(walks_grow, begin),
        cmocka_unit_test_setup(a_page_is_asked_for_twice, begin),
        cmocka_unit_test_setup(some_addresses_are_refused, begin),
        cmocka_unit_test_setup(pages_and_processes_and_time_end, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
