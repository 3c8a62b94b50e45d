// SPDX-License-Identifier: MIT
// Packs: the same run gives the same bytes, packed runs come back unchanged, and everything else is
// refused with nothing added: foreign names, links, bombs, wrong hashes, foreign schemas, values
// out of range.
#include "fixtures/merge_fixture.h"
#include "fixtures/store_fixture.h"
#include "pack/pack.h"
#include "rederive/rederive.h"
#include "report/report.h"
#include "store/store.h"
#include "store/store_read.h"
#include "store/store_run.h"

#include <archive.h>
#include <archive_entry.h>
#include <sha256.h>
#include <sqlite3.h>

#include <sys/stat.h>

struct packed {
    struct fixture fixture;
    char zip[128];
};

static void packed_make(struct packed *packed)
{
    struct err err = {0};
    fixture_make(&packed->fixture);
    snprintf(packed->zip, sizeof packed->zip, "%s/a.zip", packed->fixture.dir);
    struct store *store = fixture_open(packed->fixture.db, STORE_WRITE);
    fixture_fill(store, "testa", 0xb00f21, 1);
    int64_t run_id = fixture_fill(store, "testb", 0xb00f22, 2);
    assert_int_equal(store_put_run_list(store, run_id, "int", "Integers", &err), 0);
    assert_int_equal(store_put_run_list(store, run_id, "none", "No form of it", &err), 0);
    assert_int_equal(store_run_finish(store, run_id, 9, 1.5, &err), 0);
    if (pack_write(store, &(struct pack_what){.run_id = run_id, .keep = MERGE_KEEP_SAMPLES},
                   packed->zip, &err) != 0)
        fail_msg("%s", err.text);
    store_close(store);
}

static struct strbuf read_bytes(const char *path)
{
    struct strbuf bytes = {0};
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char part[4096];
    for (size_t got; (got = fread(part, 1, sizeof part, file)) > 0;)
        strbuf_put(&bytes, part, got);
    fclose(file);
    return bytes;
}

static void write_bytes(const char *path, const char *bytes, size_t n)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static void expect_same_file(const char *a, const char *b)
{
    struct strbuf one = read_bytes(a), two = read_bytes(b);
    assert_int_equal(one.len, two.len);
    assert_memory_equal(one.data, two.data, one.len);
    strbuf_free(&one);
    strbuf_free(&two);
}

static struct strbuf views_text(struct store *store, int64_t run_id)
{
    struct store_filter filter = {.run_id = run_id};
    struct strbuf text = {0};
    struct err err = {0};
    int64_t n;
    for (int view = STORE_VIEW_INSTRUCTION; view <= STORE_VIEW_WARNING; view++) {
        const struct report_query query = {
            .view = (enum store_view)view, .filter = &filter, .format = REPORT_CSV};
        if (view != STORE_VIEW_RUN)
            report_rows(store, &query, &text, NULL, &n, &err);
    }
    report_info_text(store, run_id, &text, &err);
    report_list_text(store, run_id, "int", &text, &err);
    return text;
}

static void test_round_trip(void **state)
{
    (void)state;
    struct packed packed;
    packed_make(&packed);
    char again[128], merged[128], third[128];
    snprintf(again, sizeof again, "%s/b.zip", packed.fixture.dir);
    snprintf(merged, sizeof merged, "%s/merged.db", packed.fixture.dir);
    snprintf(third, sizeof third, "%s/c.zip", packed.fixture.dir);
    struct err err = {0};
    struct store *store = fixture_open(packed.fixture.db, STORE_READ);
    setenv("TZ", "Asia/Tokyo", 1);
    assert_int_equal(pack_write(store, &(struct pack_what){.run_id = 2, .keep = MERGE_KEEP_SAMPLES},
                                again, &err),
                     0);
    expect_same_file(packed.zip, again);
    // An unfinished run is not for publication.
    assert_int_equal(pack_write(store, &(struct pack_what){.run_id = 1, .keep = MERGE_KEEP_SAMPLES},
                                third, &err),
                     -1);
    assert_non_null(strstr(err.text, "not finished"));
    assert_int_equal(access(third, F_OK), -1);
    char *name = pack_name(store, 2, MERGE_KEEP_KERNELS, &err);
    assert_non_null(strstr(name, "AuthenticAMD-00B00F22-testb-20"));
    assert_non_null(strstr(name, "-1.0-test.zip"));
    free(name);

    struct store *target = fixture_open(merged, STORE_WRITE);
    struct store_merged merged_runs;
    int64_t run_id = 0;
    fixture_fill(target, "testa", 0xb00f21, 3); // so that ids differ
    if (pack_merge(target, packed.zip, &merged_runs, &err) != 1)
        fail_msg("%s", err.text);
    run_id = merged_runs.runs[0].run_id;
    assert_int_equal(run_id, 2);
    assert_int_equal(pack_merge(target, packed.zip, &merged_runs, &err), 0); // adds nothing
    assert_int_equal(run_id, 2);
    struct strbuf before = views_text(store, 2), after = views_text(target, 2);
    assert_string_equal(before.data, after.data);
    strbuf_free(&before);
    strbuf_free(&after);
    char *title = store_run_list_title(target, 2, "int", &err);
    assert_string_equal(title, "Integers");
    free(title);
    // And the merged run packs to the same bytes again.
    if (pack_write(target, &(struct pack_what){.run_id = run_id, .keep = MERGE_KEEP_SAMPLES}, third,
                   &err) != 0)
        fail_msg("%s", err.text);
    expect_same_file(packed.zip, third);
    store_close(store);
    store_close(target);
    fixture_remove(&packed.fixture);
}

