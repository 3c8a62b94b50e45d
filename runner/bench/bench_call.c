// SPDX-License-Identifier: MIT
// The arguments of a call; see bench_source.h.
#include "bench_source.h"

#include "bench_break.h"
#include "bench_text.h"
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

// Writes what sets the arguments. Returns the bytes that they take of the stack, or -1 with a
// message.
static int put_arguments(const struct bench_spec *spec, int bits, struct strbuf *out,
                         struct err *err)
{
    struct argument arguments[ARGUMENTS_MAX] = {0};
    int n = arguments_read(spec->args ? spec->args : "data, 65536", arguments, err);
    if (n < 0)
        return -1;
    int pushed = bits == 32 ? (4 * n + 15) / 16 * 16 : 0;
    if (pushed > 4 * n)
        strbuf_printf(out, "sub esp, %d\n", pushed - 4 * n);
    for (int i = 0; i < n; i++)
        if (bits == 32)
            put_32(&arguments[n - 1 - i], out);
        else
            put_64(&arguments[i], i, out);
    return pushed;
}

// Writes the text of a call. Arguments that were not asked for give way to what init has set.
static void call_put(const struct bench_spec *spec, int bits, const struct bench_kept *kept,
                     const char *arguments, int pushed, struct strbuf *out)
{
    bool first = !spec->args || bits == 32; // those of the stack are put there by way of eax
    strbuf_printf(out, "%s%s", first ? arguments : kept->load, first ? kept->load : arguments);
    // By register or memory: the body is copied far away from the function.
    if (*kept->load)
        strbuf_puts(out, "call [latput_entry]\n");
    else
        strbuf_printf(out, "mov eax, latput_function\ncall %s\n", bits == 32 ? "eax" : "rax");
    if (pushed)
        strbuf_printf(out, "add esp, %d\n", pushed);
}

int bench_call_make(const struct bench_spec *spec, int bits, const char *directory,
                    struct bench_call *call, struct arena *arena, struct err *err)
{
    struct bench_spec init = *spec;
    struct bench_kept kept;
    struct strbuf arguments = {0}, text = {0};
    init.bits = bits;
    int pushed = put_arguments(spec, bits, &arguments, err);
    int status = pushed < 0 ? -1 : bench_init_kept(&init, directory, &kept, arena, err);
    if (status == 0) {
        const char *own = bench_text_lines(spec->init ? spec->init : "", arena);
        call_put(spec, bits, &kept, strbuf_text(&arguments), pushed, &text);
        call->call = arena_strdup(arena, strbuf_text(&text));
        call->init = !*kept.load
                         ? own
                         : arena_printf(arena,
                                        "%s%ssection latput_user progbits alloc noexec "
                                        "write align=64\nalign 64, db 0\n"
                                        "latput_entry: %s latput_function\n%s"
                                        "section .text\ndefault abs\n",
                                        own, kept.save, bits == 32 ? "dd" : "dq", kept.places);
    }
    strbuf_free(&arguments);
    strbuf_free(&text);
    return status;
}
