// SPDX-License-Identifier: MIT
// The performance tables of AsmDude2, an editor's extension: eight columns with tabs between them,
// no header: instruction, operands, fused µops, unfused µops, ports, latency, throughput, remark.
#include "export_formats.h"
#include "export_internal.h"

#include "report/report.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

// Writes the mnemonic in capitals; operands with commas between them: "r64,m64" for "r64 m64".
static void tsv_put(struct strbuf *out, const char *text, bool mnemonic)
{
    struct strbuf changed = {0};
    for (; *text; text++) {
        char byte = (char)(mnemonic ? toupper((unsigned char)*text) : *text == ' ' ? ',' : *text);
        strbuf_put(&changed, &byte, 1);
    }
    export_line(out, strbuf_text(&changed));
    strbuf_free(&changed);
}

static void tsv_latency(struct strbuf *out, const struct known_form *form)
{
    char text[32];
    strbuf_printf(out, "%s%s", form->min_upper ? "<=" : "",
                  report_number(form->latency_min_clk, text));
    if (!isnan(form->latency_max_clk) &&
        form->latency_max_clk > form->latency_min_clk * 1.005 + 0.02)
        strbuf_printf(out, ";%s%s", form->max_upper ? "<=" : "",
                      report_number(form->latency_max_clk, text));
}

static void tsv_form(struct strbuf *out, const struct known_form *form)
{
    char text[32];
    tsv_put(out, form->mnemonic, true);
    strbuf_puts(out, "\t");
    tsv_put(out, form->operands, false);
    strbuf_puts(out, "\t");
    if (form->uops >= 0)
        strbuf_printf(out, "%s%d", form->uops_upper ? "<=" : "", form->uops);
    strbuf_puts(out, "\t");
    if (form->usage)
        strbuf_printf(out, "%s%d", form->uops_upper ? "<=" : "", form->usage->uses.uops);
    strbuf_puts(out, "\t");
    export_line(out, form->ports ? form->ports : "");
    strbuf_puts(out, "\t");
    tsv_latency(out, form);
    strbuf_printf(out, "\t%s%s\t", form->rthroughput_upper ? "<=" : "",
                  report_number(form->rthroughput_clk, text));
    export_line(out, strcmp(form->id.enc, "legacy") == 0 ? "" : form->id.enc);
    if (*form->options)
        strbuf_puts(out, strcmp(form->id.enc, "legacy") == 0 ? "" : "; ");
    export_line(out, form->options);
    strbuf_puts(out, "\n");
}

static int asmdude_write(struct known_cpu *data, struct export_out *out, struct err *err)
{
    (void)err;
    strbuf_printf(&out->text, ";%s, measured by latput ", data->uarch);
    export_line(&out->text, data->version);
    strbuf_printf(&out->text, ", %s\n", data->started_utc);
    for (int i = 0; i < data->nforms; i++) {
        const struct known_form *form = &data->forms[i];
        if (isnan(form->latency_min_clk) && isnan(form->rthroughput_clk) && form->uops < 0) {
            export_leave(out, form, export_no_result);
            continue;
        }
        tsv_form(&out->text, form);
        out->written++;
    }
    return 0;
}

const struct export_format export_asmdude = {
    "asmdude", "AsmDude2's table: tab-separated, eight columns", 0, asmdude_write};
