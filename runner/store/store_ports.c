// SPDX-License-Identifier: MIT
// The port model of a run in the database; see store_ports.h. Forms are stored as texts, port sets
// as bit masks with their names.
#include "store_internal.h"

#include "store_ports.h"
#include "util/strbuf.h"
#include "util/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int store_put_port_classes(struct store *store, int64_t run_id,
                                  const struct stored_port_model *stored, struct err *err)
{
    for (int i = 0; i < stored->model.nclasses; i++) {
        const struct port_class *class = &stored->model.classes[i];
        if (store_execute(store, err,
                          "INSERT INTO port_class (run_id, position, ports_mask, name, blocker, "
                          "blocker_clk, members, holds) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                          "iiissdis", run_id, (int64_t)i, (int64_t) class->set, class->name,
                          stored->class_blockers[i], store_finite(class->blocker_clk),
                          (int64_t) class->members, port_holds_name(class->holds)) != 0)
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

// Stores the demands of the blockers of paths.
static int store_put_port_probes(struct store *store, int64_t run_id,
                                 const struct stored_port_model *stored, struct err *err)
{
    int result = 0;
    for (int i = 0; i < stored->model.nunits && result == 0; i++) {
        const struct port_demands *demands = &stored->model.units[i].usage.demands;
        for (int d = 0; d < demands->n && result == 0; d++)
            if (port_unit_is_path(&stored->model.units[i]) && demands->of[d].unit >= 0)
                result = store_execute(
                    store, err,
                    "INSERT INTO port_probe (run_id, position, unit, form, share_clk) "
                    "VALUES (?, ?, ?, ?, ?)",
                    "iissd", run_id, (int64_t)i, stored->model.units[demands->of[d].unit].name,
                    stored->unit_blockers[i], demands->of[d].clk);
    }
    return result;
}

void store_add_demand(struct port_demands *demands, int unit, double clk)
{
    if (demands->n < PORT_DEMANDS_MAX)
        demands->of[demands->n++] = (struct port_demand){.unit = unit, .clk = clk};
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
    int result = store_execute(
        store, err,
        "INSERT INTO port_model (run_id, width, nports, filler, residual, "
        "unexplained, teller, teller_clk, drawn_seed, fast) "
        "VALUES (?, ?, ?, ?, ?, ?, nullif(?, -1), nullif(?, 0.0), nullif(?, 0), "
        "nullif(?, -1))",
        "iiisdiidii", run_id, (int64_t)model->width, (int64_t)model->nports, stored->filler,
        store_finite(model->residual), (int64_t)model->unexplained, (int64_t)model->teller,
        model->teller_clk, (int64_t)model->drawn_seed, (int64_t)model->fast);
    if (result == 0)
        result = store_put_port_classes(store, run_id, stored, err);
    if (result == 0)
        result = store_put_port_probes(store, run_id, stored, err);
    if (result == 0)
        result = store_put_port_names(store, run_id, model, err);
    return store_unit_end(store, own, result, err);
}

static void store_column_name(sqlite3_stmt *stmt, int column, char *name, size_t size)
{
    struct strbuf shown = {0};
    text_put_escaped(&shown, store_text(stmt, column));
    snprintf(name, size, "%s", strbuf_text(&shown));
    strbuf_free(&shown);
}

static enum port_holds store_column_holds(sqlite3_stmt *stmt, int column)
{
    const char *name = store_text(stmt, column);
    enum port_holds holds = PORT_WIDE_FORMS;
    while (holds > PORT_ALWAYS && strcmp(name, port_holds_name(holds)) != 0)
        holds--;
    return holds;
}

static int store_get_port_classes(struct store *store, int64_t run_id,
                                  struct stored_port_model *stored, struct arena *arena,
                                  struct err *err)
{
    sqlite3_stmt *stmt = store_bind(store, err,
                                    "SELECT ports_mask, name, blocker, blocker_clk, members, "
                                    "holds FROM port_class WHERE run_id = ?1 ORDER BY position",
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
        class->holds = store_column_holds(stmt, 5);
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

// Reads the demands of the blockers of paths; older versions stored those of other forms, too.
static int store_get_port_probes(struct store *store, int64_t run_id,
                                 struct stored_port_model *stored, struct err *err)
{
    sqlite3_stmt *stmt = store_bind(
        store, err,
        "SELECT DISTINCT blocked.position, needed.position, share_clk FROM port_probe "
        "JOIN port_unit AS blocked ON blocked.run_id = port_probe.run_id AND blocked.blocker = "
        "form "
        "JOIN port_unit AS needed ON needed.run_id = port_probe.run_id AND needed.name = unit "
        "WHERE port_probe.run_id = ?1 ORDER BY 1, 2",
        "i", run_id);
    struct port_model *model = &stored->model;
    int got;
    if (!stmt)
        return -1;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW) {
        int blocked = sqlite3_column_int(stmt, 0), needed = sqlite3_column_int(stmt, 1);
        if (blocked < model->nunits && needed < model->nunits &&
            port_unit_is_path(&model->units[blocked]))
            store_add_demand(&model->units[blocked].usage.demands, needed,
                             sqlite3_column_double(stmt, 2));
    }
    return store_rows_end(store, stmt, got, err);
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

static int store_get_port_ways(struct store *store, int64_t run_id,
                               struct stored_port_model *stored, struct err *err)
{
    for (int way = 0; way < PORT_WAYS; way++)
        if (store_get_int(store, err, &stored->ways[way],
                          "SELECT count(*) FROM run_form JOIN port_result USING (run_form_id) "
                          "WHERE run_id = ?1 AND way = ?2 AND port_result.outcome = 'ok'",
                          "is", run_id, port_way_name((enum port_way)way)) < 0)
            return -1;
    return 0;
}

int store_get_port_model(struct store *store, int64_t run_id, struct stored_port_model *stored,
                         struct arena *arena, struct err *err)
{
    *stored = (struct stored_port_model){
        .model = {.filler = -1, .teller = -1}
    };
    sqlite3_stmt *stmt = store_bind(
        store, err,
        "SELECT width, nports, filler, residual, unexplained, "
        "coalesce(teller, -1), "
        "coalesce(teller_clk, 0.0), coalesce(drawn_seed, 0), coalesce(fast, -1) FROM port_model "
        "WHERE run_id = ?1",
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
        stored->model.teller = sqlite3_column_int(stmt, 5);
        stored->model.teller_clk = sqlite3_column_double(stmt, 6);
        stored->model.drawn_seed = (uint32_t)sqlite3_column_int64(stmt, 7);
        stored->model.fast = sqlite3_column_int(stmt, 8);
    }
    if (store_rows_end(store, stmt, got == SQLITE_ROW ? SQLITE_DONE : got, err) != 0)
        return -1;
    if (got != SQLITE_ROW)
        return 0;
    if (store_get_port_classes(store, run_id, stored, arena, err) != 0 ||
        store_get_port_units(store, run_id, stored, arena, err) != 0 ||
        store_get_port_probes(store, run_id, stored, err) != 0 ||
        store_get_port_names(store, run_id, &stored->model, err) != 0 ||
        store_get_port_ways(store, run_id, stored, err) != 0)
        return -1;
    return 1;
}

int store_newest_port_run(struct store *store, int64_t cpu_id, const char *uarch, int64_t *run_id,
                          struct err *err)
{
    return store_get_int(store, err, run_id,
                         "SELECT run.run_id FROM port_model JOIN run USING (run_id) "
                         "JOIN cpu USING (cpu_id) "
                         "WHERE (?1 = 0 OR (cpu_id = ?1 AND " STORE_RUN_IS_OWN ")) "
                         "AND (?1 <> 0 OR ?2 IS NULL OR uarch || iif(inferred, '?', '') = ?2) "
                         "ORDER BY " STORE_RUN_IS_OWN
                         " DESC, started_utc DESC, run.run_id DESC LIMIT 1",
                         "it", cpu_id, uarch);
}
