// SPDX-License-Identifier: MIT
// Rows as NASM text: size keywords, decorations, and where NASM wants {rn-sae}. Each case is a row
// as a list has it, rendered with fixed choices: registers 1, 2, 3, ... by position, k5, r14+16.
#include "plan/render.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct render_case {
    int line;
    const char *row, *text;
};

// clang-format off
static const struct render_case cases[] = {
    {__LINE__, "add,+r64 r64,=flags,X86_64,,", "add rcx, rdx"},
    {__LINE__, "add,+r8 r8,=flags,I386,,", "add cl, dl"},
    {__LINE__, "mov,=r8h r8h,,I386,,", "mov ch, dh"},
    {__LINE__, "add,+al i8,=flags,I386,,", "add al, 7"},
    {__LINE__, "shl,+r64 cl,+flags,X86_64,,", "shl rcx, cl"},
    {__LINE__, "shl,+r64 1,=flags,X86_64,,", "shl rcx, 1"},
    {__LINE__, "aeskeygenassist,=x x i8:0x1b,,AES,,", "aeskeygenassist xmm1, xmm2, 27"},
    {__LINE__, "mov,=r64 i32,,X86_64,,", "mov rcx, strict dword 7"},
    {__LINE__, "o16 push,i16,+rsp,I386,,stack=-2", "o16 push strict word 7"},
    {__LINE__, "add,+m8 r8,=flags,I386,,", "add byte [r14+16], dl"},
    {__LINE__, "fld,m80,=st0 =fpsw,X87,,type=f80 x87=push", "fld tword [r14+16]"},
    {__LINE__, "prefetcht0,m,,SSE,,", "prefetcht0 [r14+16]"},
    {__LINE__, "movaps,=x m128,,SSE,,", "movaps xmm1, oword [r14+16]"},
    {__LINE__, "vmovaps,=y m256,,AVX,,", "vmovaps ymm1, yword [r14+16]"},
    {__LINE__, "vmovaps,=z{k}{z} m512,,AVX512F,,", "vmovaps zmm1{k5}{z}, zword [r14+16]"},
    {__LINE__, "vaddps,+z{k} z m32{1to16},,AVX512F,,",
        "vaddps zmm1{k5}, zmm2, dword [r14+16]{1to16}"},
    {__LINE__, "vaddps,=z z z {er},,AVX512F,,", "vaddps zmm1, zmm2, zmm3, {rn-sae}"},
    {__LINE__, "vcvtusi2ss,=x x r64 {er},,AVX512F,,", "vcvtusi2ss xmm1, xmm2, {rn-sae}, rbx"},
    {__LINE__, "vcvtsi2sh,=x x r64 {er},,AVX512_FP16,,", "vcvtsi2sh xmm1, xmm2, rbx, {rn-sae}"},
    {__LINE__, "vrndscaleps,=z z i8 {sae},,AVX512F,,", "vrndscaleps zmm1, zmm2, {sae}, 7"},
    {__LINE__, "{evex} vaddps,=x x x,,AVX512F+AVX512VL,,", "{evex} vaddps xmm1, xmm2, xmm3"},
    {__LINE__, "vpgatherdd,+y vm32y +y,,AVX2,,", "vpgatherdd ymm1, [r14+ymm9*1+16], ymm3"},
    {__LINE__, "vpscatterdd,=vm32z{k} z,,AVX512F,,", "vpscatterdd [r14+zmm9*1+16]{k5}, zmm2"},
    {__LINE__, "lea,=r64 agen:b+i*4+d8,,X86_64,,", "lea rcx, [r14+r9*4+8]"},
    {__LINE__, "lea,=r64 agen:b,,X86_64,,", "lea rcx, [r14]"},
    {__LINE__, "lea,=r64 agen:i*2+d32,,X86_64,,", "lea rcx, [nosplit r9*2+74560]"},
    {__LINE__, "lea,=r64 agen:rip+d32,,X86_64,,", "lea rcx, [rel latput_absolute]"},
    {__LINE__, "mov,=al moffs8,,I386,,", "mov al, [qword abs latput_absolute]"},
    {__LINE__, "v4fmaddps,+z z m128,,AVX512_4FMAPS,,type=f32",
        "v4fmaddps zmm1, zmm2+3, oword [r14+16]"},
    {__LINE__, "jz,rel8,zf,I386,,", "jz short .l4\n.l4:"},
    {__LINE__, "jz,rel32,zf,I386,,", "jz near .l4\n.l4:"},
    {__LINE__, "jrcxz,rel8,rcx,X86_64,,", "jrcxz .l4\n.l4:"},
    {__LINE__, "kmovq,=k r64,,AVX512BW,,", "kmovq k1, rdx"},
    {__LINE__, "movq2dq,=x mm,,SSE2,,", "movq2dq xmm1, mm2"},
    {__LINE__, "fadd,+st st0,=fpsw,X87,,type=f80", "fadd st1, st0"},
    {__LINE__, "mov,=r16 seg,,I386,,", "mov cx, ss"},
    {__LINE__, "add,+r64 r64,=flags,X86_64,,opcode=legacy.np.00.w1.03", "db 0x48,0x03,0xca"},
    {__LINE__, "sldt,=r64,,X86_64,,opcode=legacy.np.0f.w1.00./3", "db 0x48,0x0f,0x00,0xd9"},
    {__LINE__, "movq,=x x,,SSE2,,opcode=legacy.66.0f.w0.d6.mr", "db 0x66,0x0f,0xd6,0xd1"},
    {__LINE__, "{vex} vpdpbusd,+x x x,,AVX_VNNI,,opcode=vex.66.0f38.w0.50",
        "db 0xc4,0xe2,0x69,0x50,0xcb"},
    {__LINE__, "vpopcntd,+z{k} m32{1to16},,AVX512_VPOPCNTDQ,,opcode=evex.66.0f38.w0.55",
        "db 0x62,0xd2,0x7d,0x5d,0x55,0x8e,0x10,0x00,0x00,0x00"},
    {__LINE__, "cpuid,,=eax,I486,,", "cpuid"},
    // Bytes as LLVM 22 has them.
    {__LINE__, "add,=r64 r64 r64,=flags,APX_F,,opcode=evex.np.map4.w1.01.vmr.nd",
        "db 0x62,0xf4,0xf4,0x18,0x01,0xda"},
    {__LINE__, "{nf} add,+r32 r32,,APX_F,,opcode=evex.np.map4.w0.01.mr.nf",
        "db 0x62,0xf4,0x7c,0x0c,0x01,0xd1"},
    {__LINE__, "ccmpb,r64 r64,cf =flags,APX_F,,opcode=evex.np.map4.w1.39.mr.scc2.dfv9",
        "db 0x62,0xf4,0xcc,0x02,0x39,0xd1"},
    {__LINE__, "ctestt,r8 r8,=flags,APX_F,,opcode=evex.np.map4.w0.84.mr.scca.dfv0",
        "db 0x62,0xf4,0x04,0x0a,0x84,0xd1"},
    {__LINE__, "cfcmovb,=r16 r16,cf,APX_F,,opcode=evex.66.map4.w0.42.mr.nf",
        "db 0x62,0xf4,0x7d,0x0c,0x42,0xd1"},
    {__LINE__, "setzub,=r8,cf,APX_F,,opcode=evex.f2.map4.w0.42.nd",
        "db 0x62,0xf4,0x7f,0x18,0x42,0xc1"},
    {__LINE__, "push2,r64 r64,,APX_F,,stack=-16 opcode=evex.np.map4.w0.ff.vm./6.nd",
        "db 0x62,0xf4,0x74,0x18,0xff,0xf2"},
    {__LINE__, "pushp,r64,,APX_F,,stack=-8 opcode=rex2.np.00.w1.50.o", "db 0xd5,0x08,0x51"},
    {__LINE__, "{nf} shl,=r64 r64 cl,,APX_F,,opcode=evex.np.map4.w1.d3.vm-./4.nd.nf",
        "db 0x62,0xf4,0xf4,0x1c,0xd3,0xe2"},
    {__LINE__, "imulzu,=r16 r16 i16:0x1234,=flags,APX_F,,opcode=evex.66.map4.w0.69.nd",
        "db 0x62,0xf4,0x7d,0x18,0x69,0xca,0x34,0x12"},
    {__LINE__, "vaddbf16,+z{k} z z,,AVX10_2,,opcode=evex.66.map5.w0.58",
        "db 0x62,0xf5,0x6d,0x4d,0x58,0xcb"},
    {__LINE__, "{evex} kmovq,=k r64,,APX_F,,opcode=evex.f2.0f.w1.92",
        "db 0x62,0xf1,0xff,0x08,0x92,0xca"},
};
// clang-format on

