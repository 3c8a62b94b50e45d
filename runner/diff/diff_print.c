// SPDX-License-Identifier: MIT
// Differences as tables, CSV and JSON; see diff.h. The record of a pair is made of the columns.
#include "diff.h"

#include "list/form_shown.h"

#include <stdlib.h>
#include <string.h>

// --- classes ---

// Counts have the words of the page (site/compare.js) for people. Zeros would hide the others.
#define CLASS(member, ...) OUTPUT_FIELD(struct diff_class, member, __VA_ARGS__)
#define COUNT(member, name_, heading_, rank_)                                                      \
    CLASS(member,                                                                                  \
          .look = {.name = name_, .heading = heading_, .align = ALIGN_RIGHT, .fit.rank = rank_},   \
          .gap = true)
#define MEDIAN(member, name_, heading_, rank_)                                                     \
    CLASS(member,                                                                                  \
          .look = {.name = name_,                                                                  \
                   .heading = heading_,                                                            \
                   .align = ALIGN_POINT,                                                           \
                   .digits = 4,                                                                    \
                   .fit.rank = rank_},                                                             \
          .digits = 4)
// clang-format off
OUTPUT_DEFINE(class_record, struct diff_class, OUTPUT_LINE,
    CLASS(name, .look = {.name = "class", .heading = "class", .fit.fold = 22}),
    COUNT(common, "forms", "forms", FIT_KEEP),
    COUNT(counts[DIFF_FASTER], "faster", "faster", FIT_KEEP),
    COUNT(counts[DIFF_SLOWER], "slower", "slower", FIT_KEEP),
    COUNT(counts[DIFF_MIXED], "mixed", "mixed", FIT_KEEP),
    COUNT(counts[DIFF_PORTS], "ports", "other µops or ports", 2),
    COUNT(counts[DIFF_NEW], "new", "new", FIT_KEEP),
    COUNT(counts[DIFF_GONE], "gone", "gone", FIT_KEEP),
    COUNT(counts[DIFF_OUTCOME], "outcome", "a value on one only", 1),
    COUNT(doubtful, "in_doubt", "in doubt", FIT_KEEP),
    MEDIAN(ratios[0], "latency_ratio", "median of latency ratios", 4),
    MEDIAN(ratios[1], "rthroughput_ratio", "median of 1/tput ratios", 3),
    COUNT(counts[DIFF_SAME], "same", "the same", 5),
    COUNT(counts[DIFF_ONLY_A], "only_a", "only A", 7),
    COUNT(counts[DIFF_ONLY_B], "only_b", "only B", 7),
    COUNT(counts[DIFF_KEPT], "kept", "kept from programs", 1));
// clang-format on

#define GROUP(...) OUTPUT_FIELD(struct diff_group, __VA_ARGS__)
// clang-format off
OUTPUT_DEFINE(group_record, struct diff_group, OUTPUT_LINE,
    GROUP(name, .look = {.name = "explained", .heading = "explained by", .fit.fold = 22}),
    GROUP(forms, .look = {.heading = "forms", .align = ALIGN_RIGHT}),
    GROUP(says, .look = {.heading = "what it says", .fit.fold = 40}));
// clang-format on

// --- a pair ---

struct told_value {
    double number;
    const char *mark, *text;
};
struct told_side {
    const char *name;
    struct told_value values[DIFF_COLUMNS_MAX];
};
struct told_pair {
    const char *form, *enc, *isa, *list, *change, *certainty;
    int64_t bits;
    bool sure;
    double ratio;
    const char *ratio_of, *explained, *evidence;
    struct told_side sides[2];
    int nsides;
    // Texts of tables; where the sides differ, both with an arrow.
    const char *shown_form, *shown[DIFF_COLUMNS_MAX];
    struct field_value shown_change;
    const char *csv[2][DIFF_COLUMNS_MAX];
};
struct told_whole {
    const char *a, *b;
    double tolerance;
    size_t only[2];
    const struct diff_class *classes;
    size_t nclasses;
    const struct told_pair *forms;
    size_t nforms;
    const struct diff_group *groups;
    size_t ngroups;
};

static const char *arrow(struct arena *arena, const char *a, const char *b, bool changed)
{
    return changed ? arena_printf(arena, "%s → %s", *a ? a : "-", *b ? b : "-") : a;
}

// Returns true if both sides asked the questions that give a column.
static bool column_is_asked(const struct column *column, const struct diff_pair *pair)
{
    return !column->asked || (strchr(pair->a->tests, column->asked) != NULL &&
                              strchr(pair->b->tests, column->asked) != NULL);
}