// --- archives that are not ours ---

enum { MEMBERS = 32 };
struct forged {
    struct {
        char name[160];
        struct strbuf content;
        unsigned type;
        const char *link;
    } members[MEMBERS];
    int n;
};

static void forged_load(struct forged *forged, const char *zip_path)
{
    struct archive *zip = archive_read_new();
    archive_read_support_format_zip_seekable(zip);
    assert_int_equal(archive_read_open_filename(zip, zip_path, 65536), ARCHIVE_OK);
    struct archive_entry *entry;
    memset(forged, 0, sizeof *forged);
    while (archive_read_next_header(zip, &entry) == ARCHIVE_OK) {
        int at = forged->n++;
        snprintf(forged->members[at].name, sizeof forged->members[at].name, "%s",
                 archive_entry_pathname(entry));
        forged->members[at].type = AE_IFREG;
        char bytes[4096];
        for (la_ssize_t got; (got = archive_read_data(zip, bytes, sizeof bytes)) > 0;)
            strbuf_put(&forged->members[at].content, bytes, (size_t)got);
    }
    archive_read_free(zip);
}

static int forged_find(const struct forged *forged, const char *name)
{
    for (int i = 0; i < forged->n; i++)
        if (strcmp(forged->members[i].name, name) == 0)
            return i;
    fail_msg("no member %s", name);
    return -1;
}

static int forged_add(struct forged *forged, const char *name, const char *content)
{
    int at = forged->n++;
    assert_true(at < MEMBERS);
    snprintf(forged->members[at].name, sizeof forged->members[at].name, "%s", name);
    strbuf_puts(&forged->members[at].content, content);
    forged->members[at].type = AE_IFREG;
    return at;
}

// A MANIFEST that fits the members, so that only the fault under test is left.
static void forged_seal(struct forged *forged)
{
    struct strbuf manifest = {0};
    for (int i = 0; i < forged->n; i++) {
        if (strcmp(forged->members[i].name, "MANIFEST") == 0)
            continue;
        char hex[SHA256_DIGEST_STRING_LENGTH];
        const struct strbuf *content = &forged->members[i].content;
        SHA256Data((const uint8_t *)strbuf_text(content), content->len, hex);
        strbuf_printf(&manifest, "%s  %s\n", hex, forged->members[i].name);
    }
    int at = forged_find(forged, "MANIFEST");
    strbuf_free(&forged->members[at].content);
    forged->members[at].content = manifest;
}

static void forged_write(struct forged *forged, const char *path)
{
    struct archive *zip = archive_write_new();
    archive_write_set_format_zip(zip);
    assert_int_equal(archive_write_open_filename(zip, path), ARCHIVE_OK);
    for (int i = 0; i < forged->n; i++) {
        struct archive_entry *entry = archive_entry_new();
        const struct strbuf *content = &forged->members[i].content;
        archive_entry_set_pathname(entry, forged->members[i].name);
        archive_entry_set_filetype(entry, forged->members[i].type);
        archive_entry_set_perm(entry, 0644);
        if (forged->members[i].link)
            archive_entry_set_symlink(entry, forged->members[i].link);
        archive_entry_set_size(entry, (la_int64_t)content->len);
        assert_int_equal(archive_write_header(zip, entry), ARCHIVE_OK);
        if (forged->members[i].type == AE_IFREG && content->len)
            archive_write_data(zip, content->data, content->len);
        archive_entry_free(entry);
        strbuf_free(&forged->members[i].content);
    }
    assert_int_equal(archive_write_close(zip), ARCHIVE_OK);
    archive_write_free(zip);
}

static void expect_refused(struct packed *packed, const char *path, const char *what)
{
    char target[128];
    snprintf(target, sizeof target, "%s/target.db", packed->fixture.dir);
    struct store *store = fixture_open(target, STORE_WRITE);
    struct err err = {0};
    struct store_merged merged;
    int64_t runs = 0;
    int got = pack_merge(store, path, &merged, &err);
    if (got != -1)
        fail_msg("merged, though: %s", what);
    if (!strstr(err.text, what) || !strstr(err.text, path))
        fail_msg("'%s' does not name the file and say '%s'", err.text, what);
    assert_int_equal(store_run_newest(store, NULL, &runs, &err), 0);
    store_close(store);
}

