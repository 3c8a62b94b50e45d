// SPDX-License-Identifier: MIT
// Writes the files of the page under other names and renames them when they are complete. See
// site_internal.h.
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

// Parts of the page, below site/ of the data root. A folder stands before its content.
static const char *const page_files[] = {
    "index.html",
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
};

static int site_file_write(struct site_files *files, const char *name, const char *bytes,
                           size_t len, struct err *err)
{
    char *path = xasprintf("%s/%s", files->directory, name);
    int result = file_write(path, bytes, len, err);
    free(path);
    files->counts->files++;
    files->counts->bytes += (int64_t)len;
    return result;
}

int site_file_script(struct site_files *files, const char *name, const char *kind,
                     const struct strbuf *value, struct err *err)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "latput.put(\"%s\",", kind);
    strbuf_put(&text, strbuf_text(value), value->len);
    strbuf_puts(&text, ");\n");
    int result = site_file_write(files, name, text.data, text.len, err);
    strbuf_free(&text);
    return result;
}

int site_file_directories(struct site_files *files, struct err *err)
{
    static const char *const directories[] = {"", "/data", "/vendor"};
    for (size_t i = 0; i < ARRAY_LEN(directories); i++) {
        char *path = xasprintf("%s%s", files->directory, directories[i]);
        int status = scratch_keep_directory(path, err);
        free(path);
        if (status != 0)
            return -1;
    }
    return 0;
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

int site_file_database(struct site_files *files, struct store *store, const struct site_cpus *cpus,
                       struct err *err)
{
    char *path = xasprintf("%s/" SITE_DATABASE, files->directory);
    const char *temporary = scratch_file_begin(path);
    int64_t *run_ids = xcalloc((size_t)cpus->nruns + 1, sizeof *run_ids);
    for (int r = 0; r < cpus->nruns; r++) // newest first; the copy numbers them in this order
        run_ids[r] = cpus->runs[cpus->nruns - 1 - r].run_id;
    const struct merge_extract extract = {run_ids, cpus->nruns, MERGE_KEEP_KERNELS};
    struct stat about = {.st_size = 0};
    int result = merge_extract_runs(store, &extract, temporary, err);
    if (result == 0)
        stat(temporary, &about);
    if (scratch_file_end(temporary, result == 0 ? path : NULL) != 0)
        result = err_set(err, "%s: cannot be written: %s", path, strerror(errno));
    files->counts->files++;
    files->counts->bytes += (int64_t)about.st_size;
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
