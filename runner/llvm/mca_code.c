// SPDX-License-Identifier: MIT
#include "mca_code.h"

#include "llvm_run.h"
#include "util/file_write.h"
#include "util/scratch.h"
#include "util/subproc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MARKS = 16, // int3 after each block, and then its number: misread bytes swallow some
    CHUNK = 100,
    ITERATIONS = 1000, // the first ones take longer
    SPLITS = 24,       // of chunks that did not end in time, in all
};
#define ITERATIONS_OPTION "-iterations=1000"

struct code_run {
    const char *cpu, *directory;
    struct mca_counts *counts;
    int splits; // that are left
};

static void source_put(const struct mca_code *codes, int n, struct strbuf *out)
{
    for (int i = 0; i < n; i++) {
        for (size_t b = 0; b < codes[i].len; b++)
            strbuf_printf(out, "0x%02x ", codes[i].bytes[b]);
        for (int b = 0; b < MARKS; b++)
            strbuf_puts(out, "0xcc ");
        strbuf_printf(out, "0xb8 0x%02x 0x%02x 0x00 0x00\n", i & 255, i >> 8 & 255); // mov eax, i
    }
}

// Ends a block of the disassembler's output: a region, if it has as many instructions as it should.
static void region_put(const struct mca_code *codes, int number, int lines,
                       const struct strbuf *text, struct strbuf *out)
{
    if (lines == codes[number].instructions)
        strbuf_printf(out, "# LLVM-MCA-BEGIN block%d\n%s# LLVM-MCA-END\n", number,
                      strbuf_text(text));
}

// Makes regions of what llvm-mc printed.
static void regions_put(char *text, const struct mca_code *codes, int n, struct strbuf *out)
{
    struct strbuf block = {0};
    int lines = 0, marks = 0, number;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        line += strspn(line, " \t");
        if (!*line || *line == '.' || *line == '#')
            continue;
        if (strcmp(line, "int3") == 0) {
            marks++;
        } else if (marks >= MARKS && sscanf(line, "movl\t$%d, %%eax", &number) == 1) {
            if (number >= 0 && number < n)
                region_put(codes, number, lines, &block, out);
            strbuf_clear(&block);
            lines = marks = 0;
        } else {
            strbuf_printf(&block, "%s\n", line);
            lines++;
        }
    }
    strbuf_free(&block);
}

static void clk_read(const char *text, struct mca_code *codes, int n)
{
    static const char region[] = "Code Region - block", total[] = "\nTotal Cycles:";
    for (const char *at = text; (at = strstr(at, region)); at++) {
        int number = atoi(at + strlen(region));
        const char *end = strstr(at + 1, region), *clk = strstr(at, total);
        if (number >= 0 && number < n && clk && (!end || clk < end))
            codes[number].clk = atof(clk + strlen(total)) / ITERATIONS;
    }
}

static int source_write(const struct code_run *run, const char *in, const struct strbuf *source,
                        struct err *err)
{
    char *path = xasprintf("%s/%s", run->directory, in);
    int status = file_write(path, strbuf_text(source), source->len, err);
    free(path);
    return status;
}

// Predicts some blocks. Returns 0, 1 if llvm-mca did not end in time or refuses one, -1.
static int chunk_predict(const struct code_run *run, struct mca_code *codes, int n, struct err *err)
{
    static const char *const decode[] = {"--disassemble", "--triple=x86_64-linux", "code.txt",
                                         NULL};
    char *mcpu = xasprintf("-mcpu=%s", run->cpu);
    const char *const predict[] = {"-mtriple=x86_64-unknown-linux-gnu",
                                   mcpu,
                                   ITERATIONS_OPTION,
                                   "-instruction-info=0",
                                   "-resource-pressure=0",
                                   "--skip-unsupported-instructions=any",
                                   "blocks.s",
                                   NULL};
    struct strbuf source = {0};
    struct subproc_result result;
    struct err late = {0};
    for (int i = 0; i < n; i++)
        codes[i].clk = NAN;
    source_put(codes, n, &source);
    int status = source_write(run, "code.txt", &source, err);
    strbuf_clear(&source);
    if (status == 0)
        status = llvm_run("llvm-mc", decode, run->directory, NULL, &result, err);
    if (status == 0) {
        regions_put(result.out, codes, n, &source);
        subproc_result_free(&result);
        if (source.len && source_write(run, "blocks.s", &source, &late) == 0 &&
            llvm_run("llvm-mca", predict, run->directory, NULL, &result, &late) == 0) {
            clk_read(result.out, codes, n);
            subproc_result_free(&result);
        } else if (source.len) {
            status = 1;
        }
    }
    strbuf_free(&source);
    free(mcpu);
    return status;
}

static int span_predict(struct code_run *run, struct mca_code *codes, int n, struct err *err)
{
    int status = chunk_predict(run, codes, n, err);
    if (status < 0)
        return -1;
    if (status == 0 || n == 1 || run->splits == 0) {
        for (int i = 0; i < n; i++)
            *(status ? &run->counts->late : &run->counts->refused) += isnan(codes[i].clk);
        return 0;
    }
    run->splits--;
    status = span_predict(run, codes, n / 2, err);
    return status == 0 ? span_predict(run, codes + n / 2, n - n / 2, err) : status;
}

int mca_code_predict(const char *cpu, struct mca_code *codes, int n, struct mca_counts *counts,
                     struct err *err)
{
    *counts = (struct mca_counts){0};
    char *directory = scratch_begin(err);
    int status = directory ? 0 : -1;
    struct code_run run = {cpu, directory, counts, SPLITS};
    for (int i = 0; i < n && status == 0; i += CHUNK)
        status = span_predict(&run, codes + i, n - i < CHUNK ? n - i : CHUNK, err);
    scratch_end(directory, false);
    return status;
}
