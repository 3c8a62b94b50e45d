// SPDX-License-Identifier: MIT
// The interface to counters and its perf backend: how events are encoded, what is asked of the
// kernel, and what each refusal of a simulated kernel is taken for. Software events are counted for
// real, where the system allows it.
#include "counters/count.h"
#include "fixtures/machine_fixture.h"
#include "util/mem.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

// A kernel that answers as the test wants, and remembers what it was asked.
static struct {
    int fail_at; // the how-manieth open fails, from 0; -1: none
    int error;
    uint64_t enabled, running, count; // what read gives
    int opened, closed, resets, enables, disables;
    struct perf_event_attr attrs[COUNT_EVENTS_MAX];
    pid_t pid;
    int cpu, group_fd;
} sim;

static int sim_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd)
{
    if (sim.opened == sim.fail_at) {
        errno = sim.error;
        return -1;
    }
    sim.attrs[sim.opened] = *attr;
    sim.pid = pid;
    sim.cpu = cpu;
    sim.group_fd = group_fd;
    return 1000 + sim.opened++;
}

static ssize_t sim_read(int fd, void *bytes, size_t size)
{
    uint64_t words[3 + COUNT_EVENTS_MAX];
    size_t nwords = size / sizeof words[0];
    if (nwords == 1) {
        words[0] = sim.count;
    } else if (nwords == 3) {
        words[0] = sim.count + (uint64_t)(fd - 1000);
        words[1] = sim.enabled;
        words[2] = sim.running;
    } else {
        words[0] = nwords - 3;
        words[1] = sim.enabled;
        words[2] = sim.running;
        for (size_t i = 3; i < nwords; i++)
            words[i] = sim.count + i - 3;
    }
    memcpy(bytes, words, size);
    return (ssize_t)size;
}

static int sim_ioctl(int fd, unsigned long request, unsigned long argument)
{
    assert_int_equal(fd, 1000);
    assert_int_equal(argument, PERF_IOC_FLAG_GROUP);
    sim.resets += request == PERF_EVENT_IOC_RESET;
    sim.enables += request == PERF_EVENT_IOC_ENABLE;
    sim.disables += request == PERF_EVENT_IOC_DISABLE;
    return 0;
}

static int sim_close(int fd)
{
    (void)fd;
    sim.closed++;
    return 0;
}

// Perf's page of an event; the kernel may refuse to map it.
static struct perf_event_mmap_page sim_page;
static int sim_map_error, sim_mapped;

static void *sim_map(int fd, size_t size)
{
    assert_true(fd >= 1000 && size == (size_t)sysconf(_SC_PAGESIZE));
    if (sim_map_error) {
        errno = sim_map_error;
        return NULL;
    }
    sim_mapped++;
    return &sim_page;
}

static void sim_unmap(void *page, size_t size)
{
    assert_true(page == &sim_page && size == (size_t)sysconf(_SC_PAGESIZE));
    sim_mapped--;
}

static const struct count_calls sim_calls = {.perf_open = sim_open,
                                             .read = sim_read,
                                             .ioctl = sim_ioctl,
                                             .close = sim_close,
                                             .map = sim_map,
                                             .unmap = sim_unmap};

static int machine_make(void **state)
{
    (void)state;
    machine_begin(&sim_calls);
    memset(&sim, 0, sizeof sim);
    sim.fail_at = -1;
    sim.enabled = sim.running = 1000;
    sim.count = 5;
    strcpy(machine_cpu.vendor, "GenuineIntel");
    machine_cpu.family = 6;
    machine_file("/sys/bus/event_source/devices/cpu/type", "4\n");
    machine_file("/proc/sys/kernel/perf_event_paranoid", "2\n");
    machine_file("/proc/sys/kernel/nmi_watchdog", "0\n");
    return 0;
}

static int machine_remove(void **state)
{
    (void)state;
    return machine_end();
}

