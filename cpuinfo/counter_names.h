// SPDX-License-Identifier: MIT
// The two tables that belong to all counter tables together: what the ids of events mean, and named
// sets of events by family. Strings live as long as the table that they came from; texts of
// functions without a table live as long as the program.
#pragma once

#include "table_read.h"

struct counter_id {
    const char *id, *group, *meaning;
    int line;
};

struct counter_set {
    const char *name;   // "branches"; users write @branches where events are listed
    const char *events; // ids separated by blanks
    const char *uarchs; // the families for which it holds, separated by blanks
    const struct csv_record *record;
};

// Reads counter_ids.csv and counter_sets.csv once; later calls repeat the first answer. The others
// call it themselves; where it fails they find nothing.
int counter_names_load(struct err *err);

const struct counter_id *counter_id_at(int index); // NULL beyond the last

// Returns a set of a family; NULL with a message if it has none of this name.
const struct counter_set *counter_set_find(const char *uarch, const char *name, struct err *err);
// Returns the next set of a family; previous == NULL: the first; NULL: there are no more.
const struct counter_set *counter_set_next(const char *uarch, const struct counter_set *previous);

// The tables themselves, for checks. Return 0, or -1 with the last message; report as in
// table_read.h.
struct counter_ids {
    struct counter_id *rows;
    int nrows;
    struct csv_file file;
};
struct counter_sets {
    struct counter_set *rows;
    int nrows;
    struct csv_file file;
};
int counter_ids_read(const char *path, table_report *report, void *data, struct counter_ids *ids,
                     struct err *err);
int counter_sets_read(const char *path, table_report *report, void *data, struct counter_sets *sets,
                      struct err *err);
