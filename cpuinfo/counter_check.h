// SPDX-License-Identifier: MIT
// Checks all tables about counters together, for `latput check`.
#pragma once

#include "table_read.h"
#include "util/strbuf.h"

// Calls `report` for every fault of counter_ids.csv, counter_sets.csv and counters/*.csv below the
// directory (NULL: cpuinfo/ of the data root) by themselves, with each other and with cpus.csv.
// Returns the number of tables in counters/.
int counters_check(const char *directory, table_report *report, void *data);

// Appends the uarchs of cpus.csv, with blanks between them, that no table of counters is there for:
// nothing can be counted on them.
void counters_missing(struct strbuf *names);
