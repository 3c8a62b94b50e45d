// SPDX-License-Identifier: MIT
// latput counters start: programs counters that continue after this command, for another program to
// read with RDPMC. The information for stop is written before anything is touched.
#include "cmd_counters.h"
#include "counters/count_rdpmc.h"
#include "counters/counters_state.h"

#include "util/cpulist.h"
#include "util/mem.h"
#include "util/strbuf.h"
#include "util/text_table.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct start {
    const struct counters_request *request;
    struct cpu_info cpu;
    struct count_machine machine;
    struct counter_table table;
    struct count_event *events;
    int nevents;
    cpu_set_t cpus;
    struct msr_plan *plans; // one per CPU of the set
    struct counters_state state;
};

// Reads "0-3,8" or "all" (of those that this process may use).
static int cpus_parse(const char *text, cpu_set_t *cpus)
{
    if (!text || strcmp(text, "all") == 0)
        return sched_getaffinity(0, sizeof *cpus, cpus);
    return cpulist_parse_set(text, cpus);
}

// Checks that all CPUs are of one kind. Leaves this process pinned to the last.
static int cpus_identify(struct start *s)
{
    char uarch[sizeof s->cpu.uarch] = "";
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET((size_t)cpu, &s->cpus))
            continue;
        int status = counters_cpu_find(s->request, cpu, &s->cpu);
        if (status != EXIT_DONE)
            return status;
        if (*uarch && strcmp(uarch, s->cpu.uarch) != 0)
            return command_fail(s->request->command, EXIT_USAGE,
                                "CPU %d is of another kind (%s) than those before it (%s), with "
                                "other events: start them apart, with --cpu",
                                cpu, s->cpu.uarch, uarch);
        memcpy(uarch, s->cpu.uarch, sizeof uarch);
        if (s->request->dump)
            break;
    }
    return EXIT_DONE;
}

static int events_read(struct start *s)
{
    struct strbuf list = {0};
    struct err err = {0};
    for (char *const *event = s->request->globs; *event; event++)
        strbuf_printf(&list, "%s%s", list.len ? "," : "", *event);
    if (counters_load_cpu(&s->cpu, &s->table, &err) != 0)
        return command_fail(s->request->command, EXIT_ENVIRONMENT, "%s", err.text);
    s->nevents = count_events_parse(&s->table, strbuf_text(&list), COUNT_USER, &s->events, &err);
    strbuf_free(&list);
    if (s->nevents < 0)
        return command_fail(s->request->command, EXIT_USAGE, "%s", err.text);
    if (s->nevents > COUNT_EVENTS_MAX)
        return command_fail(s->request->command, EXIT_USAGE, "%d events; %d are possible",
                            s->nevents, COUNT_EVENTS_MAX);
    for (int i = 0; i < s->nevents; i++)
        if (s->events[i].kind == COUNT_SOFTWARE || s->events[i].hardware.kind == COUNTER_MSR)
            return command_fail(s->request->command, EXIT_USAGE,
                                "'%s' is not in a counter, so that RDPMC cannot read it",
                                s->events[i].name);
    return EXIT_DONE;
}

static int start_read(struct start *s)
{
    struct counters_state before;
    struct err err = {0};
    if (!s->request->globs[0])
        return command_fail(s->request->command, EXIT_USAGE,
                            "start needs events, e.g. latput counters start core_clk instructions");
    if (s->request->uarch || (s->request->dump && !getenv("LATPUT_MACHINE")))
        return command_fail(s->request->command, EXIT_USAGE,
                            "start programs the counters of this machine: no --uarch, no --load");
    if (cpus_parse(s->request->cpus, &s->cpus) != 0 || CPU_COUNT(&s->cpus) == 0)
        return command_fail(s->request->command, EXIT_USAGE,
                            "--cpu cannot be '%s'; it takes a list such as 0-3,8, or all",
                            s->request->cpus);
    int there = counters_state_read(&before, &err);
    counters_state_free(&before);
    if (there < 0)
        return command_fail(s->request->command, EXIT_ENVIRONMENT, "%s", err.text);
    if (there == 0)
        return command_fail(s->request->command, EXIT_ENVIRONMENT,
                            "counters are started already (%s): latput counters stop, or status",
                            counters_state_path());
    int status = cpus_identify(s);
    return status == EXIT_DONE ? events_read(s) : status;
}

static int rdpmc_allow(struct start *s)
{
    int allowed;
    char path[RDPMC_PATH_BYTES];
    struct err err = {0};
    if (count_rdpmc_find(&s->machine, path, &allowed, &err) != COUNT_FINE)
        return command_fail(s->request->command, EXIT_ENVIRONMENT,
                            "RDPMC would fault in another program: %s", err.text);
    if (allowed != RDPMC_FOR_ALL) {
        snprintf(s->state.rdpmc_path, sizeof s->state.rdpmc_path, "%s", path);
        s->state.rdpmc_before = allowed;
    }
    return EXIT_DONE;
}

