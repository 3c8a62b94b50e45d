// SPDX-License-Identifier: MIT
// Tables of text: aligned columns under a header, or written as CSV, Markdown, HTML or LaTeX.
// Widths count characters. Control characters are replaced, since a foreign database must not drive
// the terminal.
#pragma once

#include "strbuf.h"

#include <stdbool.h>

enum text_align { ALIGN_LEFT, ALIGN_RIGHT, ALIGN_POINT }; // POINT: decimal points in one column

struct text_table; // rows of cells under a header; columns that stay empty are left out
struct text_table *text_table_new(const char *const *headers, const enum text_align *aligns,
                                  int ncolumns);
void text_table_cell(struct text_table *table, const char *text); // next cell, row by row
// Styles the table for a terminal with colours: headings stand out, and cells that were marked.
void text_table_colour(struct text_table *table);
enum text_style { STYLE_PLAIN, STYLE_HEADING, STYLE_GOOD, STYLE_BAD, STYLE_FAINT };
void text_table_styled(struct text_table *table, const char *text, enum text_style style);
// Return the codes that begin and end a style, for texts that are no tables; "" without colour.
const char *text_style_begin(enum text_style style, bool colour);
const char *text_style_end(enum text_style style, bool colour);
void text_table_print(const struct text_table *table, struct strbuf *out);
// Fate of a column where lines are too short for all of them.
struct text_fit {
    int rank; // FIT_KEEP, FIT_SAME, or 1 and more: the column with the highest goes first
    int fold; // narrowest width in characters that its cells may be folded to (at least 3); 0:
              // never
};
enum {
    FIT_KEEP = 0,
    FIT_SAME = -1, // dropped before all others if it says the same in every row
};
// Appends the table in lines of at most `width` characters, as far as possible; headings of several
// words may take several lines. `fits`: one per column. *note: half a sentence about what was left
// out; "" if nothing.
void text_table_print_narrow(const struct text_table *table, int width, const struct text_fit *fits,
                             struct strbuf *out, struct strbuf *note);
// The form in which commands with an option --wide print the note.
#define TEXT_TABLE_FITTED "fitted to the terminal: %s; --wide prints all columns"

// Formats of output. JSON is written by json.h, the others are tables.
enum report_format {
    REPORT_TABLE,
    REPORT_CSV,
    REPORT_JSON,
    REPORT_MARKDOWN,
    REPORT_HTML,
    REPORT_LATEX,
};
// Returns true for a format that people read: its tables have the columns, rounded numbers and
// marks that people need, where CSV and JSON have all that is stored.
bool report_for_people(enum report_format format);
// Appends the table in any format but JSON (text_table_put.c), escaped as that demands. CSV has
// every column, others those that are not empty. HTML is one element `table` in ASCII, LaTeX one
// environment `tabular` that needs no package.
void text_table_put(const struct text_table *table, enum report_format format, struct strbuf *out);
// Appends a paragraph before or after a table, in any format but CSV and JSON.
void text_table_say(const char *text, enum report_format format, struct strbuf *out);
int text_table_rows(const struct text_table *table);
// Removes the rows whose element of `out` is true.
void text_table_remove(struct text_table *table, const bool *out);
void text_table_free(struct text_table *table);
