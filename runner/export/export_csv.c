// SPDX-License-Identifier: MIT
// CSV with all results of a form in one row: for spreadsheets and scripts.
#include "export_formats.h"

#include "util/csvtext.h"

#include <math.h>

static const char csv_header[] =
    "uarch,form,mnemonic,operands,enc,bits,isa,options,outcome,latency_min_clk,"
    "latency_min_bound,latency_max_clk,latency_max_bound,rthroughput_clk,rthroughput_bound,"
    "rthroughput_slow_clk,uops,ports,at_rename,latencies,list,run_id,uops_bound\n";

static void csv_number(struct strbuf *out, double value)
{
    if (!isnan(value))
        strbuf_put_real(out, value);
}

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

static void csv_form(struct strbuf *out, const char *uarch, const struct known_form *form)
{
    const char *const texts[] = {uarch, form->id.form, form->mnemonic, form->operands,
                                 form->id.enc};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        csv_put_text(out, texts[i]);
        strbuf_puts(out, ",");
    }
    strbuf_printf(out, "%d,", form->id.bits);
    csv_put_text(out, form->isa);
    strbuf_puts(out, ",");
    csv_put_text(out, form->options);
    strbuf_printf(out, ",%s,", form->outcome);
    csv_number(out, form->latency_min_clk);
    strbuf_printf(out, ",%s,", form->min_bound);
    csv_number(out, form->latency_max_clk);
    strbuf_printf(out, ",%s,", form->max_bound);
    csv_number(out, form->rthroughput_clk);
    strbuf_printf(out, ",%s,", form->rthroughput_bound);
    csv_number(out, form->rthroughput_slow_clk);
    strbuf_puts(out, ",");
    if (form->uops >= 0)
        strbuf_printf(out, "%d", form->uops);
    strbuf_puts(out, ",");
    csv_put_text(out, !form->ports ? "" : *form->ports ? form->ports : "none");
    strbuf_printf(out, ",%s,", form->at_rename);
    csv_pairs(out, form);
    strbuf_puts(out, ",");
    csv_put_text(out, form->list);
    strbuf_printf(out, ",%lld,%s\n", (long long)form->run_id, form->uops_bound);
}

static int csv_write(struct known_cpu *data, struct export_out *out, struct err *err)
{
    (void)err;
    strbuf_puts(&out->text, csv_header);
    for (int i = 0; i < data->nforms; i++, out->written++)
        csv_form(&out->text, data->uarch, &data->forms[i]);
    return 0;
}

const struct export_format export_csv = {
    "csv", "one row per form, with all pairs of operands in a column", 0, csv_write};

static int spreadsheet_write(struct known_cpu *data, struct export_out *out, struct err *err)
{
    csv_for_spreadsheets(true);
    return csv_write(data, out, err);
}

const struct export_format export_spreadsheet = {
    "spreadsheet", "csv with an apostrophe before what a spreadsheet would take for a formula", 0,
    spreadsheet_write};
