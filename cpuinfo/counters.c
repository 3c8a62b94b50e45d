// SPDX-License-Identifier: MIT
// Reads and validates cpuinfo/counters/<uarch>.csv, and finds events in it; see counters.h. A table
// with a fault is not used at all: a wrong code counts something else without a word.
#include "counters.h"

#include "counter_scheme.h"
#include "cpu_tables.h"
#include "util/paths.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    COL_ID,
    COL_NAME,
    COL_PFM,
    COL_EVENT,
    COL_UMASK,
    COL_CMASK,
    COL_FLAGS,
    COL_COUNTERS,
    COL_FIXED,
    COL_SOURCE,
    COL_NOTE,
    COL_SELECT, // NetBurst only
    COL_EXTRA   // further register of an event
};
static const char *const columns[] = {"id",    "name",   "pfm",      "event", "umask",
                                      "cmask", "flags",  "counters", "fixed", "source",
                                      "note",  "select", "extra"};

// Returns true if two names differ only in letter case and the separator `.` or `:`.
static bool name_equal(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        bool separators = (*a == '.' || *a == ':') && (*b == '.' || *b == ':');
        if (!separators && tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
    }
    return *a == *b;
}

const struct counter_event *counter_find(const struct counter_table *table, const char *name)
{
    for (int i = 0; i < table->nevents; i++)
        if (name_equal(table->events[i].id, name))
            return &table->events[i];
    for (int i = 0; *name && i < table->nevents; i++)
        if (name_equal(table->events[i].name, name) || name_equal(table->events[i].pfm, name))
            return &table->events[i];
    return NULL;
}

// Parses a cell of counters: "" any, "0-3", "2", "fixed", "msr".
static int counters_cell(const char *text, struct counter_event *event)
{
    const char *dash = strchr(text, '-');
    size_t len = dash ? (size_t)(dash - text) : strlen(text);
    uint64_t from, to;
    event->counters = COUNTERS_ANY;
    event->kind = COUNTER_GENERAL;
    if (!text[0])
        return 0;
    if (strcmp(text, "fixed") == 0 || strcmp(text, "msr") == 0) {
        event->kind = text[0] == 'f' ? COUNTER_FIXED : COUNTER_MSR;
        event->counters = 0;
        return 0;
    }
    if (cell_number(text, len, COUNTERS_GENERAL_MAX - 1, &from) < 0)
        return -1;
    to = from;
    if (dash && cell_number(dash + 1, strlen(dash + 1), COUNTERS_GENERAL_MAX - 1, &to) < 0)
        return -1;
    if (to < from)
        return -1;
    event->counters = (uint32_t)((2ull << to) - (1ull << from));
    return 0;
}

// Parses any of the words "inv edge any pair", each once.
static int flags_cell(const char *text, struct counter_event *event)
{
    const struct {
        const char *word;
        bool *flag;
    } flags[] = {
        {"inv",  &event->inv },
        {"edge", &event->edge},
        {"any",  &event->any },
        {"pair", &event->pair},
    };
    while (*text) {
        size_t len = strcspn(text, " "), i = 0;
        while (i < ARRAY_LEN(flags) &&
               (strlen(flags[i].word) != len || strncmp(flags[i].word, text, len) != 0))
            i++;
        if (i == ARRAY_LEN(flags) || *flags[i].flag)
            return -1;
        *flags[i].flag = true;
        text += len;
        text += strspn(text, " ");
    }
    return 0;
}

// Parses "0x3f7=0x8": an MSR and what must be in it.
static int extra_cell(const char *text, struct counter_event *event)
{
    uint64_t msr = 0;
    size_t len = strcspn(text, "=");
    if (!text[0])
        return 0;
    if (!text[len] || cell_number(text, len, UINT32_MAX, &msr) < 0 || msr == 0)
        return -1;
    event->extra_msr = (uint32_t)msr;
    return cell_number(text + len + 1, strlen(text + len + 1), UINT64_MAX, &event->extra_value);
}

static bool id_is_valid(const char *id)
{
    size_t len = strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return len > 0 && len < 48 && !id[len] && !isdigit((unsigned char)id[0]);
}

