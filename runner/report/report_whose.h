// SPDX-License-Identifier: MIT
// The names of CPU, run and date for the numbers of a printed block.
#pragma once

#include "cpuinfo/cpuinfo.h"
#include "store/store_read.h"
#include "util/mem.h"
#include "util/strbuf.h"

#include <stdint.h>

// The row of a run, or this machine now.
struct report_whose {
    int64_t run_id; // 0: none, this machine
    const char *uarch, *name, *brand, *hypervisor, *date, *version;
    double core_hz; // 0: not known
};
// Reads the row of a run; its texts are the arena's. Returns 0, or -1 if there is none, too.
int report_whose_read(struct store *store, int64_t run_id, struct report_whose *whose,
                      struct arena *arena, struct err *err);
// Appends "Zen 5 (zen5), AMD EPYC, on KVM; run 4, 2026-11-25, latput 0.1.0", without a line feed.
void report_whose_put(const struct report_whose *whose, struct strbuf *out);
// Appends that of a run. Returns 0 or -1.
int report_whose_run(struct store *store, int64_t run_id, struct strbuf *out, struct err *err);
// Appends that of a CPU that is measured now.
void report_whose_here(const struct cpu_info *cpu, struct strbuf *out);

// The runs that the rows of a table are of, and a line of text for each.
enum { REPORT_RUNS_MAX = 12 };
struct report_runs {
    int64_t run_ids[REPORT_RUNS_MAX];
    int n;
    bool more;
};
// Adds those that the values of a view's current row are of; runs: NULL is fine.
void report_runs_of(struct report_runs *runs, struct store_rows *rows);
// Appends a line for each, that begins with `which`, folded at `width` characters; 0: not folded.
int report_runs_put(struct store *store, const struct report_runs *runs, const char *which,
                    int width, struct strbuf *out, struct err *err);
