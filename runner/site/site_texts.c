// SPDX-License-Identifier: MIT
// Numbers of texts that a file has once; see site_internal.h.
#include "site_internal.h"

#include <stdlib.h>
#include <string.h>

static uint32_t text_hash(const char *text)
{
    uint32_t hash = UINT32_C(2166136261); // FNV-1a
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT32_C(16777619);
    return hash;
}

// Returns the slot of the text, or the free one for it.
static size_t texts_slot(const struct site_texts *texts, const char *text)
{
    size_t at = text_hash(text) & (texts->nslots - 1);
    while (texts->slots[at] && strcmp(texts->texts[texts->slots[at] - 1], text) != 0)
        at = (at + 1) & (texts->nslots - 1);
    return at;
}

// Keeps at least half of the slots free.
static void texts_grow(struct site_texts *texts)
{
    if (texts->nslots > 2 * texts->ntexts)
        return;
    free(texts->slots);
    texts->nslots = texts->nslots ? 2 * texts->nslots : 64;
    texts->slots = xcalloc(texts->nslots, sizeof *texts->slots);
    for (size_t i = 0; i < texts->ntexts; i++)
        texts->slots[texts_slot(texts, texts->texts[i])] = (uint32_t)i + 1;
}

int site_text(struct site_texts *texts, const char *text)
{
    texts_grow(texts);
    size_t slot = texts_slot(texts, text);
    if (!texts->slots[slot]) {
        texts->texts =
            xgrow(texts->texts, &texts->capacity, texts->ntexts + 1, sizeof *texts->texts);
        texts->texts[texts->ntexts++] = arena_strdup(&texts->arena, text);
        texts->slots[slot] = (uint32_t)texts->ntexts;
    }
    return (int)texts->slots[slot] - 1;
}

void site_texts_json(const struct site_texts *texts, struct json *json)
{
    json_open(json, '[');
    for (size_t i = 0; i < texts->ntexts; i++)
        json_text(json, texts->texts[i]);
    json_close(json, ']');
}

void site_texts_clear(struct site_texts *texts)
{
    free(texts->texts);
    free(texts->slots);
    arena_free(&texts->arena);
    *texts = (struct site_texts){0};
}
