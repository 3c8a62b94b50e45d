// SPDX-License-Identifier: MIT
// Shapes of blocks that experiments measure: what may be left out of a loop, what stands in its
// place, and the text or the object that bench gets. Nothing is measured.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "assemble/object.h"
#include "bench/bench_break.h"
#include "bench/bench_code.h"
#include "explain/explain_shape.h"
#include "util/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct arena arena;
static char *directory;

static int begin(void **state)
{
    (void)state;
    struct err err = {0};
    directory = scratch_begin(&err);
    return directory ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    scratch_end(directory, false);
    arena_free(&arena);
    return 0;
}

static struct explanation explanation_of(const char *text)
{
    struct explanation explanation = {.predicted_clk = 1};
    uint8_t *code = arena_alloc(&arena, BENCH_CODE_MAX);
    struct err err = {0};
    long len = bench_assemble(directory, text, 64, code, &err);
    assert_true(len > 0);
    assert_int_equal(block_read(code, (size_t)len, 64, &explanation.block, &arena, &err), 0);
    block_link_memory(&explanation.block);
    return explanation;
}

// Instructions are left out by their bytes, and vectors stay filled.
static void text_is_made_of_bytes(void **state)
{
    (void)state;
    struct explanation explanation = explanation_of("mulps xmm1, xmm2; add rax, rbx; inc rcx");
    const struct bench_spec from = {.body = "", .store = true, .init = "mov rax, 5"};
    const struct explain_subject subject = {&explanation, &from, NULL, NULL};
    struct shape shape = shape_as_is(&subject, &arena);
    struct bench_spec spec;
    struct block block;
    struct err err = {0};
    assert_true(shape_may_change(&shape, 2));
    shape_leave_out(&shape, 1);
    assert_int_equal(shape_make(&shape, &spec, &block, &arena, &err), 0);
    assert_string_equal(spec.body, "db 0x0f, 0x59, 0xca\ndb 0x48, 0xff, 0xc1\n");
    assert_string_equal(spec.init, "movapd xmm0, xmm0\nmov rax, 5");
    assert_int_equal(block.n, 2);
    assert_true(!spec.store && spec.mode == BENCH_LATENCY);
    shape.broken = true;
    assert_int_equal(shape_make(&shape, &spec, &block, &arena, &err), 0);
    assert_true(spec.mode == BENCH_THROUGHPUT);
}

// Lines that name an address of the file stay as they are.
static void testcode_keeps_its_lines(void **state)
{
    (void)state;
    struct explanation explanation =
        explanation_of("add rax, [abs 0x12345678]; imul rbx, rbx; inc rcx");
    const struct bench_spec from = {.file = "x.nasm"};
    struct explain_place place = {
        .directory = directory,
        .testcode =
            "    add rax, [table] ; a comment\n; only that\n    imul rbx, rbx\n    inc rcx\n",
        .runs = 1};
    const struct explain_subject subject = {&explanation, &from, NULL, &place};
    struct shape shape = shape_as_is(&subject, &arena);
    struct bench_spec spec;
    struct block block;
    struct err err = {0};
    static const uint8_t nop[] = {0x90};
    shape_leave_out(&shape, 1);
    assert_true(shape_change(&shape, 2, nop, 1));
    assert_int_equal(shape_make(&shape, &spec, &block, &arena, &err), 0);
    assert_non_null(strstr(spec.testcode, "add rax, [table]"));
    assert_null(strstr(spec.testcode, "imul"));
    assert_non_null(strstr(spec.testcode, "\ndb 0x90\n"));
    assert_string_equal(spec.after, "");
    // Chains are broken before it.
    shape.broken = true;
    assert_int_equal(shape_make(&shape, &spec, &block, &arena, &err), 0);
    assert_non_null(strstr(spec.testcode, "mov rax, "));
    assert_non_null(strstr(spec.after, ", rax"));
    // A line that makes several instructions: which is which cannot be told.
    place.testcode = "    add rax, [table]\n    two\n";
    assert_int_equal(shape_make(&shape, &spec, &block, &arena, &err), 1);
}

