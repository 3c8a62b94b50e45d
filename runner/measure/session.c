// SPDX-License-Identifier: MIT
// Preparation for measuring; see session.h. The program and its tools stay off the measuring CPU
// from the beginning, so that the canary's floor is taken under the conditions of the run.
#include "session.h"

#include "cpu_places.h"
#include "cpu_quiet.h"
#include "derive/plausible.h"
#include "floor.h"
#include "observed.h"
#include "parallel.h"
#include "session_count.h"
#include "store/store_cpu.h"
#include "util/affinity.h"
#include "util/scratch.h"
#include "util/spent.h"
#include "util/subproc.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Finds the CPUs of the kind of core that is to be measured.
static int session_choose_kind(int wanted, const char *called, struct session *session,
                               struct err *err)
{
    struct cpu_kinds *kinds = &session->kinds;
    if (cpu_kinds_find(kinds, err) != 0)
        return -1;
    const struct cpu_kind *of_cpu = cpu_kinds_of(kinds, wanted);
    const struct cpu_kind *kind = called ? cpu_kinds_called(kinds, called, err) : of_cpu;
    if (!of_cpu)
        return err_set(err, "CPU %d is not one that this process may use", wanted);
    if (!kind)
        return -1;
    if (wanted >= 0 && kind != of_cpu)
        return err_set(err, "CPU %d is of the kind %s, not %s", wanted, of_cpu->name, kind->name);
    session->usable = kind->cpus;
    return 0;
}

// Chooses the quietest CPU that may be used, or the last one, since interrupts prefer the first. A
// core made of text has nothing to look at.
static void session_choose_cpu(int wanted, struct session *session, int *cpu)
{
    const cpu_set_t *set = &session->usable;
    double share;
    *cpu = wanted;
    for (int i = 0; wanted < 0 && i < CPU_SETSIZE; i++)
        if (CPU_ISSET((size_t)i, set))
            *cpu = i;
    if (wanted == SESSION_CPU_QUIET && !exec_is_text() && CPU_COUNT(set) > 1)
        *cpu = cpu_quiet_choose(set, -1, &session->quiet_least, &share);
}

// Identifies the measuring CPU from there, and comes back: on hybrid CPUs it has a type of core of
// its own.
static int session_identify_on(int cpu, const cpu_set_t *all, struct cpu_info *info,
                               struct err *err)
{
    if (!exec_is_text() && affinity_pin(0, cpu) != 0)
        return err_set(err,
                       "cannot stay on CPU %d: %s; measuring needs the system call "
                       "sched_setaffinity, which a container's seccomp profile may refuse",
                       cpu, strerror(errno));
    int status = cpu_identify(cpu, info, err);
    sched_setaffinity(0, sizeof *all, all);
    return status;
}

void session_leave_cpu(const struct session *session, int cpu)
{
    cpu_set_t set = session->affinity;
    const struct parallel *parallel = session->parallel;
    struct cpu_places *places = xcalloc(1, sizeof *places);
    cpu_places_read("", &set, places);
    cpu_places_leave_core(places, cpu, &set);
    for (int i = 0; parallel && i < parallel->n; i++) {
        cpu_set_t left = set;
        cpu_places_leave_core(places, parallel->cpus[i], &left);
        if (CPU_COUNT(&left) > 0)
            set = left;
    }
    if (CPU_COUNT(&set) > 0)
        affinity_set_all(&set);
    free(places);
}

// To move, the share of undisturbed time on another CPU must be so many times the share of accepted
// repeats here.
static const double WORTH_A_MOVE = 1.5;

static int session_look(void *context, int cpu, double accepted)
{
    struct session *session = context;
    cpu_set_t others = session->usable;
    double share;
    CPU_CLR((size_t)cpu, &others);
    int best = cpu_quiet_choose(&others, cpu, &session->quiet_least, &share);
    if (best < 0 || share < WORTH_A_MOVE * accepted || share == 0)
        return cpu;
    spent_add(SPENT_MOVES, 1);
    session->params.config.cpu = best;
    session_leave_cpu(session, best);
    return best;
}

