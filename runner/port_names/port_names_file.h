// SPDX-License-Identifier: MIT
// The files cpuinfo/ports/*.csv, which name port sets (format: cpuinfo/README.md): reads them,
// finds the file of a uarch, and checks them without measuring. port_names.h applies the names to a
// model.
#pragma once

#include "cpuinfo/table_read.h"
#include "list/list.h"
#include "ports/ports.h"
#include "util/csvfile.h"

enum { PORT_NAMED_MAX = PORT_CLASSES_MAX, PORT_PUBLISHED_MAX = 64 };

// One line of a file.
struct port_named_set {
    const struct csv_record *record;
    const char *name, *form;
    uint64_t ports; // bit mask over port_names.published; 0: named after the work of its forms
};

struct port_names {
    struct csv_file file;
    const char *source;  // from `# source:`
    const char *applies; // from `# applies:`: uarchs, separated by blanks
    struct port_named_set sets[PORT_NAMED_MAX];
    int n;
    char published[PORT_PUBLISHED_MAX][PORT_LABEL_MAX]; // names of ports
    int npublished;
};

// Reads a file. Returns 0, or -1 with `path:line:` and what is wrong. The caller frees in both
// cases.
int port_names_read(const char *path, struct port_names *names, struct err *err);
void port_names_free(struct port_names *names);
// Reads the file that applies to the uarch. Returns 1, 0 if there is none, -1 if it is malformed.
int port_names_load(const char *uarch, struct port_names *names, struct err *err);

// Finds the row of a form in 64-bit mode; NULL if no list has it.
typedef const struct list_row *port_names_row(const char *form, void *data);
// Checks one file. Returns 0, or -1 with the first problem.
int port_names_check(const char *path, port_names_row *find, void *data, struct err *err);
// Checks all files, and that no two of them apply to the same uarch.
void port_names_check_all(port_names_row *find, void *data, table_report *report,
                          void *report_data);
