// SPDX-License-Identifier: MIT
// The pipeline, batch by batch: batches come planned and built from batch.c's thread, are measured
// here, and are derived and stored while the next is being measured, in a thread of its own. The
// database is touched by one thread at a time.
#include "run.h"

#include "batch.h"
#include "floor.h"
#include "run_info.h"
#include "run_store.h"
#include "util/progress.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// A batch takes some seconds a pass: long enough that a disturbance seldom covers all passes of a
// kernel, short enough that little is lost when the run is killed.
enum { BATCH_KERNELS = 8000 };

// Everything that lives as long as a run.
struct run {
    struct store *store;
    const struct run_options *options;
    struct run_summary *summary;
    struct cpu_info *cpu;
    struct exec_params params;
    struct err skip_32; // why rows with bits=32 cannot be measured here; "": they can
    struct run_facts facts;
    char directory[64];        // scratch files
    struct selected_row *rows; // those to be measured now
    int nrows;
    struct progress *progress;
    struct run_storer *storer;
};

static double run_now_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

// The last CPU we may use: interrupts prefer the first.
static int run_choose_cpu(int wanted, int *cpu, struct err *err)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return err_set(err, "cannot read which CPUs may be used");
    if (wanted >= CPU_SETSIZE || (wanted >= 0 && !CPU_ISSET((size_t)wanted, &set)))
        return err_set(err, "CPU %d is not one that this process may use", wanted);
    *cpu = wanted;
    for (int i = 0; wanted < 0 && i < CPU_SETSIZE; i++)
        if (CPU_ISSET((size_t)i, &set))
            *cpu = i;
    return 0;
}

// Leaves the measuring CPU alone: this process, its threads and its tools run elsewhere from now
// on.
static void run_leave_cpu(int cpu)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    CPU_CLR((size_t)cpu, &set);
    if (CPU_COUNT(&set) > 0)
        sched_setaffinity(0, sizeof set, &set);
}

// On hybrid CPUs the type of core is that of the measuring CPU, so this goes there and back.
static int run_identify_on(int cpu, struct cpu_info *info, struct err *err)
{
    cpu_set_t all, one;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    if (sched_getaffinity(0, sizeof all, &all) != 0 || sched_setaffinity(0, sizeof one, &one) != 0)
        return err_set(err, "cannot run on CPU %d", cpu);
    int status = cpu_identify(info, err);
    sched_setaffinity(0, sizeof all, &all);
    return status;
}

static int run_identify(struct run *run, struct err *err)
{
    int cpu = -1;
    run->params = exec_defaults();
    if (run_choose_cpu(run->options->cpu, &cpu, err) != 0)
        return -1;
    run->cpu = xcalloc(1, sizeof *run->cpu);
    if (cpuinfo_load(err) != 0 || run_identify_on(cpu, run->cpu, err) != 0)
        return -1;
    struct core_config *config = &run->params.config;
    config->cpu = cpu;
    config->tsc_hz = (double)run->cpu->tsc_hz;
    config->calib_link_clk = (uint32_t)run->cpu->imul64_clk;
    config->issue_width = (uint32_t)run->cpu->issue_width;
    run_leave_cpu(cpu);
    config->give_up_ms = (uint32_t)run->options->give_up_s * 1000;
    if (!run->cpu->tsc_hz)
        return err_set(err, "the frequency of the time-stamp counter cannot be found out");
    return 0;
}

// Builds a program of one kernel.
static int run_build_nop(const struct run *run, int bits, struct arena *arena,
                         struct program *program, struct err *err)
{
    static struct kernel_spec nop = {
        .shape = "n1", .body = "nop\n", .init = "", .instances = 1, .instrs = 1};
    static const struct list_row row = {.form = "nop", .mnemonic = "nop"};
    static const struct test test = {.kind = TEST_THROUGHPUT};
    struct gen_kernel kernel = {.row = &row, .test = &test, .spec = &nop};
    const struct build_options build = {.directory = run->directory,
                                        .stem = bits == 32 ? "probe32" : "floor",
                                        .bits = bits,
                                        .exclude_cpu = -1};
    return build_program(&kernel, 1, &build, arena, program, err);
}

// The calibration chain of the 32-bit core is made of imul r32,r32. The table has the latency of
// imul r64,r64; where that is 3 so is the other, elsewhere the core finds it by the ratio to add.
static struct exec_params run_params(const struct run *run, int bits)
{
    struct exec_params params = run->params;
    if (bits == 32 && params.config.calib_link_clk != 3)
        params.config.calib_link_clk = 0;
    return params;
}

