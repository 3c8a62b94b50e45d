// SPDX-License-Identifier: MIT
// A machine file for OSACA: YAML with the ports, loads and stores, and the forms in AT&T's order of
// operands. OSACA knows general-purpose registers by kind, not by width, so AT&T's suffixes, if an
// instruction has them, distinguish widths.
#include "cpuinfo/cpuinfo.h"
#include "export_formats.h"
#include "export_internal.h"
#include "util/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char osaca_no_ports[] = "its ports are unknown";
static const char osaca_ambiguous[] = "its ports are not the only explanation of its timings";
static const char osaca_operand[] = "an operand that OSACA has no class for";
static const char osaca_width[] = "another width of the same name has other numbers";
static const char osaca_element[] = "another form of the same operand classes has other numbers";

struct osaca_entry {
    const struct known_form *form;
    char *key;  // name and operands
    char *yaml; // the operands
};

static void osaca_text(struct strbuf *out, const char *text)
{
    struct json json = {.out = out};
    json_text(&json, text);
}

// Returns "b", "w", "l" or "q": AT&T's suffix of instructions on general-purpose registers and
// memory of one width; "" for all others, and for those that compilers write without one.
static const char *osaca_suffix(const struct list_row *row)
{
    static const char *const without[] = {"cmov", "set", "j", "bswap", "call", "nop", "prefetch"};
    for (size_t i = 0; i < ARRAY_LEN(without); i++)
        if (strncmp(row->mnemonic, without[i], strlen(without[i])) == 0)
            return "";
    int bits = 0;
    for (int i = 0; i < row->nops; i++) {
        const struct operand *op = &row->ops[i];
        if (op->kind == OPERAND_IMM || (op->kind == OPERAND_GPR && op->fixed == 1 && i > 0))
            continue; // a shift by cl has the other operand's width
        if ((op->kind != OPERAND_GPR && op->kind != OPERAND_MEM) || (bits && bits != op->bits))
            return "";
        bits = op->bits;
    }
    if (row->enc != ENC_LEGACY)
        return "";
    return bits == 8 ? "b" : bits == 16 ? "w" : bits == 32 ? "l" : bits == 64 ? "q" : "";
}

static const char *osaca_register(const struct operand *op)
{
    switch (op->kind) {
    case OPERAND_GPR:
        return "gpr";
    case OPERAND_MMX:
        return "mm";
    case OPERAND_VEC:
        return op->bits == 128 ? "xmm" : op->bits == 256 ? "ymm" : "zmm";
    case OPERAND_MASK:
        return "k";
    case OPERAND_X87:
        return "st";
    default:
        return NULL;
    }
}

// Writes one operand as YAML; false if OSACA has no class for it.
static bool osaca_operand_put(const struct operand *op, struct strbuf *out)
{
    const char *name = osaca_register(op);
    if (name) {
        strbuf_printf(out, "  - {class: register, name: %s%s%s}\n", name,
                      op->masked ? ", mask: true" : "", op->zeroing ? ", zeroing: true" : "");
        return true;
    }
    if (op->kind == OPERAND_MEM && op->broadcast == 0)
        strbuf_puts(out, "  - {class: memory, base: '*', offset: '*', index: '*', scale: '*'}\n");
    else if (op->kind == OPERAND_AGEN)
        strbuf_puts(out, "  - {class: memory, base: '*', offset: '*', index: '*', scale: '*'}\n");
    else if (op->kind == OPERAND_IMM)
        strbuf_puts(out, "  - {class: immediate, imd: int}\n");
    else if (op->kind == OPERAND_REL)
        strbuf_puts(out, "  - {class: identifier}\n");
    else
        return false;
    return true;
}

// Returns the latency between registers; for loads also through the address.
static double osaca_latency(const struct known_form *form)
{
    double value = NAN, load = NAN;
    for (int i = 0; i < form->npairs; i++) {
        const struct known_pair *pair = &form->pairs[i];
        if (!pair->in_result || strstr(pair->dst, ".data") || pair->upper ||
            strncmp(pair->variant, "slow", 4) == 0)
            continue;
        if (strstr(pair->src, ".base") || strstr(pair->src, ".index"))
            load = fmax(load, pair->clk);
        else
            value = fmax(value, pair->clk);
    }
    return isnan(value) ? load : value;
}

