// SPDX-License-Identifier: MIT
// XML like uops.info's instructions.xml. Its latencies are whole numbers: another value becomes the
// two next to it, min_cycles and max_cycles.
#include "export_formats.h"
#include "export_iform.h"
#include "export_internal.h"

#include "cpuinfo/cpuinfo.h"
#include "util/mem.h"
#include "util/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Writes an attribute. XML cannot have control characters, which become blanks.
static void xml_attribute(struct strbuf *out, const char *name, const char *value)
{
    char *plain = xstrdup(value);
    for (char *at = plain; *at; at++)
        if (iscntrl((unsigned char)*at))
            *at = ' ';
    strbuf_printf(out, " %s=\"", name);
    text_put_markup(out, plain);
    strbuf_puts(out, "\"");
    free(plain);
}

// The operands of an instruction in XML: first the operands of the text, each mask after the
// operand that it decorates, then the implicit ones, with all flags as one.
struct xml_operand {
    const char *name;  // in pairs: "op1", "rax", "flags"
    const char *parts; // "" or ".mask": part of it
};
struct xml_operands {
    struct xml_operand items[2 * OPERANDS_MAX + IMPLICIT_MAX];
    int n;
};

static bool xml_is_flags(const struct operand *op)
{
    return op->kind == OPERAND_FLAGS;
}

static void xml_list_operands(const struct list_row *row, struct xml_operands *operands)
{
    bool flags = false;
    operands->n = 0;
    for (int i = 0; i < row->nops; i++) {
        operands->items[operands->n++] = (struct xml_operand){row->ops[i].name, ""};
        if (row->ops[i].masked)
            operands->items[operands->n++] = (struct xml_operand){row->ops[i].name, ".mask"};
    }
    for (int i = 0; i < row->nimplicit; i++) {
        if (xml_is_flags(&row->implicit[i]) && flags)
            continue;
        flags = flags || xml_is_flags(&row->implicit[i]);
        operands->items[operands->n++] = (struct xml_operand){
            xml_is_flags(&row->implicit[i]) ? "flags" : row->implicit[i].name, ""};
    }
}

// Returns the number (from 1) of the operand in a pair's name, with *part after its point; 0: none.
static int xml_operand_of(const struct xml_operands *operands, const char *name, const char **part)
{
    static const char *const flags[] = {"cf", "of", "zf", "sf", "pf", "af", "df"};
    size_t len = strcspn(name, ".");
    bool mask = strcmp(name + len, ".mask") == 0;
    *part = mask ? "" : name + len;
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (strlen(flags[i]) == len && strncmp(flags[i], name, len) == 0) {
            name = "flags";
            len = strlen(name);
            *part = "";
        }
    for (int i = 0; i < operands->n; i++)
        if (strlen(operands->items[i].name) == len &&
            strncmp(operands->items[i].name, name, len) == 0 &&
            (*operands->items[i].parts != '\0') == mask)
            return i + 1;
    return 0;
}

static const char *xml_type(const struct operand *op)
{
    switch (op->kind) {
    case OPERAND_MEM:
    case OPERAND_VSIB:
    case OPERAND_MOFFS:
        return "mem";
    case OPERAND_AGEN:
        return "agen";
    case OPERAND_IMM:
        return "imm";
    case OPERAND_REL:
        return "relbr";
    case OPERAND_FLAGS:
        return "flags";
    default:
        return "reg";
    }
}

static void xml_access(struct strbuf *out, int access)
{
    if (access & ACCESS_READ)
        strbuf_puts(out, " r=\"1\"");
    if (access & ACCESS_WRITE)
        strbuf_puts(out, " w=\"1\"");
}

static void xml_operand_put(struct strbuf *out, const struct operand *op, int index)
{
    strbuf_printf(out, "<operand idx=\"%d\"", index);
    xml_attribute(out, "name", op->kind == OPERAND_MEM ? "MEM0" : op->name);
    strbuf_printf(out, " type=\"%s\"", xml_type(op));
    xml_access(out, op->access);
    if (op->bits && op->kind != OPERAND_FLAGS)
        strbuf_printf(out, " width=\"%d\"", op->bits);
    strbuf_puts(out, "/>\n");
}

// Writes all flags as one operand: flag_CF="rw" ...; a row's `flags` are the arithmetic ones.
static void xml_flags_put(struct strbuf *out, const struct list_row *row, int index)
{
    static const char *const all[] = {"af", "cf", "of", "pf", "sf", "zf"};
    static const char *const words[] = {"", "r", "w", "rw"}; // by ACCESS_*
    int access[ARRAY_LEN(all)] = {0}, any = 0;
    for (int i = 0; i < row->nimplicit; i++) {
        const struct operand *op = &row->implicit[i];
        if (!xml_is_flags(op))
            continue;
        any |= op->access;
        for (size_t f = 0; f < ARRAY_LEN(all); f++)
            if (strcmp(op->name, "flags") == 0 || strcmp(op->name, all[f]) == 0)
                access[f] |= op->access;
    }
    strbuf_printf(out, "<operand idx=\"%d\" name=\"flags\" type=\"flags\" suppressed=\"1\"", index);
    for (size_t f = 0; f < ARRAY_LEN(all); f++)
        if (access[f])
            strbuf_printf(out, " flag_%c%c=\"%s\"", toupper(all[f][0]), toupper(all[f][1]),
                          words[access[f]]);
    xml_access(out, any);
    strbuf_puts(out, "/>\n");
}

