// SPDX-License-Identifier: MIT
// Packs of strangers. Target `pack`: the bytes are the archive. Target `merge`: the bytes change
// the database of a sound pack, value by value and byte by byte, before it is merged: random bytes
// seldom get past SQLite's own checks. Reports are then made of the merged runs.
//
// LATPUT_FUZZ_DB names a database whose newest run is used for that.
#include "fixtures/merge_fixture.h"
#include "fuzz.h"

#include "merge/merge.h"
#include "pack/pack.h"
#include "report/report.h"
#include "store/store.h"
#include "store/store_read.h"
#include "store/store_run.h"
#include "store/store_validation.h"
#include "util/mem.h"
#include "util/scratch.h"
#include "validate/validate.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// One change in eight bytes and a text.
enum {
    CHANGE_TABLE,
    CHANGE_COLUMN,
    CHANGE_ROW,
    CHANGE_KIND,
    CHANGE_NUMBER,
    CHANGE_LENGTH = 8,
    CHANGE_BYTES
};
enum {
    KIND_NULL,
    KIND_INTEGER,
    KIND_REAL,
    KIND_TEXT,
    KIND_BLOB,
    KIND_DELETE,
    KIND_SPECIAL,
    KIND_RAW,
    KIND_COUNT
};

struct place {
    char *directory;
    char *sound, *changed, *empty, *target; // databases
};

static void broken(const char *what)
{
    fprintf(stderr, "fuzz: %s\n", what);
    exit(99);
}

static void remove_place(void);

// Gives the run the random mixes that a run of many forms has.
static void put_mixes(const char *path)
{
    static const struct validation_mix mixes[] = {
        {"2*add r64 r64; 1*div r64", 7, 5  },
        {"3*nop; 1*add r64 m64",     1, 0.5}
    };
    const struct validation whole = {.seed = 1,
                                     .mixes = ARRAY_LEN(mixes),
                                     .worst = mixes,
                                     .nworst = ARRAY_LEN(mixes),
                                     .layouts = VALIDATE_LAYOUTS};
    struct store *store;
    struct err err = {0};
    int64_t run = 0;
    if (store_open(path, STORE_WRITE, &store, &err) != 0 ||
        store_run_newest(store, NULL, &run, &err) != 1 ||
        store_put_validation(store, run, &whole, &err) != 0)
        broken(err.text);
    store_close(store);
}

// Made once: a sound run of its own, and an empty database into which it is merged.
static const struct place *place(void)
{
    static struct place place;
    struct store *store;
    struct err err = {0};
    int64_t run = 0;
    if (place.directory)
        return &place;
    const char *source = getenv("LATPUT_FUZZ_DB");
    if (!source)
        broken("LATPUT_FUZZ_DB must name a database with a run; tests/fuzz/run does");
    if (!(place.directory = scratch_begin(&err)))
        broken(err.text);
    place.sound = xasprintf("%s/sound.db", place.directory);
    place.changed = xasprintf("%s/changed.db", place.directory);
    place.empty = xasprintf("%s/empty.db", place.directory);
    place.target = xasprintf("%s/target.db", place.directory);
    if (store_open(source, STORE_READ, &store, &err) != 0 ||
        store_run_newest(store, NULL, &run, &err) != 1 ||
        merge_extract_runs(store, &(struct merge_extract){&run, 1, true}, place.sound, &err) != 0)
        broken(err.text);
    store_close(store);
    put_mixes(place.sound);
    if (store_open(place.empty, STORE_WRITE, &store, &err) != 0)
        broken(err.text);
    store_close(store);
    atexit(remove_place);
    return &place;
}

static void remove_place(void)
{
    scratch_end(place()->directory, false);
}

static void copy_file(const char *from, const char *to)
{
    static char bytes[4 << 20];
    FILE *in = fopen(from, "re"), *out = fopen(to, "we");
    size_t got;
    if (!in || !out)
        broken("a database cannot be copied");
    while ((got = fread(bytes, 1, sizeof bytes, in)) > 0)
        fwrite(bytes, 1, got, out);
    fclose(in);
    if (fclose(out) != 0)
        broken("a database cannot be copied");
}

