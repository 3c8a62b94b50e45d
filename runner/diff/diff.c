// SPDX-License-Identifier: MIT
// Finds the forms of two sides that differ, and how sure that is; see diff.h.
#include "diff.h"

#include "cpuinfo/cpuinfo.h"
#include "util/quantile.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const diff_change_names[DIFF_CHANGES] = {
    [DIFF_SAME] = "same",     [DIFF_FASTER] = "faster", [DIFF_SLOWER] = "slower",
    [DIFF_MIXED] = "mixed",   [DIFF_PORTS] = "ports",   [DIFF_NEW] = "new",
    [DIFF_GONE] = "gone",     [DIFF_KEPT] = "kept",     [DIFF_OUTCOME] = "outcome",
    [DIFF_ONLY_A] = "only_a", [DIFF_ONLY_B] = "only_b",
};
const char *const diff_order_names[DIFF_ORDERS] = {"form", "ratio", "abs"};

// --- reading ---

static int form_compare(const void *a, const void *b)
{
    const struct diff_form *one = a, *two = b;
    int order = strcmp(one->form, two->form);
    if (order == 0)
        order = strcmp(one->enc, two->enc);
    return order ? order : (one->bits > two->bits) - (one->bits < two->bits);
}

void diff_begin(struct diff *diff)
{
    diff->ncolumns = columns_on(STORE_VIEW_INSTRUCTION, COLUMN_DIFF, diff->columns);
    assert(diff->ncolumns <= DIFF_COLUMNS_MAX);
    diff->absent = (struct diff_form){.form = "",
                                      .mnemonic = "",
                                      .enc = "",
                                      .isa = "",
                                      .list = "",
                                      .outcome = "",
                                      .refused_by = "",
                                      .family = "",
                                      .tests = ""};
    for (int i = 0; i < DIFF_COLUMNS_MAX; i++)
        diff->absent.values[i] =
            (struct diff_value){.number = (double)NAN, .most = (double)NAN, .text = "", .mark = ""};
}

static struct diff_value read_value(struct arena *arena, struct store_rows *rows,
                                    const struct column *column)
{
    char text[REPORT_LATENCY_MAX];
    bool number = column->look.type != LOOK_TEXT, outcome = column->kind == COLUMN_OUTCOME;
    double spread = column->spread ? store_real_of(rows, column->spread) : 0;
    return (struct diff_value){
        .number = number ? store_real_of(rows, column->look.name) : (double)NAN,
        .most = column->most ? store_real_of(rows, column->most) : (double)NAN,
        .spread = isfinite(spread) ? spread : 0,
        .upper = column->bound && strcmp(store_text_of(rows, column->bound), "upper") == 0,
        .mark = number ? arena_strdup(arena, report_mark(rows, column)) : "",
        .text = arena_strdup(arena, outcome ? store_text_of(rows, column->look.name)
                                            : report_value(rows, column->look.name, text)),
    };
}

const char *diff_family(const char *uarch, char *family, size_t size)
{
    cpu_uarch_key(uarch, family, size);
    if (strcmp(family, "unknown") == 0)
        *family = '\0';
    return family;
}

int diff_read(struct store *store, struct diff *diff, int which, struct err *err)
{
    struct diff_side *side = &diff->sides[which];
    struct store_rows *rows = store_rows_open(store, STORE_VIEW_INSTRUCTION, &side->filter, err);
    if (!rows)
        return -1;
    int got;
    while ((got = store_rows_next(rows, err)) > 0) {
        store_runs_of(&side->runs, rows);
        side->forms = xgrow(side->forms, &side->capacity, side->nforms + 1, sizeof *side->forms);
        struct diff_form *form = &side->forms[side->nforms++];
        form->form = store_rows_keep(rows, "form", &side->arena);
        form->mnemonic = store_rows_keep(rows, "mnemonic", &side->arena);
        form->enc = store_rows_keep(rows, "enc", &side->arena);
        form->isa = store_rows_keep(rows, "isa", &side->arena);
        form->list = store_rows_keep(rows, "list", &side->arena);
        form->outcome = store_rows_keep(rows, "outcome", &side->arena);
        form->refused_by = store_rows_keep(rows, "refused_by", &side->arena);
        char family[64];
        form->family = arena_strdup(
            &side->arena, diff_family(store_text_of(rows, "uarch"), family, sizeof family));
        form->tests = store_rows_keep(rows, "tests", &side->arena);
        form->bits = store_integer_of(rows, "bits");
        for (int i = 0; i < diff->ncolumns; i++)
            form->values[i] = read_value(&side->arena, rows, diff->columns[i]);
    }
    store_rows_close(rows);
    if (side->nforms > 0)
        qsort(side->forms, side->nforms, sizeof *side->forms, form_compare);
    return got;
}

