// SPDX-License-Identifier: MIT
// Matches the loads of a block with its stores. Addresses are followed as sums: a register's value
// at the begin of the block, or an instruction's result, plus a constant. Two addresses are
// compared only if they have the same unknown parts; else they are taken to lie apart.
#include "explain_block.h"
#include "util/mem.h"

#include <string.h>

enum {
    ROOT_ZERO = -1,
    ROOT_RIP = -2,
    ROOT_DATA = -3, // the address of the data area
    ROOT_NEW = 1000,
    ROOT_DERIVED = 10000, // + number of what a value was computed from
    DERIVED_MAX = 256,
    SEEN_MAX = 256,
    LINE_SHIFT = 6, // lines of 64 bytes; that bases are multiples of it is assumed
    LINE_BYTES = 1 << LINE_SHIFT,
};

struct value {
    int root; // the register whose first value it is (0 .. 15), or something new
    int64_t plus;
};
struct address {
    struct value base, index; // without a register: ROOT_ZERO
    int scale;
    int64_t at;
    int bytes;
};
// A result of registers, an address, or memory that the block does not change; equal inputs give
// equal results.
struct derived {
    ZydisMnemonic mnemonic;
    int sizes[3]; // operand sizes; negative: the high byte
    struct value in[3];
    int64_t constant;
    struct address from; // of the memory operand; scale -1: there is none
};
struct access {
    struct address address;
    int instr, touch;
};
struct accesses {
    struct access seen[SEEN_MAX];
    int n;
};
struct walk {
    struct block *block;
    struct value gpr[16];
    struct value moved[16]; // at the end of a copy
    int fresh;
    struct derived derived[DERIVED_MAX];
    int nderived;
    struct accesses stores, loads;
};

static struct value walk_value(const struct walk *walk, ZydisRegister reg)
{
    if (reg == ZYDIS_REGISTER_NONE)
        return (struct value){ROOT_ZERO, 0};
    if (reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP)
        return (struct value){ROOT_RIP, 0};
    ZydisMachineMode mode =
        walk->block->bits == 64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32;
    int number = ZydisRegisterGetId(ZydisRegisterGetLargestEnclosing(mode, reg));
    bool gpr = ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_GPR64 ||
               ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_GPR32;
    return gpr && number >= 0 && number < 16 ? walk->gpr[number] : (struct value){ROOT_NEW - 1, 0};
}