static void test_foreign_members(void **state)
{
    (void)state;
    struct packed packed;
    packed_make(&packed);
    char path[128];
    snprintf(path, sizeof path, "%s/forged.zip", packed.fixture.dir);
    static const char *const names[] = {"../evil.txt",    "/etc/evil",      "tables/../../x.txt",
                                        "tables/.txt",    "tables/a/b.txt", "evil.sh",
                                        "tables/a b.txt", "tables/x.txt/",  "run.db-wal"};
    static struct forged forged;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        forged_load(&forged, packed.zip);
        forged_add(&forged, names[i], "x");
        forged_seal(&forged);
        forged_write(&forged, path);
        expect_refused(&packed, path, "of a name that no pack has");
    }
    assert_int_equal(access("../evil.txt", F_OK), -1);
    forged_load(&forged, packed.zip);
    int at = forged_add(&forged, "tables/link.txt", "");
    forged.members[at].type = AE_IFLNK;
    forged.members[at].link = "/etc/passwd";
    forged_seal(&forged);
    forged_write(&forged, path);
    expect_refused(&packed, path, "no plain file");
    forged_load(&forged, packed.zip);
    forged_add(&forged, "info.txt", "again");
    forged_write(&forged, path);
    expect_refused(&packed, path, "two members of one name");
    forged_load(&forged, packed.zip);
    forged_add(&forged, "tables/more.txt", "not in the manifest");
    forged_write(&forged, path);
    expect_refused(&packed, path, "does not name");
    forged_load(&forged, packed.zip);
    at = forged_find(&forged, "tables/int.txt");
    forged.members[at].content.data[0] ^= 1;
    forged_write(&forged, path);
    expect_refused(&packed, path, "tables/int.txt is not what the MANIFEST says");
    forged_load(&forged, packed.zip);
    at = forged_find(&forged, "MANIFEST");
    forged.members[at].content.len = 20;
    forged_write(&forged, path);
    expect_refused(&packed, path, "malformed");
    forged_load(&forged, packed.zip);
    strcpy(forged.members[forged_find(&forged, "run.db")].name, "tables/run.txt");
    forged_seal(&forged);
    forged_write(&forged, path);
    expect_refused(&packed, path, "no run.db");
    fixture_remove(&packed.fixture);
}

static void test_broken_archives(void **state)
{
    (void)state;
    struct packed packed;
    packed_make(&packed);
    char path[128];
    snprintf(path, sizeof path, "%s/broken.zip", packed.fixture.dir);
    struct strbuf bytes = read_bytes(packed.zip);
    // Cut anywhere: refused, never half merged.
    for (size_t len = 0; len < bytes.len; len += bytes.len / 37 + 1) {
        write_bytes(path, bytes.data, len);
        expect_refused(&packed, path, "");
    }
    // A flipped byte anywhere: refused, or without influence on what is merged. Each time into a
    // database without runs, of which one is made and the others are copies.
    char empty_path[128];
    snprintf(empty_path, sizeof empty_path, "%s/empty.db", packed.fixture.dir);
    store_close(fixture_open(empty_path, STORE_WRITE));
    struct strbuf empty = read_bytes(empty_path);
    for (size_t at = 0; at < bytes.len; at += bytes.len / 61 + 1) {
        bytes.data[at] ^= 0x10;
        write_bytes(path, bytes.data, bytes.len);
        bytes.data[at] ^= 0x10;
        char target[128];
        snprintf(target, sizeof target, "%s/flip%zu.db", packed.fixture.dir, at);
        write_bytes(target, empty.data, empty.len);
        struct store *store = fixture_open(target, STORE_WRITE);
        struct err err = {0};
        struct store_merged merged;
        if (pack_merge(store, path, &merged, &err) < 0)
            assert_non_null(strstr(err.text, path));
        store_close(store);
    }
    strbuf_free(&bytes);
    strbuf_free(&empty);
    expect_refused(&packed, "/nonexistent.zip", "No such file");
    expect_refused(&packed, packed.fixture.dir, "no regular file");
    expect_refused(&packed, packed.fixture.db, "cannot be read as a pack");
    // A bomb: 64 MiB of zeros in a few KiB.
    static struct forged forged;
    forged_load(&forged, packed.zip);
    int at = forged_add(&forged, "tables/bomb.txt", "");
    for (int i = 0; i < 64; i++) {
        char *zeros = calloc(1, 1 << 20);
        strbuf_put(&forged.members[at].content, zeros, 1 << 20);
        free(zeros);
    }
    forged_seal(&forged);
    forged_write(&forged, path);
    expect_refused(&packed, path, "zip bomb");
    fixture_remove(&packed.fixture);
}

