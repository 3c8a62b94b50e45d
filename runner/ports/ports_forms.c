// SPDX-License-Identifier: MIT
// Fitness of rows as blockers; see ports_forms.h. A blocker must never wait: it writes one register
// (or memory) that it does not read, its sources are constant, and nothing that it leaves affects
// the forms beside it.
#include "ports_forms.h"

#include "plan/plan.h"
#include "plan/render.h"
#include "util/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Properties that make a form a worse blocker, by how much they may disturb: each more than those
// before it.
enum {
    COST_256 = 1 << 0,    // wide vectors may lower the frequency or take two passes
    COST_FLOAT = 1 << 1,  // values matter a little
    COST_LEGACY = 1 << 2, // upper halves may matter
    COST_EVEX = 1 << 3,
    COST_MASK = 1 << 3,  // mask register: bound to ports in its own way
    COST_MMX = 1 << 3,   // x87 forms beside it find its values, which are no numbers
    COST_FLAGS = 1 << 4, // renamed like a register, but a reader beside it waits
    COST_512 = 1 << 5,
    COST_LOAD = 1 << 6,
    COST_STORE = 1 << 7, // more than a load: a store is the blocker only where no load is as simple
    COST_TRANSFER = 1 << 8, // another kind of register written than read: its readers may be slower
    COST_MASKED = 1 << 9,
};

static bool is_register(const struct operand *op)
{
    return op->kind == OPERAND_GPR || op->kind == OPERAND_VEC || op->kind == OPERAND_MASK ||
           op->kind == OPERAND_MMX;
}

// Returns the cost of the operand in a blocker; -1: it rules the row out.
static int operand_cost(const struct operand *op)
{
    bool reads = op->access & ACCESS_READ, writes = op->access & ACCESS_WRITE;
    if (op->kind == OPERAND_IMM || op->kind == OPERAND_AGEN)
        return 0;
    if (op->kind == OPERAND_MEM)
        return (reads && writes) || op->broadcast || op->bits == 0 ? -1
               : reads                                             ? COST_LOAD
                                                                   : COST_STORE;
    if (!is_register(op) || (reads && writes) || op->fixed >= 0 || op->high8)
        return -1;
    if (writes && ((op->kind == OPERAND_GPR && op->bits < 32) || (op->masked && !op->zeroing)))
        return -1; // keeps the rest of the register
    int cost = op->bits == 256 ? COST_256 : op->bits == 512 ? COST_512 : 0;
    return cost + (op->masked ? COST_MASKED : 0);
}

static int implicit_cost(const struct list_row *row)
{
    int cost = 0;
    for (int i = 0; i < row->nimplicit; i++) {
        const struct operand *op = &row->implicit[i];
        if (op->kind == OPERAND_MXCSR && !(op->access & ACCESS_WRITE))
            continue;
        if (op->kind != OPERAND_FLAGS || op->access & ACCESS_READ)
            return -1;
        cost = COST_FLAGS;
    }
    return cost;
}

// Returns true if the row reads registers of another kind than it writes.
static bool row_transfers(const struct list_row *row)
{
    unsigned reads = 0, writes = 0;
    for (int i = 0; i < row->nops; i++)
        if (is_register(&row->ops[i]))
            *(row->ops[i].access & ACCESS_WRITE ? &writes : &reads) |= 1u << row->ops[i].kind;
    return reads && writes && (reads & writes) == 0;
}

// Returns true for EVEX forms of general-purpose registers and memory alone: they do what legacy
// forms do, which more CPUs have.
static bool row_is_promoted(const struct list_row *row)
{
    bool promoted = row->enc == ENC_EVEX;
    for (int i = 0; i < row->nops; i++)
        promoted &= row->ops[i].kind != OPERAND_VEC && row->ops[i].kind != OPERAND_VSIB &&
                    row->ops[i].kind != OPERAND_MASK;
    return promoted;
}

