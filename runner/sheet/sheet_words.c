// SPDX-License-Identifier: MIT
// Lines of the fact sheet that are told in words: what is faster than a limit, by the names that
// the line gives; see sheet.h.
#include "sheet.h"

#include "util/mem.h"
#include "util/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MAX = 64 }; // x of a line in words, each with a name

// The cells of a matrix: a row a variant, a column for each x that the line names.
struct cells {
    const struct swept_property *property;
    double x[CELLS_MAX];
    const char *names[CELLS_MAX];
    int nx;
    double limit;
    uint64_t *fast, *known; // bits, by the number of the variant
};

// Reads the names of x: "; 0 jo; 2 jc".
static void read_names(struct cells *cells, const char *words, struct arena *arena)
{
    while (*words && cells->nx < CELLS_MAX) {
        char *end;
        double x = strtod(words + 1, &end);
        size_t len = strcspn(end, ";");
        const char *name = end + strspn(end, " ");
        cells->x[cells->nx] = x;
        cells->names[cells->nx++] = arena_strndup(arena, name, (size_t)(end + len - name));
        words = end + len;
    }
}

static int find_x(const struct cells *cells, double x)
{
    for (int i = 0; i < cells->nx; i++)
        if (fabs(cells->x[i] - x) < 0.5)
            return i;
    return -1;
}

// Returns below what a cell is fast; NaN if the variant that it is compared with is not there.
static double limit_of(const struct sheet_line *line, const struct swept_property *property,
                       struct arena *arena)
{
    double *values = arena_alloc(arena, sizeof *values * (size_t)(property->npoints + 1));
    int n = 0;
    if (!*line->against)
        return line->below;
    for (int i = 0; i < property->npoints; i++) {
        const struct swept_point *point = &property->points[i];
        if (strcmp(property->variants[point->variant].name, line->against) == 0 &&
            isfinite(point->y))
            values[n++] = point->y;
    }
    quantile_sort(values, n);
    return n ? line->below * quantile_median(values, n) : (double)NAN;
}

static void read_cells(struct cells *cells)
{
    for (int i = 0; i < cells->property->npoints; i++) {
        const struct swept_point *point = &cells->property->points[i];
        int x = find_x(cells, point->x);
        if (x < 0 || !isfinite(point->y))
            continue;
        cells->known[point->variant] |= (uint64_t)1 << x;
        if (point->y < cells->limit)
            cells->fast[point->variant] |= (uint64_t)1 << x;
    }
}

// Appends a variant's name for people: "cmp_imm" is "cmp imm".
static void put_name(struct strbuf *out, const char *name, const char *before)
{
    strbuf_puts(out, before);
    for (; *name; name++)
        strbuf_printf(out, "%c", *name == '_' || (unsigned char)*name < ' ' ? ' ' : *name);
}

static int count_bits(uint64_t bits)
{
    return __builtin_popcountll(bits);
}

static void put_columns(struct strbuf *out, const struct cells *cells, uint64_t bits)
{
    const char *before = " ";
    for (int i = 0; i < cells->nx; i++)
        if (bits >> i & 1) {
            strbuf_printf(out, "%s%s", before, cells->names[i]);
            before = ", ";
        }
}

// Appends " with all but jo, js", whichever is shorter.
static void put_which(struct strbuf *out, const struct cells *cells, uint64_t fast, uint64_t known)
{
    uint64_t slow = known & ~fast;
    if (slow == 0)
        strbuf_puts(out, " with all");
    else if (count_bits(slow) < count_bits(fast)) {
        strbuf_puts(out, " with all but");
        put_columns(out, cells, slow);
    } else {
        strbuf_puts(out, " with");
        put_columns(out, cells, fast);
    }
}

static bool same_cells(const struct cells *cells, int a, int b)
{
    return cells->fast[a] == cells->fast[b] && cells->known[a] == cells->known[b];
}

