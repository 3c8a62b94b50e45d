// SPDX-License-Identifier: MIT
// Instructions as AT&T writes them, as bytes, and with segments and r8: the globs that they become,
// and what is none.
#include "list/form_code.h"
#include "list/form_glob.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct code_case {
    const char *text, *globs; // NULL: none
};

static void check_cases(const struct code_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *globs = form_code_globs(cases[i].text);
        if ((globs == NULL) != (cases[i].globs == NULL) ||
            (globs && strcmp(globs, cases[i].globs) != 0))
            fail_msg("'%s' became '%s'", cases[i].text, globs ? globs : "(none)");
        free(globs);
    }
}

static void test_att(void **state)
{
    // clang-format off
    static const struct code_case cases[] = {
        {"addl %eax, %ebx", "addl ebx eax;add ebx eax"},
        {"ADD %EAX,%EBX", "add ebx eax"},
        {"addq $5, 8(%rax,%rcx,4)", "addq [rax+rcx*4+8] i*;add qword [rax+rcx*4+8] i*"},
        {"movb $1, -4(%rsp)", "movb [rsp-4] 1;mov byte [rsp-4] 1"},
        {"incw (,%rax,8)", "incw [rax*8];inc word [rax*8]"},
        {"movzbl (%rdi), %eax", "movzbl eax [rdi];movzx eax byte [rdi]"},
        {"movslq (%rdi), %rax", "movslq rax [rdi];movsxd rax dword [rdi]"},
        {"lock addl $1, (%rax)", "lock addl [rax] 1;lock add dword [rax] 1"},
        {"vaddps (%rax){1to16}, %zmm1, %zmm0{%k1}{z}", "vaddps zmm0{k1}{z} zmm1 [rax]{1to16}"},
        {"vaddpd {rn-sae}, %zmm1, %zmm2, %zmm3", "vaddpd zmm3 zmm2 zmm1 {er}"},
        {"vmaxpd {sae}, %zmm1, %zmm2, %zmm3", "vmaxpd zmm3 zmm2 zmm1 {sae}"},
        {"fldl (%rax)", "fldl [rax];fld qword [rax]"},
        {"fildl (%rax)", "fildl [rax];fild dword [rax]"},
        {"mov %fs:0x28, %rax", "mov rax [rip+0x28]"},
        {"mov foo(%rip), %r8", "mov r9 [rip+foo]"},
        {"jmp *%rax", "jmp rax"},
        {"fadd %st(1), %st", "fadd st0 st1"},
        {"fxch %st(7)", "fxch st7"},
        {"fsub %st, %st(1)", "fsubr st1 st0"},
        {"fsubr %st, %st(1)", "fsub st1 st0"},
        {"fdivrp %st, %st(2)", "fdivp st2 st0"},
        {"fdiv %st(2), %st", "fdiv st0 st2"},
        {"add rax, rbx", NULL},
        {"addl", NULL},
        {"%", NULL},
        {"100%", NULL},
        {"%eax", NULL},
        {"", NULL},
    };
    // clang-format on
    (void)state;
    check_cases(cases, sizeof cases / sizeof *cases);
    // More operands than any instruction has, parentheses that are not closed.
    free(form_code_globs("add %a,%b,%c,%d,%e,%f,%g,%h,%i,%j,%k,%l"));
    free(form_code_globs("add %a((((,%b){{{{"));
    free(form_code_globs("add %fs:"));
}

