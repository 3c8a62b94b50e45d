// SPDX-License-Identifier: MIT
// Ports in the database: model, usages, evidence and validation come back as they went in, facts
// cannot be changed, databases and packs of schema 1 are brought up to date, packs hold all of it,
// the public views and reports show it. `test_store_ports make FILE` writes a database of known
// content, for the tests of the command line.
#include "fixtures/merge_fixture.h"
#include "fixtures/ports_fixture.h"

#include "fixtures/store_old.h"
#include "merge/merge.h"
#include "pack/pack.h"
#include "store/store.h"
#include "store/store_cpu.h"
#include "store/store_form.h"
#include "store/store_ports.h"
#include "store/store_run.h"
#include "util/paths.h"

static void expect_demands(const struct port_usage *got, const struct port_usage *want)
{
    assert_int_equal(got->demands.n, want->demands.n);
    for (int d = 0; d < want->demands.n; d++) {
        const struct port_demand *a = &got->demands.of[d], *b = &want->demands.of[d];
        assert_int_equal(a->unit, b->unit);
        assert_true(a->clk == b->clk && a->beside_clk == b->beside_clk && a->whole == b->whole);
    }
}

static void expect_names(const struct port_model *got, const struct port_model *want)
{
    for (int port = 0; port < PORTS_MAX; port++)
        assert_string_equal(got->port_names[port], want->port_names[port]);
    assert_int_equal(got->nhidden, 1);
    assert_int_equal(got->hidden[0].set, want->hidden[0].set);
    assert_string_equal(got->hidden[0].name, "ALL");
}

static void test_model(void **state)
{
    (void)state;
    struct fixture fixture;
    struct arena arena = {0};
    struct err err = {0};
    struct stored_port_model got;
    int64_t run_id = 0;
    struct store *store = fixture_start(&fixture);
    int64_t bare_id = fixture_fill(store, "testa", 0xb00f21, 1);
    assert_int_equal(store_newest_port_run(store, 1, NULL, &run_id, &err), 0);
    int64_t made_id = fixture_fill_ports(store, "testa", 0xb00f21, 1);
    assert_int_equal(store_get_port_model(store, bare_id, &got, &arena, &err), 0);
    assert_int_equal(store_get_port_model(store, made_id, &got, &arena, &err), 1);
    struct stored_port_model want = fixture_port_model();
    assert_int_equal(got.model.width, want.model.width);
    assert_int_equal(got.model.nports, want.model.nports);
    assert_int_equal(got.model.nclasses, want.model.nclasses);
    assert_int_equal(got.model.nunits, want.model.nunits);
    assert_int_equal(got.model.unexplained, want.model.unexplained);
    assert_true(got.model.residual == want.model.residual);
    assert_string_equal(got.filler, want.filler);
    assert_int_equal(got.model.filler, -1);
    assert_int_equal(got.model.fast, want.model.fast);
    for (int i = 0; i < want.model.nclasses; i++) {
        assert_int_equal(got.model.classes[i].set, want.model.classes[i].set);
        assert_string_equal(got.model.classes[i].name, want.model.classes[i].name);
        assert_string_equal(got.class_blockers[i], want.class_blockers[i]);
        assert_true(got.model.classes[i].blocker_clk == want.model.classes[i].blocker_clk);
        assert_int_equal(got.model.classes[i].members, want.model.classes[i].members);
        assert_int_equal(got.model.classes[i].blocker, -1);
    }
    expect_names(&got.model, &want.model);
    assert_string_equal(got.model.units[0].name, "DIV");
    assert_string_equal(got.unit_blockers[0], "div r64");
    assert_string_equal(got.unit_wholes[0], "vdivpd z z z");
    assert_true(got.model.units[0].whole_clk == 9.5);
    assert_int_equal(got.model.units[0].whole_blocker, -1);
    for (int u = 0; u < want.model.nunits; u++)
        expect_demands(&got.model.units[u].usage, &want.model.units[u].usage);
    assert_int_equal(store_put_port_model(store, made_id, &want, &err), -1);
    assert_non_null(strstr(err.text, "already"));
    // The newest of a CPU, of a uarch, of all.
    int64_t other_id = fixture_fill_ports(store, "testb", 0xa20f10, 2);
    assert_int_equal(store_newest_port_run(store, 1, NULL, &run_id, &err), 1);
    assert_int_equal(run_id, made_id);
    assert_int_equal(store_newest_port_run(store, 0, "testb", &run_id, &err), 1);
    assert_int_equal(run_id, other_id);
    assert_int_equal(store_newest_port_run(store, 0, "testc", &run_id, &err), 0);
    assert_int_equal(store_newest_port_run(store, 0, NULL, &run_id, &err), 1);
    assert_int_equal(run_id, other_id);
    arena_free(&arena);
    fixture_end(&fixture, store);
}

