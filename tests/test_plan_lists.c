// SPDX-License-Identifier: MIT
// Every row of lists/*.csv: it must get a plan, each kernel must hold what its facts say, and NASM
// must accept each body. Slow parts of the lists are not left out: a row that does not assemble
// would be found only on the machine that measures it.
#include "build.h"
#include "plan.h"
#include "select.h"
#include "util/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/latput-test-lists-XXXXXX";

struct batch {
    struct gen_kernel *kernels;
    size_t n, capacity;
};

static void batch_add_plan(struct batch *batch, const struct plan *plan)
{
    for (int t = 0; t < plan->ntests; t++)
        for (int k = 0; k < plan->tests[t].nkernels; k++) {
            batch->kernels =
                xgrow(batch->kernels, &batch->capacity, batch->n + 1, sizeof *batch->kernels);
            batch->kernels[batch->n++] = (struct gen_kernel){
                .row = plan->row, .test = &plan->tests[t], .spec = &plan->tests[t].kernels[k]};
        }
}

// instrs of a spec must be the number of its instructions: lines, `times N` and labels considered.
static int count_instrs(const char *body)
{
    int n = 0;
    for (const char *at = body; *at;) {
        size_t len = strcspn(at, "\n");
        int times;
        if (sscanf(at, "times %d ", &times) == 1)
            n += times;
        else
            n += len > 0 && at[len - 1] != ':';
        at += len + (at[len] == '\n');
    }
    return n;
}

static int check_plan(const struct plan *plan)
{
    int faults = 0;
    for (int t = 0; t < plan->ntests; t++)
        for (int k = 0; k < plan->tests[t].nkernels; k++) {
            const struct kernel_spec *spec = &plan->tests[t].kernels[k];
            bool names_loop_register = strstr(spec->body, "r15") != NULL ||
                                       (plan->row->bits == 32 && strstr(spec->body, "r14") != NULL);
            bool unknown_register = strchr(spec->body, '?') || strstr(spec->body, "null");
            // A macro's contract says how many instructions there are.
            bool counted =
                list_row_option(plan->row, "macro") || count_instrs(spec->body) == spec->instrs;
            if (counted && spec->instances > 0 && !names_loop_register && !unknown_register)
                continue;
            faults++;
            print_error("%s: %s %s: bad kernel:\n%s", plan->row->form,
                        test_kind_name(plan->tests[t].kind), spec->shape, spec->body);
        }
    return faults;
}

// Assembles and links what the rows of one mode plan.
static int check_list_mode(const struct list *list, int bits, struct arena *arena)
{
    const struct plan_params params = {.issue_width = 8, .tests = TESTS_ALL};
    struct batch batch = {0};
    struct err err = {""};
    int faults = 0;
    for (int i = 0; i < list->nrows; i++) {
        if (list->rows[i].bits != bits)
            continue;
        struct plan *plan = arena_alloc(arena, sizeof *plan);
        if (plan_row(&list->rows[i], &params, arena, plan, &err) != 0)
            fail_msg("%s", err.text);
        if (plan->ntests == 0 && list->rows[i].tests)
            fail_msg("%s:%d: no tests", list->path, list->rows[i].line);
        faults += check_plan(plan);
        batch_add_plan(&batch, plan);
    }
    if (batch.n == 0)
        return faults;
    struct build_options options = {
        .directory = directory, .stem = "batch", .bits = bits, .exclude_cpu = -1};
    struct program program;
    if (build_program(batch.kernels, (int)batch.n, &options, arena, &program, &err) != 0)
        fail_msg("%s: %s", list->path, err.text);
    for (int i = 0; i < program.nfailures; i++) {
        const struct gen_kernel *kernel = &batch.kernels[program.failures[i].kernel];
        print_error("%s:%d: %s: %s\n%s", list->path, kernel->row->line, kernel->row->form,
                    program.failures[i].detail, kernel->spec->body);
    }
    if (program.path)
        unlink(program.path);
    free(batch.kernels);
    return faults + program.nfailures;
}

static int check_list(const struct list *list, struct arena *arena)
{
    int faults = check_list_mode(list, 64, arena);
    if (access(path_library("core32.o"), R_OK) == 0)
        faults += check_list_mode(list, 32, arena);
    return faults;
}

static void test_all_lists(void **state)
{
    (void)state;
    struct selection selection;
    struct err err = {""};
    if (select_rows(NULL, 0, NULL, &selection, &err) != 0)
        fail_msg("%s", err.text);
    int faults = 0;
    for (int i = 0; i < selection.nlists; i++) {
        struct arena arena = {0};
        faults += check_list(&selection.lists[i], &arena);
        arena_free(&arena);
    }
    selection_free(&selection);
    assert_int_equal(faults, 0);
}

static int setup(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    return rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_lists)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
