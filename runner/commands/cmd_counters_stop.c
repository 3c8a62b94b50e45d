// SPDX-License-Identifier: MIT
// latput counters stop and status: restores the registers that start has changed; shows the counts
// in between.
#include "cmd_counters.h"
#include "counters/counters_state.h"

#include "util/json.h"
#include "util/strbuf.h"
#include "util/text_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int operands_refuse(const struct counters_request *request, const char *action)
{
    if (!request->globs[0] && !request->cpus && !request->dump && !request->uarch)
        return EXIT_DONE;
    return command_fail(request->command, EXIT_USAGE, "%s takes no operands and no choice of CPUs",
                        action);
}

// Reads the state that start has written. Returns 0, 1 if nothing is started, or -1 after a
// message.
static int state_find(const struct counters_request *request, struct counters_state *state)
{
    struct err err = {0};
    int there = counters_state_read(state, &err);
    if (there < 0)
        command_fail(request->command, EXIT_ENVIRONMENT, "%s", err.text);
    if (there > 0)
        command_note(request->command, "no counters are started");
    return there;
}

int counters_stop(const struct counters_request *request)
{
    static struct cpu_info cpu;
    struct count_machine machine = count_machine_live(&cpu);
    struct counters_state state = {0};
    struct err err = {0};
    int status = operands_refuse(request, "stop");
    if (status != EXIT_DONE)
        return status;
    int there = state_find(request, &state);
    if (there == 0 && counters_state_restore(&state, &machine, &err) != 0)
        status = command_fail(request->command, EXIT_SOME_FAILED,
                              "not all registers could be restored: "
                              "%s",
                              err.text);
    if (there == 0 && status == EXIT_DONE && unlink(counters_state_path()) != 0)
        status = command_fail(request->command, EXIT_SOME_FAILED, "%s: %s", counters_state_path(),
                              strerror(errno));
    counters_state_free(&state);
    return there < 0 ? EXIT_ENVIRONMENT : status;
}

struct status_report {
    enum report_format format;
    struct text_table *table; // for all formats but JSON
    struct json json;
};

// Adds one event on one CPU in the requested format.
static void status_put(struct status_report *report, const struct state_slot *slot, uint64_t value)
{
    struct json *json = &report->json;
    char cpu[16], rdpmc[16], count[32];
    snprintf(cpu, sizeof cpu, "%d", slot->cpu);
    snprintf(rdpmc, sizeof rdpmc, "0x%x", slot->slot.rdpmc);
    snprintf(count, sizeof count, "%" PRIu64, value);
    if (report->format != REPORT_JSON) {
        text_table_cell(report->table, cpu);
        text_table_cell(report->table, slot->name);
        text_table_cell(report->table, rdpmc);
        text_table_cell(report->table, count);
    } else {
        json_open(json_break(json, "\n  "), '{');
        json_int(json_name(json, "cpu"), slot->cpu);
        json_text(json_name(json, "event"), slot->name);
        json_uint(json_name(json, "rdpmc"), slot->slot.rdpmc);
        json_uint(json_name(json, "count"), value);
        json_close(json, '}');
    }
}

static int status_print(const struct counters_state *state, const struct count_machine *machine,
                        enum report_format format, struct err *err)
{
    const char *const headers[] = {"cpu", "event", format == REPORT_CSV ? "rdpmc" : "rdpmc ecx",
                                   "count"};
    static const enum text_align aligns[ARRAY_LEN(headers)] = {ALIGN_RIGHT, ALIGN_LEFT, ALIGN_LEFT,
                                                               ALIGN_RIGHT};
    struct strbuf out = {0};
    struct status_report report = {.format = format,
                                   .table = text_table_new(headers, aligns, ARRAY_LEN(headers)),
                                   .json = {.out = &out}};
    enum count_obstacle obstacle = COUNT_FINE;
    if (format == REPORT_JSON)
        json_open(&report.json, '[');
    for (size_t i = 0; i < state->nslots && !obstacle; i++) {
        struct msr_device device;
        uint64_t value = 0;
        obstacle = msr_device_open(machine, state->slots[i].cpu, &device, err);
        if (!obstacle) {
            obstacle = msr_slot_read(&device, &state->slots[i].slot, &value, err);
            msr_device_close(&device);
        }
        status_put(&report, &state->slots[i], value);
    }
    if (format != REPORT_JSON) {
        text_table_put(report.table, format, &out);
    } else {
        json_close(json_break(&report.json, "\n"), ']');
        strbuf_puts(&out, "\n");
    }
    if (!obstacle)
        fputs(strbuf_text(&out), stdout);
    text_table_free(report.table);
    strbuf_free(&out);
    return obstacle ? -1 : 0;
}

int counters_status(const struct counters_request *request)
{
    static struct cpu_info cpu;
    struct count_machine machine = count_machine_live(&cpu);
    struct counters_state state = {0};
    struct err err = {0};
    int status = operands_refuse(request, "status");
    if (status != EXIT_DONE)
        return status;
    int there = state_find(request, &state);
    if (there == 0 && status_print(&state, &machine, request->format, &err) != 0)
        status = command_fail(request->command, EXIT_ENVIRONMENT, "%s", err.text);
    counters_state_free(&state);
    return there < 0 ? EXIT_ENVIRONMENT : status;
}
