// SPDX-License-Identifier: MIT
// Permission of user code to read counters by RDPMC that it has not opened with perf. The kernel's
// driver for the counters has a file for that: 2 in it sets CR4.PCE on all CPUs.
#pragma once

#include "count.h"
#include "count_guard.h"

enum { RDPMC_FOR_ALL = 2 }; // in the file: any program may use the instruction
enum { RDPMC_PATH_BYTES = 256 };

// Finds the file, and what is in it. COUNT_FORBIDDEN where there is none: then RDPMC faults.
enum count_obstacle count_rdpmc_find(const struct count_machine *machine,
                                     char path[RDPMC_PATH_BYTES], int *allowed, struct err *err);

// Allows it for a time; the former value is written back by count_rdpmc_end(), and also when this
// process is killed. Begin with zeros.
struct count_rdpmc {
    char path[2 * RDPMC_PATH_BYTES]; // with the machine's root; "": nothing was changed
    int before;
    struct count_guard guard;
};
enum count_obstacle count_rdpmc_allow(const struct count_machine *machine,
                                      struct count_rdpmc *rdpmc, struct err *err);
void count_rdpmc_end(struct count_rdpmc *rdpmc);
