// SPDX-License-Identifier: MIT
// Two CPU families or two runs side by side: the forms that differ, in what way, how sure that is,
// and how many do per class.
//
// A difference exceeds the tolerance. It is sure if the sides allow no common value: an upper bound
// allows everything below it, a measured value its spread; the mean of executions that differ, and
// one steady state of several, allow anything.
#pragma once

#include "report/report.h"
#include "util/mem.h"

enum diff_change {
    DIFF_SAME,
    DIFF_FASTER,  // some values are smaller on b, none is larger
    DIFF_SLOWER,  // some values are larger on b, none is smaller
    DIFF_MIXED,   // both kinds
    DIFF_PORTS,   // only µops or ports differ
    DIFF_NEW,     // a does not have the instruction
    DIFF_GONE,    // b does not have it
    DIFF_OUTCOME, // one of them has no value
    DIFF_CHANGES
};
extern const char *const diff_change_names[DIFF_CHANGES];

enum { DIFF_VALUES = 4 };
extern const char *const diff_columns[DIFF_VALUES]; // columns of the view: latencies, throughputs

struct diff_form {
    const char *form, *enc, *isa, *list, *outcome, *family;
    const char *tests; // kinds of questions that were asked: "LTP"
    int64_t bits;
    double values[DIFF_VALUES];
    double spreads[DIFF_VALUES];    // 0: unknown
    bool upper[DIFF_VALUES];        // value is an upper bound
    const char *marks[DIFF_VALUES]; // "~", "*", or ""
    bool uops_upper;                // they are upper bounds
    const char *uops, *ports;       // as tables show them; "": unknown
};

struct diff_side {
    const char *name;
    struct store_filter filter;
    struct diff_form *forms;
    size_t nforms, capacity;
    struct report_runs runs;
    struct arena arena;
};

struct diff_pair { // a form that both sides have
    const struct diff_form *a, *b;
    enum diff_change change;
    bool sure; // for faster, slower, mixed: the change counts sure differences only, if there are
               // any
};

enum { DIFF_RATIOS = 2 }; // latency and throughput

struct diff_class {
    const char *name;
    size_t common, counts[DIFF_CHANGES];
    size_t doubtful;            // number of faster, slower and mixed
    double ratios[DIFF_RATIOS]; // b to a, median of the common forms; NaN if no form has both
};

struct diff {
    double tolerance; // relative
    bool by_isa;      // classes are extensions; false: lists
    bool sure_only;   // doubtful differences count as the same
    struct diff_side sides[2];
    struct diff_pair *pairs;
    size_t npairs, pairs_capacity;
    struct diff_class *classes; // by name, after the class of all forms
    size_t nclasses;
    size_t only[2];       // number of forms that only this side has in its runs
    size_t unasked[2][3]; // common forms whose latency, throughput or ports this side did not ask
                          // for
};

// Reads the forms of a side's filter, sorted. Returns 0 or -1.
int diff_read(struct store *store, struct diff_side *side, struct err *err);
// Joins two sides that were read.
void diff_make(struct diff *diff);
void diff_free(struct diff *diff);

// Return true if a value, or the outcomes of the forms of a pair, differ.
bool diff_value_differs(const struct diff *diff, const struct diff_pair *pair, int i);
bool diff_outcomes_differ(const struct diff_pair *pair);

// Parts to print (diff_print.c). `change`: only forms of this kind; DIFF_SAME: all that differ.
struct diff_view {
    enum report_format format;
    bool summary, forms; // the two tables
    enum diff_change change;
    int width; // limit of a table's lines; 0: none
    bool colour;
};
// Prints; *note as for text_table_print_narrow(). Returns the number of forms printed.
int diff_print(const struct diff *diff, const struct diff_view *view, struct strbuf *out,
               struct strbuf *note);
