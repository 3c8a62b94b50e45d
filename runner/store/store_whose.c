// SPDX-License-Identifier: MIT
// The names of CPU, run and date for the numbers of a printed block; see store_whose.h.
#include "store_whose.h"

#include "util/text.h"
#include "version.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <time.h>

int store_whose_read(struct store *store, int64_t run_id, struct store_whose *whose,
                     struct arena *arena, struct err *err)
{
    const struct store_filter filter = {.run_id = run_id};
    struct store_rows *rows = store_rows_open(store, STORE_VIEW_RUN, &filter, err);
    int got = rows ? store_rows_next(rows, err) : -1;
    if (got > 0) {
        double core_hz = store_real_of(rows, "core_hz");
        *whose = (struct store_whose){.run_id = run_id,
                                      .uarch = store_rows_keep(rows, "uarch", arena),
                                      .name = store_rows_keep(rows, "uarch_name", arena),
                                      .brand = store_rows_keep(rows, "brand", arena),
                                      .hypervisor = store_rows_keep(rows, "hypervisor", arena),
                                      .date = store_rows_keep(rows, "started_utc", arena),
                                      .version = store_rows_keep(rows, "version", arena),
                                      .core_hz = isfinite(core_hz) ? core_hz : 0};
    }
    store_rows_close(rows);
    if (got == 0)
        return err_set(err, "%s: has no run %" PRId64, store_path(store), run_id);
    return got > 0 ? 0 : -1;
}

void store_whose_put(const struct store_whose *whose, struct strbuf *out)
{
    strbuf_printf(out, "%s (%s), %s%s%s; ", *whose->name ? whose->name : "unknown", whose->uarch,
                  *whose->brand ? whose->brand : "no name", *whose->hypervisor ? ", on " : "",
                  whose->hypervisor);
    if (whose->run_id)
        strbuf_printf(out, "run %" PRId64 ", ", whose->run_id);
    strbuf_printf(out, "%.10s, latput %s", whose->date, whose->version);
}

int store_whose_run(struct store *store, int64_t run_id, struct strbuf *out, struct err *err)
{
    struct store_whose whose = {
        .uarch = "", .name = "", .brand = "", .hypervisor = "", .date = "", .version = ""};
    struct arena arena = {0};
    int result = store_whose_read(store, run_id, &whose, &arena, err);
    if (result == 0)
        store_whose_put(&whose, out);
    arena_free(&arena);
    return result;
}

void store_whose_here(const struct cpu_info *cpu, struct strbuf *out)
{
    char date[16] = "";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(date, sizeof date, "%Y-%m-%d", &utc);
    const struct store_whose whose = {.uarch = cpu->uarch,
                                      .name = cpu->uarch_name,
                                      .brand = cpu->brand,
                                      .hypervisor = cpu->hypervisor,
                                      .date = date,
                                      .version = LATPUT_VERSION};
    store_whose_put(&whose, out);
}

static void runs_add(struct store_runs *runs, int64_t run_id)
{
    int at = 0;
    while (at < runs->n && runs->run_ids[at] != run_id)
        at++;
    if (run_id == 0 || at < runs->n)
        return;
    if (runs->n < STORE_RUNS_MAX)
        runs->run_ids[runs->n++] = run_id;
    else
        runs->more = true;
}

void store_runs_of(struct store_runs *runs, struct store_rows *rows)
{
    for (int i = 0; runs && i < store_rows_columns(rows); i++)
        if (strcmp(store_rows_name(rows, i), "run_id") == 0 ||
            strcmp(store_rows_name(rows, i), "ports_run_id") == 0)
            runs_add(runs, store_rows_integer(rows, i)); // NULL is 0
}

int store_runs_put(struct store *store, const struct store_runs *runs, const char *which, int width,
                   struct strbuf *out, struct err *err)
{
    struct strbuf line = {0};
    int result = 0;
    for (int i = 0; i < runs->n && result == 0; i++) {
        strbuf_clear(&line);
        strbuf_puts(&line, which);
        result = store_whose_run(store, runs->run_ids[i], &line, err);
        text_wrap(out, strbuf_text(&line), 2, width ? width : INT_MAX);
    }
    if (runs->more)
        strbuf_printf(out, "%sand more runs: latput query --runs\n", which);
    strbuf_free(&line);
    return result;
}
