// SPDX-License-Identifier: MIT
// Reads foreign packs; see pack.h. Every member must have a name that latput writes, its size is
// limited while it is unpacked, and the MANIFEST must have its hash. Only the database leaves the
// archive, into a private directory, and the store checks it in turn.
#include "pack.h"

#include "libarchive.h"
#include "merge/merge.h"
#include "util/mem.h"
#include "util/scratch.h"
#include "util/strbuf.h"

#include <ctype.h>
#include <errno.h>
#include <sha256.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct read_member {
    char name[PACK_NAME_MAX];
    char hex[SHA256_DIGEST_STRING_LENGTH];
};

struct pack_reader {
    const char *path;
    struct archive *zip;
    const char *database; // destination of run.db
    struct strbuf manifest;
    struct read_member members[PACK_MEMBERS_MAX];
    int nmembers;
    int64_t packed_bytes, unpacked_bytes;
    bool unable; // the destination could not be written
    struct err *err;
};

bool pack_is_member(const char *name)
{
    static const char *const fixed[] = {"MANIFEST",
                                        "README.txt",
                                        "info.txt",
                                        "ports.svg",
                                        "table.html",
                                        "instruction_table.csv",
                                        "instruction_table.json",
                                        "latency_table.csv",
                                        "latency_table.json",
                                        "false_dependency_table.csv",
                                        "false_dependency_table.json",
                                        "failure_table.csv",
                                        "port_table.csv",
                                        "port_table.json",
                                        "bench_table.csv",
                                        "bench_table.json",
                                        "bench_repetition_table.csv",
                                        "run.db"};
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        if (strcmp(name, fixed[i]) == 0)
            return true;
    size_t len = strlen(name);
    static const char before[] = "tables/", after[] = ".txt";
    if (len < sizeof before + sizeof after - 1 || len >= PACK_NAME_MAX ||
        strncmp(name, before, sizeof before - 1) != 0 ||
        strcmp(name + len - (sizeof after - 1), after) != 0)
        return false;
    for (size_t i = sizeof before - 1; i < len - (sizeof after - 1); i++)
        if (!isalnum((unsigned char)name[i]) && !strchr("-_+", name[i]))
            return false;
    return true;
}

static bool read_begins_as_archive(const char *path)
{
    static const char zip[] = "PK", xz[] = "\xFD"
                                           "7zXZ";
    char head[sizeof xz] = "";
    FILE *file = fopen(path, "re");
    if (!file)
        return true;
    size_t got = fread(head, 1, sizeof head, file);
    fclose(file);
    return (got >= sizeof zip - 1 && memcmp(head, zip, sizeof zip - 1) == 0) ||
           (got >= sizeof xz - 1 && memcmp(head, xz, sizeof xz - 1) == 0);
}

bool pack_is_meant(const char *path)
{
    static const char *const endings[] = {".zip", ".tar.xz", ".pack"};
    struct stat st;
    if (stat(path, &st) != 0)
        return true; // reading the pack gives the reason
    if (!S_ISREG(st.st_mode))
        return !S_ISDIR(st.st_mode);
    size_t len = strlen(path);
    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        size_t ending = strlen(endings[i]);
        if (len >= ending && strcmp(path + len - ending, endings[i]) == 0)
            return true;
    }
    return read_begins_as_archive(path);
}

static int read_refuse(struct pack_reader *reader, const char *what)
{
    return err_set(reader->err, "%s: %s; it is refused, nothing of it was merged", reader->path,
                   what);
}

static int read_unable(struct pack_reader *reader)
{
    reader->unable = true;
    return err_set(reader->err, "%s: cannot unpack it: %s; set TMPDIR to a larger disk",
                   reader->path, strerror(errno));
}

static int read_archive_error(struct pack_reader *reader)
{
    const char *text = la.archive_error_string(reader->zip);
    return err_set(reader->err,
                   "%s: cannot be read as a pack (zip, tar.xz): %s; if it is one, copy it again",
                   reader->path, text ? text : "unknown error");
}

static int read_check_entry(struct pack_reader *reader, struct archive_entry *entry)
{
    const char *name = la.archive_entry_pathname(entry);
    if (!name || !pack_is_member(name))
        return read_refuse(reader, "has a member of a name that no pack has");
    if (la.archive_entry_filetype(entry) != AE_IFREG || la.archive_entry_hardlink(entry) ||
        la.archive_entry_symlink(entry))
        return read_refuse(reader, "has a member that is no plain file");
    if (la.archive_entry_is_encrypted(entry))
        return read_refuse(reader, "is encrypted");
    if (reader->nmembers == PACK_MEMBERS_MAX)
        return read_refuse(reader, "has too many members");
    for (int i = 0; i < reader->nmembers; i++)
        if (strcmp(reader->members[i].name, name) == 0)
            return read_refuse(reader, "has two members of one name");
    if (la.archive_entry_size_is_set(entry) && la.archive_entry_size(entry) > PACK_MEMBER_BYTES_MAX)
        return read_refuse(reader, "has a member that is too large");
    return 0;
}