static void forge_database(struct packed *packed, const char *sql, const char *path)
{
    static struct forged forged;
    char db_path[128];
    snprintf(db_path, sizeof db_path, "%s/forge.db", packed->fixture.dir);
    forged_load(&forged, packed->zip);
    int at = forged_find(&forged, "run.db");
    struct strbuf *content = &forged.members[at].content;
    FILE *file = fopen(db_path, "w");
    assert_int_equal(fwrite(content->data, 1, content->len, file), content->len);
    fclose(file);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(db_path, &db), SQLITE_OK);
    char *message = NULL;
    sqlite3_exec(db, "PRAGMA ignore_check_constraints = ON; PRAGMA writable_schema = ON", NULL,
                 NULL, NULL);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    sqlite3_close(db);
    strbuf_free(content);
    *content = read_bytes(db_path);
    forged_seal(&forged);
    forged_write(&forged, path);
    unlink(db_path);
}

// A validation of the first run, and its mixes.
#define VALIDATION                                                                                 \
    "INSERT INTO validation (validation_id, run_id, seed, mixes, recorded_utc, layouts) "          \
    "SELECT 1, min(run_id), 1, 1, '2024-01-01T12:00:00Z', 2 FROM run; INSERT INTO validation_mix "

// Changes to the database in an archive, and the reasons for which they are refused.
// clang-format off
static const struct {
    const char *sql, *refusal;
} foreign[] = {
    {"CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM result; END",
     "not those of latput"},
    {"CREATE TABLE extra (x)", "not those of latput"},
    {"CREATE INDEX i ON form (mnemonic)", "not those of latput"},
    {"CREATE VIEW evil AS SELECT 1", "views that are not latput's"},
    {"DROP TRIGGER run_no_delete", "not those of latput"},
    {"PRAGMA application_id = 1", "not one of latput"},
    {"PRAGMA user_version = 999", "newer latput"},
    {"PRAGMA user_version = 0", "not one of latput"},
    {"INSERT INTO run SELECT 7, '00000000000000000000000000000000', cpu_id, version, "
     "nasm_version, "
     "os_kernel, backend, lists, tables, frequency, selection, tsc_hz, core_hz, overhead_tsc, "
     "issue_width, calib_link_clk, measuring_cpu, started_utc, NULL, kernels, seconds, "
     "claimed_uarch, decided, evidence, measured_width, label, completes FROM run",
     "was not finished"},
    {"INSERT INTO test SELECT 999, run_form_id, 99, 'latency', char(27) || '[2J', '', '', "
     "'exact', "
     "'ok', '' FROM run_form LIMIT 1",
     "malformed"},
    {"INSERT INTO test SELECT 999, run_form_id, 99, 'latency', '', '', '', 'exact', 'evil', '' "
     "FROM run_form LIMIT 1",
     "damaged"},
    {"INSERT INTO sample SELECT timing_id, 99, -5, 0, 0, 0, 0 FROM timing LIMIT 1", "damaged"},
    {"INSERT INTO run_warning SELECT run_id, cast(x'c328' AS TEXT), '' FROM run", "malformed"},
    {"INSERT INTO list VALUES (9, 'third'); INSERT INTO run_list SELECT run_id, 9, char(27) "
     "FROM run",
     "malformed"},
    {"INSERT INTO bench SELECT 1, run_id, 0, '', 'text', char(27) || '[2J', '', '', '', '', "
     "'', "
     "'', 'latency', '', 64, 1, 1, 1, 0, 1, 'ok', '', 1, x'90' FROM run",
     "malformed"},
    {"INSERT INTO bench SELECT 1, run_id, 0, '', 'text', 'nop', '/etc/x', '', '', '', '', "
     "'', 'latency', '', 64, 1, 1, 1, 0, 1, 'ok', '', 1, x'90' FROM run",
     "damaged"},
    {"INSERT INTO bench SELECT 1, run_id, 0, '', 'text', 'nop', '', '', '', '', '', "
     "'', 'latency', '', 64, 1, 1, 1, 0, 1, 'ok', '', 1, x'90' FROM run; "
     "INSERT INTO bench_metric VALUES (1, 0, 'event', char(27), '', '', '')",
     "malformed"},
    {"DROP TRIGGER cpu_no_update; UPDATE cpu SET uarch = 'zen5'; "
     "CREATE TRIGGER cpu_no_update BEFORE UPDATE ON cpu "
     "BEGIN SELECT raise(ABORT, 'facts are append-only: cpu'); END",
     "identity"},
    {"INSERT INTO validation (run_id, seed, mixes, recorded_utc) "
     "SELECT run_id, 1, 1, '2024-01-01T24:00:00Z' FROM run",
     "recorded_utc, '2024-01-01T24:00:00Z', is no date like"},
    {VALIDATION "VALUES (1, 0, '1*nop', 0, 1)", "1 of its random mixes have no times that"},
    {VALIDATION "VALUES (1, 0, '1*nop', 1, 1), (1, 1, '1*nop', 1e300, 1)",
     "1 of its random mixes have no times that"},
    {VALIDATION "SELECT 1, value, printf('%.*c', 4000, 'x'), 1, 1 FROM json_each('[1,2,3,4,5,6,7,"
                "8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25]')",
     "the random mixes of one of its validations are 100600 bytes, and they may be 100000"},
    // Keys of rows that are not there: nothing is left out in silence.
    {"INSERT INTO test SELECT 999, 4711, 99, "
     "'latency', '', '', '', 'exact', 'ok', '' FROM run",
     "a row of its table test belongs to a row of run_form"},
    {"INSERT INTO sample SELECT 4711, 99, 5, 1, 1, 1, 1 FROM run",
     "a row of its table sample belongs to a row of timing"},
    {"INSERT INTO bench SELECT 1, run_id, 0, '', 'text', 'nop', '', '', '', '', '', "
     "'', 'latency', '', 64, 1, 1, 1, 0, 1, 'ok', '', 1, x'90' FROM run; "
     "INSERT INTO bench_thread VALUES (1, 0, 1, 0.02, 1, 0, 1, 1, 1); "
     "INSERT INTO bench_repetition VALUES (1, 0, 0, 1, 1, 0, 1, 1, 0, 1, 1)",
     "does not follow from its repetitions"},
    {"DELETE FROM sqlite_schema WHERE name = 'sample'", "damaged"},
};
// clang-format on

