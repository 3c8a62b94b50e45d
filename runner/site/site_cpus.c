// SPDX-License-Identifier: MIT
// The CPUs of a database with their runs; see site_internal.h. A CPU is a machine for which the
// views have one row per form (store_machines_apart()).
#include "site_internal.h"

#include "diff/diff.h"
#include "report/report.h"
#include "store/store_machines.h"
#include "store/store_ports.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Columns of run_table that the page shows.
static const char *const run_columns[] = {
    "run_id",       "version",        "nasm_version",   "os_kernel",     "backend",
    "tables",       "frequency",      "selection",      "tsc_hz",        "core_hz",
    "issue_width",  "measured_width", "calib_link_clk", "measuring_cpu", "started_utc",
    "finished_utc", "kernels",        "seconds",        "claimed_uarch", "decided",
    "evidence",     "vendor",         "brand",          "signature",     "family",
    "model",        "stepping",       "uarch",          "uarch_name",    "microcode",
    "hypervisor",   "features",       "forms",          "counted",
};

static const char *cpu_text(struct site_cpus *cpus, struct store_rows *rows, const char *column)
{
    return arena_strdup(&cpus->arena, store_exact_of(rows, column));
}

static void cpus_add_run(struct site_cpus *cpus, struct store_rows *rows)
{
    struct site_cpu cpu = {
        .key = cpu_text(cpus, rows, "uarch"),
        .machine = store_brand_short(&cpus->arena, store_exact_of(rows, "brand")),
        .vendor = cpu_text(cpus, rows, "vendor"),
        .family = store_integer_of(rows, "family"),
        .model = store_integer_of(rows, "model"),
    };
    int at = 0;
    while (at < cpus->ncpus && strcmp(cpus->cpus[at].key, cpu.key) != 0)
        at++;
    if (at == cpus->ncpus) {
        cpus->cpus = xgrow(cpus->cpus, &cpus->cpus_capacity, (size_t)at + 1, sizeof cpu);
        cpus->cpus[cpus->ncpus++] = cpu;
    }
    cpus->runs =
        xgrow(cpus->runs, &cpus->runs_capacity, (size_t)cpus->nruns + 1, sizeof *cpus->runs);
    cpus->runs[cpus->nruns++] = (struct site_run){store_integer_of(rows, "run_id"), at};
}

// Orders vendors by name, then families and models by number, which is about the order of time.
static int cpu_compare(const void *a, const void *b)
{
    const struct site_cpu *one = a, *two = b;
    int order = strcmp(one->vendor, two->vendor);
    if (order == 0)
        order = (one->family > two->family) - (one->family < two->family);
    if (order == 0)
        order = (one->model > two->model) - (one->model < two->model);
    return order ? order : strcmp(one->key, two->key);
}

// Sorts the CPUs and adapts the runs' indices.
static void cpus_sort(struct site_cpus *cpus)
{
    const char **keys = xcalloc((size_t)cpus->ncpus + 1, sizeof *keys);
    for (int c = 0; c < cpus->ncpus; c++)
        keys[c] = cpus->cpus[c].key;
    if (cpus->ncpus > 0)
        qsort(cpus->cpus, (size_t)cpus->ncpus, sizeof *cpus->cpus, cpu_compare);
    for (int r = 0; r < cpus->nruns; r++) {
        int at = 0;
        while (cpus->cpus[at].key != keys[cpus->runs[r].cpu])
            at++;
        cpus->runs[r].cpu = at;
    }
    free(keys);
}

// Returns a name that can name a file: characters that are unusual there become '_'.
static char *cpu_file_stem(const char *name)
{
    char *stem = xstrdup(name);
    for (char *at = stem; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("_-+", *at))
            *at = '_';
    return stem;
}

// Names the files "cpu_zen5", or "cpu_zen5-2" if another CPU has that name, since several names may
// become one. No other data file begins like this, whatever a pack calls its CPU.
static void cpus_name_files(struct site_cpus *cpus)
{
    for (int c = 0; c < cpus->ncpus; c++) {
        char *stem = cpu_file_stem(cpus->cpus[c].key);
        const char *name = arena_printf(&cpus->arena, "cpu_%s", stem);
        for (int n = 2, i = 0; i < c; i++)
            if (strcmp(cpus->cpus[i].file, name) == 0) {
                name = arena_printf(&cpus->arena, "cpu_%s-%d", stem, n++);
                i = -1;
            }
        cpus->cpus[c].file = name;
        free(stem);
    }
}

// Finds for each CPU the newest run with a structure of ports.
static int cpus_find_ports(struct store *store, struct site_cpus *cpus, struct err *err)
{
    int got = 0;
    for (int r = 0; r < cpus->nruns && got >= 0; r++) {
        struct site_cpu *cpu = &cpus->cpus[cpus->runs[r].cpu];
        struct stored_port_model model;
        struct arena arena = {0};
        if (cpu->ports_run_id == 0)
            got = store_get_port_model(store, cpus->runs[r].run_id, &model, &arena, err);
        if (cpu->ports_run_id == 0 && got > 0)
            cpu->ports_run_id = cpus->runs[r].run_id;
        arena_free(&arena);
    }
    return got < 0 ? -1 : 0;
}

