// SPDX-License-Identifier: MIT
// --format; see cmd_format.h.
#include "cmd_format.h"

#include "util/mem.h"

#include <string.h>

static const char *const names[] = {
    [REPORT_TABLE] = "table", [REPORT_CSV] = "csv", [REPORT_JSON] = "json"};

int format_option_read(const struct command *cmd, const char *text, unsigned formats,
                       enum report_format *format)
{
    struct strbuf known = {0};
    unsigned left = formats;
    for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
        if (!(formats >> i & 1))
            continue;
        if (strcmp(text, names[i]) == 0) {
            *format = (enum report_format)i;
            strbuf_free(&known);
            return EXIT_DONE;
        }
        left &= ~(1u << i);
        strbuf_printf(&known, "%s%s", !known.len ? "" : left ? ", " : " and ", names[i]);
    }
    int status = command_fail(cmd, EXIT_USAGE, "unknown format '%s'; there are %s", text,
                              strbuf_text(&known));
    strbuf_free(&known);
    return status;
}