static struct count_event event(const char *name, uint32_t code, uint32_t umask)
{
    struct counter_event hardware = {.id = "",
                                     .name = "",
                                     .pfm = "",
                                     .scheme = SCHEME_ARCH,
                                     .event = code,
                                     .umask = umask,
                                     .counters = COUNTERS_ANY,
                                     .fixed_index = -1};
    snprintf(hardware.label, sizeof hardware.label, "%s", name);
    return count_event_make(&hardware, COUNT_USER);
}

static void test_parse(void **state)
{
    (void)state;
    struct counter_table table;
    struct count_event *events;
    struct err err = {0};
    assert_int_equal(counters_load("skylake", &table, &err), 0);
    int n = count_events_parse(
        &table, "task-clock,event=0xb1,umask=2,instructions:k,page-faults,context-switches,r3c",
        COUNT_USER, &events, &err);
    assert_int_equal(n, 6);
    assert_true(events[0].kind == COUNT_SOFTWARE && events[0].rings == COUNT_BOTH);
    assert_string_equal(events[0].name, "task-clock");
    assert_true(events[1].hardware.event == 0xb1 && events[1].hardware.umask == 2);
    assert_true(events[1].rings == COUNT_USER && events[2].rings == COUNT_KERNEL);
    assert_string_equal(events[3].name, "page-faults");
    assert_string_equal(events[4].name, "context-switches");
    assert_string_equal(events[5].name, "r3c");
    free(events);
    assert_int_equal(count_events_parse(&table, "p0,no_such", COUNT_USER, &events, &err), -1);
    assert_null(events);
    assert_non_null(strstr(err.text, "no_such"));
    assert_int_equal(count_events_parse(&table, "", COUNT_USER, &events, &err), -1);
    assert_int_equal(count_events_parse(&table, "p0,,p1", COUNT_USER, &events, &err), -1);
    assert_int_equal(
        count_events_parse(&table, "task-clock,,page-faults", COUNT_USER, &events, &err), -1);
    assert_int_equal(count_events_parse(&table, "x,task-clock", COUNT_USER, &events, &err), -1);
    counters_free(&table);
}

static const struct count_target self = {.what = COUNT_SELF};

static void test_self(void **state)
{
    (void)state;
    struct count_event events[] = {event("a", 0x3c, 0), event("b", 0xb1, 1), event("c", 0, 3)};
    events[2].hardware.kind = COUNTER_FIXED;
    events[2].hardware.fixed_index = 2;
    events[1].rings = COUNT_BOTH;
    struct count_group *group;
    struct err err = {0};
    uint64_t values[3];
    assert_int_equal(count_perf.open(&machine, &self, events, 3, &group, &err), COUNT_FINE);
    assert_int_equal(sim.pid, 0);
    assert_int_equal(sim.cpu, -1);
    assert_int_equal(sim.group_fd, 1000);
    assert_int_equal(sim.attrs[0].type, 4);
    assert_true(sim.attrs[1].config == 0x1b1 && sim.attrs[2].config == 0x300);
    assert_true(sim.attrs[0].disabled && !sim.attrs[1].disabled);
    assert_true(sim.attrs[0].exclude_kernel && !sim.attrs[1].exclude_kernel);
    assert_false(sim.attrs[0].inherit || sim.attrs[0].enable_on_exec);
    assert_int_equal(count_perf.start(group, &err), COUNT_FINE);
    assert_int_equal(count_perf.stop(group, &err), COUNT_FINE);
    assert_true(sim.resets == 1 && sim.enables == 1 && sim.disables == 1);
    assert_int_equal(count_perf.read(group, values, &err), COUNT_FINE);
    assert_true(values[0] == 5 && values[2] == 7);
    count_perf.close(group);
    assert_int_equal(sim.closed, 3);
}

