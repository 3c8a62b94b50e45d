// SPDX-License-Identifier: MIT
// Error messages; see err.h.
#include "err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, const char *format, ...)
{
    if (!err)
        return -1;
    va_list ap;
    va_start(ap, format);
    vsnprintf(err->text, sizeof err->text, format, ap);
    va_end(ap);
    return -1;
}

int err_prefix(struct err *err, const char *format, ...)
{
    if (!err)
        return -1;
    char old[sizeof err->text];
    memcpy(old, err->text, sizeof old);
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(err->text, sizeof err->text, format, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof err->text)
        snprintf(err->text + n, sizeof err->text - (size_t)n, "%s", old);
    return -1;
}
