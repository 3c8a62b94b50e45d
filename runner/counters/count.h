// SPDX-License-Identifier: MIT
// Counting events: the interface of the backends (perf, msr, a fake one for tests) to their users.
// A user opens a group of events that are counted at the same time, starts, stops and reads it, or
// reads it with RDPMC between start and stop. A group that cannot be counted whole and all the time
// is refused with the obstacle and its remedy; nothing is ever scaled.
#pragma once

#include "cpuinfo/counters.h"
#include "cpuinfo/cpuinfo.h"
#include "util/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { COUNT_EVENTS_MAX = 32 }; // in a group

// In which mode of the processor events are counted; bits.
enum count_rings { COUNT_USER = 1, COUNT_KERNEL = 2, COUNT_BOTH = 3 };

enum count_kind {
    COUNT_HARDWARE, // by a counter of the CPU
    COUNT_SOFTWARE, // by the kernel, needs no hardware
};

struct count_event {
    char name[COUNTER_LABEL_BYTES]; // for tables and messages
    enum count_kind kind;
    enum count_rings rings;
    struct counter_event hardware;
    uint64_t software; // PERF_COUNT_SW_*
};

// Makes a hardware event of a table; counted in its own rings (:u, :k), else in `rings`.
struct count_event count_event_make(const struct counter_event *hardware, enum count_rings rings);
// Parses events as a user writes them, separated by commas: software events by name, all else as in
// counter_parse_list(). *events is allocated and freed by the caller with free(). Returns their
// number, or -1 with a message (then *events is NULL).
int count_events_parse(const struct counter_table *table, const char *text, enum count_rings rings,
                       struct count_event **events, struct err *err);
// Fills in the software event of this name ("task-clock", "page-faults", ...) for both rings.
// Returns 0, or -1 if there is none.
int count_software_find(const char *name, struct count_event *event);

struct count_target {
    enum { COUNT_SELF, COUNT_PROCESS, COUNT_CPU } what;
    pid_t pid; // COUNT_PROCESS: from its exec on, with its children
    int cpu;   // COUNT_CPU: everything that runs there
};

// Reasons why something cannot be counted. The message with it has the remedy.
enum count_obstacle {
    COUNT_FINE = 0,
    COUNT_NO_CALL,     // the kernel has no perf_event_open (ENOSYS)
    COUNT_NO_DEVICE,   // there is no /dev/cpu/N/msr: the module is not loaded
    COUNT_FORBIDDEN,   // perf_event_paranoid, a seccomp filter, a device without permission
    COUNT_NO_PMU,      // no hardware counters: a virtual machine, or a kernel that knows none here
    COUNT_STILL,       // counters that can be opened but stand still
    COUNT_NO_EVENT,    // this event cannot be counted here
    COUNT_TOO_MANY,    // the group needs more counters than there are
    COUNT_WATCHDOG,    // the same, and the NMI watchdog holds one of them
    COUNT_MULTIPLEXED, // the counters were shared out in time: the figures are not complete
    COUNT_HYBRID,      // it may run on cores of a type that the events are not for
    COUNT_GONE,        // the process ended, the CPU is offline
    COUNT_FAILED,      // anything else: descriptors, memory, an unexpected answer
};
const char *count_obstacle_name(enum count_obstacle obstacle); // "no_pmu"

struct perf_event_attr;
// The system calls of the backends, so that tests can refuse them. Results as of the system call:
// -1 and errno.
struct count_calls {
    int (*perf_open)(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd);
    ssize_t (*read)(int fd, void *bytes, size_t size);
    int (*ioctl)(int fd, unsigned long request, unsigned long argument);
    int (*close)(int fd);
    void *(*map)(int fd, size_t size); // one page of perf's, to be read; NULL and errno
    void (*unmap)(void *page, size_t size);
    ssize_t (*pread)(int fd, void *bytes, size_t size, off_t offset);
    ssize_t (*pwrite)(int fd, const void *bytes, size_t size, off_t offset);
};
extern const struct count_calls count_calls_real;

// The machine that counts. count_machine_live() fills it in; tests set the fields themselves.
struct count_machine {
    const struct cpu_info *cpu; // vendor, uarch, core type, hypervisor
    const char *root;           // parent of /proc, /sys and /dev: "" or a directory of a test
    const struct count_calls *calls;
};
// Returns this machine; $LATPUT_MACHINE, if set, is its root.
struct count_machine count_machine_live(const struct cpu_info *cpu);

struct count_backend;
// A group of events that are counted together. Made by a backend's open, ended by its close.
struct count_group {
    const struct count_backend *backend;
    const struct count_machine *machine; // the caller's; outlives the group
    struct count_target target;
    int nevents;
    struct count_event events[COUNT_EVENTS_MAX];
    void *state; // the backend's own
};

// Makes a group for a backend, with its facts filled in, to be ended with free() after its state.
struct count_group *count_group_new(const struct count_backend *backend,
                                    const struct count_machine *machine,
                                    const struct count_target *target,
                                    const struct count_event *events, int nevents, void *state);

// All functions but close return COUNT_FINE, or the obstacle with a message in err (may be NULL).
struct count_backend {
    const char *name; // "perf", "msr"
    bool whole_cpu;   // counts all that runs on a CPU: no COUNT_PROCESS
    // Finds out whether hardware events can be counted here at all: opens a cycle counter, which
    // must count.
    enum count_obstacle (*probe)(const struct count_machine *machine, struct err *err);
    // Programs the counters, which stand still at 0 until start; with COUNT_PROCESS they begin by
    // themselves at the next exec of the process. 1 <= nevents <= COUNT_EVENTS_MAX. *group is NULL
    // after a failure; else the caller ends it with close.
    enum count_obstacle (*open)(const struct count_machine *machine,
                                const struct count_target *target, const struct count_event *events,
                                int nevents, struct count_group **group, struct err *err);
    enum count_obstacle (*start)(struct count_group *group, struct err *err); // from 0
    enum count_obstacle (*stop)(struct count_group *group, struct err *err);
    // values: one per event, in the order of open; events since start. Nothing in them is valid
    // after an obstacle. Exact when stopped or when the process has ended.
    enum count_obstacle (*read)(struct count_group *group, uint64_t *values, struct err *err);
    // Gives the counters back as they were found, and frees the group. NULL is allowed.
    void (*close)(struct count_group *group);
};

extern const struct count_backend count_perf;
// Counts what runs on one CPU by the registers of its counters (/dev/cpu/N/msr), for root: targets
// are COUNT_CPU, and COUNT_SELF where the caller is pinned to one CPU. The registers get back what
// was found in them at close, and also when this process is killed (count_guard.h).
extern const struct count_backend count_msr;

// Makes perf_event_open's attributes of this event for the calling process, in a group that is read
// as a whole, for a process that opens it by itself.
enum count_obstacle count_perf_attr(const struct count_machine *machine,
                                    const struct count_event *event, struct perf_event_attr *attr,
                                    struct err *err);

struct perf_event_mmap_page;
// The page through which the user's own code reads event `index` of a group of count_perf on
// COUNT_SELF with RDPMC: mapped at the first call, unmapped by close. NULL with the reason where
// that is not allowed (/sys/.../rdpmc) or not possible (software events). The counter's number in
// page->index is valid while the group runs; it and page->offset are to be read between two equal
// readings of page->lock.
const struct perf_event_mmap_page *count_perf_page(struct count_group *group, int index,
                                                   struct err *err);