static void read_row(const char *row, struct list *list)
{
    char path[] = "/tmp/latput-test-render-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    fprintf(file, "# Test\nmnemonic,operands,implicit,isa,tests,options\n%s\n", row);
    fclose(file);
    struct err err = {0};
    int status = list_read(path, list, &err);
    unlink(path);
    if (status != 0)
        fail_msg("%s", err.text);
}

static void test_cases(void **state)
{
    (void)state;
    struct row_choice choice = {.mask = 5};
    for (int i = 0; i < OPERANDS_MAX; i++)
        choice.ops[i] = (struct operand_choice){
            .reg = i + 1, .base = REG_DATA, .index = 9, .disp = 16, .label = 4, .value = 7};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct list list;
        struct strbuf out = {0};
        read_row(cases[i].row, &list);
        row_render(&list.rows[0], &choice, &out);
        if (strcmp(strbuf_text(&out), cases[i].text) != 0)
            fail_msg("line %d: \"%s\" instead of \"%s\"", cases[i].line, strbuf_text(&out),
                     cases[i].text);
        strbuf_free(&out);
        list_free(&list);
    }
}

// General-purpose registers 16 and up have bits of their own in the prefix.
static void test_upper_registers(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "crc32,+r64 r64,,APX_F,,opcode=evex.np.map4.w1.f1",
        "add,=r64 r64 r64,=flags,APX_F,,opcode=evex.np.map4.w1.01.vmr.nd",
        "pushp,r64,,APX_F,,opcode=rex2.np.00.w1.50.o",
    };
    static const char *const texts[] = {
        "db 0x62,0xec,0xfc,0x08,0xf1,0xca",
        "db 0x62,0xec,0xf4,0x10,0x01,0xda",
        "db 0xd5,0x18,0x51",
    };
    struct row_choice choice = {.mask = 1};
    for (int i = 0; i < OPERANDS_MAX; i++)
        choice.ops[i].reg = 17 + i;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct list list;
        struct strbuf out = {0};
        read_row(rows[i], &list);
        row_render(&list.rows[0], &choice, &out);
        assert_string_equal(strbuf_text(&out), texts[i]);
        strbuf_free(&out);
        list_free(&list);
    }
}

static void test_register_names(void **state)
{
    (void)state;
    assert_string_equal(render_gpr(4, 8, false), "spl");
    assert_string_equal(render_gpr(3, 8, true), "bh");
    assert_string_equal(render_gpr(13, 32, false), "r13d");
    assert_null(render_gpr(4, 8, true)); // there is no high byte of rsp
    assert_string_equal(render_gpr(16, 64, false), "r16");
    assert_string_equal(render_gpr(31, 8, false), "r31b");
    assert_null(render_gpr(32, 64, false));
    assert_null(render_gpr(-1, 64, false));
    assert_null(render_gpr(0, 24, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_register_names),
        cmocka_unit_test(test_upper_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
