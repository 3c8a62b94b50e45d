// SPDX-License-Identifier: MIT
// Lists of properties; see property.h. A fault is reported with a caret, and its row is left out.
#include "property.h"

#include "conclude/conclude_question.h"
#include "property_parse.h"
#include "util/csvfile.h"
#include "util/paths.h"

#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMN_NAME,
    COLUMN_TITLE,
    COLUMN_QUESTION,
    COLUMN_X_UNIT,
    COLUMN_Y_UNIT,
    COLUMN_VARIANTS,
    COLUMN_SWEEP,
    COLUMN_BY,
    COLUMN_TEMPLATE,
    COLUMN_DATA,
    COLUMN_COUNT,
    COLUMN_READING,
    COLUMN_COMPARE,
    COLUMN_OPTIONS,
    COLUMNS
};
static const char *const column_names[COLUMNS] = {
    "name", "title",    "question", "x_unit", "y_unit",  "variants", "sweep",
    "by",   "template", "data",     "count",  "reading", "compare",  "options"};
static const struct csv_spec list_spec = {column_names, COLUMNS, 0};

struct row_reader {
    const struct csv_record *record;
    struct property *property;
    struct property_parse parse;
    int column;
};

static const char *reader_field(struct row_reader *reader, int column)
{
    reader->column = column;
    reader->parse.at = reader->record->fields[column];
    return reader->parse.at;
}

static int check_text(struct row_reader *reader, int column, size_t most)
{
    const char *text = reader_field(reader, column);
    if (!*text)
        return err_set(reader->parse.err, "%s is missing", column_names[column]);
    if (strlen(text) > most)
        return err_set(reader->parse.err, "%s has more than %zu characters", column_names[column],
                       most);
    return 0;
}

static int read_texts(struct row_reader *reader)
{
    struct property *row = reader->property;
    if (check_text(reader, COLUMN_TITLE, 200) != 0 ||
        check_text(reader, COLUMN_QUESTION, 1000) != 0 ||
        check_text(reader, COLUMN_X_UNIT, 60) != 0)
        return -1;
    const char *y_unit = reader_field(reader, COLUMN_Y_UNIT);
    if (strcmp(y_unit, "clk") != 0 && strcmp(y_unit, "ns") != 0)
        return err_set(reader->parse.err, "y_unit is clk or ns, not '%s'", y_unit);
    row->title = reader->record->fields[COLUMN_TITLE];
    row->question = reader->record->fields[COLUMN_QUESTION];
    row->x_unit = reader->record->fields[COLUMN_X_UNIT];
    row->y_unit = y_unit;
    row->compare = reader->record->fields[COLUMN_COMPARE];
    return 0;
}

// Parses `UNIT: SWEEP`, or nothing.
static int read_by(struct row_reader *reader)
{
    const char *text = reader_field(reader, COLUMN_BY);
    size_t len = strcspn(text, ":");
    reader->property->by_unit = "";
    if (!*text)
        return 0;
    if (!text[len])
        return err_set(reader->parse.err, "by is UNIT: SWEEP");
    reader->property->by_unit = arena_strndup(reader->parse.arena, text, len);
    return parse_sweep(&reader->parse, text + len + 1, &reader->property->by);
}

static int read_sweep(struct row_reader *reader)
{
    struct property *row = reader->property;
    if (parse_sweep(&reader->parse, reader_field(reader, COLUMN_SWEEP), &row->sweep) != 0)
        return -1;
    if (row->sweep.rule == SWEEP_NONE)
        return err_set(reader->parse.err, "the sweep is missing, such as linear 1..64 step 1");
    return read_by(reader);
}

static int read_reading(struct row_reader *reader)
{
    struct property *row = reader->property;
    row->reading = reader_field(reader, COLUMN_READING);
    if (conclude_question_read(row->reading, &row->how, reader->parse.arena, &reader->parse.at,
                               reader->parse.err) != 0)
        return -1;
    if (row->how.control && row->sweep.refine)
        return err_set(reader->parse.err, "with control= the sweep cannot refine: the points that "
                                          "are added would have no control");
    row->how.x_unit = row->x_unit;
    row->how.y_unit = row->y_unit;
    if (row->sweep.rule == SWEEP_GEOMETRIC)
        row->how.geometric = true;
    return 0;
}

// Reads the instances per body, and checks them at the ends of the sweep that the list knows.
// property_points() checks the ends that the machine knows.
static int read_count(struct row_reader *reader)
{
    struct property *row = reader->property;
    const char *text = reader_field(reader, COLUMN_COUNT);
    if (parse_number(&reader->parse, *text ? text : "1", &row->count) != 0)
        return -1;
    const struct property_sweep *sweep = row->count.base == BASE_BY ? &row->by : &row->sweep;
    if (sweep->rule == SWEEP_NONE)
        return err_set(reader->parse.err, "'%s' wants a second variable", text);
    bool values = sweep->rule == SWEEP_VALUES;
    const struct property_number ends[] = {
        values ? (struct property_number){.factor = sweep->values[0]} : sweep->from,
        values ? (struct property_number){.factor = sweep->values[sweep->nvalues - 1]} : sweep->to};
    for (int i = 0; i < 2 && row->count.base <= BASE_BY; i++) {
        double end = ends[i].factor, count = property_number_value(&row->count, NULL, end, end);
        bool known =
            row->count.base == BASE_ONE || (sweep->rule != SWEEP_CPUS && ends[i].base == BASE_ONE);
        if (known && !property_count_fits(count))
            return err_set(reader->parse.err, "count is %g, and it can be 1 to 2,000,000,000",
                           count);
    }
    return row->count.base != BASE_ONE || row->count.factor == floor(row->count.factor)
               ? 0
               : err_set(reader->parse.err, "'%s' is no whole number", text);
}

