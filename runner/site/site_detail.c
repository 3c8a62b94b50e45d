// SPDX-License-Identifier: MIT
// Details in a form's panel: operand pairs, false dependencies, kernels with their code and
// samples, use of ports and the evidence for it. A file has SITE_CHUNK forms of a CPU and is loaded
// when one is looked at. See site_internal.h; docs/SITE.md describes the files.
#include "site_internal.h"

#include "derive/derive.h"
#include "store/store_timing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Formats of a view's columns.
enum cell { CELL_TEXT, CELL_CLK, CELL_NUMBER, CELLS };
enum { COLUMNS_MAX = 24 };

// Parts of a form's details, each from a view: the names of its columns by their formats.
enum part { PART_PAIRS, PART_FALSE, PART_KERNELS, PART_PORTS, PART_TRIALS, PARTS };
// clang-format off
static const struct part_source {
    const char *name;
    enum store_view view;
    const char *cells[CELLS][COLUMNS_MAX]; // each ends with NULL
} part_sources[PARTS] = {
    [PART_PAIRS] = {"pairs", STORE_VIEW_LATENCY,
        {{"src", "dst", "variant", "outcome", "detail", "bound", "mark", "states_seen"},
         {"latency_clk", "spread_clk", "dense_clk", "filled_clk", "least_clk", "most_clk",
          "latency_most_clk"},
         {"accepted", "tried", "run_id"}}},
    [PART_FALSE] = {"overwritten", STORE_VIEW_FALSE,
        {{"operand", "bound", "mark"}, {"latency_clk"}}},
    [PART_KERNELS] = {"kernels", STORE_VIEW_KERNEL,
        {{"kind", "src", "dst", "variant", "test_outcome", "test_detail", "shape", "outcome",
          "detail"},
         {"instance_clk", "spread_clk", "extra_clk"},
         {"instances", "instrs", "accepted", "tried", "decides", "code_bytes", "run_id"}}},
    [PART_PORTS] = {"ports", STORE_VIEW_PORT,
        {{"ports", "outcome", "detail", "method", "unit", "paths"},
         {"busy_clk", "beside_clk", "decode_clk", "slots", "slots_mixed", "stall_clk", "residual"},
         {"uops", "ambiguous", "whole", "run_id"}}},
    [PART_TRIALS] = {"trials", STORE_VIEW_EVIDENCE,
        {{"blocker", "blocker_form", "outcome", "counted"},
         {"clk", "spread_clk", "uops"},
         {"instances", "blockers"}}},
};
// clang-format on

// A CPU's chunk while it is gathered: `forms` has whole members, `rows` the rows of the current
// form.
struct detail_cpu {
    struct site_texts texts;
    struct strbuf forms;
    struct strbuf rows[PARTS];
};

struct detail {
    struct store *store;
    struct site_files *files;
    const struct site_cpus *cpus;
    bool samples;
    struct site_stream streams[PARTS];
    int columns[PARTS][CELLS][COLUMNS_MAX];
    struct detail_cpu *chunks; // one per CPU
};

static void cell_json(const struct site_stream *row, int column, enum cell cell,
                      struct site_texts *texts, struct json *json)
{
    double value = store_rows_real(row->rows, column);
    if (store_rows_type(row->rows, column) == STORE_NULL)
        json_null(json);
    else if (cell == CELL_TEXT)
        json_int(json, site_text(texts, store_rows_exact(row->rows, column)));
    else if (cell == CELL_CLK)
        site_thousandths(json, value);
    else
        json_int(json, store_rows_integer(row->rows, column));
}

// Writes a pass: [number, accepted, tried, [thousandths of a cycle without bridges, ...]].
static void pass_json(const struct kernel_facts *facts, const struct timing *timing, bool counted,
                      struct json *json)
{
    json_open(json, '[');
    json_int(json, timing->pass);
    json_int(json, timing->accepted);
    json_int(json, timing->tried);
    json_open(json, '[');
    for (int i = 0; i < timing->nsamples; i++)
        site_thousandths(json, (counted ? derive_sample_counted_clk
                                        : derive_sample_clk)(facts, timing, &timing->samples[i]) -
                                   facts->extra_clk);
    json_close(json, ']');
    json_close(json, ']');
}

