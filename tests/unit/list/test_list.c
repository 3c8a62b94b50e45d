// SPDX-License-Identifier: MIT
// Lists: every notation of an operand, the encoding that follows from a row, and for each kind of
// fault the message with its caret.
#include "list/list.h"
#include "util/strbuf.h"
#include "util/suggest.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define HEADER "mnemonic,operands,implicit,isa,tests,options\n"

static char directory[] = "/tmp/latput-list-XXXXXX";
static char path[64];

static int setup(void **state)
{
    (void)state;
    char tree[4096];
    // The tests run from the top of the tree; the tables are found from there.
    if (!getenv("LATPUT_ROOT") && getcwd(tree, sizeof tree))
        setenv("LATPUT_ROOT", tree, 1);
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/mini.csv", directory);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(directory);
}

static void write_text(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

// Reads a list of one row, which may be a family.
static struct list read_family(int line, const char *row)
{
    struct list list;
    struct err err = {0};
    char text[512];
    snprintf(text, sizeof text, "%s%s\n", HEADER, row);
    write_text(text);
    if (list_read(path, &list, &err) != 0)
        fail_msg("case of line %d: %s", line, err.text);
    return list;
}

// Reads a list of one form.
static struct list read_row(int line, const char *row)
{
    struct list list = read_family(line, row);
    assert_int_equal(list.nrows, 1);
    return list;
}

enum { R = ACCESS_READ, W = ACCESS_WRITE, RW = ACCESS_READ | ACCESS_WRITE };

// clang-format off
static const struct {
    int line;
    const char *text; // in the column of operands
    struct operand want;
} operands[] = {
    {__LINE__, "r8", {.text = "r8", .kind = OPERAND_GPR, .bits = 8, .access = R, .fixed = -1}},
    {__LINE__, "=r8h", {.text = "r8h", .kind = OPERAND_GPR, .bits = 8, .access = W, .fixed = -1,
     .high8 = true}},
    {__LINE__, "+r16", {.text = "r16", .kind = OPERAND_GPR, .bits = 16, .access = RW, .fixed = -1}},
    {__LINE__, "=r32", {.text = "r32", .kind = OPERAND_GPR, .bits = 32, .access = W, .fixed = -1}},
    {__LINE__, "r64", {.text = "r64", .kind = OPERAND_GPR, .bits = 64, .access = R, .fixed = -1}},
    {__LINE__, "=al", {.text = "al", .kind = OPERAND_GPR, .bits = 8, .access = W, .fixed = 0}},
    {__LINE__, "ah", {.text = "ah", .kind = OPERAND_GPR, .bits = 8, .access = R, .fixed = 0,
     .high8 = true}},
    {__LINE__, "cl", {.text = "cl", .kind = OPERAND_GPR, .bits = 8, .access = R, .fixed = 1}},
    {__LINE__, "+dx", {.text = "dx", .kind = OPERAND_GPR, .bits = 16, .access = RW, .fixed = 2}},
    {__LINE__, "edi", {.text = "edi", .kind = OPERAND_GPR, .bits = 32, .access = R, .fixed = 7}},
    {__LINE__, "+rax", {.text = "rax", .kind = OPERAND_GPR, .bits = 64, .access = RW, .fixed = 0}},
    {__LINE__, "mm", {.text = "mm", .kind = OPERAND_MMX, .bits = 64, .access = R, .fixed = -1}},
    {__LINE__, "=x", {.text = "x", .kind = OPERAND_VEC, .bits = 128, .access = W, .fixed = -1}},
    {__LINE__, "y", {.text = "y", .kind = OPERAND_VEC, .bits = 256, .access = R, .fixed = -1}},
    {__LINE__, "xmm0", {.text = "xmm0", .kind = OPERAND_VEC, .bits = 128, .access = R, .fixed = 0}},
    {__LINE__, "zmm31", {.text = "zmm31", .kind = OPERAND_VEC, .bits = 512, .access = R,
     .fixed = 31}},
    {__LINE__, "+z{k}", {.text = "z", .kind = OPERAND_VEC, .bits = 512, .access = RW, .fixed = -1,
     .masked = true}},
    {__LINE__, "=z{k}{z}", {.text = "z", .kind = OPERAND_VEC, .bits = 512, .access = W,
     .fixed = -1, .masked = true, .zeroing = true}},
    {__LINE__, "=k{k}", {.text = "k", .kind = OPERAND_MASK, .bits = 64, .access = W, .fixed = -1,
     .masked = true}},
    {__LINE__, "k7", {.text = "k7", .kind = OPERAND_MASK, .bits = 64, .access = R, .fixed = 7}},
    {__LINE__, "+st0", {.text = "st0", .kind = OPERAND_X87, .bits = 80, .access = RW, .fixed = 0}},
    {__LINE__, "st", {.text = "st", .kind = OPERAND_X87, .bits = 80, .access = R, .fixed = -1}},
    {__LINE__, "=tmm", {.text = "tmm", .kind = OPERAND_TILE, .bits = 8192, .access = W,
     .fixed = -1}},
    {__LINE__, "fs", {.text = "fs", .kind = OPERAND_SEG, .bits = 16, .access = R, .fixed = 4}},
    {__LINE__, "m", {.text = "m", .kind = OPERAND_MEM, .bits = 0, .access = R, .fixed = -1}},
    {__LINE__, "m80", {.text = "m80", .kind = OPERAND_MEM, .bits = 80, .access = R, .fixed = -1}},
    {__LINE__, "=m512{k}", {.text = "m512", .kind = OPERAND_MEM, .bits = 512, .access = W,
     .fixed = -1, .masked = true}},
    {__LINE__, "m16{1to32}", {.text = "m16", .kind = OPERAND_MEM, .bits = 16, .access = R,
     .fixed = -1, .broadcast = 32}},
    {__LINE__, "m32{1to16}", {.text = "m32", .kind = OPERAND_MEM, .bits = 32, .access = R,
     .fixed = -1, .broadcast = 16}},
    {__LINE__, "m64{1to2}", {.text = "m64", .kind = OPERAND_MEM, .bits = 64, .access = R,
     .fixed = -1, .broadcast = 2}},
    {__LINE__, "vm32x", {.text = "vm32x", .kind = OPERAND_VSIB, .bits = 32, .access = R,
     .fixed = -1, .index_bits = 128}},
    {__LINE__, "=vm64z{k}", {.text = "vm64z", .kind = OPERAND_VSIB, .bits = 64, .access = W,
     .fixed = -1, .index_bits = 512, .masked = true}},
    {__LINE__, "agen", {.text = "agen", .kind = OPERAND_AGEN, .bits = 0, .access = R, .fixed = -1}},
    {__LINE__, "agen:b+i*4+d8", {.text = "agen:b+i*4+d8", .kind = OPERAND_AGEN, .bits = 0,
     .access = R, .fixed = -1}},
    {__LINE__, "=moffs64", {.text = "moffs64", .kind = OPERAND_MOFFS, .bits = 64, .access = W,
     .fixed = -1}},
    {__LINE__, "i8", {.text = "i8", .kind = OPERAND_IMM, .bits = 8, .access = R, .fixed = -1}},
    {__LINE__, "i8:0x1b", {.text = "i8", .kind = OPERAND_IMM, .bits = 8, .access = R, .fixed = -1,
     .has_value = true, .value = 27}},
    {__LINE__, "i8:-128", {.text = "i8", .kind = OPERAND_IMM, .bits = 8, .access = R, .fixed = -1,
     .has_value = true, .value = -128}},
    {__LINE__, "i8:255", {.text = "i8", .kind = OPERAND_IMM, .bits = 8, .access = R, .fixed = -1,
     .has_value = true, .value = 255}},
    {__LINE__, "i64:0xffffffffffffffff", {.text = "i64", .kind = OPERAND_IMM, .bits = 64,
     .access = R, .fixed = -1, .has_value = true, .value = -1}},
    {__LINE__, "1", {.text = "1", .kind = OPERAND_IMM, .bits = 8, .access = R, .fixed = -1,
     .has_value = true, .literal = true, .value = 1}},
    {__LINE__, "rel8", {.text = "rel8", .kind = OPERAND_REL, .bits = 8, .access = R, .fixed = -1}},
};
// clang-format on

static bool operands_equal(const struct operand *a, const struct operand *b)
{
    return strcmp(a->text, b->text) == 0 && a->kind == b->kind && a->bits == b->bits &&
           a->access == b->access && a->fixed == b->fixed && a->high8 == b->high8 &&
           a->masked == b->masked && a->zeroing == b->zeroing && a->broadcast == b->broadcast &&
           a->index_bits == b->index_bits && a->has_value == b->has_value &&
           a->literal == b->literal && a->value == b->value;
}

static void test_operands(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(operands); i++) {
        char row[128];
        snprintf(row, sizeof row, "add,r32 %s,,I386,,", operands[i].text);
        struct list list = read_row(operands[i].line, row);
        const struct operand *op = &list.rows[0].ops[1];
        if (!operands_equal(op, &operands[i].want))
            fail_msg("case of line %d: '%s' is parsed otherwise", operands[i].line,
                     operands[i].text);
        assert_string_equal(op->name, "op2");
        list_free(&list);
    }
}

