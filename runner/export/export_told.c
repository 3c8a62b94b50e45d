// SPDX-License-Identifier: MIT
// The record of a form in CSV and JSON, which is made of the columns.
#include "export_internal.h"

#include <string.h>

#define PAIR(...) OUTPUT_FIELD(struct known_pair, __VA_ARGS__)
OUTPUT_DEFINE(pair_record, struct known_pair, OUTPUT_LINE, PAIR(src), PAIR(dst),
              PAIR(variant, .known = true), PAIR(clk, .look.name = "latency_clk"), PAIR(bound));

void export_tell(enum column_surface surface, struct export_told *told)
{
    const struct output_field pairs =
        OUTPUT_ROWS(struct export_row, pairs, npairs, pair_record, .look.name = "latencies");
    const struct output_field texts =
        OUTPUT_FIELD(struct export_row, latencies, .only = OUTPUT_CSV);
    *told = (struct export_told){.surface = surface};
    told->made.record.layout = OUTPUT_DENSE;
    told->ncolumns = columns_on(STORE_VIEW_INSTRUCTION, surface, told->columns);
    told->made.record.bytes =
        offsetof(struct export_row, values) + (size_t)told->ncolumns * sizeof(struct field_value);
    for (int i = 0; i < told->ncolumns; i++) {
        const struct column *column = told->columns[i];
        struct output_field field = OUTPUT_FIELD(struct export_row, values[0]);
        field.look = column->look;
        field.look.name = column->exported ? column->exported : column->look.name;
        field.known = column->blank;
        field.always = column->key;
        output_made_add(&told->made, output_element(field, i, sizeof(struct field_value)));
        if (strcmp(column->look.name, "at_rename") == 0) {
            output_made_add(&told->made, pairs);
            output_made_add(&told->made, texts);
        }
    }
}

void export_tell_form(const struct export_told *told, const struct known_cpu *data,
                      const struct known_form *form, struct export_row *row)
{
    row->pairs = form->pairs;
    row->npairs = form->npairs;
    row->latencies = "";
    for (int i = 0; i < told->ncolumns; i++) {
        struct field_value *value = &row->values[i];
        *value = *known_value(data, form, told->columns[i]);
        if (told->surface == COLUMN_CSV && told->columns[i]->kind == COLUMN_USES && !value->none &&
            !*value->text)
            value->text = "none";
    }
}
