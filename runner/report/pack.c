// SPDX-License-Identifier: MIT
// Writing packs; see pack.h. What could differ between two packs of one run is left out: times,
// owners, order. What could tell who ran it where is not in the database to begin with.
#include "pack.h"

#include "report.h"
#include "store/store_merge.h"
#include "store/store_read.h"
#include "store/store_run.h"
#include "util/mem.h"
#include "util/scratch.h"
#include "util/strbuf.h"

#include <archive.h>
#include <archive_entry.h>
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <sha256.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pack_member {
    char *name;
    struct strbuf content;
};

struct pack {
    struct pack_member members[PACK_MEMBERS_MAX];
    int nmembers;
};

static struct strbuf *pack_add(struct pack *pack, const char *name)
{
    assert(pack->nmembers < PACK_MEMBERS_MAX);
    struct pack_member *member = &pack->members[pack->nmembers++];
    member->name = xstrdup(name);
    return &member->content;
}

static void pack_free(struct pack *pack)
{
    for (int i = 0; i < pack->nmembers; i++) {
        free(pack->members[i].name);
        strbuf_free(&pack->members[i].content);
    }
    free(pack);
}

struct pack_table {
    const char *name;
    enum store_view view;
    enum report_format format;
    bool always; // also without rows
};
static const struct pack_table tables[] = {
    {"instruction_table.csv",      STORE_VIEW_INSTRUCTION, REPORT_CSV,  true },
    {"instruction_table.json",     STORE_VIEW_INSTRUCTION, REPORT_JSON, true },
    {"latency_table.csv",          STORE_VIEW_LATENCY,     REPORT_CSV,  true },
    {"latency_table.json",         STORE_VIEW_LATENCY,     REPORT_JSON, true },
    {"failure_table.csv",          STORE_VIEW_FAILURE,     REPORT_CSV,  true },
    {"bench_table.csv",            STORE_VIEW_BENCH,       REPORT_CSV,  false},
    {"bench_table.json",           STORE_VIEW_BENCH,       REPORT_JSON, false},
    {"bench_repetition_table.csv", STORE_VIEW_REPETITION,  REPORT_CSV,  false},
};

static int pack_add_rows(struct pack *pack, struct store *store, const struct pack_table *table,
                         struct err *err)
{
    const struct store_filter filter = {.run_id = 1};
    struct strbuf text = {0};
    int64_t nrows;
    const struct report_query query = {table->view, &filter, table->format, 0};
    int status = report_rows(store, &query, &text, NULL, &nrows, err);
    if (status == 0 && (table->always || nrows > 0))
        *pack_add(pack, table->name) = text;
    else
        strbuf_free(&text);
    return status;
}

static int pack_add_lists(struct pack *pack, struct store *store, struct err *err)
{
    char *lists = store_run_lists(store, 1, err);
    int result = lists ? 0 : -1;
    for (const char *list = lists; result == 0 && *list; list += strlen(list) + 1) {
        char *stem = report_file_stem(list);
        char *name = xasprintf("tables/%s.txt", stem);
        if (!pack_is_member(name) || pack->nmembers + 2 >= PACK_MEMBERS_MAX)
            result =
                err_set(err, "%s: the list '%s' has no place in a pack", store_path(store), list);
        else
            result = report_list_text(store, 1, list, pack_add(pack, name), err);
        free(name);
        free(stem);
    }
    free(lists);
    return result;
}

static int pack_add_file(struct pack *pack, const char *name, const char *path, struct err *err)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return err_set(err, "%s: %s", path, strerror(errno));
    struct strbuf *content = pack_add(pack, name);
    char bytes[65536];
    size_t got;
    while ((got = fread(bytes, 1, sizeof bytes, file)) > 0)
        strbuf_put(content, bytes, got);
    int bad = ferror(file);
    fclose(file);
    return bad ? err_set(err, "%s: cannot be read", path) : 0;
}

// All members are made from the extracted database, in which the run has the number 1.
static int pack_collect(struct pack *pack, const char *database, struct err *err)
{
    struct store *store;
    if (store_open(database, STORE_READ, &store, err) != 0)
        return -1;
    int result = report_info_text(store, 1, pack_add(pack, "info.txt"), err);
    for (size_t i = 0; i < ARRAY_LEN(tables) && result == 0; i++)
        result = pack_add_rows(pack, store, &tables[i], err);
    if (result == 0)
        result = pack_add_lists(pack, store, err);
    store_close(store);
    return result == 0 ? pack_add_file(pack, "run.db", database, err) : -1;
}

static int member_compare(const void *a, const void *b)
{
    return strcmp(((const struct pack_member *)a)->name, ((const struct pack_member *)b)->name);
}

static void pack_add_manifest(struct pack *pack)
{
    struct strbuf manifest = {0};
    qsort(pack->members, (size_t)pack->nmembers, sizeof pack->members[0], member_compare);
    for (int i = 0; i < pack->nmembers; i++) {
        const struct strbuf *content = &pack->members[i].content;
        char hex[SHA256_DIGEST_STRING_LENGTH];
        SHA256Data((const uint8_t *)strbuf_text(content), content->len, hex);
        strbuf_printf(&manifest, "%s  %s\n", hex, pack->members[i].name);
    }
    *pack_add(pack, "MANIFEST") = manifest;
    qsort(pack->members, (size_t)pack->nmembers, sizeof pack->members[0], member_compare);
}

