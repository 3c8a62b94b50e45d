// SPDX-License-Identifier: MIT
// Memory for code that invents its addresses: out of memory, by sums, by adding to a pointer again
// and again. A process that is begun anew maps the pages that the ones before it lacked, before it
// gives up its rights, so the filter needs no further call. All pages show a few frames, as BHive
// has them show one: what is read there is in the first-level cache, and holds what the data area
// holds. A few, since some cores take several cycles longer for a line that was last used by
// another address.
#include "core_internal.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    FRAMES = 4,
    FRAMES_BYTES = FRAMES * CORE_PAGE,
};

static uint64_t *frames; // after the data area; NULL: the code has none
static bool wanted;

// Maps a page: where nothing is, or in the guards of the data area. What cannot be mapped, since
// the core itself lies there, stays as it is: the next fault there is told.
static void pages_map_one(uint64_t at, int fd, uint32_t number)
{
    if (at > UINTPTR_MAX - CORE_PAGE)
        return;
    void *page = (void *)(uintptr_t)at;
    int fixed = time_is_guard((uintptr_t)at) ? MAP_FIXED : MAP_FIXED_NOREPLACE;
    int sharing = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    void *got = mmap(page, CORE_PAGE, PROT_READ | PROT_WRITE, sharing | fixed | MAP_POPULATE, fd,
                     fd >= 0 ? (off_t)(number % FRAMES) * CORE_PAGE : 0);
    if (got != MAP_FAILED && got != page) // older kernels take the address for a wish
        munmap(got, CORE_PAGE);
}

// Returns true if the page is one of the frames as they lie after the data area.
static bool page_is_frame(uint64_t at)
{
    return frames && at >= (uintptr_t)frames && at < (uintptr_t)frames + FRAMES_BYTES;
}

void pages_map(const uint64_t *pages, uint32_t n)
{
    const void *end;
    time_data(&end);
    // Without such files, each page is memory of its own, at the price of cache.
    int fd = memfd_create("latput-frames", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, FRAMES_BYTES) != 0) {
        close(fd);
        fd = -1;
    }
    frames = (uint64_t *)(uintptr_t)end;
    for (uint32_t i = 0; i < FRAMES; i++)
        pages_map_one((uintptr_t)frames + (uintptr_t)i * CORE_PAGE, fd, i);
    for (uint32_t i = 0; i < n; i++)
        if (!page_is_frame(pages[i]))
            pages_map_one(pages[i] & ~(uint64_t)(CORE_PAGE - 1), fd, i);
    if (fd >= 0)
        close(fd);
    wanted = true;
}

void pages_fill(uint64_t word)
{
    for (size_t i = 0; wanted && i < FRAMES_BYTES / sizeof word; i++)
        frames[i] = word;
}

bool pages_missing(const struct guard_fault *fault)
{
    // A jump to memory has no use for a page, which nobody may execute.
    if (!wanted || fault->signal != SIGSEGV || fault->fetch || page_is_frame(fault->address))
        return false;
    return fault->code == SEGV_MAPERR ||
           (fault->code == SEGV_ACCERR && time_is_guard((uintptr_t)fault->address));
}
