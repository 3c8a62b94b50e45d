// SPDX-License-Identifier: MIT
// Reading an event through perf's page with RDPMC, where a function stands for the instruction:
// what the kernel can do to the page at any moment must not show in the count.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "library/latput_page.h"

// The page, and what the counter holds; and when the kernel steps in.
static struct perf_event_mmap_page page;
static uint64_t counter;
static int reads, interrupts_left;

static uint64_t fake_rdpmc(uint32_t index)
{
    reads++;
    assert_int_equal(index, page.index - 1);
    uint64_t value = counter;
    if (interrupts_left > 0) { // another thread ran meanwhile; the counter starts from 0 again
        interrupts_left--;
        page.lock += 2;
        page.offset += (int64_t)counter;
        counter = 0;
        page.index = 5;
    }
    return value;
}

static void set_up(uint32_t index, int64_t offset, uint64_t value, uint16_t width)
{
    page = (struct perf_event_mmap_page){.lock = 4,
                                         .index = index,
                                         .offset = offset,
                                         .pmc_width = width,
                                         .time_enabled = 100,
                                         .time_running = 100};
    counter = value;
    reads = interrupts_left = 0;
}

static void counter_and_offset_are_added(void **state)
{
    (void)state;
    uint64_t count = 0;
    set_up(1, 1000, 234, 48);
    assert_int_equal(page_read(&page, fake_rdpmc, &count), 0);
    assert_int_equal(count, 1234);
    assert_int_equal(reads, 1);
}

// The kernel starts a counter at minus its period, so that it overflows in time.
static void counters_are_signed_and_narrow(void **state)
{
    (void)state;
    static const uint16_t widths[] = {32, 40, 48, 64};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        uint64_t count = 0, mask = UINT64_MAX >> (64 - widths[i]);
        set_up(2, 1000, (uint64_t)-100 & mask, widths[i]);
        assert_int_equal(page_read(&page, fake_rdpmc, &count), 0);
        assert_int_equal(count, 900);
    }
}

static void a_change_of_the_page_is_noticed(void **state)
{
    (void)state;
    uint64_t count = 0;
    set_up(1, 1000, 234, 48);
    interrupts_left = 3;
    assert_int_equal(page_read(&page, fake_rdpmc, &count), 0);
    assert_int_equal(count, 1234);
    assert_int_equal(reads, 4);
}

static void incomplete_counts_are_refused(void **state)
{
    (void)state;
    uint64_t count = 0;
    set_up(0, 1000, 234, 48); // on no counter
    assert_int_equal(page_read(&page, fake_rdpmc, &count), -1);
    assert_int_equal(reads, 0);
    set_up(1, 1000, 234, 48); // was multiplexed
    page.time_running = 60;
    assert_int_equal(page_read(&page, fake_rdpmc, &count), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counter_and_offset_are_added),
        cmocka_unit_test(counters_are_signed_and_narrow),
        cmocka_unit_test(a_change_of_the_page_is_noticed),
        cmocka_unit_test(incomplete_counts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
