// SPDX-License-Identifier: MIT
#include "strbuf.h"

#include "mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void strbuf_put(struct strbuf *buf, const char *bytes, size_t len)
{
    buf->data = xgrow(buf->data, &buf->capacity, buf->len + len + 1, 1);
    memcpy(buf->data + buf->len, bytes, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
}

void strbuf_puts(struct strbuf *buf, const char *text)
{
    strbuf_put(buf, text, strlen(text));
}

void strbuf_vprintf(struct strbuf *buf, const char *format, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    // The first try usually has room: formatting is the most expensive part here.
    size_t room = buf->capacity - buf->len;
    size_t len = (size_t)vsnprintf(room ? buf->data + buf->len : NULL, room, format, ap);
    if (len >= room) {
        buf->data = xgrow(buf->data, &buf->capacity, buf->len + len + 1, 1);
        vsnprintf(buf->data + buf->len, len + 1, format, again);
    }
    buf->len += len;
    va_end(again);
}

void strbuf_printf(struct strbuf *buf, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    strbuf_vprintf(buf, format, ap);
    va_end(ap);
}

void strbuf_put_real(struct strbuf *buf, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.15g", value);
    if (strtod(text, NULL) != value)
        snprintf(text, sizeof text, "%.17g", value);
    strbuf_puts(buf, text);
}

const char *strbuf_text(const struct strbuf *buf)
{
    return buf->data ? buf->data : "";
}

void strbuf_clear(struct strbuf *buf)
{
    buf->len = 0;
    if (buf->data)
        buf->data[0] = '\0';
}

void strbuf_cut(struct strbuf *buf, size_t len)
{
    if (len >= buf->len)
        return;
    buf->len = len;
    buf->data[len] = '\0';
}

void strbuf_free(struct strbuf *buf)
{
    free(buf->data);
    *buf = (struct strbuf){0};
}