static void xml_operands_put(struct strbuf *out, const struct list_row *row)
{
    int index = 0;
    bool flags = false;
    for (int i = 0; i < row->nops; i++) {
        xml_operand_put(out, &row->ops[i], ++index);
        if (row->ops[i].masked)
            strbuf_printf(out, "<operand idx=\"%d\" name=\"K\" type=\"reg\" r=\"1\"/>\n", ++index);
    }
    for (int i = 0; i < row->nimplicit; i++) {
        if (!xml_is_flags(&row->implicit[i]))
            xml_operand_put(out, &row->implicit[i], ++index);
        else if (!flags)
            xml_flags_put(out, row, ++index);
        flags = flags || xml_is_flags(&row->implicit[i]);
    }
}

// Latencies of one pair of operands, collected over their parts.
struct xml_latency {
    int from, to;
    bool set[4], upper[4];
    long least[4], most[4]; // by enum part
};
enum part { PART_ITSELF, PART_ADDRESS, PART_INDEX, PART_MEMORY };

static enum part xml_part(const char *source, const char *target)
{
    if (strcmp(source, ".base") == 0)
        return PART_ADDRESS;
    if (strcmp(source, ".index") == 0)
        return PART_INDEX;
    return strcmp(source, ".data") == 0 || strcmp(target, ".data") == 0 ? PART_MEMORY : PART_ITSELF;
}

static void xml_latency_add(struct xml_latency *latency, enum part part,
                            const struct known_pair *pair)
{
    struct export_whole whole = export_whole(pair);
    if (!latency->set[part]) {
        latency->set[part] = true;
        latency->least[part] = whole.least;
        latency->most[part] = whole.most;
        latency->upper[part] = pair->upper;
        return;
    }
    if (whole.least < latency->least[part])
        latency->least[part] = whole.least;
    if (whole.most > latency->most[part])
        latency->most[part] = whole.most;
    latency->upper[part] = latency->upper[part] || pair->upper;
}

static void xml_latency_put(struct strbuf *out, const struct xml_latency *latency)
{
    static const char *const names[] = {"cycles", "cycles_addr", "cycles_addr_index", "cycles_mem"};
    strbuf_printf(out, "<latency start_op=\"%d\" target_op=\"%d\"", latency->from, latency->to);
    for (int part = PART_ITSELF; part <= PART_MEMORY; part++) {
        if (!latency->set[part])
            continue;
        const char *upper = latency->upper[part] ? "_is_upper_bound=\"1\"" : NULL;
        if (part != PART_ITSELF || latency->least[part] == latency->most[part]) {
            // The format has two numbers only for the latency between operands themselves.
            strbuf_printf(out, " %s=\"%ld\"", names[part], latency->most[part]);
            if (upper || latency->least[part] != latency->most[part])
                strbuf_printf(out, " %s_is_upper_bound=\"1\"", names[part]);
        } else {
            strbuf_printf(out, " min_cycles=\"%ld\" max_cycles=\"%ld\"", latency->least[part],
                          latency->most[part]);
            if (upper)
                strbuf_puts(out, " max_cycles_is_upper_bound=\"1\"");
        }
    }
    strbuf_puts(out, "/>\n");
}

static void xml_latencies(struct strbuf *out, const struct known_form *form)
{
    struct xml_latency latencies[64];
    struct xml_operands operands;
    int n = 0;
    xml_list_operands(form->row, &operands);
    for (int i = 0; i < form->npairs; i++) {
        const char *source, *target;
        const struct known_pair *pair = &form->pairs[i];
        int from = xml_operand_of(&operands, pair->src, &source);
        int to = xml_operand_of(&operands, pair->dst, &target), at = 0;
        if (from == 0 || to == 0 || strcmp(source, ".rest") == 0)
            continue;
        while (at < n && (latencies[at].from != from || latencies[at].to != to))
            at++;
        if (at == (int)ARRAY_LEN(latencies))
            break;
        if (at == n)
            latencies[n++] = (struct xml_latency){.from = from, .to = to};
        xml_latency_add(&latencies[at], xml_part(source, target), pair);
    }
    for (int i = 0; i < n; i++)
        xml_latency_put(out, &latencies[i]);
}

static void xml_measurement(struct strbuf *out, const struct known_form *form)
{
    strbuf_puts(out, "<measurement");
    if (form->uops >= 0) {
        strbuf_printf(out, " uops=\"%d\" uops_retire_slots=\"%d\"",
                      form->usage ? form->usage->uses.uops : form->uops, form->uops);
    }
    if (!isnan(form->rthroughput_clk))
        strbuf_printf(out, " TP_unrolled=\"%.2f\"", form->rthroughput_clk);
    const struct port_demand *unit = form->usage ? port_usage_unit(form->model, form->usage) : NULL;
    if (unit && unit->clk > 0 && !port_unit_is_microcode(&form->model->units[unit->unit]))
        strbuf_printf(out, " div_cycles=\"%.0f\"", unit->clk);
    if (form->usage && form->ports && *form->ports && !form->usage->ambiguous)
        xml_attribute(out, "ports", form->ports);
    strbuf_puts(out, ">\n");
    xml_latencies(out, form);
    strbuf_puts(out, "</measurement>\n");
}

