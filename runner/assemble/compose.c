// SPDX-License-Identifier: MIT
#include "compose.h"

#include "list/list_mnemonic.h"
#include "object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_MIN = 1024 };

struct compose_line {
    const char *text; // part of a kernel's text, without the end of the line
    uint32_t len;
    uint32_t hash;
    bool usable;
};

// Lines of a kernel's init, then of its body, in compose.parts.
struct compose_kernel {
    size_t first, body, end;
    bool plain;
};

struct compose {
    struct gen_kernel *kernels;
    int nkernels;
    struct compose_kernel *plans; // parallel to kernels
    struct compose_line *lines;
    size_t nlines, lines_capacity;
    uint32_t *parts; // numbers of lines
    size_t nparts, parts_capacity;
    uint32_t *slots;   // hash table: number of a line plus 1; 0: free
    size_t nslots;     // a power of two
    uint32_t *written; // numbers of the lines in the last source written
    size_t nwritten;
    int head_lines; // lines before them
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

// Returns true if the line looks like an instruction: no label, no symbol of the preprocessor, no
// comment, nothing that depends on its place. Braces in front ({evex}) name the encoding.
static bool compose_line_plain(const char *text, size_t len)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789 ,[]+-*(){}_";
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
static uint32_t compose_find(struct compose *compose, const char *text, size_t len)
{
    if (compose->nlines * 2 >= compose->nslots)
        compose_grow_slots(compose);
    uint32_t hash = compose_hash(text, len);
    size_t slot = hash & (compose->nslots - 1);
    for (; compose->slots[slot]; slot = (slot + 1) & (compose->nslots - 1)) {
        const struct compose_line *line = &compose->lines[compose->slots[slot] - 1];
        if (line->hash == hash && line->len == len && memcmp(line->text, text, len) == 0)
            return compose->slots[slot] - 1;
    }
    compose->lines = xgrow(compose->lines, &compose->lines_capacity, compose->nlines + 1,
                           sizeof *compose->lines);
    compose->lines[compose->nlines] = (struct compose_line){
        .text = text, .len = (uint32_t)len, .hash = hash, .usable = compose_line_plain(text, len)};
    compose->slots[slot] = (uint32_t)++compose->nlines;
    return compose->slots[slot] - 1;
}

static void compose_add_text(struct compose *compose, const char *text)
{
    for (const char *at = text; *at;) {
        size_t len = strcspn(at, "\n");
        if (len) {
            compose->parts = xgrow(compose->parts, &compose->parts_capacity, compose->nparts + 1,
                                   sizeof *compose->parts);
            compose->parts[compose->nparts] = compose_find(compose, at, len);
            compose->nparts++;
        }
        at += len + (at[len] == '\n');
    }
}

static bool compose_usable(const struct compose *compose, const struct compose_kernel *plan)
{
    for (size_t i = plan->first; i < plan->end; i++)
        if (!compose->lines[compose->parts[i]].usable)
            return false;
    return true;
}

static void compose_add_kernel(struct compose *compose, int id)
{
    const struct kernel_spec *spec = compose->kernels[id].spec;
    struct compose_kernel *plan = &compose->plans[id];
    if (compose->kernels[id].left_out || spec->fini || spec->nfills || spec->corunner ||
        spec->align || spec->copies)
        return;
    plan->first = compose->nparts;
    compose_add_text(compose, spec->init);
    plan->body = compose->nparts;
    compose_add_text(compose, spec->body);
    plan->end = compose->nparts;
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

enum { LINES_EACH = 2 }; // lines in the source: the label and the instruction

size_t compose_write(struct compose *compose, int bits, struct strbuf *out)
{
    compose->head_lines = gen_head(bits, out);
    compose->written = xrealloc(compose->written, (compose->nlines + 1) * sizeof *compose->written);
    compose->nwritten = 0;
    for (size_t i = 0; i < compose->nlines; i++) {
        const struct compose_line *line = &compose->lines[i];
        if (!line->usable)
            continue;
        // The label has a capital letter, which no plain line has, so none can name it.
        strbuf_printf(out, BUILD_MARK "%zu:\n", i);
        strbuf_put(out, line->text, line->len);
        strbuf_puts(out, "\n");
        compose->written[compose->nwritten++] = (uint32_t)i;
    }
    strbuf_printf(out, BUILD_MARK "%zu:\n", compose->nlines);
    strbuf_puts(out, "section .note.GNU-stack noalloc noexec nowrite progbits\n");
    return compose->nwritten;
}

// Returns the line in line `number` of the source; NULL: none.
static struct compose_line *compose_line_at(const struct compose *compose, long number)
{
    long at = number - compose->head_lines - 1;
    if (at < 0 || (size_t)at / LINES_EACH >= compose->nwritten)
        return NULL;
    return &compose->lines[compose->written[at / LINES_EACH]];
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

static void compose_put(const struct compose *compose, size_t from, size_t to,
                        const struct assemble_mark *marks, struct strbuf *code)
{
    for (size_t i = from; i < to; i++) {
        const struct assemble_mark *mark = &marks[compose->parts[i]];
        strbuf_put(code, (const char *)mark->bytes, mark->len);
    }
}

static const struct gen_code *compose_kernel(const struct compose *compose,
                                             const struct compose_kernel *plan,
                                             const struct assemble_mark *marks, struct arena *arena,
                                             struct strbuf *code)
{
    struct gen_code *composed = arena_alloc(arena, sizeof *composed);
    composed->init_at = (uint32_t)code->len;
    compose_put(compose, plan->first, plan->body, marks, code);
    composed->body_at = (uint32_t)code->len;
    composed->init_bytes = composed->body_at - composed->init_at;
    compose_put(compose, plan->body, plan->end, marks, code);
    composed->body_bytes = (uint32_t)code->len - composed->body_at;
    return composed;
}

int compose_take(struct compose *compose, const char *object, struct arena *arena,
                 struct strbuf *code)
{
    int composed = 0;
    struct assemble_mark *marks = xcalloc(compose->nlines + 1, sizeof *marks);
    void *bytes = assemble_object_marks(object, compose->nlines, marks);
    for (size_t i = 0; bytes && i < compose->nlines; i++)
        compose->lines[i].usable &= marks[i].bytes && !marks[i].relocated;
    for (int i = 0; bytes && i < compose->nkernels; i++) {
        const struct compose_kernel *plan = &compose->plans[i];
        if (!plan->plain || !compose_usable(compose, plan))
            continue;
        compose->kernels[i].composed = compose_kernel(compose, plan, marks, arena, code);
        composed++;
    }
    free(bytes);
    free(marks);
    return composed;
}

void compose_free(struct compose *compose)
{
    free(compose->plans);
    free(compose->lines);
    free(compose->parts);
    free(compose->slots);
    free(compose->written);
    free(compose);
}
