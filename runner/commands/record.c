// SPDX-License-Identifier: MIT
#include "record.h"

#include "execute/exec.h"
#include "measure/floor.h"
#include "pack/pack.h"
#include "util/file_write.h"
#include "util/mem.h"

#include <stdio.h>
#include <stdlib.h>

enum { SEED = 1 };

static int record_file(const char *directory, const char *name, const struct strbuf *text,
                       struct err *err)
{
    char *path = xasprintf("%s/%s", directory, name);
    int status = file_write(path, text->len ? text->data : "", text->len, err);
    free(path);
    return status;
}

static int record_mixes(const struct record_request *request, struct session *session,
                        struct port_table *table, bool pairs, struct err *err)
{
    struct arena arena = {0};
    struct strbuf out = {0};
    struct validate_mixes mixes;
    struct portrun_mixes measure = port_table_measure(table, session);
    const struct port_oracle oracle = portrun_mixes_oracle(&measure);
    const struct validate_trial trial = {.forms = &table->forms,
                                         .model = &table->model.model,
                                         .oracle = &oracle,
                                         .wanted = pairs ? request->pairs : request->mixes,
                                         .seed = SEED,
                                         .kind = pairs ? VALIDATE_PAIRS : VALIDATE_MIXES};
    int status = validate_measure(&trial, &arena, &mixes, err);
    if (status == 0) {
        validate_csv(&table->forms, &table->model.model, &mixes, &out);
        status = record_file(request->output, pairs ? "pairs.csv" : "mixes.csv", &out, err);
    }
    strbuf_free(&out);
    arena_free(&arena);
    return status;
}

static void put_canaries(const struct exec_floor *windows, struct strbuf *out)
{
    strbuf_puts(out, "window,canary,bin,samples\n");
    for (int window = 0; window < FLOOR_WINDOWS; window++)
        for (int canary = 0; canary < CORE_CANARIES; canary++)
            for (int bin = 0; bin < CORE_FLOOR_BINS; bin++)
                if (windows[window].counts[canary][bin])
                    strbuf_printf(out, "%d,%d,%d,%u\n", window, canary, bin,
                                  (unsigned)windows[window].counts[canary][bin]);
}

static int record_canaries(const char *directory, const struct session *session, struct err *err)
{
    struct arena arena = {0};
    struct program program = {0};
    struct strbuf out = {0};
    struct exec_floor *windows = xcalloc(FLOOR_WINDOWS, sizeof *windows);
    const struct exec_params params = session_params(session, 64);
    int status = session_build_nop(session, "canaries", 64, &arena, &program, err);
    if (status == 0)
        status = floor_look(program.path, &params, 0, FLOOR_QUICK_ROUNDS, windows, err);
    status = session_check_stopped(status, err);
    if (status == 0) {
        put_canaries(windows, &out);
        status = record_file(directory, "canary.csv", &out, err);
    }
    strbuf_free(&out);
    strbuf_printf(&out, "canary,clk_per_instr,issue_width\n%u,%.6f,%d\n",
                  (unsigned)session->params.config.canary,
                  session->params.config.floor_clk_per_instr, session->issue_width);
    if (status == 0)
        status = record_file(directory, "floor.csv", &out, err);
    strbuf_free(&out);
    free(windows);
    arena_free(&arena);
    return status;
}

// Records facts that need no measurement.
static int record_known(const struct record_request *request, struct store *store,
                        const struct session *session, int64_t run_id, struct err *err)
{
    const struct pack_what what = {.run_id = run_id, .keep = MERGE_KEEP_KERNELS};
    char *cpu = xasprintf("%s/cpu.txt", request->output);
    char *run = xasprintf("%s/run.zip", request->output);
    int status = cpu_save(session->cpu, cpu, err) < 0 ? -1 : 0;
    if (status == 0)
        status = pack_write(store, &what, run, err);
    free(cpu);
    free(run);
    return status;
}

int record_write(const struct record_request *request, struct store *store, struct session *session,
                 struct port_table *table, struct err *err)
{
    int status = record_canaries(request->output, session, err);
    if (status == 0)
        status = record_mixes(request, session, table, true, err);
    if (status == 0)
        status = record_mixes(request, session, table, false, err);
    return status == 0 ? record_known(request, store, session, table->run_id, err) : status;
}
