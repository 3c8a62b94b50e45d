// SPDX-License-Identifier: MIT
// The report of a function as text, as tables of other formats, and as JSON; see explain_listing.h.
#include "explain_listing.h"

#include "util/text.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 80, INDENT = 2 };

#define LOAD(...) OUTPUT_FIELD(struct explain_load, __VA_ARGS__)
OUTPUT_DEFINE(load_record, struct explain_load, OUTPUT_LINE, LOAD(port),
              LOAD(clk, .decimals = 3, .always = true));

#define INSTR(...) OUTPUT_FIELD(struct explain_listed, __VA_ARGS__)
OUTPUT_DEFINE(instr_record, struct explain_listed, OUTPUT_DENSE,
              INSTR(address, .look.heading = "address"), INSTR(bytes, .look.heading = "bytes"),
              INSTR(instruction, .look.heading = "instruction"), INSTR(loop, .known = true),
              INSTR(shown_loop, .only = OUTPUT_PEOPLE,
                    .look =
                        {
                            .heading = "loop", .align = ALIGN_RIGHT
}),
              INSTR(slots, .decimals = 2, .shown = 1,
                    .look = {.heading = "slots", .align = ALIGN_RIGHT}),
              OUTPUT_ROWS(struct explain_listed, ports, nports, load_record),
              INSTR(shown_ports, .only = OUTPUT_PEOPLE,
                    .look = {.heading = "ports", .fit = {FIT_KEEP, 16}}),
              INSTR(on_chain), INSTR(shown_chain, .only = OUTPUT_PEOPLE, .look.heading = "chain"));

#define LOOP(...) OUTPUT_FIELD(struct explain_listed_loop, __VA_ARGS__)
#define LOOP_CLK(member, says)                                                                     \
    LOOP(member, .decimals = 3, .look = {.heading = (says), .align = ALIGN_POINT})
OUTPUT_DEFINE(loop_record, struct explain_listed_loop, OUTPUT_LINE,
              LOOP(loop, .look = {.heading = "loop", .align = ALIGN_RIGHT}),
              LOOP(address, .look.heading = "from"), LOOP(end, .look.heading = "to"),
              LOOP(instructions, .look = {.heading = "instrs", .align = ALIGN_RIGHT}),
              LOOP(rounds, .known = true, .gap = true,
                   .look = {.name = "call_rounds", .heading = "rounds", .align = ALIGN_RIGHT}),
              LOOP(way_rounds, .known = true, .none = -1, .look.name = "call_rounds_this_way"),
              LOOP(uncounted, .known = true), LOOP_CLK(predicted_clk, "predicted"),
              LOOP_CLK(measured_clk, "measured"), LOOP(spread_clk, .decimals = 3),
              LOOP(limit, .known = true, .look.heading = "limit"),
              LOOP(by, .known = true, .look.heading = "by"),
              LOOP(failure, .known = true, .look.heading = "failure"));

#define LISTING(...) OUTPUT_FIELD(struct explain_listing, __VA_ARGS__)
OUTPUT_DEFINE(listing_record, struct explain_listing, OUTPUT_LINE,
              LISTING(title, .look.name = "source"), LISTING(uarch), LISTING(bits),
              LISTING(call_clk, .decimals = 3),
              LISTING(loops_clk, .decimals = 3, .look.name = "predicted_loops_clk"),
              LISTING(failure, .known = true), LISTING(others, .look.name = "other_loops"),
              OUTPUT_ROWS(struct explain_listing, loops, nloops, loop_record),
              OUTPUT_ROWS(struct explain_listing, instructions, ninstructions, instr_record));
const struct output_kind explain_listing_kind = {"explain_listing", "latput explain --listing",
                                                 &listing_record, 1, 1};

// --- In words. ---

static void put_head(const struct explain_listing *listing, struct strbuf *out)
{
    strbuf_printf(out, "%s: %d instruction%s, %d loop%s, %d-bit, %s", listing->title,
                  listing->ninstructions, listing->ninstructions == 1 ? "" : "s", listing->nloops,
                  listing->nloops == 1 ? "" : "s", listing->bits, listing->uarch);
}