static void test_foreign_databases(void **state)
{
    (void)state;
    struct packed packed;
    packed_make(&packed);
    char path[128];
    snprintf(path, sizeof path, "%s/forged.zip", packed.fixture.dir);
    for (size_t i = 0; i < ARRAY_LEN(foreign); i++) {
        forge_database(&packed, foreign[i].sql, path);
        expect_refused(&packed, path, foreign[i].refusal);
    }
    // Untouched, the same way of repacking is accepted: the cases fail for their own reason.
    forge_database(&packed, "SELECT 1", path);
    char target[128];
    snprintf(target, sizeof target, "%s/good.db", packed.fixture.dir);
    struct store *store = fixture_open(target, STORE_WRITE);
    struct err err = {0};
    struct store_merged merged;
    if (pack_merge(store, path, &merged, &err) != 1)
        fail_msg("%s", err.text);
    store_close(store);
    fixture_remove(&packed.fixture);
}

// Merges a pack whose database was changed by `sql`, and asks the result.
static void expect_merged(struct packed *packed, const char *sql, const char *question,
                          const char *answer)
{
    char path[128], target[128];
    snprintf(path, sizeof path, "%s/forged.zip", packed->fixture.dir);
    snprintf(target, sizeof target, "%s/believed.db", packed->fixture.dir);
    unlink(target);
    forge_database(packed, sql, path);
    struct store *store = fixture_open(target, STORE_WRITE);
    struct err err = {0};
    struct store_merged merged;
    if (pack_merge(store, path, &merged, &err) != 1)
        fail_msg("%s", err.text);
    fixture_expect(store, question, answer);
    store_close(store);
}

// Dates of a pack, in SQL, and what is said of them; NULL: they are taken.
// clang-format off
static const struct {
    const char *date, *refusal;
} dates[] = {
    {"'9999-12-31T23:59:59Z'", "9999-12-31T23:59:59Z, lies in the future"},
    {"strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '+25 hours')", "in the future"},
    {"strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '+23 hours')", NULL},
    {"'2024-02-29T23:59:59Z'", NULL},
    {"'2023-02-29T23:59:59Z'", "no date like"},
    {"'2024-01-01T24:00:00Z'", "no date like"},
    {"'2024-13-01T00:00:00Z'", "no date like"},
    {"'zzzz-zz-zzTzz:zz:zzZ'", "'zzzz-zz-zzTzz:zz:zzZ', is no date like"},
};
// clang-format on

static void test_date(struct packed *packed, const char *column, const char *date,
                      const char *refusal)
{
    char path[128], target[128], sql[512];
    snprintf(path, sizeof path, "%s/forged.zip", packed->fixture.dir);
    snprintf(target, sizeof target, "%s/dated.db", packed->fixture.dir);
    snprintf(sql, sizeof sql,
             "CREATE TEMP TABLE dated AS SELECT * FROM run; UPDATE dated SET run_id = 7, "
             "uuid = '00000000000000000000000000000000', %s = %s; "
             "INSERT INTO run SELECT * FROM dated",
             column, date);
    forge_database(packed, sql, path);
    if (refusal) {
        expect_refused(packed, path, refusal);
        return;
    }
    struct store_merged merged;
    struct err err = {0};
    struct store *store = fixture_open(target, STORE_WRITE);
    if (pack_merge(store, path, &merged, &err) != 2)
        fail_msg("%s", err.text);
    store_close(store);
    unlink(target);
}

