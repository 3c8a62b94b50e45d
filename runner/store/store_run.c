// SPDX-License-Identifier: MIT
// CPUs, canary floors and runs in the database; see store_cpu.h and store_run.h.
#include "store_internal.h"

#include "core/core_abi.h"
#include "store_cpu.h"
#include "store_run.h"
#include "util/mem.h"
#include "util/strbuf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

// Writes the names of its features as in the column cpu.features.
static void store_cpu_features(const struct cpu_info *cpu, struct strbuf *text)
{
    strbuf_puts(text, "");
    for (int i = 0; i < CPU_FEATURES_MAX && feature_name(i); i++)
        if (cpu->features[i])
            strbuf_printf(text, "%s%s", text->len ? " " : "", feature_name(i));
}

sqlite3_stmt *store_bind_cpu(struct store *store, const char *sql, const struct cpu_info *cpu,
                             struct strbuf *features, struct err *err)
{
    store_cpu_features(cpu, features);
    return store_bind(store, err, sql, "sisiiss", cpu->vendor, (int64_t)cpu->signature, cpu->brand,
                      (int64_t)cpu->core_type, (int64_t)cpu->native_model, cpu->hypervisor,
                      features->data);
}

// Hashes the columns of the row, so that a CPU has the same row in any file.
static void store_cpu_identity(const struct cpu_info *cpu, const char *features, char hex[65])
{
    struct strbuf text = {0};
    strbuf_printf(&text, "%s\n%s\n%u\n%d\n%d\n%d\n%d\n%u\n%s\n%s\n%u\n%s\n%d\n%s\n", cpu->vendor,
                  cpu->brand, cpu->signature, cpu->family, cpu->model, cpu->stepping,
                  cpu->core_type, cpu->native_model, cpu->uarch, cpu->uarch_name, cpu->microcode,
                  cpu->hypervisor, cpu->tsc_invariant, features);
    store_sha256(text.data, text.len, hex);
    strbuf_free(&text);
}

static int store_put_leaves(struct store *store, const struct cpu_info *cpu, int64_t cpu_id,
                            struct err *err)
{
    for (int i = 0; i < cpu->nleaves; i++) {
        const struct cpuid_leaf *leaf = &cpu->leaves[i];
        if (leaf->leaf == 3) // processor serial number: identifies the machine, not the model
            continue;
        if (store_execute(
                store, err, "INSERT OR IGNORE INTO cpuid_leaf VALUES (?, ?, ?, ?, ?, ?, ?)",
                "iiiiiii", cpu_id, (int64_t)leaf->leaf, (int64_t)leaf->subleaf, (int64_t)leaf->eax,
                (int64_t)leaf->ebx, (int64_t)leaf->ecx, (int64_t)leaf->edx) != 0)
            return -1;
    }
    for (int i = 0; i < cpu->ncaches; i++) {
        const struct cpu_cache *cache = &cpu->caches[i];
        char type[2] = {cache->type, '\0'};
        if (store_execute(
                store, err, "INSERT OR IGNORE INTO cpu_cache VALUES (?, ?, ?, ?, ?, ?, ?)",
                "iisiiii", cpu_id, (int64_t)cache->level, type, (int64_t)cache->bytes,
                (int64_t)cache->ways, (int64_t)cache->line_bytes, (int64_t)cache->sharing) != 0)
            return -1;
    }
    return 0;
}

static int store_add_cpu(struct store *store, const struct cpu_info *cpu, const char *identity,
                         const char *features, int64_t *cpu_id, struct err *err)
{
    char key[sizeof cpu->uarch];
    cpu_uarch_key(cpu->uarch, key, sizeof key);
    if (store_execute(
            store, err,
            "INSERT INTO cpu (identity, vendor, brand, signature, family, model, stepping, "
            "core_type, native_model, uarch, uarch_name, microcode, hypervisor, "
            "tsc_invariant, features, inferred) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            "sssiiiiiissisisi", identity, cpu->vendor, cpu->brand, (int64_t)cpu->signature,
            (int64_t)cpu->family, (int64_t)cpu->model, (int64_t)cpu->stepping,
            (int64_t)cpu->core_type, (int64_t)cpu->native_model, key, cpu->uarch_name,
            (int64_t)cpu->microcode, cpu->hypervisor, (int64_t)cpu->tsc_invariant, features,
            (int64_t)(strcmp(key, cpu->uarch) != 0)) != 0)
        return -1;
    *cpu_id = sqlite3_last_insert_rowid(store->db);
    return store_put_leaves(store, cpu, *cpu_id, err);
}

