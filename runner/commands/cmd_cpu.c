// SPDX-License-Identifier: MIT
// latput cpu: which CPU this is, what surrounds it, and what can be measured here. Also the tool
// that records CPUID dumps, by which a machine can be identified elsewhere.
#include "cmd_cpu.h"
#include "cmd_uarch.h"
#include "command.h"
#include "util/affinity.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_SAVE, OPT_LOAD, OPT_FORMAT, OPT_CPU, OPT_UARCH };
extern const struct command cmd_cpu;
// clang-format off
static const struct command_option options[] = {
    {'s', "save", "FILE", "write a CPUID dump instead of the report; - is standard output. Serial "
        "numbers and APIC ids are not in it"},
    {'l', "load", "FILE", "report on the CPU of a dump instead of this one; what only a running "
        "machine can tell is left out"},
    {'f', "format", "text|json", "form of the report; text if not given"},
    {'c', "cpu", "N", "the logical CPU to look at; matters where not all are alike. The one this "
        "runs on if not given"},
    {0, "uarch", "NAME", uarch_option_help},
    {0},
};
// clang-format on

struct request {
    const char *save, *load;
    bool json;
    int cpu;
};

static int request_option(void *context, int option, const char *argument)
{
    struct request *request = context;
    switch (option) {
    case OPT_SAVE:
        request->save = argument;
        return EXIT_DONE;
    case OPT_LOAD:
        request->load = argument;
        return EXIT_DONE;
    case OPT_FORMAT:
        request->json = strcmp(argument, "json") == 0;
        if (!request->json && strcmp(argument, "text") != 0)
            return command_fail(&cmd_cpu, EXIT_USAGE, "there is no format '%s'; it is text or json",
                                argument);
        return EXIT_DONE;
    case OPT_UARCH:
        return uarch_option_read(&cmd_cpu, argument);
    default:
        return command_option_number(&cmd_cpu, option, argument, 0, CPU_SETSIZE - 1, &request->cpu);
    }
}

static int request_parse(int argc, char **argv, struct request *request)
{
    int operand = argc;
    int status = command_each_option(&cmd_cpu, argc, argv, request_option, request, &operand);
    if (status == EXIT_DONE)
        status = command_no_operands(&cmd_cpu, argc, argv, operand);
    if (status == EXIT_DONE && request->load && request->cpu >= 0)
        status = command_fail(&cmd_cpu, EXIT_USAGE, "--cpu has no meaning for a dump (--load)");
    return status;
}

// Pins to the wanted CPU, or to the one we are on: CPUID and the clock must not change below us.
static int cpu_pin(int *number)
{
    if (*number < 0)
        *number = sched_getcpu() >= 0 ? sched_getcpu() : 0;
    return affinity_pin(0, *number);
}

static int cpu_run(int argc, char **argv)
{
    static struct cpu_info cpu;
    struct cpu_environment env;
    struct request request = {.cpu = -1};
    struct err err;
    int status = request_parse(argc, argv, &request);
    if (status != EXIT_DONE)
        return status;
    if (request.load) {
        if (cpu_load(request.load, &cpu, &err) < 0)
            return command_fail(&cmd_cpu, EXIT_USAGE, "%s", err.text);
    } else {
        bool chosen = request.cpu >= 0;
        if (cpu_pin(&request.cpu) < 0 && chosen)
            return command_fail(&cmd_cpu, EXIT_USAGE, "cannot run on CPU %d: %s", request.cpu,
                                strerror(errno));
        if (cpu_identify(&cpu, &err) < 0)
            return command_fail(&cmd_cpu, EXIT_USAGE, "%s", err.text);
    }
    if (request.save) {
        if (cpu_save(&cpu, request.save, &err) < 0)
            return command_fail(&cmd_cpu, EXIT_ENVIRONMENT, "%s", err.text);
        return EXIT_DONE;
    }
    if (cpu.live) {
        const struct cpu_measured measured = {.imul_per_add = imul_ratio(&cpu)};
        cpu_judge(&cpu, &measured);
        environment_probe(&cpu, request.cpu, &env);
    }
    (request.json ? cpu_report_json : cpu_report_text)(&cpu, cpu.live ? &env : NULL, stdout);
    return EXIT_DONE;
}

const struct command cmd_cpu = {
    .name = "cpu",
    .arguments = "",
    .summary = "identify this CPU and say what can be measured here",
    .description =
        "Shows the CPU, what its signature claims, what contradicts that and what is believed "
        "instead, its features, caches and clocks, the performance counters and who may use "
        "them, and says in words what this machine can measure now, what it cannot, and what would "
        "help. Nothing on the machine is changed.",
    .options = options,
    .run = cpu_run,
};
