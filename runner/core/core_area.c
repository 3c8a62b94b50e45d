// SPDX-License-Identifier: MIT
// Large data of kernels: memory beside the data area, mapped before the system-call filter is
// loaded, and what is written there. Bodies can write there as in the data area; what they break is
// a matter of the program that they belong to, whose kernels are all of one property.
#include "core_internal.h"

#include <emmintrin.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    HUGE_BYTES = 2 << 20,
    WALK_MOST = 4 << 20, // nodes of a chase that are visited before it is measured
    WALK_LANES = 16,     // at so many places at once: a miss at a time would take seconds
};

static CORE_KEPT struct area {
    uint8_t *base;
    uint64_t bytes, huge_bytes;
    uint32_t frames, flags;
    const uint8_t
        *lanes[WALK_LANES]; // nodes of its chase that are as far from each other as can be
} areas[CORE_AREAS_MAX];
static uint32_t *order;                                 // order of the nodes of a chase
static uint64_t most_nodes;                             // of the longest chase
static CORE_KEPT struct core_fill done[CORE_FILLS_MAX]; // contents of the areas
static CORE_KEPT uint32_t ndone;
static CORE_KEPT bool walked; // the chases in them, since they were written
static bool leave_shared;     // in a process of a corunner
static pid_t own_process;

static const struct core_fill *area_fills(const struct core_kernel *kernel)
{
    return (const struct core_fill *)(uintptr_t)kernel->fills;
}

static bool fill_is_chase(const struct core_fill *fill)
{
    return fill->kind == CORE_FILL_CHASE || fill->kind == CORE_FILL_CHASE_LINEAR ||
           fill->kind == CORE_FILL_CHASE_PAGES;
}

static void area_check(const struct core_fill *fill, uint32_t permits)
{
    bool chase = fill_is_chase(fill);
    if (fill->kind >= CORE_FILL_KINDS || fill->area >= CORE_AREAS_MAX ||
        fill->cursor >= CORE_CURSORS_MAX || fill->bytes < sizeof(uint64_t) ||
        (chase && (fill->stride < sizeof(uint64_t) || chase_nodes(fill) < 1 ||
                   chase_nodes(fill) > UINT32_MAX)))
        send_fatal("the data of a kernel are of no known kind");
    if (fill->flags & CORE_FILL_CODE && !(permits & CORE_PERMIT_CODE))
        send_fatal("the kernels of this program may write no code");
}

// Maps the same `frames` pages again and again over the area.
static void area_map_frames(struct area *area)
{
    size_t group = (size_t)area->frames * CORE_PAGE;
    int fd = memfd_create("latput-frames", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)group) != 0)
        send_fatal("cannot make memory that is mapped many times: %s", strerror(errno));
    for (size_t at = 0; at < area->bytes; at += group)
        if (mmap(area->base + at, group, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, 0) == MAP_FAILED)
            send_fatal("cannot map memory %zu times: %s", (size_t)area->bytes / group,
                       strerror(errno));
    close(fd);
}

