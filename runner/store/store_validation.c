// SPDX-License-Identifier: MIT
// Stores how well the ports of a run predict random mixes; see store_validation.h.
#include "store_validation.h"
#include "store_internal.h"

static int store_put_validation_rows(struct store *store, int64_t id,
                                     const struct validation *validation, struct err *err)
{
    for (int i = 0; i < validation->nclasses; i++) {
        const struct validation_class *class = &validation->classes[i];
        if (store_execute(store, err,
                          "INSERT INTO validation_class (validation_id, class, mixes, "
                          "mape_percent, within_10_percent) VALUES (?, ?, ?, ?, ?)",
                          "isidd", id, class->name, class->mixes, store_finite(class->mape_percent),
                          store_finite(class->within_10_percent)) != 0)
            return -1;
    }
    for (int i = 0; i < validation->nworst; i++) {
        const struct validation_mix *mix = &validation->worst[i];
        if (store_execute(store, err,
                          "INSERT INTO validation_mix (validation_id, position, mix, "
                          "measured_clk, predicted_clk) VALUES (?, ?, ?, ?, ?)",
                          "iisdd", id, (int64_t)i, mix->text, mix->measured_clk,
                          mix->predicted_clk) != 0)
            return -1;
    }
    return 0;
}

int store_put_validation(struct store *store, int64_t run_id, const struct validation *validation,
                         struct err *err)
{
    bool own;
    char now[32];
    store_now_utc(now);
    if (store_unit_begin(store, &own, err) != 0)
        return -1;
    int result =
        store_execute(store, err,
                      "INSERT INTO validation (run_id, seed, mixes, mape_percent, kendall_tau, "
                      "within_10_percent, recorded_utc) VALUES (?, ?, ?, ?, ?, ?, ?)",
                      "iiiddds", run_id, validation->seed, validation->mixes,
                      store_finite(validation->mape_percent), store_finite(validation->kendall_tau),
                      store_finite(validation->within_10_percent), now);
    if (result == 0)
        result =
            store_put_validation_rows(store, sqlite3_last_insert_rowid(store->db), validation, err);
    return store_unit_end(store, own, result, err);
}

static int store_get_validation_classes(struct store *store, int64_t id,
                                        struct validation *validation, struct arena *arena,
                                        struct err *err)
{
    int64_t count = 0;
    if (store_get_int(store, err, &count,
                      "SELECT count(*) FROM validation_class WHERE validation_id = ?1", "i",
                      id) < 0)
        return -1;
    struct validation_class *classes = arena_alloc(arena, ((size_t)count + 1) * sizeof *classes);
    sqlite3_stmt *stmt = store_bind(store, err,
                                    "SELECT class, mixes, mape_percent, within_10_percent "
                                    "FROM validation_class WHERE validation_id = ?1 ORDER BY class",
                                    "i", id);
    if (!stmt)
        return -1;
    int got;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW && validation->nclasses < count)
        classes[validation->nclasses++] = (struct validation_class){
            store_column_text(stmt, 0, arena), sqlite3_column_int64(stmt, 1),
            store_column_real(stmt, 2), store_column_real(stmt, 3)};
    validation->classes = classes;
    return store_rows_end(store, stmt, got == SQLITE_ROW ? SQLITE_DONE : got, err);
}

static int store_get_validation_mixes(struct store *store, int64_t id,
                                      struct validation *validation, struct arena *arena,
                                      struct err *err)
{
    int64_t count = 0;
    if (store_get_int(store, err, &count,
                      "SELECT count(*) FROM validation_mix WHERE validation_id = ?1", "i", id) < 0)
        return -1;
    struct validation_mix *mixes = arena_alloc(arena, ((size_t)count + 1) * sizeof *mixes);
    sqlite3_stmt *stmt = store_bind(store, err,
                                    "SELECT mix, measured_clk, predicted_clk FROM validation_mix "
                                    "WHERE validation_id = ?1 ORDER BY position",
                                    "i", id);
    if (!stmt)
        return -1;
    int got;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW && validation->nworst < count)
        mixes[validation->nworst++] =
            (struct validation_mix){store_column_text(stmt, 0, arena), store_column_real(stmt, 1),
                                    store_column_real(stmt, 2)};
    validation->worst = mixes;
    return store_rows_end(store, stmt, got == SQLITE_ROW ? SQLITE_DONE : got, err);
}

int store_get_validation(struct store *store, int64_t run_id, struct validation *validation,
                         struct arena *arena, struct err *err)
{
    *validation = (struct validation){.seed = 0};
    sqlite3_stmt *stmt = store_bind(store, err,
                                    "SELECT validation_id, seed, mixes, mape_percent, kendall_tau, "
                                    "within_10_percent FROM validation WHERE run_id = ?1 "
                                    "ORDER BY validation_id DESC LIMIT 1",
                                    "i", run_id);
    if (!stmt)
        return -1;
    int64_t id = 0;
    int got = sqlite3_step(stmt);
    if (got == SQLITE_ROW) {
        id = sqlite3_column_int64(stmt, 0);
        validation->seed = sqlite3_column_int64(stmt, 1);
        validation->mixes = sqlite3_column_int64(stmt, 2);
        validation->mape_percent = store_column_real(stmt, 3);
        validation->kendall_tau = store_column_real(stmt, 4);
        validation->within_10_percent = store_column_real(stmt, 5);
    }
    if (store_rows_end(store, stmt, got == SQLITE_ROW ? SQLITE_DONE : got, err) != 0)
        return -1;
    if (got != SQLITE_ROW)
        return 0;
    if (store_get_validation_classes(store, id, validation, arena, err) != 0 ||
        store_get_validation_mixes(store, id, validation, arena, err) != 0)
        return -1;
    return 1;
}
