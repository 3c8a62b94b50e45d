// SPDX-License-Identifier: MIT
// What the files of liblatput share.
#ifndef LATPUT_INTERNAL_H
#define LATPUT_INTERNAL_H

#include "../include/latput.h"

// TSC ticks a link of the calibration chain, measured now in some 5 µs.
double calibration_tsc_per_link(double overhead_tsc);

// The count of one event by RDPMC, as the page tells how to (struct perf_event_mmap_page). 0, or -1
// if the event is not on a counter now.
struct perf_event_mmap_page;
int page_read(const struct perf_event_mmap_page *page, uint64_t *count);

#endif