// Returns true if what is counted is not bound to the CPU.
static bool session_counts_anywhere(const struct session *session)
{
    return !session->counting || session->counting->source == &count_source_perf;
}

struct exec_mover *session_mover(struct session *session)
{
    bool may = session->quiet_least > 0 && session_counts_anywhere(session);
    session->mover.look = session_look;
    session->mover.context = session;
    return may ? &session->mover : NULL;
}

// Returns the quietest of the CPUs like `cpu`, -1: none has undisturbed time. A core made of text
// has nothing to look at.
static int session_other_cpu(struct session *session, int cpu)
{
    cpu_set_t others = session->usable;
    double least = session->quiet_least, share = 0;
    int best = -1;
    CPU_CLR((size_t)cpu, &others);
    if (CPU_COUNT(&others) == 0)
        return -1;
    if (!exec_is_text())
        best = cpu_quiet_choose(&others, cpu, &least, &share);
    for (int i = 0; i < CPU_SETSIZE && exec_is_text(); i++)
        if (CPU_ISSET((size_t)i, &others))
            best = i;
    return share > 0 || exec_is_text() ? best : -1;
}

int session_leave(struct session *session)
{
    int before = session->params.config.cpu;
    bool may = !session->cpu_wanted && session_counts_anywhere(session);
    int other = may ? session_other_cpu(session, before) : -1;
    if (other >= 0)
        session_return(session, other);
    return before;
}

void session_return(struct session *session, int cpu)
{
    if (session->params.config.cpu == cpu)
        return;
    session->params.config.cpu = cpu;
    session_leave_cpu(session, cpu);
}

int session_begin(int wanted, const char *kind, struct session *session, struct err *err)
{
    int cpu = -1;
    *session = (struct session){.params = exec_defaults(), .cpu_wanted = wanted >= 0};
    session->cpu = xcalloc(1, sizeof *session->cpu);
    if (sched_getaffinity(0, sizeof session->affinity, &session->affinity) != 0) {
        CPU_ZERO(&session->affinity);
        return err_set(err, "cannot read which CPUs may be used");
    }
    if (session_choose_kind(wanted, kind, session, err) != 0)
        return -1;
    session_choose_cpu(wanted, session, &cpu);
    if (session_identify_on(cpu, &session->affinity, session->cpu, err) != 0)
        return -1;
    struct core_config *config = &session->params.config;
    config->cpu = cpu;
    config->tsc_hz = (double)session->cpu->tsc_hz;
    config->calib_link_clk = (uint32_t)session->cpu->imul64_clk;
    config->canary_iterations = exec_canary_iterations(session->cpu->issue_width);
    session_leave_cpu(session, cpu);
    if (!session->cpu->tsc_hz)
        return err_set(err, "the frequency of the time-stamp counter cannot be found out");
    return 0;
}

int session_make_directory(struct session *session, struct err *err)
{
    session->scratch = scratch_begin(err);
    if (!session->scratch)
        return -1;
    if (strlen(session->scratch) >= sizeof session->directory)
        return err_set(err, "%s: the name is too long; set TMPDIR to a shorter one",
                       session->scratch);
    strcpy(session->directory, session->scratch);
    return 0;
}

void session_end(struct session *session, bool keep)
{
    session_count_end(session);
    scratch_end(session->scratch, keep);
    session->scratch = NULL;
    if (CPU_COUNT(&session->affinity) > 0)
        sched_setaffinity(0, sizeof session->affinity, &session->affinity);
    cpu_kinds_free(&session->kinds);
    free(session->parallel);
    session->parallel = NULL;
    free(session->cpu);
    session->cpu = NULL;
}

// The calibration chain of the 32-bit core is imul r32,r32. The table has the latency of imul
// r64,r64, which is the same if it is 3; else the core finds it by the ratio to add.
struct exec_params session_params(const struct session *session, int bits)
{
    struct exec_params params = session->params;
    if (session->link_clk) {
        params.config.calib_link_clk = session->link_clk;
        params.config.link_known = bits == 64;
    }
    if (bits == 32 && params.config.calib_link_clk != 3)
        params.config.calib_link_clk = 0;
    if (session->counting)
        session_count_params(session, &params);
    return params;
}

