// SPDX-License-Identifier: MIT
// Databases in memory whose rows an input changes, and which get them back afterwards.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// An input is a row of changes: CHANGE_BYTES bytes, of which the last says how many bytes of text
// follow. Tables, columns and rows are numbered from 0, modulo how many there are.
enum {
    CHANGE_TABLE,
    CHANGE_COLUMN,
    CHANGE_ROW,
    CHANGE_KIND,       // modulo CHANGE_KINDS; 0x80: the number counts times 2^32
    CHANGE_NUMBER,     // four bytes
    CHANGE_LENGTH = 8, // of the text
    CHANGE_BYTES
};
// A value of the row becomes one of these, but for the last two.
enum {
    CHANGE_NULL,
    CHANGE_INTEGER,
    CHANGE_REAL,
    CHANGE_TEXT,
    CHANGE_BLOB,
    CHANGE_SPECIAL, // a number at an edge
    CHANGE_STEP,    // larger by the number
    CHANGE_OTHER,   // that of another row
    CHANGE_WORD,    // a word that the table's constraints name
    CHANGE_COPY,    // another row is made like it, with a value larger by the number
    CHANGE_DELETE,
    CHANGE_KINDS
};

// Makes a database in memory of this name, equal to a file; it lives as long as the process.
struct rows;
struct rows *rows_open(const char *uri, const char *path);
// Makes all changes that SQLite takes; `loose`: no constraint is checked but types and uniqueness.
void rows_change(struct rows *rows, const uint8_t *bytes, size_t size, bool loose);
// Undoes all changes since the last call; `all`: also those that others made.
void rows_restore(struct rows *rows, int all);

// Changes an input change by change, as libFuzzer's own functions change bytes; random by the seed.
size_t rows_mutate(uint8_t *bytes, size_t size, size_t max, unsigned seed,
                   size_t (*mutate)(uint8_t *bytes, size_t size, size_t max));
