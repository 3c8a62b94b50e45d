// SPDX-License-Identifier: MIT
// A string that grows. Zero-initialise before use; the owner calls strbuf_free().
#pragma once

#include <stdarg.h>
#include <stddef.h>

struct strbuf {
    char *data; // NUL-terminated after the first addition, NULL before
    size_t len, capacity;
};

void strbuf_put(struct strbuf *buf, const char *bytes, size_t len);
void strbuf_puts(struct strbuf *buf, const char *text);
void strbuf_printf(struct strbuf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void strbuf_vprintf(struct strbuf *buf, const char *format, va_list ap)
    __attribute__((format(printf, 2, 0)));
// Appends a number with as many digits as it takes to read the same number again.
void strbuf_put_real(struct strbuf *buf, double value);
const char *strbuf_text(const struct strbuf *buf); // never NULL
void strbuf_clear(struct strbuf *buf);             // empty, keeps the memory
void strbuf_cut(struct strbuf *buf, size_t len);   // to its first `len` bytes, if it has more
void strbuf_free(struct strbuf *buf);
