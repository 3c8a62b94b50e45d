// SPDX-License-Identifier: MIT
// The cells of a table, for those who write them; see text_table.h.
#pragma once

#include "text_table.h"

#include <stddef.h>

struct text_table {
    int ncolumns;
    const char **headers;
    enum text_align *aligns;
    struct table_cell {
        char *text;
        enum text_style style;
    } * cells;
    size_t ncells, capacity;
    bool colour;
};

const char *table_text(const struct text_table *table, int row, int column); // row -1: the header
enum text_style table_style(const struct text_table *table, int row, int column);
