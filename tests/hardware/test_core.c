// SPDX-License-Identifier: MIT
// The measurement core on real hardware: hostile bodies between honest ones. Each hostile body must
// end in its own outcome, and the honest ones must give the numbers that they give alone. Values
// are compared by ratio, so that the test holds on any CPU. All of it in 64-bit and in 32-bit mode.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "execute/exec.h"
#include "util/paths.h"
#include "util/subproc.h"

#include "cpuinfo/cpuinfo.h"
#include "derive/derive.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STREAM "cpuid as if a stream"

// AMD has no sysenter in long mode, not even for 32-bit programs; and where the first execution of
// a body is slow, so few are timed that pushes do not reach the end of the stack.
static const struct {
    const char *name;
    enum outcome outcome;
    enum outcome other; // as good: it depends on the CPU
    double clk;         // 0: any
} expected[] = {
    {"imul",                     OUTCOME_OK,             OUTCOME_OK,             3},
    {"ud2",                      OUTCOME_UNSUPPORTED,    OUTCOME_UNSUPPORTED,    0},
    {"endless loop",             OUTCOME_TIMED_OUT,      OUTCOME_TIMED_OUT,      0},
    {"store to address 0",       OUTCOME_SIGNALLED,      OUTCOME_SIGNALLED,      0},
    {"store over the core",      OUTCOME_SIGNALLED,      OUTCOME_SIGNALLED,      0},
    {"store over the stack",     OUTCOME_NOT_MEASURABLE, OUTCOME_SIGNALLED,      0},
    {"syscall",                  OUTCOME_SIGNALLED,      OUTCOME_UNSUPPORTED,    0},
    {"division by zero",         OUTCOME_SIGNALLED,      OUTCOME_SIGNALLED,      0},
    {"privileged",               OUTCOME_SIGNALLED,      OUTCOME_SIGNALLED,      0},
    {"needs a permission",       OUTCOME_UNSUPPORTED,    OUTCOME_UNSUPPORTED,    0},
    {"stack pointer destroyed",  OUTCOME_NOT_MEASURABLE, OUTCOME_NOT_MEASURABLE, 0},
    {"direction flag left set",  OUTCOME_OK,             OUTCOME_OK,             0},
    {"MXCSR left changed",       OUTCOME_OK,             OUTCOME_OK,             0},
    {"upper halves left dirty",  OUTCOME_OK,             OUTCOME_OK,             0},
    {"mulps after it",           OUTCOME_OK,             OUTCOME_OK,             0},
    {"pointer chase",            OUTCOME_OK,             OUTCOME_OK,             0},
    {"push without end",         OUTCOME_SIGNALLED,      OUTCOME_NOT_MEASURABLE, 0},
    {"push and pop",             OUTCOME_OK,             OUTCOME_OK,             0},
    {"stack pointer moved",      OUTCOME_NOT_MEASURABLE, OUTCOME_NOT_MEASURABLE, 0},
    {"loop counter overwritten", OUTCOME_TIMED_OUT,      OUTCOME_TIMED_OUT,      0},
    {"segment registers zeroed", OUTCOME_OK,             OUTCOME_OK,             0},
    {"int3",                     OUTCOME_SIGNALLED,      OUTCOME_SIGNALLED,      0},
    {"int 0x80",                 OUTCOME_SIGNALLED,      OUTCOME_SIGNALLED,      0},
    {"vmulps",                   OUTCOME_OK,             OUTCOME_OK,             0},
    {"cpuid",                    OUTCOME_OK,             OUTCOME_OK,             0},
    {STREAM,                     OUTCOME_OK,             OUTCOME_OK,             0},
    {"segment bases changed",    OUTCOME_OK,             OUTCOME_UNSUPPORTED,    0},
    {"segment bases seen",       OUTCOME_OK,             OUTCOME_UNSUPPORTED,    0},
    {"PKRU changed",             OUTCOME_OK,             OUTCOME_UNSUPPORTED,    0},
    {"PKRU seen",                OUTCOME_OK,             OUTCOME_UNSUPPORTED,    0},
    {"PKRU denies all memory",   OUTCOME_SIGNALLED,      OUTCOME_UNSUPPORTED,    0},
    {"alignment check left on",  OUTCOME_OK,             OUTCOME_OK,             0},
    {"single step left on",      OUTCOME_SIGNALLED,      OUTCOME_SIGNALLED,      0},
    {"tiles left configured",    OUTCOME_OK,             OUTCOME_UNSUPPORTED,    0},
    {"tiles seen",               OUTCOME_OK,             OUTCOME_SIGNALLED,      0},
    {"speaks for the last",      OUTCOME_SIGNALLED,      OUTCOME_NOT_MEASURABLE, 0},
    {"opens the seal",           OUTCOME_NOT_MEASURABLE, OUTCOME_NOT_MEASURABLE, 0},
    {"opens it step by step",    OUTCOME_SIGNALLED,      OUTCOME_NOT_MEASURABLE, 0},
    {"reads a secret by a call", OUTCOME_SIGNALLED,      OUTCOME_SIGNALLED,      0},
    {"forges by a call",         OUTCOME_NOT_MEASURABLE, OUTCOME_NOT_MEASURABLE, 0},
    {"tampers with others",      OUTCOME_OK,             OUTCOME_OK,             0},
    {"sleeps for long",          OUTCOME_TIMED_OUT,      OUTCOME_TIMED_OUT,      0},
    {"changes libc's thread",    OUTCOME_SIGNALLED,      OUTCOME_SIGNALLED,      0},
    {"imul again",               OUTCOME_OK,             OUTCOME_OK,             3},
};
enum { KERNELS = sizeof expected / sizeof expected[0] };

