// SPDX-License-Identifier: MIT
// The fact sheet as a table and as JSON; see sheet.h.
#include "sheet.h"

#include "store/store_field.h"
#include "util/mem.h"
#include "util/text.h"
#include "util/text_table.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS_MAX = 64,
    NARROWEST = 20,
    LEGEND = 80,
    WORDS = 23,
    GUTTER = 2,       // between the halves of a wide sheet
    BOTH_UNITS = 120, // least width of a wide sheet that has times in ns and bandwidths in GB/s
};

// A line of a wide sheet.
struct sheet_row {
    const char *name, *text; // text NULL: the heading of a group
};

// Takes cells, row by row.
struct sink {
    struct text_table *table;
    enum report_format format;
    struct strbuf *out;
    int ncolumns;
    const char *const *headers;
    struct strbuf *words;   // lines of words below a table for the terminal
    struct strbuf *sources; // lines there that say where facts are from
    int width;              // of these
    struct sheet_row *rows; // of a wide sheet, which has two of them in a line; NULL: none
    int nrows, units;       // units of a fact that are told
};

// Returns "4 clk, 0.94 ns", or what is said instead of numbers.
static const char *value_text(const struct sheet_fact *fact, int units, struct arena *arena)
{
    const char *text = "";
    for (int i = 0; i < fact->nquantities && i < units; i++) {
        const struct sheet_quantity *quantity = &fact->quantities[i];
        const char *one = conclude_quantity(arena, quantity->value, quantity->unit);
        text = arena_printf(arena, "%s%s%s", text, i ? ", " : "", one);
    }
    if (fact->nquantities == 0 && fact->asked)
        text = *fact->words ? fact->words : conclusion_outcome_name(fact->outcome);
    return text;
}

static const char *interval_text(const struct sheet_fact *fact, struct arena *arena)
{
    const struct sheet_quantity *quantity = &fact->quantities[0];
    if (fact->nquantities == 0 || !isfinite(quantity->low) || !isfinite(quantity->high))
        return "";
    return sheet_interval(quantity->low, quantity->high, quantity->unit, arena);
}

// Returns the text, followed by where it is from in formats that have no lines below the table.
static const char *sourced_text(const struct sink *sink, const struct sheet_fact *fact,
                                const char *text, struct arena *arena)
{
    const char *source = sink->format == REPORT_TABLE ? "" : sheet_source(fact, arena);
    return *source ? arena_printf(arena, "%s; %s", text, source) : text;
}

static bool holds(const struct sheet_fact *fact)
{
    return fact->outcome == CONCLUSION_OK || fact->outcome == CONCLUSION_NONE;
}

// Returns how sure it is: "high"; "unstable" beside words that are told all the same.
static const char *sure_text(const struct sheet_fact *fact)
{
    if (*fact->words && !holds(fact))
        return conclusion_outcome_name(fact->outcome);
    return isnan(fact->confidence) ? "" : confidence_word(fact->confidence);
}

static const char *published_text(const struct sheet_line *line, const struct sheet_fact *fact,
                                  struct arena *arena)
{
    bool bytes = fact->nquantities > 0 ? strcmp(fact->quantities[0].unit, "bytes") == 0
                                       : strcmp(line->unit, "bytes") == 0;
    const char *unit = bytes ? "bytes" : "";
    if (fact->most <= 0)
        return "";
    const char *range = sheet_interval(fact->least, fact->most, unit, arena);
    if (fact->claimed)
        return arena_printf(arena, "CPUID %s", conclude_quantity(arena, fact->most, "bytes"));
    return *range ? range : conclude_quantity(arena, fact->most, unit);
}

// Returns an interval as it stands beside its value: "446 to 449", on a wide sheet "446–449".
static const char *narrow_text(const struct sink *sink, const char *interval, struct arena *arena)
{
    const char *to = sink->rows ? strstr(interval, " to ") : NULL;
    return to ? arena_printf(arena, "%.*s–%s", (int)(to - interval), interval, to + 4) : interval;
}

// Returns all of a fact in one cell: "446 µops (446 to 449) [448]".
static const char *side_text(const struct sink *sink, const struct sheet_line *line,
                             const struct sheet_fact *fact, struct arena *arena)
{
    const char *text = value_text(fact, sink->units, arena), *sure = sure_text(fact);
    const char *interval = narrow_text(sink, interval_text(fact, arena), arena);
    const char *published = narrow_text(sink, published_text(line, fact, arena), arena);
    if (*interval)
        text = arena_printf(arena, "%s (%s)", text, interval);
    if (*sure && strcmp(sure, "high") != 0)
        text = arena_printf(arena, "%s %s", text, sure);
    if (*published)
        text = arena_printf(arena, "%s%s[%s]", text, *text ? " " : "", published);
    return text;
}