// Plans the events on every CPU; the counters must be the same everywhere.
static enum count_obstacle cpus_plan(struct start *s, struct err *err)
{
    const struct msr_plan *first = NULL;
    s->plans = xcalloc(CPU_SETSIZE, sizeof *s->plans);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        struct msr_device device;
        struct msr_steps restore;
        struct msr_plan *plan = &s->plans[cpu];
        if (!CPU_ISSET((size_t)cpu, &s->cpus))
            continue;
        enum count_obstacle obstacle = msr_device_open(&s->machine, cpu, &device, err);
        if (obstacle)
            return obstacle;
        obstacle = msr_device_plan(&device, s->events, s->nevents, plan, &restore, err);
        msr_device_close(&device);
        if (obstacle)
            return obstacle;
        for (int i = 0; first && i < s->nevents; i++)
            if (plan->slots[i].rdpmc != first->slots[i].rdpmc) {
                err_set(err,
                        "CPU %d has other counters in use than those before it, so '%s' would not "
                        "be in the same counter everywhere. Stop what uses them (perf, the NMI "
                        "watchdog), or choose CPUs with --cpu",
                        cpu, s->events[i].name);
                return COUNT_TOO_MANY;
            }
        first = plan;
        counters_state_add(&s->state, cpu, s->events, plan, &restore);
    }
    return COUNT_FINE;
}

static enum count_obstacle cpus_program(struct start *s, struct err *err)
{
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        struct msr_device device;
        const struct msr_plan *plan = &s->plans[cpu];
        if (!CPU_ISSET((size_t)cpu, &s->cpus))
            continue;
        enum count_obstacle obstacle = msr_device_open(&s->machine, cpu, &device, err);
        if (obstacle)
            return obstacle;
        obstacle = msr_device_steps(&device, &plan->prepare, err);
        if (!obstacle)
            obstacle = msr_device_verify(&device, &plan->prepare, false, err);
        if (!obstacle)
            obstacle = msr_device_steps(&device, &plan->start, err);
        msr_device_close(&device);
        if (obstacle)
            return obstacle;
    }
    return COUNT_FINE;
}

static int start_program(struct start *s)
{
    struct err err = {0}, ignored;
    enum count_obstacle obstacle = COUNT_FINE;
    if (!*s->machine.root) // not for files that stand for devices
        obstacle = count_msr.probe(&s->machine, &err);
    if (!obstacle)
        obstacle = cpus_plan(s, &err);
    if (obstacle)
        return command_fail(s->request->command, EXIT_ENVIRONMENT,
                            "no counter can be started. perf would stop it when this command ends, "
                            "so its registers have to be programmed: %s",
                            err.text);
    if (counters_state_write(&s->state, &err) != 0)
        return command_fail(s->request->command, EXIT_ENVIRONMENT, "%s", err.text);
    if (s->state.rdpmc_path[0] &&
        counters_number_write(&s->machine, s->state.rdpmc_path, RDPMC_FOR_ALL) != 0) {
        err_set(&err, "%s: cannot be set to %d: %s. Run as root", s->state.rdpmc_path,
                RDPMC_FOR_ALL, strerror(errno));
        obstacle = COUNT_FORBIDDEN;
    }
    if (!obstacle)
        obstacle = cpus_program(s, &err);
    if (!obstacle)
        return EXIT_DONE;
    counters_state_restore(&s->state, &s->machine, &ignored);
    unlink(counters_state_path());
    return command_fail(s->request->command, EXIT_ENVIRONMENT, "%s", err.text);
}

static void start_print(const struct start *s)
{
    static const char *const headers[] = {"event", "rdpmc ecx", "msr", "bits"};
    static const enum text_align aligns[ARRAY_LEN(headers)] = {ALIGN_LEFT, ALIGN_LEFT, ALIGN_LEFT,
                                                               ALIGN_RIGHT};
    struct text_table *report = text_table_new(headers, aligns, ARRAY_LEN(headers));
    struct strbuf out = {0};
    for (int i = 0; i < s->nevents; i++) {
        const struct state_slot *slot = &s->state.slots[i];
        char number[32];
        text_table_cell(report, slot->name);
        snprintf(number, sizeof number, "0x%x", slot->slot.rdpmc);
        text_table_cell(report, number);
        snprintf(number, sizeof number, "0x%x", slot->slot.msr);
        text_table_cell(report, number);
        snprintf(number, sizeof number, "%d", slot->slot.bits);
        text_table_cell(report, number);
    }
    text_table_print(report, &out);
    fputs(strbuf_text(&out), stdout);
    text_table_free(report);
    strbuf_free(&out);
    command_note(s->request->command, "started on %d CPU(s); latput counters stop ends it%s",
                 CPU_COUNT(&s->cpus),
                 s->state.rdpmc_path[0] ? " and forbids RDPMC to other programs again" : "");
}

int counters_start(const struct counters_request *request)
{
    static struct start s;
    s = (struct start){.request = request, .machine = count_machine_live(&s.cpu)};
    int status = start_read(&s);
    if (status == EXIT_DONE)
        status = rdpmc_allow(&s);
    if (status == EXIT_DONE)
        status = start_program(&s);
    if (status == EXIT_DONE)
        start_print(&s);
    counters_state_free(&s.state);
    counters_free(&s.table);
    free(s.plans);
    free(s.events);
    return status;
}
