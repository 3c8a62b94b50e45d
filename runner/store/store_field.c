// SPDX-License-Identifier: MIT
// Stores and reads records by their tables of fields; see store_field.h.
#include "store_field.h"

#include "conclude/conclude.h"
#include "plan/plan.h"
#include "store_internal.h"
#include "util/text.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct field_words words_outcome = {outcome_name, OUTCOME_COUNT, OUTCOME_SKIPPED, NULL},
                         words_test = {test_kind_name, TEST_PORTS, TEST_THROUGHPUT, NULL},
                         words_bound = {bound_name, BOUND_UPPER + 1, BOUND_EXACT, NULL},
                         words_holds = {port_holds_name, PORT_WIDE_FORMS + 1, PORT_ALWAYS, NULL},
                         words_way = {port_way_name, PORT_WAYS, PORT_WAY_SEARCH, NULL},
                         words_conclusion = {conclusion_outcome_name, CONCLUSION_OUTCOME_COUNT,
                                             CONCLUSION_TOO_FEW, NULL};

static const struct store_field *store_field_at(const struct store_record *record, int i)
{
    return (const struct store_field *)record->of.fields + i;
}

// Returns the name of a field, which is its column's.
static const char *store_field_name(const struct store_field *field)
{
    const char *dot = field->column ? strrchr(field->column, '.') : NULL;
    return dot ? dot + 1 : field->column ? field->column : field_name(&field->out.at);
}

// Binds the value of a field. `ok`: the record's outcome is.
static int field_bind(sqlite3_stmt *stmt, int at, const struct store_field *field, const void *row,
                      bool ok)
{
    const struct field_place *place = &field->out.at;
    if (field->out.words || place->kind == FIELD_TEXT || place->kind == FIELD_NAME) {
        const char *text = field_text(place, field->out.words, row);
        return sqlite3_bind_text(stmt, at, text || field->null ? text : "", -1, SQLITE_STATIC);
    }
    if (place->kind == FIELD_BLOB) {
        struct field_blob blob;
        memcpy(&blob, (const char *)row + place->offset, sizeof blob);
        return sqlite3_bind_blob64(stmt, at, blob.bytes, (sqlite3_uint64)blob.n, SQLITE_STATIC);
    }
    if (place->kind == FIELD_REAL) {
        double value = field_real(place, row);
        bool none = !isfinite(value) || (field->if_ok && !ok) ||
                    (field->null && fabs(value - field->none) <= 0);
        return none ? sqlite3_bind_null(stmt, at) : sqlite3_bind_double(stmt, at, value);
    }
    int64_t value = field_integer(place, row);
    bool none = (field->null && value == field->none) || (field->if_ok && !ok);
    return none ? sqlite3_bind_null(stmt, at) : sqlite3_bind_int64(stmt, at, value);
}

static uint32_t field_word_value(const struct store_field *field, const char *word)
{
    const struct field_words *words = field->out.words;
    for (unsigned value = 0; value < words->n; value++)
        if (strcmp(words->name(value), word) == 0)
            return value;
    return words->unknown;
}

static void field_read_name(const struct store_field *field, sqlite3_stmt *stmt, int column,
                            void *to)
{
    struct strbuf shown = {0};
    text_put_escaped(&shown, store_text(stmt, column));
    snprintf(to, field->out.at.size, "%s", strbuf_text(&shown));
    strbuf_free(&shown);
}

// Reads a column into the field of a row.
static void field_read(const struct store_field *field, sqlite3_stmt *stmt, int column, void *row,
                       struct arena *arena)
{
    void *to = (char *)row + field->out.at.offset;
    bool none = field->null && sqlite3_column_type(stmt, column) == SQLITE_NULL;
    int64_t value = none ? field->none : sqlite3_column_int64(stmt, column);
    switch (field->out.at.kind) {
    case FIELD_INT:
        *(int *)to = (int)value;
        break;
    case FIELD_INT64:
        *(int64_t *)to = value;
        break;
    case FIELD_UINT32:
        *(uint32_t *)to =
            field->out.words ? field_word_value(field, store_text(stmt, column)) : (uint32_t)value;
        break;
    case FIELD_BOOL:
        *(bool *)to = value != 0;
        break;
    case FIELD_REAL:
        *(double *)to = none ? field->none
                        : sqlite3_column_type(stmt, column) == SQLITE_NULL
                            ? (double)NAN
                            : sqlite3_column_double(stmt, column);
        break;
    case FIELD_NAME:
        field_read_name(field, stmt, column, to);
        break;
    case FIELD_TEXT:
        *(const char **)to = store_column_text(stmt, column, arena);
        break;
    default:
        assert(false && "machine code is read by views only");
    }
}

// Makes the statement that stores a row: its keys are the first parameters.
static void record_put_sql(const struct store_record *record, struct strbuf *sql)
{
    struct strbuf marks = {0};
    strbuf_printf(sql, "INSERT INTO %s (%s", record->table, record->keys);
    for (const char *at = record->keys; at; at = strchr(at + 1, ','))
        strbuf_puts(&marks, at == record->keys ? "?" : ", ?");
    for (int i = 0; i < record->of.nfields; i++)
        if (!store_field_at(record, i)->only_read) {
            strbuf_printf(sql, ", %s", store_field_name(store_field_at(record, i)));
            strbuf_puts(&marks, ", ?");
        }
    strbuf_printf(sql, ") VALUES (%s)", strbuf_text(&marks));
    strbuf_free(&marks);
}

