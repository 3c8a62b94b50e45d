// SPDX-License-Identifier: MIT
// Pages for code that invents its addresses. Each fault for want of memory names a page, which the
// next process maps (core_pages.c). Pure, but for the clock and the system's least address.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Limits of a kernel: pages, processes that begin anew for it, and time that it ran in these.
enum { EXEC_PAGES_MAX = 4096, EXEC_PAGES_ROUNDS = 64, EXEC_PAGES_MS = 10000 };

// Pages of all kernels of a program; owned by the caller, freed by exec_pages_free().
struct exec_pages {
    uint64_t *at; // addresses
    int n;
    int mapped; // so many of them the process that runs now was given
    size_t room;
};
void exec_pages_free(struct exec_pages *pages);

// Pages that the addresses of one kernel asked for. A run of them grows at an end that faults
// again, twice as far each time: code that walks through memory would need a process a page else.
struct exec_run_of_pages {
    uint64_t low, high; // numbers of the first page and the last
    int grown;          // how often
};
struct exec_reach {
    struct exec_run_of_pages runs[EXEC_PAGES_ROUNDS];
    int nruns, pages, rounds;
    int64_t ran_ms; // until its faults, in all processes
};

// Copies the addresses after a configuration, and notes that a process is given them. Returns the
// bytes; 0 for NULL.
size_t exec_pages_put(struct exec_pages *pages, void *to);

enum { EXEC_PAGES_TEXT = 160 };
// Adds what a fault at `address` calls for, before which the kernel ran for `ran_ms`. Returns
// false, with the reason in `why`, where no page may be mapped there, or too many are.
bool exec_pages_add(struct exec_pages *pages, struct exec_reach *reach, uint64_t address,
                    int64_t ran_ms, char why[EXEC_PAGES_TEXT]);
