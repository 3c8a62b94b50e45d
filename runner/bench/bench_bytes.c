// SPDX-License-Identifier: MIT
// The text of foreign code; see bench_bytes.h. Instructions become bytes, one line each. Memory
// that is addressed relative to rip gets a place of its own, since the code is copied. Code that
// needs r14, r15 or rsp for itself stands several times between lines that exchange them.
#include "bench_bytes.h"

#include "util/strbuf.h"

#include <Zydis/Zydis.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

enum {
    RSP = 4,
    RBP = 5,
    R14 = 14,
    R15 = 15,
    AREA_STEP = 4352, // between the addresses of two registers: another page and another line
    AREA_FIRST = 512,
    AREA_STACK = 33024,
    AREA_SEGMENT = 60032,    // of fs and gs
    FIRST_BYTES = 4096,      // of the data area, that bench fills with 1.0
    FILL_BYTES = 86016,      // of the data area and the frames after it (core_pages.c)
    FRAMES_BYTES = 16384,    // of these
    SURVEYS_MAX = 8,         // through the code, for registers that others get their addresses from
    FAR_BYTES_MAX = 1 << 20, // that what is relative to rip may span
    OWN_INSTRS = 1000, // of copies between two exchanges of registers, which cost a few cycles
    OWN_COPIES_MAX = 400,
    STACK_COPIES = 8,        // where it is not known how far rsp moves in a copy
    STACK_BYTES_MAX = 24576, // that it may move in all
};

#define DRIFT_UNKNOWN INT64_MAX
#define DENORMALS_ARE_ZERO "0x9fc0" // MXCSR; results likewise

struct code_survey {
    ZydisDecoder decoder;
    const struct bench_bytes *code;
    uint32_t named, bases, indices; // general-purpose registers
    int vec_bits;
    bool floats, singles;      // of vectors
    bool pointers;             // a general-purpose register is loaded
    bool far;                  // something is relative to rip:
    int64_t far_low, far_high; // from here to there, as distances from the first byte
    int64_t far_origin;        // one of them that is a multiple of 64 ...
    int far_bytes;             // ... for this access
    uint32_t fs, gs;           // 1: the segment addresses memory
    // Distance from a multiple of 64 at which a register's address makes aligned accesses by it
    // aligned; of rsp at the begin of a copy.
    int residue[BENCH_REGISTERS];
    uint32_t aligned; // registers that have one
    size_t last;      // where the last instruction begins, ...
    size_t before;    // ... and the one before it
    bool loop;        // the last one jumps to the first
    int n;
    int64_t drift; // of rsp in a copy; not known: DRIFT_UNKNOWN
};

static int code_decode(const struct code_survey *survey, size_t at, ZydisDecodedInstruction *in,
                       ZydisDecodedOperand *ops, struct err *err)
{
    const struct bench_bytes *code = survey->code;
    if (ZYAN_SUCCESS(
            ZydisDecoderDecodeFull(&survey->decoder, code->bytes + at, code->len - at, in, ops)))
        return 0;
    char hex[3 * 8 + 1] = "";
    for (size_t i = 0; i < 8 && at + i < code->len; i++)
        snprintf(hex + 3 * i, 4, "%02x ", code->bytes[at + i]);
    return err_set(err, "instruction %d: the bytes %s%sare no instruction in this mode",
                   survey->n + 1, hex, code->len - at > 8 ? "... " : "");
}

// --- What the code uses. ---

static int gpr_number(const struct code_survey *survey, ZydisRegister reg)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(survey->decoder.machine_mode, reg);
    ZydisRegisterClass class = ZydisRegisterGetClass(whole);
    return class == ZYDIS_REGCLASS_GPR64 || class == ZYDIS_REGCLASS_GPR32
               ? ZydisRegisterGetId(whole)
               : -1;
}

static void survey_name(const struct code_survey *survey, ZydisRegister reg, uint32_t *set)
{
    int number = gpr_number(survey, reg);
    if (number >= 0 && number < BENCH_REGISTERS)
        *set |= (uint32_t)1 << number;
}

