// SPDX-License-Identifier: MIT
// What an SQL query may have assembled, and how the copies of a snippet are made independent of
// each other. Nothing is measured.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../library/latput_sqlite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct arena arena;

static int free_arena(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static void instructions_pass(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "imul rax, rax",
        "again: dec ecx; jnz again",
        ".x:\n  mov rax, [rax + 8*rcx]\n  jmp .x",
        "vaddps zmm0{k1}{z}, zmm1, [r14]{1to16}",
        "lea rax, [rel $]; db 0x90, 'sec', 0",
        "at_section: nop; sectional equ 5",
        "lock add [r14], eax; rep movsb; str ax",
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct err err = {{0}};
        if (code_check("code", cases[i], &err) != 0)
            fail_msg("%s: %s", cases[i], err.text);
    }
}

// Each of these reads a file, fills the disk, or has code run before the core confines itself.
static void all_else_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "%include \"/etc/passwd\"",
        "mov eax, %!HOME",
        "incbin \"/etc/passwd\"",
        "x: INCBIN '/etc/passwd'",
        "section .init_array",
        "nop; SeCtIoN .ctors",
        "nop\n segment .init_array\n dq x",
        "[section .init_array]",
        "[of_a_later_nasm x]",
        "x: [of_a_later_nasm x]",
        "nop;[ section .init_array]",
        "nop ; \t [bits 16]",
        "x:[global write]",
        "global write",
        "extern system",
        "common x 1000000000",
        "times 1000000000 nop",
        "x: times 1000000000 nop",
        "db 1000000000 dup (0)",
        "align 1 << 30",
        "resb 1000000000",
        "sec\\\ntion .init_array",
        "default rel",
        "struc x",
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct err err = {{0}};
        if (code_check("code", cases[i], &err) != -1)
            fail_msg("%s passes", cases[i]);
        assert_non_null(strstr(err.text, "code: "));
    }
    char *text = malloc(20001);
    memset(text, '\n', 20000);
    text[20000] = '\0';
    assert_int_equal(code_check("code", text, NULL), -1);
    free(text);
}

static void chains_are_broken(void **state)
{
    (void)state;
    static const struct {
        const char *code, *init;
        int bits;
        const char *expected_body, *expected_init; // what is put before and behind them
    } cases[] = {
        {"imul rax, rax",                NULL,         0,  "mov rax, rcx\n",                "\nmov rcx, rax\n"          },
        {"imul rax, rax",                "mov rcx, 5", 64, "mov rax, rdx\n",                "mov rcx, 5\nmov rdx, rax\n"},
        {"mov rax, [rbx]",               NULL,         0,  "",                              "\n"                        },
        {"mov eax, 5; imul rax, rax",    NULL,         0,  "",                              "\n"                        },
        {"mov al, 5",                    NULL,         0,  "mov rax, rcx\n",                "\nmov rcx, rax\n"          },
        {"cmovz eax, ebx",               NULL,         0,  "mov rax, rcx\n",                "\nmov rcx, rax\n"          },
        {"adc rbx, rdx",                 NULL,         0,  "mov rbx, rax\ntest r14, r14\n", "\nmov rax, rbx\n"          },
        {"push rax; pop rbx",            NULL,         0,  "",                              "\n"                        },
        {"mulps xmm1, xmm0",             NULL,         0,  "movaps xmm1, xmm2\n",           "\nmovaps xmm2, xmm1\n"     },
        {"vfmadd231pd ymm0, ymm1, ymm2", NULL,         0,  "vmovaps ymm0, ymm3\n",          "\nvmovaps ymm3, ymm0\n"    },
        {"vaddps zmm17, zmm17, zmm0",    NULL,         0,  "vmovaps zmm17, zmm1\n",         "\nvmovaps zmm1, zmm17\n"   },
        {"kaddw k1, k1, k2",             NULL,         0,  "kmovq k1, k3\n",                "\nkmovq k3, k1\n"          },
        {"paddb mm0, mm1",               NULL,         0,  "movq mm0, mm2\n",               "\nmovq mm2, mm0\n"         },
        {"imul ecx, ecx",                NULL,         32, "mov ecx, eax\n",                "\nmov eax, ecx\n"          },
        {"no_such_thing rax",            NULL,         0,  "",                              "\n"                        },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bench_spec spec = bench_defaults();
        struct err err = {{0}};
        const char *reason;
        char body[256];
        spec.body = cases[i].code;
        spec.init = cases[i].init;
        spec.bits = cases[i].bits;
        assert_int_equal(code_make_independent(&spec, &reason, &arena, &err), 0);
        assert_null(reason);
        snprintf(body, sizeof body, "%s%s", cases[i].expected_body, cases[i].code);
        assert_string_equal(spec.body, body);
        assert_string_equal(spec.init, cases[i].expected_init);
    }
}

static void what_cannot_be_broken_says_so(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "fadd st0, st1",
        "add rax, rbx; add rbx, rcx; add rcx, rdx; add rdx, rsi; add rsi, rdi; add rdi, rbp; "
        "add rbp, r8; add r8, r9; add r9, r10; add r10, r11; add r11, r12; add r12, r13; "
        "add r13, rax",
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bench_spec spec = bench_defaults();
        struct err err = {{0}};
        const char *reason;
        spec.body = cases[i];
        assert_int_equal(code_make_independent(&spec, &reason, &arena, &err), 0);
        assert_non_null(reason);
        assert_string_equal(spec.body, cases[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_pass),
        cmocka_unit_test(all_else_is_refused),
        cmocka_unit_test_teardown(chains_are_broken, free_arena),
        cmocka_unit_test_teardown(what_cannot_be_broken_says_so, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
