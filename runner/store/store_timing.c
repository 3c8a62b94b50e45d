// SPDX-License-Identifier: MIT
// Reads the passes over a kernel; see store_timing.h.
#include "store_timing.h"

#include "store_internal.h"

static int timing_samples(struct store *store, struct arena *arena, int64_t timing_id,
                          struct timing *timing, struct err *err)
{
    int64_t n = 0;
    if (store_get_int(store, err, &n, "SELECT count(*) FROM sample WHERE timing_id = ?1", "i",
                      timing_id) < 0)
        return -1;
    sqlite3_stmt *stmt = store_bind(store, err,
                                    "SELECT kernel_tsc, before_tsc, after_tsc, canary_tsc, "
                                    "counted_clk "
                                    "FROM sample WHERE timing_id = ?1 ORDER BY seq",
                                    "i", timing_id);
    if (!stmt)
        return -1;
    struct sample *samples = arena_alloc(arena, ((size_t)n + 1) * sizeof *samples);
    int at = 0, got = SQLITE_DONE;
    while (at < n && (got = sqlite3_step(stmt)) == SQLITE_ROW)
        samples[at++] = (struct sample){
            (uint32_t)sqlite3_column_int64(stmt, 0), (uint32_t)sqlite3_column_int64(stmt, 1),
            (uint32_t)sqlite3_column_int64(stmt, 2), (uint32_t)sqlite3_column_int64(stmt, 3),
            (uint32_t)sqlite3_column_int64(stmt, 4)};
    sqlite3_reset(stmt);
    timing->samples = samples;
    timing->nsamples = at;
    return got == SQLITE_DONE || got == SQLITE_ROW ? 0 : store_error(store, err, "read samples");
}

int store_get_timings(struct store *store, int64_t kernel_id, struct arena *arena,
                      const struct timing **timings, int *ntimings, struct err *err)
{
    int64_t n = 0;
    if (store_get_int(store, err, &n, "SELECT count(*) FROM timing WHERE kernel_id = ?1", "i",
                      kernel_id) < 0)
        return -1;
    sqlite3_stmt *stmt = store_bind(store, err,
                                    "SELECT timing_id, pass, outcome, accepted, tried, iterations, "
                                    "copies, calib_clk, overhead_tsc, "
                                    "overhead_counted_clk "
                                    "FROM timing WHERE kernel_id = ?1 ORDER BY timing_id",
                                    "i", kernel_id);
    if (!stmt)
        return -1;
    struct timing *passes = arena_alloc(arena, ((size_t)n + 1) * sizeof *passes);
    int at = 0, got = SQLITE_DONE;
    while (at < n && (got = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct timing *timing = &passes[at++];
        timing->pass = sqlite3_column_int(stmt, 1);
        timing->outcome = store_column_outcome(stmt, 2);
        timing->detail = "";
        timing->accepted = sqlite3_column_int(stmt, 3);
        timing->tried = sqlite3_column_int(stmt, 4);
        timing->iterations = (uint32_t)sqlite3_column_int64(stmt, 5);
        timing->copies = (uint32_t)sqlite3_column_int64(stmt, 6);
        timing->calib_clk = sqlite3_column_double(stmt, 7);
        timing->overhead_tsc = sqlite3_column_double(stmt, 8);
        timing->counted = sqlite3_column_type(stmt, 9) != SQLITE_NULL;
        timing->overhead_counted_clk = sqlite3_column_double(stmt, 9);
        if (timing_samples(store, arena, sqlite3_column_int64(stmt, 0), timing, err) != 0)
            return -1;
    }
    *timings = passes;
    *ntimings = at;
    sqlite3_reset(stmt);
    return got == SQLITE_DONE || got == SQLITE_ROW ? 0 : store_error(store, err, "read timings");
}