// Returns true if the values with slow data, which stand in the same column, differ.
static bool slow_differs(const struct diff *diff, const struct diff_pair *pair, int column)
{
    const char *slow = diff->columns[column]->slow;
    for (int i = 0; slow && i < diff->ncolumns; i++)
        if (strcmp(diff->columns[i]->look.name, slow) == 0)
            return diff_column_differs(diff, pair, i);
    return false;
}

// Returns the values of a column for people. Of texts that one side lacks nothing is said.
static const char *told_shown(const struct diff *diff, const struct diff_pair *pair, int i,
                              struct arena *arena)
{
    const char *a = pair->a->values[i].text, *b = pair->b->values[i].text;
    bool differs = diff_column_differs(diff, pair, i), known = *a && *b;
    if (pair->change > DIFF_OUTCOME) // there is one side
        return *a ? a : b;
    switch (diff->columns[i]->differs) {
    case DIFFERS_BY_SIZE:
        return arrow(arena, a, b, differs || slow_differs(diff, pair, i));
    case DIFFERS_IF_ASKED:
        return arrow(arena, differs ? a : "", b, differs);
    case DIFFERS_NOT:
        known = column_is_asked(diff->columns[i], pair);
        break;
    default:
        break;
    }
    return arrow(arena, known ? a : "", b, known && strcmp(a, b) != 0);
}

static void told_values(const struct diff *diff, const struct diff_pair *pair, int i,
                        struct arena *arena, struct told_pair *told)
{
    char text[REPORT_LATENCY_MAX];
    const struct column *column = diff->columns[i];
    bool same = column->kind == COLUMN_OUTCOME && !diff_column_differs(diff, pair, i);
    for (int side = 0; side < 2; side++) {
        const struct diff_value *value = &(side ? pair->b : pair->a)->values[i];
        const char *mark = report_latency("", value->upper, value->mark, text);
        told->sides[side].values[i] =
            (struct told_value){value->number, arena_strdup(arena, mark), value->text};
        told->csv[side][i] = column->look.type == LOOK_REAL
                                 ? arena_strdup(arena, report_number(value->number, text))
                             : same ? ""
                                    : value->text;
    }
    told->shown[i] = told_shown(diff, pair, i, arena);
}

static struct told_pair told_make(const struct diff *diff, const struct diff_pair *pair,
                                  struct arena *arena)
{
    const struct diff_form *form = diff_pair_form(pair);
    const char *change = diff_change_names[pair->change];
    struct strbuf name = {0};
    struct told_pair told = {
        .form = form->form,
        .enc = form->enc,
        .isa = form->isa,
        .list = form->list,
        .bits = form->bits,
        .change = change,
        .shown_change.shown = arena_printf(arena, "%s%s", change, pair->sure ? "" : "?"),
        .shown_change.style = pair->change == DIFF_FASTER   ? STYLE_GOOD
                              : pair->change == DIFF_SLOWER ? STYLE_BAD
                                                            : STYLE_PLAIN,
        .sure = pair->sure,
        .certainty = pair->sure ? "sure" : "in doubt",
        .ratio = pair->ratio,
        .ratio_of = pair->ratio_of ? pair->ratio_of->look.name : "",
        .explained = pair->explained,
        .evidence = pair->evidence,
        .nsides = 2,
        .sides = {{.name = diff->sides[0].name}, {.name = diff->sides[1].name}},
    };
    told.shown_form = arena_strdup(arena, form_shown(form->form, &name));
    strbuf_free(&name);
    for (int i = 0; i < diff->ncolumns; i++)
        told_values(diff, pair, i, arena, &told);
    return told;
}

// --- the records ---

#define PAIR(...) (struct output_field) OUTPUT_FIELD(struct told_pair, __VA_ARGS__)
#define SIDE(...) (struct output_field) OUTPUT_FIELD(struct told_side, __VA_ARGS__)
#define WHOLE(...) OUTPUT_FIELD(struct told_whole, __VA_ARGS__)

// Columns that stand before the others of the pair in CSV; later ones stand after them.
enum { CSV_FIRST = 7 };

