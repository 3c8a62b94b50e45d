// SPDX-License-Identifier: MIT
// LLVM's model as a table of others, which is judged as those of files are; and what contradicts
// it, gathered by class of the model.
#include "compare_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A model has whole numbers.
static const double latency_rounding_clk = 0.4;

struct compare_llvm {
    const struct known_cpu *data;
    const char *cpu;
    struct llvm_instr *instrs;
    struct model model;
    const struct model_class *const *of; // by form
    struct compare_ports *ports;
    struct foreign_table table; // a row's line is the number of its form, from 1
};

// --- the model as a table ---

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

static void table_value(struct foreign_table *table, struct foreign_row *row,
                        enum foreign_quantity quantity, double clk)
{
    double rounding = quantity == FOREIGN_LATENCY ? latency_rounding_clk : 0;
    foreign_value_add(table, row,
                      (struct foreign_value){
                          .quantity = quantity, .least = clk, .most = clk, .rounding = rounding});
}

// Adds a throughput. The front end's slots for its µops limit any instruction; even those without
// µops in the model have one. No model has the stalls of decoders.
static void table_throughput(struct compare_llvm *llvm, struct foreign_row *row,
                             const struct known_form *form, const struct model_class *class)
{
    int width = llvm->data->model ? llvm->data->model->width : 0;
    double clk = class->rthroughput_clk;
    if (width > 0)
        clk = fmax(clk, fmax(class->uops, 1) / width);
    if (!(stalls_decoders(form->row) && form->rthroughput_clk > clk))
        table_value(&llvm->table, row, FOREIGN_THROUGHPUT, clk);
}

// Adds µops, where ours are sure, and ports, where there are as many µops. Measuring does not
// separate the two halves of a store.
static void table_ports(struct compare_llvm *llvm, struct foreign_row *row,
                        const struct known_form *form, const struct model_class *class)
{
    struct port_uses uses;
    struct strbuf text = {0};
    if (!form->usage || form->usage->ambiguous)
        return;
    if (!writes_memory(form->row) && form->uops >= 0)
        table_value(&llvm->table, row, FOREIGN_UOPS, class->uops);
    bool counts = writes_memory(form->row) || form->uops < 0 || class->uops == form->uops ||
                  class->uops == form->usage->uses.uops;
    if (counts && compare_ports_uses(llvm->ports, form, class, &uses, &text)) {
        struct port_uses *kept = arena_alloc(&llvm->table.arena, sizeof *kept);
        *kept = uses;
        row->uses = kept;
        row->ports = arena_strdup(&llvm->table.arena, strbuf_text(&text));
        table_value(&llvm->table, row, FOREIGN_PORTS, uses.uops);
    }
    strbuf_free(&text);
}

// Latencies of stores are a convention of the model.
static int table_row(struct compare_llvm *llvm, int number, struct err *err)
{
    const struct known_form *form = &llvm->data->forms[number];
    const struct model_class *class = llvm->of[number];
    struct foreign_row *row =
        foreign_row_add(&llvm->table, number + 1, llvm->instrs[number].opcode, err);
    if (!row)
        return -1;
    row->form = form->id.form;
    row->enc = form->id.enc;
    row->bits = form->id.bits;
    row->model = true;
    if (!*form->at_rename) {
        if (!writes_memory(form->row))
            table_value(&llvm->table, row, FOREIGN_LATENCY, class->latency_clk);
        table_throughput(llvm, row, form, class);
    }
    table_ports(llvm, row, form, class);
    return 0;
}

int compare_llvm_read(struct known_cpu *data, const char *cpu, struct compare_llvm **made,
                      struct err *err)
{
    struct compare_llvm *llvm = xcalloc(1, sizeof *llvm);
    llvm->data = data;
    llvm->cpu = cpu;
    llvm->table = (struct foreign_table){
        .path = "llvm", .format = FOREIGN_LLVM, .cpu = cpu, .uarch = data->uarch};
    *made = llvm;
    if (llvm_decode(data, &llvm->instrs, err) != 0 ||
        model_read(data, llvm->instrs, cpu, &llvm->model, &llvm->of, err) != 0)
        return -1;
    llvm->ports = compare_ports_new(data, &llvm->model, llvm->of);
    int status = 0;
    for (int i = 0; i < data->nforms && status == 0; i++)
        if (is_comparable(&data->forms[i]) && !llvm->instrs[i].why && llvm->of[i])
            status = table_row(llvm, i, err);
    return status;
}

