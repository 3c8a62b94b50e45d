// SPDX-License-Identifier: MIT
#include "explain_block.h"

#include <stdio.h>

struct reader {
    ZydisMachineMode mode;
    ZydisDecoder decoder;
    ZydisFormatter formatter;
    struct arena *arena;
};

int block_decoder_begin(ZydisDecoder *decoder, int bits, struct err *err)
{
    bool wide = bits == 64;
    return ZYAN_SUCCESS(ZydisDecoderInit(
               decoder, wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
               wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32))
               ? 0
               : err_set(err, "the decoder cannot be used");
}

static int reader_begin(struct reader *reader, int bits, struct arena *arena, struct err *err)
{
    if (block_decoder_begin(&reader->decoder, bits, err) != 0)
        return -1;
    reader->mode = reader->decoder.machine_mode;
    reader->arena = arena;
    if (ZYAN_FAILED(ZydisFormatterInit(&reader->formatter, ZYDIS_FORMATTER_STYLE_INTEL)))
        return err_set(err, "the decoder cannot be used");
    ZydisFormatterSetProperty(&reader->formatter, ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_BRANCHES, 1);
    ZydisFormatterSetProperty(&reader->formatter, ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, 1);
    return 0;
}

static struct block_touch touch_of(int place, int operand, enum touch_part part, bool write)
{
    return (struct block_touch){.place = place,
                                .operand = operand,
                                .part = part,
                                .write = write,
                                .writer = -1,
                                .offset = -1};
}

static void touch_add(struct block_instr *instr, struct block_touch touch)
{
    for (int i = 0; i < instr->ntouches; i++) {
        const struct block_touch *there = &instr->touches[i];
        if (there->place == touch.place && there->operand == touch.operand &&
            there->part == touch.part && there->write == touch.write && touch.place >= 0)
            return;
    }
    if (instr->ntouches < BLOCK_TOUCHES_MAX)
        instr->touches[instr->ntouches++] = touch;
}

// Returns the place of a register; -1 for those that cannot hand anything on (rip, segments,
// control).
static int register_place(ZydisMachineMode mode, ZydisRegister reg, int *bits)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(mode, reg);
    ZydisRegisterClass class = ZydisRegisterGetClass(reg);
    *bits = ZydisRegisterGetWidth(mode, reg);
    switch (class) {
    case ZYDIS_REGCLASS_GPR8:
    case ZYDIS_REGCLASS_GPR16:
    case ZYDIS_REGCLASS_GPR32:
    case ZYDIS_REGCLASS_GPR64:
        return PLACE_GPR + ZydisRegisterGetId(whole);
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
        return PLACE_VEC + ZydisRegisterGetId(whole);
    case ZYDIS_REGCLASS_MASK:
        return PLACE_MASK + ZydisRegisterGetId(reg);
    case ZYDIS_REGCLASS_MMX:
        return PLACE_MMX + ZydisRegisterGetId(reg);
    case ZYDIS_REGCLASS_X87:
        return PLACE_X87;
    default:
        return PLACE_NONE;
    }
}

static void touch_register(const struct reader *reader, struct block_instr *instr, int operand)
{
    const ZydisDecodedOperand *op = &instr->ops[operand];
    int bits, place = register_place(reader->mode, op->reg.value, &bits);
    if (place < 0)
        return;
    bool write = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    // An operand that is written conditionally keeps its old value otherwise, so it is read, too.
    bool read = (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ) ||
                (op->actions & ZYDIS_OPERAND_ACTION_CONDWRITE);
    if (read)
        touch_add(instr, touch_of(place, operand, PART_REGISTER, false));
    else if (write && place < PLACE_VEC && bits < 32)
        touch_add(instr, touch_of(place, operand, PART_REST, false));
    if (write)
        touch_add(instr, touch_of(place, operand, PART_REGISTER, true));
}