void session_learn_link(struct session *session, int bits, const struct exec_summary *summary)
{
    if (bits == 64 && summary->confirmed && !session->link_clk)
        session->link_clk = summary->calib_link_clk;
}

struct exec_params session_params_hello(const struct session *session, int bits)
{
    struct exec_params params = session_params(session, bits);
    params.config.passes = 1;
    params.config.requeues = params.config.requeues_ms = 0;
    return params;
}

int session_build_nop(const struct session *session, const char *stem, int bits,
                      struct arena *arena, struct program *program, struct err *err)
{
    static struct kernel_spec nop = {
        .shape = "n1", .body = "nop\n", .init = "", .instances = 1, .instrs = 1};
    static const struct list_row row = {.form = "nop", .mnemonic = "nop"};
    static const struct test test = {.kind = TEST_THROUGHPUT};
    struct gen_kernel kernel = {.row = &row, .test = &test, .spec = &nop};
    const struct assemble_options build = {
        .directory = session->directory, .stem = stem, .bits = bits};
    return assemble_program(&kernel, 1, &build, arena, program, err);
}

int session_probe_32(const struct session *session, struct err *err)
{
    const struct exec_params params = session_params_hello(session, 32);
    struct exec_kernel measured = {.selected = true};
    struct arena arena = {0};
    struct program program = {0};
    struct exec_summary summary;
    int status = session_build_nop(session, "probe32", 32, &arena, &program, err);
    const struct exec_job job = {program.path, &params, &measured, 1, NULL, NULL};
    if (status != 0)
        err_set(err, "32-bit programs cannot be built here: install gcc-multilib, then run make");
    else if ((status = exec_run(&job, &arena, &summary, err)) != 0 &&
             strcmp(err->text, subproc_no_32) != 0)
        err_prefix(err, "32-bit programs cannot be run here: ");
    if (program.path)
        unlink(program.path);
    arena_free(&arena);
    return status;
}

static struct floor_witness session_witness(const struct session *session)
{
    return (struct floor_witness){session->cpu->issue_width,
                                  cpu_widths_allowed(session->cpu, NULL)};
}

static int session_measure_floor(struct session *session, const struct session_floor *from,
                                 const char *program, struct canary_floor *floor, struct err *err)
{
    const struct floor_witness witness = session_witness(session);
    struct floor_result result;
    if (floor_measure(program, &session->params, &witness, from->quick, &result, err) != 0)
        return -1;
    *floor = result.floor;
    session_see_ratio(session, result.imul_per_add);
    session->floor_guessed = result.trust == FLOOR_GUESS;
    session->floor_seen = result.seen;
    if (!session->floor_guessed && !result.narrow && from->store)
        return store_put_floor(from->store, from->cpu_id, floor, err);
    return 0;
}

// A ratio that is no integer shows that something disturbed the chain of add; integers that differ
// show nothing.
void session_see_ratio(struct session *session, double imul_per_add)
{
    if (!plausible_ratio(imul_per_add) || session->imul_doubted)
        return;
    session->imul_doubted =
        session->imul_per_add > 0 && lround(session->imul_per_add) != lround(imul_per_add);
    session->imul_per_add = session->imul_doubted ? 0 : imul_per_add;
}

// Adds a width as evidence.
static void session_see_width(struct session *session, int width)
{
    if (session->width_measured && width > session->issue_width &&
        width <= session->cpu->issue_width)
        session->issue_width = width;
}

void session_see_rate(struct session *session, double instrs_per_clk)
{
    session_see_width(session, floor_width(instrs_per_clk));
}

void session_judge(struct session *session)
{
    const struct cpu_measured measured = {.issue_width =
                                              session->width_measured ? session->issue_width : 0,
                                          .imul_per_add = session->imul_per_add,
                                          .observed = session->observed,
                                          .nobserved = session->nobserved};
    cpu_judge(session->cpu, &measured);
    if (session->cpu->imul64_clk)
        session->params.config.calib_link_clk = (uint32_t)session->cpu->imul64_clk;
}

