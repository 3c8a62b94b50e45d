// SPDX-License-Identifier: MIT
#include "field.h"

#include <assert.h>
#include <string.h>

const char *field_name(const struct field_place *at)
{
    const char *dot = strrchr(at->member, '.');
    return dot ? dot + 1 : at->member;
}

int64_t field_integer(const struct field_place *at, const void *row)
{
    const void *value = (const char *)row + at->offset;
    switch (at->kind) {
    case FIELD_INT:
        return *(const int *)value;
    case FIELD_UINT32:
        return *(const uint32_t *)value;
    case FIELD_UINT64:
        return (int64_t) * (const uint64_t *)value;
    case FIELD_BOOL:
        return *(const bool *)value;
    default:
        assert(at->kind == FIELD_INT64);
        return *(const int64_t *)value;
    }
}

double field_real(const struct field_place *at, const void *row)
{
    return *(const double *)(const void *)((const char *)row + at->offset);
}

const char *field_text(const struct field_place *at, const struct field_words *words,
                       const void *row)
{
    if (words && words->names)
        return words->names[field_integer(at, row)];
    if (words)
        return words->name((unsigned)field_integer(at, row));
    const char *value = (const char *)row + at->offset;
    return at->kind == FIELD_NAME ? value : *(const char *const *)(const void *)value;
}
