// SPDX-License-Identifier: MIT
// Facts that a measuring process finds at its start decide about all of its kernels. Here each of
// them is made wrong, in a core that only tests have (fixtures/core_wrong.c), and a program that
// comes and goes runs beside a hundred starts: values are right, or there is none, with the reason.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "derive/derive.h"
#include "execute/exec.h"
#include "fixtures/core_wrong.h"
#include "measure/session.h"
#include "util/clock.h"
#include "util/paths.h"
#include "util/subproc.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STARTS = 100, GIVE_UP_MS = 6000 };
static const double IMUL_CLK = 3; // the first kernel of core_bodies.asm

static struct session session;
static char object[300];

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

// Links the kernels with a core that is wrong so.
static void build(unsigned wrong, char program[300])
{
    char number[40];
    snprintf(program, 300, "%s/wrong%u", session.directory, wrong);
    snprintf(number, sizeof number, "-Wl,--defsym=latput_wrong=%u", wrong);
    const char *const argv[] = {
        "gcc",  "-static", "-no-pie", "-o", program, object, path_library("tests/core_wrong.o"),
        number, NULL};
    assert_int_equal(run_tool(argv), 0);
}

static int begin(void **state)
{
    (void)state;
    struct err err = {0};
    struct arena arena = {0};
    struct program program;
    const struct session_floor from = {.quick = false};
    if (session_begin(SESSION_CPU_QUIET, NULL, &session, &err) != 0 ||
        session_make_directory(&session, &err) != 0 ||
        session_build_nop(&session, "floor", 64, &arena, &program, &err) != 0 ||
        session_find_floor(&session, &from, program.path, &err) != 0) {
        fprintf(stderr, "%s\n", err.text);
        return -1;
    }
    arena_free(&arena);
    snprintf(object, sizeof object, "%s/bodies.o", session.directory);
    const char *const nasm[] = {
        "nasm",   "-f", "elf64", "-DBITS=64",
        "-DWALL", "-o", object,  path_data("tests/fixtures/core_bodies.asm"),
        NULL};
    return run_tool(nasm);
}

static int end(void **state)
{
    (void)state;
    session_end(&session, false);
    return 0;
}

struct start {
    unsigned wrong;
    uint32_t link_clk, known; // of the configuration
    bool lost;                // no value is to come out
    int aside;                // processes that are put aside
    const char *detail;
    double floor; // times the true one
};

// Starts a process for a kernel. Returns true if that has its value; *detail: why not.
static bool start_once(const char *program, const struct exec_params *params,
                       struct exec_summary *summary, char detail[200])
{
    const struct kernel_facts facts = {"dense", 1, 1, 0, false};
    struct exec_kernel kernel = {.selected = true, .detail = ""};
    struct arena arena = {0};
    struct err err = {0};
    const struct exec_job job = {program, params, &kernel, 1, NULL, NULL};
    if (exec_run(&job, &arena, summary, &err) != 0)
        fail_msg("%s", err.text);
    const struct estimate estimate = derive_kernel(&facts, 0, kernel.timings, kernel.ntimings);
    bool right = kernel.outcome == OUTCOME_OK && estimate.outcome == OUTCOME_OK;
    if (right && fabs(estimate.clk - IMUL_CLK) > 0.01 * IMUL_CLK)
        fail_msg("imul takes %.3f cycles", estimate.clk);
    snprintf(detail, 200, "%s", kernel.detail);
    arena_free(&arena);
    return right;
}

