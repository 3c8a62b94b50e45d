// SPDX-License-Identifier: MIT
// latput compare: compares results with LLVM's model of the CPU, and with instruction tables of
// others.
#include "cli/command.h"
#include "cli/option_store.h"
#include "compare/compare.h"
#include "compare/compare_tables.h"
#include "cpuinfo/cpuinfo.h"
#include "store/store.h"
#include "util/file_write.h"
#include "util/pager.h"
#include "util/text.h"
#include "llvm/llvm_run.h"
#include "llvm/mca.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES_DEFAULT = 20, ENTRIES_MAX = 100000 };

struct arguments {
    const char *db, *cpu, *theirs, *left_out;
    struct store_filter filter;
    struct compare_options options; // of LLVM's model by class
    enum report_format format;
    int llvm;          // LLVM's version; 0: the newest
    double fail_above; // percent; negative: never
    char **files;
    int nfiles;
};

static int take_format(const struct option_given *given, void *to)
{
    struct arguments *arguments = to;
    static const struct {
        const char *name;
        enum report_format format;
        compare_printer *print; // of LLVM's model by class; NULL: as of files
    } formats[] = {
        {"text", REPORT_TABLE, compare_print_text},
        {"csv",  REPORT_CSV,   NULL              },
        {"json", REPORT_JSON,  compare_print_json},
        {"html", REPORT_HTML,  compare_print_page},
    };
    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        if (strcmp(given->argument, formats[i].name) == 0) {
            arguments->options.print = formats[i].print;
            arguments->format = formats[i].format;
            return EXIT_DONE;
        }
    return command_fail(given->cmd, EXIT_USAGE,
                        "unknown format '%s'; there are text, csv, json and html", given->argument);
}

static int take_fail_above(const struct option_given *given, void *to)
{
    struct arguments *arguments = to;
    char *end;
    double percent = strtod(given->argument, &end);
    if (end == given->argument || *end || !(percent >= 0 && percent <= 100))
        return command_fail(given->cmd, EXIT_USAGE, "--fail-above: '%s' is no percentage, 0 to 100",
                            given->argument);
    arguments->fail_above = percent;
    return EXIT_DONE;
}