// A model that an older latput has found does not say how many forms may hide behind slots.
static void test_unknown_fast(void **state)
{
    (void)state;
    struct fixture fixture;
    struct arena arena = {0};
    struct err err = {0};
    struct stored_port_model model = fixture_port_model();
    struct store *store = fixture_start(&fixture);
    int64_t run_id = fixture_fill(store, "testa", 0xb00f21, 1);
    model.model.fast = -1;
    assert_int_equal(store_put_port_model(store, run_id, &model, &err), 0);
    fixture_expect(store, "SELECT count(*) FROM port_model WHERE fast IS NULL", "1");
    assert_int_equal(store_get_port_model(store, run_id, &model, &arena, &err), 1);
    assert_int_equal(model.model.fast, -1);
    arena_free(&arena);
    fixture_end(&fixture, store);
}

static const struct stored_port_usage *find(const struct stored_port_usages *usages,
                                            const char *form)
{
    for (int i = 0; i < usages->n; i++)
        if (strcmp(usages->usages[i].form.form, form) == 0)
            return &usages->usages[i];
    fail_msg("no usage of %s", form);
    return NULL;
}

static void test_usages(void **state)
{
    (void)state;
    struct fixture fixture;
    struct arena arena = {0};
    struct err err = {0};
    struct stored_port_usages usages;
    struct store *store = fixture_start(&fixture);
    int64_t run_id = fixture_fill_ports(store, "testa", 0xb00f21, 1);
    assert_int_equal(store_get_port_usages(store, run_id, &usages, &arena, &err), 0);
    assert_int_equal(usages.n, 5);
    for (int i = 1; i < usages.n; i++)
        assert_true(stored_form_compare(&usages.usages[i - 1].form, &usages.usages[i].form) < 0);
    for (int i = 0; i < FIXTURE_PORTS; i++) {
        struct port_usage want = fixture_port_usages()[i];
        const struct stored_port_usage *stored = find(&usages, fixture_port_forms[i]);
        const struct port_usage *got = &stored->usage;
        const struct port_usage *ok = stored_port_usage_ok(&usages, &stored->form);
        assert_ptr_equal(ok, want.outcome == OUTCOME_OK ? got : NULL);
        assert_int_equal(got->outcome, want.outcome);
        if (want.outcome != OUTCOME_OK) {
            assert_string_equal(got->detail, want.detail);
            assert_true(isnan(got->front.slots));
            assert_int_equal(got->uses.n, 0);
            assert_int_equal(got->demands.n, 0);
            continue;
        }
        assert_int_equal(got->ambiguous, want.ambiguous);
        assert_int_equal(got->uses.n, want.uses.n);
        for (int u = 0; u < want.uses.n; u++) {
            assert_int_equal(got->uses.use[u].set, want.uses.use[u].set);
            assert_int_equal(got->uses.use[u].uops, want.uses.use[u].uops);
        }
        assert_int_equal(got->uses.uops, want.uses.uops);
        assert_true(got->front.slots == want.front.slots ||
                    (isnan(got->front.slots) && isnan(want.front.slots)));
        assert_true(got->front.mixed == want.front.mixed);
        assert_true(got->front.stall_clk == want.front.stall_clk);
        assert_true(got->residual == want.residual);
        assert_true(stored->decode_clk == (i == 1 ? FIXTURE_DECODE_CLK : 0));
        assert_int_equal(got->wide, want.wide);
        assert_int_equal(got->wide_uses.n, want.wide_uses.n);
        for (int u = 0; u < want.wide_uses.n; u++) {
            assert_int_equal(got->wide_uses.use[u].set, want.wide_uses.use[u].set);
            assert_int_equal(got->wide_uses.use[u].uops, want.wide_uses.use[u].uops);
        }
        expect_demands(got, &want);
    }
    assert_int_equal(store_get_port_usages(store, run_id + 1, &usages, &arena, &err), 0);
    assert_int_equal(usages.n, 0);
    struct list_row row = fixture_row("add", "r64 m64", "add r64 m64");
    assert_int_equal(store_has_port_result(store, run_id, &row, &err), 1);
    assert_int_equal(store_has_form(store, run_id, &row, &err), 1);
    row.bits = 32;
    assert_int_equal(store_has_port_result(store, run_id, &row, &err), 0);
    arena_free(&arena);
    fixture_end(&fixture, store);
}