static bool name_is_valid(const char *name)
{
    size_t len = strlen(name);
    for (const char *p = name; *p; p++)
        if (!isgraph((unsigned char)*p) || *p == ',')
            return false;
    return len < COUNTER_LABEL_BYTES;
}

static int number_cell(const char *text, uint64_t max, uint64_t *value)
{
    *value = 0;
    return text[0] ? cell_number(text, strlen(text), max, value) : 0;
}

// Fills `event` from the cells; returns the number of the first column that is wrong, or -1.
static int event_cells(const struct csv_record *record, struct counter_event *event)
{
    const char *const *field = record->fields;
    uint64_t code, umask, cmask, fixed, select;
    if (!id_is_valid(field[COL_ID]))
        return COL_ID;
    if (!field[COL_NAME][0] || !name_is_valid(field[COL_NAME]))
        return COL_NAME;
    if (!name_is_valid(field[COL_PFM]))
        return COL_PFM;
    if (!field[COL_EVENT][0] || number_cell(field[COL_EVENT], UINT32_MAX, &code) < 0)
        return COL_EVENT;
    if (number_cell(field[COL_UMASK], UINT32_MAX, &umask) < 0)
        return COL_UMASK;
    if (number_cell(field[COL_CMASK], 255, &cmask) < 0)
        return COL_CMASK;
    if (flags_cell(field[COL_FLAGS], event) < 0)
        return COL_FLAGS;
    if (counters_cell(field[COL_COUNTERS], event) < 0)
        return COL_COUNTERS;
    if (number_cell(field[COL_FIXED], COUNTERS_FIXED_MAX - 1, &fixed) < 0)
        return COL_FIXED;
    if (!field[COL_SOURCE][0])
        return COL_SOURCE;
    if (number_cell(field[COL_SELECT], 7, &select) < 0)
        return COL_SELECT;
    if (extra_cell(field[COL_EXTRA], event) < 0)
        return COL_EXTRA;
    snprintf(event->label, sizeof event->label, "%s", field[COL_ID]);
    event->id = field[COL_ID];
    event->name = field[COL_NAME];
    event->pfm = field[COL_PFM];
    event->source = field[COL_SOURCE];
    event->note = field[COL_NOTE];
    event->event = (uint32_t)code;
    event->umask = (uint32_t)umask;
    event->cmask = (unsigned)cmask;
    event->select = (unsigned)select;
    event->fixed_index = field[COL_FIXED][0] ? (int)fixed : -1;
    return -1;
}

struct reading {
    const struct counter_table *table;
    const struct csv_record *record;
    struct err *err;
};

#define FAULT(reading, column, ...)                                                                \
    csv_record_error((reading)->table->file.path, (reading)->record, column, (reading)->err,       \
                     __VA_ARGS__)

// Checks the cells together: scheme, kind, counters that exist.
static int event_check(struct reading *reading, const struct counter_event *event)
{
    char text[160];
    const struct counter_table *table = reading->table;
    if (scheme_misfit(event, text, sizeof text))
        return FAULT(reading, COL_EVENT, "%s", text);
    if (event->kind == COUNTER_FIXED && event->fixed_index < 0)
        return FAULT(reading, COL_COUNTERS, "counters is 'fixed', but the column fixed is empty");
    if (event->kind == COUNTER_MSR &&
        (event->umask || event->cmask || event->inv || event->edge || event->any))
        return FAULT(reading, COL_EVENT,
                     "an MSR has a number in the column event and nothing else");
    if (table->general_counters == 0 && table->fixed_counters == 0)
        return 0; // "unknown": CPUID says how many there are
    if (event->fixed_index >= 0 && table->fixed_counters == 0)
        return FAULT(reading, COL_FIXED, "cpus.csv says that %s has no fixed counters",
                     table->uarch);
    if (event->kind == COUNTER_GENERAL && event->counters != COUNTERS_ANY &&
        (table->general_counters == 0 || event->counters >> (table->general_counters - 1) >> 1))
        return FAULT(reading, COL_COUNTERS,
                     "cpus.csv says that %s has %d general counters, so the last is %d",
                     table->uarch, table->general_counters, table->general_counters - 1);
    return 0;
}