int store_put_cpu(struct store *store, const struct cpu_info *cpu, int64_t *cpu_id, struct err *err)
{
    struct strbuf features = {0};
    char identity[65];
    store_cpu_features(cpu, &features);
    store_cpu_identity(cpu, features.data, identity);
    bool own;
    int result = store_unit_begin(store, &own, err);
    if (result == 0) {
        int found = store_get_int(store, err, cpu_id, "SELECT cpu_id FROM cpu WHERE identity = ?1",
                                  "s", identity);
        result = found == 0 ? store_add_cpu(store, cpu, identity, features.data, cpu_id, err)
                            : (found < 0 ? -1 : 0);
        result = store_unit_end(store, own, result, err);
    }
    strbuf_free(&features);
    return result;
}

char *store_uarch_here(struct store *store, const struct cpu_info *cpu, struct err *err)
{
    if (cpu->decision == CPU_DECIDED_OVERRIDE)
        return xstrdup(cpu->uarch);
    struct strbuf features = {0};
    sqlite3_stmt *stmt =
        store_bind_cpu(store,
                       "SELECT uarch || iif(inferred, '?', '') FROM run JOIN cpu USING (cpu_id) "
                       "WHERE " STORE_THIS_CPU "AND " STORE_RUN_IS_OWN " AND decided <> 'override' "
                       "ORDER BY started_utc DESC, run_id DESC LIMIT 1",
                       cpu, &features, err);
    char *uarch = NULL;
    int got = stmt ? sqlite3_step(stmt) : SQLITE_ERROR;
    if (got == SQLITE_ROW)
        uarch = xstrdup(store_text(stmt, 0));
    else if (got == SQLITE_DONE)
        uarch = xstrdup(cpu->uarch);
    else if (stmt)
        store_error(store, err, "read what this CPU is");
    sqlite3_reset(stmt);
    strbuf_free(&features);
    return uarch;
}

int store_get_floor(struct store *store, int64_t cpu_id, struct canary_floor *floor,
                    struct err *err)
{
    sqlite3_stmt *stmt = store_bind(store, err,
                                    "SELECT canary, instr_clk, issue_width FROM canary_floor "
                                    "WHERE cpu_id IN " STORE_SAME_MACHINE "AND issue_width > 0 "
                                    "ORDER BY canary_floor_id DESC LIMIT 1",
                                    "i", cpu_id);
    if (!stmt)
        return -1;
    int got = sqlite3_step(stmt);
    if (got == SQLITE_ROW) {
        floor->canary = sqlite3_column_int(stmt, 0);
        floor->clk_per_instr = sqlite3_column_double(stmt, 1);
        floor->issue_width = sqlite3_column_int(stmt, 2);
    }
    int result = got == SQLITE_ROW    ? 1
                 : got == SQLITE_DONE ? 0
                                      : store_error(store, err, "read the canary's floor");
    sqlite3_reset(stmt);
    return result;
}

int store_width_here(struct store *store, const struct cpu_info *cpu, int *width, struct err *err)
{
    struct strbuf features = {0};
    sqlite3_stmt *stmt =
        store_bind_cpu(store,
                       "SELECT issue_width FROM canary_floor JOIN cpu USING (cpu_id) "
                       "WHERE " STORE_THIS_CPU "AND issue_width > 0 "
                       "ORDER BY canary_floor_id DESC LIMIT 1",
                       cpu, &features, err);
    int got = stmt ? sqlite3_step(stmt) : SQLITE_ERROR;
    int result = got == SQLITE_ROW ? 1 : got == SQLITE_DONE ? 0 : -1;
    if (result == 1)
        *width = sqlite3_column_int(stmt, 0);
    else if (result < 0 && stmt)
        store_error(store, err, "read the width of this CPU");
    sqlite3_reset(stmt);
    strbuf_free(&features);
    return result;
}

int store_put_floor(struct store *store, int64_t cpu_id, const struct canary_floor *floor,
                    struct err *err)
{
    char now[32];
    store_now_utc(now);
    return store_execute(
        store, err,
        "INSERT INTO canary_floor (cpu_id, canary, instr_clk, issue_width, method, "
        "recorded_utc) VALUES (?, ?, ?, ?, 'mode', ?)",
        "iidis", cpu_id, (int64_t)floor->canary, floor->clk_per_instr, (int64_t)floor->issue_width,
        now);
}