static struct store *open_target(void)
{
    struct store *store;
    struct err err = {0};
    const char *path = place()->target;
    char *side = xasprintf("%s-wal", path);
    unlink(side);
    memcpy(side + strlen(side) - 3, "shm", 3);
    unlink(side);
    free(side);
    copy_file(place()->empty, path);
    if (store_open(path, STORE_WRITE, &store, &err) != 0)
        broken(err.text);
    return store;
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

static void report_run(struct store *store, int64_t run, enum report_format format)
{
    const struct store_filter filter = {.run_id = run};
    struct strbuf out = {0};
    struct err err = {0};
    int64_t nrows;
    for (int view = 0; view <= STORE_VIEW_LIST; view++) {
        const struct report_query query = {
            .view = (enum store_view)view, .filter = &filter, .format = format, .shown = true};
        if (report_rows(store, &query, &out, NULL, &nrows, &err) != 0)
            fuzz_check_message(&err);
    }
    if (report_info_text(store, run, &out, &err) != 0)
        fuzz_check_message(&err);
    report_run_ports(store, run, &out, &err);
    predict_mixes(store, run);
    report_page(store, run, &out, &nrows, &err);
    strbuf_free(&out);
}

// Checks that so many runs were merged, or, for -1, that the database is empty.
static void check_merged(struct store *store, int result, const struct store_merged *merged,
                         size_t size, struct err *err)
{
    int64_t newest = 0;
    struct err none = {0};
    if (result >= 1) {
        fuzz_check(merged->nruns >= result, "what was added is among what was read");
        for (int i = 0; i < merged->nruns; i++) // one of the formats by turns
            report_run(store, merged->runs[i].run_id, (enum report_format)(size % 3));
        return;
    }
    fuzz_check(result == -1, "an empty database has no run already");
    fuzz_check_message(err);
    fuzz_check(store_run_newest(store, NULL, &newest, &none) == 0,
               "what is refused leaves nothing");
}

void fuzz_pack(const uint8_t *bytes, size_t size)
{
    struct store_merged merged = {0};
    struct err err = {0};
    struct store *store = open_target();
    int result = pack_merge(store, fuzz_file(bytes, size), &merged, &err);
    check_merged(store, result, &merged, size, &err);
    store_close(store);
}

static void bind_value(sqlite3_stmt *stmt, int kind, int64_t number, const char *text, int len)
{
    static const double specials[] = {-5, 1e300, -1e300, 5e-324, 0.0, 1e18, 4294967296.0, -0.5};
    double real;
    memcpy(&real, &number, sizeof real);
    switch (kind) {
    case KIND_INTEGER:
        sqlite3_bind_int64(stmt, 1, number);
        break;
    case KIND_REAL:
        sqlite3_bind_double(stmt, 1, real);
        break;
    case KIND_TEXT:
        sqlite3_bind_text(stmt, 1, text, len, SQLITE_TRANSIENT);
        break;
    case KIND_BLOB:
        sqlite3_bind_blob(stmt, 1, text, len, SQLITE_TRANSIENT);
        break;
    case KIND_SPECIAL:
        sqlite3_bind_double(stmt, 1, specials[number & 7]);
        break;
    default:
        sqlite3_bind_null(stmt, 1);
    }
}

// The name in a column of the n-th row of a query, or NULL; to be freed.
static char *nth_name(sqlite3 *db, const char *sql, const char *parameter, int n)
{
    sqlite3_stmt *stmt = NULL;
    char *name = NULL;
    int count = 0;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK) {
        sqlite3_bind_text(stmt, 1, parameter, -1, SQLITE_STATIC);
        while (sqlite3_step(stmt) == SQLITE_ROW)
            count++;
        sqlite3_reset(stmt);
        for (int i = 0; count > 0 && i <= n % count; i++)
            sqlite3_step(stmt);
        if (count > 0)
            name = xasprintf("%s", (const char *)sqlite3_column_text(stmt, 0));
    }
    sqlite3_finalize(stmt);
    return name;
}