static void test_throughputs(void **state)
{
    (void)state;
    struct fixture fixture;
    struct arena arena = {0};
    struct err err = {0};
    struct stored_throughputs values;
    struct store *store = fixture_start(&fixture);
    int64_t run_id = fixture_fill(store, "testa", 0xb00f21, 1);
    assert_int_equal(store_get_throughputs(store, run_id, &values, &arena, &err), 0);
    assert_int_equal(values.n, 2); // not hlt, which failed
    assert_string_equal(values.values[0].form.form, "add r64 r64");
    assert_string_equal(values.values[0].form.enc, "legacy");
    assert_int_equal(values.values[0].form.bits, 64);
    assert_true(fabs(values.values[0].value_clk - 0.25) < 1e-6);
    assert_true(fabs(values.values[1].value_clk - 5) < 1e-6); // div with fast data
    // A run without throughputs takes those of another on the same CPU, not of another CPU.
    int64_t bare_id = fixture_run(store, "testa", 0xb00f21);
    assert_int_equal(store_get_throughputs(store, bare_id, &values, &arena, &err), 0);
    assert_int_equal(values.n, 2);
    int64_t other_id = fixture_run(store, "testb", 0xa20f10);
    assert_int_equal(store_get_throughputs(store, other_id, &values, &arena, &err), 0);
    assert_int_equal(values.n, 0);
    arena_free(&arena);
    fixture_end(&fixture, store);
}

static void test_batch(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    struct store *store = fixture_start(&fixture);
    int64_t run_id = fixture_fill_ports(store, "testa", 0xb00f21, 1);
    struct stored_port_model model = fixture_port_model();
    struct list_row rows[2] = {fixture_row("sub", "r64 r64", "sub r64 r64"),
                               fixture_row("add", "r64 r64", "add r64 r64")};
    struct port_usage usage = fixture_port_usages()[0];
    struct measured_ports results[2];
    for (int i = 0; i < 2; i++)
        results[i] = (struct measured_ports){
            &rows[i], {"int", 9},
             "throughput", &usage, 0, NULL, 0, NULL, 0, NULL
        };
    // The second is there already: neither is added.
    assert_int_equal(store_put_port_results(store, run_id, &model.model, results, 2, &err), -1);
    assert_non_null(strstr(err.text, "add r64 r64"));
    assert_int_equal(store_has_form(store, run_id, &rows[0], &err), 0);
    assert_int_equal(store_put_port_results(store, run_id, &model.model, results, 1, &err), 0);
    assert_int_equal(store_has_port_result(store, run_id, &rows[0], &err), 1);
    // They count as tests of the run.
    int64_t counts[OUTCOME_COUNT], forms;
    assert_int_equal(store_run_summary(store, run_id, counts, &forms, &err), 0);
    assert_int_equal(forms, 6);
    assert_int_equal(counts[OUTCOME_OK], 8 + 5);
    assert_int_equal(counts[OUTCOME_NOT_MEASURABLE], 1 + 1);
    fixture_end(&fixture, store);
}

static void test_append_only(void **state)
{
    (void)state;
    static const char *const facts[] = {
        "port_model",       "port_class", "port_unit",        "port_probe",    "port_name",
        "port_result",      "port_use",   "port_use_wide",    "port_share",    "port_trial",
        "port_trial_count", "validation", "validation_class", "validation_mix"};
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    fixture_fill_ports(store, "testa", 1, 1);
    for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
        char sql[256];
        snprintf(sql, sizeof sql, "SELECT count(*) > 0 FROM %s", facts[i]);
        fixture_expect(store, sql, "1");
        snprintf(sql, sizeof sql, "DELETE FROM %s", facts[i]);
        assert_non_null(strstr(fixture_ask(store->db, sql), "append-only"));
        snprintf(sql, sizeof sql, "SELECT name FROM pragma_table_info('%s') LIMIT 1", facts[i]);
        char *column = strdup(fixture_ask(store->db, sql));
        assert_non_null(column);
        snprintf(sql, sizeof sql, "UPDATE %s SET %s = %s", facts[i], column, column);
        assert_non_null(strstr(fixture_ask(store->db, sql), "append-only"));
        free(column);
    }
    fixture_end(&fixture, store);
}

