// SPDX-License-Identifier: MIT
// Reads the forms of one CPU: rows of instruction_table, their operand pairs and ports.
#include "known_internal.h"

#include "list/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char known_no_row[] = "not in the lists of this latput, which have its operands";
const char known_32bit[] = "a form of 32-bit mode; the format is of 64-bit mode";
const char known_no_code[] = "NASM makes no machine code of it";

struct data_ports {
    int64_t run_id;
    struct port_model *model; // NULL: the run has none
    struct stored_port_usages usages;
    int nforms; // number of forms whose ports are of this run
};
struct data_read {
    struct store *store;
    struct known_cpu *data;
    size_t capacity;
    struct data_ports ports[64]; // per run, in the order of their first form
    int nports;
};

static bool data_is(struct store_rows *rows, const char *name, const char *value)
{
    return strcmp(store_text_of(rows, name), value) == 0;
}
static bool data_null(struct store_rows *rows, const char *name)
{
    return store_type_of(rows, name) == STORE_NULL;
}

static const struct field_value *data_values(struct known_cpu *data, struct store_rows *rows)
{
    struct field_value *values =
        arena_alloc(&data->arena, (size_t)data->ncolumns * sizeof *values + 1);
    for (int i = 0; i < data->ncolumns; i++) {
        const char *name = data->columns[i]->look.name;
        values[i] = store_rows_value(rows, store_rows_column(rows, name));
        if (values[i].type == LOOK_TEXT)
            values[i].text = store_rows_keep(rows, name, &data->arena);
    }
    return values;
}

const struct field_value *known_value(const struct known_cpu *data, const struct known_form *form,
                                      const struct column *column)
{
    int i = 0;
    while (data->columns[i] != column)
        i++;
    return &form->values[i];
}

static void data_read_form(struct known_cpu *data, struct store_rows *rows, struct known_form *form)
{
    *form = (struct known_form){
        .id = {store_rows_keep(rows, "form", &data->arena),
               store_rows_keep(rows, "enc", &data->arena), (int)store_integer_of(rows, "bits")},
        .values = data_values(data, rows),
        .mnemonic = store_rows_keep(rows, "mnemonic", &data->arena),
        .operands = store_rows_keep(rows, "operands", &data->arena),
        .options = store_rows_keep(rows, "options", &data->arena),
        .run_id = store_integer_of(rows, "run_id"),
        .ports_run_id =
            data_null(rows, "ports_run_id") ? 0 : store_integer_of(rows, "ports_run_id"),
        .latency_min_clk = store_real_of(rows, "result_latency_clk"),
        .latency_max_clk = store_real_of(rows, "result_latency_max_clk"),
        .rthroughput_bound = store_rows_keep(rows, "rthroughput_fast_bound", &data->arena),
        .min_upper = data_is(rows, "result_latency_bound", "upper"),
        .max_upper = data_is(rows, "result_latency_max_bound", "upper"),
        .rthroughput_clk = store_real_of(rows, "rthroughput_clk"),
        .rthroughput_slow_clk = store_real_of(rows, "rthroughput_slow_clk"),
        .rthroughput_upper = data_is(rows, "rthroughput_fast_bound", "upper"),
        .uops_bound = store_rows_keep(rows, "uops_bound", &data->arena),
        .uops_upper = data_is(rows, "uops_bound", "upper"),
        .uops = data_null(rows, "uops") ? -1 : (int)store_integer_of(rows, "uops"),
        .ports = data_null(rows, "ports") ? NULL : store_rows_keep(rows, "ports", &data->arena),
        .at_rename = store_rows_keep(rows, "at_rename", &data->arena),
    };
}

static int data_compare(const void *a, const void *b)
{
    return stored_form_compare(a, b);
}

static int data_read_forms(struct data_read *read, const struct store_filter *filter,
                           struct err *err)
{
    struct known_cpu *data = read->data;
    struct store_rows *rows = store_rows_open(read->store, STORE_VIEW_INSTRUCTION, filter, err);
    if (!rows)
        return -1;
    int got;
    while ((got = store_rows_next(rows, err)) > 0) {
        data->forms =
            xgrow(data->forms, &read->capacity, (size_t)data->nforms + 1, sizeof *data->forms);
        data_read_form(data, rows, &data->forms[data->nforms++]);
    }
    store_rows_close(rows);
    if (data->nforms > 0)
        qsort(data->forms, (size_t)data->nforms, sizeof *data->forms, data_compare);
    return got;
}