static void change_value(sqlite3 *db, const uint8_t *change, int64_t number, const char *text,
                         int len)
{
    int kind = change[CHANGE_KIND] % KIND_COUNT;
    char *table = nth_name(db, "SELECT name FROM sqlite_schema WHERE type = 'table' AND ?1 = ''",
                           "", change[CHANGE_TABLE]);
    char *column =
        table ? nth_name(db, "SELECT name FROM pragma_table_info(?1)", table, change[CHANGE_COLUMN])
              : NULL;
    if (!column)
        broken("the sound database has no tables");
    char *sql = kind == KIND_DELETE
                    ? sqlite3_mprintf("DELETE FROM \"%w\" WHERE rowid IN (SELECT rowid FROM \"%w\" "
                                      "LIMIT 1 OFFSET %d)",
                                      table, table, change[CHANGE_ROW])
                    : sqlite3_mprintf("UPDATE \"%w\" SET \"%w\" = ?1 WHERE rowid IN (SELECT rowid "
                                      "FROM \"%w\" LIMIT 1 OFFSET %d)",
                                      table, column, table, change[CHANGE_ROW]);
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK) {
        if (kind != KIND_DELETE)
            bind_value(stmt, kind, number, text, len);
        sqlite3_step(stmt); // what SQLite refuses is not changed
    }
    sqlite3_finalize(stmt);
    sqlite3_free(sql);
    free(table);
    free(column);
}

static void change_raw(const char *path, int64_t number, const char *text, int len)
{
    FILE *file = fopen(path, "r+e");
    if (!file)
        broken("the changed database is gone");
    fseek(file, 0, SEEK_END);
    long end = ftell(file);
    if (end > 0) {
        fseek(file, (long)((uint64_t)number % (uint64_t)end), SEEK_SET);
        fwrite(text, 1, (size_t)len, file);
    }
    fclose(file);
}

static sqlite3 *open_changed(const char *path)
{
    sqlite3 *db;
    if (sqlite3_open(path, &db) != SQLITE_OK)
        broken("the changed database cannot be opened");
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_exec(db,
                 "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF;"
                 "PRAGMA ignore_check_constraints = ON",
                 NULL, NULL, NULL);
    return db;
}

// All changes of values, or (`raw`) all of bytes, which come last, since SQLite would notice them.
static void change_all(const char *path, const uint8_t *bytes, size_t size, bool raw)
{
    sqlite3 *db = raw ? NULL : open_changed(path);
    for (size_t at = 0; at + CHANGE_BYTES <= size;) {
        const uint8_t *change = bytes + at;
        size_t len = change[CHANGE_LENGTH], left = size - at - CHANGE_BYTES;
        int64_t number = 0;
        memcpy(&number, change + CHANGE_NUMBER, 4);
        if (change[CHANGE_KIND] & 0x80)
            number = (int64_t)((uint64_t)number << 32);
        if (len > left)
            len = left;
        const char *text = (const char *)change + CHANGE_BYTES;
        bool is_raw = change[CHANGE_KIND] % KIND_COUNT == KIND_RAW;
        if (is_raw && raw)
            change_raw(path, number, text, (int)len);
        else if (!is_raw && !raw)
            change_value(db, change, number, text, (int)len);
        at += CHANGE_BYTES + len;
    }
    if (db)
        sqlite3_close(db);
}

void fuzz_merge(const uint8_t *bytes, size_t size)
{
    struct store_merged merged = {0};
    struct err err = {0};
    const char *changed = place()->changed;
    copy_file(place()->sound, changed);
    change_all(changed, bytes, size, false);
    change_all(changed, bytes, size, true);
    struct store *store = open_target();
    int result = merge_runs(store, changed, "fuzz", &merged, &err);
    if (size < CHANGE_BYTES)
        fuzz_check(result == 1, "a sound run is merged");
    check_merged(store, result, &merged, size, &err);
    store_close(store);
}
