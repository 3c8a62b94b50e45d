// SPDX-License-Identifier: MIT
// CSV files; see csvfile.h. The file is read whole and cut into lines here, so that every message
// can show its line. Each line then goes through libcsv byte by byte, which gives the column of
// each field and of a fault.
#include "csvfile.h"

#include "text.h"

#include <csv.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CSV_BYTES_MAX = 64 * 1024 * 1024, // far above any list; below what could exhaust memory
    CSV_FIELDS_MAX = 64,
    CSV_CONTEXT_BYTES = 120, // of a long line shown around the caret
};

struct csv_line_fields { // fields of one line
    struct arena *arena;
    const char *fields[CSV_FIELDS_MAX];
    int columns[CSV_FIELDS_MAX];
    int nfields; // counts on beyond CSV_FIELDS_MAX
    int start;   // byte offset at which the field being parsed starts
    const char *line;
};

struct csv_reader {
    const char *path;
    const struct csv_spec *spec;
    size_t most; // records; 0: any number
    struct csv_file *file;
    struct csv_parser parser;
    int line; // number of the line being read, from 1
    const char *text;
    size_t record_capacity, comment_capacity;
    const char **comments;
    const char *heading;
    bool have_header;
    int header_fields;
    int *source; // per column of the spec: index of the field in the file, or -1
};

// Writes the part of `text` around `column`, and below it the line with the caret.
static void csv_caret(const char *text, int column, char *out, size_t size)
{
    size_t len = strlen(text), at = column > 0 ? (size_t)column - 1 : 0;
    if (at > len)
        at = len;
    size_t first =
        at > CSV_CONTEXT_BYTES / 2 && len > CSV_CONTEXT_BYTES ? at - CSV_CONTEXT_BYTES / 2 : 0;
    while (first > 0 && ((unsigned char)text[first] & 0xc0) == 0x80)
        first--;
    size_t shown = len - first > CSV_CONTEXT_BYTES ? CSV_CONTEXT_BYTES : len - first;
    while (first + shown < len && shown > 0 && ((unsigned char)text[first + shown] & 0xc0) == 0x80)
        shown--;
    char below[CSV_CONTEXT_BYTES + 2];
    size_t n = 0;
    for (size_t i = first; i < at; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80) // one blank per character
            below[n++] = text[i] == '\t' ? '\t' : ' ';
    below[n] = '\0';
    snprintf(out, size, "\n  %.*s\n  %s^", (int)shown, text + first, below);
}

__attribute__((format(printf, 3, 0))) static int
csv_verror(const struct csv_place *place, struct err *err, const char *format, va_list ap)
{
    char message[1024], caret[512] = "";
    vsnprintf(message, sizeof message, format, ap);
    if (place->text)
        csv_caret(place->text, place->column, caret, sizeof caret);
    err_set(err, "%s:%d: %s%s", place->path, place->line, message, caret);
    err_locate(err, place->line, place->column);
    return -1;
}

int csv_error_at(const struct csv_place *place, struct err *err, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int status = csv_verror(place, err, format, ap);
    va_end(ap);
    return status;
}

int csv_record_error(const char *path, const struct csv_record *record, int field, struct err *err,
                     const char *format, ...)
{
    const struct csv_place place = {path, record->line, record->text,
                                    field < 0 ? 1 : record->field_columns[field]};
    va_list ap;
    va_start(ap, format);
    int status = csv_verror(&place, err, format, ap);
    va_end(ap);
    return status;
}

// Reads a whole file into the arena, NUL-terminated.
static int csv_load(const char *path, struct arena *arena, char **text, size_t *len,
                    struct err *err)
{
    int status = -1;
    size_t capacity = 0, used = 0;
    char *buffer = NULL;
    struct stat st = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set(err, "%s: cannot be read: %s", path, strerror(errno));
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        err_set(err, "%s: is a directory; name the CSV files in it", path);
        goto out;
    }
    size_t expected = st.st_size > 0 && st.st_size < CSV_BYTES_MAX ? (size_t)st.st_size : 4095;
    for (;;) {
        buffer = xgrow(buffer, &capacity, used ? used + 1 : expected + 1, 1);
        ssize_t got = read(fd, buffer + used, capacity - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            err_set(err, "%s: cannot be read: %s", path, strerror(errno));
            goto out;
        }
        if (got == 0)
            break;
        used += (size_t)got;
        if (used > CSV_BYTES_MAX) {
            err_set(err, "%s: larger than %d MiB; is it the right file?", path,
                    CSV_BYTES_MAX >> 20);
            goto out;
        }
    }
    *text = arena_strndup(arena, buffer, used);
    *len = used;
    status = 0;
out:
    free(buffer);
    close(fd);
    return status;
}

// Reports a fault in the line being read, at its byte `column`. Returns -1.
__attribute__((format(printf, 4, 5))) static int
csv_fault(const struct csv_reader *reader, int column, struct err *err, const char *format, ...)
{
    const struct csv_place place = {reader->path, reader->line, reader->text, column};
    va_list ap;
    va_start(ap, format);
    int status = csv_verror(&place, err, format, ap);
    va_end(ap);
    return status;
}

