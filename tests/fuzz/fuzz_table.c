// SPDX-License-Identifier: MIT
// The tables of cpuinfo/: features, CPU families, counter events, names of ports. The first byte
// says which.
#include "fuzz.h"

#include "cpuinfo/counters.h"
#include "cpuinfo/cpu_tables.h"
#include "port_names/port_names_file.h"

#include <string.h>

static void read_features(const char *path, struct err *err)
{
    struct feature_table table = {0};
    if (features_read(path, &table, err) != 0)
        fuzz_check_message(err);
    csv_file_free(&table.file);
}

static void read_families(const char *path, struct err *err)
{
    struct family_table table = {0};
    struct cpu_info cpu = {.vendor = "GenuineIntel", .family = 6, .model = 0x55, .stepping = 4};
    if (families_read(path, features_table(), &table, err) != 0)
        fuzz_check_message(err);
    else
        family_lookup(&table, &cpu);
    csv_file_free(&table.file);
}

static void ignore_fault(const struct err *fault, void *data)
{
    (void)data;
    fuzz_check_message(fault);
}

// An event's code as text is one that is read as the same event.
static void check_event(const struct counter_table *table, const struct counter_event *event)
{
    char text[COUNTER_LABEL_BYTES];
    struct counter_event again;
    struct err err = {0};
    counter_event_text(event, text, sizeof text);
    if (event->kind == COUNTER_GENERAL && counter_parse(table, text, &again, &err) == 0)
        fuzz_check(counter_event_code(event) == counter_event_code(&again),
                   "an event's text is that event");
}

static void read_counters(const char *path, struct err *err)
{
    struct counter_table table = {0};
    if (counters_read(path, NULL, NULL, &table, err) == 0)
        for (int i = 0; i < table.nevents; i++)
            check_event(&table, &table.events[i]);
    else
        fuzz_check_message(err);
    counters_free(&table);
    memset(&table, 0, sizeof table);
    counters_read(path, ignore_fault, NULL, &table, err);
    counters_free(&table);
}

static const struct list_row *find_row(const char *form, void *data)
{
    (void)form, (void)data;
    return NULL;
}

static void read_port_names(const char *path, struct err *err)
{
    static struct port_names names;
    if (port_names_read(path, &names, err) != 0)
        fuzz_check_message(err);
    port_names_free(&names);
    if (port_names_check(path, find_row, NULL, err) != 0)
        fuzz_check_message(err);
}

void fuzz_table(const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return;
    const char *path = fuzz_file(bytes + 1, size - 1);
    struct err err = {0};
    switch (bytes[0]) {
    case 'f':
        read_features(path, &err);
        break;
    case 'c':
        read_counters(path, &err);
        break;
    case 'p':
        read_port_names(path, &err);
        break;
    default:
        read_families(path, &err);
    }
}
