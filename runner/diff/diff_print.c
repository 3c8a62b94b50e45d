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

// Columns of forms that stand before those of the pair; later ones stand after them.
enum { CSV_FIRST = 7, CSV_COLUMNS_MAX = 2 + 2 * DIFF_COLUMNS_MAX + 4 };

static int column_of(const struct diff *diff, const struct column *column)
{
    int i = 0;
    while (diff->columns[i] != column)
        i++;
    return i;
}

static const char *csv_value(const struct diff *diff, const struct diff_pair *pair,
                             const struct column *column, bool b, char number[32])
{
    int at = column_of(diff, column);
    const struct diff_value *value = &(b ? pair->b : pair->a)->values[at];
    if (column->look.type == LOOK_REAL)
        return report_number(value->number, number);
    return column->kind == COLUMN_OUTCOME && !diff_column_differs(diff, pair, at) ? ""
                                                                                  : value->text;
}

static void csv_row(const struct diff *diff, const struct diff_pair *pair,
                    const struct column *const *columns, struct text_table *table)
{
    char number[32], bits[24];
    text_table_cell(table, pair->a->form);
    text_table_cell(table, pair->a->enc);
    for (int i = 0; i <= diff->ncolumns; i++) {
        if (i == CSV_FIRST) {
            snprintf(bits, sizeof bits, "%lld", (long long)pair->a->bits);
            text_table_cell(table, bits);
            text_table_cell(table, pair->b->list);
            text_table_cell(table, diff_change_names[pair->change]);
            text_table_cell(table, pair->sure ? "sure" : "in doubt");
        }
        for (int side = 0; i < diff->ncolumns && side < 2; side++)
            text_table_cell(table, csv_value(diff, pair, columns[i], side, number));
    }
}

static int csv_print(const struct diff *diff, const struct diff_view *view, struct strbuf *out)
{
    static const enum text_align aligns[CSV_COLUMNS_MAX] = {ALIGN_LEFT};
    static const char *const of_pair[] = {"bits", "list", "change", "certainty"};
    const struct column *columns[VIEW_COLUMNS_MAX];
    char texts[2 * DIFF_COLUMNS_MAX][300];
    const char *headings[CSV_COLUMNS_MAX] = {"form", "enc"};
    int n = 2;
    memcpy(columns, diff->columns, sizeof columns);
    columns_sort_diff(columns, diff->ncolumns);
    for (int c = 0; c <= 2 * diff->ncolumns; c++) {
        for (size_t i = 0; c == 2 * CSV_FIRST && i < ARRAY_LEN(of_pair); i++)
            headings[n++] = of_pair[i];
        if (c == 2 * diff->ncolumns)
            break;
        snprintf(texts[c], sizeof texts[c], "%.120s.%.100s", diff->sides[c % 2].name,
                 columns[c / 2]->look.name);
        headings[n++] = texts[c];
    }
    struct text_table *table = text_table_new(headings, aligns, n);
    for (size_t i = 0; i < diff->npairs; i++)
        if (pair_is_shown(view, &diff->pairs[i]))
            csv_row(diff, &diff->pairs[i], columns, table);
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

// Returns true if both sides asked the questions that give a column.
static bool column_is_asked(const struct column *column, const struct diff_pair *pair)
{
    return !column->asked || (strchr(pair->a->tests, column->asked) != NULL &&
                              strchr(pair->b->tests, column->asked) != NULL);
}

// Writes the values of a column. Of texts that one side lacks nothing is said.
static void column_put(struct text_table *table, const struct diff *diff,
                       const struct diff_pair *pair, int i)
{
    const char *a = pair->a->values[i].text, *b = pair->b->values[i].text;
    bool differs = diff_column_differs(diff, pair, i), known = *a && *b;
    switch (diff->columns[i]->differs) {
    case DIFFERS_BY_SIZE:
        change_put(table, a, b, differs);
        break;
    case DIFFERS_IF_ASKED:
        change_put(table, differs ? a : "", b, differs);
        break;
    case DIFFERS_NOT:
        known = column_is_asked(diff->columns[i], pair);
        change_put(table, known ? a : "", b, known && strcmp(a, b) != 0);
        break;
    default:
        change_put(table, known ? a : "", b, known && strcmp(a, b) != 0);
    }
}

static void table_row(const struct diff *diff, const struct diff_pair *pair,
                      struct text_table *table)
{
    char change[32];
    struct strbuf name = {0};
    text_table_cell(table, form_shown(pair->a->form, &name));
    strbuf_free(&name);
    text_table_cell(table, pair->a->enc);
    text_table_styled(table, change_text(pair, change),
                      pair->change == DIFF_FASTER   ? STYLE_GOOD
                      : pair->change == DIFF_SLOWER ? STYLE_BAD
                                                    : STYLE_PLAIN);
    for (int i = 0; i < diff->ncolumns; i++)
        column_put(table, diff, pair, i);
}

// Returns how a column fits narrow tables: two numbers may stand one below the other, and outcomes
// that differ stay.
static struct text_fit column_fit(const struct column *column)
{
    struct text_fit fit = column->look.fit;
    if (column->kind == COLUMN_OUTCOME)
        return (struct text_fit){FIT_KEEP, 14};
    if (column->differs == DIFFERS_BY_SIZE)
        fit.fold = 9;
    return fit;
}

static int table_print(const struct diff *diff, const struct diff_view *view, struct strbuf *out,
                       struct strbuf *note)
{
    static const enum text_align aligns[3 + DIFF_COLUMNS_MAX] = {ALIGN_LEFT};
    struct text_fit fits[3 + DIFF_COLUMNS_MAX] = {
        {FIT_KEEP, 24}, // the form
        {5,        0 },
        {1,        0 }, // the change, which the numbers show as well
    };
    char title[300];
    snprintf(title, sizeof title, "%.120s → %.120s", diff->sides[0].name, diff->sides[1].name);
    const char *headings[3 + DIFF_COLUMNS_MAX] = {title, "enc", "change"};
    for (int i = 0; i < diff->ncolumns; i++) {
        headings[3 + i] = diff->columns[i]->look.heading;
        fits[3 + i] = column_fit(diff->columns[i]);
    }
    struct text_table *table = text_table_new(headings, aligns, 3 + diff->ncolumns);
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

static void side_json(struct json *json, const struct diff *diff, const char *name,
                      const struct diff_form *form)
{
    json_open(json_break(json, "\n      "), '{');
    json_text(json_name(json, "side"), name);
    for (int i = 0; i < diff->ncolumns; i++) {
        const struct diff_value *value = &form->values[i];
        json_name(json, diff->columns[i]->look.name);
        if (diff->columns[i]->differs != DIFFERS_BY_SIZE) {
            json_text_known(json, value->text);
            continue;
        }
        json_real(json, value->number);
        char *mark_name = xasprintf("%s_mark", diff->columns[i]->look.name);
        char mark[REPORT_LATENCY_MAX];
        json_text_known(json_name(json, mark_name),
                        report_latency("", value->upper, value->mark, mark));
        free(mark_name);
    }
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
    side_json(json, diff, diff->sides[0].name, pair->a);
    side_json(json, diff, diff->sides[1].name, pair->b);
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
