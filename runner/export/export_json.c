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

static void json_form(struct json *json, const struct known_form *form)
{
    json_open(json_break(json, "\n"), '{');
    json_text(json_name(json, "form"), form->id.form);
    json_text(json_name(json, "mnemonic"), form->mnemonic);
    json_text(json_name(json, "operands"), form->operands);
    json_text(json_name(json, "enc"), form->id.enc);
    json_int(json_name(json, "bits"), form->id.bits);
    json_text(json_name(json, "isa"), form->isa);
    json_text_known(json_name(json, "options"), form->options);
    json_text(json_name(json, "outcome"), form->outcome);
    json_real(json_name(json, "latency_min_clk"), form->latency_min_clk);
    json_text_known(json_name(json, "latency_min_bound"), form->min_bound);
    json_real(json_name(json, "latency_max_clk"), form->latency_max_clk);
    json_text_known(json_name(json, "latency_max_bound"), form->max_bound);
    json_real(json_name(json, "rthroughput_clk"), form->rthroughput_clk);
    json_text_known(json_name(json, "rthroughput_bound"), form->rthroughput_bound);
    json_real(json_name(json, "rthroughput_slow_clk"), form->rthroughput_slow_clk);
    json_fixed(json_name(json, "uops"), form->uops >= 0 ? form->uops : (double)NAN, 0);
    json_text_known(json_name(json, "uops_bound"), form->uops_bound);
    json_name(json, "ports");
    if (form->ports) // "": known to need no port
        json_text(json, form->ports);
    else
        json_null(json);
    json_text_known(json_name(json, "at_rename"), form->at_rename);
    json_pairs(json, form);
    json_int(json_name(json, "run_id"), form->run_id);
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
        json_form(&json, &data->forms[i]);
    json_close(json_break(&json, "\n"), ']');
    json_close(json_break(&json, "\n"), '}');
    json_close(&json, ']');
    strbuf_puts(&out->text, "\n");
    return 0;
}

const struct export_format export_json = {
    "json", "the CPU, its ports, and each form with all pairs of operands", 0, json_write};
