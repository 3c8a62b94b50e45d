// SPDX-License-Identifier: MIT
// Limits the work of the conclusions from all foreign properties of a file; see merge_internal.h.
// Each property has a size of its own (merge_property_size.c), but there may be thousands.
#include "merge_internal.h"

#include "conclude/conclude_question.h"
#include "util/mem.h"
#include "util/strbuf.h"

#include <stdlib.h>

// Properties of a file, read curve by curve.
struct work {
    struct curve_size *curves; // of the present property
    int ncurves;
    bool measured; // it has samples
    struct strbuf name, reading;
    double seconds, most_seconds; // of all properties, of the most laborious
    struct strbuf most;           // its name
};

// Adds the present property.
static void work_add(struct work *work)
{
    struct conclude_question question;
    struct arena arena = {0};
    struct err ignored; // an unknown reading is refused later
    const char *at;
    if (work->measured && conclude_question_read(strbuf_text(&work->reading), &question, &arena,
                                                 &at, &ignored) == 0) {
        double seconds = conclude_seconds(&question, work->curves, work->ncurves);
        work->seconds += seconds;
        if (seconds > work->most_seconds) {
            work->most_seconds = seconds;
            strbuf_clear(&work->most);
            strbuf_puts(&work->most, strbuf_text(&work->name));
        }
    }
    arena_free(&arena);
    work->ncurves = 0;
    work->measured = false;
}

static int work_count(struct store *store, struct work *work, struct err *err)
{
    sqlite3_stmt *stmt = store_bind(
        store, err,
        "SELECT property_id, name, reading, count(*), total(samples), max(samples), max(pass) FROM "
        "(SELECT property_id, variant_id, by_x, (SELECT count(*) FROM sweep_timing AS timing "
        "JOIN sweep_sample USING (timing_id) WHERE timing.point_id = sweep_point.point_id) "
        "AS samples, (SELECT coalesce(max(pass), 0) FROM sweep_timing AS timing "
        "WHERE timing.point_id = sweep_point.point_id) AS pass "
        "FROM property_variant JOIN sweep_point USING (variant_id)) JOIN property "
        "USING (property_id) GROUP BY property_id, variant_id, by_x ORDER BY property_id",
        "");
    int64_t last = 0;
    int got = SQLITE_DONE;
    if (!stmt)
        return -1;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW) {
        if (sqlite3_column_int64(stmt, 0) != last)
            work_add(work);
        last = sqlite3_column_int64(stmt, 0);
        strbuf_clear(&work->name);
        strbuf_puts(&work->name, store_text(stmt, 1));
        strbuf_clear(&work->reading); // whole: what is read of a part is another question
        strbuf_puts(&work->reading, store_text(stmt, 2));
        if (work->ncurves == CONCLUDE_CURVES_MAX) // refused by the size already
            continue;
        struct curve_size *curve = &work->curves[work->ncurves++];
        *curve = (struct curve_size){
            .points = sqlite3_column_int64(stmt, 3),
            .samples = sqlite3_column_int64(stmt, 4),
            .most_samples = sqlite3_column_int64(stmt, 5),
            .passes = sqlite3_column_int64(stmt, 6),
        };
        work->measured |= curve->samples > 0;
    }
    work_add(work);
    return store_rows_end(store, stmt, got, err);
}

int merge_check_work(struct store *store, int most_seconds, struct err *err)
{
    struct work work = {.curves = xcalloc(CONCLUDE_CURVES_MAX, sizeof *work.curves)};
    int result = work_count(store, &work, err);
    free(work.curves);
    if (result == 0 && work.seconds > most_seconds)
        result = err_set(err,
                         "%s: conclusions from its properties take about %.0f s of CPU time, and "
                         "they may take %d; %s takes %.0f of them: sweep it in larger steps",
                         store->path, work.seconds, most_seconds, strbuf_text(&work.most),
                         work.most_seconds);
    strbuf_free(&work.name);
    strbuf_free(&work.reading);
    strbuf_free(&work.most);
    return result;
}
