// SPDX-License-Identifier: MIT
// The part of scratch.h that is the same on every system: a list of the scratch directories of this
// process and of its files on the way to their names.
#pragma once

#include "scratch.h"

#include <pthread.h>
#include <stdint.h>

struct scratch {
    struct scratch *next;
    char *path;
    bool directory;
    intptr_t lock; // what marks it as in use, by which other processes know
};
// Signal handlers read the list. Who changes it holds the mutex.
extern struct scratch *volatile scratches;
extern pthread_mutex_t scratches_mutex;

void scratch_add(char *path, bool directory, intptr_t lock); // takes the path
struct scratch *scratch_find(const char *path);              // NULL: there is none
// Takes an entry out of the list and frees it, once what it names is gone: a signal may come
// earlier. Returns its lock, which is released only now.
intptr_t scratch_forget(struct scratch *scratch);

// Returns a new name for a file on its way to `path`.
char *scratch_file_name(const char *path);
// Calls `sweep` with the names of all files on their way to `path`, of whichever process.
void scratch_files_find(const char *path, void (*sweep)(const char *name));
// These remove a file, and all of this process, with what SQLite puts beside them. Signal handlers
// may call them.
void scratch_file_remove(const char *name);
void scratch_files_remove(void);
