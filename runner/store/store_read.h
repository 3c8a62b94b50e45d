// SPDX-License-Identifier: MIT
// Rows of the public views, for reports.
#pragma once

#include "columns/columns.h"
#include "output/field.h"
#include "store.h"
#include "util/mem.h"
#include "util/strbuf.h"

#include <stdint.h>

// A condition on the rows of a view (expr/expr.h): SQL in which values are parameters.
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
    // Globs of which one must match "mnemonic", "mnemonic operands" or the form; case and commas
    // between operands do not matter, and registers are classes: ymm1 is y. For pieces of code,
    // label or snippet must match. None: all rows.
    const char *const *globs;
    int nglobs;
    const char *uarch; // one or several, with commas between them; NULL: all
    int64_t run_id;    // 0: the best run of each form (instruction, latency, port, evidence), or
                       // every run
    const char *list;  // name of a list, NULL: all
    const struct store_where *where; // of this view (expr/expr.h); NULL: all
    const char *sort; // columns as expr_sort_parse() gives them, "latency_max_clk DESC, form";
                      // NULL: as in the view
    int64_t limit;    // largest number of rows; 0: all
};
struct store_rows; // a running query; columns in the order of the view
// Collects the rows that STORE_VIEW_LIST_BEST, STORE_VIEW_LIST_FALSE and STORE_VIEW_LIST_FAILURE
// read, in memory, for this run's CPU: once for all lists, before the first. Later changes of the
// database are not seen.
int store_listed_begin(struct store *store, int64_t run_id, struct err *err);
// Returns the mnemonics of all forms, each with its NUL, an empty one at the end; NULL after an
// error.
char *store_mnemonics(struct store *store, struct err *err);
// Restricts all later reading of runs to forms of these mnemonics, as if no others had been
// measured: reading a few forms of a large database becomes a hundred times as fast. For a database
// opened for reading, until it is closed; the file does not change.
int store_narrow(struct store *store, const char *const *mnemonics, int n, struct err *err);
// The same for these forms, as lists have them.
int store_narrow_forms(struct store *store, const char *const *forms, int n, struct err *err);
// Returns true if the rows of a view are of forms.
bool store_view_has_forms(enum store_view view);
// Restricts reading to forms that the filter's globs match, if the view has forms and there are
// globs.
int store_narrow_globs(struct store *store, enum store_view view, const struct store_filter *filter,
                       struct err *err);
// Computes once which rows are the best, for several views of all forms: each would ask for it. For
// a database opened for reading, until it is closed; later changes of the file are not seen.
int store_keep_best(struct store *store, struct err *err);
struct store_rows *store_rows_open(struct store *store, enum store_view view,
                                   const struct store_filter *filter, struct err *err);
int store_rows_next(struct store_rows *rows, struct err *err); // 1: a row, 0: the end, -1: error
void store_rows_close(struct store_rows *rows);                // NULL is fine
enum store_view store_rows_view(const struct store_rows *rows);
int store_rows_columns(const struct store_rows *rows);
const char *store_rows_name(const struct store_rows *rows, int column);
int store_rows_column(struct store_rows *rows, const char *name); // asserts that it exists
// Values of the current row. Text is valid until the next row; "" for NULL. Characters that are not
// plain are escaped, except in the exact text, which is for writers that escape by themselves
// (JSON) and keeps the order of the rows.
enum store_type { STORE_NULL, STORE_INTEGER, STORE_REAL, STORE_TEXT };
enum store_type store_rows_type(struct store_rows *rows, int column);
const char *store_rows_text(struct store_rows *rows, int column);
const char *store_rows_exact(struct store_rows *rows, int column);
// Returns a copy of the text of the column of this name, owned by the arena.
const char *store_rows_keep(struct store_rows *rows, const char *name, struct arena *arena);
// Returns a form's name for people (list/form_shown.h).
const char *store_rows_form(struct store_rows *rows, int column);
double store_rows_real(struct store_rows *rows, int column); // NaN for NULL
int64_t store_rows_integer(struct store_rows *rows, int column);
// Returns any value; its text is exact. Tables for people are not made of it as it is.
struct field_value store_rows_value(struct store_rows *rows, int column);
// The same of the column of this name.
enum store_type store_type_of(struct store_rows *rows, const char *name);
const char *store_text_of(struct store_rows *rows, const char *name);
const char *store_exact_of(struct store_rows *rows, const char *name);
const char *store_form_of(struct store_rows *rows, const char *name);
double store_real_of(struct store_rows *rows, const char *name);
int64_t store_integer_of(struct store_rows *rows, const char *name);