static void area_map(struct area *area)
{
    uint64_t group = area->frames ? (uint64_t)area->frames * CORE_PAGE : HUGE_BYTES;
    area->bytes = (area->bytes + group - 1) / group * group;
    if (area->bytes > (uint64_t)SIZE_MAX / 2)
        send_fatal("too much data for this mode");
    int protection = PROT_READ | PROT_WRITE | (area->flags & CORE_FILL_CODE ? PROT_EXEC : 0);
    int sharing = area->flags & CORE_FILL_SHARED ? MAP_SHARED : MAP_PRIVATE;
    uint8_t *base = mmap(NULL, (size_t)area->bytes + HUGE_BYTES, protection,
                         sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        send_fatal("cannot map %llu MiB for data", (unsigned long long)area->bytes >> 20);
    area->base = base + (-(uintptr_t)base & (HUGE_BYTES - 1));
    if (area->frames) {
        area_map_frames(area);
        return;
    }
    // The hello reports what came of it.
    madvise(area->base, (size_t)area->bytes,
            area->flags & CORE_FILL_SMALL ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
    for (uint64_t at = 0; at < area->bytes; at += CORE_PAGE)
        area->base[at] = 0;
}

// Counts the bytes of the areas in huge pages, by /proc/self/smaps; 0 without that file.
static void area_find_huge(void)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    if (!file)
        return;
    char line[512];
    struct area *in = NULL;
    while (fgets(line, sizeof line, file)) {
        unsigned long long from, to, kilobytes;
        if (sscanf(line, "%llx-%llx ", &from, &to) == 2) {
            in = NULL;
            for (int i = 0; i < CORE_AREAS_MAX; i++)
                if (areas[i].base && to > (uintptr_t)areas[i].base &&
                    from < (uintptr_t)areas[i].base + areas[i].bytes)
                    in = &areas[i];
        } else if (in && sscanf(line, "AnonHugePages: %llu kB", &kilobytes) == 1) {
            in->huge_bytes += kilobytes << 10;
        }
    }
    fclose(file);
}

static void area_map_all(bool shared)
{
    for (int i = 0; i < CORE_AREAS_MAX; i++)
        if (areas[i].bytes && !(areas[i].flags & CORE_FILL_SHARED) == !shared)
            area_map(&areas[i]);
}

void area_setup(const struct kernel_run *runs, uint32_t n, uint32_t permits)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct core_fill *fills = area_fills(runs[i].kernel);
        if (runs[i].kernel->nfills > CORE_FILLS_MAX)
            send_fatal("a kernel wants more data than there can be");
        for (uint32_t f = 0; f < runs[i].kernel->nfills; f++) {
            area_check(&fills[f], permits);
            struct area *area = &areas[fills[f].area];
            // A staggered node may lie beyond the last page.
            uint64_t bytes = fills[f].bytes + CORE_PAGE;
            area->bytes = bytes > area->bytes ? bytes : area->bytes;
            area->frames = fills[f].frames;
            area->flags = fills[f].flags;
            most_nodes = chase_nodes(&fills[f]) > most_nodes ? chase_nodes(&fills[f]) : most_nodes;
        }
    }
    area_map_all(true);
}

void area_setup_own(void)
{
    own_process = getpid();
    area_map_all(false);
    if (most_nodes) {
        order = mmap(NULL, (size_t)most_nodes * sizeof *order, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (order == MAP_FAILED)
            send_fatal("cannot map the order of %llu nodes", (unsigned long long)most_nodes);
        madvise(order, (size_t)most_nodes * sizeof *order, MADV_HUGEPAGE);
    }
    area_find_huge();
}

int area_filter_calls(uint32_t permits, struct filter_call *calls)
{
    int n = 0;
    for (int i = 0; i < CORE_AREAS_MAX && permits & CORE_PERMIT_DISCARD; i++)
        if (areas[i].base)
            calls[n++] = (struct filter_call){
                SYS_madvise,
                3,
                {(uintptr_t)areas[i].base, (uintptr_t)areas[i].bytes, MADV_DONTNEED},
                0
            };
    return n;
}

void area_leave_shared(void)
{
    leave_shared = true;
}

void area_mapped_bytes(uint64_t *bytes, uint64_t *huge_bytes)
{
    *bytes = *huge_bytes = 0;
    for (int i = 0; i < CORE_AREAS_MAX; i++) {
        *bytes += areas[i].bytes;
        *huge_bytes += areas[i].huge_bytes;
    }
}

// The runner hears nothing of corunners: they are silent where the process that waits for them is.
static void area_show_life(void)
{
    if (!leave_shared)
        run_show_life();
}

static uint8_t *node_address(const struct core_fill *fill, uint32_t node)
{
    uint64_t at = (uint64_t)node * fill->stride, in_page = at % CORE_PAGE;
    in_page = (in_page + (uint64_t)node * fill->stagger) % CORE_PAGE;
    return areas[fill->area].base + at / CORE_PAGE * CORE_PAGE + in_page;
}

static void node_write(const struct core_fill *fill, uint32_t node, uint32_t next)
{
    uint64_t address = (uint64_t)(uintptr_t)node_address(fill, next);
    memcpy(node_address(fill, node), &address, sizeof address);
}

// Goes along a chase, so that caches hold of it what they would after many rounds. Each lane goes
// to the begin of the next one, so that the continuation of the first lane was read longest ago.
static void walk_chase(const struct core_fill *fill, uint64_t *cursor)
{
    const uint8_t **lanes = areas[fill->area].lanes;
    uint64_t nodes = chase_nodes(fill),
             steps = (nodes < WALK_MOST ? nodes : WALK_MOST) / WALK_LANES;
    for (uint64_t i = 0; i <= steps; i++) {
        for (int lane = 0; lane < WALK_LANES; lane++) {
            uint64_t next;
            memcpy(&next, lanes[lane], sizeof next);
            lanes[lane] = (const uint8_t *)(uintptr_t)next;
        }
        if (i % (LIFE_NODES / WALK_LANES) == 0)
            area_show_life();
    }
    *cursor = (uint64_t)(uintptr_t)lanes[0];
}

static void fill_chase(const struct core_fill *fill, uint64_t *cursor)
{
    uint32_t nodes = (uint32_t)chase_nodes(fill);
    bool random = fill->kind != CORE_FILL_CHASE_LINEAR;
    if (random)
        chase_order(fill, order, area_show_life);
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t next = i + 1 < nodes ? i + 1 : 0;
        node_write(fill, random ? order[i] : i, random ? order[next] : next);
        if (i % LIFE_NODES == 0)
            area_show_life();
    }
    for (uint64_t lane = 0; lane < WALK_LANES; lane++) {
        uint32_t first = (uint32_t)(lane * nodes / WALK_LANES);
        areas[fill->area].lanes[lane] = node_address(fill, random ? order[first] : first);
    }
    *cursor = (uint64_t)(uintptr_t)areas[fill->area].lanes[0];
}