// An event that needs a further register: Intel's front-end one goes into config1.
static void test_extra_register(void **state)
{
    (void)state;
    struct count_event events[] = {event("ms", 0xc2, 4)};
    struct count_group *group;
    struct err err = {0};
    events[0].hardware.extra_msr = 0x3f7;
    events[0].hardware.extra_value = 8;
    assert_int_equal(count_perf.open(&machine, &self, events, 1, &group, &err), COUNT_FINE);
    assert_true(sim.attrs[0].config == 0x4c2 && sim.attrs[0].config1 == 8);
    count_perf.close(group);
    events[0].hardware.extra_msr = 0x1a6;
    assert_int_equal(count_perf.open(&machine, &self, events, 1, &group, &err), COUNT_NO_EVENT);
    assert_non_null(strstr(err.text, "it needs the MSR 0x1a6"));
}

static void test_process_and_cpu(void **state)
{
    (void)state;
    struct count_event events[] = {event("a", 0x3c, 0), event("b", 0xb1, 1)};
    struct count_target target = {.what = COUNT_PROCESS, .pid = getpid()};
    struct count_group *group;
    uint64_t values[2];
    assert_int_equal(count_perf.open(&machine, &target, events, 2, &group, NULL), COUNT_FINE);
    assert_int_equal(sim.pid, getpid());
    assert_true(sim.attrs[0].inherit && sim.attrs[1].inherit);
    assert_true(sim.attrs[0].enable_on_exec && !sim.attrs[1].enable_on_exec);
    // Old kernels have no group reads of inherited events.
    assert_false(sim.attrs[0].read_format & PERF_FORMAT_GROUP);
    assert_int_equal(count_perf.read(group, values, NULL), COUNT_FINE);
    assert_true(values[0] == 5 && values[1] == 6);
    count_perf.close(group);
    sim.opened = 0;
    target = (struct count_target){.what = COUNT_CPU, .cpu = 1};
    assert_int_equal(count_perf.open(&machine, &target, events, 2, &group, NULL), COUNT_FINE);
    assert_int_equal(sim.pid, -1);
    assert_int_equal(sim.cpu, 1);
    count_perf.close(group);
    count_perf.close(NULL);
}

// A refusal, and what must be made of it.
struct refusal {
    int line;
    int fail_at, error;
    const char *paranoid, *watchdog, *hypervisor;
    bool pmu;
    enum count_rings rings;
    int on_cpu; // -1: self
    enum count_obstacle obstacle;
    const char *says;
};

// clang-format off
static const struct refusal refusals[] = {
    {__LINE__, 0, ENOSYS, "2", "0", "", true, COUNT_USER, -1, COUNT_NO_CALL, "CONFIG_PERF_EVENTS"},
    {__LINE__, 0, EACCES, "4", "0", "", true, COUNT_USER, -1, COUNT_FORBIDDEN,
        "perf_event_paranoid is 4"},
    {__LINE__, 0, EACCES, "3", "0", "", true, COUNT_USER, -1, COUNT_FORBIDDEN,
        "perf_event_paranoid=1"},
    {__LINE__, 0, EACCES, "2", "0", "", true, COUNT_BOTH, -1, COUNT_FORBIDDEN, "--user"},
    {__LINE__, 0, EACCES, "1", "0", "", true, COUNT_USER, 0, COUNT_FORBIDDEN,
        "perf_event_paranoid=0"},
    {__LINE__, 0, EPERM, "2", "0", "", true, COUNT_USER, -1, COUNT_FORBIDDEN, "seccomp profile"},
    {__LINE__, 0, ENOENT, "2", "0", "KVM", false, COUNT_USER, -1, COUNT_NO_PMU,
        "does not expose a PMU"},
    {__LINE__, 0, ENOENT, "2", "0", "", false, COUNT_USER, -1, COUNT_NO_PMU, "newer than the CPU"},
    {__LINE__, 0, ENOENT, "2", "0", "", true, COUNT_USER, -1, COUNT_NO_EVENT,
        "'a' cannot be counted"},
    {__LINE__, 0, EINVAL, "2", "0", "", true, COUNT_USER, -1, COUNT_NO_EVENT, "Check its code"},
    {__LINE__, 2, EINVAL, "2", "0", "", true, COUNT_USER, -1, COUNT_TOO_MANY,
        "fewer than 3 events"},
    {__LINE__, 2, ENOSPC, "2", "0", "", true, COUNT_USER, -1, COUNT_TOO_MANY,
        "'c' finds no counter"},
    {__LINE__, 1, EINVAL, "2", "1", "", true, COUNT_USER, -1, COUNT_WATCHDOG,
        "kernel.nmi_watchdog=0"},
    {__LINE__, 0, EMFILE, "2", "0", "", true, COUNT_USER, -1, COUNT_FAILED, "ulimit -n"},
    {__LINE__, 0, ESRCH, "2", "0", "", true, COUNT_USER, -1, COUNT_GONE, "process has ended"},
    {__LINE__, 0, ENODEV, "-1", "0", "", true, COUNT_USER, 0, COUNT_GONE, "offline"},
    {__LINE__, 0, ENOMEM, "2", "0", "", true, COUNT_USER, -1, COUNT_FAILED,
        "annot allocate memory"},
};
// clang-format on

