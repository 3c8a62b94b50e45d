// SPDX-License-Identifier: MIT
#include "compose.h"

#include "list/list_mnemonic.h"
#include "number.h"
#include "object.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_MIN = 1024 };

struct compose_line {
    const char *text; // part of a kernel's text, without the end of the line
    uint32_t len;
    uint32_t hash;
    uint32_t align; // 0: a line; else a text of several lines, which wants this alignment
    bool usable;
    uint8_t *bytes; // the arena's copy of its machine code, made when it is needed
};

// Lines of a kernel's parts, one part after the other, in compose.steps.
struct compose_kernel {
    size_t first, ends[GEN_PARTS];
    bool plain;
};
struct compose_step {
    uint32_t line; // its number
    uint64_t times;
};

struct compose {
    struct gen_kernel *kernels;
    int nkernels;
    struct compose_kernel *plans; // parallel to kernels
    struct compose_line *lines;
    size_t nlines, lines_capacity;
    struct compose_step *steps;
    size_t nsteps, steps_capacity;
    uint32_t *slots; // hash table: number of a line plus 1; 0: free
    size_t nslots;   // a power of two
    struct compose_written {
        uint32_t line;  // number
        int first, end; // lines of the source
    } * written;        // in the last source written
    size_t nwritten;
};

// Words that latput writes in front of instructions, or instead of their mnemonic.
static const char *const compose_words[] = {"db", "lock", "rep", "repe", "repne", "times"};

static bool compose_word_known(const char *text, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(compose_words); i++)
        if (len == strlen(compose_words[i]) && strncmp(text, compose_words[i], len) == 0)
            return true;
    return list_mnemonic_known(text, len);
}

// Words of branches and relative addresses: NASM computes these from a number and the line's place.
static const char *const compose_places[] = {"call", "j", "loop", "rel", "xbegin"};

static bool compose_in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static bool compose_has_place(const char *text, size_t len)
{
    for (size_t at = 0; at < len; at++)
        for (size_t i = 0; i < ARRAY_LEN(compose_places); i++)
            if ((at == 0 || !compose_in_word(text[at - 1])) && text[at] == *compose_places[i] &&
                strncmp(text + at, compose_places[i], strlen(compose_places[i])) == 0)
                return true;
    return false;
}

#define COMPOSE_ALLOWED "abcdefghijklmnopqrstuvwxyz0123456789 ,[]+-*(){}_"
// Returns true if the line looks like an instruction: no label, no symbol of the preprocessor, no
// comment, nothing that depends on its place. Braces in front ({evex}) name the encoding. In text
// that the preprocessor has seen % is an operator.
static bool compose_line_plain(const char *text, size_t len, bool expanded)
{
    const char *allowed = expanded ? COMPOSE_ALLOWED "/<%" : COMPOSE_ALLOWED;
    if (strspn(text, allowed) < len || compose_has_place(text, len))
        return false;
    size_t at = 0;
    while (at < len && text[at] == '{') {
        at += strcspn(text + at, "}\n") + 1;
        while (at < len && text[at] == ' ')
            at++;
    }
    return at < len && compose_word_known(text + at, strcspn(text + at, " \n"));
}

