// SPDX-License-Identifier: MIT
// Stores a measured form: its tests, their kernels, timings and samples (facts), and the estimates
// and results derived from them; see store_form.h.
#include "store_internal.h"

#include "core/core_abi.h"
#include "store_form.h"
#include "store_run.h"
#include "util/mem.h"
#include "util/strbuf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double store_number(enum outcome outcome, double value)
{
    return outcome == OUTCOME_OK && isfinite(value) ? value : (double)NAN;
}

int store_put_estimate(struct store *store, int64_t kernel_id, const struct estimate *estimate,
                       struct err *err)
{
    enum outcome outcome = estimate->outcome;
    for (int i = 0; i < estimate->nstates && estimate->nstates > 1; i++) {
        const struct steady_state *state = &estimate->states[i];
        if (store_execute(store, err,
                          "INSERT INTO estimate_state (kernel_id, position, instance_clk, share, "
                          "passes) VALUES (?, ?, ?, ?, ?)",
                          "iiddi", kernel_id, (int64_t)i, state->clk, state->share,
                          (int64_t)state->passes) != 0)
            return -1;
    }
    return store_execute(
        store, err,
        "INSERT INTO estimate (kernel_id, outcome, instance_clk, spread_clk, "
        "accepted, tried, pass, "
        "state_share, calibrated_clk) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        "isddiiidd", kernel_id, outcome_name(outcome), store_number(outcome, estimate->clk),
        store_number(outcome, estimate->spread_clk), (int64_t)estimate->accepted,
        (int64_t)estimate->tried, (int64_t)estimate->pass, store_finite(estimate->share),
        store_number(outcome, estimate->calibrated_clk));
}

int store_put_result(struct store *store, int64_t test_id, const struct test_result *result,
                     int64_t kernel_id, struct err *err)
{
    enum outcome outcome = result->outcome;
    const char *detail = result->detail;
    if (outcome == OUTCOME_OK && !isfinite(result->clk)) {
        outcome = OUTCOME_NOT_MEASURABLE;
        detail = "the samples give no finite number";
    }
    sqlite3_stmt *stmt = store_bind(
        store, err,
        "INSERT INTO result (test_id, outcome, detail, value_clk, dense_clk, "
        "filled_clk, spread_clk, accepted, tried, bound, kernel_id, average, least_clk, most_clk, "
        "states) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0), ?, ?, ?, ?)",
        "issddddiisiiddi", test_id, outcome_name(outcome), detail,
        store_number(outcome, result->clk), store_number(outcome, result->dense_clk),
        store_number(outcome, result->filled_clk), store_number(outcome, result->spread_clk),
        (int64_t)result->accepted, (int64_t)result->tried, bound_name(result->bound), kernel_id,
        (int64_t)result->average, store_number(outcome, result->least_clk),
        store_number(outcome, result->most_clk), (int64_t)result->nstates);
    if (!stmt)
        return -1;
    int got = sqlite3_step(stmt);
    int status = got == SQLITE_DONE ? 0 : store_error(store, err, "store a result");
    sqlite3_reset(stmt);
    return status;
}

static int store_put_timing(struct store *store, int64_t kernel_id, const struct timing *timing,
                            struct err *err)
{
    if (store_execute(
            store, err,
            "INSERT INTO timing (kernel_id, pass, outcome, detail, iterations, copies, "
            "calib_clk, overhead_tsc, accepted, tried, overhead_counted_clk) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            "iissiiddiid", kernel_id, (int64_t)timing->pass, outcome_name(timing->outcome),
            timing->detail, (int64_t)timing->iterations, (int64_t)timing->copies, timing->calib_clk,
            timing->overhead_tsc, (int64_t)timing->accepted, (int64_t)timing->tried,
            timing->counted ? store_finite(timing->overhead_counted_clk) : (double)NAN) != 0)
        return -1;
    int64_t timing_id = sqlite3_last_insert_rowid(store->db);
    for (int i = 0; i < timing->nsamples; i++) {
        const struct sample *sample = &timing->samples[i];
        if (store_execute(store, err, "INSERT INTO sample VALUES (?, ?, ?, ?, ?, ?, nullif(?, -1))",
                          "iiiiiii", timing_id, (int64_t)i, (int64_t)sample->kernel_tsc,
                          (int64_t)sample->before_tsc, (int64_t)sample->after_tsc,
                          (int64_t)sample->canary_tsc,
                          timing->counted ? (int64_t)sample->counted_clk : -1) != 0)
            return -1;
    }
    return 0;
}