static void test_refusals(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        const struct refusal *r = &refusals[i];
        struct count_event events[] = {event("a", 1, 0), event("b", 2, 0), event("c", 3, 0)};
        struct count_target target = {.what = r->on_cpu < 0 ? COUNT_SELF : COUNT_CPU,
                                      .cpu = r->on_cpu};
        struct count_group *group = (void *)state;
        struct err err = {0};
        char path[160];
        sim.opened = sim.closed = 0;
        sim.fail_at = r->fail_at;
        sim.error = r->error;
        strcpy(machine_cpu.hypervisor, r->hypervisor);
        for (int k = 0; k < 3; k++)
            events[k].rings = r->rings;
        machine_file("/proc/sys/kernel/perf_event_paranoid", r->paranoid);
        machine_file("/proc/sys/kernel/nmi_watchdog", r->watchdog);
        machine_file("/sys/bus/event_source/devices/cpu/type", "4\n");
        snprintf(path, sizeof path, "%s/sys/bus/event_source/devices/cpu/type", machine_root);
        if (!r->pmu)
            unlink(path);
        enum count_obstacle got = count_perf.open(&machine, &target, events, 3, &group, &err);
        if (got != r->obstacle || !strstr(err.text, r->says))
            fail_msg("line %d: %s, expected %s: %s", r->line, count_obstacle_name(got),
                     count_obstacle_name(r->obstacle), err.text);
        assert_null(group);
        assert_int_equal(sim.closed, r->fail_at); // nothing stays open
    }
}

static void test_times(void **state)
{
    (void)state;
    struct count_event events[] = {event("a", 1, 0), event("b", 2, 0)};
    struct count_target process = {.what = COUNT_PROCESS, .pid = getpid()};
    struct count_group *group;
    struct err err = {0};
    uint64_t values[2];
    for (int k = 0; k < 2; k++) {
        sim.opened = 0;
        sim.running = sim.enabled = 1000;
        machine_file("/proc/sys/kernel/nmi_watchdog", "0");
        assert_int_equal(count_perf.open(&machine, k ? &process : &self, events, 2, &group, &err),
                         COUNT_FINE);
        sim.running = 999;
        assert_int_equal(count_perf.read(group, values, &err), COUNT_MULTIPLEXED);
        assert_non_null(strstr(err.text, "99.9 %"));
        sim.running = 0;
        assert_int_equal(count_perf.read(group, values, &err), COUNT_TOO_MANY);
        machine_file("/proc/sys/kernel/nmi_watchdog", "1");
        assert_int_equal(count_perf.read(group, values, &err), COUNT_WATCHDOG);
        sim.enabled = 0;
        assert_int_equal(count_perf.read(group, values, &err), COUNT_FAILED);
        count_perf.close(group);
    }
}

