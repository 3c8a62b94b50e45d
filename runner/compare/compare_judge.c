// SPDX-License-Identifier: MIT
// Explains why values differ: by the first of the groups for which there is evidence.
#include "compare_tables_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct column_tolerance compare_tolerances[FOREIGN_QUANTITIES] = {
    [FOREIGN_LATENCY] = {0.2,  0.05},
    [FOREIGN_THROUGHPUT] = {0.06, 0.08},
    [FOREIGN_UOPS] = {0.3,  0   },
    [FOREIGN_PORTS] = {0,    0   },
};

// clang-format off
const struct compare_group_record compare_group_records[COMPARE_GROUPS] = {
    [GROUP_AGREES] = {"agrees", "", "the values are the same, within the tolerance"},
    [GROUP_EXCHANGED] = {"exchanged", "theirs",
        "the row and its neighbour each have what is ours of the other"},
    [GROUP_BOUND] = {"bound", "neither", "one is an upper bound, and the other lies below it"},
    [GROUP_IDIOM] = {"idiom", "neither",
        "ours of one register for all operands is the same, or one side alone is done at rename"},
    [GROUP_TWO] = {"one or two cycles", "neither",
        "theirs is between ours among other instructions and in a dense chain"},
    [GROUP_IMMEDIATE] = {"other immediate", "neither", "ours with another constant is the same"},
    [GROUP_PAIR] = {"other operand pair", "neither",
        "ours of another pair of operands is the same"},
    [GROUP_CUT] = {"cut flags", "neither",
        "their throughput is the latency of a chain that ours cuts"},
    [GROUP_WIDTH] = {"other vector width", "neither",
        "a multiple of two, and narrower vectors agree: another datapath"},
    [GROUP_PORTS] = {"ports", "either",
        "as many µops, on more or fewer of the same ports"},
    [GROUP_NO_CHAIN] = {"no chain", "theirs", "their latency is their throughput"},
    [GROUP_OPEN] = {"not explained", "either", "nothing here explains it: look at the samples"},
};
// clang-format on

const char *compare_clk(struct arena *arena, double clk)
{
    char text[32];
    return arena_strdup(arena, output_number(clk, text));
}

// Values that are given to hundredths lie on the tolerance itself.
static const double on_tolerance = 1e-9;

bool compare_near(enum foreign_quantity quantity, double theirs, double ours)
{
    return column_gap_is_small(fabs(theirs - ours) - on_tolerance, ours,
                               compare_tolerances[quantity]);
}

// Returns true if theirs has a value in common with a range of ours, within the tolerance or the
// rounding of the file.
static bool value_near(const struct foreign_value *theirs, double least, double most)
{
    const struct column_range range = {theirs->least, theirs->most}, ours = {least, most};
    double gap = column_gap(range, ours);
    return gap <= theirs->rounding ||
           column_gap_is_small(gap - on_tolerance, theirs->most < least ? least : most,
                               compare_tolerances[theirs->quantity]);
}

bool compare_agrees(const struct foreign_value *theirs, const struct compare_ours *ours)
{
    double most = isnan(ours->most) ? ours->bound : ours->most;
    double least = isnan(ours->least) ? most : ours->least;
    if (theirs->quantity == FOREIGN_PORTS)
        return port_uses_same(&ours->uses, &ours->theirs);
    return value_near(theirs, least, most) ||
           compare_near(theirs->quantity, theirs->most, ours->bound) ||
           compare_near(theirs->quantity, theirs->most, ours->bound_from) ||
           fabs(theirs->most - ours->bound) <= theirs->rounding ||
           fabs(theirs->most - ours->bound_from) <= theirs->rounding;
}

// --- explanations ---

typedef bool explains(struct compare_tables *tables, struct compare_value *value);

// Returns evidence with whose it is, where it is told by names; side: of called.
static const char *evidence_of(struct compare_tables *tables, int side, const char *evidence)
{
    return tables->named ? arena_printf(&tables->arena, "%s: %s", tables->called[side], evidence)
                         : evidence;
}

static const char *evidence_form(struct compare_tables *tables, const struct known_form *form,
                                 const struct compare_ours *ours, enum foreign_quantity quantity)
{
    if (quantity == FOREIGN_PORTS)
        return arena_printf(&tables->arena, "`%s` has %s", form->id.form, form->ports);
    const char *clk = compare_clk(&tables->arena, isnan(ours->most) ? ours->bound : ours->most);
    return evidence_of(tables, 0, arena_printf(&tables->arena, "`%s` has %s", form->id.form, clk));
}

