// SPDX-License-Identifier: MIT
// Events counted around each repetition, by perf_event_open: opened as one group before the
// system-call filter, then only read.
#include "core_internal.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// The kernel's format of a group's counts (PERF_FORMAT_GROUP and both times). Mapped apart, since
// other data are read-only.
static struct count_words {
    uint64_t nr, enabled_ns, running_ns, values[CORE_COUNTERS_MAX];
} * words;
static uint32_t ncounters;
static int leader = -1;

static size_t count_bytes(void)
{
    return offsetof(struct count_words, values) + ncounters * sizeof(uint64_t);
}

int count_open_event(const struct core_counter *counter, uint32_t which, int group, uint64_t format)
{
    struct perf_event_attr attr = {
        .type = counter->type,
        .size = sizeof attr,
        .config = counter->config,
        .config1 = counter->config1,
        .read_format = format,
        .exclude_user = counter->exclude_user ? 1 : 0,
        .exclude_kernel = counter->exclude_kernel ? 1 : 0,
        .exclude_hv = 1,
    };
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        send_fatal("counter %u cannot be opened: %s", which, strerror(errno));
    return fd;
}

void count_open(const struct core_counter *counters, uint32_t n)
{
    static const uint64_t GROUP =
        PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    if (!n)
        return;
    ncounters = n;
    words = mmap(NULL, sizeof *words, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (words == MAP_FAILED)
        send_fatal("cannot map memory for counts");
    words->nr = 0; // the page exists before the kernel writes to it
    for (uint32_t i = 0; i < n; i++) {
        int fd = count_open_event(&counters[i], i, leader, GROUP);
        if (leader < 0)
            leader = fd;
    }
}

bool count_filter_call(struct filter_call *call)
{
    *call = (struct filter_call){
        SYS_read, 3, {(uintptr_t)leader, (uintptr_t)words, count_bytes()},
          0
    };
    return ncounters > 0;
}

void count_read(uint64_t values[CORE_COUNTERS_MAX])
{
    if (!ncounters)
        return;
    // Not by libc's function: its arguments are those that the filter knows in both modes.
    if (syscall(SYS_read, leader, words, count_bytes()) != (long)count_bytes())
        send_fatal("the counters cannot be read");
    if (words->running_ns != words->enabled_ns)
        send_fatal("the counters were shared with another user: not all of the time is in them");
    memcpy(values, words->values, ncounters * sizeof *values);
}
