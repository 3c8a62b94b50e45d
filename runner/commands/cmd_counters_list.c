// SPDX-License-Identifier: MIT
// latput counters list: prints the counter table of a CPU, and whether this machine lets anyone
// count.
#include "cli/option_kind.h"
#include "cli/option_uarch.h"
#include "cmd_counters.h"

#include "counters/count_list.h"
#include "cpuinfo/counter_names.h"
#include "cpuinfo/environment.h"
#include "util/affinity.h"
#include "util/pager.h"
#include "util/terminal.h"
#include "util/text_table.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int counters_cpu_find(const struct counters_request *request, int cpu, struct cpu_info *info)
{
    struct err err;
    int number = cpu >= 0 ? cpu : sched_getcpu();
    if (request->dump)
        return cpu_load(request->dump, info, &err) == 0
                   ? EXIT_DONE
                   : command_fail(request->command, EXIT_USAGE, "%s", err.text);
    if (affinity_pin(0, number) != 0 && cpu >= 0)
        return kind_cannot_run(request->command, number);
    if (cpu_identify(CPU_HERE, info, &err) < 0)
        return command_fail(request->command, EXIT_USAGE, "%s", err.text);
    return EXIT_DONE;
}

// Returns the number of --cpu, -1 without it, or -2.
static int cpu_number(const struct counters_request *request)
{
    char *end;
    if (!request->cpus)
        return -1;
    errno = 0;
    long cpu = strtol(request->cpus, &end, 10);
    bool valid = !errno && end != request->cpus && !*end && cpu >= 0 && cpu < CPU_SETSIZE;
    return valid ? (int)cpu : -2;
}

// Prints on standard error whether the counters of this machine can be used.
static void machine_say(const struct command *cmd, const struct cpu_info *cpu)
{
    struct cpu_environment env;
    struct verdict verdict = {0};
    environment_probe(cpu, sched_getcpu(), &env);
    if (env.perf == PERF_WORKS)
        return;
    verdict_explain_counters(cpu, &env, &verdict);
    command_note(cmd, "%s: %s%s%s",
                 env.msr == MSR_WORKS
                     ? "perf can count nothing of this on this machine; latput stat --backend msr "
                       "tries the registers themselves"
                     : "nothing of this can be counted on this machine",
                 verdict.how, *verdict.remedy ? "\nRemedy: " : "", verdict.remedy);
}

// Loads the requested table, and identifies its CPU.
static int table_load(const struct counters_request *request, int number, struct cpu_info *cpu,
                      struct counter_table *table)
{
    struct err err;
    if (request->uarch) {
        char key[64];
        cpu_uarch_key(request->uarch, key, sizeof key);
        const char *uarch = cpuinfo_load(&err) == 0 ? cpu_uarch_called(key, &err) : NULL;
        return uarch && counters_load(uarch, table, &err) == 0
                   ? EXIT_DONE
                   : command_fail(request->command, EXIT_USAGE, "%s", err.text);
    }
    int status = counters_cpu_find(request, number, cpu);
    if (status != EXIT_DONE)
        return status;
    if (counters_load_cpu(cpu, table, &err) < 0)
        return command_fail(request->command, EXIT_USAGE, "%s", err.text);
    if (table->nevents > 0)
        return EXIT_DONE;
    counters_free(table);
    return command_fail(request->command, EXIT_ENVIRONMENT,
                        "the counters of this CPU are not known: %s, and CPUID leaf 0AH announces "
                        "no architectural events",
                        cpu_is_invented(cpu) ? "the hypervisor shows a CPU that does not exist"
                                             : "cpus.csv does not have it (docs/HOWTO_ADD_CPU.md)");
}

int counters_list(const struct counters_request *request)
{
    static struct cpu_info cpu;
    struct counter_table table;
    struct strbuf out = {0};
    struct err err;
    int number = cpu_number(request);
    if (number < -1)
        return command_fail(request->command, EXIT_USAGE, "'%s' is no number of a CPU",
                            request->cpus);
    if ((request->uarch != NULL) + (request->dump != NULL) + (request->cpus != NULL) > 1)
        return command_fail(request->command, EXIT_USAGE,
                            "--uarch, --load and --cpu exclude each other");
    if (counter_names_load(&err) < 0)
        return command_fail(request->command, EXIT_USAGE, "%s", err.text);
    int status = table_load(request, number, &cpu, &table);
    if (status != EXIT_DONE)
        return status;
    int columns = request->format == REPORT_TABLE ? terminal_columns(STDOUT_FILENO) : 0;
    struct count_listing list = {.table = &table,
                                 .globs = request->globs,
                                 .sets = request->sets,
                                 .wide = request->wide,
                                 .format = request->format,
                                 .columns = columns};
    int rows = count_list_put(&list, &out);
    pager_put(strbuf_text(&out)); // the following must be read last
    if (rows == 0)
        command_note(request->command, "no %s of %s match", request->sets ? "sets" : "events",
                     table.uarch);
    if (list.note.len)
        command_note(request->command, TEXT_TABLE_FITTED, strbuf_text(&list.note));
    uarch_say_inferred(request->command, &cpu);
    if (cpu.live)
        machine_say(request->command, &cpu);
    strbuf_free(&list.note);
    strbuf_free(&out);
    counters_free(&table);
    return EXIT_DONE;
}
