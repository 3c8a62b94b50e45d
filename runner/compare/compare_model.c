// SPDX-License-Identifier: MIT
// Reads LLVM's model; see compare_model.h. llvm-exegesis prints the model of the classes that
// contradict measurements, so it gets measurements that contradict every model. Its table of
// clusters has the class of each, resolved by operands where necessary. The clusters themselves are
// not used: one per opcode takes a tenth of the time that its default takes.
#include "compare_model.h"

#include "util/file_write.h"
#include "util/json.h"
#include "util/scratch.h"
#include "util/subproc.h"
#include "llvm/llvm_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char model_impossible[] = "1000000"; // cycles: more than any instruction takes

// --- what llvm-exegesis reads ---

static void model_documents(const struct known_cpu *data, const struct llvm_instr *instrs,
                            const char *cpu, struct strbuf *out)
{
    struct json json = {.out = out};
    for (int i = 0; i < data->nforms; i++) {
        if (instrs[i].why)
            continue;
        char *text = xasprintf("%s %s", instrs[i].opcode, instrs[i].operands);
        strbuf_puts(out, "---\nmode: inverse_throughput\nkey:\n  instructions:\n    - ");
        json.more = false;
        json_text(&json, text);
        strbuf_printf(
            out,
            "\n  config: 'f%d'\n  register_initial_values: []\ncpu_name: %s\n"
            "llvm_triple: x86_64-unknown-linux-gnu\nmin_instructions: 1\nmeasurements:\n"
            "  - { key: inverse_throughput, value: %s, per_snippet_value: %s, "
            "validation_counters: {} }\nerror: ''\ninfo: ''\nassembled_snippet: C3\n...\n",
            i, cpu, model_impossible, model_impossible);
        free(text);
    }
}

// --- what it writes ---

// Returns the text between two marks after *at, which moves past the second; NULL: none.
static const char *between(struct arena *arena, const char **at, const char *begin, const char *end)
{
    const char *from = strstr(*at, begin);
    const char *to = from ? strstr(from + strlen(begin), end) : NULL;
    if (!to)
        return NULL;
    from += strlen(begin);
    *at = to + strlen(end);
    return arena_strndup(arena, from, (size_t)(to - from));
}

// Reads the resources of a cell. Returns their number.
static int model_read_resources(struct arena *arena, const char *cell,
                                struct model_resource resources[MODEL_RESOURCES_MAX])
{
    const char *name;
    int n = 0;
    while (n < MODEL_RESOURCES_MAX &&
           (name = between(arena, &cell, "class=\"mono\">", "</span>: ")))
        resources[n++] = (struct model_resource){.name = name, .count = strtod(cell, NULL)};
    return n;
}

// Reads one row: valid, variant, µops, latencies, reciprocal throughput, resources, pressure.
static void model_read_description(struct arena *arena, const char *row, struct model_class *class)
{
    static const char tick[] = "&#10004;";
    const char *cells[7] = {NULL};
    for (size_t i = 0; i < ARRAY_LEN(cells); i++)
        if (!(cells[i] = between(arena, &row, "<td>", "</td>")))
            return;
    class->valid = strcmp(cells[0], tick) == 0 && strcmp(cells[1], tick) != 0;
    class->uops = atoi(cells[2]);
    for (const char *at = cells[3]; (at = strstr(at, "<li>")); at += strlen("<li>"))
        if (atof(at + strlen("<li>")) > class->latency_clk)
            class->latency_clk = atof(at + strlen("<li>"));
    class->rthroughput_clk = atof(cells[4]);
    class->nresources = model_read_resources(arena, cells[5], class->resources);
    class->npressure = model_read_resources(arena, cells[6], class->pressure);
}

static int model_compare_names(const void *a, const void *b)
{
    return strcmp(((const struct model_class *)a)->name, ((const struct model_class *)b)->name);
}

static void model_read_classes(struct arena *arena, const char *html, struct model *model)
{
    static const char mark[] = "<div class=\"inconsistency\">";
    int count = 0;
    for (const char *at = html; (at = strstr(at, mark)); at += strlen(mark))
        count++;
    model->classes = arena_alloc(arena, ((size_t)count + 1) * sizeof *model->classes);
    for (const char *at = html; (at = strstr(at, mark)) && model->nclasses < count;) {
        struct model_class *class = &model->classes[model->nclasses];
        at += strlen(mark);
        const char *row = strstr(at, "<table class=\"sched-class-desc\">");
        class->name = between(arena, &at, "sched-class-name\">", "</span>");
        row = row ? strstr(row, "<tr><td>") : NULL;
        if (!class->name || !row)
            continue;
        model_read_description(arena, row, class);
        model->nclasses++;
    }
    if (model->nclasses > 0)
        qsort(model->classes, (size_t)model->nclasses, sizeof *model->classes, model_compare_names);
}

