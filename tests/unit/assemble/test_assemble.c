// SPDX-License-Identifier: MIT
// Building a batch: kernels that NASM or the linker refuses are reported one by one, and the rest
// is built all the same. The core is replaced by a few lines that print the ids of the table.
#include "assemble/assemble.h"
#include "util/confine.h"
#include "util/paths.h"
#include "util/subproc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/latput-test-build-XXXXXX";
static const struct list_row build_row = {.form = "form"};
static const struct test build_test = {.kind = TEST_THROUGHPUT};

static int setup(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    static const char *const names[] = {"batch", "batch.asm", "batch.o"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        unlink(path);
    }
    return rmdir(directory);
}

struct batch {
    struct kernel_spec specs[8];
    struct gen_kernel kernels[8];
    int n;
    struct arena arena;
    struct program program;
    struct err err;
};

static void batch_add(struct batch *batch, const char *body)
{
    int i = batch->n++;
    batch->specs[i] =
        (struct kernel_spec){.shape = "n1", .body = body, .init = "", .instances = 1, .instrs = 1};
    batch->kernels[i] =
        (struct gen_kernel){.row = &build_row, .test = &build_test, .spec = &batch->specs[i]};
}

static bool batch_composes;

static int batch_build(struct batch *batch)
{
    struct assemble_options options = {
        .directory = directory, .stem = "batch", .compose = batch_composes};
    return assemble_program(batch->kernels, batch->n, &options, &batch->arena, &batch->program,
                            &batch->err);
}

static const struct assemble_failure *batch_failure(const struct batch *batch, int kernel)
{
    for (int i = 0; i < batch->program.nfailures; i++)
        if (batch->program.failures[i].kernel == kernel)
            return &batch->program.failures[i];
    return NULL;
}

static void expect_failure(const struct batch *batch, int kernel, enum outcome outcome,
                           const char *part)
{
    const struct assemble_failure *failure = batch_failure(batch, kernel);
    assert_non_null(failure);
    assert_int_equal(failure->outcome, outcome);
    if (!strstr(failure->detail, part))
        fail_msg("\"%s\" does not contain \"%s\"", failure->detail, part);
    assert_true(batch->kernels[kernel].left_out);
}

static void test_refused_kernels_are_left_out(void **state)
{
    (void)state;
    if (access(path_library("linked64"), R_OK) != 0)
        skip();
    struct batch batch = {.n = 0};
    batch_add(&batch, "add rax, rbx\n");
    batch_add(&batch, "frobnicate\n");             // a label to NASM, not an instruction
    batch_add(&batch, "vaddps xmm1, xmm2, rax\n"); // no such form
    batch_add(&batch, "mov rax, [r14+nowhere]\n"); // undefined symbol: found in a later pass
    batch_add(&batch, "jz .l0\n.l0:\n");           // fine, and the same local label again:
    batch_add(&batch, "jz .l0\n.l0:\n");
    batch_add(&batch, "lock nop\n"); // NASM only warns
    if (batch_build(&batch) != 0)
        fail_msg("%s", batch.err.text);
    assert_int_equal(batch.program.nfailures, 4);
    expect_failure(&batch, 1, OUTCOME_ASM_FAILED, "label alone on a line");
    expect_failure(&batch, 2, OUTCOME_ASM_FAILED, "invalid combination of opcode and operands");
    expect_failure(&batch, 3, OUTCOME_ASM_FAILED, "nowhere");
    expect_failure(&batch, 6, OUTCOME_ASM_FAILED, "not lockable");
    assert_non_null(batch.program.path);
    assert_int_equal(access(batch.program.path, X_OK), 0);
    arena_free(&batch.arena);
}

static void test_unresolved_symbol_costs_one_kernel(void **state)
{
    (void)state;
    if (access(path_library("linked64"), R_OK) != 0)
        skip();
    struct batch batch = {.n = 0};
    batch_add(&batch, "nop\n");
    batch_add(&batch, "extern latput_missing_a\ncall latput_missing_a\n");
    batch_add(&batch, "nop\n");
    batch_add(&batch, "extern latput_missing_b\nmov rax, [latput_missing_b]\n");
    if (batch_build(&batch) != 0)
        fail_msg("%s", batch.err.text);
    assert_int_equal(batch.program.nfailures, 2);
    expect_failure(&batch, 1, OUTCOME_LINK_FAILED, "latput_missing_a");
    expect_failure(&batch, 3, OUTCOME_LINK_FAILED, "latput_missing_b");
    assert_non_null(batch.program.path);
    arena_free(&batch.arena);
}

