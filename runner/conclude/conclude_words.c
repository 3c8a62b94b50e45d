// SPDX-License-Identifier: MIT
// The words and values that conclusions are made of.
#include "conclude_internal.h"

#include <math.h>
#include <string.h>

// Nothing that is measured here is as small: in cycles, nanoseconds, shares.
static const double NOTHING = 0.0005;
// From here on three digits would be rounded to "1e+03".
static const double PLAIN = 999.5;

static const char *const READINGS[] = {
    [READING_KNEE] = "knee",
    [READING_PLATEAUS] = "plateaus",
    [READING_SLOPE] = "slope",
    [READING_DIFFERENCE] = "difference",
    [READING_RATIO] = "ratio",
    [READING_MATRIX] = "matrix",
    [READING_DISTRIBUTION] = "distribution",
    [READING_LEVEL] = "level",
    [READING_GRID] = "grid",
};
_Static_assert(ARRAY_LEN(READINGS) == READING_COUNT, "a name for each reading");

static const char *const OUTCOMES[] = {
    [CONCLUSION_OK] = "ok",
    [CONCLUSION_NONE] = "none",
    [CONCLUSION_UNSTABLE] = "unstable",
    [CONCLUSION_AMBIGUOUS] = "ambiguous",
    [CONCLUSION_TOO_FEW] = "too_few",
};
_Static_assert(ARRAY_LEN(OUTCOMES) == CONCLUSION_OUTCOME_COUNT, "a name for each outcome");

static int find_name(const char *const *names, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

int reading_parse(const char *name)
{
    return find_name(READINGS, READING_COUNT, name);
}

const char *conclusion_outcome_name(enum conclusion_outcome outcome)
{
    return OUTCOMES[outcome];
}

const char *confidence_word(double confidence)
{
    return confidence >= CONFIDENCE_HIGH ? "high" : confidence >= CONFIDENCE_FAIR ? "fair" : "low";
}

// Returns "48 KiB", three digits where it is no whole number.
static const char *bytes_text(struct arena *arena, double value)
{
    int scale = 0;
    for (; fabs(value) >= 1024 && scale < 3; scale++)
        value /= 1024;
    return arena_printf(arena, fabs(value) < PLAIN ? "%.3g %ciB" : "%.0f %ciB", value,
                        "?KMG"[scale]);
}

const char *conclude_quantity(struct arena *arena, double value, const char *unit)
{
    if (unit && strcmp(unit, "bytes") == 0 && fabs(value) >= 1024)
        return bytes_text(arena, value);
    const char *space = unit && *unit ? " " : "";
    unit = unit ? unit : "";
    if (fabs(value) < NOTHING)
        value = 0;
    if (value == floor(value) && fabs(value) < 1e9)
        return arena_printf(arena, "%.0f%s%s", value, space, unit);
    return arena_printf(arena, fabs(value) < PLAIN ? "%.3g%s%s" : "%.0f%s%s", value, space, unit);
}

void draft_value(struct draft *draft, const char *label, double value, double low, double high,
                 const char *unit)
{
    if (draft->nvalues == draft->capacity) {
        int capacity = draft->capacity ? 2 * draft->capacity : 8;
        struct conclusion_value *values =
            arena_alloc(draft->arena, sizeof *values * (size_t)capacity);
        if (draft->nvalues)
            memcpy(values, draft->values, sizeof *values * (size_t)draft->nvalues);
        draft->values = values;
        draft->capacity = capacity;
    }
    draft->values[draft->nvalues++] = (struct conclusion_value){
        .label = label, .value = value, .low = low, .high = high, .unit = unit ? unit : ""};
}

const char *draft_values_text(const struct draft *draft)
{
    enum { SAID_MAX = 40 };
    const char *said = "";
    int n = draft->nvalues <= SAID_MAX ? draft->nvalues : SAID_MAX;
    for (int i = 0; i < n; i++) {
        const struct conclusion_value *value = &draft->values[i];
        said = arena_printf(draft->arena, "%s%s%s: %s", said, i ? ", " : "", value->label,
                            conclude_quantity(draft->arena, value->value, value->unit));
    }
    if (n < draft->nvalues)
        said = arena_printf(draft->arena, "%s, and %d more", said, draft->nvalues - n);
    return said;
}

struct conclusion draft_end(const struct draft *draft, const char *variant,
                            enum conclusion_outcome outcome, double confidence,
                            const char *sentence)
{
    return (struct conclusion){.variant = variant,
                               .outcome = outcome,
                               .confidence = confidence,
                               .values = draft->values,
                               .nvalues = draft->nvalues,
                               .sentence = sentence};
}

struct conclusion conclude_nothing(const char *variant, enum conclusion_outcome outcome,
                                   const char *sentence)
{
    return (struct conclusion){.variant = variant, .outcome = outcome, .sentence = sentence};
}
