// SPDX-License-Identifier: MIT
// The msr backend on files that stand for /dev/cpu/N/msr: for one CPU of each scheme, every
// register that is programmed, and that all of them are as before at the end, also when the process
// is killed. What refusals mean is asked of system calls that refuse.
#include "counters/count_msr.h"
#include "fixtures/machine_fixture.h"
#include "util/affinity.h"
#include "util/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { CPU = 3, IMAGE_MAX = 512 };

static int device_fd;

static int machine_make(void **state)
{
    (void)state;
    char path[128];
    machine_begin(&count_calls_real);
    machine_file("/dev/cpu/3/msr", "");
    snprintf(path, sizeof path, "%s/dev/cpu/3/msr", machine_root);
    device_fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(device_fd >= 0);
    return 0;
}

static int machine_remove(void **state)
{
    (void)state;
    close(device_fd);
    return machine_end();
}

static void register_put(uint32_t msr, uint64_t value)
{
    assert_int_equal(pwrite(device_fd, &value, sizeof value, (off_t)msr * 8), sizeof value);
}

// All registers of the file that are not 0.
struct image {
    struct {
        uint32_t msr;
        uint64_t value;
    } registers[IMAGE_MAX];
    int n;
};

static void image_take(struct image *image)
{
    uint64_t words[512];
    image->n = 0;
    for (off_t at = 0; (at = lseek(device_fd, at, SEEK_DATA)) >= 0;) {
        ssize_t got = pread(device_fd, words, sizeof words, at);
        assert_true(got > 0 && got % 8 == 0);
        for (ssize_t i = 0; i < got / 8; i++) {
            if (!words[i])
                continue;
            assert_true(image->n < IMAGE_MAX);
            image->registers[image->n].msr = (uint32_t)(at / 8 + i);
            image->registers[image->n++].value = words[i];
        }
        at += got;
    }
}

static uint64_t image_find(const struct image *image, uint32_t msr)
{
    for (int i = 0; i < image->n; i++)
        if (image->registers[i].msr == msr)
            return image->registers[i].value;
    return 0;
}

// "186=4100c0 38f=0": the registers in which b differs from a.
static const char *image_changes(const struct image *a, const struct image *b, struct strbuf *text)
{
    strbuf_clear(text);
    for (int i = 0, k = 0; i < a->n || k < b->n;) {
        uint32_t of_a = i < a->n ? a->registers[i].msr : UINT32_MAX;
        uint32_t of_b = k < b->n ? b->registers[k].msr : UINT32_MAX;
        uint32_t msr = of_a < of_b ? of_a : of_b;
        uint64_t value = image_find(b, msr);
        if (image_find(a, msr) != value)
            strbuf_printf(text, "%s%x=%" PRIx64, text->len ? " " : "", msr, value);
        i += of_a == msr;
        k += of_b == msr;
    }
    return strbuf_text(text);
}

// One CPU of a scheme.
struct scheme_test {
    int line;
    const char *uarch;
    struct cpuid_leaf leaves[4];
    const char *events;
    enum count_rings rings;
    struct {
        uint32_t msr;
        uint64_t value;
    } before[6];
    const char *prepared, *started; // registers that differ from what they were
    const char *rdpmc;              // of the events
};

