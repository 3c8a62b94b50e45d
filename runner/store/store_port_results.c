// SPDX-License-Identifier: MIT
// Uses of ports by forms, with the evidence, and the throughputs that their inference needs; see
// store_ports.h.
#include "store_internal.h"

#include "derive/form_throughput.h"
#include "list/list.h"
#include "store_ports.h"
#include "util/strbuf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct use_row {
    struct port_use of;
    const char *name;
};
#define USE(...) STORE_FIELD(struct use_row, __VA_ARGS__)
static const struct store_field use_fields[] = {USE(of.set, .column = "ports_mask"), USE(name),
                                                USE(of.uops)};
// Rows of the forms of run ?1 in a table, in the order of forms.
#define OF_RUN(table) "run_form JOIN form USING (form_id) JOIN " table " USING (run_form_id) "
#define IN_ORDER "WHERE run_form.run_id = ?1 ORDER BY form, enc, bits"
static const struct store_record use_record = {
    "port_use", "run_form_id, position", STORE_FIELDS(struct use_row, use_fields),
    .id = "run_form_id", .from = OF_RUN("port_use") IN_ORDER ", port_use.position"};
static const struct store_record use_wide_record = {
    "port_use_wide", "run_form_id, position", STORE_FIELDS(struct use_row, use_fields),
    .id = "run_form_id", .from = OF_RUN("port_use_wide") IN_ORDER ", port_use_wide.position"};

static int store_put_port_uses(struct store *store, int64_t run_form_id,
                               const struct port_model *model, const struct port_uses *uses,
                               const struct store_record *record, struct err *err)
{
    int result = 0;
    for (int i = 0; i < uses->n && result == 0; i++) {
        struct strbuf name = {0};
        port_set_text(model, uses->use[i].set, &name);
        result = store_put_row(store, record, (const int64_t[]){run_form_id, i},
                               &(struct use_row){uses->use[i], strbuf_text(&name)}, err);
        strbuf_free(&name);
    }
    return result;
}

struct share_row {
    const char *unit;
    int position; // of the unit
    double share_clk;
};
#define SHARE(...) STORE_FIELD(struct share_row, __VA_ARGS__)
static const struct store_field share_fields[] = {
    SHARE(unit), SHARE(share_clk),
    SHARE(position, .column = "port_unit.position", .only_read = true)};
static const struct store_record share_record = {
    "port_share", "run_form_id", STORE_FIELDS(struct share_row, share_fields), .id = "run_form_id",
    .from = OF_RUN("port_share") "JOIN port_unit ON port_unit.run_id = run_form.run_id AND "
                                 "port_unit.name = unit " IN_ORDER ", port_unit.position"};

// Stores the demands on units beside the first one, which is in port_result, and on paths.
static int store_put_port_shares(struct store *store, int64_t run_form_id,
                                 const struct port_model *model, const struct port_usage *usage,
                                 struct err *err)
{
    const struct port_demand *unit = port_usage_unit(model, usage);
    int result = 0;
    for (int i = 0; i < usage->demands.n && result == 0; i++) {
        const struct port_demand *demand = &usage->demands.of[i];
        if (demand != unit && demand->unit >= 0)
            result = store_put_row(
                store, &share_record, &run_form_id,
                &(struct share_row){model->units[demand->unit].name, 0, demand->clk}, err);
    }
    return result;
}

static int store_put_port_counts(struct store *store, int64_t run_form_id,
                                 const struct measured_ports *measured, int position,
                                 struct err *err)
{
    const struct port_timing *timing = &measured->trials[position].timing;
    int result = 0;
    if (!timing->counted || timing->outcome != OUTCOME_OK)
        return 0;
    for (int g = 0; g < measured->ngroups + (measured->slots != NULL) && result == 0; g++) {
        bool slots = g == measured->ngroups;
        double count = slots ? timing->slots : timing->uops[g];
        if (isfinite(count))
            result = store_execute(store, err,
                                   "INSERT INTO port_trial_count (run_form_id, position, event, "
                                   "uops) VALUES (?, ?, ?, ?)",
                                   "iisd", run_form_id, (int64_t)position,
                                   slots ? measured->slots : measured->groups[g], count);
    }
    return result;
}

#define TRIAL(...) STORE_FIELD(struct measured_port_trial, __VA_ARGS__)
static const struct store_field trial_fields[] = {
    TRIAL(blocker),
    TRIAL(instances),
    TRIAL(blockers),
    TRIAL(timing.outcome, .out.words = &words_outcome),
    TRIAL(timing.clk, .if_ok = true),
    TRIAL(timing.spread_clk, .if_ok = true)};
