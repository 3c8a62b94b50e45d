// SPDX-License-Identifier: MIT
// Selects the rows of a command: lists given by name or path (all of lists/ if none is), a line of
// a list (`file.csv:12`), and a glob on the form. Shared by every command that takes rows.
#pragma once

#include "list.h"

struct selected_row {
    const struct list *list;
    const struct list_row *row;
    int position; // in its list, from 0
};

struct selection {
    struct list *lists;
    int nlists;
    struct selected_row *rows;
    int nrows;
};

// Selects rows. `names`: list names ("sse_fp"), paths, each with an optional `:line`; none: all of
// lists/*.csv in the order of their names. `glob`, as form_glob.h translates it, is matched with
// "mnemonic", "mnemonic operands" and the row's whole form; NULL: every row. An empty result is an
// error that names the closest cause.
int select_rows(const char *const *names, int nnames, const char *glob, struct selection *selection,
                struct err *err);
// Selects the rows of all of lists/*.csv, like select_rows() without names, but does not read again
// the lists that `have` has read. `have` must outlive `all`.
int select_all_beside(const struct selection *have, struct selection *all, struct err *err);
// Refuses a selection in which a form would be measured twice, or two lists share the name by which
// the database knows them. Returns 0, or -1 with the message.
int select_check_once(const struct selection *selection, struct err *err);
// Returns the file of a list given as a path, or as a name below lists/ or lists/selection/, with
// or without .csv. NULL if there is none; the caller frees it.
char *select_list_path(const char *name);
// Returns the names of all lists and selections, with NULL at the end.
char **select_list_names(void);
void select_list_names_free(char **names);
// Returns true if the list is one of latput's: its file lies in lists/, or in a folder of it.
bool select_is_own(const struct list *list);
// Sets the error that there is no list of this name, with the one that may be meant. Returns -1.
int select_no_list(const char *name, struct err *err);
void selection_free(struct selection *selection);
