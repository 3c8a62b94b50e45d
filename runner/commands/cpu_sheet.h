// SPDX-License-Identifier: MIT
// latput cpu --sheet: the fact sheets of CPUs of the database.
#pragma once

#include "cli/command.h"
#include "util/text_table.h"

#include <stdint.h>

enum { CPU_SHEET_MAX = 16 }; // CPUs side by side
struct cpu_sheet_runs {
    int64_t run_ids[CPU_SHEET_MAX];
    int n;
    bool others; // they are looked for among the published ones
};

// Prints the sheet of these runs; without any, of the newest with properties on each of these
// uarchs, with commas between them; NULL: of the newest. Returns an exit status.
int cpu_sheet(const struct command *cmd, const char *db, const char *uarchs,
              struct cpu_sheet_runs *runs, enum report_format format);