static void test_probe(void **state)
{
    (void)state;
    struct err err = {0};
    assert_int_equal(count_perf.probe(&machine, &err), COUNT_FINE);
    assert_int_equal(sim.closed, 1);
    sim.count = 0;
    strcpy(machine_cpu.hypervisor, "KVM");
    assert_int_equal(count_perf.probe(&machine, &err), COUNT_STILL);
    assert_non_null(strstr(err.text, "stands still"));
    // A virtual PMU without a counter.
    sim.opened = 0;
    sim.fail_at = 0;
    sim.error = ENOENT;
    assert_int_equal(count_perf.probe(&machine, &err), COUNT_NO_PMU);
    assert_non_null(strstr(err.text, "announces 0 general and 0 fixed counters"));
    assert_non_null(strstr(err.text, "the hypervisor (KVM): measure on bare metal"));
    machine_cpu.hypervisor[0] = '\0';
    assert_int_equal(count_perf.probe(&machine, &err), COUNT_NO_PMU);
    assert_non_null(strstr(err.text, "firmware"));
    sim.error = EACCES;
    machine_file("/proc/sys/kernel/perf_event_paranoid", "4");
    assert_int_equal(count_perf.probe(&machine, &err), COUNT_FORBIDDEN);
}

// The CPUs that this process may use, as the kernel writes lists.
static const char *allowed_list(void)
{
    static char list[160];
    char name[16];
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    list[0] = '\0';
    for (int i = 0; i < CPU_SETSIZE && strlen(list) < 120; i++)
        if (CPU_ISSET((size_t)i, &set)) {
            snprintf(name, sizeof name, "%s%d", list[0] ? "," : "", i);
            strcat(list, name);
        }
    return list;
}

// Expected answers of a machine with big and small cores, by the type of core and by where the
// event is counted.
struct hybrid_test {
    int line;
    int core_type;
    const char *core_cpus, *atom_cpus, *low_cpus; // NULL: no such PMU; "*": all that we may use
    unsigned what;
    enum count_obstacle obstacle;
    uint32_t type;    // of the event: of which PMU
    const char *says; // after a refusal
};

// In turn: the type of the core is not visible; it is; the code may run where the events of its
// type are not counted; small cores of two kinds; only one of the types is switched on.
// clang-format off
static const struct hybrid_test hybrid_tests[] = {
    {__LINE__, 0, "0-1023", "4000", NULL, COUNT_SELF, COUNT_HYBRID, 0, "1AH"},
    {__LINE__, 0x40, "0-1023", "4000", NULL, COUNT_SELF, COUNT_FINE, 4, ""},
    {__LINE__, 0x40, "0-1023", "4000", NULL, COUNT_PROCESS, COUNT_FINE, 4, ""},
    {__LINE__, 0x40, "0-1023", "4000", NULL, COUNT_CPU, COUNT_FINE, 4, ""},
    {__LINE__, 0x20, "*", "4000,4002-3", NULL, COUNT_SELF, COUNT_HYBRID, 0,
        "taskset -c 4000,4002-3"},
    {__LINE__, 0x20, "*", "4000", NULL, COUNT_PROCESS, COUNT_HYBRID, 0, "of another type"},
    {__LINE__, 0x20, "*", "4000", NULL, COUNT_CPU, COUNT_HYBRID, 0, "those of cpu_atom"},
    {__LINE__, 0x20, "4000", "*", NULL, COUNT_SELF, COUNT_FINE, 10, ""},
    {__LINE__, 0x20, "4000", "4001", "*", COUNT_SELF, COUNT_FINE, 11, ""},
    {__LINE__, 0x20, "4000", "*", "4001", COUNT_SELF, COUNT_FINE, 10, ""},
    {__LINE__, 0x20, "*", NULL, NULL, COUNT_SELF, COUNT_HYBRID, 0, "1AH"},
    {__LINE__, 0x40, "*", NULL, NULL, COUNT_SELF, COUNT_FINE, 4, ""},
};
// clang-format on