// Writes what the deciding kernel has beside its columns: its code and its samples.
static int kernel_json(struct detail *detail, const struct site_stream *row,
                       struct site_texts *texts, struct json *json, struct err *err)
{
    if (store_integer_of(row->rows, "kernel_id") == 0 || !store_integer_of(row->rows, "decides"))
        return 0;
    site_asm_json(store_exact_of(row->rows, "machine_code"), (int)row->at.bits, texts, json);
    if (!detail->samples)
        return 0;
    struct kernel_facts facts = {
        .shape = "",
        .instances = (int)store_integer_of(row->rows, "instances"),
        .instrs = (int)store_integer_of(row->rows, "instrs"),
        .extra_clk = store_real_of(row->rows, "extra_clk"),
    };
    struct arena arena = {0};
    const struct timing *timings;
    int n = 0;
    int result = store_get_timings(detail->store, store_integer_of(row->rows, "kernel_id"), &arena,
                                   &timings, &n, err);
    json_open(json, '[');
    for (int t = 0; t < n && result == 0; t++)
        if (timings[t].nsamples > 0)
            pass_json(&facts, &timings[t], store_integer_of(row->rows, "counted") != 0, json);
    json_close(json, ']');
    arena_free(&arena);
    return result;
}

static int detail_row(struct detail *detail, enum part part, struct err *err)
{
    const struct part_source *source = &part_sources[part];
    const struct site_stream *row = &detail->streams[part];
    int cpu = site_cpu_of_run(detail->cpus, row->run);
    if (cpu < 0)
        return 0;
    struct detail_cpu *chunk = &detail->chunks[cpu];
    struct strbuf *out = &chunk->rows[part];
    struct json json = {.out = out, .script = true, .more = out->len > 0};
    json_open(&json, '[');
    for (int cell = 0; cell < CELLS; cell++)
        for (int i = 0; source->cells[cell][i]; i++)
            cell_json(row, detail->columns[part][cell][i], (enum cell)cell, &chunk->texts, &json);
    int result = part == PART_KERNELS ? kernel_json(detail, row, &chunk->texts, &json, err) : 0;
    json_close(&json, ']');
    return result;
}

// Gathers all rows of the form, of all CPUs.
static int detail_form(struct detail *detail, const struct site_form *form, struct err *err)
{
    for (int part = 0; part < PARTS; part++) {
        struct site_stream *row = &detail->streams[part];
        while (row->more && site_form_compare(&row->at, form) <= 0) {
            bool same = site_form_compare(&row->at, form) == 0;
            if ((same && detail_row(detail, (enum part)part, err) != 0) ||
                site_stream_next(row, err) != 0)
                return -1;
        }
    }
    return 0;
}

// Moves the rows of a form into its CPUs' chunks.
static void detail_form_end(struct detail *detail, size_t form)
{
    for (int c = 0; c < detail->cpus->ncpus; c++) {
        struct detail_cpu *chunk = &detail->chunks[c];
        char name[32];
        snprintf(name, sizeof name, "%zu", form);
        bool begun = false;
        struct json json = {.out = &chunk->forms, .script = true, .more = chunk->forms.len > 0};
        for (int part = 0; part < PARTS; part++) {
            if (chunk->rows[part].len == 0)
                continue;
            if (!begun)
                json_open(json_name(&json, name), '{');
            begun = true;
            json_open(json_name(&json, part_sources[part].name), '[');
            strbuf_puts(json.out, strbuf_text(&chunk->rows[part]));
            json_close(&json, ']');
            strbuf_clear(&chunk->rows[part]);
        }
        if (begun)
            json_close(&json, '}');
    }
}

// Writes the names of the rows' columns. Those in thousandths end with _clk, or are slots,
// residuals or µops.
static void columns_json(struct json *json)
{
    json_open(json_name(json, "columns"), '{');
    for (int part = 0; part < PARTS; part++) {
        json_open(json_name(json, part_sources[part].name), '[');
        for (int cell = 0; cell < CELLS; cell++)
            for (const char *const *name = part_sources[part].cells[cell]; *name; name++) {
                json_open(json, '[');
                json_text(json, *name);
                json_int(json, cell);
                json_close(json, ']');
            }
        json_close(json, ']');
    }
    json_close(json, '}');
}

