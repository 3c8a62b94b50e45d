// SPDX-License-Identifier: MIT
// Every row of lists/*.csv: it must get a plan, each kernel must hold what its facts say, and NASM
// must accept each body. Slow parts of the lists are not left out: a row that does not assemble
// would otherwise be found only on the machine that measures it.
#include "assemble/assemble.h"
#include "fixtures/lists_fixture.h"
#include "plan/plan.h"
#include "plan/render.h"
#include "util/paths.h"

#include <stdint.h>
#include <unistd.h>

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

// Returns how many values a line adds to the x87 stack.
static int x87_moves(const char *line)
{
    char name[16] = "";
    sscanf(line, "%15[a-z0-9]", name);
    size_t len = strlen(name);
    static const char *const pushes[] = {"fptan", "fsincos", "fxtract"};
    static const char *const pops[] = {"fpatan", "fyl2x", "fyl2xp1"};
    static const char *const none[] = {"fincstp", "fdecstp", "fnop", "fldcw", "fldenv"};
    for (size_t i = 0; i < ARRAY_LEN(none); i++)
        if (strcmp(name, none[i]) == 0)
            return 0;
    for (size_t i = 0; i < ARRAY_LEN(pushes); i++) {
        if (strcmp(name, pushes[i]) == 0)
            return 1;
        if (strcmp(name, pops[i]) == 0)
            return -1;
    }
    if (strncmp(name, "fld", 3) == 0 || strcmp(name, "fild") == 0 || strcmp(name, "fbld") == 0)
        return 1;
    return name[0] != 'f' || name[len - 1] != 'p' ? 0 : name[len - 2] == 'p' ? -2 : -1;
}

// Runs the text as far as the depth of the x87 stack is concerned. false: an empty register is
// named, or the stack overflows.
static bool x87_follow(const char *text, int *depth)
{
    for (const char *at = text; *at;) {
        size_t len = strcspn(at, "\n");
        char line[128];
        snprintf(line, sizeof line, "%.*s", (int)len, at);
        for (const char *st = strstr(line, " st"); st; st = strstr(st + 1, " st"))
            if (st[3] >= '0' && st[3] <= '9' && st[3] - '0' >= *depth)
                return false;
        *depth = strcmp(line, "fninit") == 0 ? 0 : *depth + x87_moves(line);
        if (*depth < 0 || *depth > 8)
            return false;
        at += len + (at[len] == '\n');
    }
    return true;
}

static bool x87_is_balanced(const struct kernel_spec *spec)
{
    int start = 0;
    if (!x87_follow(spec->init, &start))
        return false;
    int depth = start;
    return x87_follow(spec->body, &depth) && depth == start;
}

// Returns the register of the row that a latency's source is a part of; -1: none.
static int source_register(const struct list_row *row, const char *name)
{
    for (int i = 0; i < row->nops + row->nimplicit; i++) {
        const struct operand *op = i < row->nops ? &row->ops[i] : &row->implicit[i - row->nops];
        if (op->kind == OPERAND_GPR && op->fixed >= 0 && strcmp(op->name, name) == 0)
            return op->fixed;
    }
    return -1;
}

// Returns true if a line writes the register, by any of its names, or the row does so unnamed.
static bool writes_register(const struct list_row *row, const char *body, int reg)
{
    for (int i = 0; i < row->nimplicit; i++)
        if (row->implicit[i].kind == OPERAND_GPR && row->implicit[i].fixed == reg &&
            row->implicit[i].access & ACCESS_WRITE)
            return true;
    static const int widths[] = {8, 16, 32, 64};
    for (size_t i = 0; i < ARRAY_LEN(widths); i++) {
        char written[24];
        snprintf(written, sizeof written, " %s", render_gpr(reg, widths[i], false));
        size_t len = strlen(written);
        for (const char *at = strstr(body, written); at; at = strstr(at + len, written))
            if (at > body && at[-1] != ',' && (at[len] == ',' || at[len] == '\n'))
                return true;
    }
    return false;
}

