// SPDX-License-Identifier: MIT
// Writes the ports of a run into info.txt: their structure, and how well they predict random mixes;
// see report.h.
#include "report.h"

#include "store/store_ports.h"
#include "store/store_validation.h"
#include "util/mem.h"
#include "util/text_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { WORST_SHOWN = 10 };

static void put_cell_number(struct text_table *table, double value)
{
    char number[32];
    text_table_cell(table, report_number(value, number));
}

static void put_cell_integer(struct text_table *table, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    text_table_cell(table, text);
}

static void put_table(struct strbuf *out, struct text_table *table)
{
    if (text_table_rows(table) > 0)
        text_table_print(table, out);
    text_table_free(table);
}

static void put_validation_classes(struct strbuf *out, const struct validation *validation)
{
    static const char *const headings[] = {"mixes of", "number", "MAPE %", "within 10 %"};
    static const enum text_align aligns[] = {ALIGN_LEFT, ALIGN_RIGHT, ALIGN_POINT, ALIGN_POINT};
    struct text_table *table = text_table_new(headings, aligns, (int)ARRAY_LEN(headings));
    for (int i = 0; i < validation->nclasses; i++) {
        text_table_cell(table, validation->classes[i].name);
        put_cell_integer(table, validation->classes[i].mixes);
        put_cell_number(table, validation->classes[i].mape_percent);
        put_cell_number(table, validation->classes[i].within_10_percent);
    }
    put_table(out, table);
}

static void put_validation_worst(struct strbuf *out, const struct validation *validation)
{
    static const char *const headings[] = {"measured", "predicted", "the worst mixes"};
    static const enum text_align aligns[] = {ALIGN_POINT, ALIGN_POINT, ALIGN_LEFT};
    struct text_table *table = text_table_new(headings, aligns, (int)ARRAY_LEN(headings));
    for (int i = 0; i < validation->nworst && i < WORST_SHOWN; i++) {
        put_cell_number(table, validation->worst[i].measured_clk);
        put_cell_number(table, validation->worst[i].predicted_clk);
        text_table_cell(table, validation->worst[i].text);
    }
    if (text_table_rows(table) > 0)
        strbuf_puts(out, "\n");
    put_table(out, table);
}

static void put_validation(struct strbuf *out, const struct validation *validation)
{
    strbuf_printf(
        out, "\nRandom mixes measured and predicted by these ports: %" PRId64 " (seed %" PRId64 ")",
        validation->mixes, validation->seed);
    if (validation->mixes > 0 && !isnan(validation->mape_percent))
        strbuf_printf(out, ",\nmean error %.1f %%, Kendall's tau %.3f, within 10 %%: %.1f %%",
                      validation->mape_percent, validation->kendall_tau,
                      validation->within_10_percent);
    strbuf_puts(out, ".\n");
    put_validation_classes(out, validation);
    put_validation_worst(out, validation);
}

int report_run_ports(struct store *store, int64_t run_id, struct strbuf *out, struct err *err)
{
    struct arena arena = {0};
    struct stored_port_model model;
    struct validation validation;
    int got = store_get_port_model(store, run_id, &model, &arena, err);
    if (got == 1)
        report_ports_text(&model, "\nPorts", false, out);
    if (got >= 0)
        got = store_get_validation(store, run_id, &validation, &arena, err);
    if (got == 1)
        put_validation(out, &validation);
    arena_free(&arena);
    return got < 0 ? -1 : 0;
}
