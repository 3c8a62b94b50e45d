// SPDX-License-Identifier: MIT
// Limits the size of foreign properties; see merge_internal.h. They are counted before they are
// read: the work of drawing conclusions grows faster than the number of points.
#include "merge_internal.h"

#include "conclude/conclude_question.h"

#include <inttypes.h>

enum { PROPERTIES_MAX = 4096 }; // per run: sixty times all that exist

// Limits of a property, in the order of the columns of the query.
static const struct {
    const char *what;
    int64_t most;
} sizes[] = {
    {"variants of",            CONCLUDE_CURVES_MAX},
    {"points of",              CONCLUDE_POINTS_MAX},
    {"curves of",              CONCLUDE_CURVES_MAX},
    {"points in one curve of", CONCLUDE_CURVE_MAX },
};

// Returns the most points of a curve for this reading; an unknown reading is refused later.
static int64_t curve_most(const char *reading)
{
    struct conclude_question question;
    struct arena arena = {0};
    struct err ignored;
    const char *at;
    bool known = conclude_question_read(reading, &question, &arena, &at, &ignored) == 0;
    arena_free(&arena);
    return known ? conclude_points_max(question.reading) : CONCLUDE_CURVE_MAX;
}

static int check_size(struct store *store, sqlite3_stmt *stmt, struct err *err)
{
    const char *reading = store_text(stmt, 1);
    for (int i = 0; i < (int)ARRAY_LEN(sizes); i++) {
        bool of_curve = i == (int)ARRAY_LEN(sizes) - 1;
        int64_t n = sqlite3_column_int64(stmt, 2 + i);
        int64_t most = of_curve ? curve_most(reading) : sizes[i].most;
        if (n > most)
            return err_set(err,
                           "%s: there are %" PRId64 " %s the property %s, and there may be %" PRId64
                           "; sweep it in larger steps",
                           store->path, n, sizes[i].what, store_text(stmt, 0), most);
    }
    return 0;
}

// Two runs are compared property by property.
static int check_number(struct store *store, struct err *err)
{
    sqlite3_stmt *stmt =
        store_bind(store, err, "SELECT count(*) FROM property GROUP BY run_id HAVING count(*) > ?",
                   "i", (int64_t)PROPERTIES_MAX);
    if (!stmt)
        return -1;
    int got = sqlite3_step(stmt);
    if (got != SQLITE_ROW)
        return store_rows_end(store, stmt, got, err);
    err_set(err, "%s: there are %lld properties in a run, and there may be %d", store->path,
            (long long)sqlite3_column_int64(stmt, 0), PROPERTIES_MAX);
    sqlite3_reset(stmt);
    return -1;
}

int merge_check_properties(struct store *store, struct err *err)
{
    if (check_number(store, err) != 0)
        return -1;
    sqlite3_stmt *stmt = store_bind(
        store, err,
        "SELECT name, reading, (SELECT count(*) FROM property_variant AS variant WHERE "
        "variant.property_id = property.property_id), total(n), count(n), coalesce(max(n), 0) "
        "FROM property LEFT JOIN (SELECT property_id AS of_id, count(*) AS n FROM property_variant "
        "JOIN sweep_point USING (variant_id) GROUP BY variant_id, by_x) ON of_id = property_id "
        "GROUP BY property_id",
        "");
    if (!stmt)
        return -1;
    int got, result = 0;
    while (result == 0 && (got = sqlite3_step(stmt)) == SQLITE_ROW)
        result = check_size(store, stmt, err);
    if (result == 0)
        return store_rows_end(store, stmt, got, err);
    sqlite3_reset(stmt);
    return result;
}