// Everything about ports as one text, ids left out.
static const char everything[] =
    "SELECT group_concat(line, char(10)) FROM ("
    "SELECT concat_line AS line FROM ("
    "SELECT 'model ' || width || ' ' || nports || ' ' || filler || ' ' || residual || ' ' || "
    "unexplained || ' ' || teller || ' ' || teller_clk || ' ' || fast "
    "AS concat_line FROM port_model WHERE run_id = 2 UNION ALL "
    "SELECT 'class ' || position || ' ' || ports_mask || ' ' || name || ' ' || blocker || ' ' || "
    "blocker_clk || ' ' || members || holds FROM port_class WHERE run_id = 2 UNION ALL "
    "SELECT 'unit ' || position || name || blocker || blocker_clk FROM port_unit "
    "WHERE run_id = 2 UNION ALL "
    "SELECT 'name ' || ports_mask || name FROM port_name WHERE run_id = 2 UNION ALL "
    "SELECT 'probe ' || position || unit || form || share_clk FROM port_probe WHERE run_id = 2 "
    "UNION ALL "
    "SELECT 'share ' || form || unit || share_clk FROM port_share "
    "JOIN run_form USING (run_form_id) JOIN form USING (form_id) WHERE run_id = 2 UNION ALL "
    "SELECT 'result ' || form || method || outcome || detail || ambiguous || "
    "coalesce(ports, 'NULL') || coalesce(uops, 'NULL') || coalesce(slots, 'NULL') || unit || "
    "coalesce(busy_clk, 'NULL') || coalesce(residual, 'NULL') || wide FROM port_result "
    "JOIN run_form USING (run_form_id) JOIN form USING (form_id) WHERE run_id = 2 UNION ALL "
    "SELECT 'use ' || form || port_use.position || ports_mask || name || uops FROM port_use "
    "JOIN run_form USING (run_form_id) JOIN form USING (form_id) WHERE run_id = 2 UNION ALL "
    "SELECT 'wide use ' || form || port_use_wide.position || ports_mask || name || uops "
    "FROM port_use_wide JOIN run_form USING (run_form_id) JOIN form USING (form_id) "
    "WHERE run_id = 2 UNION ALL "
    "SELECT 'trial ' || form || port_trial.position || blocker || instances || ' ' || blockers || "
    "outcome || coalesce(clk, 'NULL') || ' ' || coalesce(spread_clk, 'NULL') FROM port_trial "
    "JOIN run_form USING (run_form_id) JOIN form USING (form_id) WHERE run_id = 2 UNION ALL "
    "SELECT 'count ' || form || port_trial_count.position || event || uops FROM port_trial_count "
    "JOIN run_form USING (run_form_id) JOIN form USING (form_id) WHERE run_id = 2 UNION ALL "
    "SELECT 'validation ' || seed || ' ' || validation.mixes || ' ' || "
    "coalesce(validation.mape_percent, 'NULL') || coalesce(kendall_tau, 'NULL') || "
    "coalesce(validation.within_10_percent, 'NULL') || recorded_utc || class || "
    "validation_class.mixes || coalesce(validation_class.mape_percent, 'NULL') || "
    "coalesce(validation_class.within_10_percent, 'NULL') FROM validation "
    "JOIN validation_class USING (validation_id) WHERE run_id = 2 UNION ALL "
    "SELECT 'mix ' || position || mix || measured_clk || ' ' || predicted_clk FROM validation "
    "JOIN validation_mix USING (validation_id) WHERE run_id = 2) ORDER BY line)";

static void test_pack(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    char zip[128], again[128], merged[128];
    fixture_make(&fixture);
    snprintf(zip, sizeof zip, "%s/a.zip", fixture.dir);
    snprintf(again, sizeof again, "%s/b.zip", fixture.dir);
    snprintf(merged, sizeof merged, "%s/merged.db", fixture.dir);
    struct store *store = fixture_open(fixture.db, STORE_WRITE);
    fixture_fill_ports(store, "testb", 0xb00f22, 2);
    int64_t run_id = fixture_fill_ports(store, "testa", 0xb00f21, 1);
    assert_int_equal(store_run_finish(store, run_id, 9, 1.5, &err), 0);
    assert_int_equal(pack_write(store,
                                &(struct pack_what){.run_id = run_id, .keep = MERGE_KEEP_SAMPLES},
                                zip, &err),
                     0);
    struct store *target = fixture_open(merged, STORE_WRITE);
    struct store_merged added;
    fixture_fill(target, "testa", 0xb00f21, 3); // so that ids of forms differ
    if (pack_merge(target, zip, &added, &err) != 1)
        fail_msg("%s", err.text);
    run_id = added.runs[0].run_id;
    char *before = xstrdup(fixture_ask(store->db, everything));
    assert_non_null(strstr(before, "mix "));
    assert_non_null(strstr(before, "trial "));
    assert_non_null(strstr(before, "count add r64 r641p0118.0\ncount add r64 r641p2310.0\n"
                                   "count add r64 r641uops_issued28.0\n"));
    assert_non_null(strstr(before, "name 1ALU10\nname 2ALU0\n"));
    fixture_expect(target, everything, before);
    free(before);
    if (pack_write(target, &(struct pack_what){.run_id = run_id, .keep = MERGE_KEEP_SAMPLES}, again,
                   &err) != 0)
        fail_msg("%s", err.text);
    fixture_expect(target, "PRAGMA foreign_key_check", "no row");
    char command[512];
    snprintf(command, sizeof command, "cmp %s %s", zip, again);
    assert_int_equal(system(command), 0);
    store_close(store);
    store_close(target);
    fixture_remove(&fixture);
}

