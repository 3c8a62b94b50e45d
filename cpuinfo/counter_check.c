// SPDX-License-Identifier: MIT
// Checks across the tables of counters: every family has one, ids have a meaning, sets and ports
// name existing events; see counter_check.h.
#include "counter_check.h"

#include "counter_names.h"
#include "counters.h"
#include "cpu_tables.h"
#include "util/paths.h"
#include "util/suggest.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct checking {
    table_report *report;
    void *data;
    struct counter_ids ids;
    struct counter_sets sets;
    struct counter_table *tables; // the readable ones
    int ntables;
    bool *used; // ids
};

static void check_say(struct checking *check, const struct err *fault)
{
    check->report(fault, check->data);
}

static const struct counter_table *check_table_find(const struct checking *check, const char *uarch)
{
    for (int i = 0; i < check->ntables; i++)
        if (strcmp(check->tables[i].uarch, uarch) == 0)
            return &check->tables[i];
    return NULL;
}

static void check_id(struct checking *check, const struct counter_table *table,
                     const struct csv_record *record, const char *id)
{
    struct err fault;
    char hint[96];
    for (int i = 0; i < check->ids.nrows; i++)
        if (strcmp(check->ids.rows[i].id, id) == 0) {
            check->used[i] = true;
            return;
        }
    struct suggestion suggestion = suggest_start(id, strlen(id));
    for (int i = 0; i < check->ids.nrows; i++)
        suggest_offer(&suggestion, check->ids.rows[i].id);
    csv_record_error(table->file.path, record, 0, &fault,
                     "the id '%s' has no meaning in counter_ids.csv%s", id,
                     suggest_text(&suggestion, hint, sizeof hint));
    check_say(check, &fault);
}

// Checks the ids of a table, and its number of fixed counters.
static void check_table(struct checking *check, const struct counter_table *table, bool have_ids)
{
    struct err fault;
    unsigned fixed = 0;
    for (int i = 0; i < table->nevents; i++) {
        const struct counter_event *event = &table->events[i];
        const struct csv_record *record = &table->file.records[i];
        if (have_ids)
            check_id(check, table, record, event->id);
        if (event->fixed_index < 0 || fixed & 1u << event->fixed_index ||
            strcmp(table->uarch, "unknown") == 0)
            continue;
        fixed |= 1u << event->fixed_index;
        if (__builtin_popcount(fixed) <= table->fixed_counters)
            continue;
        csv_record_error(
            table->file.path, record, -1, &fault,
            "with this event %d fixed counters are named; cpus.csv says that %s has %d",
            __builtin_popcount(fixed), table->uarch, table->fixed_counters);
        check_say(check, &fault);
    }
}

// Checks that a table's file has the name of its uarch, and that each uarch has one.
static void check_file_name(struct checking *check, const struct counter_table *table)
{
    struct err fault;
    const char *slash = strrchr(table->file.path, '/');
    const char *name = slash ? slash + 1 : table->file.path;
    size_t len = strlen(table->uarch);
    if (strncmp(name, table->uarch, len) == 0 && strcmp(name + len, ".csv") == 0)
        return;
    err_set(&fault, "%s: `# applies:` says %s, so the file must be %s.csv", table->file.path,
            table->uarch, table->uarch);
    check_say(check, &fault);
}

// Checks the families. Nothing can be counted on a family without a table: counters_missing().
static void check_families(struct checking *check)
{
    struct err fault;
    const struct family_table *families = families_table();
    for (int i = 0; i < families->nrows; i++) {
        const struct family_row *row = &families->rows[i];
        const struct counter_table *table = check_table_find(check, row->facts.uarch);
        char port[64];
        for (const char *at = row->facts.ports; table && *at; at += strspn(at, " ")) {
            size_t len = strcspn(at, " ");
            snprintf(port, sizeof port, "%.*s", (int)len, at);
            at += len;
            if (counter_find(table, port))
                continue;
            csv_record_error(families->file.path, row->record, -1, &fault,
                             "the port '%s' is no event of %s", port, table->file.path);
            check_say(check, &fault);
        }
    }
}

