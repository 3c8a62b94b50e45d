// SPDX-License-Identifier: MIT
// Stores and reads properties; see store_property.h.
#include "store_property.h"

#include "store_internal.h"
#include "store_timing.h"

#include <math.h>

#define VALUE(...) STORE_FIELD(struct conclusion_value, __VA_ARGS__)
static const struct store_field value_fields[] = {VALUE(label), VALUE(value), VALUE(low),
                                                  VALUE(high), VALUE(unit, .out.known = true)};
const struct store_record store_conclusion_value = {
    "conclusion_value", "conclusion_id, position",
    STORE_FIELDS(struct conclusion_value, value_fields)};

#define CONCLUSION(...) STORE_FIELD(struct conclusion, __VA_ARGS__)
static const struct store_field conclusion_fields[] = {
    CONCLUSION(variant, .out.known = true), CONCLUSION(outcome, .out.words = &words_conclusion),
    CONCLUSION(confidence), CONCLUSION(sentence)};
const struct store_record store_conclusion = {"conclusion", "property_id, position",
                                              STORE_FIELDS(struct conclusion, conclusion_fields),
                                              .id = "conclusion_id"};

#define POINT(...) STORE_FIELD(struct swept_point, __VA_ARGS__)
static const struct store_field point_fields[] = {
    POINT(x),
    POINT(by, .column = "by_x"),
    // Made by reading: the value follows from samples, and is in a table of its own.
    POINT(y, .only_read = true),
    POINT(samples, .only_read = true),
    POINT(outcome, .out.words = &words_outcome, .column = "sweep_point.outcome"),
    POINT(detail, .column = "sweep_point.detail"),
    POINT(instances),
    POINT(point_id, .only_read = true),
    POINT(variant, .only_read = true,
          .column = "(SELECT count(*) FROM property_variant AS before WHERE before.property_id = "
                    "?1 AND before.position < property_variant.position)"),
    POINT(ntimings, .only_read = true,
          .column = "(SELECT count(*) FROM sweep_timing WHERE sweep_timing.point_id = "
                    "sweep_point.point_id AND EXISTS (SELECT 1 FROM sweep_sample WHERE "
                    "sweep_sample.timing_id = sweep_timing.timing_id))"),
};
static const struct store_record swept_point = {
    "sweep_point", "variant_id, position", STORE_FIELDS(struct swept_point, point_fields),
    .from = "sweep_point JOIN property_variant USING (variant_id) "
            "LEFT JOIN sweep_value USING (point_id) "
            "WHERE property_id = ?1 ORDER BY sweep_point.position, point_id"};

static const struct store_field swept_value_fields[] = {POINT(y), POINT(samples)};
static const struct store_record swept_value = {
    "sweep_value", "point_id", STORE_FIELDS(struct swept_point, swept_value_fields)};

#define VARIANT(...) STORE_FIELD(struct swept_variant, __VA_ARGS__)
static const struct store_field variant_fields[] = {
    VARIANT(name), VARIANT(outcome, .out.words = &words_outcome), VARIANT(detail)};
static const struct store_record variant = {"property_variant", "property_id, position",
                                            STORE_FIELDS(struct swept_variant, variant_fields)};

#define PROPERTY(...) STORE_FIELD(struct swept_property, __VA_ARGS__)
static const struct store_field property_fields[] = {
    PROPERTY(name, .out.look.name = "property"),
    PROPERTY(grp, .out.look.name = "group"),
    PROPERTY(title),
    PROPERTY(question),
    PROPERTY(x_unit, .out.known = true),
    PROPERTY(by_unit, .out.look.name = ""),
    PROPERTY(y_unit, .out.known = true),
    PROPERTY(outcome, .out.words = &words_outcome),
    PROPERTY(detail, .out.known = true),
    PROPERTY(area_bytes),
    PROPERTY(area_huge_bytes),
    PROPERTY(seconds),
    PROPERTY(run_id, .only_read = true),
    PROPERTY(reading, .out.look.name = ""),
    PROPERTY(compare, .out.look.name = ""),
    PROPERTY(definition, .out.look.name = ""),
    PROPERTY(tsc_hz, .out.look.name = ""),
    PROPERTY(vm, .out.look.name = ""),
    PROPERTY(property_id, .only_read = true, .out.look.name = ""),
    PROPERTY(position, .only_read = true, .out.look.name = ""),
};
const struct store_record store_swept_property = {
    "property", "run_id, position", STORE_FIELDS(struct swept_property, property_fields)};

static int put_value(struct store *store, int64_t point_id, const struct swept_point *point,
                     struct err *err)
{
    if (!isfinite(point->y) || point->samples < 1)
        return 0;
    return store_put_row(store, &swept_value, &point_id, point, err);
}

static int put_point(struct store *store, const int64_t keys[2], const struct swept_point *point,
                     struct err *err)
{
    if (store_put_row(store, &swept_point, keys, point, err) != 0)
        return -1;
    int64_t point_id = sqlite3_last_insert_rowid(store->db);
    return store_put_timings(store, TIMED_POINT, point_id, point->timings, point->ntimings, err) ==
                   0
               ? put_value(store, point_id, point, err)
               : -1;
}

static int put_variants(struct store *store, int64_t id, const struct swept_property *property,
                        struct err *err)
{
    for (int v = 0; v < property->nvariants; v++) {
        if (store_put_row(store, &variant, (const int64_t[]){id, v}, &property->variants[v], err) !=
            0)
            return -1;
        int64_t variant_id = sqlite3_last_insert_rowid(store->db);
        for (int i = 0; i < property->npoints; i++)
            if (property->points[i].variant == v &&
                put_point(store, (const int64_t[]){variant_id, i}, &property->points[i], err) != 0)
                return -1;
    }
    return 0;
}

