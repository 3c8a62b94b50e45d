// SPDX-License-Identifier: MIT
// Finds what a line of the fact sheet says of a CPU; see sheet.h.
#include "sheet.h"

#include "cpuinfo/cpuinfo.h"
#include "util/mem.h"

#include <math.h>
#include <string.h>

// Returns the next of the alternatives with | between them, NULL after the last. *at: NULL to begin
// with.
static const char *next_alternative(const char *all, const char **at, struct arena *arena)
{
    const char *from = *at ? *at : all;
    if (*at && !**at)
        return NULL;
    if (*at)
        from++;
    size_t len = strcspn(from, "|");
    *at = from + len;
    return arena_strndup(arena, from, len);
}

static const struct swept_property *find_property(const struct sheet_cpu *cpu, const char *name)
{
    for (int i = 0; i < cpu->nproperties; i++)
        if (strcmp(cpu->properties[i].name, name) == 0)
            return &cpu->properties[i];
    return NULL;
}

static const struct conclusion *find_conclusion(const struct swept_property *property,
                                                const char *variant)
{
    for (int i = 0; i < property->nconclusions; i++)
        if (strcmp(property->conclusions[i].variant, variant) == 0)
            return &property->conclusions[i];
    return NULL;
}

// Returns the value with this label, or the first or last level.
static const struct conclusion_value *find_value(const struct conclusion *conclusion,
                                                 const char *label)
{
    bool first = strcmp(label, "first") == 0, last = strcmp(label, "last") == 0;
    const struct conclusion_value *found = NULL;
    for (int i = 0; i < conclusion->nvalues && !(first && found); i++) {
        const struct conclusion_value *value = &conclusion->values[i];
        if (first || last ? strncmp(value->label, "level", 5) == 0
                          : strcmp(value->label, label) == 0)
            found = value;
    }
    return found;
}

static void put_quantity(struct sheet_fact *fact, double value, double low, double high,
                         const char *unit)
{
    fact->quantities[fact->nquantities++] = (struct sheet_quantity){value, low, high, unit};
}

// Adds the value in the units of the line.
static void put_value(struct sheet_fact *fact, const struct sheet_line *line,
                      const struct conclusion_value *value, double core_hz)
{
    const char *unit = *line->unit ? line->unit : value->unit;
    double a = value->value, low = value->low, high = value->high, f = line->factor;
    double per_ns = core_hz / 1e9;
    switch (line->show) {
    case SHEET_RATE:
        put_quantity(fact, f / a, f / high, f / low, unit);
        break;
    case SHEET_BANDWIDTH:
        put_quantity(fact, f / a, f / high, f / low, "B/clk");
        if (per_ns > 0)
            put_quantity(fact, f / a * per_ns, f / high * per_ns, f / low * per_ns, "GB/s");
        break;
    case SHEET_TIME:
        put_quantity(fact, f * a, f * low, f * high, unit);
        if (per_ns > 0 && strcmp(unit, "clk") == 0)
            put_quantity(fact, f * a / per_ns, f * low / per_ns, f * high / per_ns, "ns");
        break;
    default:
        put_quantity(fact, f * a, f * low, f * high, unit);
        break;
    }
}

static bool is_end(const char *label)
{
    return strcmp(label, "knee") == 0 || strcmp(label, "end 1") == 0;
}

// Makes the conclusion the fact if it is better than what is there. Returns true if it holds, so
// that no further alternative is asked.
static bool take_conclusion(struct sheet_fact *fact, const struct sheet_line *line,
                            const struct conclusion *conclusion, const char *label, double core_hz)
{
    bool holds = conclusion->outcome == CONCLUSION_OK || conclusion->outcome == CONCLUSION_NONE;
    const struct conclusion_value *value = holds ? find_value(conclusion, label) : NULL;
    bool none = !value && conclusion->outcome == CONCLUSION_NONE && is_end(label);
    if (!value && !none && (holds || fact->asked))
        return false;
    fact->asked = true;
    fact->outcome = conclusion->outcome;
    fact->confidence = value ? conclusion->confidence : (double)NAN;
    fact->label = value ? value->label : label;
    if (value)
        put_value(fact, line, value, core_hz);
    else if (none)
        fact->words = conclusion->sentence;
    return value || none;
}

static void take_published(struct sheet_fact *fact, const struct sheet_line *line,
                           const struct sheet_cpu *cpu, const struct cpu_observed *seen)
{
    double least, most;
    if (fact->most > 0 || !cpu_core_size(cpu->whose.uarch, seen, &least, &most))
        return;
    fact->least = least * line->factor;
    fact->most = most * line->factor;
}

