// SPDX-License-Identifier: MIT
// XED's names by rule. An iform is the instruction's name and one word per operand with its kind
// and its width or elements; each generation of encodings has a fixed wording. Families whose words
// follow no rule have no iform here. tests/cli/cli_export.sh compares with a table of XED's if
// there is one.
#include "export_iform.h"
#include "export_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool decode(const struct known_form *form, struct export_decoded *decoded)
{
    ZydisDecoder decoder;
    if (!form->code)
        return false;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, form->code, form->code_len, &decoded->in,
                                               decoded->ops)) &&
           decoded->in.length == form->code_len;
}

const char *export_decode(const struct known_form *form, bool has_result,
                          struct export_decoded *decoded)
{
    return !form->row               ? known_no_row
           : form->id.bits != 64    ? known_32bit
           : form->row->same        ? export_same
           : !has_result            ? export_no_result
           : !decode(form, decoded) ? known_no_code
                                    : NULL;
}

static void iform_upper(struct strbuf *out, const char *text)
{
    for (; *text; text++) {
        char byte = (char)toupper((unsigned char)*text);
        strbuf_put(out, &byte, 1);
    }
}

// Appends the name. XED names conditions by the flags, like the decoder, unlike some of NASM's
// names.
static void iform_name(const struct export_decoded *decoded, struct strbuf *out)
{
    iform_upper(out, ZydisMnemonicGetString(decoded->in.mnemonic));
}

static ZydisRegisterClass iform_class(const ZydisDecodedOperand *op)
{
    return op->type == ZYDIS_OPERAND_TYPE_REGISTER ? ZydisRegisterGetClass(op->reg.value)
                                                   : ZYDIS_REGCLASS_INVALID;
}

static const char *iform_vector(const ZydisDecodedOperand *op)
{
    switch (iform_class(op)) {
    case ZYDIS_REGCLASS_XMM:
        return "XMM";
    case ZYDIS_REGCLASS_YMM:
        return "YMM";
    case ZYDIS_REGCLASS_ZMM:
        return "ZMM";
    case ZYDIS_REGCLASS_MMX:
        return "MMX";
    default:
        return NULL;
    }
}

// --- AVX-512: by the type of the elements ---

static bool iform_element(const ZydisDecodedOperand *op, struct strbuf *out)
{
    switch (op->element_type) {
    case ZYDIS_ELEMENT_TYPE_UINT:
        strbuf_printf(out, "u%d", op->element_size);
        return true;
    case ZYDIS_ELEMENT_TYPE_INT:
        strbuf_printf(out, "i%d", op->element_size);
        return true;
    case ZYDIS_ELEMENT_TYPE_FLOAT16:
        strbuf_puts(out, "f16");
        return true;
    case ZYDIS_ELEMENT_TYPE_FLOAT32:
        strbuf_puts(out, "f32");
        return true;
    case ZYDIS_ELEMENT_TYPE_FLOAT64:
        strbuf_puts(out, "f64");
        return true;
    default:
        return false;
    }
}

static bool iform_evex_operand(const ZydisDecodedOperand *op, struct strbuf *out)
{
    const char *vector = iform_vector(op);
    if (iform_class(op) == ZYDIS_REGCLASS_MASK) {
        strbuf_puts(out, "_MASKmskw");
        return true;
    }
    if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        strbuf_puts(out, "_IMM8");
        return true;
    }
    if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
        strbuf_puts(out, "_MEM");
    else if (vector)
        strbuf_printf(out, "_%s", vector);
    else if (iform_class(op) == ZYDIS_REGCLASS_GPR32 || iform_class(op) == ZYDIS_REGCLASS_GPR64)
        strbuf_printf(out, "_GPR%d", op->size);
    else
        return false;
    return iform_element(op, out);
}

static bool iform_evex(const struct export_decoded *decoded, struct strbuf *out)
{
    for (int i = 0; i < decoded->in.operand_count_visible; i++)
        if (!iform_evex_operand(&decoded->ops[i], out))
            return false;
    strbuf_puts(out, "_AVX512");
    return true;
}

