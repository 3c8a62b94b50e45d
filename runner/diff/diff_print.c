// SPDX-License-Identifier: MIT
// Differences as tables, CSV and JSON; see diff.h.
#include "diff.h"

#include "list/form_shown.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool pair_is_shown(const struct diff_view *view, const struct diff_pair *pair)
{
    return pair->change != DIFF_SAME && (view->change == DIFF_SAME || view->change == pair->change);
}

// Returns "faster", or "faster?" if it is in doubt.
static const char *change_text(const struct diff_pair *pair, char text[32])
{
    snprintf(text, 32, "%s%s", diff_change_names[pair->change], pair->sure ? "" : "?");
    return text;
}

// --- classes ---

static const enum diff_change summary_changes[] = {
    DIFF_FASTER, DIFF_SLOWER, DIFF_MIXED, DIFF_PORTS, DIFF_NEW, DIFF_GONE, DIFF_OUTCOME};
enum { SUMMARY_CHANGES = ARRAY_LEN(summary_changes), SUMMARY_COLUMNS = SUMMARY_CHANGES + 5 };

// Writes a count. Zeros would hide the others, and a column of zeros is left out.
static void count_put(struct text_table *table, size_t count, bool zero)
{
    char text[24];
    snprintf(text, sizeof text, "%zu", count);
    text_table_cell(table, count || zero ? text : "");
}

static void ratio_put(struct text_table *table, double ratio, const char *sign)
{
    char text[40] = "";
    if (isfinite(ratio))
        snprintf(text, sizeof text, "%s%.2f", sign, ratio);
    text_table_cell(table, text);
}

static void class_put(struct text_table *table, const struct diff_class *class, bool csv)
{
    text_table_cell(table, class->name);
    count_put(table, class->common, true);
    for (int i = 0; i < SUMMARY_CHANGES; i++)
        count_put(table, class->counts[summary_changes[i]], csv);
    count_put(table, class->doubtful, csv);
    for (int i = 0; i < DIFF_RATIOS; i++)
        ratio_put(table, class->ratios[i], csv ? "" : "×");
}

static void summary_print(const struct diff *diff, const struct diff_view *view, struct strbuf *out,
                          struct strbuf *note)
{
    static const char *const headings[SUMMARY_COLUMNS] = {
        "class", "forms", "faster",  "slower",   "mixed",   "ports",
        "new",   "gone",  "outcome", "in doubt", "latency", "1/tput"};
    static const enum text_align aligns[SUMMARY_COLUMNS] = {
        ALIGN_LEFT,  ALIGN_RIGHT, ALIGN_RIGHT, ALIGN_RIGHT, ALIGN_RIGHT, ALIGN_RIGHT,
        ALIGN_RIGHT, ALIGN_RIGHT, ALIGN_RIGHT, ALIGN_RIGHT, ALIGN_RIGHT, ALIGN_RIGHT};
    static const struct text_fit fits[SUMMARY_COLUMNS] = {
        {FIT_KEEP, 22},
        {FIT_KEEP, 0 },
        {FIT_KEEP, 0 },
        {FIT_KEEP, 0 },
        {FIT_KEEP, 0 },
        {2,        0 },
        {FIT_KEEP, 0 },
        {FIT_KEEP, 0 },
        {1,        0 },
        {FIT_KEEP, 0 },
        {4,        0 },
        {3,        0 },
    };
    struct text_table *table = text_table_new(headings, aligns, SUMMARY_COLUMNS);
    bool csv = view->format == REPORT_CSV;
    if (view->colour)
        text_table_colour(table);
    for (size_t i = 0; i < diff->nclasses; i++)
        if (i == 0 || csv || diff->classes[i].counts[DIFF_SAME] < diff->classes[i].common)
            class_put(table, &diff->classes[i], csv);
    if (view->width > 0)
        text_table_print_narrow(table, view->width, fits, out, note);
    else
        text_table_put(table, view->format, out);
    text_table_free(table);
}

// --- forms, as CSV: everything of both sides ---

enum { CSV_QUANTITIES = 7, CSV_COLUMNS = 2 + 2 * CSV_QUANTITIES + 4 };

static void csv_row(const struct diff_pair *pair, struct text_table *table)
{
    const struct diff_form *a = pair->a, *b = pair->b;
    char number[32], bits[24];
    text_table_cell(table, a->form);
    text_table_cell(table, a->enc);
    for (int i = 0; i < DIFF_VALUES; i++) {
        text_table_cell(table, report_number(a->values[i], number));
        text_table_cell(table, report_number(b->values[i], number));
    }
    bool same = !diff_outcomes_differ(pair);
    text_table_cell(table, same ? "" : a->outcome);
    text_table_cell(table, same ? "" : b->outcome);
    text_table_cell(table, a->uops);
    text_table_cell(table, b->uops);
    text_table_cell(table, a->ports);
    text_table_cell(table, b->ports);
    snprintf(bits, sizeof bits, "%lld", (long long)a->bits);
    text_table_cell(table, bits);
    text_table_cell(table, b->list);
    text_table_cell(table, diff_change_names[pair->change]);
    text_table_cell(table, pair->sure ? "sure" : "in doubt");
}

