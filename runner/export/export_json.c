// SPDX-License-Identifier: MIT
// JSON with the CPU, its ports, and for each form all numbers with their bounds.
#include "export_formats.h"
#include "export_internal.h"

#include <stdlib.h>

struct set_row {
    const char *name, *const *ports;
    int nports;
};
#define SET(...) OUTPUT_FIELD(struct set_row, __VA_ARGS__)
OUTPUT_DEFINE(set_record, struct set_row, OUTPUT_LINE, SET(name),
              OUTPUT_LIST(struct set_row, ports, nports));

struct whole_row {
    const struct export_row *forms;
    int nforms, dispatch_width, nsets;
    const struct set_row *sets;
    struct known_cpu of;
};

#define WHOLE(...) OUTPUT_FIELD(struct whole_row, __VA_ARGS__)

void export_json_tell(struct export_json_told *told)
{
    const struct output_field fields[] = {
        WHOLE(of.uarch),
        WHOLE(of.uarch_name),
        WHOLE(of.vendor),
        WHOLE(of.brand),
        WHOLE(of.hypervisor, .known = true),
        WHOLE(of.claimed, .look.name = "claimed_uarch"),
        WHOLE(of.decided),
        WHOLE(of.evidence, .known = true),
        WHOLE(of.run_id),
        WHOLE(of.started_utc),
        WHOLE(of.version),
        WHOLE(dispatch_width, .known = true),
        OUTPUT_ROWS(struct whole_row, sets, nsets, set_record, .look.name = "port_sets"),
        OUTPUT_ROWS(struct whole_row, forms, nforms, told->form.made.record)};
    export_tell(COLUMN_JSON, &told->form);
    told->whole = (struct output_made){
        .record = {.bytes = sizeof(struct whole_row), .layout = OUTPUT_LINES}
    };
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        output_made_add(&told->whole, fields[i]);
}

void export_json_told_free(struct export_json_told *told)
{
    free(told->form.made.fields);
    free(told->whole.fields);
}

static const struct set_row *sets_make(const struct port_model *model, struct arena *arena, int *n)
{
    *n = model ? model->nclasses : 0;
    struct set_row *rows = arena_alloc(arena, ((size_t)*n + 1) * sizeof *rows);
    for (int i = 0; i < *n; i++) {
        int ports[PORTS_MAX], nports = port_set_ports(model, model->classes[i].set, ports);
        const char **labels = arena_alloc(arena, PORTS_MAX * sizeof *labels);
        for (int j = 0; j < nports; j++) {
            char *label = arena_alloc(arena, PORT_LABEL_MAX);
            port_label(model, ports[j], label);
            labels[j] = label;
        }
        rows[i] = (struct set_row){model->classes[i].name, labels, nports};
    }
    return rows;
}

static int json_write(struct known_cpu *data, struct export_out *out, struct err *err)
{
    (void)err;
    struct export_json_told told;
    struct arena arena = {0};
    export_json_tell(&told);
    size_t bytes = told.form.made.record.bytes;
    char *forms = xcalloc((size_t)data->nforms + 1, bytes);
    struct whole_row whole = {.of = *data,
                              .dispatch_width = data->model ? data->model->width : 0,
                              .forms = (const void *)forms,
                              .nforms = data->nforms};
    whole.sets = sets_make(data->model, &arena, &whole.nsets);
    for (int i = 0; i < data->nforms; i++, out->written++)
        export_tell_form(&told.form, data, &data->forms[i], (void *)(forms + (size_t)i * bytes));
    output_put_json(&told.whole.record, &whole, 1, true, &out->text);
    free(forms);
    arena_free(&arena);
    export_json_told_free(&told);
    return 0;
}

const struct export_format export_json = {
    "json", "the CPU, its ports, and each form with all pairs of operands", KNOWN_VALUES,
    json_write};
