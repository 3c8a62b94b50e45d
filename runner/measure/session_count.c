// SPDX-License-Identifier: MIT
// Counting in a run; see session_count.h. Core cycles come first, alone in a pass; then slots and
// ports, dealt into as few passes as the counters allow. Each pass is opened once as a trial, and
// dealt anew for fewer counters if that fails. From then on one pass is open at a time. Faults of
// counters show here, before anything is measured.
#include "session_count.h"

#include "counters/count_deal.h"
#include "counters/count_msr.h"
#include "derive/plausible.h"
#include "session.h"
#include "util/affinity.h"
#include "util/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum count_obstacle pass_close(struct session_counting *counting, struct err *err)
{
    int open = counting->ncounters;
    counting->ncounters = 0;
    return open ? counting->source->close(counting, err) : COUNT_FINE;
}

// Probes the source on the measuring CPU, since events of a hybrid CPU belong to a type of core.
static enum count_obstacle source_probe(const struct session_counting *counting, struct err *err)
{
    const struct count_backend *backend = counting->source->backend;
    // Files that stand for registers count nothing.
    if (!backend || (backend == &count_msr && *counting->machine.root))
        return COUNT_FINE;
    const struct affinity_visit visit = affinity_visit(&counting->cpu, 1);
    enum count_obstacle obstacle = backend->probe(&counting->machine, err);
    affinity_return(&visit);
    return obstacle;
}

static enum count_obstacle pass_open(struct session_counting *counting, int pass, struct err *err)
{
    struct count_pass chosen;
    const struct count_dealt dealt = {counting->events, counting->nevents, counting->pass};
    enum count_obstacle obstacle = count_pass_choose(&dealt, pass, CORE_TIMED_MAX, &chosen, err);
    if (obstacle)
        return obstacle;
    const struct affinity_visit visit = affinity_visit(&counting->cpu, 1);
    obstacle =
        counting->source->open(counting, chosen.events, chosen.nevents, counting->counters, err);
    affinity_return(&visit);
    counting->ncounters = obstacle ? 0 : chosen.nevents;
    memcpy(counting->which, chosen.index, (size_t)chosen.nevents * sizeof chosen.index[0]);
    return obstacle;
}

static enum count_obstacle pass_change(struct session_counting *counting, int pass, struct err *err)
{
    enum count_obstacle obstacle = pass_close(counting, err);
    return obstacle ? obstacle : pass_open(counting, pass, err);
}

int session_count_pass(const struct session *session, int pass, struct err *err)
{
    return pass_change(session->counting, pass, err) ? -1 : 0;
}

void session_count_params(const struct session *session, struct exec_params *params)
{
    const struct session_counting *counting = session->counting;
    params->counters = counting->counters;
    params->ncounters = counting->ncounters;
    params->config.counts_clk = counting->ncounters > 0 && counting->which[0] == 0;
}

// Adds an event of the table, if it is there and some counter can count it. Its index, or -1.
static int events_add(struct session_counting *counting, const char *id, size_t len)
{
    char name[COUNTER_LABEL_BYTES];
    snprintf(name, sizeof name, "%.*s", (int)len, id);
    const struct counter_event *event = counter_find(&counting->table, name);
    if (!event || !counter_fits(&counting->table, event) || event->kind == COUNTER_MSR ||
        counting->nevents == SESSION_EVENTS_MAX)
        return -1;
    counting->events[counting->nevents] = count_event_make(event, COUNT_USER);
    return counting->nevents++;
}

// Slots first, then the ports that the family can tell apart.
static void events_add_ports(struct session_counting *counting)
{
    static const char *const slots[] = {"uops_issued", "uops_dispatched"};
    for (size_t i = 0; i < ARRAY_LEN(slots) && counting->slots < 0; i++)
        counting->slots = events_add(counting, slots[i], strlen(slots[i]));
    const struct cpu_family *family = cpu_family_find(counting->machine.cpu->uarch);
    for (const char *at = family ? family->ports : ""; *at;) {
        size_t len = strcspn(at, " ");
        events_add(counting, at, len);
        at += len;
        at += strspn(at, " ");
    }
}

static enum count_obstacle ports_try(void *user, int pass, struct err *err)
{
    return pass_change(user, pass, err);
}

// Deals ports and slots into passes that the counters have room for, and tries each once.
static enum count_obstacle ports_deal(struct session_counting *counting, struct err *err)
{
    struct count_deal deal = {.events = counting->events,
                              .nevents = counting->nevents,
                              .pass = counting->pass,
                              .first = 1,
                              .attempt = ports_try,
                              .user = counting};
    for (int i = 1; i < counting->nevents; i++)
        counting->pass[i] = COUNT_UNDEALT;
    enum count_obstacle obstacle = count_deal(&deal, count_capacity_of(counting->machine.cpu), err);
    counting->npasses = deal.npasses;
    return obstacle;
}