static void xml_decorations(struct strbuf *out, const struct list_row *row)
{
    struct strbuf high = {0};
    for (int i = 0; i < row->nops; i++) {
        if (row->ops[i].masked)
            strbuf_printf(out, " mask=\"1\"%s", row->ops[i].zeroing ? " zeroing=\"1\"" : "");
        if (row->ops[i].broadcast)
            strbuf_puts(out, " bcast=\"1\"");
        if (row->ops[i].high8)
            strbuf_printf(&high, "%sop%d", high.len ? "," : "", i + 1);
    }
    if (high.len)
        xml_attribute(out, "high8", strbuf_text(&high));
    strbuf_free(&high);
}

// The mnemonics in VEX encoding: NASM's names, which belong to the forms.
struct xml_names {
    const char **names;
    size_t n;
};

static int xml_compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct xml_names xml_vex_names(const struct known_cpu *data)
{
    struct xml_names vex = {xmalloc(((size_t)data->nforms + 1) * sizeof(const char *)), 0};
    for (int i = 0; i < data->nforms; i++)
        if (strcmp(data->forms[i].id.enc, "vex") == 0)
            vex.names[vex.n++] = data->forms[i].mnemonic;
    if (vex.n > 0)
        qsort(vex.names, vex.n, sizeof *vex.names, xml_compare_names);
    return vex;
}

static bool xml_has_twin(const struct xml_names *vex, const struct known_form *form)
{
    return strcmp(form->id.enc, "evex") == 0 && vex->n > 0 &&
           bsearch(&form->mnemonic, vex->names, vex->n, sizeof *vex->names, xml_compare_names);
}

static void xml_form(struct strbuf *out, const struct known_form *form,
                     const struct export_decoded *decoded, const char *architecture, bool twin)
{
    struct strbuf text = {0};
    strbuf_puts(out, "<instruction");
    xml_attribute(out, "asm", form->mnemonic);
    if (export_iform(form, decoded, &text))
        xml_attribute(out, "iform", strbuf_text(&text));
    strbuf_clear(&text);
    export_iform_string(form, decoded, twin, &text);
    xml_attribute(out, "string", strbuf_text(&text));
    xml_attribute(out, "category", ZydisCategoryGetString(decoded->in.meta.category));
    xml_attribute(out, "extension", ZydisISAExtGetString(decoded->in.meta.isa_ext));
    xml_attribute(out, "isa-set", ZydisISASetGetString(decoded->in.meta.isa_set));
    xml_attribute(out, "latput", form->id.form);
    xml_decorations(out, form->row);
    if (form->row->rounding != ROUND_NONE)
        strbuf_puts(out, " sae=\"1\"");
    if (decoded->in.attributes & ZYDIS_ATTRIB_HAS_LOCK)
        strbuf_puts(out, " locked=\"1\"");
    strbuf_puts(out, ">\n");
    strbuf_free(&text);
    xml_operands_put(out, form->row);
    strbuf_puts(out, "<architecture");
    xml_attribute(out, "name", architecture);
    strbuf_puts(out, ">\n");
    xml_measurement(out, form);
    strbuf_puts(out, "</architecture>\n</instruction>\n");
}

static const char *xml_why_not(const struct known_form *form, struct export_decoded *decoded)
{
    bool has_result = form->npairs > 0 || !isnan(form->rthroughput_clk) || form->uops >= 0;
    return export_decode(form, has_result, decoded);
}

static int xml_write(struct known_cpu *data, struct export_out *out, struct err *err)
{
    const char *architecture = cpu_other_name(data->uarch, CPU_NAME_UOPS_INFO);
    (void)err;
    struct xml_names vex = xml_vex_names(data);
    strbuf_puts(&out->text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<root");
    xml_attribute(&out->text, "date", data->started_utc);
    xml_attribute(&out->text, "latput", data->version);
    xml_attribute(&out->text, "cpu", data->uarch_name);
    xml_attribute(&out->text, "decided", data->decided);
    strbuf_puts(&out->text, ">\n<extension name=\"all\">\n");
    for (int i = 0; i < data->nforms; i++) {
        struct export_decoded decoded;
        const struct known_form *form = &data->forms[i];
        const char *why = xml_why_not(form, &decoded);
        if (why) {
            export_leave(out, form, why);
            continue;
        }
        xml_form(&out->text, form, &decoded, *architecture ? architecture : data->uarch,
                 xml_has_twin(&vex, form));
        out->written++;
    }
    strbuf_puts(&out->text, "</extension>\n</root>\n");
    free(vex.names);
    return 0;
}

const struct export_format export_uops_xml = {"uops-xml", "as uops.info's instructions.xml",
                                              KNOWN_CODE, xml_write};
