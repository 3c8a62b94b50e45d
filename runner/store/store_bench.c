// SPDX-License-Identifier: MIT
// Measured pieces of code in the database; see store_bench.h.
#include "store_internal.h"

#include "store_bench.h"
#include "util/mem.h"
#include "util/text.h"

#include <string.h>

enum { CODE_BYTES_KEPT = 64 };

static int bench_check_texts(struct store *store, const struct stored_bench *bench, struct err *err)
{
    const struct {
        const char *name, *text;
    } texts[] = {
        {"label",  bench->label },
        {"code",   bench->code  },
        {"file",   bench->file  },
        {"symbol", bench->symbol},
        {"cflags", bench->cflags},
        {"init",   bench->init  },
        {"detail", bench->detail},
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (!text_is_clean(texts[i].text, strlen(texts[i].text)))
            return err_set(err,
                           "%s: the %s cannot be stored: it has control characters, or is not "
                           "UTF-8",
                           store->path, texts[i].name);
    return 0;
}

static int bench_put_row(struct store *store, int64_t run_id, const struct stored_bench *bench,
                         struct err *err)
{
    int kept = bench->code_bytes < CODE_BYTES_KEPT ? bench->code_bytes : CODE_BYTES_KEPT;
    return store_execute(
        store, err,
        "INSERT INTO bench (run_id, position, label, source, code, file, file_sha256, symbol, "
        "cflags, compiler, init, mode, breakers, bits, instances, copies, iterations, cold, pass, "
        "outcome, detail, code_bytes, machine_code) VALUES (?1, (SELECT count(*) FROM bench "
        "WHERE run_id = ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, "
        "?17, ?18, ?19, ?20, ?21, ?22)",
        "isssssssssssiiiiiissib", run_id, bench->label, bench->source, bench->code, bench->file,
        bench->file_sha256, bench->symbol, bench->cflags, bench->compiler, bench->init, bench->mode,
        bench->breakers, (int64_t)bench->bits, (int64_t)bench->instances, (int64_t)bench->copies,
        (int64_t)bench->iterations, (int64_t)bench->cold, (int64_t)bench->pass,
        outcome_name(bench->outcome), bench->detail, (int64_t)bench->code_bytes,
        (const void *)bench->machine_code, (int64_t)kept);
}

static int bench_put_threads(struct store *store, int64_t id, const struct stored_bench *bench,
                             struct err *err)
{
    for (int i = 0; i < bench->nthreads; i++) {
        const struct stored_bench_thread *thread = &bench->threads[i];
        if (store_execute(store, err,
                          "INSERT INTO bench_thread (bench_id, thread, cpu, instance_clk, "
                          "median_clk, spread_clk, accepted, tried, passes) "
                          "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                          "iiidddiii", id, (int64_t)i, (int64_t)thread->cpu,
                          store_number(bench->outcome, thread->instance_clk),
                          store_finite(thread->median_clk), store_finite(thread->spread_clk),
                          (int64_t)thread->accepted, (int64_t)thread->tried,
                          (int64_t)thread->passes) != 0)
            return -1;
    }
    return 0;
}

static int bench_put_metrics(struct store *store, int64_t id, const struct stored_bench *bench,
                             struct err *err)
{
    for (int i = 0; i < bench->nmetrics; i++) {
        const struct stored_bench_metric *metric = &bench->metrics[i];
        if (store_execute(store, err,
                          "INSERT INTO bench_metric (bench_id, position, kind, name, code, "
                          "backend, table_version) VALUES (?, ?, ?, ?, ?, ?, ?)",
                          "iisssss", id, (int64_t)i, metric->computed ? "column" : "event",
                          metric->name, metric->code, metric->backend, metric->table_version) != 0)
            return -1;
    }
    return 0;
}

static int bench_put_repetition(struct store *store, int64_t id, const struct stored_bench *bench,
                                int seq, struct err *err)
{
    const struct stored_bench_repetition *one = &bench->repetitions[seq];
    if (store_execute(store, err,
                      "INSERT INTO bench_repetition (bench_id, seq, thread, pass, repetition, "
                      "cold, accepted, tried, late_ns, elapsed_tsc, elapsed_clk) "
                      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                      "iiiiiiiiddd", id, (int64_t)seq, (int64_t)one->thread, (int64_t)one->pass,
                      (int64_t)one->repetition, (int64_t)one->cold, (int64_t)one->accepted,
                      (int64_t)one->tried, store_finite(one->late_ns),
                      store_finite(one->elapsed_tsc), store_finite(one->elapsed_clk)) != 0)
        return -1;
    for (int i = 0; i < bench->nmetrics; i++)
        if (store_execute(store, err,
                          "INSERT INTO bench_value (bench_id, seq, position, value) "
                          "VALUES (?, ?, ?, ?)",
                          "iiid", id, (int64_t)seq, (int64_t)i, store_finite(one->values[i])) != 0)
            return -1;
    return 0;
}

static int bench_put(struct store *store, int64_t run_id, const struct stored_bench *bench,
                     struct err *err)
{
    if (bench_put_row(store, run_id, bench, err) != 0)
        return -1;
    int64_t id = sqlite3_last_insert_rowid(store->db);
    if (bench_put_threads(store, id, bench, err) != 0 ||
        bench_put_metrics(store, id, bench, err) != 0)
        return -1;
    for (int i = 0; i < bench->nrepetitions; i++)
        if (bench_put_repetition(store, id, bench, i, err) != 0)
            return -1;
    return 0;
}

int store_put_bench(struct store *store, int64_t run_id, const struct stored_bench *bench,
                    struct err *err)
{
    bool own;
    if (bench_check_texts(store, bench, err) != 0 || store_unit_begin(store, &own, err) != 0)
        return -1;
    return store_unit_end(store, own, bench_put(store, run_id, bench, err), err);
}
