// SPDX-License-Identifier: MIT
// Measurements in the format of llvm-exegesis, for its --mode=analysis: one YAML document per form.
// A file holds one mode, so there is one format per mode. Scalars are quoted like JSON's strings,
// which is YAML's own double-quoted style.
#include "export_formats.h"
#include "export_internal.h"
#include "util/json.h"
#include "llvm/llvm.h"
#include "llvm/mca.h"

#include <math.h>
#include <stdlib.h>

static const char exegesis_bound[] = "only an upper bound of its latency is known";

struct exegesis_mode {
    const char *mode, *key;
    // Returns the value, or NAN with the reason.
    double (*value)(const struct known_form *form, const char **why);
};

static double exegesis_latency(const struct known_form *form, const char **why)
{
    struct llvm_latency latency;
    *why = export_no_result;
    if (!llvm_latency(form, &latency))
        return NAN;
    // Upper bounds no higher than the exact value add nothing.
    *why = exegesis_bound;
    return latency.most <= latency.least * 1.005 + 0.05 ? latency.least : (double)NAN;
}

static double exegesis_throughput(const struct known_form *form, const char **why)
{
    *why = export_no_result;
    return form->rthroughput_clk;
}

static double exegesis_uops(const struct known_form *form, const char **why)
{
    *why = export_no_result;
    return form->uops >= 0 ? (double)form->uops : (double)NAN;
}

static void exegesis_document(struct strbuf *out, const struct exegesis_mode *mode, const char *cpu,
                              const struct known_form *form, const struct llvm_instr *instr,
                              double value)
{
    struct json json = {.out = out};
    strbuf_printf(out, "---\nmode: %s\nkey:\n  instructions:\n    - ", mode->mode);
    char *text = xasprintf("%s %s", instr->opcode, instr->operands);
    json_text(&json, text);
    free(text);
    // The form itself, which llvm-exegesis shows beside the opcode.
    strbuf_puts(out, "\n  config: ");
    json.more = false;
    json_text(&json, form->id.form);
    strbuf_puts(out, "\n  register_initial_values: []\ncpu_name: ");
    json.more = false;
    json_text(&json, cpu);
    strbuf_printf(out,
                  "\nllvm_triple: x86_64-unknown-linux-gnu\nmin_instructions: 1\nmeasurements:\n"
                  "  - { key: %s, value: %.6g, per_snippet_value: %.6g, "
                  "validation_counters: {} }\nerror: ''\ninfo: ''\nassembled_snippet: ",
                  mode->key, value, value);
    for (size_t i = 0; i < form->code_len; i++)
        strbuf_printf(out, "%02X", form->code[i]);
    strbuf_puts(out, "C3\n...\n"); // the return that ends a snippet
}

static int exegesis_write(struct known_cpu *data, const struct exegesis_mode *mode,
                          struct export_out *out, struct err *err)
{
    struct llvm_instr *instrs;
    const char *cpu = mca_cpu_of(data->uarch, err);
    int status = cpu ? llvm_decode(data, &instrs, err) : -1;
    for (int i = 0; status == 0 && i < data->nforms; i++) {
        const char *why = instrs[i].why;
        double value = why ? (double)NAN : mode->value(&data->forms[i], &why);
        if (isnan(value)) {
            export_leave(out, &data->forms[i], why);
            continue;
        }
        exegesis_document(&out->text, mode, cpu, &data->forms[i], &instrs[i], value);
        out->written++;
    }
    return status;
}

static int write_latency(struct known_cpu *data, struct export_out *out, struct err *err)
{
    static const struct exegesis_mode mode = {"latency", "latency", exegesis_latency};
    return exegesis_write(data, &mode, out, err);
}
static int write_throughput(struct known_cpu *data, struct export_out *out, struct err *err)
{
    static const struct exegesis_mode mode = {"inverse_throughput", "inverse_throughput",
                                              exegesis_throughput};
    return exegesis_write(data, &mode, out, err);
}
static int write_uops(struct known_cpu *data, struct export_out *out, struct err *err)
{
    static const struct exegesis_mode mode = {"uops", "NumMicroOps", exegesis_uops};
    return exegesis_write(data, &mode, out, err);
}

const struct export_format export_exegesis = {
    "exegesis", "latencies for llvm-exegesis --mode=analysis", KNOWN_CODE, write_latency};
const struct export_format export_exegesis_throughput = {
    "exegesis-throughput", "the same with reciprocal throughputs", KNOWN_CODE, write_throughput};
const struct export_format export_exegesis_uops = {"exegesis-uops", "the same with numbers of µops",
                                                   KNOWN_CODE, write_uops};