// --- a pair ---

// Returns thousandths of a cycle, which is what the page has, so that it counts alike
// (site/compare.js).
static double thousandths(double clk)
{
    return round(clk * 1000);
}

static struct column_range value_range(const struct diff_value *value)
{
    return (struct column_range){thousandths(value->number),
                                 thousandths(isfinite(value->most) ? value->most : value->number)};
}

// Returns how far the values are apart, in thousandths, less than 0 if they overlap.
static double values_gap(const struct diff_pair *pair, int i)
{
    return column_gap(value_range(&pair->a->values[i]), value_range(&pair->b->values[i]));
}

// A value that was not asked for differs from nothing; one that was asked for and is missing does.
static bool sizes_differ(const struct diff *diff, const struct diff_pair *pair, int i)
{
    double a = pair->a->values[i].number, b = pair->b->values[i].number;
    const struct column_tolerance tolerance = {thousandths(COLUMN_LEAST_CLK), diff->tolerance};
    if (isnan(a) && isnan(b))
        return false;
    if (isnan(a) || isnan(b))
        return strchr((isnan(a) ? pair->a : pair->b)->tests, diff->columns[i]->asked) != NULL;
    return !column_gap_is_small(values_gap(pair, i), thousandths(fmax(a, b)), tolerance);
}

static bool form_lacks(const struct diff_form *form)
{
    return strcmp(form->outcome, "unsupported") == 0;
}

// A form's outcome follows from its latency and throughput, so it is compared if both sides asked
// for the same; but a form that a CPU does not have always counts.
static bool outcomes_differ(const struct diff_pair *pair)
{
    const struct diff_form *a = pair->a, *b = pair->b;
    if (strcmp(a->outcome, b->outcome) == 0)
        return false;
    for (const char *kind = "LT"; *kind; kind++)
        if (!strchr(a->tests, *kind) != !strchr(b->tests, *kind))
            return form_lacks(a) || form_lacks(b);
    return true;
}

static bool is_same_family(const struct diff_pair *pair)
{
    return *pair->a->family && strcmp(pair->a->family, pair->b->family) == 0;
}

// Names mean something within one family, and ambiguous ones differ from nothing.
static bool names_differ(const struct diff_pair *pair, int i)
{
    const char *one = pair->a->values[i].text, *two = pair->b->values[i].text;
    return *one && *two && !strchr(one, '?') && !strchr(two, '?') && is_same_family(pair) &&
           strcmp(one, two) != 0;
}

bool diff_column_differs(const struct diff *diff, const struct diff_pair *pair, int column)
{
    const struct diff_value *a = &pair->a->values[column], *b = &pair->b->values[column];
    switch (diff->columns[column]->differs) {
    case DIFFERS_BY_SIZE:
        return sizes_differ(diff, pair, column);
    case DIFFERS_IF_KNOWN: // of two bounds both may be smaller
        return *a->text && *b->text && !a->upper && !b->upper && strcmp(a->text, b->text) != 0;
    case DIFFERS_IN_FAMILY:
        return names_differ(pair, column);
    case DIFFERS_IF_ASKED:
        return outcomes_differ(pair);
    default:
        return false;
    }
}