static void test_dates(void **state)
{
    (void)state;
    struct packed packed;
    packed_make(&packed);
    for (size_t i = 0; i < ARRAY_LEN(dates); i++) {
        test_date(&packed, "started_utc", dates[i].date, dates[i].refusal);
        test_date(&packed, "finished_utc", dates[i].date, dates[i].refusal);
    }
    fixture_remove(&packed.fixture);
}

// Merges the pack after one of the same run that `sql` changed: the number that are added, or -1
// with a message.
static int merge_second(struct packed *packed, const char *sql, enum merge_keep keep,
                        struct err *err)
{
    char path[128], target[128], second[128];
    snprintf(path, sizeof path, "%s/forged.zip", packed->fixture.dir);
    snprintf(target, sizeof target, "%s/second.db", packed->fixture.dir);
    snprintf(second, sizeof second, "%s/second.zip", packed->fixture.dir);
    unlink(target);
    unlink(second);
    forge_database(packed, sql, path);
    struct store *store = fixture_open(packed->fixture.db, STORE_WRITE);
    if (pack_write(store, &(struct pack_what){.run_id = 2, .keep = keep}, second, err) != 0)
        fail_msg("%s", err->text);
    store_close(store);
    store = fixture_open(target, STORE_WRITE);
    struct store_merged merged;
    if (pack_merge(store, path, &merged, err) != 1)
        fail_msg("%s", err->text);
    int got = pack_merge(store, second, &merged, err);
    fixture_expect(store, "SELECT count(*) FROM run", "1");
    store_close(store);
    return got;
}

// A run that is there with other content is no run that is there.
static void test_conflict(void **state)
{
    (void)state;
    static const char *const changes[] = {
        "CREATE TEMP TABLE one AS SELECT * FROM sample LIMIT 1; UPDATE one SET seq = 99; "
        "INSERT INTO sample SELECT * FROM one",
        "INSERT INTO run_event VALUES ((SELECT run_id FROM run), 0, 'uops', 'event=0x1', 'perf', "
        "'zen', '1')",
        "INSERT INTO test SELECT 999, run_form_id, 99, 'latency', 'op1', 'op1', '', 'exact', "
        "'ok', '' FROM run_form LIMIT 1",
    };
    struct packed packed;
    packed_make(&packed);
    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        struct err err = {0};
        assert_int_equal(merge_second(&packed, changes[i], MERGE_KEEP_SAMPLES, &err), -1);
        if (!strstr(err.text, "there already as run 1, with other content") ||
            !strstr(err.text, "second.zip"))
            fail_msg("%s", err.text);
    }
    // Whatever is kept of it, the same run is the same; and so it is with results made again.
    for (enum merge_keep keep = MERGE_KEEP_RESULTS; keep <= MERGE_KEEP_SAMPLES; keep++) {
        struct err err = {0};
        if (merge_second(&packed, "UPDATE result SET value_clk = 7 WHERE value_clk = 0.5", keep,
                         &err) != 0)
            fail_msg("%d: %s", (int)keep, err.text);
    }
    // A run without samples is compared by its results.
    struct err err = {0};
    struct store *store = fixture_open(packed.fixture.db, STORE_WRITE);
    unlink(packed.zip);
    if (pack_write(store, &(struct pack_what){.run_id = 2, .keep = MERGE_KEEP_KERNELS}, packed.zip,
                   &err) != 0)
        fail_msg("%s", err.text);
    store_close(store);
    assert_int_equal(merge_second(&packed, "UPDATE result SET value_clk = 7 WHERE value_clk = 0.5",
                                  MERGE_KEEP_SAMPLES, &err),
                     -1);
    assert_non_null(strstr(err.text, "with other content"));
    assert_int_equal(merge_second(&packed, "SELECT 1", MERGE_KEEP_SAMPLES, &err), 0);
    fixture_remove(&packed.fixture);
}

// Without passes there are no samples either: all of them are left out, or the file is refused.
static void believe_without_passes(struct packed *packed)
{
    static const char no_passes[] =
        "DROP TRIGGER sample_no_delete; DELETE FROM sample WHERE timing_id IN (SELECT timing_id "
        "FROM timing %s); CREATE TRIGGER sample_no_delete BEFORE DELETE ON sample BEGIN SELECT "
        "raise(ABORT, 'facts are append-only: sample'); END; "
        "DROP TRIGGER timing_no_delete; DELETE FROM timing %s; CREATE TRIGGER timing_no_delete "
        "BEFORE DELETE ON timing BEGIN SELECT raise(ABORT, 'facts are append-only: timing'); END;";
    char all[1024], path[128];
    snprintf(path, sizeof path, "%s/forged.zip", packed->fixture.dir);
    snprintf(all, sizeof all, no_passes, "", "");
    expect_merged(packed, all,
                  "SELECT rthroughput_clk FROM instruction_table WHERE mnemonic = 'add'", "0.5");
    expect_merged(packed, all,
                  "SELECT text LIKE 'kept without samples%' FROM run_warning "
                  "WHERE text LIKE '%samples%'",
                  "1");
    snprintf(all, sizeof all, no_passes, "WHERE kernel_id = 1", "WHERE kernel_id = 1");
    forge_database(packed, all, path);
    expect_refused(packed, path, "timings have no samples");
}

