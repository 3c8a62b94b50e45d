// SPDX-License-Identifier: MIT
// Names for the port sets of a discovered model, from cpuinfo/ports/<uarch>.csv (format:
// cpuinfo/README.md). The file gives names only: sizes and overlaps are what was measured.
#ifndef LATPUT_PORTS_NAMES_H
#define LATPUT_PORTS_NAMES_H

#include "ports.h"

// Infers the forms that the file names and gives their sets the file's names, if all of them use
// one port set as large as the file says and overlap as it says; else the systematic names stay and
// *note says why (empty: named, or there is no file). -1: the file is malformed, or the oracle
// failed.
int port_name_sets(const struct port_oracle *oracle, const struct port_form *forms, int nforms,
                   const char *uarch, struct port_model *model, struct err *note, struct err *err);

// Checks a file without measuring: 0, or -1 with `path:line:` and what is wrong. has_form: whether
// a list has the form.
int port_names_check(const char *path, bool (*has_form)(const char *form, void *data), void *data,
                     struct err *err);

#endif