// --- AVX and MMX: by width alone ---

static const char *iform_width(int bits)
{
    switch (bits) {
    case 8:
        return "b";
    case 16:
        return "w";
    case 32:
        return "d";
    case 64:
        return "q";
    case 128:
        return "dq";
    case 256:
        return "qq";
    default:
        return NULL;
    }
}

static bool iform_vex_operand(const ZydisDecodedOperand *op, struct strbuf *out)
{
    const char *vector = iform_vector(op), *width = iform_width(op->size);
    if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        strbuf_puts(out, "_IMMb");
    else if (!width)
        return false;
    else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
        strbuf_printf(out, "_MEM%s", width);
    else if (vector)
        strbuf_printf(out, "_%s%s", vector, width);
    else if (iform_class(op) == ZYDIS_REGCLASS_GPR32 || iform_class(op) == ZYDIS_REGCLASS_GPR64)
        strbuf_printf(out, "_GPR%d%s", op->size, width);
    else
        return false;
    return true;
}

// --- SSE: floating point by its kind, the rest by width ---

static bool iform_sse_operand(const ZydisDecodedOperand *op, struct strbuf *out)
{
    const char *vector = iform_vector(op);
    bool single = op->element_type == ZYDIS_ELEMENT_TYPE_FLOAT32;
    if ((!single && op->element_type != ZYDIS_ELEMENT_TYPE_FLOAT64) ||
        (!vector && op->type != ZYDIS_OPERAND_TYPE_MEMORY))
        return iform_vex_operand(op, out);
    bool scalar = op->size == op->element_size;
    if (!scalar && op->size != 128)
        return iform_vex_operand(op, out);
    strbuf_printf(out, "_%s%s", vector ? vector : "MEM",
                  scalar ? (single ? "ss" : "sd") : (single ? "ps" : "pd"));
    return true;
}

// --- general-purpose instructions ---

static bool iform_gpr_operand(const ZydisDecodedOperand *op, struct strbuf *out)
{
    ZydisRegisterClass class = iform_class(op);
    bool implicit = op->visibility == ZYDIS_OPERAND_VISIBILITY_IMPLICIT;
    if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        strbuf_puts(out, implicit ? "_ONE" : op->size == 8 ? "_IMMb" : "_IMMz");
    else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
        strbuf_puts(out, "_AGEN");
    else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
        strbuf_puts(out, op->size == 8 ? "_MEMb" : "_MEMv");
    else if (class == ZYDIS_REGCLASS_GPR8)
        strbuf_puts(out, implicit ? (op->reg.value == ZYDIS_REGISTER_CL ? "_CL" : "_AL") : "_GPR8");
    else if (implicit)
        strbuf_puts(out, "_OrAX");
    else if (class == ZYDIS_REGCLASS_GPR16 || class == ZYDIS_REGCLASS_GPR32 ||
             class == ZYDIS_REGCLASS_GPR64)
        strbuf_puts(out, "_GPRv");
    else
        return false;
    return true;
}

// Appends the opcode where several encodings have the same operands: XED distinguishes them by it,
// and by its extension in the place of a register.
static void iform_opcode(const struct export_decoded *decoded, const struct list_row *row,
                         struct strbuf *out)
{
    static const ZydisMnemonic twice[] = {
        ZYDIS_MNEMONIC_ADD, ZYDIS_MNEMONIC_OR,  ZYDIS_MNEMONIC_ADC, ZYDIS_MNEMONIC_SBB,
        ZYDIS_MNEMONIC_AND, ZYDIS_MNEMONIC_SUB, ZYDIS_MNEMONIC_XOR, ZYDIS_MNEMONIC_CMP};
    int opcode = decoded->in.opcode, part = decoded->in.raw.modrm.reg;
    if (decoded->in.mnemonic == ZYDIS_MNEMONIC_SHL) {
        strbuf_printf(out, "_%02Xr%d", opcode, part);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(twice); i++) {
        if (decoded->in.mnemonic != twice[i])
            continue;
        if (row->ops[0].kind == OPERAND_GPR && row->ops[1].kind == OPERAND_GPR)
            strbuf_printf(out, "_%02X", opcode);
        else if (opcode == 0x80)
            strbuf_printf(out, "_80r%d", part);
    }
}

