// SPDX-License-Identifier: MIT
// A draft of LLVM's scheduling model in TableGen: resources, and a SchedWriteRes for all opcodes of
// equal latency, resources, cycles and µops. What is not sure is marked beside it.
#include "export_formats.h"
#include "export_internal.h"
#include "llvm/llvm.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char sched_again[] = "another form of the same LLVM opcode stands for it";
enum { SCHED_NAMED = 3, SCHED_OPCODES_A_LINE = 4, SCHED_PREFIX_MAX = 40 };

// An opcode, by the form that stands for it.
struct sched_form {
    const struct known_form *form;
    const char *opcode;
    const char *body; // of its SchedWriteRes, and what is not sure: equal ones are a class
};

static const char *sched_prefix(const struct known_cpu *data, char prefix[SCHED_PREFIX_MAX])
{
    size_t n = 0;
    for (const char *at = data->uarch; *at && n + 1 < SCHED_PREFIX_MAX; at++)
        if (isalnum((unsigned char)*at))
            prefix[n++] = *at;
    prefix[n] = '\0';
    prefix[0] = (char)toupper((unsigned char)prefix[0]);
    return prefix;
}

// --- resources ---

// Appends the name of the ports of a set: a port alone has its own, several are a group.
static void sched_put_set(struct strbuf *out, const char *prefix, const struct port_model *model,
                          uint32_t set)
{
    int ports[PORTS_MAX], n = port_set_ports(model, set, ports);
    strbuf_printf(out, "%sPort", prefix);
    for (int i = 0; i < n; i++)
        strbuf_printf(out, "%s%d", i ? "_" : "", ports[i]);
}

static void sched_put_resources(struct strbuf *out, const char *prefix,
                                const struct port_model *model)
{
    char label[PORT_LABEL_MAX];
    for (int port = 0; port < model->nports; port++) {
        port_label(model, port, label);
        strbuf_printf(out, "def %sPort%d : ProcResource<1>; // ", prefix, port);
        export_line(out, label);
        strbuf_puts(out, "\n");
    }
    for (int u = 0; u < model->nunits; u++) {
        strbuf_printf(out, "def %sUnit%d : ProcResource<1>; // ", prefix, u);
        export_line(out, model->units[u].name);
        strbuf_puts(out, "\n");
    }
}

