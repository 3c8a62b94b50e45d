// SPDX-License-Identifier: MIT
// Compares each form with its class in LLVM's model, and gathers contradictions by class. If a
// result is an upper bound, the model may be lower without contradiction.
#include "compare_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Differences in cycles and relative from which latencies contradict: more than measuring and
// rounding explain, since the model has whole numbers.
static const double latency_apart_clk = 0.4, latency_apart = 0.06;
static const double bound_apart_clk = 0.05, bound_apart = 0.03;
static const double rthroughput_apart_clk = 0.07, rthroughput_apart = 0.1;

static bool writes_memory(const struct list_row *row)
{
    for (int i = 0; i < row->nops; i++)
        if ((row->ops[i].kind == OPERAND_MEM || row->ops[i].kind == OPERAND_VSIB) &&
            row->ops[i].access & ACCESS_WRITE)
            return true;
    return false;
}

// Returns true for a 16-bit constant after an operand-size prefix: it changes the length that
// decoders expect, and may cost cycles that no model has.
static bool stalls_decoders(const struct list_row *row)
{
    bool constant = false, operand = false;
    for (int i = 0; i < row->nops; i++) {
        constant |= row->ops[i].kind == OPERAND_IMM && row->ops[i].bits == 16;
        operand |= row->ops[i].kind != OPERAND_IMM && row->ops[i].bits == 16;
    }
    return constant && operand;
}

// Returns true if latencies contradict. Latencies of stores are a convention of the model. A bound
// is already above the true value, so it gets less tolerance than a value.
static bool latency_differs(const struct known_form *form, const struct model_class *class)
{
    struct llvm_latency latency;
    double apart = fmax(latency_apart_clk, latency_apart * class->latency_clk);
    if (writes_memory(form->row) || *form->at_rename || !llvm_latency(form, &latency))
        return false;
    bool bound = latency.most > fmax(latency.least, latency.slow);
    double above = bound ? fmin(apart, bound_apart_clk + bound_apart * latency.most) : apart;
    return class->latency_clk > fmax(latency.most, latency.slow) + above ||
           (!isnan(latency.least) && class->latency_clk < latency.least - apart);
}

// Returns true if throughputs contradict. The front end's slots for its µops limit any instruction;
// even those without µops in the model have one.
static bool rthroughput_differs(const struct compare_member *member, int width)
{
    const struct known_form *form = member->form;
    double expected = member->class->rthroughput_clk;
    if (width > 0)
        expected = fmax(expected, fmax(member->class->uops, 1) / width);
    double apart = fmax(rthroughput_apart_clk, rthroughput_apart * expected);
    if (isnan(form->rthroughput_clk) || *form->at_rename)
        return false;
    return fmax(form->rthroughput_clk, form->rthroughput_slow_clk) < expected - apart ||
           (!form->rthroughput_upper && !stalls_decoders(form->row) &&
            form->rthroughput_clk > expected + apart);
}

// Returns true if µops contradict. The model may count them fused or not, so both counts are right.
// Measuring does not separate the two halves of a store, and microcode may have fewer µops than
// slots.
static bool uops_differ(const struct known_form *form, const struct model_class *class)
{
    return form->uops >= 0 && form->usage && !writes_memory(form->row) && !form->usage->ambiguous &&
           !(form->uops_upper && class->uops < form->uops) && class->uops != form->uops &&
           class->uops != form->usage->uses.uops;
}

static unsigned member_differs(const struct compare_member *member, int width,
                               const struct compare_ports *ports)
{
    unsigned differs = 0;
    differs |= latency_differs(member->form, member->class) ? DIFFERS_LATENCY : 0;
    differs |= rthroughput_differs(member, width) ? DIFFERS_THROUGHPUT : 0;
    differs |= uops_differ(member->form, member->class) ? DIFFERS_UOPS : 0;
    if (!(differs & DIFFERS_UOPS) && compare_ports_differ(ports, member->form, member->class))
        differs |= DIFFERS_PORTS;
    return differs;
}

static int compare_members(const void *a, const void *b)
{
    const struct compare_member *x = a, *y = b;
    int order = strcmp(x->class->name, y->class->name);
    if (order == 0)
        order = (x->count < y->count) - (x->count > y->count);
    return order ? order : stored_form_compare(&x->form->id, &y->form->id);
}

static int compare_entries(const void *a, const void *b)
{
    const struct compare_entry *x = a, *y = b;
    int order = (x->count < y->count) - (x->count > y->count);
    if (order == 0)
        order = y->nmembers - x->nmembers;
    return order ? order : strcmp(x->class->name, y->class->name);
}

// Returns the frequency of an entry: forms of one shape share a count, which is added once.
static double entry_count(const struct compare_entry *entry)
{
    double sum = 0, last = -1;
    for (int i = 0; i < entry->nmembers; i++) {
        if (entry->members[i].count != last)
            sum += entry->members[i].count;
        last = entry->members[i].count;
    }
    return sum;
}

