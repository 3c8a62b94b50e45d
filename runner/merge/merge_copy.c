// SPDX-License-Identifier: MIT
// Copies one run from a database to another, with new ids: into a fresh file when a run is packed,
// out of an untrusted file when packs are merged. So every text and number is checked on its way;
// the tables' own constraints check ranges, for a merge when the file is opened. Canary floors are
// not copied: they steer measurements, and those of another machine must not steer ours. The same
// walk through a run makes the hash of its content.
#include "merge_internal.h"

#include "util/strbuf.h"
#include "util/text.h"

#include <math.h>
#include <sha256.h>
#include <string.h>

struct store_copy {
    struct store *from, *to;
    enum merge_keep keep;
    struct err *err;
    SHA256_CTX *hash; // if not NULL, rows are hashed instead of copied
};

static bool column_is_clean(sqlite3_stmt *row, int column)
{
    return text_is_clean(store_text(row, column), (size_t)sqlite3_column_bytes(row, column));
}

static int copy_refuse(struct store_copy *copy, sqlite3_stmt *row, int column)
{
    return err_set(copy->err,
                   "%s: a value of column %s is malformed (control characters, bad UTF-8, or not a "
                   "finite number); the file is damaged or was not written by latput",
                   copy->from->path, sqlite3_column_name(row, column));
}

// Binds columns 1.. of `row` to the parameters 2.. of `insert`; `rounds` numbers to thousandths,
// far below the noise of any measurement, which archives cannot compress.
static int copy_bind(struct store_copy *copy, sqlite3_stmt *row, sqlite3_stmt *insert, bool rounds)
{
    for (int c = 1; c < sqlite3_column_count(row); c++) {
        sqlite3_value *value = sqlite3_column_value(row, c);
        int type = sqlite3_value_type(value);
        if (type == SQLITE_TEXT && !text_is_clean((const char *)sqlite3_value_text(value),
                                                  (size_t)sqlite3_value_bytes(value)))
            return copy_refuse(copy, row, c);
        if (type == SQLITE_FLOAT && !isfinite(sqlite3_value_double(value)))
            return copy_refuse(copy, row, c);
        int got = type == SQLITE_FLOAT && rounds
                      ? sqlite3_bind_double(insert, c + 1,
                                            nearbyint(sqlite3_value_double(value) * 1000) / 1000)
                      : sqlite3_bind_value(insert, c + 1, value);
        if (got != SQLITE_OK)
            return store_error(copy->to, copy->err, "copy a value");
    }
    return 0;
}

// A table whose rows belong to a row of the table above. `select`: the row's id (or anything, if it
// has none), then the columns; its parameter is the id above. `insert`: the id above, then the
// columns.
struct copy_level {
    const char *select, *insert;
    const struct copy_level *const *children; // ends with NULL; NULL: none
};

static const struct copy_level copy_samples = {
    "SELECT 0, seq, kernel_tsc, before_tsc, after_tsc, canary_tsc, counted_clk FROM sample "
    "WHERE timing_id = ?1 ORDER BY seq",
    "INSERT INTO sample (timing_id, seq, kernel_tsc, before_tsc, after_tsc, canary_tsc, "
    "counted_clk) VALUES (?, ?, ?, ?, ?, ?, ?)",
    NULL};

static const struct copy_level copy_timings = {
    "SELECT timing_id, pass, outcome, detail, iterations, copies, calib_clk, overhead_tsc, "
    "accepted, tried, overhead_counted_clk FROM timing WHERE kernel_id = ?1 ORDER BY timing_id",
    "INSERT INTO timing (kernel_id, pass, outcome, detail, iterations, copies, calib_clk, "
    "overhead_tsc, accepted, tried, overhead_counted_clk) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    (const struct copy_level *const[]){&copy_samples, NULL}
};

