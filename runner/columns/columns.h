// SPDX-License-Identifier: MIT
// Columns of the public views: one record says all that is told of a column. SELECT lists, tables,
// CSV, JSON, exports, differences, expressions, the web page and docs/COLUMNS.md follow from it.
// docs/HOWTO_ADD_COLUMN.md says what a new one takes.
#pragma once

#include "output/look.h"
#include "util/strbuf.h"

#include <stdbool.h>

// The public views (design: db/README.md).
enum store_view {
    STORE_VIEW_INSTRUCTION,    // instruction_table
    STORE_VIEW_LATENCY,        // latency_table
    STORE_VIEW_PORT,           // port_table
    STORE_VIEW_FALSE,          // false_dependency_table
    STORE_VIEW_DOUBT,          // doubt_table: contradictions between two ways of asking, per run
    STORE_VIEW_EVIDENCE,       // port_evidence: the timings for rows of port_table
    STORE_VIEW_KERNEL,         // kernel_table: the timings for values of instruction_table
    STORE_VIEW_PROPERTY,       // property_table
    STORE_VIEW_PROPERTY_POINT, // property_point
    STORE_VIEW_FAILURE,        // failure_table
    STORE_VIEW_RUN,            // run_table: one row per run, newest first
    STORE_VIEW_WARNING,        // run_warning
    STORE_VIEW_BENCH,          // bench_table
    STORE_VIEW_REPETITION,     // bench_repetition_table
    STORE_VIEW_LIST, // list_table: the lists of a run; without one, each as the newest has it
    // The next three need the filter's run_id and list, and ignore the rest of it.
    STORE_VIEW_LIST_BEST,    // the best of every form of the list that any run on that run's CPU
                             // measured
    STORE_VIEW_LIST_FALSE,   // the operands of these forms that are overwritten and waited for
    STORE_VIEW_LIST_FAILURE, // failures in the runs of these rows
    STORE_VIEWS
};

// Places where a column is told beside `latput query`, which has all of them.
enum column_surface {
    COLUMN_TABLE, // tables for people, without --columns
    COLUMN_LIST,  // the text files of a run
    COLUMN_PAGE,  // the page that stands alone
    COLUMN_SIDE,  // CPUs side by side, for people
    COLUMN_SIDES, // the same as CSV and JSON
    COLUMN_CSV,   // `export --format csv`
    COLUMN_JSON,  // `export --format json`
    COLUMN_DIFF,  // both sides of a difference
    COLUMN_SITE,  // data of the web page
};
#define COLUMN_ON(surface) (1U << (surface))

// Ways in which people read a text.
enum column_kind {
    COLUMN_PLAIN,
    COLUMN_FORM,    // the name of a form
    COLUMN_USES,    // ports: NULL is unknown, "" none
    COLUMN_OUTCOME, // "ok" is not said
};
// Rules by which values of two CPUs or runs differ (diff/diff.h).
enum column_differs {
    DIFFERS_NOT,       // they are shown, and compared nowhere
    DIFFERS_BY_SIZE,   // numbers, by more than the tolerance
    DIFFERS_IF_KNOWN,  // whole numbers, if both are known and none is a bound
    DIFFERS_IN_FAMILY, // names that mean something within one CPU family, if they are sure
    DIFFERS_IF_ASKED,  // outcomes, if both sides asked for the same
};
// Two times are the same up to this share of the larger one, and up to COLUMN_LEAST_CLK.
#define COLUMN_TOLERANCE 0.02
#define COLUMN_LEAST_CLK 0.005

// One rule says whether two values are the same, for differences (diff/) and for tables of others
// (compare/); the page has it, too (site/differs.js). A value is a range; its ends are equal if it
// is none.
struct column_range {
    double least, most;
};
// Values are the same up to so many cycles, or to this share of one of them.
struct column_tolerance {
    double clk, share;
};
// Returns how far two values are apart: from the end of the lower range to the beginning of the
// other; less than 0 if they overlap.
double column_gap(struct column_range a, struct column_range b);
// Returns true if a gap is no difference; `of`: the value of which the share counts.
bool column_gap_is_small(double gap, double of, struct column_tolerance tolerance);

// Marks beside values, and what they mean.
enum column_sign {
    SIGN_UPPER,
    SIGN_AVERAGE,
    SIGN_STATES,
    SIGN_PORTS,
    SIGN_JOINED,
    SIGN_NAME,
    SIGN_RANGE,
    SIGN_SLOW,
    COLUMN_SIGNS
};
struct column_mark {
    const char *sign, *says;
};
extern const struct column_mark column_marks[COLUMN_SIGNS];

struct column {
    struct look look;
    int place;          // order in tables for people; 0: in none
    unsigned on;        // COLUMN_ON() of surfaces
    const char *alias;  // further names in expressions, with blanks between; NULL: the heading only
    const char *bound;  // column that is 'upper' where the value is a bound; NULL: none
    const char *mark;   // column with its "~" or "*"; NULL: `bound` says of which it is the mean
    const char *most;   // column with the upper end, where the value is a range; NULL: none
    const char *slow;   // column with the same for slow data; NULL: none
    const char *wider;  // column for which the heading could be taken as well; NULL: none
    const char *spread; // column with its spread; NULL: none
    char asked;         // kind of question that gives it: L, T or P; 0: it depends on none
    enum column_kind kind;
    enum column_differs differs;
    const char *exported; // its name in exports; NULL: as in the view
    bool blank;           // "" says that there is none: null in exported JSON
    bool key;             // one of those that name the row
    bool sql;             // only in the database
    bool beside;          // only beside a table of others; such columns are the last of a view
};

enum { VIEW_COLUMNS_MAX = 100 }; // of a view

// From now on instruction_table has the columns of a table of others, too (store_beside.h).
void columns_show_beside(bool shown);
// Returns the columns of a view in its order, and their number; of run_table, which is read whole,
// those that tables show.
const struct column *columns_of(enum store_view view, int *n);
// Returns the name of the view in SQL; NULL: it is not public.
const char *columns_view_name(enum store_view view);
// Returns the column of a view, or NULL.
const struct column *columns_find(enum store_view view, const char *name);
// Fills in the columns of a view on a surface: by their place, in exports in the order in which
// they came. Returns their number.
int columns_on(enum store_view view, enum column_surface surface,
               const struct column *found[VIEW_COLUMNS_MAX]);
// Puts the columns of differences into the order of their CSV.
void columns_sort_diff(const struct column **columns, int n);
// Returns the column that has this name, heading or alias, in any case of letters; NULL: none.
const struct column *columns_called(enum store_view view, const char *name);
// Appends the names for a SELECT.
void columns_select(enum store_view view, struct strbuf *sql);
// Appends the sentence on a column as plain text.
void columns_say(const struct column *column, struct strbuf *out);
// Appends docs/COLUMNS.md (columns_document.c).
void columns_document(struct strbuf *out);