// Checks one event of a set in the table of each of its families.
static void check_set_event(struct checking *check, const struct counter_set *set,
                            const char *event, const char *uarch)
{
    struct err fault;
    const struct counter_table *table = check_table_find(check, uarch);
    const struct counter_event *found = table ? counter_find(table, event) : NULL;
    if (!table || (found && strcmp(found->id, event) == 0))
        return;
    csv_record_error(check->sets.file.path, set->record, 1, &fault, "%s has no event '%s'", uarch,
                     event);
    check_say(check, &fault);
}

static void check_set(struct checking *check, const struct counter_set *set)
{
    struct err fault;
    char event[64], uarch[64];
    for (const char *u = set->uarchs; *u; u += strspn(u, " ")) {
        snprintf(uarch, sizeof uarch, "%.*s", (int)strcspn(u, " "), u);
        u += strcspn(u, " ");
        if (!cpu_family_find(uarch) && strcmp(uarch, "unknown") != 0) {
            csv_record_error(check->sets.file.path, set->record, 2, &fault,
                             "there is no uarch '%s' in cpus.csv", uarch);
            check_say(check, &fault);
        }
        for (const char *e = set->events; *e; e += strspn(e, " ")) {
            snprintf(event, sizeof event, "%.*s", (int)strcspn(e, " "), e);
            e += strcspn(e, " ");
            check_set_event(check, set, event, uarch);
        }
    }
}

static void check_unused(struct checking *check)
{
    struct err fault;
    for (int i = 0; i < check->ids.nrows; i++) {
        if (check->used[i])
            continue;
        err_set(&fault, "%s:%d: no table has an event '%s'", check->ids.file.path,
                check->ids.rows[i].line, check->ids.rows[i].id);
        check_say(check, &fault);
    }
}

static const char *check_path(struct arena *arena, const char *directory, const char *name)
{
    return arena_printf(arena, "%s/%s", directory, name);
}

int counters_check(const char *directory, table_report *report, void *data)
{
    struct checking check = {.report = report, .data = data};
    struct arena arena = {0};
    glob_t found = {0};
    if (!directory)
        directory = path_data("cpuinfo");
    bool have_ids = counter_ids_read(check_path(&arena, directory, "counter_ids.csv"), report, data,
                                     &check.ids, NULL) == 0;
    counter_sets_read(check_path(&arena, directory, "counter_sets.csv"), report, data, &check.sets,
                      NULL);
    glob(check_path(&arena, directory, "counters/*.csv"), 0, NULL, &found);
    check.tables = xcalloc(found.gl_pathc + 1, sizeof *check.tables);
    check.used = xcalloc((size_t)check.ids.nrows + 1, sizeof *check.used);
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (counters_read(found.gl_pathv[i], report, data, &check.tables[check.ntables], NULL) == 0)
            check.ntables++;
    for (int i = 0; i < check.ntables; i++) {
        check_table(&check, &check.tables[i], have_ids);
        check_file_name(&check, &check.tables[i]);
    }
    check_families(&check);
    for (int i = 0; i < check.sets.nrows; i++)
        check_set(&check, &check.sets.rows[i]);
    if ((size_t)check.ntables == found.gl_pathc)
        check_unused(&check);
    int ntables = (int)found.gl_pathc;
    for (int i = 0; i < check.ntables; i++)
        counters_free(&check.tables[i]);
    csv_file_free(&check.ids.file);
    csv_file_free(&check.sets.file);
    globfree(&found);
    arena_free(&arena);
    free(check.tables);
    free(check.used);
    return ntables;
}

void counters_missing(struct strbuf *names)
{
    const struct family_table *families = families_table();
    for (int i = 0; i < families->nrows; i++) {
        const struct family_row *row = &families->rows[i];
        char name[128];
        snprintf(name, sizeof name, "cpuinfo/counters/%s.csv", row->facts.uarch);
        if (cpu_family_find(row->facts.uarch) == &row->facts && access(path_data(name), F_OK) != 0)
            strbuf_printf(names, "%s%s", names->len ? " " : "", row->facts.uarch);
    }
}
