// SPDX-License-Identifier: MIT
// --format; see option_format.h.
#include "option_format.h"

#include "util/mem.h"

#include <string.h>

static const char *const names[] = {
    [REPORT_TABLE] = "table", [REPORT_CSV] = "csv", [REPORT_JSON] = "json"};

int option_take_format(const struct option_given *given, void *to)
{
    struct strbuf known = {0};
    int left = given->option->value;
    for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
        if (!(given->option->value >> i & 1))
            continue;
        if (strcmp(given->argument, names[i]) == 0) {
            *(enum report_format *)to = (enum report_format)i;
            strbuf_free(&known);
            return EXIT_DONE;
        }
        left &= ~(1 << i);
        strbuf_printf(&known, "%s%s", !known.len ? "" : left ? ", " : " and ", names[i]);
    }
    int status = command_fail(given->cmd, EXIT_USAGE, "unknown format '%s'; there are %s",
                              given->argument, strbuf_text(&known));
    strbuf_free(&known);
    return status;
}