static void put_facts(struct sink *sink, const struct sheet_line *line,
                      const struct sheet_fact *facts, int ncpus, struct arena *arena)
{
    bool plain = sink->format == REPORT_TABLE;
    if (sink->rows) {
        const char *text = side_text(sink, line, facts, arena);
        sink->rows[sink->nrows++] =
            (struct sheet_row){arena_printf(arena, " %s", line->name), text};
        return;
    }
    text_table_styled(sink->table, plain ? arena_printf(arena, "  %s", line->name) : line->name,
                      STYLE_PLAIN);
    if (ncpus > 1) {
        for (int i = 0; i < ncpus; i++)
            text_table_styled(
                sink->table,
                sourced_text(sink, &facts[i], side_text(sink, line, &facts[i], arena), arena),
                STYLE_PLAIN);
        return;
    }
    text_table_styled(sink->table,
                      sourced_text(sink, facts, value_text(facts, sink->units, arena), arena),
                      STYLE_PLAIN);
    text_table_styled(sink->table, interval_text(facts, arena), STYLE_PLAIN);
    text_table_styled(sink->table, sure_text(facts), holds(facts) ? STYLE_PLAIN : STYLE_FAINT);
    text_table_styled(sink->table, published_text(line, facts, arena), STYLE_PLAIN);
}

static void put_group(struct sink *sink, const char *group)
{
    if (sink->rows) {
        sink->rows[sink->nrows++] = (struct sheet_row){group, NULL};
        return;
    }
    text_table_styled(sink->table, group, STYLE_HEADING);
    for (int i = 1; i < sink->ncolumns; i++)
        text_table_styled(sink->table, "", STYLE_PLAIN);
}

// Returns the text with the name of its CPU in front, where there are several.
static const char *text_of_cpu(const struct sink *sink, int ncpus, int cpu, const char *text,
                               struct arena *arena)
{
    return ncpus > 1 ? arena_printf(arena, "%s: %s", sink->headers[cpu + 1], text) : text;
}

// Appends a text with the name of its fact below the table, "  Macro-fusion         zen5: ...", the
// name in front of the first of several CPUs only.
static void put_below(const struct sink *sink, struct strbuf *out, const char **name,
                      const char *text)
{
    strbuf_printf(out, "  %-*s", WORDS - 2, *name);
    text_wrap(out, text, WORDS, sink->width);
    *name = "";
}

// Appends what is told in words.
static void put_words(struct sink *sink, const struct sheet_line *line,
                      const struct sheet_fact *facts, int ncpus, struct arena *arena)
{
    const char *name = line->name;
    for (int i = 0; i < ncpus; i++) {
        const char *text = facts[i].words, *sure = sure_text(&facts[i]);
        if (!facts[i].asked)
            continue;
        if (strcmp(sure, "high") != 0)
            text = arena_printf(arena, "%s (%s)", text, sure);
        put_below(sink, sink->words, &name, text_of_cpu(sink, ncpus, i, text, arena));
    }
}

// Appends where facts are from that are not of their first choice, and who says otherwise.
static void put_sources(struct sink *sink, const struct sheet_line *line,
                        const struct sheet_fact *facts, int ncpus, struct arena *arena)
{
    const char *name = line->name;
    for (int i = 0; i < ncpus; i++) {
        const char *source = sheet_source(&facts[i], arena);
        if (*source)
            put_below(sink, sink->sources, &name, text_of_cpu(sink, ncpus, i, source, arena));
    }
}

static bool is_told_in_words(const struct sheet_line *line)
{
    return line->show == SHEET_PAIRS || line->show == SHEET_VARIANTS;
}

static void put_line(struct sink *sink, const struct sheet_line *line, const char **group,
                     const struct sheet_cpu *cpus, int ncpus, struct arena *arena)
{
    struct sheet_fact *facts = arena_alloc(arena, sizeof *facts * (size_t)ncpus);
    bool any = false;
    for (int i = 0; i < ncpus; i++) {
        facts[i] = sheet_fact(line, &cpus[i], arena);
        any |= facts[i].asked;
    }
    if (any && sink->format == REPORT_TABLE && is_told_in_words(line)) {
        put_words(sink, line, facts, ncpus, arena);
    } else if (any) {
        if (strcmp(*group, line->group) != 0)
            put_group(sink, *group = line->group);
        put_facts(sink, line, facts, ncpus, arena);
        if (sink->format == REPORT_TABLE)
            put_sources(sink, line, facts, ncpus, arena);
    }
}

