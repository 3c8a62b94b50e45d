// SPDX-License-Identifier: MIT
// Properties of the pipeline with the points of their curves: the public views with all of their
// columns, so that columns of later versions reach the page, too. See site_internal.h.
#include "site_internal.h"

#include "sheet/sheet.h"

#include <string.h>

static void row_json(struct store_rows *rows, int ncolumns, struct site_texts *texts,
                     struct json *json)
{
    json_open(json, '[');
    for (int i = 0; i < ncolumns; i++)
        switch (store_rows_type(rows, i)) {
        case STORE_NULL:
            json_null(json);
            break;
        case STORE_INTEGER:
            json_int(json, store_rows_integer(rows, i));
            break;
        case STORE_REAL:
            json_digits(json, store_rows_real(rows, i), 6);
            break;
        case STORE_TEXT: // [number of the text]
            json_open(json, '[');
            json_int(json, site_text(texts, store_rows_exact(rows, i)));
            json_close(json, ']');
            break;
        }
    json_close(json, ']');
}

static int view_json(struct store *store, const struct site_cpus *cpus, enum store_view view,
                     struct site_texts *texts, struct json *json, struct err *err)
{
    struct store_rows *rows = store_rows_open(store, view, NULL, err);
    if (!rows)
        return -1;
    int ncolumns = store_rows_columns(rows), got, nrows = 0;
    json_open(json, '{');
    json_open(json_name(json, "columns"), '[');
    for (int i = 0; i < ncolumns; i++)
        json_text(json, store_rows_name(rows, i));
    json_close(json, ']');
    json_open(json_name(json, "rows"), '[');
    int run_id = store_rows_column(rows, "run_id");
    while ((got = store_rows_next(rows, err)) > 0) {
        if (site_cpu_of_run(cpus, store_rows_integer(rows, run_id)) < 0)
            continue;
        row_json(rows, ncolumns, texts, json);
        nrows++;
    }
    json_close(json, ']');
    json_close(json, '}');
    store_rows_close(rows);
    return got < 0 ? -1 : nrows;
}

// Counts for each run the properties that the page shows of it. Returns 0 or -1.
static int count_properties(struct store *store, const struct site_cpus *cpus, int *counts,
                            struct err *err)
{
    struct store_rows *rows = store_rows_open(store, STORE_VIEW_PROPERTY, NULL, err);
    if (!rows)
        return -1;
    struct strbuf last = {0};
    int64_t last_run = 0;
    int got;
    while ((got = store_rows_next(rows, err)) > 0) {
        const char *name = store_exact_of(rows, "property");
        int64_t run_id = store_integer_of(rows, "run_id");
        if (run_id == last_run && strcmp(name, strbuf_text(&last)) == 0)
            continue; // a further conclusion or value of the same
        for (int r = 0; r < cpus->nruns; r++)
            counts[r] += cpus->runs[r].run_id == run_id;
        strbuf_clear(&last);
        strbuf_puts(&last, name);
        last_run = run_id;
    }
    strbuf_free(&last);
    store_rows_close(rows);
    return got;
}

// Reads for each CPU the run that most of its properties are shown of: a newer run of a few does
// not hide one of all. Returns their number, or -1.
static int load_sheets(struct store *store, const struct site_cpus *cpus, struct sheet_cpu *sheets,
                       struct arena *arena, struct err *err)
{
    int *counts = arena_alloc(arena, sizeof *counts * (size_t)(cpus->nruns + 1));
    memset(counts, 0, sizeof *counts * (size_t)(cpus->nruns + 1));
    if (count_properties(store, cpus, counts, err) != 0)
        return -1;
    int n = 0;
    for (int cpu = 0; cpu < cpus->ncpus; cpu++) {
        int best = -1;
        for (int r = 0; r < cpus->nruns; r++) // newest first
            if (cpus->runs[r].cpu == cpu && counts[r] > (best < 0 ? 0 : counts[best]))
                best = r;
        if (best < 0)
            continue;
        if (sheet_cpu_load(store, cpus->runs[best].run_id, &sheets[n++], arena, err) != 0)
            return -1;
    }
    return n;
}

// Writes the fact sheets, an array as `latput cpu --sheet --format json` prints it.
static int sheets_json(struct store *store, const struct site_cpus *cpus, struct json *json,
                       struct err *err)
{
    struct arena arena = {0};
    struct sheet_lines lines;
    if (sheet_lines_load(&lines, err) != 0)
        return -1;
    struct sheet_cpu *sheets = arena_alloc(&arena, sizeof *sheets * (size_t)(cpus->ncpus + 1));
    int n = load_sheets(store, cpus, sheets, &arena, err);
    if (n >= 0)
        sheet_json(&lines, sheets, n, json);
    sheet_lines_free(&lines);
    arena_free(&arena);
    return n < 0 ? -1 : 0;
}

int site_property_json(struct store *store, const struct site_cpus *cpus, struct json *json,
                       int *nproperties, struct err *err)
{
    struct site_texts texts = {0};
    json_open(json, '{');
    int result = view_json(store, cpus, STORE_VIEW_PROPERTY, &texts, json_name(json, "table"), err);
    *nproperties = result;
    if (result >= 0)
        result = view_json(store, cpus, STORE_VIEW_PROPERTY_POINT, &texts,
                           json_name(json, "points"), err);
    site_texts_json(&texts, json_name(json, "texts"));
    if (result >= 0)
        result = sheets_json(store, cpus, json_name(json, "sheets"), err);
    json_close(json, '}');
    site_texts_clear(&texts);
    return result < 0 ? -1 : 0;
}