const struct foreign_table *compare_llvm_table(const struct compare_llvm *llvm)
{
    return &llvm->table;
}

void compare_llvm_free(struct compare_llvm *llvm)
{
    if (!llvm)
        return;
    foreign_free(&llvm->table);
    compare_ports_free(llvm->ports);
    free(llvm);
}

// --- contradictions by class ---

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

// Returns true if a model of this CPU is wrong where its value is not ours. It describes no chain,
// so no way of measuring explains what it has; but a class is of all constants, and ours may be a
// bound or a range.
static bool contradicts(const struct compare_value *value)
{
    return value->group != GROUP_AGREES && value->group != GROUP_BOUND &&
           value->group != GROUP_TWO && value->group != GROUP_IMMEDIATE;
}

static unsigned differs_bit(enum foreign_quantity quantity)
{
    static const unsigned bits[FOREIGN_QUANTITIES] = {
        [FOREIGN_LATENCY] = DIFFERS_LATENCY,
        [FOREIGN_THROUGHPUT] = DIFFERS_THROUGHPUT,
        [FOREIGN_UOPS] = DIFFERS_UOPS,
        [FOREIGN_PORTS] = DIFFERS_PORTS,
    };
    return bits[quantity];
}

// Makes a member of each row with a contradiction; the values are in the order of the rows.
static int find_members(struct comparison *comparison, const struct compare_llvm *llvm,
                        const struct compare_tables *tables, const struct compare_counts *counts,
                        struct compare_member *members)
{
    int n = 0, v = 0;
    for (int r = 0; r < llvm->table.nrows; r++) {
        const struct foreign_row *row = &llvm->table.rows[r];
        int form = row->line - 1;
        struct compare_member member = {&llvm->data->forms[form], &llvm->instrs[form],
                                        llvm->of[form], 0, 0};
        for (; v < tables->nvalues && tables->values[v].match->row == row; v++)
            if (contradicts(&tables->values[v]))
                member.differs |= differs_bit(tables->values[v].theirs->quantity);
        comparison->agree += member.differs == 0;
        for (int kind = 0; kind < DIFFERS_KINDS; kind++)
            comparison->differ[kind] += (int)(member.differs >> kind & 1);
        member.count = compare_counts_of(counts, member.form);
        if (member.differs)
            members[n++] = member;
    }
    return n;
}

static int comparable_forms(const struct known_cpu *data)
{
    int n = 0;
    for (int i = 0; i < data->nforms; i++)
        n += is_comparable(&data->forms[i]);
    return n;
}

int compare_llvm_print(const struct compare_llvm *llvm, const struct compare_tables *tables,
                       const struct compare_options *options, struct strbuf *out, struct err *err)
{
    struct compare_counts *counts = compare_counts_read(err);
    if (!counts)
        return -1;
    struct comparison comparison = {.data = llvm->data,
                                    .cpu = llvm->cpu,
                                    .ports = llvm->ports,
                                    .compared = llvm->table.nrows,
                                    .unknown = comparable_forms(llvm->data) - llvm->table.nrows,
                                    .counted = compare_counts_total(counts),
                                    .files = compare_counts_files(counts)};
    struct compare_member *members = xmalloc(((size_t)llvm->table.nrows + 1) * sizeof *members);
    int n = find_members(&comparison, llvm, tables, counts, members);
    if (n > 0)
        qsort(members, (size_t)n, sizeof *members, compare_members);
    gather(&comparison, members, n, llvm->of);
    options->print(&comparison, options->entries, out);
    free(comparison.entries);
    free(members);
    compare_counts_free(counts);
    return 0;
}