static void put_whose(struct strbuf *out, const struct sheet_cpu *cpu,
                      const struct sheet_look *look)
{
    struct strbuf text = {0};
    store_whose_put(&cpu->whose, &text);
    if (look->format == REPORT_TABLE && look->width)
        text_wrap(out, strbuf_text(&text), 0, look->width);
    else
        text_table_say(strbuf_text(&text), look->format, out);
    strbuf_free(&text);
}

// Returns true if two facts stand in a line.
static bool is_wide(int ncpus, const struct sheet_look *look)
{
    return ncpus == 1 && look->format == REPORT_TABLE && look->width >= SHEET_WIDE;
}

static void put_section(struct strbuf *out, const char *heading, const struct strbuf *lines)
{
    if (lines->len)
        strbuf_printf(out, "%s\n%s", heading, strbuf_text(lines));
}

// Appends what the marks mean.
static void put_legend(struct strbuf *out, const struct sheet_cpu *cpus, int ncpus, bool sources,
                       const struct sheet_look *look)
{
    struct strbuf text = {0};
    if (ncpus > 1 || is_wide(ncpus, look))
        strbuf_puts(&text, "In parentheses the interval of 95 % confidence, then fair or low where "
                           "it is not high, in brackets what is published. ");
    else
        strbuf_puts(&text, "Sure is how many of the resampled curves say the same: high, nine of "
                           "ten and more; fair, six and more; low. ");
    strbuf_puts(&text, "Unstable: passes or noise allow no number.");
    if (sources)
        strbuf_puts(&text, " In place of another, a value is a level less sure.");
    for (int i = 0; i < ncpus; i++)
        if (*cpus[i].whose.hypervisor) {
            strbuf_puts(&text, " On a virtual machine sizes of caches, misses of a TLB, "
                               "system calls, page faults and times in ns are the host's affair, "
                               "too.");
            break;
        }
    strbuf_puts(out, "\n");
    if (look->format == REPORT_TABLE)
        text_wrap(out, strbuf_text(&text), 0, look->width ? look->width : LEGEND);
    else
        text_table_say(strbuf_text(&text), look->format, out);
    strbuf_free(&text);
}

static bool is_alone(const struct sheet_cpu *cpus, int ncpus, int cpu)
{
    for (int i = 0; i < ncpus; i++)
        if (i != cpu && strcmp(cpus[i].whose.uarch, cpus[cpu].whose.uarch) == 0)
            return false;
    return true;
}

static void print_table(const struct sink *sink, int width)
{
    struct text_fit fits[COLUMNS_MAX] = {
        {0, 0}
    };
    struct strbuf note = {0};
    for (int i = 1; i < sink->ncolumns; i++)
        fits[i].fold = sink->ncolumns == 5 && i > 1 ? 0 : NARROWEST;
    if (width && sink->format == REPORT_TABLE)
        text_table_print_narrow(sink->table, width, fits, sink->out, &note);
    else
        text_table_put(sink->table, sink->format, sink->out);
    strbuf_free(&note);
}

// Appends whose sheet it is, and gives the columns of the CPUs their names.
static void put_heads(const struct sheet_cpu *cpus, int ncpus, const struct sheet_look *look,
                      const char **heads, struct strbuf *out, struct arena *arena)
{
    for (int i = 0; i < ncpus; i++) {
        heads[i + 1] = cpus[i].whose.uarch;
        if (!is_alone(cpus, ncpus, i))
            heads[i + 1] = arena_printf(arena, "%s, run %lld", cpus[i].whose.uarch,
                                        (long long)cpus[i].whose.run_id);
        put_whose(out, &cpus[i], look);
    }
    if (look->format == REPORT_TABLE && !is_wide(ncpus, look))
        strbuf_puts(out, "\n");
}

// Appends some rows of a wide sheet, in lines of this width.
static void put_half(const struct sheet_row *rows, int n, int width, bool colour,
                     struct strbuf *out)
{
    static const char *const headers[] = {"fact", "value"};
    static const enum text_align aligns[] = {ALIGN_LEFT, ALIGN_LEFT};
    static const struct text_fit fits[] = {
        {0, 0        },
        {0, NARROWEST}
    };
    struct strbuf note = {0};
    struct text_table *table = text_table_new(headers, aligns, ARRAY_LEN(headers));
    if (colour)
        text_table_colour(table);
    for (int i = 0; i < n; i++) {
        text_table_styled(table, rows[i].name, rows[i].text ? STYLE_PLAIN : STYLE_HEADING);
        text_table_styled(table, rows[i].text ? rows[i].text : "", STYLE_PLAIN);
    }
    text_table_print_narrow(table, width, fits, out, &note);
    text_table_free(table);
    strbuf_free(&note);
}