static int chunk_write(struct detail *detail, int cpu, int chunk, struct err *err)
{
    struct detail_cpu *gathered = &detail->chunks[cpu];
    struct strbuf text = {0};
    struct json json = {.out = &text, .script = true};
    json_open(&json, '{');
    json_int(json_name(&json, "cpu"), cpu);
    json_int(json_name(&json, "chunk"), chunk);
    columns_json(&json);
    site_texts_json(&gathered->texts, json_name(&json, "texts"));
    json_open(json_name(&json, "forms"), '{');
    strbuf_puts(&text, strbuf_text(&gathered->forms));
    json_close(&json, '}');
    json_close(&json, '}');
    // The dot separates the chunk: no name of a CPU's files has one.
    char *name = xasprintf("data/%s.%d.js", detail->cpus->cpus[cpu].file, chunk);
    int result = site_file_script(detail->files, name, "detail", &text, err);
    free(name);
    strbuf_free(&text);
    site_texts_clear(&gathered->texts);
    strbuf_clear(&gathered->forms);
    return result;
}

static int chunks_write(struct detail *detail, int chunk, struct err *err)
{
    int result = 0;
    for (int c = 0; c < detail->cpus->ncpus && result == 0; c++)
        if (detail->chunks[c].forms.len > 0)
            result = chunk_write(detail, c, chunk, err);
    return result;
}

static int detail_open(struct detail *detail, struct err *err)
{
    // False dependencies that do not exist, which nearly all are, are not shown; nor are latencies
    // without kernels, which are among the pairs.
    struct store_where waits = {0}, timed = {0};
    const struct store_filter filters[PARTS] = {
        [PART_FALSE] = {.where = &waits}, [PART_KERNELS] = {.where = &timed}};
    int result = 0;
    strbuf_puts(&waits.sql, "latency_clk > 0");
    strbuf_puts(&timed.sql, "(kernel_id IS NOT NULL OR kind <> 'latency' OR test_outcome <> 'ok')");
    for (int part = 0; part < PARTS && result == 0; part++) {
        const struct part_source *source = &part_sources[part];
        struct site_stream *stream = &detail->streams[part];
        result = site_stream_open(stream, detail->store, source->view, &filters[part], err);
        for (int cell = 0; cell < CELLS && result == 0; cell++)
            for (int i = 0; source->cells[cell][i]; i++)
                detail->columns[part][cell][i] =
                    store_rows_column(stream->rows, source->cells[cell][i]);
    }
    strbuf_free(&waits.sql);
    strbuf_free(&timed.sql);
    return result;
}

static void detail_close(struct detail *detail)
{
    for (int part = 0; part < PARTS; part++)
        site_stream_close(&detail->streams[part]);
    for (int c = 0; c < detail->cpus->ncpus; c++) {
        struct detail_cpu *chunk = &detail->chunks[c];
        site_texts_clear(&chunk->texts);
        strbuf_free(&chunk->forms);
        for (int part = 0; part < PARTS; part++)
            strbuf_free(&chunk->rows[part]);
    }
    free(detail->chunks);
}

int site_detail_write(struct store *store, struct site_files *files, const struct site_cpus *cpus,
                      const struct site_forms *forms, bool samples, struct err *err)
{
    struct detail detail = {
        .store = store,
        .files = files,
        .cpus = cpus,
        .samples = samples,
        .chunks = xcalloc((size_t)cpus->ncpus + 1, sizeof *detail.chunks),
    };
    int result = detail_open(&detail, err);
    for (size_t f = 0; f < forms->nforms && result == 0; f++) {
        result = detail_form(&detail, &forms->forms[f], err);
        detail_form_end(&detail, f);
        bool last = f + 1 == forms->nforms || (f + 1) % SITE_CHUNK == 0;
        if (result == 0 && last)
            result = chunks_write(&detail, (int)(f / SITE_CHUNK), err);
    }
    detail_close(&detail);
    return result;
}
