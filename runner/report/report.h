// SPDX-License-Identifier: MIT
// Stage 8: output for people and programs: tables, CSV, JSON, and the text files of a run.
// Everything comes from the database through the headers of store/, nothing from this machine or
// the clock.
#pragma once

#include "store/store_field.h"
#include "store/store_ports.h"
#include "store/store_read.h"
#include "store/store_whose.h"
#include "util/json.h"
#include "util/strbuf.h"
#include "util/text_table.h"

// --- numbers (report_rows.c) ---

// Formats a number of cycles for people: 3 decimals below 0.1, 2 up to 100, 1 up to 1000, then
// none. NaN gives "".
const char *report_number(double value, char text[32]);

// Formats a latency for people: "≤" before an upper bound, and the mark of the views: "~" before an
// average, "*" after one steady state of several.
enum { REPORT_LATENCY_MAX = 48 };
const char *report_latency(const char *number, bool upper, const char *mark,
                           char text[REPORT_LATENCY_MAX]);

// Returns the mark of a column's value in the current row: "~", "*", both, or "".
const char *report_mark(struct store_rows *rows, const struct column *column);

// Formats a column of a view's current row for people: numbers with their marks, ports that are
// unknown as "", no port as "none", no outcome if it is ok; in `text`, or valid until the next row.
const char *report_value(struct store_rows *rows, const char *name, char text[REPORT_LATENCY_MAX]);

// --- rows of the public views (report_rows.c) ---

struct report_query {
    enum store_view view;
    const struct store_filter *filter; // NULL: all rows
    enum report_format format;
    int width;                  // limit of a table's lines in characters; 0: none
    bool colour;                // of tables
    const char *const *columns; // names of the view's columns, ends with NULL; NULL: all of them,
                                // or in tables the usual ones
    struct store_runs *runs;    // tables add the runs of their rows; NULL: they do not
    bool shown; // CSV has last, for each number NAME that tables round, a column NAME_shown with it
                // as they show it
};
// Appends all rows of a view; *nrows: their number. CSV has a header row, JSON is an array of
// objects with the columns as keys; other formats show the columns that people need. *note as for
// text_table_print_narrow(); NULL if no width is given. Returns 0, or -1 with the store's message.
int report_rows(struct store *store, const struct report_query *query, struct strbuf *out,
                struct strbuf *note, int64_t *nrows, struct err *err);

// Returns the heading of a view's column in tables, and its alignment.
const char *report_heading(enum store_view view, const char *name);
enum text_align report_alignment(enum store_view view, const char *name);

// Appends rows of the filter's CPUs (or of all) side by side (report_side.c): a row has what they
// share, and each CPU has columns of its own, in CSV and JSON "zen4.latency_min_clk". The filter
// may have no order of its own.
int report_side(struct store *store, const struct report_query *query, struct strbuf *out,
                struct strbuf *note, int64_t *nrows, struct err *err);
bool report_has_sides(enum store_view view); // true if this view has side-by-side rows

// Appends the meaning of the marks in a printed table, wrapped to `width`; nothing if it has none
// (report_legend.c).
void report_legend(const char *table, int width, struct strbuf *out);

// --- the structure of the ports (report_ports.c) ---

// Appends the structure of the ports, ending with a line feed. `title`: the CPU's name and the
// source of the numbers.
void report_ports_text(const struct stored_port_model *stored, const char *title, bool colour,
                       struct strbuf *out);
extern const struct output_kind report_ports_kind;
void report_ports_json(const struct stored_port_model *stored, const char *uarch,
                       struct strbuf *out);
// Writes the object of the JSON form as a value of some other text.
void report_ports_object(const struct stored_port_model *stored, const char *uarch,
                         struct json *json);
void report_ports_svg(const struct stored_port_model *stored, const char *title,
                      struct strbuf *out);

// --- a page (report_page.c) ---

// Style element of pages that stand alone.
extern const char report_page_style[];
// Appends text of the database as HTML; characters such as those that change the direction of
// writing are made visible.
void report_put_html(struct strbuf *out, const char *text);

// Writes one HTML page with all instructions of the database, which needs no other file: best
// answers, with a box that filters, headings that sort, and the meaning of the marks. The title
// names the run. *nrows: number of rows.
int report_page(struct store *store, int64_t run_id, struct strbuf *out, int64_t *nrows,
                struct err *err);

// --- the text files of a run (report_text.c) ---

// Writes into `directory` (made if missing) info.txt, one <list>.txt per list of the run and, if it
// has a port model, the diagram ports.svg. Each file is written under a temporary name and renamed
// when it is complete.
int report_write(struct store *store, int64_t run_id, const char *directory, struct err *err);
// Writes these files with the best answers to all forms of a list that any run on this run's CPU
// has measured, for each such list: a run of a few forms or questions takes nothing away.
int report_write_best(struct store *store, int64_t run_id, const char *directory, struct err *err);
// Append the texts of these files.
int report_info_text(struct store *store, int64_t run_id, struct strbuf *out, struct err *err);
// Appends the port structure of a run, and how well it predicts mixes; nothing if the run has none.
int report_run_ports(struct store *store, int64_t run_id, struct strbuf *out, struct err *err);
// Appends how the run spent its time, in lines "WORD: ..." of any length; nothing if unknown.
int report_time_text(struct store *store, int64_t run_id, struct strbuf *out, struct err *err);
int report_list_text(struct store *store, int64_t run_id, const char *list, struct strbuf *out,
                     struct err *err);
int report_list_text_best(struct store *store, int64_t run_id, const char *list, struct strbuf *out,
                          struct err *err);
// Finds the run whose ports the best tables show: this one, or the newest on its uarch that has
// found any. Returns 1 if found, 0 if none, -1.
int report_ports_run(struct store *store, int64_t run_id, int64_t *ports_run_id, struct err *err);
// Returns the stem of the file of a list's table or of a property's picture: "int" for "int".
// Different names have different stems, and no other file beside them has one of these: characters
// that are unusual in file names become '+' and their code.
char *report_list_stem(const char *list);
