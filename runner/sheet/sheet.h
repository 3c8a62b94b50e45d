// SPDX-License-Identifier: MIT
// The fact sheet of a core: one screen of what its properties say in a row. Which conclusion is
// which line is data (cpuinfo/fact_sheet.csv). Pure but for the last two sections.
#pragma once

#include "conclude/swept.h"
#include "output/output.h"
#include "store/store_cpu.h"
#include "store/store_whose.h"
#include "util/csvfile.h"
#include "util/strbuf.h"
#include "util/text_table.h"

// --- the lines (sheet_lines.c) ---

enum sheet_show {
    SHEET_VALUE,     // the value of the conclusion, times `factor`
    SHEET_TIME,      // the same in cycles, and what that is in time
    SHEET_RATE,      // `factor` divided by it
    SHEET_BANDWIDTH, // the same: bytes a cycle, and what that is a second
    SHEET_CLOCK,     // the frequency of the core
    SHEET_PAIRS,     // words: for which x a variant is faster than a limit
    SHEET_VARIANTS,  // words: which variants are
    SHEET_SHOW_COUNT
};

// One line of the sheet. Alternatives stand with | between them, the best first.
struct sheet_line {
    const char *group, *name;
    const char *properties, *variants, *values;
    enum sheet_show show;
    const char *unit; // "": the conclusion's
    double factor;
    // Words: faster than `below` (times the median of the variant `against`, unless that is "").
    double below;
    const char *against;
    const char *words;  // names of variants by blanks, or "; X NAME" for each x
    const char *cache;  // whose size it is, as CPUID calls it: "2u"; "": of none
    const char *within; // property and variant of what holds all that this counts; "": of nothing
};
struct sheet_lines {
    struct sheet_line *lines;
    int n;
    struct csv_file file; // owns the texts
};
// Reads a table of lines. Returns 0, or -1 with `path:line:` and a caret. The caller frees.
int sheet_lines_read(const char *path, struct sheet_lines *lines, struct err *err);
// Reads the table of the data root.
int sheet_lines_load(struct sheet_lines *lines, struct err *err);
void sheet_lines_free(struct sheet_lines *lines);

// --- the facts of one CPU (sheet_fact.c) ---

struct sheet_cpu {
    struct store_whose whose;
    struct swept_property *properties;
    struct stored_cache *caches;
    int nproperties, ncaches;
};
struct sheet_quantity {
    double value, low, high;
    const char *unit;
};
enum { SHEET_QUANTITIES_MAX = 2 };
struct sheet_fact {
    bool asked; // there is a conclusion, whatever it says
    // The conclusion that it is; "" where there is none.
    const char *property, *variant, *label;
    enum conclusion_outcome outcome;
    double confidence;                                      // NaN: not told
    struct sheet_quantity quantities[SHEET_QUANTITIES_MAX]; // the same in different units
    int nquantities;
    // The first choice that it stands in for, a property or a variant of the same, and why; "". It
    // is from `from` then, and a level less sure than its conclusion.
    const char *instead_of, *reason, *from;
    const char *others; // other properties whose values lie apart: "latency_by_page says 10.8 clk"
    const char *within; // what may be the limit in its place: "may be that of ..."; ""
    const char *words;  // instead of quantities; ""
    double least, most; // published, in the unit of the first quantity; most 0: nothing is
    bool claimed;       // not published, but what CPUID says
};
// Returns what the line says of the CPU. Texts are the arena's or the arguments'.
struct sheet_fact sheet_fact(const struct sheet_line *line, const struct sheet_cpu *cpu,
                             struct arena *arena);

// Returns where the fact is from if that is not its first choice, or if others say otherwise; "".
const char *sheet_source(const struct sheet_fact *fact, struct arena *arena);

// Returns in words which cells are faster than the line's limit; "" if no point is there
// (sheet_words.c).
const char *sheet_words(const struct sheet_line *line, const struct swept_property *property,
                        struct arena *arena);

// --- output (sheet_print.c) ---

// Widths for which the sheet of one CPU is made: its columns, or two facts in a line.
enum { SHEET_WIDTH = 80, SHEET_WIDE = 100 };
struct sheet_look {
    enum report_format format; // any but CSV and JSON
    int width;                 // of lines, in characters; 0: as long as they are
    bool colour;
};
// Appends the sheet, CPUs side by side; lines of which no CPU says anything are left out.
void sheet_print(const struct sheet_lines *lines, const struct sheet_cpu *cpus, int ncpus,
                 const struct sheet_look *look, struct strbuf *out);
// Writes an array of CPUs, each with its facts.
void sheet_json(const struct sheet_lines *lines, const struct sheet_cpu *cpus, int ncpus,
                struct json *json);
extern const struct output_kind sheet_kind;

// --- all conclusions (sheet_conclusions.c) ---

// Returns "15.9 to 16.6", "25 to 40 KiB"; "" if both are written alike.
const char *sheet_interval(double low, double high, const char *unit, struct arena *arena);
// Appends all conclusions: one line per value, at most 80 columns. `virtual_machine`: mark numbers
// that mean little there.
void sheet_put_conclusions(const struct swept_property *properties, int n, bool virtual_machine,
                           struct strbuf *out);

// --- from the database (sheet_load.c) ---

// Reads the CPU and the properties of a run. Returns 0, or -1 with a message; also if there is no
// such run.
int sheet_cpu_load(struct store *store, int64_t run_id, struct sheet_cpu *cpu, struct arena *arena,
                   struct err *err);

// --- properties.txt (sheet_write.c) ---

// Writes properties.txt, the fact sheet of a CPU with all conclusions of its run below it, into a
// directory that is there. Returns 0 or -1.
int sheet_write(const struct sheet_cpu *cpu, const char *directory, struct err *err);
