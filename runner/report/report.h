// SPDX-License-Identifier: MIT
// Stage 8: what people and programs read: tables, CSV, JSON, and the text files of a run.
// Everything comes from the database through the headers of store/, nothing from this machine or
// the clock.
#ifndef LATPUT_REPORT_H
#define LATPUT_REPORT_H

#include "store/store_ports.h"
#include "store/store_read.h"
#include "util/json.h"
#include "util/strbuf.h"
#include "util/text_table.h"

// --- numbers (report_rows.c) ---

// A number of cycles as people read it: 3 decimals below 0.1, 2 up to 100, 1 up to 1000, then none.
// "" where it is NaN.
const char *report_number(double value, char text[32]);

// A latency as people read it: "≤" in front of an upper bound, and what the columns `mark` of the
// views say: "~" in front of an average, "*" behind one steady state of several.
enum { REPORT_LATENCY_MAX = 48 };
const char *report_latency(const char *number, bool upper, const char *mark,
                           char text[REPORT_LATENCY_MAX]);

// The column `ports` of a view as people read it: "" unknown, "none" no port; valid until the next
// row.
const char *report_ports(struct store_rows *rows);

// A column of a view's current row as people read it: numbers with their marks, no outcome where it
// is ok; in `text`, or valid until the next row.
const char *report_value(struct store_rows *rows, const char *name, char text[REPORT_LATENCY_MAX]);

// --- rows of the public views (report_rows.c) ---

enum report_format { REPORT_TABLE, REPORT_CSV, REPORT_JSON };

struct report_query {
    enum store_view view;
    const struct store_filter *filter; // NULL: all rows
    enum report_format format;
    int width;                  // of a table's lines in characters; 0: as long as they need
    bool colour;                // of tables
    const char *const *columns; // names of the view's columns, ends with NULL; NULL: all of them,
                                // or in tables those that people need
};
// Appends all rows of a view. *nrows: how many. CSV has a header row, JSON is an array of objects
// with the columns as keys; tables show the columns that people need. *note as for
// text_table_print_narrow(); NULL where no width is given. 0, or -1 with the store's message.
int report_rows(struct store *store, const struct report_query *query, struct strbuf *out,
                struct strbuf *note, int64_t *nrows, struct err *err);

// What tables call a column of a view, and how they align it.
const char *report_heading(enum store_view view, const char *name);
enum text_align report_alignment(enum store_view view, const char *name);

// The same with the CPUs of the filter (or all that there are) side by side (report_side.c): what
// they have in common makes a row, and each has columns of its own, in CSV and JSON
// "zen4.latency_min_clk". The filter may have no order of its own.
int report_side(struct store *store, const struct report_query *query, struct strbuf *out,
                struct strbuf *note, int64_t *nrows, struct err *err);
bool report_has_sides(enum store_view view); // whether rows of this view can be so

// What the marks mean that occur in a printed table, in a line that is wrapped to `width`; nothing
// where there are none (report_legend.c).
void report_legend(const char *table, int width, struct strbuf *out);

// --- the structure of the ports (report_ports.c) ---

// `title`: the CPU's name and where the numbers come from. The texts end with a line feed.
void report_ports_text(const struct stored_port_model *stored, const char *title, bool colour,
                       struct strbuf *out);
void report_ports_json(const struct stored_port_model *stored, const char *uarch,
                       struct strbuf *out);
// The same object as a value of some other text.
void report_ports_object(const struct stored_port_model *stored, const char *uarch,
                         struct json *json);
void report_ports_svg(const struct stored_port_model *stored, const char *title,
                      struct strbuf *out);

// --- a page (report_page.c) ---

// The style element of pages that stand alone.
extern const char report_page_style[];
// Text of the database as HTML; what could change the direction of writing or the like is shown.
void report_put_html(struct strbuf *out, const char *text);

// One HTML page with all instructions of the database, which needs no other file: best answers,
// with a box that filters, headings that sort, and the meaning of the marks. The title speaks of
// the run. *nrows: its rows.
int report_page(struct store *store, int64_t run_id, struct strbuf *out, int64_t *nrows,
                struct err *err);

// --- the text files of a run (report_text.c) ---

// Writes info.txt, one <list>.txt for each list of the run and, where it has a port model, the
// diagram ports.svg into `directory` (made if missing).
// Each file is written under a temporary name and renamed when it is complete.
int report_write(struct store *store, int64_t run_id, const char *directory, struct err *err);
// The same, but there is a table for each list of which any run on this run's CPU has measured
// forms, and it has all of these, each with its best answers: a run of a few forms or questions
// takes nothing away.
int report_write_best(struct store *store, int64_t run_id, const char *directory, struct err *err);
// The texts of these files.
int report_info_text(struct store *store, int64_t run_id, struct strbuf *out, struct err *err);
// The text of a run, with how well its ports predict mixes; nothing where the run has none.
int report_run_ports(struct store *store, int64_t run_id, struct strbuf *out, struct err *err);
// Where its time went, in lines "WORD: ..." of any length; nothing where the run does not know.
int report_time_text(struct store *store, int64_t run_id, struct strbuf *out, struct err *err);
int report_list_text(struct store *store, int64_t run_id, const char *list, struct strbuf *out,
                     struct err *err);
int report_list_text_best(struct store *store, int64_t run_id, const char *list, struct strbuf *out,
                          struct err *err);
// The run whose ports the best tables speak of: this one, or the newest on its uarch that has found
// any. 1 found, 0 none, -1 error.
int report_ports_run(struct store *store, int64_t run_id, int64_t *ports_run_id, struct err *err);
// A list's name as that of its table, or a property's as that of its picture: "int" from "int". No
// two have one, and none has that of another file beside them: characters that no name of a file
// needs become '+' and their code.
char *report_list_stem(const char *list);

#endif