// The end of the loop, addresses and what the linker may change stay.
static void loops_keep_what_they_need(void **state)
{
    (void)state;
    struct explanation explanation = explanation_of(
        "x: add rax, [rdi]\nimul rax, rbx\nadd rdi, rcx\nmov rcx, 8\nadd edx, 0x12345678\n"
        "lea rsi, [rdx+rdx]\ndec r8\njnz x\n");
    struct explain_place place = {.directory = directory, .object = "x.o", .runs = 1};
    const struct bench_spec from = {.file = "x.c"};
    const struct explain_subject subject = {&explanation, &from, NULL, &place};
    struct shape shape = shape_as_is(&subject, &arena);
    static const bool may[] = {true, true, false, false, false, true, false, false};
    for (int i = 0; i < explanation.block.n; i++)
        if (shape_may_change(&shape, i) != may[i])
            fail_msg("%s", explanation.block.instrs[i].text);
    static const uint8_t nops[] = {0x90, 0x90, 0x90, 0x90};
    assert_false(shape_change(&shape, 0, nops, 4)); // longer than what is there
    assert_true(shape_change(&shape, 1, nops, 1));
}

// An object with a loop in a function, in which an instruction becomes a nop of its length.
static void objects_are_changed_in_place(void **state)
{
    (void)state;
    const char *object = arena_printf(&arena, "%s/f.o", directory);
    FILE *file = fopen(arena_printf(&arena, "%s/f.asm", directory), "w");
    assert_non_null(file);
    fputs("global latput_function:function (.end - latput_function)\nlatput_function:\nxor eax, "
          "eax\n.x: add rax, [rdi]\nimul rax, rax\ndec esi\njnz .x\nret\n.end:\n",
          file);
    assert_int_equal(fclose(file), 0);
    const char *command = arena_printf(&arena, "nasm -f elf64 -o %s %s/f.asm", object, directory);
    assert_int_equal(system(command), 0); // NOLINT(bugprone-command-processor)
    struct explanation explanation =
        explanation_of("x: add rax, [rdi]\nimul rax, rax\ndec esi\njnz x\n");
    struct explain_place place = {.directory = directory, .object = object, .offset = 2, .runs = 1};
    const struct bench_spec from = {.file = "f.o", .symbol = "f"};
    const struct explain_subject subject = {&explanation, &from, NULL, &place};
    struct shape shape = shape_as_is(&subject, &arena);
    struct bench_spec spec;
    struct block block;
    struct err err = {0};
    const uint8_t *before, *after;
    size_t len_before, len_after;
    shape_leave_out(&shape, 1);
    assert_int_equal(shape_make(&shape, &spec, &block, &arena, &err), 0);
    assert_int_equal(block.n, 4);
    assert_int_equal(block.instrs[1].in.mnemonic, ZYDIS_MNEMONIC_NOP);
    assert_int_equal(
        assemble_object_function(object, BENCH_FUNCTION, &before, &len_before, &arena, &err), 0);
    assert_int_equal(
        assemble_object_function(spec.object, BENCH_FUNCTION, &after, &len_after, &arena, &err), 0);
    assert_true(len_before == len_after);
    for (size_t i = 0; i < len_before; i++)
        assert_true((before[i] == after[i]) == (i < 5 || i >= 9));
    const struct assemble_patch outside = {len_before - 1, before, 2};
    assert_int_equal(assemble_object_replace(object, BENCH_FUNCTION, &outside, spec.object, &err),
                     -1);
    assert_non_null(strstr(err.text, "has no 2 bytes"));
    shape.broken = true;
    assert_int_equal(shape_make(&shape, &spec, &block, &arena, &err), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_made_of_bytes),
        cmocka_unit_test(testcode_keeps_its_lines),
        cmocka_unit_test(loops_keep_what_they_need),
        cmocka_unit_test(objects_are_changed_in_place),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