// Ports are optional: without them the run goes on, and gives the reason.
static int ports_begin(struct session_counting *counting, struct err *err)
{
    struct err why = {0};
    events_add_ports(counting);
    if (ports_deal(counting, &why)) {
        snprintf(counting->note, sizeof counting->note, "%.*s", (int)sizeof counting->note - 1,
                 why.text);
        counting->nevents = counting->npasses = 1;
        counting->slots = -1;
    }
    return pass_change(counting, 0, err) ? -1 : 0;
}

static void counting_free(struct session_counting *counting)
{
    struct err ignored;
    pass_close(counting, &ignored);
    count_rdpmc_end(&counting->rdpmc);
    counters_free(&counting->table);
    free(counting);
}

static enum count_obstacle counting_begin(struct session_counting *counting, bool ports,
                                          struct err *err)
{
    enum count_obstacle obstacle = source_probe(counting, err);
    if (obstacle)
        return obstacle;
    if (counters_load_cpu(counting->machine.cpu, &counting->table, err) != 0)
        return COUNT_FAILED;
    if (events_add(counting, "core_clk", strlen("core_clk")) != 0) {
        err_set(err, "the table of %s has no counter for core cycles (core_clk)",
                counting->table.uarch);
        return COUNT_NO_EVENT;
    }
    obstacle = pass_open(counting, 0, err);
    if (!obstacle && ports && ports_begin(counting, err) != 0)
        return COUNT_FAILED;
    return obstacle;
}

int session_count_with(struct session *session, const struct count_source *source, bool ports,
                       struct err *err)
{
    struct session_counting *counting = xcalloc(1, sizeof *counting);
    counting->source = source;
    counting->machine = count_machine_live(session->cpu);
    counting->cpu = session->params.config.cpu;
    counting->npasses = 1;
    counting->slots = -1;
    if (counting_begin(counting, ports, err)) {
        counting_free(counting);
        return err_prefix(err, "the backend %s cannot be used: ", source->name);
    }
    session->counting = counting;
    return 0;
}

int session_count_begin(struct session *session, const struct session_counters *wanted,
                        struct err *err)
{
    struct err ignored = {0};
    if (wanted->source)
        return session_count_with(session, wanted->source, wanted->ports, err);
    switch (wanted->choice) {
    case COUNT_CHOICE_PERF:
        return session_count_with(session, &count_source_perf, wanted->ports, err);
    case COUNT_CHOICE_MSR:
        return session_count_with(session, &count_source_msr, wanted->ports, err);
    case COUNT_CHOICE_AUTO:
        if (session_count_with(session, &count_source_perf, wanted->ports, &ignored) != 0)
            session_count_with(session, &count_source_msr, wanted->ports, &ignored);
        return 0;
    default:
        return 0;
    }
}

// Returns parameters that do not wait for a quiet machine, since nothing is measured.
static struct exec_params check_params(const struct session *session)
{
    static const double all = 1e9;
    struct exec_params params = session->params;
    session_count_params(session, &params);
    params.config.canary = 1;
    params.config.floor_clk_per_instr = 1;
    params.config.canary_tolerance = params.config.calib_tolerance = all;
    params.config.passes = 1;
    return params;
}

int session_count_check(struct session *session, const char *program, int *link_clk,
                        struct err *err)
{
    const struct exec_params params = check_params(session);
    const char *name = session->counting->source->name;
    struct exec_kernel measured = {.selected = true};
    struct arena arena = {0};
    struct exec_summary summary;
    char text[160];
    const struct exec_job job = {program, &params, &measured, 1, NULL, NULL};
    int status = exec_run(&job, &arena, &summary, err);
    arena_free(&arena);
    if (status == 0 &&
        plausible_link_check(summary.link_counts[0], summary.imul_per_add, text, sizeof text))
        status = err_set(err, "%s", text);
    if (status != 0)
        return err_prefix(err, "the backend %s cannot be used: ", name);
    *link_clk = (int)lround(summary.link_counts[0]);
    session->params.config.calib_link_clk = (uint32_t)*link_clk;
    return 0;
}

int session_count_confirm(struct session *session, const struct session_counters *wanted,
                          const char *program, int *link_clk, struct err *err)
{
    struct err why = {0};
    if (!session->counting || session_count_check(session, program, link_clk, &why) == 0)
        return 0;
    if (wanted->source || wanted->choice != COUNT_CHOICE_AUTO)
        return err_set(err, "%s", why.text);
    session_count_end(session);
    return 0;
}

void session_count_end(struct session *session)
{
    if (session->counting)
        counting_free(session->counting);
    session->counting = NULL;
}