// A run in a file of schema 1.
static void make_version_1(const char *path, bool finished)
{
    struct err err = {0};
    char today[160];
    snprintf(today, sizeof today, "%s.today", path);
    struct store *store = fixture_open(today, STORE_WRITE);
    int64_t run_id = fixture_fill(store, "testa", 0xb00f21, 1);
    if (finished)
        assert_int_equal(store_run_finish(store, run_id, 1, 1, &err), 0);
    store_close(store);
    old_make(path, 1, today);
    assert_int_equal(store_connect(path, SQLITE_OPEN_READWRITE, &store, &err), 0);
    const char *floor = "INSERT INTO canary_floor (cpu_id, nop_bytes, nop_clk, method, "
                        "recorded_utc) VALUES (1, 10, 0.125, 'mode', '2026-01-01T00:00:00Z')";
    assert_int_equal(store_script(store, &err, floor, "put a floor"), 0);
    store_close(store);
}

static void test_version_1(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    struct store *store = NULL;
    char old[128];
    fixture_make(&fixture);
    snprintf(old, sizeof old, "%s/old.db", fixture.dir);
    make_version_1(old, true);
    assert_int_equal(store_open(old, STORE_READ, &store, &err), -1);
    assert_non_null(strstr(err.text, "rederive"));
    // Its run merges; the file as it came is brought up to date as a copy would be.
    store = fixture_open(fixture.db, STORE_WRITE);
    struct store_merged merged;
    if (merge_runs(store, old, "old.zip", &merged, &err) != 1)
        fail_msg("%s", err.text);
    fixture_expect(store, "SELECT count(*) FROM instruction_table", "3");
    store_close(store);
    // A database of that time goes on being used.
    snprintf(old, sizeof old, "%s/older.db", fixture.dir);
    make_version_1(old, false);
    store = fixture_open(old, STORE_UPDATE);
    struct canary_floor floor;
    // Its floor came without a measured width, and is found anew.
    assert_int_equal(store_get_floor(store, 1, &floor, &err), 0);
    bool fresh;
    int64_t version;
    assert_int_equal(store_schema_identify(store, &fresh, &version, &err), 0);
    assert_int_equal(version, STORE_SCHEMA_VERSION);
    if (store_schema_compare(store, STORE_SCHEMA_VERSION, &err) != 0)
        fail_msg("%s", err.text);
    // It believed the signature.
    fixture_expect(store, "SELECT claimed_uarch || ' ' || decided || evidence FROM run",
                   "testa claim");
    fixture_expect(store, "SELECT measured_width FROM run", "NULL");
    fixture_put_ports(store, 1);
    fixture_expect(store, "SELECT count(*) FROM port_result", "5");
    fixture_end(&fixture, store);
}

// Numbers only where there is a result, whatever the usage of a form that failed holds.
static void test_numbers(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    fixture_fill_ports(store, "testa", 1, 1);
    fixture_expect(store, "SELECT count(*) FROM port_result WHERE outcome <> 'ok'", "1");
    fixture_expect(store,
                   "SELECT count(*) FROM port_result WHERE outcome <> 'ok' "
                   "AND coalesce(ports, uops, slots, busy_clk, residual) IS NOT NULL",
                   "0");
    fixture_expect(store,
                   "SELECT group_concat(ports, ' ') FROM (SELECT ports FROM port_result "
                   "WHERE outcome = 'ok' ORDER BY run_form_id)",
                   "1*ALU 2*ALU 1*ALU+1*LOAD ");
    fixture_expect(store, "SELECT slots FROM port_result WHERE ports = '1*ALU+1*LOAD'", "1.02");
    fixture_expect(store, "SELECT unit || ' ' || busy_clk FROM port_result WHERE ports = '2*ALU'",
                   "DIV 5.0");
    fixture_expect(store, "SELECT count(*) FROM port_trial WHERE outcome <> 'ok' AND clk IS NULL",
                   "1");
    fixture_expect(store, "SELECT kendall_tau IS NULL FROM validation WHERE seed = 8", "1");
    fixture_end(&fixture, store);
}

// Two runs with ports, between them one without; the last one's `add r64 r64` differs, and its
// `add r64 m64` is ambiguous.
static void fill_three_runs(struct store *store)
{
    struct err err = {0};
    int64_t run_id = fixture_fill_ports(store, "testa", 0xb00f21, 1);
    assert_int_equal(store_run_finish(store, run_id, 10, 1.5, &err), 0);
    run_id = fixture_fill(store, "testa", 0xb00f21, 2);
    assert_int_equal(store_run_finish(store, run_id, 10, 1.5, &err), 0);
    struct port_usage usages[FIXTURE_PORTS];
    memcpy(usages, fixture_port_usages(), sizeof usages);
    usages[0].uses.use[0].uops = usages[0].uses.uops = 2;
    usages[0].front.slots = 2;
    usages[3].ambiguous = true;
    run_id = fixture_fill(store, "testa", 0xb00f21, 1);
    fixture_put_usages(store, run_id, usages);
    assert_int_equal(store_run_finish(store, run_id, 10, 1.5, &err), 0);
}