// Returns true if the sides allow no common value.
static bool value_is_sure(const struct diff_pair *pair, int i)
{
    const struct diff_value *a = &pair->a->values[i], *b = &pair->b->values[i];
    const struct diff_value *more = a->number > b->number ? a : b;
    return !*a->mark && !*b->mark && !more->upper &&
           thousandths(a->spread) + thousandths(b->spread) < values_gap(pair, i);
}

enum { WAY_LESS = 1, WAY_MORE = 2 };

// Returns how far a ratio is from 1, either way; a pair without a ratio is the least.
static double ratio_factor(double ratio)
{
    return ratio > 0 ? fmax(ratio, 1 / ratio) : 0;
}

// Returns the ways in which the values of a pair differ: sure differences only, or all. Keeps the
// largest of them.
static int pair_ways(const struct diff *diff, struct diff_pair *pair, bool sure)
{
    int ways = 0;
    for (int i = 0; i < diff->ncolumns; i++) {
        double one = pair->a->values[i].number, two = pair->b->values[i].number;
        if (diff->columns[i]->differs != DIFFERS_BY_SIZE || !isfinite(one) || !isfinite(two) ||
            !sizes_differ(diff, pair, i) || (sure && !value_is_sure(pair, i)))
            continue;
        ways |= two < one ? WAY_LESS : WAY_MORE;
        pair->change_clk = fmax(pair->change_clk, fabs(two - one));
        if (one > 0 && two > 0 && ratio_factor(two / one) > ratio_factor(pair->ratio)) {
            pair->ratio = two / one;
            pair->ratio_of = diff->columns[i];
        }
    }
    return ways;
}

// Returns true if a column of this rule differs.
static bool pair_differs(const struct diff *diff, const struct diff_pair *pair,
                         enum column_differs rule)
{
    for (int i = 0; i < diff->ncolumns; i++)
        if (diff->columns[i]->differs == rule && diff_column_differs(diff, pair, i))
            return true;
    return false;
}

static bool pair_lacks_value(const struct diff *diff, const struct diff_pair *pair)
{
    for (int i = 0; i < diff->ncolumns; i++)
        if (diff->columns[i]->differs == DIFFERS_BY_SIZE &&
            isnan(pair->a->values[i].number) != isnan(pair->b->values[i].number) &&
            sizes_differ(diff, pair, i))
            return true;
    return outcomes_differ(pair);
}

// Judges a form that one side lacks: its CPU does not have it, or something keeps it away.
static void pair_judge_lacking(const struct diff *diff, struct diff_pair *pair)
{
    const struct diff_form *form = form_lacks(pair->a) ? pair->a : pair->b;
    bool system = strcmp(form->refused_by, "system") == 0;
    bool hypervisor = strcmp(form->refused_by, "hypervisor?") == 0 && is_same_family(pair);
    pair->sure = !hypervisor || diff->sure_only;
    pair->change = hypervisor && diff->sure_only ? DIFF_SAME
                   : system || hypervisor        ? DIFF_KEPT
                   : form == pair->a             ? DIFF_NEW
                                                 : DIFF_GONE;
}

static void pair_judge(const struct diff *diff, struct diff_pair *pair)
{
    static const enum diff_change by_ways[] = {
        [WAY_LESS] = DIFF_FASTER, [WAY_MORE] = DIFF_SLOWER, [WAY_LESS | WAY_MORE] = DIFF_MIXED};
    bool lacks_a = form_lacks(pair->a), lacks_b = form_lacks(pair->b);
    int ways = pair_ways(diff, pair, true);
    pair->sure = true;
    if (lacks_a != lacks_b) {
        pair_judge_lacking(diff, pair);
        return;
    }
    if (ways == 0 && !diff->sure_only) {
        ways = pair_ways(diff, pair, false);
        pair->sure = ways == 0;
    }
    bool ports =
        pair_differs(diff, pair, DIFFERS_IF_KNOWN) || pair_differs(diff, pair, DIFFERS_IN_FAMILY);
    pair->change = ways != 0                      ? by_ways[ways]
                   : ports                        ? DIFF_PORTS
                   : pair_lacks_value(diff, pair) ? DIFF_OUTCOME
                                                  : DIFF_SAME;
}

