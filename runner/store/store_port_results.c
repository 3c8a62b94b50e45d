// SPDX-License-Identifier: MIT
// Uses of ports by forms, with the evidence, and the throughputs that their inference needs; see
// store_ports.h.
#include "store_internal.h"

#include "derive/form_throughput.h"
#include "list/list.h"
#include "store_ports.h"
#include "util/strbuf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int store_put_port_uses(struct store *store, int64_t run_form_id,
                               const struct port_model *model, const struct port_usage *usage,
                               struct err *err)
{
    int result = 0;
    for (int i = 0; i < usage->uses.n + usage->wide_uses.n && result == 0; i++) {
        bool wide = i >= usage->uses.n;
        int position = wide ? i - usage->uses.n : i;
        const struct port_use *use = &(wide ? &usage->wide_uses : &usage->uses)->use[position];
        struct strbuf name = {0};
        port_set_text(model, use->set, &name);
        result = store_execute(store, err,
                               wide ? "INSERT INTO port_use_wide (run_form_id, position, "
                                      "ports_mask, name, uops) VALUES (?, ?, ?, ?, ?)"
                                    : "INSERT INTO port_use (run_form_id, position, ports_mask, "
                                      "name, uops) VALUES (?, ?, ?, ?, ?)",
                               "iiisi", run_form_id, (int64_t)position, (int64_t)use->set,
                               strbuf_text(&name), (int64_t)use->uops);
        strbuf_free(&name);
    }
    return result;
}

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
            result = store_execute(
                store, err,
                "INSERT INTO port_share (run_form_id, unit, share_clk) VALUES (?, ?, ?)", "isd",
                run_form_id, model->units[demand->unit].name, demand->clk);
    }
    return result;
}

static int store_put_port_count(struct store *store, int64_t run_form_id, int position,
                                const char *event, double uops, struct err *err)
{
    if (!isfinite(uops))
        return 0;
    return store_execute(store, err,
                         "INSERT INTO port_trial_count (run_form_id, position, event, uops) "
                         "VALUES (?, ?, ?, ?)",
                         "iisd", run_form_id, (int64_t)position, event, uops);
}

static int store_put_port_counts(struct store *store, int64_t run_form_id,
                                 const struct measured_ports *measured, int position,
                                 struct err *err)
{
    const struct port_timing *timing = &measured->trials[position].timing;
    int result = 0;
    if (!timing->counted || timing->outcome != OUTCOME_OK)
        return 0;
    for (int g = 0; g < measured->ngroups && result == 0; g++)
        result = store_put_port_count(store, run_form_id, position, measured->groups[g],
                                      timing->uops[g], err);
    if (result == 0 && measured->slots)
        result =
            store_put_port_count(store, run_form_id, position, measured->slots, timing->slots, err);
    return result;
}

static int store_put_port_trials(struct store *store, int64_t run_form_id,
                                 const struct measured_ports *measured, struct err *err)
{
    for (int i = 0; i < measured->ntrials; i++) {
        const struct measured_port_trial *trial = &measured->trials[i];
        const struct port_timing *timing = &trial->timing;
        if (store_execute(store, err,
                          "INSERT INTO port_trial (run_form_id, position, blocker, instances, "
                          "blockers, outcome, clk, spread_clk) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                          "iisiisdd", run_form_id, (int64_t)i, trial->blocker,
                          (int64_t)trial->instances, (int64_t)trial->blockers,
                          outcome_name(timing->outcome), store_number(timing->outcome, timing->clk),
                          store_number(timing->outcome, timing->spread_clk)) != 0 ||
            store_put_port_counts(store, run_form_id, measured, i, err) != 0)
            return -1;
    }
    return 0;
}