// Answers of the views about the runs that test_views() stores.
// clang-format off
static const struct {
    const char *sql, *expected;
} views[] = {
    {"SELECT group_concat(name, ' ') FROM (SELECT name FROM pragma_table_info('port_table') "
     "LIMIT 9)",
     "uarch mnemonic operands enc ports uops method residual run_id"},
    // The newest unambiguous ports count, though not of the run of the other numbers.
    {"SELECT uops || ports || ports_run_id FROM instruction_table "
     "WHERE form = 'add r64 r64' AND uarch = 'testa'",
     "22*ALU4"},
    {"SELECT uops || ports || ports_run_id FROM instruction_table "
     "WHERE form = 'add r64 m64'",
     "11*ALU+1*LOAD2"},
    {"SELECT uops || ports || ports_run_id FROM instruction_table "
     "WHERE form = 'div r64' AND uarch = 'testa'",
     "22*ALU?4"},
    {"SELECT uops IS NULL AND ports IS NULL AND ports_run_id = 4 FROM instruction_table "
     "WHERE form = 'hlt r64' AND uarch = 'testa'",
     "1"},
    {"SELECT group_concat(bound, ' ') FROM (SELECT form || ': ' || uops_bound AS bound FROM "
     "instruction_table WHERE form IN ('add r64 r64', 'add r64 m64', 'div r64') AND "
     "uarch = 'testa' ORDER BY form)",
     "add r64 m64: exact add r64 r64: exact div r64: upper"},
    {"SELECT uops_bound IS NULL FROM instruction_table WHERE form = 'hlt r64' AND uarch = 'testa'",
     "1"},
    {"SELECT ports || '-' || (uops IS NULL) FROM instruction_table WHERE form = 'nop'", "-1"},
    {"SELECT outcome FROM instruction_table WHERE form = 'nop'", "ok"},
    // A run's own.
    {"SELECT ports FROM run_instruction_table WHERE form = 'add r64 m64' AND run_id = 4",
     "1*ALU+1*LOAD?"},
    {"SELECT count(ports) || count(ports_run_id) FROM run_instruction_table WHERE run_id = 3",
     "00"},
    {"SELECT count(*) FROM port_table", "5"},
    {"SELECT uops || ' ' || slots || ' ' || residual || ' ' || method || ' ' || ambiguous "
     "FROM port_table WHERE form = 'add r64 m64'",
     "2 1.02 0.05 throughput 0"},
    {"SELECT unit || busy_clk || ports || ambiguous FROM port_table WHERE form = 'div r64'",
     "DIV5.02*ALU?1"},
    {"SELECT paths FROM port_table WHERE form = 'add r64 m64'", "path1 0.25, path2 1.00"},
    {"SELECT unit IS NULL AND busy_clk IS NULL FROM port_table WHERE form = 'add r64 r64'",
     "1"},
    {"SELECT count(*) || group_concat(DISTINCT outcome) FROM failure_table "
     "WHERE test = 'ports'",
     "2not_measurable"},
    {"SELECT detail FROM failure_table WHERE test = 'ports' AND run_id = 4",
     "serialises: nothing else runs beside it"},
    {"SELECT group_concat(blocker || coalesce(blocker_form, '') || ' ' || "
     "coalesce(round(uops, 2), '-'), ';') FROM port_evidence",
     "front endnop 1.0;ALUlea r64 agen 1.02;LOADmov r64 m64 -;"
     "vmovd r32 xvmovd r32 x -"},
    {"SELECT group_concat(coalesce(counted, '-'), ';') FROM port_evidence",
     "-;p01 18.0, p23 10.0, uops_issued 28.0;-;-"},
    {"SELECT count(*) FROM run_port_evidence WHERE run_id = 2", "4"},
};
// clang-format on

static void test_views(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    fixture_fill(store, "testb", 1, 1); // without ports: nothing of it changes
    fixture_expect(store, "SELECT count(*) || count(uops) || count(ports) FROM instruction_table",
                   "300");
    fixture_expect(store, "SELECT count(*) FROM port_table", "0");
    fill_three_runs(store);
    for (size_t i = 0; i < ARRAY_LEN(views); i++)
        fixture_expect(store, views[i].sql, views[i].expected);
    // Microcode may take slots from others that it does not use, unless they were counted.
    static const struct {
        const char *change, *bounds;
    } changes[] = {
        {"stall_clk = 1.5",       "exact exact"}, // what takes a slot takes one
        {"slots = 2.1",           "upper upper"},
        {"stall_clk = NULL",      "exact exact"},
        {"unit = 'MS'",           "upper upper"},
        {"method = 'counter'",    "exact exact"},
        {"unit = ''",             "exact exact"},
        {"slots = 5.2",           "exact exact"},
        {"method = 'throughput'", "upper upper"},
    };
    struct err err = {0};
    assert_int_equal(
        store_script(store, &err, "DROP TRIGGER port_result_no_update", "allow changes"), 0);
    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "UPDATE port_result SET %s WHERE outcome = 'ok'",
                 changes[i].change);
        if (store_script(store, &err, sql, "change ports") != 0)
            fail_msg("%s", err.text);
        fixture_expect(store,
                       "SELECT (SELECT uops_bound FROM instruction_table WHERE form = 'add r64 m64'"
                       " AND uarch = 'testa') || ' ' || (SELECT uops_bound FROM port_table WHERE "
                       "form = 'add r64 m64')",
                       changes[i].bounds);
    }
    fixture_end(&fixture, store);
}

