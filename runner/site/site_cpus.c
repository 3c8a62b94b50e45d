// SPDX-License-Identifier: MIT
// The CPUs of a database with their runs; see site_internal.h. A CPU is a machine for which the
// views have one row per form (store_machines_apart()).
#include "site_internal.h"

#include "diff/diff.h"
#include "report/report.h"
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

// Returns the length of a word of a brand, with the blanks after it, and sets *plain if people say
// it.
static size_t brand_word(const char *at, bool *plain)
{
    static const char *const others[] = {"AMD", "Intel", "Genuine", "CPU", "Processor"};
    size_t len = strcspn(at, " ");
    bool count =
        strspn(at, "0123456789") > 0 && strncmp(at + strspn(at, "0123456789"), "-Core", 5) == 0;
    *plain = !count;
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        *plain &= strlen(others[i]) != len || strncmp(at, others[i], len) != 0;
    return len;
}

const char *site_brand_short(struct arena *arena, const char *brand)
{
    struct strbuf bare = {0}, out = {0};
    size_t len = strcspn(brand, "@"); // a clock follows
    for (size_t i = 0; i < len;)
        if (strncmp(brand + i, "(R)", 3) == 0 || strncmp(brand + i, "(TM)", 4) == 0)
            i += brand[i + 1] == 'R' ? 3 : 4;
        else
            strbuf_put(&bare, brand + i++, 1);
    for (const char *at = strbuf_text(&bare); *at;) {
        bool plain;
        size_t word = brand_word(at, &plain);
        if (word > 0 && plain) {
            strbuf_puts(&out, out.len > 0 ? " " : "");
            strbuf_put(&out, at, word);
        }
        at += word + strspn(at + word, " ");
    }
    const char *kept = arena_strdup(arena, strbuf_text(&out));
    strbuf_free(&bare);
    strbuf_free(&out);
    return kept;
}

static bool cpu_same(const struct site_cpu *a, const struct site_cpu *b)
{
    return a->signature == b->signature && strcmp(a->uarch, b->uarch) == 0 &&
           strcmp(a->vendor, b->vendor) == 0 && strcmp(a->brand, b->brand) == 0;
}

// Returns true if another CPU has the same key.
static bool key_shared(const struct site_cpus *cpus, int cpu)
{
    for (int c = 0; c < cpus->ncpus; c++)
        if (c != cpu && strcmp(cpus->cpus[c].key, cpus->cpus[cpu].key) == 0)
            return true;
    return false;
}

// Names each CPU by its uarch, and as far as others have the same name by its vendor and signature
// (CPUs that the tables do not know always), its brand, and its brand in full with the signature.
static void cpus_name_keys(struct site_cpus *cpus)
{
    bool *shared = xcalloc((size_t)cpus->ncpus + 1, sizeof *shared);
    for (int c = 0; c < cpus->ncpus; c++) {
        struct site_cpu *cpu = &cpus->cpus[c];
        cpu->key = strcmp(cpu->uarch, "unknown") != 0
                       ? cpu->uarch
                       : arena_printf(&cpus->arena, "unknown %s %08X", cpu->vendor,
                                      (unsigned)cpu->signature);
    }
    for (int step = 0; step < 2; step++) {
        for (int c = 0; c < cpus->ncpus; c++)
            shared[c] = key_shared(cpus, c);
        for (int c = 0; c < cpus->ncpus; c++) {
            struct site_cpu *cpu = &cpus->cpus[c];
            if (shared[c] && step == 0 && *cpu->machine)
                cpu->key = arena_printf(&cpus->arena, "%s %s", cpu->key, cpu->machine);
            else if (shared[c] && step > 0)
                cpu->key = arena_printf(&cpus->arena, "%s %s %s %08X", cpu->uarch, cpu->vendor,
                                        cpu->brand, (unsigned)cpu->signature);
        }
    }
    free(shared);
}

static void cpus_add_run(struct site_cpus *cpus, struct store_rows *rows)
{
    struct site_cpu cpu = {
        .uarch = cpu_text(cpus, rows, "uarch"),
        .vendor = cpu_text(cpus, rows, "vendor"),
        .brand = cpu_text(cpus, rows, "brand"),
        .family = store_integer_of(rows, "family"),
        .model = store_integer_of(rows, "model"),
        .signature = store_integer_of(rows, "signature"),
    };
    cpu.machine = site_brand_short(&cpus->arena, cpu.brand);
    int at = 0;
    while (at < cpus->ncpus && !cpu_same(&cpus->cpus[at], &cpu))
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
    struct store_rows *rows = store_machines_apart(store, err) == 0
                                  ? store_rows_open(store, STORE_VIEW_RUN, NULL, err)
                                  : NULL;
    if (!rows)
        return -1;
    int got;
    while ((got = store_rows_next(rows, err)) > 0)
        if (!uarchs || words_have(uarchs, store_exact_of(rows, "uarch")))
            cpus_add_run(cpus, rows);
    store_rows_close(rows);
    if (got < 0)
        return -1;
    cpus_name_keys(cpus);
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
    json_text_known(json_name(json, "ports_family"),
                    diff_family(one->uarch, family, sizeof family));
    int result = cpu_ports_json(store, one, json, err);
    json_open(json_name(json, "runs"), '[');
    for (int r = 0; r < cpus->nruns && result == 0; r++)
        if (cpus->runs[r].cpu == cpu)
            result = run_json(store, cpus->runs[r].run_id, json, err);
    json_close(json, ']');
    return result;
}
