// SPDX-License-Identifier: MIT
// Sound and empty databases, and reading of what was merged; see fuzz_world.h.
//
// LATPUT_FUZZ_DB names a database whose newest run is used for that.
#include "fuzz_world.h"

#include "fuzz.h"
#include "fuzz_rows.h"

#include "merge/merge.h"
#include "report/report.h"
#include "store/store_internal.h"
#include "store/store_read.h"
#include "store/store_run.h"
#include "store/store_validation.h"
#include "util/mem.h"
#include "util/paths.h"
#include "util/scratch.h"
#include "validate/validate.h"

#include <stdio.h>
#include <stdlib.h>

static char *scratch;

static void scratch_remove(void)
{
    scratch_end(scratch, false);
}

void fuzz_broken(const char *what)
{
    fprintf(stderr, "fuzz: %s\n", what);
    exit(99);
}

// Gives the run rows in the tables that it leaves empty.
static void put_rows(const char *path)
{
    char text[16384];
    FILE *file = fopen(path_data("tests/fuzz/rows.sql"), "re");
    size_t got = file ? fread(text, 1, sizeof text - 1, file) : 0;
    sqlite3 *db;
    if (!file || got == 0 || got == sizeof text - 1)
        fuzz_broken("tests/fuzz/rows.sql cannot be read");
    fclose(file);
    text[got] = '\0';
    if (sqlite3_open(path, &db) != SQLITE_OK ||
        sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
        fuzz_broken(sqlite3_errmsg(db));
    sqlite3_close(db);
}

const struct fuzz_world *fuzz_world(void)
{
    static struct fuzz_world world;
    struct store *store;
    struct err err = {0};
    int64_t run = 0;
    if (scratch)
        return &world;
    const char *source = getenv("LATPUT_FUZZ_DB");
    if (!source)
        fuzz_broken("LATPUT_FUZZ_DB must name a database with a run; tests/fuzz/run does");
    if (!(scratch = scratch_begin(&err)))
        fuzz_broken(err.text);
    world.sound = xasprintf("%s/sound.db", scratch);
    world.empty = xasprintf("%s/empty.db", scratch);
    if (store_open(source, STORE_READ, &store, &err) != 0 ||
        store_run_newest(store, NULL, &run, &err) != 1 ||
        merge_extract_runs(store, &(struct merge_extract){&run, 1, MERGE_KEEP_SAMPLES}, world.sound,
                           &err) != 0)
        fuzz_broken(err.text);
    store_close(store);
    put_rows(world.sound);
    if (store_open(world.empty, STORE_WRITE, &store, &err) != 0)
        fuzz_broken(err.text);
    sqlite3_exec(store->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    store_close(store);
    atexit(scratch_remove);
    return &world;
}

struct store *fuzz_connect(const char *uri)
{
    struct store *store;
    struct err err = {0};
    if (store_connect(uri, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, &store, &err) != 0)
        fuzz_broken(err.text);
    store->uri = xstrdup(uri);
    return store;
}

struct fuzz_target fuzz_target_open(const char *uri)
{
    struct rows *rows = rows_open(uri, fuzz_world()->empty);
    return (struct fuzz_target){rows, fuzz_connect(uri)};
}

// Reads the run's random mixes, none of which has a form that is known here.
static void predict_mixes(struct store *store, int64_t run)
{
    const struct validate_forms forms = {.n = 0};
    const struct port_model model = {.width = 1};
    const struct validate_again again = {&forms, &model};
    struct validation stored;
    struct validate_mixes mixes;
    struct arena arena = {0};
    struct err err = {0};
    if (store_get_validated_mixes(store, run, VALIDATE_LAYOUTS, &stored, &arena, &err) == 1 &&
        validate_stored(&stored, &again, &arena, &mixes, &err) != 0)
        fuzz_check_message(&err);
    arena_free(&arena);
}

void fuzz_read_run(struct store *store, int64_t run, unsigned choice)
{
    enum { INFO = STORE_VIEW_LIST + 1, PORTS, MIXES, PAGE, CHOICES };
    const struct store_filter filter = {.run_id = run};
    const unsigned what = choice % CHOICES;
    const struct report_query query = {.view = what <= STORE_VIEW_LIST ? (enum store_view)what : 0,
                                       .filter = &filter,
                                       .format = (enum report_format)(choice / CHOICES % 3),
                                       .shown = true};
    struct strbuf out = {0};
    struct err err = {0};
    int64_t nrows;
    int result = 0;
    if (what <= STORE_VIEW_LIST)
        result = report_rows(store, &query, &out, NULL, &nrows, &err);
    else if (what == INFO)
        result = report_info_text(store, run, &out, &err);
    else if (what == PORTS)
        result = report_run_ports(store, run, &out, &err);
    else if (what == MIXES)
        predict_mixes(store, run);
    else
        result = report_page(store, run, &out, &nrows, &err);
    if (result < 0)
        fuzz_check_message(&err);
    strbuf_free(&out);
}

void fuzz_check_empty(struct store *store)
{
    int64_t newest = 0;
    struct err err = {0};
    fuzz_check(store_run_newest(store, NULL, &newest, &err) == 0, "what is refused leaves nothing");
}
