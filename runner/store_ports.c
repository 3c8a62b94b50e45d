// SPDX-License-Identifier: MIT
// Ports in the database: the model of a run, and what forms use of it with the evidence; see
// store.h. Forms are kept as texts, port sets as bit masks with their names.
#include "store_internal.h"

#include "util/strbuf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- the model ---

static int store_put_port_classes(struct store *store, int64_t run_id,
                                  const struct stored_port_model *stored, struct err *err)
{
    for (int i = 0; i < stored->model.nclasses; i++) {
        const struct port_class *class = &stored->model.classes[i];
        if (store_execute(store, err,
                          "INSERT INTO port_class (run_id, position, ports_mask, name, blocker, "
                          "blocker_clk, members) VALUES (?, ?, ?, ?, ?, ?, ?)",
                          "iiissdi", run_id, (int64_t)i, (int64_t) class->set, class->name,
                          stored->class_blockers[i], store_finite(class->blocker_clk),
                          (int64_t) class->members) != 0)
            return -1;
    }
    for (int i = 0; i < stored->model.nunits; i++) {
        const struct port_unit *unit = &stored->model.units[i];
        if (store_execute(store, err,
                          "INSERT INTO port_unit (run_id, position, name, blocker, blocker_clk, "
                          "whole_blocker, whole_clk) VALUES (?, ?, ?, ?, ?, ?, ?)",
                          "iissdsd", run_id, (int64_t)i, unit->name, stored->unit_blockers[i],
                          store_finite(unit->blocker_clk),
                          stored->unit_wholes[i] ? stored->unit_wholes[i] : "",
                          store_finite(unit->whole_clk)) != 0)
            return -1;
    }
    return 0;
}

static int store_put_port_name(struct store *store, int64_t run_id, uint32_t set, const char *name,
                               struct err *err)
{
    return store_execute(store, err,
                         "INSERT INTO port_name (run_id, ports_mask, name) VALUES (?, ?, ?)", "iis",
                         run_id, (int64_t)set, name);
}

static int store_put_port_names(struct store *store, int64_t run_id, const struct port_model *model,
                                struct err *err)
{
    int result = 0;
    for (int port = 0; port < PORTS_MAX && result == 0; port++)
        if (model->port_names[port][0])
            result = store_put_port_name(store, run_id, UINT32_C(1) << port,
                                         model->port_names[port], err);
    for (int i = 0; i < model->nhidden && result == 0; i++)
        result =
            store_put_port_name(store, run_id, model->hidden[i].set, model->hidden[i].name, err);
    return result;
}

int store_put_port_model(struct store *store, int64_t run_id,
                         const struct stored_port_model *stored, struct err *err)
{
    const struct port_model *model = &stored->model;
    int64_t has;
    int found =
        store_get_int(store, err, &has, "SELECT 1 FROM port_model WHERE run_id = ?1", "i", run_id);
    if (found != 0)
        return found < 0 ? -1
                         : err_set(err, "%s: run %lld has a port model already", store->path,
                                   (long long)run_id);
    bool own;
    if (store_unit_begin(store, &own, err) != 0)
        return -1;
    int result =
        store_execute(store, err,
                      "INSERT INTO port_model (run_id, width, nports, filler, residual, "
                      "unexplained) VALUES (?, ?, ?, ?, ?, ?)",
                      "iiisdi", run_id, (int64_t)model->width, (int64_t)model->nports,
                      stored->filler, store_finite(model->residual), (int64_t)model->unexplained);
    if (result == 0)
        result = store_put_port_classes(store, run_id, stored, err);
    if (result == 0)
        result = store_put_port_names(store, run_id, model, err);
    return store_unit_end(store, own, result, err);
}

static void store_column_name(sqlite3_stmt *stmt, int column, char *name, size_t size)
{
    const char *text = (const char *)sqlite3_column_text(stmt, column);
    snprintf(name, size, "%s", text ? text : "");
}