// Says what a call takes, and what is not known of it.
static void put_call(const struct explain_listing *listing, struct strbuf *out)
{
    if (!isnan(listing->call_clk))
        strbuf_printf(out, "a call takes %.1f clk", listing->call_clk);
    if (!isnan(listing->loops_clk))
        strbuf_printf(out, "%sits loops %.1f, as predicted", out->len ? ", " : "",
                      listing->loops_clk);
    if (listing->shares)
        strbuf_printf(out, "%sits loops share instructions, so they have no sum",
                      out->len ? "; " : "");
    if (*listing->failure)
        strbuf_printf(out, "%sa call was not measured: %s", out->len ? "; " : "", listing->failure);
}

static void put_others(const struct explain_listing *listing, struct strbuf *out)
{
    if (listing->others)
        strbuf_printf(out,
                      "%d branch%s back close%s no loop on one way without calls: --path names the "
                      "branches that are taken",
                      listing->others, listing->others == 1 ? "" : "es",
                      listing->others == 1 ? "s" : "");
}

// Appends a sentence or two, each in lines of its own.
static void say(const struct explain_listing *listing, const struct output_page *page,
                struct strbuf *out)
{
    void (*const parts[])(const struct explain_listing *, struct strbuf *) = {put_head, put_call,
                                                                              put_others};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        struct strbuf text = {0};
        parts[i](listing, &text);
        if (!text.len) {
            strbuf_free(&text);
            continue;
        }
        int indent = i ? INDENT : 0;
        if (page->format != REPORT_TABLE) {
            text_table_say(strbuf_text(&text), page->format, out);
        } else {
            strbuf_printf(out, "%*s", indent, "");
            text_wrap(out, strbuf_text(&text), indent, page->width ? page->width : WIDTH);
        }
        strbuf_free(&text);
    }
}

static void put_rounds(const struct explain_listed_loop *loop, struct strbuf *out)
{
    if (loop->rounds)
        strbuf_printf(out, ", %ld round%s in a call", loop->rounds, loop->rounds == 1 ? "" : "s");
    if (explain_strays(loop->rounds, loop->way_rounds))
        strbuf_printf(out, ", of which at most %ld go this way", loop->way_rounds);
    if (*loop->uncounted)
        strbuf_printf(out, ", rounds not counted: %s", loop->uncounted);
}

// Appends a loop in two lines.
static void put_loop(const struct explain_listed_loop *loop, struct strbuf *out)
{
    strbuf_printf(out, "\nloop %d, %s..%s: %d instruction%s", loop->loop, loop->address, loop->end,
                  loop->instructions, loop->instructions == 1 ? "" : "s");
    put_rounds(loop, out);
    strbuf_printf(out, "\n%*s", INDENT, "");
    if (!isnan(loop->predicted_clk))
        strbuf_printf(out, "predicted %.2f", loop->predicted_clk);
    if (!isnan(loop->measured_clk))
        strbuf_printf(out, ", measured %.2f", loop->measured_clk);
    if (!isnan(loop->predicted_clk))
        strbuf_printf(out, " clk a round; %s: %s", loop->limit, loop->by);
    if (*loop->failure)
        strbuf_printf(out, "%s%s", isnan(loop->predicted_clk) ? "" : "; ", loop->failure);
    strbuf_puts(out, "\n");
}

void explain_listing_print(const struct explain_listing *listing, const struct output_page *page,
                           struct strbuf *out)
{
    struct strbuf note = {0};
    if (page->format == REPORT_JSON) {
        output_put_json(&listing_record, listing, 1, true, out);
        return;
    }
    say(listing, page, out);
    if (page->format != REPORT_TABLE)
        output_put_table(&loop_record, listing->loops, listing->nloops, page->format, out);
    for (int i = 0; i < listing->nloops && page->format == REPORT_TABLE; i++)
        put_loop(&listing->loops[i], out);
    strbuf_puts(out, page->format == REPORT_TABLE ? "\n" : "");
    output_print(&instr_record, listing->instructions, listing->ninstructions, page, out, &note);
    strbuf_free(&note);
}