// The limit of a form's throughput where ports are none: the longest of its needs, if that is as
// long as was measured.
static void test_limits(void **state)
{
    (void)state;
    // clang-format off
    static const struct {
        const char *change, *limit;
    } changes[] = {
        {"UPDATE port_result SET detail = ''", "DIV"},
        {"UPDATE port_result SET busy_clk = 3 WHERE unit <> ''", "-"},
        {"UPDATE port_result SET decode_clk = 4.8 WHERE unit <> ''", "decoder"},
        {"UPDATE port_result SET decode_clk = 0, stall_clk = 4.7 WHERE unit <> ''", "front end"},
        {"INSERT INTO port_share SELECT run_form_id, 'path9', 5.1 FROM port_result", "path9"},
        // Ports explain it as well, within the tolerance.
        {"UPDATE port_use SET uops = 20", "-"},
        {"UPDATE port_use SET uops = 1", "path9"},
        // The time of a register that is always read and written, and of another one.
        {"UPDATE form_summary SET fast_clk = 10", "chain"},
        {"UPDATE form_summary SET rthroughput_fast_bound = 'upper'", "-"},
        {"UPDATE form_summary SET rthroughput_fast_bound = 'exact'", "chain"},
        {"UPDATE test SET src = 'op1', dst = 'op1' WHERE src = 'rax'", "-"},
    };
    // clang-format on
    struct fixture fixture;
    struct err err = {0};
    struct store *store = fixture_start(&fixture);
    fixture_fill_ports(store, "testa", 0xb00f21, 1);
    assert_int_equal(store_script(store, &err,
                                  "DROP TRIGGER port_result_no_update; DROP TRIGGER "
                                  "port_use_no_update; DROP TRIGGER test_no_update",
                                  "allow changes"),
                     0);
    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        if (store_script(store, &err, changes[i].change, "change ports") != 0)
            fail_msg("%s", err.text);
        fixture_expect(store,
                       "SELECT coalesce((SELECT limited_by FROM instruction_table WHERE form = "
                       "'div r64'), '-')",
                       changes[i].limit);
    }
    fixture_end(&fixture, store);
}

// A run of ports alone neither hides the values of a form nor makes it fail.
static void test_ports_alone(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    fixture_fill(store, "testa", 1, 1);
    fixture_put_ports(store, fixture_run(store, "testa", 1));
    fixture_expect(
        store,
        "SELECT group_concat(run_id || outcome || coalesce(rthroughput_clk, '') || ports, ' ') "
        "FROM instruction_table WHERE form IN ('add r64 r64', 'nop')",
        "1ok0.251*ALU 2ok");
    fixture_expect(store, "SELECT run_id || outcome FROM instruction_table WHERE form = 'hlt r64'",
                   "1signalled");
    fixture_end(&fixture, store);
}

// A chain without cycles through a register or an address: eliminated; partly, where ports say that
// instances execute, be they of the same run or of another.
static void test_at_rename(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    struct err err = {0};
    int64_t run_id = fixture_run(store, "testa", 1);
    const struct fixture_test moves[] = {
        {TEST_LATENCY, "op2",      "op1", "", OUTCOME_OK, OUTCOME_OK, 0.5 },
        {TEST_LATENCY, "op2.base", "op1", "", OUTCOME_OK, OUTCOME_OK, 0.17},
        {TEST_LATENCY, "op2.data", "op1", "", OUTCOME_OK, OUTCOME_OK, 0.5 },
        {TEST_LATENCY, "op2",      "mem", "", OUTCOME_OK, OUTCOME_OK, 0.2 },
    };
    const struct list_row rows[] = {
        fixture_row("add", "r64 r64", "add r64 r64"),
        fixture_row("nop", "", "nop"),
        fixture_row("add", "r64 m64", "add r64 m64"),
        fixture_row("hlt", "r64", "hlt r64"),
    };
    for (int i = 0; i < 4; i++)
        assert_int_equal(fixture_put(store, run_id, &rows[i], i, &moves[i], 1, &err), 0);
    const char *const forms = "SELECT group_concat(form || '=' || coalesce(at_rename, ''), ' ') "
                              "FROM (SELECT * FROM instruction_table ORDER BY form)";
    fixture_expect(store, forms, "add r64 m64= add r64 r64=eliminated hlt r64= nop=eliminated");
    fixture_put_ports(store, fixture_run(store, "testa", 1));
    fixture_expect(store, forms,
                   "add r64 m64= add r64 r64=partly div r64= hlt r64= "
                   "nop=eliminated");
    fixture_put_ports(store, run_id);
    fixture_expect(store,
                   "SELECT group_concat(at_rename, ' ') FROM (SELECT * FROM run_instruction_table "
                   "WHERE run_id = 1 ORDER BY form)",
                   "partly eliminated");
    fixture_end(&fixture, store);
}

