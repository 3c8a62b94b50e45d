// SPDX-License-Identifier: MIT
#include "output_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *output_number(double value, char text[32])
{
    // Rounding first, so that 0.0996 is 0.10 and not 0.100.
    if (isnan(value))
        text[0] = '\0';
    else if (fabs(value) < 0.0995 && value != 0)
        snprintf(text, 32, "%.3f", value);
    else if (fabs(value) < 99.995)
        snprintf(text, 32, "%.2f", value);
    else if (fabs(value) < 999.95)
        snprintf(text, 32, "%.1f", value);
    else
        snprintf(text, 32, "%.0f", value);
    return text;
}

const struct output_field *output_field_at(const struct output_record *record, int i)
{
    return (const void *)((const char *)record->fields + (size_t)i * record->stride);
}

const char *output_field_name(const struct output_field *field)
{
    return field->look.name ? field->look.name : field_name(&field->at);
}

bool output_field_is_text(const struct output_field *field)
{
    return field->words || field->at.kind == FIELD_TEXT || field->at.kind == FIELD_NAME;
}

bool output_field_is_rows(const struct output_field *field)
{
    return field->at.kind == FIELD_ROWS || field->at.kind == FIELD_ARRAY;
}

const void *output_field_elements(const struct output_field *field, const void *row)
{
    const void *at = (const char *)row + field->at.offset;
    return field->at.kind == FIELD_ARRAY ? at : *(const void *const *)at;
}

const struct field_value *output_value(const struct output_field *field, const void *row)
{
    return (const void *)((const char *)row + field->at.offset);
}

enum look_type output_field_type(const struct output_field *field)
{
    return field->at.kind == FIELD_VALUE                      ? field->look.type
           : output_field_is_text(field)                      ? LOOK_TEXT
           : field->at.kind == FIELD_REAL                     ? LOOK_REAL
           : field->at.kind == FIELD_BOOL && !field->zero_one ? LOOK_BOOL
                                                              : LOOK_INTEGER;
}

bool output_field_none(const struct output_field *field, const void *row)
{
    if (field->at.kind == FIELD_REAL)
        return !isfinite(field_real(&field->at, row));
    if (field->at.kind == FIELD_VALUE)
        return output_value(field, row)->none ||
               (field->known && output_value(field, row)->type == LOOK_TEXT &&
                !*output_value(field, row)->text);
    if (!field->known && !field->optional)
        return false;
    if (output_field_is_rows(field))
        return !output_field_elements(field, row);
    if (!output_field_is_text(field))
        return field_integer(&field->at, row) == field->none;
    const char *text = field_text(&field->at, field->words, row);
    return !text || !*text;
}

int output_field_count(const struct output_field *field, const void *row)
{
    const void *at = (const char *)row + field->count;
    return field->count_size == sizeof(size_t) ? (int)*(const size_t *)at : *(const int *)at;
}

void output_made_add(struct output_made *made, struct output_field field)
{
    int n = made->record.nfields;
    made->fields = xgrow(made->fields, &made->capacity, (size_t)n + 1, sizeof field);
    made->fields[n] = field;
    made->record.fields = made->fields;
    made->record.stride = sizeof field;
    made->record.nfields = n + 1;
}

struct output_field output_element(struct output_field field, int i, size_t stride)
{
    field.at.offset += (size_t)i * stride;
    return field;
}
