// SPDX-License-Identifier: MIT
// Two runs of properties side by side; see report_property.h.
#include "report_property.h"
#include "util/mem.h"
#include "util/text_table.h"

#include <math.h>
#include <string.h>

static const double SIZE_TOLERANCE = 0.02, TIME_TOLERANCE = 0.01;
// Smallest difference that counts, in cycles or nanoseconds per instance: work that costs nothing
// measures as a little more or less.
static const double TIME_LEAST = 0.01;

// Results of comparing values, from the best to the worst.
enum verdict { SAME, WITHIN, IN_DOUBT, DIFFERS, ONLY_FIRST, ONLY_SECOND, VERDICTS };
static const char *const verdict_names[VERDICTS] = {
    "same", "within", "in doubt", "differs", "only in first", "only in second",
};

// Returns true for labels of one kind, which are numbered: "level 1", "level 2".
static bool same_kind(const char *a, const char *b)
{
    size_t len = strcspn(a, "0123456789");
    return len == strcspn(b, "0123456789") && strncmp(a, b, len) == 0;
}

// Returns the value that corresponds to one of another conclusion. If one has a level more than the
// other, their numbers do not correspond: then it is the nearest of the kind.
static const struct conclusion_value *
find_value(const struct conclusion *in, const struct conclusion_value *value, bool by_label)
{
    const struct conclusion_value *nearest = NULL;
    for (int i = 0; i < in->nvalues; i++) {
        const struct conclusion_value *other = &in->values[i];
        if (by_label ? strcmp(other->label, value->label) != 0
                     : !same_kind(other->label, value->label))
            continue;
        if (!nearest || fabs(other->value - value->value) < fabs(nearest->value - value->value))
            nearest = other;
    }
    return nearest;
}

static const struct conclusion *find_conclusion(const struct swept_property *in,
                                                const char *variant)
{
    for (int i = 0; in && i < in->nconclusions; i++)
        if (strcmp(in->conclusions[i].variant, variant) == 0)
            return &in->conclusions[i];
    return NULL;
}

static const struct swept_property *find_property(const struct swept_property *in, int n,
                                                  const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(in[i].name, name) == 0)
            return &in[i];
    return NULL;
}

// Compares two values. Times are the same within one percent, sizes and counts within two. Less
// accurate values agree if the 95 % interval of their difference includes 0, computed from how far
// the interval of each reaches towards the other. (If each had to lie in the other's interval, one
// of six equal pairs would fail.)
static enum verdict judge_values(const struct swept_property *property,
                                 const struct conclusion_value *a, const struct conclusion_value *b)
{
    bool time = strcmp(a->unit, property->y_unit) == 0;
    double larger = fmax(fabs(a->value), fabs(b->value));
    double most = time ? fmax(TIME_TOLERANCE * larger, TIME_LEAST) : SIZE_TOLERANCE * larger;
    if (fabs(a->value - b->value) <= most)
        return SAME;
    if (a->high < b->low || b->high < a->low)
        return DIFFERS;
    const struct conclusion_value *less = a->value < b->value ? a : b, *more = less == a ? b : a;
    double reach = hypot(less->high - less->value, more->value - more->low);
    return more->value - less->value <= reach ? WITHIN : IN_DOUBT;
}

// Returns true if a value is part of the answer: the place of a knee, not the times of the levels
// beside it, for which memory may be shared with others; the slope, not the start of its line.
static bool is_answer(const struct swept_property *property, const char *label)
{
    static const char *const answers[] = {"knee", "slope"};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        size_t len = strlen(answers[i]);
        if (strncmp(property->reading, answers[i], len) == 0)
            return strncmp(label, answers[i], len) == 0;
    }
    return true;
}

static bool agree(enum verdict verdict)
{
    return verdict == SAME || verdict == WITHIN;
}

static enum verdict worse(enum verdict a, enum verdict b)
{
    return a > b ? a : b;
}

// Returns true if a conclusion is sure. The absence of a step has no confidence of its own: it is
// the result if none is found.
static bool is_sure(const struct conclusion *of)
{
    return of->outcome == CONCLUSION_NONE ||
           (of->outcome == CONCLUSION_OK && of->confidence >= CONFIDENCE_FAIR);
}

static bool last_is(const struct conclusion *of, const char *label)
{
    return of->nvalues && same_kind(of->values[of->nvalues - 1].label, label);
}

// is_in_doubt() returns true if a conclusion leaves out doubtful values, is_open() also if it grows
// further after its last end.
static bool is_in_doubt(const struct conclusion *of)
{
    return last_is(of, "doubt");
}

static bool is_open(const struct conclusion *of)
{
    return is_in_doubt(of) || last_is(of, "end ");
}

