// SPDX-License-Identifier: MIT
#include "explain_row.h"

#include "store/store_run.h"
#include "util/csvfile.h"
#include "version.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROW(...) OUTPUT_FIELD(struct explain_row, __VA_ARGS__)
OUTPUT_DEFINE(row_record, struct explain_row, OUTPUT_LINE, ROW(line), ROW(refused, .known = true),
              ROW(instructions, .known = true, .none = -1), ROW(assumed, .known = true, .none = -1),
              ROW(predicted_clk, .decimals = 3, .look.digits = 6), ROW(limit, .known = true),
              ROW(measured_clk, .decimals = 3, .look.digits = 6), ROW(failure, .known = true),
              ROW(spread_clk, .decimals = 3, .look.digits = 4), ROW(weight, .look.digits = 9),
              ROW(code, .known = true), ROW(settings, .known = true),
              ROW(meets_clk, .decimals = 3, .look.name = "clk_if_pointers_meet", .look.digits = 6));
const struct output_kind explain_row_kind = {"explain_blocks", "latput explain --blocks",
                                             &row_record, 0, 0};

static const char *one_line(const char *text, struct arena *arena)
{
    if (!text || !strpbrk(text, "\r\n"))
        return text ? text : "";
    char *copy = arena_strdup(arena, text);
    for (char *at = copy; (at = strpbrk(at, "\r\n"));)
        *at = ' ';
    return copy;
}

struct explain_row explain_row_make(const struct explain_job *job,
                                    const struct explanation *explanation, struct arena *arena)
{
    struct explain_row row = {.line = job->line,
                              .refused = one_line(job->refused, arena),
                              .instructions = -1,
                              .assumed = -1,
                              .predicted_clk = NAN,
                              .meets_clk = NAN,
                              .limit = "",
                              .measured_clk = NAN,
                              .failure = "",
                              .spread_clk = NAN,
                              .weight = job->weight,
                              .code = job->source ? job->source : "",
                              .settings = ""};
    if (job->refused || !explanation)
        return row;
    row.instructions = explanation->block.n;
    row.assumed = explanation->unknown;
    row.predicted_clk = explanation->predicted_clk;
    row.meets_clk = explanation->meets_clk;
    row.limit = explanation->nlimits ? explain_kind_name(explanation->limits[0].kind) : "";
    return row;
}

void explain_row_measured(struct explain_row *row, const struct bench_result *result,
                          struct arena *arena)
{
    row->measured_clk = result->summary.clk;
    row->spread_clk = result->summary.spread_clk;
    if (result->outcome == OUTCOME_OK && isfinite(result->summary.clk))
        return;
    const char *text = arena_printf(arena, "%s: %s", outcome_name(result->outcome),
                                    *result->detail ? result->detail : "no steady value");
    row->failure = one_line(text, arena);
}

// Prints a number, or blanks for NaN.
static void print_number(int width, double number)
{
    if (isfinite(number))
        printf("  %*.2f", width, number);
    else
        printf("  %*s", width, "");
}

void explain_row_print(const struct explain_row *row)
{
    if (*row->refused) {
        printf("%6d  refused: %s\n", row->line, row->refused);
        return;
    }
    printf("%6d  %6d", row->line, row->instructions);
    print_number(9, row->predicted_clk);
    print_number(9, row->measured_clk);
    if (isfinite(row->predicted_clk) && row->measured_clk > 0)
        printf("  %+8.1f", 100 * (row->predicted_clk - row->measured_clk) / row->measured_clk);
    else
        printf("  %8s", "");
    printf("  %s%s", row->limit, row->assumed ? " (some assumed)" : "");
    if (isfinite(row->meets_clk))
        printf(" (%.2f if pointers meet)", row->meets_clk);
    putchar('\n');
}

// --- Rows in a file. ---

static const double SAME_WEIGHT = 1e-6; // as a share: a file has so many digits of a weight

