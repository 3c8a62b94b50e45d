// SPDX-License-Identifier: MIT
// Reports how the time of a run was spent, for its end and for info.txt; see report.h.
#include "report.h"

#include "store/store_read.h"
#include "util/mem.h"

#include <inttypes.h>

static void put_seconds(struct store_rows *rows, struct strbuf *out)
{
    strbuf_printf(out,
                  "time: %.1f s (measuring %.1f s, waiting for programs %.1f s, inferring %.1f s, "
                  "writing %.1f s; meanwhile assembling %.1f s, linking %.1f s)\n",
                  store_real_of(rows, "total_s"), store_real_of(rows, "measuring_s"),
                  store_real_of(rows, "programs_s"), store_real_of(rows, "inferring_s"),
                  store_real_of(rows, "writing_s"), store_real_of(rows, "assembling_s"),
                  store_real_of(rows, "linking_s"));
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
    double repeats = store_real_of(rows, "repeats");
    const char *between = " (";
    if (!(repeats > 0))
        return;
    strbuf_printf(out, "repeats: %.1f %% of %.0f refused",
                  100 * store_real_of(rows, "refused_share"), repeats);
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
        double refused = store_real_of(rows, reasons[i].column);
        if (refused > 0) {
            strbuf_printf(out, "%s%.1f %% %s", between, 100 * refused / repeats, reasons[i].why);
            between = ", ";
        }
    }
    strbuf_printf(out, "%s; waited %.1f s for quiet, %.1f s for the next pass",
                  *between == ',' ? ")" : "", store_real_of(rows, "quiet_s"),
                  store_real_of(rows, "gaps_s"));
    double moves = store_real_of(rows, "moves");
    if (moves > 0)
        strbuf_printf(out, "; moved to another CPU %.0f times", moves);
    strbuf_puts(out, "\n");
}

static void put_cpu(struct store_rows *rows, struct strbuf *out)
{
    double user_s = store_real_of(rows, "user_cpu_s"),
           kernel_s = store_real_of(rows, "kernel_cpu_s");
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
    if (got > 0 && store_real_of(rows, "total_s") >= 0) {
        put_seconds(rows, out);
        put_repeats(rows, out);
        put_cpu(rows, out);
    }
    if (rows)
        store_rows_close(rows);
    return got < 0 ? -1 : 0;
}
