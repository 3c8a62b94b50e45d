// SPDX-License-Identifier: MIT
// The kit for Windows: latput by itself. For the files of this folder, which stand in the place of
// the runner's that are about Linux.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <windows.h>

// kit_place.c. Unpacks what is appended to the program into a directory of this process alone, and
// sets the environment that latput goes by. Ends the process with a message if that fails.
void kit_begin(void);
// Removes the directory, and files on the way to their names. Called by atexit(), and before a
// signal ends the process.
void kit_end(void);
// Returns the path of a program in the directory, beside which the others are; "": none yet.
const char *kit_program(void);

// Returns the object that marks a file or directory whose name ends in these digits as a living
// process' own; with `make` it is ours until it is closed; else NULL if nobody has it.
enum { KIT_DIGITS = 16 };
HANDLE kit_mark(const char *digits, bool make);

// kit_scratch.c: removes files on the way to their names.
void scratch_files_end(void);

// kit_subproc.c. The measuring process of this number; NULL handles: there is none.
struct kit_core {
    HANDLE process, measuring, records; // the process, its thread, and what it writes
};
struct kit_core kit_core_find(int pid);
