// SPDX-License-Identifier: MIT
// perf2.js for viewers of intrinsics: latency and throughput by XED's name of an instruction, as
// texts. One name stands for all widths of general-purpose registers, and for forms with and
// without a mask: the form without options, with the widest registers and without a mask represents
// them.
#include "export_formats.h"
#include "export_iform.h"
#include "export_internal.h"

#include "cpuinfo/cpuinfo.h"
#include "report/report.h"
#include "util/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char intrinsics_name[] = "its name in XED follows no rule that latput knows";
static const char intrinsics_again[] = "another form of the same name in XED speaks for it";

struct intrinsics_entry {
    const struct known_form *form;
    char *iform;
    int rank; // the smallest is chosen
};

static int intrinsics_rank(const struct known_form *form)
{
    int rank = *form->options != '\0';
    for (int i = 0; i < form->row->nops; i++) {
        const struct operand *op = &form->row->ops[i];
        rank += 2 * (op->masked + op->zeroing + (op->broadcast > 0) + op->high8);
        if (op->kind == OPERAND_GPR || op->kind == OPERAND_MEM)
            rank += op->bits == 64 ? 0 : op->bits == 32 ? 1 : 2;
    }
    return rank + 2 * (form->row->rounding != ROUND_NONE);
}

static int intrinsics_compare(const void *a, const void *b)
{
    const struct intrinsics_entry *x = a, *y = b;
    int order = strcmp(x->iform, y->iform);
    if (order == 0)
        order = x->rank - y->rank;
    return order ? order : stored_form_compare(&x->form->id, &y->form->id);
}

// Writes "4", "≤4".
static void intrinsics_throughput(struct json *json, const struct known_form *form)
{
    char number[32];
    if (isnan(form->rthroughput_clk))
        return;
    char *text = xasprintf("%s%s", form->rthroughput_upper ? "≤" : "",
                           report_number(form->rthroughput_clk, number));
    json_text(json_name(json, "t"), text);
    free(text);
}

// Writes "4", "≤6", "[1;≤6]".
static void intrinsics_latency(struct json *json, const struct known_form *form)
{
    char least[32], most[32];
    if (isnan(form->latency_min_clk))
        return;
    report_number(form->latency_min_clk, least);
    report_number(form->latency_max_clk, most);
    const char *less = form->min_upper ? "≤" : "", *more = form->max_upper ? "≤" : "";
    bool one = form->latency_max_clk <= form->latency_min_clk * 1.005 + 0.05;
    char *text =
        one ? xasprintf("%s%s", less, least) : xasprintf("[%s%s;%s%s]", less, least, more, most);
    json_text(json_name(json, "l"), text);
    free(text);
}

static void intrinsics_put(struct json *json, const char *architecture,
                           const struct intrinsics_entry *entry)
{
    json_open(json_name(json_break(json, "\n"), entry->iform), '[');
    json_open(json, '{');
    json_open(json_name(json, architecture), '{');
    intrinsics_latency(json, entry->form);
    intrinsics_throughput(json, entry->form);
    json_close(json, '}');
    json_close(json, '}');
    json_close(json, ']');
}

static const char *intrinsics_why_not(const struct known_form *form, struct strbuf *iform)
{
    struct export_decoded decoded;
    bool has_result = !isnan(form->latency_min_clk) || !isnan(form->rthroughput_clk);
    const char *why = export_decode(form, has_result, &decoded);
    return why ? why : export_iform(form, &decoded, iform) ? NULL : intrinsics_name;
}

static void intrinsics_put_all(const struct intrinsics_entry *entries, int n,
                               const char *architecture, struct export_out *out)
{
    struct json json = {.out = &out->text};
    json_open(&json, '{');
    for (int i = 0; i < n; i++) {
        if (i > 0 && strcmp(entries[i].iform, entries[i - 1].iform) == 0) {
            export_leave(out, entries[i].form, intrinsics_again);
            continue;
        }
        intrinsics_put(&json, architecture, &entries[i]);
        out->written++;
    }
    json_close(json_break(&json, "\n"), '}');
}

static int intrinsics_write(struct known_cpu *data, struct export_out *out, struct err *err)
{
    const char *architecture = cpu_other_name(data->uarch, CPU_NAME_UOPS_INFO);
    (void)err;
    struct intrinsics_entry *entries = xmalloc(((size_t)data->nforms + 1) * sizeof *entries);
    struct strbuf iform = {0};
    int n = 0;
    for (int i = 0; i < data->nforms; i++) {
        const struct known_form *form = &data->forms[i];
        strbuf_clear(&iform);
        const char *why = intrinsics_why_not(form, &iform);
        if (why)
            export_leave(out, form, why);
        else
            entries[n++] = (struct intrinsics_entry){form, xstrdup(strbuf_text(&iform)),
                                                     intrinsics_rank(form)};
    }
    if (n > 0)
        qsort(entries, (size_t)n, sizeof *entries, intrinsics_compare);
    strbuf_puts(&out->text, "perf2_js = ");
    intrinsics_put_all(entries, n, *architecture ? architecture : data->uarch, out);
    strbuf_puts(&out->text, ";\n");
    for (int i = 0; i < n; i++)
        free(entries[i].iform);
    free(entries);
    strbuf_free(&iform);
    return 0;
}

const struct export_format export_intrinsics = {"intrinsics",
                                                "perf2.js of viewers of intrinsics, by XED's names",
                                                KNOWN_CODE, intrinsics_write};