int diff_pair_column(const struct diff *diff, const struct diff_pair *pair)
{
    bool ports = pair->change == DIFF_PORTS;
    if (pair->change == DIFF_SAME || pair->change > DIFF_PORTS)
        return -1;
    for (int i = 0; i < diff->ncolumns; i++)
        if (pair->ratio_of ? diff->columns[i] == pair->ratio_of
                           : (diff->columns[i]->differs == DIFFERS_BY_SIZE) != ports &&
                                 diff_column_differs(diff, pair, i))
            return i;
    return -1;
}

// Returns the position of a column.
static int diff_column(const struct diff *diff, const char *name)
{
    int i = 0;
    while (strcmp(diff->columns[i]->look.name, name) != 0)
        i++;
    return i;
}

static struct diff_pair *diff_add(struct diff *diff, const struct diff_form *a,
                                  const struct diff_form *b)
{
    diff->pairs = xgrow(diff->pairs, &diff->pairs_capacity, diff->npairs + 1, sizeof *diff->pairs);
    struct diff_pair *pair = &diff->pairs[diff->npairs++];
    *pair = (struct diff_pair){
        .a = a, .b = b, .sure = true, .ratio = (double)NAN, .explained = "", .evidence = ""};
    return pair;
}

// Adds a pair of forms; one that neither CPU has is none.
static void diff_add_common(struct diff *diff, const struct diff_form *a, const struct diff_form *b)
{
    const struct diff_form *sides[2] = {a, b};
    if (form_lacks(a) && form_lacks(b))
        return;
    pair_judge(diff, diff_add(diff, a, b));
    for (int i = 0; i < 2; i++) {
        const struct diff_form *this = sides[i], *other = sides[!i];
        diff->unasked[i][0] += !strchr(this->tests, 'L') &&
                               !isnan(other->values[diff_column(diff, "latency_min_clk")].number);
        diff->unasked[i][1] += !strchr(this->tests, 'T') &&
                               !isnan(other->values[diff_column(diff, "rthroughput_clk")].number);
        diff->unasked[i][2] += !strchr(this->tests, 'P') && strchr(other->tests, 'P') != NULL;
    }
}

// Adds a form that one side's runs do not have, unless the other CPU lacks it.
static void diff_add_only(struct diff *diff, const struct diff_form *form, bool of_b)
{
    if (form_lacks(form))
        return;
    struct diff_pair *pair =
        of_b ? diff_add(diff, &diff->absent, form) : diff_add(diff, form, &diff->absent);
    pair->change = of_b ? DIFF_ONLY_B : DIFF_ONLY_A;
}

const struct diff_form *diff_pair_form(const struct diff_pair *pair)
{
    return pair->change == DIFF_ONLY_A ? pair->a : pair->b;
}

// --- classes ---

static const char *pair_class(const struct diff *diff, const struct diff_pair *pair)
{
    const struct diff_form *form = diff_pair_form(pair);
    const char *name = diff->by_isa ? form->isa : form->list;
    return *name ? name : "-";
}

struct sorted_pair {
    const char *class;
    const struct diff_pair *pair;
};

static int sorted_compare(const void *a, const void *b)
{
    const struct sorted_pair *one = a, *two = b;
    int order = strcmp(one->class, two->class);
    return order ? order : (one->pair > two->pair) - (one->pair < two->pair);
}