// clang-format off
static const struct scheme_test scheme_tests[] = {
    {.line = __LINE__,
     .uarch = "skylake",
     .leaves = {{0x0a, 0, 0x07300404, 0, 0, 0x603}, {1, 0, 0x506e3, 0, 0x7ed8b26b, 0}},
     .events = "core_clk,instructions,uops_issued,p0,p1:c=2:i,ref_clk",
     .rings = COUNT_USER,
     // Whole counters can be written; counter 0 and its overflow were left by someone else.
     .before = {{0x345, 0x2000}, {0x186, 0x1300c0}, {0x4c1, 0xabcdef012345}, {0x38f, 0x8}},
     .prepared = "186=41010e 187=4101a1 188=2c102a1 38d=222",
     .started = "186=41010e 187=4101a1 188=2c102a1 38d=222 38f=70000000f 390=700000007 4c1=0",
     .rdpmc = "40000001 40000000 0 1 2 40000002"},
    {.line = __LINE__,
     .uarch = "skylake",
     // Another tool has general counter 1 and fixed counter 1; counters of 32 bits to write.
     .leaves = {{0x0a, 0, 0x07300404, 0, 0, 0x603}, {1, 0, 0x506e3, 0, 0x7ed8326b, 0}},
     .events = "core_clk,instructions,p5",
     .rings = COUNT_BOTH,
     .before = {{0x187, 0x5300c0}, {0x38d, 0xb0}, {0x38f, 0x200000002}, {0xc3, 0x12345678}},
     .prepared = "186=43003c 188=4320a1 38d=b3",
     .started = "c3=0 186=43003c 188=4320a1 38d=b3 38f=300000007 390=100000005",
     .rdpmc = "0 40000000 2"},
    {.line = __LINE__,
     .uarch = "lunarlake_p",
     // A second unit mask, an event for counter 3 alone, and one that needs another register.
     .leaves = {{0x0a, 0, 0x08300806, 0, 7, 0x8604}, {1, 0, 0xb06d1, 0, 0x7ed8b26b, 0}},
     .events = "event=0xd1,umask=0x101,uops_executed,uops_retired_ms",
     .rings = COUNT_USER,
     .before = {{0x345, 0x2000}, {0x38f, 0xf}},
     .prepared = "186=100004101d1 187=4104c2 189=4101b1 38f=4 3f7=8",
     .started = "186=100004101d1 187=4104c2 189=4101b1 390=b 3f7=8",
     .rdpmc = "0 3 1"},
    {.line = __LINE__,
     .uarch = "core_duo", // version 1: no fixed counters, no global register
     .leaves = {{0x0a, 0, 0x07280201, 0, 0, 0}, {1, 0, 0x6e8, 0, 0, 0}},
     .events = "core_clk,instructions",
     .rings = COUNT_USER,
     .before = {{0xc1, 7}, {0x187, 0x10000}},
     .prepared = "186=1003c 187=100c0",
     .started = "c1=0 186=41003c 187=4100c0",
     .rdpmc = "0 1"},
    {.line = __LINE__,
     .uarch = "p6",
     .events = "core_clk,uops_retired",
     .rings = COUNT_USER,
     .before = {{0xc2, 0x99}},
     .prepared = "186=10079 187=100c2",
     .started = "c2=0 186=410079 187=100c2",
     .rdpmc = "0 1"},
    {.line = __LINE__,
     .uarch = "p5",
     .events = "instructions,core_clk",
     .rings = COUNT_BOTH,
     .before = {{0x11, 0x20002600}, {0x12, 0x77}},
     .prepared = "11=20002400",
     .started = "11=21c024d6 12=0",
     .rdpmc = "0 1"},
    {.line = __LINE__,
     .uarch = "netburst",
     .leaves = {{1, 0, 0xf29, 0x01000800, 0, 0xbfebfbff}},
     .events = "uops_retired,branches,core_clk,uops_ms",
     .rings = COUNT_USER,
     .before = {{0x36c, 0x30000}, {0x3b8, 0x40}, {0x30c, 0x1234}},
     .prepared = "360=3c000 364=30000 36c=38000 36d=3a000 3a2=26000201 3b8=2000201 3c0=12000801 "
                 "3cc=c001e01",
     .started = "30c=0 360=3d000 364=31000 36c=39000 36d=3b000 3a2=26000201 3b8=2000201 "
                "3c0=12000801 3cc=c001e01",
     .rdpmc = "c d 0 4"},
    {.line = __LINE__,
     .uarch = "via_nano",
     .events = "instructions,branches_taken",
     .rings = COUNT_USER,
     .prepared = "186=10000 187=10022",
     .started = "186=410000 187=410022",
     .rdpmc = "0 1"},
    {.line = __LINE__,
     .uarch = "k10",
     .events = "core_clk,instructions,uops_retired",
     .rings = COUNT_BOTH,
     // Counter 0 is taken.
     .before = {{0xc0010000, 0x530076}, {0xc0010004, 55}, {0xc0010005, 66}},
     .prepared = "c0010001=30076 c0010002=300c0 c0010003=300c1",
     .started = "c0010001=430076 c0010002=4300c0 c0010003=4300c1 c0010005=0",
     .rdpmc = "1 2 3"},
    {.line = __LINE__,
     .uarch = "zhaoxin_zxe",
     .leaves = {{0x0a, 0, 0x07300402, 0, 0, 0x603}, {1, 0, 0x307b0, 0, 0x7ed82203, 0}},
     .events = "core_clk,instructions,branches",
     .rings = COUNT_USER,
     .before = {{0xc1, 0x77}},
     .prepared = "186=410028 38d=22",
     .started = "c1=0 186=410028 38d=22 38f=300000001 390=300000001",
     .rdpmc = "40000001 40000000 0"},
    {.line = __LINE__,
     .uarch = "bulldozer",
     .leaves = {{0x80000001, 0, 0, 0, 0x800000, 0}},
     // Some events for counters 0 to 2 alone, others for 3 to 5.
     .events = "core_clk,fp_pipe0,fp_pipe1,instructions",
     .rings = COUNT_USER,
     .prepared = "c0010200=10076 c0010202=100c0 c0010206=10100 c0010208=10200",
     .started = "c0010200=410076 c0010202=4100c0 c0010206=410100 c0010208=410200",
     .rdpmc = "0 3 4 1"},
    {.line = __LINE__,
     .uarch = "zen2",
     .leaves = {{0x80000001, 0, 0, 0, 0x75c237ff, 0}},
     // The flops can be more than 15 a cycle: counters 0 and 1. An AMD event of 12 bits.
     .events = "core_clk,fp_flops_retired,event=0x1c0,umask=0",
     .rings = COUNT_USER,
     .before = {{0xc0010203, 17}, {0xc0010206, 1}},
     .prepared = "c0010200=1ff03 c0010202=f000000ff c0010204=10076 c0010206=1000100c0",
     .started = "c0010200=41ff03 c0010202=f004000ff c0010203=0 c0010204=410076 "
                "c0010206=1004100c0",
     .rdpmc = "2 0 3"},
    {.line = __LINE__,
     .uarch = "zen5",
     .leaves = {{0x80000001, 0, 0, 0, 0x75c237ff, 0}, {0x80000022, 0, 7, 0x4106, 0, 0}},
     .events = "core_clk,uops_retired:k,aperf",
     .rings = COUNT_USER,
     .before = {{0xc0000301, 0x3f}, {0xc0010201, 5}, {0xe8, 1000}},
     .prepared = "c0000301=3c c0010200=410076 c0010202=4200c1",
     .started = "c0000302=3 c0010200=410076 c0010201=0 c0010202=4200c1",
     .rdpmc = "0 1 ffffffff"},
    {.line = __LINE__,
     .uarch = "zen5", // in a virtual machine that shows the four old counters only
     .leaves = {{0x80000001, 0, 0, 0, 0x20400165, 0}},
     .events = "core_clk",
     .rings = COUNT_USER,
     .prepared = "c0010000=10076",
     .started = "c0010000=410076",
     .rdpmc = "0"},
};
// clang-format on