// Returns true if a text, with commas between its words, has the word.
static bool words_have(const char *words, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = words; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, len) == 0 && (at[len] == ',' || !at[len]))
            return true;
    }
    return false;
}

int site_cpus_read(struct store *store, const char *uarchs, struct site_cpus *cpus, struct err *err)
{
    *cpus = (struct site_cpus){0};
    bool apart = store_machines_apart(store, err) == 0 && store_keep_best(store, err) == 0;
    struct store_rows *rows = apart ? store_rows_open(store, STORE_VIEW_RUN, NULL, err) : NULL;
    if (!rows)
        return -1;
    int got;
    while ((got = store_rows_next(rows, err)) > 0)
        if (!uarchs || words_have(uarchs, store_exact_of(rows, "uarch")))
            cpus_add_run(cpus, rows);
    store_rows_close(rows);
    if (got < 0)
        return -1;
    cpus_sort(cpus);
    cpus_name_files(cpus);
    return cpus_find_ports(store, cpus, err);
}

int site_cpu_of_run(const struct site_cpus *cpus, int64_t run_id)
{
    for (int r = 0; r < cpus->nruns; r++)
        if (cpus->runs[r].run_id == run_id)
            return cpus->runs[r].cpu;
    return -1;
}

void site_cpus_free(struct site_cpus *cpus)
{
    free(cpus->cpus);
    free(cpus->runs);
    arena_free(&cpus->arena);
    *cpus = (struct site_cpus){0};
}

static void run_value_json(struct store_rows *rows, const char *name, struct json *json)
{
    int column = store_rows_column(rows, name);
    json_name(json, name);
    switch (store_rows_type(rows, column)) {
    case STORE_NULL:
        json_null(json);
        break;
    case STORE_INTEGER:
        json_int(json, store_rows_integer(rows, column));
        break;
    case STORE_REAL:
        json_digits(json, store_rows_real(rows, column), 15);
        break;
    case STORE_TEXT:
        json_text(json, store_rows_exact(rows, column));
        break;
    }
}

static int run_warnings_json(struct store *store, int64_t run_id, struct json *json,
                             struct err *err)
{
    struct store_filter filter = {.run_id = run_id};
    struct store_rows *rows = store_rows_open(store, STORE_VIEW_WARNING, &filter, err);
    if (!rows)
        return -1;
    int got;
    json_open(json_name(json, "warnings"), '[');
    while ((got = store_rows_next(rows, err)) > 0) {
        json_open(json, '{');
        run_value_json(rows, "text", json);
        run_value_json(rows, "remedy", json);
        json_close(json, '}');
    }
    json_close(json, ']');
    store_rows_close(rows);
    return got;
}

static int run_json(struct store *store, int64_t run_id, struct json *json, struct err *err)
{
    struct store_filter filter = {.run_id = run_id};
    struct store_rows *rows = store_rows_open(store, STORE_VIEW_RUN, &filter, err);
    if (!rows)
        return -1;
    int got = store_rows_next(rows, err);
    if (got > 0) {
        json_open(json, '{');
        for (size_t i = 0; i < ARRAY_LEN(run_columns); i++)
            run_value_json(rows, run_columns[i], json);
        got = run_warnings_json(store, run_id, json, err);
        json_close(json, '}');
    }
    store_rows_close(rows);
    return got;
}

static int cpu_ports_json(struct store *store, const struct site_cpu *cpu, struct json *json,
                          struct err *err)
{
    struct stored_port_model model;
    struct arena arena = {0};
    int got =
        cpu->ports_run_id ? store_get_port_model(store, cpu->ports_run_id, &model, &arena, err) : 0;
    if (got > 0)
        report_ports_object(&model, cpu->key, json_name(json, "ports"));
    arena_free(&arena);
    return got < 0 ? -1 : 0;
}

int site_cpu_json(struct store *store, const struct site_cpus *cpus, int cpu, struct json *json,
                  struct err *err)
{
    const struct site_cpu *one = &cpus->cpus[cpu];
    char family[64];
    json_text(json_name(json, "key"), one->key);
    json_text(json_name(json, "machine"), one->machine);
    json_text(json_name(json, "file"), one->file);
    json_int(json_name(json, "forms"), one->forms);
    json_text_known(json_name(json, "ports_family"), diff_family(one->key, family, sizeof family));
    int result = cpu_ports_json(store, one, json, err);
    json_open(json_name(json, "runs"), '[');
    for (int r = 0; r < cpus->nruns && result == 0; r++)
        if (cpus->runs[r].cpu == cpu)
            result = run_json(store, cpus->runs[r].run_id, json, err);
    json_close(json, ']');
    return result;
}
