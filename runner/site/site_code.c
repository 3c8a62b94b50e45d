// SPDX-License-Identifier: MIT
// An instance of each form as machine code, whether or not a run has its kernels, and the heading
// of its rows in the lists. See site_internal.h; docs/SITE.md describes the file.
#include "site_internal.h"

#include "known/known.h"

#include <stdlib.h>
#include <string.h>

static int code_compare(const void *a, const void *b)
{
    return stored_form_compare(&((const struct known_form *)a)->id,
                               &((const struct known_form *)b)->id);
}

static void code_json(const struct known_form *form, struct site_texts *texts, struct json *json)
{
    static const char digits[] = "0123456789ABCDEF";
    struct strbuf hex = {0};
    for (size_t i = 0; i < form->code_len; i++) {
        strbuf_put(&hex, &digits[form->code[i] >> 4], 1);
        strbuf_put(&hex, &digits[form->code[i] & 15], 1);
    }
    json_open(json, '[');
    json_int(json, site_text(texts, form->row ? form->row->section : ""));
    site_asm_json(strbuf_text(&hex), form->id.bits, texts, json);
    json_close(json, ']');
    strbuf_free(&hex);
}

// Forms side by side whose rows stand under one heading.
struct code_run {
    const char *section;
    int64_t first, count;
};

static int code_compare_runs(const void *a, const void *b)
{
    const struct code_run *one = a, *two = b;
    int order = strcmp(one->section, two->section);
    return order ? order : (one->first > two->first) - (one->first < two->first);
}

// Writes an object: of each heading the first form and the number of forms, in turn.
static void code_runs_json(struct code_run *runs, size_t n, struct json *json)
{
    qsort(runs, n, sizeof *runs, code_compare_runs);
    json_open(json, '{');
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(runs[i].section, runs[i - 1].section) != 0)
            json_open(json_name(json, runs[i].section), '[');
        json_int(json, runs[i].first);
        json_int(json, runs[i].count);
        if (i + 1 == n || strcmp(runs[i].section, runs[i + 1].section) != 0)
            json_close(json, ']');
    }
    json_close(json, '}');
}

// Adds a form to the runs. Returns their number.
static size_t code_runs_add(struct code_run *runs, size_t n, int64_t form,
                            const struct known_form *known)
{
    const char *section = known->row ? known->row->section : "";
    if (!*section)
        return n;
    struct code_run *last = n > 0 ? &runs[n - 1] : NULL;
    if (last && last->first + last->count == form && strcmp(last->section, section) == 0) {
        last->count++;
        return n;
    }
    runs[n] = (struct code_run){section, form, 1};
    return n + 1;
}

int site_code_write(struct site_files *files, const struct site_forms *forms,
                    struct strbuf *sections, struct err *err)
{
    struct known_cpu known = {.nforms = (int)forms->nforms};
    struct site_texts texts = {0};
    struct strbuf text = {0};
    struct json json = {.out = &text, .script = true};
    struct json section = {.out = sections, .script = true};
    struct code_run *runs = xcalloc(forms->nforms + 1, sizeof *runs);
    size_t nruns = 0;
    known.forms = xcalloc(forms->nforms + 1, sizeof *known.forms);
    for (size_t i = 0; i < forms->nforms; i++)
        known.forms[i].id = (struct stored_form){forms->forms[i].form, forms->forms[i].enc,
                                                 (int)forms->forms[i].bits};
    qsort(known.forms, forms->nforms, sizeof *known.forms, code_compare);
    // The page is complete without: NASM may be missing here.
    if (known_code(&known, err) != 0)
        files->counts->uncoded = true;
    json_open(&json, '{');
    json_open(json_name(&json, "forms"), '[');
    for (size_t i = 0; i < forms->nforms; i++) {
        const struct stored_form id = {forms->forms[i].form, forms->forms[i].enc,
                                       (int)forms->forms[i].bits};
        const struct known_form *form =
            stored_form_find(&id, known.forms, known.nforms, sizeof *known.forms);
        code_json(form, &texts, &json);
        nruns = code_runs_add(runs, nruns, (int64_t)i, form);
    }
    code_runs_json(runs, nruns, &section);
    json_close(&json, ']');
    site_texts_json(&texts, json_name(&json, "texts"));
    json_close(&json, '}');
    int result = site_file_script(files, "data/code.js", "code", &text, err);
    known_free(&known);
    free(runs);
    strbuf_free(&text);
    site_texts_clear(&texts);
    return result;
}
