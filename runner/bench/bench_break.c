// SPDX-License-Identifier: MIT
// Throughput of a snippet that is a chain; see bench_break.h. Decodes its machine code and finds
// what one copy hands to the next. Moves between registers break that, because they keep the
// values, and cost most CPUs a slot of the front end only.
#include "bench_break.h"

#include "bench_text.h"
#include "util/file_write.h"
#include "util/strbuf.h"
#include "util/subproc.h"

#include <Zydis/Zydis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NASM_TIMEOUT_MS = 20000, CODE_BYTES_MAX = BENCH_CODE_MAX };
enum { KEPT_BYTES = 64 }; // of the widest register

enum register_class { REG_GPR, REG_VEC, REG_MASK, REG_MMX, REG_CLASSES };
enum { REG_NUMBERS = 32, NUMBER_RSP = 4, NUMBER_RBP = 5, NUMBER_R14 = 14, NUMBER_R15 = 15 };

// Registers as bits by class; flags and the x87 stack apart.
struct registers {
    uint32_t bits[REG_CLASSES];
    ZydisAccessedFlagsMask flags;
    bool x87;
};

struct flow {
    int mode_bits;
    ZydisDecoder decoder;
    struct registers named;   // anywhere
    struct registers live_in; // read before they are written
    struct registers written; // wholly, so far
    struct registers touched; // written at all
    int vec_bits;             // widest that is named
    int in_use[REG_NUMBERS];  // bits of each vector register that were written, and not zeroed
    bool vex;                 // any instruction of VEX or EVEX
    bool wide_masks;          // masks may have more than 16 bits
};

static const ZydisAccessedFlagsMask FLAGS_BROKEN =
    ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF;

// Returns the class of a register; -1: this code does not know it.
static int register_class(ZydisRegister reg)
{
    switch (ZydisRegisterGetClass(reg)) {
    case ZYDIS_REGCLASS_GPR8:
    case ZYDIS_REGCLASS_GPR16:
    case ZYDIS_REGCLASS_GPR32:
    case ZYDIS_REGCLASS_GPR64:
        return REG_GPR;
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
        return REG_VEC;
    case ZYDIS_REGCLASS_MASK:
        return REG_MASK;
    case ZYDIS_REGCLASS_MMX:
        return REG_MMX;
    default:
        return -1;
    }
}

static void flow_register(struct flow *flow, ZydisRegister reg, bool read, bool write)
{
    ZydisMachineMode mode =
        flow->mode_bits == 32 ? ZYDIS_MACHINE_MODE_LEGACY_32 : ZYDIS_MACHINE_MODE_LONG_64;
    int class = register_class(reg);
    bool x87 = ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_X87;
    flow->named.x87 = flow->named.x87 || x87;
    if (class < 0)
        return;
    int bits = ZydisRegisterGetWidth(mode, reg);
    // Zydis encloses general-purpose and vector registers only; ah has the number of rax.
    bool encloses = class == REG_GPR || class == REG_VEC;
    int number = ZydisRegisterGetId(encloses ? ZydisRegisterGetLargestEnclosing(mode, reg) : reg);
    if (number < 0 || number >= REG_NUMBERS)
        return;
    uint32_t bit = (uint32_t)1 << number;
    bool partial = class == REG_GPR && bits < 32; // keeps the rest of the register
    if (class == REG_VEC && bits > flow->vec_bits)
        flow->vec_bits = bits;
    flow->named.bits[class] |= bit;
    if ((read || (write && partial)) && !(flow->written.bits[class] & bit))
        flow->live_in.bits[class] |= bit;
    if (write)
        flow->touched.bits[class] |= bit;
    if (write && class == REG_VEC && bits > flow->in_use[number])
        flow->in_use[number] = bits;
}

static void flow_operand(struct flow *flow, const ZydisDecodedOperand *op, bool reads)
{
    if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && reads) {
        flow_register(flow, op->mem.base, true, false);
        flow_register(flow, op->mem.index, true, false);
    }
    if (op->type != ZYDIS_OPERAND_TYPE_REGISTER)
        return;
    ZydisOperandActions read = op->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
    // An operand that is written conditionally keeps its old value otherwise.
    ZydisOperandActions kept = op->actions & ZYDIS_OPERAND_ACTION_CONDWRITE;
    ZydisOperandActions write = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    if (reads ? read || kept : write != 0)
        flow_register(flow, op->reg.value, reads, !reads);
}