static int store_make_uuid(char hex[33], struct err *err)
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return err_set(err, "cannot get random bytes for the identity of the run: %s",
                       strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

static int store_put_run_events(struct store *store, int64_t run_id, const struct run_info *info,
                                struct err *err)
{
    for (int i = 0; i < info->nevents; i++) {
        const struct run_event *event = &info->events[i];
        if (store_execute(store, err,
                          "INSERT INTO run_event (run_id, position, event, code, backend, "
                          "counter_table, table_version) VALUES (?, ?, ?, ?, ?, ?, ?)",
                          "iisssss", run_id, (int64_t)i, event->event, event->code, event->backend,
                          event->counter_table, event->table_version) != 0)
            return -1;
    }
    return 0;
}

static int store_put_run(struct store *store, int64_t cpu_id, const struct run_info *info,
                         int64_t *run_id, struct err *err)
{
    char now[32], uuid[33];
    store_now_utc(now);
    if (store_make_uuid(uuid, err) != 0)
        return -1;
    if (store_execute(store, err,
                      "INSERT INTO run (uuid, cpu_id, version, nasm_version, os_kernel, backend, "
                      "lists, tables, frequency, selection, tsc_hz, core_hz, overhead_tsc, "
                      "issue_width, calib_link_clk, measuring_cpu, started_utc, claimed_uarch, "
                      "decided, evidence, measured_width) "
                      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                      "nullif(?, 0))",
                      "sissssssssdddiiissssi", uuid, cpu_id, info->version, info->nasm_version,
                      info->os_kernel, info->backend, info->lists, info->tables, info->frequency,
                      info->selection, info->tsc_hz, info->core_hz, info->overhead_tsc,
                      (int64_t)info->issue_width, (int64_t)info->calib_link_clk,
                      (int64_t)info->measuring_cpu, now,
                      info->claimed_uarch ? info->claimed_uarch : "unknown",
                      info->decided ? info->decided : "unknown",
                      info->evidence ? info->evidence : "", (int64_t)info->measured_width) != 0)
        return -1;
    *run_id = sqlite3_last_insert_rowid(store->db);
    return 0;
}

int store_run_begin(struct store *store, int64_t cpu_id, const struct run_info *info,
                    int64_t *run_id, struct err *err)
{
    bool own;
    if (store_unit_begin(store, &own, err) != 0)
        return -1;
    int result = store_put_run(store, cpu_id, info, run_id, err);
    if (result == 0)
        result = store_put_run_events(store, *run_id, info, err);
    return store_unit_end(store, own, result, err);
}

int store_run_resume(struct store *store, int64_t cpu_id, const struct run_info *info,
                     int64_t *run_id, struct err *err)
{
    return store_get_int(
        store, err, run_id,
        "SELECT run_id FROM run WHERE (cpu_id = ?1 OR (cpu_id IN " STORE_SAME_MACHINE
        "AND 'override' NOT IN (decided, ?2))) "
        "AND version = ? AND lists = ? AND backend = ? AND selection = ? "
        "AND finished_utc IS NULL ORDER BY started_utc DESC, run_id DESC LIMIT 1",
        "isssss", cpu_id, info->decided ? info->decided : "unknown", info->version, info->lists,
        info->backend, info->selection);
}

int store_run_file(struct store *store, int64_t run_id, const struct cpu_info *cpu, int issue_width,
                   struct err *err)
{
    char evidence[2600];
    int64_t cpu_id;
    bool own;
    if (store_unit_begin(store, &own, err) != 0)
        return -1;
    int result = store_put_cpu(store, cpu, &cpu_id, err);
    if (result == 0)
        result = store_execute(store, err,
                               "UPDATE run SET cpu_id = ?, claimed_uarch = ?, decided = ?, "
                               "evidence = ?, measured_width = nullif(?, 0), issue_width = ? "
                               "WHERE run_id = ?",
                               "isssiii", cpu_id, cpu->claim, cpu_decision_name(cpu->decision),
                               cpu_evidence_text(cpu, evidence, sizeof evidence),
                               (int64_t)cpu->measured_width, (int64_t)issue_width, run_id);
    return store_unit_end(store, own, result, err);
}

int store_run_rate(struct store *store, int64_t run_id, double most, double *rate, struct err *err)
{
    sqlite3_stmt *stmt =
        store_bind(store, err,
                   "SELECT max(1 / value_clk) FROM run_form JOIN test USING (run_form_id) "
                   "JOIN result USING (test_id) WHERE run_id = ?1 AND kind = 'throughput' "
                   "AND result.outcome = 'ok' AND value_clk > 0 AND 1 / value_clk <= ?2",
                   "id", run_id, most);
    if (!stmt)
        return -1;
    int got = sqlite3_step(stmt);
    *rate = got == SQLITE_ROW ? sqlite3_column_double(stmt, 0) : 0;
    int result = got == SQLITE_ROW ? 0 : store_error(store, err, "read how fast the core was");
    sqlite3_reset(stmt);
    return result;
}

int store_put_run_time(struct store *store, int64_t run_id, const struct spent *spent,
                       struct err *err)
{
    const double *on = spent->on;
    return store_execute(
        store, err,
        "INSERT INTO run_time (run_id, position, total_s, measuring_s, programs_s, inferring_s, "
        "writing_s, assembling_s, linking_s, quiet_s, gaps_s, user_cpu_s, kernel_cpu_s, "
        "repeats_accepted, repeats_disturbed, repeats_disagreeing, repeats_uncounted, "
        "repeats_too_few) SELECT ?1, count(*), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, "
        "?14, ?15, ?16, ?17 FROM run_time WHERE run_id = ?1",
        "idddddddddddiiiii", run_id, spent->at_s, on[SPENT_MEASURING], on[SPENT_PROGRAMS],
        on[SPENT_INFERRING], on[SPENT_WRITING], on[SPENT_ASSEMBLING], on[SPENT_LINKING],
        on[SPENT_QUIET], on[SPENT_GAPS], on[SPENT_USER], on[SPENT_KERNEL],
        (int64_t)on[SPENT_ACCEPTED], (int64_t)on[SPENT_REFUSED + CORE_REFUSED_CANARY],
        (int64_t)on[SPENT_REFUSED + CORE_REFUSED_CALIB],
        (int64_t)on[SPENT_REFUSED + CORE_REFUSED_COUNTER],
        (int64_t)on[SPENT_REFUSED + CORE_REFUSED_FEW]);
}

int store_run_finish(struct store *store, int64_t run_id, int64_t kernels, double seconds,
                     struct err *err)
{
    char now[32];
    store_now_utc(now);
    int result = store_execute(store, err,
                               "UPDATE run SET finished_utc = ?, kernels = ?, seconds = ? "
                               "WHERE run_id = ?",
                               "sidi", now, kernels, seconds, run_id);
    bool committed = sqlite3_get_autocommit(store->db);
    return result == 0 && committed ? store_check_place(store, err) : result;
}

int store_run_warning(struct store *store, int64_t run_id, const char *text, const char *remedy,
                      struct err *err)
{
    return store_execute(store, err,
                         "INSERT OR IGNORE INTO run_warning (run_id, text, remedy) "
                         "VALUES (?, ?, ?)",
                         "iss", run_id, text, remedy);
}

int store_run_summary(struct store *store, int64_t run_id, int64_t counts[OUTCOME_COUNT],
                      int64_t *forms, struct err *err)
{
    memset(counts, 0, OUTCOME_COUNT * sizeof counts[0]);
    if (store_get_int(store, err, forms, "SELECT count(*) FROM run_form WHERE run_id = ?1", "i",
                      run_id) < 0)
        return -1;
    sqlite3_stmt *stmt =
        store_bind(store, err,
                   "SELECT outcome, count(*) FROM ("
                   "SELECT result.outcome FROM run_form JOIN test USING (run_form_id) "
                   "JOIN result USING (test_id) WHERE run_form.run_id = ?1 UNION ALL "
                   "SELECT outcome FROM run_form JOIN port_result USING (run_form_id) "
                   "WHERE run_id = ?1) GROUP BY outcome",
                   "i", run_id);
    if (!stmt)
        return -1;
    int got;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW) {
        int outcome = outcome_parse(store_text(stmt, 0));
        if (outcome >= 0)
            counts[outcome] = sqlite3_column_int64(stmt, 1);
    }
    int result = got == SQLITE_DONE ? 0 : store_error(store, err, "count results");
    sqlite3_reset(stmt);
    return result;
}