static struct cpu_observed observed(const char *property, const char *variant, const char *label)
{
    struct cpu_observed seen = {.value = 0};
    strncpy(seen.property, property, CPU_OBSERVED_NAME - 1);
    strncpy(seen.variant, variant, CPU_OBSERVED_NAME - 1);
    strncpy(seen.label, label, CPU_OBSERVED_NAME - 1);
    return seen;
}

// Tries the variants and values of the line on one property; true if one holds.
static bool try_property(struct sheet_fact *fact, const struct sheet_line *line,
                         const struct sheet_cpu *cpu, const char *name, struct arena *arena)
{
    const struct swept_property *property = find_property(cpu, name);
    const char *variant, *label, *at = NULL;
    while ((variant = next_alternative(line->variants, &at, arena))) {
        const struct conclusion *conclusion = property ? find_conclusion(property, variant) : NULL;
        for (const char *to = NULL; (label = next_alternative(line->values, &to, arena));) {
            struct cpu_observed seen = observed(name, variant, label);
            take_published(fact, line, cpu, &seen);
            bool asked = fact->asked;
            bool holds =
                conclusion && take_conclusion(fact, line, conclusion, label, cpu->whose.core_hz);
            if (fact->asked && (holds || !asked)) {
                fact->property = property->name;
                fact->variant = conclusion->variant;
            }
            if (holds)
                return true;
        }
    }
    return false;
}

// Returns the first of the variants that has a conclusion.
static const struct conclusion *first_conclusion(const struct swept_property *property,
                                                 const char *variants, struct arena *arena)
{
    const struct conclusion *found = NULL;
    const char *variant, *at = NULL;
    while (!found && (variant = next_alternative(variants, &at, arena)))
        found = find_conclusion(property, variant);
    return found;
}

static const char *reason_text(const struct conclusion *conclusion)
{
    if (!conclusion)
        return "not measured";
    if (conclusion->outcome != CONCLUSION_OK && conclusion->outcome != CONCLUSION_NONE)
        return conclusion_outcome_name(conclusion->outcome);
    return find_value(conclusion, "doubt") ? "in doubt" : "does not tell";
}

// Says what the fact stands in for, if it is not of the first choice, and takes a level of its
// confidence. A variant that this CPU has not is no choice.
static void tell_instead(struct sheet_fact *fact, const struct sheet_line *line,
                         const struct sheet_cpu *cpu, struct arena *arena)
{
    const char *at = NULL, *first = next_alternative(line->properties, &at, arena);
    const struct swept_property *property = find_property(cpu, first);
    const struct conclusion *conclusion =
        property ? first_conclusion(property, line->variants, arena) : NULL;
    bool same = strcmp(first, fact->property) == 0;
    if (same && conclusion && strcmp(conclusion->variant, fact->variant) == 0)
        return;
    fact->instead_of = same && conclusion ? conclusion->variant : first;
    fact->from = same && *fact->variant ? fact->variant : fact->property;
    fact->reason = reason_text(conclusion);
    double less = fact->confidence - (CONFIDENCE_HIGH - CONFIDENCE_FAIR);
    if (fact->confidence >= CONFIDENCE_HIGH)
        less = fmax(less, CONFIDENCE_FAIR);
    if (!isnan(fact->confidence))
        fact->confidence = fmax(less, 0);
}

// Returns the value that the property has for the line; NULL: it does not hold.
static const struct conclusion_value *value_of(const struct swept_property *property,
                                               const struct sheet_line *line, struct arena *arena)
{
    const char *variant, *label, *at = NULL;
    while (property && (variant = next_alternative(line->variants, &at, arena))) {
        const struct conclusion *conclusion = find_conclusion(property, variant);
        for (const char *to = NULL; (label = next_alternative(line->values, &to, arena));) {
            const struct conclusion_value *value =
                conclusion && conclusion->outcome == CONCLUSION_OK ? find_value(conclusion, label)
                                                                   : NULL;
            if (value)
                return value;
        }
    }
    return NULL;
}