// Returns the row at which the second half begins: the group nearest to the middle.
static int find_middle(const struct sheet_row *rows, int n)
{
    int middle = n;
    for (int i = 1; i < n; i++)
        if (!rows[i].text && abs(2 * i - n) < abs(2 * middle - n))
            middle = i;
    return middle;
}

static int count_lines(const struct strbuf *text)
{
    int n = 0;
    for (const char *at = strbuf_text(text); (at = strchr(at, '\n')); at++)
        n++;
    return n;
}

// Appends a line of the text without its line feed, and its width without codes of styles; goes to
// the next.
static int put_half_line(const char **at, struct strbuf *out)
{
    size_t len = strcspn(*at, "\n");
    int width = text_width(*at, len);
    for (const char *code = memchr(*at, '\033', len); code;
         code = memchr(code + 1, '\033', (size_t)(*at + len - code - 1)))
        width -= (int)strcspn(code, "m") + 1;
    strbuf_put(out, *at, len);
    *at += len + ((*at)[len] == '\n');
    return width;
}

// Appends the halves beside each other, without their headings.
static void put_beside(const struct strbuf *left, int width, const struct strbuf *right,
                       struct strbuf *out)
{
    const char *a = strchr(strbuf_text(left), '\n') + 1, *b = strchr(strbuf_text(right), '\n') + 1;
    while (*a || *b) {
        int shown = put_half_line(&a, out);
        if (*b && *b != '\n')
            strbuf_printf(out, "%*s", width + GUTTER - shown, "");
        put_half_line(&b, out);
        strbuf_puts(out, "\n");
    }
}

// Makes the halves, the left one of this width. Returns the lines of the longer one.
static int put_halves(const struct sink *sink, const struct sheet_look *look, int width,
                      struct strbuf *left, struct strbuf *right)
{
    int middle = find_middle(sink->rows, sink->nrows);
    strbuf_clear(left);
    strbuf_clear(right);
    put_half(sink->rows, middle, width, look->colour, left);
    put_half(sink->rows + middle, sink->nrows - middle, look->width - width - GUTTER, look->colour,
             right);
    int of_left = count_lines(left), of_right = count_lines(right);
    return of_left > of_right ? of_left : of_right;
}

// Appends the rows in two halves beside each other, of such widths that they have the fewest lines.
static void print_halves(const struct sink *sink, const struct sheet_look *look)
{
    struct strbuf left = {0}, right = {0};
    int best = look->width / 2, least = INT_MAX;
    for (int width = look->width * 2 / 5; width <= look->width * 3 / 5; width++) {
        int lines = put_halves(sink, look, width, &left, &right);
        best = lines < least ? width : best;
        least = lines < least ? lines : least;
    }
    put_halves(sink, look, best, &left, &right);
    put_beside(&left, best, &right, sink->out);
    strbuf_free(&left);
    strbuf_free(&right);
}

void sheet_print(const struct sheet_lines *lines, const struct sheet_cpu *cpus, int ncpus,
                 const struct sheet_look *look, struct strbuf *out)
{
    static const char *const alone[] = {"fact", "value", "95 % interval", "sure", "published"};
    static const enum text_align aligns[COLUMNS_MAX];
    const char *heads[COLUMNS_MAX] = {"fact"}, *group = "";
    struct strbuf words = {0}, sources = {0};
    struct arena arena = {0};
    bool wide = is_wide(ncpus, look);
    if (ncpus > COLUMNS_MAX - 1)
        ncpus = COLUMNS_MAX - 1;
    put_heads(cpus, ncpus, look, heads, out, &arena);
    const char *const *headers = ncpus > 1 ? heads : alone;
    int ncolumns = ncpus > 1 ? ncpus + 1 : (int)ARRAY_LEN(alone);
    struct sink sink = {
        .table = text_table_new(headers, aligns, ncolumns),
        .format = look->format,
        .out = out,
        .ncolumns = ncolumns,
        .headers = headers,
        .words = &words,
        .sources = &sources,
        .width = wide ? look->width : SHEET_WIDTH,
        .rows = wide ? arena_alloc(&arena, 2 * sizeof *sink.rows * (size_t)(lines->n + 1)) : NULL,
        .units = wide && look->width < BOTH_UNITS ? 1 : SHEET_QUANTITIES_MAX,
    };
    if (look->colour)
        text_table_colour(sink.table);
    for (int i = 0; i < lines->n; i++)
        put_line(&sink, &lines->lines[i], &group, cpus, ncpus, &arena);
    if (wide)
        print_halves(&sink, look);
    else
        print_table(&sink, look->width);
    text_table_free(sink.table);
    put_section(out, "In words", &words);
    put_section(out, "Sources", &sources);
    put_legend(out, cpus, ncpus, sources.len > 0, look);
    strbuf_free(&words);
    strbuf_free(&sources);
    arena_free(&arena);
}

