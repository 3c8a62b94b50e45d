// SPDX-License-Identifier: MIT
#include "count_list.h"

#include "cpuinfo/counter_names.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/terminal.h"
#include "util/text.h"

#include <fnmatch.h>
#include <limits.h>
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

// Prints a table, fitted to the lines of a terminal unless --wide is given.
static void table_print(struct count_listing *list, struct text_table *table,
                        const struct text_fit *fits, struct strbuf *out)
{
    bool plain = list->format == REPORT_TABLE, rows = text_table_rows(table) > 0;
    if (terminal_has_colour(STDOUT_FILENO))
        text_table_colour(table);
    if (plain && rows && list->columns > 0 && !list->wide)
        text_table_print_narrow(table, list->columns, fits, out, &list->note);
    else if (!plain || rows)
        text_table_put(table, list->format, out);
    text_table_free(table);
}

// Prints the events; to a pipe, the vendors' long names only with --wide.
static void events_table(struct count_listing *list, struct strbuf *out)
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
    bool names = list->wide || list->columns > 0;
    struct event_row row;
    const char *group = "";
    for (int index = 0; event_next(list->table, list->globs, &index, &row);) {
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

static void events_csv(struct count_listing *list, struct strbuf *out)
{
    static const char *const headers[] = {"uarch", "group", "event",   "code", "counters",
                                          "name",  "pfm",   "meaning", "note"};
    static const enum text_align aligns[ARRAY_LEN(headers)];
    struct text_table *table = text_table_new(headers, aligns, ARRAY_LEN(headers));
    struct event_row row;
    for (int index = 0; event_next(list->table, list->globs, &index, &row);) {
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

static void events_json(struct count_listing *list, struct strbuf *out)
{
    struct event_row row;
    struct json json = {.out = out};
    head_json(list->table, &json);
    json_open(json_name(&json, "events"), '[');
    for (int index = 0; event_next(list->table, list->globs, &index, &row);) {
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

static void sets_table(struct count_listing *list, struct strbuf *out)
{
    static const char *const headers[] = {"uarch", "set", "events"};
    static const enum text_align aligns[ARRAY_LEN(headers)] = {ALIGN_LEFT};
    static const struct text_fit fits[ARRAY_LEN(headers)] = {
        {FIT_KEEP, 0 },
        {FIT_KEEP, 0 },
        {FIT_KEEP, 40}
    };
    struct text_table *report = text_table_new(headers, aligns, ARRAY_LEN(headers));
    bool csv = list->format == REPORT_CSV;
    for (const struct counter_set *set = NULL; (set = set_next(list->table, list->globs, set));) {
        text_table_cell(report, csv ? list->table->uarch : "");
        text_table_cell(report, set->name);
        text_table_cell(report, set->events);
    }
    table_print(list, report, fits, out);
}

static void sets_json(struct count_listing *list, struct strbuf *out)
{
    struct json json = {.out = out};
    head_json(list->table, &json);
    json_open(json_name(&json, "sets"), '[');
    for (const struct counter_set *set = NULL; (set = set_next(list->table, list->globs, set));) {
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

bool count_list_has_rows(const struct count_listing *list)
{
    struct event_row row;
    int index = 0;
    return list->sets ? set_next(list->table, list->globs, NULL) != NULL
                      : event_next(list->table, list->globs, &index, &row);
}

void count_list_put(struct count_listing *list, struct strbuf *out)
{
    typedef void writer(struct count_listing * list, struct strbuf * out);
    static writer *const people[] = {events_table, sets_table},
                         *const csv[] = {events_csv, sets_table},
                         *const json[] = {events_json, sets_json};
    const enum report_format format = list->format;
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
    writers[list->sets](list, out);
}