static bool code_equal(const struct counter_event *a, const struct counter_event *b)
{
    return a->kind == b->kind && a->event == b->event &&
           counter_event_code(a) == counter_event_code(b);
}

static int event_compare(struct reading *reading, const struct counter_event *event)
{
    const struct counter_table *table = reading->table;
    for (int i = 0; i < table->nevents; i++) {
        const struct counter_event *old = &table->events[i];
        if (strcmp(old->id, event->id) == 0)
            return FAULT(reading, COL_ID, "the id '%s' is already in this table", event->id);
        if (name_equal(old->name, event->name) && !code_equal(old, event))
            return FAULT(reading, COL_NAME, "'%s' is already the name of %s with another code",
                         event->name, old->id);
    }
    return 0;
}

static int event_add(void *data, const struct csv_record *record, struct err *err)
{
    struct counter_table *table = data;
    struct reading reading = {table, record, err};
    struct counter_event event = {.scheme = table->scheme};
    int bad = event_cells(record, &event);
    if (bad >= 0)
        return table_cell_error(table->file.path, record, bad, columns, err);
    if (event_check(&reading, &event) < 0 || event_compare(&reading, &event) < 0)
        return -1;
    table->events[table->nevents++] = event;
    return 0;
}

static int head_read(void *data, struct err *err)
{
    struct counter_table *table = data;
    struct csv_file *file = &table->file;
    const char *scheme = csv_file_comment(file, "scheme");
    const char *model = csv_file_comment(file, "libpfm4");
    table->pfm_model = model ? model : "";
    table->source = csv_file_comment(file, "source");
    table->version = csv_file_comment(file, "version");
    table->applies = csv_file_comment(file, "applies");
    if (!table->source || !table->version || !table->applies || !scheme)
        return err_set(err,
                       "%s: needs the comment lines `# source:`, `# version:`, `# applies:` "
                       "and `# scheme:` before the header row",
                       file->path);
    if (!table->version[0] || table->version[strcspn(table->version, " \t")])
        return err_set(err, "%s: `# version:` must be one word", file->path);
    int number = scheme_find(scheme);
    if (number < 0)
        return err_set(err, "%s: there is no scheme '%s'; cpuinfo/README.md lists them", file->path,
                       scheme);
    table->scheme = (enum counter_scheme)number;
    size_t len = strcspn(table->applies, " :,");
    table->uarch = arena_strndup(&file->arena, table->applies, len);
    const struct cpu_family *family = cpu_family_find(table->uarch);
    if (!family && strcmp(table->uarch, "unknown") != 0)
        return err_set(err, "%s: `# applies:` begins with '%s', which is no uarch of cpus.csv",
                       file->path, table->uarch);
    table->general_counters = family ? family->general_counters : 0;
    table->fixed_counters = family ? family->fixed_counters : 0;
    return 0;
}

int counters_read(const char *path, table_report *report, void *data, struct counter_table *table,
                  struct err *err)
{
    const struct csv_spec spec = {columns, ARRAY_LEN(columns), 2};
    const struct table_reader reader = {.spec = &spec,
                                        TABLE_ROWS(table, events),
                                        .begin = head_read,
                                        .add = event_add,
                                        .report = report,
                                        .data = data};
    memset(table, 0, sizeof *table);
    return table_read(path, &reader, table, &table->file, err);
}

int counters_load(const char *uarch, struct counter_table *table, struct err *err)
{
    char relative[96], key[64];
    memset(table, 0, sizeof *table);
    if (!cpu_family_find(uarch) && strcmp(uarch, "unknown") != 0)
        return err_set(err, "there is no uarch '%s' in cpus.csv", uarch);
    snprintf(relative, sizeof relative, "cpuinfo/counters/%s.csv",
             cpu_uarch_key(uarch, key, sizeof key));
    if (access(path_data(relative), F_OK) != 0)
        return err_set(err,
                       "no counter events of %s are known, so none can be counted: there is no %s; "
                       "docs/HOWTO_ADD_CPU.md says how to make one",
                       uarch, relative);
    return counters_read(path_data(relative), NULL, NULL, table, err);
}

void counters_free(struct counter_table *table)
{
    csv_file_free(&table->file);
    memset(table, 0, sizeof *table);
}