// Stores a kernel. Returns its kernel_id, or -1.
static int64_t store_put_kernel(struct store *store, int64_t test_id, int position,
                                const struct kernel_spec *spec,
                                const struct measured_kernel *measured, struct err *err)
{
    int kept = measured->code_bytes < CORE_CODE_MAX ? measured->code_bytes : CORE_CODE_MAX;
    if (store_execute(store, err,
                      "INSERT INTO kernel (test_id, position, shape, instances, instrs, extra_clk, "
                      "outcome, detail, code_bytes, code) "
                      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, nullif(?, -1), ?)",
                      "iisiidssib", test_id, (int64_t)position, spec->shape,
                      (int64_t)spec->instances, (int64_t)spec->instrs, spec->extra_clk,
                      outcome_name(measured->outcome), measured->detail,
                      measured->code ? (int64_t)measured->code_bytes : (int64_t)-1,
                      (const void *)measured->code, (int64_t)kept) != 0)
        return -1;
    int64_t kernel_id = sqlite3_last_insert_rowid(store->db);
    for (int i = 0; i < measured->ntimings; i++)
        if (store_put_timing(store, kernel_id, &measured->timings[i], err) != 0)
            return -1;
    return store_put_estimate(store, kernel_id, &measured->estimate, err) == 0 ? kernel_id : -1;
}

// Returns true if the CPU refused every kernel of a test. It is then stored like a test that was
// planned as unsupported: on a core without AVX-512 such kernels would be half of the database.
static bool store_is_refused(const struct test *test, const struct measured_test *measured)
{
    bool refused = measured->result.outcome == OUTCOME_UNSUPPORTED;
    for (int i = 0; i < test->nkernels && refused; i++)
        refused = measured->kernels[i].outcome == OUTCOME_UNSUPPORTED;
    return refused && test->outcome == OUTCOME_OK;
}

static int store_put_test(struct store *store, int64_t run_form_id, int position,
                          const struct test *test, const struct measured_test *measured,
                          struct err *err)
{
    bool refused = store_is_refused(test, measured);
    const char *detail = *test->detail ? test->detail : test->note;
    if (store_execute(store, err,
                      "INSERT INTO test (run_form_id, position, kind, src, dst, variant, bound, "
                      "outcome, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                      "iisssssss", run_form_id, (int64_t)position, test_kind_name(test->kind),
                      test->src, test->dst, test->variant, bound_name(test->bound),
                      outcome_name(refused ? OUTCOME_UNSUPPORTED : test->outcome),
                      refused ? measured->result.detail : detail) != 0)
        return -1;
    int64_t test_id = sqlite3_last_insert_rowid(store->db);
    int64_t deciding_id = 0;
    for (int i = 0; i < test->nkernels && !refused; i++) {
        int64_t kernel_id =
            store_put_kernel(store, test_id, i, &test->kernels[i], &measured->kernels[i], err);
        if (kernel_id < 0)
            return -1;
        if (i == measured->result.kernel)
            deciding_id = kernel_id;
    }
    return store_put_result(store, test_id, &measured->result, deciding_id, err);
}

// Returns true if `word` is one of the blank-separated words of `text`.
static bool store_has_word(const char *text, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at++)
        if ((at == text || at[-1] == ' ') && (at[len] == '\0' || at[len] == ' '))
            return true;
    return false;
}

// Writes the row's options that are part of its identity: they distinguish forms of the same text.
static void store_form_options(const struct list_row *row, struct strbuf *text)
{
    strbuf_puts(text, "");
    for (int i = 0; i < row->noptions; i++) {
        const char *value = row->options[i].value;
        char *word = value && *value ? xasprintf("%s=%s", row->options[i].key, value)
                                     : xstrdup(row->options[i].key);
        if (store_has_word(row->form, word))
            strbuf_printf(text, "%s%s", text->len ? " " : "", word);
        free(word);
    }
}

static int store_form_id(struct store *store, const struct list_row *row, int64_t *form_id,
                         struct err *err)
{
    int found = store_get_int(store, err, form_id,
                              "SELECT form_id FROM form WHERE form = ? AND enc = ? AND bits = ?",
                              "ssi", row->form, encoding_name(row->enc), (int64_t)row->bits);
    if (found == 0) {
        struct strbuf options = {0};
        store_form_options(row, &options);
        if (store_execute(store, err,
                          "INSERT INTO form (form, mnemonic, operands, enc, bits, options) "
                          "VALUES (?, ?, ?, ?, ?, ?)",
                          "ssssis", row->form, row->mnemonic, row->operands_text,
                          encoding_name(row->enc), (int64_t)row->bits, options.data) != 0)
            found = -1;
        else
            *form_id = sqlite3_last_insert_rowid(store->db);
        strbuf_free(&options);
    }
    return found < 0 ? -1 : 0;
}