static const struct copy_level copy_estimates = {
    "SELECT 0, outcome, instance_clk, spread_clk, accepted, tried, pass, state_share, "
    "calibrated_clk FROM estimate WHERE kernel_id = ?1",
    "INSERT INTO estimate (kernel_id, outcome, instance_clk, spread_clk, accepted, tried, pass, "
    "state_share, calibrated_clk) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    NULL};

static const struct copy_level copy_states = {
    "SELECT 0, position, instance_clk, share, passes FROM estimate_state WHERE kernel_id = ?1 "
    "ORDER BY position",
    "INSERT INTO estimate_state (kernel_id, position, instance_clk, share, passes) "
    "VALUES (?, ?, ?, ?, ?)",
    NULL};

static const struct copy_level copy_kernels = {
    "SELECT kernel_id, position, shape, instances, instrs, extra_clk, outcome, detail, code_bytes, "
    "code FROM kernel WHERE test_id = ?1 ORDER BY position",
    "INSERT INTO kernel (test_id, position, shape, instances, instrs, extra_clk, outcome, detail, "
    "code_bytes, code) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    (const struct copy_level *const[]){&copy_timings, &copy_estimates, &copy_states, NULL}
};

static const struct copy_level copy_results = {
    "SELECT 0, result.outcome, result.detail, value_clk, dense_clk, filled_clk, spread_clk, "
    "accepted, tried, bound, kernel.position, average, least_clk, most_clk, states FROM result "
    "LEFT JOIN kernel "
    "ON kernel.kernel_id = result.kernel_id AND kernel.test_id = result.test_id "
    "WHERE result.test_id = ?1",
    "INSERT INTO result (test_id, outcome, detail, value_clk, dense_clk, filled_clk, spread_clk, "
    "accepted, tried, bound, kernel_id, average, least_clk, most_clk, states) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
    "(SELECT kernel_id FROM kernel WHERE test_id = ?1 AND position = ?11), ?12, ?13, ?14, ?15)",
    NULL};

static const struct copy_level copy_tests = {
    "SELECT test_id, position, kind, src, dst, variant, bound, outcome, detail FROM test "
    "WHERE run_form_id = ?1 ORDER BY position",
    "INSERT INTO test (run_form_id, position, kind, src, dst, variant, bound, outcome, detail) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    (const struct copy_level *const[]){&copy_kernels, &copy_results, NULL}
};

static const struct copy_level copy_port_uses = {
    "SELECT 0, position, ports_mask, name, uops FROM port_use WHERE run_form_id = ?1 "
    "ORDER BY position",
    "INSERT INTO port_use (run_form_id, position, ports_mask, name, uops) VALUES (?, ?, ?, ?, ?)",
    NULL};

static const struct copy_level copy_port_uses_wide = {
    "SELECT 0, position, ports_mask, name, uops FROM port_use_wide WHERE run_form_id = ?1 "
    "ORDER BY position",
    "INSERT INTO port_use_wide (run_form_id, position, ports_mask, name, uops) "
    "VALUES (?, ?, ?, ?, ?)",
    NULL};

static const struct copy_level copy_port_trials = {
    "SELECT 0, position, blocker, instances, blockers, outcome, clk, spread_clk FROM port_trial "
    "WHERE run_form_id = ?1 ORDER BY position",
    "INSERT INTO port_trial (run_form_id, position, blocker, instances, blockers, outcome, clk, "
    "spread_clk) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    NULL};

static const struct copy_level copy_port_trial_counts = {
    "SELECT 0, position, event, uops FROM port_trial_count WHERE run_form_id = ?1 "
    "ORDER BY position, event",
    "INSERT INTO port_trial_count (run_form_id, position, event, uops) VALUES (?, ?, ?, ?)", NULL};

static const struct copy_level copy_port_shares = {
    "SELECT 0, unit, share_clk FROM port_share WHERE run_form_id = ?1 ORDER BY unit",
    "INSERT INTO port_share (run_form_id, unit, share_clk) VALUES (?, ?, ?)", NULL};

static const struct copy_level copy_port_results = {
    "SELECT run_form_id, method, outcome, detail, ambiguous, ports, uops, slots, unit, busy_clk, "
    "residual, whole, beside_clk, slots_mixed, wide, way, decode_clk, stall_clk "
    "FROM port_result WHERE run_form_id = ?1",
    "INSERT INTO port_result (run_form_id, method, outcome, detail, ambiguous, ports, uops, slots, "
    "unit, busy_clk, residual, whole, beside_clk, slots_mixed, wide, way, decode_clk, stall_clk) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    (const struct copy_level *const[]){&copy_port_uses, &copy_port_uses_wide, &copy_port_shares,
                                       &copy_port_trials, &copy_port_trial_counts, NULL}
};

static const struct copy_level copy_roles = {
    "SELECT 0, operand, role FROM operand_role WHERE run_form_id = ?1 ORDER BY operand",
    "INSERT INTO operand_role (run_form_id, operand, role) VALUES (?, ?, ?)", NULL};

// Forms and lists are found by their names, or added.
static const struct copy_level copy_forms = {
    "SELECT run_form_id, run_form.position, isa, form, mnemonic, operands, enc, bits, options, "
    "list.name FROM run_form JOIN form USING (form_id) JOIN list USING (list_id) "
    "WHERE run_id = ?1 ORDER BY run_form_id",
    "INSERT INTO run_form (run_id, position, isa, form_id, list_id) VALUES (?1, ?2, ?3, "
    "(SELECT form_id FROM form WHERE form = ?4 AND enc = ?7 AND bits = ?8), "
    "(SELECT list_id FROM list WHERE name = ?10))",
    (const struct copy_level *const[]){&copy_roles, &copy_tests, &copy_port_results, NULL}
};

// The lists are found or added like forms.
static const struct copy_level copy_lists = {
    "SELECT 0, title, list.name FROM run_list JOIN list USING (list_id) WHERE run_id = ?1 "
    "ORDER BY list.name",
    "INSERT INTO run_list (run_id, title, list_id) VALUES (?1, ?2, "
    "(SELECT list_id FROM list WHERE name = ?3))",
    NULL};

static const struct copy_level copy_warnings = {
    "SELECT 0, text, remedy FROM run_warning WHERE run_id = ?1 ORDER BY text",
    "INSERT INTO run_warning (run_id, text, remedy) VALUES (?, ?, ?)", NULL};

static const struct copy_level copy_run_times = {
    "SELECT 0, position, total_s, measuring_s, programs_s, inferring_s, writing_s, "
    "assembling_s, linking_s, quiet_s, gaps_s, user_cpu_s, kernel_cpu_s, repeats_accepted, "
    "repeats_disturbed, repeats_disagreeing, repeats_uncounted, repeats_too_few FROM "
    "run_time WHERE run_id = ?1 ORDER BY position",
    "INSERT INTO run_time (run_id, position, total_s, measuring_s, programs_s, "
    "inferring_s, writing_s, assembling_s, linking_s, quiet_s, gaps_s, user_cpu_s, "
    "kernel_cpu_s, repeats_accepted, repeats_disturbed, repeats_disagreeing, "
    "repeats_uncounted, repeats_too_few) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
    "?, ?, ?, ?)",
    NULL};

static const struct copy_level copy_run_events = {
    "SELECT 0, position, event, code, backend, counter_table, table_version FROM run_event "
    "WHERE run_id = ?1 ORDER BY position",
    "INSERT INTO run_event (run_id, position, event, code, backend, counter_table, table_version) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)",
    NULL};

static const struct copy_level copy_port_classes = {
    "SELECT 0, position, ports_mask, name, blocker, blocker_clk, members, holds "
    "FROM port_class WHERE run_id = ?1 ORDER BY position",
    "INSERT INTO port_class (run_id, position, ports_mask, name, blocker, blocker_clk, members, "
    "holds) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    NULL};

static const struct copy_level copy_port_units = {
    "SELECT 0, position, name, blocker, blocker_clk, whole_blocker, whole_clk "
    "FROM port_unit WHERE run_id = ?1 ORDER BY position",
    "INSERT INTO port_unit (run_id, position, name, blocker, blocker_clk, "
    "whole_blocker, whole_clk) VALUES (?, ?, ?, ?, ?, ?, ?)",
    NULL};

static const struct copy_level copy_port_names = {
    "SELECT 0, ports_mask, name FROM port_name WHERE run_id = ?1 ORDER BY ports_mask",
    "INSERT INTO port_name (run_id, ports_mask, name) VALUES (?, ?, ?)", NULL};

static const struct copy_level copy_port_probes = {
    "SELECT 0, position, unit, form, share_clk FROM port_probe WHERE run_id = ?1 "
    "ORDER BY position, unit",
    "INSERT INTO port_probe (run_id, position, unit, form, share_clk) VALUES (?, ?, ?, ?, ?)",
    NULL};

static const struct copy_level copy_port_models = {
    "SELECT run_id, width, nports, filler, residual, unexplained, teller, teller_clk, "
    "drawn_seed, fast FROM port_model WHERE run_id = ?1",
    "INSERT INTO port_model (run_id, width, nports, filler, residual, unexplained, "
    "teller, teller_clk, drawn_seed, fast) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    (const struct copy_level *const[]){&copy_port_classes, &copy_port_units, &copy_port_probes,
                                       &copy_port_names, NULL}
};

static const struct copy_level copy_validation_classes = {
    "SELECT 0, class, mixes, mape_percent, within_10_percent FROM validation_class "
    "WHERE validation_id = ?1 ORDER BY class",
    "INSERT INTO validation_class (validation_id, class, mixes, mape_percent, within_10_percent) "
    "VALUES (?, ?, ?, ?, ?)",
    NULL};

static const struct copy_level copy_validation_mixes = {
    "SELECT 0, position, mix, measured_clk, predicted_clk FROM validation_mix "
    "WHERE validation_id = ?1 ORDER BY position",
    "INSERT INTO validation_mix (validation_id, position, mix, measured_clk, predicted_clk) "
    "VALUES (?, ?, ?, ?, ?)",
    NULL};

static const struct copy_level copy_validations = {
    "SELECT validation_id, seed, mixes, mape_percent, kendall_tau, within_10_percent, recorded_utc "
    "FROM validation WHERE run_id = ?1 ORDER BY validation_id",
    "INSERT INTO validation (run_id, seed, mixes, mape_percent, kendall_tau, within_10_percent, "
    "recorded_utc) VALUES (?, ?, ?, ?, ?, ?, ?)",
    (const struct copy_level *const[]){&copy_validation_classes, &copy_validation_mixes, NULL}
};

static const struct copy_level copy_bench_threads = {
    "SELECT 0, thread, cpu, instance_clk, median_clk, spread_clk, accepted, tried, passes "
    "FROM bench_thread WHERE bench_id = ?1 ORDER BY thread",
    "INSERT INTO bench_thread (bench_id, thread, cpu, instance_clk, median_clk, spread_clk, "
    "accepted, tried, passes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    NULL};

static const struct copy_level copy_bench_metrics = {
    "SELECT 0, position, kind, name, code, backend, table_version FROM bench_metric "
    "WHERE bench_id = ?1 ORDER BY position",
    "INSERT INTO bench_metric (bench_id, position, kind, name, code, backend, table_version) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)",
    NULL};

static const struct copy_level copy_bench_repetitions = {
    "SELECT 0, seq, thread, pass, repetition, cold, accepted, tried, late_ns, elapsed_tsc, "
    "elapsed_clk FROM bench_repetition WHERE bench_id = ?1 ORDER BY seq",
    "INSERT INTO bench_repetition (bench_id, seq, thread, pass, repetition, cold, accepted, tried, "
    "late_ns, elapsed_tsc, elapsed_clk) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    NULL};

static const struct copy_level copy_bench_values = {
    "SELECT 0, seq, position, value FROM bench_value WHERE bench_id = ?1 ORDER BY seq, position",
    "INSERT INTO bench_value (bench_id, seq, position, value) VALUES (?, ?, ?, ?)", NULL};

static const struct copy_level copy_benches = {
    "SELECT bench_id, position, label, source, code, file, file_sha256, symbol, cflags, compiler, "
    "init, mode, breakers, bits, instances, copies, iterations, cold, pass, outcome, detail, "
    "code_bytes, machine_code FROM bench WHERE run_id = ?1 ORDER BY position",
    "INSERT INTO bench (run_id, position, label, source, code, file, file_sha256, symbol, cflags, "
    "compiler, init, mode, breakers, bits, instances, copies, iterations, cold, pass, outcome, "
    "detail, code_bytes, machine_code) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    (const struct copy_level *const[]){&copy_bench_threads, &copy_bench_metrics,
                                       &copy_bench_repetitions, &copy_bench_values, NULL}
};

static const struct copy_level copy_sweep_samples = {
    "SELECT 0, seq, kernel_tsc, before_tsc, after_tsc, canary_tsc FROM sweep_sample "
    "WHERE timing_id = ?1 ORDER BY seq",
    "INSERT INTO sweep_sample (timing_id, seq, kernel_tsc, before_tsc, after_tsc, canary_tsc) "
    "VALUES (?, ?, ?, ?, ?, ?)",
    NULL};

static const struct copy_level copy_sweep_timings = {
    "SELECT timing_id, pass, iterations, copies, calib_clk, overhead_tsc, accepted, tried "
    "FROM sweep_timing WHERE point_id = ?1 ORDER BY timing_id",
    "INSERT INTO sweep_timing (point_id, pass, iterations, copies, calib_clk, overhead_tsc, "
    "accepted, tried) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    (const struct copy_level *const[]){&copy_sweep_samples, NULL}
};

static const struct copy_level copy_sweep_values = {
    "SELECT 0, y, samples FROM sweep_value WHERE point_id = ?1",
    "INSERT INTO sweep_value (point_id, y, samples) VALUES (?, ?, ?)", NULL};

static const struct copy_level copy_sweep_points = {
    "SELECT point_id, position, x, by_x, instances, outcome, detail FROM sweep_point "
    "WHERE variant_id = ?1 ORDER BY position, point_id",
    "INSERT INTO sweep_point (variant_id, position, x, by_x, instances, outcome, detail) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)",
    (const struct copy_level *const[]){&copy_sweep_timings, &copy_sweep_values, NULL}
};

static const struct copy_level copy_property_variants = {
    "SELECT variant_id, position, name, outcome, detail FROM property_variant "
    "WHERE property_id = ?1 ORDER BY position",
    "INSERT INTO property_variant (property_id, position, name, outcome, detail) "
    "VALUES (?, ?, ?, ?, ?)",
    (const struct copy_level *const[]){&copy_sweep_points, NULL}
};

static const struct copy_level copy_conclusion_values = {
    "SELECT 0, position, label, value, low, high, unit FROM conclusion_value "
    "WHERE conclusion_id = ?1 ORDER BY position",
    "INSERT INTO conclusion_value (conclusion_id, position, label, value, low, high, unit) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)",
    NULL};

static const struct copy_level copy_conclusions = {
    "SELECT conclusion_id, position, variant, outcome, confidence, sentence FROM conclusion "
    "WHERE property_id = ?1 ORDER BY position",
    "INSERT INTO conclusion (property_id, position, variant, outcome, confidence, sentence) "
    "VALUES (?, ?, ?, ?, ?, ?)",
    (const struct copy_level *const[]){&copy_conclusion_values, NULL}
};

static const struct copy_level copy_properties = {
    "SELECT property_id, position, grp, name, title, question, x_unit, by_unit, y_unit, reading, "
    "compare, definition, tsc_hz, area_bytes, area_huge_bytes, seconds, outcome, detail, vm "
    "FROM property WHERE run_id = ?1 ORDER BY position",
    "INSERT INTO property (run_id, position, grp, name, title, question, x_unit, by_unit, y_unit, "
    "reading, compare, definition, tsc_hz, area_bytes, area_huge_bytes, seconds, outcome, detail, "
    "vm) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    (const struct copy_level *const[]){&copy_property_variants, &copy_conclusions, NULL}
};

static const struct copy_level copy_leaves = {
    "SELECT 0, leaf, subleaf, eax, ebx, ecx, edx FROM cpuid_leaf WHERE cpu_id = ?1 "
    "ORDER BY leaf, subleaf",
    "INSERT INTO cpuid_leaf (cpu_id, leaf, subleaf, eax, ebx, ecx, edx) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)",
    NULL};

static const struct copy_level copy_caches = {
    "SELECT 0, level, type, size_bytes, ways, line_bytes, sharing FROM cpu_cache "
    "WHERE cpu_id = ?1 ORDER BY level, type",
    "INSERT INTO cpu_cache (cpu_id, level, type, size_bytes, ways, line_bytes, sharing) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)",
    NULL};

static int copy_insert(struct store_copy *copy, sqlite3_stmt *row, const char *sql, int64_t above,
                       int64_t *id)
{
    sqlite3_stmt *insert = store_prepare(copy->to, copy->err, sql);
    if (!insert)
        return -1;
    bool rounds = copy->keep == MERGE_KEEP_RESULTS &&
                  (sql == copy_results.insert || sql == copy_port_results.insert);
    sqlite3_bind_int64(insert, 1, above);
    if (copy_bind(copy, row, insert, rounds) != 0)
        return -1;
    int got = sqlite3_step(insert);
    int result = 0;
    if ((got & 0xff) == SQLITE_CONSTRAINT)
        result = err_set(copy->err,
                         "%s: holds a value out of range (%s); the file is damaged or was not "
                         "written by latput",
                         copy->from->path, sqlite3_errmsg(copy->to->db));
    else if (got != SQLITE_DONE)
        result = store_error(copy->to, copy->err, "copy a row");
    sqlite3_reset(insert);
    sqlite3_clear_bindings(insert);
    *id = sqlite3_last_insert_rowid(copy->to->db);
    return result;
}

static int copy_rows(struct store_copy *copy, const struct copy_level *level, int64_t from,
                     int64_t to);

static int copy_list_name(struct store_copy *copy, sqlite3_stmt *row, int column)
{
    if (!column_is_clean(row, column))
        return copy_refuse(copy, row, column);
    return store_execute(copy->to, copy->err, "INSERT OR IGNORE INTO list (name) VALUES (?)", "s",
                         store_text(row, column));
}

static int copy_names(struct store_copy *copy, sqlite3_stmt *row)
{
    static const char add_form[] =
        "INSERT OR IGNORE INTO form (form, mnemonic, operands, enc, bits, "
        "options) VALUES (?, ?, ?, ?, ?, ?)";
    for (int c = 2; c <= 8; c++) // before rows are looked up by them
        if (sqlite3_column_type(row, c) == SQLITE_TEXT && !column_is_clean(row, c))
            return copy_refuse(copy, row, c);
    if (store_execute(copy->to, copy->err, add_form, "ssssis", store_text(row, 3),
                      store_text(row, 4), store_text(row, 5), store_text(row, 6),
                      (int64_t)sqlite3_column_int64(row, 7), store_text(row, 8)) != 0)
        return -1;
    return copy_list_name(copy, row, 9);
}

// Returns true if merging derives the rows again, from others that are hashed: another version of
// latput may derive something else.
static bool copy_is_made_again(const struct store_copy *copy, const struct copy_level *level)
{
    return level == &copy_conclusions || (copy->keep == MERGE_KEEP_SAMPLES &&
                                          (level == &copy_results || level == &copy_estimates ||
                                           level == &copy_states || level == &copy_sweep_values));
}

static bool copy_wants(const struct store_copy *copy, const struct copy_level *level)
{
    if (copy->hash && copy_is_made_again(copy, level))
        return false;
    // A pass says nothing without its samples; a pass of a sweep still says which points were
    // measured.
    if (level == &copy_timings || level == &copy_samples || level == &copy_sweep_samples)
        return copy->keep == MERGE_KEEP_SAMPLES;
    if (level == &copy_kernels || level == &copy_port_trials || level == &copy_sweep_timings)
        return copy->keep >= MERGE_KEEP_KERNELS;
    return true;
}

// Hashes the columns 1.. of a row, with their types and lengths, except the description of a form,
// which its first run in a database gives for all, and the number of the deciding kernel, which
// belongs to the kernels.
static void copy_digest(struct store_copy *copy, const struct copy_level *level, sqlite3_stmt *row)
{
    for (int c = 1; c < sqlite3_column_count(row); c++) {
        if ((level == &copy_forms && (c == 4 || c == 5 || c == 8)) ||
            (level == &copy_results && c == 10))
            continue;
        int type = sqlite3_column_type(row, c);
        double real = sqlite3_column_double(row, c);
        if (level == &copy_results || level == &copy_port_results)
            real = nearbyint(real * 1000); // precision of a run kept without kernels
        const void *bytes = type == SQLITE_FLOAT ? &real : sqlite3_column_blob(row, c);
        int64_t head[2] = {type,
                           type == SQLITE_FLOAT ? (int)sizeof real : sqlite3_column_bytes(row, c)};
        SHA256Update(copy->hash, (const uint8_t *)head, sizeof head);
        if (bytes)
            SHA256Update(copy->hash, bytes, (size_t)head[1]);
    }
}

static int copy_row(struct store_copy *copy, const struct copy_level *level, sqlite3_stmt *row,
                    int64_t to)
{
    int64_t id = 0, own = sqlite3_column_int64(row, 0);
    if (copy->hash)
        copy_digest(copy, level, row);
    else if ((level == &copy_forms && copy_names(copy, row) != 0) ||
             (level == &copy_lists && copy_list_name(copy, row, 2) != 0) ||
             copy_insert(copy, row, level->insert, to, &id) != 0)
        return -1;
    for (int i = 0; level->children && level->children[i]; i++)
        if (copy_wants(copy, level->children[i]) &&
            copy_rows(copy, level->children[i], own, id) != 0)
            return -1;
    return 0;
}

static int copy_rows(struct store_copy *copy, const struct copy_level *level, int64_t from,
                     int64_t to)
{
    sqlite3_stmt *row = store_bind(copy->from, copy->err, level->select, "i", from);
    if (!row)
        return -1;
    if (copy->hash)
        SHA256Update(copy->hash, (const uint8_t *)level->select, strlen(level->select));
    int got, result = 0;
    while (result == 0 && (got = sqlite3_step(row)) == SQLITE_ROW)
        result = copy_row(copy, level, row, to);
    if (result == 0 && got != SQLITE_DONE)
        result = store_error(copy->from, copy->err, "read");
    sqlite3_reset(row);
    return result;
}

// Checks that the CPU's identity is the hash of its columns, or rows of two CPUs could pass for
// one.
static int copy_check_identity(struct store_copy *copy, int64_t cpu_id, char identity[65])
{
    sqlite3_stmt *row = store_bind(
        copy->from, copy->err,
        "SELECT identity, concat_lines FROM (SELECT identity, vendor || char(10) || brand || "
        "char(10) || signature || char(10) || family || char(10) || model || char(10) || stepping "
        "|| char(10) || core_type || char(10) || native_model || char(10) || uarch || "
        "iif(inferred, '?', '') || char(10) || "
        "uarch_name || char(10) || microcode || char(10) || hypervisor || char(10) || "
        "tsc_invariant || char(10) || features || char(10) AS concat_lines FROM cpu "
        "WHERE cpu_id = ?1)",
        "i", cpu_id);
    if (!row)
        return -1;
    int got = sqlite3_step(row);
    const char *stored = got == SQLITE_ROW ? (const char *)sqlite3_column_text(row, 0) : NULL;
    const char *text = got == SQLITE_ROW ? (const char *)sqlite3_column_text(row, 1) : NULL;
    int result = 0;
    if (!stored || !text) {
        result = err_set(copy->err, "%s: has no CPU for its run", copy->from->path);
    } else {
        store_sha256(text, strlen(text), identity);
        if (strcmp(identity, stored) != 0)
            result =
                err_set(copy->err, "%s: the identity of its CPU does not fit the CPU's columns",
                        copy->from->path);
    }
    sqlite3_reset(row);
    return result;
}

static int copy_cpu(struct store_copy *copy, int64_t cpu_id, int64_t *new_id)
{
    static const char select[] =
        "SELECT 0, identity, vendor, brand, signature, family, model, stepping, core_type, "
        "native_model, uarch, uarch_name, microcode, hypervisor, tsc_invariant, features, "
        "inferred FROM cpu WHERE cpu_id = ?1";
    static const char insert[] =
        "INSERT INTO cpu (cpu_id, identity, vendor, brand, signature, family, model, stepping, "
        "core_type, native_model, uarch, uarch_name, microcode, hypervisor, tsc_invariant, "
        "features, inferred) "
        "VALUES (nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    char identity[65];
    if (copy_check_identity(copy, cpu_id, identity) != 0)
        return -1;
    int found = store_get_int(copy->to, copy->err, new_id,
                              "SELECT cpu_id FROM cpu WHERE identity = ?1", "s", identity);
    if (found != 0)
        return found < 0 ? -1 : 0;
    sqlite3_stmt *row = store_bind(copy->from, copy->err, select, "i", cpu_id);
    if (!row || sqlite3_step(row) != SQLITE_ROW)
        return store_error(copy->from, copy->err, "read its CPU");
    int result = copy_insert(copy, row, insert, 0, new_id);
    sqlite3_reset(row);
    if (result == 0)
        result = copy_rows(copy, &copy_leaves, cpu_id, *new_id);
    return result == 0 ? copy_rows(copy, &copy_caches, cpu_id, *new_id) : -1;
}

static const struct copy_level copy_runs = {
    "SELECT cpu_id, uuid, version, nasm_version, os_kernel, backend, lists, tables, frequency, "
    "selection, tsc_hz, core_hz, overhead_tsc, issue_width, calib_link_clk, measuring_cpu, "
    "started_utc, finished_utc, kernels, seconds, claimed_uarch, decided, evidence, "
    "measured_width FROM run WHERE run_id = ?1",
    "INSERT INTO run (cpu_id, uuid, version, nasm_version, os_kernel, backend, lists, tables, "
    "frequency, selection, tsc_hz, core_hz, overhead_tsc, issue_width, calib_link_clk, "
    "measuring_cpu, started_utc, finished_utc, kernels, seconds, claimed_uarch, decided, "
    "evidence, measured_width) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    NULL};

static int copy_run_row(struct store_copy *copy, int64_t run_id, int64_t *new_id)
{
    sqlite3_stmt *row = store_bind(copy->from, copy->err, copy_runs.select, "i", run_id);
    if (!row)
        return -1;
    if (sqlite3_step(row) != SQLITE_ROW) {
        sqlite3_reset(row);
        return err_set(copy->err, "%s: has no run %lld", copy->from->path, (long long)run_id);
    }
    int64_t cpu_id;
    int result = copy_cpu(copy, sqlite3_column_int64(row, 0), &cpu_id);
    if (result == 0)
        result = copy_insert(copy, row, copy_runs.insert, cpu_id, new_id);
    sqlite3_reset(row);
    return result;
}

// Tables below a run: first its measurements, then remarks that may come later or from a merge.
static const struct copy_level *const copy_measured[] = {
    &copy_run_events, &copy_lists, &copy_forms, &copy_port_models, &copy_benches, &copy_properties};
static const struct copy_level *const copy_said[] = {&copy_warnings, &copy_run_times,
                                                     &copy_validations};

int merge_copy_run(struct store *from, int64_t run_id, enum merge_keep keep, struct store *to,
                   int64_t *new_id, struct err *err)
{
    struct store_copy copy = {from, to, keep, err, NULL};
    bool own;
    if (store_unit_begin(to, &own, err) != 0)
        return -1;
    int result = copy_run_row(&copy, run_id, new_id);
    for (size_t i = 0; i < ARRAY_LEN(copy_measured) && result == 0; i++)
        result = copy_rows(&copy, copy_measured[i], run_id, *new_id);
    for (size_t i = 0; i < ARRAY_LEN(copy_said) && result == 0; i++)
        result = copy_rows(&copy, copy_said[i], run_id, *new_id);
    return store_unit_end(to, own, result, err);
}

int merge_hash_run(struct store *store, int64_t run_id, enum merge_keep keep, char hex[65],
                   struct err *err)
{
    SHA256_CTX hash;
    struct store_copy copy = {store, NULL, keep, err, &hash};
    char identity[65];
    int64_t cpu_id = 0;
    SHA256Init(&hash);
    if (store_get_int(store, err, &cpu_id, "SELECT cpu_id FROM run WHERE run_id = ?1", "i",
                      run_id) < 0 ||
        copy_check_identity(&copy, cpu_id, identity) != 0 ||
        copy_rows(&copy, &copy_runs, run_id, 0) != 0)
        return -1;
    SHA256Update(&hash, (const uint8_t *)identity, strlen(identity));
    for (size_t i = 0; i < ARRAY_LEN(copy_measured); i++)
        if (copy_rows(&copy, copy_measured[i], run_id, 0) != 0)
            return -1;
    SHA256End(&hash, hex);
    return 0;
}
