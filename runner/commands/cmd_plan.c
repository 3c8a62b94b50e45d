// SPDX-License-Identifier: MIT
// latput plan: prints the tests of rows as a table, which `latput run` would measure.
#include "cli/command.h"
#include "cli/plan_select.h"

#include <stdio.h>
#include <stdlib.h>

extern const struct command cmd_plan;

struct arguments {
    struct plan_select select;
};

// clang-format off
static const struct command_option options[] = {
    {COMMON_WIDTH(select.params.issue_width)},
    {'t', "tests", "LTP", "which tests: L latency, T throughput; all if not given",
        OPTION_TESTS(select.params.tests)},
    {COMMON_WIDTH_DB(select.db)},
    {0},
};
// clang-format on

static void plan_print_test(const struct test *test)
{
    char pair[64] = "";
    if (test->kind == TEST_LATENCY)
        snprintf(pair, sizeof pair, "%s -> %s", test->src, test->dst);
    printf("  %-11s %-22s %-5s ", test_kind_name(test->kind), pair, test->variant);
    if (test->outcome != OUTCOME_OK) {
        printf("%s: %s\n", outcome_name(test->outcome), test->detail);
        return;
    }
    printf("%-6s", bound_name(test->bound));
    for (int i = 0; i < test->nkernels; i++) {
        const struct kernel_spec *spec = &test->kernels[i];
        printf(" %s(%d/%d)", spec->shape, spec->instances, spec->instrs);
    }
    if (test->nkernels && test->kernels[0].extra_clk > 0)
        printf(" -%g clk", test->kernels[0].extra_clk);
    putchar('\n');
}

static int plan_print(const struct list_row *row, const struct plan *plan, void *data)
{
    (void)data;
    printf("%s  (%s, %s)\n", row->form, encoding_name(row->enc), row->isa);
    for (int i = 0; i < plan->ntests; i++)
        plan_print_test(&plan->tests[i]);
    return 0;
}

static int plan_run(int argc, char **argv)
{
    struct arguments args = {
        .select = {.params = {.tests = TESTS_ALL}, .visit = plan_print}
    };
    int operand = argc;
    int status = command_read_options(&cmd_plan, argc, argv, &args, &operand);
    if (status != EXIT_DONE)
        return status;
    if (operand >= argc)
        return command_fail(&cmd_plan, EXIT_USAGE,
                            "which rows? name a form (\"add r64*\"), a list (sse_fp) or a line of "
                            "one (sse_fp:12)");
    status = plan_select_find_width(&cmd_plan, &args.select);
    if (status != EXIT_DONE)
        return status;
    struct err err = {0};
    if (plan_select_walk(argv + operand, argc - operand, &args.select, &err) != 0)
        return command_fail(&cmd_plan, EXIT_USAGE, "%s", err.text);
    return EXIT_DONE;
}

const struct command cmd_plan = {
    .name = "plan",
    .arguments = "FORM|LIST[:LINE]...",
    .summary = "show the tests that a row of a list leads to",
    .description =
        "Prints for each row its tests: the latency pairs (source -> result) with the bound that "
        "the chain can give, and the throughput; then the kernels of each test with their "
        "instances and instructions, as in n8(8/16). The latency of a bridge is subtracted and "
        "stands at the end. FORM is a glob that is matched against mnemonic, or mnemonic and "
        "operands, in all lists.",
    .options = options,
    .run = plan_run,
};
