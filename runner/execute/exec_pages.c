// SPDX-License-Identifier: MIT
#include "exec_pages.h"

#include "core/core_abi.h"
#include "util/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NEAR_PAGES = 64, // a fault so near to a run goes on with it
    GROWN_MOST = 8,  // by 256 pages at a time
};
static const uint64_t USER_END = UINT64_C(1) << 47, VSYSCALL = UINT64_C(0xffffffffff600000);

void exec_pages_free(struct exec_pages *pages)
{
    free(pages->at);
    *pages = (struct exec_pages){0};
}

// Returns the lowest address at which the system lets a program have memory.
static uint64_t least_address(void)
{
    static uint64_t least;
    if (least)
        return least;
    FILE *file = fopen("/proc/sys/vm/mmap_min_addr", "r");
    if (!file || fscanf(file, "%" SCNu64, &least) != 1 || least < CORE_PAGE)
        least = 65536;
    if (file)
        fclose(file);
    return least;
}

// Returns why no page may be at the address; NULL: it may.
static const char *refusal(uint64_t address)
{
    if (address < least_address())
        return "which is below the least that the system gives (vm.mmap_min_addr)";
    if (address >> 12 == VSYSCALL >> 12)
        return "which is the system's vsyscall page";
    if (address >= USER_END)
        return "which belongs to the system";
    return NULL;
}

// Returns true if the page is one of the first n.
static bool page_is_among(const struct exec_pages *pages, int n, uint64_t page)
{
    for (int i = 0; i < n; i++)
        if (pages->at[i] == page * CORE_PAGE)
            return true;
    return false;
}

static void page_add(struct exec_pages *pages, struct exec_reach *reach, uint64_t page)
{
    if (refusal(page * CORE_PAGE) || page_is_among(pages, pages->n, page))
        return;
    pages->at = xgrow(pages->at, &pages->room, (size_t)pages->n + 1, sizeof *pages->at);
    pages->at[pages->n++] = page * CORE_PAGE;
    reach->pages++;
}

// Returns the run that the page goes on with, or a new one.
static struct exec_run_of_pages *reach_run(struct exec_reach *reach, uint64_t page)
{
    for (int i = 0; i < reach->nruns; i++) {
        struct exec_run_of_pages *run = &reach->runs[i];
        if (page + NEAR_PAGES >= run->low && page <= run->high + NEAR_PAGES)
            return run;
    }
    struct exec_run_of_pages *run = &reach->runs[reach->nruns++];
    *run = (struct exec_run_of_pages){page, page, -1};
    return run;
}

// Adds the page with all between it and its run, and, if the run grows, as many again beyond.
static void run_extend(struct exec_pages *pages, struct exec_reach *reach, uint64_t page)
{
    struct exec_run_of_pages *run = reach_run(reach, page);
    uint64_t low = page < run->low ? page : run->low, high = page > run->high ? page : run->high;
    uint64_t more = run->grown < 0 ? 0 : (UINT64_C(1) << run->grown) - 1;
    if (page < run->low)
        low -= low > more ? more : low;
    if (page > run->high)
        high += more;
    for (uint64_t at = low; at <= high; at++)
        if (run->grown < 0 || at < run->low || at > run->high)
            page_add(pages, reach, at);
    run->low = low;
    run->high = high;
    run->grown += run->grown < GROWN_MOST;
}

size_t exec_pages_put(struct exec_pages *pages, void *to)
{
    size_t bytes = pages ? (size_t)pages->n * sizeof *pages->at : 0;
    if (bytes)
        memcpy(to, pages->at, bytes);
    if (pages)
        pages->mapped = pages->n;
    return bytes;
}

bool exec_pages_add(struct exec_pages *pages, struct exec_reach *reach, uint64_t address,
                    int64_t ran_ms, char why[EXEC_PAGES_TEXT])
{
    const char *refused = refusal(address);
    uint64_t page = address / CORE_PAGE;
    reach->ran_ms += ran_ms;
    if (!refused && page_is_among(pages, pages->mapped, page))
        refused = "where the measurement core itself lies";
    if (refused) {
        snprintf(why, EXEC_PAGES_TEXT, "no page can be mapped at 0x%" PRIx64 ", %s", address,
                 refused);
        return false;
    }
    if (reach->rounds >= EXEC_PAGES_ROUNDS || reach->ran_ms > EXEC_PAGES_MS ||
        reach->pages >= EXEC_PAGES_MAX || pages->n >= CORE_PAGES_MAX - EXEC_PAGES_MAX) {
        snprintf(why, EXEC_PAGES_TEXT,
                 "its addresses go to ever new pages: %d were mapped in %d processes, and it asks "
                 "for 0x%" PRIx64,
                 reach->pages, reach->rounds, address);
        return false;
    }
    reach->rounds++;
    run_extend(pages, reach, page);
    return true;
}