static void test_bytes(void **state)
{
    // clang-format off
    static const struct code_case cases[] = {
        {"48 0f af c3", "{legacy} imul rax rbx"},
        {"480FAFC3", "{legacy} imul rax rbx"},
        {"\\x48\\x0f\\xaf\\xc3", "{legacy} imul rax rbx"},
        {"0x48, 0x0f, 0xaf, 0xc3", "{legacy} imul rax rbx"},
        {"90", "{legacy} nop"},
        {"48 83 c0 05", "{legacy} add rax i8*"},
        {"48 d1 e0", "{legacy} shl rax [1]"},
        {"4c 01 00", "{legacy} add m64 r9;{legacy} add m r9"},
        {"74 05", "{legacy} jz rel8"},
        {"f3 a4", "{legacy} rep movsb*"},
        {"f0 48 0f c1 03", "{legacy} lock xadd m64 rax;{legacy} lock xadd m rax"},
        {"48 8d 44 88 08", "{legacy} lea rax [rax+rcx*4+8]"},
        {"c5 f4 58 c2", "{vex} vaddps ymm0 ymm1 ymm2"},
        {"62 f1 74 c9 58 c2", "{evex} vaddps zmm0{k}{z} zmm1 zmm2"},
        {"62 f1 74 58 58 00",
         "{evex} vaddps zmm0 zmm1 m32{1to16};{evex} vaddps zmm0 zmm1 m{1to16}"},
        {"62 f3 5d 49 1f d2 05", "{evex} vpcmpd k2{k} zmm4 zmm2 i8*"},
        {"62 f1 74 18 58 c2", "{evex} vaddps zmm0 zmm1 zmm2 {er}"},
        {"c4 e2 69 92 04 88", "{vex} vgatherdps xmm0 vm[36][24]x xmm2"},
        {"48 0f", NULL},
        {"90 90", NULL},
        {"48 0f af c3 9", NULL},
        {"48 0f zz", NULL},
        {"dd", NULL},
        {"add", NULL},
        {"66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90", NULL},
    };
    // clang-format on
    (void)state;
    check_cases(cases, sizeof cases / sizeof *cases);
    assert_true(form_code_is_bytes("48 0f"));
    assert_true(form_code_is_bytes("90 90"));
    assert_false(form_code_is_bytes("dd"));
    assert_false(form_code_is_bytes("add"));
    assert_false(form_code_is_bytes("48 0f zz"));
    assert_false(form_code_is_bytes(""));
}

// Code of Intel's assemblers that form_globs_make() reads itself.
static void test_intel(void **state)
{
    // clang-format off
    static const struct code_case cases[] = {
        {"add rax, r8", "add rax r8|add r[a6][x4] r8|add rax r9|add r[a6][x4] r64"},
        {"add r8, r8", "add r8 r8"},
        {"add r8 [rbx]", "add r8 m*[0-9]|add r8 m|add r9 m*[0-9]|add r64 m*[0-9]|add r64 m"},
        {"mov rbx, fs:[0]", "mov rbx m*[0-9]|mov r64 m*[0-9]|mov r64 m"},
        {"mov rbx, [FS:0x28]", "mov rbx m*[0-9]|mov r64 m*[0-9]|mov r64 m"},
        {"mov rbx, gs:[rcx+8]", "mov rbx m*[0-9]|mov r64 m*[0-9]|mov r64 m"},
        {"vaddpd zmm0, zmm1, zmm2, {ru-sae}", "vaddpd z z z {er}"},
        {"fadd st(1)", "fadd st"},
        {"fadd st0, st1", "fadd st0 st|fadd st"},
        {"fadd st, st(1)", "fadd st0 st|fadd st"},
        {"faddp st(1), st", "faddp st st0"},
        {"fadd %st(1), %st", "fadd st0 st|fadd st"},
        {"fadd st", "fadd st"},
        {"fcmovb st0, st7", "fcmovb st0 st|fcmovb st"},
        {"d8 c1", "{legacy} fadd st0 st|{legacy} fadd st"},
        {"8d 5c 3e 08", "{legacy} lea ebx agen:b+i+d8|{legacy} lea r32 agen:b+i+d8"},
        {"fs:", "fs:"},
        {"{r", "{r"},
        {"{evex} vaddps x x x", "{evex} vaddps x x x"},
    };
    // clang-format on
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char joined[256] = "";
        struct form_globs globs = form_globs_make(&cases[i].text, 1, true);
        for (int j = 0; j < globs.n; j++) {
            strcat(joined, j ? "|" : "");
            strcat(joined, globs.texts[j]);
        }
        assert_string_equal(joined, cases[i].globs);
        form_globs_free(&globs);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_att),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_intel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
