// SPDX-License-Identifier: MIT
#include "err.h"

#include "text.h"

#include <stdarg.h>
#include <stdio.h>

// Stores the message with control characters escaped: a quoted path or line of a list must not
// steer the terminal.
static int err_settle(struct err *err, const char *message)
{
    struct strbuf shown = {0};
    text_put_escaped(&shown, message);
    snprintf(err->text, sizeof err->text, "%s", strbuf_text(&shown));
    strbuf_free(&shown);
    return -1;
}

int err_set(struct err *err, const char *format, ...)
{
    if (!err)
        return -1;
    char message[sizeof err->text];
    va_list ap;
    va_start(ap, format);
    vsnprintf(message, sizeof message, format, ap); // `format` may take err->text as an argument
    va_end(ap);
    err_locate(err, 0, 0);
    return err_settle(err, message);
}

void err_locate(struct err *err, int line, int column)
{
    if (!err)
        return;
    err->line = line;
    err->column = column;
}

int err_prefix(struct err *err, const char *format, ...)
{
    if (!err)
        return -1;
    char message[sizeof err->text];
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(message, sizeof message, format, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof message)
        snprintf(message + n, sizeof message - (size_t)n, "%s", err->text);
    return err_settle(err, message);
}