static struct address walk_address(const struct walk *walk, const struct block_instr *instr,
                                   const ZydisDecodedOperand *op)
{
    struct address address = {walk_value(walk, op->mem.base), walk_value(walk, op->mem.index),
                              op->mem.scale, op->mem.disp.has_displacement ? op->mem.disp.value : 0,
                              op->size / 8};
    if (op->mem.base == ZYDIS_REGISTER_RIP)
        address.at += (int64_t)(instr->offset + instr->in.length);
    if (op->mem.segment == ZYDIS_REGISTER_FS || op->mem.segment == ZYDIS_REGISTER_GS)
        address.index.root += 2 * ROOT_NEW; // far from what the others mean
    address.at += address.base.plus + address.index.plus * address.scale;
    // push writes below the place that rsp points to; the decoder has no displacement for it.
    if (instr->in.mnemonic == ZYDIS_MNEMONIC_PUSH &&
        op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
        address.at -= address.bytes;
    return address;
}

// Returns true if how far the addresses lie apart is known: their unknown parts are the same.
static bool addresses_compare(const struct address *a, const struct address *b)
{
    return a->base.root == b->base.root && a->index.root == b->index.root &&
           a->base.root != ROOT_NEW - 1 && a->index.root != ROOT_NEW - 1 &&
           (a->index.root == ROOT_ZERO || a->scale == b->scale);
}

// Returns true if the addresses can be compared and share bytes; `later`: distance that `b` has
// moved since.
static bool address_meets(const struct address *a, const struct address *b, int64_t later)
{
    if (!addresses_compare(a, b))
        return false;
    int64_t b_at = b->at + later;
    return a->at < b_at + b->bytes && b_at < a->at + a->bytes;
}

// Returns true if the root is the same at the begin of each copy.
static bool root_is_fixed(const struct walk *walk, int root)
{
    if (root == ROOT_ZERO || root == ROOT_RIP || root == ROOT_DATA)
        return true;
    if (root >= 0 && root < 16)
        return walk->moved[root].root == root && walk->moved[root].plus == 0;
    if (root < ROOT_DERIVED || root >= ROOT_DERIVED + walk->nderived)
        return false;
    const struct derived *derived = &walk->derived[root - ROOT_DERIVED];
    for (size_t i = 0; i < ARRAY_LEN(derived->in); i++)
        if (!root_is_fixed(walk, derived->in[i].root))
            return false;
    return derived->from.scale < 0 || (root_is_fixed(walk, derived->from.base.root) &&
                                       root_is_fixed(walk, derived->from.index.root));
}

// Finds the distance that an address with unchanged roots moves from copy to copy. Returns false if
// the copies cannot be compared.
static bool address_moves(const struct walk *walk, const struct address *address, int64_t *by)
{
    *by = 0;
    const struct value *parts[] = {&address->base, &address->index};
    for (int i = 0; i < 2; i++) {
        int root = parts[i]->root;
        if (root_is_fixed(walk, root))
            continue;
        if (root < 0 || root >= 16 || walk->moved[root].root != root)
            return false;
        *by += walk->moved[root].plus * (i ? address->scale : 1);
    }
    return true;
}

// Returns true, with the value, if the second operand is a constant or a register that holds a
// known one.
static bool instr_constant(const struct walk *walk, const struct block_instr *instr, int64_t *value)
{
    const ZydisDecodedOperand *op = &instr->ops[1];
    if (instr->in.operand_count_visible < 2)
        return false;
    if (op->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        struct value held = walk_value(walk, op->reg.value);
        *value = held.plus;
        return held.root == ROOT_ZERO;
    }
    *value = op->imm.value.s;
    return op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

// Returns true, with the value in *result, if the register in the first operand has a simple value
// after the instruction.
static bool walk_simple(const struct walk *walk, const struct block_instr *instr,
                        struct value *result)
{
    int64_t constant = 0;
    struct value index;
    const ZydisDecodedOperand *ops = instr->ops;
    *result = walk_value(walk, ops[0].reg.value);
    switch (instr->in.mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
        if (!instr_constant(walk, instr, &constant))
            return false;
        result->plus += instr->in.mnemonic == ZYDIS_MNEMONIC_ADD ? constant : -constant;
        return true;
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
        result->plus += instr->in.mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1;
        return true;
    case ZYDIS_MNEMONIC_LEA:
        index = walk_value(walk, ops[1].mem.index);
        if (index.root != ROOT_ZERO || ops[1].mem.base == ZYDIS_REGISTER_RIP)
            return false;
        *result = walk_value(walk, ops[1].mem.base);
        result->plus += index.plus * ops[1].mem.scale +
                        (ops[1].mem.disp.has_displacement ? ops[1].mem.disp.value : 0);
        return true;
    case ZYDIS_MNEMONIC_MOV:
        if (instr_constant(walk, instr, &constant))
            *result = (struct value){ROOT_ZERO, constant};
        else if (ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
            *result = walk_value(walk, ops[1].reg.value);
        else
            return false;
        return true;
    case ZYDIS_MNEMONIC_XOR:
        *result = (struct value){ROOT_ZERO, 0};
        return instr->same;
    default:
        return false;
    }
}

// Takes an address, or what is in memory there, for an input. Returns false if a store of the block
// changes it, or it cannot be compared.
static bool derived_from(const struct walk *walk, const struct block_instr *instr,
                         const ZydisDecodedOperand *op, struct derived *derived)
{
    bool loads = op->mem.type == ZYDIS_MEMOP_TYPE_MEM;
    derived->from = walk_address(walk, instr, op);
    if ((!loads && op->mem.type != ZYDIS_MEMOP_TYPE_AGEN) ||
        op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE || derived->from.base.root == ROOT_NEW - 1 ||
        derived->from.index.root == ROOT_NEW - 1)
        return false;
    for (int i = 0; loads && i < walk->stores.n; i++)
        if (address_meets(&walk->stores.seen[i].address, &derived->from, 0))
            return false;
    return true;
}

static bool derived_input(const struct walk *walk, const struct block_instr *instr, int i,
                          struct derived *derived)
{
    const ZydisDecodedOperand *op = &instr->ops[i];
    ZydisRegister reg = op->reg.value;
    bool read = op->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
    bool high = op->type == ZYDIS_OPERAND_TYPE_REGISTER && reg >= ZYDIS_REGISTER_AH &&
                reg <= ZYDIS_REGISTER_BH;
    derived->sizes[i] = high ? -(int)op->size : (int)op->size;
    derived->in[i] = (struct value){ROOT_ZERO, 0};
    if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        derived->constant = op->imm.value.s;
        return true;
    }
    if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
        return derived_from(walk, instr, op, derived);
    if (op->type != ZYDIS_OPERAND_TYPE_REGISTER)
        return false;
    if (!read && op->size >= 32)
        return true;
    ZydisMachineMode mode =
        walk->block->bits == 64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32;
    derived->in[i] = walk_value(walk, ZydisRegisterGetLargestEnclosing(mode, reg));
    return derived->in[i].root != ROOT_NEW - 1;
}

static bool derived_is(const struct derived *a, const struct derived *b)
{
    bool same = a->mnemonic == b->mnemonic && a->constant == b->constant;
    for (size_t i = 0; i < ARRAY_LEN(a->in); i++)
        same &= a->sizes[i] == b->sizes[i] && a->in[i].root == b->in[i].root &&
                a->in[i].plus == b->in[i].plus;
    return same && a->from.base.root == b->from.base.root &&
           a->from.index.root == b->from.index.root && a->from.scale == b->from.scale &&
           a->from.at == b->from.at;
}

// Finds the value of an instruction of registers, constants, and memory that stays as it is.
// Returns false if there is no room for it.
static bool walk_derived(struct walk *walk, const struct block_instr *instr, struct value *value)
{
    struct derived derived = {.mnemonic = instr->in.mnemonic, .from = {.scale = -1}};
    int n = instr->in.operand_count_visible;
    if (n > (int)ARRAY_LEN(derived.in) || (instr->in.cpu_flags && instr->in.cpu_flags->tested))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(derived.in); i++)
        derived.in[i].root = ROOT_ZERO;
    for (int i = 0; i < instr->in.operand_count; i++) {
        const ZydisDecodedOperand *op = &instr->ops[i];
        bool flags = op->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                     ZydisRegisterGetClass(op->reg.value) == ZYDIS_REGCLASS_FLAGS;
        if (i < n ? !derived_input(walk, instr, i, &derived) : !flags)
            return false;
    }
    int at = 0;
    while (at < walk->nderived && !derived_is(&walk->derived[at], &derived))
        at++;
    if (at == DERIVED_MAX)
        return false;
    if (at == walk->nderived)
        walk->derived[walk->nderived++] = derived;
    *value = (struct value){ROOT_DERIVED + at, 0};
    return true;
}

static void walk_write(struct walk *walk, const struct block_instr *instr, int operand)
{
    const ZydisDecodedOperand *op = &instr->ops[operand];
    ZydisMachineMode mode =
        walk->block->bits == 64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32;
    int number = ZydisRegisterGetId(ZydisRegisterGetLargestEnclosing(mode, op->reg.value));
    struct value value;
    if (number < 0 || number >= 16)
        return;
    bool stack = op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && number == 4;
    if (stack && instr->in.mnemonic == ZYDIS_MNEMONIC_PUSH)
        walk->gpr[number].plus -= instr->in.operand_width / 8;
    else if (stack && instr->in.mnemonic == ZYDIS_MNEMONIC_POP)
        walk->gpr[number].plus += instr->in.operand_width / 8;
    else if (operand == 0 && op->size == walk->block->bits && walk_simple(walk, instr, &value))
        walk->gpr[number] = value;
    else if (operand == 0 && walk_derived(walk, instr, &value))
        walk->gpr[number] = value;
    else
        walk->gpr[number] = (struct value){walk->fresh++, 0};
}

static void walk_registers(struct walk *walk, const struct block_instr *instr)
{
    for (int i = 0; i < instr->in.operand_count; i++) {
        const ZydisDecodedOperand *op = &instr->ops[i];
        ZydisRegisterClass class =
            op->type == ZYDIS_OPERAND_TYPE_REGISTER ? ZydisRegisterGetClass(op->reg.value) : 0;
        if ((op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
            (class == ZYDIS_REGCLASS_GPR8 || class == ZYDIS_REGCLASS_GPR16 ||
             class == ZYDIS_REGCLASS_GPR32 || class == ZYDIS_REGCLASS_GPR64))
            walk_write(walk, instr, i);
    }
}

// Returns the place that a store's data is in from now on; PLACE_NONE where there is no room.
static int walk_place(struct walk *walk, struct access *store)
{
    struct block_touch *touch = &walk->block->instrs[store->instr].touches[store->touch];
    if (touch->place >= 0)
        return touch->place;
    if (PLACE_MEMORY + walk->block->nmemory == PLACES_MAX) {
        walk->block->memory_dropped = true;
        return PLACE_NONE;
    }
    touch->place = PLACE_MEMORY + walk->block->nmemory++;
    return touch->place;
}

static bool operand_is(const ZydisDecodedOperand *a, const ZydisDecodedOperand *b)
{
    return a->size == b->size && a->mem.base == b->mem.base && a->mem.index == b->mem.index &&
           a->mem.scale == b->mem.scale &&
           (a->mem.disp.has_displacement ? a->mem.disp.value : 0) ==
               (b->mem.disp.has_displacement ? b->mem.disp.value : 0);
}

static void walk_forward(const struct walk *walk, const struct access *store,
                         const struct block_instr *instr, const struct address *address,
                         int64_t later, struct block_touch *load)
{
    const struct block_instr *writer = &walk->block->instrs[store->instr];
    int64_t begin = address->at + later - store->address.at;
    load->writer = store->instr;
    load->forward = begin < 0                                       ? FORWARD_BEFORE
                    : begin + address->bytes > store->address.bytes ? FORWARD_NARROW
                    : operand_is(&writer->ops[writer->touches[store->touch].operand],
                                 &instr->ops[load->operand])
                        ? FORWARD_SAME
                        : FORWARD_INSIDE;
}

static bool root_is_pointer(int root)
{
    return root >= 0 && root < 16 &&
           root != 4; // what the stack pointer leads to is the block's own
}

// Links a load to the last store by another pointer, if these are taken to meet.
static void walk_unknown(struct walk *walk, struct block_touch *load, const struct address *address)
{
    for (int i = walk->stores.n - 1; i >= 0; i--) {
        struct access *store = &walk->stores.seen[i];
        if (!root_is_pointer(address->base.root) || !root_is_pointer(store->address.base.root) ||
            store->address.base.root == address->base.root)
            continue;
        walk->block->memory_unknown = true;
        if (walk->block->meets) {
            load->place = walk_place(walk, store);
            load->writer = store->instr;
            load->forward = FORWARD_INSIDE;
        }
        return;
    }
}

// Links a load to the last store of its data: in this copy of the block, or in the one before.
static void walk_load(struct walk *walk, const struct block_instr *instr, struct block_touch *load,
                      const struct address *address, bool second)
{
    for (int i = walk->stores.n - 1; i >= 0; i--) {
        struct access *store = &walk->stores.seen[i];
        int64_t later = 0;
        // In the second walk stores of the first are still there; addresses are as in the first.
        if (second && !address_moves(walk, address, &later))
            return;
        if (address_meets(&store->address, address, later)) {
            load->place = walk_place(walk, store);
            walk_forward(walk, store, instr, address, later, load);
            return;
        }
    }
    walk_unknown(walk, load, address);
}

// Adds an access. Returns the number of the first one of the same line, as far as that can be
// known.
static int access_add(struct accesses *accesses, struct access access)
{
    int64_t line = access.address.at >> LINE_SHIFT;
    int first = 0;
    while (first < accesses->n &&
           (!addresses_compare(&accesses->seen[first].address, &access.address) ||
            accesses->seen[first].address.at >> LINE_SHIFT != line))
        first++;
    accesses->seen[accesses->n++] = access;
    return first;
}

// Returns true if the root is taken for a multiple of a line: what a register held first, or what
// was loaded.
static bool root_is_aligned(const struct walk *walk, int root)
{
    if (root < ROOT_DERIVED || root >= ROOT_DERIVED + walk->nderived)
        return root == ROOT_ZERO || root == ROOT_DATA || (root >= 0 && root < 16);
    const struct derived *derived = &walk->derived[root - ROOT_DERIVED];
    return derived->from.scale >= 0 && derived->mnemonic == ZYDIS_MNEMONIC_MOV &&
           derived->sizes[0] == walk->block->bits;
}

// Finds out where in its line a load reads, if that is the same in each copy.
static void walk_offset(struct walk *walk, int at, int t, const struct address *address)
{
    struct block_touch *load = &walk->block->instrs[at].touches[t];
    int64_t by = 0;
    if (walk->loads.n == SEEN_MAX || !root_is_aligned(walk, address->base.root) ||
        address->index.root != ROOT_ZERO || !address_moves(walk, address, &by) ||
        by % LINE_BYTES != 0)
        return;
    load->offset = (int)(address->at & (LINE_BYTES - 1));
    load->line = access_add(&walk->loads, (struct access){*address, at, t});
}

static void walk_instr(struct walk *walk, int at, bool second)
{
    struct block_instr *instr = &walk->block->instrs[at];
    for (int t = 0; t < instr->ntouches; t++) {
        struct block_touch *touch = &instr->touches[t];
        if (touch->part != PART_DATA)
            continue;
        struct address address = walk_address(walk, instr, &instr->ops[touch->operand]);
        if (!touch->write && touch->place < 0)
            walk_load(walk, instr, touch, &address, second);
        if (!touch->write && second)
            walk_offset(walk, at, t, &address);
    }
    for (int t = 0; t < instr->ntouches && !second; t++) {
        struct block_touch *touch = &instr->touches[t];
        if (touch->part != PART_DATA || !touch->write || walk->stores.n == SEEN_MAX)
            continue;
        struct address address = walk_address(walk, instr, &instr->ops[touch->operand]);
        touch->line = access_add(&walk->stores, (struct access){address, at, t});
    }
    walk_registers(walk, instr);
}

// Returns the value of a register at the begin of a copy: the initial one if no copy writes it.
static struct value walk_begin(const struct block *block, int number)
{
    const struct block_held *held = &block->held[number];
    if (held->kind == HELD_UNKNOWN || block_writer_before(block, 0, PLACE_GPR + number) >= 0)
        return (struct value){number, 0};
    return (struct value){held->kind == HELD_DATA ? ROOT_DATA : ROOT_ZERO, held->value};
}

void block_link_memory(struct block *block)
{
    struct walk walk = {.block = block, .fresh = ROOT_NEW};
    for (int second = 0; second < 2; second++) {
        for (int i = 0; i < 16; i++)
            walk.gpr[i] = walk_begin(block, i);
        for (int i = 0; i < block->n; i++)
            walk_instr(&walk, i, second);
        memcpy(walk.moved, walk.gpr, sizeof walk.moved);
    }
}