static bool is_inside(const struct code_survey *survey, int64_t target)
{
    return target >= 0 && target < (int64_t)survey->code->len;
}

// Returns the bytes by which memory must be aligned; 0: in any way.
static int aligned_bytes(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_MOVUPS:
    case ZYDIS_MNEMONIC_MOVUPD:
    case ZYDIS_MNEMONIC_MOVDQU:
    case ZYDIS_MNEMONIC_LDDQU:
        return 0;
    case ZYDIS_MNEMONIC_VMOVAPS:
    case ZYDIS_MNEMONIC_VMOVAPD:
    case ZYDIS_MNEMONIC_VMOVDQA:
    case ZYDIS_MNEMONIC_VMOVDQA32:
    case ZYDIS_MNEMONIC_VMOVDQA64:
    case ZYDIS_MNEMONIC_VMOVNTDQ:
    case ZYDIS_MNEMONIC_VMOVNTDQA:
    case ZYDIS_MNEMONIC_VMOVNTPS:
    case ZYDIS_MNEMONIC_VMOVNTPD:
        return op->size / 8;
    default:
        return in->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && op->size == 128 ? 16 : 0;
    }
}

// Notes where an access must begin to be aligned.
static void survey_alignment(struct code_survey *survey, const ZydisDecodedInstruction *in,
                             const ZydisDecodedOperand *op)
{
    int bytes = aligned_bytes(in, op), number = gpr_number(survey, op->mem.base);
    if (!bytes || number < 0 || op->mem.index != ZYDIS_REGISTER_NONE ||
        survey->aligned >> number & 1 || (number == RSP && survey->drift == DRIFT_UNKNOWN))
        return;
    int64_t distance = op->mem.disp.value + (number == RSP ? survey->drift : 0);
    survey->residue[number] = (int)(-distance & (bytes - 1));
    survey->aligned |= (uint32_t)1 << number;
}

// Returns true if the operand names what lies outside of the code, relative to rip.
static bool op_is_far(const struct code_survey *survey, const ZydisDecodedInstruction *in,
                      const ZydisDecodedOperand *op, size_t at)
{
    return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.base == ZYDIS_REGISTER_RIP &&
           !is_inside(survey, (int64_t)(at + in->length) + op->mem.disp.value);
}

static void survey_far(struct code_survey *survey, const ZydisDecodedInstruction *in,
                       const ZydisDecodedOperand *op, size_t at)
{
    int64_t target = (int64_t)(at + in->length) + op->mem.disp.value;
    int bytes = aligned_bytes(in, op);
    bytes = bytes ? bytes : op->size == 64;
    survey->far_low = survey->far && survey->far_low < target ? survey->far_low : target;
    survey->far_high = survey->far && survey->far_high > target ? survey->far_high : target;
    if (!survey->far || bytes > survey->far_bytes) {
        survey->far_origin = target;
        survey->far_bytes = bytes;
    }
    survey->far = true;
}

static void survey_memory(struct code_survey *survey, const ZydisDecodedInstruction *in,
                          const ZydisDecodedOperand *op, size_t at)
{
    survey_name(survey, op->mem.base, &survey->named);
    survey_name(survey, op->mem.index, &survey->named);
    if (op->mem.type != ZYDIS_MEMOP_TYPE_MEM)
        return;
    if (op_is_far(survey, in, op, at))
        survey_far(survey, in, op, at);
    survey->fs |= op->mem.segment == ZYDIS_REGISTER_FS;
    survey->gs |= op->mem.segment == ZYDIS_REGISTER_GS;
    survey_alignment(survey, in, op);
    // A sum of two registers has one that holds an address.
    bool base = op->mem.base != ZYDIS_REGISTER_NONE;
    survey_name(survey, base ? op->mem.base : op->mem.index, &survey->bases);
    if (base)
        survey_name(survey, op->mem.index, &survey->indices);
}

