// SPDX-License-Identifier: MIT
// Where the project's files are: data (lists, macros, tables, schema) below the data root, the
// measurement core below the library directory. The root is $LATPUT_ROOT if set; else the parent of
// the program's own directory if that holds a file that only latput's data has (the source tree:
// build/latput); else <prefix>/share/latput for a program installed as <prefix>/bin/latput; else
// that of /usr/local or /usr. Of code in a shared library its own directory counts:
// <prefix>/lib/liblatput.so. The directory that a command is started in never counts.
#ifndef LATPUT_PATHS_H
#define LATPUT_PATHS_H

#include <stdbool.h>

// The path of `relative` (e.g. "cpuinfo/cpus.csv") below the data root. Returns a string that lives
// as long as the program.
const char *path_data(const char *relative);
// The same for built files: build/<name> in the source tree, <prefix>/lib/latput/<name> installed.
const char *path_library(const char *name);
// A file of the machine of files that stands for this one: `relative` below $LATPUT_MACHINE. NULL
// where that is not set, or has no such file that can be read.
const char *path_machine(const char *relative);

// Whether data files are those of an installed latput, and not of a source tree or $LATPUT_ROOT.
bool path_is_installed(void);

#endif