static int store_get_port_classes(struct store *store, int64_t run_id,
                                  struct stored_port_model *stored, struct arena *arena,
                                  struct err *err)
{
    sqlite3_stmt *stmt = store_bind(store, err,
                                    "SELECT ports_mask, name, blocker, blocker_clk, members "
                                    "FROM port_class WHERE run_id = ?1 ORDER BY position",
                                    "i", run_id);
    if (!stmt)
        return -1;
    int got;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW && stored->model.nclasses < PORT_CLASSES_MAX) {
        int at = stored->model.nclasses++;
        struct port_class *class = &stored->model.classes[at];
        class->set = (uint32_t)sqlite3_column_int64(stmt, 0);
        store_column_name(stmt, 1, class->name, PORT_NAME_MAX);
        stored->class_blockers[at] = store_column_text(stmt, 2, arena);
        class->blocker = -1;
        class->blocker_clk = store_column_real(stmt, 3);
        class->members = sqlite3_column_int(stmt, 4);
    }
    return store_rows_end(store, stmt, got == SQLITE_ROW ? SQLITE_DONE : got, err);
}

static int store_get_port_units(struct store *store, int64_t run_id,
                                struct stored_port_model *stored, struct arena *arena,
                                struct err *err)
{
    sqlite3_stmt *stmt = store_bind(store, err,
                                    "SELECT name, blocker, blocker_clk, "
                                    "whole_blocker, whole_clk FROM port_unit "
                                    "WHERE run_id = ?1 ORDER BY position",
                                    "i", run_id);
    if (!stmt)
        return -1;
    int got;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW && stored->model.nunits < PORT_UNITS_MAX) {
        int at = stored->model.nunits++;
        struct port_unit *unit = &stored->model.units[at];
        store_column_name(stmt, 0, unit->name, PORT_NAME_MAX);
        stored->unit_blockers[at] = store_column_text(stmt, 1, arena);
        unit->blocker = -1;
        unit->blocker_clk = store_column_real(stmt, 2);
        stored->unit_wholes[at] = store_column_text(stmt, 3, arena);
        unit->whole_blocker = -1;
        unit->whole_clk = store_column_real(stmt, 4);
    }
    return store_rows_end(store, stmt, got == SQLITE_ROW ? SQLITE_DONE : got, err);
}

static int store_get_port_names(struct store *store, int64_t run_id, struct port_model *model,
                                struct err *err)
{
    sqlite3_stmt *stmt = store_bind(
        store, err, "SELECT ports_mask, name FROM port_name WHERE run_id = ?1 ORDER BY ports_mask",
        "i", run_id);
    if (!stmt)
        return -1;
    int got;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW) {
        uint32_t set = (uint32_t)sqlite3_column_int64(stmt, 0);
        if (port_set_size(set) == 1) {
            store_column_name(stmt, 1, model->port_names[__builtin_ctz(set)], PORT_LABEL_MAX);
        } else if (model->nhidden < PORT_HIDDEN_MAX) {
            struct port_hidden *hidden = &model->hidden[model->nhidden++];
            hidden->set = set;
            store_column_name(stmt, 1, hidden->name, PORT_NAME_MAX);
        }
    }
    return store_rows_end(store, stmt, got, err);
}

int store_get_port_model(struct store *store, int64_t run_id, struct stored_port_model *stored,
                         struct arena *arena, struct err *err)
{
    *stored = (struct stored_port_model){.model = {.filler = -1}};
    sqlite3_stmt *stmt = store_bind(store, err,
                                    "SELECT width, nports, filler, residual, unexplained "
                                    "FROM port_model WHERE run_id = ?1",
                                    "i", run_id);
    if (!stmt)
        return -1;
    int got = sqlite3_step(stmt);
    if (got == SQLITE_ROW) {
        stored->model.width = sqlite3_column_int(stmt, 0);
        stored->model.nports = sqlite3_column_int(stmt, 1);
        stored->filler = store_column_text(stmt, 2, arena);
        stored->model.residual = store_column_real(stmt, 3);
        stored->model.unexplained = sqlite3_column_int(stmt, 4);
    }
    if (store_rows_end(store, stmt, got == SQLITE_ROW ? SQLITE_DONE : got, err) != 0)
        return -1;
    if (got != SQLITE_ROW)
        return 0;
    if (store_get_port_classes(store, run_id, stored, arena, err) != 0 ||
        store_get_port_units(store, run_id, stored, arena, err) != 0 ||
        store_get_port_names(store, run_id, &stored->model, err) != 0)
        return -1;
    return 1;
}