// Gathers the members, in the order of compare_members(), into entries that point to them.
static void gather(struct comparison *comparison, struct compare_member *members, int n,
                   const struct model_class *const *of)
{
    struct compare_entry *entries = xmalloc(((size_t)n + 1) * sizeof *entries);
    int nentries = 0;
    for (int i = 0; i < n; i++) {
        if (nentries > 0 && entries[nentries - 1].class == members[i].class)
            entries[nentries - 1].nmembers++;
        else
            entries[nentries++] = (struct compare_entry){
                .class = members[i].class, .members = &members[i], .nmembers = 1};
    }
    for (int e = 0; e < nentries; e++) {
        entries[e].count = entry_count(&entries[e]);
        for (int i = 0; i < comparison->data->nforms; i++)
            entries[e].compared += of[i] == entries[e].class;
    }
    if (nentries > 0)
        qsort(entries, (size_t)nentries, sizeof *entries, compare_entries);
    comparison->entries = entries;
    comparison->nentries = nentries;
}

static bool is_measured(const struct known_form *form)
{
    return form->npairs > 0 || !isnan(form->rthroughput_clk) || form->uops >= 0;
}

// Returns false for forms that a class of the model does not describe: with one register for all
// operands, or measured among other instructions (macros: calls, taken jumps).
static bool is_comparable(const struct known_form *form)
{
    return is_measured(form) && !(form->row && (form->row->same || form->row->macro.file));
}

static int find_members(struct comparison *comparison, const struct llvm_instr *instrs,
                        const struct model_class *const *of, const struct compare_counts *counts,
                        struct compare_member *members)
{
    const struct known_cpu *data = comparison->data;
    int n = 0, width = data->model ? data->model->width : 0;
    for (int i = 0; i < data->nforms; i++) {
        const struct known_form *form = &data->forms[i];
        if (!is_comparable(form))
            continue;
        if (instrs[i].why || !of[i]) {
            comparison->unknown++;
            continue;
        }
        struct compare_member member = {form, &instrs[i], of[i], 0,
                                        compare_counts_of(counts, form)};
        member.differs = member_differs(&member, width, comparison->ports);
        comparison->compared++;
        comparison->agree += member.differs == 0;
        for (int kind = 0; kind < DIFFERS_KINDS; kind++)
            comparison->differ[kind] += (int)(member.differs >> kind & 1);
        if (member.differs)
            members[n++] = member;
    }
    return n;
}

int compare_llvm(struct known_cpu *data, const struct compare_options *options, struct strbuf *out,
                 struct err *err)
{
    struct llvm_instr *instrs;
    struct model model;
    const struct model_class *const *of;
    struct compare_counts *counts = compare_counts_read(err);
    if (!counts || llvm_decode(data, &instrs, err) != 0 ||
        model_read(data, instrs, options->cpu, &model, &of, err) != 0) {
        compare_counts_free(counts);
        return -1;
    }
    struct compare_ports *ports = compare_ports_new(data, &model, of);
    struct comparison comparison = {.data = data,
                                    .cpu = options->cpu,
                                    .ports = ports,
                                    .counted = compare_counts_total(counts),
                                    .files = compare_counts_files(counts)};
    struct compare_member *members = xmalloc(((size_t)data->nforms + 1) * sizeof *members);
    int n = find_members(&comparison, instrs, of, counts, members);
    if (n > 0)
        qsort(members, (size_t)n, sizeof *members, compare_members);
    gather(&comparison, members, n, of);
    options->print(&comparison, options->entries, out);
    free(comparison.entries);
    free(members);
    compare_ports_free(ports);
    compare_counts_free(counts);
    return 0;
}

static void table_value(struct foreign_table *table, struct foreign_row *row,
                        enum foreign_quantity quantity, double clk)
{
    foreign_value_add(table, row,
                      (struct foreign_value){.quantity = quantity, .least = clk, .most = clk});
}

int compare_llvm_table(struct known_cpu *data, const char *cpu, struct foreign_table *table,
                       struct err *err)
{
    struct llvm_instr *instrs;
    struct model model;
    const struct model_class *const *of;
    int width = data->model ? data->model->width : 0;
    *table = (struct foreign_table){
        .path = "llvm", .format = FOREIGN_LLVM, .cpu = cpu, .uarch = data->uarch};
    if (llvm_decode(data, &instrs, err) != 0 ||
        model_read(data, instrs, cpu, &model, &of, err) != 0)
        return -1;
    for (int i = 0; i < data->nforms; i++) {
        const struct known_form *form = &data->forms[i];
        if (instrs[i].why || !of[i] || !is_comparable(form))
            continue;
        struct foreign_row *row = foreign_row_add(table, i + 1, instrs[i].opcode, err);
        if (!row)
            return -1;
        row->form = form->id.form;
        row->enc = form->id.enc;
        row->bits = form->id.bits;
        bool renamed = *form->at_rename != '\0';
        if (!writes_memory(form->row) && !renamed)
            table_value(table, row, FOREIGN_LATENCY, of[i]->latency_clk);
        if (!renamed)
            table_value(table, row, FOREIGN_THROUGHPUT,
                        width > 0 ? fmax(of[i]->rthroughput_clk, fmax(of[i]->uops, 1) / width)
                                  : of[i]->rthroughput_clk);
        if (!writes_memory(form->row))
            table_value(table, row, FOREIGN_UOPS, of[i]->uops);
    }
    return 0;
}
