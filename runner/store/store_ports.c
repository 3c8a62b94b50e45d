// SPDX-License-Identifier: MIT
// The port model of a run in the database; see store_ports.h. Forms are stored as texts, port sets
// as bit masks with their names.
#include "store_internal.h"

#include "store_ports.h"

#include <stdio.h>

struct class_row {
    struct port_class of;
    const char *blocker;
};
#define CLASS(...) STORE_FIELD(struct class_row, __VA_ARGS__)
static const struct store_field class_fields[] = {CLASS(of.set, .column = "ports_mask"),
                                                  CLASS(of.name),
                                                  CLASS(blocker),
                                                  CLASS(of.blocker_clk),
                                                  CLASS(of.members),
                                                  CLASS(of.holds, .out.words = &words_holds)};
static const struct store_record class_record = {"port_class", "run_id, position",
                                                 STORE_FIELDS(struct class_row, class_fields)};

struct unit_row {
    struct port_unit of;
    const char *blocker, *whole_blocker;
};
#define UNIT(...) STORE_FIELD(struct unit_row, __VA_ARGS__)
static const struct store_field unit_fields[] = {UNIT(of.name), UNIT(blocker), UNIT(of.blocker_clk),
                                                 UNIT(whole_blocker), UNIT(of.whole_clk)};
static const struct store_record unit_record = {"port_unit", "run_id, position",
                                                STORE_FIELDS(struct unit_row, unit_fields)};

#define MODEL(...) STORE_FIELD(struct stored_port_model, __VA_ARGS__)
static const struct store_field model_fields[] = {
    MODEL(model.width),
    MODEL(model.nports),
    MODEL(filler),
    MODEL(model.residual),
    MODEL(model.unexplained),
    MODEL(model.teller, .null = true, .none = -1),
    MODEL(model.teller_clk, .null = true),
    MODEL(model.drawn_seed, .null = true),
    MODEL(model.fast, .null = true, .none = -1),
};
static const struct store_record model_record = {
    "port_model", "run_id", STORE_FIELDS(struct stored_port_model, model_fields), .id = "run_id"};

// A published name: of a port, or of a set.
#define NAME(...) STORE_FIELD(struct port_hidden, __VA_ARGS__)
static const struct store_field name_fields[] = {NAME(set, .column = "ports_mask"), NAME(name)};
static const struct store_record name_record = {
    "port_name", "run_id", STORE_FIELDS(struct port_hidden, name_fields), .id = "ports_mask"};

static int store_put_port_classes(struct store *store, int64_t run_id,
                                  const struct stored_port_model *stored, struct err *err)
{
    int result = 0;
    for (int i = 0; i < stored->model.nclasses && result == 0; i++)
        result = store_put_row(
            store, &class_record, (const int64_t[]){run_id, i},
            &(struct class_row){stored->model.classes[i], stored->class_blockers[i]}, err);
    for (int i = 0; i < stored->model.nunits && result == 0; i++)
        result = store_put_row(store, &unit_record, (const int64_t[]){run_id, i},
                               &(struct unit_row){stored->model.units[i], stored->unit_blockers[i],
                                                  stored->unit_wholes[i]},
                               err);
    return result;
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

static int store_put_port_names(struct store *store, int64_t run_id, const struct port_model *model,
                                struct err *err)
{
    int result = 0;
    for (int port = 0; port < PORTS_MAX && result == 0; port++) {
        struct port_hidden one = {.set = UINT32_C(1) << port};
        snprintf(one.name, sizeof one.name, "%s", model->port_names[port]);
        if (*one.name)
            result = store_put_row(store, &name_record, &run_id, &one, err);
    }
    for (int i = 0; i < model->nhidden && result == 0; i++)
        result = store_put_row(store, &name_record, &run_id, &model->hidden[i], err);
    return result;
}

int store_put_port_model(struct store *store, int64_t run_id,
                         const struct stored_port_model *stored, struct err *err)
{
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
    int result = store_put_row(store, &model_record, &run_id, stored, err);
    if (result == 0)
        result = store_put_port_classes(store, run_id, stored, err);
    if (result == 0)
        result = store_put_port_probes(store, run_id, stored, err);
    if (result == 0)
        result = store_put_port_names(store, run_id, &stored->model, err);
    return store_unit_end(store, own, result, err);
}

static int store_get_port_classes(struct store *store, int64_t run_id,
                                  struct stored_port_model *stored, struct arena *arena,
                                  struct err *err)
{
    struct store_list classes, units;
    struct port_model *model = &stored->model;
    if (store_get_rows(store, &class_record, run_id, arena, &classes, err) != 0 ||
        store_get_rows(store, &unit_record, run_id, arena, &units, err) != 0)
        return -1;
    for (; model->nclasses < classes.n && model->nclasses < PORT_CLASSES_MAX; model->nclasses++) {
        const struct class_row *row = (struct class_row *)classes.rows + model->nclasses;
        model->classes[model->nclasses] = row->of;
        model->classes[model->nclasses].blocker = -1;
        stored->class_blockers[model->nclasses] = row->blocker;
    }
    for (; model->nunits < units.n && model->nunits < PORT_UNITS_MAX; model->nunits++) {
        const struct unit_row *row = (struct unit_row *)units.rows + model->nunits;
        model->units[model->nunits] = row->of;
        model->units[model->nunits].blocker = model->units[model->nunits].whole_blocker = -1;
        stored->unit_blockers[model->nunits] = row->blocker;
        stored->unit_wholes[model->nunits] = row->whole_blocker;
    }
    return 0;
}

// Reads the demands of the blockers of paths; older versions stored other forms' as well.
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
                                struct arena *arena, struct err *err)
{
    struct store_list list;
    if (store_get_rows(store, &name_record, run_id, arena, &list, err) != 0)
        return -1;
    for (int i = 0; i < list.n; i++) {
        const struct port_hidden *row = (struct port_hidden *)list.rows + i;
        if (port_set_size(row->set) == 1)
            snprintf(model->port_names[__builtin_ctz(row->set)], PORT_LABEL_MAX, "%.*s",
                     PORT_LABEL_MAX - 1, row->name);
        else if (model->nhidden < PORT_HIDDEN_MAX)
            model->hidden[model->nhidden++] = *row;
    }
    return 0;
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
    struct store_list list;
    *stored = (struct stored_port_model){
        .model = {.filler = -1, .teller = -1}
    };
    if (store_get_rows(store, &model_record, run_id, arena, &list, err) != 0)
        return -1;
    if (list.n == 0)
        return 0;
    *stored = *(struct stored_port_model *)list.rows;
    stored->model.filler = -1;
    if (store_get_port_classes(store, run_id, stored, arena, err) != 0 ||
        store_get_port_probes(store, run_id, stored, err) != 0 ||
        store_get_port_names(store, run_id, &stored->model, arena, err) != 0 ||
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
                         "AND (?1 <> 0 OR ?2 IS NULL OR " STORE_UARCH " = ?2) "
                         // A run that completes another has its structure, and few forms.
                         "ORDER BY " STORE_RUN_IS_OWN
                         " DESC, EXISTS (SELECT 1 FROM run AS completed JOIN port_model AS its "
                         "USING (run_id) WHERE completed.uuid = run.completes), started_utc DESC, "
                         "run.run_id DESC LIMIT 1",
                         "it", cpu_id, uarch);
}
