// SPDX-License-Identifier: MIT
// Every event of the counter tables against libpfm4, an independent transcription of the vendors'
// documents: the name in the column pfm must give the same code there, and so must the vendor's
// name if libpfm4 has it. Differences and events that libpfm4 lacks are listed with the reason in
// tests/fixtures/counters/differences.csv.
#include "cpuinfo/counters.h"
#include "util/paths.h"
#include "util/strbuf.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if __has_include(<perfmon/pfmlib.h>)
#include <perfmon/pfmlib.h>

// Bits of PERFEVTSEL that say in which mode to count, and whether: not the event's.
static const uint64_t PRIVILEGE_BITS = 1u << 16 | 1u << 17 | 1u << 20 | 1u << 22;

static struct csv_file differences;
static glob_t tables;
static bool *used; // a difference each
static int nequal, nabsent, ndiffer;

static int setup(void **state)
{
    (void)state;
    static const char *const columns[] = {"uarch", "id", "finding", "reason"};
    const struct csv_spec spec = {columns, ARRAY_LEN(columns), 0};
    struct err err;
    setenv("LIBPFM_ENCODE_INACTIVE", "1", 1); // models other than this machine's
    if (pfm_initialize() != PFM_SUCCESS)
        return -1;
    if (csv_file_read("tests/fixtures/counters/differences.csv", &spec, &differences, &err) != 0) {
        fprintf(stderr, "%s\n", err.text);
        return -1;
    }
    used = xcalloc(differences.nrecords, sizeof *used);
    return glob(path_data("cpuinfo/counters/*.csv"), 0, NULL, &tables);
}

static int teardown(void **state)
{
    (void)state;
    free(used);
    globfree(&tables);
    csv_file_free(&differences);
    pfm_terminate();
    return 0;
}

// libpfm4's code of an event, reduced to what counter_event_code() says. Returns 0, or -1 if it
// does not know the name.
static int pfm_code(const struct counter_event *event, const char *model, const char *name,
                    uint64_t *code)
{
    char text[COUNTER_LABEL_BYTES + 64];
    pfm_pmu_encode_arg_t arg = {.size = sizeof arg};
    snprintf(text, sizeof text, "%s::%s", model, name);
    for (char *p = text + strlen(model); *p; p++)
        if (*p == '.') // the vendor's separator
            *p = ':';
    if (pfm_get_os_event_encoding(text, PFM_PLM0 | PFM_PLM3, PFM_OS_NONE, &arg) != PFM_SUCCESS)
        return -1;
    *code = arg.codes[0] & ~PRIVILEGE_BITS;
    if (event->scheme == SCHEME_NETBURST) // ESCR without modes and tags, CCCR's select
        *code = (arg.codes[0] & 0x7ffffe00) | (arg.codes[1] & 0xe000) << 32;
    free(arg.codes);
    return 0;
}

// Returns true if the difference is listed, and marks it.
static bool listed(const char *uarch, const char *id, const char *finding)
{
    for (size_t i = 0; i < differences.nrecords; i++) {
        const char *const *field = differences.records[i].fields;
        if (strcmp(field[0], uarch) == 0 && strcmp(field[1], id) == 0 &&
            strcmp(field[2], finding) == 0 && field[3][0]) {
            used[i] = true;
            return true;
        }
    }
    return false;
}

// Returns true if libpfm4's name stands for this code.
static bool code_is(const struct counter_event *event, const char *model, const char *name,
                    uint64_t code)
{
    uint64_t theirs;
    return pfm_code(event, model, name, &theirs) == 0 && theirs == code;
}

// The unit masks of an event of libpfm4. Returns how many.
static int pfm_umasks(int index, const pfm_event_info_t *info, const char **names, int most)
{
    int n = 0;
    for (int i = 0; i < info->nattrs && n < most; i++) {
        pfm_event_attr_info_t attr = {.size = sizeof attr};
        if (pfm_get_event_attr_info(index, i, PFM_OS_NONE, &attr) == PFM_SUCCESS &&
            attr.type == PFM_ATTR_UMASK)
            names[n++] = attr.name;
    }
    return n;
}

// Finds a name by which libpfm4 knows the code: an event, with one of its unit masks, or with two.
static bool pfm_find(const struct counter_event *event, const char *model, char *name, size_t size)
{
    enum { UMASKS_MAX = 64 };
    uint64_t code = counter_event_code(event);
    pfm_pmu_t pmu;
    pfm_for_all_pmus(pmu)
    {
        pfm_pmu_info_t pmu_info = {.size = sizeof pmu_info};
        if (pfm_get_pmu_info(pmu, &pmu_info) != PFM_SUCCESS || strcmp(pmu_info.name, model) != 0)
            continue;
        for (int i = pmu_info.first_event; i != -1; i = pfm_get_event_next(i)) {
            pfm_event_info_t info = {.size = sizeof info};
            const char *umasks[UMASKS_MAX];
            if (pfm_get_event_info(i, PFM_OS_NONE, &info) != PFM_SUCCESS)
                continue;
            int n = pfm_umasks(i, &info, umasks, UMASKS_MAX);
            snprintf(name, size, "%s", info.name);
            if (code_is(event, model, name, code))
                return true;
            for (int a = 0; a < n; a++)
                for (int b = a; b < n; b++) {
                    snprintf(name, size, "%s:%s%s%s", info.name, umasks[a], b > a ? ":" : "",
                             b > a ? umasks[b] : "");
                    if (code_is(event, model, name, code))
                        return true;
                }
        }
    }
    return false;
}