static int csv_check_line(const struct csv_reader *reader, size_t len, struct err *err)
{
    const char *line = reader->text;
    struct csv_place place = {reader->path, reader->line, NULL, 1}; // the line cannot be shown
    if (strlen(line) != len)
        return csv_error_at(&place, err, "holds a NUL byte: this is not a text file");
    for (size_t i = 0; i < len;) {
        bool plain;
        size_t n = text_next(line + i, &plain);
        place.column = (int)i + 1;
        if (n == 1 && (unsigned char)line[i] >= 0x80)
            return csv_error_at(&place, err,
                                "byte %d (0x%02x) is not valid UTF-8; save the file as UTF-8",
                                place.column, (unsigned char)line[i]);
        if (!plain && line[i] != '\t')
            return csv_fault(reader, place.column, err,
                             "a control character, which would not be shown; remove it");
        i += n;
    }
    return 0;
}

static void csv_on_field(void *bytes, size_t len, void *data)
{
    struct csv_line_fields *fields = data;
    if (fields->nfields < CSV_FIELDS_MAX) {
        int at = fields->start;
        while (fields->line[at] == ' ' || fields->line[at] == '\t')
            at++;
        if (fields->line[at] == '"')
            at++;
        fields->fields[fields->nfields] = arena_strndup(fields->arena, bytes ? bytes : "", len);
        fields->columns[fields->nfields] = at + 1;
    }
    fields->nfields++;
}

static void csv_on_record(int terminator, void *data)
{
    (void)terminator; // each line is one record: its end is known
    (void)data;
}

// Runs one line through libcsv. Returns 0, or the 1-based column of the fault; -1 for a quote
// without end.
static int csv_split_line(struct csv_parser *parser, const char *line,
                          struct csv_line_fields *fields)
{
    fields->line = line;
    fields->nfields = 0;
    fields->start = 0;
    for (int i = 0; line[i]; i++) {
        int before = fields->nfields;
        if (csv_parse(parser, line + i, 1, csv_on_field, csv_on_record, fields) != 1)
            return i + 1;
        if (fields->nfields != before)
            fields->start = i + 1;
    }
    return csv_fini(parser, csv_on_field, csv_on_record, fields) == 0 ? 0 : -1;
}

static int csv_find_column(const struct csv_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->ncolumns; i++)
        if (strcmp(spec->columns[i], name) == 0)
            return (int)i;
    return -1;
}

static const char *csv_column_names(const struct csv_spec *spec, struct arena *arena)
{
    const char *names = spec->columns[0];
    for (size_t i = 1; i < spec->ncolumns; i++)
        names = arena_printf(arena, "%s,%s", names, spec->columns[i]);
    return names;
}

static int csv_read_header(struct csv_reader *reader, const struct csv_line_fields *fields,
                           struct err *err)
{
    const struct csv_spec *spec = reader->spec;
    struct arena *arena = &reader->file->arena;
    reader->source = arena_alloc(arena, spec->ncolumns * sizeof *reader->source);
    for (size_t i = 0; i < spec->ncolumns; i++)
        reader->source[i] = -1;
    for (int i = 0; i < fields->nfields; i++) {
        int column = csv_find_column(spec, fields->fields[i]);
        if (column < 0)
            return csv_fault(reader, fields->columns[i], err,
                             "unknown column '%s'; the columns are: %s", fields->fields[i],
                             csv_column_names(spec, arena));
        if (reader->source[column] >= 0)
            return csv_fault(reader, fields->columns[i], err, "column '%s' appears twice",
                             fields->fields[i]);
        reader->source[column] = i;
    }
    for (size_t i = 0; i < spec->ncolumns - spec->noptional; i++)
        if (reader->source[i] < 0)
            return csv_fault(reader, (int)strlen(reader->text) + 1, err,
                             "column '%s' is missing; the columns are: %s", spec->columns[i],
                             csv_column_names(spec, arena));
    reader->header_fields = fields->nfields;
    reader->have_header = true;
    return 0;
}

static int csv_add_record(struct csv_reader *reader, const struct csv_line_fields *fields,
                          struct err *err)
{
    struct csv_file *file = reader->file;
    size_t ncolumns = reader->spec->ncolumns;
    if (reader->most && file->nrecords == reader->most)
        return csv_fault(reader, 1, err, "more than %zu rows; divide the file into several",
                         reader->most);
    if (fields->nfields != reader->header_fields) {
        int last = fields->nfields > reader->header_fields ? reader->header_fields : -1;
        int column = last >= 0 ? fields->columns[last] : (int)strlen(reader->text) + 1;
        return csv_fault(reader, column, err,
                         "%d fields where the header has %d; a field with a comma needs quotes",
                         fields->nfields, reader->header_fields);
    }
    const char **values = arena_alloc(&file->arena, ncolumns * sizeof *values);
    int *columns = arena_alloc(&file->arena, ncolumns * sizeof *columns);
    for (size_t i = 0; i < ncolumns; i++) {
        int source = reader->source[i];
        values[i] = source >= 0 ? fields->fields[source] : "";
        columns[i] = source >= 0 ? fields->columns[source] : 1;
    }
    file->records =
        xgrow(file->records, &reader->record_capacity, file->nrecords + 1, sizeof *file->records);
    file->records[file->nrecords++] = (struct csv_record){
        reader->line, reader->text, values, columns, reader->heading ? reader->heading : ""};
    return 0;
}

