// SPDX-License-Identifier: MIT
#include "count_list.h"

#include "cpuinfo/counter_names.h"
#include "util/mem.h"
#include "util/terminal.h"
#include "util/text.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX = 160 };

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

struct event_row {
    const char *uarch, *event, *name, *pfm, *note;
    struct counter_id id;
    char code[TEXT_MAX], counters[TEXT_MAX], config[24];
    const char *group, *long_name, *meaning; // for people
    bool here;
};
#define EVENT(...) OUTPUT_FIELD(struct event_row, __VA_ARGS__)
#define EVENT_SHOWN(title, ...) EVENT(__VA_ARGS__, .look.heading = (title))
OUTPUT_DEFINE(event_record, struct event_row, OUTPUT_LINE, EVENT(uarch, .only = OUTPUT_CSV),
              EVENT(id.group),
              EVENT_SHOWN("group", group, .only = OUTPUT_PEOPLE, .look.fit = {1, 0}),
              EVENT_SHOWN("event", event),
              EVENT_SHOWN("code", code, .look.fit = {2, 21}), // event=0x00,umask=0x00
              EVENT_SHOWN("counters", counters, .look.fit = {3, 0}), EVENT(name), EVENT(pfm),
              EVENT_SHOWN("name", long_name, .only = OUTPUT_PEOPLE, .look.fit = {4, 24}),
              EVENT_SHOWN("meaning", meaning, .only = OUTPUT_PEOPLE, .look.fit = {FIT_KEEP, 40}),
              EVENT(id.meaning), EVENT(note), EVENT(config, .only = OUTPUT_JSON),
              EVENT(here, .only = OUTPUT_JSON));

struct set_row {
    const char *uarch, *set, *events;
};
#define SET(...) OUTPUT_FIELD(struct set_row, __VA_ARGS__)
OUTPUT_DEFINE(set_record, struct set_row, OUTPUT_LINE, SET(uarch, .only = OUTPUT_CSV),
              SET(set, .look.heading = "set"),
              SET(events, .look.heading = "events", .look.fit = {FIT_KEEP, 40}));

// The table with its events or sets.
struct whole {
    struct counter_table of;
    const char *scheme;
    int n;
    const void *rows;
};
#define HEAD(...) OUTPUT_FIELD(struct whole, __VA_ARGS__)
OUTPUT_DEFINE(head_record, struct whole, OUTPUT_LINE, HEAD(of.uarch), HEAD(of.applies),
              HEAD(of.version), HEAD(of.source), HEAD(scheme), HEAD(of.general_counters),
              HEAD(of.fixed_counters));
static const struct output_field events_fields[] = {
    OUTPUT_INLINE(head_record),
    OUTPUT_ROWS(struct whole, rows, n, event_record, .look.name = "events")};
static const struct output_field sets_fields[] = {
    OUTPUT_INLINE(head_record),
    OUTPUT_ROWS(struct whole, rows, n, set_record, .look.name = "sets")};
static const struct output_record events_record = {OUTPUT_RECORD(struct whole, events_fields)},
                                  sets_record = {OUTPUT_RECORD(struct whole, sets_fields)};
const struct output_kind count_list_kinds[2] = {
    {"counters",      "latput counters list",        &events_record, 1, 1},
    {"counters_sets", "latput counters list --sets", &sets_record,   1, 1}
};

