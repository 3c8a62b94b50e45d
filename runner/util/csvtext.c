// SPDX-License-Identifier: MIT
// Writing CSV; see csvtext.h.
#include "csvtext.h"

#include <string.h>

void csv_put_text(struct strbuf *out, const char *text)
{
    if (text[strcspn(text, ",\"\r\n")])
        csv_put_quoted(out, text);
    else
        strbuf_puts(out, text);
}

void csv_put_quoted(struct strbuf *out, const char *text)
{
    strbuf_puts(out, "\"");
    for (; *text; text++) {
        strbuf_puts(out, *text == '"' ? "\"" : "");
        strbuf_put(out, text, 1);
    }
    strbuf_puts(out, "\"");
}
