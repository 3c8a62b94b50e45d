// SPDX-License-Identifier: MIT
// Missing values of a run; see store_again.h.
#include "store_again.h"

#include "store_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Condition on a row of `run`: it measured forms, to its end, and not only what `latput explain`
// was asked about.
#define FORMS_FINISHED                                                                             \
    "finished_utc IS NOT NULL AND selection <> 'explain --measure' AND EXISTS "                    \
    "(SELECT 1 FROM run_form WHERE run_form.run_id = run.run_id) "

// Finds the newest run of this CPU, or that which it completes. Returns 1, 0 or -1.
static int base_find(struct store *store, const struct cpu_info *cpu, int64_t *run_id,
                     struct err *err)
{
    char *value = NULL;
    int got = store_of_this_cpu(
        store,
        "SELECT coalesce((SELECT run_id FROM run AS completed WHERE uuid = run.completes), run_id) "
        "FROM run JOIN cpu USING (cpu_id) WHERE " STORE_THIS_CPU "AND " STORE_RUN_IS_OWN
        " AND " FORMS_FINISHED "ORDER BY started_utc DESC, run_id DESC LIMIT 1",
        cpu, &value, err);
    if (value)
        *run_id = strtoll(value, NULL, 10);
    free(value);
    return got;
}

// Says why there is none.
static int base_why(struct store *store, struct stored_base *base, struct err *err)
{
    int64_t finished = 0, own = 0;
    if (store_get_int(store, err, &finished, "SELECT count(*) FROM run WHERE " FORMS_FINISHED, "") <
            0 ||
        store_get_int(store, err, &own,
                      "SELECT count(*) FROM run WHERE " FORMS_FINISHED "AND " STORE_RUN_IS_OWN,
                      "") < 0)
        return -1;
    base->found = own ? AGAIN_OTHER_CPU : finished ? AGAIN_MERGED : AGAIN_NONE;
    return 0;
}

static int base_read(struct store *store, const char *version, struct stored_base *base,
                     struct arena *arena, struct err *err)
{
    sqlite3_stmt *stmt = store_bind(store, err,
                                    "SELECT uuid, version, lists, selection, label, decided, "
                                    "calib_link_clk "
                                    "FROM run WHERE run_id = ?1",
                                    "i", base->run_id);
    if (!stmt)
        return -1;
    int got = sqlite3_step(stmt);
    if (got == SQLITE_ROW) {
        base->uuid = arena_strdup(arena, store_text(stmt, 0));
        base->version = store_column_text(stmt, 1, arena);
        base->lists = arena_strdup(arena, store_text(stmt, 2));
        base->selection = arena_strdup(arena, store_text(stmt, 3));
        base->label = arena_strdup(arena, store_text(stmt, 4));
        base->override = strcmp(store_text(stmt, 5), "override") == 0;
        base->calib_link_clk = sqlite3_column_int64(stmt, 6);
        base->found = strcmp(base->version, version) ? AGAIN_OTHER_LATER : AGAIN_FOUND;
    }
    return store_rows_end(store, stmt, got == SQLITE_ROW ? SQLITE_DONE : got, err);
}

int store_get_base(struct store *store, const struct cpu_info *cpu, const char *version,
                   struct stored_base *base, struct arena *arena, struct err *err)
{
    *base = (struct stored_base){0};
    int found = base_find(store, cpu, &base->run_id, err);
    if (found < 0)
        return -1;
    return found ? base_read(store, version, base, arena, err) : base_why(store, base, err);
}

// Condition on a row of `run`: it completes run ?1.
#define COMPLETES                                                                                  \
    "run.completes = (SELECT uuid FROM run WHERE run_id = ?1) AND " STORE_RUN_IS_OWN " "

// Each form of run ?1: its row there, `own`, the row with the tests of this run and of those that
// complete it, and the best of their results of ports, as 'OUTCOME WAY'.
#define COMPLETED                                                                                  \
    "WITH its AS (SELECT run_form_id AS own, form_id, coalesce((SELECT it.run_form_id "            \
    "FROM completing_form AS it WHERE it.form_id = run_form.form_id "                              \
    "AND it.base_row = run_form.run_form_id ORDER BY it.started_utc DESC, it.run_form_id DESC "    \
    "LIMIT 1), run_form_id) AS row_id, "                                                           \
    "(SELECT outcome || ' ' || way FROM run_form AS asked JOIN run USING (run_id) "                \
    "JOIN port_result USING (run_form_id) WHERE asked.form_id = run_form.form_id "                 \
    "AND (run.run_id = ?1 OR (" COMPLETES ")) "                                                    \
    "ORDER BY outcome = 'ok' DESC, way = 'differs', started_utc DESC, run.run_id DESC LIMIT 1) "   \
    "AS ports FROM run_form WHERE run_id = ?1) "