// Compares two conclusions value by value, if both have values. If either run is not sure, they can
// only differ in doubt. If one leaves something out, the rest is compared, and *part is set.
static enum verdict judge(const struct swept_property *property, const struct conclusion *a,
                          const struct conclusion *b, bool *part)
{
    enum verdict verdict = a->outcome == b->outcome ? SAME : IN_DOUBT;
    bool sure = is_sure(a) && is_sure(b);
    if (a->outcome != b->outcome && sure)
        verdict = DIFFERS;
    int na = a->nvalues - is_in_doubt(a), nb = b->nvalues - is_in_doubt(b), compared = 0;
    bool open = is_open(a) || is_open(b);
    for (int i = 0; i < na; i++) {
        if (!is_answer(property, a->values[i].label))
            continue;
        const struct conclusion_value *other = find_value(b, &a->values[i], open || na == nb);
        compared += other != NULL;
        if (other || !open)
            verdict =
                worse(verdict, other ? judge_values(property, &a->values[i], other) : IN_DOUBT);
    }
    if (na != nb && !open)
        verdict = worse(verdict, IN_DOUBT);
    *part = open && (is_in_doubt(a) || is_in_doubt(b) || compared < na || compared < nb);
    return verdict >= WITHIN && !sure ? IN_DOUBT : verdict;
}

static void put_line(const struct swept_property *property, const struct conclusion *a,
                     const struct conclusion *b, enum verdict verdict, struct text_table *table)
{
    const char *const fields[] = {property->grp,        property->name,
                                  (a ? a : b)->variant, verdict_names[verdict],
                                  a ? a->sentence : "", b ? b->sentence : ""};
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        text_table_cell(table, fields[i]);
}

static void put_text(const struct swept_property *property, const struct conclusion *a,
                     const struct conclusion *b, enum verdict verdict, struct strbuf *out)
{
    const char *variant = (a ? a : b)->variant;
    strbuf_printf(out, "%s%s%s: %s\n", property->name, *variant ? " " : "", variant,
                  verdict_names[verdict]);
    if (a)
        strbuf_printf(out, "    %s\n", a->sentence);
    if (b)
        strbuf_printf(out, "    %s\n", b->sentence);
}

struct comparison {
    enum report_format format;
    struct text_table *table; // of all formats but REPORT_TABLE, which is text
    struct strbuf *out;
    int verdicts[VERDICTS]; // numbers of conclusions
    int parts;              // agreements in the parts that both are sure of
};

struct side {
    const struct swept_property *rows;
    int n;
};

// Compares the conclusions of the first side with those of the second; with `missing`, only lists
// those that the second alone has.
static void compare_side(const struct side *first, const struct side *second, bool missing,
                         struct comparison *comparison)
{
    for (int i = 0; i < first->n; i++) {
        const struct swept_property *property = &first->rows[i];
        const struct swept_property *other = find_property(second->rows, second->n, property->name);
        for (int c = 0; c < property->nconclusions; c++) {
            const struct conclusion *own = &property->conclusions[c];
            const struct conclusion *theirs = find_conclusion(other, own->variant);
            if (missing && theirs)
                continue;
            bool part = false;
            enum verdict verdict = missing   ? ONLY_SECOND
                                   : !theirs ? ONLY_FIRST
                                             : judge(property, own, theirs, &part);
            comparison->verdicts[verdict]++;
            comparison->parts += agree(verdict) && part;
            const struct conclusion *a = missing ? NULL : own, *b = missing ? own : theirs;
            if (verdict == SAME && report_for_people(comparison->format))
                continue;
            if (comparison->format == REPORT_TABLE)
                put_text(property, a, b, verdict, comparison->out);
            else
                put_line(property, a, b, verdict, comparison->table);
        }
    }
}

void report_property_diff(const struct swept_property *first, int nfirst,
                          const struct swept_property *second, int nsecond,
                          enum report_format format, struct strbuf *out)
{
    const struct side sides[2] = {
        {first,  nfirst },
        {second, nsecond}
    };
    static const char *const headers[] = {"group",   "property", "variant",
                                          "verdict", "first",    "second"};
    static const enum text_align aligns[ARRAY_LEN(headers)];
    struct text_table *table = text_table_new(headers, aligns, ARRAY_LEN(headers));
    struct comparison comparison = {.format = format, .table = table, .out = out};
    compare_side(&sides[0], &sides[1], false, &comparison);
    compare_side(&sides[1], &sides[0], true, &comparison);
    if (format != REPORT_TABLE)
        text_table_put(table, format, out);
    text_table_free(table);
    if (format != REPORT_TABLE)
        return;
    const int *of = comparison.verdicts;
    strbuf_printf(out, "%d conclusions in both: %d the same, %d within their intervals",
                  of[SAME] + of[WITHIN] + of[DIFFERS] + of[IN_DOUBT], of[SAME], of[WITHIN]);
    if (comparison.parts)
        strbuf_printf(out, " (%d of these as far as both are sure)", comparison.parts);
    strbuf_printf(out, ", %d differ, %d in doubt; %d only in the first, %d only in the second\n",
                  of[DIFFERS], of[IN_DOUBT], of[ONLY_FIRST], of[ONLY_SECOND]);
}