static void test_roles(void **state)
{
    (void)state;
    struct list list = read_row(__LINE__, "pblendvb,+x x,xmm0,SSE4_1,,roles=op2:data+xmm0:mask");
    assert_null(list.rows[0].ops[0].role);
    assert_string_equal(list.rows[0].ops[1].role, "data");
    assert_string_equal(list.rows[0].implicit[0].role, "mask");
    assert_null(strstr(list.rows[0].form, "roles"));
    list_free(&list);
}

static const struct {
    int line;
    const char *row;
    enum encoding enc;
} encodings[] = {
    {__LINE__, "add,+r32 r32,=flags,I386,,",                       ENC_LEGACY},
    {__LINE__, "vaddps,=x x x,,AVX,,",                             ENC_VEX   },
    {__LINE__, "{vex} vpmadd52luq,+x x x,,AVX512_IFMA+AVX512VL,,", ENC_VEX   },
    {__LINE__, "{evex} vaddps,=x x x,,AVX512F+AVX512VL,,",         ENC_EVEX  },
    {__LINE__, "vaddps,=z z z,,AVX512F,,",                         ENC_EVEX  },
    {__LINE__, "vaesenc,=z z z,,VAES+AVX512F,,",                   ENC_EVEX  },
    {__LINE__, "kaddw,=k k k,,AVX512DQ,,",                         ENC_VEX   },
    {__LINE__, "kmovw,=k r32,,AVX512F,,",                          ENC_VEX   },
    {__LINE__, "vscatterdps,=vm32z{k} z,,AVX512F,,",               ENC_EVEX  },
    {__LINE__, "vpcomb,=x x x i8,,XOP,,",                          ENC_XOP   },
    {__LINE__, "andn,=r32 r32 r32,=flags,BMI1,,",                  ENC_VEX   },
    {__LINE__, "tzcnt,=r32 r32,=flags,BMI1,,enc=legacy",           ENC_LEGACY},
};

static void test_encodings(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(encodings); i++) {
        struct list list = read_row(encodings[i].line, encodings[i].row);
        if (list.rows[0].enc != encodings[i].enc)
            fail_msg("case of line %d: encoding is %s", encodings[i].line,
                     encoding_name(list.rows[0].enc));
        list_free(&list);
    }
}