// `before`: the group of the row before, which people see once.
static struct event_row event_row_make(const struct count_listing *list,
                                       const struct counter_id *id,
                                       const struct counter_event *event, const char *before,
                                       struct arena *arena)
{
    bool names = list->wide || list->columns > 0;
    struct event_row row = {.uarch = list->table->uarch,
                            .event = event->id,
                            .name = event->name,
                            .pfm = event->pfm,
                            .note = event->note,
                            .id = *id,
                            .group = strcmp(before, id->group) == 0 ? "" : id->group,
                            // to a pipe, the vendors' long names only with --wide
                            .long_name = names ? event->name : "",
                            .meaning = arena_printf(arena, "%s%s%s", id->meaning,
                                                    *event->note ? "; " : "", event->note),
                            .here = counter_fits(list->table, event)};
    size_t len = strlen(counter_event_text(event, row.code, sizeof row.code));
    if (event->extra_msr)
        snprintf(row.code + len, sizeof row.code - len, " msr 0x%x=0x%llx", event->extra_msr,
                 (unsigned long long)event->extra_value);
    counters_text(list->table, event, row.counters, sizeof row.counters);
    snprintf(row.config, sizeof row.config, "0x%llx",
             (unsigned long long)counter_event_code(event));
    return row;
}

// Makes the requested events, in the order of counter_ids.csv.
static struct event_row *events_make(const struct count_listing *list, struct arena *arena, int *n)
{
    const struct counter_id *id;
    const char *group = "";
    struct event_row *rows = NULL;
    size_t capacity = 0;
    *n = 0;
    for (int index = 0; (id = counter_id_at(index)); index++) {
        const struct counter_event *event = counter_find(list->table, id->id);
        if (!event || strcmp(event->id, id->id) != 0 ||
            !event_matches(event, id->group, list->globs))
            continue;
        rows = xgrow(rows, &capacity, (size_t)*n + 1, sizeof *rows);
        rows[(*n)++] = event_row_make(list, id, event, group, arena);
        group = id->group;
    }
    return rows;
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

static struct set_row *sets_make(const struct count_listing *list, int *n)
{
    struct set_row *rows = NULL;
    size_t capacity = 0;
    *n = 0;
    for (const struct counter_set *set = NULL; (set = set_next(list->table, list->globs, set));) {
        rows = xgrow(rows, &capacity, (size_t)*n + 1, sizeof *rows);
        rows[(*n)++] = (struct set_row){list->table->uarch, set->name, set->events};
    }
    return rows;
}

// Prints a table, fitted to the lines of a terminal unless --wide is given.
static void table_print(struct count_listing *list, const struct output_record *record,
                        const void *rows, int n, struct strbuf *out)
{
    bool plain = list->format == REPORT_TABLE;
    const struct output_page page = {list->format, plain && !list->wide ? list->columns : 0,
                                     terminal_has_colour(STDOUT_FILENO)};
    if (!plain || n > 0)
        output_print(record, rows, n, &page, out, &list->note);
}

static void put_head(const struct count_listing *list, struct strbuf *out)
{
    const struct counter_table *table = list->table;
    char counts[96] = "";
    if (table->general_counters + table->fixed_counters > 0)
        snprintf(counts, sizeof counts, ", %d general and %d fixed counters",
                 table->general_counters, table->fixed_counters);
    text_wrap(out, table->applies, 0, list->columns > 0 ? list->columns : INT_MAX);
    strbuf_printf(out, "%d events%s; table version %s, scheme %s\n\n", table->nevents, counts,
                  table->version, counter_scheme_name(table->scheme));
}

int count_list_put(struct count_listing *list, struct strbuf *out)
{
    struct arena arena = {0};
    const struct output_record *record = list->sets ? &set_record : &event_record;
    struct whole whole = {.of = *list->table, .scheme = counter_scheme_name(list->table->scheme)};
    void *rows = list->sets ? (void *)sets_make(list, &whole.n)
                            : (void *)events_make(list, &arena, &whole.n);
    whole.rows = rows;
    if (list->format == REPORT_TABLE)
        put_head(list, out);
    if (list->format == REPORT_JSON)
        output_put_json(count_list_kinds[list->sets].record, &whole, 1, true, out);
    else if (list->format == REPORT_CSV)
        output_put_table(record, rows, whole.n, REPORT_CSV, out);
    else
        table_print(list, record, rows, whole.n, out);
    free(rows);
    arena_free(&arena);
    return whole.n;
}
