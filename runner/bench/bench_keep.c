// SPDX-License-Identifier: MIT
// Keeps what a bench measured in the database, as a run of its own that has the provenance; see
// bench.h. Nothing that names a host, a user or a directory is added to what the user wrote.
#include "bench_internal.h"

#include "measure/run_info.h"
#include "store/store.h"
#include "store/store_cpu.h"
#include "store/store_run.h"
#include "util/clock.h"
#include "util/subproc.h"

#include <sha256.h>
#include <string.h>

// Returns the text with line feeds only; carriage returns come from other systems.
static const char *store_lines(const char *text, struct arena *arena)
{
    char *lines = arena_strdup(arena, text ? text : "");
    char *to = lines;
    for (const char *at = lines; *at; at++)
        if (*at != '\r')
            *to++ = *at;
    *to = '\0';
    return lines;
}

// Returns the first line of `cc --version`, or "".
static const char *store_compiler(struct arena *arena)
{
    const char *const argv[] = {"cc", "--version", NULL};
    struct subproc_result result;
    struct err ignored;
    if (subproc_run(argv, NULL, &result, &ignored) != 0)
        return "";
    const char *version = arena_strndup(arena, result.out, strcspn(result.out, "\n"));
    subproc_result_free(&result);
    return version;
}

static int store_fill_source(const struct bench *bench, struct stored_bench *stored,
                             struct err *err)
{
    const struct bench_spec *spec = bench->spec;
    stored->source = "text";
    const char *text = bench->source.text;
    stored->code = store_lines(text ? text : spec->body, bench->arena);
    stored->file = stored->file_sha256 = stored->symbol = stored->cflags = stored->compiler = "";
    if (!spec->file || bench->source.bytes)
        return 0;
    char *hash = arena_alloc(bench->arena, SHA256_DIGEST_STRING_LENGTH);
    if (!SHA256File(spec->file, hash))
        return err_set(err, "%s: cannot be read again to store its sha256", spec->file);
    const char *slash = strrchr(spec->file, '/');
    stored->file = slash ? slash + 1 : spec->file;
    stored->file_sha256 = hash;
    stored->source = bench->source.file ? "nasm" : bench->source.text ? "c" : "object";
    stored->symbol = spec->symbol ? spec->symbol : "";
    if (bench->source.file || !bench->source.text)
        return 0;
    stored->cflags = spec->cflags ? spec->cflags : "";
    stored->compiler = store_compiler(bench->arena);
    return 0;
}

static int store_fill(const struct bench *bench, struct stored_bench *stored, struct err *err)
{
    const struct bench_spec *spec = bench->spec;
    const struct bench_result *result = bench->result;
    *stored = (struct stored_bench){
        .label = store_lines(spec->label, bench->arena),
        .init = store_lines(spec->init, bench->arena),
        .mode = bench_mode_name(spec->mode),
        .breakers = result->breakers,
        .bits = result->bits,
        .instances = result->instances,
        .copies = result->copies,
        .iterations = result->iterations,
        .pass = result->pass,
        .cold = spec->cold,
        .outcome = result->outcome,
        .detail = result->detail,
        .machine_code = {result->code, result->code_bytes},
        .code_bytes = result->code_bytes,
        .threads = result->threads,
        .nthreads = result->nthreads,
        .metrics = result->metrics,
        .nmetrics = result->nevents + result->ncolumns,
        .repetitions = result->rows,
        .nrepetitions = result->nrows
    };
    return store_fill_source(bench, stored, err);
}

static int store_warn(struct store *store, int64_t run_id, const struct bench *bench,
                      const struct run_facts *facts, struct err *err)
{
    char doubt[160];
    if (run_info_warn(store, run_id, bench->session.cpu, facts, err) != 0 ||
        run_info_warn_identity(store, run_id, bench->session.cpu, err) != 0)
        return -1;
    if (!bench_doubt_ports(bench->result, doubt, sizeof doubt))
        return 0;
    return store_run_warning(store, run_id, doubt,
                             "the counted ports cannot be true: compare with another backend", err);
}

static int store_run(struct store *store, const struct bench *bench, const struct run_facts *facts,
                     const struct stored_bench *stored, struct err *err)
{
    struct run_info info;
    const struct selection nothing = {0};
    const struct run_subject subject = {bench->session.cpu, &bench->session.params.config, facts,
                                        &nothing, "bench"};
    int64_t cpu_id, run_id;
    if (run_info_collect(&subject, bench->arena, &info, err) != 0)
        return -1;
    double seconds = clock_now_s() - bench->start_s;
    if (store_begin(store, err) != 0)
        return -1;
    if (store_put_cpu(store, bench->session.cpu, &cpu_id, err) != 0 ||
        store_run_begin(store, cpu_id, &info, &run_id, err) != 0 ||
        store_warn(store, run_id, bench, facts, err) != 0 ||
        store_put_bench(store, run_id, stored, err) != 0 ||
        store_run_finish(store, run_id, 1, seconds, err) != 0 || store_commit(store, err) != 0) {
        store_rollback(store);
        return -1;
    }
    bench->result->run_id = run_id;
    return 0;
}

int bench_keep(const struct bench *bench, struct err *err)
{
    const struct bench_result *result = bench->result;
    struct counter_table table = {0};
    struct run_facts facts = {.core_hz = result->core_hz,
                              .overhead_tsc = result->overhead_tsc,
                              .imul_per_add = result->imul_per_add,
                              .issue_width = bench->session.issue_width,
                              .floor_guessed = result->floor_guessed};
    struct stored_bench stored;
    struct store *store = NULL;
    if (store_fill(bench, &stored, err) != 0)
        return -1;
    if (result->nevents) {
        if (counters_load_cpu(bench->session.cpu, &table, err) != 0)
            return -1;
        facts.counters = &table;
    }
    int status = store_open(bench->spec->db, STORE_WRITE, &store, err);
    if (status == 0)
        status = store_run(store, bench, &facts, &stored, err);
    store_close(store);
    if (result->nevents)
        counters_free(&table);
    return status == 0 ? 0 : -1;
}