// Reads all lines, so that caches have nothing old left to write back.
static void read_through(const uint8_t *base, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += CORE_LINE)
        (void)*(const volatile uint8_t *)(base + at);
}

static void fill_one(const struct core_fill *fill, struct core_parameters *parameters)
{
    uint8_t *base = areas[fill->area].base;
    uint64_t seed = fill->seed;
    switch ((enum core_fill_kind)fill->kind) {
    case CORE_FILL_CHASE:
    case CORE_FILL_CHASE_LINEAR:
    case CORE_FILL_CHASE_PAGES:
        fill_chase(fill, &parameters->cursors[fill->cursor]);
        break;
    case CORE_FILL_RANDOM:
        for (uint64_t at = 0; at + sizeof(uint64_t) <= fill->bytes; at += sizeof(uint64_t)) {
            uint64_t bits = chase_random(&seed);
            memcpy(base + at, &bits, sizeof bits);
        }
        parameters->cursors[fill->cursor] = (uint64_t)(uintptr_t)base;
        break;
    default:
        memset(base, 0, (size_t)fill->bytes);
        read_through(base, fill->bytes);
        parameters->cursors[fill->cursor] = (uint64_t)(uintptr_t)base;
        break;
    }
}

void area_fill(const struct core_kernel *kernel, bool walk)
{
    const struct core_fill *fills = area_fills(kernel);
    struct core_parameters *parameters = time_parameters();
    parameters->process = (uint64_t)own_process;
    if (kernel->nfills == 0)
        return;
    bool same = kernel->nfills == ndone && memcmp(fills, done, ndone * sizeof *fills) == 0;
    for (uint32_t i = 0; i < kernel->nfills; i++) {
        parameters->areas[fills[i].area] = (uint64_t)(uintptr_t)areas[fills[i].area].base;
        parameters->bytes[fills[i].area] = fills[i].bytes;
        parameters->mapped[fills[i].area] = areas[fills[i].area].bytes;
        bool theirs = leave_shared && fills[i].flags & CORE_FILL_SHARED;
        if (!same && !theirs)
            fill_one(&fills[i], parameters);
        if (fill_is_chase(&fills[i]) && walk && !theirs && !(same && walked))
            walk_chase(&fills[i], &parameters->cursors[fills[i].cursor]);
    }
    walked = walk || (same && walked);
    ndone = kernel->nfills;
    memcpy(done, fills, ndone * sizeof *fills);
}

uint64_t area_fills_bytes(const struct core_kernel *kernel)
{
    const struct core_fill *fills = area_fills(kernel);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < kernel->nfills; i++)
        bytes += fills[i].bytes;
    return bytes;
}

void area_walk(const struct core_kernel *kernel)
{
    walked = false;
    area_fill(kernel, true);
}

void area_chill(const struct kernel_run *run)
{
    const struct core_fill *fills = area_fills(run->kernel);
    for (const uint8_t *line = run->variant->entry; line < run->variant->end; line += CORE_LINE)
        _mm_clflush(line);
    for (uint32_t i = 0; i < run->kernel->nfills; i++)
        for (uint64_t at = 0; at < fills[i].bytes; at += CORE_LINE)
            _mm_clflush(areas[fills[i].area].base + at);
    _mm_mfence();
}