static int put_conclusions(struct store *store, int64_t id, const struct swept_property *property,
                           struct err *err)
{
    int result = 0;
    for (int i = 0; i < property->nconclusions && result == 0; i++) {
        const struct conclusion *conclusion = &property->conclusions[i];
        result = store_put_row(store, &store_conclusion, (const int64_t[]){id, i}, conclusion, err);
        if (result == 0)
            result =
                store_put_rows(store, &store_conclusion_value, sqlite3_last_insert_rowid(store->db),
                               conclusion->values, conclusion->nvalues, err);
    }
    return result;
}

static int put_property(struct store *store, int64_t run_id, struct swept_property *property,
                        struct err *err)
{
    int64_t position = 0;
    if (store_get_int(store, err, &position, "SELECT count(*) FROM property WHERE run_id = ?1", "i",
                      run_id) < 0)
        return -1;
    property->position = (int)position;
    if (store_put_row(store, &store_swept_property, (const int64_t[]){run_id, position}, property,
                      err) != 0)
        return -1;
    int64_t id = sqlite3_last_insert_rowid(store->db);
    return put_variants(store, id, property, err) == 0 ? put_conclusions(store, id, property, err)
                                                       : -1;
}

int store_put_property(struct store *store, int64_t run_id, struct swept_property *property,
                       struct err *err)
{
    bool own;
    if (store_unit_begin(store, &own, err) != 0)
        return -1;
    return store_unit_end(store, own, put_property(store, run_id, property, err), err);
}

static int read_conclusions(struct store *store, struct swept_property *property,
                            struct arena *arena, struct err *err)
{
    struct store_list list, values;
    if (store_get_rows(store, &store_conclusion, property->property_id, arena, &list, err) != 0)
        return -1;
    for (int i = 0; i < list.n; i++) {
        struct conclusion *conclusion = (struct conclusion *)list.rows + i;
        if (store_get_rows(store, &store_conclusion_value, list.ids[i], arena, &values, err) != 0)
            return -1;
        conclusion->values = values.rows;
        conclusion->nvalues = values.n;
    }
    property->conclusions = list.rows;
    property->nconclusions = list.n;
    return 0;
}

// Reads variants, points, timings and conclusions.
static int read_property(struct store *store, struct swept_property *property, struct arena *arena,
                         struct err *err)
{
    struct store_list variants, points;
    const struct timing *timings;
    int ntimings;
    int64_t id = property->property_id;
    if (store_get_rows(store, &variant, id, arena, &variants, err) != 0 ||
        store_get_rows(store, &swept_point, id, arena, &points, err) != 0 ||
        store_get_swept_timings(store, id, arena, &timings, &ntimings, err) != 0)
        return -1;
    property->variants = variants.rows;
    property->nvariants = variants.n;
    property->points = points.rows;
    property->npoints = points.n;
    for (int i = 0; i < points.n; i++) {
        property->points[i].timings = timings;
        timings += property->points[i].ntimings;
    }
    return read_conclusions(store, property, arena, err);
}

int store_get_properties(struct store *store, int64_t run_id, struct swept_property **properties,
                         int *nproperties, struct arena *arena, struct err *err)
{
    struct store_list list;
    int status = store_get_rows(store, &store_swept_property, run_id, arena, &list, err);
    *properties = list.rows;
    *nproperties = list.n;
    for (int i = 0; i < list.n && status == 0; i++)
        status = read_property(store, &(*properties)[i], arena, err);
    return status;
}

#define AT(...) STORE_FIELD(struct property_value, __VA_ARGS__)
static const struct store_field at_fields[] = {AT(variant), AT(x), AT(y)};
static const struct store_record property_values = {
    NULL, "", STORE_FIELDS(struct property_value, at_fields),
    .from = "property_point WHERE outcome = 'ok' AND y IS NOT NULL AND (run_id, property) = "
            "(SELECT run_id, name FROM property WHERE property_id = ?1) ORDER BY variant, x"};

int store_get_property_values(struct store *store, const char *uarch, const char *property,
                              struct property_values *values, struct arena *arena, struct err *err)
{
    struct store_list list = {.n = 0};
    int64_t id;
    int got = store_get_int(store, err, &id,
                            "SELECT property_id FROM property JOIN run_key USING (run_id) "
                            "JOIN run USING (run_id) WHERE name = ?1 AND uarch = ?2 "
                            "AND outcome = 'ok' ORDER BY " STORE_RUN_IS_OWN
                            " DESC, run.started_utc DESC, run.run_id DESC LIMIT 1",
                            "ss", property, uarch);
    if (got > 0 && store_get_rows(store, &property_values, id, arena, &list, err) != 0)
        got = -1;
    *values = (struct property_values){list.rows, list.n};
    return got < 0 ? -1 : 0;
}

int store_has_property(struct store *store, int64_t run_id, const char *name, struct err *err)
{
    int64_t found;
    return store_get_int(store, err, &found,
                         "SELECT 1 FROM property WHERE run_id = ?1 AND name = ?2", "is", run_id,
                         name);
}

int store_newest_properties(struct store *store, const char *uarch, const char *named,
                            int64_t *run_id, struct err *err)
{
    return store_get_int(store, err, run_id,
                         "SELECT run.run_id FROM property JOIN run USING (run_id) "
                         "JOIN run_key USING (run_id) WHERE ?1 = '' OR run_key.uarch = ?1 "
                         "GROUP BY run.run_id ORDER BY " STORE_RUN_IS_OWN
                         " DESC, sum(lower(property.name) GLOB lower(?2)) DESC, "
                         "run.started_utc DESC, run.run_id DESC LIMIT 1",
                         "ss", uarch ? uarch : "", named ? named : "*");
}

int store_put_conclusions(struct store *store, const struct swept_property *property,
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
