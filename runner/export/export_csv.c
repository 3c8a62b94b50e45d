// SPDX-License-Identifier: MIT
// CSV with all results of a form in one row: for spreadsheets and scripts.
#include "export_formats.h"
#include "export_internal.h"

#include "util/csvtext.h"

// Writes every pair, with its bound: "op1>op1=3.0 op2>flags<=2.99".
static void csv_pairs(struct strbuf *out, const struct known_form *form)
{
    struct strbuf text = {0};
    for (int i = 0; i < form->npairs; i++) {
        const struct known_pair *pair = &form->pairs[i];
        strbuf_printf(&text, "%s%s>%s", i ? " " : "", pair->src, pair->dst);
        if (*pair->variant)
            strbuf_printf(&text, "(%s)", pair->variant);
        strbuf_puts(&text, pair->upper ? "<=" : pair->average ? "~" : "=");
        strbuf_put_real(&text, pair->clk);
    }
    csv_put_text(out, strbuf_text(&text));
    strbuf_free(&text);
}

static void csv_value(struct strbuf *out, const struct known_value *value, enum column_kind kind)
{
    if (value->type == STORE_TEXT)
        csv_put_text(out, kind == COLUMN_USES && !*value->text ? "none" : value->text);
    else if (value->type == STORE_INTEGER)
        strbuf_printf(out, "%lld", (long long)value->number);
    else if (value->type != STORE_NULL)
        strbuf_put_real(out, value->number);
}

static int csv_write(struct known_cpu *data, struct export_out *out, struct err *err)
{
    (void)err;
    for (int c = 0; c < data->ncolumns; c++) {
        const struct column *column = data->columns[c];
        strbuf_printf(&out->text, "%s%s", c ? "," : "", export_column_name(column));
        strbuf_puts(&out->text, export_pairs_follow(column) ? ",latencies" : "");
    }
    strbuf_puts(&out->text, "\n");
    for (int i = 0; i < data->nforms; i++, out->written++) {
        const struct known_form *form = &data->forms[i];
        for (int c = 0; c < data->ncolumns; c++) {
            strbuf_puts(&out->text, c ? "," : "");
            csv_value(&out->text, &form->values[c], data->columns[c]->kind);
            if (export_pairs_follow(data->columns[c])) {
                strbuf_puts(&out->text, ",");
                csv_pairs(&out->text, form);
            }
        }
        strbuf_puts(&out->text, "\n");
    }
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
