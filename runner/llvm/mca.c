// SPDX-License-Identifier: MIT
#include "mca.h"

#include "cpuinfo/cpuinfo.h"
#include "llvm.h"
#include "llvm_run.h"
#include "util/file_write.h"
#include "util/scratch.h"
#include "util/subproc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Mixes per process, which takes a tenth of a second, or hangs, as llvm-mca does with some
// instructions. The halves are then tried; SPLITS limits how often in total.
enum { CHUNK = 250, SPLITS = 24 };

// Writes one region per mix. Returns its number of instructions; 0: a form has no text.
static int mca_region(const struct llvm_instr *instrs, const struct mca_mix *mix, int number,
                      struct strbuf *out)
{
    int instructions = 0;
    for (int p = 0; p < mix->nparts; p++)
        if (instrs[mix->parts[p].form].why)
            return 0;
    strbuf_printf(out, "# LLVM-MCA-BEGIN mix%d\n", number);
    for (int p = 0; p < mix->nparts; p++)
        for (int i = 0; i < mix->parts[p].count; i++, instructions++)
            strbuf_printf(out, "%s\n", instrs[mix->parts[p].form].text);
    strbuf_puts(out, "# LLVM-MCA-END\n");
    return instructions;
}

// Reads the bounds of the regions. A region with fewer instructions than it was given has no bound.
static void mca_read(const char *text, struct mca_mix *mixes, int n, const int *instructions)
{
    static const char region[] = "Code Region - mix",
                      count[] = "\nInstructions:", bound[] = "\nBlock RThroughput:";
    for (const char *at = text; (at = strstr(at, region)); at++) {
        int number = atoi(at + strlen(region));
        const char *end = strstr(at + 1, region);
        const char *counted = strstr(at, count), *clk = strstr(at, bound);
        if (number < 0 || number >= n || !counted || !clk || (end && (clk > end || counted > end)))
            continue;
        if (atoi(counted + strlen(count)) == instructions[number])
            mixes[number].clk = atof(clk + strlen(bound));
    }
}

struct mca_run {
    const struct llvm_instr *instrs;
    const char *cpu, *directory;
    struct mca_counts *counts;
    int splits; // splits that are left
};

// Writes the source for llvm-mca.
static int mca_write(const struct mca_run *run, const struct mca_mix *mixes, int n,
                     int *instructions, struct err *err)
{
    char *path = xasprintf("%s/mixes.s", run->directory);
    struct strbuf source = {0};
    for (int i = 0; i < n; i++)
        instructions[i] = mca_region(run->instrs, &mixes[i], i, &source);
    int status = file_write(path, source.len ? source.data : "", source.len, err);
    strbuf_free(&source);
    free(path);
    return status;
}

// Runs llvm-mca on some mixes. Returns 0, 1 if it did not end in time, -1.
static int mca_chunk(const struct mca_run *run, struct mca_mix *mixes, int n, struct err *err)
{
    char *mcpu = xasprintf("-mcpu=%s", run->cpu);
    const char *const arguments[] = {"-mtriple=x86_64-unknown-linux-gnu",
                                     mcpu,
                                     "-iterations=1",
                                     "-instruction-info=0",
                                     "-resource-pressure=0",
                                     "--skip-unsupported-instructions=any",
                                     "mixes.s",
                                     NULL};
    int *instructions = xcalloc((size_t)n, sizeof *instructions);
    struct err late = {0};
    struct subproc_result result;
    for (int i = 0; i < n; i++)
        mixes[i].clk = (double)NAN;
    int status = mca_write(run, mixes, n, instructions, err);
    if (status == 0 && llvm_run("llvm-mca", arguments, run->directory, NULL, &result, &late) == 0) {
        mca_read(result.out, mixes, n, instructions);
        subproc_result_free(&result);
        for (int i = 0; i < n; i++)
            run->counts->refused += isnan(mixes[i].clk);
    } else if (status == 0) {
        status = 1;
    }
    free(instructions);
    free(mcpu);
    return status;
}

static int mca_span(struct mca_run *run, struct mca_mix *mixes, int n, struct err *err)
{
    int status = mca_chunk(run, mixes, n, err);
    if (status <= 0)
        return status;
    if (n == 1 || run->splits == 0) {
        run->counts->late += n;
        return 0;
    }
    run->splits--;
    status = mca_span(run, mixes, n / 2, err);
    return status == 0 ? mca_span(run, mixes + n / 2, n - n / 2, err) : status;
}

int mca_bounds(struct known_cpu *data, const char *cpu, struct mca_mix *mixes, int n,
               struct mca_counts *counts, struct err *err)
{
    struct llvm_instr *instrs;
    *counts = (struct mca_counts){0};
    if (llvm_decode(data, &instrs, err) != 0) // the message says so if LLVM is not installed
        return -1;
    char *directory = scratch_begin(err);
    int status = directory ? 0 : -1;
    struct mca_run run = {instrs, cpu, directory, counts, SPLITS};
    for (int i = 0; i < n && status == 0; i += CHUNK)
        status = mca_span(&run, mixes + i, n - i < CHUNK ? n - i : CHUNK, err);
    scratch_end(directory, false);
    return status;
}

bool mca_cpu_is_name(const char *cpu)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    return *cpu && !cpu[strspn(cpu, letters)];
}

const char *mca_cpu_of(const char *uarch, struct err *err)
{
    const char *cpu = cpu_llvm_name(uarch);
    if (mca_cpu_is_name(cpu))
        return cpu;
    err_set(err, "LLVM has no name for '%s' in cpuinfo/other_names.csv", uarch);
    return NULL;
}
