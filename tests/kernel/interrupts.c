// SPDX-License-Identifier: MIT
// Runs in the emulated machine of tests/kernel/run: measures bodies by the core, with interrupts
// off and on. Those that see them off raise an exception: its outcome has to come back, and the
// bodies after it are measured. Usage: interrupts PROGRAM, of interrupts.asm and the core.
#include "execute/exec.h"
#include "execute/exec_ring0.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

// All are OK while interrupts stay on, but for those that take the right to turn them off.
static const struct {
    const char *name;
    enum outcome on, off;
    const char *detail; // begin of it, where interrupts are off
} bodies[] = {
    {"imul",                  OUTCOME_OK,        OUTCOME_OK,          ""       },
    {"#UD where off",         OUTCOME_OK,        OUTCOME_UNSUPPORTED, "SIGILL" },
    {"imul after #UD",        OUTCOME_OK,        OUTCOME_OK,          ""       },
    {"#DE where off",         OUTCOME_OK,        OUTCOME_SIGNALLED,   "SIGFPE" },
    {"#GP where off",         OUTCOME_OK,        OUTCOME_SIGNALLED,   "SIGSEGV"},
    {"#PF where off",         OUTCOME_OK,        OUTCOME_SIGNALLED,   "SIGSEGV"},
    {"#BP where off",         OUTCOME_OK,        OUTCOME_SIGNALLED,   "SIGTRAP"},
    {"system call where off", OUTCOME_OK,        OUTCOME_SIGNALLED,   "SIGSYS" },
    {"cli",                   OUTCOME_SIGNALLED, OUTCOME_OK,          ""       },
    {"sti",                   OUTCOME_SIGNALLED, OUTCOME_OK,          ""       },
    {"pushf and popf",        OUTCOME_OK,        OUTCOME_OK,          ""       },
    {"too long to be off",    OUTCOME_OK,        OUTCOME_OK,          ""       },
    {"load after all",        OUTCOME_OK,        OUTCOME_OK,          ""       },
};
enum { BODIES = sizeof bodies / sizeof bodies[0] };

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double tsc_hz(void)
{
    static const double SECONDS = 0.1;
    double begin_s = now_s(), s;
    uint64_t begin = __rdtsc();
    while ((s = now_s() - begin_s) < SECONDS)
        ;
    return (double)(__rdtsc() - begin) / s;
}

// Every instruction takes as long as any other there, and nothing disturbs.
static struct exec_params params_here(void)
{
    struct exec_params params = exec_defaults();
    params.config.tsc_hz = tsc_hz();
    params.config.calib_link_clk = 3;
    params.config.canary = 1;
    params.config.canary_iterations = 1;
    params.config.floor_clk_per_instr = 1;
    params.config.canary_tolerance = 1e9;
    params.config.passes = 2;
    params.config.give_up_ms = 5000;
    return params;
}

static void measure(const char *program, struct exec_params *params, bool off)
{
    struct exec_kernel kernels[BODIES] = {{0}};
    struct arena arena = {0};
    struct exec_summary summary;
    struct err err = {0};
    for (int i = 0; i < BODIES; i++)
        kernels[i].selected = true;
    params->config.interrupts_off = off;
    const struct exec_job job = {program, params, kernels, BODIES, NULL, NULL};
    if (exec_run(&job, &arena, &summary, &err) != 0)
        printf("check the core runs with interrupts %s: NO (%s)\n", off ? "off" : "on", err.text);
    for (int i = 0; i < BODIES; i++) {
        enum outcome wanted = off ? bodies[i].off : bodies[i].on;
        const char *detail = kernels[i].detail ? kernels[i].detail : "";
        bool right = kernels[i].outcome == wanted &&
                     (!off || strncmp(detail, bodies[i].detail, strlen(bodies[i].detail)) == 0);
        printf("check interrupts %s, %s: %s%s %s\n", off ? "off" : "on", bodies[i].name,
               right ? "yes" : "NO: ", right ? "" : outcome_name(kernels[i].outcome),
               right ? "" : detail);
    }
    arena_free(&arena);
}

int main(int argc, char **argv)
{
    const char *why = exec_no_interrupts_off();
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc != 2 || why) {
        printf("check interrupts can be off: NO (%s)\n", argc != 2 ? "no program" : why);
        return 1;
    }
    struct exec_params params = params_here();
    measure(argv[1], &params, false);
    measure(argv[1], &params, true);
    return 0;
}
