// SPDX-License-Identifier: MIT
// What contradicts LLVM's model, as text and JSON: a class of the model an entry.
#include "compare_internal.h"

#include "report/report.h"
#include "util/json.h"
#include "util/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_WIDTH = 80, NAME_WIDTH = 48, MEMBERS_SHOWN = 6, GROUPS_SHOWN = 5, INDENT = 14 };

static double per_million(const struct comparison *comparison, double count)
{
    return comparison->counted > 0 ? 1e6 * count / comparison->counted : 0;
}

static int shown_entries(const struct comparison *comparison, int entries)
{
    return entries > 0 && entries < comparison->nentries ? entries : comparison->nentries;
}

static void put_wrapped(struct strbuf *out, const char *label, const struct strbuf *text)
{
    struct strbuf plain = {0};
    text_put_escaped(&plain, strbuf_text(text));
    strbuf_printf(out, "    %-*s", INDENT - 4, label);
    text_wrap(out, strbuf_text(&plain), INDENT, LINE_WIDTH);
    strbuf_free(&plain);
}

static void put_model(struct strbuf *out, const struct model_class *class)
{
    struct strbuf text = {0};
    char number[32];
    strbuf_printf(&text, "%d µop%s, latency %s", class->uops, class->uops == 1 ? "" : "s",
                  report_number(class->latency_clk, number));
    strbuf_printf(&text, ", 1/tput %s", report_number(class->rthroughput_clk, number));
    for (int i = 0; i < class->nresources; i++)
        strbuf_printf(&text, "%s%.4g*%s", i ? " + " : ", ", class->resources[i].count,
                      class->resources[i].name);
    put_wrapped(out, "model", &text);
    strbuf_free(&text);
}

static void put_differs(struct strbuf *out, unsigned differs)
{
    static const char *const words[] = {"latency", "throughput", "µops", "ports"};
    const char *comma = "";
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (differs >> i & 1) {
            strbuf_printf(out, "%s%s", comma, words[i]);
            comma = ", ";
        }
}

// What was measured of one form, the latency as the model has it: to the last register.
static void put_result(struct strbuf *out, const struct export_form *form)
{
    struct llvm_latency latency;
    char least[32], most[32];
    const char *comma = "";
    if (form->uops >= 0) {
        strbuf_printf(out, "%d µop%s", form->uops, form->uops == 1 ? "" : "s");
        comma = ", ";
    }
    if (llvm_latency(form, &latency)) {
        report_number(latency.least, least);
        report_number(latency.most, most);
        bool one = latency.most <= latency.least * 1.005 + 0.05;
        strbuf_printf(out, "%slatency %s%s%s", comma, one ? "" : least,
                      one                    ? ""
                      : isnan(latency.least) ? "≤"
                                             : " to ≤",
                      most);
        comma = ", ";
    }
    if (!isnan(form->rthroughput_clk)) {
        strbuf_printf(out, "%s1/tput %s%s", comma, form->rthroughput_upper ? "≤" : "",
                      report_number(form->rthroughput_clk, least));
        comma = ", ";
    }
    if (form->ports)
        strbuf_printf(out, "%s%s", comma, *form->ports ? form->ports : "no port");
}

static bool numbers_alike(double a, double b)
{
    return isnan(a) || isnan(b) ? isnan(a) && isnan(b)
                                : fabs(a - b) <= 0.04 + 0.03 * fmin(fabs(a), fabs(b));
}

// Whether one line can speak for both: a patch would give them the same resources.
static bool results_alike(const struct export_form *a, const struct export_form *b)
{
    struct llvm_latency x, y;
    bool known = llvm_latency(a, &x);
    return known == llvm_latency(b, &y) && numbers_alike(x.least, y.least) &&
           numbers_alike(x.most, y.most) && numbers_alike(a->rthroughput_clk, b->rthroughput_clk) &&
           a->uops == b->uops && !a->ports == !b->ports &&
           (!a->ports || strcmp(a->ports, b->ports) == 0);
}

// One line of those that behave as member `first` does, which are marked as shown.
static void put_group(struct strbuf *out, const struct compare_entry *entry, int first, bool *shown)
{
    struct strbuf text = {0};
    int n = 0;
    put_result(&text, entry->members[first].form);
    strbuf_puts(&text, ": ");
    for (int i = first; i < entry->nmembers; i++) {
        if (shown[i] || !results_alike(entry->members[first].form, entry->members[i].form))
            continue;
        shown[i] = true;
        if (n++ < MEMBERS_SHOWN)
            strbuf_printf(&text, "%s%s", n > 1 ? ", " : "", entry->members[i].form->id.form);
    }
    if (n > MEMBERS_SHOWN)
        strbuf_printf(&text, ", and %d more", n - MEMBERS_SHOWN);
    put_wrapped(out, "measured", &text);
    strbuf_free(&text);
}

static void put_members(struct strbuf *out, const struct compare_entry *entry)
{
    bool *shown = xcalloc((size_t)entry->nmembers + 1, sizeof *shown);
    int groups = 0, left = 0;
    for (int i = 0; i < entry->nmembers; i++)
        if (!shown[i] && groups++ < GROUPS_SHOWN)
            put_group(out, entry, i, shown);
        else
            left += !shown[i];
    if (left > 0)
        strbuf_printf(out, "%*sand %d more, which --format json has\n", INDENT, "", left);
    free(shown);
}

