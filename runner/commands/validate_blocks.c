// SPDX-License-Identifier: MIT
#include "validate_blocks.h"

#include "cli/option_store.h"
#include "cpuinfo/cpuinfo.h"
#include "explain/explain_figures.h"
#include "explain/explain_many.h"
#include "explain_choose.h"
#include "store/store.h"
#include "llvm/mca_code.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// The same blocks by both, those that llvm-mca takes.
struct beside {
    const char *model, *cpu;
    struct figures of;
    struct mca_counts counts;
};
struct whole {
    const char *file;
    struct explain_figures of;
    int nagainst;
    struct beside against[2];
};

#define FIGURES(...) OUTPUT_FIELD(struct figures, __VA_ARGS__)
#define FIGURES_FIELDS                                                                             \
    FIGURES(blocks), FIGURES(within_10_percent, .digits = 4), FIGURES(mape_percent, .digits = 4),  \
        FIGURES(median_percent, .digits = 4), FIGURES(kendall_tau, .digits = 4),                   \
        FIGURES(weighted_within_10_percent, .digits = 4),                                          \
        FIGURES(weighted_mape_percent, .digits = 4)
OUTPUT_DEFINE(limit_record, struct figures, OUTPUT_LINE,
              OUTPUT_NAMED(struct figures, name, "limit"), FIGURES_FIELDS);
#define BESIDE(...) OUTPUT_FIELD(struct beside, __VA_ARGS__)
OUTPUT_DEFINE(beside_record, struct beside, OUTPUT_LINE, BESIDE(model), BESIDE(cpu),
              BESIDE(of.blocks), BESIDE(counts.refused), BESIDE(counts.late),
              BESIDE(of.within_10_percent, .digits = 4), BESIDE(of.mape_percent, .digits = 4),
              BESIDE(of.median_percent, .digits = 4), BESIDE(of.kendall_tau, .digits = 4));
#define WHOLE(...) OUTPUT_FIELD(struct whole, __VA_ARGS__)
OUTPUT_DEFINE(whole_record, struct whole, OUTPUT_LINE, WHOLE(file),
              OUTPUT_NAMED(struct whole, of.rows, "rows"), WHOLE(of.refused), WHOLE(of.failed),
              WHOLE(of.all.blocks), WHOLE(of.all.within_10_percent, .digits = 4),
              WHOLE(of.all.mape_percent, .digits = 4), WHOLE(of.all.median_percent, .digits = 4),
              WHOLE(of.all.kendall_tau, .digits = 4),
              WHOLE(of.all.weighted_within_10_percent, .digits = 4),
              WHOLE(of.all.weighted_mape_percent, .digits = 4),
              OUTPUT_ARRAY(struct whole, of.limits, of.nlimits, limit_record),
              OUTPUT_ARRAY(struct whole, against, nagainst, beside_record));
const struct output_kind validate_blocks_kind = {"validate_blocks", "latput validate --blocks",
                                                 &whole_record, 1, 1};

// Rows of all blocks, in the order of the file.
struct blocks {
    struct explain_work *work;
    struct explain_file *file; // NULL: none is kept
    struct explain_row *rows;
    int n;
};

static const char *kept(const struct blocks *blocks, const char *text)
{
    return arena_strdup(&blocks->work->arena, text);
}

static int blocks_take(void *context, const struct explain_row *rows, int n, struct err *err)
{
    struct blocks *blocks = context;
    for (int i = 0; i < n; i++) {
        struct explain_row row = rows[i];
        row.refused = kept(blocks, row.refused);
        row.limit = kept(blocks, row.limit);
        row.failure = kept(blocks, row.failure);
        blocks->rows[blocks->n++] = row;
    }
    return blocks->file ? explain_file_put(blocks->file, rows, n, err) : 0;
}

static int blocks_measure(struct blocks *blocks, struct err *err)
{
    struct explain_work *work = blocks->work;
    struct explain_file file = {0};
    const char *to = work->request->to;
    blocks->rows = arena_alloc(&work->arena, ((size_t)work->njobs + 1) * sizeof *blocks->rows);
    if (to && explain_file_open(to, work, &work->arena, &file, err) != 0)
        return -1;
    blocks->file = to ? &file : NULL;
    for (; blocks->n < file.nrows; blocks->n++)
        blocks->rows[blocks->n] = file.rows[blocks->n];
    const struct explain_taker taker = {blocks_take, blocks, !to && !isatty(STDERR_FILENO)};
    int status = explain_work_load(work, err);
    if (status == 0)
        status = explain_all(work, file.nrows, &taker, err);
    blocks->file = NULL;
    if (to && explain_file_close(&file, status == 0 ? err : &(struct err){0}) != 0)
        status = -1;
    return status;
}