static const struct store_record trial_record = {
    "port_trial", "run_form_id, position", STORE_FIELDS(struct measured_port_trial, trial_fields)};

static int store_put_port_trials(struct store *store, int64_t run_form_id,
                                 const struct measured_ports *measured, struct err *err)
{
    int result =
        store_put_rows(store, &trial_record, run_form_id, measured->trials, measured->ntrials, err);
    for (int i = 0; i < measured->ntrials && result == 0; i++)
        result = store_put_port_counts(store, run_form_id, measured, i, err);
    return result;
}

// A row of port_result: a usage, its first demand, and what else is known of the form.
struct usage_row {
    struct stored_form form; // only read
    struct port_usage of;
    struct port_demand on; // the unit that it keeps busy
    const char *method, *ports, *unit;
    double decode_clk;
};
#define USAGE(...) STORE_FIELD(struct usage_row, __VA_ARGS__)
static const struct store_field usage_fields[] = {
    USAGE(form.form, .only_read = true),
    USAGE(form.enc, .only_read = true),
    USAGE(form.bits, .only_read = true),
    USAGE(method),
    USAGE(of.outcome, .out.words = &words_outcome),
    USAGE(of.detail),
    USAGE(of.ambiguous),
    USAGE(ports, .null = true),
    USAGE(of.uses.uops, .if_ok = true),
    USAGE(of.front.slots, .if_ok = true),
    USAGE(of.front.mixed, .column = "slots_mixed"),
    USAGE(of.front.stall_clk, .null = true),
    USAGE(of.residual, .if_ok = true),
    USAGE(of.wide),
    USAGE(of.way, .out.words = &words_way),
    USAGE(unit),
    USAGE(on.unit, .only_read = true,
          .column = "coalesce((SELECT min(position) FROM port_unit WHERE port_unit.run_id = ?1 AND "
                    "port_unit.name = port_result.unit), -1)"),
    USAGE(on.clk, .column = "busy_clk", .if_ok = true),
    USAGE(on.beside_clk, .null = true),
    USAGE(on.whole),
    USAGE(decode_clk, .if_ok = true),
};
static const struct store_record usage_record = {
    "port_result", "run_form_id", STORE_FIELDS(struct usage_row, usage_fields), .id = "run_form_id",
    .from = OF_RUN("port_result") IN_ORDER};

static int store_put_port_row(struct store *store, int64_t run_form_id,
                              const struct port_model *model, const struct measured_ports *measured,
                              struct err *err)
{
    struct usage_row row = {
        .of = *measured->usage, .method = measured->method, .decode_clk = measured->decode_clk};
    bool ok = row.of.outcome == OUTCOME_OK;
    const struct port_demand *unit = ok ? port_usage_unit(model, &row.of) : NULL;
    struct strbuf ports = {0};
    if (unit)
        row.on = *unit;
    else if (ok)
        row.on.clk = port_usage_wait_clk(&row.of);
    if (ok)
        port_usage_text(model, &row.of, &ports);
    row.ports = ok ? strbuf_text(&ports) : NULL;
    row.unit = unit ? model->units[unit->unit].name : "";
    row.of.detail = ok ? "" : row.of.detail;
    row.of.ambiguous &= ok;
    row.of.wide &= ok;
    row.of.front.stall_clk = ok ? row.of.front.stall_clk : 0;
    row.of.front.mixed = ok || row.of.front.mixed > 0 ? row.of.front.mixed : (double)NAN;
    int result = store_put_row(store, &usage_record, &run_form_id, &row, err);
    strbuf_free(&ports);
    return result;
}

static int store_put_port_result(struct store *store, int64_t run_id,
                                 const struct port_model *model,
                                 const struct measured_ports *measured, struct err *err)
{
    int64_t run_form_id;
    int has = store_has_port_result(store, run_id, measured->row, err);
    if (has < 0)
        return -1;
    if (has)
        return err_set(err, "%s: run %lld has ports of the form '%s' already", store->path,
                       (long long)run_id, measured->row->form);
    if (store_run_form_id(store, run_id, measured->row, &measured->place, &run_form_id, err) != 0 ||
        store_put_port_row(store, run_form_id, model, measured, err) != 0)
        return -1;
    if (measured->usage->outcome == OUTCOME_OK &&
        (store_put_port_uses(store, run_form_id, model, &measured->usage->uses, &use_record, err) !=
             0 ||
         store_put_port_uses(store, run_form_id, model, &measured->usage->wide_uses,
                             &use_wide_record, err) != 0 ||
         store_put_port_shares(store, run_form_id, model, measured->usage, err) != 0))
        return -1;
    return store_put_port_trials(store, run_form_id, measured, err);
}

