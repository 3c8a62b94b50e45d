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

// Words of an enumeration, and its value for any other word.
static const struct field_words {
    const char *(*name)(unsigned value);
    unsigned n, unknown;
} field_words[] = {
    [WORDS_OUTCOME] = {outcome_name,            OUTCOME_COUNT,            OUTCOME_SKIPPED   },
    [WORDS_TEST] = {test_kind_name,          TEST_PORTS,               TEST_THROUGHPUT   },
    [WORDS_BOUND] = {bound_name,              BOUND_UPPER + 1,          BOUND_EXACT       },
    [WORDS_HOLDS] = {port_holds_name,         PORT_WIDE_FORMS + 1,      PORT_ALWAYS       },
    [WORDS_WAY] = {port_way_name,           PORT_WAYS,                PORT_WAY_SEARCH   },
    [WORDS_CONCLUSION] = {conclusion_outcome_name, CONCLUSION_OUTCOME_COUNT, CONCLUSION_TOO_FEW},
};

const char *store_field_name(const struct store_field *field)
{
    const char *name = field->column ? field->column : field->member, *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

int64_t store_field_integer(const struct store_field *field, const void *row)
{
    const void *at = (const char *)row + field->offset;
    switch (field->kind) {
    case FIELD_INT:
        return *(const int *)at;
    case FIELD_UINT32:
        return *(const uint32_t *)at;
    case FIELD_BOOL:
        return *(const bool *)at;
    default:
        assert(field->kind == FIELD_INT64);
        return *(const int64_t *)at;
    }
}

double store_field_real(const struct store_field *field, const void *row)
{
    return *(const double *)(const void *)((const char *)row + field->offset);
}

const char *store_field_text(const struct store_field *field, const void *row)
{
    if (field->words)
        return field_words[field->words].name((unsigned)store_field_integer(field, row));
    const char *at = (const char *)row + field->offset;
    return field->kind == FIELD_NAME ? at : *(const char *const *)(const void *)at;
}

// Binds the value of a field. `ok`: that of the record's outcome.
static int field_bind(sqlite3_stmt *stmt, int at, const struct store_field *field, const void *row,
                      bool ok)
{
    if (field->words || field->kind == FIELD_TEXT || field->kind == FIELD_NAME) {
        const char *text = store_field_text(field, row);
        return sqlite3_bind_text(stmt, at, text || field->null ? text : "", -1, SQLITE_STATIC);
    }
    if (field->kind == FIELD_BLOB) {
        struct store_blob blob;
        memcpy(&blob, (const char *)row + field->offset, sizeof blob);
        return sqlite3_bind_blob64(stmt, at, blob.bytes, (sqlite3_uint64)blob.n, SQLITE_STATIC);
    }
    if (field->kind == FIELD_REAL) {
        double value = store_field_real(field, row);
        bool none = !isfinite(value) || (field->if_ok && !ok) ||
                    (field->null && fabs(value - field->none) <= 0);
        return none ? sqlite3_bind_null(stmt, at) : sqlite3_bind_double(stmt, at, value);
    }
    int64_t value = store_field_integer(field, row);
    bool none = (field->null && value == field->none) || (field->if_ok && !ok);
    return none ? sqlite3_bind_null(stmt, at) : sqlite3_bind_int64(stmt, at, value);
}

static uint32_t field_word_value(const struct store_field *field, const char *word)
{
    const struct field_words *words = &field_words[field->words];
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
    snprintf(to, field->size, "%s", strbuf_text(&shown));
    strbuf_free(&shown);
}

// Reads a column into the field of a row.
static void field_read(const struct store_field *field, sqlite3_stmt *stmt, int column, void *row,
                       struct arena *arena)
{
    void *to = (char *)row + field->offset;
    bool none = field->null && sqlite3_column_type(stmt, column) == SQLITE_NULL;
    int64_t value = none ? field->none : sqlite3_column_int64(stmt, column);
    switch (field->kind) {
    case FIELD_INT:
        *(int *)to = (int)value;
        break;
    case FIELD_INT64:
        *(int64_t *)to = value;
        break;
    case FIELD_UINT32:
        *(uint32_t *)to =
            field->words ? field_word_value(field, store_text(stmt, column)) : (uint32_t)value;
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
    case FIELD_BLOB:
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
    for (int i = 0; i < record->nfields; i++)
        if (!record->fields[i].only_read) {
            strbuf_printf(sql, ", %s", store_field_name(&record->fields[i]));
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
    for (int i = 0; i < record->nfields; i++)
        strbuf_printf(sql, ", %s",
                      record->fields[i].column ? record->fields[i].column
                                               : store_field_name(&record->fields[i]));
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
    for (int i = 0; i < record->nfields; i++)
        if (record->fields[i].words == WORDS_OUTCOME)
            ok = store_field_integer(&record->fields[i], row) == OUTCOME_OK;
    for (int i = 0; i < record->nfields && got == SQLITE_OK; i++)
        if (!record->fields[i].only_read)
            got = field_bind(stmt, ++at, &record->fields[i], row, ok);
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
                               (const char *)rows + (size_t)i * record->bytes, err);
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
        rows = xgrow(rows, &capacity, n + 1, record->bytes);
        ids = xgrow(ids, &ids_capacity, n + 1, sizeof *ids);
        char *row = memset(rows + n * record->bytes, 0, record->bytes);
        ids[n++] = sqlite3_column_int64(stmt, 0);
        for (int i = 0; i < record->nfields; i++)
            field_read(&record->fields[i], stmt, i + 1, row, arena);
    }
    list->rows = arena_alloc(arena, (n + 1) * record->bytes);
    list->ids = arena_alloc(arena, (n + 1) * sizeof *ids);
    list->n = (int)n;
    if (n > 0) {
        memcpy(list->rows, rows, n * record->bytes);
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
        memcpy(row, list.rows, record->bytes);
    arena_free(&arena);
    return result;
}
