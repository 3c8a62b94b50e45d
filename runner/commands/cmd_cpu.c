// SPDX-License-Identifier: MIT
// latput cpu: describes this CPU, its environment, and what can be measured here. It also records
// CPUID dumps, by which a machine can be identified elsewhere.
#include "cli/command.h"
#include "cli/option_format.h"
#include "cli/option_kind.h"
#include "cli/option_store.h"
#include "cli/option_uarch.h"
#include "cpu_print.h"
#include "cpu_sheet.h"
#include "measure/observed.h"
#include "store/store_cpu.h"
#include "util/affinity.h"
#include "util/pager.h"
#include "util/paths.h"
#include "util/terminal.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

extern const struct command cmd_cpu;

struct arguments {
    const char *save, *load, *db, *uarch, *kind;
    enum report_format format;
    bool sheet, kinds;
    struct cpu_sheet_runs runs;
    int cpu;
};

static int take_run(const struct option_given *given, void *to)
{
    struct cpu_sheet_runs *runs = &((struct arguments *)to)->runs;
    if (runs->n == CPU_SHEET_MAX)
        return command_fail(given->cmd, EXIT_USAGE, "--run: at most %d runs side by side",
                            CPU_SHEET_MAX);
    return store_option_run(given->cmd, given->argument, &runs->run_ids[runs->n++]);
}

// clang-format off
static const struct command_option options[] = {
    {'s', "save", "FILE", "write a CPUID dump instead of the report; - is standard output. Serial "
        "numbers and APIC ids are not in it", OPTION_TEXT(save), .beside = "load|cpu|kind"},
    {'l', "load", "FILE", "report on the CPU of a dump instead of this one, without the facts that "
        "only a running machine has", OPTION_TEXT(load),
        .beside = "save|format|kind|kinds|db|uarch"},
    {0, "sheet", NULL, "the fact sheet of a core, from the database: what its properties say in a "
        "row", OPTION_SWITCH(sheet, true), .beside = "run|format|db|uarch"},
    {'r', "run", "N", "with --sheet: this run; given again, another beside it; default: the newest "
        "of this machine that has properties", OPTION_CALL(take_run), .with = "sheet"},
    {'f', "format", "table|json|markdown|html|latex", "form of the report; default: table. "
        "markdown, html and latex want --sheet", OPTION_FORMAT(format, FORMATS_PASTED_JSON)},
    {'c', "cpu", "N", "the logical CPU to look at, if they differ; default: the one that latput "
        "runs on, the last one if they differ", OPTION_NUMBER(cpu, 0, CPU_SETSIZE - 1)},
    {COMMON_KIND(kind, "look at")},
    {0, "kinds", NULL, "name the kinds of cores that may be used, with their CPUs",
        OPTION_SWITCH(kinds, true), .beside = "load|format"},
    {0, "db", "FILE", "the database, whose width and properties of this CPU may show its family; "
        "with --load only one that is named", OPTION_TEXT(db)},
    {'u', "uarch", "NAME", "take this CPU for one of that family (column uarch of cpus.csv), or "
        "`unknown`, whatever it claims to be; with --sheet: the sheet of that family, or of "
        "several side by side: zen4,zen5", OPTION_TEXT(uarch)},
    {0},
};
// clang-format on

static int request_parse(int argc, char **argv, struct arguments *arguments)
{
    int status = command_read_alone(&cmd_cpu, argc, argv, arguments);
    bool pasted = arguments->format != REPORT_TABLE && arguments->format != REPORT_JSON;
    if (status == EXIT_DONE && !arguments->sheet && pasted)
        status =
            command_fail(&cmd_cpu, EXIT_USAGE, "the formats markdown, html and latex want --sheet");
    if (status == EXIT_DONE && !arguments->sheet && arguments->uarch)
        status = uarch_option_read(&cmd_cpu, arguments->uarch);
    return status;
}

// Pins to the wanted CPU; without one to the current one, of several kinds of cores to the last one
// of the kind: CPUID and the clock must not change meanwhile. Those of a dump are not here.
static int cpu_pin(const struct cpu_kinds *kinds, const struct cpu_kind *kind, int *number)
{
    bool chosen = *number >= 0;
    if (!chosen && (kinds->n > 1 || kind))
        *number = cpu_kind_last(kind ? kind : cpu_kinds_of(kinds, CPU_LAST));
    if (*number < 0)
        *number = sched_getcpu() >= 0 ? sched_getcpu() : 0;
    if (affinity_pin(0, *number) == 0 || !chosen || (kinds->n > 1 && path_machine("cpuid")))
        return EXIT_DONE;
    return kind_cannot_run(&cmd_cpu, *number);
}

// Finds the kinds of cores and the CPU to look at; free the kinds in any case.
static int cpu_find(struct arguments *arguments, struct cpu_kinds *kinds, struct cpu_info *cpu)
{
    struct err err;
    const struct cpu_kind *kind = NULL;
    *kinds = (struct cpu_kinds){.n = 0};
    if (cpuinfo_load(&err) != 0 || (arguments->load ? cpu_kinds_load(arguments->load, kinds, &err)
                                                    : cpu_kinds_find(kinds, &err)) != 0)
        return command_fail(&cmd_cpu, EXIT_USAGE, "%s", err.text);
    if (arguments->kind && !(kind = cpu_kinds_called(kinds, arguments->kind, &err)))
        return command_fail(&cmd_cpu, EXIT_USAGE, "--kind: %s", err.text);
    if (arguments->load) {
        *cpu = kind ? kind->cpu : kinds->kinds[0].cpu;
        return EXIT_DONE;
    }
    if (kind && arguments->cpu >= 0 && kind != cpu_kinds_of(kinds, arguments->cpu))
        return command_fail(&cmd_cpu, EXIT_USAGE, "CPU %d is not of the kind %s", arguments->cpu,
                            kind->name);
    int status = cpu_pin(kinds, kind, &arguments->cpu);
    if (status == EXIT_DONE && cpu_identify(arguments->cpu, cpu, &err) != 0)
        status = command_fail(&cmd_cpu, EXIT_USAGE, "%s", err.text);
    return status;
}

