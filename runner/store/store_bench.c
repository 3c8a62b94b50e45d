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

#define BENCH(...) STORE_FIELD(struct stored_bench, __VA_ARGS__)
// clang-format off
static const struct store_field bench_fields[] = {
    BENCH(label), BENCH(source), BENCH(code), BENCH(file), BENCH(file_sha256), BENCH(symbol),
    BENCH(cflags), BENCH(compiler), BENCH(init), BENCH(mode), BENCH(breakers), BENCH(bits),
    BENCH(instances), BENCH(copies), BENCH(iterations), BENCH(cold), BENCH(pass),
    BENCH(outcome, .out.words = &words_outcome), BENCH(detail), BENCH(code_bytes),
    BENCH(machine_code),
};
// clang-format on
static const struct store_record bench_record = {"bench", "run_id, position",
                                                 STORE_FIELDS(struct stored_bench, bench_fields)};

#define THREAD(...) STORE_FIELD(struct bench_summary, __VA_ARGS__)
static const struct store_field thread_fields[] = {
    THREAD(cpu),        THREAD(clk, .column = "instance_clk", .out.look.name = "instance_clk"),
    THREAD(median_clk), THREAD(spread_clk),
    THREAD(accepted),   THREAD(tried),
    THREAD(passes)};
const struct store_record store_bench_thread = {"bench_thread", "bench_id, thread",
                                                STORE_FIELDS(struct bench_summary, thread_fields)};

#define METRIC(...) STORE_FIELD(struct bench_metric, __VA_ARGS__)
static const struct store_field metric_fields[] = {METRIC(kind, .out.look.name = ""), METRIC(name),
                                                   METRIC(code), METRIC(backend),
                                                   METRIC(table_version)};
const struct store_record store_bench_metric = {"bench_metric", "bench_id, position",
                                                STORE_FIELDS(struct bench_metric, metric_fields)};

#define ROW(...) STORE_FIELD(struct bench_row, __VA_ARGS__)
static const struct store_field row_fields[] = {ROW(thread),
                                                ROW(pass),
                                                ROW(repetition),
                                                ROW(cold),
                                                ROW(accepted),
                                                ROW(tried),
                                                ROW(late_ns),
                                                ROW(tsc, .column = "elapsed_tsc"),
                                                ROW(clk, .column = "elapsed_clk")};
static const struct store_record repetition_record = {"bench_repetition", "bench_id, seq",
                                                      STORE_FIELDS(struct bench_row, row_fields)};

static int bench_put_repetition(struct store *store, int64_t id, const struct stored_bench *bench,
                                int seq, struct err *err)
{
    const struct bench_row *one = &bench->repetitions[seq];
    if (store_put_row(store, &repetition_record, (const int64_t[]){id, seq}, one, err) != 0)
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
    struct stored_bench row = *bench;
    int64_t keys[2] = {run_id, 0};
    if (row.machine_code.n > CODE_BYTES_KEPT)
        row.machine_code.n = CODE_BYTES_KEPT;
    if (store_get_int(store, err, &keys[1], "SELECT count(*) FROM bench WHERE run_id = ?1", "i",
                      run_id) < 0 ||
        store_put_row(store, &bench_record, keys, &row, err) != 0)
        return -1;
    int64_t id = sqlite3_last_insert_rowid(store->db);
    for (int i = 0; i < bench->nthreads; i++) {
        struct bench_summary thread = bench->threads[i];
        thread.clk = store_number(bench->outcome, thread.clk);
        if (store_put_row(store, &store_bench_thread, (const int64_t[]){id, i}, &thread, err) != 0)
            return -1;
    }
    if (store_put_rows(store, &store_bench_metric, id, bench->metrics, bench->nmetrics, err) != 0)
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