int store_put_port_results(struct store *store, int64_t run_id, const struct port_model *model,
                           const struct measured_ports *results, int n, struct err *err)
{
    bool own;
    if (store_unit_begin(store, &own, err) != 0)
        return -1;
    int result = 0;
    for (int i = 0; i < n && result == 0; i++)
        result = store_put_port_result(store, run_id, model, &results[i], err);
    return store_unit_end(store, own, result, err);
}

int store_has_port_result(struct store *store, int64_t run_id, const struct list_row *row,
                          struct err *err)
{
    int64_t id;
    return store_get_int(store, err, &id,
                         "SELECT run_form_id FROM form JOIN run_form USING (form_id) "
                         "JOIN port_result USING (run_form_id) "
                         "WHERE form = ? AND enc = ? AND bits = ? AND run_id = ?",
                         "ssii", row->form, encoding_name(row->enc), (int64_t)row->bits, run_id);
}

int stored_form_compare(const struct stored_form *a, const struct stored_form *b)
{
    int order = strcmp(a->form, b->form);
    if (order == 0)
        order = strcmp(a->enc, b->enc);
    return order ? order : (a->bits > b->bits) - (a->bits < b->bits);
}

static int stored_form_order(const void *a, const void *b)
{
    return stored_form_compare(a, b);
}

const void *stored_form_find(const struct stored_form *form, const void *items, int n, size_t bytes)
{
    return n > 0 ? bsearch(form, items, (size_t)n, bytes, stored_form_order) : NULL;
}

const void *stored_form_find_move(const char *move, const void *items, int n, size_t bytes)
{
    const void *found = NULL;
    for (int enc = ENC_LEGACY; enc <= ENC_EVEX && !found; enc++) {
        const struct stored_form form = {move, encoding_name((enum encoding)enc), 64};
        found = stored_form_find(&form, items, n, bytes);
    }
    return found;
}

const struct port_usage *stored_port_usage_ok(const struct stored_port_usages *usages,
                                              const struct stored_form *form)
{
    const struct stored_port_usage *found =
        stored_form_find(form, usages->usages, usages->n, sizeof *usages->usages);
    return found && found->usage.outcome == OUTCOME_OK ? &found->usage : NULL;
}

struct stored_form stored_form_of(const struct list_row *row)
{
    return (struct stored_form){row->form, encoding_name(row->enc), row->bits};
}

void stored_throughputs_sort(struct stored_throughputs *values)
{
    if (values->n > 0)
        qsort(values->values, (size_t)values->n, sizeof *values->values, stored_form_order);
}

double stored_throughput_clk(const struct stored_throughputs *values,
                             const struct stored_form *form)
{
    const struct stored_throughput *found =
        stored_form_find(form, values->values, values->n, sizeof *values->values);
    return found ? found->value_clk : (double)NAN;
}

// Makes a usage of its row.
static struct stored_port_usage usage_of_row(const struct usage_row *row)
{
    struct stored_port_usage stored = {row->form, row->of, row->decode_clk};
    struct port_usage *usage = &stored.usage;
    usage->uses.uops = 0; // counted as they are read
    usage->demands.of[0] = row->on;
    usage->demands.of[0].clk = isnan(row->on.clk) ? 0 : row->on.clk;
    usage->demands.of[0].whole &= row->on.unit >= 0;
    usage->demands.n = row->on.unit >= 0 || row->on.clk > 0;
    return stored;
}

// Returns the usage of a form; forms are asked for in the order of the usages.
static struct port_usage *usage_of(struct stored_port_usages *usages, const int64_t *ids, int *at,
                                   int64_t id)
{
    while (*at < usages->n && ids[*at] != id)
        ++*at;
    return *at < usages->n ? &usages->usages[*at].usage : NULL;
}

