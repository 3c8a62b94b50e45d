// SPDX-License-Identifier: MIT
// `latput check`: validates lists and tables without measuring. All problems are collected first
// and printed in the order of the lists and lines, because they are found stage by stage: reading,
// duplicates, assembling, decoding.
#pragma once

#include "list/list.h"
#include "list/select.h"
#include "plan/render.h"
#include "util/err.h"
#include "util/mem.h"

#include <stdio.h>

// One assembled row.
struct check_code {
    const struct list_row *row;
    struct row_choice choice;
    int source_line; // in the NASM source
    bool refused;    // NASM's message is among the problems
    size_t offset, len;
};

struct check_problem {
    int order; // index of the list; after all lists: tables
    int line;
    int number; // in the order of discovery
    const char *text;
};

struct check_list {
    struct list list;
    bool selection; // repeats rows of the other lists
    bool read;      // the list could be read, perhaps without some rows
    bool known;     // all its rows are known to be good (check_known.h)
};

struct check {
    struct check_list *lists; // exactly those asked for
    int nlists;
    bool complete; // all lists of the tree: they must have the rows of selections, and use all
                   // exceptions
    bool borrowed; // the lists belong to a selection
    int nrows, nproperties;
    struct check_code *codes; // rows of 64-bit mode, assembled
    int ncodes;
    const unsigned char *bytes; // their machine code
    struct check_exceptions *exceptions;
    struct check_problem *problems;
    size_t nproblems, capacity;
    struct arena arena;
};

// Checks lists. All functions below add to check->problems. Returns -1 only if the environment
// lacks something (no NASM, no temporary directory). `complete` as in the struct.
int check_lists(const char *const *paths, int npaths, bool complete, struct check *check,
                struct err *err);
// Checks the lists of a selection before they are measured; lists that this program has found good
// before are assembled and decoded again only if something has changed. `nasm`: its version.
int check_selection(const struct selection *selection, const char *nasm, struct check *check,
                    struct err *err);
// Checks the files of cpuinfo/ports/, whose forms must be rows of the checked lists.
void check_port_names(struct check *check);
// Drops problems of other lines than these, one per list (0: all lines). Returns the index of the
// first list that has no row at its line; -1: none.
int check_keep_lines(struct check *check, const int *lines);
void check_print(struct check *check, FILE *out);
void check_free(struct check *check);

// check_problem.c: adds a problem of the list with this index, or of none.
void check_problem_add(struct check *check, int order, int line, const char *text);

// Adds a problem of a row, with the caret under `token` of its source line (see list_row_error()).
void check_row_problem(struct check *check, const struct list_row *row, const char *token,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));
// Adds a problem with the caret under operand `index` (0-based) of the text.
void check_operand_problem(struct check *check, const struct list_row *row, int index,
                           const char *format, ...) __attribute__((format(printf, 4, 5)));
// Adds a problem that belongs to no row.
void check_table_problem(struct check *check, const char *text);

// Assembles the rows in as few NASM runs as its messages need. On success *bytes (of the arena)
// holds the machine code of every row that was not refused.
int check_assemble(struct check *check, struct check_code *codes, int ncodes, int bits,
                   const unsigned char **bytes, struct err *err);

// Deviations from the decoder that are right: lists/exceptions.csv.
struct check_exceptions;
struct check_exceptions *check_exceptions_read(struct check *check);
// Returns true if `field` of the row may differ; marks the exception as used. A field "name" with
// the decoder's mnemonic is looked up as "name=MNEMONIC".
bool check_exceptions_allow(struct check_exceptions *exceptions, const struct list_row *row,
                            const char *field);
void check_exceptions_unused(const struct check_exceptions *exceptions, struct check *check);

// Compares the fields of a row's machine code, read from its bytes, with what opcode= and the
// operands mean: for instructions that the decoder does not know.
void check_prefix(struct check *check, const struct check_code *code, const unsigned char *bytes);

// Decodes one row's bytes and compares mnemonic, encoding, operands and access with the row.
void check_decode(struct check *check, const struct check_code *code, const unsigned char *bytes,
                  struct check_exceptions *exceptions);

// Prints the coverage of a table of variants by the lists on `out`: counts by instruction set, and
// each missing form if `missing`. Returns -1 if the table cannot be read.
int check_coverage(const struct check *check, const char *path, bool missing, FILE *out,
                   struct err *err);