enum {
    COLUMN_LINE,
    COLUMN_REFUSED,
    COLUMN_INSTRUCTIONS,
    COLUMN_ASSUMED,
    COLUMN_PREDICTED,
    COLUMN_LIMIT,
    COLUMN_MEASURED,
    COLUMN_FAILURE,
    COLUMN_SPREAD,
    COLUMN_WEIGHT,
    COLUMN_CODE,
    COLUMN_SETTINGS,
    COLUMN_MEETS,
    COLUMNS
};
static const char *const columns[COLUMNS] = {"line",
                                             "refused",
                                             "instructions",
                                             "assumed",
                                             "predicted_clk",
                                             "limit",
                                             "measured_clk",
                                             "failure",
                                             "spread_clk",
                                             "weight",
                                             "code",
                                             "settings",
                                             "clk_if_pointers_meet"};

int explain_settings(struct explain_work *work, struct err *err)
{
    const struct explain_request *request = work->request;
    int64_t run_id = work->run_id;
    if (work->settings)
        return 0;
    if (!run_id && work->store && store_run_newest(work->store, work->uarch, &run_id, err) < 0)
        return -1;
    const char *init = request->spec.init;
    const char *text = arena_printf(
        &work->arena, "latput %s, %s, run %" PRId64 "%s, %d-bit, %s%s%s", LATPUT_VERSION,
        work->uarch ? work->uarch : "no CPU", run_id, work->run_id ? " alone" : "",
        request->spec.bits ? request->spec.bits : 64, request->predict ? "predicted" : "measured",
        init ? ", init " : "", init ? init : "");
    work->settings = one_line(text, &work->arena);
    return 0;
}

// Reads a number that is not negative; nothing is `none`. Returns false if the field is no such.
static bool number_read(const char *text, double none, double *number)
{
    char *end;
    *number = none;
    if (!*text)
        return true;
    *number = strtod(text, &end);
    return end > text && !*end && isfinite(*number) && *number >= 0;
}

// Makes the row of a record. Returns -1, or the column that has no such number.
static int row_of(const struct csv_record *record, struct arena *arena, struct explain_row *row)
{
    const char *const *fields = record->fields;
    double line, instructions, assumed;
    *row = (struct explain_row){.refused = arena_strdup(arena, fields[COLUMN_REFUSED]),
                                .limit = arena_strdup(arena, fields[COLUMN_LIMIT]),
                                .failure = arena_strdup(arena, fields[COLUMN_FAILURE]),
                                .code = arena_strdup(arena, fields[COLUMN_CODE]),
                                .settings = arena_strdup(arena, fields[COLUMN_SETTINGS])};
    const struct {
        int column;
        double none, *number;
        bool whole;
    } numbers[] = {
        {COLUMN_LINE,         0,   &line,               true },
        {COLUMN_INSTRUCTIONS, -1,  &instructions,       true },
        {COLUMN_ASSUMED,      -1,  &assumed,            true },
        {COLUMN_PREDICTED,    NAN, &row->predicted_clk, false},
        {COLUMN_MEASURED,     NAN, &row->measured_clk,  false},
        {COLUMN_SPREAD,       NAN, &row->spread_clk,    false},
        {COLUMN_WEIGHT,       1,   &row->weight,        false},
        {COLUMN_MEETS,        NAN, &row->meets_clk,     false},
    };
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        double *number = numbers[i].number;
        if (!number_read(fields[numbers[i].column], numbers[i].none, number) ||
            (numbers[i].whole && (*number > INT_MAX || *number != floor(*number))))
            return numbers[i].column;
    }
    row->line = (int)line;
    row->instructions = (int)instructions;
    row->assumed = (int)assumed;
    return -1;
}

static int row_take(const struct explain_file *file, const struct csv_record *record,
                    const struct explain_work *work, struct arena *arena, struct err *err)
{
    struct explain_row *row = &file->rows[file->nrows];
    int wrong = row_of(record, arena, row);
    if (wrong >= 0)
        return csv_record_error(file->path, record, wrong, err, "'%s' is no number of a row",
                                record->fields[wrong]);
    const struct explain_job *job = file->nrows < work->njobs ? &work->jobs[file->nrows] : NULL;
    if (!job || row->line != job->line || strcmp(row->code, job->source ? job->source : "") != 0 ||
        fabs(row->weight - job->weight) > SAME_WEIGHT * job->weight)
        return csv_record_error(file->path, record, -1, err,
                                "a row of another block than %s has here: another file is to be "
                                "named for the rows of these blocks",
                                work->request->blocks);
    if (strcmp(row->settings, work->settings) != 0)
        return csv_record_error(file->path, record, COLUMN_SETTINGS, err,
                                "its numbers were made by other settings than these, '%s': the "
                                "same ones are to be given, or another file",
                                work->settings);
    return 0;
}