// --- JSON ---

#define QUANTITY(...) OUTPUT_FIELD(struct sheet_quantity, __VA_ARGS__)
OUTPUT_DEFINE(quantity_record, struct sheet_quantity, OUTPUT_LINE, QUANTITY(value, .always = true),
              QUANTITY(low), QUANTITY(high), QUANTITY(unit));

struct fact_row {
    struct sheet_fact of;
    const char *group, *fact, *text, *interval, *published, *source;
    double least, most; // published
};
#define FACT(...) OUTPUT_FIELD(struct fact_row, __VA_ARGS__)
OUTPUT_DEFINE(fact_record, struct fact_row, OUTPUT_DENSE, FACT(group), FACT(fact), FACT(text),
              FACT(interval), FACT(published),
              OUTPUT_ARRAY(struct fact_row, of.quantities, of.nquantities, quantity_record,
                           .look.name = "values"),
              FACT(of.property), FACT(of.variant), FACT(of.label, .look.name = "conclusion"),
              FACT(of.instead_of), FACT(source), FACT(of.outcome, .words = &words_conclusion),
              FACT(of.confidence), FACT(least, .look.name = "published_least"),
              FACT(most, .look.name = "published_most"));

struct cpu_row {
    struct store_whose of;
    double core_hz;
    struct fact_row *facts;
    int nfacts;
};
#define CPU(...) OUTPUT_FIELD(struct cpu_row, __VA_ARGS__)
OUTPUT_DEFINE(cpu_record, struct cpu_row, OUTPUT_LINE, CPU(of.run_id), CPU(of.uarch),
              CPU(of.name, .look.name = "uarch_name"), CPU(of.brand), CPU(of.hypervisor),
              CPU(of.date, .look.name = "started_utc"), CPU(of.version), CPU(core_hz),
              OUTPUT_ROWS(struct cpu_row, facts, nfacts, fact_record));
const struct output_kind sheet_kind = {
    "cpu_sheet",
    "latput cpu --sheet: a row per CPU; values are the same quantity in different units, words "
    "have none",
    &cpu_record, 0, 0};

static struct fact_row fact_row(const struct sheet_line *line, const struct sheet_fact *fact,
                                struct arena *arena)
{
    return (struct fact_row){.of = *fact,
                             .group = line->group,
                             .fact = line->name,
                             .text = value_text(fact, SHEET_QUANTITIES_MAX, arena),
                             .interval = interval_text(fact, arena),
                             .published = published_text(line, fact, arena),
                             .source = sheet_source(fact, arena),
                             .least = fact->most > 0 ? fact->least : (double)NAN,
                             .most = fact->most > 0 ? fact->most : (double)NAN};
}

void sheet_json(const struct sheet_lines *lines, const struct sheet_cpu *cpus, int ncpus,
                struct json *json)
{
    struct arena arena = {0};
    struct cpu_row *rows = arena_alloc(&arena, ((size_t)ncpus + 1) * sizeof *rows);
    for (int c = 0; c < ncpus; c++) {
        rows[c] = (struct cpu_row){
            .of = cpus[c].whose,
            .core_hz = cpus[c].whose.core_hz > 0 ? cpus[c].whose.core_hz : (double)NAN,
            .facts = arena_alloc(&arena, ((size_t)lines->n + 1) * sizeof *rows->facts)};
        for (int i = 0; i < lines->n; i++) {
            struct sheet_fact fact = sheet_fact(&lines->lines[i], &cpus[c], &arena);
            if (fact.asked)
                rows[c].facts[rows[c].nfacts++] = fact_row(&lines->lines[i], &fact, &arena);
        }
    }
    output_json_array(&cpu_record, rows, ncpus, 0, json);
    arena_free(&arena);
}