static void test_rows(void **state)
{
    (void)state;
    struct list list = read_row(__LINE__, "{evex} vaddps, =z{k}{z}  z z {er},=mxcsr +rax cf,"
                                          "AVX512F,TL,type=f32 same data=div");
    const struct list_row *row = &list.rows[0];
    assert_string_equal(list.name, "mini");
    assert_string_equal(list.title, "mini"); // no comment
    assert_string_equal(row->mnemonic, "vaddps");
    assert_string_equal(row->nasm_mnemonic, "{evex} vaddps");
    assert_string_equal(row->operands_text, "z{k}{z} z z {er}");
    assert_string_equal(row->form, "{evex} vaddps z{k}{z} z z {er} same");
    assert_int_equal(row->line, 2);
    assert_int_equal(row->bits, 64);
    assert_int_equal(row->rounding, ROUND_ER);
    assert_int_equal(row->nops, 3);
    assert_int_equal(row->nimplicit, 3);
    assert_string_equal(row->implicit[1].name, "rax");
    assert_int_equal(row->implicit[1].access, ACCESS_READ | ACCESS_WRITE);
    assert_int_equal(row->implicit[2].kind, OPERAND_FLAGS);
    assert_int_equal(row->tests, TESTS_LATENCY | TESTS_THROUGHPUT);
    assert_int_equal(row->element, ELEMENT_F32);
    assert_int_equal(row->noptions, 3);
    assert_true(row->same);
    assert_int_equal(row->data, DATA_DIVIDE);
    assert_false(row->nontemporal);
    struct err err;
    assert_int_equal(list_row_error(row, "same", &err, "no %s", "good"), -1);
    const char *source = strstr(err.text, "{evex}"), *caret = strchr(err.text, '^');
    assert_non_null(strstr(err.text, "mini.csv:2: no good\n  {evex} vaddps"));
    assert_non_null(caret);
    const char *below = strrchr(err.text, '\n') + 1;
    assert_int_equal(caret - below - 2, strstr(source, "same") - source);
    list_free(&list);

    list = read_row(__LINE__, "lock add,+m32 i8:0x7f,=flags,I386,,bits=32 macro=a.inc:b");
    row = &list.rows[0];
    assert_string_equal(row->mnemonic, "lock add");
    assert_string_equal(row->form, "lock add m32 i8:0x7f bits=32 macro=a.inc:b");
    assert_int_equal(row->bits, 32);
    assert_int_equal(row->tests, TESTS_ALL);
    list_free(&list);

    list = read_row(__LINE__, "cpuid,,+eax =ebx +ecx =edx,I486,,");
    assert_string_equal(list.rows[0].operands_text, "");
    assert_string_equal(list.rows[0].form, "cpuid");
    list_free(&list);
}

static void test_title(void **state)
{
    (void)state;
    struct list list;
    struct err err = {0};
    write_text("# SPDX-License-Identifier: MIT\n# Some title\n# more\n" HEADER
               "\n# section\nnop,,,I386,,\n");
    assert_int_equal(list_read(path, &list, &err), 0);
    assert_string_equal(list.title, "Some title");
    assert_int_equal(list.rows[0].line, 7);
    list_free(&list);
}

