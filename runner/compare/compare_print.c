// SPDX-License-Identifier: MIT
// Contradictions to LLVM's model as text and JSON: one entry per class of the model.
#include "compare_internal.h"

#include "util/json.h"
#include "util/text.h"

#include <math.h>
#include <string.h>

enum { LINE_WIDTH = 80, NAME_WIDTH = 48, MEMBERS_SHOWN = 6, GROUPS_SHOWN = 5, INDENT = 14 };

static void put_wrapped(struct strbuf *out, const char *label, const struct strbuf *text)
{
    struct strbuf plain = {0};
    text_put_escaped(&plain, strbuf_text(text));
    strbuf_printf(out, "    %-*s", INDENT - 4, label);
    text_wrap(out, strbuf_text(&plain), INDENT, LINE_WIDTH);
    strbuf_free(&plain);
}

static void put_label(struct strbuf *out, const char *label, struct strbuf *text)
{
    put_wrapped(out, label, text);
    strbuf_clear(text);
}

// Writes a group in two lines: forms with their measured values, and LLVM's names of them.
static void put_group(struct strbuf *out, const struct comparison *comparison,
                      const struct compare_group *group)
{
    struct strbuf text = {0};
    compare_put_result(&text, comparison, group->members[0]->form);
    strbuf_puts(&text, ": ");
    compare_put_forms(&text, group, MEMBERS_SHOWN);
    put_label(out, "measured", &text);
    compare_put_opcodes(&text, group, MEMBERS_SHOWN);
    put_label(out, "opcodes", &text);
    strbuf_free(&text);
}

static void put_members(struct strbuf *out, const struct comparison *comparison,
                        const struct compare_entry *entry)
{
    struct compare_group *groups = compare_groups(entry);
    int left = 0;
    for (int i = 0; groups[i].n > 0; i++)
        if (i < GROUPS_SHOWN)
            put_group(out, comparison, &groups[i]);
        else
            left += groups[i].n;
    if (left > 0)
        strbuf_printf(out, "%*sand %d more, which --format html and json have\n", INDENT, "", left);
    compare_groups_free(groups);
}

static void put_entry(struct strbuf *out, const struct comparison *comparison, int number)
{
    const struct compare_entry *entry = &comparison->entries[number];
    const char *name = entry->class->name;
    struct strbuf text = {0};
    strbuf_printf(out, "%3d. %.*s%s: ", number + 1, NAME_WIDTH, name,
                  strlen(name) > NAME_WIDTH ? "..." : "");
    compare_put_differs(out, entry);
    strbuf_puts(out, "\n");
    compare_put_count(&text, comparison, entry);
    put_label(out, "how many", &text);
    compare_put_model(&text, entry->class);
    put_label(out, "model", &text);
    put_members(out, comparison, entry);
    compare_put_evidence(&text, entry);
    put_label(out, "evidence", &text);
    strbuf_free(&text);
    strbuf_puts(out, "\n");
}

void compare_print_text(const struct comparison *comparison, int entries, struct strbuf *out)
{
    int shown = compare_shown(comparison, entries);
    struct strbuf text = {0};
    compare_put_summary(&text, comparison);
    text_wrap(out, strbuf_text(&text), 0, LINE_WIDTH);
    strbuf_free(&text);
    strbuf_puts(out, "\n");
    for (int i = 0; i < shown; i++)
        put_entry(out, comparison, i);
    if (shown < comparison->nentries)
        strbuf_printf(out, "%d more: --entries 0 shows all\n", comparison->nentries - shown);
}

static void json_member(struct json *json, const struct comparison *comparison,
                        const struct compare_member *member)
{
    static const char *const words[] = {"latency", "throughput", "uops", "ports"};
    const struct known_form *form = member->form;
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
    json_text_known(json_name(json, "uops_bound"), form->uops_bound);
    json_text_known(json_name(json, "ports"), form->ports);
    struct strbuf names = {0};
    bool named = compare_ports_names(comparison->ports, form, &names);
    json_text_known(json_name(json, "ports_llvm"), named ? strbuf_text(&names) : NULL);
    strbuf_free(&names);
    json_close(json, '}');
}

static void json_entry(struct json *json, const struct comparison *comparison,
                       const struct compare_entry *entry)
{
    const struct model_class *class = entry->class;
    json_open(json_break(json, "\n"), '{');
    json_text(json_name(json, "class"), class->name);
    json_digits(json_name(json, "per_million"), compare_per_million(comparison, entry->count), 6);
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
        json_member(json, comparison, &entry->members[i]);
    json_close(json, ']');
    json_close(json, '}');
}

void compare_print_json(const struct comparison *comparison, int entries, struct strbuf *out)
{
    struct json json = {.out = out};
    int shown = compare_shown(comparison, entries);
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
