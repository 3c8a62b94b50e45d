// SPDX-License-Identifier: MIT
// CSV with all results of a form in one row: for spreadsheets and scripts.
#include "export_formats.h"
#include "export_internal.h"

#include "util/csvtext.h"

#include <stdlib.h>

// Writes every pair, with its bound: "op1>op1=3.0 op2>flags<=2.99".
static void csv_pairs(struct strbuf *out, const struct known_form *form)
{
    for (int i = 0; i < form->npairs; i++) {
        const struct known_pair *pair = &form->pairs[i];
        strbuf_printf(out, "%s%s>%s", i ? " " : "", pair->src, pair->dst);
        if (*pair->variant)
            strbuf_printf(out, "(%s)", pair->variant);
        strbuf_puts(out, pair->upper ? "<=" : pair->average ? "~" : "=");
        strbuf_put_real(out, pair->clk);
    }
}

static int csv_write(struct known_cpu *data, struct export_out *out, struct err *err)
{
    (void)err;
    struct export_told told;
    struct export_row row;
    struct strbuf pairs = {0};
    const struct output_page page = {.format = REPORT_CSV};
    struct output_stream stream = {.record = &told.made.record, .page = &page, .out = &out->text};
    export_tell(COLUMN_CSV, &told);
    output_begin(&stream, NULL);
    for (int i = 0; i < data->nforms; i++, out->written++) {
        export_tell_form(&told, data, &data->forms[i], &row);
        strbuf_clear(&pairs);
        csv_pairs(&pairs, &data->forms[i]);
        row.latencies = strbuf_text(&pairs);
        output_row(&stream, &row);
    }
    output_end(&stream, NULL);
    strbuf_free(&pairs);
    free(told.made.fields);
    return 0;
}

const struct export_format export_csv = {
    "csv", "one row per form, with all pairs of operands in a column", KNOWN_VALUES, csv_write};

static int spreadsheet_write(struct known_cpu *data, struct export_out *out, struct err *err)
{
    csv_for_spreadsheets(true);
    return csv_write(data, out, err);
}

const struct export_format export_spreadsheet = {
    "spreadsheet", "csv with an apostrophe before what a spreadsheet would take for a formula",
    KNOWN_VALUES, spreadsheet_write};