static bool iform_family(const struct known_form *form, const struct export_decoded *decoded,
                         bool (**operand)(const ZydisDecodedOperand *op, struct strbuf *out))
{
    bool mmx = false, vector = false, special = form->row->nops == 0;
    for (int i = 0; i < form->row->nops; i++) {
        const struct operand *op = &form->row->ops[i];
        mmx = mmx || op->kind == OPERAND_MMX;
        vector = vector || op->kind == OPERAND_VEC;
        special = special ||
                  (op->kind != OPERAND_GPR && op->kind != OPERAND_MEM && op->kind != OPERAND_IMM &&
                   op->kind != OPERAND_AGEN && op->kind != OPERAND_MMX && op->kind != OPERAND_VEC);
    }
    if (special)
        return false;
    if (decoded->in.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX)
        *operand = iform_vex_operand;
    else if (decoded->in.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
        return false;
    else
        *operand = mmx || vector ? iform_sse_operand : iform_gpr_operand;
    return true;
}

// Instructions with at least one form that these rules name wrongly, found by comparison with XED's
// own table, by encoding. Alphabetical.
static const char *const iform_irregular_legacy[] = {
    "adcx",          "adox",        "andnpd",
    "andnps",        "andpd",       "andps",
    "blendpd",       "blendps",     "blendvpd",
    "blendvps",      "call",        "cldemote",
    "cmpsd",         "cmpxchg16b",  "cmpxchg8b",
    "crc32",         "cvtsd2si",    "cvtss2si",
    "cvttsd2si",     "cvttss2si",   "dec",
    "dppd",          "dpps",        "enter",
    "fadd",          "fbld",        "fbstp",
    "fcom",          "fcomp",       "fiadd",
    "ficom",         "ficomp",      "fild",
    "fimul",         "fist",        "fistp",
    "fisttp",        "fisub",       "fisubr",
    "fld",           "fldcw",       "fldenv",
    "fmul",          "fnsave",      "fnstcw",
    "fnstenv",       "fnstsw",      "frstor",
    "fst",           "fstp",        "fsub",
    "fsubr",         "fxrstor",     "fxrstor64",
    "fxsave",        "fxsave64",    "gf2p8affineinvqb",
    "gf2p8affineqb", "gf2p8mulb",   "inc",
    "lar",           "ldmxcsr",     "lea",
    "lfs",           "lgs",         "lsl",
    "lss",           "maskmovdqu",  "mov",
    "movapd",        "movaps",      "movd",
    "movdir64b",     "movdiri",     "movdqa",
    "movdqu",        "movmskpd",    "movmskps",
    "movnti",        "movq",        "movsd",
    "movss",         "movsx",       "movsxd",
    "movupd",        "movups",      "movzx",
    "nop",           "orpd",        "orps",
    "palignr",       "pclmulqdq",   "pcmpestri",
    "pcmpestrm",     "pcmpistri",   "pcmpistrm",
    "pextrw",        "pinsrw",      "pmovmskb",
    "pmuludq",       "pop",         "prefetch",
    "prefetchnta",   "prefetcht0",  "prefetcht1",
    "prefetcht2",    "prefetchw",   "prefetchwt1",
    "pshufd",        "pshufhw",     "pshuflw",
    "pshufw",        "psubq",       "punpcklbw",
    "punpckldq",     "punpcklwd",   "push",
    "rdfsbase",      "rdgsbase",    "rdpid",
    "rdsspd",        "rdsspq",      "ret",
    "sgdt",          "sha1msg1",    "sha1msg2",
    "sha1nexte",     "sha1rnds4",   "sha256msg1",
    "sha256msg2",    "sha256rnds2", "sidt",
    "sldt",          "smsw",        "stmxcsr",
    "str",           "test",        "verr",
    "verw",          "wrfsbase",    "wrgsbase",
    "xorpd",         "xorps",       "xrstor",
    "xrstor64",      "xsave",       "xsave64",
    "xsavec",        "xsavec64",    "xsaveopt",
    "xsaveopt64",
};
static const char *const iform_irregular_vex[] = {
    "vaesdec",           "vaesdeclast",    "vaesenc",    "vaesenclast", "vcmpss",   "vextractps",
    "vgf2p8affineinvqb", "vgf2p8affineqb", "vgf2p8mulb", "vmaskmovdqu", "vmovapd",  "vmovaps",
    "vmovdqa",           "vmovdqu",        "vmovq",      "vmovsd",      "vmovss",   "vmovupd",
    "vmovups",           "vpclmulqdq",     "vpcmpestri", "vpcmpestrm",  "vpdpbusd", "vpdpbusds",
    "vpdpwssd",          "vpdpwssds",      "vpextrw",
};
static const char *const iform_irregular_evex[] = {
    "vaddph",          "vandnpd",         "vandnps",      "vandpd",          "vandps",
    "vbroadcasti32x4", "vbroadcasti64x4", "vcmpph",       "vcvtdq2ph",       "vcvtne2ps2bf16",
    "vcvtneps2bf16",   "vcvtpd2dq",       "vcvtpd2ph",    "vcvtpd2ps",       "vcvtpd2udq",
    "vcvtph2udq",      "vcvtps2phx",      "vcvtqq2ph",    "vcvtqq2ps",       "vcvttpd2dq",
    "vcvttpd2udq",     "vcvtudq2ph",      "vcvtuqq2ph",   "vcvtuqq2ps",      "vdpbf16ps",
    "vfcmaddcph",      "vfcmaddcsh",      "vfcmulcph",    "vfcmulcsh",       "vfmaddcph",
    "vfmaddcsh",       "vfmulcph",        "vfmulcsh",     "vfpclasspd",      "vfpclassph",
    "vfpclassps",      "vgatherdpd",      "vgatherdps",   "vgatherqpd",      "vgatherqps",
    "vmovd",           "vmovdqa32",       "vmovdqa64",    "vmovntdq",        "vmovntdqa",
    "vmovq",           "vorpd",           "vorps",        "vpabsb",          "vpabsd",
    "vpabsw",          "vpackusdw",       "vpackuswb",    "vpaddb",          "vpaddd",
    "vpaddq",          "vpaddw",          "vpbroadcastd", "vpbroadcastmb2q", "vpbroadcastmw2d",
    "vpbroadcastq",    "vpcmpeqd",        "vpcmpgtb",     "vpcmpgtw",        "vpconflictd",
    "vpconflictq",     "vpdpbusd",        "vpdpbusds",    "vpdpwssd",        "vpdpwssds",
    "vpextrw",         "vpgatherdd",      "vpgatherdq",   "vpgatherqd",      "vpgatherqq",
    "vplzcntd",        "vplzcntq",        "vpmovzxbd",    "vpmovzxbq",       "vpmovzxbw",
    "vpmovzxdq",       "vpmovzxwd",       "vpmovzxwq",    "vpmuldq",         "vpmulhw",
    "vpmulld",         "vpmullw",         "vpmuludq",     "vpscatterdd",     "vpscatterdq",
    "vpscatterqd",     "vpscatterqq",     "vpsrad",       "vpsravd",         "vpsraw",
    "vpsubb",          "vpsubd",          "vpsubq",       "vpternlogd",      "vscatterdpd",
    "vscatterdps",     "vscatterqpd",     "vscatterqps",  "vxorpd",          "vxorps",
};

static int iform_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool iform_is_irregular(const struct export_decoded *decoded)
{
    const char *name = ZydisMnemonicGetString(decoded->in.mnemonic);
    const char *const *names = iform_irregular_legacy;
    size_t n = ARRAY_LEN(iform_irregular_legacy);
    if (decoded->in.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX) {
        names = iform_irregular_vex;
        n = ARRAY_LEN(iform_irregular_vex);
    } else if (decoded->in.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) {
        names = iform_irregular_evex;
        n = ARRAY_LEN(iform_irregular_evex);
    }
    return bsearch(&name, names, n, sizeof *names, iform_compare) != NULL;
}

bool export_iform(const struct known_form *form, const struct export_decoded *decoded,
                  struct strbuf *out)
{
    bool (*operand)(const ZydisDecodedOperand *op, struct strbuf *out) = NULL;
    size_t start = out->len;
    bool known = form->row != NULL && !iform_is_irregular(decoded);
    iform_name(decoded, out);
    if (decoded->in.attributes & ZYDIS_ATTRIB_HAS_LOCK)
        strbuf_puts(out, "_LOCK");
    if (known && decoded->in.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) {
        known = iform_evex(decoded, out);
    } else {
        known = known && iform_family(form, decoded, &operand);
        for (int i = 0; known && i < decoded->in.operand_count_visible; i++)
            known = operand(&decoded->ops[i], out);
        if (known && operand == iform_gpr_operand)
            iform_opcode(decoded, form->row, out);
    }
    if (!known) {
        out->len = start;
        if (out->data)
            out->data[start] = '\0';
    }
    return known;
}

static void string_operand(const struct operand *op, struct strbuf *out)
{
    switch (op->kind) {
    case OPERAND_VEC:
        strbuf_puts(out, op->bits == 128 ? "XMM" : op->bits == 256 ? "YMM" : "ZMM");
        break;
    case OPERAND_GPR:
        if (op->fixed >= 0)
            iform_upper(out, op->text);
        else if (op->bits == 8)
            strbuf_puts(out, op->high8 ? "R8h" : "R8l");
        else
            strbuf_printf(out, "R%d", op->bits);
        break;
    case OPERAND_MEM:
        strbuf_printf(out, "M%d", op->bits);
        if (op->broadcast)
            strbuf_printf(out, "_1to%d", op->broadcast);
        break;
    case OPERAND_VSIB:
        strbuf_printf(out, "VSIB_%s",
                      op->index_bits == 128   ? "XMM"
                      : op->index_bits == 256 ? "YMM"
                                              : "ZMM");
        break;
    case OPERAND_IMM:
        if (op->literal)
            strbuf_printf(out, "%lld", (long long)op->value);
        else
            strbuf_printf(out, "I%d", op->bits);
        break;
    case OPERAND_REL:
        strbuf_printf(out, "Rel%d", op->bits);
        break;
    case OPERAND_AGEN:
        strbuf_puts(out, "AGEN");
        break;
    default:
        iform_upper(out, op->text);
    }
    if (op->masked)
        strbuf_puts(out, ", K");
}

void export_iform_string(const struct known_form *form, const struct export_decoded *decoded,
                         bool twin, struct strbuf *out)
{
    const struct list_row *row = form->row;
    bool zeroing = false, masked = false, wide = false;
    for (int i = 0; i < row->nops; i++) {
        zeroing = zeroing || row->ops[i].zeroing;
        masked = masked || row->ops[i].masked;
        wide = wide || row->ops[i].bits == 512;
    }
    iform_name(decoded, out);
    if (decoded->in.attributes & ZYDIS_ATTRIB_HAS_LOCK)
        strbuf_puts(out, "_LOCK");
    if (decoded->in.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE))
        strbuf_puts(out, "_REPE");
    if (decoded->in.attributes & ZYDIS_ATTRIB_HAS_REPNE)
        strbuf_puts(out, "_REPNE");
    if (row->rounding != ROUND_NONE)
        strbuf_puts(out, row->rounding == ROUND_ER ? "_ER" : "_SAE");
    if (zeroing)
        strbuf_puts(out, "_Z");
    else if (twin && !masked && !wide && row->rounding == ROUND_NONE)
        strbuf_puts(out, "_EVEX");
    for (int i = 0; i < row->nops; i++) {
        strbuf_puts(out, i ? ", " : " (");
        string_operand(&row->ops[i], out);
    }
    strbuf_puts(out, row->nops ? ")" : "");
}
