// SPDX-License-Identifier: MIT
// The common part of all backends: the syntax of events, the names of software events and
// obstacles.
#include "count.h"

#include "util/mem.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    uint64_t config;
} software_events[] = {
    {"task-clock",       PERF_COUNT_SW_TASK_CLOCK      },
    {"cpu-clock",        PERF_COUNT_SW_CPU_CLOCK       },
    {"page-faults",      PERF_COUNT_SW_PAGE_FAULTS     },
    {"minor-faults",     PERF_COUNT_SW_PAGE_FAULTS_MIN },
    {"major-faults",     PERF_COUNT_SW_PAGE_FAULTS_MAJ },
    {"context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cpu-migrations",   PERF_COUNT_SW_CPU_MIGRATIONS  },
    {"alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS},
    {"emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS},
};

int count_software_find(const char *name, struct count_event *event)
{
    for (size_t i = 0; i < ARRAY_LEN(software_events); i++)
        if (strcmp(software_events[i].name, name) == 0) {
            *event = (struct count_event){
                .kind = COUNT_SOFTWARE,
                .rings = COUNT_BOTH,
                .software = software_events[i].config,
            };
            snprintf(event->name, sizeof event->name, "%s", name);
            return 0;
        }
    return -1;
}

struct count_event count_event_make(const struct counter_event *hardware, enum count_rings rings)
{
    struct count_event made = {.kind = COUNT_HARDWARE, .rings = rings, .hardware = *hardware};
    if (hardware->user || hardware->kernel)
        made.rings = (hardware->user ? COUNT_USER : 0) | (hardware->kernel ? COUNT_KERNEL : 0);
    snprintf(made.name, sizeof made.name, "%s", hardware->label);
    return made;
}

struct event_list {
    struct count_event *events;
    size_t n, capacity;
};

static void list_add(struct event_list *list, const struct count_event *event)
{
    list->events = xgrow(list->events, &list->capacity, list->n + 1, sizeof *list->events);
    list->events[list->n++] = *event;
}

// Adds the hardware events of a part of the list that has no software event in it.
static int list_add_hardware(const struct counter_table *table, const char *text, size_t len,
                             enum count_rings rings, struct event_list *list, struct err *err)
{
    struct counter_event *parsed;
    char *part = xasprintf("%.*s", (int)len, text);
    int n = counter_parse_list(table, part, &parsed, err);
    free(part);
    for (int i = 0; i < n; i++) {
        struct count_event made = count_event_make(&parsed[i], rings);
        list_add(list, &made);
    }
    free(parsed);
    return n < 0 ? -1 : 0;
}

int count_events_parse(const struct counter_table *table, const char *text, enum count_rings rings,
                       struct count_event **events, struct err *err)
{
    struct event_list list = {0};
    const char *begin = text; // begin of a hardware event
    int status = 0;
    for (const char *at = text; *at && status == 0;) {
        struct count_event software;
        size_t len = strcspn(at, ",");
        char name[COUNTER_LABEL_BYTES];
        snprintf(name, sizeof name, "%.*s", (int)len, at);
        const char *next = at + len + (at[len] == ',');
        if (count_software_find(name, &software) == 0) {
            if (at > begin) // up to the comma
                status =
                    list_add_hardware(table, begin, (size_t)(at - begin) - 1, rings, &list, err);
            list_add(&list, &software);
            begin = next;
        }
        at = next;
    }
    if (status == 0 && (*begin || list.n == 0))
        status = list_add_hardware(table, begin, strlen(begin), rings, &list, err);
    if (status != 0) {
        free(list.events);
        list.events = NULL;
    }
    *events = list.events;
    return status == 0 ? (int)list.n : -1;
}

const char *count_obstacle_name(enum count_obstacle obstacle)
{
    static const char *const names[] = {
        [COUNT_FINE] = "fine",           [COUNT_NO_CALL] = "no_call",
        [COUNT_NO_DEVICE] = "no_device", [COUNT_FORBIDDEN] = "forbidden",
        [COUNT_NO_PMU] = "no_pmu",       [COUNT_STILL] = "still",
        [COUNT_NO_EVENT] = "no_event",   [COUNT_TOO_MANY] = "too_many",
        [COUNT_WATCHDOG] = "watchdog",   [COUNT_MULTIPLEXED] = "multiplexed",
        [COUNT_HYBRID] = "hybrid",       [COUNT_GONE] = "gone",
        [COUNT_FAILED] = "failed",
    };
    return names[obstacle];
}

static int perf_open_real(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd)
{
    return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, PERF_FLAG_FD_CLOEXEC);
}

static int ioctl_real(int fd, unsigned long request, unsigned long argument)
{
    return ioctl(fd, request, argument);
}

static void *map_real(int fd, size_t size)
{
    void *page = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    return page == MAP_FAILED ? NULL : page;
}

static void unmap_real(void *page, size_t size)
{
    munmap(page, size);
}

const struct count_calls count_calls_real = {
    .perf_open = perf_open_real,
    .read = read,
    .ioctl = ioctl_real,
    .close = close,
    .map = map_real,
    .unmap = unmap_real,
    .pread = pread,
    .pwrite = pwrite,
};

struct count_machine count_machine_live(const struct cpu_info *cpu)
{
    const char *root = getenv("LATPUT_MACHINE");
    return (struct count_machine){.cpu = cpu, .root = root ? root : "", .calls = &count_calls_real};
}

struct count_group *count_group_new(const struct count_backend *backend,
                                    const struct count_machine *machine,
                                    const struct count_target *target,
                                    const struct count_event *events, int nevents, void *state)
{
    struct count_group *group = xcalloc(1, sizeof *group);
    *group = (struct count_group){.backend = backend,
                                  .machine = machine,
                                  .target = *target,
                                  .nevents = nevents,
                                  .state = state};
    memcpy(group->events, events, (size_t)nevents * sizeof events[0]);
    return group;
}
