// SPDX-License-Identifier: MIT
// Stores and reads passes and their samples; see store_timing.h.
#include "store_timing.h"

#include "store_internal.h"

#include <math.h>

enum { SWEPT_FIELDS = 7, SWEPT_SAMPLE_FIELDS = 4 }; // those that points of sweeps have, too

#define TIMING(...) STORE_FIELD(struct timing, __VA_ARGS__)
static const struct store_field timing_fields[] = {TIMING(pass),
                                                   TIMING(iterations),
                                                   TIMING(copies),
                                                   TIMING(calib_clk),
                                                   TIMING(overhead_tsc),
                                                   TIMING(accepted),
                                                   TIMING(tried),
                                                   TIMING(outcome, .out.words = &words_outcome),
                                                   TIMING(detail),
                                                   TIMING(overhead_counted_clk),
                                                   TIMING(cpu, .null = true, .none = -1)};

#define SAMPLE(...) STORE_FIELD(struct sample, __VA_ARGS__)
static const struct store_field sample_fields[] = {SAMPLE(kernel_tsc), SAMPLE(before_tsc),
                                                   SAMPLE(after_tsc), SAMPLE(canary_tsc),
                                                   SAMPLE(counted_clk)};

static const struct store_record timing = {
    "timing", "kernel_id", STORE_FIELDS(struct timing, timing_fields), .id = "timing_id"};
// Samples that were counted, and others.
static const struct store_record sample_counted = {
    "sample", "timing_id, seq", STORE_FIELDS(struct sample, sample_fields), .id = "timing_id",
    .from = "sample JOIN timing USING (timing_id) WHERE kernel_id = ?1 ORDER BY timing_id, seq"};
static const struct store_record sample = {
    "sample", "timing_id, seq",
    STORE_FIELDS_FIRST(struct sample, sample_fields, SWEPT_SAMPLE_FIELDS)};

// In the order of points, so that the rows of both can be dealt out.
#define SWEPT(what)                                                                                \
    what "JOIN sweep_point USING (point_id) JOIN property_variant USING (variant_id) "             \
         "WHERE property_id = ?1 "
#define SWEPT_ORDER "ORDER BY sweep_point.position, point_id, timing_id"
static const struct store_record swept_timing = {
    "sweep_timing", "point_id", STORE_FIELDS_FIRST(struct timing, timing_fields, SWEPT_FIELDS),
    .id = "timing_id",
    .from = SWEPT("sweep_timing ") "AND EXISTS (SELECT 1 FROM sweep_sample WHERE "
                                   "sweep_sample.timing_id = sweep_timing.timing_id) " SWEPT_ORDER};
static const struct store_record swept_sample = {
    "sweep_sample", "timing_id, seq",
    STORE_FIELDS_FIRST(struct sample, sample_fields, SWEPT_SAMPLE_FIELDS), .id = "timing_id",
    .from = SWEPT("sweep_sample JOIN sweep_timing USING (timing_id) ") SWEPT_ORDER ", seq"};

int store_put_timings(struct store *store, enum store_timed what, int64_t of,
                      const struct timing *timings, int n, struct err *err)
{
    int result = 0;
    for (int i = 0; i < n && result == 0; i++) {
        struct timing row = timings[i];
        if (!row.counted)
            row.overhead_counted_clk = (double)NAN;
        result =
            store_put_row(store, what == TIMED_KERNEL ? &timing : &swept_timing, &of, &row, err);
        if (result == 0)
            result = store_put_rows(store,
                                    what == TIMED_POINT ? &swept_sample
                                    : row.counted       ? &sample_counted
                                                        : &sample,
                                    sqlite3_last_insert_rowid(store->db), row.samples, row.nsamples,
                                    err);
    }
    return result;
}

// Reads the timings of `of` and their samples, which are in the order of the timings.
static int read_timings(struct store *store, const struct store_record *records[2], int64_t of,
                        struct arena *arena, struct store_list *timings, struct err *err)
{
    struct store_list samples;
    if (store_get_rows(store, records[0], of, arena, timings, err) != 0 ||
        store_get_rows(store, records[1], of, arena, &samples, err) != 0)
        return -1;
    struct timing *timed = timings->rows;
    for (int i = 0, at = 0; i < timings->n; i++) {
        timed[i].samples = (struct sample *)samples.rows + at;
        while (at < samples.n && samples.ids[at] == timings->ids[i]) {
            timed[i].nsamples++;
            at++;
        }
    }
    return 0;
}

int store_get_timings(struct store *store, int64_t kernel_id, struct arena *arena,
                      const struct timing **timings, int *ntimings, struct err *err)
{
    struct store_list list;
    if (read_timings(store, (const struct store_record *[]){&timing, &sample_counted}, kernel_id,
                     arena, &list, err) != 0)
        return -1;
    struct timing *rows = list.rows;
    for (int i = 0; i < list.n; i++)
        rows[i].counted = isfinite(rows[i].overhead_counted_clk);
    *timings = rows;
    *ntimings = list.n;
    return 0;
}

int store_get_swept_timings(struct store *store, int64_t property_id, struct arena *arena,
                            const struct timing **timings, int *ntimings, struct err *err)
{
    struct store_list list;
    if (read_timings(store, (const struct store_record *[]){&swept_timing, &swept_sample},
                     property_id, arena, &list, err) != 0)
        return -1;
    for (int i = 0; i < list.n; i++)
        ((struct timing *)list.rows)[i].detail = "";
    *timings = list.rows;
    *ntimings = list.n;
    return 0;
}
