// SPDX-License-Identifier: MIT
// Finds which form of ours a row of theirs is. Nothing is guessed: where several forms fit alike,
// none is taken, and they are named.
#include "compare_tables_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct index_entry {
    const char *key;
    const struct list_row *row;
    const struct known_form *form; // NULL: without results
};
struct match_index {
    struct index_entry *entries[FOREIGN_WIDTH]; // by FOREIGN_EXACT and FOREIGN_LOOSE, sorted by key
    size_t n;
};

static const char why_none[] = "no form of the lists";
static const char why_unmeasured[] = "a form of the lists without a result here";
static const char why_several[] = "several forms fit";

static int entry_compare(const void *a, const void *b)
{
    const struct index_entry *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    if (order == 0)
        order = (int)x->row->enc - (int)y->row->enc;
    return order ? order : strcmp(x->row->form, y->row->form);
}

static void index_make(struct match_index *index, struct compare_tables *tables)
{
    const struct known_cpu *data = tables->ours;
    size_t all = 0;
    for (int l = 0; l < data->nlists; l++)
        all += (size_t)data->lists[l].nrows;
    for (int shape = FOREIGN_EXACT; shape < FOREIGN_WIDTH; shape++)
        index->entries[shape] = xcalloc(all + 1, sizeof(struct index_entry));
    struct strbuf key = {0};
    // Rows with our names are found by them: the index has what else there is of the same shape.
    bool named = tables->theirs->nrows > 0 && tables->theirs->rows[0].form;
    for (int l = 0; l < data->nlists; l++)
        for (int r = 0; r < data->lists[l].nrows; r++) {
            const struct list_row *row = &data->lists[l].rows[r];
            struct stored_form id = stored_form_of(row);
            const struct known_form *form =
                stored_form_find(&id, data->forms, data->nforms, sizeof *data->forms);
            if (named && !form)
                continue;
            for (int shape = FOREIGN_EXACT; shape < FOREIGN_WIDTH; shape++) {
                strbuf_clear(&key);
                foreign_shape_of_row(row, (enum foreign_shape)shape, &key);
                index->entries[shape][index->n] = (struct index_entry){
                    arena_strdup(&tables->arena, strbuf_text(&key)), row, form};
            }
            index->n++;
        }
    for (int shape = FOREIGN_EXACT; shape < FOREIGN_WIDTH; shape++)
        if (index->n > 0)
            qsort(index->entries[shape], index->n, sizeof(struct index_entry), entry_compare);
    strbuf_free(&key);
}

