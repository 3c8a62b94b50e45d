// SPDX-License-Identifier: MIT
// Analysis of the text of a snippet without running it; see bench_text.h. NASM decides what is
// right; this only separates, counts, and chooses values for registers.
#include "bench_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// 64-bit patterns of 1.0, in both halves where the type has 32 bits.
static const uint64_t ONE_F64 = 0x3ff0000000000000, ONES_F32 = 0x3f8000003f800000;

// Returns the end of the part that begins at `at`: a `;` or newline outside of quotes, or the end.
// A comment, from `;;` to the end of the line, belongs to the part before it; *comment: its begin.
static const char *text_part_end(const char *at, const char **comment)
{
    char quote = '\0';
    for (*comment = NULL; *at && *at != '\n'; at++) {
        if (quote)
            quote = *at == quote ? '\0' : quote;
        else if (*at == '\'' || *at == '"' || *at == '`')
            quote = *at;
        else if (*at == ';' && at[1] != ';')
            break;
        else if (*at == ';') {
            *comment = at;
            return at + strcspn(at, "\n");
        }
    }
    return at;
}

const char *bench_text_lines(const char *text, struct arena *arena)
{
    size_t len = strlen(text);
    char *lines = arena_alloc(arena, len + 2);
    strcpy(lines, text);
    for (char *end = lines; *end; end += *end != '\0') {
        const char *comment;
        end = (char *)text_part_end(end, &comment);
        if (comment)
            memset(lines + (comment - lines), ' ', (size_t)(end - comment));
        if (*end)
            *end = '\n';
    }
    if (len && lines[len - 1] != '\n')
        lines[len] = '\n';
    return lines;
}

bool bench_text_part(const char *text, int part, int *start, int *len)
{
    const char *at = text, *comment;
    for (int i = 1; i < part; i++) {
        at = text_part_end(at, &comment);
        if (!*at)
            return false;
        at++;
    }
    const char *end = text_part_end(at, &comment);
    end = comment ? comment : end;
    while (at < end && isspace((unsigned char)*at))
        at++;
    while (end > at && isspace((unsigned char)end[-1]))
        end--;
    *start = (int)(at - text);
    *len = (int)(end - at);
    return true;
}

static bool text_line_is_instruction(const char *line, size_t len)
{
    while (len && isspace((unsigned char)*line))
        line++, len--;
    size_t word = 0;
    while (word < len && (isalnum((unsigned char)line[word]) || strchr("_.$%@", line[word])))
        word++;
    if (word < len && line[word] == ':') // a label; an instruction may follow
        return text_line_is_instruction(line + word + 1, len - word - 1);
    static const char *const directives[] = {"align",  "bits",   "default", "equ",
                                             "extern", "global", "section", "segment"};
    for (size_t i = 0; i < ARRAY_LEN(directives); i++)
        if (word == strlen(directives[i]) && strncasecmp(line, directives[i], word) == 0)
            return false;
    return len > 0 && *line != '%' && *line != ';' && *line != '[';
}

int bench_text_instructions(const char *lines)
{
    int n = 0;
    for (const char *at = lines; *at;) {
        size_t len = strcspn(at, "\n");
        n += text_line_is_instruction(at, len);
        at += len + (at[len] == '\n');
    }
    return n;
}

// Returns the mode that a part of a text sets ("bits 16", "[bits 32]", "use16"); 0: it sets none.
static int text_mode(const char *part, int len)
{
    while (len > 0 && (*part == '[' || isspace((unsigned char)*part)))
        part++, len--;
    bool bits = len > 5 && strncasecmp(part, "bits", 4) == 0 && isspace((unsigned char)part[4]);
    bool use = len >= 5 && strncasecmp(part, "use", 3) == 0 && isdigit((unsigned char)part[3]);
    return bits ? atoi(part + 5) : use ? atoi(part + 3) : 0;
}

bool bench_text_is_unknown(const char *message)
{
    return strstr(message, "label-orphan") || strstr(message, "instruction expected");
}

int bench_text_check_mode(const char *text, int bits, struct err *err)
{
    int start, len;
    for (int part = 1; text && bench_text_part(text, part, &start, &len); part++) {
        int mode = text_mode(text + start, len);
        if (mode && mode != bits)
            return err_set(err,
                           "'%.*s': the processor would run this %d-bit code in %d-bit mode, as "
                           "other instructions; %s",
                           len, text + start, mode, bits,
                           mode == 16 ? "16-bit code cannot be measured here"
                                      : "--bits chooses the mode");
    }
    return 0;
}

static bool text_names(const char *text, const char *name)
{
    return text && strcasestr(text, name);
}

static bool text_is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// Returns true if a mnemonic is one of 32-bit floats: mulps, vaddss, vfmadd231ps, cvtps2pd.
static bool text_has_f32(const char *text)
{
    for (const char *at = text; at && *at; at++)
        if ((strncasecmp(at, "ps", 2) == 0 || strncasecmp(at, "ss", 2) == 0) && at > text &&
            isalnum((unsigned char)at[-1]) && !text_is_name(at[2]))
            return true;
    return false;
}

struct kernel_spec bench_text_kernel(const struct bench_spec *spec, struct arena *arena)
{
    const char *body = bench_text_lines(spec->body, arena);
    uint64_t one = text_has_f32(body) || text_has_f32(spec->init) ? ONES_F32 : ONE_F64;
    struct kernel_spec kernel = {.shape = "bench",
                                 .body = body,
                                 .init = bench_text_lines(spec->init ? spec->init : "", arena),
                                 .instances = spec->instances > 0 ? spec->instances : 1,
                                 .instrs = bench_text_instructions(body),
                                 .vec_fill = one,
                                 .gpr_fill = 1,
                                 .mask_fill = UINT64_MAX};
    if (kernel.instrs == 0)
        kernel.instrs = 1;
    static const struct {
        const char *name;
        int bits;
    } widths[] = {
        {"zmm", 512},
        {"ymm", 256},
        {"xmm", 128},
        {"mm",  128},
    };
    for (size_t i = 0; i < ARRAY_LEN(widths) && !kernel.vec_bits; i++)
        if (text_names(body, widths[i].name) || text_names(spec->init, widths[i].name))
            kernel.vec_bits = widths[i].bits;
    if (kernel.vec_bits)
        kernel.mem_fill = one;
    return kernel;
}
