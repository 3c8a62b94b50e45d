// SPDX-License-Identifier: MIT
// Two CPU families or two runs side by side: the forms that differ, in what way, how sure that is,
// and how many do per class.
//
// A difference exceeds the tolerance. It is sure if the sides allow no common value: an upper bound
// allows everything below it, a measured value its spread; the mean of executions that differ
// allows anything. Ranges differ if they have nothing in common. A form that one side's run was
// refused is new or gone unless its system said so; under a hypervisor, where the other side's CPU
// is of the same family and has it, it is in doubt that the CPU lacks it.
#pragma once

#include "output/output.h"
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
    DIFF_KEPT,    // one of them may have it, but its system or hypervisor keeps it from programs
    DIFF_OUTCOME, // one of them has no value
    DIFF_ONLY_A,  // b's runs do not have the form: it is no common one
    DIFF_ONLY_B,
    DIFF_CHANGES
};
extern const char *const diff_change_names[DIFF_CHANGES];

enum { DIFF_COLUMNS_MAX = 24 };

// A form's value of a column.
struct diff_value {
    double number;    // NaN: none, and of texts
    double most;      // upper end of a range; NaN: it is none
    double spread;    // 0: unknown
    bool upper;       // it is an upper bound
    const char *mark; // "~", "*", or ""
    const char *text; // as tables show it, an outcome as it is stored; "": unknown
};

struct diff_form {
    const char *form, *mnemonic, *enc, *isa, *list, *outcome;
    const char *refused_by; // as the column says it; "": it is not refused
    const char *family;     // in which names of ports mean something; "": in none
    const char *tests;      // kinds of questions that were asked: "LTP"
    int64_t bits;
    struct diff_value values[DIFF_COLUMNS_MAX]; // of the columns of struct diff
};

struct diff_side {
    const char *name;
    struct store_filter filter;
    struct diff_form *forms;
    size_t nforms, capacity;
    struct store_runs runs;
    struct arena arena;
};

struct diff_pair { // a form of both sides, or (DIFF_ONLY_A, DIFF_ONLY_B) of one beside an empty one
    const struct diff_form *a, *b;
    enum diff_change change;
    bool sure; // for faster, slower, mixed: the change counts sure differences only, if there are
               // any
    // Of the value that changes by the largest factor among those that count: b to a, and its
    // column; NaN and NULL: none counts. The largest change in cycles.
    double ratio, change_clk;
    const struct column *ratio_of;
    const char *explained, *evidence; // name of a group, and what shows it; "": not sought
};

// Differences that the same explains (compare/compare_diff.h).
struct diff_group {
    const char *name, *says;
    size_t forms;
};

enum diff_order { DIFF_BY_FORM, DIFF_BY_RATIO, DIFF_BY_CLK, DIFF_ORDERS };
extern const char *const diff_order_names[DIFF_ORDERS];

enum { DIFF_RATIOS = 2 }; // latency and throughput

struct diff_class {
    const char *name;
    size_t common, counts[DIFF_CHANGES];
    size_t doubtful;            // number of faster, slower and mixed
    double ratios[DIFF_RATIOS]; // b to a, median of the common forms; NaN if no form has both
};

struct diff {
    const struct column *columns[VIEW_COLUMNS_MAX]; // compared or shown, in the order of tables
    int ncolumns;
    double tolerance; // relative
    bool by_isa;      // classes are extensions; false: lists
    bool sure_only;   // doubtful differences count as the same
    struct diff_side sides[2];
    struct diff_pair *pairs;
    size_t npairs, pairs_capacity;
    struct diff_class *classes; // by name, after the class of all forms
    size_t nclasses;
    struct diff_group *groups;
    size_t ngroups;
    struct arena arena;      // of evidence
    struct diff_form absent; // stands for one that a side's runs do not have
    size_t unasked[2][3]; // common forms whose latency, throughput or ports this side did not ask
                          // for
};

// Writes the family of a CPU, in which names of ports mean something; "" for CPUs that are not
// known, which may be of several. Returns it.
const char *diff_family(const char *uarch, char *family, size_t size);
// Returns the form that has a pair's name and class.
const struct diff_form *diff_pair_form(const struct diff_pair *pair);
// Begins with the columns that differences have, theirs among them where a table of others stands
// beside (store/store_beside.h), and no forms. The caller sets the tolerance and what else it asks.
void diff_begin(struct diff *diff);
// Reads the forms of the filter of sides[side], sorted. Returns 0 or -1.
int diff_read(struct store *store, struct diff *diff, int side, struct err *err);
// Joins two sides that were read, in the order of forms.
void diff_make(struct diff *diff);
// Sorts the pairs: the largest change first, by factor or by cycles.
void diff_sort(struct diff *diff, enum diff_order order);
void diff_free(struct diff *diff);

// Returns true if the values of a column differ, by its rule.
bool diff_column_differs(const struct diff *diff, const struct diff_pair *pair, int column);

// Returns the position of the column by which a pair was judged faster, slower, mixed or ports:
// that of the ratio, or the first that differs; -1: by none.
int diff_pair_column(const struct diff *diff, const struct diff_pair *pair);

// Parts to print (diff_print.c). `change`: only forms of this kind; DIFF_SAME: all common ones that
// differ.
struct diff_view {
    struct output_page page;
    bool summary, forms; // the two tables
    enum diff_change change;
    int limit; // of forms; 0: none
};
// Prints; *note as for text_table_print_narrow(). Returns the number of forms that are of the kind.
size_t diff_print(const struct diff *diff, const struct diff_view *view, struct strbuf *out,
                  struct strbuf *note);

// The record of what is printed, which is made of the columns.
struct diff_told {
    struct output_made whole, form, side;
    struct arena arena;
};
void diff_tell(const struct diff *diff, struct diff_told *told);
void diff_told_free(struct diff_told *told);