// Kernels want an assembler and a linker, and no compiler nor its libraries.
static void test_no_compiler(void **state)
{
    (void)state;
    if (access(path_library("linked64"), R_OK) != 0)
        skip();
    char bin[64], *old = strdup(getenv("PATH"));
    snprintf(bin, sizeof bin, "%s/only", directory);
    assert_int_equal(mkdir(bin, 0700), 0);
    static const char *const tools[] = {"nasm", "ld"};
    for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
        char command[256];
        snprintf(command, sizeof command, "ln -s \"$(command -v %s)\" %s/", tools[i], bin);
        assert_int_equal(system(command), 0);
    }
    setenv("PATH", bin, 1);
    struct batch batch = {.n = 0};
    batch_add(&batch, "nop\n");
    int status = batch_build(&batch);
    setenv("PATH", old, 1);
    free(old);
    if (status != 0)
        fail_msg("%s", batch.err.text);
    assert_int_equal(batch.program.nfailures, 0);
    assert_int_equal(access(batch.program.path, X_OK), 0);
    for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
        char path[96];
        snprintf(path, sizeof path, "%s/%s", bin, tools[i]);
        unlink(path);
    }
    rmdir(bin);
    arena_free(&batch.arena);
}

// The user's environment does not reach NASM and the linker: neither an option in NASMENV, nor a
// language in which no message could be traced back to a kernel.
static void test_environment_has_no_say(void **state)
{
    (void)state;
    if (access(path_library("linked64"), R_OK) != 0)
        skip();
    char shims[64], path[80];
    snprintf(shims, sizeof shims, "%s/bin", directory);
    snprintf(path, sizeof path, "%s/ld", shims);
    assert_int_equal(mkdir(shims, 0700), 0);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("#!/bin/sh\nPATH=${PATH#*:}\n[ \"$LC_ALL\" = C ] && exec ld \"$@\"\n"
          "ld \"$@\" 2>&1 | sed 's/in function/in der Funktion/' >&2\nexit 1\n",
          file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0700), 0);
    char *old = strdup(getenv("PATH")), paths[4096];
    snprintf(paths, sizeof paths, "%s:%s", shims, old);
    setenv("PATH", paths, 1);
    setenv("NASMENV", "-dnop=frobnicate -g", 1);
    struct batch batch = {.n = 0};
    batch_add(&batch, "nop\n");
    batch_add(&batch, "extern latput_missing_a\ncall latput_missing_a\n");
    int status = batch_build(&batch);
    setenv("PATH", old, 1);
    unsetenv("NASMENV");
    free(old);
    unlink(path);
    rmdir(shims);
    if (status != 0)
        fail_msg("%s", batch.err.text);
    assert_int_equal(batch.program.nfailures, 1);
    expect_failure(&batch, 1, OUTCOME_LINK_FAILED, "latput_missing_a");
    arena_free(&batch.arena);
}

// Even a body that asks for it gets no file but those of the macros: that lists cannot ask is seen
// to elsewhere.
static void test_files_of_the_machine_are_out_of_reach(void **state)
{
    (void)state;
    const char *const nothing[] = {NULL};
    int rules = confine_open(nothing, directory);
    if (access(path_library("linked64"), R_OK) != 0 || rules < 0)
        skip();
    close(rules);
    struct batch batch = {.n = 0};
    batch_add(&batch, "nop\n");
    batch_add(&batch, "incbin \"/etc/passwd\"\n");
    batch_add(&batch, "%include \"/etc/passwd\"\n");
    batch_add(&batch, "%include \"amx.inc\"\namx_release nop, 1, 1\n");
    if (batch_build(&batch) != 0)
        fail_msg("%s", batch.err.text);
    assert_int_equal(batch.program.nfailures, 2);
    expect_failure(&batch, 1, OUTCOME_ASM_FAILED, "unable to open file `/etc/passwd'");
    expect_failure(&batch, 2, OUTCOME_ASM_FAILED, "unable to open include file `/etc/passwd'");
    arena_free(&batch.arena);
}

// A body that changes the state of the assembler does so for itself.
static void test_state_of_the_assembler_is_reset(void **state)
{
    (void)state;
    static const char *const bodies[] = {"bits 32\n", "default rel\n", "cpu 386\n", "use16\n"};
    if (access(path_library("linked64"), R_OK) != 0)
        skip();
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        struct batch batch = {.n = 0};
        batch_add(&batch, "mov rax, [0x1234]\n");
        batch_add(&batch, bodies[i]);
        batch_add(&batch, "mov rax, [0x1234]\nvaddps zmm0, zmm1, zmm2\n");
        if (batch_build(&batch) != 0)
            fail_msg("%s: %s", bodies[i], batch.err.text);
        if (batch.program.nfailures != 0)
            fail_msg("%s: %s", bodies[i], batch.program.failures[0].detail);
        arena_free(&batch.arena);
    }
}