static void put_entry(struct strbuf *out, const struct comparison *comparison, int number)
{
    const struct compare_entry *entry = &comparison->entries[number];
    const char *name = entry->class->name;
    unsigned differs = 0;
    for (int i = 0; i < entry->nmembers; i++)
        differs |= entry->members[i].differs;
    struct strbuf what = {0};
    put_differs(&what, differs);
    strbuf_printf(out, "%3d. %.*s%s: ", number + 1, NAME_WIDTH, name,
                  strlen(name) > NAME_WIDTH ? "..." : "");
    strbuf_printf(out, "%s\n", strbuf_text(&what));
    strbuf_free(&what);
    strbuf_printf(&what, "%d of %d measured forms; %.3g in a million instructions", entry->nmembers,
                  entry->compared, per_million(comparison, entry->count));
    put_wrapped(out, "how many", &what);
    put_model(out, entry->class);
    put_members(out, entry);
    strbuf_free(&what);
    const char *form = entry->members[0].form->id.form;
    strbuf_printf(&what, "latput query --latency '%s'; latput query --evidence '%s'", form, form);
    put_wrapped(out, "evidence", &what);
    strbuf_free(&what);
    strbuf_puts(out, "\n");
}

void compare_print_text(const struct comparison *comparison, int entries, struct strbuf *out)
{
    int shown = shown_entries(comparison, entries);
    struct strbuf text = {0};
    strbuf_printf(
        &text,
        "%s beside LLVM's scheduling model of %s: %d forms compared, %d agree. %d classes "
        "of the model contradict what was measured; those that occur most in compiled "
        "code first (a static count of %.3g million instructions).",
        comparison->data->uarch, comparison->cpu, comparison->compared, comparison->agree,
        comparison->nentries, comparison->counted / 1e6);
    text_wrap(out, strbuf_text(&text), 0, LINE_WIDTH);
    strbuf_free(&text);
    strbuf_puts(out, "\n");
    for (int i = 0; i < shown; i++)
        put_entry(out, comparison, i);
    if (shown < comparison->nentries)
        strbuf_printf(out, "%d more: --entries 0 shows all\n", comparison->nentries - shown);
}

static void json_member(struct json *json, const struct compare_member *member)
{
    static const char *const words[] = {"latency", "throughput", "uops", "ports"};
    const struct export_form *form = member->form;
    struct llvm_latency latency = {.least = (double)NAN, .most = (double)NAN};
    json_open(json_break(json, "\n    "), '{');
    json_text(json_name(json, "form"), form->id.form);
    json_text(json_name(json, "enc"), form->id.enc);
    json_text(json_name(json, "opcode"), member->instr->opcode);
    json_text(json_name(json, "assembly"), member->instr->text);
    json_open(json_name(json, "differs"), '[');
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (member->differs >> i & 1)
            json_text(json, words[i]);
    json_close(json, ']');
    bool known = llvm_latency(form, &latency);
    json_digits(json_name(json, "latency_least_clk"), known ? latency.least : (double)NAN, 6);
    json_digits(json_name(json, "latency_most_clk"), known ? latency.most : (double)NAN, 6);
    json_digits(json_name(json, "rthroughput_clk"), form->rthroughput_clk, 6);
    json_text_known(json_name(json, "rthroughput_bound"), form->rthroughput_bound);
    json_fixed(json_name(json, "uops"), form->uops >= 0 ? form->uops : (double)NAN, 0);
    json_text_known(json_name(json, "ports"), form->ports);
    json_close(json, '}');
}

static void json_entry(struct json *json, const struct comparison *comparison,
                       const struct compare_entry *entry)
{
    const struct model_class *class = entry->class;
    json_open(json_break(json, "\n"), '{');
    json_text(json_name(json, "class"), class->name);
    json_digits(json_name(json, "per_million"), per_million(comparison, entry->count), 6);
    json_int(json_name(json, "compared"), entry->compared);
    json_int(json_name(json_break(json, "\n  "), "model_uops"), class->uops);
    json_digits(json_name(json, "model_latency_clk"), class->latency_clk, 6);
    json_digits(json_name(json, "model_rthroughput_clk"), class->rthroughput_clk, 6);
    json_open(json_name(json, "model_resources"), '[');
    for (int i = 0; i < class->nresources; i++) {
        json_open(json, '{');
        json_text(json_name(json, "resource"), class->resources[i].name);
        json_digits(json_name(json, "uops"), class->resources[i].count, 6);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_open(json_name(json_break(json, "\n  "), "members"), '[');
    for (int i = 0; i < entry->nmembers; i++)
        json_member(json, &entry->members[i]);
    json_close(json, ']');
    json_close(json, '}');
}

void compare_print_json(const struct comparison *comparison, int entries, struct strbuf *out)
{
    struct json json = {.out = out};
    int shown = shown_entries(comparison, entries);
    json_open(&json, '[');
    json_open(&json, '{');
    json_text(json_name(&json, "uarch"), comparison->data->uarch);
    json_text(json_name(&json, "mcpu"), comparison->cpu);
    json_int(json_name(&json, "compared"), comparison->compared);
    json_int(json_name(&json, "agree"), comparison->agree);
    json_int(json_name(&json, "unknown"), comparison->unknown);
    json_text(json_name(&json, "counted_in"), comparison->files);
    json_open(json_name(json_break(&json, "\n"), "entries"), '[');
    for (int i = 0; i < shown; i++)
        json_entry(&json, comparison, &comparison->entries[i]);
    json_close(&json, ']');
    json_close(&json, '}');
    json_close(&json, ']');
    strbuf_puts(out, "\n");
}
