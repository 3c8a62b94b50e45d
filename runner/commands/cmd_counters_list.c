// SPDX-License-Identifier: MIT
// latput counters list: prints the counter table of a CPU as table, CSV or JSON, in the order of
// counter_ids.csv, and whether this machine lets anyone count.
#include "cli/option_uarch.h"
#include "cmd_counters.h"

#include "cpuinfo/counter_names.h"
#include "cpuinfo/environment.h"
#include "util/affinity.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/pager.h"
#include "util/terminal.h"
#include "util/text.h"
#include "util/text_table.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EVENT_COLUMNS = 8, TEXT_MAX = 160 };
static const char *const event_columns[EVENT_COLUMNS] = {"group", "event", "code",    "counters",
                                                         "name",  "pfm",   "meaning", "note"};

// Writes the counters of an event: "any", "0-3", "2", "fixed 1", "any, fixed 1", "msr"; with "not
// here" if too few are visible.
static const char *counters_text(const struct counter_table *table,
                                 const struct counter_event *event, char *text, size_t size)
{
    char general[32] = "", fixed[32] = "";
    uint32_t mask = event->counters;
    if (mask == COUNTERS_ANY)
        snprintf(general, sizeof general, "any");
    else if (mask && !(mask & (mask - 1)))
        snprintf(general, sizeof general, "%d", __builtin_ctz(mask));
    else if (mask)
        snprintf(general, sizeof general, "%d-%d", __builtin_ctz(mask), 31 - __builtin_clz(mask));
    if (event->fixed_index >= 0)
        snprintf(fixed, sizeof fixed, "fixed %d", event->fixed_index);
    snprintf(text, size, "%s%s%s%s%s", event->kind == COUNTER_MSR ? "msr" : general,
             *general && *fixed ? ", " : "", fixed, event->pair ? ", two" : "",
             counter_fits(table, event) ? "" : " (not here)");
    return text;
}

static bool event_matches(const struct counter_event *event, const char *group, char *const *globs)
{
    bool all = !*globs;
    for (; *globs; globs++)
        if (fnmatch(*globs, event->id, FNM_CASEFOLD) == 0 ||
            fnmatch(*globs, event->name, FNM_CASEFOLD) == 0 ||
            (*event->pfm && fnmatch(*globs, event->pfm, FNM_CASEFOLD) == 0) ||
            fnmatch(*globs, group, FNM_CASEFOLD) == 0)
            return true;
    return all;
}

// One row's fields in the order of event_columns. Numbers as text live in `code` and `counters`.
struct event_row {
    const struct counter_event *event;
    const char *fields[EVENT_COLUMNS];
    char code[TEXT_MAX], counters[TEXT_MAX];
};

static void event_row_make(const struct counter_table *table, const struct counter_event *event,
                           const struct counter_id *id, struct event_row *row)
{
    size_t len = strlen(counter_event_text(event, row->code, sizeof row->code));
    if (event->extra_msr)
        snprintf(row->code + len, sizeof row->code - len, " msr 0x%x=0x%llx", event->extra_msr,
                 (unsigned long long)event->extra_value);
    counters_text(table, event, row->counters, sizeof row->counters);
    const char *fields[EVENT_COLUMNS] = {id->group,   event->id,  row->code,   row->counters,
                                         event->name, event->pfm, id->meaning, event->note};
    memcpy(row->fields, fields, sizeof fields);
    row->event = event;
}

// Finds the next requested event, in the order of counter_ids.csv from *index on.
static bool event_next(const struct counter_table *table, char *const *globs, int *index,
                       struct event_row *row)
{
    for (const struct counter_id *id; (id = counter_id_at(*index)); (*index)++) {
        const struct counter_event *event = counter_find(table, id->id);
        if (!event || strcmp(event->id, id->id) != 0 || !event_matches(event, id->group, globs))
            continue;
        event_row_make(table, event, id, row);
        (*index)++;
        return true;
    }
    return false;
}

// Content and form of a listing.
struct listing {
    const struct counter_table *table;
    const struct counters_request *request;
    int columns;        // of the terminal; 0: none
    struct strbuf note; // columns that do not fit the terminal
};