static struct known_form *data_find(const struct known_cpu *data, struct store_rows *rows)
{
    struct stored_form key = {store_text_of(rows, "form"), NULL,
                              (int)store_integer_of(rows, "bits")};
    char *form = xstrdup(key.form); // valid until the next text
    key.form = form;
    key.enc = store_text_of(rows, "enc");
    struct known_form *found =
        (struct known_form *)stored_form_find(&key, data->forms, data->nforms, sizeof *data->forms);
    free(form);
    return found;
}

static void data_add_pair(struct known_cpu *data, struct known_form *form, struct known_pair pair)
{
    size_t n = (size_t)form->npairs;
    if ((n & (n - 1)) == 0) { // there is room for a power of two: double it
        struct known_pair *pairs = arena_alloc(&data->arena, (n ? 2 * n : 1) * sizeof *pairs);
        if (n > 0)
            memcpy(pairs, form->pairs, n * sizeof *pairs);
        form->pairs = pairs;
    }
    form->pairs[form->npairs++] = pair;
}

static struct known_pair data_pair(struct known_cpu *data, struct store_rows *rows)
{
    return (struct known_pair){
        .src = store_rows_keep(rows, "src", &data->arena),
        .dst = store_rows_keep(rows, "dst", &data->arena),
        .variant = store_rows_keep(rows, "variant", &data->arena),
        .clk = store_real_of(rows, "latency_clk"),
        .dense_clk = store_real_of(rows, "dense_clk"),
        .upper = data_is(rows, "bound", "upper"),
        .average = data_is(rows, "bound", "average"),
        .in_result = store_integer_of(rows, "in_result") == 1,
        .bound = data_is(rows, "bound", "upper")     ? "upper"
                 : data_is(rows, "bound", "average") ? "average"
                                                     : "exact",
    };
}

static struct known_pair data_false_pair(struct known_cpu *data, struct store_rows *rows)
{
    const char *operand = store_rows_keep(rows, "operand", &data->arena);
    return (struct known_pair){.src = operand,
                               .dst = operand,
                               .variant = PLAN_FALSE,
                               .clk = store_real_of(rows, "latency_clk"),
                               .dense_clk = NAN,
                               .upper = true,
                               .bound = "upper"};
}

// Reads pairs: only false dependencies that exist, and only the usual immediate.
static int data_read_pairs(struct data_read *read, enum store_view view,
                           const struct store_filter *filter, struct err *err)
{
    struct store_rows *rows = store_rows_open(read->store, view, filter, err);
    bool overwritten = view == STORE_VIEW_FALSE;
    if (!rows)
        return -1;
    int got;
    while ((got = store_rows_next(rows, err)) > 0) {
        const char *variant =
            overwritten ? PLAN_FALSE : store_rows_keep(rows, "variant", &read->data->arena);
        bool there = !data_null(rows, "latency_clk") && !plan_is_immediate(variant) &&
                     !(overwritten && store_real_of(rows, "latency_clk") == 0);
        struct known_form *form = there ? data_find(read->data, rows) : NULL;
        if (form)
            data_add_pair(read->data, form,
                          (overwritten ? data_false_pair : data_pair)(read->data, rows));
    }
    store_rows_close(rows);
    return got;
}

// Returns the ports found by a run, read once. NULL after an error.
static struct data_ports *data_ports_of(struct data_read *read, int64_t run_id, struct err *err)
{
    for (int i = 0; i < read->nports; i++)
        if (read->ports[i].run_id == run_id)
            return &read->ports[i];
    if (read->nports == (int)ARRAY_LEN(read->ports)) {
        err_set(err, "%s: the results are of more than %zu runs; choose one with --run",
                store_path(read->store), ARRAY_LEN(read->ports));
        return NULL;
    }
    struct arena *arena = &read->data->arena;
    struct data_ports *ports = &read->ports[read->nports];
    struct stored_port_model *stored = arena_alloc(arena, sizeof *stored);
    *ports = (struct data_ports){.run_id = run_id};
    int found = store_get_port_model(read->store, run_id, stored, arena, err);
    if (found < 0 || store_get_port_usages(read->store, run_id, &ports->usages, arena, err) != 0)
        return NULL;
    ports->model = found ? &stored->model : NULL;
    read->nports++;
    return ports;
}

static int data_read_ports(struct data_read *read, struct err *err)
{
    struct known_cpu *data = read->data;
    int most = 0;
    for (int i = 0; i < data->nforms; i++) {
        struct known_form *form = &data->forms[i];
        if (form->ports_run_id == 0)
            continue;
        struct data_ports *ports = data_ports_of(read, form->ports_run_id, err);
        if (!ports)
            return -1;
        form->model = ports->model;
        form->usage = stored_port_usage_ok(&ports->usages, &form->id);
        ports->nforms++;
    }
    // The structure of the majority is used; a few forms may be of another run, which has its own.
    for (int i = 0; i < read->nports; i++)
        if (read->ports[i].model && read->ports[i].nforms >= most) {
            most = read->ports[i].nforms;
            data->model = read->ports[i].model;
        }
    return 0;
}

