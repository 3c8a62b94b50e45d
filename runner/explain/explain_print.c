// SPDX-License-Identifier: MIT
// An explanation as text; see explain_print.h.
#include "explain_print.h"

#include "util/text.h"
#include "util/text_table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { WIDTH = 80, TEXT_MAX = 34, PORTS_SHOWN = 12 };
static const double WORTH_SAYING = 0.05; // µops that a table rounds to nothing

static void print_line(struct strbuf *out, int indent, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void print_line(struct strbuf *out, int indent, const char *format, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    strbuf_printf(out, "%*s", indent, "");
    text_wrap(out, text, indent, WIDTH);
}

// --- What it takes. ---

static void print_verdict(const struct explanation *explanation,
                          const struct explain_measured *measured, struct strbuf *out)
{
    print_line(out, 0, "%s: %d instruction%s, %d-bit", explanation->uarch, explanation->block.n,
               explanation->block.n == 1 ? "" : "s", explanation->block.bits);
    if (isnan(explanation->predicted_clk))
        print_line(out, 2, "predicted: nothing, for the database knows none of it");
    else
        print_line(out, 2, "predicted %8.2f clk a copy", explanation->predicted_clk);
    if (!measured)
        return;
    if (measured->failure)
        print_line(out, 2, "measured: %s", measured->failure);
    else
        print_line(out, 2, "measured  %8.2f clk a copy, spread %.2f, on CPU %d", measured->clk,
                   measured->spread_clk, measured->cpu);
    if (measured->failure || isnan(explanation->predicted_clk))
        return;
    double difference = explain_difference(explanation, measured);
    print_line(out, 2, "the prediction is %.1f %% %s%s", 100 * fabs(difference),
               difference < 0 ? "below" : "above",
               fabs(difference) <= explain_tolerance ? ": they agree" : "");
}

static void print_limits(const struct explanation *explanation, bool colour, struct strbuf *out)
{
    static const char *const headers[] = {"limit", "clk", "by"};
    static const enum text_align aligns[] = {ALIGN_LEFT, ALIGN_POINT, ALIGN_LEFT};
    struct text_table *table = text_table_new(headers, aligns, 3);
    if (colour)
        text_table_colour(table);
    for (int i = 0; i < explanation->nlimits; i++) {
        char clk[32];
        snprintf(clk, sizeof clk, "%.2f", explanation->limits[i].clk);
        text_table_cell(table, explain_kind_name(explanation->limits[i].kind));
        text_table_cell(table, clk);
        text_table_cell(table, explanation->limits[i].text);
    }
    text_table_print(table, out);
    text_table_free(table);
}

static void print_next(const struct explanation *explanation, struct strbuf *out)
{
    const struct explain_limit *limits = explanation->limits;
    if (explanation->nlimits < 2 || limits[0].clk <= 0)
        return;
    double gain = 100 * (limits[0].clk - limits[1].clk) / limits[0].clk;
    const char *what = explain_kind_name(limits[0].kind);
    if (limits[0].kind == LIMIT_TOGETHER)
        print_line(out, 0, "The %s alone would take %.2f clk; the rest is waiting for ports.",
                   explain_kind_name(limits[1].kind), limits[1].clk);
    else if (gain < 100 * explain_tolerance)
        print_line(out, 0,
                   "The %s would have to be relieved too: relieving the %s alone saves "
                   "%.0f %%.",
                   explain_kind_name(limits[1].kind), what, gain);
    else
        print_line(out, 0, "Without it the next limit is the %s, at %.2f clk.",
                   explain_kind_name(limits[1].kind), limits[1].clk);
}

// --- The chain. ---

static void print_chain(const struct explanation *explanation, struct strbuf *out)
{
    const struct chain *chain = &explanation->chain;
    struct arena arena = {0};
    if (chain->nsteps == 0)
        return;
    strbuf_printf(out, "\nLongest chain, %.2f clk a copy%s:\n", chain->clk,
                  chain->copies > 1 ? ", over several copies" : "");
    for (int i = 0; i < chain->nsteps; i++) {
        const struct chain_step *step = &chain->steps[i];
        const struct explain_instr *instr = &explanation->instrs[step->instr];
        const struct block_touch *from = &instr->code->touches[step->from],
                                 *to = &instr->code->touches[step->to];
        enum latency_source source;
        table_latency(instr->row, instr->code, from, to, false, &source);
        strbuf_printf(out, "%4d  %-*.*s %6.2f  %s -> %s%s\n", step->instr + 1, TEXT_MAX, TEXT_MAX,
                      instr->code->text, step->clk,
                      block_place_name(&explanation->block, from->place, &arena),
                      block_place_name(&explanation->block, to->place, &arena),
                      source == LATENCY_ASSUMED ? " (assumed)"
                      : source == LATENCY_BOUND ? " (at most)"
                                                : "");
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

static void put_load(struct strbuf *out, double load)
{
    char text[16] = "   .";
    if (load >= WORTH_SAYING)
        snprintf(text, sizeof text, "%4.1f", load);
    strbuf_printf(out, "%5s", text);
}

static void print_instrs(const struct explanation *explanation, bool colour, struct strbuf *out)
{
    int ports[PORTS_MAX], n = ports_used(explanation, ports);
    int shown = n < PORTS_SHOWN ? n : PORTS_SHOWN;
    int room = WIDTH - 11 - 5 * shown;
    room = room > TEXT_MAX ? TEXT_MAX : room;
    strbuf_printf(out, "\n%s  # %-*s slots", text_style_begin(STYLE_HEADING, colour), room,
                  "instruction");
    for (int p = 0; p < shown; p++) {
        char label[PORT_LABEL_MAX];
        port_label(explanation->model, ports[p], label);
        strbuf_printf(out, "%5s", label);
    }
    strbuf_printf(out, "%s\n", text_style_end(STYLE_HEADING, colour));
    for (int i = 0; i < explanation->block.n; i++) {
        const struct explain_instr *instr = &explanation->instrs[i];
        strbuf_printf(out, "%3d %-*.*s %5.1f", i + 1, room, room, instr->code->text,
                      instr->fused ? 0 : instr->slots);
        for (int p = 0; p < shown; p++)
            put_load(out, instr->load[ports[p]]);
        strbuf_puts(out, "\n");
    }
    strbuf_printf(out, "    %-*s %5.1f", room, "all", explanation->slots);
    for (int p = 0; p < shown; p++)
        put_load(out, explanation->pressure[ports[p]]);
    strbuf_puts(out, "\n");
    if (n > shown)
        print_line(out, 0, "%d more ports are in --format json.", n - shown);
}

// Lists the instructions without data, in words.
static void print_unknown(const struct explanation *explanation, struct strbuf *out)
{
    if (!explanation->model)
        print_line(out, 0,
                   "The database has no ports of this CPU: the front end and the ports are "
                   "not predicted. latput run --quick finds them.");
    for (int i = 0; i < explanation->block.n; i++) {
        const struct explain_instr *instr = &explanation->instrs[i];
        if (instr->known == KNOWN_ALL || instr->fused ||
            (instr->known == KNOWN_NO_PORTS && !explanation->model))
            continue;
        print_line(out, 0, "%d, %s: %s%s%s%s", i + 1, instr->code->text,
                   explain_known_text(instr->known), instr->row ? " (" : "",
                   instr->row ? instr->row->row->form : "", instr->row ? ")" : "");
    }
    if (explanation->block.memory_dropped)
        print_line(out, 0,
                   "More places in memory are written and read than are followed: chains "
                   "through some of them are not seen.");
}

static void print_tries(const struct explain_measured *measured, struct strbuf *out)
{
    if (measured && measured->ntries)
        strbuf_puts(out, "\nWhat experiments say of the difference:\n");
    for (int i = 0; measured && i < measured->ntries; i++) {
        const struct explain_try *try = &measured->tries[i];
        if (isnan(try->measured_clk))
            print_line(out, 2, "- %s: cannot be measured: %s", try->what, try->says);
        else
            print_line(out, 2, "- %s: %.2f clk, predicted %.2f: %s.", try->what, try->measured_clk,
                       try->predicted_clk, try->says);
    }
}

static void print_source(const struct explanation *explanation,
                         const struct explain_measured *measured,
                         const struct explain_source *source, struct strbuf *out)
{
    bool apart = measured && fabs(explain_difference(explanation, measured)) > explain_tolerance;
    if (!isnan(source->call_clk))
        print_line(out, 2, "a call takes %.1f clk%s", source->call_clk,
                   measured
                       ? ""
                       : "; with --instances N, the rounds that it makes, the loop is measured "
                         "beside the prediction");
    if (source->title && apart && measured->ntries == 0)
        print_line(out, 2,
                   "no experiment can be made with it where it is: explain it as text");
}

void explain_print_text(const struct explanation *explanation,
                        const struct explain_measured *measured,
                        const struct explain_source *source, bool colour, struct strbuf *out)
{
    if (source->title)
        print_line(out, 0, "%s", source->title);
    print_verdict(explanation, measured, out);
    print_source(explanation, measured, source, out);
    strbuf_puts(out, "\n");
    print_limits(explanation, colour, out);
    print_next(explanation, out);
    print_chain(explanation, out);
    print_instrs(explanation, colour, out);
    print_unknown(explanation, out);
    if (explanation->fused == 1)
        strbuf_puts(out,
                    "\nThe jump and the instruction before it are done as one, as measured by\n"
                    "latput property macro_fusion.\n");
    if (explanation->fused == -1)
        strbuf_puts(out,
                    "\nWhether the jump is fused with what is before it is not known; slots of its "
                    "own\nare assumed: latput property macro_fusion measures it.\n");
    if (isnan(explanation->bypass->store_line_clk))
        strbuf_puts(out, "\nWho made a value, and where stores go, is not taken into account:\n"
                         "latput property bypass_delay measures what that costs on this CPU.\n");
    print_tries(measured, out);
}