static void tell_side(const struct diff *diff, struct diff_told *told)
{
    enum { STRIDE = sizeof(struct told_value) };
    output_made_add(&told->side, SIDE(name, .look.name = "side"));
    for (int i = 0; i < diff->ncolumns; i++) {
        const struct column *column = diff->columns[i];
        struct output_field value = SIDE(values[0].text, .known = column->kind != COLUMN_OUTCOME);
        struct output_field mark = SIDE(values[0].mark, .known = true);
        bool number = column->look.type == LOOK_REAL;
        if (number)
            value = SIDE(values[0].number);
        value.look.name = column->look.name;
        mark.look.name = arena_printf(&told->arena, "%s_mark", column->look.name);
        output_made_add(&told->side, output_element(value, i, STRIDE));
        if (number && column->bound)
            output_made_add(&told->side, output_element(mark, i, STRIDE));
    }
}

// Adds both sides' columns of CSV, from the column `from` on.
static void tell_csv(const struct diff *diff, struct diff_told *told, int from, int end)
{
    const struct column *columns[VIEW_COLUMNS_MAX];
    memcpy(columns, diff->columns, sizeof columns);
    columns_sort_diff(columns, diff->ncolumns);
    for (int c = from; c < end; c++)
        for (int side = 0; side < 2; side++) {
            int at = 0;
            while (diff->columns[at] != columns[c])
                at++;
            struct output_field field = PAIR(csv[0][0], .only = OUTPUT_CSV);
            field.look.name =
                arena_printf(&told->arena, "%s.%s", diff->sides[side].name, columns[c]->look.name);
            output_made_add(&told->form, output_element(field, side * DIFF_COLUMNS_MAX + at,
                                                        sizeof(const char *)));
        }
}

// Adds a column per quantity that has a heading: two numbers may stand one below the other, and
// outcomes that differ stay.
static void tell_table(const struct diff *diff, struct diff_told *told)
{
    for (int i = 0; i < diff->ncolumns; i++) {
        const struct column *column = diff->columns[i];
        if (!column->look.heading)
            continue;
        struct output_field field = PAIR(shown[0], .look.name = "", .only = OUTPUT_PEOPLE);
        field.look.heading = column->look.heading;
        field.look.fit = column->look.fit;
        if (column->kind == COLUMN_OUTCOME)
            field.look.fit = (struct text_fit){FIT_KEEP, 14};
        else if (column->differs == DIFFERS_BY_SIZE)
            field.look.fit.fold = 9;
        output_made_add(&told->form, output_element(field, i, sizeof(const char *)));
    }
}

static void tell_form(const struct diff *diff, struct diff_told *told)
{
    const char *title =
        arena_printf(&told->arena, "%.120s → %.120s", diff->sides[0].name, diff->sides[1].name);
    const struct output_field first[] = {
        PAIR(form), PAIR(shown_form, .look = {"", .heading = title, .fit.fold = 24}),
        PAIR(enc, .look = {.heading = "enc", .fit.rank = 5}),
        PAIR(shown_change, .look = {"", .heading = "change", .fit.rank = 1})};
    const struct output_field after[] = {
        PAIR(bits),
        PAIR(isa, .only = OUTPUT_JSON),
        PAIR(list),
        PAIR(change),
        PAIR(sure, .only = OUTPUT_JSON),
        PAIR(certainty, .only = OUTPUT_CSV),
        PAIR(ratio, .look = {.heading = "ratio", .digits = 4, .align = ALIGN_POINT, .fit.rank = 8},
             .digits = 4),
        PAIR(ratio_of, .known = true)};
    // clang-format off
    const struct output_field last[] = {
        PAIR(explained, .known = true, .look = {
            .heading = "explained by", .says = "what explains ratio_of, or ports",
            .fit = {.rank = 6, .fold = 18}}),
        PAIR(evidence, .known = true, .look = {
            .heading = "evidence", .fit = {.rank = 9, .fold = 30}})};
    // clang-format on
    const int csv_first = diff->ncolumns < CSV_FIRST ? diff->ncolumns : CSV_FIRST;
    told->form.record.bytes = sizeof(struct told_pair);
    for (size_t i = 0; i < ARRAY_LEN(first); i++)
        output_made_add(&told->form, first[i]);
    tell_table(diff, told);
    tell_csv(diff, told, 0, csv_first);
    for (size_t i = 0; i < ARRAY_LEN(after); i++)
        output_made_add(&told->form, after[i]);
    tell_csv(diff, told, csv_first, diff->ncolumns);
    for (size_t i = 0; i < ARRAY_LEN(last); i++)
        output_made_add(&told->form, last[i]);
    output_made_add(&told->form, (struct output_field)OUTPUT_ARRAY(struct told_pair, sides, nsides,
                                                                   told->side.record));
}