static void test_nothing_left(void **state)
{
    (void)state;
    struct batch batch = {.n = 0};
    batch_add(&batch, "frobnicate\n");
    if (batch_build(&batch) != 0)
        fail_msg("%s", batch.err.text);
    assert_null(batch.program.path);
    expect_failure(&batch, 0, OUTCOME_ASM_FAILED, "label alone");
    arena_free(&batch.arena);
}

static void test_directory_missing(void **state)
{
    (void)state;
    struct batch batch = {.n = 0};
    batch_add(&batch, "nop\n");
    struct assemble_options options = {.directory = "/nonexistent/latput", .stem = "batch"};
    assert_int_equal(assemble_program(batch.kernels, batch.n, &options, &batch.arena,
                                      &batch.program, &batch.err),
                     -1);
    assert_non_null(strstr(batch.err.text, "/nonexistent/latput/batch.asm"));
    arena_free(&batch.arena);
}

static void test_nasm_missing(void **state)
{
    (void)state;
    char *path = xstrdup(getenv("PATH"));
    setenv("PATH", directory, 1);
    char text[128];
    struct err err = {0};
    int status = assemble_nasm_version(text, sizeof text, &err);
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(status, -1);
    assert_non_null(strstr(err.text, "nasm"));
    assert_non_null(strstr(err.text, "install-deps.sh"));
}

static void test_nasm_version(void **state)
{
    (void)state;
    char text[128];
    struct err err = {0};
    assert_int_equal(assemble_nasm_version(text, sizeof text, &err), 0);
    assert_int_equal(strncmp(text, "NASM version 2.", 15), 0);
}

static void test_nasm_too_old(void **state)
{
    (void)state;
    char script[256], old_path[4096];
    snprintf(script, sizeof script, "%s/nasm", directory);
    FILE *file = fopen(script, "w");
    assert_non_null(file);
    fputs("#!/bin/sh\necho NASM version 2.13.02 compiled on Jan 1 2018\n", file);
    fclose(file);
    char chmod_path[256];
    snprintf(chmod_path, sizeof chmod_path, "%s", script);
    const char *const argv[] = {"chmod", "755", chmod_path, NULL};
    struct subproc_result result;
    struct err err = {0};
    assert_int_equal(subproc_run(argv, NULL, &result, &err), 0);
    subproc_result_free(&result);
    snprintf(old_path, sizeof old_path, "%s", getenv("PATH"));
    setenv("PATH", directory, 1);
    char text[128];
    int status = assemble_nasm_version(text, sizeof text, &err);
    setenv("PATH", old_path, 1);
    unlink(script);
    assert_int_equal(status, -1);
    assert_non_null(strstr(err.text, "too old"));
}

static void test_code_brings_nothing_that_runs_early(void **state)
{
    (void)state;
    if (access(path_library("linked64"), R_OK) != 0)
        skip();
    static const struct {
        const char *body, *message;
    } cases[] = {
        {"section .init_array\ndq 0\nsection .text\nnop\n", "a section '.init_array'"  },
        {"global write\nwrite: nop\n",                      "the global symbol 'write'"},
        {"section .data\ndq 0\nsection .text\nnop\n",       "a section '.data'"        },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct batch batch = {.n = 0};
        batch_add(&batch, cases[i].body);
        assert_int_equal(batch_build(&batch), -1);
        if (!strstr(batch.err.text, cases[i].message))
            fail_msg("\"%s\" does not contain \"%s\"", batch.err.text, cases[i].message);
        arena_free(&batch.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code_brings_nothing_that_runs_early),
        cmocka_unit_test(test_refused_kernels_are_left_out),
        cmocka_unit_test(test_unresolved_symbol_costs_one_kernel),
        cmocka_unit_test(test_no_compiler),
        cmocka_unit_test(test_environment_has_no_say),
        cmocka_unit_test(test_files_of_the_machine_are_out_of_reach),
        cmocka_unit_test(test_state_of_the_assembler_is_reset),
        cmocka_unit_test(test_nothing_left),
        cmocka_unit_test(test_directory_missing),
        cmocka_unit_test(test_nasm_missing),
        cmocka_unit_test(test_nasm_version),
        cmocka_unit_test(test_nasm_too_old),
    };
    // The same of kernels that are composed where they can be.
    int status = cmocka_run_group_tests_name("whole", tests, setup, NULL);
    batch_composes = true;
    return cmocka_run_group_tests_name("composed", tests, NULL, teardown) + status;
}
