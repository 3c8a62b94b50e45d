// SPDX-License-Identifier: MIT
// Reports how the time of a run was spent, for its end and for info.txt; see report.h.
#include "report.h"

#include "store/store_read.h"
#include "util/mem.h"

#include <inttypes.h>

static double time_real(struct store_rows *rows, const char *name)
{
    return store_rows_real(rows, store_rows_column(rows, name));
}

static void put_seconds(struct store_rows *rows, struct strbuf *out)
{
    strbuf_printf(out,
                  "time: %.1f s (measuring %.1f s, waiting for programs %.1f s, inferring %.1f s, "
                  "writing %.1f s; meanwhile assembling %.1f s, linking %.1f s)\n",
                  time_real(rows, "total_s"), time_real(rows, "measuring_s"),
                  time_real(rows, "programs_s"), time_real(rows, "inferring_s"),
                  time_real(rows, "writing_s"), time_real(rows, "assembling_s"),
                  time_real(rows, "linking_s"));
}

static void put_repeats(struct store_rows *rows, struct strbuf *out)
{
    static const struct {
        const char *column, *why;
    } reasons[] = {
        {"repeats_disturbed",   "something else used the core"          },
        {"repeats_disagreeing", "calibrations before and after disagree"},
        {"repeats_uncounted",   "a counter was not running"             },
        {"repeats_too_few",     "too few at a time"                     },
    };
    double repeats = time_real(rows, "repeats");
    const char *between = " (";
    if (!(repeats > 0))
        return;
    strbuf_printf(out, "repeats: %.1f %% of %.0f refused", 100 * time_real(rows, "refused_share"),
                  repeats);
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
        double refused = time_real(rows, reasons[i].column);
        if (refused > 0) {
            strbuf_printf(out, "%s%.1f %% %s", between, 100 * refused / repeats, reasons[i].why);
            between = ", ";
        }
    }
    strbuf_printf(out, "%s; waited %.1f s for quiet, %.1f s for the next pass",
                  *between == ',' ? ")" : "", time_real(rows, "quiet_s"),
                  time_real(rows, "gaps_s"));
    double moves = time_real(rows, "moves");
    if (moves > 0)
        strbuf_printf(out, "; moved to another CPU %.0f times", moves);
    strbuf_puts(out, "\n");
}

static void put_cpu(struct store_rows *rows, struct strbuf *out)
{
    double user_s = time_real(rows, "user_cpu_s"), kernel_s = time_real(rows, "kernel_cpu_s");
    if (user_s + kernel_s > 0)
        strbuf_printf(
            out,
            "CPU time: of the measuring processes %.1f s in user mode, %.1f s (%.1f %%) in "
            "the kernel\n",
            user_s, kernel_s, 100 * kernel_s / (user_s + kernel_s));
}

int report_time_text(struct store *store, int64_t run_id, struct strbuf *out, struct err *err)
{
    const struct store_filter filter = {.run_id = run_id};
    struct store_rows *rows = store_rows_open(store, STORE_VIEW_RUN, &filter, err);
    int got = rows ? store_rows_next(rows, err) : -1;
    if (got > 0 && time_real(rows, "total_s") >= 0) {
        put_seconds(rows, out);
        put_repeats(rows, out);
        put_cpu(rows, out);
    }
    if (rows)
        store_rows_close(rows);
    return got < 0 ? -1 : 0;
}
