// SPDX-License-Identifier: MIT
// Counters that kernels read by themselves, with RDPMC beside the clock: no system call lies
// between a kernel and its counts. Perf may put an event on another counter, or take it off, at any
// interrupt; its page shows that by a lock that changes, and the timing is not used. What reading
// costs is part of the overhead that core_time_calibrate.c finds by chains of two lengths.
#include "core_internal.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE_BYTES = 4096, TSC_BITS = 64, TSC_ONE = 1 << 16 };

static const struct core_counter *counters;
static uint32_t ncounters;
static const volatile struct perf_event_mmap_page *pages[CORE_TIMED_MAX]; // NULL: not perf's
static uint64_t masks[CORE_TIMED_MAX]; // valid bits of each counter

static uint64_t rdpmc_mask(unsigned bits)
{
    return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

// Opens event i in the group of `leader` (-1: as the leader) and returns its descriptor.
static int rdpmc_open_event(uint32_t i, int leader)
{
    int fd = count_open_event(&counters[i], i, leader, 0);
    void *page = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        send_fatal("the page of counter %u cannot be mapped: %s", i, strerror(errno));
    pages[i] = page;
    if (!pages[i]->cap_user_rdpmc)
        send_fatal("counter %u cannot be read with RDPMC: the system keeps it from user code", i);
    masks[i] = rdpmc_mask(pages[i]->pmc_width);
    return fd;
}

void rdpmc_open(const struct core_counter *wanted, uint32_t n)
{
    int leader = -1;
    counters = wanted;
    ncounters = n;
    for (uint32_t i = 0; i < n; i++) {
        if (wanted[i].source == CORE_COUNTER_PERF) {
            int fd = rdpmc_open_event(i, leader);
            leader = leader < 0 ? fd : leader;
            continue;
        }
        masks[i] =
            rdpmc_mask(wanted[i].source == CORE_COUNTER_TSC ? TSC_BITS : (unsigned)wanted[i].bits);
    }
}

// The reads below happen in program order: the pages are volatile, and x86 does not reorder loads.
void rdpmc_begin(void)
{
    core_state.count_lost = 0;
    for (uint32_t i = 0; i < ncounters; i++) {
        uint32_t index;
        if (!pages[i]) {
            core_state.rdpmc[i] = counters[i].rdpmc; // a body can write there
            continue;
        }
        do {
            core_state.count_lock[i] = pages[i]->lock;
            index = pages[i]->index;
        } while (pages[i]->lock != core_state.count_lock[i]);
        // Without a counter the event is not read: RDPMC of a wrong number would fault.
        core_state.count_lost |= index == 0;
        core_state.rdpmc[i] = index ? index - 1 : 0;
    }
}

bool rdpmc_take(uint32_t counts[CORE_TIMED_MAX])
{
    bool lost = core_state.count_lost;
    for (uint32_t i = 0; i < ncounters; i++) {
        uint64_t count = (core_state.count_end[i] - core_state.count_begin[i]) & masks[i];
        if (counters[i].source == CORE_COUNTER_TSC)
            count = count * counters[i].config / TSC_ONE;
        counts[i] = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
        lost |= pages[i] && pages[i]->lock != core_state.count_lock[i];
    }
    return !lost;
}