// Writes a dump of the CPU if it was chosen, or there is one kind only, else of all kinds.
static int cpu_write(const struct arguments *arguments, struct cpu_kinds *kinds, bool chosen,
                     const struct cpu_info *cpu)
{
    struct err err;
    int status = 0;
    for (int i = 0; i < kinds->n && !chosen && !arguments->load && status == 0; i++)
        status = cpu_identify(cpu_kind_last(&kinds->kinds[i]), &kinds->kinds[i].cpu, &err);
    if (status == 0)
        status = chosen || kinds->n == 1 ? cpu_save(cpu, arguments->save, &err)
                                         : cpu_kinds_save(kinds, arguments->save, &err);
    return status == 0 ? EXIT_DONE : command_fail(&cmd_cpu, EXIT_ENVIRONMENT, "%s", err.text);
}

// Reads the width and properties of this CPU from the database. Returns the number of properties,
// or -1 after a message. Without --db a missing or unreadable database is ignored.
static int cpu_observe(const struct arguments *arguments, const struct cpu_info *cpu, int *width,
                       struct cpu_observed observed[CPU_OBSERVED_MAX])
{
    struct store *store = NULL;
    struct err err;
    const char *path = arguments->db     ? arguments->db
                       : arguments->load ? NULL
                                         : store_default_path();
    if (!path)
        return 0;
    int n = store_open(path, STORE_READ, &store, &err) == 0 &&
                    store_width_here(store, cpu, width, &err) >= 0
                ? observed_read(store, cpu, observed, &err)
                : -1;
    store_close(store);
    if (n < 0 && arguments->db)
        command_fail(&cmd_cpu, EXIT_USAGE, "%s", err.text);
    return n < 0 && !arguments->db ? 0 : n;
}

static void cpu_print(const struct cpu_info *cpu, const struct cpu_environment *env,
                      const struct cpu_kinds *kinds, enum report_format format)
{
    FILE *out = pager_open();
    if (format == REPORT_JSON)
        cpu_print_json(cpu, env, out);
    else
        cpu_print_text(cpu, env, kinds, out);
    pager_close(out);
}

static int cpu_report(const struct arguments *arguments, const struct cpu_kinds *kinds,
                      struct cpu_info *cpu)
{
    struct cpu_environment env;
    struct cpu_observed observed[CPU_OBSERVED_MAX];
    int width = 0, nobserved = cpu_observe(arguments, cpu, &width, observed);
    if (nobserved < 0)
        return EXIT_USAGE;
    const struct cpu_measured measured = {.issue_width = width,
                                          .imul_per_add = cpu->live ? imul_ratio(cpu) : 0,
                                          .observed = observed,
                                          .nobserved = nobserved};
    cpu_judge(cpu, &measured);
    if (cpu->live)
        environment_probe(cpu, arguments->cpu, &env);
    cpu_print(cpu, cpu->live ? &env : NULL, kinds, arguments->format);
    return EXIT_DONE;
}

static int cpu_run(int argc, char **argv)
{
    static struct cpu_info cpu;
    struct arguments arguments = {.cpu = -1};
    struct cpu_kinds kinds;
    int status = request_parse(argc, argv, &arguments);
    if (status != EXIT_DONE)
        return status;
    if (arguments.sheet)
        return cpu_sheet(&cmd_cpu, arguments.db, arguments.uarch, &arguments.runs,
                         arguments.format);
    bool chosen = arguments.cpu >= 0 || arguments.kind;
    status = cpu_find(&arguments, &kinds, &cpu);
    if (status == EXIT_DONE && arguments.save)
        status = cpu_write(&arguments, &kinds, chosen, &cpu);
    else if (status == EXIT_DONE && arguments.kinds)
        cpu_print_kinds(&kinds,
                        &(struct cpu_kinds_page){arguments.format, terminal_columns(STDOUT_FILENO),
                                                 !arguments.load},
                        stdout);
    else if (status == EXIT_DONE)
        status = cpu_report(&arguments, &kinds, &cpu);
    cpu_kinds_free(&kinds);
    return status;
}

const struct command cmd_cpu = {
    .name = "cpu",
    .arguments = "",
    .summary = "identify this CPU and say what can be measured here",
    .description =
        "Shows the CPU, what its signature claims, what agrees with that or contradicts it and "
        "what is believed instead, its features, caches and clocks, the performance counters and "
        "who may use them, and says in words what this machine can measure now, what it cannot, "
        "and what would help. Changes nothing on the machine. Where it has several kinds of cores "
        "(P and E cores, dense ones), it lists them; a dump (--save) has them all.\n"
        "With --sheet it prints what the database has of a core instead: widths, queues, "
        "predictors, caches, bandwidths, each with an interval of 95 % confidence, how sure it is, "
        "and what is published of it.",
    .options = options,
    .run = cpu_run,
};