static int blocker_cost(const struct list_row *row)
{
    int cost = implicit_cost(row), written = 0, registers_read = 0, loads = 0, stores = 0;
    bool masks = false, mmx = false;
    if (cost < 0 || row_is_promoted(row) || row->bits != 64 || !mix_plannable(row) || row->same ||
        row->data != DATA_ORDINARY || row->rounding != ROUND_NONE)
        return -1;
    for (int i = 0; i < row->nops; i++) {
        const struct operand *op = &row->ops[i];
        int more = operand_cost(op);
        if (more < 0)
            return -1;
        cost += more;
        written += (op->access & ACCESS_WRITE) != 0;
        loads += op->kind == OPERAND_MEM && op->access & ACCESS_READ;
        stores += op->kind == OPERAND_MEM && op->access & ACCESS_WRITE;
        registers_read += is_register(op) && op->access & ACCESS_READ;
        masks |= op->kind == OPERAND_MASK;
        mmx |= op->kind == OPERAND_MMX;
    }
    cost += (masks ? COST_MASK : 0) + (mmx ? COST_MMX : 0);
    cost += row_transfers(row) ? COST_TRANSFER : 0;
    // A load with another source is two things at once; so is a store of no register.
    if (written > 1 || (written == 0 && row->nops > 0) || (loads && (registers_read || stores)) ||
        (stores && !registers_read))
        return -1;
    cost += row->enc == ENC_EVEX ? COST_EVEX : 0;
    cost +=
        row->enc == ENC_LEGACY && row->nops && row->ops[0].kind == OPERAND_VEC ? COST_LEGACY : 0;
    return cost + (row->element != ELEMENT_INT ? COST_FLOAT : 0);
}

// Form as a blocker: of those alike in mnemonic, kinds and width, the cheapest is kept.
struct thin {
    const char *mnemonic;
    char kinds[OPERANDS_MAX + 1]; // one letter per operand, see thin_kind()
    bool wide;
    int cost, form;
};

// Returns a letter for the kind of an operand, of any width. Addresses differ by what computes
// them. (Golden Cove: `lea r32 agen:b` has five ports, `agen:b+i*4` three of them, `agen:rip+d32`
// one.)
static char thin_kind(const struct operand *op)
{
    if (op->kind != OPERAND_AGEN)
        return (char)('a' + (int)op->kind);
    const struct agen_parts parts = render_agen_parts(op);
    return parts.relative ? 'R' : parts.scale > 1 ? 'S' : parts.index ? 'I' : 'B';
}

static int thin_compare_kinds(const struct thin *a, const struct thin *b)
{
    int order = strcmp(a->mnemonic, b->mnemonic);
    if (order == 0)
        order = strcmp(a->kinds, b->kinds);
    return order ? order : a->wide - b->wide;
}

static int thin_compare(const void *one, const void *other)
{
    const struct thin *a = one, *b = other;
    int order = thin_compare_kinds(a, b);
    if (order == 0)
        order = a->cost - b->cost;
    return order ? order : a->form - b->form;
}

void ports_forms_thin(struct port_form *forms, const struct list_row *const *rows, int n)
{
    struct thin *thin = xcalloc((size_t)n + 1, sizeof *thin);
    int blockers = 0;
    for (int f = 0; f < n; f++) {
        struct thin *mine = &thin[blockers];
        if (forms[f].blocker_cost < 0)
            continue;
        *mine = (struct thin){.mnemonic = rows[f]->mnemonic,
                              .wide = forms[f].bits >= PORT_WIDE_BITS,
                              .cost = forms[f].blocker_cost,
                              .form = f};
        for (int i = 0; i < rows[f]->nops; i++)
            mine->kinds[i] = thin_kind(&rows[f]->ops[i]);
        blockers++;
    }
    qsort(thin, (size_t)blockers, sizeof *thin, thin_compare);
    for (int i = 1; i < blockers; i++)
        if (thin_compare_kinds(&thin[i - 1], &thin[i]) == 0)
            forms[thin[i].form].blocker_cost = -1;
    free(thin);
}

// Returns true if instances wait for each other through registers, unless moves stand between them.
static bool row_chains(const struct list_row *row)
{
    const char *moves[MIX_BREAKERS_MAX];
    return mix_stands(row) &&
           mix_breakers(row, BREAK_REGISTERS, moves) > mix_breakers(row, BREAK_NEEDED, moves);
}

// Returns, for each kind of operand, the number that is read and the number that is written, in two
// bits each.
static uint64_t row_operands(const struct list_row *row)
{
    uint64_t counts = 0;
    for (int i = 0; i < row->nops; i++) {
        const struct operand *op = &row->ops[i];
        for (int write = 0; write < 2; write++) {
            int shift = 4 * (int)op->kind + 2 * write;
            bool does = op->access & (write ? ACCESS_WRITE : ACCESS_READ);
            if (does && shift < 64 && (counts >> shift & 3) < 3)
                counts += UINT64_C(1) << shift;
        }
    }
    return counts;
}

