// SPDX-License-Identifier: MIT
// Code that an SQL query may have assembled. Nothing is measured.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "library/latput_sqlite.h"

#include <stdlib.h>
#include <string.h>

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
        struct err err = {0};
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
        struct err err = {0};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_pass),
        cmocka_unit_test(all_else_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
