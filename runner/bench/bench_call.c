// SPDX-License-Identifier: MIT
// The arguments of a call; see bench_source.h.
#include "bench_source.h"

#include "bench_break.h"
#include "util/strbuf.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS_MAX = 6 };

struct argument {
    bool data; // `value` bytes after the address of the data area
    int64_t value;
};

static bool argument_read(const char *text, size_t len, struct argument *argument)
{
    char word[40], *end = word;
    if (len == 0 || len >= sizeof word)
        return false;
    memcpy(word, text, len);
    word[len] = '\0';
    argument->data = strncmp(word, "data", 4) == 0;
    argument->value = 0;
    if (argument->data && !word[4])
        return true;
    const char *number = argument->data ? word + 4 : word;
    if (argument->data && *number != '+' && *number != '-')
        return false;
    errno = 0;
    argument->value = strtoll(number, &end, 0);
    bool small = argument->value >= INT32_MIN && argument->value <= INT32_MAX;
    return end != number && !*end && errno == 0 && (!argument->data || small);
}

static int arguments_read(const char *text, struct argument *arguments, struct err *err)
{
    int n = 0;
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, ",");
        const char *word = at + strspn(at, " \t");
        size_t end = len;
        while (at + end > word && isspace((unsigned char)at[end - 1]))
            end--;
        if (n == ARGUMENTS_MAX)
            return err_set(err, "--args: more than %d arguments", ARGUMENTS_MAX);
        if (word > at + end || !argument_read(word, (size_t)(at + end - word), &arguments[n++]))
            return err_set(err, "--args: '%.*s' is no argument: a number, data, or data+N",
                           (int)len, at);
        at += len;
        if (!*at)
            return n;
    }
}

static void put_64(const struct argument *argument, int i, struct strbuf *out)
{
    static const char *const registers[] = {"rdi", "rsi", "rdx", "rcx", "r8", "r9"};
    if (!argument->data)
        strbuf_printf(out, "mov %s, %" PRId64 "\n", registers[i], argument->value);
    else if (argument->value)
        strbuf_printf(out, "lea %s, [r14+%" PRId64 "]\n", registers[i], argument->value);
    else
        strbuf_printf(out, "mov %s, r14\n", registers[i]);
}

static void put_32(const struct argument *argument, struct strbuf *out)
{
    if (!argument->data)
        strbuf_printf(out, "push dword %" PRId32 "\n", (int32_t)argument->value);
    else if (argument->value)
        strbuf_printf(out, "lea eax, [ebp+%" PRId64 "]\npush eax\n", argument->value);
    else
        strbuf_puts(out, "push ebp\n");
}

const char *bench_call_arguments(const struct bench_spec *spec, int bits, int *pushed,
                                 struct arena *arena, struct err *err)
{
    struct argument arguments[ARGUMENTS_MAX] = {0};
    struct strbuf out = {0};
    int n = arguments_read(spec->args ? spec->args : "data, 65536", arguments, err);
    if (n < 0)
        return NULL;
    *pushed = bits == 32 ? (4 * n + 15) / 16 * 16 : 0;
    if (*pushed > 4 * n)
        strbuf_printf(&out, "sub esp, %d\n", *pushed - 4 * n);
    for (int i = 0; i < n; i++)
        if (bits == 32)
            put_32(&arguments[n - 1 - i], &out);
        else
            put_64(&arguments[i], i, &out);
    const char *text = arena_strdup(arena, strbuf_text(&out));
    strbuf_free(&out);
    return text;
}