static uint32_t compose_hash(const char *text, size_t len)
{
    uint32_t hash = 2166136261u; // FNV-1a
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

static void compose_grow_slots(struct compose *compose)
{
    compose->nslots = compose->nslots ? compose->nslots * 2 : SLOTS_MIN;
    free(compose->slots);
    compose->slots = xcalloc(compose->nslots, sizeof *compose->slots);
    for (size_t i = 0; i < compose->nlines; i++) {
        size_t slot = compose->lines[i].hash & (compose->nslots - 1);
        while (compose->slots[slot])
            slot = (slot + 1) & (compose->nslots - 1);
        compose->slots[slot] = (uint32_t)i + 1;
    }
}

// Returns the number of the line, which is added if new.
static uint32_t compose_find(struct compose *compose, const struct compose_line *wanted)
{
    if (compose->nlines * 2 >= compose->nslots)
        compose_grow_slots(compose);
    size_t slot = wanted->hash & (compose->nslots - 1);
    for (; compose->slots[slot]; slot = (slot + 1) & (compose->nslots - 1)) {
        const struct compose_line *line = &compose->lines[compose->slots[slot] - 1];
        bool like = line->len == wanted->len && line->align == wanted->align;
        if (like && line->hash == wanted->hash && memcmp(line->text, wanted->text, line->len) == 0)
            return compose->slots[slot] - 1;
    }
    compose->lines = xgrow(compose->lines, &compose->lines_capacity, compose->nlines + 1,
                           sizeof *compose->lines);
    compose->lines[compose->nlines] = *wanted;
    compose->slots[slot] = (uint32_t)++compose->nlines;
    return compose->slots[slot] - 1;
}

static void compose_add_step(struct compose *compose, const struct compose_line *line,
                             uint64_t times)
{
    compose->steps = xgrow(compose->steps, &compose->steps_capacity, compose->nsteps + 1,
                           sizeof *compose->steps);
    uint32_t number = compose_find(compose, line);
    compose->steps[compose->nsteps++] = (struct compose_step){number, times};
}

// Returns the text after `times N`, and N; the text itself, and 1, if it does not begin so or N is
// no expression that can be told here.
static const char *compose_after_times(const char *text, size_t len, uint64_t *times)
{
    *times = 1;
    int64_t value;
    if (len < 6 || strncmp(text, "times ", 6) != 0)
        return text;
    const char *after = number_read(text + 6, text + len, &value);
    if (!after || after == text + len || value < 0 || value > UINT32_MAX)
        return text;
    *times = (uint64_t)value;
    return after;
}

// Adds a text line by line. Returns false if it has one that is not usable.
static bool compose_add_text(struct compose *compose, const char *text, bool expanded)
{
    bool usable = true;
    for (const char *at = text; *at;) {
        uint64_t times = 1;
        size_t len = strcspn(at, "\n");
        const char *line = expanded ? compose_after_times(at, len, &times) : at;
        size_t rest = len - (size_t)(line - at);
        if (rest) {
            bool plain = compose_line_plain(line, rest, expanded);
            usable &= plain;
            compose_add_step(compose,
                             &(struct compose_line){.text = line,
                                                    .len = (uint32_t)rest,
                                                    .hash = compose_hash(line, rest),
                                                    .usable = plain},
                             times);
        }
        at += len + (at[len] == '\n');
    }
    return usable;
}

// Returns true if a text with labels may stand among others: it has no directive but padding.
static bool compose_text_closed(const char *text)
{
    for (const char *at = text; *at;) {
        size_t len = strcspn(at, "\n");
        bool padding = strncmp(at, "[sectalign ", strlen("[sectalign ")) == 0;
        if ((*at == '[' || *at == '%') && !padding)
            return false;
        at += len + (at[len] == '\n');
    }
    return true;
}

// Adds a part that the preprocessor has expanded: line by line, or, since it has labels, as a
// whole.
static void compose_add_expanded(struct compose *compose, const char *text, int align)
{
    size_t before = compose->nsteps, len = strlen(text);
    if (compose_add_text(compose, text, true))
        return;
    compose->nsteps = before;
    compose_add_step(compose,
                     &(struct compose_line){.text = text,
                                            .len = (uint32_t)len,
                                            .hash = compose_hash(text, len),
                                            .align = (uint32_t)align,
                                            .usable = compose_text_closed(text)},
                     1);
}

static bool compose_usable(const struct compose *compose, const struct compose_kernel *plan)
{
    for (size_t i = plan->first; i < plan->ends[GEN_PARTS - 1]; i++)
        if (!compose->lines[compose->steps[i].line].usable)
            return false;
    return true;
}

static void compose_add_kernel(struct compose *compose, int id)
{
    const struct gen_kernel *kernel = &compose->kernels[id];
    struct compose_kernel *plan = &compose->plans[id];
    if (kernel->left_out || kernel->composed || (gen_has_extras(kernel->spec) && !kernel->expanded))
        return;
    plan->first = compose->nsteps;
    for (enum gen_part part = 0; part < GEN_PARTS; part++) {
        const char *text =
            kernel->expanded ? kernel->expanded[part] : gen_part_text(kernel->spec, part);
        if (text && kernel->expanded)
            compose_add_expanded(compose, text, gen_part_align(kernel->spec, part));
        else if (text)
            compose_add_text(compose, text, false);
        plan->ends[part] = compose->nsteps;
    }
    plan->plain = true;
}

struct compose *compose_new(struct gen_kernel *kernels, int nkernels)
{
    struct compose *compose = xcalloc(1, sizeof *compose);
    compose->kernels = kernels;
    compose->nkernels = nkernels;
    compose->plans = xcalloc((size_t)nkernels + 1, sizeof *compose->plans);
    for (int i = 0; i < nkernels; i++)
        compose_add_kernel(compose, i);
    return compose;
}

static int compose_count_lines(const char *text, size_t len)
{
    int lines = 1;
    for (size_t i = 0; i + 1 < len; i++)
        lines += text[i] == '\n';
    return lines;
}

size_t compose_write(struct compose *compose, int bits, struct strbuf *out)
{
    int at = gen_head(bits, out) + 1;
    compose->written = xrealloc(compose->written, (compose->nlines + 1) * sizeof *compose->written);
    compose->nwritten = 0;
    for (size_t i = 0; i < compose->nlines; i++) {
        const struct compose_line *line = &compose->lines[i];
        if (!line->usable)
            continue;
        int first = at;
        // Labels have a capital letter, which no plain line has, so none can name them. What lies
        // after the mark of the end is padding.
        if (line->align)
            strbuf_printf(out, "align %" PRIu32 "\n", line->align);
        strbuf_printf(out, BUILD_MARK "%zu:\n", 2 * i);
        strbuf_put(out, line->text, line->len);
        strbuf_puts(out, line->len && line->text[line->len - 1] == '\n' ? "" : "\n");
        at += 2 + (line->align > 0) + compose_count_lines(line->text, line->len);
        strbuf_printf(out, BUILD_MARK "%zu:\n", 2 * i + 1);
        compose->written[compose->nwritten++] = (struct compose_written){(uint32_t)i, first, at};
    }
    strbuf_printf(out, BUILD_MARK "%zu:\n", 2 * compose->nlines);
    strbuf_puts(out, "section .note.GNU-stack noalloc noexec nowrite progbits\n");
    return compose->nwritten;
}

// Returns the line in line `number` of the source; NULL: none.
static struct compose_line *compose_line_at(const struct compose *compose, long number)
{
    size_t low = 0, high = compose->nwritten;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (number < compose->written[middle].first)
            high = middle;
        else if (number >= compose->written[middle].end)
            low = middle + 1;
        else
            return &compose->lines[compose->written[middle].line];
    }
    return NULL;
}