static int sched_compare_sets(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

// Defines the sets of several ports that forms use.
static void sched_put_groups(struct strbuf *out, const char *prefix, const struct known_cpu *data,
                             const struct sched_form *forms, int n)
{
    size_t room = 0, nsets = 0;
    uint32_t *sets = NULL;
    for (int i = 0; i < n; i++) {
        const struct port_usage *usage = forms[i].form->usage;
        for (int u = 0; usage && forms[i].form->model == data->model && u < usage->uses.n; u++) {
            sets = xgrow(sets, &room, nsets + 1, sizeof *sets);
            sets[nsets++] = usage->uses.use[u].set;
        }
    }
    if (nsets > 0)
        qsort(sets, nsets, sizeof *sets, sched_compare_sets);
    for (size_t i = 0; i < nsets; i++) {
        int ports[PORTS_MAX], nports = port_set_ports(data->model, sets[i], ports);
        if (nports < 2 || (i > 0 && sets[i] == sets[i - 1]))
            continue;
        strbuf_puts(out, "def ");
        sched_put_set(out, prefix, data->model, sets[i]);
        strbuf_puts(out, " : ProcResGroup<[");
        for (int p = 0; p < nports; p++)
            strbuf_printf(out, "%s%sPort%d", p ? ", " : "", prefix, ports[p]);
        strbuf_puts(out, "]>;\n");
    }
    free(sets);
}

// --- classes ---

// Appends the resources of a form, then the cycles that each is busy. Returns what is not sure.
static const char *sched_put_uses(struct strbuf *out, const char *prefix,
                                  const struct known_cpu *data, const struct known_form *form)
{
    struct strbuf cycles = {0};
    const struct port_usage *usage = form->usage;
    const char *unsure = "", *comma = "";
    if (!usage || form->model != data->model)
        usage = NULL, unsure = "ports are not known";
    else if (usage->ambiguous)
        unsure = "ports are ambiguous";
    for (int i = 0; usage && i < usage->uses.n; i++, comma = ", ") {
        strbuf_puts(out, comma);
        sched_put_set(out, prefix, form->model, usage->uses.use[i].set);
        strbuf_printf(&cycles, "%s%d", comma, usage->uses.use[i].uops);
    }
    const struct port_demand *unit = usage ? port_usage_unit(form->model, usage) : NULL;
    if (unit && unit->clk > 0) {
        strbuf_printf(out, "%s%sUnit%d", comma, prefix, unit->unit);
        strbuf_printf(&cycles, "%s%ld", comma, lround(fmax(unit->clk, 1)));
    }
    strbuf_puts(out, "]> {\n");
    if (cycles.len)
        strbuf_printf(out, "  let ReleaseAtCycles = [%s];\n", strbuf_text(&cycles));
    strbuf_free(&cycles);
    return unsure;
}

// Makes the body of the class of a form. LLVM's latencies are whole cycles.
static const char *sched_body(struct known_cpu *data, const char *prefix,
                              const struct known_form *form)
{
    struct strbuf body = {0}, unsure = {0};
    struct llvm_latency latency;
    strbuf_puts(&body, "SchedWriteRes<[");
    const char *ports = sched_put_uses(&body, prefix, data, form);
    bool known = llvm_latency(form, &latency) && !isnan(latency.most);
    if (known)
        strbuf_printf(&body, "  let Latency = %ld;\n", lround(fmax(latency.most, 0)));
    if (form->uops >= 0)
        strbuf_printf(&body, "  let NumMicroOps = %d;\n", form->uops);
    strbuf_puts(&body, "}\n");
    if (*ports)
        strbuf_printf(&unsure, "; %s", ports);
    if (!known)
        strbuf_puts(&unsure, "; no latency to a register is known");
    else if (isnan(latency.least) || latency.most > latency.least * 1.005 + 0.05)
        strbuf_printf(&unsure, "; the latency is %s",
                      isnan(latency.least) ? "an upper bound" : "the largest of several");
    if (form->uops_upper)
        strbuf_puts(&unsure, "; µops are an upper bound");
    if (unsure.len)
        strbuf_printf(&body, "// not sure: %s\n", strbuf_text(&unsure) + 2);
    const char *text = arena_strdup(&data->arena, strbuf_text(&body));
    strbuf_free(&body);
    strbuf_free(&unsure);
    return text;
}

static int sched_compare_opcodes(const void *a, const void *b)
{
    const struct sched_form *x = a, *y = b;
    int order = strcmp(x->opcode, y->opcode);
    if (order == 0)
        order = (*x->form->options != '\0') - (*y->form->options != '\0');
    return order ? order : stored_form_compare(&x->form->id, &y->form->id);
}

static int sched_compare_bodies(const void *a, const void *b)
{
    const struct sched_form *x = a, *y = b;
    int order = strcmp(x->body, y->body);
    return order ? order : strcmp(x->opcode, y->opcode);
}

// Writes a class with the number of its forms, some of them as evidence, and its opcodes.
static void sched_put_class(struct strbuf *out, const char *prefix, int number,
                            const struct sched_form *forms, int n)
{
    const char *mark = strstr(forms[0].body, "// not sure");
    size_t len = mark ? (size_t)(mark - forms[0].body) : strlen(forms[0].body);
    strbuf_printf(out, "\n// %d form%s, such as ", n, n == 1 ? "" : "s");
    for (int i = 0; i < n && i < SCHED_NAMED; i++) {
        strbuf_puts(out, i ? "; " : "");
        export_line(out, forms[i].form->id.form);
        if (!isnan(forms[i].form->rthroughput_clk))
            strbuf_printf(out, " (1/tput %s%.2f)", forms[i].form->rthroughput_upper ? "<=" : "",
                          forms[i].form->rthroughput_clk);
    }
    strbuf_printf(out, "\n%sdef %sWrite%d : %.*s", mark ? mark : "", prefix, number, (int)len,
                  forms[0].body);
    strbuf_printf(out, "def : InstRW<[%sWrite%d], (instrs", prefix, number);
    for (int i = 0; i < n; i++)
        strbuf_printf(out, "%s%s%s", i ? "," : "",
                      i > 0 && i % SCHED_OPCODES_A_LINE == 0 ? "\n    " : " ", forms[i].opcode);
    strbuf_puts(out, ")>;\n");
}

static void sched_put(struct known_cpu *data, struct sched_form *forms, int n, struct strbuf *out)
{
    char prefix[SCHED_PREFIX_MAX];
    int number = 0;
    sched_prefix(data, prefix);
    for (int i = 0; i < n; i++)
        forms[i].body = sched_body(data, prefix, forms[i].form);
    strbuf_puts(out, "// A draft of a scheduling model of ");
    export_line(out, data->uarch);
    strbuf_puts(out, ", measured by latput ");
    export_line(out, data->version);
    strbuf_puts(out,
                ".\n// Loads are part of the forms; whole cycles stand for measured ones.\n\n");
    strbuf_printf(out, "def %sModel : SchedMachineModel {\n", prefix);
    if (data->model && data->model->width > 0)
        strbuf_printf(out, "  let IssueWidth = %d;\n", data->model->width);
    strbuf_printf(out, "  let CompleteModel = 0;\n}\n\nlet SchedModel = %sModel in {\n\n", prefix);
    if (data->model) {
        sched_put_resources(out, prefix, data->model);
        sched_put_groups(out, prefix, data, forms, n);
    }
    if (n > 0)
        qsort(forms, (size_t)n, sizeof *forms, sched_compare_bodies);
    for (int i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && strcmp(forms[i].body, forms[end].body) == 0;)
            end++;
        sched_put_class(out, prefix, number++, forms + i, end - i);
    }
    strbuf_printf(out, "\n} // SchedModel = %sModel\n", prefix);
}

static int sched_write(struct known_cpu *data, struct export_out *out, struct err *err)
{
    struct llvm_instr *instrs;
    int n = 0;
    if (llvm_decode(data, &instrs, err) != 0)
        return -1;
    struct sched_form *forms = xmalloc(((size_t)data->nforms + 1) * sizeof *forms);
    for (int i = 0; i < data->nforms; i++) {
        const struct known_form *form = &data->forms[i];
        if (export_llvm_takes(out, form, &instrs[i]))
            forms[n++] = (struct sched_form){form, instrs[i].opcode, NULL};
    }
    if (n > 0)
        qsort(forms, (size_t)n, sizeof *forms, sched_compare_opcodes);
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (kept > 0 && strcmp(forms[kept - 1].opcode, forms[i].opcode) == 0)
            export_leave(out, forms[i].form, sched_again);
        else
            forms[kept++] = forms[i];
    sched_put(data, forms, kept, &out->text);
    out->written = kept;
    free(forms);
    return 0;
}

const struct export_format export_llvm_sched = {
    "llvm-sched", "TableGen, a draft of LLVM's scheduling model", KNOWN_CODE, sched_write};
