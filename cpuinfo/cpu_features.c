// SPDX-License-Identifier: MIT
// Reads features.csv. A name may stand on several lines where several CPUID bits announce the same
// instructions (AMD and Intel differ); the lines are merged into one feature.
#include "cpu_tables.h"

#include <ctype.h>
#include <string.h>

enum {
    COL_NAME,
    COL_GROUP,
    COL_LEAF,
    COL_SUBLEAF,
    COL_REGISTER,
    COL_BIT,
    COL_ENCODING,
    COL_OS,
    COL_NOTE,
    COL_NARROW
};
static const char *const columns[] = {"name", "group",    "leaf", "subleaf", "register",
                                      "bit",  "encoding", "os",   "note",    "narrow"};
static const char *const registers[] = {"eax", "ebx", "ecx", "edx"};
static const char *const encodings[] = {"legacy", "vex", "evex", "xop"};

int cell_number(const char *text, size_t len, uint64_t max, uint64_t *value)
{
    unsigned base = 10;
    if (len > 2 && text[0] == '0' && text[1] == 'x') {
        base = 16;
        text += 2;
        len -= 2;
    }
    if (len == 0 || len > 16)
        return -1;
    uint64_t sum = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        unsigned digit = c <= '9' ? c - '0' + 0u : (unsigned)tolower(c) - 'a' + 10;
        if (!isxdigit(c) || digit >= base)
            return -1;
        sum = sum * base + digit;
    }
    *value = sum;
    return sum <= max ? 0 : -1;
}

static int word_index(const char *const *words, size_t nwords, const char *text)
{
    for (size_t i = 0; i < nwords; i++)
        if (strcmp(words[i], text) == 0)
            return (int)i;
    return -1;
}

static bool name_is_valid(const char *name)
{
    for (const char *p = name; *p; p++)
        if (!isupper((unsigned char)*p) && !isdigit((unsigned char)*p) && *p != '_')
            return false;
    return name[0] != '\0';
}

// Parses the column bit: a number, or a field and its least value as in 0-7>=2.
static int place_parse_bit(const char *text, struct feature_place *place)
{
    uint64_t bit, last, least = 1;
    size_t len = strlen(text), from = strcspn(text, "-"), to = strcspn(text, ">");
    if (from < to && to < len && text[to + 1] == '=') {
        if (cell_number(text + from + 1, to - from - 1, 31, &last) != 0 ||
            cell_number(text + to + 2, len - to - 2, UINT32_MAX, &least) != 0)
            return -1;
    } else if (from < len || cell_number(text, len, 31, &last) != 0)
        return -1;
    if (cell_number(text, from, 31, &bit) != 0 || bit > last || least == 0 ||
        least > UINT32_MAX >> (31 - (last - bit)))
        return -1;
    place->bit = (int)bit;
    place->bits = (int)(last - bit) + 1;
    place->least = (uint32_t)least;
    return 0;
}

static int place_parse(const struct csv_file *file, const struct csv_record *record,
                       struct feature_place *place, struct err *err)
{
    uint64_t leaf, subleaf;
    int bad = -1;
    if (cell_number(record->fields[COL_LEAF], strlen(record->fields[COL_LEAF]), 0xffffffff, &leaf))
        bad = COL_LEAF;
    else if (cell_number(record->fields[COL_SUBLEAF], strlen(record->fields[COL_SUBLEAF]), 63,
                         &subleaf))
        bad = COL_SUBLEAF;
    else if (place_parse_bit(record->fields[COL_BIT], place))
        return csv_record_error(file->path, record, COL_BIT, err,
                                "'%s' is no bit; write a number such as 7, or a field and its "
                                "least value such as 0-7>=2",
                                record->fields[COL_BIT]);
    if (bad >= 0)
        return csv_record_error(file->path, record, bad, err,
                                "'%s' is no %s; write a number such as 7 or 0x80000001",
                                record->fields[bad], columns[bad]);
    place->leaf = (uint32_t)leaf;
    place->subleaf = (uint32_t)subleaf;
    place->reg = word_index(registers, ARRAY_LEN(registers), record->fields[COL_REGISTER]);
    if (place->reg < 0)
        return csv_record_error(file->path, record, COL_REGISTER, err,
                                "'%s' is no register; it is eax, ebx, ecx or edx",
                                record->fields[COL_REGISTER]);
    return 0;
}