static void compare(const struct counter_table *table, const struct counter_event *event,
                    const char *model, struct strbuf *faults)
{
    uint64_t own = counter_event_code(event), theirs;
    char name[COUNTER_LABEL_BYTES];
    bool named = pfm_code(event, model, event->name, &theirs) == 0;
    if (named && theirs != own) {
        ndiffer++;
        if (!listed(table->uarch, event->id, "differs"))
            strbuf_printf(faults, "%s %s: %s is 0x%llx here and 0x%llx in libpfm4\n", table->uarch,
                          event->id, event->name, (unsigned long long)own,
                          (unsigned long long)theirs);
    }
    if (!event->pfm[0]) {
        nabsent++;
        if (!named && !listed(table->uarch, event->id, "absent"))
            strbuf_printf(faults, "%s %s: no name of libpfm4\n", table->uarch, event->id);
        if (named && theirs == own)
            strbuf_printf(faults, "%s %s: libpfm4 has this name and code; enter it in pfm\n",
                          table->uarch, event->id);
        else if (!named && pfm_find(event, model, name, sizeof name))
            strbuf_printf(faults, "%s %s: libpfm4 has this code as %s; enter it in pfm\n",
                          table->uarch, event->id, name);
        return;
    }
    if (pfm_code(event, model, event->pfm, &theirs) != 0)
        strbuf_printf(faults, "%s %s: libpfm4's %s has no event %s\n", table->uarch, event->id,
                      model, event->pfm);
    else if (theirs != own)
        strbuf_printf(faults, "%s %s: 0x%llx here; %s of libpfm4 is 0x%llx\n", table->uarch,
                      event->id, (unsigned long long)own, event->pfm, (unsigned long long)theirs);
    else
        nequal++;
}

static void test_codes_are_libpfm4s(void **state)
{
    (void)state;
    struct strbuf faults = {0};
    int nmodels = 0;
    for (size_t i = 0; i < tables.gl_pathc; i++) {
        struct counter_table table;
        struct err err;
        if (counters_read(tables.gl_pathv[i], NULL, NULL, &table, &err) != 0)
            fail_msg("%s", err.text);
        for (int j = 0; j < table.nevents && *table.pfm_model; j++)
            if (table.events[j].kind != COUNTER_MSR)
                compare(&table, &table.events[j], table.pfm_model, &faults);
        nmodels += *table.pfm_model != '\0';
        counters_free(&table);
    }
    assert_true(nmodels >= 40);
    print_message("%d events equal, %d with another code for the same name, %d without a name of "
                  "libpfm4\n",
                  nequal, ndiffer, nabsent);
    if (faults.len)
        fail_msg("%sThe differences are listed for libpfm4 4.13.", faults.data);
    assert_true(nequal > 1900);
}

static void test_differences_are_still_there(void **state)
{
    (void)state;
    for (size_t i = 0; i < differences.nrecords; i++)
        if (!used[i] && strcmp(differences.records[i].fields[2], "reference") != 0)
            fail_msg("%s:%d: this is no difference any more", differences.path,
                     differences.records[i].line);
}

// Events that the tables do not have come from the library itself, where it is installed.
static void test_other_events_are_looked_up(void **state)
{
    (void)state;
    struct counter_table table;
    struct counter_event event;
    struct err err;
    assert_int_equal(counters_load("skylake", &table, &err), 0);
    if (counter_parse(&table, "L2_RQSTS:MISS:u:c=2", &event, &err) != 0)
        fail_msg("%s", err.text);
    assert_string_equal(event.id, "");
    assert_string_equal(event.source, "libpfm4");
    assert_true(counter_event_code(&event) == 0x2003f24 && event.user && !event.kernel);
    assert_int_equal(counter_parse(&table, "l2_rqsts.no_such", &event, &err), -1);
    assert_non_null(strstr(err.text, "is no event of skylake"));
    assert_int_equal(
        counter_parse(&table, "OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE", &event, &err), -1);
    assert_non_null(strstr(err.text, "it needs more than one control register"));
    counters_free(&table);
    assert_int_equal(counters_load("netburst", &table, &err), 0);
    if (counter_parse(&table, "instr_retired:BOGUSNTAG", &event, &err) != 0)
        fail_msg("%s", err.text);
    assert_true(event.event == 2 && event.umask == 4 && event.select == 4);
    counters_free(&table);
    assert_int_equal(counters_load("zen5", &table, &err), 0); // unknown to version 4.13
    assert_int_equal(counter_parse(&table, "RETIRED_OPS", &event, &err), -1);
    counters_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes_are_libpfm4s),
        cmocka_unit_test(test_differences_are_still_there),
        cmocka_unit_test(test_other_events_are_looked_up),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

#else

int main(void)
{
    puts("libpfm4 is not installed (Debian package libpfm4-dev)");
    return 77;
}

#endif