static int store_put_port_row(struct store *store, int64_t run_form_id,
                              const struct port_model *model, const struct measured_ports *measured,
                              struct err *err)
{
    const struct port_usage *usage = measured->usage;
    bool ok = usage->outcome == OUTCOME_OK;
    const struct port_demand *unit = ok ? port_usage_unit(model, usage) : NULL;
    double busy_clk = unit ? unit->clk : port_usage_wait_clk(usage);
    struct strbuf ports = {0};
    if (ok)
        port_usage_text(model, usage, &ports);
    int result = store_execute(
        store, err,
        "INSERT INTO port_result (run_form_id, method, outcome, detail, ambiguous, ports, uops, "
        "slots, unit, busy_clk, residual, whole, beside_clk, slots_mixed, wide, way, decode_clk, "
        "stall_clk) "
        "VALUES (?, ?, ?, ?, ?, ?, nullif(?, -1), ?, ?, ?, ?, ?, nullif(?, 0.0), ?, ?, ?, ?, "
        "nullif(?, 0.0))",
        "isssitidsddiddisdd", run_form_id, measured->method, outcome_name(usage->outcome),
        ok ? "" : usage->detail, (int64_t)(ok && usage->ambiguous), ok ? strbuf_text(&ports) : NULL,
        (int64_t)(ok ? usage->uses.uops : -1), store_number(usage->outcome, usage->front.slots),
        unit ? model->units[unit->unit].name : "", store_number(usage->outcome, busy_clk),
        store_number(usage->outcome, usage->residual), (int64_t)(unit && unit->whole),
        unit ? store_finite(unit->beside_clk) : 0, store_number(usage->outcome, usage->front.mixed),
        (int64_t)(ok && usage->wide), port_way_name(usage->way),
        store_number(usage->outcome, measured->decode_clk),
        ok ? store_finite(usage->front.stall_clk) : 0);
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
        (store_put_port_uses(store, run_form_id, model, measured->usage, err) != 0 ||
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

// Returns the form in columns 0 to 2.
static struct stored_form store_column_form(sqlite3_stmt *stmt, struct arena *arena)
{
    return (struct stored_form){store_column_text(stmt, 0, arena),
                                store_column_text(stmt, 1, arena), sqlite3_column_int(stmt, 2)};
}

static struct port_usage store_column_usage(sqlite3_stmt *stmt, struct arena *arena)
{
    int outcome = outcome_parse(store_text(stmt, 3));
    struct port_usage usage = {
        .outcome = outcome >= 0 ? (enum outcome)outcome : OUTCOME_NOT_MEASURABLE,
        .detail = store_column_text(stmt, 4, arena),
        .ambiguous = sqlite3_column_int(stmt, 5),
        .front = {store_column_real(stmt, 7), store_column_real(stmt, 16),
                  sqlite3_column_double(stmt, 19)},
        .residual = store_column_real(stmt, 10),
        .wide = sqlite3_column_int(stmt, 17),
    };
    struct port_demand *demand = &usage.demands.of[0];
    *demand = (struct port_demand){.unit = sqlite3_column_int(stmt, 8),
                                   .clk = sqlite3_column_double(stmt, 9),
                                   .beside_clk = store_column_real(stmt, 15),
                                   .whole = sqlite3_column_int(stmt, 14)};
    demand->whole &= demand->unit >= 0;
    usage.demands.n = demand->unit >= 0 || demand->clk > 0;
    return usage;
}

struct usages_read {
    struct stored_port_usage *usages;
    int64_t *ids; // their run_form_ids
    int n;
};

// Adds the µops of a row: their set in `column`, then their number.
static void store_add_use(struct port_uses *uses, sqlite3_stmt *stmt, int column)
{
    int uops = sqlite3_column_int(stmt, column + 1);
    uses->uops += uops;
    if (uses->n < PORT_USES_MAX)
        uses->use[uses->n++] =
            (struct port_use){(uint32_t)sqlite3_column_int64(stmt, column), uops};
}

// Reads rows of a form and a use; a form without uses has one row.
static int store_read_usages(struct store *store, sqlite3_stmt *stmt, struct usages_read *read,
                             struct arena *arena, struct err *err)
{
    struct stored_port_usage *usages = read->usages;
    int64_t last = 0;
    int got;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(stmt, 11);
        if (read->n == 0 || id != last) {
            read->ids[read->n] = id;
            usages[read->n].form = store_column_form(stmt, arena);
            usages[read->n].decode_clk = store_column_real(stmt, 18);
            usages[read->n++].usage = store_column_usage(stmt, arena);
        }
        last = id;
        if (sqlite3_column_type(stmt, 12) != SQLITE_NULL)
            store_add_use(&usages[read->n - 1].usage.uses, stmt, 12);
    }
    return store_rows_end(store, stmt, got, err);
}

// Adds the shares to the usages read.
static int store_read_shares(struct store *store, int64_t run_id, const struct usages_read *read,
                             struct err *err)
{
    struct stored_port_usage *usages = read->usages;
    sqlite3_stmt *stmt =
        store_bind(store, err,
                   "SELECT run_form_id, port_unit.position, share_clk FROM run_form "
                   "JOIN form USING (form_id) JOIN port_share USING (run_form_id) "
                   "JOIN port_unit ON port_unit.run_id = run_form.run_id AND name = unit "
                   "WHERE run_form.run_id = ?1 ORDER BY form, enc, bits, port_unit.position",
                   "i", run_id);
    int got, at = 0;
    if (!stmt)
        return -1;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW) {
        while (at < read->n && read->ids[at] != sqlite3_column_int64(stmt, 0))
            at++; // both are in the order of forms
        if (at < read->n)
            store_add_demand(&usages[at].usage.demands, sqlite3_column_int(stmt, 1),
                             sqlite3_column_double(stmt, 2));
    }
    return store_rows_end(store, stmt, got, err);
}