static int pack_write_member(struct archive *zip, const struct pack_member *member)
{
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, member->name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, (la_int64_t)member->content.len); // and no time, no owner
    int got = archive_write_header(zip, entry);
    archive_entry_free(entry);
    if (got != ARCHIVE_OK)
        return -1;
    la_ssize_t put = archive_write_data(zip, strbuf_text(&member->content), member->content.len);
    return put == (la_ssize_t)member->content.len ? 0 : -1;
}

// Writes the archive to `temporary`; messages name the path that it is for.
static int pack_write_zip(const struct pack *pack, const char *temporary, const char *path,
                          struct err *err)
{
    struct archive *zip = archive_write_new();
    int bad = archive_write_set_format_zip(zip) != ARCHIVE_OK ||
              archive_write_set_options(zip, "zip:compression=deflate") != ARCHIVE_OK ||
              archive_write_open_filename(zip, temporary) != ARCHIVE_OK;
    for (int i = 0; !bad && i < pack->nmembers; i++)
        bad = pack_write_member(zip, &pack->members[i]) != 0;
    bad = bad || archive_write_close(zip) != ARCHIVE_OK;
    if (bad) // libarchive's own words name the temporary file, and often no reason
        err_set(err, "%s: cannot be written: %s", path,
                archive_errno(zip) > 0      ? strerror(archive_errno(zip))
                : archive_error_string(zip) ? archive_error_string(zip)
                                            : "unknown error");
    archive_write_free(zip);
    return bad ? -1 : 0;
}

static int pack_publish(const struct pack *pack, const char *path, struct err *err)
{
    if (!report_is_replaceable(path))
        return pack_write_zip(pack, path, path, err);
    char *temporary = xasprintf("%s.tmp%ld", path, (long)getpid());
    int result = pack_write_zip(pack, temporary, path, err);
    if (result == 0 && rename(temporary, path) != 0)
        result = err_set(err, "%s: cannot be written: %s", path, strerror(errno));
    if (result != 0)
        unlink(temporary);
    free(temporary);
    return result;
}

// A value of the run's row, to be freed; NULL after an error.
static char *pack_run_field(struct store *store, int64_t run_id, const char *column,
                            struct err *err)
{
    const struct store_filter filter = {.run_id = run_id};
    struct store_rows *rows = store_rows_open(store, STORE_VIEW_RUN, &filter, err);
    char *text = NULL;
    int got = rows ? store_rows_next(rows, err) : -1;
    if (got > 0)
        text = xstrdup(store_rows_text(rows, store_rows_column(rows, column)));
    else if (got == 0)
        err_set(err, "%s: has no run %lld", store_path(store), (long long)run_id);
    store_rows_close(rows);
    return text;
}

char *pack_name(struct store *store, int64_t run_id, struct err *err)
{
    static const char *const columns[] = {"vendor",  "signature", "uarch", "started_utc",
                                          "version", "snippets",  "uuid"};
    char *fields[ARRAY_LEN(columns)] = {NULL};
    char *name = NULL;
    bool complete = true;
    for (size_t i = 0; i < ARRAY_LEN(columns) && complete; i++) {
        fields[i] = pack_run_field(store, run_id, columns[i], err);
        complete = fields[i] != NULL;
    }
    if (complete) {
        // Of pieces of code there may be many runs a day.
        bool bench = *fields[5] != '\0';
        name = xasprintf("%s-%08lX-%s-%.10s-%s%s%.*s.zip", fields[0], strtoul(fields[1], NULL, 10),
                         fields[2], fields[3], fields[4], bench ? "-bench-" : "", bench ? 8 : 0,
                         fields[6]);
        for (char *at = name; *at; at++)
            if (!isalnum((unsigned char)*at) && !strchr("-._+", *at))
                *at = '_';
    }
    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        free(fields[i]);
    return name;
}

static int pack_check_finished(struct store *store, int64_t run_id, struct err *err)
{
    char *status = pack_run_field(store, run_id, "status", err);
    if (!status)
        return -1;
    bool finished = strcmp(status, "finished") == 0;
    free(status);
    return finished ? 0
                    : err_set(err,
                              "%s: run %lld is not finished; `latput run --resume` finishes it, "
                              "then it can be packed",
                              store_path(store), (long long)run_id);
}

int pack_write(struct store *store, int64_t run_id, const char *path, struct err *err)
{
    if (pack_check_finished(store, run_id, err) != 0)
        return -1;
    char *scratch = scratch_begin(err);
    if (!scratch)
        return -1;
    char *database = xasprintf("%s/run.db", scratch);
    struct pack *pack = xcalloc(1, sizeof *pack);
    int result = store_extract_run(store, run_id, database, err);
    if (result == 0)
        result = pack_collect(pack, database, err);
    if (result == 0) {
        pack_add_manifest(pack);
        result = pack_publish(pack, path, err);
    }
    pack_free(pack);
    free(database);
    scratch_end(scratch, false);
    return result;
}
