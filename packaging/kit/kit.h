// SPDX-License-Identifier: MIT
// The starter of a kit (docs/REMOTE.md): one file that brings latput, NASM, their loader, libraries
// and data along. It unpacks them into a directory of its own, starts latput there, and removes the
// directory when latput has ended. It is linked statically, and needs nothing of the host: neither
// /proc nor /tmp.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Prints a message and ends with status 3, as latput does where the environment lacks something.
_Noreturn void kit_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

// The file's own end, with the length of the packed archive before it.
#define KIT_MAGIC "LATPUTK1"
struct kit_file {
    char path[4096]; // of the starter
    const unsigned char *bytes;
    size_t size, program; // of the file; of the starter in it
};
// Maps the file that this process was started from. Returns false if no archive follows it.
bool kit_file_open(struct kit_file *file);

// Writes the archive's files below the directory. Returns 0, or an errno: ENOSPC asks for another
// place; EBADMSG: the archive is damaged.
int kit_unpack(const struct kit_file *file, int directory);
// Writes a file of the directory. Returns 0 or an errno.
int kit_write(int directory, const char *name, unsigned mode, const void *bytes, size_t len);

struct kit_place {
    char parent[4096];    // where latput may make scratch directories, too
    char directory[4200]; // of this kit, mode 0700
    int fd;               // of the directory, locked while this process lives
    bool mounted;         // parent is a file system of this process alone
    bool made;            // and the directory that it is mounted on was made for it
};
// Makes a directory in a place where files can be written and programs run: the first that there
// is, or else a file system in memory. `refused` places were tried. Returns false after the last.
bool kit_place_next(const struct kit_file *file, struct kit_place *place);
// Removes the directory with all that is in it. Async-signal-unsafe.
void kit_place_remove(struct kit_place *place);
// Writes why each place was not taken.
const char *kit_place_reasons(void);