// Returns true if the instruction is of a part of AVX-512 whose elements may have less than four
// bytes, so that masks have more than 16 bits. The other parts come without AVX512BW, too.
static bool has_wide_masks(const ZydisDecodedInstruction *in)
{
    static const char *const narrow[] = {"AVX512F_",  "AVX512CD_", "AVX512DQ_",       "AVX512ER_",
                                         "AVX512PF_", "AVX512_4",  "AVX512_VPOPCNTDQ"};
    const char *set = ZydisISASetGetString(in->meta.isa_set);
    if (!set || strncmp(set, "AVX512", strlen("AVX512")) != 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(narrow); i++)
        if (strncmp(set, narrow[i], strlen(narrow[i])) == 0)
            return false;
    return true;
}

// Takes the upper halves that vzeroupper and vzeroall leave at zero for unused.
static void flow_zeroed(struct flow *flow, const ZydisDecodedInstruction *in)
{
    enum { LOWER_BITS = 128, ZEROED_REGISTERS = 16 };
    if (in->mnemonic != ZYDIS_MNEMONIC_VZEROUPPER && in->mnemonic != ZYDIS_MNEMONIC_VZEROALL)
        return;
    for (int i = 0; i < ZEROED_REGISTERS; i++)
        if (flow->in_use[i] > LOWER_BITS)
            flow->in_use[i] = LOWER_BITS;
}

static void flow_instruction(struct flow *flow, const ZydisDecodedInstruction *in,
                             const ZydisDecodedOperand *ops)
{
    flow->wide_masks = flow->wide_masks || has_wide_masks(in);
    flow->vex = flow->vex || in->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX ||
                in->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
    for (int i = 0; i < in->operand_count; i++)
        flow_operand(flow, &ops[i], true);
    for (int i = 0; i < in->operand_count; i++)
        flow_operand(flow, &ops[i], false);
    flow_zeroed(flow, in);
    memcpy(flow->written.bits, flow->touched.bits, sizeof flow->written.bits);
    if (!in->cpu_flags)
        return;
    ZydisAccessedFlagsMask changed = in->cpu_flags->modified | in->cpu_flags->set_0 |
                                     in->cpu_flags->set_1 | in->cpu_flags->undefined;
    flow->live_in.flags |= in->cpu_flags->tested & ~flow->written.flags;
    flow->written.flags |= changed;
}

static void flow_decode(struct flow *flow, const uint8_t *code, size_t len)
{
    ZydisDecodedInstruction in;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    bool wide = flow->mode_bits != 32;
    ZydisDecoderInit(&flow->decoder,
                     wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
                     wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
    for (size_t at = 0; at < len; at += in.length) {
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&flow->decoder, code + at, len - at, &in, ops)))
            return; // data; what they do is not known
        flow_instruction(flow, &in, ops);
    }
}

// ---- Text to machine code.

enum { HEAD_LINES = 4 }; // lines before the text

// Sets the message of the first error, "break.asm:LINE: error: MESSAGE", about a part of the text.
static void assemble_refused(const char *text, const char *errors, struct err *err)
{
    static const char mark[] = "error: ";
    const char *at = strstr(errors, "break.asm:"), *error = strstr(errors, mark);
    int line = at ? atoi(at + strlen("break.asm:")) - HEAD_LINES : 0, start = 0, len = 0;
    char message[256] = "";
    if (error)
        snprintf(message, sizeof message, "%.*s", (int)strcspn(error, "\n"), error);
    if (line < 1 || !error || !bench_text_part(text, line, &start, &len) || len == 0)
        err_set(err, "NASM refuses it: latput bench says where");
    else if (bench_text_is_unknown(message))
        err_set(err, "'%.*s': NASM knows no such instruction", len, text + start);
    else
        err_set(err, "'%.*s': NASM says: %s", len, text + start, message + strlen(mark));
}