// `caret`: the word of the row under which the caret stands.
// clang-format off
static const struct {
    int line;
    const char *row, *message, *caret;
} bad_rows[] = {
    {__LINE__, "vaddps,=z z4 z,,AVX512F,,", "unknown operand class 'z4'; did you mean 'z'?", "z4"},
    {__LINE__, "add,+r65 r64,,I386,,", "unknown operand class 'r65'; did you mean 'r64'?", "r65"},
    {__LINE__, "add,+r32 foo,,I386,,", "unknown operand class 'foo'\n  known: r8 r8h", "foo"},
    {__LINE__, "add,+,,I386,,", "unknown operand class ''", ",,I386"},
    {__LINE__, "add,xmm32,,I386,,", "unknown operand class 'xmm32'", "xmm32"},
    {__LINE__, "add,xmm01,,I386,,", "unknown operand class 'xmm01'", "xmm01"},
    {__LINE__, "add,r32 flags,,I386,,", "'flags' belongs into the column `implicit`", "flags"},
    {__LINE__, "mul,r32,+r32,I386,,", "'r32' cannot be implicit", "r32,I386"},
    {__LINE__, "mul,r32,m32,I386,,", "'m32' cannot be implicit", "m32"},
    {__LINE__, "mul,r32,+eax eax,I386,,", "'eax' appears twice; read and written is +eax",
     "eax,I386"},
    {__LINE__, "mov,=i8,,I386,,", "'i8' cannot be written", "=i8"},
    {__LINE__, "mov,=r32 agen:b+q,,I386,,", "unknown address 'b+q'", "b+q"},
    {__LINE__, "mov,=r32 i8:300,,I386,,", "300 does not fit in 8 bits", "300"},
    {__LINE__, "mov,=r32 i8:-129,,I386,,", "-129 does not fit in 8 bits", "-129"},
    {__LINE__, "mov,=r32 i8:0x,,I386,,", "'0x' is not a number", "0x"},
    {__LINE__, "mov,=r32 i8:,,I386,,", "'' is not a number", ",,I386"},
    {__LINE__, "mov,=r32 99999999999999999999,,I386,,", "does not fit in 8 bits", "9999"},
    {__LINE__, "mov,=r32 r32:5,,I386,,", "only an immediate can have a value", ":5"},
    {__LINE__, "vaddps,z{k} z z,,AVX512F,,", "an operand with {k} is a destination", "z{k}"},
    {__LINE__, "vaddps,=z{z} z z,,AVX512F,,", "{z} belongs once after {k}", "{z}"},
    {__LINE__, "vaddps,=z{k}{k} z z,,AVX512F,,", "{k} belongs once to", "{k} z"},
    {__LINE__, "vaddps,=r32{k} z z,,AVX512F,,", "{k} belongs once to", "{k}"},
    {__LINE__, "vaddps,=m512{k}{z} z z,,AVX512F,,", "{z} belongs once after {k}", "{z}"},
    {__LINE__, "vaddps,=z z z{er},,AVX512F,,", "{er} is a word of its own", "{er}"},
    {__LINE__, "vaddps,=z {er} z z,,AVX512F,,", "{er} is the last word, and once", "{er}"},
    {__LINE__, "vaddps,=z z {er} {sae},,AVX512F,,", "{er} is the last word", "{er}"},
    {__LINE__, "vaddps,=z z z{x},,AVX512F,,", "unknown decoration '{x}'", "{x}"},
    {__LINE__, "vaddps,=z z z{k,,AVX512F,,", "decorations are closed by a brace", "{k"},
    {__LINE__, "vaddps,=z z z{1to16},,AVX512F,,", "only m16, m32 and m64 can be broadcast",
     "{1to16}"},
    {__LINE__, "vaddps,=z z m32{1to3},,AVX512F,,", "3 elements of 32 bits fill no vector", "3}"},
    {__LINE__, "vaddps,=z z m32{1to32},,AVX512F,,", "32 elements of 32 bits fill no vector",
     "32},"},
    {__LINE__, "vaddps,=z z m32{1to},,AVX512F,,", "unknown decoration '{1to}'", "{1to}"},
    {__LINE__, "add,r32 r32 r32 r32 r32 r32 r32,,I386,,", "more than 6 operands", "r32,,"},
    {__LINE__, "add,,rax rbx rcx rdx rsi rdi xmm0 xmm1 xmm2 xmm3 xmm4,I386,,",
     "more than 10 implicit operands", "xmm4"},
    {__LINE__, ",r32,,I386,,", "the mnemonic is missing", ",r32"},
    {__LINE__, "lock,m32,,I386,,", "the mnemonic is missing", "lock"},
    {__LINE__, "nop add,m32,,I386,,", "'nop' is no prefix", "nop"},
    {__LINE__, "ADD,m32,,I386,,", "a mnemonic has lower-case letters", "ADD"},
    {__LINE__, "add%,m32,,I386,,", "a mnemonic has lower-case letters", "%"},
    {__LINE__, "add,r32 r32,,,,", "the isa is missing", ",,"},
    {__LINE__, "add,r32 r32,,I387,,", "unknown isa 'I387'; did you mean 'I386'?", "I387"},
    {__LINE__, "add,r32 r32,,AVX+avx2,,", "unknown isa 'avx2'; did you mean 'AVX2'?", "avx2"},
    {__LINE__, "add,r32 r32,,AVX+,,", "the isa is missing", ",,"},
    {__LINE__, "add,r32 r32,,AVX512,,", "unknown isa 'AVX512'", "AVX512"},
    {__LINE__, "add,r32 r32,,I386,LTX,", "unknown test 'X'", "X"},
    {__LINE__, "add,r32 r32,,I386,LL,", "test 'L' appears twice", "L,"},
    {__LINE__, "add,r32 r32,,I386,,typ=f32", "unknown option 'typ'; did you mean 'type'?", "typ"},
    {__LINE__, "add,r32 r32,,I386,,type=f33", "option 'type' needs a value: type=int f16", "f33"},
    {__LINE__, "add,r32 r32,,I386,,type", "option 'type' needs a value", "type"},
    {__LINE__, "fsin,,+st0,X87,,data=function st=1/x", "st=VALUE, st=TOP/OTHERS", "1/x"},
    {__LINE__, "fsin,,+st0,X87,,data=function st=1:2:3:4:5", "st=VALUE, st=TOP/OTHERS",
     "1:2:3:4:5"},
    {__LINE__, "add,r32 r32,,I386,,opcode=legacy.np.00.w0",
     "an opcode is ENCODING.PREFIX.MAP.W.BYTE", "legacy.np"},
    {__LINE__, "add,r32 r32,,I386,,opcode=legacy.np.00.w0.3",
     "an opcode is ENCODING.PREFIX.MAP.W.BYTE", "legacy.np"},
    {__LINE__, "add,r32 r32,,I386,,opcode=legacy.67.00.w0.03",
     "an opcode is ENCODING.PREFIX.MAP.W.BYTE", "legacy.67"},
    {__LINE__, "add,r32 r32,,I386,,opcode=vex.np.00.w0.03.mr.x",
     "an opcode is ENCODING.PREFIX.MAP.W.BYTE", "vex.np"},
    {__LINE__, "sldt,=r64,,X86_64,,opcode=legacy.np.0f.w1.00./8",
     "an opcode is ENCODING.PREFIX.MAP.W.BYTE", "legacy.np"},
    {__LINE__, "cpuid,,,I486,,opcode=legacy.np.0f.w0.a2", "opcode= needs a row with operands",
     "legacy.np"},
    // Families. What is wrong with a variant is told once, with the variant.
    {__LINE__, "vaddps,=v v v,,AVX512F,,width=xyz", "unknown operand class 'v'", "v v v"},
    {__LINE__, "vaddps,=v v v,,AVX512F,,widths=xk", "'widths=xk': widths= and masks=", "widths=xk"},
    {__LINE__, "vaddps,=v v v,,AVX512F,,widths=xx", "'widths=xx': widths= and masks=", "widths=xx"},
    {__LINE__, "vaddps,=v v v,,AVX512F,,widths", "'widths': widths= and masks=", "widths"},
    {__LINE__, "vaddps,=v v v,,AVX512F,,widths=x widths=y", "'widths=y' appears twice", "widths=y"},
    {__LINE__, "vaddps,=v v v,,AVX512F,,widths=xy er=z",
     "'er'= names a width that widths= does not", "er=z"},
    {__LINE__, "vpcmpd,=k v v i8,,AVX512F,,widths=z masks=z", "cannot have the mask z", "widths"},
    {__LINE__, "vaddps,=v v mv,,AVX512F,,widths=z er", "no variant is between registers", "widths"},
    {__LINE__, "paddd,+x x//m128,,SSE2,,", "'x//m128': up to eight classes", "x//"},
    {__LINE__, "paddd,+x x/,,SSE2,,", "'x/': up to eight classes", "x/"},
    {__LINE__, "paddd,+x x/m4,,SSE2,,", "in 'paddd +x m4': unknown operand class 'm4'", "+x x"},
    {__LINE__, "vaddps,=v/x v/x z/z/z/z/z/z/z/z z/z/z/z/z/z/z/z z/z/z,,AVX512F,,widths=xyz",
     "more than 512 forms", "=v/x"},
    {__LINE__, "vaddps,=v v b64h,,AVX512F,,widths=x", "in 'vaddps =x x m64{1to1}': 1 elements",
     "=v v"},
    {__LINE__, "add,r32 r32,,I386,,type=", "the value is missing after '='", "="},
    {__LINE__, "add,r32 r32,,I386,,same=1", "option 'same' has no value", "1"},
    {__LINE__, "add,r32 r32,,I386,,same same", "option 'same' appears twice", "same"},
    // Attempts of a foreign list to reach the assembler.
    {__LINE__, "use32,,,I386,,", "there is no instruction 'use32'", "use32"},
    {__LINE__, "cpu,i32:386,,I386,,", "there is no instruction 'cpu'", "cpu"},
    {__LINE__, "absolute,i8:16,,I386,,", "there is no instruction 'absolute'", "absolute"},
    {__LINE__, "align,i32:0x7fffffff,,I386,,", "there is no instruction 'align'", "align"},
    {__LINE__, "incbin,,,I386,,", "there is no instruction 'incbin'", "incbin"},
    {__LINE__, "times,i8 i8,,I386,,", "there is no instruction 'times'", "times"},
    {__LINE__, "db,i8,,I386,,", "there is no instruction 'db'", "db"},
    {__LINE__, "invalid,,,I386,,", "there is no instruction 'invalid'", "invalid"},
    {__LINE__, "rep rep rep rep rep movsb,,,I386,,", "more than 4 prefixes", "rep movsb"},
    {__LINE__, "tilerelease,,,I386,T,macro=amx.inc:amx_release:incbin`\\x2fetc`:1:1", "'incbin`",
     "incbin"},
    {__LINE__, "tilerelease,,,I386,T,macro=amx.inc:amx_release:db:1:1", "'db' cannot be given",
     "db:1"},
    {__LINE__, "tilerelease,,,I386,T,macro=amx.inc:amx_release:db`\\x90`:1:1",
     "cannot be given to a macro", "db`"},
    {__LINE__, "tilerelease,,,I386,T,macro=amx.inc:amx_release:{%error%!HOME}:1:1",
     "cannot be given to a macro", "{%error"},
    {__LINE__, "tilerelease,,,I386,T,macro=amx.inc:amx_release:1:1\\", "'1\\' cannot be given",
     "1\\"},
    {__LINE__, "tilerelease,,,I386,T,macro=amx.inc:amx_release:1::2", "'' cannot be given", ":2"},
    {__LINE__, "tilerelease,,,I386,T,macro=amx.inc:amx_release:[r14+]", "'[r14+]' cannot be given",
     "[r14+"},
    {__LINE__, "tilerelease,,,I386,T,macro=amx.inc:amx_release:[rip+a]",
     "'[rip+a]' cannot be given", "[rip"},
    {__LINE__, "tilerelease,,,I386,T,macro=../etc/amx.inc:x", "macro=FILE.inc:NAME", "../etc"},
    {__LINE__, "tilerelease,,,I386,T,macro=amx.inc", "macro=FILE.inc:NAME", "amx.inc"},
    {__LINE__, "tilerelease,,,I386,T,macro=amx.inc:%abs", "'%abs' is no name of a macro", "%abs"},
    {__LINE__, "tilerelease,,,I386,T,macro=amx.inc::x", "'' is no name of a macro", ":x"},
    // Numbers are read whole or not at all.
    {__LINE__, "vaddps,+z{k} z z,,AVX512F,,mask=all", "'all' is not a number", "all"},
    {__LINE__, "vaddps,+z{k} z z,,AVX512F,,mask=Oxffff", "'Oxffff' is not a number", "Oxffff"},
    {__LINE__, "vaddps,+z{k} z z,,AVX512F,,mask=-1", "a pattern of bits has no sign", "-1"},
    {__LINE__, "vaddps,+z{k} z z,,AVX512F,,mask=010", "'010' is not a number", "010"},
    {__LINE__, "vaddps,+z{k} z z,,AVX512F,,mask=0x10000000000000000", "does not fit in 64 bits",
     "0x1"},
    {__LINE__, "ldmxcsr,m32,+mxcsr,SSE,,fill=", "the value is missing after '='", "="},
    {__LINE__, "ldmxcsr,m32,+mxcsr,SSE,,fill=0x1f80h", "'0x1f80h' is not a number", "0x1f80h"},
    {__LINE__, "push,r64,+rsp,X86_64,,stack=-2147483648", "stack=-BYTES or stack=+BYTES", "-21"},
    {__LINE__, "push,r64,+rsp,X86_64,,stack=--8", "stack=-BYTES or stack=+BYTES", "--8"},
    {__LINE__, "push,r64,+rsp,X86_64,,stack=eight", "'eight' is not a number", "eight"},
    {__LINE__, "fsin,,+st0,X87,,st=nan", "st=VALUE, st=TOP/OTHERS", "nan"},
    {__LINE__, "fsin,,+st0,X87,,st=1e999", "st=VALUE, st=TOP/OTHERS", "1e999"},
    {__LINE__, "movsb,,,I386,,pointer=rsi+*", "registers or operands joined by '+'", "*"},
    {__LINE__, "fxch,,,X87,,unrelated=st0", "pairs SRC:DST", "st0"},
    {__LINE__, "add,r32 r32,,I386,,roles=op1:count", "a role is index, table, data or mask",
     "op1"},
    {__LINE__, "add,r32 r32,,I386,,roles=op1:data+op2", "pairs OPERAND:ROLE joined by '+'", "op2"},
    {__LINE__, "add,r32 r32,,I386,,roles=op1:data+op3:data", "'op3' is no operand of this row",
     "op3"},
    {__LINE__, "add,r32 r32,,I386,,roles=op1:data+op1:mask", "has a role already", "op1:mask"},
    {__LINE__, "vpaddd,=x x x,,AVX2,,data=idiv", "data=idiv is for a divisor of 8 to 64 bits",
     "data"},
    {__LINE__, "idiv,i8,,I386,,data=idiv", "data=idiv is for a divisor", "data"},
    {__LINE__, "add,r64 r32,,I386,,bits=32", "64-bit registers do not exist with bits=32", "r64"},
};
// clang-format on