// Returns true if the body gives the chain's register a constant: moves it from one that no line
// writes. Values that a chain needs are restored by instructions that keep the dependency.
static bool cuts_its_chain(const struct plan *plan, const struct test *test, const char *body)
{
    int bits = plan->row->bits, chain = source_register(plan->row, test->src);
    if (test->kind != TEST_LATENCY || chain < 0 || plan->row->macro.file)
        return false;
    for (int reg = 0; reg < (bits == 64 ? 16 : 8); reg++) {
        char line[40], last[24];
        snprintf(last, sizeof last, ", %s\n", render_gpr(reg, bits, false));
        snprintf(line, sizeof line, "mov %s%s", render_gpr(chain, bits, false), last);
        if (reg != chain && strstr(body, line) && !writes_register(plan->row, body, reg))
            return true;
    }
    return false;
}

// Kernels of latency and throughput: all, and those of other immediates.
static long kernels_all, kernels_immediate;

// Returns true if a test with another immediate has one kernel, of a shape that the usual value
// has, too.
static bool is_comparable(const struct plan *plan, const struct test *test)
{
    for (int t = 0; t < plan->ntests && test->nkernels == 1; t++) {
        const struct test *usual = &plan->tests[t];
        if (usual->kind != test->kind || strcmp(usual->src, test->src) != 0 ||
            strcmp(usual->dst, test->dst) != 0 || *usual->variant)
            continue;
        for (int k = 0; k < usual->nkernels; k++)
            if (strcmp(usual->kernels[k].shape, test->kernels[0].shape) == 0 &&
                usual->kernels[k].instrs == test->kernels[0].instrs)
                return true;
    }
    return false;
}

static int check_immediates(const struct plan *plan)
{
    int faults = 0;
    for (int t = 0; t < plan->ntests; t++) {
        const struct test *test = &plan->tests[t];
        kernels_all += test->nkernels;
        if (!plan_is_immediate(test->variant))
            continue;
        kernels_immediate += test->nkernels;
        if (is_comparable(plan, test))
            continue;
        faults++;
        print_error("%s: %s %s is beside nothing\n", plan->row->form, test_kind_name(test->kind),
                    test->variant);
    }
    return faults;
}

static int check_plan(const struct plan *plan)
{
    int faults = check_immediates(plan);
    for (int t = 0; t < plan->ntests; t++)
        for (int k = 0; k < plan->tests[t].nkernels; k++) {
            const struct kernel_spec *spec = &plan->tests[t].kernels[k];
            bool names_loop_register = strstr(spec->body, "r15") != NULL ||
                                       (plan->row->bits == 32 && strstr(spec->body, "r14") != NULL);
            bool unknown_register = strchr(spec->body, '?') || strstr(spec->body, "null");
            // A macro's contract says how many instructions there are.
            bool counted = plan->row->macro.file || body_instrs(spec->body) == spec->instrs;
            bool balanced = plan->row->macro.file || x87_is_balanced(spec);
            bool cut = cuts_its_chain(plan, &plan->tests[t], spec->body);
            if (counted && balanced && spec->instances > 0 && !names_loop_register &&
                !unknown_register && !cut)
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
    struct err err = {0};
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
    if (batch.n == 0) {
        assert_true(list->nrows > 0 && list->rows[0].bits != bits); // it is of the other mode
        return faults;
    }
    // Each line once, as `latput run` has it: most stand in many kernels.
    struct assemble_options options = {
        .directory = directory, .stem = "batch", .bits = bits, .compose = true};
    struct program program;
    if (assemble_program(batch.kernels, (int)batch.n, &options, arena, &program, &err) != 0)
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
    struct err err = {0};
    if (select_rows(NULL, 0, NULL, &selection, &err) != 0)
        fail_msg("%s", err.text);
    int faults = 0;
    assert_true(selection.nlists > 10);
    for (int i = 0; i < selection.nlists; i++) {
        struct arena arena = {0};
        faults += check_list(&selection.lists[i], &arena);
        arena_free(&arena);
    }
    selection_free(&selection);
    assert_int_equal(faults, 0);
    // Other immediates are asked, and cost little.
    assert_true(kernels_immediate > 1000);
    assert_true(kernels_immediate * 100 < kernels_all * 6);
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