void session_take_floor(struct session *session, const struct canary_floor *floor)
{
    int before = session->width_measured ? session->issue_width : 0;
    session->issue_width = floor->issue_width;
    session->width_measured = !session->floor_guessed;
    session_see_width(session, before);
    session->params.config.canary = (uint32_t)floor->canary;
    session->params.config.floor_clk_per_instr = floor->clk_per_instr;
    session_judge(session);
}

// Takes the stored floor if it still holds: 1; 0: there is none; -1.
static int session_stored_floor(const struct session *session, const struct session_floor *from,
                                const char *program, struct canary_floor *floor, struct err *err)
{
    const struct floor_witness witness = session_witness(session);
    bool holds = false;
    int have =
        from->anew || !from->store ? 0 : store_get_floor(from->store, from->cpu_id, floor, err);
    if (have == 1 && floor_check(program, &session->params, &witness, floor, &holds, err) != 0)
        return -1;
    return have == 1 ? holds : have;
}

int session_find_floor(struct session *session, const struct session_floor *from,
                       const char *program, struct err *err)
{
    struct canary_floor floor = {0};
    int have = session_stored_floor(session, from, program, &floor, err);
    session->floor_guessed = false;
    if (have == 0)
        have = session_measure_floor(session, from, program, &floor, err);
    if (have < 0)
        return -1;
    if (from->store)
        session->nobserved = observed_read(from->store, session->cpu, session->observed, err);
    if (session->nobserved < 0)
        return -1;
    session_take_floor(session, &floor);
    return 0;
}

int session_check_floor(struct session *session, const struct session_floor *from,
                        const char *program, bool *holds, struct err *err)
{
    const struct floor_witness witness = session_witness(session);
    const struct core_config *config = &session->params.config;
    const struct canary_floor floor = {(int)config->canary, config->floor_clk_per_instr,
                                       session->issue_width};
    if (floor_check(program, &session->params, &witness, &floor, holds, err) != 0)
        return -1;
    return *holds ? 0 : session_find_floor(session, from, program, err);
}

int session_prepare(struct session *session, const struct session_counters *wanted,
                    const struct session_floor *from, struct err *err)
{
    struct arena arena = {0};
    struct program program = {0};
    int link_clk;
    int status = session_count_begin(session, wanted, err);
    if (status == 0)
        status = session_build_nop(session, "floor", 64, &arena, &program, err);
    if (status == 0)
        status = session_count_confirm(session, wanted, program.path, &link_clk, err);
    if (status == 0)
        status = session_find_floor(session, from, program.path, err);
    if (status == 0 && session->floor_guessed)
        status = err_set(err,
                         "the core was never seen undisturbed (%s); stop other programs, or try "
                         "again later",
                         session->floor_seen.text);
    if (program.path)
        unlink(program.path);
    arena_free(&arena);
    return session_check_stopped(status, err);
}

static volatile sig_atomic_t session_signal; // the signal that stopped us

static void session_stop(int signal_number)
{
    session_signal = signal_number;
    exec_stop();
    subproc_stop();
}

const char *session_stopped_by(void)
{
    switch (session_signal) {
    case SIGINT:
        return "SIGINT (Ctrl-C)";
    case SIGTERM:
        return "SIGTERM";
    case SIGHUP:
        return "SIGHUP: the terminal or connection has gone";
    case SIGPIPE:
        return "SIGPIPE: who read the output has gone";
    default:
        return NULL;
    }
}

int session_check_stopped(int status, struct err *err)
{
    const char *by = session_stopped_by();
    return by ? err_set(err, "stopped by %s before anything was measured", by) : status;
}

void session_stop_on_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        // Every line to a pipe without a reader raises SIGPIPE, also those that are written at the
        // end.
        int flags = signals[i] == SIGPIPE ? SA_RESTART : (int)(SA_RESTART | SA_RESETHAND);
        struct sigaction action = {.sa_handler = session_stop, .sa_flags = flags}, old;
        sigaction(signals[i], NULL, &old);
        if (old.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}