static void touch_memory(const struct reader *reader, struct block_instr *instr, int operand)
{
    const ZydisDecodedOperand *op = &instr->ops[operand];
    int bits, base = register_place(reader->mode, op->mem.base, &bits),
              index = register_place(reader->mode, op->mem.index, &bits);
    if (base >= 0)
        touch_add(instr, touch_of(base, operand, PART_BASE, false));
    if (index >= 0)
        touch_add(instr, touch_of(index, operand, PART_INDEX, false));
    if (op->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
        return;
    if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
        touch_add(instr, touch_of(PLACE_NONE, operand, PART_DATA, false));
    if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
        touch_add(instr, touch_of(PLACE_NONE, operand, PART_DATA, true));
}

static void touch_flags(struct block_instr *instr)
{
    static const struct {
        ZydisAccessedFlagsMask mask;
        int place;
    } groups[] = {
        {ZYDIS_CPUFLAG_CF,                                                          PLACE_FLAGS_C},
        {ZYDIS_CPUFLAG_OF,                                                          PLACE_FLAGS_O},
        {ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF,
         PLACE_FLAGS_REST                                                                        },
        {ZYDIS_CPUFLAG_DF,                                                          PLACE_FLAGS_D},
    };
    const ZydisAccessedFlags *flags = instr->in.cpu_flags;
    if (!flags)
        return;
    ZydisAccessedFlagsMask written =
        flags->modified | flags->set_0 | flags->set_1 | flags->undefined;
    bool perhaps = false; // a shift by a count of 0 writes none
    for (int i = 0; i < instr->in.operand_count; i++) {
        const ZydisDecodedOperand *op = &instr->ops[i];
        perhaps |=
            op->type == ZYDIS_OPERAND_TYPE_REGISTER &&
            ZydisRegisterGetClass(op->reg.value) == ZYDIS_REGCLASS_FLAGS &&
            (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == ZYDIS_OPERAND_ACTION_CONDWRITE;
    }
    for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
        bool write = written & groups[i].mask;
        if ((flags->tested & groups[i].mask) || (perhaps && write))
            touch_add(instr, touch_of(groups[i].place, -1, PART_FLAGS, false));
        if (write)
            touch_add(instr, touch_of(groups[i].place, -1, PART_FLAGS, true));
    }
}

// Returns true if the text has two or more register operands, and all are one register.
static bool instr_is_same(const struct block_instr *instr)
{
    ZydisRegister reg = ZYDIS_REGISTER_NONE;
    int n = 0;
    for (int i = 0; i < instr->in.operand_count_visible; i++) {
        const ZydisDecodedOperand *op = &instr->ops[i];
        if (op->type != ZYDIS_OPERAND_TYPE_REGISTER || op->encoding == ZYDIS_OPERAND_ENCODING_MASK)
            continue;
        if (n && op->reg.value != reg)
            return false;
        reg = op->reg.value;
        n++;
    }
    return n >= 2;
}

static void instr_touch(const struct reader *reader, struct block_instr *instr)
{
    for (int i = 0; i < instr->in.operand_count; i++)
        if (instr->ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER)
            touch_register(reader, instr, i);
        else if (instr->ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
            touch_memory(reader, instr, i);
    touch_flags(instr);
    instr->same = instr_is_same(instr);
}

const char *block_refuses(const ZydisDecodedInstruction *instr, bool last)
{
    switch (instr->meta.category) {
    case ZYDIS_CATEGORY_CALL:
        return "calls: what runs there is not in the block; put it into the block, or explain it "
               "by itself";
    case ZYDIS_CATEGORY_RET:
        return "returns: leave it out, a block ends where it begins again";
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_INTERRUPT:
        return "calls the system, which no measured code may";
    case ZYDIS_CATEGORY_UNCOND_BR:
        return "jumps: leave it out, a block ends where it begins again";
    case ZYDIS_CATEGORY_COND_BR:
        return last ? NULL
                    : "branches in the middle: which way it goes is not known; explain the parts";
    default:
        return instr->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED
                   ? "is privileged: no program may run it, so none of its numbers is known; leave "
                     "it out"
                   : NULL;
    }
}

static int instr_decode(const struct reader *reader, const uint8_t *code, size_t len,
                        struct block_instr *instr, struct err *err)
{
    char text[256];
    if (ZYAN_FAILED(ZydisDecoderDecodeFull(&reader->decoder, code, len, &instr->in, instr->ops))) {
        char hex[3 * 8 + 1] = "";
        for (size_t i = 0; i < len && i < 8; i++)
            snprintf(hex + 3 * i, 4, "%02x ", code[i]);
        return err_set(err, "the bytes %s%sare no instruction in this mode", hex,
                       len > 8 ? "... " : "");
    }
    if (ZYAN_FAILED(ZydisFormatterFormatInstruction(&reader->formatter, &instr->in, instr->ops,
                                                    instr->in.operand_count_visible, text,
                                                    sizeof text, ZYDIS_RUNTIME_ADDRESS_NONE, NULL)))
        return err_set(err, "an instruction cannot be written as text");
    instr->text = arena_strdup(reader->arena, text);
    instr->bytes = code;
    instr_touch(reader, instr);
    return 0;
}

static int block_fault(const struct block *block, struct err *err)
{
    struct err what = *err;
    return err_set(err, "instruction %d: %s", block->n + 1, what.text);
}

// Returns true if a jump of a loop goes on with it: one to the next instruction, the one at its
// end, or a branch that leaves the block, which is taken as not taken.
static bool instr_goes_on(const struct block_instr *instr, size_t len, bool loop)
{
    const ZydisDecodedInstruction *in = &instr->in;
    bool branch = in->meta.category == ZYDIS_CATEGORY_COND_BR;
    if (!loop || !in->raw.imm[0].is_relative ||
        (!branch && in->meta.category != ZYDIS_CATEGORY_UNCOND_BR))
        return false;
    int64_t target = (int64_t)(instr->offset + in->length) + in->raw.imm[0].value.s;
    return in->raw.imm[0].value.s == 0 || instr->offset + in->length == len ||
           (branch && (target < 0 || target >= (int64_t)len));
}

// Returns true if the code ends in a jump to its beginning.
static bool code_is_loop(const struct reader *reader, const uint8_t *code, size_t len)
{
    ZydisDecodedInstruction in;
    for (size_t at = 0; at < len; at += in.length)
        if (ZYAN_FAILED(
                ZydisDecoderDecodeInstruction(&reader->decoder, NULL, code + at, len - at, &in)))
            return false;
    return in.raw.imm[0].is_relative && (int64_t)len + in.raw.imm[0].value.s == 0;
}

int block_read(const uint8_t *code, size_t len, int bits, struct block *block, struct arena *arena,
               struct err *err)
{
    struct reader reader;
    *block = (struct block){.bits = bits};
    if (bits != 64 && bits != 32)
        return err_set(err, "%d-bit code: only that of 64-bit and 32-bit mode can be explained",
                       bits);
    if (reader_begin(&reader, bits, arena, err) != 0)
        return -1;
    if (len == 0)
        return err_set(err, "there is no instruction in the block");
    size_t most = len < BLOCK_INSTRS_MAX ? len : BLOCK_INSTRS_MAX;
    block->instrs = arena_alloc(arena, most * sizeof *block->instrs);
    bool loop = code_is_loop(&reader, code, len);
    for (size_t at = 0; at < len; at += block->instrs[block->n++].in.length) {
        if (block->n == BLOCK_INSTRS_MAX)
            return err_set(err, "more than %d instructions: explain the loop that takes the time",
                           BLOCK_INSTRS_MAX);
        struct block_instr *instr = &block->instrs[block->n];
        instr->offset = at;
        if (instr_decode(&reader, code + at, len - at, instr, err) != 0)
            return block_fault(block, err);
        const char *refused = block_refuses(&instr->in, at + instr->in.length == len);
        if (refused && !instr_goes_on(instr, len, loop))
            return err_set(err, "instruction %d, '%s', %s", block->n + 1, instr->text, refused);
    }
    return 0;
}

void block_break_inputs(struct block_instr *instr)
{
    int n = 0;
    for (int i = 0; i < instr->ntouches; i++)
        if (instr->touches[i].write || instr->touches[i].part == PART_FLAGS)
            instr->touches[n++] = instr->touches[i];
    instr->ntouches = n;
}

void block_add_read(struct block_instr *instr, int operand, enum touch_part part)
{
    for (int i = 0; i < instr->ntouches; i++) {
        struct block_touch touch = instr->touches[i];
        if (touch.operand == operand && touch.write && touch.part == PART_REGISTER) {
            touch.write = false;
            touch.part = part;
            touch_add(instr, touch);
            return;
        }
    }
}

const char *block_place_name(const struct block *block, int place, struct arena *arena)
{
    static const char *const flags[] = {"cf", "of", "zf/sf/pf", "df", "x87"};
    if (place >= PLACE_MEMORY)
        return arena_printf(arena, "memory %d", place - PLACE_MEMORY + 1);
    if (place >= PLACE_FLAGS_C)
        return flags[place - PLACE_FLAGS_C];
    if (place >= PLACE_MMX)
        return arena_printf(arena, "mm%d", place - PLACE_MMX);
    if (place >= PLACE_MASK)
        return arena_printf(arena, "k%d", place - PLACE_MASK);
    if (place >= PLACE_VEC)
        return arena_printf(arena, "xmm%d", place - PLACE_VEC);
    return ZydisRegisterGetString(ZydisRegisterEncode(
        block->bits == 64 ? ZYDIS_REGCLASS_GPR64 : ZYDIS_REGCLASS_GPR32, (ZyanU8)place));
}

int block_writer_before(const struct block *block, int at, int place)
{
    for (int back = 1; back <= block->n; back++) {
        int i = (at - back + block->n) % block->n;
        for (int t = 0; t < block->instrs[i].ntouches; t++)
            if (block->instrs[i].touches[t].write && block->instrs[i].touches[t].place == place)
                return i;
    }
    return -1;
}

bool block_is_stack_move(const struct block_instr *instr, const struct block_touch *touch)
{
    enum { RSP = 4 };
    return touch->place == PLACE_GPR + RSP && touch->part == PART_REGISTER && touch->operand >= 0 &&
           instr->ops[touch->operand].visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
           (instr->in.mnemonic == ZYDIS_MNEMONIC_PUSH || instr->in.mnemonic == ZYDIS_MNEMONIC_POP);
}