static void test_bad_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad_rows); i++) {
        struct list list;
        struct err err = {0};
        char text[512];
        snprintf(text, sizeof text, "%snop,,,I386,,\n%s\n", HEADER, bad_rows[i].row);
        write_text(text);
        if (list_read(path, &list, &err) != -1)
            fail_msg("case of line %d was accepted", bad_rows[i].line);
        char where[96];
        snprintf(where, sizeof where, "%s:3: ", path);
        const char *shown = strstr(err.text, bad_rows[i].row), *below = strrchr(err.text, '\n');
        if (strncmp(err.text, where, strlen(where)) != 0 ||
            !strstr(err.text, bad_rows[i].message) || !shown || below < shown)
            fail_msg("case of line %d: message is: %s", bad_rows[i].line, err.text);
        ptrdiff_t column = strchr(below, '^') - below - 3;
        if (strncmp(bad_rows[i].row + column, bad_rows[i].caret, strlen(bad_rows[i].caret)) != 0 &&
            strcmp(bad_rows[i].caret, "same") != 0)
            fail_msg("case of line %d: the caret is misplaced: %s", bad_rows[i].line, err.text);
    }
}

// Texts that could not be stored, or would steer the terminal that shows them.
static void test_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"# A \033[31mred title\n" HEADER "nop,,,I386,,\n",  "mini.csv:1: a control character"},
        {"# A title\rAnother\n" HEADER "nop,,,I386,,\n",     "A title\\x0dAnother"            },
        {"# C1: \xc2\x9b\n" HEADER "nop,,,I386,,\n",         "C1: \\xc2\\x9b"                 },
        {"# Turned: \xe2\x80\xae\n" HEADER "nop,,,I386,,\n", "a control character"            },
        {HEADER "nop,,,I386,,mask=1\033[2J\n",               "mask=1\\x1b[2J"                 },
        {HEADER "nop,,,I386,,mask=\x9b\n",                   "is not valid UTF-8"             },
    };
    struct list list;
    struct err err;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        err = (struct err){0};
        write_text(cases[i].text);
        assert_int_equal(list_read(path, &list, &err), -1);
        if (!strstr(err.text, cases[i].message))
            fail_msg("case %zu: message is: %s", i, err.text);
        for (const char *at = err.text; *at; at++)
            assert_true(*at == '\n' || ((unsigned char)*at >= ' ' && *at != 0x7f));
    }
    char text[2048];
    snprintf(text, sizeof text, "# %0201d\n%snop,,,I386,,\n", 1, HEADER);
    write_text(text);
    assert_int_equal(list_read(path, &list, &err), -1);
    assert_non_null(strstr(err.text, "mini.csv:1: the title"));
    snprintf(text, sizeof text, "# %0200d\n%snop,,,I386,,\n", 1, HEADER);
    write_text(text);
    assert_int_equal(list_read(path, &list, &err), 0);
    list_free(&list);
    snprintf(text, sizeof text, "%snop,,,I386,,st=1%01100d\n", HEADER, 0);
    write_text(text);
    assert_int_equal(list_read(path, &list, &err), -1);
    // The file's name is the list's.
    char long_path[512];
    snprintf(long_path, sizeof long_path, "%s/%0201d.csv", directory, 1);
    assert_int_equal(rename(path, long_path), 0);
    assert_int_equal(list_read(long_path, &list, &err), -1);
    snprintf(path, sizeof path, "%s/a\033[1m.csv", directory);
    assert_int_equal(rename(long_path, path), 0);
    write_text(HEADER "nop,,,I386,,\n");
    assert_int_equal(list_read(path, &list, &err), -1);
    assert_non_null(strstr(err.text, "/a\\x1b[1m.csv: control characters in the name"));
    unlink(path);
    snprintf(path, sizeof path, "%s/mini.csv", directory);
    write_text(HEADER "nop,,,I386,,\n");
}

