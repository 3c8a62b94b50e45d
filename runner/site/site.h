// SPDX-License-Identifier: MIT
// A web page with the content of a database, as files of a directory: made from the views of store/
// and the sources of the page below site/ of the data root. It works without a server, a network or
// other programs. docs/SITE.md describes the files. The same database gives the same bytes.
#pragma once

#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct site_options {
    const char *directory; // made if missing; existing files are replaced by name
    const char *title;     // of the page
    bool samples;          // include the samples of each value
    bool database;         // include the runs as a database without samples, for download
    const char *uarchs;    // only CPUs of these, with commas between them; NULL: all
};

struct site_counts {
    int cpus, forms, files;
    bool uncoded;  // the forms could not be assembled: *err says why
    int64_t bytes; // of all files
};

// Writes the page. Returns 0, or -1 with a message.
int site_write(struct store *store, const struct site_options *options, struct site_counts *counts,
               struct err *err);