// Finds out whether 32-bit programs can be built and run, if there is any row that wants it.
static void run_probe_32(struct run *run)
{
    bool wanted = false;
    for (int i = 0; i < run->nrows; i++)
        wanted |= run->rows[i].row->bits == 32;
    if (!wanted)
        return;
    struct exec_params params = run_params(run, 32);
    struct exec_kernel measured = {.selected = true};
    struct arena arena = {0};
    struct program program = {0};
    struct exec_summary summary;
    struct err *err = &run->skip_32;
    if (run_build_nop(run, 32, &arena, &program, err) != 0)
        err_set(err, "32-bit programs cannot be built here: install gcc-multilib, then run make");
    else if (exec_run(program.path, &params, &measured, 1, NULL, &arena, &summary, err) != 0)
        err_prefix(err, "32-bit programs cannot be run here: ");
    if (program.path)
        unlink(program.path);
    arena_free(&arena);
}

// What has to be known before the first batch.
static int run_calibrate(struct run *run, int64_t cpu_id, struct err *err)
{
    struct exec_kernel measured = {.selected = true};
    struct arena arena = {0};
    struct program program = {0};
    struct canary_floor floor = {0};
    bool keep = false;
    int have = run->options->new_floor ? 0 : store_get_floor(run->store, cpu_id, &floor, err);
    int status = have < 0 ? -1 : run_build_nop(run, 64, &arena, &program, err);
    if (status == 0 && have == 0)
        status = floor_measure(program.path, &run->params, &floor, &keep, err);
    if (status == 0 && keep)
        status = store_put_floor(run->store, cpu_id, &floor, err);
    run->facts.floor_uncertain = have == 0 && !keep;
    run->params.config.canary = (uint32_t)floor.canary;
    run->params.config.floor_clk_per_instr = floor.clk_per_instr;
    struct exec_summary summary;
    if (status == 0)
        status = exec_run(program.path, &run->params, &measured, 1, NULL, &arena, &summary, err);
    if (status == 0) {
        run->facts.core_hz = summary.core_hz;
        run->facts.overhead_tsc = summary.overhead_tsc;
        run->facts.imul_per_add = summary.imul_per_add;
        run->params.config.calib_link_clk = summary.calib_link_clk;
        run->summary->core_hz = summary.core_hz;
    }
    if (program.path)
        unlink(program.path);
    arena_free(&arena);
    return status;
}

// The run's row in the database: an unfinished one of the same kind, or a new one.
static int run_begin(struct run *run, const struct selection *selection, int64_t cpu_id,
                     struct err *err)
{
    struct arena arena = {0};
    struct run_info info;
    int status = run_info_collect(run->cpu, &run->params.config, &run->facts, selection,
                                  run->options->selection, &arena, &info, err);
    int found = 0;
    if (status == 0 && run->options->resume)
        found = store_run_resume(run->store, cpu_id, &info, &run->summary->run_id, err);
    if (status == 0 && found == 0)
        status = store_run_begin(run->store, cpu_id, &info, &run->summary->run_id, err);
    if (found < 0)
        status = -1;
    if (status == 0)
        status = run_info_warn(run->store, run->summary->run_id, run->cpu, &run->facts, err);
    arena_free(&arena);
    return status;
}

// Leaves out what a resumed run has already.
static int run_missing_rows(struct run *run, const struct selection *selection, struct err *err)
{
    run->rows = xcalloc((size_t)selection->nrows, sizeof *run->rows);
    for (int i = 0; i < selection->nrows; i++) {
        int have = run->options->resume ? store_has_form(run->store, run->summary->run_id,
                                                         selection->rows[i].row, err)
                                        : 0;
        if (have < 0)
            return -1;
        if (have)
            run->summary->forms_had++;
        else
            run->rows[run->nrows++] = selection->rows[i];
    }
    return 0;
}

static void run_kernel_done(void *context, bool failed)
{
    struct run *run = context;
    progress_step(run->progress, 1, failed);
}

static void run_waiting(void *context)
{
    struct run *run = context;
    progress_waiting(run->progress);
}