// A form of more than 1,000 characters: macros take any number of arguments.
static void test_long_form(void **state)
{
    (void)state;
    struct list list;
    struct err err = {0};
    char text[4096];
    int len = snprintf(text, sizeof text, HEADER "nop,,,I386,T,macro=a.inc:b");
    for (int i = 0; i < 500; i++)
        len += snprintf(text + len, sizeof text - (size_t)len, ":1");
    snprintf(text + len, sizeof text - (size_t)len, "\n");
    write_text(text);
    assert_int_equal(list_read(path, &list, &err), -1);
    assert_non_null(strstr(err.text, "mini.csv:2: the form has more than 1000 characters"));
}

// The largest number of forms in a list, one more in a row that stands for several, and as a row.
static void test_too_many_forms(void **state)
{
    (void)state;
    struct list list;
    struct err err = {0};
    struct strbuf text = {0};
    strbuf_puts(&text, HEADER);
    for (int i = 0; i < LIST_ROWS_MAX - 1; i++)
        strbuf_puts(&text, "nop,,,I386,,\n");
    size_t len = text.len;
    strbuf_puts(&text, "nop,,,I386,,\n");
    write_text(text.data);
    assert_int_equal(list_read(path, &list, &err), 0);
    assert_int_equal(list.nrows, LIST_ROWS_MAX);
    list_free(&list);
    text.len = len;
    strbuf_puts(&text, "nop,m16/m32,,I386,,\n");
    write_text(text.data);
    assert_int_equal(list_read(path, &list, &err), -1);
    assert_non_null(strstr(err.text, "mini.csv:100001: more than 100000 forms in a list; divide"));
    text.len = len;
    strbuf_puts(&text, "nop,,,I386,,\nnop,,,I386,,\nnop,\n");
    write_text(text.data);
    assert_int_equal(list_read(path, &list, &err), -1);
    assert_non_null(strstr(err.text, "mini.csv:100002: more than 100000 rows; divide the file"));
    strbuf_free(&text);
}