// Results follow from samples, whatever the pack says.
static void test_believed(void **state)
{
    (void)state;
    struct packed packed;
    packed_make(&packed);
    static const char add[] =
        "SELECT rthroughput_clk FROM instruction_table WHERE mnemonic = 'add'";
    static const char invented[] =
        "UPDATE result SET value_clk = %s WHERE value_clk = 0.5; UPDATE estimate SET "
        "instance_clk = %s WHERE instance_clk = 0.5";
    static const char *const values[] = {"-5", "1e300", "0.02"};
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        char sql[256];
        snprintf(sql, sizeof sql, invented, values[i], values[i]);
        expect_merged(&packed, sql, add, "0.5");
        expect_merged(&packed, sql,
                      "SELECT text LIKE '%made again from its samples, and 1 of 10 are not%' "
                      "FROM run_warning WHERE text LIKE 'merged%'",
                      "1");
    }
    expect_merged(&packed, "SELECT 1", "SELECT count(*) FROM run_warning WHERE text LIKE 'merged%'",
                  "0");
    // Without samples: marked, and only what is possible. (The trigger that guards them is put
    // back.)
    static const char drop[] =
        "DROP TRIGGER sample_no_delete; DELETE FROM sample; CREATE TRIGGER sample_no_delete BEFORE "
        "DELETE ON sample BEGIN SELECT raise(ABORT, 'facts are append-only: sample'); END;";
    char sql[512], path[128];
    snprintf(path, sizeof path, "%s/forged.zip", packed.fixture.dir);
    expect_merged(&packed, drop, add, "0.5");
    expect_merged(&packed, drop,
                  "SELECT text LIKE 'kept without samples%' FROM run_warning "
                  "WHERE text LIKE '%samples%'",
                  "1");
    for (int i = 0; i < 2; i++) {
        snprintf(sql, sizeof sql, "%s UPDATE result SET value_clk = %s WHERE value_clk = 0.5", drop,
                 values[i]);
        forge_database(&packed, sql, path);
        expect_refused(&packed, path, "no times that an instruction can take");
    }
    snprintf(sql, sizeof sql,
             "DROP TRIGGER sample_no_delete; DELETE FROM sample WHERE timing_id = 1; %s",
             strstr(drop, "CREATE"));
    forge_database(&packed, sql, path);
    expect_refused(&packed, path, "timings have no samples");
    believe_without_passes(&packed);
    fixture_remove(&packed.fixture);
}

// The ports of one run, the other answers of a later one, which is returned; and another machine.
static int64_t fill_several(struct store *store)
{
    struct err err = {0};
    int64_t ports = fixture_fill(store, "testa", 0xb00f21, 1);
    assert_int_equal(
        store_execute(store, &err,
                      "INSERT INTO port_result (run_form_id, method, outcome, detail, ambiguous, "
                      "ports, uops, slots, unit, busy_clk, residual, whole) "
                      "SELECT run_form_id, 'throughput', 'ok', '', 0, '1*ALU', 1, 1, '', 0, 0, 0 "
                      "FROM run_form JOIN form USING (form_id) WHERE mnemonic = 'add'",
                      ""),
        0);
    fixture_fill(store, "testb", 0xb00f22, 2);
    int64_t newest = fixture_fill(store, "testa", 0xb00f21, 3);
    for (int64_t run = ports; run <= newest; run++)
        assert_int_equal(store_run_finish(store, run, 9, 1.5, &err), 0);
    return newest;
}

// Checks the members of the pack of these runs.
static void expect_members(const char *zip)
{
    static struct forged forged;
    forged_load(&forged, zip);
    const char *page = forged.members[forged_find(&forged, "table.html")].content.data;
    assert_non_null(strstr(page, "<td>add r64 r64"));
    assert_null(strstr(page, "http")); // it stands alone
    assert_non_null(strstr(page, "<td class=p>1*ALU"));
    const char *readme = forged.members[forged_find(&forged, "README.txt")].content.data;
    assert_non_null(strstr(readme, "best answers of 2"));
    assert_non_null(strstr(readme, "port_table.csv"));
    assert_null(strstr(readme, "ports.svg")); // there is no model
    forged_find(&forged, "port_table.csv");
    for (int i = 0; i < forged.n; i++)
        strbuf_free(&forged.members[i].content);
}