static void hybrid_pmu(const char *name, const char *type, const char *cpus)
{
    char path[96];
    snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s/type", name);
    if (cpus) {
        machine_file(path, type);
    } else {
        char full[192];
        snprintf(full, sizeof full, "%s%s", machine_root, path);
        unlink(full);
        return;
    }
    snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s/cpus", name);
    machine_file(path, strcmp(cpus, "*") == 0 ? allowed_list() : cpus);
}

static void test_hybrid(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(hybrid_tests); i++) {
        const struct hybrid_test *t = &hybrid_tests[i];
        struct count_event events[] = {event("a", 1, 0)};
        struct count_target target = {.what = t->what, .pid = getpid(), .cpu = sched_getcpu()};
        struct count_group *group;
        struct err err = {0};
        hybrid_pmu("cpu_core", "4\n", t->core_cpus);
        hybrid_pmu("cpu_atom", "10\n", t->atom_cpus);
        hybrid_pmu("cpu_lowpower", "11\n", t->low_cpus);
        machine_cpu.core_type = t->core_type;
        sim.opened = 0;
        enum count_obstacle got = count_perf.open(&machine, &target, events, 1, &group, &err);
        if (got != t->obstacle || !strstr(err.text, t->says))
            fail_msg("line %d: %s, expected %s: %s", t->line, count_obstacle_name(got),
                     count_obstacle_name(t->obstacle), err.text);
        if (got == COUNT_FINE && sim.attrs[0].type != t->type)
            fail_msg("line %d: PMU %u", t->line, sim.attrs[0].type);
        count_perf.close(group);
        // The cycle counter that is tried is one of the same type.
        sim.opened = 0;
        if (got == COUNT_FINE) {
            assert_int_equal(count_perf.probe(&machine, &err), COUNT_FINE);
            assert_true(sim.attrs[0].config == (uint64_t)t->type << 32);
        }
    }
}

static void test_refused_events(void **state)
{
    (void)state;
    struct count_event made = event("slots", 0, 9);
    struct count_group *group;
    struct err err = {0};
    made.hardware.kind = COUNTER_FIXED;
    made.hardware.fixed_index = 8;
    assert_int_equal(count_perf.open(&machine, &self, &made, 1, &group, &err), COUNT_NO_EVENT);
    // The kernel would report 0 for it without a word.
    assert_int_equal(count_software_find("context-switches", &made), 0);
    made.rings = COUNT_USER;
    assert_int_equal(count_perf.open(&machine, &self, &made, 1, &group, &err), COUNT_NO_EVENT);
    assert_non_null(strstr(err.text, "--both"));
    made = event("uops", 1, 1);
    made.hardware.scheme = SCHEME_NETBURST;
    assert_int_equal(count_perf.open(&machine, &self, &made, 1, &group, &err), COUNT_NO_EVENT);
    assert_non_null(strstr(err.text, "latput counters start"));
    assert_int_equal(sim.opened, 0);
    assert_int_equal(count_software_find("nothing", &made), -1);
}

