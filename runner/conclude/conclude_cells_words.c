// SPDX-License-Identifier: MIT
// Says in words which cells of a matrix have a level: by the names of curves and x.
#include "conclude_internal.h"

#include <string.h>

enum {
    WORDS_MAX = 120, // bytes; cells that take more are counted only
    CELLS_MAX = 2048 // of a matrix whose cells are named: rows are compared with each other
};

// Returns the number of a row's cells that have the level; *measured: the cells that came back.
static int count_cells(const struct matrix_cells *matrix, int row, int level, int *measured)
{
    const int *cells = matrix->levels + row * matrix->ncolumns;
    int n = 0;
    *measured = 0;
    for (int c = 0; c < matrix->ncolumns; c++) {
        n += cells[c] == level;
        *measured += cells[c] >= 0;
    }
    return n;
}

// Returns the x of a row's cells that have the level: "2, 6".
static const char *columns_text(const struct matrix_cells *matrix, int row, int level,
                                struct arena *arena)
{
    const int *cells = matrix->levels + row * matrix->ncolumns;
    const char *text = "";
    for (int c = 0; c < matrix->ncolumns && strlen(text) < WORDS_MAX; c++)
        if (cells[c] == level)
            text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "",
                                conclude_quantity(arena, matrix->columns[c], ""));
    return text;
}

// Returns true if both rows have the level in the same columns.
static bool same_columns(const struct matrix_cells *matrix, int a, int b, int level)
{
    const int *left = matrix->levels + a * matrix->ncolumns;
    const int *right = matrix->levels + b * matrix->ncolumns;
    for (int c = 0; c < matrix->ncolumns; c++)
        if ((left[c] == level) != (right[c] == level))
            return false;
    return true;
}

// Returns the names of the rows that have the level where this one has: "cmp, test"; "" if an
// earlier row has named this one.
static const char *names_text(const struct matrix_cells *matrix, int row, int level,
                              struct arena *arena)
{
    const char *text = "";
    for (int r = 0; r < row; r++)
        if (same_columns(matrix, r, row, level))
            return "";
    for (int r = row; r < matrix->nrows && strlen(text) <= WORDS_MAX; r++)
        if (same_columns(matrix, row, r, level))
            text =
                arena_printf(arena, "%s%s%s", text, *text ? ", " : "", matrix->curves[r].variant);
    return text;
}

// Returns what rows have of the level: their names if all cells have it, else "cmp, test at 2, 6";
// of a matrix of one row "at 2, 6 bytes".
static const char *rows_text(const struct matrix_cells *matrix, int row, int level,
                             struct arena *arena)
{
    int measured, n = count_cells(matrix, row, level, &measured);
    const char *names = n ? names_text(matrix, row, level, arena) : "";
    const char *unit = matrix->x_unit ? matrix->x_unit : "";
    if (matrix->nrows > 1 && (!*names || n == measured))
        return names;
    if (n == 0 || n == measured)
        return "";
    const char *columns = columns_text(matrix, row, level, arena);
    return matrix->nrows > 1 ? arena_printf(arena, "%s at %s", names, columns)
                             : arena_printf(arena, "at %s%s%s", columns, *unit ? " " : "", unit);
}

const char *matrix_words(const struct matrix_cells *matrix, int level, struct arena *arena)
{
    const char *text = "";
    if (matrix->nrows * matrix->ncolumns > CELLS_MAX)
        return "";
    for (int row = 0; row < matrix->nrows; row++) {
        const char *rows = rows_text(matrix, row, level, arena);
        if (*rows)
            text = arena_printf(arena, "%s%s%s", text, *text ? "; " : "", rows);
        if (strlen(text) > WORDS_MAX)
            return "";
    }
    return text;
}