static int row_parse(const struct csv_file *file, const struct csv_record *record,
                     struct feature_row *row, struct err *err)
{
    const char *os = record->fields[COL_OS];
    *row = (struct feature_row){.name = record->fields[COL_NAME],
                                .group = record->fields[COL_GROUP],
                                .note = record->fields[COL_NOTE],
                                .narrow = record->fields[COL_NARROW],
                                .line = record->line};
    if (!name_is_valid(row->name))
        return csv_record_error(file->path, record, COL_NAME, err,
                                "'%s' is no feature name; use A-Z, 0-9 and _", row->name);
    size_t group_len = strspn(row->group, "abcdefghijklmnopqrstuvwxyz0123456789");
    if (group_len == 0 || group_len > 12 || row->group[group_len])
        return csv_record_error(file->path, record, COL_GROUP, err,
                                "'%s' is no group; use up to 12 of a-z and 0-9", row->group);
    int encoding = word_index(encodings, ARRAY_LEN(encodings), record->fields[COL_ENCODING]);
    if (encoding < 0)
        return csv_record_error(file->path, record, COL_ENCODING, err,
                                "'%s' is no encoding; it is legacy, vex, evex or xop",
                                record->fields[COL_ENCODING]);
    row->encoding = encodings[encoding];
    if (os[0] && cell_number(os, strlen(os), UINT64_MAX, &row->xcr0))
        return csv_record_error(file->path, record, COL_OS, err,
                                "'%s' is no mask of XCR0 bits such as 0x6", os);
    bool any = false;
    for (int col = COL_LEAF; col <= COL_BIT; col++)
        any = any || record->fields[col][0];
    if (!any)
        return 0; // announced on every CPU
    row->nplaces = 1;
    return place_parse(file, record, &row->places[0], err);
}

// Joins `row` with the row of the same name, if there is one; else appends it.
static int row_merge(struct feature_table *table, const struct feature_row *row,
                     const struct csv_record *record, struct err *err)
{
    struct feature_row *old = NULL;
    for (int i = 0; i < table->nrows; i++)
        if (strcmp(table->rows[i].name, row->name) == 0)
            old = &table->rows[i];
    if (!old) {
        if (table->nrows == CPU_FEATURES_MAX)
            return csv_record_error(table->file.path, record, -1, err,
                                    "more than %d features; raise CPU_FEATURES_MAX in cpuinfo.h",
                                    CPU_FEATURES_MAX);
        table->rows[table->nrows++] = *row;
        return 0;
    }
    bool alternative = old->nplaces > 0 && row->nplaces > 0 && old->nplaces < FEATURE_PLACES_MAX &&
                       old->encoding == row->encoding && strcmp(old->group, row->group) == 0 &&
                       old->xcr0 == row->xcr0;
    for (int i = 0; alternative && i < old->nplaces; i++)
        alternative = memcmp(&old->places[i], &row->places[0], sizeof row->places[0]) != 0;
    if (!alternative)
        return csv_record_error(
            table->file.path, record, -1, err,
            "%s is in line %d already; a second line must give another CPUID bit "
            "and the same group, encoding and os",
            row->name, old->line);
    old->places[old->nplaces++] = row->places[0];
    return 0;
}

static int row_add(void *data, const struct csv_record *record, struct err *err)
{
    struct feature_table *table = data;
    struct feature_row row;
    if (row_parse(&table->file, record, &row, err) < 0)
        return -1;
    return row_merge(table, &row, record, err);
}

int features_read(const char *path, struct feature_table *table, struct err *err)
{
    const struct csv_spec spec = {columns, ARRAY_LEN(columns), 1};
    const struct table_reader reader = {.spec = &spec, TABLE_ROWS(table, rows), .add = row_add};
    memset(table, 0, sizeof *table);
    return table_read(path, &reader, table, &table->file, err);
}

int feature_row_find(const struct feature_table *table, const char *name, size_t len)
{
    for (int i = 0; i < table->nrows; i++)
        if (strncmp(table->rows[i].name, name, len) == 0 && !table->rows[i].name[len])
            return i;
    return -1;
}