static void count_fault(const struct err *err, void *data)
{
    assert_true(*err->text);
    ++*(int *)data;
}

static void test_all_faults_are_told(void **state)
{
    (void)state;
    struct list list;
    int told = 0;
    write_text(HEADER "add,+r32 r3,,I386,,\nnop,,,I386,,\nadd,+r32 r32,,NONE,,\nnop,m16,,I386,,\n");
    assert_int_equal(list_read_all(path, &list, count_fault, &told), 2);
    assert_int_equal(told, 2);
    assert_int_equal(list.nrows, 2);
    assert_string_equal(list.rows[1].form, "nop m16");
    list_free(&list);
    // Each of a row's faults, too: two operands, a test, two options, a feature.
    told = 0;
    write_text(HEADER "add,+r31 r32 r3,,NONE,Q,type=f33 colour\nnop,,,I386,,\n");
    assert_int_equal(list_read_all(path, &list, count_fault, &told), 6);
    assert_int_equal(told, 6);
    assert_int_equal(list.nrows, 1);
    list_free(&list);
    told = 0;
    write_text("# a list of nothing\n" HEADER);
    assert_int_equal(list_read_all(path, &list, count_fault, &told), -1);
    assert_int_equal(told, 1);
    list_free(&list);
    struct err err = {0};
    assert_int_equal(list_read(path, &list, &err), -1);
    assert_non_null(strstr(err.text, "mini.csv: no rows: the list has only its header"));
}

// CPU time of this thread per row of a list of that many rows, ns.
static double row_ns(int nrows)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(HEADER, f);
    for (int i = 0; i < nrows; i++)
        fprintf(f, "vfmadd%dps,+z{k} z m32{1to16} i8:0x1b,=mxcsr cf,AVX512F+AVX512VL,,type=f32\n",
                i % 2 ? 132 : 213);
    assert_int_equal(fclose(f), 0);
    struct list list;
    struct err err = {0};
    struct timespec start, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    assert_int_equal(list_read(path, &list, &err), 0);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    assert_int_equal(list.nrows, nrows);
    list_free(&list);
    return (1e9 * (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec)) /
           nrows;
}

// A row costs the same in a list 64 times as long, 2.5 us. What grows with the square of the rows
// costs 64 times as much; what neighbours, caches and page faults make of it is far less than the
// eight times between the two, all the more of the least of three.
static void test_is_linear(void **state)
{
    (void)state;
    enum { SHORT = 500, LONG = 64 * SHORT };
    double of_short = INFINITY, of_long = INFINITY;
    for (int i = 0; i < 3; i++) {
        of_short = fmin(of_short, row_ns(SHORT));
        of_long = fmin(of_long, row_ns(LONG));
    }
    if (of_long > 8 * of_short)
        fail_msg("a row took %.2f us in a list of %d, %.2f us in one of %d", 1e-3 * of_short, SHORT,
                 1e-3 * of_long, LONG);
}

