// SPDX-License-Identifier: MIT
// Writes the files of the page into a scratch directory beside the page, and renames them when all
// are complete. See site_internal.h.
#include "site_internal.h"

#include "merge/merge.h"
#include "util/file_write.h"
#include "util/paths.h"
#include "util/scratch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Parts of the page, below site/ of the data root. The page itself comes last: where it is new, so
// is what it loads.
static const char *const page_files[] = {
    "style.css",
    "model.js",
    "form_code.js",
    "search.js",
    "view.js",
    "differs.js",
    "table.js",
    "plot.js",
    "panel.js",
    "pages.js",
    "properties.js",
    "compare.js",
    "app.js",
    "vendor/uPlot.iife.min.js",
    "vendor/uPlot.min.css",
    "vendor/uPlot.LICENSE",
    "index.html",
};

// Returns where a file waits.
static char *waiting_path(const struct site_files *files, const char *name)
{
    char *path = xasprintf("%s/%s", files->waiting, name);
    for (char *at = path + strlen(files->waiting) + 1; *at; at++)
        if (*at == '/')
            *at = ','; // which no name has
    return path;
}

static void site_file_note(struct site_files *files, const char *name, int64_t bytes)
{
    files->names = xgrow(files->names, &files->capacity, files->nnames + 1, sizeof *files->names);
    files->names[files->nnames++] = xstrdup(name);
    files->counts->files++;
    files->counts->bytes += bytes;
}

static int site_file_write(struct site_files *files, const char *name, const char *bytes,
                           size_t len, struct err *err)
{
    char *path = waiting_path(files, name);
    int result = file_write(path, bytes, len, err);
    if (result != 0) { // the message begins with the path
        char *why = xstrdup(err->text + strlen(path));
        err_set(err, "%s/%s%s; what was there before is unchanged", files->directory, name, why);
        free(why);
    }
    free(path);
    site_file_note(files, name, (int64_t)len);
    return result;
}

int site_file_script(struct site_files *files, const char *name, const char *kind,
                     const struct strbuf *value, struct err *err)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "latput.put(\"%s\",'", kind);
    for (const char *at = strbuf_text(value), *end = at + value->len; at < end;) {
        size_t len = strcspn(at, "\\'"); // JSON has no NUL
        strbuf_put(&text, at, len);
        if ((at += len) < end)
            strbuf_put(&text, (const char[]){'\\', *at++}, 2);
    }
    strbuf_puts(&text, "');\n");
    int result = site_file_write(files, name, text.data, text.len, err);
    strbuf_free(&text);
    return result;
}

int site_files_begin(struct site_files *files, struct err *err)
{
    static const char *const directories[] = {"", "/data", "/vendor"};
    for (size_t i = 0; i < ARRAY_LEN(directories); i++) {
        char *path = xasprintf("%s%s", files->directory, directories[i]);
        int status = scratch_keep_directory(path, err);
        free(path);
        if (status != 0)
            return -1;
    }
    files->waiting = scratch_begin_in(files->directory, err);
    return files->waiting ? 0 : -1;
}

static int file_read(const char *path, struct strbuf *text, struct err *err)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return err_set(err, "%s: %s; it belongs to latput's own files: install them again", path,
                       strerror(errno));
    char buffer[16384];
    size_t len;
    while ((len = fread(buffer, 1, sizeof buffer, file)) > 0)
        strbuf_put(text, buffer, len);
    bool bad = ferror(file) != 0;
    fclose(file);
    return bad ? err_set(err, "%s: cannot be read", path) : 0;
}

// Gives a file its name. One that is no regular file, or on another file system, is written.
static int site_file_place(const struct site_files *files, const char *name, struct err *err)
{
    char *from = waiting_path(files, name), *to = xasprintf("%s/%s", files->directory, name);
    bool replaceable = file_is_replaceable(to);
    int result = replaceable ? rename(from, to) : -1;
    if (result != 0 && replaceable && errno != EXDEV)
        err_set(err, "%s: cannot be replaced: %s", to, strerror(errno));
    else if (result != 0) {
        struct strbuf text = {0};
        result = file_read(from, &text, err);
        if (result == 0)
            result = file_write(to, strbuf_text(&text), text.len, err);
        strbuf_free(&text);
    }
    free(from);
    free(to);
    return result;
}

int site_files_end(struct site_files *files, int result, struct err *err)
{
    for (size_t i = 0; i < files->nnames; i++) {
        if (result == 0)
            result = site_file_place(files, files->names[i], err);
        free(files->names[i]);
    }
    free(files->names);
    scratch_end(files->waiting, false);
    return result;
}

int site_file_database(struct site_files *files, struct store *store, const struct site_cpus *cpus,
                       struct err *err)
{
    char *path = waiting_path(files, SITE_DATABASE);
    int64_t *run_ids = xcalloc((size_t)cpus->nruns + 1, sizeof *run_ids);
    for (int r = 0; r < cpus->nruns; r++) // newest first; the copy numbers them in this order
        run_ids[r] = cpus->runs[cpus->nruns - 1 - r].run_id;
    const struct merge_extract extract = {run_ids, cpus->nruns, MERGE_KEEP_KERNELS};
    struct stat about = {.st_size = 0};
    int result = merge_extract_runs(store, &extract, path, err);
    if (result == 0)
        stat(path, &about);
    site_file_note(files, SITE_DATABASE, (int64_t)about.st_size);
    free(run_ids);
    free(path);
    return result;
}

int site_file_sources(struct site_files *files, struct err *err)
{
    int result = 0;
    for (size_t i = 0; i < ARRAY_LEN(page_files) && result == 0; i++) {
        struct strbuf text = {0};
        char *relative = xasprintf("site/%s", page_files[i]);
        result = file_read(path_data(relative), &text, err);
        if (result == 0)
            result = site_file_write(files, page_files[i], strbuf_text(&text), text.len, err);
        free(relative);
        strbuf_free(&text);
    }
    return result;
}
