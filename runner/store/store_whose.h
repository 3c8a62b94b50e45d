// SPDX-License-Identifier: MIT
// The names of CPU, run and date for the numbers of a printed block.
#pragma once

#include "cpuinfo/cpuinfo.h"
#include "store_read.h"
#include "util/mem.h"
#include "util/strbuf.h"

#include <stdint.h>

// The row of a run, or this machine now.
struct store_whose {
    int64_t run_id; // 0: none, this machine
    const char *uarch, *name, *brand, *hypervisor, *date, *version;
    double core_hz; // 0: not known
};
// Reads the row of a run; its texts are the arena's. Returns 0, or -1 if there is none, too.
int store_whose_read(struct store *store, int64_t run_id, struct store_whose *whose,
                     struct arena *arena, struct err *err);
// Appends "Zen 5 (zen5), AMD EPYC, on KVM; run 4, 2026-11-25, latput 0.1.0", without a line feed.
void store_whose_put(const struct store_whose *whose, struct strbuf *out);
// Reads the row of a run and appends it. Returns 0 or -1.
int store_whose_run(struct store *store, int64_t run_id, struct strbuf *out, struct err *err);
// Appends the CPU that is measured now.
void store_whose_here(const struct cpu_info *cpu, struct strbuf *out);

// The runs that the rows of a table come from, and a line of text for each.
enum { STORE_RUNS_MAX = 12 };
struct store_runs {
    int64_t run_ids[STORE_RUNS_MAX];
    int n;
    bool more;
};
// Adds the runs that the values of a view's current row come from; runs: NULL is fine.
void store_runs_of(struct store_runs *runs, struct store_rows *rows);
// Appends a line for each, that begins with `which`, folded at `width` characters; 0: not folded.
int store_runs_put(struct store *store, const struct store_runs *runs, const char *which, int width,
                   struct strbuf *out, struct err *err);