// Families and the rows that they stand for.
static const struct {
    int line;
    const char *family;
    const char *rows; // mnemonic, operands and isa of each
} families[] = {
  // Alternatives alone.
    {__LINE__, "paddd,+x x/m128,,SSE2,,",
     "paddd,+x x,SSE2\n"
     "paddd,+x m128,SSE2\n"              },
 // The last operand varies first.
    {__LINE__, "add,+r32/m32 r32/i8,=flags,I386,,",
     "add,+r32 r32,I386\n"
     "add,+r32 i8,I386\n"
     "add,+m32 r32,I386\n"
     "add,+m32 i8,I386\n"                },
 // VL for x and y, {evex} only where VEX is possible, rounding between registers.
    {__LINE__, "{evex} vaddps,=v v v/mv/b32,,AVX512F,,widths=xz masks=k er=z",
     "{evex} vaddps,=x x x,AVX512F+AVX512VL\n"
     "{evex} vaddps,=x x m128,AVX512F+AVX512VL\n"
     "vaddps,=x x m32{1to4},AVX512F+AVX512VL\n"
     "vaddps,=z z z,AVX512F\n"
     "vaddps,=z z m512,AVX512F\n"
     "vaddps,=z z m32{1to16},AVX512F\n"
     "vaddps,+x{k} x x,AVX512F+AVX512VL\n"
     "vaddps,+x{k} x m128,AVX512F+AVX512VL\n"
     "vaddps,+x{k} x m32{1to4},AVX512F+AVX512VL\n"
     "vaddps,+z{k} z z,AVX512F\n"
     "vaddps,+z{k} z m512,AVX512F\n"
     "vaddps,+z{k} z m32{1to16},AVX512F\n"
     "vaddps,=z z z {er},AVX512F\n"
     "vaddps,+z{k} z z {er},AVX512F\n"   },
 // AVX10 needs nothing besides at any width, nor do VEX forms.
    {__LINE__, "vaddps,=v v v,,AVX10,,widths=xyz",
     "vaddps,=x x x,AVX10\n"
     "vaddps,=y y y,AVX10\n"
     "vaddps,=z z z,AVX10\n"             },
    {__LINE__, "vaddps,=v v v,,AVX,,widths=xy",
     "vaddps,=x x x,AVX\n"
     "vaddps,=y y y,AVX\n"               },
    {__LINE__, "vpaddd,=v v v,,AVX512F+AVX512VL,,widths=xy",
     "vpaddd,=x x x,AVX512F+AVX512VL\n"
     "vpaddd,=y y y,AVX512F+AVX512VL\n"  },
 // Parts of a width; a register has at least 128 bits. Memory is not zeroed.
    {__LINE__, "vpmovqw,=vq/mvq v,,AVX512F,,widths=yz masks=z",
     "vpmovqw,=x y,AVX512F+AVX512VL\n"
     "vpmovqw,=m64 y,AVX512F+AVX512VL\n"
     "vpmovqw,=x z,AVX512F\n"
     "vpmovqw,=m128 z,AVX512F\n"
     "vpmovqw,=x{k}{z} y,AVX512F+AVX512VL\n"
     "vpmovqw,=x{k}{z} z,AVX512F\n"      },
    {__LINE__, "vcvtps2pd,=v vh/mvh/b32h,,AVX512F,,widths=z sae",
     "vcvtps2pd,=z y,AVX512F\n"
     "vcvtps2pd,=z m256,AVX512F\n"
     "vcvtps2pd,=z m32{1to8},AVX512F\n"
     "vcvtps2pd,=z y {sae},AVX512F\n"    },
 // A sum keeps its access; a mask is never merged into; a mask as written is not added to.
    {__LINE__, "vfmadd231ps,+v v v,,AVX512F,,widths=z masks=kz",
     "vfmadd231ps,+z z z,AVX512F\n"
     "vfmadd231ps,+z{k} z z,AVX512F\n"
     "vfmadd231ps,+z{k}{z} z z,AVX512F\n"},
    {__LINE__, "vpcmpd,=k v v i8,,AVX512F,,widths=z masks=k",
     "vpcmpd,=k z z i8,AVX512F\n"
     "vpcmpd,=k{k} z z i8,AVX512F\n"     },
    {__LINE__, "vpblendmd,=v{k} v v,,AVX512F,,widths=z masks=z",
     "vpblendmd,=z{k} z z,AVX512F\n"
     "vpblendmd,=z{k}{z} z z,AVX512F\n"  },
    {__LINE__, "vgatherqps,+vh{k} vm64v,,AVX512F,,widths=xz",
     "vgatherqps,+x{k} vm64x,AVX512F+AVX512VL\n"
     "vgatherqps,+y{k} vm64z,AVX512F\n"  },
 // Scalars have no width.
    {__LINE__, "{evex} vaddss,=x x x/m32,,AVX512F,,masks=k er",
     "{evex} vaddss,=x x x,AVX512F\n"
     "{evex} vaddss,=x x m32,AVX512F\n"
     "vaddss,+x{k} x x,AVX512F\n"
     "vaddss,+x{k} x m32,AVX512F\n"
     "vaddss,=x x x {er},AVX512F\n"
     "vaddss,+x{k} x x {er},AVX512F\n"   },
};

static void test_families(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        struct list list = read_family(families[i].line, families[i].family);
        char text[2048] = "";
        size_t used = 0;
        for (int r = 0; r < list.nrows; r++) {
            const struct list_row *row = &list.rows[r];
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "%s,%s,%s\n",
                                 row->fields[LIST_MNEMONIC], row->fields[LIST_OPERANDS], row->isa);
            assert_true(row->family);
            assert_int_equal(row->line, 2);
        }
        if (strcmp(text, families[i].rows) != 0)
            fail_msg("case of line %d: found\n%s", families[i].line, text);
        list_free(&list);
    }
}

// The options of the family are not those of its forms, which have all others.
static void test_family_options(void **state)
{
    (void)state;
    struct list list =
        read_family(__LINE__, "vaddps,=v v v,,AVX512F,LT,widths=z type=f32 masks=k  note=A_b er");
    assert_int_equal(list.nrows, 4);
    for (int i = 0; i < list.nrows; i++) {
        assert_string_equal(list.rows[i].fields[LIST_OPTIONS], "type=f32 note=A_b");
        assert_int_equal(list.rows[i].noptions, 2);
        assert_int_equal(list.rows[i].tests, TESTS_LATENCY | TESTS_THROUGHPUT);
    }
    struct err err;
    list_row_error(&list.rows[1], "vaddps", &err, "is %s", "wrong");
    assert_non_null(strstr(err.text, "mini.csv:2: in 'vaddps z{k} z z': is wrong\n"));
    list_free(&list);
}

static void test_suggestions(void **state)
{
    (void)state;
    static const struct {
        const char *word, *best;
    } cases[] = {
        {"tpye",    "type"},
        {"TYPE",    "type"},
        {"typ",     "type"},
        {"z4",      "z"   },
        {"q",       NULL  }, // no letter of z is meant
        {"same",    NULL  },
        {"nothing", NULL  },
        {"banana",  NULL  },
        {"",        NULL  },
    };
    static const char *const candidates[] = {"type", "same", "z", "data"};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct suggestion near = suggest_start(cases[i].word, strlen(cases[i].word));
        for (size_t j = 0; j < ARRAY_LEN(candidates); j++)
            suggest_offer(&near, candidates[j]);
        if (!cases[i].best)
            assert_null(near.best);
        else
            assert_string_equal(near.best ? near.best : "nothing", cases[i].best);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operands),
        cmocka_unit_test(test_encodings),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_title),
        cmocka_unit_test(test_bad_rows),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_long_form),
        cmocka_unit_test(test_too_many_forms),
        cmocka_unit_test(test_all_faults_are_told),
        cmocka_unit_test(test_is_linear),
        cmocka_unit_test(test_suggestions),
        cmocka_unit_test(test_roles),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_family_options),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
