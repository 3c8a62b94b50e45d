// SPDX-License-Identifier: MIT
// Input of generators of LLVM's scheduling models (schedtool): one object per opcode: {"DIVSDrr":
// {"Port": [[1, ["p0"]]], "Class": ["p0"], "Unit": ["U2", 4.01], "Uops": 1, "Tp": 4.01,
// "Latency": 13.03}}. Class has the names of the sets of ports in Port, Unit what is kept busy
// beside them, and for how long.
#include "export_formats.h"
#include "export_internal.h"
#include "llvm/llvm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DECIMALS = 2 }; // of cycles

static const char llvm_json_again[] = "another form of the same LLVM opcode stands for it";

static void llvm_json_ports(struct json *json, const struct known_form *form)
{
    json_open(json_name(json, "Port"), '[');
    for (int i = 0; i < form->usage->uses.n; i++) {
        const struct port_use *use = &form->usage->uses.use[i];
        int ports[PORTS_MAX], n = port_set_ports(form->model, use->set, ports);
        json_open(json, '[');
        json_int(json, use->uops);
        json_open(json, '[');
        for (int j = 0; j < n; j++) {
            char label[PORT_LABEL_MAX];
            port_label(form->model, ports[j], label);
            json_text(json, label);
        }
        json_close(json, ']');
        json_close(json, ']');
    }
    json_close(json, ']');
}

// Writes the names of the sets: "1*p0156B+2*STORE" has p0156B and STORE.
static void llvm_json_classes(struct json *json, const struct known_form *form)
{
    json_open(json_name(json, "Class"), '[');
    for (const char *at = form->ports ? form->ports : ""; (at = strchr(at, '*'));) {
        size_t len = strcspn(++at, "+");
        char *name = xasprintf("%.*s", (int)len, at);
        json_text(json, name);
        free(name);
    }
    json_close(json, ']');
}

static void llvm_json_unit(struct json *json, const struct known_form *form)
{
    const struct port_demand *unit = port_usage_unit(form->model, form->usage);
    if (!unit || !(unit->clk > 0))
        return;
    json_open(json_name(json, "Unit"), '[');
    json_text(json, form->model->units[unit->unit].name);
    json_fixed(json, unit->clk, DECIMALS);
    json_close(json, ']');
}

static void llvm_json_form(struct json *json, const struct known_form *form, const char *opcode)
{
    struct llvm_latency latency;
    json_open(json_name(json_break(json, "\n"), opcode), '{');
    if (form->usage && form->model && !form->usage->ambiguous) {
        llvm_json_ports(json, form);
        llvm_json_classes(json, form);
        llvm_json_unit(json, form);
    }
    if (form->uops >= 0)
        json_int(json_name(json, "Uops"), form->uops);
    if (!isnan(form->rthroughput_clk))
        json_fixed(json_name(json, "Tp"), form->rthroughput_clk, DECIMALS);
    if (llvm_latency(form, &latency) && latency.most <= latency.least * 1.005 + 0.05)
        json_fixed(json_name(json, "Latency"), latency.least, DECIMALS);
    json_close(json, '}');
}

struct llvm_json_order {
    const struct known_form *form;
    const struct llvm_instr *instr;
};

// Orders by opcode; of several forms of one, that without options first: plain operands, fast data.
static int llvm_json_compare(const void *a, const void *b)
{
    const struct llvm_json_order *x = a, *y = b;
    int order = strcmp(x->instr->opcode, y->instr->opcode);
    if (order == 0)
        order = (*x->form->options != '\0') - (*y->form->options != '\0');
    return order ? order : strcmp(x->form->id.form, y->form->id.form);
}

static int llvm_json_write(struct known_cpu *data, struct export_out *out, struct err *err)
{
    struct llvm_instr *instrs;
    if (llvm_decode(data, &instrs, err) != 0)
        return -1;
    struct llvm_json_order *order = xmalloc(((size_t)data->nforms + 1) * sizeof *order);
    int n = 0;
    for (int i = 0; i < data->nforms; i++) {
        const struct known_form *form = &data->forms[i];
        if (export_llvm_takes(out, form, &instrs[i]))
            order[n++] = (struct llvm_json_order){form, &instrs[i]};
    }
    if (n > 0)
        qsort(order, (size_t)n, sizeof *order, llvm_json_compare);
    struct json json = {.out = &out->text};
    json_open(&json, '{');
    for (int i = 0; i < n; i++) {
        if (i > 0 && strcmp(order[i].instr->opcode, order[i - 1].instr->opcode) == 0) {
            export_leave(out, order[i].form, llvm_json_again);
            continue;
        }
        llvm_json_form(&json, order[i].form, order[i].instr->opcode);
        out->written++;
    }
    json_close(json_break(&json, "\n"), '}');
    strbuf_puts(&out->text, "\n");
    free(order);
    return 0;
}

const struct export_format export_llvm_json = {
    "llvm-json", "one object per LLVM opcode, for generators of scheduling models", KNOWN_CODE,
    llvm_json_write};
