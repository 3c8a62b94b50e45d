// SPDX-License-Identifier: MIT
// An instance of each form as machine code, whether or not a run has its kernels, and the heading
// of its rows in the lists. See site_internal.h; docs/SITE.md describes the file.
#include "site_internal.h"

#include "known/known.h"

#include <stdlib.h>

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

int site_code_write(struct site_files *files, const struct site_forms *forms, struct err *err)
{
    struct known_cpu known = {.nforms = (int)forms->nforms};
    struct site_texts texts = {0};
    struct strbuf text = {0};
    struct json json = {.out = &text, .script = true};
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
        code_json(stored_form_find(&id, known.forms, known.nforms, sizeof *known.forms), &texts,
                  &json);
    }
    json_close(&json, ']');
    site_texts_json(&texts, json_name(&json, "texts"));
    json_close(&json, '}');
    int result = site_file_script(files, "data/code.js", "code", &text, err);
    known_free(&known);
    strbuf_free(&text);
    site_texts_clear(&texts);
    return result;
}