static struct counter_table table;

static int events_of(const struct scheme_test *test, struct count_event **events)
{
    struct err err = {0};
    snprintf(machine_cpu.uarch, sizeof machine_cpu.uarch, "%s", test->uarch);
    machine_cpu.nleaves = 0;
    for (size_t i = 0; i < ARRAY_LEN(test->leaves); i++)
        if (test->leaves[i].leaf)
            machine_cpu.leaves[machine_cpu.nleaves++] = test->leaves[i];
    if (counters_load(test->uarch, &table, &err) != 0)
        fail_msg("line %d: %s", test->line, err.text);
    int n = count_events_parse(&table, test->events, test->rings, events, &err);
    if (n < 0)
        fail_msg("line %d: %s", test->line, err.text);
    return n;
}

static void changes_check(const struct scheme_test *test, const char *when,
                          const struct image *before, const char *expected)
{
    struct strbuf text = {0};
    struct image now;
    image_take(&now);
    image_changes(before, &now, &text);
    if (strcmp(strbuf_text(&text), expected) != 0)
        fail_msg("line %d, %s:\n  is        %s\n  should be %s", test->line, when,
                 strbuf_text(&text), expected);
    strbuf_free(&text);
}

static void rdpmc_check(const struct scheme_test *test, const struct count_event *events, int n)
{
    struct msr_device device;
    struct msr_plan plan;
    struct msr_steps restore;
    struct strbuf text = {0};
    assert_int_equal(msr_device_open(&machine, CPU, &device, NULL), COUNT_FINE);
    assert_int_equal(msr_device_plan(&device, events, n, &plan, &restore, NULL), COUNT_FINE);
    for (int i = 0; i < n; i++)
        strbuf_printf(&text, "%s%x", i ? " " : "", plan.slots[i].rdpmc);
    assert_string_equal(strbuf_text(&text), test->rdpmc);
    msr_device_close(&device);
    strbuf_free(&text);
}

