// SPDX-License-Identifier: MIT
#include "csvtext.h"

#include <stdlib.h>
#include <string.h>

static bool spreadsheets;

void csv_for_spreadsheets(bool yes)
{
    spreadsheets = yes;
}

static bool is_number(const char *text)
{
    char *end;
    strtod(text, &end);
    return end != text && !text[strspn(text, "+-.0123456789e")] && !*end;
}

// Returns the characters to be written before the text in its field.
static const char *field_prefix(const char *text)
{
    return spreadsheets && *text && strchr("=+-@\t\r", *text) && !is_number(text) ? "'" : "";
}

static void csv_put_quoted(struct strbuf *out, const char *text)
{
    strbuf_printf(out, "\"%s", field_prefix(text));
    for (; *text; text++) {
        strbuf_puts(out, *text == '"' ? "\"" : "");
        strbuf_put(out, text, 1);
    }
    strbuf_puts(out, "\"");
}

void csv_put_text(struct strbuf *out, const char *text)
{
    if (text[strcspn(text, ",\"\r\n")])
        csv_put_quoted(out, text);
    else
        strbuf_printf(out, "%s%s", field_prefix(text), text);
}