static int csv_print(const struct diff *diff, const struct diff_view *view, struct strbuf *out)
{
    static const char *const shown[CSV_QUANTITIES] = {"latency_min_clk",
                                                      "latency_max_clk",
                                                      "rthroughput_clk",
                                                      "rthroughput_slow_clk",
                                                      "outcome",
                                                      "uops",
                                                      "ports"};
    static const enum text_align aligns[CSV_COLUMNS] = {ALIGN_LEFT};
    char texts[2 * CSV_QUANTITIES][300];
    const char *headings[CSV_COLUMNS] = {"form", "enc"};
    for (int c = 0; c < 2 * CSV_QUANTITIES; c++) {
        snprintf(texts[c], sizeof texts[c], "%.120s.%s", diff->sides[c % 2].name, shown[c / 2]);
        headings[2 + c] = texts[c];
    }
    const char *const more[] = {"bits", "list", "change", "certainty"};
    memcpy(headings + 2 + 2 * CSV_QUANTITIES, more, sizeof more);
    struct text_table *table = text_table_new(headings, aligns, CSV_COLUMNS);
    for (size_t i = 0; i < diff->npairs; i++)
        if (pair_is_shown(view, &diff->pairs[i]))
            csv_row(&diff->pairs[i], table);
    text_table_put(table, REPORT_CSV, out);
    int rows = text_table_rows(table);
    text_table_free(table);
    return rows;
}

// --- forms, for people: a column a quantity, an arrow where the sides differ ---

static void change_put(struct text_table *table, const char *a, const char *b, bool changed)
{
    char *text = xasprintf("%s → %s", *a ? a : "-", *b ? b : "-");
    text_table_cell(table, changed ? text : a);
    free(text);
}

static const char *value_text(const struct diff_form *form, int i, char text[REPORT_LATENCY_MAX])
{
    char number[32];
    report_number(form->values[i], number);
    return *number ? report_latency(number, form->upper[i], form->marks[i], text) : "";
}

static void table_row(const struct diff *diff, const struct diff_pair *pair,
                      struct text_table *table)
{
    const struct diff_form *a = pair->a, *b = pair->b;
    char one[REPORT_LATENCY_MAX], two[REPORT_LATENCY_MAX], change[32];
    struct strbuf name = {0};
    text_table_cell(table, form_shown(a->form, &name));
    strbuf_free(&name);
    text_table_cell(table, a->enc);
    text_table_styled(table, change_text(pair, change),
                      pair->change == DIFF_FASTER   ? STYLE_GOOD
                      : pair->change == DIFF_SLOWER ? STYLE_BAD
                                                    : STYLE_PLAIN);
    for (int i = 0; i < DIFF_VALUES; i++)
        change_put(table, value_text(a, i, one), value_text(b, i, two),
                   diff_value_differs(diff, pair, i));
    bool known = *a->uops && *b->uops;
    change_put(table, known ? a->uops : "", b->uops, known && strcmp(a->uops, b->uops) != 0);
    known = *a->ports && *b->ports;
    change_put(table, known ? a->ports : "", b->ports, known && strcmp(a->ports, b->ports) != 0);
    bool same = !diff_outcomes_differ(pair);
    change_put(table, same ? "" : a->outcome, b->outcome, !same);
}

static int table_print(const struct diff *diff, const struct diff_view *view, struct strbuf *out,
                       struct strbuf *note)
{
    static const struct text_fit fits[] = {
        {FIT_KEEP, 24}, // the form
        {5,        0 },
        {1,        0 }, // the change, which the numbers show as well
        {FIT_KEEP, 9 }, // latency
        {3,        9 },
        {FIT_KEEP, 9 }, // throughput
        {4,        9 },
        {2,        0 },
        {FIT_KEEP, 15}, // ports
        {FIT_KEEP, 14}, // outcome
    };
    static const enum text_align aligns[ARRAY_LEN(fits)] = {ALIGN_LEFT};
    char title[300];
    snprintf(title, sizeof title, "%.120s → %.120s", diff->sides[0].name, diff->sides[1].name);
    const char *const headings[ARRAY_LEN(fits)] = {
        title, "enc", "change", "latency", "max", "1/tput", "slow", "uops", "ports", "outcome"};
    struct text_table *table = text_table_new(headings, aligns, (int)ARRAY_LEN(fits));
    if (view->colour)
        text_table_colour(table);
    for (size_t i = 0; i < diff->npairs; i++)
        if (pair_is_shown(view, &diff->pairs[i]))
            table_row(diff, &diff->pairs[i], table);
    int rows = text_table_rows(table);
    if (rows > 0 && view->width > 0)
        text_table_print_narrow(table, view->width, fits, out, note);
    else if (rows > 0)
        text_table_put(table, view->format, out);
    text_table_free(table);
    return rows;
}