// Keeps a comment line, without `#` and blanks: before the header, or as the heading of records.
static void csv_add_comment(struct csv_reader *reader, const char *text)
{
    struct csv_file *file = reader->file;
    text += strspn(text, "# \t");
    size_t len = strlen(text);
    while (len > 0 && strchr(" \t", text[len - 1]))
        len--;
    const char *kept = arena_strndup(&file->arena, text, len);
    if (reader->have_header) {
        reader->heading = kept;
        return;
    }
    reader->comments = xgrow(reader->comments, &reader->comment_capacity, file->ncomments + 1,
                             sizeof *reader->comments);
    reader->comments[file->ncomments++] = kept;
}

static int csv_read_line(struct csv_reader *reader, struct err *err)
{
    const char *line = reader->text;
    const char *start = line + strspn(line, " \t");
    if (*start == '#') {
        csv_add_comment(reader, start);
        return 0;
    }
    if (*start == '\0')
        return 0;
    struct csv_line_fields fields = {.arena = &reader->file->arena};
    int fault = csv_split_line(&reader->parser, line, &fields);
    if (fault < 0)
        return csv_fault(reader, fields.start + 1, err,
                         "this quoted field has no closing quote in its line");
    if (fault > 0)
        return csv_fault(reader, fault, err,
                         "quote inside a field: quote the whole field and double the quotes "
                         "in it");
    if (fields.nfields > CSV_FIELDS_MAX)
        return csv_fault(reader, 1, err, "more than %d fields", CSV_FIELDS_MAX);
    return reader->have_header ? csv_add_record(reader, &fields, err)
                               : csv_read_header(reader, &fields, err);
}

static int csv_read_lines(struct csv_reader *reader, char *text, size_t len, struct err *err)
{
    char *end = text + len;
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) // byte order mark of some editors
        text += 3;
    for (int number = 1; text < end; number++) {
        char *newline = memchr(text, '\n', (size_t)(end - text));
        char *stop = newline ? newline : end;
        *stop = '\0';
        size_t line_len = (size_t)(stop - text);
        if (line_len > 0 && text[line_len - 1] == '\r')
            text[--line_len] = '\0';
        reader->line = number;
        reader->text = text;
        if (csv_check_line(reader, line_len, err) || csv_read_line(reader, err))
            return -1;
        text = stop + 1;
    }
    if (!reader->have_header)
        return err_set(err, "%s: no header row; it must name the columns: %s", reader->path,
                       csv_column_names(reader->spec, &reader->file->arena));
    return 0;
}

// Moves the record and comment arrays, which grow while reading, into the arena.
static void csv_settle(struct csv_reader *reader)
{
    struct csv_file *file = reader->file;
    struct csv_record *records = arena_alloc(&file->arena, file->nrecords * sizeof *file->records);
    if (file->nrecords)
        memcpy(records, file->records, file->nrecords * sizeof *records);
    const char **comments = arena_alloc(&file->arena, file->ncomments * sizeof *comments);
    if (file->ncomments)
        memcpy(comments, reader->comments, file->ncomments * sizeof *comments);
    free(file->records);
    free(reader->comments);
    file->records = records;
    file->comments = comments;
}

int csv_file_read(const char *path, const struct csv_spec *spec, struct csv_file *file,
                  struct err *err)
{
    return csv_file_read_most(path, spec, 0, file, err);
}

int csv_file_read_most(const char *path, const struct csv_spec *spec, size_t most,
                       struct csv_file *file, struct err *err)
{
    *file = (struct csv_file){0};
    file->path = arena_strdup(&file->arena, path);
    struct csv_reader reader = {.path = file->path, .spec = spec, .most = most, .file = file};
    char *text = NULL;
    size_t len = 0;
    if (csv_load(path, &file->arena, &text, &len, err)) {
        csv_file_free(file);
        return -1;
    }
    if (csv_init(&reader.parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL)) {
        csv_file_free(file);
        return err_set(err, "%s: the CSV parser could not be set up", path);
    }
    int status = csv_read_lines(&reader, text, len, err);
    csv_free(&reader.parser);
    csv_settle(&reader);
    if (status)
        csv_file_free(file);
    return status;
}

void csv_file_free(struct csv_file *file)
{
    arena_free(&file->arena);
    *file = (struct csv_file){0};
}

const char *csv_file_comment(const struct csv_file *file, const char *key)
{
    size_t len = strlen(key);
    for (size_t i = 0; i < file->ncomments; i++)
        if (strncmp(file->comments[i], key, len) == 0 && file->comments[i][len] == ':')
            return file->comments[i] + len + 1 + strspn(file->comments[i] + len + 1, " ");
    return NULL;
}