// Returns the first entry of a key; *n: how many there are.
static const struct index_entry *index_find(const struct match_index *index,
                                            enum foreign_shape shape, const char *key, size_t *n)
{
    const struct index_entry *entries = index->entries[shape];
    size_t from = 0, to = index->n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (strcmp(entries[middle].key, key) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    *n = 0;
    while (from + *n < index->n && strcmp(entries[from + *n].key, key) == 0)
        ++*n;
    return entries + from;
}

static bool form_has_values(const struct known_form *form)
{
    return form && (form->npairs > 0 || !isnan(form->rthroughput_clk) || form->uops >= 0);
}

// Returns how far an entry is from what a row means: options that it has and the row does not name;
// -1: it is something else.
static int entry_distance(const struct index_entry *entry, const struct foreign_row *row)
{
    const struct list_row *ours = entry->row;
    if (ours->bits != row->bits || ours->same ||
        (*row->enc && strcmp(row->enc, encoding_name(ours->enc)) != 0))
        return -1;
    int distance = ours->noptions - ours->opcode.given;
    for (int i = 0; i < ours->noptions; i++) // these make no other form of it
        distance -= strstr("pointer small signs unrelated note roles fill data",
                           ours->options[i].key) != NULL;
    if (ours->opcode.given)
        distance += row->opcode == ours->opcode.byte ? -1 : 1;
    return 4 * (distance + 1) + (*row->enc ? 0 : (int)ours->enc);
}

static bool entries_differ_by_constants(const struct index_entry *a, const struct index_entry *b)
{
    struct strbuf x = {0}, y = {0};
    foreign_shape_of_row(a->row, FOREIGN_LOOSE, &x);
    foreign_shape_of_row(b->row, FOREIGN_LOOSE, &y);
    bool alike = a->row->enc == b->row->enc && strcmp(strbuf_text(&x), strbuf_text(&y)) == 0 &&
                 (strstr(strbuf_text(&x), " i") != NULL);
    strbuf_free(&x);
    strbuf_free(&y);
    return alike;
}

// Returns the nearest of some entries. *rival: another that is as near; NULL: none.
static const struct index_entry *entries_nearest(const struct index_entry *entries, size_t n,
                                                 const struct foreign_row *row,
                                                 const struct index_entry **rival)
{
    const struct index_entry *best = NULL;
    int least = 0;
    *rival = NULL;
    for (size_t i = 0; i < n; i++) {
        int distance = entry_distance(&entries[i], row);
        if (distance < 0)
            continue;
        if (!best || distance < least) {
            best = &entries[i];
            least = distance;
            *rival = NULL;
        } else if (distance == least && !entries_differ_by_constants(best, &entries[i])) {
            *rival = &entries[i];
        }
    }
    return best;
}

// Returns true if two rows have the same operands but for constants; of files, which may not say
// how wide memory is, nothing more than their shapes is known.
static bool rows_differ_by_constants(const struct list_row *a, const struct list_row *b)
{
    for (int i = 0; i < a->nops && i < b->nops; i++)
        if (a->ops[i].kind != OPERAND_IMM && a->ops[i].bits != b->ops[i].bits)
            return false;
    return true;
}

// Gathers the forms that differ in constants only, and the one with a single register.
static void match_kin(struct compare_match *match, const struct list_row *found,
                      const struct match_index *index, struct compare_tables *tables)
{
    struct strbuf key = {0};
    size_t n;
    foreign_shape_of_row(found, FOREIGN_LOOSE, &key);
    const struct index_entry *entries = index_find(index, FOREIGN_LOOSE, strbuf_text(&key), &n);
    bool constants = strstr(strbuf_text(&key), " i") != NULL;
    match->others = arena_alloc(&tables->arena, (n + 1) * sizeof(const struct known_form *));
    for (size_t i = 0; i < n; i++) {
        const struct list_row *row = entries[i].row;
        if (!form_has_values(entries[i].form) || entries[i].form == match->form ||
            row->bits != found->bits || row->enc != found->enc ||
            (match->row->form && !rows_differ_by_constants(row, found)))
            continue;
        if (row->same && strcmp(row->operands_text, found->operands_text) == 0)
            match->same = entries[i].form;
        else if (constants && !row->same)
            match->others[match->nothers++] = entries[i].form;
    }
    strbuf_free(&key);
}

// Looks for a form by its operands, as they are or more loosely.
static const struct index_entry *match_find(const struct match_index *index,
                                            const struct foreign_row *row,
                                            const struct index_entry **rival)
{
    const struct index_entry *found = NULL;
    struct strbuf key = {0};
    for (int shape = FOREIGN_EXACT; shape < FOREIGN_WIDTH && !found; shape++) {
        size_t n;
        strbuf_clear(&key);
        foreign_shape_of(row, (enum foreign_shape)shape, &key);
        const struct index_entry *entries =
            index_find(index, (enum foreign_shape)shape, strbuf_text(&key), &n);
        found = entries_nearest(entries, n, row, rival);
    }
    strbuf_free(&key);
    return found;
}

// Returns true for instructions whose two operands mean the same in either order.
static bool is_symmetric(const struct foreign_row *row)
{
    return row->nops == 2 &&
           (strcmp(row->mnemonic, "xchg") == 0 || strcmp(row->mnemonic, "test") == 0);
}

static void match_by_shape(struct compare_match *match, const struct match_index *index,
                           struct compare_tables *tables)
{
    const struct index_entry *rival = NULL, *found = match_find(index, match->row, &rival);
    if (!found && is_symmetric(match->row)) {
        struct foreign_row turned = *match->row;
        turned.ops[0] = match->row->ops[1];
        turned.ops[1] = match->row->ops[0];
        found = match_find(index, &turned, &rival);
    }
    match->why = !found ? why_none : rival ? why_several : NULL;
    if (found && rival)
        match->fits = arena_printf(&tables->arena, "%s; %s", found->row->form, rival->row->form);
    if (!found || rival)
        return;
    match->form = form_has_values(found->form) ? found->form : NULL;
    match->why = match->form ? NULL : why_unmeasured;
    match->fits = match->form ? "" : found->row->form;
    match_kin(match, found->row, index, tables);
    if (!match->form && match->same)
        match->why = NULL, match->form = match->same;
}

static void match_by_name(struct compare_match *match, const struct match_index *index,
                          struct compare_tables *tables)
{
    const struct stored_form id = {match->row->form, match->row->enc, match->row->bits};
    const struct known_cpu *data = tables->ours;
    const struct known_form *form =
        stored_form_find(&id, data->forms, data->nforms, sizeof *data->forms);
    match->form = form_has_values(form) ? form : NULL;
    match->why = match->form ? NULL : why_unmeasured;
    if (match->form && form->row && tables->kin)
        match_kin(match, form->row, index, tables);
}

void compare_match_all(struct compare_tables *tables)
{
    struct match_index index = {.n = 0};
    const struct foreign_table *theirs = tables->theirs;
    bool *found = xcalloc((size_t)tables->ours->nforms + 1, sizeof *found);
    index_make(&index, tables);
    tables->matches = xcalloc((size_t)theirs->nrows + 1, sizeof *tables->matches);
    tables->nmatches = theirs->nrows;
    for (int i = 0; i < theirs->nrows; i++) {
        struct compare_match *match = &tables->matches[i];
        *match = (struct compare_match){.row = &theirs->rows[i], .fits = ""};
        match->why = match->row->why;
        if (match->row->form)
            match_by_name(match, &index, tables);
        else if (!match->why)
            match_by_shape(match, &index, tables);
        if (match->form)
            found[match->form - tables->ours->forms] = true;
        tables->matched += match->form != NULL;
    }
    for (int i = 0; i < tables->ours->nforms; i++) {
        tables->ours_measured += form_has_values(&tables->ours->forms[i]);
        tables->ours_found += found[i];
    }
    for (int shape = FOREIGN_EXACT; shape < FOREIGN_WIDTH; shape++)
        free(index.entries[shape]);
    free(found);
}