// The runs that a CPU's tables are made of are one pack, with or without samples.
static void test_several_runs(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    char zip[128], again[128], all[128], target_path[128];
    fixture_make(&fixture);
    snprintf(zip, sizeof zip, "%s/slim.zip", fixture.dir);
    snprintf(again, sizeof again, "%s/again.zip", fixture.dir);
    snprintf(all, sizeof all, "%s/all.zip", fixture.dir);
    snprintf(target_path, sizeof target_path, "%s/target.db", fixture.dir);
    struct store *store = fixture_open(fixture.db, STORE_WRITE);
    int64_t newest = fill_several(store);
    const struct pack_what slim = {.run_id = newest, .others = true, .keep = MERGE_KEEP_KERNELS};
    const struct pack_what whole = {.run_id = newest, .others = true, .keep = MERGE_KEEP_SAMPLES};
    if (pack_write(store, &slim, zip, &err) != 0 || pack_write(store, &whole, all, &err) != 0)
        fail_msg("%s", err.text);
    store_close(store);

    struct store_merged merged;
    int64_t results, changed, bare;
    store = fixture_open(target_path, STORE_WRITE);
    fixture_fill(store, "testb", 0xb00f22, 4); // so that ids differ
    assert_int_equal(pack_merge(store, zip, &merged, &err), 2);
    assert_int_equal(merged.nruns, 2);
    fixture_expect(store,
                   "SELECT count(*) FROM sample JOIN timing USING (timing_id) "
                   "JOIN kernel USING (kernel_id) JOIN test USING (test_id) "
                   "JOIN run_form USING (run_form_id) WHERE run_id > 1",
                   "0");
    fixture_expect(store,
                   "SELECT count(*) || ' ' || (count(*) FILTER (WHERE timing_id IS NOT NULL)) FROM "
                   "run_form JOIN test USING (run_form_id) JOIN kernel USING (test_id) "
                   "LEFT JOIN timing USING (kernel_id) WHERE run_id > 1",
                   "18 0");
    static const char add[] = "SELECT rthroughput_clk || ' ' || ports FROM instruction_table "
                              "WHERE mnemonic = 'add' AND uarch = 'testa'";
    fixture_expect(store, add, "0.75 1*ALU");
    fixture_expect(store, "SELECT count(*) FROM run_warning WHERE text LIKE 'kept without%'", "2");
    // There is nothing to make these results of again: they stay.
    assert_int_equal(rederive_results(store, 0, &results, &changed, &err), 0);
    assert_int_equal(rederive_count_bare(store, 0, &bare, &err), 0);
    assert_int_equal(bare, 2);
    fixture_expect(store, add, "0.75 1*ALU");
    // A merged run packs to the same bytes.
    const struct pack_what back = {
        .run_id = merged.runs[1].run_id, .others = true, .keep = MERGE_KEEP_KERNELS};
    if (pack_write(store, &back, again, &err) != 0)
        fail_msg("%s", err.text);
    expect_same_file(zip, again);
    assert_int_equal(pack_merge(store, all, &merged, &err), 0); // the same runs
    store_close(store);
    unlink(target_path);
    store = fixture_open(target_path, STORE_WRITE);
    assert_int_equal(pack_merge(store, all, &merged, &err), 2);
    fixture_expect(store, "SELECT count(*) > 0 FROM sample", "1");
    fixture_expect(store, "SELECT count(*) FROM run_warning WHERE text LIKE 'kept without%'", "0");
    store_close(store);
    expect_members(zip);
    fixture_remove(&fixture);
}

static void test_anonymous(void **state)
{
    (void)state;
    struct packed packed;
    packed_make(&packed);
    static struct forged forged;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    forged_load(&forged, packed.zip);
    for (int i = 0; i < forged.n; i++) {
        const struct strbuf *content = &forged.members[i].content;
        const char *const secrets[] = {packed.fixture.dir, host, getenv("USER"), "/home/"};
        for (size_t k = 0; k < ARRAY_LEN(secrets); k++)
            if (secrets[k] && strlen(secrets[k]) > 5 &&
                memmem(content->data, content->len, secrets[k], strlen(secrets[k])))
                fail_msg("%s holds '%s'", forged.members[i].name, secrets[k]);
        strbuf_free(&forged.members[i].content);
    }
    fixture_remove(&packed.fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),      cmocka_unit_test(test_foreign_members),
        cmocka_unit_test(test_broken_archives), cmocka_unit_test(test_foreign_databases),
        cmocka_unit_test(test_believed),        cmocka_unit_test(test_dates),
        cmocka_unit_test(test_anonymous),       cmocka_unit_test(test_conflict),
        cmocka_unit_test(test_several_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
