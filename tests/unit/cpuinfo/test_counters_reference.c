// SPDX-License-Identifier: MIT
// The counter tables against the table of facts from which they were made, which is no part of the
// project: $LATPUT_REFERENCE/counters.tsv. Every row of it must be there under its id, with the
// same code, restriction and fixed counter; corrections are listed in
// tests/fixtures/counters/differences.csv.
#include "cpuinfo/counters.h"
#include "util/strbuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { UARCH, ROLE, NAME, EVENT, UMASK, CMASK, INV, EDGE, ANY, RESTRICTION, FIXED, FIELDS };

static char path[4096];

// The id of a role: shorter names for clocks and ports.
static void role_id(const char *role, char *id, size_t size)
{
    static const struct {
        const char *role, *id;
    } starts[] = {
        {"core_cycles",                  "core_clk"               },
        {"ref_cycles_prog",              "ref_clk_prog"           },
        {"ref_cycles",                   "ref_clk"                },
        {"branch_taken_mispredicts",     "branch_misses_taken"    },
        {"branch_direction_mispredicts", "branch_misses_direction"},
        {"branch_mispredicts",           "branch_misses"          },
        {"port_",                        "p_"                     },
        {"port",                         "p"                      },
    };
    size_t i = 0;
    while (i < ARRAY_LEN(starts) && strncmp(role, starts[i].role, strlen(starts[i].role)) != 0)
        i++;
    if (i < ARRAY_LEN(starts))
        snprintf(id, size, "%s%s", starts[i].id, role + strlen(starts[i].role));
    else
        snprintf(id, size, "%s", role);
    for (char *p = id; *p; p++)
        if (*p == 'A' || *p == 'B')
            *p = (char)(*p - 'A' + 'a');
}

static uint32_t restriction_mask(const char *text)
{
    unsigned from, to;
    if (!*text)
        return COUNTERS_ANY;
    int n = sscanf(text, "%u-%u", &from, &to);
    if (n == 2)
        return (2u << to) - (1u << from);
    return n == 1 ? 1u << from : 0;
}

static bool row_equal(const struct counter_event *event, char **field)
{
    enum counter_kind kind = strcmp(field[RESTRICTION], "fixed") == 0 ? COUNTER_FIXED
                             : strcmp(field[RESTRICTION], "msr") == 0 ? COUNTER_MSR
                                                                      : COUNTER_GENERAL;
    if (kind != event->kind || event->counters != restriction_mask(field[RESTRICTION]) ||
        event->fixed_index != (*field[FIXED] ? atoi(field[FIXED]) : -1))
        return false;
    if (kind == COUNTER_MSR)
        return true; // its number is in the name there
    return event->event == strtoul(field[EVENT], NULL, 16) &&
           event->umask == strtoul(field[UMASK], NULL, 16) &&
           event->cmask == strtoul(field[CMASK], NULL, 10) && event->inv == atoi(field[INV]) &&
           event->edge == atoi(field[EDGE]) && event->any == atoi(field[ANY]);
}

static bool listed(const struct csv_file *differences, const char *uarch, const char *id)
{
    for (size_t i = 0; i < differences->nrecords; i++) {
        const char *const *field = differences->records[i].fields;
        if (strcmp(field[0], uarch) == 0 && strcmp(field[1], id) == 0 &&
            strcmp(field[2], "reference") == 0)
            return true;
    }
    return false;
}

static void read_differences(struct csv_file *differences)
{
    static const char *const columns[] = {"uarch", "id", "finding", "reason"};
    const struct csv_spec spec = {columns, ARRAY_LEN(columns), 0};
    struct err err;
    if (csv_file_read("tests/fixtures/counters/differences.csv", &spec, differences, &err) != 0)
        fail_msg("%s", err.text);
}

static void compare_row(struct counter_table *table, char **field,
                        const struct csv_file *differences, struct strbuf *faults)
{
    char id[64];
    struct err err;
    role_id(field[ROLE], id, sizeof id);
    if (!table->uarch || strcmp(table->uarch, field[UARCH]) != 0) {
        counters_free(table);
        if (counters_load(field[UARCH], table, &err) != 0)
            fail_msg("%s", err.text);
    }
    const struct counter_event *event = counter_find(table, id);
    if (!event || strcmp(event->id, id) != 0)
        strbuf_printf(faults, "%s has no %s\n", field[UARCH], id);
    else if (!row_equal(event, field) && !listed(differences, field[UARCH], id))
        strbuf_printf(faults, "%s %s differs: %s\n", field[UARCH], id, field[NAME]);
}

static void test_every_row_is_here(void **state)
{
    (void)state;
    char line[4096], *field[FIELDS];
    struct strbuf faults = {0};
    struct counter_table table = {0};
    struct csv_file differences;
    int nrows = 0;
    read_differences(&differences);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file)); // header
    assert_ptr_equal(strstr(line, "uarch\trole\tname\tevent\tumask\tcmask\tinv\tedge\tany\t"
                                  "counter_restriction\tfixed_counter_index\t"),
                     line);
    while (fgets(line, sizeof line, file)) {
        char *rest = line;
        for (int i = 0; i < FIELDS; i++)
            field[i] = strsep(&rest, "\t\n");
        assert_non_null(field[FIELDS - 1]);
        compare_row(&table, field, &differences, &faults);
        nrows++;
    }
    fclose(file);
    counters_free(&table);
    csv_file_free(&differences);
    if (faults.len)
        fail_msg("%s", faults.data);
    print_message("%d rows\n", nrows);
    assert_true(nrows > 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_is_here),
    };
    const char *directory = getenv("LATPUT_REFERENCE");
    snprintf(path, sizeof path, "%s/counters.tsv", directory ? directory : "");
    FILE *file = directory ? fopen(path, "r") : NULL;
    if (!file) {
        puts("LATPUT_REFERENCE names no directory with a readable counters.tsv");
        return 77;
    }
    fclose(file);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
