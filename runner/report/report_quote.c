// SPDX-License-Identifier: MIT
// Text as CSV and JSON have it.
#include "report.h"

#include <string.h>

void report_csv_text(struct strbuf *out, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        strbuf_puts(out, text);
        return;
    }
    strbuf_puts(out, "\"");
    for (const char *at = text; *at; at++) {
        if (*at == '"')
            strbuf_puts(out, "\"");
        strbuf_put(out, at, 1);
    }
    strbuf_puts(out, "\"");
}

void report_json_text(struct strbuf *out, const char *text)
{
    strbuf_puts(out, "\"");
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            strbuf_printf(out, "\\u%04x", (unsigned)*at);
        else if (*at == '"' || *at == '\\')
            strbuf_printf(out, "\\%c", *at);
        else
            strbuf_put(out, at, 1);
    strbuf_puts(out, "\"");
}