static struct count_group *group_open(const struct count_event *events, int n, int line)
{
    const struct count_target target = {.what = COUNT_CPU, .cpu = CPU};
    struct count_group *group;
    struct err err = {0};
    if (count_msr.open(&machine, &target, events, n, &group, &err) != COUNT_FINE)
        fail_msg("line %d: %s", line, err.text);
    return group;
}

static void scheme_run(const struct scheme_test *test)
{
    struct count_event *events;
    struct image before;
    uint64_t values[COUNT_EVENTS_MAX];
    struct err err = {0};
    assert_int_equal(ftruncate(device_fd, 0), 0);
    for (size_t i = 0; i < ARRAY_LEN(test->before); i++)
        if (test->before[i].msr)
            register_put(test->before[i].msr, test->before[i].value);
    image_take(&before);
    int n = events_of(test, &events);
    rdpmc_check(test, events, n);
    struct count_group *group = group_open(events, n, test->line);
    changes_check(test, "prepared", &before, test->prepared);
    assert_int_equal(count_msr.start(group, &err), COUNT_FINE);
    changes_check(test, "started", &before, test->started);
    if (count_msr.read(group, values, &err) != COUNT_FINE)
        fail_msg("line %d: running: %s", test->line, err.text);
    assert_int_equal(count_msr.stop(group, &err), COUNT_FINE);
    if (count_msr.read(group, values, &err) != COUNT_FINE)
        fail_msg("line %d: stopped: %s", test->line, err.text);
    for (int i = 0; i < n; i++)
        assert_int_equal(values[i], 0);
    count_msr.close(group);
    // A command register is not restored: what was written to it had its effect.
    register_put(0x390, image_find(&before, 0x390));
    register_put(0xc0000302, image_find(&before, 0xc0000302));
    changes_check(test, "closed", &before, "");
    counters_free(&table);
    free(events);
}

static void test_schemes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(scheme_tests); i++)
        scheme_run(&scheme_tests[i]);
}

// Waits until the registers are those of the image.
static bool image_returns(const struct image *before)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    for (int i = 0; i < 300; i++) {
        struct strbuf text = {0};
        struct image now;
        image_take(&now);
        bool same = image_changes(before, &now, &text)[0] == '\0';
        strbuf_free(&text);
        if (same)
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

// Killed while counting: by a signal that could be handled, also one to the whole process group as
// a terminal sends it, and by the one that cannot.
static void test_killed(void **state)
{
    (void)state;
    static const int signals[] = {SIGTERM, SIGKILL, SIGINT};
    const struct scheme_test *test = &scheme_tests[8];
    struct count_event *events;
    struct image before;
    int n = events_of(test, &events), status;
    for (int i = 0; test->before[i].msr; i++)
        register_put(test->before[i].msr, test->before[i].value);
    image_take(&before);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        pid_t pid = fork();
        if (pid == 0) {
            setpgid(0, 0);
            struct count_group *group = group_open(events, n, __LINE__);
            count_msr.start(group, NULL);
            if (signals[i] == SIGINT)
                kill(0, SIGINT);
            raise(signals[i]);
            _exit(1);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        assert_true(image_returns(&before));
    }
    counters_free(&table);
    free(events);
}

static void refusal(enum count_obstacle expected, enum count_obstacle got, const struct err *err,
                    const char *words)
{
    if (got != expected || !strstr(err->text, words))
        fail_msg("%s instead of %s: %s; should say: %s", count_obstacle_name(got),
                 count_obstacle_name(expected), err->text, words);
}

static void test_in_use(void **state)
{
    (void)state;
    struct count_event *events;
    struct count_group *group;
    struct err err = {0};
    uint64_t values[COUNT_EVENTS_MAX];
    const struct count_target target = {.what = COUNT_CPU, .cpu = CPU};
    const struct scheme_test test = {
        .line = __LINE__, .uarch = "k10", .events = "core_clk,instructions", .rings = COUNT_USER};
    int n = events_of(&test, &events);
    for (uint32_t i = 0; i < 3; i++)
        register_put(0xc0010000 + i, 0x530076);
    refusal(COUNT_TOO_MANY, count_msr.open(&machine, &target, events, n, &group, &err), &err,
            "general 0x7");
    assert_null(group);
    machine_file("/proc/sys/kernel/nmi_watchdog", "1\n");
    refusal(COUNT_WATCHDOG, count_msr.open(&machine, &target, events, n, &group, &err), &err,
            "sysctl -w kernel.nmi_watchdog=0");
    // Taken away while it counts.
    group = group_open(events, 1, __LINE__);
    assert_int_equal(count_msr.start(group, &err), COUNT_FINE);
    register_put(0xc0010003, 0x5300c0);
    refusal(COUNT_MULTIPLEXED, count_msr.read(group, values, &err), &err, "something else");
    count_msr.close(group);
    counters_free(&table);
    free(events);
}

static int refuse_error;
static bool refuse_swallow;

static ssize_t refuse_pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    (void)fd;
    (void)bytes;
    (void)offset;
    errno = refuse_error;
    return refuse_swallow ? (ssize_t)size : -1;
}

