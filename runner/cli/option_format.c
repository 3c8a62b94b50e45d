// SPDX-License-Identifier: MIT
#include "option_format.h"

#include "util/csvtext.h"
#include "util/mem.h"

#include <string.h>

static const struct {
    const char *name;
    enum report_format format;
    bool spreadsheets; // of CSV: those may read it
} formats[] = {
    {"table",       REPORT_TABLE,    false},
    {"csv",         REPORT_CSV,      false},
    {"spreadsheet", REPORT_CSV,      true },
    {"json",        REPORT_JSON,     false},
    {"markdown",    REPORT_MARKDOWN, false},
    {"html",        REPORT_HTML,     false},
    {"latex",       REPORT_LATEX,    false},
};

// The names of `set`, bits of an enum report_format: "table, csv, spreadsheet and json".
static void put_names(int set, struct strbuf *out)
{
    size_t last = ARRAY_LEN(formats);
    while (!(set >> formats[--last].format & 1))
        ;
    for (size_t i = 0; i <= last; i++)
        if (set >> formats[i].format & 1)
            strbuf_printf(out, "%s%s", !out->len ? "" : i < last ? ", " : " and ", formats[i].name);
}

int option_take_format(const struct option_given *given, void *to)
{
    int set = given->option->value;
    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        if (!(set >> formats[i].format & 1) || strcmp(given->argument, formats[i].name) != 0)
            continue;
        *(enum report_format *)to = formats[i].format;
        csv_for_spreadsheets(formats[i].spreadsheets);
        return EXIT_DONE;
    }
    struct strbuf known = {0};
    put_names(set, &known);
    int status = command_fail(given->cmd, EXIT_USAGE, "unknown format '%s'; there are %s",
                              given->argument, strbuf_text(&known));
    strbuf_free(&known);
    return status;
}