#define LACK(...) STORE_FIELD(struct stored_lack, __VA_ARGS__)
static const struct store_field lack_fields[] = {LACK(form.form),
                                                 LACK(form.enc),
                                                 LACK(form.bits),
                                                 LACK(values, .column = "of_tests"),
                                                 LACK(ports, .column = "of_ports"),
                                                 LACK(no_ports),
                                                 LACK(begun)};
static const struct store_record lack_record = {
    "run_form", "run_id", STORE_FIELDS(struct stored_lack, lack_fields),
    .from =
        "(" COMPLETED "SELECT form, enc, bits, EXISTS (SELECT 1 FROM run_form_test AS has "
        "JOIN run_test USING (test_id) JOIN answer USING (test_id) "
        "WHERE has.run_form_id = its.row_id AND NOT outside "
        "AND (outcome IN ('unstable', 'timed_out') OR grade = 1)) AS of_tests, "
        "coalesce(ports GLOB 'unstable *' OR ports GLOB 'timed_out *' "
        "OR ports = 'ok differs', 0) AS of_ports, ports IS NULL AS no_ports, "
        "EXISTS (SELECT 1 FROM run_form AS asked JOIN run USING (run_id) "
        "WHERE asked.form_id = its.form_id AND finished_utc IS NULL AND " COMPLETES ") AS begun "
        "FROM its JOIN form USING (form_id)) ORDER BY form, enc, bits"};

int store_get_lacks(struct store *store, int64_t run_id, struct stored_lack **lacks, int *n,
                    struct arena *arena, struct err *err)
{
    struct store_list list = {.n = 0};
    int status = store_get_rows(store, &lack_record, run_id, arena, &list, err);
    *lacks = list.rows;
    *n = list.n;
    return status;
}

#define COMPLETING(...) STORE_FIELD(struct completing, __VA_ARGS__)
struct completing {
    int64_t run_id;
};
static const struct store_field completing_fields[] = {COMPLETING(run_id)};
static const struct store_record completing_record = {
    "run", "run_id", STORE_FIELDS(struct completing, completing_fields),
    .from = "run WHERE " COMPLETES "ORDER BY started_utc DESC, run_id DESC"};

// Adds the throughputs of forms that have none yet.
static void throughputs_add(struct stored_throughputs *all, const struct stored_throughputs *more,
                            struct arena *arena)
{
    const struct stored_throughputs known = *all;
    all->values = arena_alloc(arena, ((size_t)known.n + (size_t)more->n + 1) * sizeof *all->values);
    if (known.n)
        memcpy(all->values, known.values, (size_t)known.n * sizeof *all->values);
    for (int i = 0; i < more->n; i++)
        if (isnan(stored_throughput_clk(&known, &more->values[i].form)))
            all->values[all->n++] = more->values[i];
    stored_throughputs_sort(all);
}

int store_get_completed_throughputs(struct store *store, int64_t run_id,
                                    struct stored_throughputs *values, struct arena *arena,
                                    struct err *err)
{
    struct store_list list = {.n = 0};
    struct stored_throughputs more;
    int status = store_get_rows(store, &completing_record, run_id, arena, &list, err);
    if (status == 0)
        status = store_get_throughputs(store, run_id, values, arena, err);
    const struct completing *runs = list.rows;
    for (int i = 0; status == 0 && i < list.n; i++) {
        status = store_get_throughputs(store, runs[i].run_id, &more, arena, err);
        if (status == 0)
            throughputs_add(values, &more, arena);
    }
    return status;
}

int store_completed_summary(struct store *store, int64_t run_id, int64_t counts[OUTCOME_COUNT],
                            int64_t *scattered, struct err *err)
{
    sqlite3_stmt *stmt = store_bind(
        store, err,
        COMPLETED "SELECT outcome, count(*), total(grade = 1) FROM (SELECT result.outcome, grade "
                  "FROM its JOIN run_form_test AS has ON has.run_form_id = its.row_id "
                  "JOIN result USING (test_id) JOIN answer USING (test_id) UNION ALL "
                  "SELECT substr(ports, 1, instr(ports, ' ') - 1), 2 FROM its "
                  "WHERE ports IS NOT NULL) GROUP BY 1",
        "i", run_id);
    return store_count_outcomes(store, stmt, counts, scattered, err);
}