static int rows_take(const struct csv_file *csv, const struct explain_work *work,
                     struct arena *arena, struct explain_file *file, struct err *err)
{
    file->rows = arena_alloc(arena, (csv->nrecords + 1) * sizeof *file->rows);
    for (size_t i = 0; i < csv->nrecords; i++, file->nrows++)
        if (row_take(file, &csv->records[i], work, arena, err) != 0)
            return -1;
    return 0;
}

// Returns the length of the file up to its last whole line.
static long whole_lines(FILE *stream)
{
    long whole = 0;
    int c;
    rewind(stream);
    for (long at = 1; (c = getc(stream)) != EOF; at++)
        whole = c == '\n' ? at : whole;
    return whole;
}

// Appends rows as CSV, after the line of headings or without it.
static void put_csv(const struct explain_row *rows, int n, bool head, struct strbuf *out)
{
    static const struct output_page csv = {.format = REPORT_CSV};
    struct output_stream stream = {.record = &row_record, .page = &csv, .out = out};
    output_begin(&stream, NULL);
    if (!head)
        strbuf_clear(out);
    for (int i = 0; i < n; i++)
        output_row(&stream, &rows[i]);
    output_end(&stream, NULL);
}

static int file_head(FILE *stream, struct err *err, const char *path)
{
    struct strbuf head = {0};
    put_csv(NULL, 0, true, &head);
    char *begin = xcalloc(head.len + 1, 1);
    rewind(stream);
    size_t len = fread(begin, 1, head.len, stream);
    bool ours = memcmp(begin, strbuf_text(&head), len) == 0;
    free(begin);
    int status =
        ours ? 0 : err_set(err, "%s: no file of rows of blocks: it is left as it is", path);
    if (status == 0 && len < head.len) { // its first line was not finished
        rewind(stream);
        if (ftruncate(fileno(stream), 0) != 0 || fputs(strbuf_text(&head), stream) < 0 ||
            fflush(stream) != 0)
            status = err_set(err, "%s: cannot be written: %s", path, strerror(errno));
    }
    strbuf_free(&head);
    return status;
}

int explain_file_open(const char *path, struct explain_work *work, struct arena *arena,
                      struct explain_file *file, struct err *err)
{
    const struct csv_spec spec = {columns, COLUMNS, 0};
    struct csv_file csv = {0};
    *file = (struct explain_file){.path = path};
    if (explain_settings(work, err) != 0)
        return -1;
    FILE *stream = fopen(path, "a+e");
    if (!stream)
        return err_set(err, "%s: cannot be written: %s", path, strerror(errno));
    file->stream = stream;
    int status = file_head(stream, err, path);
    if (status == 0 && ftruncate(fileno(stream), whole_lines(stream)) != 0)
        status = err_set(err, "%s: cannot be written: %s", path, strerror(errno));
    if (status == 0)
        status = csv_file_read(path, &spec, &csv, err);
    if (status == 0)
        status = rows_take(&csv, work, arena, file, err);
    csv_file_free(&csv);
    if (status != 0)
        explain_file_close(file, &(struct err){0});
    return status;
}

int explain_file_put(struct explain_file *file, const struct explain_row *rows, int n,
                     struct err *err)
{
    struct strbuf out = {0};
    FILE *stream = file->stream;
    put_csv(rows, n, false, &out);
    bool fine = fputs(strbuf_text(&out), stream) >= 0 && fflush(stream) == 0;
    strbuf_free(&out);
    return fine ? 0 : err_set(err, "%s: cannot be written: %s", file->path, strerror(errno));
}

int explain_file_close(struct explain_file *file, struct err *err)
{
    FILE *stream = file->stream;
    file->stream = NULL;
    if (stream && fclose(stream) != 0)
        return err_set(err, "%s: cannot be written: %s", file->path, strerror(errno));
    return 0;
}
