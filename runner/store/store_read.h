// SPDX-License-Identifier: MIT
// Rows of the public views, for reports.
#ifndef LATPUT_STORE_READ_H
#define LATPUT_STORE_READ_H

#include "store.h"
#include "util/strbuf.h"

#include <stdint.h>

// Reading, for reports: rows of the public views (design of their columns: db/README.md).
enum store_view {
    STORE_VIEW_INSTRUCTION,    // instruction_table
    STORE_VIEW_LATENCY,        // latency_table
    STORE_VIEW_PORT,           // port_table
    STORE_VIEW_FALSE,          // false_dependency_table
    STORE_VIEW_DOUBT,          // doubt_table: what another way of asking contradicts, in each run
    STORE_VIEW_EVIDENCE,       // port_evidence: what was timed for the rows of port_table
    STORE_VIEW_KERNEL,         // kernel_table: what was timed for the values of instruction_table
    STORE_VIEW_PROPERTY,       // property_table
    STORE_VIEW_PROPERTY_POINT, // property_point
    STORE_VIEW_FAILURE,        // failure_table
    STORE_VIEW_RUN,            // run_table: one row a run, newest first
    STORE_VIEW_WARNING,        // run_warning
    STORE_VIEW_BENCH,          // bench_table
    STORE_VIEW_REPETITION,     // bench_repetition_table
    STORE_VIEW_LIST,           // list_table: the lists of each run
    // The next three want the filter's run_id and list, and take nothing else of it.
    STORE_VIEW_LIST_BEST,    // the best of every form that any run on that run's CPU measured of it
    STORE_VIEW_LIST_FALSE,   // the operands of these forms that are overwritten and waited for
    STORE_VIEW_LIST_FAILURE, // what failed in the runs that these rows are of
};
// A condition on the rows of a view (where/where.h): SQL in which values are parameters.
enum { WHERE_FIRST = 100 }; // the number of its first parameter

struct store_where {
    struct strbuf sql;
    struct where_value {
        char *text; // NULL: a number
        double number;
    } * values;
    int nvalues;
};
struct store_filter {
    // On "mnemonic", "mnemonic operands" and the form, one of them; case and commas between
    // operands do not matter, and registers are classes: ymm1 is y. Of pieces of code on label and
    // snippet. None: all.
    const char *const *globs;
    int nglobs;
    const char *uarch; // this one, or one of several with commas between them; NULL: all
    int64_t run_id;    // 0: the best run of each form (instruction, latency, port,
                       // evidence), or every run
    const char *list;  // name of a list, NULL: all
    const struct store_where *where; // of this view (where/where.h); NULL: all
    const char *sort; // columns, as "latency_max_clk DESC, form": of where_sort_parse(); NULL: as
                      // the view has them
    int64_t limit;    // rows at most; 0: all
};
struct store_rows; // a query under way; columns in the order of the view
// Collects what STORE_VIEW_LIST_BEST, STORE_VIEW_LIST_FALSE and STORE_VIEW_LIST_FAILURE read, in
// memory, for this run's CPU: once for all lists, before the first. Later changes of the database
// are not in it.
int store_listed_begin(struct store *store, int64_t run_id, struct err *err);
// From here on all that is read of runs has only the forms of these mnemonics, as if no others had
// been measured: a few forms of a large database come a hundred times as fast. Of a database that
// was opened for reading, until it is closed; nothing of the file changes.
int store_narrow(struct store *store, const char *const *mnemonics, int n, struct err *err);
// The same of the forms that the filter's globs match, where the view has forms and there are
// globs.
int store_narrow_globs(struct store *store, enum store_view view, const struct store_filter *filter,
                       struct err *err);
struct store_rows *store_rows_open(struct store *store, enum store_view view,
                                   const struct store_filter *filter, struct err *err);
int store_rows_next(struct store_rows *rows, struct err *err); // 1: a row, 0: the end, -1: error
void store_rows_close(struct store_rows *rows);                // NULL is fine
int store_rows_columns(const struct store_rows *rows);
const char *store_rows_name(const struct store_rows *rows, int column);
int store_rows_column(const struct store_rows *rows, const char *name); // asserts that it exists
// Values of the current row. Text is valid until the next row; "" where it is NULL. It has what is
// not plain escaped, but for the exact one, which is for what escapes by itself (JSON) and keeps
// the order of the rows.
enum store_type { STORE_NULL, STORE_INTEGER, STORE_REAL, STORE_TEXT };
enum store_type store_rows_type(struct store_rows *rows, int column);
const char *store_rows_text(struct store_rows *rows, int column);
const char *store_rows_exact(struct store_rows *rows, int column);
double store_rows_real(struct store_rows *rows, int column); // NaN where it is NULL
int64_t store_rows_integer(struct store_rows *rows, int column);

#endif