// Returns the bits of an operand of a vector instruction, of a broadcast element as often as it is
// used.
static int operand_bits(const struct operand *op)
{
    if (op->kind == OPERAND_VSIB)
        return op->index_bits;
    return op->kind == OPERAND_VEC || op->kind == OPERAND_MEM
               ? op->bits * (op->broadcast ? op->broadcast : 1)
               : 0;
}

// Vectors in memory count if they are of the widest: `vfpclasspd k m512 i8` closes ports as
// `vfpclasspd k z i8` does.
int ports_form_bits(const struct list_row *row)
{
    int bits = 0;
    for (int i = 0; i < row->nops + row->nimplicit; i++) {
        const struct operand *op = i < row->nops ? &row->ops[i] : &row->implicit[i - row->nops];
        int mine = op->kind == OPERAND_MMX ? 64 : operand_bits(op);
        if (op->kind == OPERAND_MEM && (row->enc != ENC_EVEX || mine < PORT_WIDE_BITS))
            mine = 0;
        bits = mine > bits ? mine : bits;
    }
    return bits;
}

// Returns the effect of a row on upper halves. Vectors in memory count as wide, too: on Golden Cove
// each `vcvtpd2ph x m512` takes 50 to 100 cycles more beside `sha1msg2 x x`, and none beside VEX.
enum port_upper ports_form_upper(const struct list_row *row)
{
    bool legacy = row->enc == ENC_LEGACY;
    for (int i = 0; i < row->nops; i++) {
        if (legacy && row->ops[i].kind == OPERAND_VEC)
            return UPPER_LEGACY;
        if (!legacy && operand_bits(&row->ops[i]) > 128)
            return UPPER_WIDE;
    }
    return UPPER_NONE;
}

static bool row_has_memory(const struct list_row *row)
{
    bool memory = false;
    for (int i = 0; i < row->nops; i++)
        memory |= row->ops[i].kind == OPERAND_MEM || row->ops[i].kind == OPERAND_VSIB;
    return memory;
}

// Returns true if the row has wide memory, which a broadcast element is not.
static bool row_has_wide_memory(const struct list_row *row)
{
    bool wide = false;
    for (int i = 0; i < row->nops; i++)
        wide |= row->ops[i].kind == OPERAND_MEM && row->ops[i].bits >= PORT_WIDE_BITS;
    return wide;
}

static bool row_names(const struct list_row *row, enum operand_kind kind, int access)
{
    bool names = false;
    for (int i = 0; i < row->nops; i++)
        names |= row->ops[i].kind == kind && row->ops[i].access & access;
    for (int i = 0; i < row->nimplicit; i++)
        names |= row->implicit[i].kind == kind && row->implicit[i].access & access;
    return names;
}

// Returns true if an operand in memory has all of that access.
static bool row_accesses_memory(const struct list_row *row, int access)
{
    bool accesses = false;
    for (int i = 0; i < row->nops; i++) {
        enum operand_kind kind = row->ops[i].kind;
        bool memory = kind == OPERAND_MEM || kind == OPERAND_VSIB || kind == OPERAND_MOFFS;
        accesses |= memory && (row->ops[i].access & access) == access;
    }
    return accesses;
}

// Returns true if the row writes memory or the stack, or may do so by a pointer in a register or a
// macro.
static bool row_may_store(const struct list_row *row)
{
    return row->pointer != NULL || row->macro.file != NULL || row->stack < 0 ||
           row_accesses_memory(row, ACCESS_WRITE);
}

struct port_form ports_form(const struct list_row *row)
{
    const char *moves[MIX_BREAKERS_MAX];
    return (struct port_form){
        .name = row->form,
        .blocker_cost = blocker_cost(row),
        .filler_only = row->nops == 0,
        .chains = row_chains(row),
        .decoding = row_changes_length(row),
        .locks = mix_locks(row),
        .bits = ports_form_bits(row),
        .upper = ports_form_upper(row),
        .mmx = row_names(row, OPERAND_MMX, ACCESS_READ | ACCESS_WRITE),
        .x87 = row->element != ELEMENT_INT && row_names(row, OPERAND_X87, ACCESS_READ),
        .moves = mix_stands(row) ? mix_breakers(row, BREAK_ALL, moves) : 0,
        .resets = mix_stands(row) ? mix_breakers(row, BREAK_NEEDED, moves) : 0,
        .family = port_family(row->mnemonic),
        .memory = row_has_memory(row),
        .stores = row_may_store(row),
        .rewrites = row_accesses_memory(row, ACCESS_READ | ACCESS_WRITE),
        .memory_wide = row_has_wide_memory(row),
        .operands = row_operands(row),
        .rthroughput_clk = NAN,
    };
}
