// SPDX-License-Identifier: MIT
// The option --format of commands that print what report.h prints.
#ifndef LATPUT_CMD_FORMAT_H
#define LATPUT_CMD_FORMAT_H

#include "command.h"
#include "report/report.h"

enum { // sets of formats
    FORMATS_ALL = 1 << REPORT_TABLE | 1 << REPORT_CSV | 1 << REPORT_JSON,
    FORMATS_TABLE_CSV = 1 << REPORT_TABLE | 1 << REPORT_CSV,
    FORMATS_TABLE_JSON = 1 << REPORT_TABLE | 1 << REPORT_JSON,
};

// Reads the option's text, one of `formats`. EXIT_DONE, or EXIT_USAGE after a message that names
// them.
int format_option_read(const struct command *cmd, const char *text, unsigned formats,
                       enum report_format *format);

#endif
