// SPDX-License-Identifier: MIT
#include "explain_print.h"

#include "list/form_shown.h"
#include "util/mem.h"
#include "util/text.h"
#include "util/text_table.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, TEXT_LEAST = 34, PORT_WIDTH = 5, BEFORE_TEXT = 4, SLOTS_WIDTH = 6 };
enum { FOLD_LEAST = 30, PORTS_LEAST = 16, LIST_LEAST = PORTS_LEAST + 14 }; // of the narrow table
static const double WORTH_SAYING = 0.05; // µops that a table rounds to nothing

// The text as it is made, and its lines.
struct page {
    struct strbuf *out;
    int width;
    bool colour;
};

static void print_line(const struct page *page, int indent, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void print_line(const struct page *page, int indent, const char *format, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    strbuf_printf(page->out, "%*s", indent, "");
    text_wrap(page->out, text, indent, page->width);
}

// Begins a table whose heading stands out where there is colour.
static struct text_table *begin_table(const struct page *page, const char *const *headers,
                                      const enum text_align *aligns, int n)
{
    struct text_table *table = text_table_new(headers, aligns, n);
    if (page->colour)
        text_table_colour(table);
    return table;
}

// Ends a table, none of whose columns is dropped.
static void end_table(const struct page *page, struct text_table *table,
                      const struct text_fit *fits)
{
    struct strbuf note = {0};
    text_table_print_narrow(table, page->width, fits, page->out, &note);
    text_table_free(table);
    strbuf_free(&note);
}

// --- What it takes. ---

static void print_verdict(const struct explanation *explanation,
                          const struct explain_measured *measured, const struct page *page)
{
    print_line(page, 0, "%s: %d instruction%s, %d-bit", explanation->uarch, explanation->block.n,
               explanation->block.n == 1 ? "" : "s", explanation->block.bits);
    if (isnan(explanation->predicted_clk))
        print_line(page, 2, "predicted: nothing, for the database knows none of it");
    else
        print_line(page, 2, "predicted %8.2f clk a copy", explanation->predicted_clk);
    if (!measured)
        return;
    if (measured->failure)
        print_line(page, 2, "measured: %s", measured->failure);
    else
        print_line(page, 2, "measured  %8.2f clk a copy, spread %.2f, on CPU %d", measured->clk,
                   measured->spread_clk, measured->cpu);
    if (measured->failure || isnan(explanation->predicted_clk))
        return;
    double difference = explain_difference(explanation, measured);
    print_line(page, 2, "the prediction is %.1f %% %s%s", 100 * fabs(difference),
               difference < 0 ? "below" : "above",
               fabs(difference) <= explain_tolerance ? ": they agree" : "");
}

static void print_limits(const struct explanation *explanation, const struct page *page)
{
    static const char *const headers[] = {"limit", "clk", "by"};
    static const enum text_align aligns[] = {ALIGN_LEFT, ALIGN_POINT, ALIGN_LEFT};
    static const struct text_fit fits[] = {
        {FIT_KEEP, 0 },
        {FIT_KEEP, 0 },
        {FIT_KEEP, 30}
    };
    struct text_table *table = begin_table(page, headers, aligns, 3);
    for (int i = 0; i < explanation->nlimits; i++) {
        char clk[32];
        snprintf(clk, sizeof clk, "%.2f", explanation->limits[i].clk);
        text_table_cell(table, explain_kind_name(explanation->limits[i].kind));
        text_table_cell(table, clk);
        text_table_cell(table, explanation->limits[i].text);
    }
    end_table(page, table, fits);
}

static void print_next(const struct explanation *explanation, const struct page *page)
{
    const struct explain_limit *limits = explanation->limits, *next = limits + 1;
    // The same ports may be told twice, with turns that are lost and without.
    while (next < limits + explanation->nlimits && limits->set && next->set == limits->set)
        next++;
    if (next >= limits + explanation->nlimits || limits->clk <= 0)
        return;
    double gain = 100 * (limits->clk - next->clk) / limits->clk;
    const char *what = explain_kind_name(limits->kind);
    if (gain < 100 * explain_tolerance)
        print_line(page, 0,
                   "By the tables the %s would have to be relieved too: relieving the %s alone "
                   "saves %.0f %%.",
                   explain_kind_name(next->kind), what, gain);
    else
        print_line(page, 0, "Without it the next limit is the %s, at %.2f clk.",
                   explain_kind_name(next->kind), next->clk);
}

// --- The chain. ---

// Returns the width widened to an instruction's text, which is never cut.
static int widest(int width, const struct explain_instr *instr)
{
    int own = (int)strlen(instr->code->text);
    return own > width ? own : width;
}

static void print_chain(const struct explanation *explanation, const struct page *page)
{
    const struct chain *chain = &explanation->chain;
    struct arena arena = {0};
    if (chain->nsteps == 0)
        return;
    int room = TEXT_LEAST;
    for (int i = 0; i < chain->nsteps; i++)
        room = widest(room, &explanation->instrs[chain->steps[i].instr]);
    strbuf_printf(page->out, "\nLongest chain, %.2f clk a copy%s:\n", chain->clk,
                  chain->copies > 1 ? ", over several copies" : "");
    for (int i = 0; i < chain->nsteps; i++) {
        const struct chain_step *step = &chain->steps[i];
        const struct explain_instr *instr = &explanation->instrs[step->instr];
        const struct block_touch *from = &instr->code->touches[step->from],
                                 *to = &instr->code->touches[step->to];
        enum latency_source source;
        table_latency(instr->row, instr->code, from, to, false, &source);
        char *head =
            xasprintf("%4d  %-*s %6.2f", step->instr + 1, room, instr->code->text, step->clk);
        const char *way = arena_printf(&arena, "%s -> %s%s",
                                       block_place_name(&explanation->block, from->place, &arena),
                                       block_place_name(&explanation->block, to->place, &arena),
                                       source == LATENCY_ASSUMED  ? " (assumed)"
                                       : source == LATENCY_BOUND  ? " (at most)"
                                       : source == LATENCY_SHARED ? " (with the way back)"
                                                                  : "");
        bool fits = (int)(strlen(head) + strlen(way)) + 2 <= page->width;
        strbuf_printf(page->out, "%s%s%s\n", head, fits ? "  " : "\n          ", way);
        free(head);
    }
    arena_free(&arena);
}

// --- Instructions and ports. ---

static int ports_used(const struct explanation *explanation, int ports[PORTS_MAX])
{
    uint32_t used = 0;
    for (int port = 0; port < PORTS_MAX; port++)
        if (explanation->pressure[port] > 0)
            used |= UINT32_C(1) << port;
    return explanation->model ? port_set_ports(explanation->model, used, ports) : 0;
}

static void put_load(const struct page *page, double load)
{
    char text[16] = "   .";
    if (load >= WORTH_SAYING)
        snprintf(text, sizeof text, "%4.1f", load);
    strbuf_printf(page->out, "%*s", PORT_WIDTH, text);
}

// Prints a column a port, with a row for each instruction.
static void print_grid(const struct explanation *explanation, const int *ports, int n, int room,
                       const struct page *page)
{
    strbuf_printf(page->out, "%s  # %-*s slots", text_style_begin(STYLE_HEADING, page->colour),
                  room, "instruction");
    for (int p = 0; p < n; p++) {
        char label[PORT_LABEL_MAX];
        port_label(explanation->model, ports[p], label);
        strbuf_printf(page->out, "%*s", PORT_WIDTH, label);
    }
    strbuf_printf(page->out, "%s\n", text_style_end(STYLE_HEADING, page->colour));
    for (int i = 0; i < explanation->block.n; i++) {
        const struct explain_instr *instr = &explanation->instrs[i];
        strbuf_printf(page->out, "%3d %-*s %5.1f", i + 1, room, instr->code->text,
                      instr->fused ? 0 : instr->slots);
        for (int p = 0; p < n; p++)
            put_load(page, instr->load[ports[p]]);
        strbuf_puts(page->out, "\n");
    }
    strbuf_printf(page->out, "    %-*s %5.1f", room, "all", explanation->slots);
    for (int p = 0; p < n; p++)
        put_load(page, explanation->pressure[ports[p]]);
    strbuf_puts(page->out, "\n");
}

// Adds a row of the narrow table: the loads of those ports that have any, as "p0:0.2 p5:0.2".
static void list_row(const struct explanation *explanation, const char *number, const char *what,
                     double slots, const double load[PORTS_MAX], struct text_table *table)
{
    int ports[PORTS_MAX], n = ports_used(explanation, ports);
    struct strbuf text = {0};
    char count[32];
    for (int p = 0; p < n; p++) {
        char label[PORT_LABEL_MAX];
        if (load[ports[p]] < WORTH_SAYING)
            continue;
        port_label(explanation->model, ports[p], label);
        strbuf_printf(&text, "%s%s:%.1f", text.len ? " " : "", label, load[ports[p]]);
    }
    snprintf(count, sizeof count, "%.1f", slots);
    text_table_cell(table, number);
    text_table_cell(table, what);
    text_table_cell(table, count);
    text_table_cell(table, strbuf_text(&text));
    strbuf_free(&text);
}

// Prints one folded column for all ports, where a column for each is wider than the page.
static void print_list(const struct explanation *explanation, int room, const struct page *page)
{
    static const char *const headers[] = {"#", "instruction", "slots", "ports"};
    static const enum text_align aligns[] = {ALIGN_RIGHT, ALIGN_LEFT, ALIGN_RIGHT, ALIGN_LEFT};
    // Instructions are folded only where nothing else does.
    const bool wide = room + LIST_LEAST > page->width;
    const struct text_fit fits[] = {
        {FIT_KEEP, 0                    },
        {FIT_KEEP, wide ? FOLD_LEAST : 0},
        {FIT_KEEP, 0                    },
        {FIT_KEEP, PORTS_LEAST          },
    };
    struct text_table *table = begin_table(page, headers, aligns, ARRAY_LEN(headers));
    for (int i = 0; i < explanation->block.n; i++) {
        const struct explain_instr *instr = &explanation->instrs[i];
        char number[16];
        snprintf(number, sizeof number, "%d", i + 1);
        list_row(explanation, number, instr->code->text, instr->fused ? 0 : instr->slots,
                 instr->load, table);
    }
    list_row(explanation, "", "all", explanation->slots, explanation->pressure, table);
    end_table(page, table, fits);
}

static void print_instrs(const struct explanation *explanation, const struct page *page)
{
    int ports[PORTS_MAX], n = ports_used(explanation, ports);
    int room = 0, most = page->width - BEFORE_TEXT - SLOTS_WIDTH - PORT_WIDTH * n;
    for (int i = 0; i < explanation->block.n; i++)
        room = widest(room, &explanation->instrs[i]);
    strbuf_puts(page->out, "\n");
    if (room > most)
        print_list(explanation, room, page);
    else
        print_grid(explanation, ports, n,
                   room > TEXT_LEAST   ? room
                   : most < TEXT_LEAST ? most
                                       : TEXT_LEAST,
                   page);
}

static bool has_place(const struct block *block, int place)
{
    for (int i = 0; i < block->n; i++)
        for (int t = 0; t < block->instrs[i].ntouches; t++)
            if (block->instrs[i].touches[t].place == place)
                return true;
    return false;
}

// Lists the instructions without data, in words.
static void print_unknown(const struct explanation *explanation, const struct page *page)
{
    if (!explanation->model && explanation->nlimits > 0)
        print_line(page, 0,
                   "The database has no ports of this CPU: the front end and the ports are "
                   "not predicted. latput run --quick finds them.");
    for (int i = 0; i < explanation->block.n; i++) {
        const struct explain_instr *instr = &explanation->instrs[i];
        if (instr->known == KNOWN_ALL || instr->fused ||
            (instr->known == KNOWN_NO_PORTS && !explanation->model))
            continue;
        struct strbuf name = {0};
        print_line(page, 0, "%d, %s: %s%s%s%s", i + 1, instr->code->text,
                   explain_known_text(instr->known), instr->row ? " (" : "",
                   instr->row ? form_shown(instr->row->row->form, &name) : "",
                   instr->row ? ")" : "");
        strbuf_free(&name);
    }
    if (!isnan(explanation->meets_clk))
        print_line(
            page, 0,
            "Whether loads find what stores by other pointers wrote just before is not known; "
            "it is assumed that they do not. If they do, a copy takes %.2f clk.",
            explanation->meets_clk);
    if (has_place(&explanation->block, PLACE_X87))
        print_line(page, 0,
                   "The x87 stack is followed as one value: which register of it an instruction "
                   "means, chains from one to another, and fxch among them, are not known.");
    if (explanation->block.memory_dropped)
        print_line(page, 0,
                   "More places in memory are written and read than are followed: chains "
                   "through some of them are not seen.");
}

static void print_tries(const struct explain_measured *measured, const struct page *page)
{
    if (measured && measured->ntries)
        strbuf_puts(page->out, "\nWhat experiments say of the difference:\n");
    for (int i = 0; measured && i < measured->ntries; i++) {
        const struct explain_try *try = &measured->tries[i];
        if (isnan(try->measured_clk))
            print_line(page, 2, "- %s: cannot be measured: %s", try->what, try->says);
        else
            print_line(page, 2, "- %s: %.2f clk, predicted %.2f: %s.", try->what, try->measured_clk,
                       try->predicted_clk, try->says);
    }
    if (measured && measured->doubt)
        print_line(page, 0, "%s%c%s.", measured->ntries ? "" : "\n", toupper(*measured->doubt),
                   measured->doubt + 1);
}

bool explain_strays(long rounds, long this_way)
{
    // The last round of each entry leaves.
    static const double worth_a_word = 0.1;
    return rounds > 0 && this_way >= 0 &&
           (double)(rounds - this_way) > worth_a_word * (double)rounds;
}

// Says what is not of the way that is explained.
static void print_ways(const struct explain_measured *measured, const struct explain_source *source,
                       const struct page *page)
{
    if (!explain_strays(source->rounds, source->way_rounds))
        return;
    print_line(page, 2,
               "at most %ld of %ld rounds go the way that is explained: --path names another",
               source->way_rounds, source->rounds);
    if (measured && measured->varies)
        print_line(page, 2,
                   "its branches go both ways: where so many are mispredicted, the time varies by "
                   "itself; data that sends each branch one way takes them out");
    else if (source->mispredicts && !isnan(source->mispredicted))
        print_line(page, 2,
                   "its branches go both ways, and none is mispredicted in the model: up to %.2f "
                   "per round would explain the difference, and data that sends each branch one "
                   "way takes them out",
                   source->mispredicted);
    else if (source->mispredicts)
        print_line(page, 2,
                   "its branches go both ways, and none is mispredicted in the model: latput "
                   "property misprediction measures what one costs");
}

static void print_source(const struct explanation *explanation,
                         const struct explain_measured *measured,
                         const struct explain_source *source, const struct page *page)
{
    bool apart = measured && fabs(explain_difference(explanation, measured)) > explain_tolerance;
    if (source->rounds && !isnan(source->call_clk))
        print_line(page, 2, "a call takes %.1f clk, for %ld rounds of the loop", source->call_clk,
                   source->rounds);
    else if (!isnan(source->call_clk))
        print_line(page, 2, "a call takes %.1f clk; its rounds cannot be counted: %s%s",
                   source->call_clk, source->uncounted,
                   measured ? "" : "; with --instances N the loop is measured all the same");
    print_ways(measured, source, page);
    if (source->title && apart && measured->ntries == 0)
        print_line(page, 2, "no experiment can be made with it where it is: explain it as text");
}

void explain_print_text(const struct explanation *explanation,
                        const struct explain_measured *measured,
                        const struct explain_source *source, const struct explain_look *look,
                        struct strbuf *out)
{
    const struct page *page = &(struct page){out, look->width ? look->width : WIDTH, look->colour};
    if (source->title)
        print_line(page, 0, "%s", source->title);
    print_verdict(explanation, measured, page);
    print_source(explanation, measured, source, page);
    strbuf_puts(page->out, "\n");
    if (explanation->nlimits > 0)
        print_limits(explanation, page);
    print_next(explanation, page);
    print_chain(explanation, page);
    print_instrs(explanation, page);
    print_unknown(explanation, page);
    if (explanation->fused == 1)
        print_line(page, 0,
                   "\nThe jump and the instruction before it are done as one, as measured by "
                   "latput property macro_fusion.");
    if (explanation->fused == -1)
        print_line(page, 0,
                   "\nWhether the jump is fused with what is before it is not known; slots of its "
                   "own are assumed: latput property macro_fusion measures it.");
    if (isnan(explanation->bypass->store_line_clk))
        print_line(page, 0,
                   "\nWho made a value, and where stores go, is not taken into account: latput "
                   "property bypass_delay measures what that costs on this CPU.");
    print_tries(measured, page);
}