// Adds the uses beside wide forms.
static int store_read_wide(struct store *store, int64_t run_id, const struct usages_read *read,
                           struct err *err)
{
    struct stored_port_usage *usages = read->usages;
    sqlite3_stmt *stmt =
        store_bind(store, err,
                   "SELECT run_form_id, ports_mask, uops FROM run_form JOIN form USING (form_id) "
                   "JOIN port_use_wide USING (run_form_id) WHERE run_form.run_id = ?1 "
                   "ORDER BY form, enc, bits, port_use_wide.position",
                   "i", run_id);
    int got, at = 0;
    if (!stmt)
        return -1;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW) {
        while (at < read->n && read->ids[at] != sqlite3_column_int64(stmt, 0))
            at++; // both are in the order of forms
        if (at < read->n)
            store_add_use(&usages[at].usage.wide_uses, stmt, 1);
    }
    return store_rows_end(store, stmt, got, err);
}

int store_get_port_usages(struct store *store, int64_t run_id, struct stored_port_usages *usages,
                          struct arena *arena, struct err *err)
{
    int64_t count = 0;
    *usages = (struct stored_port_usages){.n = 0};
    if (store_get_int(store, err, &count,
                      "SELECT count(*) FROM run_form JOIN port_result USING (run_form_id) "
                      "WHERE run_id = ?1",
                      "i", run_id) < 0)
        return -1;
    usages->usages = arena_alloc(arena, ((size_t)count + 1) * sizeof *usages->usages);
    sqlite3_stmt *stmt = store_bind(
        store, err,
        "SELECT form, enc, bits, port_result.outcome, detail, ambiguous, port_result.uops, slots, "
        "coalesce((SELECT min(position) FROM port_unit WHERE port_unit.run_id = ?1 "
        "AND port_unit.name = port_result.unit), -1), "
        "busy_clk, residual, run_form_id, port_use.ports_mask, port_use.uops, whole, "
        "coalesce(beside_clk, 0.0), slots_mixed, wide, decode_clk, "
        "coalesce(stall_clk, 0.0) "
        "FROM run_form JOIN form USING (form_id) JOIN port_result USING (run_form_id) "
        "LEFT JOIN port_use USING (run_form_id) WHERE run_form.run_id = ?1 "
        "ORDER BY form, enc, bits, port_use.position",
        "i", run_id);
    struct usages_read read = {.usages = usages->usages,
                               .ids = arena_alloc(arena, ((size_t)count + 1) * sizeof *read.ids)};
    if (!stmt || store_read_usages(store, stmt, &read, arena, err) != 0)
        return -1;
    usages->n = read.n;
    return store_read_shares(store, run_id, &read, err) == 0
               ? store_read_wide(store, run_id, &read, err)
               : -1;
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

static void throughputs_add(struct stored_throughputs *values, int64_t most,
                            const struct stored_form *form, const struct form_throughput *tests)
{
    double clk = form_throughput_clk(tests);
    if (!isnan(clk) && values->n < most)
        values->values[values->n++] = (struct stored_throughput){*form, clk};
}

// Reads rows of form, enc, bits, variant and value, sorted by form.
static int store_read_throughputs(struct store *store, sqlite3_stmt *stmt,
                                  struct stored_throughputs *values, int64_t most,
                                  struct arena *arena, struct err *err)
{
    struct stored_form form = {"", "", 0};
    struct form_throughput tests = {0};
    int got;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW) {
        if (strcmp(store_text(stmt, 0), form.form) != 0 ||
            strcmp(store_text(stmt, 1), form.enc) != 0 ||
            sqlite3_column_int(stmt, 2) != form.bits) {
            throughputs_add(values, most, &form, &tests);
            form = store_column_form(stmt, arena);
            tests = (struct form_throughput){0};
        }
        form_throughput_add(&tests, store_text(stmt, 3), sqlite3_column_double(stmt, 4));
    }
    throughputs_add(values, most, &form, &tests);
    return store_rows_end(store, stmt, got, err);
}

int store_get_throughputs(struct store *store, int64_t run_id, struct stored_throughputs *values,
                          struct arena *arena, struct err *err)
{
    int64_t count = 0, from;
    *values = (struct stored_throughputs){.n = 0};
    // A run of port tests alone uses throughputs that another run has measured on this CPU.
    if (store_throughput_run(store, run_id, &from, err) != 0 ||
        store_get_int(store, err, &count, "SELECT count(*) FROM run_form WHERE run_id = ?1", "i",
                      from) < 0)
        return -1;
    values->values = arena_alloc(arena, ((size_t)count + 1) * sizeof *values->values);
    sqlite3_stmt *stmt =
        store_bind(store, err,
                   "SELECT form, enc, bits, test.variant, value_clk "
                   "FROM run_form JOIN form USING (form_id) JOIN test USING (run_form_id) "
                   "JOIN result USING (test_id) WHERE run_id = ?1 AND test.kind = 'throughput' "
                   "AND result.outcome = 'ok' AND value_clk IS NOT NULL "
                   "AND NOT " STORE_SCATTERED " ORDER BY form, enc, bits",
                   "i", from);
    return stmt ? store_read_throughputs(store, stmt, values, count, arena, err) : -1;
}
