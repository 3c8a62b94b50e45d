// SPDX-License-Identifier: MIT
#include "explain_lines.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS_MAX = 64,
    LINE_BYTES_MAX = 1 << 18, // more than the digits of the largest code
    SHOWN_BYTES = 200,        // of a line, where it is told
};

// Columns of lines of machine code; -1: there is none.
struct columns {
    int hex, weight;
};

static const char column_names[] = "`hex`, `weight` (others are passed over)";

// Returns true if a line names columns: words of letters between commas, none of which is code.
static bool line_is_head(const char *line)
{
    size_t len = strlen(line);
    for (const char *at = line; *at; at++)
        if (!isalpha((unsigned char)*at) && *at != '_' && *at != ',')
            return false;
    return strcmp(line, "hex") == 0 ||
           (strchr(line, ',') && !bench_bytes_is_hex(line, strcspn(line, ",")) && len > 1);
}

static int head_read(char *line, const char *path, int number, struct columns *columns,
                     struct err *err)
{
    char *rest = line;
    *columns = (struct columns){-1, -1};
    for (int i = 0; rest && i < COLUMNS_MAX; i++) {
        const char *name = strsep(&rest, ",");
        if (strcmp(name, "hex") == 0)
            columns->hex = i;
        if (strcmp(name, "weight") == 0)
            columns->weight = i;
    }
    if (columns->hex >= 0)
        return 0;
    return err_set(err, "%s:%d: no column `hex`: the first line may name the columns %s", path,
                   number, column_names);
}

static void job_refuse_weight(struct explain_work *work, const char *text, struct explain_job *job)
{
    struct err why;
    err_set(&why, "'%.40s' is no weight: a number that is not negative", text);
    job->weight = 1;
    job->refused = arena_strdup(&work->arena, why.text);
}

static void job_take_weight(struct explain_work *work, const char *text, struct explain_job *job)
{
    char *end;
    job->weight = strtod(text, &end);
    if (end == text || end[strspn(end, " \t\r")] || !(job->weight >= 0) || job->weight > 1e300)
        job_refuse_weight(work, text, job);
}

// Takes a line of machine code. Returns false if the line is none.
static bool job_take_hex(struct explain_work *work, char *line, const struct columns *columns,
                         struct explain_job *job)
{
    char *fields[COLUMNS_MAX] = {0}, *rest = line;
    size_t len = strcspn(line, ",");
    bool headed = columns->hex >= 0;
    if (!headed && !bench_bytes_is_hex(line, len))
        return false;
    int n = 0;
    while (rest && n < COLUMNS_MAX)
        fields[n++] = strsep(&rest, ",");
    int hex = headed ? columns->hex : 0, weight = headed ? columns->weight : 1;
    job->init = work->request->spec.init;
    job->hex = arena_strdup(&work->arena, hex < n ? fields[hex] : "");
    job->source = job->hex;
    if (!headed && n > 2)
        job->refused = arena_printf(&work->arena, "%d columns: a first line names them, as %s", n,
                                    column_names);
    else if (hex >= n || !*job->hex)
        job->refused = "there is nothing in the column hex";
    else if (weight >= 0 && weight < n)
        job_take_weight(work, fields[weight], job);
    return true;
}

static void job_take_line(struct explain_work *work, char *line, const struct columns *columns,
                          struct explain_job *job)
{
    if (job_take_hex(work, line, columns, job))
        return;
    job->source = arena_strdup(&work->arena, line);
    char *bar = strchr(line, '|');
    if (bar)
        *bar = '\0';
    job->body = arena_strdup(&work->arena, bar ? bar + 1 : line);
    job->init = bar ? arena_strdup(&work->arena, line) : NULL;
}

// Keeps as much of the line as is told of it, without blanks around it, which CSV loses.
static void job_shorten(struct explain_work *work, struct explain_job *job)
{
    const char *begin = job->source + strspn(job->source, " \t");
    char *shown = arena_strndup(&work->arena, begin, SHOWN_BYTES);
    for (size_t len = strlen(shown); len && (shown[len - 1] == ' ' || shown[len - 1] == '\t');)
        shown[--len] = '\0';
    for (char *at = shown; *at; at++)
        if (!isprint((unsigned char)*at))
            *at = '?';
    job->source = shown;
}

static void job_read_line(struct explain_work *work, char *line, size_t len,
                          const struct columns *columns, struct explain_job *job)
{
    job->weight = 1;
    if (len > LINE_BYTES_MAX || strlen(line) < len) {
        job->source = line;
        job->refused =
            len > LINE_BYTES_MAX
                ? arena_printf(&work->arena, "a line of %zu bytes, of which it may have %d", len,
                               LINE_BYTES_MAX)
                : "the line has a NUL byte";
    } else {
        job_take_line(work, line, columns, job);
    }
    job_shorten(work, job);
}

static int lines_take(struct explain_work *work, FILE *file, struct err *err)
{
    const char *path = work->request->blocks;
    struct columns columns = {-1, -1};
    char *line = NULL;
    size_t capacity = 0, room = 0;
    ssize_t got;
    int status = 0;
    for (int number = 1; status == 0 && (got = getline(&line, &capacity, file)) >= 0; number++) {
        size_t len = (size_t)got;
        while (len && (line[len - 1] == '\n' || line[len - 1] == '\r'))
            line[--len] = '\0';
        if ((!line[strspn(line, " \t")] && strlen(line) == len) || *line == '#')
            continue;
        if (!work->njobs && columns.hex < 0 && line_is_head(line)) {
            status = head_read(line, path, number, &columns, err);
            continue;
        }
        work->jobs = xgrow(work->jobs, &room, (size_t)work->njobs + 1, sizeof *work->jobs);
        struct explain_job *job = &work->jobs[work->njobs++];
        *job = (struct explain_job){.line = number};
        job_read_line(work, line, len, &columns, job);
    }
    free(line);
    return status;
}

int explain_lines_read(struct explain_work *work, struct err *err)
{
    const char *path = work->request->blocks;
    FILE *file = fopen(path, "r");
    if (!file)
        return err_set(err, "%s: cannot be read: %s", path, strerror(errno));
    int status = lines_take(work, file, err);
    if (status == 0 && ferror(file))
        status = err_set(err, "%s: cannot be read: %s", path, strerror(errno));
    fclose(file);
    work->many = true;
    if (status == 0 && !work->njobs)
        status = err_set(err, "%s: there is no block in it", path);
    return status;
}
