// SPDX-License-Identifier: MIT
// Stores a measured form: its tests, their kernels, timings and samples (facts), and the estimates
// and results derived from them; see store_form.h.
#include "store_internal.h"

#include "core/core_abi.h"
#include "store_form.h"
#include "store_run.h"
#include "store_timing.h"
#include "util/mem.h"
#include "util/strbuf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double store_number(enum outcome outcome, double value)
{
    return outcome == OUTCOME_OK && isfinite(value) ? value : (double)NAN;
}

#define STATE(...) STORE_FIELD(struct steady_state, __VA_ARGS__)
static const struct store_field state_fields[] = {STATE(clk, .column = "instance_clk"),
                                                  STATE(share), STATE(passes)};
static const struct store_record state = {"estimate_state", "kernel_id, position",
                                          STORE_FIELDS(struct steady_state, state_fields)};

#define ESTIMATE(...) STORE_FIELD(struct estimate, __VA_ARGS__)
static const struct store_field estimate_fields[] = {
    ESTIMATE(outcome, .out.words = &words_outcome),
    ESTIMATE(clk, .column = "instance_clk", .if_ok = true),
    ESTIMATE(spread_clk, .if_ok = true),
    ESTIMATE(accepted),
    ESTIMATE(tried),
    ESTIMATE(pass),
    ESTIMATE(share, .column = "state_share"),
    ESTIMATE(calibrated_clk, .if_ok = true),
};
static const struct store_record estimate = {"estimate", "kernel_id",
                                             STORE_FIELDS(struct estimate, estimate_fields)};

int store_put_estimate(struct store *store, int64_t kernel_id, const struct estimate *from,
                       struct err *err)
{
    if (from->nstates > 1 &&
        store_put_rows(store, &state, kernel_id, from->states, from->nstates, err) != 0)
        return -1;
    return store_put_row(store, &estimate, &kernel_id, from, err);
}

struct result_row {
    struct test_result of;
    int64_t kernel_id; // the deciding one; 0: none
};
#define RESULT(...) STORE_FIELD(struct result_row, __VA_ARGS__)
static const struct store_field result_fields[] = {
    RESULT(of.outcome, .out.words = &words_outcome),
    RESULT(of.detail),
    RESULT(of.clk, .column = "value_clk", .if_ok = true),
    RESULT(of.dense_clk, .if_ok = true),
    RESULT(of.filled_clk, .if_ok = true),
    RESULT(of.spread_clk, .if_ok = true),
    RESULT(of.accepted),
    RESULT(of.tried),
    RESULT(of.bound, .out.words = &words_bound),
    RESULT(of.average),
    RESULT(of.least_clk, .if_ok = true),
    RESULT(of.most_clk, .if_ok = true),
    RESULT(of.nstates, .column = "states"),
    RESULT(kernel_id, .null = true),
};
static const struct store_record result_record = {"result", "test_id",
                                                  STORE_FIELDS(struct result_row, result_fields)};

int store_put_result(struct store *store, int64_t test_id, const struct test_result *result,
                     int64_t kernel_id, struct err *err)
{
    struct result_row row = {*result, kernel_id};
    if (result->outcome == OUTCOME_OK && !isfinite(result->clk)) {
        row.of.outcome = OUTCOME_NOT_MEASURABLE;
        row.of.detail = "the samples give no finite number";
    }
    return store_put_row(store, &result_record, &test_id, &row, err);
}

struct kernel_row {
    const char *shape, *detail;
    int instances, instrs, code_bytes; // code_bytes: -1 if there is no code
    double extra_clk;
    enum outcome outcome;
    struct field_blob code;
};
#define KERNEL(...) STORE_FIELD(struct kernel_row, __VA_ARGS__)
// clang-format off
static const struct store_field kernel_fields[] = {
    KERNEL(shape), KERNEL(instances), KERNEL(instrs), KERNEL(extra_clk),
    KERNEL(outcome, .out.words = &words_outcome), KERNEL(detail),
    KERNEL(code_bytes, .null = true, .none = -1), KERNEL(code),
};
// clang-format on
static const struct store_record kernel = {"kernel", "test_id, position",
                                           STORE_FIELDS(struct kernel_row, kernel_fields)};

// Stores a kernel. Returns its kernel_id, or -1.
static int64_t store_put_kernel(struct store *store, const int64_t keys[2],
                                const struct kernel_spec *spec,
                                const struct measured_kernel *measured, struct err *err)
{
    int kept = measured->code_bytes < CORE_CODE_MAX ? measured->code_bytes : CORE_CODE_MAX;
    const struct kernel_row row = {
        .shape = spec->shape,
        .detail = measured->detail,
        .instances = spec->instances,
        .instrs = spec->instrs,
        .code_bytes = measured->code ? measured->code_bytes : -1,
        .extra_clk = spec->extra_clk,
        .outcome = measured->outcome,
        .code = {measured->code, kept}
    };
    if (store_put_row(store, &kernel, keys, &row, err) != 0)
        return -1;
    int64_t kernel_id = sqlite3_last_insert_rowid(store->db);
    if (store_put_timings(store, TIMED_KERNEL, kernel_id, measured->timings, measured->ntimings,
                          err) != 0)
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

#define TEST(...) STORE_FIELD(struct test, __VA_ARGS__)
static const struct store_field test_fields[] = {TEST(kind, .out.words = &words_test),
                                                 TEST(src),
                                                 TEST(dst),
                                                 TEST(variant),
                                                 TEST(bound, .out.words = &words_bound),
                                                 TEST(outcome, .out.words = &words_outcome),
                                                 TEST(detail)};
static const struct store_record test_record = {"test", "run_form_id, position",
                                                STORE_FIELDS(struct test, test_fields)};

static int store_put_test(struct store *store, const int64_t keys[2], const struct test *test,
                          const struct measured_test *measured, struct err *err)
{
    bool refused = store_is_refused(test, measured);
    struct test row = *test;
    if (refused)
        row.outcome = OUTCOME_UNSUPPORTED;
    row.detail = refused ? measured->result.detail : *test->detail ? test->detail : test->note;
    if (store_put_row(store, &test_record, keys, &row, err) != 0)
        return -1;
    int64_t test_id = sqlite3_last_insert_rowid(store->db), deciding_id = 0;
    for (int i = 0; i < test->nkernels && !refused; i++) {
        int64_t kernel_id = store_put_kernel(store, (const int64_t[]){test_id, i},
                                             &test->kernels[i], &measured->kernels[i], err);
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
        if (store_put_test(store, (const int64_t[]){run_form_id, i}, &plan->tests[i], &tests[i],
                           err) != 0)
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
