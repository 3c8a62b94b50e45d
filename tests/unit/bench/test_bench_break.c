// SPDX-License-Identifier: MIT
// Copies of a snippet become independent of each other. Nothing is measured.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/bench_break.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct arena arena;
static char directory[] = "/tmp/latput_test_XXXXXX";

static int make_directory(void **state)
{
    (void)state;
    strcpy(directory + sizeof directory - 7, "XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

// Also checks that nothing was left in it.
static int remove_directory(void **state)
{
    (void)state;
    arena_free(&arena);
    return rmdir(directory);
}

static void chains_are_broken(void **state)
{
    (void)state;
    static const struct {
        const char *code, *init;
        int bits;
        const char *body, *filled; // what is put before the code and after the init
        // clang-format off
    } cases[] = {
        {"imul rax, rax", NULL, 0, "mov rax, rcx\n", "mov rcx, rax\n"},
        {"imul rax, rax", "mov rcx, 5", 64, "mov rax, rdx\n", "mov rdx, rax\n"},
        {"mov rax, [rbx]", NULL, 0, "", ""},
        {"mov eax, 5; imul rax, rax", NULL, 0, "", ""},
        {"mov al, 5", NULL, 0, "mov rax, rcx\n", "mov rcx, rax\n"},
        {"cmovz eax, ebx", NULL, 0, "mov rax, rcx\n", "mov rcx, rax\n"},
        {"adc rbx, rdx", NULL, 0, "mov rbx, rax\ntest r14, r14\n", "mov rax, rbx\n"},
        {"push rax; pop rbx", NULL, 0, "", ""},
        {"mulps xmm1, xmm0", NULL, 0, "movaps xmm1, xmm2\n", "movaps xmm2, xmm1\n"},
        {"vfmadd231pd ymm0, ymm1, ymm2", NULL, 0, "vmovaps ymm0, ymm3\n", "vmovaps ymm3, ymm0\n"},
        {"vaddps zmm17, zmm17, zmm0", NULL, 0, "vmovaps zmm17, zmm1\n", "vmovaps zmm1, zmm17\n"},
        {"kaddw k1, k1, k2", NULL, 0, "kmovw k1, k3\n", "kmovw k3, k1\n"},
        {"kaddq k1, k1, k2", NULL, 0, "kmovq k1, k3\n", "kmovq k3, k1\n"},
        {"korw k1, k1, k2", "vpcmpb k2, zmm0, zmm1, 0", 0, "kmovq k1, k3\n", "kmovq k3, k1\n"},
        {"paddb mm0, mm1", NULL, 0, "movq mm0, mm2\n", "movq mm2, mm0\n"},
        {"imul ecx, ecx", NULL, 32, "mov ecx, eax\n", "mov eax, ecx\n"},
        {"no_such_thing rax", NULL, 0, "", ""},
    };
    // clang-format on
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bench_spec spec = bench_defaults();
        struct err err = {0};
        struct bench_breakers breakers;
        spec.body = cases[i].code;
        spec.init = cases[i].init;
        spec.bits = cases[i].bits;
        assert_int_equal(bench_break_chains(&spec, directory, &breakers, &arena, &err), 0);
        assert_null(breakers.impossible);
        assert_string_equal(breakers.body, cases[i].body);
        assert_string_equal(breakers.init, cases[i].filled);
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
        struct err err = {0};
        struct bench_breakers breakers;
        spec.body = cases[i];
        assert_int_equal(bench_break_chains(&spec, directory, &breakers, &arena, &err), 0);
        assert_non_null(breakers.impossible);
        assert_string_equal(breakers.body, "");
    }
}

// Registers that init has set come back as wide as they were: no upper half is in use that was not.
static void registers_are_kept_in_their_width(void **state)
{
    (void)state;
    static const struct {
        const char *init, *load;
    } cases[] = {
        {"mov ecx, 7",                                          "mov rcx, [latput_kept+0]\n"     },
        {"movaps xmm1, xmm0",                                   "movups xmm1, [latput_kept+0]\n" },
        {"vmovaps xmm1, xmm0",                                  "vmovups xmm1, [latput_kept+0]\n"},
        {"vmovaps ymm1, ymm0; vmovaps xmm2, xmm0",
         "vmovups ymm1, [latput_kept+0]\nvmovups xmm2, [latput_kept+64]\n"                       },
        {"vmovaps ymm1, ymm0; vmovups [r14], ymm1; vzeroupper", "vmovups xmm1, [latput_kept+0]\n"},
        {"kxorw k1, k1, k1",                                    "kmovw k1, [latput_kept+0]\n"    },
        {"kxorq k1, k1, k1",                                    "kmovq k1, [latput_kept+0]\n"    },
        {"vcmpps k1, zmm0, zmm1, 0",                            "kmovw k1, [latput_kept+0]\n"    },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bench_spec spec = bench_defaults();
        struct err err = {0};
        struct bench_kept kept;
        spec.init = cases[i].init;
        assert_int_equal(bench_init_kept(&spec, directory, &kept, &arena, &err), 0);
        assert_string_equal(kept.load, cases[i].load);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(chains_are_broken, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(what_cannot_be_broken_says_so, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(registers_are_kept_in_their_width, make_directory,
                                        remove_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