// Counts the bytes that really come out, whatever the headers say.
static int read_count(struct pack_reader *reader, int64_t *member_bytes, size_t got)
{
    *member_bytes += (int64_t)got;
    reader->unpacked_bytes += (int64_t)got;
    if (*member_bytes > PACK_MEMBER_BYTES_MAX)
        return read_refuse(reader, "has a member that is too large");
    if (reader->unpacked_bytes > PACK_RATIO_FREE_BYTES &&
        reader->unpacked_bytes / PACK_RATIO_MAX > reader->packed_bytes)
        return read_refuse(reader, "unpacks to far more than results would (a zip bomb?)");
    return 0;
}

static int read_content(struct pack_reader *reader, const char *name, FILE *file, SHA256_CTX *hash)
{
    char bytes[65536];
    int64_t total = 0;
    la_ssize_t got;
    while ((got = la.archive_read_data(reader->zip, bytes, sizeof bytes)) > 0) {
        if (read_count(reader, &total, (size_t)got) != 0)
            return -1;
        SHA256Update(hash, (const uint8_t *)bytes, (size_t)got);
        if (file && fwrite(bytes, 1, (size_t)got, file) != (size_t)got)
            return read_unable(reader);
        if (strcmp(name, "MANIFEST") != 0)
            continue;
        if (total > PACK_MANIFEST_BYTES_MAX)
            return read_refuse(reader, "has a MANIFEST that is too large");
        strbuf_put(&reader->manifest, bytes, (size_t)got);
    }
    return got < 0 ? read_archive_error(reader) : 0;
}

static int read_member(struct pack_reader *reader, struct archive_entry *entry)
{
    if (read_check_entry(reader, entry) != 0)
        return -1;
    struct read_member *member = &reader->members[reader->nmembers++];
    snprintf(member->name, sizeof member->name, "%s", la.archive_entry_pathname(entry));
    bool database = strcmp(member->name, "run.db") == 0;
    FILE *file = database ? fopen(reader->database, "wx") : NULL;
    if (database && !file)
        return read_unable(reader);
    SHA256_CTX hash;
    SHA256Init(&hash);
    int result = read_content(reader, member->name, file, &hash);
    SHA256End(&hash, member->hex);
    if (file && fclose(file) != 0 && result == 0)
        result = read_unable(reader);
    return result;
}

// Compares the manifest line by line with the members, each of which must be named once.
static int read_check_manifest(struct pack_reader *reader)
{
    bool named[PACK_MEMBERS_MAX] = {false};
    int n = 0;
    char *rest = reader->manifest.data;
    if (!rest || strlen(rest) != reader->manifest.len)
        return read_refuse(reader, "has no MANIFEST, or one that is no text");
    for (char *line; (line = strsep(&rest, "\n"));) {
        if (!*line && !rest)
            break; // after the last line
        const size_t hex = SHA256_DIGEST_STRING_LENGTH - 1;
        if (strlen(line) < hex + 3 || line[hex] != ' ' || line[hex + 1] != ' ')
            return read_refuse(reader, "has a MANIFEST that is malformed");
        int at = 0;
        while (at < reader->nmembers && strcmp(reader->members[at].name, line + hex + 2) != 0)
            at++;
        if (at == reader->nmembers || named[at] ||
            strcmp(reader->members[at].name, "MANIFEST") == 0)
            return read_refuse(reader, "has a MANIFEST that names other members than it has");
        if (strncmp(reader->members[at].hex, line, hex) != 0)
            return err_set(reader->err,
                           "%s: its member %s is not what the MANIFEST says (sha256); the file is "
                           "damaged or was changed; nothing of it was merged",
                           reader->path, reader->members[at].name);
        named[at] = true;
        n++;
    }
    if (n != reader->nmembers - 1)
        return read_refuse(reader, "has members that its MANIFEST does not name");
    return 0;
}

