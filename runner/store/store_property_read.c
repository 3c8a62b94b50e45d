// SPDX-License-Identifier: MIT
// Reads properties; see store_property.h.
#include "store_property.h"

#include "store_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// State of reading a property; all memory is the arena's.
struct reader {
    struct store *store;
    struct arena *arena;
    struct err *err;
};

// Allocates as many rows as `sql` counts; NULL after an error.
static void *reader_rows(const struct reader *reader, const char *sql, int64_t id, size_t bytes)
{
    int64_t n = 0;
    if (store_get_int(reader->store, reader->err, &n, sql, "i", id) < 0)
        return NULL;
    return arena_alloc(reader->arena, ((size_t)n + 1) * bytes);
}

static int read_variants(const struct reader *reader, struct swept_property *property)
{
    property->variants =
        reader_rows(reader, "SELECT count(*) FROM property_variant WHERE property_id = ?1",
                    property->property_id, sizeof *property->variants);
    sqlite3_stmt *stmt = property->variants
                             ? store_bind(reader->store, reader->err,
                                          "SELECT name, outcome, detail FROM property_variant "
                                          "WHERE property_id = ?1 ORDER BY position",
                                          "i", property->property_id)
                             : NULL;
    if (!stmt)
        return -1;
    int got;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW)
        property->variants[property->nvariants++] = (struct swept_variant){
            store_column_text(stmt, 0, reader->arena), store_column_outcome(stmt, 1),
            store_column_text(stmt, 2, reader->arena)};
    return store_rows_end(reader->store, stmt, got, reader->err);
}

static int read_points(const struct reader *reader, struct swept_property *property)
{
    property->points = reader_rows(reader,
                                   "SELECT count(*) FROM sweep_point JOIN property_variant "
                                   "USING (variant_id) WHERE property_id = ?1",
                                   property->property_id, sizeof *property->points);
    sqlite3_stmt *stmt =
        property->points
            ? store_bind(
                  reader->store, reader->err,
                  "SELECT (SELECT count(*) FROM property_variant AS before WHERE "
                  "before.property_id = ?1 AND before.position < "
                  "property_variant.position), x, by_x, instances, sweep_point.outcome, "
                  "sweep_point.detail, y, samples, point_id FROM sweep_point JOIN property_variant "
                  "USING (variant_id) LEFT JOIN sweep_value USING (point_id) "
                  "WHERE property_id = ?1 ORDER BY sweep_point.position, point_id",
                  "i", property->property_id)
            : NULL;
    if (!stmt)
        return -1;
    int got;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW)
        property->points[property->npoints++] =
            (struct swept_point){.point_id = sqlite3_column_int64(stmt, 8),
                                 .variant = sqlite3_column_int(stmt, 0),
                                 .x = store_column_real(stmt, 1),
                                 .by = store_column_real(stmt, 2),
                                 .instances = sqlite3_column_int64(stmt, 3),
                                 .outcome = store_column_outcome(stmt, 4),
                                 .detail = store_column_text(stmt, 5, reader->arena),
                                 .y = store_column_real(stmt, 6),
                                 .samples = sqlite3_column_int(stmt, 7)};
    return store_rows_end(reader->store, stmt, got, reader->err);
}

// Adds a sample to the timing that is being read.
static void timing_add(struct timing *timing, sqlite3_stmt *stmt, struct sample *sample)
{
    *sample = (struct sample){.kernel_tsc = (uint32_t)sqlite3_column_int64(stmt, 9),
                              .before_tsc = (uint32_t)sqlite3_column_int64(stmt, 10),
                              .after_tsc = (uint32_t)sqlite3_column_int64(stmt, 11),
                              .canary_tsc = (uint32_t)sqlite3_column_int64(stmt, 12)};
    if (timing->nsamples++ == 0)
        timing->samples = sample;
}

static struct timing timing_begin(sqlite3_stmt *stmt)
{
    return (struct timing){.pass = sqlite3_column_int(stmt, 2),
                           .outcome = OUTCOME_OK,
                           .detail = "",
                           .iterations = (uint32_t)sqlite3_column_int64(stmt, 3),
                           .copies = (uint32_t)sqlite3_column_int64(stmt, 4),
                           .calib_clk = sqlite3_column_double(stmt, 5),
                           .overhead_tsc = sqlite3_column_double(stmt, 6),
                           .accepted = sqlite3_column_int(stmt, 7),
                           .tried = sqlite3_column_int(stmt, 8)};
}

