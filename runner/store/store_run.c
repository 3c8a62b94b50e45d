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
#include <stdlib.h>
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
    return store_bind(store, err, sql, "sisiissi", cpu->vendor, (int64_t)cpu->signature, cpu->brand,
                      (int64_t)cpu->core_type, (int64_t)cpu->native_model, cpu->hypervisor,
                      features->data, (int64_t)cpu_lacks_l3(cpu));
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

int store_of_this_cpu(struct store *store, const char *sql, const struct cpu_info *cpu,
                      char **value, struct err *err)
{
    struct strbuf features = {0};
    sqlite3_stmt *stmt = store_bind_cpu(store, sql, cpu, &features, err);
    int got = stmt ? sqlite3_step(stmt) : SQLITE_ERROR;
    if (got == SQLITE_ROW)
        *value = xstrdup(store_text(stmt, 0));
    strbuf_free(&features);
    if (!stmt || store_rows_end(store, stmt, got == SQLITE_ROW ? SQLITE_DONE : got, err) != 0)
        return -1;
    return got == SQLITE_ROW;
}

char *store_uarch_here(struct store *store, const struct cpu_info *cpu, struct err *err)
{
    char *uarch = NULL;
    int got = cpu->decision == CPU_DECIDED_OVERRIDE
                  ? 0
                  : store_of_this_cpu(
                        store,
                        "SELECT " STORE_UARCH " FROM run JOIN cpu USING (cpu_id) "
                        "WHERE " STORE_THIS_CPU "AND " STORE_RUN_IS_OWN
                        " AND decided <> 'override' ORDER BY started_utc DESC, run_id DESC LIMIT 1",
                        cpu, &uarch, err);
    return got == 0 ? xstrdup(cpu->uarch) : uarch;
}

int store_width_here(struct store *store, const struct cpu_info *cpu, int *width, struct err *err)
{
    char *value = NULL;
    int got = store_of_this_cpu(store,
                                "SELECT issue_width FROM canary_floor JOIN cpu USING (cpu_id) "
                                "WHERE " STORE_THIS_CPU "AND issue_width > 0 "
                                "ORDER BY canary_floor_id DESC LIMIT 1",
                                cpu, &value, err);
    if (got == 1)
        *width = atoi(value);
    free(value);
    return got;
}

#define CACHE(...) STORE_FIELD(struct stored_cache, __VA_ARGS__)
static const struct store_field cache_fields[] = {CACHE(level), CACHE(type), CACHE(size_bytes)};
static const struct store_record cache_record = {
    NULL, "", STORE_FIELDS(struct stored_cache, cache_fields),
    .from = "cpu_cache JOIN run USING (cpu_id) WHERE run_id = ?1 AND size_bytes > 0 "
            "ORDER BY level, type"};

int store_get_caches(struct store *store, int64_t run_id, struct stored_cache **caches,
                     int *ncaches, struct arena *arena, struct err *err)
{
    struct store_list list = {.n = 0};
    int status = store_get_rows(store, &cache_record, run_id, arena, &list, err);
    *caches = list.rows;
    *ncaches = list.n;
    return status;
}

struct floor_row {
    struct canary_floor of;
    const char *method, *recorded_utc;
};
#define FLOOR(...) STORE_FIELD(struct floor_row, __VA_ARGS__)
static const struct store_field floor_fields[] = {
    FLOOR(of.canary), FLOOR(of.clk_per_instr, .column = "instr_clk"), FLOOR(of.issue_width),
    FLOOR(method), FLOOR(recorded_utc)};
static const struct store_record floor_record = {
    "canary_floor", "cpu_id", STORE_FIELDS(struct floor_row, floor_fields),
    .from = "canary_floor WHERE cpu_id IN " STORE_SAME_MACHINE "AND issue_width > 0 "
            "ORDER BY canary_floor_id DESC LIMIT 1"};

int store_get_floor(struct store *store, int64_t cpu_id, struct canary_floor *floor,
                    struct err *err)
{
    struct floor_row row;
    int got = store_get_row(store, &floor_record, cpu_id, &row, err);
    if (got > 0)
        *floor = row.of;
    return got;
}

