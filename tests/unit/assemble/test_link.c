// SPDX-License-Identifier: MIT
// Linking without a linker: the bytes of each kind of relocation are those that ld makes, and what
// ld refuses is refused.
#include "assemble/gen.h"
#include "assemble/link.h"
#include "assemble/load.h"
#include "util/program.h"
#include "util/subproc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/latput-test-link-XXXXXX";

static int setup(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    static const char *const names[] = {"a.asm", "a.o", "program", "by_ld", "bytes", "script"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char *path = xasprintf("%s/%s", directory, names[i]);
        unlink(path);
        free(path);
    }
    return rmdir(directory);
}

static char *path(struct arena *arena, const char *name)
{
    return arena_printf(arena, "%s/%s", directory, name);
}

static void run(const char *const argv[])
{
    const struct subproc_options options = {.cwd = directory};
    struct subproc_result result;
    struct err err;
    if (subproc_run(argv, &options, &result, &err) != 0)
        fail_msg("%s", err.text);
    if (result.exit_status != 0)
        fail_msg("%s: %s", argv[0], result.err);
    subproc_result_free(&result);
}

static void assemble(const char *text, int bits, struct arena *arena)
{
    FILE *file = fopen(path(arena, "a.asm"), "w");
    assert_non_null(file);
    fputs("section .text\nextern latput_absolute\nglobal latput_code\nlatput_code:\n", file);
    fputs(text, file);
    fputs("section " GEN_TABLE " progbits alloc noexec nowrite align=16\n"
          "global latput_kernel_count, latput_kernels\n"
          "latput_kernel_count: dd 1, 0, 0, 0\nlatput_kernels: dd k0_body, 0\n",
          file);
    fclose(file);
    const char *const nasm[] = {"nasm",  "-f", bits == 32 ? "elf32" : "elf64", "-o", "a.o",
                                "a.asm", NULL};
    run(nasm);
}

static int link_it(int bits, struct arena *arena, struct link_faults *faults)
{
    struct err err = {0};
    int status = link_write(load_core(bits), path(arena, "a.o"), path(arena, "program"), arena,
                            faults, &err);
    if (status < 0)
        fail_msg("%s", err.text);
    return status;
}

static char *section(const char *program, const char *name, size_t *len, struct arena *arena)
{
    const char *const copy[] = {
        "objcopy", "-O",    "binary", arena_printf(arena, "--only-section=%s", name),
        program,   "bytes", NULL};
    run(copy);
    FILE *file = fopen(path(arena, "bytes"), "r");
    assert_non_null(file);
    char *bytes = arena_alloc(arena, 65536);
    *len = fread(bytes, 1, 65536, file);
    fclose(file);
    return bytes;
}

static const char wide[] = "k0_body: mov eax, [latput_absolute+8]\n"
                           "a: mov rax, latput_absolute\n"
                           "mov rax, [abs qword latput_absolute-3]\n"
                           "lea rcx, [rel latput_absolute]\n"
                           "call latput_absolute\n"
                           "jmp near constants\n"
                           "push qword a\n"
                           "mov ecx, constants+5\n"
                           "mov [abs constants], rcx\n"
                           "lea rdx, [rel constants+1]\n"
                           "dd latput_absolute\n"
                           "dq a, constants-$\n"
                           "section .rodata align=32\n"
                           "constants: dq 1, a, latput_absolute+1\n";
static const char narrow[] = "k0_body: mov eax, [latput_absolute+8]\n"
                             "a: mov al, [latput_absolute]\n"
                             "call latput_absolute\n"
                             "jmp near constants\n"
                             "push dword a\n"
                             "mov ecx, constants+5\n"
                             "dd latput_absolute, constants-$\n"
                             "section .rodata align=32\n"
                             "constants: dd 1, a, latput_absolute+1\n";

static const char script[] = "SECTIONS {\n"
                             "latput_table 0x800000 : { *(latput_table) }\n"
                             "latput_code 0x2000000 : { *(.text) *(.rodata) } =0\n"
                             "latput_absolute = 0x60101000;\n}\n";

static void expect_same_section(const char *name, struct arena *arena)
{
    size_t ours, theirs;
    const char *a = section("program", name, &ours, arena);
    const char *b = section("by_ld", name, &theirs, arena);
    assert_int_equal(ours, theirs);
    assert_true(ours > 20);
    assert_memory_equal(a, b, ours);
}

static void compare(int bits, const char *text)
{
    struct arena arena = {0};
    struct link_faults faults;
    char *ld = program_find("ld");
    if (access(load_core(bits), R_OK) != 0 || !ld)
        skip();
    free(ld);
    assemble(text, bits, &arena);
    assert_int_equal(link_it(bits, &arena, &faults), 0);
    FILE *file = fopen(path(&arena, "script"), "w");
    assert_non_null(file);
    fputs(script, file);
    fclose(file);
    const char *const link[] = {"ld",     "-m",    bits == 32 ? "elf_i386" : "elf_x86_64",
                                "-o",     "by_ld", "-T",
                                "script", "-e",    "0",
                                "a.o",    NULL};
    run(link);
    expect_same_section("latput_code", &arena);
    expect_same_section("latput_table", &arena);
    arena_free(&arena);
}

static void test_same_64(void **state)
{
    (void)state;
    compare(64, wide);
}

static void test_same_32(void **state)
{
    (void)state;
    compare(32, narrow);
}

static void test_refused(void **state)
{
    (void)state;
    static const char undefined[] = "undefined reference to `nowhere'";
    static const char short_16[] =
        "relocation truncated to fit: R_X86_64_16 against `latput_absolute'";
    static const char short_32[] =
        "relocation truncated to fit: R_X86_64_32S against `latput_absolute'";
    static const char far[] = "k0_body: nop\nk1_init: mov eax, [abs latput_absolute+0x70000000]\n";
    // clang-format off
    static const struct {
        const char *text, *label, *detail;
    } cases[] = {
        {"nop\nk0_body: nop\n", NULL, NULL},
        {"extern nowhere\nk0_body: call nowhere\n", "k0_body", undefined},
        {"k0_body: dw latput_absolute\n", "k0_body", short_16},
        {far, "k1_init", short_32},
    };
    // clang-format on
    if (access(load_core(64), R_OK) != 0)
        skip();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena arena = {0};
        struct link_faults faults;
        assemble(cases[i].text, 64, &arena);
        assert_int_equal(link_it(64, &arena, &faults), cases[i].detail != NULL);
        assert_int_equal(faults.n, cases[i].detail != NULL);
        if (cases[i].detail) {
            assert_string_equal(faults.items[0].label, cases[i].label);
            assert_string_equal(faults.items[0].detail, cases[i].detail);
        }
        arena_free(&arena);
    }
}

// Bytes that a text puts before the table would be read as kernels.
static void test_table_moved(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct link_faults faults;
    struct err err = {0};
    if (access(load_core(64), R_OK) != 0)
        skip();
    assemble("k0_body: nop\nsection " GEN_TABLE " progbits alloc noexec nowrite\ndd 7, 7, 7, 7\n"
             "section .text\n",
             64, &arena);
    assert_int_equal(link_write(load_core(64), path(&arena, "a.o"), path(&arena, "program"), &arena,
                                &faults, &err),
                     -1);
    assert_non_null(strstr(err.text, "a section of latput's own"));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_64),
        cmocka_unit_test(test_same_32),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_table_moved),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