static int run_measure(struct run *run, struct batch *batch, struct err *err)
{
    if (batch->failed)
        return err_set(err, "%s", batch->err.text);
    if (!batch->program.path)
        return 0;
    const struct exec_progress progress = {run_kernel_done, run_waiting, run};
    const struct exec_params params = run_params(run, batch->bits);
    struct exec_summary summary;
    if (exec_run(batch->program.path, &params, batch->measured, batch->nkernels, &progress,
                 &batch->arena, &summary, err) != 0)
        return -1;
    run->summary->passes += summary.passes;
    run->summary->stopped |= summary.stopped;
    for (int k = 0; k < batch->nkernels; k++)
        run->summary->kernels +=
            batch->measured[k].finished && batch->measured[k].outcome == OUTCOME_OK;
    return 0;
}

static int run_batches(struct run *run, struct batch_source *source, struct err *err)
{
    int status = 0;
    struct batch *batch;
    while (status == 0 && !run->summary->stopped && (batch = batch_source_next(source))) {
        progress_more(run->progress, batch->nkernels, batch->nrows);
        status = run_measure(run, batch, err);
        if (status == 0)
            status = run_storer_put(run->storer, batch, err); // takes the batch
        else
            batch_free(batch);
    }
    struct err store_err = {{0}};
    if (run_storer_end(run->storer, &run->summary->forms_run, &store_err) != 0 && status == 0)
        status = err_set(err, "%s", store_err.text);
    return status;
}

static int run_all(struct run *run, struct err *err)
{
    const struct batch_options options = {
        .plan = {.issue_width = run->cpu->issue_width ? run->cpu->issue_width : 4,
                 .tests = run->options->tests,
                 .skip_32 = *run->skip_32.text ? run->skip_32.text : NULL},
        .directory = run->directory,
        .keep = run->options->keep,
        .kernels = BATCH_KERNELS,
        .ahead = run->options->ahead
    };
    run->progress = progress_start(run->nrows, run->options->quiet);
    run->storer =
        run_storer_start(run->store, run->summary->run_id, options.plan.issue_width, run->progress);
    struct batch_source *source = batch_source_start(run->rows, run->nrows, &options);
    int status = run_batches(run, source, err);
    batch_source_stop(source);
    progress_end(run->progress);
    return status;
}

static int run_prepared(struct run *run, const struct selection *selection, struct err *err)
{
    int64_t cpu_id;
    char nasm[128];
    if (build_nasm_version(nasm, sizeof nasm, err) != 0 || run_identify(run, err) != 0 ||
        store_put_cpu(run->store, run->cpu, &cpu_id, err) != 0 ||
        run_calibrate(run, cpu_id, err) != 0 || run_begin(run, selection, cpu_id, err) != 0 ||
        run_missing_rows(run, selection, err) != 0)
        return -1;
    run_probe_32(run);
    return run_all(run, err);
}

// Removes the scratch directory with what a stopped batch may have left in it.
static void run_remove_directory(const char *path)
{
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory)
        closedir(directory);
    rmdir(path);
}

static int run_make_directory(char *path, size_t size, struct err *err)
{
    const char *parent = getenv("TMPDIR");
    snprintf(path, size, "%s/latput-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(path))
        return err_set(err, "%s: cannot create a scratch directory: %s", path, strerror(errno));
    return 0;
}

static int run_warn_unstable(struct store *store, const struct run_summary *summary,
                             struct err *err)
{
    int64_t tests = 0;
    for (int i = 0; i < OUTCOME_COUNT; i++)
        tests += summary->counts[i];
    return run_info_warn_unstable(store, summary->run_id, summary->counts[OUTCOME_UNSTABLE], tests,
                                  err);
}

int run_rows(struct store *store, const struct selection *selection,
             const struct run_options *options, struct run_summary *summary, struct err *err)
{
    double start_s = run_now_s();
    *summary = (struct run_summary){0};
    struct run run = {.store = store, .options = options, .summary = summary};
    if (run_make_directory(run.directory, sizeof run.directory, err) != 0)
        return -1;
    int status = run_prepared(&run, selection, err);
    if (options->keep)
        fprintf(stderr, "latput run: the assembly files are in %s\n", run.directory);
    else
        run_remove_directory(run.directory);
    summary->seconds = run_now_s() - start_s;
    if (status == 0 && !summary->stopped)
        status = store_run_finish(store, summary->run_id, summary->kernels, summary->seconds, err);
    if (status == 0)
        status = store_run_summary(store, summary->run_id, summary->counts, &summary->forms, err);
    if (status == 0 && summary->counts[OUTCOME_UNSTABLE] > 0)
        status = run_warn_unstable(store, summary, err);
    free(run.rows);
    free(run.cpu);
    return status;
}
