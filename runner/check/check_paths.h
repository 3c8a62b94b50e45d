// SPDX-License-Identifier: MIT
// The files that `latput check` looks at: all lists of the tree, or those that are named.
#pragma once

#include "util/err.h"

#include <glob.h>

struct check_paths {
    const char **items;
    char **owned; // found by name, freed at the end; NULL without names
    int *lines;   // the only lines to report, 0: all; NULL without names
    int n;
    const char **properties; // lists of properties
    int nproperties;
    glob_t lists, selections, found;
};

// Return 0, or -1 with a message. To be freed in either case.
int check_paths_all(struct check_paths *paths, struct err *err);
// Reads operands: a list, a line of one (LIST:LINE), or a list of properties.
int check_paths_named(struct check_paths *paths, char **operands, int n, struct err *err);
void check_paths_free(struct check_paths *paths);
