// SPDX-License-Identifier: MIT
// The check of all tables about counters: those of the tree are right, and each kind of fault is
// found with its file and line. A bad tree is the good one with one file replaced.
#include "cpuinfo/counter_check.h"
#include "util/mem.h"
#include "util/paths.h"
#include "util/strbuf.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/latput-counters-XXXXXX";

static void link_all(const char *pattern, const char *below)
{
    glob_t found;
    char path[256];
    assert_int_equal(glob(path_data(pattern), 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        snprintf(path, sizeof path, "%s/%s%s", directory, below,
                 strrchr(found.gl_pathv[i], '/') + 1);
        assert_int_equal(symlink(found.gl_pathv[i], path), 0);
    }
    globfree(&found);
}

static int setup(void **state)
{
    (void)state;
    char counters[64];
    if (!mkdtemp(directory))
        return -1;
    snprintf(counters, sizeof counters, "%s/counters", directory);
    if (mkdir(counters, 0700) != 0)
        return -1;
    link_all("cpuinfo/counters/*.csv", "counters/");
    link_all("cpuinfo/counter_*.csv", "");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char pattern[64];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/*.csv", directory);
    glob(pattern, 0, NULL, &found);
    snprintf(pattern, sizeof pattern, "%s/counters/*", directory);
    glob(pattern, GLOB_APPEND, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++)
        unlink(found.gl_pathv[i]);
    globfree(&found);
    snprintf(pattern, sizeof pattern, "%s/counters", directory);
    return rmdir(pattern) | rmdir(directory);
}

static void collect(const struct err *fault, void *data)
{
    strbuf_printf(data, "%s\n", fault->text);
}

static void test_tree_has_no_fault(void **state)
{
    (void)state;
    struct strbuf faults = {0};
    int ntables = counters_check(NULL, collect, &faults);
    if (faults.len)
        fail_msg("%s", faults.data);
    assert_true(ntables >= 72);
    assert_int_equal(counters_check(directory, collect, &faults), ntables);
    assert_int_equal(faults.len, 0);
}

#define HEAD(uarch, scheme)                                                                        \
    "# source: s\n# version: 1\n# applies: " uarch "\n# scheme: " scheme                           \
    "\nid,name,pfm,event,umask,cmask,flags,counters,fixed,source,note\n"
// The file that is replaced, and its head; the first event is then in line 6.
struct head {
    const char *file, *text;
};
static const struct head core2 = {"counters/core2.csv", HEAD("core2", "arch")};
static const struct head p6 = {"counters/p6.csv", HEAD("p6", "p6")};
static const struct head p5 = {"counters/p5.csv", HEAD("p5", "p5")};
static const struct head p5_uarch = {"counters/p5.csv", HEAD("p6", "p5")};
static const struct head p5_scheme = {"counters/p5.csv", HEAD("p5", "p9")};
static const struct head p5_name = {"counters/p5.csv", HEAD("pentium", "p5")};
static const struct head p5_bare = {
    "counters/p5.csv",
    "# version: 1\nid,name,pfm,event,umask,cmask,flags,counters,fixed,source,note\n"};
static const struct head p5_short = {"counters/p5.csv", "id,name\n"};
static const struct head ids = {"counter_ids.csv", "id,group,meaning\n"};
static const struct head sets = {"counter_sets.csv", "set,events,uarchs\n"};

static const struct {
    int line;
    const struct head *head;
    const char *rows, *message;
    // clang-format off
} bad[] = {
    {__LINE__, &core2, "p0,A,,0x1a1,1,,,,,s,\n", "core2.csv:6: event 0x1a1 is larger than 0xff"},
    {__LINE__, &core2, "p0,A,,0xa1,0x10000,,,,,s,\n",
        "core2.csv:6: umask 0x10000 is larger than 0xffff"},
    {__LINE__, &core2, "p0,A,,0xa1,1,256,,,,s,\n", "core2.csv:6: '256' is no cmask"},
    {__LINE__, &core2, "p0,A,,0xa1,1,,,2,,s,\n",
        "core2.csv:6: cpus.csv says that core2 has 2 general counters, so the last is 1"},
    {__LINE__, &core2, "p0,A,,0xa1,1,,,0-2,,s,\n",
        "core2.csv:6: cpus.csv says that core2 has 2 general counters"},
    {__LINE__, &core2, "p0,A,,0xa1,1,,,1-0,,s,\n", "core2.csv:6: '1-0' is no counters"},
    {__LINE__, &core2, "p0,A,,0xa1,1,,,all,,s,\n", "core2.csv:6: 'all' is no counters"},
    {__LINE__, &core2, "p0,A,,0xa1,1,,,,16,s,\n", "core2.csv:6: '16' is no fixed"},
    {__LINE__, &core2, "p0,A,,0xa1,1,,,fixed,,s,\n",
        "core2.csv:6: counters is 'fixed', but the column fixed is empty"},
    {__LINE__, &core2, "p0,A,,0xe8,1,,,msr,,s,\n",
        "core2.csv:6: an MSR has a number in the column event and nothing else"},
    {__LINE__, &core2, "p0,A,,0xa1,1,,inv inv,,,s,\n", "core2.csv:6: 'inv inv' is no flags"},
    {__LINE__, &core2, "p0,A,,0xa1,1,,invert,,,s,\n", "core2.csv:6: 'invert' is no flags"},
    {__LINE__, &core2, "P0,A,,0xa1,1,,,,,s,\n", "core2.csv:6: 'P0' is no id"},
    {__LINE__, &core2, "p0,,,0xa1,1,,,,,s,\n", "core2.csv:6: '' is no name"},
    {__LINE__, &core2, "p0,A B,,0xa1,1,,,,,s,\n", "core2.csv:6: 'A B' is no name"},
    {__LINE__, &core2, "p0,A,,,1,,,,,s,\n", "core2.csv:6: '' is no event"},
    {__LINE__, &core2, "p0,A,,0xa1,1,,,,,,\n", "core2.csv:6: '' is no source"},
    {__LINE__, &core2, "p0,A,,0xa1,1,,,,,s,\np0,B,,0xa2,1,,,,,s,\n",
        "core2.csv:7: the id 'p0' is already in this table"},
    {__LINE__, &core2, "p0,A,,0xa1,1,,,,,s,\np1,a,,0xa2,1,,,,,s,\n",
        "core2.csv:7: 'a' is already the name of p0 with another code"},
    {__LINE__, &core2, "p0,A,,0xa1,1,,,,,s,\nport1,B,,0xa2,1,,,,,s,\n",
        "core2.csv:7: the id 'port1' has no meaning in counter_ids.csv"},
    {__LINE__, &core2, "branchmisses,B,,0xa2,1,,,,,s,\n",
        "core2.csv:6: the id 'branchmisses' has no meaning in counter_ids.csv; did you mean "
        "'branch_misses'?"},
    {__LINE__, &core2,
        "p0,A,,0,1,,,,0,s,\np1,B,,0,2,,,,1,s,\np2,C,,0,3,,,,2,s,\np3,D,,0,4,,,,3,s,\n",
        "core2.csv:9: with this event 4 fixed counters are named; cpus.csv says that core2 has 3"},
    {__LINE__, &core2, "p0,A,,0xa1,1,,,,,s,\n", "counter_sets.csv:"},
    {__LINE__, &core2, "p0,A,,0xa1,1,,,,,s,\n", "core2 has no event 'instructions'"},
    {__LINE__, &core2, "p0,A,,0xa1,1,,,,,s,\n", "the port 'p1' is no event of "},
    {__LINE__, &p6, "instructions,A,,0xc0,0,,any,,,s,\n",
        "p6.csv:6: counters of the scheme p6 have no any"},
    {__LINE__, &p6, "instructions,A,,0xc0,0,,,,0,s,\n",
        "p6.csv:6: cpus.csv says that p6 has no fixed counters"},
    {__LINE__, &p5, "instructions,A,,0x16,8,,,,,s,\n", "p5.csv:6: umask 0x8 is larger than 0x7"},
    {__LINE__, &p5, "instructions,A,,0x16,2,1,,,,s,\n", "p5.csv:6: cmask 0x1 is larger than 0x0"},
    {__LINE__, &p5_uarch, "", "`# applies:` says p6, so the file must be p6.csv"},
    {__LINE__, &p5_scheme, "", "p5.csv: there is no scheme 'p9'"},
    {__LINE__, &p5_name, "", "begins with 'pentium', which is no uarch of cpus.csv"},
    {__LINE__, &p5_bare, "", "p5.csv: needs the comment lines `# source:`"},
    {__LINE__, &p5_short, "", "p5.csv:1: column 'pfm' is missing"},
    {__LINE__, &ids, "p0,ports,m\np0,ports,m\n", "counter_ids.csv:3: 'p0' is in line 2 already"},
    {__LINE__, &ids, "p0,ports,\n", "counter_ids.csv:2: '' is no meaning"},
    {__LINE__, &ids, "p99,ports,m\n", "counter_ids.csv:2: no table has an event 'p99'"},
    {__LINE__, &sets, "loops,p0 p9,core2\n", "counter_sets.csv:2: core2 has no event 'p9'"},
    {__LINE__, &sets, "loops,instructions,core2 p7\n",
        "counter_sets.csv:2: there is no uarch 'p7'"},
    {__LINE__, &sets, "loops,instructions,p5 p6\nloops,core_clk,core2 p6\n",
        "counter_sets.csv:3: the set loops of p6 is in line 2 already"},
    {__LINE__, &sets, "loops,,p5\n", "counter_sets.csv:2: '' is no events"},
};
// clang-format on

static void test_finds_faults(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        char path[128], saved[160];
        struct strbuf faults = {0};
        snprintf(path, sizeof path, "%s/%s", directory, bad[i].head->file);
        snprintf(saved, sizeof saved, "%s.good", path);
        assert_int_equal(rename(path, saved), 0);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "%s%s", bad[i].head->text, bad[i].rows);
        assert_int_equal(fclose(file), 0);
        counters_check(directory, collect, &faults);
        if (!strstr(strbuf_text(&faults), bad[i].message))
            fail_msg("case of line %d: messages are:\n%s", bad[i].line, strbuf_text(&faults));
        strbuf_free(&faults);
        assert_int_equal(rename(saved, path), 0);
    }
}

// Every fault of a table is reported, not the first alone.
static void test_goes_on_after_a_fault(void **state)
{
    (void)state;
    char path[128], saved[160];
    struct strbuf faults = {0};
    snprintf(path, sizeof path, "%s/counters/p5.csv", directory);
    snprintf(saved, sizeof saved, "%s.good", path);
    assert_int_equal(rename(path, saved), 0);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(
        HEAD("p5",
             "p5") "instructions,A,,99,2,,,,,s,\ncore_clk,B,,0,6,,,,,s,\nbranches,C,,1,9,,,,,s,\n",
        file);
    assert_int_equal(fclose(file), 0);
    counters_check(directory, collect, &faults);
    assert_non_null(strstr(strbuf_text(&faults), "p5.csv:6: event 0x63"));
    assert_non_null(strstr(strbuf_text(&faults), "p5.csv:8: umask 0x9"));
    assert_null(strstr(strbuf_text(&faults), "p5.csv:7:"));
    strbuf_free(&faults);
    assert_int_equal(rename(saved, path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree_has_no_fault),
        cmocka_unit_test(test_finds_faults),
        cmocka_unit_test(test_goes_on_after_a_fault),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
