// SPDX-License-Identifier: MIT
// latput asm: the NASM text of the kernels of rows, to read or to try by hand.
#include "command.h"
#include "option_place.h"
#include "plan_select.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct command cmd_asm;

enum { OPTION_TEST, OPTION_SHAPE, OPTION_WIDTH, OPTION_DB };
// clang-format off
static const struct command_option asm_options[] = {
    {'t', "test", "GLOB",
     "only tests whose name matches: \"latency op2->op1\", \"throughput\", \"*slow\""},
    {'s', "shape", "GLOB", "only kernels of this shape: dense, filled, n8, \"*+break\""},
    {'w', "issue-width", "N",
     "µops a cycle that the fillers assume; default: what was measured on this CPU"},
    {0, "db", "FILE", "the database that knows the measured width"},
    {0, NULL, NULL, NULL},
};
// clang-format on

struct asm_request {
    const char *test, *shape;
    int printed;
};

static void asm_print_lines(const char *text)
{
    for (const char *at = text; *at;) {
        size_t len = strcspn(at, "\n");
        printf("    %.*s\n", (int)len, at);
        at += len + (at[len] == '\n');
    }
}

static void asm_print_kernel(const struct list_row *row, const char *name,
                             const struct kernel_spec *spec)
{
    printf("; %s: %s, %s\n", row->form, name, spec->shape);
    printf("; %d instances, %d instructions", spec->instances, spec->instrs);
    if (spec->extra_clk > 0)
        printf(", %g cycles of bridges are subtracted from each", spec->extra_clk);
    printf("\n; registers 0x%" PRIx64 ", masks 0x%" PRIx64 ", memory 0x%" PRIx64, spec->gpr_fill,
           spec->mask_fill, spec->mem_fill);
    if (spec->vec_bits)
        printf(", vectors 0x%" PRIx64 " (%d bits)", spec->vec_fill, spec->vec_bits);
    printf("\n.init:\n");
    asm_print_lines(spec->init);
    printf(".body:\n");
    asm_print_lines(spec->body);
    printf("\n");
}

static int asm_print(const struct list_row *row, const struct plan *plan, void *data)
{
    struct asm_request *request = data;
    for (int t = 0; t < plan->ntests; t++) {
        const struct test *test = &plan->tests[t];
        char name[160];
        snprintf(name, sizeof name, "%s%s%s%s%s%s%s", test_kind_name(test->kind),
                 *test->src ? " " : "", test->src, *test->src ? "->" : "", test->dst,
                 *test->variant ? " " : "", test->variant);
        if (request->test && fnmatch(request->test, name, 0) != 0)
            continue;
        if (test->outcome != OUTCOME_OK && !request->shape) {
            printf("; %s: %s: %s: %s\n\n", row->form, name, outcome_name(test->outcome),
                   test->detail);
            request->printed++;
        }
        for (int k = 0; k < test->nkernels; k++) {
            if (request->shape && fnmatch(request->shape, test->kernels[k].shape, 0) != 0)
                continue;
            asm_print_kernel(row, name, &test->kernels[k]);
            request->printed++;
        }
    }
    return 0;
}

static int asm_option(void *context, int option, const char *argument)
{
    struct plan_select *args = context;
    struct asm_request *request = args->data;
    const struct option_place places[] = {
        [OPTION_TEST] = place_text(&request->test),
        [OPTION_SHAPE] = place_text(&request->shape),
        [OPTION_DB] = place_text(&args->db),
    };
    if (option == OPTION_WIDTH)
        return plan_select_parse_width(&cmd_asm, argument, &args->params) == 0 ? EXIT_DONE
                                                                               : EXIT_USAGE;
    return option_put(&cmd_asm, places, ARRAY_LEN(places), option, argument);
}

static int asm_run(int argc, char **argv)
{
    struct asm_request request = {0};
    struct plan_select args = {
        .params = {.tests = TESTS_ALL}, .visit = asm_print, .data = &request};
    int operand = argc;
    int status = command_each_option(&cmd_asm, argc, argv, asm_option, &args, &operand);
    if (status != EXIT_DONE)
        return status;
    if (operand >= argc)
        return command_fail(&cmd_asm, EXIT_USAGE,
                            "which rows? name a form (\"add r64 r64\"), a "
                            "list (sse_fp) or a line of one (sse_fp:12)");
    status = plan_select_find_width(&cmd_asm, &args);
    if (status != EXIT_DONE)
        return status;
    struct err err = {0};
    if (plan_select_walk(argv + operand, argc - operand, &args, &err) != 0)
        return command_fail(&cmd_asm, EXIT_USAGE, "%s", err.text);
    if (!request.printed)
        return command_fail(&cmd_asm, EXIT_USAGE,
                            "no kernel matches; `latput plan` lists the tests and shapes");
    return EXIT_DONE;
}

const struct command cmd_asm = {
    .name = "asm",
    .arguments = "FORM|LIST[:LINE]...",
    .summary = "show the NASM text of the tests of a row",
    .description =
        "Prints for each kernel its init, which runs once before the clock starts, and its body, "
        "which the core copies into a loop. r14 is the start of the data area (ebp with bits=32), "
        "r15 the loop counter; what registers and memory hold at the start stands in the comment.",
    .options = asm_options,
    .run = asm_run,
};