static int read_row(struct row_reader *reader)
{
    struct property *row = reader->property;
    struct property_parse *parse = &reader->parse;
    row->name = reader_field(reader, COLUMN_NAME);
    if (parse_name(parse, row->name) != 0 || read_texts(reader) != 0 ||
        parse_variants(parse, reader_field(reader, COLUMN_VARIANTS), row) != 0 ||
        read_sweep(reader) != 0 ||
        parse_template(parse, reader_field(reader, COLUMN_TEMPLATE), row) != 0 ||
        parse_data(parse, reader_field(reader, COLUMN_DATA), row) != 0)
        return -1;
    row->vm = "";
    row->gpr_fill = 1;
    row->vec_fill = 0x3ff0000000000000; // 1.0
    if (read_count(reader) != 0 || read_reading(reader) != 0)
        return -1;
    return parse_options(parse, reader_field(reader, COLUMN_OPTIONS), row);
}

static const struct property *find_name(const struct properties *properties, const char *name)
{
    for (int i = 0; i < properties->n; i++)
        if (strcmp(properties->rows[i].name, name) == 0)
            return &properties->rows[i];
    return NULL;
}

static int read_record(struct properties *properties, const char *path, const char *grp,
                       const struct csv_record *record, struct err *err)
{
    struct err fault = {0};
    struct property row = {.path = path, .line = record->line, .source = record->text, .grp = grp};
    struct row_reader reader = {
        record, &row, {&properties->arena, &fault, ""},
          0
    };
    int status = read_row(&reader);
    if (status == 0 && find_name(properties, row.name)) {
        reader_field(&reader, COLUMN_NAME);
        status = err_set(&fault, "there is a property '%s' already", row.name);
    }
    if (status != 0) {
        const char *field = record->fields[reader.column];
        int offset = (int)(reader.parse.at - field);
        bool within = reader.parse.at >= field && reader.parse.at <= field + strlen(field);
        const struct csv_place place = {path, record->line, record->text,
                                        record->field_columns[reader.column] +
                                            (within ? offset : 0)};
        return csv_error_at(&place, err, "%s", fault.text);
    }
    properties->rows[properties->n++] = row;
    return 0;
}

// Texts of the file outlive it.
static void keep_record(struct arena *arena, struct csv_record *record)
{
    const char **fields = arena_alloc(arena, COLUMNS * sizeof *fields);
    int *columns = arena_alloc(arena, COLUMNS * sizeof *columns);
    for (int i = 0; i < COLUMNS; i++) {
        fields[i] = arena_strdup(arena, record->fields[i]);
        columns[i] = record->field_columns[i];
    }
    record->fields = fields;
    record->field_columns = columns;
    record->text = arena_strdup(arena, record->text);
}

int properties_read(const char *path, struct properties *properties, property_fault_fn *fault,
                    void *data)
{
    struct csv_file file;
    struct err err = {0};
    if (csv_file_read(path, &list_spec, &file, &err) != 0) {
        fault(&err, data);
        return -1;
    }
    int faults = 0;
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *grp = arena_strndup(&properties->arena, base, strcspn(base, "."));
    const char *kept = arena_strdup(&properties->arena, path);
    properties->rows = xrealloc(properties->rows, ((size_t)properties->n + file.nrecords + 1) *
                                                      sizeof *properties->rows);
    properties->paths =
        xrealloc(properties->paths, ((size_t)properties->npaths + 1) * sizeof *properties->paths);
    properties->paths[properties->npaths++] = kept;
    for (size_t i = 0; i < file.nrecords; i++) {
        keep_record(&properties->arena, &file.records[i]);
        if (read_record(properties, kept, grp, &file.records[i], &err) != 0) {
            fault(&err, data);
            faults++;
        }
    }
    csv_file_free(&file);
    return faults;
}

static void keep_first(const struct err *err, void *data)
{
    struct err *first = data;
    if (!*first->text)
        *first = *err;
}

int properties_load(struct properties *properties, struct err *err)
{
    glob_t found = {0};
    *properties = (struct properties){0};
    *err = (struct err){0};
    int got = glob(path_data("lists/properties/*.csv"), 0, NULL, &found);
    if (got != 0 && got != GLOB_NOMATCH)
        return err_set(err, "%s: cannot be read: %s", path_data("lists/properties"),
                       strerror(errno));
    int faults = 0;
    for (size_t i = 0; i < found.gl_pathc && got == 0; i++)
        faults |= properties_read(found.gl_pathv[i], properties, keep_first, err);
    globfree(&found);
    if (properties->n == 0 && !faults)
        return err_set(err, "%s: there are no properties", path_data("lists/properties"));
    return faults ? -1 : 0;
}

void properties_free(struct properties *properties)
{
    free(properties->rows);
    free(properties->paths);
    arena_free(&properties->arena);
    *properties = (struct properties){0};
}
