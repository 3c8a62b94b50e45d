// SPDX-License-Identifier: MIT
// See compare_diff.h. A pair was judged by one column. Values of its quantity are judged both ways,
// since evidence may be on either side: a bound, a dense chain, what is done at rename.
#include "compare_diff.h"
#include "compare_tables_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// One side, and the other beside it.
struct side {
    struct known_cpu data;
    struct foreign_table table;
    struct compare_tables beside; // ours: this side; theirs: the other one's table
};

struct explained {
    enum compare_group group;
    const char *evidence;
};

static enum foreign_quantity column_quantity(const struct column *column)
{
    return column->asked == 'L'                     ? FOREIGN_LATENCY
           : column->asked == 'T'                   ? FOREIGN_THROUGHPUT
           : strcmp(column->look.name, "uops") == 0 ? FOREIGN_UOPS
                                                    : FOREIGN_PORTS;
}

static int value_compare(const void *key, const void *element)
{
    const struct known_form *form = key;
    const struct compare_value *value = element;
    return (form > value->form) - (form < value->form);
}

// Returns the first value of a form; NULL: there is none. They are in the order of forms.
static const struct compare_value *first_value(const struct compare_tables *tables,
                                               const struct known_form *form)
{
    if (!form || tables->nvalues == 0)
        return NULL;
    const struct compare_value *value =
        bsearch(form, tables->values, (size_t)tables->nvalues, sizeof *value, value_compare);
    while (value && value > tables->values && value[-1].form == form)
        value--;
    return value;
}

// Explains the values of a quantity: by what explains the largest difference, if each is
// explained.
static struct explained explain_one(const struct compare_tables *tables, const struct diff_form *of,
                                    enum foreign_quantity quantity)
{
    const struct stored_form id = {of->form, of->enc, (int)of->bits};
    const struct known_cpu *ours = tables->ours;
    const struct known_form *form =
        stored_form_find(&id, ours->forms, ours->nforms, sizeof *ours->forms);
    const struct compare_value *value = first_value(tables, form);
    const struct compare_value *end = tables->values + tables->nvalues;
    struct explained found = {GROUP_OPEN, ""};
    double most = -1;
    for (; value && value < end && value->form == form; value++) {
        bool counts = value->theirs->quantity == quantity && value->group != GROUP_AGREES &&
                      (quantity != FOREIGN_LATENCY || compare_is_of_result(value));
        if (counts && value->group == GROUP_OPEN)
            return (struct explained){GROUP_OPEN, ""};
        double gap = fabs(value->theirs->most - value->ours.bound);
        if (counts && gap > most) {
            most = gap;
            found = (struct explained){value->group, value->evidence};
        }
    }
    return found;
}

static struct explained explain_pair(const struct side sides[2], struct diff *diff,
                                     const struct diff_pair *pair, int column)
{
    enum foreign_quantity quantity = column_quantity(diff->columns[column]);
    double a = pair->a->values[column].number, b = pair->b->values[column].number;
    if (column_gap_is_small(fabs(a - b), fmax(a, b), compare_tolerances[quantity]))
        return (struct explained){
            GROUP_AGREES,
            arena_printf(&diff->arena, "%s apart", compare_clk(&diff->arena, fabs(a - b)))};
    struct explained found = explain_one(&sides[0].beside, pair->a, quantity);
    if (found.group == GROUP_OPEN)
        found = explain_one(&sides[1].beside, pair->a, quantity);
    return found;
}

// Returns the name of a group; what compare calls the same differs here, but little.
static const char *group_name(enum compare_group group)
{
    return group == GROUP_AGREES ? "small" : compare_group_records[group].name;
}

// Explains the pairs, and counts the groups.
static void explain_all(const struct side sides[2], struct diff *diff)
{
    size_t counts[COMPARE_GROUPS] = {0};
    for (size_t i = 0; i < diff->npairs; i++) {
        struct diff_pair *pair = &diff->pairs[i];
        int column = diff_pair_column(diff, pair);
        if (column < 0)
            continue;
        struct explained found = explain_pair(sides, diff, pair, column);
        pair->explained = group_name(found.group);
        pair->evidence = arena_strdup(&diff->arena, found.evidence);
        counts[found.group]++;
    }
    diff->groups = xcalloc(COMPARE_GROUPS, sizeof *diff->groups);
    for (int g = 0; g < COMPARE_GROUPS; g++)
        if (counts[g])
            diff->groups[diff->ngroups++] = (struct diff_group){
                group_name((enum compare_group)g),
                g == GROUP_AGREES ? "the same for latput compare, whose tolerance is larger"
                                  : compare_group_records[g].says,
                counts[g]};
}

// Restricts reading to the mnemonics of pairs that are to be explained. Returns their number of
// pairs, or -1.
static int narrow(struct store *store, const struct diff *diff, struct err *err)
{
    const char **mnemonics = xcalloc(diff->npairs + 1, sizeof *mnemonics);
    int n = 0;
    for (size_t i = 0; i < diff->npairs; i++)
        if (diff_pair_column(diff, &diff->pairs[i]) >= 0)
            mnemonics[n++] = diff->pairs[i].a->mnemonic;
    int status = n > 0 ? store_narrow(store, mnemonics, n, err) : 0;
    free(mnemonics);
    return status == 0 ? n : -1;
}

static int side_read(struct store *store, const struct diff_side *of, const char *uarch,
                     struct side *side, struct err *err)
{
    const struct store_filter filter = {.uarch = uarch, .run_id = of->filter.run_id};
    side->table =
        (struct foreign_table){.path = of->name, .format = FOREIGN_LATPUT, .cpu = "", .uarch = ""};
    return known_read(store, &filter, KNOWN_ROWS, &side->data, err) == 0
               ? foreign_of_known(&side->data, &side->table, err)
               : -1;
}

int compare_diff(struct store *store, const char *const uarchs[2], struct diff *diff,
                 struct err *err)
{
    struct side *sides = xcalloc(2, sizeof *sides);
    int n = narrow(store, diff, err), status = n < 0 ? -1 : 0;
    if (n > 0)
        status = store_keep_best(store, err);
    for (int i = 0; i < 2 && n > 0 && status == 0; i++)
        status = side_read(store, &diff->sides[i], uarchs[i], &sides[i], err);
    for (int i = 0; i < 2 && n > 0 && status == 0; i++) {
        const char *const called[2] = {diff->sides[i].name, diff->sides[!i].name};
        compare_tables_make(&sides[!i].table, &sides[i].data, called, &sides[i].beside);
    }
    if (n > 0 && status == 0)
        explain_all(sides, diff);
    for (int i = 0; i < 2; i++) {
        compare_tables_free(&sides[i].beside);
        foreign_free(&sides[i].table);
        known_free(&sides[i].data);
    }
    free(sides);
    return status;
}