// Makes the statement that reads the rows of ?1: the number of each, then its fields.
static void record_get_sql(const struct store_record *record, struct strbuf *sql)
{
    const char *last = strrchr(record->keys, ',');
    strbuf_printf(sql, "SELECT %s", record->id ? record->id : "0");
    for (int i = 0; i < record->of.nfields; i++)
        strbuf_printf(sql, ", %s",
                      store_field_at(record, i)->column
                          ? store_field_at(record, i)->column
                          : store_field_name(store_field_at(record, i)));
    if (record->from)
        strbuf_printf(sql, " FROM %s", record->from);
    else
        strbuf_printf(sql, " FROM %s WHERE %.*s = ?1 ORDER BY %s", record->table,
                      (int)strcspn(record->keys, ","), record->keys, last ? last + 1 : record->id);
}

static sqlite3_stmt *record_statement(struct store *store, const struct store_record *record,
                                      bool put, struct err *err)
{
    const void *key = put ? (const void *)&record->table : (const void *)&record->keys;
    sqlite3_stmt *stmt = store_prepared(store, key);
    if (stmt)
        return stmt;
    struct strbuf sql = {0};
    (put ? record_put_sql : record_get_sql)(record, &sql);
    stmt = store_prepare_as(store, err, key, strbuf_text(&sql));
    strbuf_free(&sql);
    return stmt;
}

int store_put_row(struct store *store, const struct store_record *record, const int64_t *keys,
                  const void *row, struct err *err)
{
    sqlite3_stmt *stmt = record_statement(store, record, true, err);
    bool ok = true;
    int at = strchr(record->keys, ',') ? 2 : 1;
    if (!stmt)
        return -1;
    int got = sqlite3_bind_int64(stmt, 1, keys[0]);
    if (at == 2 && got == SQLITE_OK)
        got = sqlite3_bind_int64(stmt, 2, keys[1]);
    for (int i = 0; i < record->of.nfields; i++)
        if (store_field_at(record, i)->out.words == &words_outcome)
            ok = field_integer(&store_field_at(record, i)->out.at, row) == OUTCOME_OK;
    for (int i = 0; i < record->of.nfields && got == SQLITE_OK; i++)
        if (!store_field_at(record, i)->only_read)
            got = field_bind(stmt, ++at, store_field_at(record, i), row, ok);
    if (got == SQLITE_OK)
        got = sqlite3_step(stmt);
    int result = got == SQLITE_DONE ? 0 : store_error(store, err, "write");
    sqlite3_reset(stmt);
    return result;
}

int store_put_rows(struct store *store, const struct store_record *record, int64_t of,
                   const void *rows, int n, struct err *err)
{
    int result = 0;
    for (int i = 0; i < n && result == 0; i++)
        result = store_put_row(store, record, (const int64_t[]){of, i},
                               (const char *)rows + (size_t)i * record->of.bytes, err);
    return result;
}

int store_get_rows(struct store *store, const struct store_record *record, int64_t of,
                   struct arena *arena, struct store_list *list, struct err *err)
{
    sqlite3_stmt *stmt = record_statement(store, record, false, err);
    size_t capacity = 0, ids_capacity = 0, n = 0;
    char *rows = NULL;
    int64_t *ids = NULL;
    int got;
    *list = (struct store_list){.n = 0};
    if (!stmt)
        return -1;
    sqlite3_bind_int64(stmt, 1, of); // cannot fail: each statement has ?1
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW) {
        rows = xgrow(rows, &capacity, n + 1, record->of.bytes);
        ids = xgrow(ids, &ids_capacity, n + 1, sizeof *ids);
        char *row = memset(rows + n * record->of.bytes, 0, record->of.bytes);
        ids[n++] = sqlite3_column_int64(stmt, 0);
        for (int i = 0; i < record->of.nfields; i++)
            field_read(store_field_at(record, i), stmt, i + 1, row, arena);
    }
    list->rows = arena_alloc(arena, (n + 1) * record->of.bytes);
    list->ids = arena_alloc(arena, (n + 1) * sizeof *ids);
    list->n = (int)n;
    if (n > 0) {
        memcpy(list->rows, rows, n * record->of.bytes);
        memcpy(list->ids, ids, n * sizeof *ids);
    }
    free(rows);
    free(ids);
    return store_rows_end(store, stmt, got, err);
}

int store_get_row(struct store *store, const struct store_record *record, int64_t of, void *row,
                  struct err *err)
{
    struct arena arena = {0};
    struct store_list list;
    int result = store_get_rows(store, record, of, &arena, &list, err) == 0 ? list.n > 0 : -1;
    if (result > 0)
        memcpy(row, list.rows, record->of.bytes);
    arena_free(&arena);
    return result;
}