// The page for RDPMC: refused for software events, by /sys/.../rdpmc, by a page that denies it, and
// where it cannot be mapped; else mapped once and unmapped at the end.
static void test_page(void **state)
{
    (void)state;
    struct count_event made;
    struct count_group *group;
    struct err err = {0};
    count_software_find("task-clock", &made);
    assert_int_equal(count_perf.open(&machine, &self, &made, 1, &group, &err), COUNT_FINE);
    assert_null(count_perf_page(group, 0, &err));
    assert_non_null(strstr(err.text, "only hardware events of one's own process"));
    count_perf.close(group);
    sim.opened = 0;
    made = event("a", 0x3c, 0);
    memset(&sim_page, 0, sizeof sim_page);
    assert_int_equal(count_perf.open(&machine, &self, &made, 1, &group, &err), COUNT_FINE);
    sim_map_error = EPERM;
    assert_null(count_perf_page(group, 0, &err));
    assert_non_null(strstr(err.text, "kernel.perf_event_mlock_kb"));
    sim_map_error = 0;
    machine_file("/sys/bus/event_source/devices/cpu/rdpmc", "0\n");
    assert_null(count_perf_page(group, 0, &err));
    assert_non_null(strstr(err.text, "echo 1 > /sys/bus/event_source/devices/cpu/rdpmc"));
    machine_file("/sys/bus/event_source/devices/cpu/rdpmc", "1\n");
    assert_null(count_perf_page(group, 0, &err));
    assert_non_null(strstr(err.text, "cap_user_rdpmc"));
    sim_page.cap_user_rdpmc = 1;
    assert_ptr_equal(count_perf_page(group, 0, &err), &sim_page);
    assert_ptr_equal(count_perf_page(group, 0, &err), &sim_page);
    assert_int_equal(sim_mapped, 1);
    count_perf.close(group);
    assert_int_equal(sim_mapped, 0);
    // On a hybrid machine the file is that of the type of core.
    machine_file("/sys/bus/event_source/devices/cpu_core/type", "4\n");
    machine_file("/sys/bus/event_source/devices/cpu_core/rdpmc", "0\n");
    machine_cpu.core_type = 0x40;
    sim_page.cap_user_rdpmc = 0;
    sim.opened = 0;
    assert_int_equal(count_perf.open(&machine, &self, &made, 1, &group, &err), COUNT_FINE);
    assert_null(count_perf_page(group, 0, &err));
    assert_non_null(strstr(err.text, "echo 1 > /sys/bus/event_source/devices/cpu_core/rdpmc"));
    count_perf.close(group);
}

static void test_software_real(void **state)
{
    (void)state;
    struct count_machine live = count_machine_live(&machine_cpu);
    struct count_event events[2];
    struct count_group *group;
    struct err err = {0};
    uint64_t values[2];
    enum { PAGES = 64 };
    count_software_find("task-clock", &events[0]);
    count_software_find("page-faults", &events[1]);
    events[0].rings = events[1].rings = COUNT_USER;
    enum count_obstacle obstacle = count_perf.open(&live, &self, events, 2, &group, &err);
    if (obstacle) {
        printf("software events are refused here: %s\n", err.text);
        skip();
    }
    assert_int_equal(count_perf.start(group, &err), COUNT_FINE);
    char *pages = malloc(PAGES * 4096 + 4096);
    assert_non_null(pages);
    for (int i = 0; i < PAGES; i++)
        ((volatile char *)pages)[i * 4096] = 1;
    assert_int_equal(count_perf.stop(group, &err), COUNT_FINE);
    free(pages);
    assert_int_equal(count_perf.read(group, values, &err), COUNT_FINE);
    assert_true(values[0] > 0 && values[1] > 0);
    uint64_t first = values[0];
    assert_int_equal(count_perf.read(group, values, &err), COUNT_FINE);
    assert_true(values[0] == first); // it stands still
    count_perf.close(group);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_parse, machine_make, machine_remove),
        cmocka_unit_test_setup_teardown(test_self, machine_make, machine_remove),
        cmocka_unit_test_setup_teardown(test_extra_register, machine_make, machine_remove),
        cmocka_unit_test_setup_teardown(test_process_and_cpu, machine_make, machine_remove),
        cmocka_unit_test_setup_teardown(test_refusals, machine_make, machine_remove),
        cmocka_unit_test_setup_teardown(test_times, machine_make, machine_remove),
        cmocka_unit_test_setup_teardown(test_probe, machine_make, machine_remove),
        cmocka_unit_test_setup_teardown(test_hybrid, machine_make, machine_remove),
        cmocka_unit_test_setup_teardown(test_refused_events, machine_make, machine_remove),
        cmocka_unit_test_setup_teardown(test_page, machine_make, machine_remove),
        cmocka_unit_test_setup_teardown(test_software_real, machine_make, machine_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