// Names the other properties whose value lies apart from the fact's.
static void tell_others(struct sheet_fact *fact, const struct sheet_line *line,
                        const struct sheet_cpu *cpu, struct arena *arena)
{
    static const double APART = 0.02;
    const struct conclusion_value *told = value_of(find_property(cpu, fact->property), line, arena);
    const char *name, *at = NULL;
    while (told && (name = next_alternative(line->properties, &at, arena))) {
        const struct conclusion_value *other = value_of(find_property(cpu, name), line, arena);
        if (!other || (other->high >= told->low && other->low <= told->high) ||
            fabs(other->value - told->value) <= APART * fabs(told->value))
            continue;
        struct sheet_fact shown = {.nquantities = 0};
        put_value(&shown, line, other, cpu->whose.core_hz);
        const struct sheet_quantity *quantity = &shown.quantities[0];
        fact->others =
            arena_printf(arena, "%s%s%s says %s", fact->others, *fact->others ? ", " : "", name,
                         conclude_quantity(arena, quantity->value, quantity->unit));
    }
}

// Says that the fact may be the size of what holds all that it counts, if it comes near that: none
// of the two is seen beyond the other.
static void tell_within(struct sheet_fact *fact, const struct sheet_line *line,
                        const struct sheet_cpu *cpu, struct arena *arena)
{
    size_t len = strcspn(line->within, " ");
    const struct swept_property *property =
        find_property(cpu, arena_strndup(arena, line->within, len));
    const struct conclusion *conclusion =
        property ? find_conclusion(property, line->within + len + (line->within[len] != 0)) : NULL;
    const struct conclusion_value *told = value_of(find_property(cpu, fact->property), line, arena);
    if (!told || !conclusion || conclusion->outcome != CONCLUSION_OK)
        return;
    const struct conclusion_value *all = find_value(conclusion, told->label);
    if (all && told->high >= all->low)
        fact->within = arena_printf(arena, "may be the limit of %s, %s", property->name,
                                    conclude_quantity(arena, all->value, all->unit));
}

const char *sheet_source(const struct sheet_fact *fact, struct arena *arena)
{
    const char *text = "";
    if (*fact->instead_of)
        text = arena_printf(arena, "%s in place of %s (%s)", fact->from, fact->instead_of,
                            fact->reason);
    text = arena_printf(arena, "%s%s%s", text, *text && *fact->others ? "; " : "", fact->others);
    return arena_printf(arena, "%s%s%s", text, *text && *fact->within ? "; " : "", fact->within);
}

static void tell_words(struct sheet_fact *fact, const struct sheet_line *line,
                       const struct sheet_cpu *cpu, struct arena *arena)
{
    const struct swept_property *property = find_property(cpu, line->properties);
    fact->words = property ? sheet_words(line, property, arena) : "";
    if (!*fact->words)
        return;
    fact->asked = true;
    fact->property = property->name;
    fact->outcome = CONCLUSION_OK;
    fact->confidence = 1;
    for (int i = 0; i < property->nconclusions; i++) {
        const struct conclusion *conclusion = &property->conclusions[i];
        if (conclusion->outcome == CONCLUSION_OK)
            fact->confidence = fmin(fact->confidence, conclusion->confidence);
        else if (line->show == SHEET_PAIRS)
            fact->outcome = conclusion->outcome;
    }
}

// Fills in the size that CPUID says where none is published.
static void take_claimed(struct sheet_fact *fact, const struct sheet_line *line,
                         const struct sheet_cpu *cpu)
{
    for (int i = 0; i < cpu->ncaches && *line->cache && fact->most <= 0; i++) {
        const struct stored_cache *cache = &cpu->caches[i];
        if (cache->level == *line->cache - '0' && strcmp(cache->type, line->cache + 1) == 0) {
            fact->least = fact->most = cache->size_bytes;
            fact->claimed = true;
        }
    }
}

struct sheet_fact sheet_fact(const struct sheet_line *line, const struct sheet_cpu *cpu,
                             struct arena *arena)
{
    struct sheet_fact fact = {.property = "",
                              .variant = "",
                              .label = "",
                              .instead_of = "",
                              .reason = "",
                              .others = "",
                              .within = "",
                              .words = "",
                              .confidence = NAN};
    const char *name, *at = NULL;
    switch (line->show) {
    case SHEET_CLOCK:
        fact.asked = cpu->whose.core_hz > 0;
        if (fact.asked)
            put_quantity(&fact, cpu->whose.core_hz / 1e9, NAN, NAN, line->unit);
        break;
    case SHEET_PAIRS:
    case SHEET_VARIANTS:
        tell_words(&fact, line, cpu, arena);
        break;
    default:
        while ((name = next_alternative(line->properties, &at, arena)))
            if (try_property(&fact, line, cpu, name, arena)) {
                tell_instead(&fact, line, cpu, arena);
                tell_others(&fact, line, cpu, arena);
                tell_within(&fact, line, cpu, arena);
                break;
            }
        break;
    }
    take_claimed(&fact, line, cpu);
    return fact;
}
