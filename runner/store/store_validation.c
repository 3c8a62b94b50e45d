// SPDX-License-Identifier: MIT
// Stores how well the ports of a run predict random mixes; see store_validation.h.
#include "store_validation.h"
#include "store_internal.h"

#include <string.h>

#define CLASS(...) STORE_FIELD(struct validation_class, __VA_ARGS__)
static const struct store_field class_fields[] = {
    CLASS(name, .column = "class", .out.look.name = "class"), CLASS(mixes), CLASS(mape_percent),
    CLASS(within_10_percent)};
const struct store_record store_validation_class = {
    "validation_class", "validation_id", STORE_FIELDS(struct validation_class, class_fields),
    .id = "class"};

#define MIX(...) STORE_FIELD(struct validation_mix, __VA_ARGS__)
static const struct store_field mix_fields[] = {MIX(text, .column = "mix", .out.look.name = "mix"),
                                                MIX(measured_clk), MIX(predicted_clk)};
const struct store_record store_validation_mix = {"validation_mix", "validation_id, position",
                                                  STORE_FIELDS(struct validation_mix, mix_fields)};

struct validation_row {
    struct validation of;
    const char *recorded_utc;
};
#define ROW(...) STORE_FIELD(struct validation_row, __VA_ARGS__)
static const struct store_field row_fields[] = {
    ROW(of.seed),        ROW(of.mixes),     ROW(of.mape_percent),         ROW(of.within_10_percent),
    ROW(of.kendall_tau), ROW(recorded_utc), ROW(of.layouts, .null = true)};
static const struct store_record row = {
    "validation", "run_id", STORE_FIELDS(struct validation_row, row_fields), .id = "validation_id"};

static int put_validation(struct store *store, int64_t run_id, const struct validation *validation,
                          struct err *err)
{
    char now[32];
    store_now_utc(now);
    const struct validation_row stored = {*validation, now};
    if (store_put_row(store, &row, &run_id, &stored, err) != 0)
        return -1;
    int64_t id = sqlite3_last_insert_rowid(store->db);
    for (int i = 0; i < validation->nclasses; i++)
        if (store_put_row(store, &store_validation_class, &id, &validation->classes[i], err) != 0)
            return -1;
    return store_put_rows(store, &store_validation_mix, id, validation->worst, validation->nworst,
                          err);
}

int store_put_validation(struct store *store, int64_t run_id, const struct validation *validation,
                         struct err *err)
{
    bool own;
    if (store_unit_begin(store, &own, err) != 0)
        return -1;
    return store_unit_end(store, own, put_validation(store, run_id, validation, err), err);
}

size_t store_validation_bytes(const char *text)
{
    enum { NUMBERS = 24 }; // what SQLite takes for a row's numbers
    return strlen(text) + NUMBERS;
}

static int get_parts(struct store *store, int64_t id, struct validation *validation,
                     struct arena *arena, struct err *err)
{
    struct store_list classes, worst;
    if (store_get_rows(store, &store_validation_class, id, arena, &classes, err) != 0 ||
        store_get_rows(store, &store_validation_mix, id, arena, &worst, err) != 0)
        return -1;
    validation->classes = classes.rows;
    validation->nclasses = classes.n;
    validation->worst = worst.rows;
    validation->nworst = worst.n;
    return 1;
}

int store_get_validation(struct store *store, int64_t run_id, struct validation *validation,
                         struct arena *arena, struct err *err)
{
    struct store_list rows;
    *validation = (struct validation){.seed = 0};
    if (store_get_rows(store, &row, run_id, arena, &rows, err) != 0)
        return -1;
    if (rows.n == 0)
        return 0;
    *validation = ((struct validation_row *)rows.rows)[rows.n - 1].of;
    return get_parts(store, rows.ids[rows.n - 1], validation, arena, err);
}

int store_get_validated_mixes(struct store *store, int64_t run_id, int layouts,
                              struct validation *validation, struct arena *arena, struct err *err)
{
    struct store_list rows;
    int found = 0;
    *validation = (struct validation){.seed = 0};
    if (store_get_rows(store, &row, run_id, arena, &rows, err) != 0)
        return -1;
    for (int i = 0; i < rows.n; i++) {
        struct validation one = ((struct validation_row *)rows.rows)[i].of;
        if (one.layouts < layouts || one.mixes < validation->mixes)
            continue;
        if (get_parts(store, rows.ids[i], &one, arena, err) < 0)
            return -1;
        if (one.mixes != one.nworst || one.mixes == 0)
            continue;
        *validation = one;
        found = 1;
    }
    return found;
}