int store_run_scattered(struct store *store, int64_t run_id, int64_t *tests, struct err *err)
{
    return store_get_int(store, err, tests,
                         "SELECT count(*) FROM run_form JOIN test USING (run_form_id) "
                         "JOIN result USING (test_id) WHERE run_id = ?1 AND kind = 'throughput' "
                         "AND result.outcome = 'ok' AND " STORE_SCATTERED,
                         "i", run_id) < 0
               ? -1
               : 0;
}

int store_run_doubts(struct store *store, int64_t run_id, struct store_doubts *doubts,
                     struct err *err)
{
    sqlite3_stmt *stmt = store_bind(store, err,
                                    "SELECT total(NOT contradiction), "
                                    "total(differs AND NOT contradiction), total(contradiction) "
                                    "FROM (SELECT differs, other_way IN ('chain', 'cycle') "
                                    "AS contradiction FROM run_doubt_table WHERE run_id = ?1)",
                                    "i", run_id);
    if (!stmt)
        return -1;
    bool got = sqlite3_step(stmt) == SQLITE_ROW;
    if (got)
        *doubts =
            (struct store_doubts){sqlite3_column_int64(stmt, 0), sqlite3_column_int64(stmt, 1),
                                  sqlite3_column_int64(stmt, 2)};
    int result = got ? 0 : store_error(store, err, "count doubts");
    sqlite3_reset(stmt);
    return result;
}