static enum count_obstacle open_one(struct err *err)
{
    const struct scheme_test test = {
        .line = __LINE__, .uarch = "k10", .events = "core_clk", .rings = COUNT_USER};
    const struct count_target target = {.what = COUNT_CPU, .cpu = CPU};
    struct count_event *events;
    struct count_group *group;
    int n = events_of(&test, &events);
    enum count_obstacle obstacle = count_msr.open(&machine, &target, events, n, &group, err);
    count_msr.close(group);
    counters_free(&table);
    free(events);
    return obstacle;
}

static void test_refused(void **state)
{
    (void)state;
    struct err err = {0};
    struct count_calls calls = count_calls_real;
    calls.pwrite = refuse_pwrite;
    machine.calls = &calls;
    refuse_swallow = false;
    refuse_error = EPERM;
    refusal(COUNT_FORBIDDEN, open_one(&err), &err, "CAP_SYS_RAWIO");
    machine_file("/sys/module/msr/parameters/allow_writes", "off\n");
    refusal(COUNT_FORBIDDEN, open_one(&err), &err, "echo on >");
    machine_file("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    refusal(COUNT_FORBIDDEN, open_one(&err), &err, "locked down");
    refuse_error = EIO;
    refusal(COUNT_NO_EVENT, open_one(&err), &err, "has no MSR 0xc0010000");
    strcpy(machine_cpu.hypervisor, "KVM");
    refusal(COUNT_NO_PMU, open_one(&err), &err, "hypervisor (KVM)");
    refuse_error = ENXIO;
    refusal(COUNT_GONE, open_one(&err), &err, "offline");
    refuse_swallow = true;
    refusal(COUNT_NO_PMU, open_one(&err), &err, "swallows");
    machine.root = "/nonexistent";
    refusal(COUNT_NO_DEVICE, open_one(&err), &err, "modprobe msr");
    refusal(COUNT_FORBIDDEN, msr_explain(&machine, 0, 0, false, EACCES, &err), &err,
            geteuid() == 0 ? "In a container" : "Run as root");
}

// Counts that stand still, or that a hypervisor hides, are no counts.
static void test_probe(void **state)
{
    (void)state;
    struct err err = {0};
    char path[64], full[160];
    int number = sched_getcpu();
    const struct affinity_visit visit = affinity_visit(&number, 1);
    if (!visit.moved)
        skip(); // the system refuses sched_setaffinity
    snprintf(path, sizeof path, "/dev/cpu/%d/msr", number);
    snprintf(full, sizeof full, "%s%s", machine_root, path);
    if (access(full, F_OK) != 0)
        machine_file(path, "");
    strcpy(machine_cpu.uarch, "k10");
    refusal(COUNT_STILL, count_msr.probe(&machine, &err), &err, "stands still");
    strcpy(machine_cpu.uarch, "skylake");
    strcpy(machine_cpu.hypervisor, "KVM");
    refusal(COUNT_NO_PMU, count_msr.probe(&machine, &err), &err, "the hypervisor hides them");
    affinity_return(&visit);
}

static void test_targets(void **state)
{
    (void)state;
    struct err err = {0};
    struct count_group *group;
    struct count_event *events;
    const struct scheme_test test = {
        .line = __LINE__, .uarch = "k10", .events = "core_clk", .rings = COUNT_USER};
    int n = events_of(&test, &events);
    struct count_target target = {.what = COUNT_PROCESS, .pid = getpid()};
    refusal(COUNT_NO_EVENT, count_msr.open(&machine, &target, events, n, &group, &err), &err,
            "--backend perf");
    struct count_event software;
    target = (struct count_target){.what = COUNT_CPU, .cpu = CPU};
    assert_int_equal(count_software_find("page-faults", &software), 0);
    struct count_event both[2] = {events[0], software};
    refusal(COUNT_NO_EVENT, count_msr.open(&machine, &target, both, 2, &group, &err), &err,
            "--backend perf");
    counters_free(&table);
    free(events);
}

// Counts are differences, in the counter's width; those of a pair combine both halves.
static void test_values(void **state)
{
    (void)state;
    struct err err = {0};
    struct count_event *events;
    uint64_t values[COUNT_EVENTS_MAX];
    const struct scheme_test test = {.line = __LINE__,
                                     .uarch = "zen2",
                                     .leaves = {{0x80000001, 0, 0, 0, 0x75c237ff, 0}},
                                     .events = "core_clk,fp_flops_retired,aperf",
                                     .rings = COUNT_USER};
    int n = events_of(&test, &events);
    register_put(0xe8, 1000);
    struct count_group *group = group_open(events, n, __LINE__);
    assert_int_equal(count_msr.start(group, &err), COUNT_FINE);
    register_put(0xc0010205, 0xffff000000000123); // bits above the counter's mean nothing
    register_put(0xc0010201, 0x456);
    register_put(0xc0010203, 0x2);
    register_put(0xe8, 1500);
    assert_int_equal(count_msr.stop(group, &err), COUNT_FINE);
    assert_int_equal(count_msr.read(group, values, &err), COUNT_FINE);
    assert_int_equal(values[0], 0x123);
    assert_int_equal(values[1], 0x2000000000456);
    assert_int_equal(values[2], 500);
    count_msr.close(group);
    counters_free(&table);
    free(events);
}

static void test_overflow(void **state)
{
    (void)state;
    struct err err = {0};
    struct count_event *events;
    uint64_t values[COUNT_EVENTS_MAX];
    int n = events_of(&scheme_tests[0], &events);
    struct count_group *group = group_open(events, n, __LINE__);
    assert_int_equal(count_msr.start(group, &err), COUNT_FINE);
    register_put(0x38e, 8); // a counter that is not ours
    assert_int_equal(count_msr.read(group, values, &err), COUNT_FINE);
    register_put(0x38e, 1);
    refusal(COUNT_FAILED, count_msr.read(group, values, &err), &err, "run over");
    count_msr.close(group);
    counters_free(&table);
    free(events);
}

// Pentium 4: two events of one half cannot have different contents of one ESCR, but two copies.
static void test_netburst(void **state)
{
    (void)state;
    struct err err = {0};
    struct count_event *events;
    struct count_group *group;
    const struct count_target target = {.what = COUNT_CPU, .cpu = CPU};
    struct scheme_test test = {.line = __LINE__,
                               .uarch = "netburst",
                               .events = "branches,branches_taken",
                               .rings = COUNT_USER,
                               .rdpmc = "c e"};
    int n = events_of(&test, &events);
    rdpmc_check(&test, events, n);
    counters_free(&table);
    free(events);
    test.events = "branches,branches_taken,branches_not_taken";
    n = events_of(&test, &events);
    refusal(COUNT_TOO_MANY, count_msr.open(&machine, &target, events, n, &group, &err), &err,
            "'branches_not_taken' finds no counter");
    counters_free(&table);
    free(events);
}

#define ON_MACHINE(test) cmocka_unit_test_setup_teardown(test, machine_make, machine_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_MACHINE(test_schemes), ON_MACHINE(test_killed),   ON_MACHINE(test_in_use),
        ON_MACHINE(test_refused), ON_MACHINE(test_probe),    ON_MACHINE(test_targets),
        ON_MACHINE(test_values),  ON_MACHINE(test_overflow), ON_MACHINE(test_netburst),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