long bench_assemble(const char *directory, const char *text, int bits, uint8_t *code,
                    struct err *err)
{
    char *source = xasprintf("%s/break.asm", directory),
         *binary = xasprintf("%s/break.bin", directory);
    const char *const argv[] = {
        "nasm", "-f",        "bin",       "-w-all", "-w+label-orphan", "-w+error=label-orphan",
        "-o",   "break.bin", "break.asm", NULL};
    const char *const nothing[] = {NULL};
    const struct subproc_options options = {
        .cwd = directory, .timeout_ms = NASM_TIMEOUT_MS, .tool = true, .readable = nothing};
    struct subproc_result result = {0};
    struct arena arena = {0};
    long len = -1;
    const char *lines =
        arena_printf(&arena, "bits %d\ndefault abs\nlatput_absolute equ 0\nk0_body:\n%s", bits,
                     bench_text_lines(text, &arena));
    if (file_write_scratch(source, lines, err) != 0 ||
        subproc_run(argv, &options, &result, err) != 0)
        goto out;
    FILE *file = fopen(binary, "r");
    len = file && result.exit_status == 0 ? (long)fread(code, 1, CODE_BYTES_MAX, file) : 0;
    if (file)
        fclose(file);
    if (result.exit_status != 0 || result.signal || result.timed_out)
        assemble_refused(text, result.err, err);
    subproc_result_free(&result);
out:
    unlink(source);
    unlink(binary);
    free(source);
    free(binary);
    arena_free(&arena);
    return len;
}

static int flow_read(struct flow *flow, const char *directory, const char *text, struct err *err)
{
    uint8_t *code = xmalloc(CODE_BYTES_MAX);
    long len = bench_assemble(directory, text, flow->mode_bits, code, err);
    if (len > 0)
        flow_decode(flow, code, (size_t)len);
    free(code);
    return len < 0 ? -1 : 0;
}

// ---- Breaking.

// `vec_bits`: of a vector register.
static const char *register_name(const struct flow *flow, int class, int number, int vec_bits)
{
    static const ZydisRegisterClass widths[] = {ZYDIS_REGCLASS_XMM, ZYDIS_REGCLASS_YMM,
                                                ZYDIS_REGCLASS_ZMM};
    int wide = vec_bits >= 512 || number >= 16 ? 2 : vec_bits >= 256;
    ZydisRegisterClass of =
        class == REG_GPR    ? (flow->mode_bits == 32 ? ZYDIS_REGCLASS_GPR32 : ZYDIS_REGCLASS_GPR64)
        : class == REG_VEC  ? widths[wide]
        : class == REG_MASK ? ZYDIS_REGCLASS_MASK
                            : ZYDIS_REGCLASS_MMX;
    return ZydisRegisterGetString(ZydisRegisterEncode(of, (ZyanU8)number));
}

static const char *move_name(const struct flow *flow, int class)
{
    static const char *const names[] = {[REG_GPR] = "mov", [REG_MMX] = "movq"};
    return class == REG_VEC    ? (flow->vex ? "vmovaps" : "movaps")
           : class == REG_MASK ? (flow->wide_masks ? "kmovq" : "kmovw")
                               : names[class];
}

// Returns the registers that belong to the core; see runner/core/README.md.
static uint32_t registers_reserved(const struct flow *flow, int class)
{
    enum {
        RSP = 1 << NUMBER_RSP,
        RBP = 1 << NUMBER_RBP,
        R14 = 1 << NUMBER_R14,
        R15 = 1 << NUMBER_R15
    };
    if (class == REG_GPR)
        return flow->mode_bits == 32 ? RSP | RBP : RSP | R14 | R15;
    return class == REG_MASK ? 1 : 0; // k0 is no mask
}

// Breaks what goes through register `number`. False if no register is left to keep its value in.
static bool register_break(struct flow *flow, int class, int number, struct strbuf *init,
                           struct strbuf *body)
{
    int available = class == REG_MASK || class == REG_MMX || flow->mode_bits == 32 ? 8 : 16;
    uint32_t taken = flow->named.bits[class] | registers_reserved(flow, class);
    int spare = 0;
    while (spare < available && taken >> spare & 1)
        spare++;
    if (spare == available)
        return false;
    flow->named.bits[class] |= (uint32_t)1 << spare;
    const char *move = move_name(flow, class),
               *own = register_name(flow, class, number, flow->vec_bits),
               *other = register_name(flow, class, spare, flow->vec_bits);
    strbuf_printf(init, "%s %s, %s\n", move, other, own);
    strbuf_printf(body, "%s %s, %s\n", move, own, other);
    return true;
}