// Prints a table, fitted to the lines of a terminal unless --wide is given.
static void table_print(struct listing *list, struct text_table *table, const struct text_fit *fits,
                        struct strbuf *out)
{
    bool plain = list->request->format == REPORT_TABLE, rows = text_table_rows(table) > 0;
    if (terminal_has_colour(STDOUT_FILENO))
        text_table_colour(table);
    if (plain && rows && list->columns > 0 && !list->request->wide)
        text_table_print_narrow(table, list->columns, fits, out, &list->note);
    else if (!plain || rows)
        text_table_put(table, list->request->format, out);
    text_table_free(table);
}

// Prints the events; to a pipe, the vendors' long names only with --wide.
static void events_table(struct listing *list, struct strbuf *out)
{
    static const char *const headers[] = {"group", "event", "code", "counters", "name", "meaning"};
    static const enum text_align aligns[ARRAY_LEN(headers)] = {ALIGN_LEFT};
    static const struct text_fit fits[ARRAY_LEN(headers)] = {
        {1,        0 },
        {FIT_KEEP, 0 }, // event
        {2,        21}, // code: event=0x00,umask=0x00
        {3,        0 },
        {4,        24}, // name
        {FIT_KEEP, 40}, // meaning
    };
    struct text_table *report = text_table_new(headers, aligns, ARRAY_LEN(headers));
    bool names = list->request->wide || list->columns > 0;
    struct event_row row;
    const char *group = "";
    for (int index = 0; event_next(list->table, list->request->globs, &index, &row);) {
        bool same = strcmp(group, row.fields[0]) == 0;
        group = row.fields[0];
        text_table_cell(report, same ? "" : group);
        for (int i = 1; i <= 3; i++)
            text_table_cell(report, row.fields[i]);
        text_table_cell(report, names ? row.fields[4] : "");
        char *meaning =
            xasprintf("%s%s%s", row.fields[6], *row.fields[7] ? "; " : "", row.fields[7]);
        text_table_cell(report, meaning);
        free(meaning);
    }
    table_print(list, report, fits, out);
}

static void events_csv(struct listing *list, struct strbuf *out)
{
    static const char *const headers[] = {"uarch", "group", "event",   "code", "counters",
                                          "name",  "pfm",   "meaning", "note"};
    static const enum text_align aligns[ARRAY_LEN(headers)];
    struct text_table *table = text_table_new(headers, aligns, ARRAY_LEN(headers));
    struct event_row row;
    for (int index = 0; event_next(list->table, list->request->globs, &index, &row);) {
        text_table_cell(table, list->table->uarch);
        for (int i = 0; i < EVENT_COLUMNS; i++)
            text_table_cell(table, row.fields[i]);
    }
    text_table_put(table, REPORT_CSV, out);
    text_table_free(table);
}

static void head_json(const struct counter_table *table, struct json *json)
{
    json_open(json, '[');
    json_open(json, '{');
    json_text(json_name(json, "uarch"), table->uarch);
    json_text(json_name(json, "applies"), table->applies);
    json_text(json_name(json, "version"), table->version);
    json_text(json_name(json, "source"), table->source);
    json_text(json_name(json, "scheme"), counter_scheme_name(table->scheme));
    json_int(json_name(json, "general_counters"), table->general_counters);
    json_int(json_name(json, "fixed_counters"), table->fixed_counters);
}

static void events_json(struct listing *list, struct strbuf *out)
{
    struct event_row row;
    struct json json = {.out = out};
    head_json(list->table, &json);
    json_open(json_name(&json, "events"), '[');
    for (int index = 0; event_next(list->table, list->request->globs, &index, &row);) {
        char code[24];
        snprintf(code, sizeof code, "0x%llx", (unsigned long long)counter_event_code(row.event));
        json_open(json_break(&json, "\n  "), '{');
        for (int i = 0; i < EVENT_COLUMNS; i++)
            json_text(json_name(&json, event_columns[i]), row.fields[i]);
        json_text(json_name(&json, "config"), code);
        json_bool(json_name(&json, "here"), counter_fits(list->table, row.event));
        json_close(&json, '}');
    }
    json_close(json_break(&json, "\n"), ']');
    json_close(&json, '}');
    json_close(&json, ']');
    strbuf_puts(out, "\n");
}

