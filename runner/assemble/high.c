// SPDX-License-Identifier: MIT
#include "high.h"

#include "rex2.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { HIGH_FIRST = 16, HIGH_LAST = 31 };

// Registers that stand for r16 to r31. r12 and r13 have other addresses, r14 is the data area.
static const int8_t high_places[] = {8, 9, 10, 11, 15};

// A line with registers that NASM knows.
struct high_line {
    struct kernel_spec spec; // its text is the body
    int8_t to[REX2_REGISTERS];
};

struct high_lines {
    struct high_line *items;
    size_t n, capacity;
    struct arena *arena;
};

// The next word with a number in text[*at..len), such as r16d, xmm9 or k1.
struct high_word {
    size_t begin, end;     // of the letters and the number
    int number, registers; // `registers`: 16 if its letters are those of r8 to r31, else 0
};

static bool high_in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// Returns false at the end of the line.
static bool high_next(const char *text, size_t len, size_t *at, struct high_word *word)
{
    while (*at < len) {
        size_t begin = *at, digits;
        while (*at < len && high_in_word(text[*at]))
            ++*at;
        for (digits = begin; digits < *at && isalpha((unsigned char)text[digits]);)
            digits++;
        word->begin = begin;
        word->number = 0;
        for (word->end = digits;
             word->end < *at && isdigit((unsigned char)text[word->end]) && word->number < 100;
             word->end++)
            word->number = word->number * 10 + text[word->end] - '0';
        word->registers = digits == begin + 1 && text[begin] == 'r' ? REX2_REGISTERS : 0;
        if (digits > begin && word->end > digits)
            return true;
        *at += begin == *at;
    }
    return false;
}

static bool high_is_high(const struct high_word *word)
{
    return word->registers && word->number >= HIGH_FIRST && word->number <= HIGH_LAST;
}

static bool high_in_line(const char *text, size_t len)
{
    struct high_word word;
    for (size_t at = 0; high_next(text, len, &at, &word);)
        if (high_is_high(&word))
            return true;
    return false;
}

static bool high_in_text(const char *text)
{
    return high_in_line(text, strlen(text));
}

bool high_is_named(const struct kernel_spec *spec)
{
    return high_in_text(spec->init) || high_in_text(spec->body);
}

// Returns the register that stands for `number` in the line, a new one that is not `used` yet; -1:
// there is none.
static int high_place(struct high_line *line, uint32_t *used, int number)
{
    for (int i = 0; i < REX2_REGISTERS; i++)
        if (line->to[i] == number)
            return i;
    for (size_t i = 0; i < ARRAY_LEN(high_places); i++)
        if (!(*used & 1u << high_places[i])) {
            *used |= 1u << high_places[i];
            line->to[high_places[i]] = (int8_t)number;
            return high_places[i];
        }
    return -1;
}

static void high_add(struct high_lines *lines, const char *text, size_t len)
{
    struct high_line line = {
        .spec = {.shape = "", .init = "", .instances = 1, .instrs = 1}
    };
    struct high_word word;
    struct strbuf low = {0};
    uint32_t used = 0;
    size_t copied = 0;
    for (int i = 0; i < REX2_REGISTERS; i++)
        line.to[i] = (int8_t)i;
    for (size_t at = 0; high_next(text, len, &at, &word);)
        used |= word.number < REX2_REGISTERS ? 1u << word.number : 0;
    for (size_t at = 0; high_next(text, len, &at, &word);) {
        if (!high_is_high(&word))
            continue;
        strbuf_put(&low, text + copied, word.begin - copied);
        strbuf_printf(&low, "r%d", high_place(&line, &used, word.number));
        copied = word.end;
    }
    strbuf_put(&low, text + copied, len - copied);
    line.spec.body = arena_strdup(lines->arena, strbuf_text(&low));
    strbuf_free(&low);
    lines->items = xgrow(lines->items, &lines->capacity, lines->n + 1, sizeof line);
    lines->items[lines->n++] = line;
}

static void high_collect(struct high_lines *lines, const char *text)
{
    for (size_t len; *text; text += len + (text[len] == '\n')) {
        len = strcspn(text, "\n");
        if (high_in_line(text, len))
            high_add(lines, text, len);
    }
}

// Appends the line as bytes. Returns false if it has no such form.
static bool high_put(const struct high_line *line, const struct gen_kernel *assembled,
                     struct strbuf *out)
{
    uint8_t bytes[REX2_BYTES_MAX];
    const struct gen_code *code = assembled->composed;
    if (!code || code->ends[GEN_BODY] != 1)
        return false;
    size_t n = rex2_write(code->pieces[0].bytes, code->pieces[0].len, line->to, bytes);
    strbuf_puts(out, "db ");
    for (size_t i = 0; i < n; i++)
        strbuf_printf(out, "%s0x%02x", i ? "," : "", bytes[i]);
    return n > 0;
}

// Returns the text with its lines from *next on as bytes; NULL if one has no such form.
static const char *high_replace(const char *text, const struct high_lines *lines,
                                const struct gen_kernel *assembled, size_t *next)
{
    struct strbuf out = {0};
    bool possible = true;
    for (size_t len; *text; text += len + (text[len] == '\n')) {
        len = strcspn(text, "\n");
        if (high_in_line(text, len)) {
            possible &= high_put(&lines->items[*next], &assembled[*next], &out);
            ++*next;
        } else {
            strbuf_put(&out, text, len);
        }
        strbuf_puts(&out, text[len] == '\n' ? "\n" : "");
    }
    const char *replaced = possible ? arena_strdup(lines->arena, strbuf_text(&out)) : NULL;
    strbuf_free(&out);
    return replaced;
}

int high_write(struct kernel_spec *const *specs, int nspecs, const struct assemble_options *options,
               struct arena *arena, struct err *err)
{
    struct high_lines lines = {.arena = arena};
    for (int i = 0; i < nspecs; i++) {
        high_collect(&lines, specs[i]->init);
        high_collect(&lines, specs[i]->body);
    }
    struct gen_kernel *assembled = xcalloc(lines.n + 1, sizeof *assembled);
    for (size_t i = 0; i < lines.n; i++)
        assembled[i].spec = &lines.items[i].spec;
    int status = assemble_lines(assembled, (int)lines.n, options, arena, err);
    size_t next = 0;
    for (int i = 0; i < nspecs && status == 0; i++) {
        const char *init = high_replace(specs[i]->init, &lines, assembled, &next);
        const char *body = high_replace(specs[i]->body, &lines, assembled, &next);
        if (init && body) {
            specs[i]->init = init;
            specs[i]->body = body;
        }
    }
    free(assembled);
    free(lines.items);
    return status;
}