static void osaca_pressure(const struct known_form *form, struct strbuf *out)
{
    strbuf_puts(out, "[");
    for (int i = 0; i < form->usage->uses.n; i++) {
        const struct port_use *use = &form->usage->uses.use[i];
        int ports[PORTS_MAX], n = port_set_ports(form->model, use->set, ports);
        strbuf_printf(out, "%s[%d, [", i ? ", " : "", use->uops);
        for (int j = 0; j < n; j++) {
            char label[PORT_LABEL_MAX];
            port_label(form->model, ports[j], label);
            strbuf_puts(out, j ? ", " : "");
            osaca_text(out, label);
        }
        strbuf_puts(out, "]]");
    }
    const struct port_demand *unit = port_usage_unit(form->model, form->usage);
    if (unit && unit->clk > 0) {
        strbuf_printf(out, "%s[%.4g, [", form->usage->uses.n ? ", " : "", unit->clk);
        osaca_text(out, form->model->units[unit->unit].name);
        strbuf_puts(out, "]]");
    }
    strbuf_puts(out, "]");
}

static void osaca_number(struct strbuf *out, const char *name, double value)
{
    if (isnan(value))
        strbuf_printf(out, "  %s: ~\n", name);
    else
        strbuf_printf(out, "  %s: %.6g\n", name, value);
}

static void osaca_form(struct strbuf *out, const struct osaca_entry *entry)
{
    const struct known_form *form = entry->form;
    const char *suffix = osaca_suffix(form->row);
    char *name = xasprintf("%s%s", form->mnemonic, suffix);
    strbuf_puts(out, "- name: ");
    osaca_text(out, name);
    free(name);
    strbuf_puts(out, " # ");
    export_line(out, form->id.form);
    strbuf_printf(out, "\n  operands:%s\n%s", *entry->yaml ? "" : " []", entry->yaml);
    osaca_number(out, "latency", osaca_latency(form));
    strbuf_puts(out, "  port_pressure: ");
    osaca_pressure(form, out);
    strbuf_puts(out, "\n");
    osaca_number(out, "throughput", form->rthroughput_clk);
    strbuf_printf(out, "  uops: %d\n", form->usage->uses.uops);
}

static const struct known_form *osaca_find(const struct known_cpu *data, const char *name,
                                           const char *enc)
{
    struct stored_form id = {name, enc, 64};
    const struct known_form *form =
        stored_form_find(&id, data->forms, data->nforms, sizeof *data->forms);
    return form && form->usage && form->model == data->model ? form : NULL;
}

// Writes the cost of loads and stores, relative to instructions on registers.
static void osaca_memory(const struct known_cpu *data, struct strbuf *out)
{
    static const struct {
        const char *name, *form, *enc;
    } loads[] = {
        {"gpr", "mov r64 m64",    "legacy"},
        {"mm",  "movq mm m64",    "legacy"},
        {"xmm", "movaps x m128",  "legacy"},
        {"ymm", "vmovaps y m256", "vex"   },
        {"zmm", "vmovaps z m512", "evex"  },
    };
    strbuf_puts(out, "load_latency:\n");
    for (size_t i = 0; i < ARRAY_LEN(loads); i++) {
        const struct known_form *form = osaca_find(data, loads[i].form, loads[i].enc);
        // Loads of vectors have an upper bound: the address comes from another register file.
        if (form && !isnan(form->latency_max_clk))
            strbuf_printf(out, "  %s: %.6g%s\n", loads[i].name, form->latency_max_clk,
                          form->max_upper ? " # at most" : "");
        else
            strbuf_printf(out, "  %s: ~\n", loads[i].name); // OSACA looks up each of them
    }
    const struct known_form *load = osaca_find(data, "mov r64 m64", "legacy");
    const struct known_form *store = osaca_find(data, "mov m64 r64", "legacy");
    strbuf_puts(out, "load_throughput: []\nload_throughput_default: ");
    if (load)
        osaca_pressure(load, out);
    else
        strbuf_puts(out, "[]");
    strbuf_puts(out, "\nstore_throughput: []\nstore_throughput_default: ");
    if (store)
        osaca_pressure(store, out);
    else
        strbuf_puts(out, "[]");
    strbuf_puts(out, "\n");
}

static void osaca_head(const struct known_cpu *data, struct strbuf *out)
{
    const char *name = cpu_other_name(data->uarch, CPU_NAME_OSACA);
    strbuf_puts(out, "# measured by latput ");
    export_line(out, data->version);
    strbuf_printf(out,
                  ", %s; %s: %s\nosaca_version: 0.5.0\nmicro_architecture: ", data->started_utc,
                  data->uarch, data->decided);
    osaca_text(out, data->uarch_name);
    strbuf_puts(out, "\narch_code: ");
    osaca_text(out, *name ? name : data->uarch);
    strbuf_puts(out, "\nisa: x86\nhidden_loads: false\n");
    strbuf_printf(out, "dispatched_uops_per_cycle: %d\n", data->model->width);
    osaca_memory(data, out);
    strbuf_puts(out, "ports: [");
    for (int i = 0; i < data->model->nports; i++) {
        char label[PORT_LABEL_MAX];
        port_label(data->model, i, label);
        strbuf_puts(out, i ? ", " : "");
        osaca_text(out, label);
    }
    for (int i = 0; i < data->model->nunits; i++) {
        strbuf_puts(out, ", ");
        osaca_text(out, data->model->units[i].name);
    }
    strbuf_puts(out, "]\ninstruction_forms:\n");
}