static char programs[2][256]; // 64-bit, 32-bit; "" if it cannot be built or run

static int run_tool(const char *const argv[])
{
    struct subproc_result result;
    struct err err = {0};
    if (subproc_run(argv, NULL, &result, &err) != 0) {
        fprintf(stderr, "%s\n", err.text);
        return -1;
    }
    int status = result.exit_status;
    if (status)
        fprintf(stderr, "%s%s\n", result.out, result.err);
    subproc_result_free(&result);
    return status;
}

static int build(bool is_32, char program[256])
{
    char object[300];
    snprintf(program, 256, "%s/core_bodies%s", path_library("tests"), is_32 ? "32" : "64");
    snprintf(object, sizeof object, "%s.o", program);
    const char *const nasm[] = {"nasm",
                                "-f",
                                is_32 ? "elf32" : "elf64",
                                is_32 ? "-DBITS=32" : "-DBITS=64",
                                "-DWALL",
                                "-o",
                                object,
                                path_data("tests/fixtures/core_bodies.asm"),
                                NULL};
    const char *const link[] = {"gcc",     is_32 ? "-m32" : "-m64",
                                "-static", "-no-pie",
                                "-o",      program,
                                object,    path_library(is_32 ? "core32.o" : "core64.o"),
                                NULL};
    return run_tool(nasm) || run_tool(link);
}

// Without a 32-bit toolchain there is no core32.o, and some kernels do not run what is made of it;
// that is no failure.
static int build_once(void **state)
{
    (void)state;
    struct subproc_result result;
    struct err err = {0};
    const char *const alone[] = {programs[1], NULL}; // ends for want of a configuration
    if (access(path_library("core32.o"), R_OK) == 0 && build(true, programs[1]) != 0)
        return -1;
    if (programs[1][0] && subproc_run(alone, NULL, &result, &err) != 0) {
        print_message("%s\n", err.text);
        programs[1][0] = '\0';
    } else if (programs[1][0]) {
        subproc_result_free(&result);
    }
    return build(false, programs[0]);
}

static struct exec_params params_here(void)
{
    struct exec_params params = exec_defaults();
    struct cpu_info *cpu = calloc(1, sizeof *cpu);
    struct err err = {0};
    if (!cpu || cpu_identify(CPU_HERE, cpu, &err) != 0)
        fail_msg("%s", err.text);
    params.config.cpu = sched_getcpu();
    params.config.tsc_hz = (double)cpu->tsc_hz;
    params.config.calib_link_clk = cpu->imul64_clk ? (uint32_t)cpu->imul64_clk : 3;
    params.config.canary = 1;
    params.config.floor_clk_per_instr = 1;
    params.config.canary_tolerance = 1e9; // accept everything: the test is about outcomes
    params.config.give_up_ms = 5000;
    params.hang_ms = 1000;
    free(cpu);
    return params;
}