// A form whose ports do not show may have slots all the same, and its row says why it has no ports.
static void test_slots_alone(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    struct store *store = fixture_start(&fixture);
    int64_t run_id = fixture_fill_ports(store, "testa", 0xb00f21, 1);
    struct stored_port_model model = fixture_port_model();
    struct list_row row = fixture_row("xchg", "m64 r64", "xchg m64 r64");
    const struct port_usage usage = {
        .outcome = OUTCOME_NOT_MEASURABLE,
        .detail = "locked: nothing beside it shows its ports",
        .front = {.slots = (double)NAN, .mixed = 8.3}
    };
    const struct measured_ports result = {
        &row, {"int", 9},
         "throughput", &usage, 0, NULL, 0, NULL, 0, NULL
    };
    assert_int_equal(store_put_port_results(store, run_id, &model.model, &result, 1, &err), 0);
    fixture_expect(store,
                   "SELECT uops || uops_bound || coalesce(ports, '-') || note "
                   "FROM instruction_table WHERE form = 'xchg m64 r64'",
                   "8upper-slots beside nops, no ports, locked");
    fixture_expect(
        store,
        "SELECT coalesce(uops, '-') || uops_bound || coalesce(slots, '-') || slots_mixed "
        "FROM port_table WHERE form = 'xchg m64 r64'",
        "-upper-8.3");
    fixture_expect(store,
                   "SELECT coalesce(uops, '-') || note FROM instruction_table "
                   "WHERE form = 'hlt r64'",
                   "-no ports, serialises");
    fixture_end(&fixture, store);
}

// Ports that are taken for more than two µops a slot have a note. With memory µops may repeat;
// without, and for very many, the ports are not sure.
static void test_crowded(void **state)
{
    (void)state;
#define CROWDED " µops on ports, over two a slot: some repeat, or keep their port"
    static const struct {
        const char *change, *without, *with; // memory
    } changes[] = {
        {"slots = 2, uops = 4",  "1*ALU",            "1*ALU+1*LOAD"           },
        {"slots = 1, uops = 4",  "1*ALU",            "1*ALU+1*LOAD"           },
        {"slots = 7, uops = 24", "1*ALU?24" CROWDED, "1*ALU+1*LOAD24" CROWDED },
        {"slots = 7, uops = 38", "1*ALU?38" CROWDED, "1*ALU+1*LOAD?38" CROWDED},
    };
    struct fixture fixture;
    struct err err = {0};
    struct store *store = fixture_start(&fixture);
    fixture_fill_ports(store, "testa", 0xb00f21, 1);
    assert_int_equal(
        store_script(store, &err, "DROP TRIGGER port_result_no_update", "allow changes"), 0);
    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "UPDATE port_result SET %s WHERE outcome = 'ok'",
                 changes[i].change);
        assert_int_equal(store_script(store, &err, sql, "change ports"), 0);
        fixture_expect(store,
                       "SELECT ports || coalesce(note, '') FROM instruction_table "
                       "WHERE form = 'add r64 r64'",
                       changes[i].without);
        fixture_expect(store,
                       "SELECT ports || coalesce(note, '') FROM instruction_table "
                       "WHERE form = 'add r64 m64'",
                       changes[i].with);
    }
    fixture_expect(store, "SELECT ambiguous FROM port_table WHERE form = 'add r64 r64'", "1");
    fixture_end(&fixture, store);
}

static int make_database(const char *path)
{
    struct store *store = fixture_open(path, STORE_WRITE);
    fill_three_runs(store);
    store_close(store);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "make") == 0)
        return make_database(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),       cmocka_unit_test(test_unknown_fast),
        cmocka_unit_test(test_usages),      cmocka_unit_test(test_throughputs),
        cmocka_unit_test(test_slots_alone), cmocka_unit_test(test_batch),
        cmocka_unit_test(test_append_only), cmocka_unit_test(test_pack),
        cmocka_unit_test(test_version_1),   cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_views),       cmocka_unit_test(test_limits),
        cmocka_unit_test(test_ports_alone), cmocka_unit_test(test_at_rename),
        cmocka_unit_test(test_crowded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