int store_newest_port_run(struct store *store, int64_t cpu_id, const char *uarch, int64_t *run_id,
                          struct err *err)
{
    return store_get_int(store, err, run_id,
                         "SELECT run.run_id FROM port_model JOIN run USING (run_id) "
                         "JOIN cpu USING (cpu_id) WHERE (?1 = 0 OR cpu_id = ?1) "
                         "AND (?1 <> 0 OR ?2 IS NULL OR uarch = ?2) "
                         "ORDER BY started_utc DESC, run.run_id DESC LIMIT 1",
                         "it", cpu_id, uarch);
}

// --- results ---

static int store_put_port_uses(struct store *store, int64_t run_form_id,
                               const struct port_model *model, const struct port_usage *usage,
                               struct err *err)
{
    int result = 0;
    for (int i = 0; i < usage->nuses && result == 0; i++) {
        struct strbuf name = {0};
        port_set_text(model, usage->uses[i].set, &name);
        result = store_execute(store, err,
                               "INSERT INTO port_use (run_form_id, position, ports_mask, name, "
                               "uops) VALUES (?, ?, ?, ?, ?)",
                               "iiisi", run_form_id, (int64_t)i, (int64_t)usage->uses[i].set,
                               strbuf_text(&name), (int64_t)usage->uses[i].uops);
        strbuf_free(&name);
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
    struct strbuf ports = {0};
    if (ok)
        port_usage_text(model, usage, &ports);
    int result = store_execute(
        store, err,
        "INSERT INTO port_result (run_form_id, method, outcome, detail, ambiguous, ports, uops, "
        "slots, unit, busy_clk, residual, whole, beside_clk, slots_mixed) "
        "VALUES (?, ?, ?, ?, ?, ?, nullif(?, -1), ?, ?, ?, ?, ?, nullif(?, 0.0), ?)",
        "isssitidsddidd", run_form_id, measured->method, outcome_name(usage->outcome),
        ok ? "" : usage->detail, (int64_t)(ok && usage->ambiguous), ok ? strbuf_text(&ports) : NULL,
        (int64_t)(ok ? usage->uops : -1), store_number(usage->outcome, usage->slots),
        ok && usage->unit >= 0 ? model->units[usage->unit].name : "",
        store_number(usage->outcome, usage->busy_clk),
        store_number(usage->outcome, usage->residual), (int64_t)(ok && usage->whole),
        ok ? store_finite(usage->beside_clk) : 0, store_number(usage->outcome, usage->slots_mixed));
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
    if (store_run_form_id(store, run_id, measured->row, measured->list_name, measured->position,
                          &run_form_id, err) != 0 ||
        store_put_port_row(store, run_form_id, model, measured, err) != 0)
        return -1;
    if (measured->usage->outcome == OUTCOME_OK &&
        store_put_port_uses(store, run_form_id, model, measured->usage, err) != 0)
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

// Of columns 0 to 2.
static struct stored_form store_column_form(sqlite3_stmt *stmt, struct arena *arena)
{
    return (struct stored_form){store_column_text(stmt, 0, arena),
                                store_column_text(stmt, 1, arena), sqlite3_column_int(stmt, 2)};
}

static struct port_usage store_column_usage(sqlite3_stmt *stmt, struct arena *arena)
{
    int outcome = outcome_parse((const char *)sqlite3_column_text(stmt, 3));
    double busy_clk = store_column_real(stmt, 9);
    return (struct port_usage){
        .outcome = outcome >= 0 ? (enum outcome)outcome : OUTCOME_NOT_MEASURABLE,
        .detail = store_column_text(stmt, 4, arena),
        .ambiguous = sqlite3_column_int(stmt, 5),
        .uops = sqlite3_column_int(stmt, 6),
        .slots = store_column_real(stmt, 7),
        .unit = sqlite3_column_int(stmt, 8),
        .busy_clk = isnan(busy_clk) ? 0 : busy_clk,
        .residual = store_column_real(stmt, 10),
        .whole = sqlite3_column_int(stmt, 14),
        .beside_clk = store_column_real(stmt, 15),
        .slots_mixed = store_column_real(stmt, 16),
    };
}

// One row a form and use; a form without uses has one row.
static int store_read_usages(struct store *store, sqlite3_stmt *stmt,
                             struct stored_port_usage *usages, int *n, struct arena *arena,
                             struct err *err)
{
    int64_t last = 0;
    int got;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(stmt, 11);
        if (*n == 0 || id != last) {
            usages[*n].form = store_column_form(stmt, arena);
            usages[(*n)++].usage = store_column_usage(stmt, arena);
        }
        last = id;
        struct port_usage *usage = &usages[*n - 1].usage;
        if (sqlite3_column_type(stmt, 12) != SQLITE_NULL && usage->nuses < PORT_USES_MAX)
            usage->uses[usage->nuses++] = (struct port_use){
                (uint32_t)sqlite3_column_int64(stmt, 12), sqlite3_column_int(stmt, 13)};
    }
    return store_rows_end(store, stmt, got, err);
}

int store_get_port_usages(struct store *store, int64_t run_id, struct stored_port_usage **usages,
                          int *n, struct arena *arena, struct err *err)
{
    int64_t count = 0;
    *n = 0;
    if (store_get_int(store, err, &count,
                      "SELECT count(*) FROM run_form JOIN port_result USING (run_form_id) "
                      "WHERE run_id = ?1",
                      "i", run_id) < 0)
        return -1;
    *usages = arena_alloc(arena, ((size_t)count + 1) * sizeof **usages);
    sqlite3_stmt *stmt = store_bind(
        store, err,
        "SELECT form, enc, bits, port_result.outcome, detail, ambiguous, port_result.uops, slots, "
        "coalesce((SELECT min(position) FROM port_unit WHERE port_unit.run_id = ?1 "
        "AND port_unit.name = port_result.unit), -1), "
        "busy_clk, residual, run_form_id, port_use.ports_mask, port_use.uops, whole, "
        "coalesce(beside_clk, 0.0), slots_mixed "
        "FROM run_form JOIN form USING (form_id) JOIN port_result USING (run_form_id) "
        "LEFT JOIN port_use USING (run_form_id) WHERE run_form.run_id = ?1 "
        "ORDER BY form, enc, bits, port_use.position",
        "i", run_id);
    return stmt ? store_read_usages(store, stmt, *usages, n, arena, err) : -1;
}

int store_get_throughputs(struct store *store, int64_t run_id, struct stored_throughput **values,
                          int *n, struct arena *arena, struct err *err)
{
    int64_t count = 0, from = run_id;
    *n = 0;
    // A run of port tests alone takes what another has measured on this CPU.
    if (store_get_int(store, err, &from,
                      "SELECT run_id FROM run WHERE cpu_id = "
                      "(SELECT cpu_id FROM run WHERE run_id = ?1) AND EXISTS "
                      "(SELECT 1 FROM run_form JOIN test USING (run_form_id) "
                      "WHERE run_form.run_id = run.run_id AND kind = 'throughput') "
                      "ORDER BY run_id = ?1 DESC, run_id DESC LIMIT 1",
                      "i", run_id) < 0 ||
        store_get_int(store, err, &count, "SELECT count(*) FROM run_form WHERE run_id = ?1", "i",
                      from) < 0)
        return -1;
    *values = arena_alloc(arena, ((size_t)count + 1) * sizeof **values);
    // The same choice as in the view run_instruction_table.
    sqlite3_stmt *stmt =
        store_bind(store, err,
                   "SELECT form, enc, bits, coalesce("
                   "min(CASE WHEN test.variant <> 'slow' THEN value_clk END), max(value_clk)) "
                   "FROM run_form JOIN form USING (form_id) JOIN test USING (run_form_id) "
                   "JOIN result USING (test_id) WHERE run_id = ?1 AND test.kind = 'throughput' "
                   "AND result.outcome = 'ok' GROUP BY run_form_id ORDER BY form, enc, bits",
                   "i", from);
    if (!stmt)
        return -1;
    int got;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW && *n < count) {
        (*values)[*n].form = store_column_form(stmt, arena);
        (*values)[(*n)++].value_clk = sqlite3_column_double(stmt, 3);
    }
    return store_rows_end(store, stmt, got == SQLITE_ROW ? SQLITE_DONE : got, err);
}
