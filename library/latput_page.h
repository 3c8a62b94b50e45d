// SPDX-License-Identifier: MIT
// Reading an event with RDPMC by way of perf's page (perf_event_open(2)). The instruction is a
// parameter, so that tests can replace it.
#pragma once

#include "latput_internal.h"

#include <linux/perf_event.h>

// Reads the count of the page's event. Returns 0, or -1 if it is on no counter now or was off it
// for a time: then *count is not valid. The kernel changes the page when it takes the counter away,
// at a moment that no one here sees; `lock` differs before and after if it did. Times differ if the
// event was off its counter before.
static inline int page_read(const struct perf_event_mmap_page *page, uint64_t (*rdpmc)(uint32_t),
                            uint64_t *count)
{
    const volatile struct perf_event_mmap_page *now = page;
    uint32_t lock, index;
    int whole;
    do {
        lock = now->lock;
        __asm__ volatile("" : : : "memory");
        index = now->index;
        whole = now->time_enabled == now->time_running;
        *count = (uint64_t)now->offset;
        if (index) {
            // The counter is narrower than 64 bits, and signed.
            unsigned unused = 64u - now->pmc_width;
            int64_t part = (int64_t)(rdpmc(index - 1) << unused) >> unused;
            *count += (uint64_t)part;
        }
        __asm__ volatile("" : : : "memory");
    } while (now->lock != lock);
    return index && whole ? 0 : -1;
}