void diff_tell(const struct diff *diff, struct diff_told *told)
{
    const struct output_field whole[] = {
        WHOLE(a),
        WHOLE(b),
        WHOLE(tolerance, .digits = 6, .always = true),
        WHOLE(only[0], .look.name = "only_a"),
        WHOLE(only[1], .look.name = "only_b"),
        OUTPUT_ROWS(struct told_whole, classes, nclasses, class_record),
        OUTPUT_ROWS(struct told_whole, forms, nforms, told->form.record),
        OUTPUT_ROWS(struct told_whole, groups, ngroups, group_record)};
    *told = (struct diff_told){
        .whole.record = {.bytes = sizeof(struct told_whole), .layout = OUTPUT_LINES},
        .side.record.bytes = sizeof(struct told_side)
    };
    tell_side(diff, told);
    tell_form(diff, told);
    for (size_t i = 0; i < ARRAY_LEN(whole); i++)
        output_made_add(&told->whole, whole[i]);
}

void diff_told_free(struct diff_told *told)
{
    free(told->whole.fields);
    free(told->form.fields);
    free(told->side.fields);
    arena_free(&told->arena);
}

// --- printing ---

static void print_json(const struct diff *diff, const struct diff_told *told,
                       const struct told_whole *forms, bool classes, struct strbuf *out)
{
    struct told_whole whole = *forms;
    whole.a = diff->sides[0].name;
    whole.b = diff->sides[1].name;
    whole.tolerance = diff->tolerance;
    for (int i = 0; i < 2; i++)
        whole.only[i] = diff->classes[0].counts[DIFF_ONLY_A + i];
    whole.classes = diff->classes;
    whole.nclasses = classes ? diff->nclasses : 0;
    whole.groups = diff->groups;
    whole.ngroups = diff->ngroups;
    output_put_json(&told->whole.record, &whole, 1, true, out);
}

// Prints classes: for people those with a difference.
static void print_classes(const struct diff *diff, const struct output_page *page,
                          struct strbuf *out, struct strbuf *note)
{
    struct diff_class *shown = xcalloc(diff->nclasses, sizeof *shown);
    int n = 0;
    for (size_t i = 0; i < diff->nclasses; i++)
        if (i == 0 || diff->classes[i].counts[DIFF_SAME] < diff->classes[i].common)
            shown[n++] = diff->classes[i];
    if (page->format == REPORT_CSV)
        output_put_table(&class_record, diff->classes, (int)diff->nclasses, REPORT_CSV, out);
    else if (shown[0].counts[DIFF_SAME] < shown[0].common)
        output_print(&class_record, shown, n, page, out, note);
    free(shown);
    if (page->format != REPORT_CSV && diff->ngroups > 0) {
        strbuf_puts(out, "\n");
        output_print(&group_record, diff->groups, (int)diff->ngroups, page, out, note);
    }
}

static void print_forms(const struct diff_told *told, const struct told_whole *forms,
                        const struct output_page *page, struct strbuf *out, struct strbuf *note)
{
    if (page->format == REPORT_CSV)
        output_put_table(&told->form.record, forms->forms, (int)forms->nforms, REPORT_CSV, out);
    else if (forms->nforms > 0) {
        strbuf_puts(out, out->len ? "\n" : "");
        output_print(&told->form.record, forms->forms, (int)forms->nforms, page, out, note);
    }
}

static bool pair_is_shown(const struct diff_view *view, const struct diff_pair *pair)
{
    return view->change == DIFF_SAME ? pair->change > DIFF_SAME && pair->change <= DIFF_OUTCOME
                                     : pair->change == view->change;
}

size_t diff_print(const struct diff *diff, const struct diff_view *view, struct strbuf *out,
                  struct strbuf *note)
{
    struct diff_told told;
    diff_tell(diff, &told);
    struct told_pair *pairs = xcalloc(diff->npairs + 1, sizeof *pairs);
    struct told_whole forms = {.forms = pairs};
    size_t found = 0;
    for (size_t i = 0; view->forms && i < diff->npairs; i++)
        if (pair_is_shown(view, &diff->pairs[i]) &&
            (found++ < (size_t)view->limit || view->limit == 0))
            pairs[forms.nforms++] = told_make(diff, &diff->pairs[i], &told.arena);
    if (view->page.format == REPORT_JSON) {
        print_json(diff, &told, &forms, view->summary, out);
    } else {
        if (view->summary)
            print_classes(diff, &view->page, out, note);
        if (view->forms)
            print_forms(&told, &forms, &view->page, out, note);
    }
    free(pairs);
    diff_told_free(&told);
    return found;
}