static int store_list_id(struct store *store, const char *name, int64_t *list_id, struct err *err)
{
    int found =
        store_get_int(store, err, list_id, "SELECT list_id FROM list WHERE name = ?1", "s", name);
    if (found == 0) {
        if (store_execute(store, err, "INSERT INTO list (name) VALUES (?)", "s", name) != 0)
            return -1;
        *list_id = sqlite3_last_insert_rowid(store->db);
    }
    return found < 0 ? -1 : 0;
}

int store_put_run_list(struct store *store, int64_t run_id, const char *list_name,
                       const char *title, struct err *err)
{
    int64_t list_id;
    if (store_list_id(store, list_name, &list_id, err) != 0)
        return -1;
    return store_execute(store, err,
                         "INSERT OR IGNORE INTO run_list (run_id, list_id, title) "
                         "VALUES (?, ?, substr(?, 1, 200))",
                         "iis", run_id, list_id, title);
}

static int store_find_run_form(struct store *store, int64_t run_id, const struct list_row *row,
                               int64_t *run_form_id, struct err *err)
{
    return store_get_int(store, err, run_form_id,
                         "SELECT run_form_id FROM form JOIN run_form USING (form_id) "
                         "WHERE form = ? AND enc = ? AND bits = ? AND run_id = ?",
                         "ssii", row->form, encoding_name(row->enc), (int64_t)row->bits, run_id);
}

int store_has_form(struct store *store, int64_t run_id, const struct list_row *row, struct err *err)
{
    int64_t id;
    return store_find_run_form(store, run_id, row, &id, err);
}

static int store_put_roles(struct store *store, int64_t run_form_id, const struct operand *operands,
                           int n, struct err *err)
{
    for (int i = 0; i < n; i++)
        if (operands[i].role &&
            store_execute(store, err,
                          "INSERT INTO operand_role (run_form_id, operand, role) VALUES (?, ?, ?)",
                          "iss", run_form_id, operands[i].name, operands[i].role) != 0)
            return -1;
    return 0;
}

static int store_add_run_form(struct store *store, int64_t run_id, const struct list_row *row,
                              const struct form_place *place, int64_t *run_form_id, struct err *err)
{
    int64_t form_id, list_id;
    if (store_form_id(store, row, &form_id, err) != 0 ||
        store_list_id(store, place->list_name, &list_id, err) != 0 ||
        store_execute(store, err,
                      "INSERT INTO run_form (run_id, form_id, list_id, position, isa) "
                      "VALUES (?, ?, ?, ?, ?)",
                      "iiiis", run_id, form_id, list_id, (int64_t)place->position, row->isa) != 0)
        return -1;
    *run_form_id = sqlite3_last_insert_rowid(store->db);
    return store_put_roles(store, *run_form_id, row->ops, row->nops, err) == 0
               ? store_put_roles(store, *run_form_id, row->implicit, row->nimplicit, err)
               : -1;
}

int store_run_form_id(struct store *store, int64_t run_id, const struct list_row *row,
                      const struct form_place *place, int64_t *run_form_id, struct err *err)
{
    int found = store_find_run_form(store, run_id, row, run_form_id, err);
    if (found == 0)
        return store_add_run_form(store, run_id, row, place, run_form_id, err);
    return found < 0 ? -1 : 0;
}

static int store_put_form_rows(struct store *store, int64_t run_id, const struct form_place *place,
                               const struct plan *plan, const struct measured_test *tests,
                               struct err *err)
{
    const struct list_row *row = plan->row;
    int64_t run_form_id;
    int has = store_has_form(store, run_id, row, err);
    if (has < 0)
        return -1;
    if (has)
        return err_set(err, "%s: run %lld has the form '%s' already", store->path,
                       (long long)run_id, row->form);
    if (store_add_run_form(store, run_id, row, place, &run_form_id, err) != 0)
        return -1;
    for (int i = 0; i < plan->ntests; i++)
        if (store_put_test(store, run_form_id, i, &plan->tests[i], &tests[i], err) != 0)
            return -1;
    return store_summary_put(store, run_form_id, err);
}

int store_put_form(struct store *store, int64_t run_id, const struct form_place *place,
                   const struct plan *plan, const struct measured_test *tests, struct err *err)
{
    bool own;
    if (store_unit_begin(store, &own, err) != 0)
        return -1;
    int result = store_put_form_rows(store, run_id, place, plan, tests, err);
    return store_unit_end(store, own, result, err);
}
