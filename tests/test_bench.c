// SPDX-License-Identifier: MIT
// Bench: from the user's text to a kernel, which is pure; and what bench_measure() makes of specs
// that cannot be measured.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench.h"
#include "bench_text.h"

#include <string.h>

static struct arena arena;

static int free_arena(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static void semicolons_separate_instructions(void **state)
{
    (void)state;
    static const struct {
        const char *text, *lines;
        int instructions;
    } cases[] = {
        {"imul rax, rax",             "imul rax, rax\n",           1},
        {"imul rax, rax\n",           "imul rax, rax\n",           1},
        {"a; b;c",                    "a\n b\nc\n",                3},
        {"a;;b",                      "a\n\nb\n",                  2},
        {"db ';', \";\"; nop",        "db ';', \";\"\n nop\n",     2},
        {".x: dec eax; jnz .x",       ".x: dec eax\n jnz .x\n",    2},
        {".x:; dec eax; jnz .x",      ".x:\n dec eax\n jnz .x\n",  2},
        {"%assign i 1\nadd eax, i\n", "%assign i 1\nadd eax, i\n", 1},
        {"align 16; nop",             "align 16\n nop\n",          1},
        {"",                          "",                          0},
        {" ; ;",                      " \n \n",                    0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *lines = bench_text_lines(cases[i].text, &arena);
        assert_string_equal(lines, cases[i].lines);
        assert_int_equal(bench_text_instructions(lines), cases[i].instructions);
    }
}

static void parts_are_found_for_messages(void **state)
{
    (void)state;
    const char *text = "nop;  bogus rax ;inc eax\nlast";
    static const struct {
        int part;
        const char *expected;
    } cases[] = {
        {1, "nop"      },
        {2, "bogus rax"},
        {3, "inc eax"  },
        {4, "last"     },
        {5, NULL       }
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int start, len;
        bool found = bench_text_part(text, cases[i].part, &start, &len);
        assert_int_equal(found, cases[i].expected != NULL);
        if (found) {
            assert_int_equal(len, strlen(cases[i].expected));
            assert_memory_equal(text + start, cases[i].expected, (size_t)len);
        }
    }
}

static void fills_follow_from_the_text(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int vec_bits;
        uint64_t vec_fill;
    } cases[] = {
        {"imul rax, rax",                       0,   0x3ff0000000000000},
        {"mulps xmm0, xmm1",                    128, 0x3f8000003f800000},
        {"vaddpd ymm0, ymm1, ymm2",             256, 0x3ff0000000000000},
        {"VADDSS XMM0, XMM1, XMM2",             128, 0x3f8000003f800000},
        {"vpaddd zmm0, zmm1; paddd xmm3, xmm3", 512, 0x3ff0000000000000},
        {"paddb mm0, mm1",                      128, 0x3ff0000000000000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bench_spec spec = bench_defaults();
        spec.body = cases[i].body;
        struct kernel_spec kernel = bench_text_kernel(&spec, &arena);
        assert_int_equal(kernel.vec_bits, cases[i].vec_bits);
        assert_int_equal(kernel.vec_fill, cases[i].vec_fill);
        assert_int_equal(kernel.gpr_fill, 1);
        assert_int_equal(kernel.instances, 1);
    }
}

static void wrong_specs_are_refused(void **state)
{
    (void)state;
    const struct bench_spec cases[] = {
        {.body = NULL,                    .cpu = -1                     },
        {.body = " ; ",                   .cpu = -1                     },
        {.body = "nop",                   .bits = 16,                     .cpu = -1},
        {.body = "nop",                               .loop = -1,                                                 .cpu = -1},
        {.body = "nop",                      .unroll = BENCH_UNROLL_MAX + 1,    .cpu = -1},
        {.body = "nop",.cpu = 100000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bench_result result;
        struct err err = {{0}};
        assert_int_equal(bench_measure(&cases[i], &result, &arena, &err), -1);
        assert_true(err.text[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(semicolons_separate_instructions),
        cmocka_unit_test(parts_are_found_for_messages),
        cmocka_unit_test(fills_follow_from_the_text),
        cmocka_unit_test(wrong_specs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, free_arena);
}
