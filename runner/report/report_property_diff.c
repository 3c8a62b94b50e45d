// SPDX-License-Identifier: MIT
// Two runs of properties side by side; see report_property.h.
#include "report_property.h"
#include "util/csvtext.h"

#include <math.h>
#include <string.h>

static const double SIZE_TOLERANCE = 0.02, TIME_TOLERANCE = 0.01;
// Of a cycle or a nanosecond an instance, no less is told apart: what costs nothing costs a little
// more or less than that.
static const double TIME_LEAST = 0.01;

// From the best to the worst that a value can make of a conclusion.
enum verdict { SAME, WITHIN, IN_DOUBT, DIFFERS, ONLY_FIRST, ONLY_SECOND, VERDICTS };
static const char *const verdict_names[VERDICTS] = {
    "same", "within", "in doubt", "differs", "only in first", "only in second",
};

// A kind of values is numbered: "level 1", "level 2".
static bool same_kind(const char *a, const char *b)
{
    size_t len = strcspn(a, "0123456789");
    return len == strcspn(b, "0123456789") && strncmp(a, b, len) == 0;
}

// The value that goes with one of another conclusion. Where one has a level more than the other
// numbers do not go together: then it is the nearest of the kind.
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

// Times are alike within one percent, sizes and counts within two. What is not known as well is
// within what it is known by where the interval of 95 % of the two values' difference has nothing
// in it: by how far each one's own reaches towards the other. (That each lies in the other's
// interval would be missed by one of six pairs that are of the same.)
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

// Whether a value is part of the answer: of a knee where it is, and not how long the two levels
// beside it take, such as memory that others use, too; of a slope not where its line begins.
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

// That there is no step has no confidence of its own: it is what is left where none is found.
static bool is_sure(const struct conclusion *of)
{
    return of->outcome == CONCLUSION_NONE ||
           (of->outcome == CONCLUSION_OK && of->confidence >= CONFIDENCE_FAIR);
}

static bool last_is(const struct conclusion *of, const char *label)
{
    return of->nvalues && same_kind(of->values[of->nvalues - 1].label, label);
}

// Whether a conclusion leaves out some of what it could say, which is in doubt; or whatever it
// grows to behind the last end.
static bool is_in_doubt(const struct conclusion *of)
{
    return last_is(of, "doubt");
}

static bool is_open(const struct conclusion *of)
{
    return is_in_doubt(of) || last_is(of, "end ");
}

// What of two conclusions is the case; their values, where both have them, one by one. A conclusion
// that either run is not sure of can differ in doubt only. Of one that leaves out
// something the rest is compared; *part: this was so.
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
                     const struct conclusion *b, enum verdict verdict, struct strbuf *out)
{
    csv_put_text(out, property->grp);
    const char *const fields[] = {property->name, (a ? a : b)->variant, verdict_names[verdict],
                                  a ? a->sentence : "", b ? b->sentence : ""};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        strbuf_puts(out, ",");
        csv_put_text(out, fields[i]);
    }
    strbuf_puts(out, "\n");
}

static void put_text(const struct swept_property *property, const struct conclusion *a,
                     const struct conclusion *b, enum verdict verdict, struct strbuf *out)
{
    const char *variant = (a ? a : b)->variant;
    if (verdict == SAME)
        return;
    strbuf_printf(out, "%s%s%s: %s\n", property->name, *variant ? " " : "", variant,
                  verdict_names[verdict]);
    if (a)
        strbuf_printf(out, "    %s\n", a->sentence);
    if (b)
        strbuf_printf(out, "    %s\n", b->sentence);
}

struct counts {
    int verdicts[VERDICTS];
    int parts; // of those that agree, as far as both are sure
};

struct side {
    const struct swept_property *rows;
    int n;
};

// The conclusions of the first side against those of the second; of those that only the second has
// where `missing`.
static void compare_side(const struct side *first, const struct side *second, bool missing,
                         enum report_format format, struct counts *counts, struct strbuf *out)
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
            counts->verdicts[verdict]++;
            counts->parts += agree(verdict) && part;
            (format == REPORT_CSV ? put_line : put_text)(property, missing ? NULL : own,
                                                         missing ? own : theirs, verdict, out);
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
    struct counts counts = {.parts = 0};
    if (format == REPORT_CSV)
        strbuf_puts(out, "group,property,variant,verdict,first,second\n");
    compare_side(&sides[0], &sides[1], false, format, &counts, out);
    compare_side(&sides[1], &sides[0], true, format, &counts, out);
    if (format == REPORT_CSV)
        return;
    const int *of = counts.verdicts;
    strbuf_printf(out, "%d conclusions in both: %d the same, %d within their intervals",
                  of[SAME] + of[WITHIN] + of[DIFFERS] + of[IN_DOUBT], of[SAME], of[WITHIN]);
    if (counts.parts)
        strbuf_printf(out, " (%d of these as far as both are sure)", counts.parts);
    strbuf_printf(out, ", %d differ, %d in doubt; %d only in the first, %d only in the second\n",
                  of[DIFFERS], of[IN_DOUBT], of[ONLY_FIRST], of[ONLY_SECOND]);
}