size_t compose_refuse(struct compose *compose, const char *source, const char *messages)
{
    size_t refused = 0, prefix = strlen(source);
    for (const char *at = messages; *at;) {
        size_t len = strcspn(at, "\n");
        if (len > prefix && strncmp(at, source, prefix) == 0 && at[prefix] == ':') {
            struct compose_line *line = compose_line_at(compose, strtol(at + prefix + 1, NULL, 10));
            if (line && line->usable) {
                line->usable = false;
                refused++;
            }
        }
        at += len + (at[len] == '\n');
    }
    return refused;
}

// The pieces of a kernel as they are made: bytes of several lines make one, but a line that is
// repeated for long is one of its own, of which memory holds one copy only.
struct compose_pieces {
    struct gen_piece *items;
    size_t n, capacity;
    struct strbuf bytes; // of the piece to come
    struct arena *arena; // owns all pieces
};

static void pieces_add(struct compose_pieces *pieces, const uint8_t *bytes, size_t len,
                       uint64_t times)
{
    pieces->items = xgrow(pieces->items, &pieces->capacity, pieces->n + 1, sizeof *pieces->items);
    pieces->items[pieces->n++] = (struct gen_piece){bytes, len, times};
}

static void pieces_end(struct compose_pieces *pieces)
{
    size_t len = pieces->bytes.len;
    if (len == 0)
        return;
    uint8_t *bytes = arena_alloc(pieces->arena, len);
    memcpy(bytes, pieces->bytes.data, len);
    pieces_add(pieces, bytes, len, 1);
    strbuf_clear(&pieces->bytes);
}

static void pieces_put(struct compose_pieces *pieces, struct compose_line *line,
                       const struct assemble_mark *mark, uint64_t times)
{
    enum { LONG_BYTES = 2048 };
    if (times * mark->len < LONG_BYTES || times == 1) {
        for (uint64_t i = 0; i < times; i++)
            strbuf_put(&pieces->bytes, (const char *)mark->bytes, mark->len);
        return;
    }
    pieces_end(pieces);
    if (!line->bytes) {
        line->bytes = arena_alloc(pieces->arena, mark->len);
        memcpy(line->bytes, mark->bytes, mark->len);
    }
    pieces_add(pieces, line->bytes, mark->len, times);
}

static const struct gen_code *compose_kernel(const struct compose *compose,
                                             const struct compose_kernel *plan,
                                             const struct assemble_mark *marks,
                                             struct compose_pieces *pieces)
{
    struct gen_code *composed = arena_alloc(pieces->arena, sizeof *composed);
    pieces->n = 0;
    for (size_t i = plan->first, part = 0; part < GEN_PARTS; part++) {
        for (; i < plan->ends[part]; i++) {
            const struct compose_step *step = &compose->steps[i];
            pieces_put(pieces, &compose->lines[step->line], &marks[2 * (size_t)step->line],
                       step->times);
        }
        pieces_end(pieces);
        composed->ends[part] = pieces->n;
    }
    struct gen_piece *copy = arena_alloc(pieces->arena, (pieces->n + 1) * sizeof *copy);
    if (pieces->n)
        memcpy(copy, pieces->items, pieces->n * sizeof *copy);
    composed->pieces = copy;
    return composed;
}

int compose_take(struct compose *compose, const char *object, struct arena *arena)
{
    int composed = 0;
    size_t nmarks = 2 * compose->nlines;
    struct compose_pieces pieces = {.arena = arena};
    struct assemble_mark *marks = xcalloc(nmarks + 1, sizeof *marks);
    void *bytes = assemble_object_marks(object, nmarks, marks);
    for (size_t i = 0; bytes && i < compose->nlines; i++)
        compose->lines[i].usable &= marks[2 * i].bytes && !marks[2 * i].relocated;
    for (int i = 0; bytes && i < compose->nkernels; i++) {
        const struct compose_kernel *plan = &compose->plans[i];
        if (!plan->plain || !compose_usable(compose, plan))
            continue;
        compose->kernels[i].composed = compose_kernel(compose, plan, marks, &pieces);
        composed++;
    }
    free(bytes);
    free(marks);
    free(pieces.items);
    strbuf_free(&pieces.bytes);
    return composed;
}

void compose_free(struct compose *compose)
{
    free(compose->plans);
    free(compose->lines);
    free(compose->steps);
    free(compose->slots);
    free(compose->written);
    free(compose);
}