// Reads all samples of a property, by point, timing, sample; the points are in the order of their
// rows.
static int read_samples(const struct reader *reader, struct swept_property *property)
{
    static const char count[] =
        "SELECT count(*) FROM sweep_sample JOIN sweep_timing USING (timing_id) "
        "JOIN sweep_point USING (point_id) JOIN property_variant USING (variant_id) "
        "WHERE property_id = ?1";
    struct sample *samples = reader_rows(reader, count, property->property_id, sizeof *samples);
    struct timing *timings = reader_rows(reader, count, property->property_id, sizeof *timings);
    sqlite3_stmt *stmt =
        samples && timings
            ? store_bind(reader->store, reader->err,
                         "SELECT place - 1, timing_id, pass, iterations, copies, calib_clk, "
                         "overhead_tsc, accepted, tried, kernel_tsc, before_tsc, after_tsc, "
                         "canary_tsc FROM (SELECT point_id, row_number() OVER "
                         "(ORDER BY sweep_point.position, point_id) AS place FROM sweep_point "
                         "JOIN property_variant USING (variant_id) WHERE property_id = ?1) "
                         "JOIN sweep_timing USING (point_id) JOIN sweep_sample USING (timing_id) "
                         "ORDER BY place, timing_id, seq",
                         "i", property->property_id)
            : NULL;
    if (!stmt)
        return -1;
    int got, nsamples = 0, ntimings = 0;
    int64_t timing_id = -1;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct swept_point *point = &property->points[sqlite3_column_int(stmt, 0)];
        if (sqlite3_column_int64(stmt, 1) != timing_id) {
            timing_id = sqlite3_column_int64(stmt, 1);
            timings[ntimings] = timing_begin(stmt);
            if (point->ntimings++ == 0)
                point->timings = &timings[ntimings];
            ntimings++;
        }
        timing_add(&timings[ntimings - 1], stmt, &samples[nsamples++]);
    }
    return store_rows_end(reader->store, stmt, got, reader->err);
}

static int read_values(const struct reader *reader, int64_t conclusion_id,
                       struct conclusion *conclusion)
{
    struct conclusion_value *values =
        reader_rows(reader, "SELECT count(*) FROM conclusion_value WHERE conclusion_id = ?1",
                    conclusion_id, sizeof *values);
    sqlite3_stmt *stmt = values ? store_bind(reader->store, reader->err,
                                             "SELECT label, value, low, high, unit "
                                             "FROM conclusion_value WHERE conclusion_id = ?1 "
                                             "ORDER BY position",
                                             "i", conclusion_id)
                                : NULL;
    if (!stmt)
        return -1;
    int got;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW)
        values[conclusion->nvalues++] = (struct conclusion_value){
            store_column_text(stmt, 0, reader->arena), store_column_real(stmt, 1),
            store_column_real(stmt, 2), store_column_real(stmt, 3),
            store_column_text(stmt, 4, reader->arena)};
    conclusion->values = values;
    return store_rows_end(reader->store, stmt, got, reader->err);
}

static int read_conclusions(const struct reader *reader, struct swept_property *property)
{
    static const char count[] = "SELECT count(*) FROM conclusion WHERE property_id = ?1";
    struct conclusion *conclusions =
        reader_rows(reader, count, property->property_id, sizeof *conclusions);
    int64_t *ids = reader_rows(reader, count, property->property_id, sizeof *ids);
    sqlite3_stmt *stmt =
        conclusions && ids
            ? store_bind(reader->store, reader->err,
                         "SELECT conclusion_id, variant, outcome, confidence, sentence "
                         "FROM conclusion WHERE property_id = ?1 ORDER BY position",
                         "i", property->property_id)
            : NULL;
    if (!stmt)
        return -1;
    int got, n = 0;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW) {
        int outcome = conclusion_outcome_parse(store_column_text(stmt, 2, reader->arena));
        ids[n] = sqlite3_column_int64(stmt, 0);
        conclusions[n++] = (struct conclusion){
            .variant = store_column_text(stmt, 1, reader->arena),
            .outcome = outcome < 0 ? CONCLUSION_TOO_FEW : (enum conclusion_outcome)outcome,
            .confidence = sqlite3_column_double(stmt, 3),
            .sentence = store_column_text(stmt, 4, reader->arena)};
    }
    int status = store_rows_end(reader->store, stmt, got, reader->err);
    for (int i = 0; i < n && status == 0; i++)
        status = read_values(reader, ids[i], &conclusions[i]);
    property->conclusions = conclusions;
    property->nconclusions = n;
    return status;
}