static bool explains_bound(struct compare_tables *tables, struct compare_value *value)
{
    const struct foreign_value *theirs = value->theirs;
    const struct compare_ours *ours = &value->ours;
    double most = isnan(ours->most) ? 0 : ours->most;
    bool mine = ours->bound > most + 1e-9 && theirs->most < ours->bound &&
                (isnan(ours->least) || theirs->most > ours->least);
    bool other = theirs->upper && theirs->most > most;
    if (!mine && !other)
        return false;
    value->evidence = arena_printf(&tables->arena, "%s ≤%s", tables->called[mine ? 0 : 1],
                                   compare_clk(&tables->arena, mine ? ours->bound : theirs->most));
    return true;
}

// Both are ours, and only one does the form at rename.
static bool explains_rename(struct compare_tables *tables, struct compare_value *value)
{
    const char *ours = value->form->at_rename, *theirs = value->match->row->at_rename;
    if (!theirs || !*ours == !*theirs)
        return false;
    value->evidence =
        evidence_of(tables, *ours ? 0 : 1,
                    arena_printf(&tables->arena, "at rename: %s", *ours ? ours : theirs));
    return true;
}

static bool explains_idiom(struct compare_tables *tables, struct compare_value *value)
{
    const struct known_form *same = value->match->same;
    if (explains_rename(tables, value))
        return true;
    if (!same || same == value->form || (value->match->row->form && !*same->at_rename))
        return false;
    struct compare_ours ours = compare_ours_of(value->match, same, value->theirs);
    if (!isnan(ours.bound) && compare_agrees(value->theirs, &ours)) {
        value->evidence = evidence_form(tables, same, &ours, value->theirs->quantity);
        return true;
    }
    // A chain of idioms takes what their throughput is.
    if (value->theirs->quantity != FOREIGN_LATENCY || isnan(same->rthroughput_clk) ||
        !*same->at_rename ||
        !compare_near(FOREIGN_THROUGHPUT, value->theirs->most, same->rthroughput_clk))
        return false;
    value->evidence = evidence_of(
        tables, 0,
        arena_printf(&tables->arena, "`%s` is done at rename, one in %s cycles", same->id.form,
                     compare_clk(&tables->arena, same->rthroughput_clk)));
    return true;
}

static bool explains_two(struct compare_tables *tables, struct compare_value *value)
{
    const struct compare_ours *ours = &value->ours;
    double theirs = value->theirs->most;
    if (value->theirs->quantity != FOREIGN_LATENCY || isnan(ours->dense) || isnan(ours->least) ||
        ours->dense < ours->least + 0.3 || theirs < ours->least || theirs > ours->dense * 1.05)
        return false;
    const char *dense = compare_clk(&tables->arena, ours->dense);
    const char *filled = compare_clk(&tables->arena, ours->least);
    value->evidence =
        evidence_of(tables, 0, arena_printf(&tables->arena, "dense %s, filled %s", dense, filled));
    return true;
}

static bool explains_immediate(struct compare_tables *tables, struct compare_value *value)
{
    for (int i = 0; i < value->match->nothers; i++) {
        const struct known_form *other = value->match->others[i];
        struct compare_ours ours = compare_ours_of(value->match, other, value->theirs);
        if (isnan(ours.bound) || !compare_agrees(value->theirs, &ours))
            continue;
        value->evidence = evidence_form(tables, other, &ours, value->theirs->quantity);
        return true;
    }
    return false;
}

static bool explains_pair(struct compare_tables *tables, struct compare_value *value)
{
    const struct known_form *form = value->form;
    if (value->theirs->quantity != FOREIGN_LATENCY || !tables->kin)
        return false;
    for (int i = 0; i < form->npairs; i++) {
        const struct known_pair *pair = &form->pairs[i];
        if (isnan(pair->clk) || !compare_near(FOREIGN_LATENCY, value->theirs->most, pair->clk))
            continue;
        const char *clk = compare_clk(&tables->arena, pair->clk);
        value->evidence = evidence_of(tables, 0,
                                      arena_printf(&tables->arena, "%s → %s %s%s", pair->src,
                                                   pair->dst, pair->upper ? "≤" : "", clk));
        return true;
    }
    return false;
}

// Returns true for a pair from an operand to itself, or through flags.
static bool pair_is_chain(const struct known_pair *pair)
{
    bool flags = strncmp(pair->dst, "flags", 5) == 0 &&
                 (strncmp(pair->src, "flags", 5) == 0 || strcmp(pair->src, "cf") == 0);
    return flags || strcmp(pair->src, pair->dst) == 0;
}