int store_put_floor(struct store *store, int64_t cpu_id, const struct canary_floor *floor,
                    struct err *err)
{
    char now[32];
    store_now_utc(now);
    const struct floor_row row = {*floor, "mode", now};
    return store_put_row(store, &floor_record, &cpu_id, &row, err);
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

#define EVENT(...) STORE_FIELD(struct run_event, __VA_ARGS__)
static const struct store_field event_fields[] = {EVENT(event), EVENT(code), EVENT(backend),
                                                  EVENT(counter_table), EVENT(table_version)};
static const struct store_record event_record = {"run_event", "run_id, position",
                                                 STORE_FIELDS(struct run_event, event_fields)};

struct run_row {
    struct run_info of;
    const char *uuid, *started_utc;
};
#define RUN(...) STORE_FIELD(struct run_row, __VA_ARGS__)
// clang-format off
static const struct store_field run_fields[] = {
    RUN(uuid), RUN(of.version), RUN(of.nasm_version), RUN(of.os_kernel), RUN(of.backend),
    RUN(of.lists), RUN(of.tables), RUN(of.frequency), RUN(of.selection), RUN(of.tsc_hz),
    RUN(of.core_hz), RUN(of.overhead_tsc), RUN(of.issue_width), RUN(of.calib_link_clk),
    RUN(of.measuring_cpu), RUN(started_utc), RUN(of.claimed_uarch), RUN(of.decided),
    RUN(of.evidence), RUN(of.measured_width, .null = true), RUN(of.label), RUN(of.completes),
};
// clang-format on
static const struct store_record run_record = {"run", "cpu_id",
                                               STORE_FIELDS(struct run_row, run_fields)};

// Writes the label of a new run: the given one, or the label of the machine's newest run.
static int run_label(struct store *store, int64_t cpu_id, const char *given,
                     char label[CPU_LABEL_MAX + 1], struct err *err)
{
    sqlite3_stmt *stmt = store_bind(
        store, err,
        "SELECT coalesce(?2, (SELECT label FROM cpu AS mine "
        "JOIN cpu AS other USING (vendor, signature, brand) JOIN run ON run.cpu_id = other.cpu_id "
        "WHERE mine.cpu_id = ?1 AND " STORE_RUN_IS_OWN
        " ORDER BY started_utc DESC, run_id DESC LIMIT 1), '')",
        "it", cpu_id, given);
    if (!stmt)
        return -1;
    int got = sqlite3_step(stmt);
    if (got == SQLITE_ROW)
        snprintf(label, CPU_LABEL_MAX + 1, "%s", store_text(stmt, 0));
    return store_rows_end(store, stmt, got == SQLITE_ROW ? SQLITE_DONE : got, err);
}

static int store_put_run(struct store *store, int64_t cpu_id, const struct run_info *info,
                         int64_t *run_id, struct err *err)
{
    char now[32], uuid[33], label[CPU_LABEL_MAX + 1];
    struct run_row row = {*info, uuid, now};
    row.of.label = label;
    store_now_utc(now);
    if (!info->claimed_uarch)
        row.of.claimed_uarch = "unknown";
    if (!info->decided)
        row.of.decided = "unknown";
    if (store_make_uuid(uuid, err) != 0 || run_label(store, cpu_id, info->label, label, err) != 0 ||
        store_put_row(store, &run_record, &cpu_id, &row, err) != 0)
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
        result = store_put_rows(store, &event_record, *run_id, info->events, info->nevents, err);
    return store_unit_end(store, own, result, err);
}

// Finds the newest run of a kind for which `which`, a condition, is true.
#define RUN_OF_KIND(which)                                                                         \
    "SELECT run_id FROM run WHERE (cpu_id = ?1 OR (cpu_id IN " STORE_SAME_MACHINE                  \
    "AND 'override' NOT IN (decided, ?2))) "                                                       \
    "AND version = ? AND lists = ? AND backend = ? AND selection = ? AND label = ? "               \
    "AND completes = ? AND " which " ORDER BY started_utc DESC, run_id DESC LIMIT 1"

static int store_run_of_kind(struct store *store, const char *sql, int64_t cpu_id,
                             const struct run_info *info, int64_t *run_id, struct err *err)
{
    char label[CPU_LABEL_MAX + 1];
    if (run_label(store, cpu_id, info->label, label, err) != 0)
        return -1;
    return store_get_int(store, err, run_id, sql, "isssssss", cpu_id,
                         info->decided ? info->decided : "unknown", info->version, info->lists,
                         info->backend, info->selection, label, info->completes);
}

int store_run_resume(struct store *store, int64_t cpu_id, const struct run_info *info,
                     int64_t *run_id, struct err *err)
{
    return store_run_of_kind(store, RUN_OF_KIND("finished_utc IS NULL"), cpu_id, info, run_id, err);
}

int store_run_done(struct store *store, int64_t cpu_id, const struct run_info *info,
                   int64_t *run_id, struct err *err)
{
    return store_run_of_kind(store, RUN_OF_KIND("finished_utc IS NOT NULL AND " STORE_RUN_IS_OWN),
                             cpu_id, info, run_id, err);
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
    return store_rows_end(store, stmt, got == SQLITE_ROW ? SQLITE_DONE : got, err);
}

#define SPENT(...) STORE_FIELD(struct spent, __VA_ARGS__)
#define SPENT_ON(what, name) SPENT(on[SPENT_##what], .column = name)
#define SPENT_FOR(why, name) SPENT(on[SPENT_REFUSED + CORE_REFUSED_##why], .column = name)
static const struct store_field time_fields[] = {
    SPENT(at_s, .column = "total_s"),
    SPENT_ON(MEASURING, "measuring_s"),
    SPENT_ON(PROGRAMS, "programs_s"),
    SPENT_ON(INFERRING, "inferring_s"),
    SPENT_ON(WRITING, "writing_s"),
    SPENT_ON(ASSEMBLING, "assembling_s"),
    SPENT_ON(LINKING, "linking_s"),
    SPENT_ON(QUIET, "quiet_s"),
    SPENT_ON(GAPS, "gaps_s"),
    SPENT_ON(USER, "user_cpu_s"),
    SPENT_ON(KERNEL, "kernel_cpu_s"),
    SPENT_ON(ACCEPTED, "repeats_accepted"),
    SPENT_FOR(CANARY, "repeats_disturbed"),
    SPENT_FOR(CALIB, "repeats_disagreeing"),
    SPENT_FOR(COUNTER, "repeats_uncounted"),
    SPENT_FOR(FEW, "repeats_too_few"),
    SPENT_ON(MOVES, "moves"),
};
static const struct store_record time_record = {"run_time", "run_id, position",
                                                STORE_FIELDS(struct spent, time_fields)};

int store_put_run_time(struct store *store, int64_t run_id, const struct spent *spent,
                       struct err *err)
{
    int64_t keys[2] = {run_id, 0};
    if (store_get_int(store, err, &keys[1], "SELECT count(*) FROM run_time WHERE run_id = ?1", "i",
                      run_id) < 0)
        return -1;
    return store_put_row(store, &time_record, keys, spent, err);
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

int store_count_outcomes(struct store *store, sqlite3_stmt *stmt, int64_t counts[OUTCOME_COUNT],
                         int64_t *scattered, struct err *err)
{
    memset(counts, 0, OUTCOME_COUNT * sizeof counts[0]);
    *scattered = 0;
    if (!stmt)
        return -1;
    int got;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW) {
        int outcome = outcome_parse(store_text(stmt, 0));
        if (outcome >= 0)
            counts[outcome] = sqlite3_column_int64(stmt, 1);
        *scattered += sqlite3_column_int64(stmt, 2);
    }
    return store_rows_end(store, stmt, got, err);
}

int store_run_summary(struct store *store, int64_t run_id, int64_t counts[OUTCOME_COUNT],
                      int64_t *forms, struct err *err)
{
    int64_t none;
    if (store_get_int(store, err, forms, "SELECT count(*) FROM run_form WHERE run_id = ?1", "i",
                      run_id) < 0)
        return -1;
    sqlite3_stmt *stmt =
        store_bind(store, err,
                   "SELECT outcome, count(*), 0 FROM ("
                   "SELECT result.outcome FROM run_form JOIN test USING (run_form_id) "
                   "JOIN result USING (test_id) WHERE run_form.run_id = ?1 UNION ALL "
                   "SELECT outcome FROM run_form JOIN port_result USING (run_form_id) "
                   "WHERE run_id = ?1) GROUP BY outcome",
                   "i", run_id);
    return store_count_outcomes(store, stmt, counts, &none, err);
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

#define DOUBTS(name, sql) STORE_FIELD(struct store_doubts, name, .column = sql, .only_read = true)
static const struct store_field doubt_fields[] = {
    DOUBTS(repeated, "total(NOT contradiction)"),
    DOUBTS(differing, "total(differs AND NOT contradiction)"),
    DOUBTS(contradictions, "total(contradiction)")};
static const struct store_record doubt_record = {
    "run_doubt_table", "run_id", STORE_FIELDS(struct store_doubts, doubt_fields),
    .from = "(SELECT differs, other_way IN ('chain', 'cycle') AS contradiction "
            "FROM run_doubt_table WHERE run_id = ?1)"};

int store_run_doubts(struct store *store, int64_t run_id, struct store_doubts *doubts,
                     struct err *err)
{
    return store_get_row(store, &doubt_record, run_id, doubts, err) < 0 ? -1 : 0;
}