// Finds the newest run among those with the numbers.
static int data_read_run(struct data_read *read, struct err *err)
{
    struct known_cpu *data = read->data;
    struct store_rows *rows = store_rows_open(read->store, STORE_VIEW_RUN, NULL, err);
    int got = rows ? 1 : -1;
    while (got > 0 && data->run_id == 0) {
        got = store_rows_next(rows, err); // newest first
        int64_t run_id = got > 0 ? store_integer_of(rows, "run_id") : 0;
        for (int i = 0; i < data->nforms; i++)
            if (data->forms[i].run_id == run_id)
                data->run_id = run_id;
    }
    if (got > 0) {
        data->uarch_name = store_rows_keep(rows, "uarch_name", &data->arena);
        data->vendor = store_rows_keep(rows, "vendor", &data->arena);
        data->brand = store_rows_keep(rows, "brand", &data->arena);
        data->hypervisor = store_rows_keep(rows, "hypervisor", &data->arena);
        data->claimed = store_rows_keep(rows, "claimed_uarch", &data->arena);
        data->decided = store_rows_keep(rows, "decided", &data->arena);
        data->evidence = store_rows_keep(rows, "evidence", &data->arena);
        data->version = store_rows_keep(rows, "version", &data->arena);
        data->started_utc = store_rows_keep(rows, "started_utc", &data->arena);
    }
    store_rows_close(rows);
    return got < 0 ? -1 : 0;
}

static int data_compare_rows(const void *a, const void *b)
{
    const struct stored_form x = stored_form_of(*(const struct list_row *const *)a);
    const struct stored_form y = stored_form_of(*(const struct list_row *const *)b);
    return stored_form_compare(&x, &y);
}

// Pairs forms with rows: both sides are in the order of stored_form_compare().
static int data_read_rows(struct known_cpu *data, struct err *err)
{
    struct selection selection;
    if (select_rows(NULL, 0, NULL, &selection, err) != 0)
        return -1;
    const struct list_row **rows = xmalloc((size_t)selection.nrows * sizeof *rows);
    for (int i = 0; i < selection.nrows; i++)
        rows[i] = selection.rows[i].row;
    qsort(rows, (size_t)selection.nrows, sizeof(const struct list_row *), data_compare_rows);
    for (int i = 0, j = 0; i < data->nforms && j < selection.nrows;) {
        struct stored_form id = stored_form_of(rows[j]);
        int order = stored_form_compare(&data->forms[i].id, &id);
        if (order == 0)
            data->forms[i].row = rows[j];
        i += order <= 0;
        j += order >= 0;
    }
    free(rows);
    // The lists stay; only the order of their rows belongs to the selection.
    free(selection.rows);
    data->lists = selection.lists;
    data->nlists = selection.nlists;
    return 0;
}

int known_read(struct store *store, const struct store_filter *filter, unsigned what,
               struct known_cpu *data, struct err *err)
{
    *data = (struct known_cpu){.uarch = "",
                               .uarch_name = "",
                               .vendor = "",
                               .brand = "",
                               .hypervisor = "",
                               .claimed = "",
                               .decided = "",
                               .evidence = "",
                               .version = "",
                               .started_utc = ""};
    struct data_read *read = xcalloc(1, sizeof *read);
    read->store = store;
    read->data = data;
    data->uarch = arena_strdup(&data->arena, filter->uarch);
    if (what & KNOWN_VALUES)
        data->ncolumns = columns_on(STORE_VIEW_INSTRUCTION, COLUMN_CSV, data->columns);
    int status = data_read_forms(read, filter, err);
    if (status == 0)
        status = data_read_pairs(read, STORE_VIEW_LATENCY, filter, err);
    if (status == 0 && what & KNOWN_FALSE)
        status = data_read_pairs(read, STORE_VIEW_FALSE, filter, err);
    if (status == 0)
        status = data_read_ports(read, err);
    if (status == 0 && data->nforms > 0)
        status = data_read_run(read, err);
    free(read);
    if (status == 0 && what & KNOWN_ROWS)
        status = data_read_rows(data, err);
    if (status == 0 && (what & KNOWN_CODE) == KNOWN_CODE)
        status = known_assemble(data, err);
    return status;
}

int known_code(struct known_cpu *data, struct err *err)
{
    return data_read_rows(data, err) != 0 ? -1 : known_assemble(data, err);
}

void known_free(struct known_cpu *data)
{
    for (int i = 0; i < data->nlists; i++)
        list_free(&data->lists[i]);
    free(data->lists);
    free(data->forms);
    arena_free(&data->arena);
}
