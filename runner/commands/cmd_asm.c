// SPDX-License-Identifier: MIT
// latput asm: prints the NASM text of the kernels of rows, to read or to try by hand.
#include "cli/command.h"
#include "cli/plan_select.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct command cmd_asm;

struct arguments {
    struct plan_select select;
    const char *test, *shape;
    int printed;
};

// clang-format off
static const struct command_option options[] = {
    {'t', "test", "GLOB",
        "only tests whose name matches: \"latency op2->op1\", \"throughput\", \"*slow\"",
        OPTION_TEXT(test)},
    {'s', "shape", "GLOB", "only kernels of this shape: dense, filled, n8, \"*+break\"",
        OPTION_TEXT(shape)},
    {COMMON_WIDTH(select.params.issue_width)},
    {COMMON_WIDTH_DB(select.db)},
    {0},
};
// clang-format on

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
    struct arguments *args = data;
    for (int t = 0; t < plan->ntests; t++) {
        const struct test *test = &plan->tests[t];
        char name[160];
        snprintf(name, sizeof name, "%s%s%s%s%s%s%s", test_kind_name(test->kind),
                 *test->src ? " " : "", test->src, *test->src ? "->" : "", test->dst,
                 *test->variant ? " " : "", test->variant);
        if (args->test && fnmatch(args->test, name, 0) != 0)
            continue;
        if (test->outcome != OUTCOME_OK && !args->shape) {
            printf("; %s: %s: %s: %s\n\n", row->form, name, outcome_name(test->outcome),
                   test->detail);
            args->printed++;
        }
        for (int k = 0; k < test->nkernels; k++) {
            if (args->shape && fnmatch(args->shape, test->kernels[k].shape, 0) != 0)
                continue;
            asm_print_kernel(row, name, &test->kernels[k]);
            args->printed++;
        }
    }
    return 0;
}

static int asm_run(int argc, char **argv)
{
    struct arguments args = {
        .select = {.params = {.tests = TESTS_ALL}, .visit = asm_print, .data = &args}
    };
    int operand = argc;
    int status = command_read_options(&cmd_asm, argc, argv, &args, &operand);
    if (status != EXIT_DONE)
        return status;
    if (operand >= argc)
        return command_fail(&cmd_asm, EXIT_USAGE,
                            "which rows? name a form (\"add r64 r64\"), a "
                            "list (sse_fp) or a line of one (sse_fp:12)");
    status = plan_select_find_width(&cmd_asm, &args.select);
    if (status != EXIT_DONE)
        return status;
    struct err err = {0};
    if (plan_select_walk(argv + operand, argc - operand, &args.select, &err) != 0)
        return command_fail(&cmd_asm, EXIT_USAGE, "%s", err.text);
    if (!args.printed)
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
        "r15 the loop counter; the comment has the contents of registers and memory at the start.",
    .options = options,
    .run = asm_run,
};
