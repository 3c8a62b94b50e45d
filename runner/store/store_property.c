// SPDX-License-Identifier: MIT
// Stores properties; see store_property.h.
#include "store_property.h"

#include "store_internal.h"

#include <math.h>
#include <string.h>

static int put_timing(struct store *store, int64_t point_id, const struct timing *timing,
                      struct err *err)
{
    if (store_execute(store, err,
                      "INSERT INTO sweep_timing (point_id, pass, iterations, copies, calib_clk, "
                      "overhead_tsc, accepted, tried) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                      "iiiiddii", point_id, (int64_t)timing->pass, (int64_t)timing->iterations,
                      (int64_t)timing->copies, timing->calib_clk, timing->overhead_tsc,
                      (int64_t)timing->accepted, (int64_t)timing->tried) != 0)
        return -1;
    int64_t timing_id = sqlite3_last_insert_rowid(store->db);
    for (int i = 0; i < timing->nsamples; i++) {
        const struct sample *sample = &timing->samples[i];
        if (store_execute(store, err, "INSERT INTO sweep_sample VALUES (?, ?, ?, ?, ?, ?)",
                          "iiiiii", timing_id, (int64_t)i, (int64_t)sample->kernel_tsc,
                          (int64_t)sample->before_tsc, (int64_t)sample->after_tsc,
                          (int64_t)sample->canary_tsc) != 0)
            return -1;
    }
    return 0;
}

static int put_value(struct store *store, int64_t point_id, const struct swept_point *point,
                     struct err *err)
{
    if (!isfinite(point->y) || point->samples < 1)
        return 0;
    return store_execute(store, err,
                         "INSERT INTO sweep_value (point_id, y, samples) VALUES (?, ?, ?)", "idi",
                         point_id, point->y, (int64_t)point->samples);
}

static int put_point(struct store *store, int64_t variant_id, int position,
                     const struct swept_point *point, struct err *err)
{
    if (store_execute(store, err,
                      "INSERT INTO sweep_point (variant_id, position, x, by_x, instances, outcome, "
                      "detail) VALUES (?, ?, ?, ?, ?, ?, ?)",
                      "iiddiss", variant_id, (int64_t)position, point->x, point->by,
                      point->instances, outcome_name(point->outcome), point->detail) != 0)
        return -1;
    int64_t point_id = sqlite3_last_insert_rowid(store->db);
    for (int i = 0; i < point->ntimings; i++)
        if (put_timing(store, point_id, &point->timings[i], err) != 0)
            return -1;
    return put_value(store, point_id, point, err);
}

static int put_variants(struct store *store, int64_t id, const struct swept_property *property,
                        struct err *err)
{
    for (int v = 0; v < property->nvariants; v++) {
        const struct swept_variant *variant = &property->variants[v];
        if (store_execute(store, err,
                          "INSERT INTO property_variant (property_id, position, name, outcome, "
                          "detail) VALUES (?, ?, ?, ?, ?)",
                          "iisss", id, (int64_t)v, variant->name, outcome_name(variant->outcome),
                          variant->detail) != 0)
            return -1;
        int64_t variant_id = sqlite3_last_insert_rowid(store->db);
        for (int i = 0; i < property->npoints; i++)
            if (property->points[i].variant == v &&
                put_point(store, variant_id, i, &property->points[i], err) != 0)
                return -1;
    }
    return 0;
}

static int put_conclusion(struct store *store, int64_t id, int position,
                          const struct conclusion *conclusion, struct err *err)
{
    if (store_execute(store, err,
                      "INSERT INTO conclusion (property_id, position, variant, outcome, "
                      "confidence, sentence) VALUES (?, ?, ?, ?, ?, ?)",
                      "iissds", id, (int64_t)position, conclusion->variant,
                      conclusion_outcome_name(conclusion->outcome), conclusion->confidence,
                      conclusion->sentence) != 0)
        return -1;
    int64_t conclusion_id = sqlite3_last_insert_rowid(store->db);
    for (int i = 0; i < conclusion->nvalues; i++) {
        const struct conclusion_value *value = &conclusion->values[i];
        if (store_execute(store, err,
                          "INSERT INTO conclusion_value (conclusion_id, position, label, value, "
                          "low, high, unit) VALUES (?, ?, ?, ?, ?, ?, ?)",
                          "iisddds", conclusion_id, (int64_t)i, value->label,
                          store_finite(value->value), store_finite(value->low),
                          store_finite(value->high), value->unit) != 0)
            return -1;
    }
    return 0;
}

static int put_conclusions(struct store *store, int64_t id, const struct swept_property *property,
                           struct err *err)
{
    for (int i = 0; i < property->nconclusions; i++)
        if (put_conclusion(store, id, i, &property->conclusions[i], err) != 0)
            return -1;
    return 0;
}

