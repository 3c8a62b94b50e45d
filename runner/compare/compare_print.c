// SPDX-License-Identifier: MIT
// Contradictions to LLVM's model as text and JSON: one entry per class of the model.
#include "compare_internal.h"

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
                      const struct compare_alike *group)
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
    struct compare_alike *groups = compare_alike_find(entry);
    int left = 0;
    for (int i = 0; groups[i].n > 0; i++)
        if (i < GROUPS_SHOWN)
            put_group(out, comparison, &groups[i]);
        else
            left += groups[i].n;
    if (left > 0)
        strbuf_printf(out, "%*sand %d more, which --format html and json have\n", INDENT, "", left);
    compare_alike_free(groups);
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

// --- JSON ---

struct member_row {
    struct known_form of;
    const char *opcode, *assembly, *differs[DIFFERS_KINDS], *const *words;
    double least_clk, most_clk;
    const char *ports_llvm;
    int ndiffers;
};
enum { DIGITS = 6 };
#define MEMBER(...) OUTPUT_FIELD(struct member_row, __VA_ARGS__)
#define MEMBER_CLK(...) MEMBER(__VA_ARGS__, .digits = DIGITS)
OUTPUT_DEFINE(member_record, struct member_row, OUTPUT_LINE, MEMBER(of.id.form), MEMBER(of.id.enc),
              MEMBER(opcode), MEMBER(assembly),
              OUTPUT_LIST(struct member_row, words, ndiffers, .look.name = "differs"),
              MEMBER_CLK(least_clk, .look.name = "latency_least_clk"),
              MEMBER_CLK(most_clk, .look.name = "latency_most_clk"), MEMBER_CLK(of.rthroughput_clk),
              MEMBER(of.rthroughput_bound, .known = true),
              MEMBER(of.uops, .known = true, .none = -1), MEMBER(of.uops_bound, .known = true),
              MEMBER(of.ports, .known = true), MEMBER(ports_llvm, .known = true));

#define RESOURCE(...) OUTPUT_FIELD(struct model_resource, __VA_ARGS__)
OUTPUT_DEFINE(resource_record, struct model_resource, OUTPUT_LINE,
              RESOURCE(name, .look.name = "resource"),
              RESOURCE(count, .look.name = "uops", .digits = DIGITS, .always = true));

struct entry_row {
    struct model_class of;
    double per_million;
    int compared, nmembers;
    const struct member_row *members;
};
#define ENTRY(...) OUTPUT_FIELD(struct entry_row, __VA_ARGS__)
OUTPUT_DEFINE(entry_record, struct entry_row, OUTPUT_LINE, ENTRY(of.name, .look.name = "class"),
              ENTRY(per_million, .digits = DIGITS), ENTRY(compared),
              ENTRY(of.uops, .look.name = "model_uops"),
              ENTRY(of.latency_clk, .look.name = "model_latency_clk", .digits = DIGITS),
              ENTRY(of.rthroughput_clk, .look.name = "model_rthroughput_clk", .digits = DIGITS),
              OUTPUT_ARRAY(struct entry_row, of.resources, of.nresources, resource_record,
                           .look.name = "model_resources"),
              OUTPUT_ROWS(struct entry_row, members, nmembers, member_record));

struct whole {
    struct comparison of;
    const char *uarch;
    int nentries;
    const struct entry_row *entries;
};
#define WHOLE(...) OUTPUT_FIELD(struct whole, __VA_ARGS__)
OUTPUT_DEFINE(whole_record, struct whole, OUTPUT_LINE, WHOLE(uarch),
              WHOLE(of.cpu, .look.name = "mcpu"), WHOLE(of.compared), WHOLE(of.agree),
              WHOLE(of.unknown), WHOLE(of.files, .look.name = "counted_in"),
              OUTPUT_ROWS(struct whole, entries, nentries, entry_record));
const struct output_kind compare_print_kind = {"compare", "latput compare llvm", &whole_record, 1,
                                               1};

static void member_row_make(const struct comparison *comparison,
                            const struct compare_member *member, struct arena *arena,
                            struct member_row *row)
{
    static const char *const words[DIFFERS_KINDS] = {"latency", "throughput", "uops", "ports"};
    struct llvm_latency latency = {.least = (double)NAN, .most = (double)NAN};
    struct strbuf names = {0};
    llvm_latency(member->form, &latency);
    *row = (struct member_row){.of = *member->form,
                               .opcode = member->instr->opcode,
                               .assembly = member->instr->text,
                               .words = row->differs,
                               .least_clk = latency.least,
                               .most_clk = latency.most};
    for (int i = 0; i < DIFFERS_KINDS; i++)
        if (member->differs >> i & 1)
            row->differs[row->ndiffers++] = words[i];
    if (compare_ports_names(comparison->ports, member->form, &names))
        row->ports_llvm = arena_strdup(arena, strbuf_text(&names));
    strbuf_free(&names);
}

static struct entry_row entry_row_make(const struct comparison *comparison,
                                       const struct compare_entry *entry, struct arena *arena)
{
    struct member_row *members =
        arena_alloc(arena, ((size_t)entry->nmembers + 1) * sizeof *members);
    for (int i = 0; i < entry->nmembers; i++)
        member_row_make(comparison, &entry->members[i], arena, &members[i]);
    return (struct entry_row){*entry->class, compare_per_million(comparison, entry->count),
                              entry->compared, entry->nmembers, members};
}

void compare_print_json(const struct comparison *comparison, int entries, struct strbuf *out)
{
    struct arena arena = {0};
    int shown = compare_shown(comparison, entries);
    struct entry_row *rows = arena_alloc(&arena, ((size_t)shown + 1) * sizeof *rows);
    for (int i = 0; i < shown; i++)
        rows[i] = entry_row_make(comparison, &comparison->entries[i], &arena);
    const struct whole whole = {*comparison, comparison->data->uarch, shown, rows};
    output_put_json(&whole_record, &whole, 1, true, out);
    arena_free(&arena);
}