// Checks that a zip ends with its last record, in front of which its directory lies: readers go by
// the last such record, so other bytes could be another pack, left out in silence.
static int read_check_zip_end(struct pack_reader *reader)
{
    enum { RECORD_BYTES = 22, SIZE_AT = 12, OFFSET_AT = 16 };
    static const uint8_t record[] = {'P', 'K', 5, 6};
    uint8_t bytes[RECORD_BYTES];
    uint32_t size, offset;
    const int64_t at = reader->packed_bytes - RECORD_BYTES;
    FILE *file = fopen(reader->path, "re");
    if (!file || fseeko(file, at, SEEK_SET) != 0 || fread(bytes, sizeof bytes, 1, file) != 1) {
        err_set(reader->err, "%s: %s", reader->path, strerror(errno));
        if (file)
            fclose(file);
        return -1;
    }
    fclose(file);
    memcpy(&size, bytes + SIZE_AT, sizeof size);
    memcpy(&offset, bytes + OFFSET_AT, sizeof offset);
    return memcmp(bytes, record, sizeof record) == 0 && (int64_t)offset + size == at
               ? 0
               : read_refuse(reader, "has bytes before, between or after its members");
}

static int read_members(struct pack_reader *reader)
{
    struct archive_entry *entry;
    int got, result = 0;
    while (result == 0 && (got = la.archive_read_next_header(reader->zip, &entry)) == ARCHIVE_OK)
        result = read_member(reader, entry);
    if (result == 0 && got != ARCHIVE_EOF)
        result = read_archive_error(reader);
    if (result == 0 && la.archive_format(reader->zip) == ARCHIVE_FORMAT_ZIP)
        result = read_check_zip_end(reader);
    if (result == 0)
        result = read_check_manifest(reader);
    for (int i = 0; result == 0 && i < reader->nmembers; i++)
        if (strcmp(reader->members[i].name, "run.db") == 0)
            return 0;
    return result == 0 ? read_refuse(reader, "has no run.db") : -1;
}

// Opens the archive. A tar is read to the end of the file, past the mark of its own end, so that
// what follows is a member, or damage.
static int read_open(struct pack_reader *reader)
{
    struct stat st;
    if (stat(reader->path, &st) != 0)
        return err_set(reader->err, "%s: %s", reader->path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return err_set(reader->err, "%s: is no regular file", reader->path);
    reader->packed_bytes = st.st_size;
    if (la.archive_read_support_format_zip_seekable(reader->zip) != ARCHIVE_OK ||
        la.archive_read_support_format_tar(reader->zip) != ARCHIVE_OK ||
        la.archive_read_support_filter_xz(reader->zip) != ARCHIVE_OK ||
        la.archive_read_set_options(reader->zip, "tar:read_concatenated_archives") != ARCHIVE_OK ||
        la.archive_read_open_filename(reader->zip, reader->path, 65536) != ARCHIVE_OK)
        return read_archive_error(reader);
    return 0;
}

static struct pack_reader *read_begin(const char *path, struct err *err)
{
    struct pack_reader *reader = xcalloc(1, sizeof *reader);
    reader->path = path;
    reader->err = err;
    reader->zip = la.archive_read_new();
    return reader;
}

static void read_end(struct pack_reader *reader)
{
    la.archive_read_free(reader->zip);
    strbuf_free(&reader->manifest);
    free(reader);
}

int pack_probe(const char *path, struct err *err)
{
    struct archive_entry *entry;
    if (libarchive_load(err) != 0)
        return -1;
    struct pack_reader *reader = read_begin(path, err);
    int result = read_open(reader);
    if (result == 0)
        result = la.archive_read_next_header(reader->zip, &entry) == ARCHIVE_OK
                     ? read_check_entry(reader, entry)
                     : read_archive_error(reader);
    read_end(reader);
    return result;
}

// *unable: what failed is this machine's.
static int pack_merge_file(struct merge *merge, const char *path, struct store_merged *merged,
                           bool *unable, struct err *err)
{
    char *scratch = libarchive_load(err) == 0 ? scratch_begin(err) : NULL;
    *unable = !scratch;
    if (!scratch)
        return -1;
    char *database = xasprintf("%s/run.db", scratch);
    struct pack_reader *reader = read_begin(path, err);
    reader->database = database;
    int result = read_open(reader);
    if (result == 0)
        result = read_members(reader);
    if (result == 0)
        result = merge_file(merge, database, path, merged, err);
    *unable = reader->unable;
    read_end(reader);
    free(database);
    scratch_end(scratch, false);
    return result;
}

int pack_merge_all(struct store *store, char *const *paths, int n, struct progress *progress,
                   struct store_merged *merged, struct err *err)
{
    struct merge *merge = merge_begin(store, progress, err);
    int status = merge ? 0 : -1;
    bool unable = !merge;
    for (int i = 0; i < n && status == 0; i++)
        status = pack_merge_file(merge, paths[i], &merged[i], &unable, err);
    if (unable)
        store_set_unable(store);
    return merge ? merge_end(merge, status, merged, n, err) : -1;
}
