// SPDX-License-Identifier: MIT
// The NASM source of a batch: labels, the table that the core walks, and the line numbers by which
// assemble.c finds the kernel that a message of NASM is about.
#include "assemble/gen.h"
#include "util/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct list_row gen_row = {.form = "add r64 r64"};
static const struct test gen_test = {.kind = TEST_THROUGHPUT};
// clang-format off
static const struct kernel_spec gen_specs[] = {
    {.shape = "n1", .body = "add rbx, rcx\nadd rsi, rcx\n", .init = "", .instances = 2, .instrs =
        2, .gpr_fill = 1},
    {.shape = "no newline at the end", .body = "jz .l0\n.l0: nop", .init = "mov rbx, r14",
        .instances = 1, .instrs = 2, .unrolled = true, .clear_upper = true, .vec_bits = 128,
        .vec_fill = 0x3ff0000000000000},
    {.shape = "n3", .body = "nop\n", .init = "", .instances = 1, .instrs = 1},
};
// clang-format on

static void gen_make(struct gen_kernel *kernels, int n)
{
    for (int i = 0; i < n; i++)
        kernels[i] = (struct gen_kernel){.row = &gen_row, .test = &gen_test, .spec = &gen_specs[i]};
}

static const char *gen_line(const char *text, int line)
{
    for (; line > 1; line--)
        text = strchr(text, '\n') + 1;
    return text;
}

static void test_table_and_lines(void **state)
{
    (void)state;
    struct gen_kernel kernels[3];
    gen_make(kernels, 3);
    struct strbuf out = {0};
    gen_write(kernels, 3, 64, NULL, &out);
    const char *text = strbuf_text(&out);
    assert_non_null(strstr(text, "latput_kernel_count: dd 3\n"));
    assert_non_null(strstr(text, "dq k1_body, k1_init\n"));
    assert_non_null(strstr(text, "k1_body-k1_init, 1, 1, 2, 3, 128, 6\n"));
    assert_non_null(strstr(text, "dq 0x3ff0000000000000, 0x0, 0x0, 0x0\n"));
    for (int i = 0; i < 3; i++) {
        char head[32], end[32];
        snprintf(head, sizeof head, "; %d: add r64 r64", i);
        snprintf(end, sizeof end, "k%d_end: nop\n", i);
        assert_int_equal(strncmp(gen_line(text, kernels[i].first_line), head, strlen(head)), 0);
        assert_int_equal(strncmp(gen_line(text, kernels[i].last_line), end, strlen(end)), 0);
    }
    strbuf_free(&out);
}

static void test_left_out_keeps_ids(void **state)
{
    (void)state;
    struct gen_kernel kernels[3];
    gen_make(kernels, 3);
    kernels[1].left_out = true;
    struct strbuf out = {0};
    gen_write(kernels, 3, 64, NULL, &out);
    const char *text = strbuf_text(&out);
    assert_non_null(strstr(text, "latput_kernel_count: dd 2\n"));
    assert_null(strstr(text, "k1_body"));
    assert_non_null(strstr(text, "dq k2_body, k2_init\n"));
    assert_non_null(strstr(text, "k2_body-k2_init, 2, 1, 1, 0, 0, 6\n"));
    assert_int_equal(kernels[1].first_line, 0);
    strbuf_free(&out);
}

static void test_32_bit_table_has_no_64_bit_relocations(void **state)
{
    (void)state;
    struct gen_kernel kernels[3];
    gen_make(kernels, 3);
    struct strbuf out = {0};
    gen_write(kernels, 3, 32, NULL, &out);
    const char *text = strbuf_text(&out);
    assert_non_null(strstr(text, "[bits 32]\n"));
    assert_non_null(strstr(text, "dd k2_body, 0, k2_init, 0\n"));
    assert_null(strstr(text, "dq k2_body"));
    strbuf_free(&out);
}

static void test_nothing_left(void **state)
{
    (void)state;
    struct strbuf out = {0};
    gen_write(NULL, 0, 64, NULL, &out);
    assert_non_null(strstr(strbuf_text(&out), "latput_kernel_count: dd 0\n"));
    strbuf_free(&out);
}

// A macro that ends in a backslash takes the next mark for its own line: what came back is not
// used.
static void test_swallowed_mark(void **state)
{
    (void)state;
    struct gen_kernel kernels[3];
    struct arena arena = {0};
    struct strbuf out = {0};
    gen_make(kernels, 3);
    kernels[2].left_out = true;
    gen_write_unexpanded(kernels, 3, &out);
    assert_true(gen_take_expanded(kernels, 3, strbuf_text(&out), &arena));
    assert_string_equal(kernels[0].expanded[GEN_BODY], "add rbx, rcx\nadd rsi, rcx\n");
    assert_string_equal(kernels[1].expanded[GEN_INIT], "mov rbx, r14\n");
    assert_null(kernels[2].expanded);
    gen_make(kernels, 3);
    kernels[2].left_out = true;
    char *text = xstrdup(strbuf_text(&out)), *mark = strstr(text, "latput_part 1 1");
    assert_non_null(mark);
    mark[-1] = ' ';
    assert_false(gen_take_expanded(kernels, 3, text, &arena));
    free(text);
    strbuf_free(&out);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_and_lines),
        cmocka_unit_test(test_left_out_keeps_ids),
        cmocka_unit_test(test_32_bit_table_has_no_64_bit_relocations),
        cmocka_unit_test(test_nothing_left),
        cmocka_unit_test(test_swallowed_mark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