static const char *flow_break(struct flow *flow, struct strbuf *init, struct strbuf *body)
{
    if (flow->named.x87)
        return "chains through the x87 stack cannot be broken: measure its latency";
    for (int class = 0; class < REG_CLASSES; ++class) {
        uint32_t carried = flow->live_in.bits[class] & flow->touched.bits[class] &
                           ~registers_reserved(flow, class);
        for (int number = 0; number < REG_NUMBERS; number++)
            if (carried >> number & 1 && !register_break(flow, class, number, init, body))
                return "no register is left to break its chains with";
    }
    if (flow->live_in.flags & flow->written.flags & FLAGS_BROKEN)
        strbuf_puts(body, flow->mode_bits == 32 ? "test ebp, ebp\n" : "test r14, r14\n");
    return NULL;
}

int bench_break_chains(const struct bench_spec *spec, const char *directory,
                       struct bench_breakers *breakers, struct arena *arena, struct err *err)
{
    struct flow flow = {.mode_bits = spec->bits == 32 ? 32 : 64}, before = flow;
    struct strbuf init = {0}, body = {0};
    *breakers = (struct bench_breakers){.init = "", .body = ""};
    if (flow_read(&flow, directory, spec->body, err) != 0 ||
        (spec->init && flow_read(&before, directory, spec->init, err) != 0))
        return -1;
    for (int class = 0; class < REG_CLASSES; ++class)
        flow.named.bits[class] |= before.named.bits[class];
    flow.wide_masks = flow.wide_masks || before.wide_masks;
    breakers->impossible = flow_break(&flow, &init, &body);
    if (!breakers->impossible) {
        breakers->init = arena_strdup(arena, strbuf_text(&init));
        breakers->body = arena_strdup(arena, strbuf_text(&body));
    }
    strbuf_free(&init);
    strbuf_free(&body);
    return 0;
}

int bench_reserved_writes(const struct bench_spec *spec, const char *directory,
                          struct bench_reserved *written, struct err *err)
{
    struct flow flow = {.mode_bits = spec->bits == 32 ? 32 : 64};
    if (flow_read(&flow, directory, spec->body, err) != 0)
        return -1;
    uint32_t gpr = flow.touched.bits[REG_GPR];
    *written = (struct bench_reserved){.stack = gpr >> NUMBER_RSP & 1};
    if (flow.mode_bits == 32) {
        written->data = gpr >> NUMBER_RBP & 1;
    } else {
        written->data = gpr >> NUMBER_R14 & 1;
        written->loop = gpr >> NUMBER_R15 & 1;
    }
    return 0;
}

// ---- Keeping.

// Writes one register to its place, and from there: as wide as it was written, so that the upper
// halves of vectors are in use before each call only where they were before the first.
static void register_keep(const struct flow *flow, int class, int number, int at,
                          struct strbuf *save, struct strbuf *load)
{
    const char *move =
                   class == REG_VEC ? (flow->vex ? "vmovups" : "movups") : move_name(flow, class),
               *name = register_name(flow, class, number, flow->in_use[number]);
    strbuf_printf(save, "%s [latput_kept+%d], %s\n", move, at * KEPT_BYTES, name);
    strbuf_printf(load, "%s %s, [latput_kept+%d]\n", move, name, at * KEPT_BYTES);
}

int bench_init_kept(const struct bench_spec *spec, const char *directory, struct bench_kept *kept,
                    struct arena *arena, struct err *err)
{
    struct flow flow = {.mode_bits = spec->bits == 32 ? 32 : 64};
    struct strbuf save = {0}, load = {0};
    int n = 0;
    *kept = (struct bench_kept){"", "", ""};
    if (spec->init && flow_read(&flow, directory, spec->init, err) != 0)
        return -1;
    for (int class = 0; class < REG_MMX; ++class)
        for (int number = 0; number < REG_NUMBERS; number++)
            if (flow.touched.bits[class] & ~registers_reserved(&flow, class) &
                (uint32_t)1 << number)
                register_keep(&flow, class, number, n++, &save, &load);
    if (n)
        *kept = (struct bench_kept){
            arena_printf(arena, "align %d, db 0\nlatput_kept: times %d db 0\n", KEPT_BYTES,
                         n * KEPT_BYTES),
            arena_strdup(arena, strbuf_text(&save)), arena_strdup(arena, strbuf_text(&load))};
    strbuf_free(&save);
    strbuf_free(&load);
    return 0;
}
