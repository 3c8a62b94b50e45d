// SPDX-License-Identifier: MIT
// Two CPU families or two runs side by side: which forms differ, in what way, how sure that is, and
// how many of each class do.
//
// A difference is one of more than the tolerance. It is sure where the values that either side
// allows have none in common: an upper bound allows everything below it, a measured value what its
// spread covers, the mean of executions that differ and one steady state of several allow anything.
#ifndef LATPUT_DIFF_H
#define LATPUT_DIFF_H

#include "report.h"
#include "util/mem.h"

enum diff_change {
    DIFF_SAME,
    DIFF_FASTER,  // some value is less on b, none is more
    DIFF_SLOWER,  // some value is more on b, none is less
    DIFF_MIXED,   // both
    DIFF_PORTS,   // only µops or ports differ
    DIFF_NEW,     // a does not have the instruction
    DIFF_GONE,    // b does not have it
    DIFF_OUTCOME, // one of them has no value
    DIFF_CHANGES
};
extern const char *const diff_change_names[DIFF_CHANGES];

enum { DIFF_VALUES = 4 };
extern const char *const diff_columns[DIFF_VALUES]; // of the view: latencies, throughputs

struct diff_form {
    const char *form, *enc, *isa, *list, *outcome, *uarch;
    const char *tests; // kinds of questions that were asked: "LTP"
    int64_t bits;
    double values[DIFF_VALUES];
    double spreads[DIFF_VALUES];    // 0 where none is known
    bool upper[DIFF_VALUES];        // an upper bound
    const char *marks[DIFF_VALUES]; // "~", "*", or ""
    bool uops_upper;                // they are upper bounds
    const char *uops, *ports;       // as tables show them; "" where unknown
};

struct diff_side {
    const char *name;
    struct store_filter filter;
    struct diff_form *forms;
    size_t nforms, capacity;
    struct arena arena;
};

struct diff_pair { // of a form that both sides have
    const struct diff_form *a, *b;
    enum diff_change change;
    bool sure; // of faster, slower, mixed: that of values whose difference is sure, where any is
};

enum { DIFF_RATIOS = 2 }; // latency and throughput

struct diff_class {
    const char *name;
    size_t common, counts[DIFF_CHANGES];
    size_t doubtful;            // of faster, slower and mixed
    double ratios[DIFF_RATIOS]; // b over a, the median over the common forms; NaN if none has both
};

struct diff {
    double tolerance; // relative
    bool by_isa;      // classes are extensions; else lists
    bool sure_only;   // what is in doubt is the same
    struct diff_side sides[2];
    struct diff_pair *pairs;
    size_t npairs, pairs_capacity;
    struct diff_class *classes; // by name, behind one of all forms
    size_t nclasses;
    size_t only[2];       // forms that only this side has in its runs
    size_t unasked[2][3]; // of common forms: latency, throughput, ports that this side did not ask
};

// Reads the forms of a side's filter, sorted. 0 or -1.
int diff_read(struct store *store, struct diff_side *side, struct err *err);
// Joins two sides that were read.
void diff_make(struct diff *diff);
void diff_free(struct diff *diff);

// Whether a value, or what became of the forms of a pair, differs.
bool diff_value_differs(const struct diff *diff, const struct diff_pair *pair, int i);
bool diff_outcomes_differ(const struct diff_pair *pair);

// What is printed (diff_print.c). `change`: forms of this kind only; DIFF_SAME: all that differ.
struct diff_view {
    enum report_format format;
    bool summary, forms; // which of the two tables
    enum diff_change change;
    int width; // of a table's lines; 0: as long as they need
    bool colour;
};
// *note as for text_table_print_narrow(). How many forms were printed.
int diff_print(const struct diff *diff, const struct diff_view *view, struct strbuf *out,
               struct strbuf *note);

#endif