static bool explains_cut(struct compare_tables *tables, struct compare_value *value)
{
    const struct known_form *form = value->form;
    if (value->theirs->quantity != FOREIGN_THROUGHPUT || !tables->kin)
        return false;
    for (int i = 0; i < form->npairs; i++) {
        const struct known_pair *pair = &form->pairs[i];
        if (isnan(pair->clk) || !pair_is_chain(pair) || pair->clk <= form->rthroughput_clk ||
            !compare_near(FOREIGN_LATENCY, value->theirs->most, pair->clk))
            continue;
        const char *shown = compare_clk(&tables->arena, pair->clk);
        value->evidence = evidence_of(
            tables, 0, arena_printf(&tables->arena, "%s → %s %s", pair->src, pair->dst, shown));
        return true;
    }
    return false;
}

// Returns the widest vector of a form in bits, 0 if there is none.
static int form_width(const struct known_form *form)
{
    int bits = 0;
    for (int i = 0; form->row && i < form->row->nops; i++)
        if (form->row->ops[i].kind == OPERAND_VEC && form->row->ops[i].bits > bits)
            bits = form->row->ops[i].bits;
    return bits;
}

static int width_compare(const void *a, const void *b)
{
    const struct compare_width *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    if (order == 0)
        order = (int)x->value->theirs->quantity - (int)y->value->theirs->quantity;
    if (order == 0)
        order = x->bits - y->bits;
    return order ? order : (x->value > y->value) - (x->value < y->value);
}

static const char *width_key(struct compare_tables *tables, const struct known_form *form)
{
    struct strbuf key = {0};
    foreign_shape_of_row(form->row, FOREIGN_WIDTH, &key);
    const char *text = arena_strdup(&tables->arena, strbuf_text(&key));
    strbuf_free(&key);
    return text;
}

// Collects what agrees of forms with vectors.
static void widths_make(struct compare_tables *tables)
{
    tables->widths = xcalloc((size_t)tables->nvalues + 1, sizeof *tables->widths);
    for (int i = 0; i < tables->nvalues; i++) {
        const struct compare_value *value = &tables->values[i];
        if (value->group == GROUP_AGREES && value->theirs->quantity != FOREIGN_LATENCY &&
            value->theirs->quantity != FOREIGN_PORTS && form_width(value->form) > 0)
            tables->widths[tables->nwidths++] = (struct compare_width){
                width_key(tables, value->form), form_width(value->form), value};
    }
    if (tables->nwidths > 0)
        qsort(tables->widths, (size_t)tables->nwidths, sizeof *tables->widths, width_compare);
}