// clang-format off
static const struct command_option options[] = {
    {COMMON_DB(db)},
    {'u', "uarch", "NAME", "the CPU family; default: that of the newest run",
        OPTION_TEXT(filter.uarch)},
    {'r', "run", "N", "this run instead of the best run of each form", OPTION_RUN(filter.run_id)},
    {0, "mcpu", "NAME", "LLVM's name of the CPU; default: that of the family", OPTION_TEXT(cpu)},
    {0, "theirs", "NAME", "the CPU of FILE, if it has several; default: the one of ours",
        OPTION_TEXT(theirs)},
    {0, "llvm", "VERSION", "LLVM's version; default: the newest that is installed, from 19 on",
        OPTION_NUMBER(llvm, 1, 999)},
    {'f', "format", "text|csv|json|html", "how it is printed; text if not given. html, a page, is "
        "of llvm alone; csv has each value, and each row of a file that is no form of ours",
        OPTION_CALL(take_format)},
    {'n', "entries", "N", "at most N, of files in each group; default: 20, 0: all",
        OPTION_NUMBER(options.entries, 0, ENTRIES_MAX)},
    {0, "left-out", "FILE", "write each row of the files that is no form of ours there, after the "
        "reason", OPTION_TEXT(left_out)},
    {0, "fail-above", "PERCENT", "exit status 1 if more than PERCENT of the values of a file "
        "differ and nothing explains it", OPTION_CALL(take_fail_above)},
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

// Writes the rows that are no form of ours.
static int files_left_out(const struct compare_tables *tables, int n, const char *path)
{
    struct err err;
    struct strbuf text = {0}, plain = {0};
    for (int t = 0; t < n; t++)
        for (int i = 0; i < tables[t].nmatches; i++) {
            const struct compare_match *match = &tables[t].matches[i];
            if (!match->form)
                strbuf_printf(&text, "%s:%d: %s: %s%s%s\n", tables[t].theirs->path,
                              match->row->line, match->why, match->row->name,
                              *match->fits ? "; " : "", match->fits);
        }
    text_put_escaped(&plain, strbuf_text(&text));
    int status = file_write(path, strbuf_text(&plain), plain.len, &err);
    strbuf_free(&text);
    strbuf_free(&plain);
    return status ? command_fail(&cmd_compare, EXIT_ENVIRONMENT, "%s", err.text) : EXIT_DONE;
}

// Says what a reader must know before the figures.
static void files_note(const struct foreign_table *table, const struct known_cpu *data)
{
    char theirs[64];
    if (*cpu_uarch_key(table->uarch, theirs, sizeof theirs) &&
        !cpu_same_family(data->uarch, table->uarch))
        command_note(&cmd_compare, "%s is of %s, and is compared with %s (--uarch)", table->path,
                     theirs, data->uarch);
}

// One comparison: ours, and the tables beside it.
struct compared {
    struct known_cpu data;
    struct compare_llvm *llvm;           // NULL: files
    struct foreign_table *files;         // of which there are as many as arguments
    const struct foreign_table **theirs; // files, or LLVM's model
    struct compare_tables *tables;       // by `theirs`
    int n, made;
};

static int compare_print(struct arguments *args, const struct compared *compared)
{
    struct strbuf out = {0};
    struct err err = {0};
    int status = EXIT_DONE;
    if (!compared->llvm || !args->options.print)
        compare_tables_print(compared->tables, compared->n, args->options.entries, args->format,
                             &out);
    else if (compare_llvm_print(compared->llvm, compared->tables, &args->options, &out, &err) != 0)
        status = command_fail(&cmd_compare, EXIT_ENVIRONMENT, "%s", err.text);
    if (status == EXIT_DONE && args->format == REPORT_HTML)
        fwrite(strbuf_text(&out), 1, out.len, stdout);
    else if (status == EXIT_DONE)
        pager_put(strbuf_text(&out));
    strbuf_free(&out);
    return status;
}

// Ends with another status if too much is not explained.
static int compare_fail(const struct arguments *args, const struct compared *compared)
{
    int status = EXIT_DONE;
    for (int i = 0; status == EXIT_DONE && i < compared->n; i++) {
        double open = compare_tables_open(&compared->tables[i]);
        if (args->fail_above >= 0 && open > args->fail_above)
            status = command_fail(&cmd_compare, EXIT_SOME_FAILED,
                                  "%s: %.1f %% of the values differ and nothing explains it",
                                  compared->theirs[i]->path, open);
    }
    return status;
}

// Refuses --theirs if no file has that CPU: those that have several were asked for it already.
static int compare_check_theirs(const struct arguments *args, const struct compared *compared)
{
    for (int i = 0; i < args->nfiles; i++)
        if (!args->theirs || foreign_is_of(&compared->files[i], args->theirs))
            return EXIT_DONE;
    const struct foreign_table *first = &compared->files[0];
    const char *name = *first->uarch ? first->uarch : first->cpu;
    return command_fail(&cmd_compare, EXIT_USAGE,
                        "%s: %s%s, so --theirs %s does nothing; --uarch is the CPU of ours",
                        first->path, *name ? "has one CPU, " : "does not name its CPU", name,
                        args->theirs);
}

// Reads what is compared: files, or LLVM's model of the CPU.
static int compare_read(struct store *store, struct arguments *args, struct compared *compared)
{
    struct err err = {0};
    const char *cpu = args->theirs ? args->theirs : args->filter.uarch;
    const char *model = args->cpu ? args->cpu : cpu_llvm_name(args->filter.uarch);
    for (int i = 0; i < args->nfiles; i++) {
        compared->theirs[i] = &compared->files[i];
        if (foreign_read(args->files[i], cpu, &compared->files[i], &err) != 0)
            return command_fail(&cmd_compare,
                                compared->files[i].unable ? EXIT_ENVIRONMENT : EXIT_USAGE, "%s",
                                err.text);
    }
    int status = args->nfiles ? compare_check_theirs(args, compared) : compare_cpu_check(model);
    unsigned what = args->nfiles ? KNOWN_ROWS | KNOWN_FALSE : KNOWN_CODE;
    if (status == EXIT_DONE && known_read(store, &args->filter, what, &compared->data, &err) != 0)
        status = command_fail(&cmd_compare, EXIT_ENVIRONMENT, "%s", err.text);
    if (status == EXIT_DONE && args->filter.nglobs > 0 && compared->data.nforms == 0)
        status = command_fail(&cmd_compare, EXIT_USAGE, "no forms of %s match", args->filter.uarch);
    if (status != EXIT_DONE || args->nfiles)
        return status;
    if (compare_llvm_read(&compared->data, model, &compared->llvm, &err) != 0)
        return command_fail(&cmd_compare, EXIT_ENVIRONMENT, "%s", err.text);
    compared->theirs[0] = compare_llvm_table(compared->llvm);
    return EXIT_DONE;
}

static int compare_all(struct store *store, struct arguments *args)
{
    struct compared compared = {.n = args->nfiles ? args->nfiles : 1};
    size_t n = (size_t)compared.n;
    compared.data.uarch = args->filter.uarch;
    compared.files = xcalloc(n, sizeof *compared.files);
    compared.theirs = xcalloc(n, sizeof(const struct foreign_table *));
    compared.tables = xcalloc(n, sizeof *compared.tables);
    int status = compare_read(store, args, &compared);
    for (; status == EXIT_DONE && compared.made < compared.n; compared.made++) {
        files_note(compared.theirs[compared.made], &compared.data);
        compare_tables_make(compared.theirs[compared.made], &compared.data, NULL,
                            &compared.tables[compared.made]);
    }
    if (status == EXIT_DONE)
        status = compare_print(args, &compared);
    if (status == EXIT_DONE && args->left_out)
        status = files_left_out(compared.tables, compared.n, args->left_out);
    if (status == EXIT_DONE)
        status = compare_fail(args, &compared);
    for (int i = 0; i < compared.made; i++)
        compare_tables_free(&compared.tables[i]);
    for (int i = 0; i < args->nfiles; i++)
        foreign_free(&compared.files[i]);
    compare_llvm_free(compared.llvm);
    known_free(&compared.data);
    free(compared.tables);
    free(compared.theirs);
    free(compared.files);
    return status;
}

static int compare_store(struct store *store, struct arguments *args)
{
    char *uarch;
    int status = store_option_one_cpu(&cmd_compare, store, &args->filter, &uarch);
    if (status == EXIT_DONE)
        status = compare_all(store, args);
    free(uarch);
    return status;
}

// Checks that the options are of what is compared.
static int compare_check(const struct arguments *args)
{
    const char *wrong = NULL;
    if (args->nfiles)
        wrong = args->format == REPORT_HTML ? "--format html"
                : args->cpu                 ? "--mcpu"
                : args->llvm                ? "--llvm"
                                            : NULL;
    else
        wrong = args->theirs ? "--theirs" : NULL;
    if (!wrong)
        return EXIT_DONE;
    return command_fail(&cmd_compare, EXIT_USAGE, "%s is of %s", wrong,
                        args->nfiles ? "compare llvm, not of files" : "files, not of compare llvm");
}

static int compare_run(int argc, char **argv)
{
    struct arguments args = {
        .options = {.print = compare_print_text, .entries = ENTRIES_DEFAULT},
          .fail_above = -1
    };
    struct store *store;
    int operand = argc;
    int status = command_read_options(&cmd_compare, argc, argv, &args, &operand);
    if (status != EXIT_DONE)
        return status;
    if (operand == argc)
        return command_fail(&cmd_compare, EXIT_USAGE,
                            "say with what: latput compare llvm [GLOB]..., or with files");
    if (strcmp(argv[operand], "llvm") == 0) {
        args.filter.globs = (const char *const *)argv + operand + 1;
        args.filter.nglobs = argc - operand - 1;
    } else {
        args.files = argv + operand;
        args.nfiles = argc - operand;
    }
    status = compare_check(&args);
    if (status != EXIT_DONE)
        return status;
    llvm_choose(args.llvm);
    status = store_option_open(&cmd_compare, args.db, STORE_READ, &store);
    if (status != EXIT_DONE)
        return status;
    status = compare_store(store, &args);
    store_close(store);
    return status;
}

const struct command cmd_compare = {
    .name = "compare",
    .arguments = "llvm [GLOB]... | FILE...",
    .summary = "compare results with tables of others, or with LLVM's model",
    .description =
        "FILE is an instruction table of others: a dump of InstLatX64, uops.info's "
        "instructions.xml, YAML of llvm-exegesis, a database or pack of latput, or CSV with a "
        "header (mnemonic,operands,latency,throughput); which of them, its content says. Rows are "
        "matched by machine code where the file has it, else by operands, and what cannot be "
        "matched is counted and named. The answer is how many values agree, by quantity and by "
        "class, then what explains those that do not, each with its evidence; "
        "docs/COMPARISON.md describes both.\n"
        "llvm hands every form (of those that match GLOB) to LLVM as machine code and prints where "
        "its "
        "scheduling model contradicts the measurements: latency, throughput, µops, ports. Each "
        "class of the model is one entry, with its members and their measured values; the most "
        "frequent in compiled code come first: a static count over the libraries that "
        "cpuinfo/instruction_counts.csv names.\n"
        "If a result is an upper bound, a lower value of the model does not contradict it. The "
        "model's latency is compared with that from any operand to the last register; stores have "
        "none. Its µops may be those of dispatch or those that need a port. Ports are compared if "
        "the numbers of µops agree; the forms of one µop show which port of the model is which of "
        "ours.\n"
        "Needs LLVM (Debian's llvm-19, or newer) and NASM.",
    .options = options,
    .run = compare_run,
};