static void survey_operands(struct code_survey *survey, const ZydisDecodedInstruction *in,
                            const ZydisDecodedOperand *ops, size_t at)
{
    for (int i = 0; i < in->operand_count; i++) {
        const ZydisDecodedOperand *op = &ops[i];
        if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
            survey_memory(survey, in, op, at);
        if (op->type != ZYDIS_OPERAND_TYPE_REGISTER)
            continue;
        survey_name(survey, op->reg.value, &survey->named);
        ZydisRegisterClass class = ZydisRegisterGetClass(op->reg.value);
        int bits = class == ZYDIS_REGCLASS_ZMM                                  ? 512
                   : class == ZYDIS_REGCLASS_YMM                                ? 256
                   : class == ZYDIS_REGCLASS_XMM || class == ZYDIS_REGCLASS_MMX ? 128
                                                                                : 0;
        survey->vec_bits = bits > survey->vec_bits ? bits : survey->vec_bits;
        survey->floats |= bits && (op->element_type == ZYDIS_ELEMENT_TYPE_FLOAT32 ||
                                   op->element_type == ZYDIS_ELEMENT_TYPE_FLOAT64);
        survey->singles |= bits && op->element_type == ZYDIS_ELEMENT_TYPE_FLOAT32;
    }
}

// Takes registers for holders of addresses, or of 0, that another one gets its address from.
static void survey_sources(struct code_survey *survey, const ZydisDecodedInstruction *in,
                           const ZydisDecodedOperand *ops)
{
    uint32_t to = 0;
    if (in->operand_count_visible < 2 || ops[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
        return;
    survey_name(survey, ops[0].reg.value, &to);
    survey->pointers |= to && ops[1].type == ZYDIS_OPERAND_TYPE_MEMORY &&
                        ops[1].mem.type == ZYDIS_MEMOP_TYPE_MEM &&
                        ops[0].size == survey->code->bits;
    if (!(survey->bases & to))
        return;
    // Addresses in the data area are numbers of 31 bits, so all moves keep them.
    bool moves = in->mnemonic == ZYDIS_MNEMONIC_MOV || in->mnemonic == ZYDIS_MNEMONIC_MOVSXD;
    bool sums = in->mnemonic == ZYDIS_MNEMONIC_ADD;
    if ((moves || sums) && ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
        survey_name(survey, ops[1].reg.value, moves ? &survey->bases : &survey->indices);
    if (in->mnemonic != ZYDIS_MNEMONIC_LEA)
        return;
    bool base = ops[1].mem.base != ZYDIS_REGISTER_NONE;
    survey_name(survey, base ? ops[1].mem.base : ops[1].mem.index, &survey->bases);
    if (base)
        survey_name(survey, ops[1].mem.index, &survey->indices);
}

// Follows the stack pointer.
static void survey_stack(struct code_survey *survey, const ZydisDecodedInstruction *in,
                         const ZydisDecodedOperand *ops)
{
    bool written = false;
    int64_t bytes =
        ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER || ops[0].type == ZYDIS_OPERAND_TYPE_MEMORY
            ? ops[0].size / 8
            : survey->code->bits / 8;
    for (int i = 0; i < in->operand_count; i++)
        written |= ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                   (ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
                   gpr_number(survey, ops[i].reg.value) == RSP;
    if (!written || survey->drift == DRIFT_UNKNOWN)
        return;
    bool immediate = ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    if (in->meta.category == ZYDIS_CATEGORY_PUSH)
        survey->drift -= bytes;
    else if (in->meta.category == ZYDIS_CATEGORY_POP && gpr_number(survey, ops[0].reg.value) != RSP)
        survey->drift += bytes;
    else if (in->mnemonic == ZYDIS_MNEMONIC_SUB && immediate)
        survey->drift -= ops[1].imm.value.s;
    else if (in->mnemonic == ZYDIS_MNEMONIC_ADD && immediate)
        survey->drift += ops[1].imm.value.s;
    else
        survey->drift = DRIFT_UNKNOWN;
}

// --- Where it goes. ---

// Returns how the instruction leaves the code by a way that no copy can have; NULL: it does not.
static const char *leaves_by(ZydisInstructionCategory category)
{
    switch (category) {
    case ZYDIS_CATEGORY_CALL:
        return "calls: what runs there is not in the code";
    case ZYDIS_CATEGORY_RET:
        return "returns: leave it out";
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_INTERRUPT:
        return "calls the system, which no measured code may";
    case ZYDIS_CATEGORY_UNCOND_BR:
        return "jumps: leave it out";
    default:
        return NULL;
    }
}

// Returns where a jump goes, as a distance from the first byte.
static int64_t jump_target(const ZydisDecodedInstruction *in, size_t at)
{
    return (int64_t)(at + in->length) + in->raw.imm[0].value.s;
}

static bool jump_is_relative(const ZydisDecodedInstruction *in)
{
    return (in->meta.category == ZYDIS_CATEGORY_COND_BR ||
            in->meta.category == ZYDIS_CATEGORY_UNCOND_BR) &&
           in->raw.imm[0].is_relative;
}

// Returns true if a jump without a condition goes on with the code: to the next instruction, or
// from the last one to the first.
static bool jump_goes_on(const struct code_survey *survey, const ZydisDecodedInstruction *in,
                         size_t at)
{
    return survey->code->own && jump_is_relative(in) &&
           (in->raw.imm[0].value.s == 0 ||
            (at + in->length == survey->code->len && jump_target(in, at) == 0));
}

// Follows addresses from register to register, against the order of the code.
static void survey_addresses(struct code_survey *survey)
{
    ZydisDecodedInstruction in = {0};
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    struct err ignored;
    uint32_t before = 0;
    for (int i = 0; i < SURVEYS_MAX && before != (survey->bases | survey->indices); i++) {
        before = survey->bases | survey->indices;
        for (size_t at = 0; at < survey->code->len; at += in.length) {
            if (code_decode(survey, at, &in, ops, &ignored) != 0)
                return;
            survey_sources(survey, &in, ops);
        }
    }
}

// Returns true if the instruction makes an address relative to rip that the code goes by. Another
// one stays as it is: a plain address would be an instruction of other ports and of more bytes.
static bool lea_is_gone_by(const struct code_survey *survey, const ZydisDecodedInstruction *in,
                           const ZydisDecodedOperand *ops, size_t at)
{
    uint32_t to = 0;
    if (in->mnemonic != ZYDIS_MNEMONIC_LEA || !op_is_far(survey, in, &ops[1], at))
        return false;
    survey_name(survey, ops[0].reg.value, &to);
    return (survey->bases | survey->indices) & to;
}

static void survey_leas(struct code_survey *survey)
{
    ZydisDecodedInstruction in = {0};
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    struct err ignored;
    for (size_t at = 0; at < survey->code->len; at += in.length) {
        if (code_decode(survey, at, &in, ops, &ignored) != 0)
            return;
        if (lea_is_gone_by(survey, &in, ops, at))
            survey_far(survey, &in, &ops[1], at);
    }
}

static int survey_read(struct code_survey *survey, struct err *err)
{
    ZydisDecodedInstruction in = {0};
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    bool jumps = false;
    for (size_t at = 0; at < survey->code->len; at += in.length, survey->n++) {
        if (code_decode(survey, at, &in, ops, err) != 0)
            return -1;
        const char *by = leaves_by(in.meta.category);
        jumps |= by != NULL;
        if (by && !jump_goes_on(survey, &in, at))
            return err_set(err, "instruction %d, '%s', %s", survey->n + 1,
                           ZydisMnemonicGetString(in.mnemonic), by);
        survey_operands(survey, &in, ops, at);
        survey_stack(survey, &in, ops);
        survey->before = survey->last;
        survey->last = at;
    }
    survey_addresses(survey);
    survey_leas(survey);
    survey->loop =
        survey->code->own && jump_is_relative(&in) && jump_target(&in, survey->last) == 0;
    if (jumps && !survey->loop)
        return err_set(err, "a jump to the next instruction is for a loop: leave it out");
    if (survey->far && survey->far_high - survey->far_low > FAR_BYTES_MAX)
        return err_set(err, "what it addresses relative to rip lies more than 1 MiB apart");
    return survey->n ? 0 : err_set(err, "there is no instruction in the code");
}

// --- The text. ---

static void put_bytes(struct strbuf *out, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        strbuf_printf(out, "%s0x%02x", i ? ", " : "db ", bytes[i]);
    strbuf_puts(out, len ? "\n" : "");
}

// Returns where the places of what is relative to rip begin, after a multiple of 64 bytes.
static int64_t far_shift(const struct code_survey *survey)
{
    int64_t origin = survey->code->address ? -(int64_t)survey->code->address : survey->far_origin;
    return (survey->far_low - origin) & 63;
}

// Writes an instruction with an address relative to rip so that it addresses a place of its own:
// mod 0 and an index byte without base and index are a plain address.
static void put_far(const struct code_survey *survey, const ZydisDecodedInstruction *in, size_t at,
                    struct strbuf *out)
{
    const uint8_t *bytes = survey->code->bytes + at;
    uint8_t head[ZYDIS_MAX_INSTRUCTION_LENGTH + 1];
    size_t modrm = in->raw.modrm.offset, tail = in->raw.disp.offset + (size_t)4;
    int64_t target = (int64_t)(at + in->length) + in->raw.disp.value;
    memcpy(head, bytes, modrm + 1);
    head[modrm] = (uint8_t)((bytes[modrm] & 0x38) | 4);
    head[modrm + 1] = 0x25;
    put_bytes(out, head, modrm + 2);
    strbuf_printf(out, "dd latput_far%d + %" PRId64 "\n", survey->code->number,
                  target - survey->far_low + far_shift(survey));
    put_bytes(out, bytes + tail, in->length - tail);
}

// Writes a jump out of the code as one to the next instruction.
static void put_exit(const ZydisDecodedInstruction *in, const uint8_t *bytes, struct strbuf *out)
{
    uint8_t changed[ZYDIS_MAX_INSTRUCTION_LENGTH];
    memcpy(changed, bytes, in->length);
    memset(changed + in->raw.imm[0].offset, 0, in->raw.imm[0].size / 8);
    put_bytes(out, changed, in->length);
}

// Checks a jump of a program's code, which is taken to go on.
static int jump_check(const struct code_survey *survey, const ZydisDecodedInstruction *in,
                      size_t at, int n, struct err *err)
{
    const char *name = ZydisMnemonicGetString(in->mnemonic);
    if (at == survey->last || (survey->loop && in->raw.imm[0].value.s == 0))
        return 0;
    if (is_inside(survey, jump_target(in, at)))
        return err_set(err,
                       "instruction %d, '%s', branches in the middle: which way it goes is not "
                       "known; take the parts",
                       n, name);
    return survey->loop ? 0
                        : err_set(err,
                                  "instruction %d, '%s', jumps out of the code, which is no loop: "
                                  "take the parts",
                                  n, name);
}

// Returns true if the instruction is written with a plain address.
static bool is_put_far(const struct code_survey *survey, const ZydisDecodedInstruction *in,
                       const ZydisDecodedOperand *ops, size_t at)
{
    bool far = false;
    for (int i = 0; i < in->operand_count_visible; i++)
        far |= op_is_far(survey, in, &ops[i], at);
    return far && in->raw.disp.size == 32 &&
           (in->mnemonic != ZYDIS_MNEMONIC_LEA || lea_is_gone_by(survey, in, ops, at));
}

static int put_instruction(const struct code_survey *survey, const ZydisDecodedInstruction *in,
                           size_t at, int n, struct strbuf *out, struct err *err)
{
    const uint8_t *bytes = survey->code->bytes + at;
    if (jump_is_relative(in)) {
        if (survey->code->own && jump_check(survey, in, at, n, err) != 0)
            return -1;
        int64_t target = jump_target(in, at);
        if (!survey->code->own && target != (int64_t)survey->code->len &&
            !is_inside(survey, target))
            return err_set(err, "instruction %d, '%s', jumps out of the code", n,
                           ZydisMnemonicGetString(in->mnemonic));
        if (survey->code->own)
            put_exit(in, bytes, out);
        else
            put_bytes(out, bytes, in->length);
        return 0;
    }
    put_bytes(out, bytes, in->length);
    return 0;
}

static int put_code(const struct code_survey *survey, size_t end, struct strbuf *out,
                    struct err *err)
{
    ZydisDecodedInstruction in;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    int n = 1;
    for (size_t at = 0; at < end; at += in.length, n++) {
        if (code_decode(survey, at, &in, ops, err) != 0)
            return -1;
        if (is_put_far(survey, &in, ops, at))
            put_far(survey, &in, at, out);
        else if (put_instruction(survey, &in, at, n, out, err) != 0)
            return -1;
    }
    return 0;
}

// Returns where the body ends: before the jump back, and before a comparison in front of it that
// the core's own jump has, too.
static size_t body_end(const struct code_survey *survey)
{
    ZydisDecodedInstruction in;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    struct err err;
    if (!survey->loop)
        return survey->code->len;
    bool always = code_decode(survey, survey->last, &in, ops, &err) == 0 &&
                  in.meta.category == ZYDIS_CATEGORY_UNCOND_BR;
    if (always || survey->n < 3 || code_decode(survey, survey->before, &in, ops, &err) != 0)
        return survey->last;
    bool compares = in.mnemonic == ZYDIS_MNEMONIC_CMP || in.mnemonic == ZYDIS_MNEMONIC_TEST;
    bool loads =
        ops[0].type == ZYDIS_OPERAND_TYPE_MEMORY || ops[1].type == ZYDIS_OPERAND_TYPE_MEMORY;
    return compares && !loads ? survey->before : survey->last;
}

static const char *register_name(const struct code_survey *survey, int number)
{
    return ZydisRegisterGetString(ZydisRegisterEncode(
        survey->code->bits == 32 ? ZYDIS_REGCLASS_GPR32 : ZYDIS_REGCLASS_GPR64, (ZyanU8)number));
}

// Writes what gives segments a base in the data area, where programs may set it.
static void put_segments(const struct code_survey *survey, struct strbuf *out)
{
    enum { FSGSBASE = 2 }; // HWCAP2_FSGSBASE
    if (!(survey->fs | survey->gs) || !(getauxval(AT_HWCAP2) & FSGSBASE))
        return;
    strbuf_printf(out, "push rax\nlea rax, [r14+%d]\n%s%spop rax\n", AREA_SEGMENT,
                  survey->fs ? "wrfsbase rax\n" : "", survey->gs ? "wrgsbase rax\n" : "");
}

// Writes the code that sets registers of addresses to places apart, and registers that only scale
// to 0.
static void put_registers(const struct code_survey *survey, struct bench_register *first,
                          struct strbuf *out)
{
    bool wide = survey->code->bits == 64;
    const char *data = wide ? "r14" : "ebp";
    for (int i = 0, place = 0; i < (wide ? BENCH_REGISTERS : 8); i++) {
        if (i == RSP || i == (wide ? (int)R14 : (int)RBP) || !(survey->named >> i & 1))
            continue;
        const char *name = register_name(survey, i);
        int at = AREA_FIRST + AREA_STEP * place++ + survey->residue[i];
        if (survey->bases >> i & 1) {
            strbuf_printf(out, "lea %s, [%s+%d]\n", name, data, at);
            first[i] = (struct bench_register){BENCH_REGISTER_DATA, at};
        } else if (survey->indices >> i & 1) {
            strbuf_printf(out, "xor %s, %s\n", name, name);
            first[i] = (struct bench_register){BENCH_REGISTER_NUMBER, 0};
        }
    }
    if (wide)
        put_segments(survey, out);
    if (wide && survey->named >> RSP & 1) {
        int at = AREA_STACK + survey->residue[RSP];
        strbuf_printf(out, "lea rsp, [r14+%d]\n", at);
        first[RSP] = (struct bench_register){BENCH_REGISTER_DATA, at};
    }
}

static int64_t far_words(const struct code_survey *survey)
{
    return (survey->far_high - survey->far_low) / 8 + 64;
}

// Writes what the places of what is addressed relative to rip hold: numbers, or addresses of
// themselves.
static void put_far_word(const struct code_survey *survey, struct strbuf *out)
{
    if (survey->floats && !survey->pointers)
        strbuf_puts(out, survey->singles ? "0x3f8000003f800000" : "0x3ff0000000000000");
    else
        strbuf_printf(out, "latput_far%d + 64", survey->code->number);
}

// Writes what fills these places anew: the code may have changed them, or other code in its process
// that writes beyond its own.
static void put_far_fill(const struct code_survey *survey, struct strbuf *out)
{
    if (!survey->far)
        return;
    strbuf_puts(out, "mov rax, ");
    put_far_word(survey, out);
    strbuf_printf(out,
                  "\nmov ecx, %" PRId64 "\n"
                  ".far: mov [latput_far%d+rcx*8-8], rax\ndec ecx\njnz .far\n",
                  far_words(survey), survey->code->number);
}

// Writes what bench fills vectors and memory by, or fills memory with addresses in it.
static void put_fills(const struct code_survey *survey, struct strbuf *out)
{
    const char *width = survey->vec_bits == 512   ? "vmovapd zmm0, zmm0"
                        : survey->vec_bits == 256 ? "vmovapd ymm0, ymm0"
                                                  : "movapd xmm0, xmm0";
    if ((survey->floats || !survey->code->own) && survey->vec_bits) {
        strbuf_printf(out, "%s\n", width);
        strbuf_puts(out, survey->singles ? "mulss xmm0, xmm0\n" : "");
    }
    if (!survey->code->own)
        return;
    put_far_fill(survey, out);
    bool wide = survey->code->bits == 64, zeros = survey->floats && !survey->pointers;
    const char *area = wide ? "r14" : "ebp", *word = wide ? "rax" : "eax";
    int bytes = wide ? 8 : 4;
    if (zeros) // a block before this one in its process may have left addresses
        strbuf_puts(out, "xor eax, eax\n");
    else if (survey->floats) // an address is a denormal number: slow unless it counts as 0
        strbuf_printf(out, "mov dword [%s], %s\nldmxcsr [%s]\n", area, DENORMALS_ARE_ZERO, area);
    if (!zeros)
        strbuf_printf(out, "lea %s, [%s+1088]\n", word, area);
    // Downwards: the lines at the begin, where most accesses go, are those that stay in the cache.
    int first = zeros ? FIRST_BYTES : 0, most = FILL_BYTES - (zeros ? FRAMES_BYTES : 0);
    strbuf_printf(out,
                  "mov ecx, %d\n.fill: mov [%s+%s*%d+%d], %s\ndec ecx\n"
                  "jnz .fill\n",
                  (most - first) / bytes, area, wide ? "rcx" : "ecx", bytes, first - bytes, word);
    strbuf_puts(out, "mov eax, 1\nmov ecx, 1\n");
}

// Code that needs registers of the core's gets them by an exchange around several copies.
static void put_own(const struct code_survey *survey, const char *code, int copies,
                    struct strbuf *setup, struct strbuf *body)
{
    bool stack = survey->named >> RSP & 1;
    int n = survey->code->number;
    strbuf_printf(setup,
                  "section latput_user progbits alloc noexec write align=64\nalign 64, db 0\n"
                  "latput_kept%d: times 4 dq 0\nlatput_own%d: times 4 dq 0\n"
                  "section .text\ndefault abs\n",
                  n, n);
    strbuf_printf(body,
                  "mov [latput_kept%d], r14\nmov [latput_kept%d+8], r15\n"
                  "mov r14, [latput_own%d]\nmov r15, [latput_own%d+8]\n",
                  n, n, n, n);
    if (stack)
        strbuf_printf(body, "mov [latput_kept%d+16], rsp\nmov rsp, [latput_own%d+16]\n", n, n);
    // A copy that leaves the stack where the next one's accesses are not aligned puts it back.
    bool back = survey->aligned >> RSP & 1 && survey->drift != DRIFT_UNKNOWN && survey->drift % 16;
    for (int i = 0; i < copies; i++) {
        strbuf_puts(body, code);
        if (back)
            strbuf_printf(body, "lea rsp, [rsp+%d]\n", -(int)survey->drift);
    }
    strbuf_printf(body,
                  "mov [latput_own%d], r14\nmov [latput_own%d+8], r15\n"
                  "mov r14, [latput_kept%d]\nmov r15, [latput_kept%d+8]\n",
                  n, n, n, n);
    if (stack)
        strbuf_printf(body, "mov rsp, [latput_kept%d+16]\n", n);
}

static void put_own_registers(const struct code_survey *survey, struct strbuf *out)
{
    int n = survey->code->number;
    strbuf_printf(out,
                  "mov [latput_own%d+16], rsp\nmov [latput_own%d+8], r15\n"
                  "lea r15, [r14+%d]\nmov [latput_own%d], r15\n",
                  n, n, AREA_FIRST + AREA_STEP * R14 + survey->residue[R14], n);
    if (!(survey->bases >> R14 & 1))
        strbuf_printf(out, "mov qword [latput_own%d], 1\n", n);
}

// Writes the places of what is addressed relative to rip.
static void put_far_places(const struct code_survey *survey, struct strbuf *out)
{
    int n = survey->code->number;
    strbuf_printf(out,
                  "section latput_user progbits alloc noexec write align=64\nalign 64, db 0\n"
                  "latput_far%d:\n",
                  n);
    strbuf_printf(out, "times %" PRId64 " dq ", far_words(survey));
    put_far_word(survey, out);
    strbuf_puts(out, "\nsection .text\ndefault abs\n");
}

// Returns true if the code needs registers that are the core's while it runs.
static bool needs_own(const struct code_survey *survey)
{
    uint32_t core = (uint32_t)1 << R14 | (uint32_t)1 << R15;
    return survey->code->own && survey->code->bits == 64 &&
           ((survey->named & core) || survey->drift != 0);
}

static int own_copies(const struct code_survey *survey)
{
    int64_t far = survey->drift < 0 ? -survey->drift : survey->drift;
    int64_t most = survey->drift == DRIFT_UNKNOWN ? STACK_COPIES
                   : far                          ? STACK_BYTES_MAX / far
                                                  : OWN_COPIES_MAX;
    int64_t copies = OWN_INSTRS / survey->n + 1;
    copies = copies < most ? copies : most;
    copies = copies < OWN_COPIES_MAX ? copies : OWN_COPIES_MAX;
    return copies ? (int)copies : 1;
}

static int text_write(const struct code_survey *survey, const char *init,
                      struct bench_bytes_text *text, struct arena *arena, struct err *err)
{
    struct strbuf setup = {0}, registers = {0}, code = {0}, body = {0};
    bool own = needs_own(survey);
    int status = put_code(survey, body_end(survey), &code, err);
    *text = (struct bench_bytes_text){.copies = 1, .looped = survey->loop && !own};
    put_fills(survey, &registers);
    if (survey->code->own)
        put_registers(survey, text->first, &registers);
    if (init)
        strbuf_printf(&registers, "%s\n", init);
    text->registers = arena_strdup(arena, strbuf_text(&registers));
    if (own) {
        text->copies = own_copies(survey);
        put_own(survey, strbuf_text(&code), text->copies, &setup, &body);
        put_own_registers(survey, &registers);
    }
    if (survey->far)
        put_far_places(survey, &setup);
    text->linked = own || survey->far;
    text->body = arena_strdup(arena, strbuf_text(own ? &body : &code));
    text->init = arena_printf(arena, "%s%s", strbuf_text(&setup), strbuf_text(&registers));
    strbuf_free(&setup);
    strbuf_free(&registers);
    strbuf_free(&code);
    strbuf_free(&body);
    return status;
}

int bench_bytes_text(const struct bench_bytes *code, const char *init,
                     struct bench_bytes_text *text, struct arena *arena, struct err *err)
{
    struct code_survey survey = {.code = code};
    bool wide = code->bits == 64;
    if (code->len > BENCH_BYTES_MAX)
        return err_set(err, "more than %d bytes of code", BENCH_BYTES_MAX);
    if (ZYAN_FAILED(ZydisDecoderInit(
            &survey.decoder, wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
            wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32)))
        return err_set(err, "the decoder cannot be used");
    if (survey_read(&survey, err) != 0)
        return -1;
    if (body_end(&survey) == 0)
        return err_set(err, "there is nothing but a jump in the code");
    return text_write(&survey, init, text, arena, err);
}
