// SPDX-License-Identifier: MIT
// latput compare: compares results with another program's model of the CPU.
#include "cli/command.h"
#include "cli/option_store.h"
#include "compare/compare.h"
#include "cpuinfo/cpuinfo.h"
#include "store/store.h"
#include "llvm/mca.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES_DEFAULT = 20, ENTRIES_MAX = 100000 };

struct arguments {
    const char *db, *cpu;
    struct store_filter filter;
    struct compare_options options;
};

static int take_format(const struct option_given *given, void *to)
{
    struct arguments *arguments = to;
    static const struct {
        const char *name;
        compare_printer *print;
    } formats[] = {
        {"text", compare_print_text},
        {"json", compare_print_json},
        {"html", compare_print_page}
    };
    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        if (strcmp(given->argument, formats[i].name) == 0) {
            arguments->options.print = formats[i].print;
            return EXIT_DONE;
        }
    return command_fail(given->cmd, EXIT_USAGE,
                        "unknown format '%s'; there are text, json and html", given->argument);
}

// clang-format off
static const struct command_option options[] = {
    {COMMON_DB(db)},
    {'u', "uarch", "NAME", "the CPU family; default: that of the newest run",
        OPTION_TEXT(filter.uarch)},
    {'r', "run", "N", "this run instead of the best run of each form", OPTION_RUN(filter.run_id)},
    {0, "mcpu", "NAME", "LLVM's name of the CPU; default: that of the family", OPTION_TEXT(cpu)},
    {'f', "format", "text|json|html", "how it is printed; text if not given, html is a page",
        OPTION_CALL(take_format)},
    {'n', "entries", "N", "at most N; default: 20, 0: all",
        OPTION_NUMBER(options.entries, 0, ENTRIES_MAX)},
    {0},
};
// clang-format on

extern const struct command cmd_compare;

// Checks LLVM's name of a CPU, which goes into a command line and a file that LLVM reads: a single
// word.
static int compare_cpu_check(const char *cpu)
{
    if (mca_cpu_is_name(cpu))
        return EXIT_DONE;
    return command_fail(&cmd_compare, EXIT_USAGE,
                        "LLVM has no name for this CPU in cpuinfo/other_names.csv; give one with "
                        "--mcpu");
}

static int compare_print(struct store *store, struct arguments *args)
{
    struct err err = {0};
    struct strbuf out = {0};
    struct known_cpu data;
    const char *cpu = cpu_other_name(args->filter.uarch, CPU_NAME_LLVM);
    args->options.cpu = args->cpu ? args->cpu : cpu;
    int status = compare_cpu_check(args->options.cpu);
    if (status == EXIT_DONE) {
        if (known_read(store, &args->filter, KNOWN_CODE, &data, &err) != 0 ||
            compare_llvm(&data, &args->options, &out, &err) != 0)
            status = command_fail(&cmd_compare, EXIT_ENVIRONMENT, "%s", err.text);
        else
            fwrite(strbuf_text(&out), 1, out.len, stdout);
        known_free(&data);
    }
    strbuf_free(&out);
    return status;
}

static int compare_store(struct store *store, struct arguments *args)
{
    char *uarch;
    int status = store_option_one_cpu(&cmd_compare, store, &args->filter, &uarch);
    if (status == EXIT_DONE)
        status = compare_print(store, args);
    free(uarch);
    return status;
}

static int compare_run(int argc, char **argv)
{
    struct arguments args = {
        .options = {.print = compare_print_text, .entries = ENTRIES_DEFAULT}
    };
    struct store *store;
    int operand = argc;
    int status = command_read_options(&cmd_compare, argc, argv, &args, &operand);
    if (status != EXIT_DONE)
        return status;
    if (operand == argc || strcmp(argv[operand], "llvm") != 0)
        return command_fail(&cmd_compare, EXIT_USAGE,
                            "say with what: latput compare llvm [GLOB]...");
    args.filter.globs = (const char *const *)argv + operand + 1;
    args.filter.nglobs = argc - operand - 1;
    status = store_option_open(&cmd_compare, args.db, STORE_READ, &store);
    if (status != EXIT_DONE)
        return status;
    status = compare_store(store, &args);
    store_close(store);
    return status;
}

const struct command cmd_compare = {
    .name = "compare",
    .arguments = "llvm [GLOB]...",
    .summary = "compare results with LLVM's scheduling model of the CPU",
    .description =
        "Hands every form (of those that match GLOB) to LLVM as machine code and prints where its "
        "scheduling model contradicts the measurements: latency, throughput, µops, ports. Each "
        "class of the model is one entry, with its members and their measured values; the most "
        "frequent in compiled code come first: a static count over the libraries that "
        "cpuinfo/instruction_counts.csv names.\n"
        "If a result is an upper bound, a lower value of the model does not contradict it. The "
        "model's latency is compared with that from any operand to the last register; stores have "
        "none. Its µops may be those of dispatch or those that need a port. Ports are compared if "
        "the numbers of µops agree; the forms of one µop show which port of the model is which of "
        "ours.\n"
        "Needs Debian's llvm-19 and NASM.",
    .options = options,
    .run = compare_run,
};
