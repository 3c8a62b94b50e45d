// SPDX-License-Identifier: MIT
// Writes packs; see pack.h. Times, owners and order, which could differ between two packs of the
// same content, are left out. The database has nothing that could tell who ran it where.
#include "pack.h"

#include "cpuinfo/cpuinfo.h"
#include "libarchive.h"
#include "merge/merge.h"
#include "pack_content.h"
#include "store/store_read.h"
#include "store/store_run.h"
#include "util/file_write.h"
#include "util/mem.h"
#include "util/scratch.h"
#include "util/strbuf.h"

#include <ctype.h>
#include <errno.h>
#include <sha256.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    struct archive_entry *entry = la.archive_entry_new();
    la.archive_entry_set_pathname(entry, member->name);
    la.archive_entry_set_filetype(entry, AE_IFREG);
    la.archive_entry_set_perm(entry, 0644);
    la.archive_entry_set_size(entry, (la_int64_t)member->content.len); // neither time nor owner
    int got = la.archive_write_header(zip, entry);
    la.archive_entry_free(entry);
    if (got != ARCHIVE_OK)
        return -1;
    la_ssize_t put = la.archive_write_data(zip, strbuf_text(&member->content), member->content.len);
    return put == (la_ssize_t)member->content.len ? 0 : -1;
}

static int pack_set_zip(struct archive *zip)
{
    return la.archive_write_set_format_zip(zip) != ARCHIVE_OK ||
           la.archive_write_set_options(zip, "zip:compression=deflate") != ARCHIVE_OK;
}

// Selects xz, which makes half the size of a zip file.
static int pack_set_xz(struct archive *tar)
{
    return la.archive_write_set_format_ustar(tar) != ARCHIVE_OK ||
           la.archive_write_add_filter_xz(tar) != ARCHIVE_OK ||
           la.archive_write_set_options(tar, "xz:compression-level=9") != ARCHIVE_OK;
}

// Writes the archive to `temporary`; messages name the final path.
static int pack_write_archive(const struct pack *pack, const char *temporary, const char *path,
                              struct err *err)
{
    if (libarchive_load(err) != 0)
        return -1;
    struct archive *zip = la.archive_write_new();
    int bad = (pack->slim ? pack_set_xz(zip) : pack_set_zip(zip)) != 0 ||
              la.archive_write_open_filename(zip, temporary) != ARCHIVE_OK;
    for (int i = 0; !bad && i < pack->nmembers; i++)
        bad = pack_write_member(zip, &pack->members[i]) != 0;
    bad = bad || la.archive_write_close(zip) != ARCHIVE_OK;
    if (bad) // libarchive's own message names the temporary file, often without a reason
        err_set(err, "%s: cannot be written: %s", path,
                la.archive_errno(zip) > 0      ? strerror(la.archive_errno(zip))
                : la.archive_error_string(zip) ? la.archive_error_string(zip)
                                               : "unknown error");
    la.archive_write_free(zip);
    return bad ? -1 : 0;
}

static int pack_publish(const struct pack *pack, const char *path, struct err *err)
{
    if (!file_is_replaceable(path))
        return pack_write_archive(pack, path, path, err);
    const char *temporary = scratch_file_begin(path);
    int result = pack_write_archive(pack, temporary, path, err);
    if (scratch_file_end(temporary, result == 0 ? path : NULL) != 0)
        result = err_set(err, "%s: cannot be written: %s", path, strerror(errno));
    return result;
}

// Returns a value of the run's row, to be freed; NULL after an error.
static char *pack_run_field(struct store *store, int64_t run_id, const char *column,
                            struct err *err)
{
    const struct store_filter filter = {.run_id = run_id};
    struct store_rows *rows = store_rows_open(store, STORE_VIEW_RUN, &filter, err);
    char *text = NULL;
    int got = rows ? store_rows_next(rows, err) : -1;
    if (got > 0)
        text = xstrdup(store_text_of(rows, column));
    else if (got == 0)
        err_set(err, "%s: has no run %lld", store_path(store), (long long)run_id);
    store_rows_close(rows);
    return text;
}

char *pack_name(struct store *store, int64_t run_id, enum merge_keep keep, struct err *err)
{
    static const char *const columns[] = {"vendor",  "signature", "uarch", "started_utc",
                                          "version", "snippets",  "uuid",  "brand"};
    char *fields[ARRAY_LEN(columns)] = {NULL};
    char *name = NULL;
    bool complete = true;
    for (size_t i = 0; i < ARRAY_LEN(columns) && complete; i++) {
        fields[i] = pack_run_field(store, run_id, columns[i], err);
        complete = fields[i] != NULL;
    }
    if (complete) {
        // There may be many runs of pieces of code per day.
        bool bench = *fields[5] != '\0';
        name = xasprintf(
            "%s%s-%08lX-%s-%.10s-%s%s%.*s.%s",
            strncmp(fields[7], CPU_SIMULATED, strlen(CPU_SIMULATED)) == 0 ? "simulated-" : "",
            fields[0], strtoul(fields[1], NULL, 10), fields[2], fields[3], fields[4],
            bench ? "-bench-" : "", bench ? 8 : 0, fields[6],
            keep == MERGE_KEEP_RESULTS ? "tar.xz" : "zip");
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
    return finished
               ? 0
               : err_set(err,
                         "%s: run %lld is not finished; `latput run --resume`, or `latput "
                         "property --resume` of properties, finishes it, then it can be packed",
                         store_path(store), (long long)run_id);
}

// Finds the runs of the pack, oldest first; the caller frees *run_ids.
static int pack_runs(struct store *store, const struct pack_what *what, int64_t **run_ids, int *n,
                     struct err *err)
{
    *run_ids = NULL;
    if (what->others && store_table_runs(store, what->run_id, run_ids, n, err) != 0)
        return -1;
    if (!what->others) {
        *run_ids = xcalloc(1, sizeof **run_ids);
        (*run_ids)[0] = what->run_id;
        *n = 1;
    }
    return *n <= MERGE_RUNS_MAX
               ? 0
               : err_set(err,
                         "%s: its tables are made of %d runs, a pack has %d at most; --run "
                         "names one",
                         store_path(store), *n, MERGE_RUNS_MAX);
}

static int pack_make(struct store *store, const struct merge_extract *extract, const char *database,
                     const char *path, struct err *err)
{
    struct pack *pack = xcalloc(1, sizeof *pack);
    int result = merge_extract_runs(store, extract, database, err);
    pack->slim = extract->keep == MERGE_KEEP_RESULTS;
    if (result == 0)
        result = pack_collect(pack, database, extract->nruns, err);
    if (result == 0) {
        pack_add_manifest(pack);
        result = pack_publish(pack, path, err);
    }
    pack_free(pack);
    return result;
}

int pack_write(struct store *store, const struct pack_what *what, const char *path, struct err *err)
{
    int64_t *run_ids = NULL;
    int n = 0;
    if (pack_check_finished(store, what->run_id, err) != 0)
        return -1;
    char *scratch = scratch_begin(err);
    if (!scratch)
        return -1;
    char *database = xasprintf("%s/run.db", scratch);
    int result = pack_runs(store, what, &run_ids, &n, err);
    const struct merge_extract extract = {run_ids, n, what->keep};
    if (result == 0)
        result = pack_make(store, &extract, database, path, err);
    free(run_ids);
    free(database);
    scratch_end(scratch, false);
    return result;
}