static bool set_matches(const struct counter_set *set, char *const *globs)
{
    bool all = !*globs;
    for (; *globs; globs++)
        if (fnmatch(*globs, set->name, FNM_CASEFOLD) == 0)
            return true;
    return all;
}

static const struct counter_set *set_next(const struct counter_table *table, char *const *globs,
                                          const struct counter_set *set)
{
    do
        set = counter_set_next(table->uarch, set);
    while (set && !set_matches(set, globs));
    return set;
}

static void sets_table(struct listing *list, struct strbuf *out)
{
    static const char *const headers[] = {"uarch", "set", "events"};
    static const enum text_align aligns[ARRAY_LEN(headers)] = {ALIGN_LEFT};
    static const struct text_fit fits[ARRAY_LEN(headers)] = {
        {FIT_KEEP, 0 },
        {FIT_KEEP, 0 },
        {FIT_KEEP, 40}
    };
    struct text_table *report = text_table_new(headers, aligns, ARRAY_LEN(headers));
    bool csv = list->request->format == REPORT_CSV;
    for (const struct counter_set *set = NULL;
         (set = set_next(list->table, list->request->globs, set));) {
        text_table_cell(report, csv ? list->table->uarch : "");
        text_table_cell(report, set->name);
        text_table_cell(report, set->events);
    }
    table_print(list, report, fits, out);
}

static void sets_json(struct listing *list, struct strbuf *out)
{
    struct json json = {.out = out};
    head_json(list->table, &json);
    json_open(json_name(&json, "sets"), '[');
    for (const struct counter_set *set = NULL;
         (set = set_next(list->table, list->request->globs, set));) {
        json_open(json_break(&json, "\n  "), '{');
        json_text(json_name(&json, "set"), set->name);
        json_text(json_name(&json, "events"), set->events);
        json_close(&json, '}');
    }
    json_close(json_break(&json, "\n"), ']');
    json_close(&json, '}');
    json_close(&json, ']');
    strbuf_puts(out, "\n");
}

static bool list_has_rows(const struct listing *list)
{
    struct event_row row;
    int index = 0;
    return list->request->sets ? set_next(list->table, list->request->globs, NULL) != NULL
                               : event_next(list->table, list->request->globs, &index, &row);
}

static void list_text(struct listing *list, struct strbuf *out)
{
    typedef void writer(struct listing * list, struct strbuf * out);
    static writer *const people[] = {events_table, sets_table},
                         *const csv[] = {events_csv, sets_table},
                         *const json[] = {events_json, sets_json};
    const enum report_format format = list->request->format;
    const struct counter_table *table = list->table;
    char counts[96] = "";
    if (table->general_counters + table->fixed_counters > 0)
        snprintf(counts, sizeof counts, ", %d general and %d fixed counters",
                 table->general_counters, table->fixed_counters);
    if (format == REPORT_TABLE) {
        text_wrap(out, table->applies, 0, list->columns > 0 ? list->columns : INT_MAX);
        strbuf_printf(out, "%d events%s; table version %s, scheme %s\n\n", table->nevents, counts,
                      table->version, counter_scheme_name(table->scheme));
    }
    writer *const *writers = format == REPORT_CSV ? csv : format == REPORT_JSON ? json : people;
    writers[list->request->sets](list, out);
}

int counters_cpu_find(const struct counters_request *request, int cpu, struct cpu_info *info)
{
    struct err err;
    int number = cpu >= 0 ? cpu : sched_getcpu();
    if (request->dump)
        return cpu_load(request->dump, info, &err) == 0
                   ? EXIT_DONE
                   : command_fail(request->command, EXIT_USAGE, "%s", err.text);
    if (affinity_pin(0, number) != 0 && cpu >= 0)
        return command_fail(request->command, EXIT_USAGE, "cannot run on CPU %d: %s", number,
                            strerror(errno));
    if (cpu_identify(info, &err) < 0)
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
    struct listing list = {&table, request, columns, {0}};
    list_text(&list, &out);
    pager_put(strbuf_text(&out)); // the following must be read last
    if (!list_has_rows(&list))
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