// Returns a value of the same quantity for narrower vectors that agrees; NULL: there is none.
static const struct compare_value *width_find(struct compare_tables *tables,
                                              const struct compare_value *value)
{
    const struct compare_width sought = {width_key(tables, value->form), 0, value};
    int from = 0, to = tables->nwidths;
    while (from < to) { // the narrowest of them
        int middle = from + (to - from) / 2;
        if (width_compare(&tables->widths[middle], &sought) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    const struct compare_width *found = &tables->widths[from];
    bool narrower = from < tables->nwidths && strcmp(found->key, sought.key) == 0 &&
                    found->value->theirs->quantity == value->theirs->quantity &&
                    found->bits < form_width(value->form);
    return narrower ? found->value : NULL;
}

static bool explains_width(struct compare_tables *tables, struct compare_value *value)
{
    const struct known_form *form = value->form;
    double ours = value->ours.most, theirs = value->theirs->most;
    enum foreign_quantity quantity = value->theirs->quantity;
    if ((quantity != FOREIGN_THROUGHPUT && quantity != FOREIGN_UOPS) || form_width(form) < 256 ||
        !(compare_near(quantity, theirs, 2 * ours) || compare_near(quantity, 2 * theirs, ours) ||
          compare_near(quantity, theirs, 4 * ours) || compare_near(quantity, 4 * theirs, ours)))
        return false;
    const struct compare_value *narrower = width_find(tables, value);
    if (narrower)
        value->evidence =
            arena_printf(&tables->arena, "`%s` agrees: %s", narrower->match->form->id.form,
                         compare_clk(&tables->arena, narrower->theirs->most));
    return narrower != NULL;
}

static bool explains_ports(struct compare_tables *tables, struct compare_value *value)
{
    if (value->theirs->quantity != FOREIGN_PORTS ||
        !compare_sets_nested(&value->ours.uses, &value->ours.theirs))
        return false;
    value->evidence = arena_printf(&tables->arena, "%d µop%s on each side", value->ours.uses.uops,
                                   value->ours.uses.uops == 1 ? "" : "s");
    return true;
}

static const struct foreign_value *row_value(const struct foreign_row *row,
                                             enum foreign_quantity quantity)
{
    for (int i = 0; i < row->nvalues; i++)
        if (row->values[i].quantity == quantity)
            return &row->values[i];
    return NULL;
}

static bool explains_no_chain(struct compare_tables *tables, struct compare_value *value)
{
    const struct foreign_value *throughput = row_value(value->match->row, FOREIGN_THROUGHPUT);
    if (value->theirs->quantity != FOREIGN_LATENCY || value->match->row->form || !throughput ||
        value->theirs->most > value->ours.bound || throughput->ns != value->theirs->ns)
        return false;
    double clk = throughput->most / (throughput->ns ? tables->ns : tables->factor);
    if (!compare_near(FOREIGN_THROUGHPUT, value->theirs->most, clk))
        return false;
    value->evidence = arena_printf(&tables->arena, "both are %s", compare_clk(&tables->arena, clk));
    return true;
}

// --- neighbours ---

// Returns the value of a row that differs; NULL: none does, or has this quantity.
static struct compare_value *differing(struct compare_tables *tables, int from,
                                       const struct foreign_row *row,
                                       enum foreign_quantity quantity)
{
    for (int i = from; i < tables->nvalues && tables->values[i].match->row <= row; i++) {
        struct compare_value *value = &tables->values[i];
        if (value->match->row == row && value->theirs->quantity == quantity)
            return value->group == GROUP_AGREES ? NULL : value;
    }
    return NULL;
}

// Returns true if two values are so far apart that taking one for the other is no matter of noise.
static bool far_apart(const struct compare_value *one, const struct compare_value *two)
{
    const struct column_tolerance *tolerance = &compare_tolerances[one->theirs->quantity];
    double a = one->theirs->most, b = two->theirs->most;
    return fabs(a - b) > 3 * fmax(tolerance->clk, tolerance->share * fmin(a, b));
}

// Each of two rows has what is ours of the other, and both are wrong where they are.
static void judge_exchanged(struct compare_tables *tables)
{
    for (int i = 0; i < tables->nvalues; i++) {
        struct compare_value *one = &tables->values[i];
        const struct foreign_row *row = one->match->row;
        int next = (int)(row - tables->theirs->rows) + 1;
        if (one->group == GROUP_AGREES || one->group == GROUP_EXCHANGED || one->theirs->src ||
            one->theirs->quantity == FOREIGN_PORTS || next >= tables->nmatches)
            continue;
        struct compare_value *two =
            differing(tables, i, &tables->theirs->rows[next], one->theirs->quantity);
        if (!two || two->theirs->src || !far_apart(one, two) ||
            !compare_agrees(one->theirs, &two->ours) || !compare_agrees(two->theirs, &one->ours))
            continue;
        one->group = two->group = GROUP_EXCHANGED;
        one->evidence = two->evidence =
            arena_printf(&tables->arena, "lines %d and %d", row->line, two->match->row->line);
    }
}

static void judge(struct compare_tables *tables, struct compare_value *value)
{
    static explains *const by_group[COMPARE_GROUPS] = {
        [GROUP_BOUND] = explains_bound,       [GROUP_IDIOM] = explains_idiom,
        [GROUP_TWO] = explains_two,           [GROUP_IMMEDIATE] = explains_immediate,
        [GROUP_PAIR] = explains_pair,         [GROUP_CUT] = explains_cut,
        [GROUP_WIDTH] = explains_width,       [GROUP_PORTS] = explains_ports,
        [GROUP_NO_CHAIN] = explains_no_chain,
    };
    for (int group = GROUP_EXCHANGED; group < GROUP_OPEN; group++)
        if (by_group[group] && by_group[group](tables, value)) {
            value->group = (enum compare_group)group;
            return;
        }
    value->group = GROUP_OPEN;
    value->evidence = "";
}

void compare_judge_all(struct compare_tables *tables)
{
    for (int i = 0; i < tables->nvalues; i++) {
        struct compare_value *value = &tables->values[i];
        value->group = compare_agrees(value->theirs, &value->ours) ? GROUP_AGREES : GROUP_OPEN;
        value->evidence = "";
    }
    if (tables->theirs->nrows > 0 && !tables->theirs->rows[0].form) // those are in our order
        judge_exchanged(tables);
    widths_make(tables);
    for (int i = 0; i < tables->nvalues; i++)
        if (tables->values[i].group == GROUP_OPEN)
            judge(tables, &tables->values[i]);
}
