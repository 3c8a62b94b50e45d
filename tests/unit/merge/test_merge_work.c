// SPDX-License-Identifier: MIT
// Real packs are far from the bound of the work that a pack may cause: the published ones, and
// those of the directory LATPUT_RECORDED, where there are any. As they are, without samples, a
// tenth of it suffices; with as many samples as they were concluded from, a half.
#include "fixtures/store_fixture.h"

#include "conclude/conclude.h"
#include "merge/merge_internal.h"
#include "util/mem.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <glob.h>

enum { TENTH = MERGE_WORK_SECONDS_MAX / 10, HALF = MERGE_WORK_SECONDS_MAX / 2 };
enum { PASSES = 5 * CONCLUDE_PASSES_PER_REPLICATE }; // of a property that is measured five times

// Unpacks a pack's database.
static void unpack(const char *pack, const char *path)
{
    struct archive *archive = archive_read_new();
    struct archive_entry *entry;
    int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600), found = 0;
    archive_read_support_format_all(archive);
    archive_read_support_filter_all(archive);
    assert_true(fd >= 0);
    if (archive_read_open_filename(archive, pack, 1 << 16) != ARCHIVE_OK)
        fail_msg("%s: %s", pack, archive_error_string(archive));
    while (!found && archive_read_next_header(archive, &entry) == ARCHIVE_OK)
        if (strcmp(archive_entry_pathname(entry), "run.db") == 0)
            found = archive_read_data_into_fd(archive, fd) == ARCHIVE_OK;
    archive_read_free(archive);
    close(fd);
    if (!found)
        fail_msg("%s has no run.db", pack);
}

// Gives each point its samples, in as many passes as there are at most.
static void put_samples(struct store *store)
{
    char *sql = xasprintf(
        "BEGIN; INSERT INTO sweep_timing (point_id, pass, iterations, copies, calib_clk, "
        "overhead_tsc, accepted, tried) WITH RECURSIVE p(pass) AS (SELECT 1 UNION ALL SELECT "
        "pass + 1 FROM p WHERE pass < %d) SELECT point_id, pass, 1, 1, 1, 0, n, n FROM (SELECT "
        "point_id, pass, samples / %d + (pass <= samples %% %d) AS n FROM sweep_value, p) WHERE "
        "n > 0; INSERT INTO sweep_sample WITH RECURSIVE s(seq) AS (SELECT 1 UNION ALL SELECT "
        "seq + 1 FROM s WHERE seq < (SELECT max(accepted) FROM sweep_timing)) SELECT timing_id, "
        "seq, 1, 1, 1, 1 FROM sweep_timing JOIN s ON seq <= accepted; COMMIT",
        PASSES, PASSES, PASSES);
    if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(store->db));
    free(sql);
    fixture_expect(
        store, "SELECT count(*) = (SELECT total(samples) FROM sweep_value) FROM sweep_sample", "1");
}

// Returns true if it has samples.
static bool judge(const char *pack)
{
    struct fixture fixture;
    struct err err = {0};
    fixture_make(&fixture);
    unpack(pack, fixture.db);
    struct store *store = fixture_open(fixture.db, STORE_WRITE);
    const char *any = "SELECT EXISTS (SELECT 1 FROM sweep_sample)";
    if (merge_check_work(store, TENTH, &err) != 0)
        fail_msg("%s: %s", pack, err.text);
    if (strcmp(fixture_ask(store->db, any), "0") == 0)
        put_samples(store);
    bool samples = strcmp(fixture_ask(store->db, any), "1") == 0;
    if (merge_check_work(store, HALF, &err) != 0)
        fail_msg("%s: %s", pack, err.text);
    if (samples) { // there is work
        assert_int_equal(merge_check_work(store, 0, &err), -1);
        print_message("%s, with samples%s\n", pack, strstr(err.text, ": conclusions"));
    }
    fixture_end(&fixture, store);
    return samples;
}

// Judges all packs of a directory; *properties: how many of them have some.
static int judge_all(const char *directory, int *properties)
{
    glob_t found;
    char *pattern = xasprintf("%s/*.tar.xz", directory);
    int status = glob(pattern, 0, NULL, &found), n = status == 0 ? (int)found.gl_pathc : 0;
    assert_true(status == 0 || status == GLOB_NOMATCH);
    *properties = 0;
    for (int i = 0; i < n; i++)
        *properties += judge(found.gl_pathv[i]);
    globfree(&found);
    free(pattern);
    return n;
}

static void test_published(void **state)
{
    (void)state;
    int properties, n = judge_all("results/published", &properties);
    if (n == 0) {
        print_message("no packs in results/published\n");
        skip();
    }
    assert_true(properties > 0);
}

static void test_recorded(void **state)
{
    (void)state;
    int properties;
    const char *directory = getenv("LATPUT_RECORDED");
    if (!directory || judge_all(directory, &properties) == 0) {
        print_message("LATPUT_RECORDED names no directory with packs\n");
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_published),
                                       cmocka_unit_test(test_recorded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
