// SPDX-License-Identifier: MIT
// The web page: its own files, and the database as scripts; see site.h.
#include "site_internal.h"

#include "list/form_glob.h"
#include "list/form_words.h"
#include "version.h"

#include <stdlib.h>

// Writes the title of each list, from the newest run that has it.
static int lists_json(struct store *store, struct json *json, struct err *err)
{
    struct store_rows *rows = store_rows_open(store, STORE_VIEW_LIST, NULL, err);
    if (!rows)
        return -1;
    int got;
    json_open(json_name(json, "lists"), '['); // [name, title], later ones are newer
    while ((got = store_rows_next(rows, err)) > 0) {
        json_open(json, '[');
        json_text(json, store_exact_of(rows, "list"));
        json_text(json, store_exact_of(rows, "title"));
        json_close(json, ']');
    }
    json_close(json, ']');
    store_rows_close(rows);
    return got;
}

static int index_json(struct store *store, const struct site_options *options,
                      const struct site_cpus *cpus, struct json *json, struct err *err)
{
    json_text(json_name(json, "title"), options->title);
    json_text(json_name(json, "version"), LATPUT_VERSION);
    json_int(json_name(json, "chunk"), SITE_CHUNK);
    json_bool(json_name(json, "samples"), options->samples);
    json_text_known(json_name(json, "database"), options->database ? SITE_DATABASE : NULL);
    int result = lists_json(store, json, err);
    json_open(json_name(json, "cpus"), '[');
    for (int c = 0; c < cpus->ncpus && result == 0; c++) {
        json_open(json, '{');
        result = site_cpu_json(store, cpus, c, json, err);
        json_close(json, '}');
    }
    json_close(json, ']');
    return result;
}

static int index_write(struct store *store, struct site_files *files,
                       const struct site_options *options, const struct site_cpus *cpus,
                       struct err *err)
{
    struct strbuf text = {0}, properties = {0};
    struct json json = {.out = &text, .script = true};
    struct json property = {.out = &properties, .script = true};
    int nproperties;
    int result = site_property_json(store, cpus, &property, &nproperties, err);
    json_open(&json, '{');
    json_int(json_name(&json, "properties"), nproperties);
    if (result == 0)
        result = index_json(store, options, cpus, &json, err);
    json_close(&json, '}');
    if (result == 0)
        result = site_file_script(files, "data/properties.js", "properties", &properties, err);
    if (result == 0)
        result = site_file_script(files, "data/index.js", "index", &text, err);
    strbuf_free(&text);
    strbuf_free(&properties);
    return result;
}

// Writes an object: names of operands in code, and the globs that they become.
static void names_json(enum glob_names kind, const char *title, struct json *json)
{
    const char *name, *glob;
    json_open(json_name(json, title), '{');
    for (size_t i = 0; (name = form_glob_name(kind, i, &glob)); i++)
        json_text(json_name(json, name), glob);
    json_close(json, '}');
}

// Writes what people call forms and operands, and what lists say of forms, for searches.
static int words_write(struct site_files *files, const struct strbuf *sections, struct err *err)
{
    struct strbuf text = {0};
    struct json json = {.out = &text, .script = true};
    const char *word, *globs;
    json_open(&json, '{');
    json_open(json_name(&json, "words"), '{');
    for (size_t i = 0; (word = form_word(i, &globs)); i++)
        json_text(json_name(&json, word), globs);
    json_close(&json, '}');
    names_json(GLOB_OPERANDS, "operands", &json);
    names_json(GLOB_REGISTERS, "registers", &json);
    names_json(GLOB_SIZES, "sizes", &json);
    json_raw(json_name(&json, "sections"), sections->len > 0 ? strbuf_text(sections) : "{}");
    json_close(&json, '}');
    int result = site_file_script(files, "data/words.js", "words", &text, err);
    strbuf_free(&text);
    return result;
}

static int site_files_write(struct store *store, struct site_files *files,
                            const struct site_options *options, struct site_cpus *cpus,
                            struct err *err)
{
    struct site_forms forms = {0};
    struct strbuf sections = {0};
    int result = site_table_write(store, files, cpus, &forms, err);
    if (result == 0)
        result = site_detail_write(store, files, cpus, &forms, options->samples, err);
    if (result == 0)
        result = site_code_write(files, &forms, &sections, err);
    files->counts->forms = (int)forms.nforms;
    free(forms.forms);
    arena_free(&forms.arena);
    if (result == 0)
        result = words_write(files, &sections, err);
    strbuf_free(&sections);
    if (result == 0)
        result = site_columns_write(files, err);
    if (result == 0)
        result = index_write(store, files, options, cpus, err);
    if (result == 0 && options->database)
        result = site_file_database(files, store, cpus, err);
    return result == 0 ? site_file_sources(files, err) : -1;
}

int site_write(struct store *store, const struct site_options *options, struct site_counts *counts,
               struct err *err)
{
    struct site_cpus cpus;
    struct site_files files = {.directory = options->directory, .counts = counts};
    *counts = (struct site_counts){0};
    int result = site_cpus_read(store, options->uarchs, &cpus, err);
    counts->cpus = cpus.ncpus;
    if (result == 0 && cpus.ncpus == 0)
        result = err_set(err, "%s has no run yet; `latput run` makes one", store_path(store));
    if (result == 0)
        result = site_files_begin(&files, err);
    if (result == 0)
        result = site_files_write(store, &files, options, &cpus, err);
    result = site_files_end(&files, result, err);
    site_cpus_free(&cpus);
    return result;
}
