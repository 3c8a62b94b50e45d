// SPDX-License-Identifier: MIT
// Packs of strangers, as files. Target `pack`: the bytes are an archive, or say what one consists
// of, so that names, sizes and hashes are reached; its database is none. Target `database`: the
// bytes change those of a sound database, which is opened as `latput merge` does; one input in
// COPIED is merged to the end, which takes some ten times as long.
#include "fixtures/merge_fixture.h"
#include "fuzz.h"
#include "fuzz_rows.h"
#include "fuzz_world.h"

#include "merge/merge_internal.h"
#include "pack/libarchive.h"
#include "store/store_internal.h"
#include "util/mem.h"
#include "util/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char TARGET[] = "file:fuzz_packs?mode=memory&cache=shared";

// A member of a made archive: a name, notes, and how many bytes of content follow.
enum { MEMBER_NAME, MEMBER_NOTES, MEMBER_LENGTH, MEMBER_BYTES };
enum { UNNAMED = 1, WRONG_HASH = 2, DIRECTORY = 4, LINK = 8, MANY = 16 };

static void add_member(struct archive *zip, const char *name, const char *bytes, size_t size,
                       unsigned notes)
{
    struct archive_entry *entry = la.archive_entry_new();
    la.archive_entry_set_pathname(entry, name);
    la.archive_entry_set_size(entry, (int64_t)size);
    la.archive_entry_set_filetype(entry, notes & DIRECTORY ? AE_IFDIR
                                         : notes & LINK    ? AE_IFLNK
                                                           : AE_IFREG);
    la.archive_entry_set_perm(entry, 0644);
    if (la.archive_write_header(zip, entry) == ARCHIVE_OK)
        la.archive_write_data(zip, bytes, size);
    la.archive_entry_free(entry);
}

static const uint8_t *put_member(struct archive *zip, const uint8_t *at, const uint8_t *end,
                                 struct strbuf *manifest)
{
    static const char *const names[] = {"run.db",
                                        "README.txt",
                                        "MANIFEST",
                                        "info.txt",
                                        "tables/a_b-c+.txt",
                                        "../run.db",
                                        "instruction_table.csv",
                                        "/run.db",
                                        "tables/../run.db.txt",
                                        "run.db/",
                                        "table.html",
                                        "tables/\033[2J.txt",
                                        "tables/.txt",
                                        "x",
                                        "tables/a/b.txt"};
    const unsigned notes = at[MEMBER_NOTES];
    const char *name = names[at[MEMBER_NAME] % ARRAY_LEN(names)];
    size_t len = at[MEMBER_LENGTH], left = (size_t)(end - at) - MEMBER_BYTES;
    const char *content = (const char *)at + MEMBER_BYTES;
    struct strbuf bytes = {0};
    char hex[65];
    len = len > left ? left : len;
    for (int i = 0; i < (notes & MANY ? 64 : 1); i++)
        strbuf_put(&bytes, content, len);
    store_sha256(strbuf_text(&bytes), bytes.len, hex);
    if (notes & WRONG_HASH)
        hex[notes >> 5] ^= 1;
    if (!(notes & UNNAMED))
        strbuf_printf(manifest, "%s  %s\n", hex, name);
    add_member(zip, name, strbuf_text(&bytes), bytes.len, notes);
    strbuf_free(&bytes);
    return at + MEMBER_BYTES + len;
}

// Makes the archive that the bytes describe. Returns its path.
static const char *make_archive(const uint8_t *bytes, size_t size)
{
    const char *path = fuzz_output();
    struct err err = {0};
    struct strbuf manifest = {0};
    if (libarchive_load(&err) != 0)
        fuzz_broken(err.text);
    struct archive *zip = la.archive_write_new();
    if (bytes[0] & 1)
        la.archive_write_set_format_ustar(zip);
    else
        la.archive_write_set_format_zip(zip);
    la.archive_write_set_options(zip, bytes[0] & 2 ? "compression=deflate" : "compression=store");
    if (la.archive_write_open_filename(zip, path) != ARCHIVE_OK)
        fuzz_broken("an archive cannot be written");
    for (const uint8_t *at = bytes + 1, *end = bytes + size; end - at >= MEMBER_BYTES;)
        at = put_member(zip, at, end, &manifest);
    if (!(bytes[0] & 4))
        add_member(zip, "MANIFEST", strbuf_text(&manifest), manifest.len, 0);
    la.archive_write_close(zip);
    la.archive_write_free(zip);
    strbuf_free(&manifest);
    return path;
}

// Merges a pack or a database, and reads one of its runs if it is taken.
static void merge_file_by(bool is_pack, const char *path, unsigned choice)
{
    static struct fuzz_target target;
    static struct store *reader;
    static struct store_merged merged;
    struct err err = {0};
    if (!target.store) {
        target = fuzz_target_open(TARGET);
        reader = fuzz_connect(TARGET);
    }
    int result = is_pack ? pack_merge(target.store, path, &merged, &err)
                         : merge_runs(target.store, path, "fuzz", &merged, &err);
    if (result < 0) {
        fuzz_check_message(&err);
        fuzz_check_empty(reader);
        return;
    }
    fuzz_check(result == merged.nruns && result > 0, "an empty database takes all runs of a pack");
    fuzz_read_run(reader, merged.runs[0].run_id, choice);
    rows_restore(target.rows, true);
}

void fuzz_pack(const uint8_t *bytes, size_t size)
{
    bool archive = size < 2 || memcmp(bytes, "PK", 2) == 0 || bytes[0] == 0xfd;
    merge_file_by(true, archive ? fuzz_file(bytes, size) : make_archive(bytes, size),
                  (unsigned)size);
}

// The bytes of the sound database, read once.
static uint8_t *read_sound(size_t *size)
{
    static uint8_t bytes[4 << 20];
    FILE *file = fopen(fuzz_world()->sound, "re");
    if (!file || (*size = fread(bytes, 1, sizeof bytes, file)) == 0)
        fuzz_broken("the sound database cannot be read");
    fclose(file);
    return bytes;
}

// Writes it with changes: where (three bytes), how many bytes (one), and which.
static void write_changed(const char *path, const uint8_t *bytes, size_t size)
{
    enum { HEAD = 4 };
    static uint8_t *sound, *changed;
    static size_t total;
    if (!sound) {
        sound = read_sound(&total);
        changed = xcalloc(total, 1);
    }
    memcpy(changed, sound, total);
    for (size_t at = 0, len; at + HEAD <= size; at += HEAD + len) {
        size_t to = (size_t)(bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16) % total;
        len = bytes[at + 3];
        if (len > size - at - HEAD)
            len = size - at - HEAD;
        memcpy(changed + to, bytes + at + HEAD, len > total - to ? total - to : len);
    }
    FILE *file = fopen(path, "we");
    if (!file || fwrite(changed, 1, total, file) != total || fclose(file) != 0)
        fuzz_broken("a changed database cannot be written");
}

static void open_file(const char *path)
{
    struct store *store;
    struct err err = {0};
    if (merge_open(path, "fuzz", &store, &err) == 0)
        store_close(store);
    else
        fuzz_check_message(&err);
}

void fuzz_database(const uint8_t *bytes, size_t size)
{
    static char *path;
    const unsigned choice = fuzz_choice(bytes, size);
    if (!path)
        path = xasprintf("%s.changed", fuzz_world()->sound);
    write_changed(path, bytes, size);
    if (choice % COPIED == 0)
        merge_file_by(false, path, choice / COPIED);
    else
        open_file(path);
}
