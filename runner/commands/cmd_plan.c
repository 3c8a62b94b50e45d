// SPDX-License-Identifier: MIT
// latput plan: the tests that rows lead to, as a table. What `latput run` would measure.
#include "command.h"
#include "plan_select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct command cmd_plan;

enum { OPTION_WIDTH, OPTION_TESTS, OPTION_DB };
static const struct command_option plan_options[] = {
    {'w',      "issue-width", "N",
     "µops a cycle that the fillers assume; default: what was measured on this CPU"},
    {'t',     "tests", "LTP", "which tests: L latency, T throughput; all if not given"},
    {0,        "db", "FILE", "the database that knows the measured width"},
    {0},
};

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

static int plan_option(void *context, int option, const char *argument)
{
    struct plan_select *args = context;
    int got = 0;
    if (option == OPTION_DB)
        args->db = argument;
    else if (option == OPTION_WIDTH)
        got = plan_select_parse_width(&cmd_plan, argument, &args->params);
    else
        got = plan_select_parse_tests(&cmd_plan, argument, &args->params.tests);
    return got == 0 ? EXIT_DONE : EXIT_USAGE;
}

static int plan_run(int argc, char **argv)
{
    struct plan_select args = {.params = {.tests = TESTS_ALL}, .visit = plan_print};
    int operand = argc;
    int status = command_each_option(&cmd_plan, argc, argv, plan_option, &args, &operand);
    if (status != EXIT_DONE)
        return status;
    if (operand >= argc)
        return command_fail(&cmd_plan, EXIT_USAGE,
                            "which rows? name a form (\"add r64*\"), a list (sse_fp) or a line of "
                            "one (sse_fp:12)");
    status = plan_select_find_width(&cmd_plan, &args);
    if (status != EXIT_DONE)
        return status;
    struct err err = {0};
    if (plan_select_walk(argv + operand, argc - operand, &args, &err) != 0)
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
        "instances and instructions, as in n8(8/16). What a bridge takes is subtracted and stands "
        "at the end. FORM is a glob that is matched against mnemonic, or mnemonic and operands, in "
        "all lists.",
    .options = plan_options,
    .run = plan_run,
};
