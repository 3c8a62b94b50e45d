// SPDX-License-Identifier: MIT
// The option --format of commands with the output of report.h.
#pragma once

#include "command.h"
#include "report/report.h"

enum { // sets of formats
    FORMATS_TABLE_JSON = 1 << REPORT_TABLE | 1 << REPORT_JSON,
    FORMATS_PASTED_JSON =
        FORMATS_TABLE_JSON | 1 << REPORT_MARKDOWN | 1 << REPORT_HTML | 1 << REPORT_LATEX,
    FORMATS_ALL = FORMATS_PASTED_JSON | 1 << REPORT_CSV,
};

// The end of an option's record (see command.h): one of `formats`, bits of an enum report_format;
// and whole records.
#define OPTION_FORMAT(field, formats)                                                              \
    .take = option_take_format, .offset = OPTION_FIELD(enum report_format, field),                 \
    .value = (formats)
#define FORMAT_ALL(field)                                                                          \
    "format", "table|csv|spreadsheet|json|markdown|html|latex",                                    \
        "how it is printed; table if not given. spreadsheet is csv with an apostrophe before "     \
        "what a spreadsheet would take for a formula; markdown, html and latex are the table for " \
        "people, to be pasted",                                                                    \
        OPTION_FORMAT(field, FORMATS_ALL)
#define COMMON_FORMAT(field) 'f', FORMAT_ALL(field)
#define COMMON_FORMAT_JSON(field)                                                                  \
    'f', "format", "table|json", "how it is printed; table if not given",                          \
        OPTION_FORMAT(field, FORMATS_TABLE_JSON)
int option_take_format(const struct option_given *given, void *to);
