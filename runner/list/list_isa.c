// SPDX-License-Identifier: MIT
#include "list_isa.h"

#include "list_option.h"

#include "cpuinfo/cpuinfo.h"
#include "util/suggest.h"

#include <stdio.h>
#include <string.h>

static const char *const encoding_names[LIST_ENCODINGS] = {"legacy", "vex", "evex", "xop"};

const char *encoding_name(enum encoding enc)
{
    return encoding_names[enc];
}

static void isa_unknown(const char *at, size_t len, struct list_fault *fault)
{
    char meant[64];
    struct suggestion near = suggest_start(at, len);
    for (int i = 0; feature_name(i); i++)
        suggest_offer(&near, feature_name(i));
    if (len == 0)
        list_fault_set(fault, at,
                       "the isa is missing: names of cpuinfo/features.csv joined by '+'");
    else
        list_fault_set(fault, at,
                       "unknown isa '%.*s'%s; names are those of cpuinfo/features.csv, joined by "
                       "'+'",
                       (int)len, at, suggest_text(&near, meant, sizeof meant));
}

// Notes the encodings that the features of a valid isa expression bring.
static void isa_fill(const char *text, struct list_isa *isa)
{
    char name[64];
    *isa = (struct list_isa){.text = text};
    while (*text) {
        size_t len = strcspn(text, "+");
        snprintf(name, sizeof name, "%.*s", (int)len, text);
        int feature = feature_find(name);
        for (int enc = 0; enc < LIST_ENCODINGS && feature >= 0; enc++)
            if (strcmp(feature_encoding(feature), encoding_names[enc]) == 0)
                isa->has[enc] = true;
        text += len + (text[len] == '+');
    }
}

const struct list_isa *list_isa_look_up(struct list_isa_cache *cache, const char *text,
                                        struct list_fault *fault)
{
    for (int i = 0; i < cache->n; i++)
        if (strcmp(cache->isas[i].text, text) == 0)
            return &cache->isas[i];
    const char *unknown = text;
    size_t len = 0;
    if (*text == '\0' || isa_check(text, &unknown, &len)) {
        isa_unknown(unknown, len, fault);
        return NULL;
    }
    if (cache->n == LIST_ISA_CACHE_MAX)
        cache->n = 0;
    struct list_isa *isa = &cache->isas[cache->n++];
    isa_fill(text, isa);
    return isa;
}

static bool row_has_vector(const struct list_row *row)
{
    for (int i = 0; i < row->nops; i++)
        if (row->ops[i].kind == OPERAND_VEC || row->ops[i].kind == OPERAND_VSIB)
            return true;
    return false;
}

enum encoding list_isa_encoding(const struct list_isa *isa, const struct list_row *row)
{
    const char *enc = list_row_option(row, "enc");
    if (row->opcode.given)
        return row->opcode.enc;
    if (strncmp(row->nasm_mnemonic, "{evex}", 6) == 0)
        return ENC_EVEX;
    if (strncmp(row->nasm_mnemonic, "{vex}", 5) == 0)
        return ENC_VEX;
    for (int i = 0; enc && i < LIST_ENCODINGS; i++)
        if (strcmp(enc, encoding_names[i]) == 0)
            return (enum encoding)i;
    if (isa->has[ENC_EVEX])
        return row_has_vector(row) ? ENC_EVEX : ENC_VEX;
    return isa->has[ENC_XOP] ? ENC_XOP : isa->has[ENC_VEX] ? ENC_VEX : ENC_LEGACY;
}