// Reads a line of clusters: id,"text",f123,CLASS,value. Only the text may have commas.
static void model_read_line(char *line, const struct model *model, int nforms,
                            const struct model_class **of)
{
    char *cuts[3];
    for (int i = 2; i >= 0; i--) {
        cuts[i] = strrchr(line, ',');
        if (!cuts[i])
            return;
        *cuts[i] = '\0';
    }
    struct model_class key = {.name = cuts[1] + 1};
    int form = cuts[0][1] == 'f' ? atoi(cuts[0] + 2) : -1;
    if (form < 0 || form >= nforms || model->nclasses == 0)
        return;
    const struct model_class *class =
        bsearch(&key, model->classes, (size_t)model->nclasses, sizeof key, model_compare_names);
    of[form] = class && class->valid ? class : NULL;
}

static char *model_read_file(const char *directory, const char *name, struct err *err)
{
    char *path = xasprintf("%s/%s", directory, name), *text = NULL;
    FILE *file = fopen(path, "r");
    struct strbuf all = {0};
    char block[65536];
    size_t got;
    while (file && (got = fread(block, 1, sizeof block, file)) > 0)
        strbuf_put(&all, block, got);
    if (!file || ferror(file))
        err_set(err, "%s: llvm-exegesis has not written it", path);
    else
        text = xstrdup(strbuf_text(&all));
    if (file)
        fclose(file);
    strbuf_free(&all);
    free(path);
    return text;
}

static int model_run_mca(const char *directory, struct arena *arena, struct model *model,
                         struct err *err)
{
    char *mcpu = xasprintf("-mcpu=%s", model->cpu), *path = xasprintf("%s/nop.s", directory);
    const char *const arguments[] = {"-mtriple=x86_64-unknown-linux-gnu", mcpu, "-iterations=1",
                                     "nop.s", NULL};
    struct subproc_result result;
    int status = file_write(path, "nop\n", 4, err);
    if (status == 0)
        status = llvm_run("llvm-mca", arguments, directory, NULL, &result, err);
    if (status == 0) {
        model_read_units(arena, result.out, model);
        if (result.exit_status || model->width <= 0)
            status = err_set(err, "llvm-mca tells nothing of '%s': %.600s", model->cpu, result.err);
        subproc_result_free(&result);
    }
    free(path);
    free(mcpu);
    return status;
}

static int model_run(const char *directory, struct err *err)
{
    static const char *const arguments[] = {"--mode=analysis",
                                            "--benchmarks-file=forms.yaml",
                                            "--analysis-clustering=naive",
                                            "--analysis-clusters-output-file=clusters.csv",
                                            "--analysis-inconsistencies-output-file=model.html",
                                            NULL};
    struct subproc_result result;
    if (llvm_run("llvm-exegesis", arguments, directory, NULL, &result, err) != 0)
        return -1;
    int status = result.exit_status ? err_set(err, "llvm-exegesis failed: %.600s", result.err) : 0;
    subproc_result_free(&result);
    return status;
}

static int model_in(const char *directory, struct known_cpu *data, const struct llvm_instr *instrs,
                    struct model *model, const struct model_class **of, struct err *err)
{
    struct strbuf yaml = {0};
    char *path = xasprintf("%s/forms.yaml", directory);
    model_documents(data, instrs, model->cpu, &yaml);
    int status = yaml.len > 0 ? file_write(path, strbuf_text(&yaml), yaml.len, err)
                              : err_set(err, "LLVM takes none of the %d forms for one instruction",
                                        data->nforms);
    free(path);
    strbuf_free(&yaml);
    char *html = NULL, *clusters = NULL;
    if (status == 0)
        status = model_run_mca(directory, &data->arena, model, err);
    if (status == 0)
        status = model_run(directory, err);
    if (status == 0 && (!(html = model_read_file(directory, "model.html", err)) ||
                        !(clusters = model_read_file(directory, "clusters.csv", err))))
        status = -1;
    if (status == 0) {
        model_read_classes(&data->arena, html, model);
        model_resolve(model);
        for (char *line = strtok(clusters, "\n"); line; line = strtok(NULL, "\n"))
            model_read_line(line, model, data->nforms, of);
        if (model->nclasses == 0)
            status = err_set(err, "LLVM has no scheduling model for '%s'", model->cpu);
    }
    free(html);
    free(clusters);
    return status;
}

int model_read(struct known_cpu *data, const struct llvm_instr *instrs, const char *cpu,
               struct model *model, const struct model_class *const **of, struct err *err)
{
    const struct model_class **classes =
        arena_alloc(&data->arena, ((size_t)data->nforms + 1) * sizeof(const struct model_class *));
    char *directory = scratch_begin(err);
    *model = (struct model){.cpu = arena_strdup(&data->arena, cpu)};
    int status = directory ? model_in(directory, data, instrs, model, classes, err) : -1;
    scratch_end(directory, false);
    *of = classes;
    return status;
}
