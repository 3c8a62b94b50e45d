// SPDX-License-Identifier: MIT
// Reads cpuinfo/fact_sheet.csv; see sheet.h.
#include "sheet.h"

#include "util/mem.h"
#include "util/paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    COL_GROUP,
    COL_FACT,
    COL_PROPERTY,
    COL_VARIANT,
    COL_VALUE,
    COL_SHOW,
    COL_UNIT,
    COL_FACTOR,
    COL_WORDS,
    COL_CACHE,
    COL_WITHIN
};
static const char *const columns[] = {"group", "fact",   "property", "variant", "value", "show",
                                      "unit",  "factor", "words",    "cache",   "within"};
static const char *const shows[SHEET_SHOW_COUNT] = {
    [SHEET_VALUE] = "value",         [SHEET_TIME] = "time",   [SHEET_RATE] = "rate",
    [SHEET_BANDWIDTH] = "bandwidth", [SHEET_CLOCK] = "clock", [SHEET_PAIRS] = "pairs",
    [SHEET_VARIANTS] = "variants"};

static int show_parse(const char *text)
{
    int show = 0;
    while (show < SHEET_SHOW_COUNT && strcmp(shows[show], text) != 0)
        show++;
    return show < SHEET_SHOW_COUNT ? show : -1;
}

// Reads a number greater than zero; NULL if there is none.
static const char *number_parse(const char *text, double *number)
{
    char *end;
    *number = strtod(text, &end);
    return end > text && isfinite(*number) && *number > 0 ? end : NULL;
}

// Reads "below NUMBER[*VARIANT]; WORDS". Returns 0 or -1.
static int words_parse(const char *text, struct sheet_line *line, struct arena *arena)
{
    static const char below[] = "below ";
    if (strncmp(text, below, strlen(below)) != 0)
        return -1;
    const char *at = number_parse(text + strlen(below), &line->below);
    if (!at)
        return -1;
    line->against = "";
    if (*at == '*') {
        size_t len = strcspn(++at, ";");
        line->against = arena_strndup(arena, at, len);
        at += len;
    }
    line->words = at;
    return strncmp(at, "; ", 2) == 0 && at[2] ? 0 : -1;
}

static bool is_worded(const struct sheet_line *line)
{
    return line->show == SHEET_PAIRS || line->show == SHEET_VARIANTS;
}

// Returns true for a level and type of cache: "1d", "2u".
static bool is_cache(const char *text)
{
    return *text >= '1' && *text <= '9' && text[1] && strchr("diu", text[1]) && !text[2];
}

// Fills the line; returns the number of the first column that is wrong, or -1.
static int line_parse(const struct csv_record *record, struct sheet_line *line, struct arena *arena)
{
    const char *const *field = record->fields;
    int show = show_parse(field[COL_SHOW]);
    *line = (struct sheet_line){.group = field[COL_GROUP],
                                .name = field[COL_FACT],
                                .properties = field[COL_PROPERTY],
                                .variants = field[COL_VARIANT],
                                .values = field[COL_VALUE],
                                .show = show < 0 ? SHEET_VALUE : (enum sheet_show)show,
                                .unit = field[COL_UNIT],
                                .cache = field[COL_CACHE],
                                .within = field[COL_WITHIN]};
    if (!*line->group)
        return COL_GROUP;
    if (!*line->name)
        return COL_FACT;
    if (show < 0)
        return COL_SHOW;
    if (!*line->properties != (show == SHEET_CLOCK))
        return COL_PROPERTY;
    if (!*line->values != (show == SHEET_CLOCK || show == SHEET_PAIRS))
        return COL_VALUE;
    const char *end = number_parse(field[COL_FACTOR], &line->factor);
    if (!end || *end)
        return COL_FACTOR;
    if (is_worded(line) ? words_parse(field[COL_WORDS], line, arena) != 0 : *field[COL_WORDS] != 0)
        return COL_WORDS;
    return *line->cache && !is_cache(line->cache) ? COL_CACHE : -1;
}

int sheet_lines_read(const char *path, struct sheet_lines *lines, struct err *err)
{
    const struct csv_spec spec = {columns, ARRAY_LEN(columns), 1};
    *lines = (struct sheet_lines){0};
    if (csv_file_read(path, &spec, &lines->file, err) != 0)
        return -1;
    lines->lines = xcalloc(lines->file.nrecords + 1, sizeof *lines->lines);
    for (size_t i = 0; i < lines->file.nrecords; i++) {
        const struct csv_record *record = &lines->file.records[i];
        int bad = line_parse(record, &lines->lines[lines->n++], &lines->file.arena);
        if (bad < 0)
            continue;
        csv_record_error(path, record, bad, err,
                         "'%s' is no %s; cpuinfo/README.md says how to write it",
                         record->fields[bad], columns[bad]);
        sheet_lines_free(lines);
        return -1;
    }
    return 0;
}

int sheet_lines_load(struct sheet_lines *lines, struct err *err)
{
    return sheet_lines_read(path_data("cpuinfo/fact_sheet.csv"), lines, err);
}

void sheet_lines_free(struct sheet_lines *lines)
{
    free(lines->lines);
    csv_file_free(&lines->file);
    *lines = (struct sheet_lines){0};
}