// Adds the µops of all forms of the run.
static int store_read_uses(struct store *store, int64_t run_id, struct stored_port_usages *usages,
                           const int64_t *ids, struct arena *arena, struct err *err)
{
    for (int wide = 0; wide <= 1; wide++) {
        struct store_list list;
        if (store_get_rows(store, wide ? &use_wide_record : &use_record, run_id, arena, &list,
                           err) != 0)
            return -1;
        for (int i = 0, at = 0; i < list.n; i++) {
            struct port_usage *usage = usage_of(usages, ids, &at, list.ids[i]);
            struct port_uses *uses = !usage ? NULL : wide ? &usage->wide_uses : &usage->uses;
            const struct port_use *use = &((struct use_row *)list.rows)[i].of;
            if (uses)
                uses->uops += use->uops;
            if (uses && uses->n < PORT_USES_MAX)
                uses->use[uses->n++] = *use;
        }
    }
    return 0;
}

int store_get_port_usages(struct store *store, int64_t run_id, struct stored_port_usages *usages,
                          struct arena *arena, struct err *err)
{
    struct store_list list, shares;
    *usages = (struct stored_port_usages){.n = 0};
    if (store_get_rows(store, &usage_record, run_id, arena, &list, err) != 0 ||
        store_get_rows(store, &share_record, run_id, arena, &shares, err) != 0)
        return -1;
    usages->usages = arena_alloc(arena, ((size_t)list.n + 1) * sizeof *usages->usages);
    for (; usages->n < list.n; usages->n++)
        usages->usages[usages->n] = usage_of_row((struct usage_row *)list.rows + usages->n);
    for (int i = 0, at = 0; i < shares.n; i++) {
        const struct share_row *row = (struct share_row *)shares.rows + i;
        struct port_usage *usage = usage_of(usages, list.ids, &at, shares.ids[i]);
        if (usage)
            store_add_demand(&usage->demands, row->position, row->share_clk);
    }
    return store_read_uses(store, run_id, usages, list.ids, arena, err);
}

// Finds the run with throughputs: this one or, if it measured none, the newest on its CPU that did.
static int store_throughput_run(struct store *store, int64_t run_id, int64_t *from, struct err *err)
{
    *from = run_id;
    return store_get_int(store, err, from,
                         "SELECT run_id FROM run WHERE cpu_id = "
                         "(SELECT cpu_id FROM run WHERE run_id = ?1) AND EXISTS "
                         "(SELECT 1 FROM run_form JOIN test USING (run_form_id) "
                         "WHERE run_form.run_id = run.run_id AND kind = 'throughput') "
                         "ORDER BY run_id = ?1 DESC, started_utc DESC, run_id DESC LIMIT 1",
                         "i", run_id) < 0
               ? -1
               : 0;
}

struct throughput_row {
    struct stored_form form;
    const char *variant;
    double value_clk;
};
#define THROUGHPUT(...) STORE_FIELD(struct throughput_row, __VA_ARGS__)
static const struct store_field throughput_fields[] = {
    THROUGHPUT(form.form), THROUGHPUT(form.enc), THROUGHPUT(form.bits),
    THROUGHPUT(variant, .column = "test.variant"), THROUGHPUT(value_clk)};
static const struct store_record throughput_record = {
    "result", "run_id", STORE_FIELDS(struct throughput_row, throughput_fields),
    .from = OF_RUN("test") "JOIN result USING (test_id) WHERE run_id = ?1 AND test.kind = "
                           "'throughput' AND result.outcome = 'ok' AND value_clk IS NOT NULL "
                           "AND NOT " STORE_SCATTERED " ORDER BY form, enc, bits"};

int store_get_throughputs(struct store *store, int64_t run_id, struct stored_throughputs *values,
                          struct arena *arena, struct err *err)
{
    struct store_list list;
    int64_t from;
    *values = (struct stored_throughputs){.n = 0};
    // A run of port tests alone uses throughputs that another run has measured on this CPU.
    if (store_throughput_run(store, run_id, &from, err) != 0 ||
        store_get_rows(store, &throughput_record, from, arena, &list, err) != 0)
        return -1;
    const struct throughput_row *rows = list.rows;
    values->values = arena_alloc(arena, ((size_t)list.n + 1) * sizeof *values->values);
    for (int i = 0, end; i < list.n; i = end) {
        struct form_throughput tests = {0};
        for (end = i; end < list.n && stored_form_compare(&rows[i].form, &rows[end].form) == 0;
             end++)
            form_throughput_add(&tests, rows[end].variant, rows[end].value_clk);
        double clk = form_throughput_clk(&tests);
        if (!isnan(clk))
            values->values[values->n++] = (struct stored_throughput){rows[i].form, clk};
    }
    return 0;
}