// Has llvm-mca predict what was measured and predicted here.
static int blocks_against(const struct blocks *blocks, struct whole *whole, struct err *err)
{
    const struct explain_work *work = blocks->work;
    const char *cpu = mca_cpu_of(work->uarch, err);
    struct mca_counts counts;
    if (!cpu)
        return -1;
    size_t room = (size_t)blocks->n + 1;
    struct mca_code *codes = xcalloc(room, sizeof *codes);
    int *which = xcalloc(room, sizeof *which), n = 0;
    double *theirs = xcalloc(2 * room, sizeof *theirs), *ours = theirs + room;
    for (int i = 0; i < blocks->n; i++) {
        const struct explain_job *job = &work->jobs[i];
        theirs[i] = ours[i] = NAN;
        if (!(blocks->rows[i].measured_clk > 0) || !isfinite(blocks->rows[i].predicted_clk) ||
            job->bits == 32)
            continue;
        codes[n] = (struct mca_code){job->code, job->len, blocks->rows[i].instructions, NAN};
        which[n++] = i;
    }
    int status = mca_code_predict(cpu, codes, n, &counts, err);
    for (int i = 0; i < n && status == 0; i++) {
        if (!(codes[i].clk > 0))
            continue;
        theirs[which[i]] = codes[i].clk;
        ours[which[i]] = blocks->rows[which[i]].predicted_clk;
    }
    whole->nagainst = 2;
    whole->against[0] =
        (struct beside){"latput", cpu, figures_of(blocks->rows, blocks->n, ours, NULL), counts};
    whole->against[1] =
        (struct beside){"llvm-mca", cpu, figures_of(blocks->rows, blocks->n, theirs, NULL), counts};
    free(codes);
    free(which);
    free(theirs);
    return status;
}

static void print_figures(const struct figures *figures, const char *name)
{
    printf("  %-24s %6d  %5.1f %%        %5.1f %%  %5.1f %%\n", name, figures->blocks,
           figures->within_10_percent, figures->mape_percent, figures->median_percent);
}

static void print_table(const struct whole *whole)
{
    const struct explain_figures *of = &whole->of;
    printf("%d blocks of %s: %d refused, %d not measured, %d compared\n"
           "  within 10 %%           %6.1f %%  by weight %.1f %%\n"
           "  mean absolute error   %6.1f %%  by weight %.1f %%\n"
           "  median error          %6.1f %%\n"
           "  Kendall's tau         %6.3f\n",
           of->rows, whole->file, of->refused, of->failed, of->all.blocks,
           of->all.within_10_percent, of->all.weighted_within_10_percent, of->all.mape_percent,
           of->all.weighted_mape_percent, of->all.median_percent, of->all.kendall_tau);
    puts("\nlimited by                 number  within 10 %     error   median");
    for (int i = 0; i < of->nlimits; i++)
        print_figures(&of->limits[i], of->limits[i].name);
    if (!whole->nagainst)
        return;
    printf("\nbeside llvm-mca (%s)\n", whole->against[0].cpu);
    for (int i = 0; i < whole->nagainst; i++)
        print_figures(&whole->against[i].of, whole->against[i].model);
    printf("  %d blocks that it does not take, %d not done in time\n",
           whole->against[0].counts.refused, whole->against[0].counts.late);
}

static int blocks_report(const struct blocks *blocks, bool against, struct err *err)
{
    const struct explain_request *request = blocks->work->request;
    struct whole whole = {.file = request->blocks};
    explain_figures_make(blocks->rows, blocks->n, &whole.of);
    if (against && blocks_against(blocks, &whole, err) != 0)
        return -1;
    if (request->format != REPORT_JSON) {
        print_table(&whole);
        return 0;
    }
    struct strbuf out = {0};
    output_put_json(&whole_record, &whole, 1, true, &out);
    fputs(strbuf_text(&out), stdout);
    strbuf_free(&out);
    return 0;
}

int validate_blocks(const struct command *cmd, const struct explain_request *request,
                    int64_t run_id, bool against)
{
    struct explain_work work = {.request = request, .run_id = run_id};
    struct blocks blocks = {.work = &work};
    struct err err = {0};
    int status = explain_jobs_read(&work, &err) == 0
                     ? EXIT_DONE
                     : command_fail(cmd, EXIT_USAGE, "%s", err.text);
    if (status == EXIT_DONE && explain_jobs_assemble(&work, &err) != 0)
        status = command_fail(cmd, EXIT_ENVIRONMENT, "%s", err.text);
    if (status == EXIT_DONE)
        status = store_option_open(cmd, request->db, STORE_READ, &work.store);
    if (status == EXIT_DONE)
        status = explain_choose(cmd, &work, &err);
    if (status == EXIT_DONE &&
        (blocks_measure(&blocks, &err) != 0 || blocks_report(&blocks, against, &err) != 0))
        status = command_fail(cmd, EXIT_ENVIRONMENT, "%s", err.text);
    store_close(work.store);
    explain_work_free(&work);
    return status;
}