// --- JSON ---

static void class_json(struct json *json, const struct diff_class *class)
{
    json_open(json_break(json, "\n    "), '{');
    json_text(json_name(json, "class"), class->name);
    json_uint(json_name(json, "forms"), class->common);
    for (int i = 0; i < SUMMARY_CHANGES; i++)
        json_uint(json_name(json, diff_change_names[summary_changes[i]]),
                  class->counts[summary_changes[i]]);
    json_uint(json_name(json, "in_doubt"), class->doubtful);
    json_digits(json_name(json, "latency_ratio"), class->ratios[0], 4);
    json_digits(json_name(json, "rthroughput_ratio"), class->ratios[1], 4);
    json_close(json, '}');
}

static void side_json(struct json *json, const char *name, const struct diff_form *form)
{
    json_open(json_break(json, "\n      "), '{');
    json_text(json_name(json, "side"), name);
    for (int i = 0; i < DIFF_VALUES; i++) {
        json_real(json_name(json, diff_columns[i]), form->values[i]);
        char *mark_name = xasprintf("%s_mark", diff_columns[i]), mark[REPORT_LATENCY_MAX];
        json_text_known(json_name(json, mark_name),
                        report_latency("", form->upper[i], form->marks[i], mark));
        free(mark_name);
    }
    json_text_known(json_name(json, "uops"), form->uops);
    json_text_known(json_name(json, "ports"), form->ports);
    json_text(json_name(json, "outcome"), form->outcome);
    json_close(json, '}');
}

static void pair_json(struct json *json, const struct diff *diff, const struct diff_pair *pair)
{
    json_open(json_break(json, "\n    "), '{');
    json_text(json_name(json, "form"), pair->a->form);
    json_text(json_name(json, "enc"), pair->a->enc);
    json_int(json_name(json, "bits"), pair->a->bits);
    json_text(json_name(json, "isa"), pair->b->isa);
    json_text(json_name(json, "list"), pair->b->list);
    json_text(json_name(json, "change"), diff_change_names[pair->change]);
    json_bool(json_name(json, "sure"), pair->sure);
    json_open(json_name(json, "sides"), '[');
    side_json(json, diff->sides[0].name, pair->a);
    side_json(json, diff->sides[1].name, pair->b);
    json_close(json, ']');
    json_close(json, '}');
}

static int json_print(const struct diff *diff, const struct diff_view *view, struct strbuf *out)
{
    struct json json = {.out = out};
    int shown = 0;
    json_open(&json, '[');
    json_open(&json, '{');
    json_text(json_name(json_break(&json, "\n  "), "a"), diff->sides[0].name);
    json_text(json_name(json_break(&json, "\n  "), "b"), diff->sides[1].name);
    json_digits(json_name(json_break(&json, "\n  "), "tolerance"), diff->tolerance, 6);
    json_uint(json_name(json_break(&json, "\n  "), "only_a"), diff->only[0]);
    json_uint(json_name(json_break(&json, "\n  "), "only_b"), diff->only[1]);
    json_open(json_name(json_break(&json, "\n  "), "classes"), '[');
    for (size_t i = 0; view->summary && i < diff->nclasses; i++)
        class_json(&json, &diff->classes[i]);
    json_close(json_break(&json, "\n  "), ']');
    json_open(json_name(json_break(&json, "\n  "), "forms"), '[');
    for (size_t i = 0; view->forms && i < diff->npairs; i++)
        if (pair_is_shown(view, &diff->pairs[i])) {
            pair_json(&json, diff, &diff->pairs[i]);
            shown++;
        }
    json_close(json_break(&json, "\n  "), ']');
    json_close(json_break(&json, "\n"), '}');
    json_close(&json, ']');
    strbuf_puts(out, "\n");
    return shown;
}

int diff_print(const struct diff *diff, const struct diff_view *view, struct strbuf *out,
               struct strbuf *note)
{
    if (view->format == REPORT_JSON)
        return json_print(diff, view, out);
    const struct diff_class *all = &diff->classes[0];
    bool differ = all->counts[DIFF_SAME] < all->common;
    if (view->summary && (differ || view->format == REPORT_CSV))
        summary_print(diff, view, out, note);
    if (!view->forms)
        return 0;
    if (view->format == REPORT_CSV)
        return csv_print(diff, view, out);
    struct strbuf table = {0};
    int rows = table_print(diff, view, &table, note);
    if (view->summary && table.len)
        strbuf_puts(out, "\n");
    strbuf_puts(out, strbuf_text(&table));
    strbuf_free(&table);
    return rows;
}