// Returns the median ratio of b's values to a's: of the largest latencies, of throughputs with fast
// data.
static double class_ratio(const struct sorted_pair *pairs, size_t n, int value)
{
    double *ratios = xcalloc(n, sizeof *ratios), median = (double)NAN;
    int nratios = 0;
    for (size_t i = 0; i < n; i++) {
        double one = pairs[i].pair->a->values[value].number;
        double two = pairs[i].pair->b->values[value].number;
        if (one > 0 && two > 0)
            ratios[nratios++] = two / one;
    }
    if (nratios > 0) {
        quantile_sort(ratios, nratios);
        median = quantile_median(ratios, nratios);
    }
    free(ratios);
    return median;
}

static struct diff_class class_make(const struct diff *diff, const char *name,
                                    const struct sorted_pair *pairs, size_t n)
{
    struct diff_class class = {.name = name};
    for (size_t i = 0; i < n; i++) {
        class.counts[pairs[i].pair->change]++;
        class.doubtful += !pairs[i].pair->sure;
    }
    class.common = n - class.counts[DIFF_ONLY_A] - class.counts[DIFF_ONLY_B];
    class.ratios[0] = class_ratio(pairs, n, diff_column(diff, "result_latency_max_clk"));
    class.ratios[1] = class_ratio(pairs, n, diff_column(diff, "rthroughput_clk"));
    return class;
}

static void diff_classify(struct diff *diff)
{
    size_t n = diff->npairs, capacity = 0;
    struct sorted_pair *sorted = xcalloc(n + 1, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct sorted_pair){pair_class(diff, &diff->pairs[i]), &diff->pairs[i]};
    if (n > 0)
        qsort(sorted, n, sizeof *sorted, sorted_compare);
    for (size_t i = 0, end; i < n || diff->nclasses == 0; i = end) {
        diff->classes = xgrow(diff->classes, &capacity, diff->nclasses + 2, sizeof *diff->classes);
        if (diff->nclasses == 0)
            diff->classes[diff->nclasses++] = class_make(diff, "all", sorted, n);
        for (end = i; end < n && strcmp(sorted[end].class, sorted[i].class) == 0;)
            end++;
        if (end > i)
            diff->classes[diff->nclasses++] =
                class_make(diff, sorted[i].class, sorted + i, end - i);
    }
    free(sorted);
}

void diff_make(struct diff *diff)
{
    const struct diff_side *a = &diff->sides[0], *b = &diff->sides[1];
    size_t i = 0, j = 0;
    while (i < a->nforms || j < b->nforms) {
        int order = i == a->nforms   ? 1
                    : j == b->nforms ? -1
                                     : form_compare(&a->forms[i], &b->forms[j]);
        if (order == 0)
            diff_add_common(diff, &a->forms[i], &b->forms[j]);
        else
            diff_add_only(diff, order > 0 ? &b->forms[j] : &a->forms[i], order > 0);
        i += order <= 0;
        j += order >= 0;
    }
    diff_classify(diff);
}

// --- order ---

static int pair_compare(const struct diff_pair *one, const struct diff_pair *two)
{
    return form_compare(diff_pair_form(one), diff_pair_form(two));
}

static int ratio_compare(const void *a, const void *b)
{
    const struct diff_pair *one = a, *two = b;
    double less = ratio_factor(one->ratio), more = ratio_factor(two->ratio);
    return less == more ? pair_compare(one, two) : (less < more) - (less > more);
}

static int clk_compare(const void *a, const void *b)
{
    const struct diff_pair *one = a, *two = b;
    double less = one->change_clk, more = two->change_clk;
    return less == more ? pair_compare(one, two) : (less < more) - (less > more);
}

void diff_sort(struct diff *diff, enum diff_order order)
{
    if (order != DIFF_BY_FORM && diff->npairs > 0)
        qsort(diff->pairs, diff->npairs, sizeof *diff->pairs,
              order == DIFF_BY_RATIO ? ratio_compare : clk_compare);
}

void diff_free(struct diff *diff)
{
    for (int i = 0; i < 2; i++) {
        free(diff->sides[i].forms);
        arena_free(&diff->sides[i].arena);
    }
    free(diff->pairs);
    free(diff->classes);
    free(diff->groups);
    arena_free(&diff->arena);
}