static void check_bodies(const char *program)
{
    struct exec_params params = params_here();
    struct exec_kernel kernels[KERNELS] = {{0}};
    for (int i = 0; i < KERNELS; i++)
        kernels[i].selected = true;
    struct arena arena = {0};
    struct exec_summary summary;
    struct err err = {0};
    const struct exec_job job = {program, &params, kernels, KERNELS, NULL, NULL};
    if (exec_run(&job, &arena, &summary, &err) != 0)
        fail_msg("%s", err.text);
    int wrong = 0;
    for (int i = 0; i < KERNELS; i++) {
        const struct kernel_facts facts = {"dense", 1, 1, 0, false};
        struct estimate estimate =
            derive_kernel(&facts, 0, kernels[i].timings, kernels[i].ntimings);
        bool value_wrong =
            expected[i].clk > 0 && estimate.outcome == OUTCOME_OK &&
            (estimate.clk < expected[i].clk * 0.97 || estimate.clk > expected[i].clk * 1.03);
        bool outcome_wrong =
            kernels[i].outcome != expected[i].outcome &&
            !(kernels[i].outcome == OUTCOME_UNSTABLE && expected[i].outcome == OUTCOME_OK) &&
            kernels[i].outcome != expected[i].other;
        printf("%-26s %-15s %8.3f clk  %s\n", expected[i].name, outcome_name(kernels[i].outcome),
               estimate.clk, kernels[i].detail);
        // Slow as it is: far more than buffers of stores hold, by what it says that it has in it.
        bool too_short = strcmp(expected[i].name, STREAM) == 0 && kernels[i].ntimings > 0 &&
                         kernels[i].timings[0].iterations < 64;
        wrong += value_wrong || outcome_wrong || too_short;
    }
    arena_free(&arena);
    assert_int_equal(wrong, 0);
}

static void hostile_bodies_cost_one_outcome_each(void **state)
{
    (void)state;
    check_bodies(programs[0]);
}

static void hostile_32_bit_bodies_cost_one_outcome_each(void **state)
{
    (void)state;
    if (!programs[1][0]) {
        print_message("no 32-bit toolchain, or no kernel for it\n");
        skip();
    }
    check_bodies(programs[1]);
}

// A process of another mode must not misread the configuration, nor the runner its records.
static void calibration_is_the_same_in_32_bit_mode(void **state)
{
    (void)state;
    if (!programs[1][0])
        skip();
    struct exec_params params = params_here();
    struct exec_kernel kernels[1] = {{.selected = true}};
    struct exec_summary summaries[2];
    struct err err = {0};
    params.config.calib_link_clk = 0; // by the ratio of imul and add
    for (int i = 0; i < 2; i++) {
        struct arena arena = {0};
        const struct exec_job job = {programs[i], &params, kernels, 1, NULL, NULL};
        if (exec_run(&job, &arena, &summaries[i], &err) != 0)
            fail_msg("%s", err.text);
        arena_free(&arena);
        kernels[0] = (struct exec_kernel){.selected = true};
        printf("imul/add %.3f, core %.0f Hz\n", summaries[i].imul_per_add, summaries[i].core_hz);
        assert_true(summaries[i].calib_link_clk >= 1 && summaries[i].calib_link_clk < 20);
    }
    double ratio = summaries[1].core_hz / summaries[0].core_hz;
    assert_true(ratio > 0.7 && ratio < 1.5); // of a core whose frequency nobody promised
}

static void canary_has_a_floor(void **state)
{
    (void)state;
    const char *program = programs[0];
    struct exec_params params = params_here();
    static struct exec_floor floor;
    struct err err = {0};
    if (exec_floor(program, &params, 500, &floor, &err) != 0)
        fail_msg("%s", err.text);
    assert_true(floor.imul_per_add > 1);
    for (int kind = 1; kind < CORE_CANARIES; kind++) {
        uint32_t samples = 0, seen = 0;
        int median = 0;
        for (int i = 0; i < CORE_FLOOR_BINS; i++)
            samples += floor.counts[kind][i];
        while (median < CORE_FLOOR_BINS && (seen += floor.counts[kind][median]) * 2 < samples)
            median++;
        printf("canary %d: %.4f clk, %u samples\n", kind, median * CORE_FLOOR_BIN_CLK, samples);
        assert_true(samples > 20);
        assert_true(median * CORE_FLOOR_BIN_CLK > 0.05);
    }
}

// Another process's signals to the core, from a thread beside exec_run: the n-th process that runs
// gets `number` after `after_ms`, again and again, for the first `nprocesses` of them.
struct disturber {
    int number, hold_ms; // SIGSTOP: SIGCONT follows after this
    int after_ms, nprocesses;
    atomic_bool over;
    int sent;
    pthread_t thread;
};

static void sleep_ms(int ms)
{
    usleep((useconds_t)ms * 1000);
}

// Before its exec a child is this program still, with this program's handlers.
static bool is_core(int pid)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool there = fscanf(file, "%31s", name) == 1 && strncmp(name, "core_bodies", 11) == 0;
    fclose(file);
    return there;
}

static pid_t find_core(void)
{
    char path[64];
    int pid = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    FILE *children = fopen(path, "re");
    if (!children)
        return 0;
    if (fscanf(children, "%d", &pid) != 1)
        pid = 0;
    fclose(children);
    return is_core(pid) ? pid : 0;
}

