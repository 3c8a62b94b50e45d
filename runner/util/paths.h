// SPDX-License-Identifier: MIT
// Locations of the project's files: data (lists, macros, tables, schema) below the data root, the
// measurement core below the library directory. The root is $LATPUT_ROOT if set; else the parent of
// the program's own directory if that holds a file that only latput's data has (the source tree:
// build/latput); else <prefix>/share/latput for a program installed as <prefix>/bin/latput; else
// that of /usr/local or /usr. Code in a shared library goes by its own directory:
// <prefix>/lib/liblatput.so. The directory that a command is started in never counts.
#pragma once

#include <stdbool.h>

// Returns the path of `relative` (e.g. "cpuinfo/cpus.csv") below the data root, valid as long as
// the program runs.
const char *path_data(const char *relative);
// Returns the path of a built file: build/<name> in the source tree, <prefix>/lib/latput/<name> if
// installed.
const char *path_library(const char *name);
// Returns the path of `relative` below $LATPUT_MACHINE, a directory of files that stand for this
// machine. NULL if that is not set, or has no such file that can be read.
const char *path_machine(const char *relative);
// Returns true if $LATPUT_MACHINE is set, whichever files it has: results are not this machine's.
bool path_machine_is_set(void);
// Returns the first line of the file `system` below $LATPUT_MACHINE: the system of another machine,
// which `core` reaches. What is measured there is that machine's. NULL if there is none.
const char *path_machine_system(void);

// Returns true if the data files belong to an installed latput, not to a source tree or
// $LATPUT_ROOT.
bool path_is_installed(void);