static struct swept_property read_property(sqlite3_stmt *stmt, struct arena *arena)
{
    return (struct swept_property){.property_id = sqlite3_column_int64(stmt, 0),
                                   .run_id = sqlite3_column_int64(stmt, 1),
                                   .position = sqlite3_column_int(stmt, 2),
                                   .grp = store_column_text(stmt, 3, arena),
                                   .name = store_column_text(stmt, 4, arena),
                                   .title = store_column_text(stmt, 5, arena),
                                   .question = store_column_text(stmt, 6, arena),
                                   .x_unit = store_column_text(stmt, 7, arena),
                                   .by_unit = store_column_text(stmt, 8, arena),
                                   .y_unit = store_column_text(stmt, 9, arena),
                                   .reading = store_column_text(stmt, 10, arena),
                                   .compare = store_column_text(stmt, 11, arena),
                                   .definition = store_column_text(stmt, 12, arena),
                                   .tsc_hz = sqlite3_column_double(stmt, 13),
                                   .area_bytes = sqlite3_column_int64(stmt, 14),
                                   .area_huge_bytes = sqlite3_column_int64(stmt, 15),
                                   .seconds = sqlite3_column_double(stmt, 16),
                                   .outcome = store_column_outcome(stmt, 17),
                                   .detail = store_column_text(stmt, 18, arena),
                                   .vm = store_column_text(stmt, 19, arena)};
}

int store_get_properties(struct store *store, int64_t run_id, struct swept_property **properties,
                         int *nproperties, struct arena *arena, struct err *err)
{
    const struct reader reader = {store, arena, err};
    *nproperties = 0;
    struct swept_property *rows = reader_rows(
        &reader, "SELECT count(*) FROM property WHERE run_id = ?1", run_id, sizeof *rows);
    *properties = rows;
    sqlite3_stmt *stmt =
        rows ? store_bind(store, err,
                          "SELECT property_id, run_id, position, grp, name, title, question, "
                          "x_unit, by_unit, y_unit, reading, compare, definition, tsc_hz, "
                          "area_bytes, area_huge_bytes, seconds, outcome, detail, vm FROM property "
                          "WHERE run_id = ?1 ORDER BY position",
                          "i", run_id)
             : NULL;
    if (!stmt)
        return -1;
    int got;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW)
        rows[(*nproperties)++] = read_property(stmt, arena);
    int status = store_rows_end(store, stmt, got, err);
    for (int i = 0; i < *nproperties && status == 0; i++)
        if (read_variants(&reader, &rows[i]) != 0 || read_points(&reader, &rows[i]) != 0 ||
            read_samples(&reader, &rows[i]) != 0 || read_conclusions(&reader, &rows[i]) != 0)
            status = -1;
    return status;
}

int store_get_property_values(struct store *store, const char *uarch, const char *property,
                              struct property_values *values, struct arena *arena, struct err *err)
{
    struct property_value *found = NULL;
    size_t capacity = 0, n = 0;
    int got;
    sqlite3_stmt *stmt =
        store_bind(store, err,
                   "SELECT variant, x, y FROM property_point WHERE property = ?1 AND y IS NOT NULL "
                   "AND outcome = 'ok' AND run_id = (SELECT run.run_id FROM property "
                   "JOIN run_key USING (run_id) JOIN run USING (run_id) "
                   "WHERE name = ?1 AND uarch = ?2 AND outcome = 'ok' "
                   "ORDER BY " STORE_RUN_IS_OWN
                   " DESC, run.started_utc DESC, run.run_id DESC LIMIT 1) ORDER BY variant, x",
                   "ss", property, uarch);
    *values = (struct property_values){.n = 0};
    if (!stmt)
        return -1;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW) {
        found = xgrow(found, &capacity, n + 1, sizeof *found);
        found[n++] =
            (struct property_value){store_column_text(stmt, 0, arena),
                                    sqlite3_column_double(stmt, 1), sqlite3_column_double(stmt, 2)};
    }
    values->points = arena_alloc(arena, (n + 1) * sizeof *found);
    values->n = (int)n;
    if (n > 0)
        memcpy(values->points, found, n * sizeof *found);
    free(found);
    return store_rows_end(store, stmt, got, err);
}