static void *disturb(void *argument)
{
    struct disturber *disturber = argument;
    pid_t last = 0;
    for (int nseen = 0; !disturber->over; sleep_ms(2)) {
        pid_t pid = find_core();
        if (pid <= 0)
            continue;
        nseen += pid != last;
        last = pid;
        if (nseen > disturber->nprocesses)
            break;
        sleep_ms(disturber->after_ms);
        if (find_core() != pid)
            continue;
        kill(pid, disturber->number);
        disturber->sent++;
        if (disturber->number == SIGSTOP) {
            sleep_ms(disturber->hold_ms);
            kill(pid, SIGCONT);
        }
    }
    return NULL;
}

// Measures the two honest multiplications of one program meanwhile.
static int run_disturbed(const char *program, struct disturber *disturber,
                         struct exec_kernel kernels[KERNELS], struct arena *arena, struct err *err)
{
    struct exec_params params = params_here();
    params.config.pass_gap_ms = 700; // a process lasts until a signal comes
    struct exec_summary summary;
    memset(kernels, 0, KERNELS * sizeof *kernels);
    kernels[0].selected = kernels[KERNELS - 1].selected = true;
    assert_int_equal(pthread_create(&disturber->thread, NULL, disturb, disturber), 0);
    const struct exec_job job = {program, &params, kernels, KERNELS, NULL, NULL};
    int status = exec_run(&job, arena, &summary, err);
    disturber->over = true;
    pthread_join(disturber->thread, NULL);
    printf("signal %d, sent %d times: %d, %s %s, %s %s\n", disturber->number, disturber->sent,
           status, outcome_name(kernels[0].outcome), kernels[0].detail,
           outcome_name(kernels[KERNELS - 1].outcome), kernels[KERNELS - 1].detail);
    return status;
}

static void signals_from_outside_are_no_outcome(void **state)
{
    (void)state;
    // clang-format off
    const struct disturber disturbers[] = {
        {.number = SIGSTOP, .hold_ms = 15, .after_ms = 25, .nprocesses = 99},
        {.number = SIGSTOP, .hold_ms = 2500, .after_ms = 400, .nprocesses = 2},
        {.number = SIGSEGV, .after_ms = 10, .nprocesses = 99},
        {.number = SIGTRAP, .after_ms = 10,.nprocesses = 99},
        {.number = SIGKILL, .after_ms = 400, .nprocesses = 3},
        {.number = SIGTERM, .after_ms = 400, .nprocesses = 2},
    };
    // clang-format on
    for (size_t i = 0; i < 2 * sizeof disturbers / sizeof disturbers[0]; i++) {
        struct disturber disturber = disturbers[i / 2];
        struct exec_kernel kernels[KERNELS];
        struct arena arena = {0};
        struct err err = {0};
        if (!programs[i % 2][0])
            continue;
        if (run_disturbed(programs[i % 2], &disturber, kernels, &arena, &err) != 0)
            fail_msg("%s", err.text);
        assert_true(disturber.sent > 0);
        assert_int_equal(kernels[0].outcome, OUTCOME_OK);
        assert_int_equal(kernels[KERNELS - 1].outcome, OUTCOME_OK);
        arena_free(&arena);
    }
}

static void what_is_always_killed_is_told_as_that(void **state)
{
    (void)state;
    struct disturber disturber = {.number = SIGKILL, .after_ms = 300, .nprocesses = 99};
    struct exec_kernel kernels[KERNELS];
    struct arena arena = {0};
    struct err err = {0};
    int status = run_disturbed(programs[0], &disturber, kernels, &arena, &err);
    for (int i = 0; i < KERNELS && status == 0; i++)
        if (kernels[i].selected && kernels[i].outcome != OUTCOME_OK) {
            assert_int_equal(kernels[i].outcome, OUTCOME_UNSTABLE);
            snprintf(err.text, sizeof err.text, "%s", kernels[i].detail);
        }
    assert_non_null(strstr(err.text, "something outside ended the measuring process by SIGKILL"));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_bodies_cost_one_outcome_each),
        cmocka_unit_test(hostile_32_bit_bodies_cost_one_outcome_each),
        cmocka_unit_test(calibration_is_the_same_in_32_bit_mode),
        cmocka_unit_test(canary_has_a_floor),
        cmocka_unit_test(signals_from_outside_are_no_outcome),
        cmocka_unit_test(what_is_always_killed_is_told_as_that),
    };
    return cmocka_run_group_tests(tests, build_once, NULL);
}
