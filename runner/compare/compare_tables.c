// SPDX-License-Identifier: MIT
// A table of others beside the forms of one CPU; see compare_tables.h.
#include "compare_tables_internal.h"

#include "diff/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *value_class(const struct compare_value *value)
{
    const struct list_row *row = value->form->row;
    return row && *row->isa ? row->isa : "-";
}

// Returns the form that is meant: that with one register for all operands, which has a row of its
// own, where the file's row has one, too.
static const struct known_form *match_form(const struct compare_match *match,
                                           const struct foreign_value *value)
{
    const struct foreign_row *row = match->row;
    int registers = 0;
    for (int i = 0; i < row->nops && row->chain; i++) {
        if (row->ops[i].reg >= 0 && row->ops[i].reg != row->ops[0].reg)
            return match->form;
        registers += row->ops[i].reg >= 0;
    }
    if (!match->same || registers < 2)
        return match->form;
    struct compare_ours ours = compare_ours_of(match, match->same, value);
    return isnan(ours.bound) ? match->form : match->same;
}

// Returns a value in core cycles; NULL: it is in ns, and the clock is not known.
static const struct foreign_value *in_cycles(struct compare_tables *tables,
                                             const struct foreign_value *theirs)
{
    double factor = theirs->ns ? tables->ns : tables->factor;
    if (theirs->quantity == FOREIGN_UOPS || theirs->quantity == FOREIGN_PORTS || factor == 1)
        return theirs;
    if (isnan(factor))
        return NULL;
    struct foreign_value *value = arena_alloc(&tables->arena, sizeof *value);
    *value = *theirs;
    value->least /= factor;
    value->most /= factor;
    return value;
}

static void add_value(struct compare_tables *tables, const struct compare_match *match,
                      const struct foreign_value *value)
{
    const struct foreign_value *theirs = in_cycles(tables, value);
    if (!theirs) {
        tables->unclocked++;
        return;
    }
    const struct known_form *form = match_form(match, theirs);
    struct compare_ours ours = compare_ours_of(match, form, theirs);
    if (isnan(ours.bound)) {
        tables->without++;
        return;
    }
    tables->values =
        xgrow(tables->values, &tables->room, (size_t)tables->nvalues + 1, sizeof *tables->values);
    tables->values[tables->nvalues++] =
        (struct compare_value){.match = match, .theirs = theirs, .form = form, .ours = ours};
}

static void count(struct compare_counted *counted, const struct compare_value *value)
{
    counted->compared++;
    counted->agree += value->group == GROUP_AGREES;
    counted->grouped[value->group]++;
}

static int class_compare(const void *a, const void *b)
{
    const struct compare_counted *x = a, *y = b;
    int order = strcmp(x->class, y->class);
    return order ? order : strcmp(x->quantity, y->quantity);
}

// Counts by class, of which there are as many as extensions and their combinations.
static void count_classes(struct compare_tables *tables)
{
    size_t room = 0;
    for (int i = 0; i < tables->nvalues; i++) {
        const struct compare_value *value = &tables->values[i];
        const char *class = value_class(value);
        const char *quantity = foreign_quantity_names[value->theirs->quantity];
        int c = 0;
        while (c < tables->nclasses && (tables->classes[c].quantity != quantity ||
                                        strcmp(tables->classes[c].class, class) != 0))
            c++;
        if (c == tables->nclasses) {
            tables->classes = xgrow(tables->classes, &room, (size_t)tables->nclasses + 1,
                                    sizeof *tables->classes);
            tables->classes[tables->nclasses++] =
                (struct compare_counted){.class = class, .quantity = quantity};
        }
        count(&tables->classes[c], value);
    }
    if (tables->nclasses > 0)
        qsort(tables->classes, (size_t)tables->nclasses, sizeof *tables->classes, class_compare);
}

static int reason_compare(const void *a, const void *b)
{
    const struct compare_reason *x = a, *y = b;
    return y->n != x->n ? y->n - x->n : strcmp(x->why, y->why);
}

static void count_reasons(struct compare_tables *tables)
{
    size_t room = 0;
    for (int i = 0; i < tables->nmatches; i++) {
        const struct compare_match *match = &tables->matches[i];
        int r = 0;
        if (match->form)
            continue;
        while (r < tables->nreasons && strcmp(tables->reasons[r].why, match->why) != 0)
            r++;
        if (r == tables->nreasons) {
            tables->reasons = xgrow(tables->reasons, &room, (size_t)tables->nreasons + 1,
                                    sizeof *tables->reasons);
            tables->reasons[tables->nreasons++] =
                (struct compare_reason){match->why, match->row->name, 0};
        }
        tables->reasons[r].n++;
    }
    if (tables->nreasons > 0)
        qsort(tables->reasons, (size_t)tables->nreasons, sizeof *tables->reasons, reason_compare);
}

// Returns true unless both are ours, of CPUs of different families.
static bool is_kin(const struct foreign_table *theirs, const struct known_cpu *ours)
{
    char one[64], two[64];
    if (theirs->nrows == 0 || !theirs->rows[0].form)
        return true;
    return strcmp(diff_family(theirs->uarch, one, sizeof one),
                  diff_family(ours->uarch, two, sizeof two)) == 0;
}

void compare_tables_make(const struct foreign_table *theirs, const struct known_cpu *ours,
                         const char *const called[2], struct compare_tables *tables)
{
    *tables = (struct compare_tables){
        .theirs = theirs,
        .ours = ours,
        .called = {called ? called[0] : "ours", called ? called[1] : "theirs"},
        .named = called != NULL,
        .kin = is_kin(theirs, ours)
    };
    compare_match_all(tables);
    tables->factor = compare_clock_factor(tables, false);
    tables->ns = compare_clock_factor(tables, true);
    for (int i = 0; i < tables->nmatches; i++)
        for (int v = 0; tables->matches[i].form && v < tables->matches[i].row->nvalues; v++)
            add_value(tables, &tables->matches[i], &tables->matches[i].row->values[v]);
    compare_judge_all(tables);
    for (int q = 0; q < FOREIGN_QUANTITIES; q++)
        tables->quantities[q] =
            (struct compare_counted){.class = "all", .quantity = foreign_quantity_names[q]};
    for (int i = 0; i < tables->nvalues; i++) {
        struct compare_value *value = &tables->values[i];
        count(&tables->quantities[value->theirs->quantity], value);
        tables->groups[value->group]++;
    }
    count_classes(tables);
    count_reasons(tables);
}

double compare_tables_open(const struct compare_tables *tables)
{
    return tables->nvalues ? 100.0 * tables->groups[GROUP_OPEN] / tables->nvalues : 0;
}

void compare_tables_free(struct compare_tables *tables)
{
    free(tables->matches);
    free(tables->values);
    free(tables->classes);
    free(tables->widths);
    free(tables->reasons);
    arena_free(&tables->arena);
}