// Makes the entry of a form. Returns why it has none; NULL if *entry is made.
static const char *osaca_entry_make(const struct known_cpu *data, const struct known_form *form,
                                    struct osaca_entry *entry)
{
    if (!form->row)
        return known_no_row;
    if (form->id.bits != 64)
        return known_32bit;
    if (!form->usage || !form->model || form->model != data->model)
        return osaca_no_ports;
    if (form->usage->ambiguous)
        return osaca_ambiguous;
    if (form->row->same)
        return export_same;
    struct strbuf yaml = {0};
    bool known = form->row->rounding == ROUND_NONE;
    for (int i = form->row->nops - 1; i >= 0; i--)
        known = osaca_operand_put(&form->row->ops[i], &yaml) && known;
    if (!known) {
        strbuf_free(&yaml);
        return osaca_operand;
    }
    entry->form = form;
    entry->yaml = xstrdup(strbuf_text(&yaml));
    entry->key = xasprintf("%s%s %s", form->mnemonic, osaca_suffix(form->row), entry->yaml);
    strbuf_free(&yaml);
    return NULL;
}

static int osaca_width_of(const struct known_form *form)
{
    int bits = 0;
    for (int i = 0; i < form->row->nops; i++)
        if (form->row->ops[i].kind == OPERAND_GPR && form->row->ops[i].bits > bits)
            bits = form->row->ops[i].bits;
    return bits;
}

// Orders entries of one key: plain operands first, then the widest.
static int osaca_compare(const void *a, const void *b)
{
    const struct osaca_entry *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    if (order == 0)
        order = (*x->form->options != '\0') - (*y->form->options != '\0');
    if (order == 0)
        order = osaca_width_of(y->form) - osaca_width_of(x->form);
    return order ? order : stored_form_compare(&x->form->id, &y->form->id);
}

static bool osaca_near(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 0.02 * fmax(a, b) + 0.02;
}

// Returns true if one entry can represent both forms.
static bool osaca_alike(const struct known_form *a, const struct known_form *b)
{
    return osaca_near(osaca_latency(a), osaca_latency(b)) &&
           osaca_near(a->rthroughput_clk, b->rthroughput_clk) && strcmp(a->ports, b->ports) == 0;
}

static void osaca_put_all(const struct osaca_entry *entries, int n, struct export_out *out)
{
    const struct osaca_entry *first = NULL; // entry of the key
    for (int i = 0; i < n; i++) {
        const struct osaca_entry *entry = &entries[i];
        if (!first || strcmp(first->key, entry->key) != 0) {
            osaca_form(&out->text, entry);
            first = entry;
            out->written++;
        } else if (osaca_alike(first->form, entry->form)) {
            out->written++;
        } else {
            bool width = osaca_width_of(entry->form) != osaca_width_of(first->form);
            export_leave(out, entry->form, width ? osaca_width : osaca_element);
        }
    }
}

static int osaca_write(struct known_cpu *data, struct export_out *out, struct err *err)
{
    if (!data->model)
        return err_set(err,
                       "no run of '%s' has found its ports, which OSACA's model is made of; "
                       "latput run finds them",
                       data->uarch);
    osaca_head(data, &out->text);
    struct osaca_entry *entries = xmalloc(((size_t)data->nforms + 1) * sizeof *entries);
    int n = 0;
    for (int i = 0; i < data->nforms; i++) {
        const char *why = osaca_entry_make(data, &data->forms[i], &entries[n]);
        if (why)
            export_leave(out, &data->forms[i], why);
        else
            n++;
    }
    if (n > 0)
        qsort(entries, (size_t)n, sizeof *entries, osaca_compare);
    osaca_put_all(entries, n, out);
    for (int i = 0; i < n; i++) {
        free(entries[i].key);
        free(entries[i].yaml);
    }
    free(entries);
    return 0;
}

const struct export_format export_osaca = {"osaca", "a machine file for OSACA", KNOWN_ROWS,
                                           osaca_write};
