// SPDX-License-Identifier: MIT
// JSON with the CPU, its ports, and for each form all numbers with their bounds.
#include "export_formats.h"
#include "export_internal.h"

#include <math.h>

static void json_cpu(struct json *json, const struct known_cpu *data)
{
    json_text(json_name(json_break(json, "\n"), "uarch"), data->uarch);
    json_text(json_name(json, "uarch_name"), data->uarch_name);
    json_text(json_name(json, "vendor"), data->vendor);
    json_text(json_name(json, "brand"), data->brand);
    json_text_known(json_name(json, "hypervisor"), data->hypervisor);
    json_text(json_name(json, "claimed_uarch"), data->claimed);
    json_text(json_name(json, "decided"), data->decided);
    json_text_known(json_name(json, "evidence"), data->evidence);
    json_int(json_name(json_break(json, "\n"), "run_id"), data->run_id);
    json_text(json_name(json, "started_utc"), data->started_utc);
    json_text(json_name(json, "version"), data->version);
}

static void json_ports_of(struct json *json, const struct known_cpu *data)
{
    int nsets = data->model ? data->model->nclasses : 0;
    json_fixed(json_name(json_break(json, "\n"), "dispatch_width"),
               data->model ? data->model->width : (double)NAN, 0);
    json_open(json_name(json_break(json, "\n"), "port_sets"), '[');
    for (int i = 0; i < nsets; i++) {
        const struct port_class *class = &data->model->classes[i];
        int ports[PORTS_MAX], n = port_set_ports(data->model, class->set, ports);
        json_open(json, '{');
        json_text(json_name(json, "name"), class->name);
        json_open(json_name(json, "ports"), '[');
        for (int j = 0; j < n; j++) {
            char label[PORT_LABEL_MAX];
            port_label(data->model, ports[j], label);
            json_text(json, label);
        }
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_pairs(struct json *json, const struct known_form *form)
{
    json_open(json_name(json, "latencies"), '[');
    for (int i = 0; i < form->npairs; i++) {
        const struct known_pair *pair = &form->pairs[i];
        json_open(json, '{');
        json_text(json_name(json, "src"), pair->src);
        json_text(json_name(json, "dst"), pair->dst);
        json_text_known(json_name(json, "variant"), pair->variant);
        json_real(json_name(json, "latency_clk"), pair->clk);
        json_text(json_name(json, "bound"), pair->upper     ? "upper"
                                            : pair->average ? "average"
                                                            : "exact");
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_value(struct json *json, const struct column *column,
                       const struct known_value *value)
{
    json_name(json, export_column_name(column));
    if (value->type == STORE_INTEGER)
        json_int(json, (int64_t)value->number);
    else if (value->type == STORE_REAL)
        json_real(json, value->number);
    else if (value->type == STORE_NULL || (column->blank && !*value->text))
        json_null(json);
    else
        json_text(json, value->text);
}

static void json_form(struct json *json, const struct known_cpu *data,
                      const struct known_form *form)
{
    const struct column *columns[VIEW_COLUMNS_MAX];
    int n = columns_on(STORE_VIEW_INSTRUCTION, COLUMN_JSON, columns);
    json_open(json_break(json, "\n"), '{');
    for (int i = 0; i < n; i++) {
        json_value(json, columns[i], known_value(data, form, columns[i]));
        if (export_pairs_follow(columns[i]))
            json_pairs(json, form);
    }
    json_close(json, '}');
}

static int json_write(struct known_cpu *data, struct export_out *out, struct err *err)
{
    (void)err;
    struct json json = {.out = &out->text};
    json_open(&json, '[');
    json_open(&json, '{');
    json_cpu(&json, data);
    json_ports_of(&json, data);
    json_open(json_name(json_break(&json, "\n"), "forms"), '[');
    for (int i = 0; i < data->nforms; i++, out->written++)
        json_form(&json, data, &data->forms[i]);
    json_close(json_break(&json, "\n"), ']');
    json_close(json_break(&json, "\n"), '}');
    json_close(&json, ']');
    strbuf_puts(&out->text, "\n");
    return 0;
}

const struct export_format export_json = {
    "json", "the CPU, its ports, and each form with all pairs of operands", KNOWN_VALUES,
    json_write};