// Appends the variants of which the same x are fast; nothing if an earlier variant has them.
static void put_group(struct strbuf *out, const struct cells *cells, int variant)
{
    for (int v = 0; v < variant; v++)
        if (same_cells(cells, v, variant))
            return;
    if (!cells->known[variant] || !cells->fast[variant])
        return;
    const char *before = "; ";
    for (int v = variant; v < cells->property->nvariants; v++)
        if (same_cells(cells, v, variant)) {
            put_name(out, cells->property->variants[v].name, before);
            before = ", ";
        }
    put_which(out, cells, cells->fast[variant], cells->known[variant]);
}

// Appends the variants of which no x is fast.
static void put_never(struct strbuf *out, const struct cells *cells)
{
    const char *before = "; never ";
    for (int v = 0; v < cells->property->nvariants; v++)
        if (cells->known[v] && !cells->fast[v]) {
            put_name(out, cells->property->variants[v].name, before);
            before = ", ";
        }
}

// Returns "97 of 144 pairs: test with all; cmp, add with all but jo, js; never shl".
static const char *pairs_text(const struct sheet_line *line, const struct swept_property *property,
                              struct arena *arena)
{
    struct cells cells = {.property = property, .limit = limit_of(line, property, arena)};
    size_t bytes = sizeof *cells.fast * (size_t)(property->nvariants + 1);
    struct strbuf groups = {0};
    int fast = 0, known = 0;
    cells.fast = arena_alloc(arena, bytes);
    cells.known = arena_alloc(arena, bytes);
    read_names(&cells, line->words, arena);
    read_cells(&cells);
    for (int v = 0; v < property->nvariants; v++) {
        fast += count_bits(cells.fast[v]);
        known += count_bits(cells.known[v]);
        put_group(&groups, &cells, v);
    }
    put_never(&groups, &cells);
    const char *text = "";
    if (known > 0 && !isnan(cells.limit))
        text = arena_printf(arena, "%d of %d pairs: %s", fast, known, strbuf_text(&groups) + 2);
    strbuf_free(&groups);
    return text;
}

// Returns the first value that is sure of a variant; NaN if there is none.
static double value_of(const struct swept_property *property, const char *variant,
                       const char *label)
{
    for (int i = 0; i < property->nconclusions; i++) {
        const struct conclusion *conclusion = &property->conclusions[i];
        if (strcmp(conclusion->variant, variant) == 0 && conclusion->outcome == CONCLUSION_OK)
            for (int v = 0; v < conclusion->nvalues; v++)
                if (strcmp(conclusion->values[v].label, label) == 0)
                    return conclusion->values[v].value;
    }
    return NAN;
}

// Returns "xor, sub; not sbb". A word NAME=SHOWN is a variant that is shown by another name.
static const char *variants_text(const struct sheet_line *line,
                                 const struct swept_property *property, struct arena *arena)
{
    struct strbuf fast = {0}, slow = {0};
    char *words = arena_strdup(arena, line->words + 1), *rest;
    double limit = limit_of(line, property, arena);
    for (char *name = strtok_r(words, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        char *shown = strchr(name, '=');
        if (shown)
            *shown++ = '\0';
        double value = value_of(property, name, line->values);
        if (isnan(value))
            continue;
        struct strbuf *out = value < limit ? &fast : &slow;
        put_name(out, shown ? shown : name, out->len ? ", " : "");
    }
    const char *text = arena_printf(arena, "%s%s%s",
                                    fast.len   ? strbuf_text(&fast)
                                    : slow.len ? "none"
                                               : "",
                                    slow.len ? "; not " : "", slow.len ? strbuf_text(&slow) : "");
    strbuf_free(&fast);
    strbuf_free(&slow);
    return text;
}

const char *sheet_words(const struct sheet_line *line, const struct swept_property *property,
                        struct arena *arena)
{
    return (line->show == SHEET_PAIRS ? pairs_text : variants_text)(line, property, arena);
}