static int put_property(struct store *store, int64_t run_id, struct swept_property *property,
                        struct err *err)
{
    int64_t position = 0;
    if (store_get_int(store, err, &position, "SELECT count(*) FROM property WHERE run_id = ?1", "i",
                      run_id) < 0)
        return -1;
    property->position = (int)position;
    if (store_execute(
            store, err,
            "INSERT INTO property (run_id, position, grp, name, title, question, x_unit, by_unit, "
            "y_unit, reading, compare, definition, tsc_hz, area_bytes, area_huge_bytes, seconds, "
            "outcome, detail, vm) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            "iissssssssssdiidsss", run_id, position, property->grp, property->name, property->title,
            property->question, property->x_unit, property->by_unit, property->y_unit,
            property->reading, property->compare, property->definition, property->tsc_hz,
            property->area_bytes, property->area_huge_bytes, property->seconds,
            outcome_name(property->outcome), property->detail, property->vm) != 0)
        return -1;
    int64_t id = sqlite3_last_insert_rowid(store->db);
    if (put_variants(store, id, property, err) != 0)
        return -1;
    return put_conclusions(store, id, property, err);
}

int store_put_property(struct store *store, int64_t run_id, struct swept_property *property,
                       struct err *err)
{
    bool own;
    if (store_unit_begin(store, &own, err) != 0)
        return -1;
    return store_unit_end(store, own, put_property(store, run_id, property, err), err);
}

int store_has_property(struct store *store, int64_t run_id, const char *name, struct err *err)
{
    int64_t n = 0;
    if (store_get_int(store, err, &n,
                      "SELECT count(*) FROM property WHERE run_id = ?1 AND name = ?2", "is", run_id,
                      name) < 0)
        return -1;
    return n > 0;
}

int store_newest_properties(struct store *store, const char *uarch, int64_t *run_id,
                            struct err *err)
{
    return store_get_int(store, err, run_id,
                         "SELECT run.run_id FROM property JOIN run USING (run_id) "
                         "JOIN run_key USING (run_id) WHERE ?1 = '' OR run_key.uarch = ?1 "
                         "ORDER BY " STORE_RUN_IS_OWN
                         " DESC, run.started_utc DESC, run.run_id DESC LIMIT 1",
                         "s", uarch ? uarch : "");
}

// Replaces the conclusions of a property.
static int conclude_anew(struct store *store, const struct swept_property *property,
                         struct err *err)
{
    static const char *const takes[] = {
        "DELETE FROM conclusion_value WHERE conclusion_id IN "
        "(SELECT conclusion_id FROM conclusion WHERE property_id = ?1)",
        "DELETE FROM conclusion WHERE property_id = ?1",
        "DELETE FROM sweep_value WHERE point_id IN (SELECT point_id FROM sweep_point "
        "JOIN property_variant USING (variant_id) WHERE property_id = ?1)"};
    for (size_t i = 0; i < ARRAY_LEN(takes); i++)
        if (store_execute(store, err, takes[i], "i", property->property_id) != 0)
            return -1;
    for (int i = 0; i < property->npoints; i++)
        if (put_value(store, property->points[i].point_id, &property->points[i], err) != 0)
            return -1;
    return put_conclusions(store, property->property_id, property, err);
}

// Returns true if two lists of conclusions are the same.
static bool same_conclusions(const struct conclusion *a, int na, const struct conclusion *b, int nb)
{
    bool same = na == nb;
    for (int i = 0; i < na && same; i++)
        same = a[i].outcome == b[i].outcome && strcmp(a[i].variant, b[i].variant) == 0 &&
               strcmp(a[i].sentence, b[i].sentence) == 0;
    return same;
}

// Returns true if the property was measured, and is kept without its samples.
static bool is_bare(const struct swept_property *property)
{
    bool measured = false;
    for (int i = 0; i < property->npoints; i++) {
        measured |= property->points[i].samples > 0;
        if (property->points[i].ntimings)
            return false;
    }
    return measured;
}

static int rederive_run(struct store *store, int64_t run_id, int64_t *made, int64_t *changed,
                        struct err *err)
{
    struct arena arena = {0};
    struct swept_property *properties;
    int n, status = store_get_properties(store, run_id, &properties, &n, &arena, err);
    for (int i = 0; i < n && status == 0; i++) {
        if (is_bare(&properties[i]))
            continue;
        const struct conclusion *before = properties[i].conclusions;
        int nbefore = properties[i].nconclusions;
        status = swept_conclude(&properties[i], &arena, err);
        if (status == 0)
            status = conclude_anew(store, &properties[i], err);
        *made += properties[i].nconclusions;
        *changed += !same_conclusions(before, nbefore, properties[i].conclusions,
                                      properties[i].nconclusions);
    }
    arena_free(&arena);
    return status;
}

int store_rederive_properties(struct store *store, int64_t run_id, int64_t *made, int64_t *changed,
                              struct err *err)
{
    bool own;
    int64_t from = run_id ? run_id - 1 : 0, found_id = 0;
    if (store_unit_begin(store, &own, err) != 0)
        return -1;
    int status = 0, found = 1;
    while (status == 0 && found == 1) {
        found = store_get_int(store, err, &found_id,
                              "SELECT min(run_id) FROM property WHERE run_id > ?1 "
                              "AND (?2 = 0 OR run_id = ?2)",
                              "ii", from, run_id);
        if (found < 0 || found_id == 0)
            break;
        status = rederive_run(store, found_id, made, changed, err);
        from = found_id;
    }
    return store_unit_end(store, own, found < 0 ? -1 : status, err);
}
