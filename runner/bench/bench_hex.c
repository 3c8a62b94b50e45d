// SPDX-License-Identifier: MIT
// Machine code as hexadecimal digits; see bench_bytes.h.
#include "bench_bytes.h"

#include <ctype.h>
#include <string.h>

static int digit_value(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

bool bench_bytes_is_hex(const char *text, size_t len)
{
    static const char mnemonic[] = "fadd"; // the one instruction without operands that would do
    size_t n = 0;
    while (n < len && isxdigit((unsigned char)text[n]))
        n++;
    return len && n == len && len % 2 == 0 &&
           !(len == strlen(mnemonic) && strncmp(text, mnemonic, len) == 0);
}

// Skips what may stand between two bytes.
static const char *hex_skip(const char *at)
{
    for (;;) {
        at += strspn(at, " \t\r\n,");
        if (strncmp(at, "0x", 2) != 0 && strncmp(at, "\\x", 2) != 0)
            return at;
        at += 2;
    }
}

int bench_bytes_read_hex(const char *text, struct bench_bytes *code, struct arena *arena,
                         struct err *err)
{
    uint8_t *bytes = arena_alloc(arena, strlen(text) / 2 + 1);
    size_t len = 0;
    for (const char *at = hex_skip(text); *at; at = hex_skip(at + 2)) {
        if (!isxdigit((unsigned char)*at) || !isxdigit((unsigned char)at[1]))
            return err_set(err,
                           "'%.8s' at character %zu: bytes are pairs of hexadecimal digits, as "
                           "480fafc3",
                           at, (size_t)(at - text) + 1);
        if (len == BENCH_BYTES_MAX)
            return err_set(err, "more than %d bytes of code", BENCH_BYTES_MAX);
        bytes[len++] = (uint8_t)(digit_value(at[0]) << 4 | digit_value(at[1]));
    }
    if (len == 0)
        return err_set(err, "there is no byte of code");
    code->bytes = bytes;
    code->len = len;
    code->own = true;
    return 0;
}