static void a_wrong_fact_gives_no_wrong_value(void **state)
{
    (void)state;
    // clang-format off
    const struct start starts[] = {
        {WRONG_NOTHING, 3, 0, false, 0, "", 1},
        {WRONG_NOTHING, 4, 0, false, 0, "", 1},
        {WRONG_NOTHING, 0, 0, false, 0, "", 1},
        {WRONG_NOTHING, 3, 1, false, 0, "", 1},
        {WRONG_LINK, 3, 0, false, 0, "", 1},
        {WRONG_LINK, 3, 1, false, 0, "", 1},
        {WRONG_LINK, 0, 0, false, 0, "", 1},
        {WRONG_OVERHEAD, 3, 1, false, 0, "", 1},
        {WRONG_CLOCK, 3, 1, false, 0, "", 1},
        {WRONG_CANARY, 3, 1, false, 0, "", 1},
        {WRONG_LINK | WRONG_FOR_GOOD, 3, 0, false, 0, "", 1},
        {WRONG_LINK | WRONG_FOR_GOOD, 3, 1, false, 0, "", 1},
        {WRONG_NOTHING, 4, 1, true, 3, "imul takes 3 cycles", 1},
        {WRONG_CANARY | WRONG_FOR_GOOD, 3, 1, true, 2, "something else uses this core", 1},
        {WRONG_NOTHING, 3, 1, true, 2, "something else uses this core", 0.95},
    };
    // clang-format on
    if (session.cpu->imul64_clk != IMUL_CLK) // what is made wrong is made so for that
        skip();
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        char program[300];
        struct exec_params params = session_params(&session, 64);
        char detail[200];
        struct exec_summary summary;
        params.config.calib_link_clk = starts[i].link_clk;
        params.config.link_known = starts[i].known;
        params.config.floor_clk_per_instr *= starts[i].floor;
        params.config.give_up_ms = GIVE_UP_MS;
        build(starts[i].wrong, program);
        double begin_s = clock_now_s();
        bool right = start_once(program, &params, &summary, detail);
        printf("wrong %u, link %u%s, floor * %.2f: %s in %.1f s, %d put aside; %s\n",
               starts[i].wrong, starts[i].link_clk, starts[i].known ? " known" : "",
               starts[i].floor, right ? "right" : "no value", clock_now_s() - begin_s,
               summary.aside, detail);
        assert_int_equal(right, !starts[i].lost);
        assert_int_equal(summary.aside, starts[i].aside);
        assert_non_null(strstr(detail, starts[i].detail));
    }
}

// A program that comes and goes on another CPU.
static atomic_bool over;
static int neighbour_cpu = -1;

static void *neighbour(void *argument)
{
    (void)argument;
    cpu_set_t set;
    unsigned seed = 1;
    CPU_ZERO(&set);
    CPU_SET((size_t)neighbour_cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
    while (!over) {
        // 0.1 to 20 ms, most of them short
        double us = 100 * pow(200, rand_r(&seed) / (double)RAND_MAX);
        int64_t until_ns = clock_now_ns() + (int64_t)(us * 1000);
        while (clock_now_ns() < until_ns)
            __asm__ volatile(".rept 400\n xor %%eax, %%eax\n xor %%ecx, %%ecx\n nop\n .endr"
                             :
                             :
                             : "eax", "ecx", "cc");
        usleep((useconds_t)(100 * pow(200, rand_r(&seed) / (double)RAND_MAX)));
    }
    return NULL;
}

static void no_start_beside_a_program_that_comes_and_goes_is_lost(void **state)
{
    (void)state;
    char program[300];
    pthread_t thread;
    int lost = 0, aside = 0;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET((size_t)i, &session.affinity) && i != session.params.config.cpu)
            neighbour_cpu = i;
    if (neighbour_cpu < 0 || session.cpu->imul64_clk != IMUL_CLK)
        skip();
    build(WRONG_NOTHING, program);
    struct exec_params params = session_params(&session, 64);
    assert_int_equal(pthread_create(&thread, NULL, neighbour, NULL), 0);
    double begin_s = clock_now_s();
    for (int i = 0; i < STARTS; i++) {
        char detail[200];
        struct exec_summary summary;
        params.config.link_known = (uint32_t)i % 2;
        lost += !start_once(program, &params, &summary, detail);
        aside += summary.aside;
    }
    over = true;
    pthread_join(thread, NULL);
    printf("%d starts in %.1f s: %d lost, %d put aside\n", STARTS, clock_now_s() - begin_s, lost,
           aside);
    assert_int_equal(lost, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_fact_gives_no_wrong_value),
        cmocka_unit_test(no_start_beside_a_program_that_comes_and_goes_is_lost),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
