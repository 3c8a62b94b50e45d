// SPDX-License-Identifier: MIT
// From a row to its tests; see plan.h. This file chooses the tests of a row; plan_latency.c writes
// their chains, plan_throughput.c their shapes.
#include "plan_internal.h"

#include "refusals.h"

#include <string.h>

const char *test_kind_name(enum test_kind kind)
{
    static const char *const names[] = {"latency", "throughput", "ports"};
    return names[kind];
}

const char *bound_name(enum bound bound)
{
    static const char *const names[] = {"exact", "upper"};
    return names[bound];
}

bool plan_is_immediate(const char *variant)
{
    return strncmp(variant, PLAN_IMMEDIATE, strlen(PLAN_IMMEDIATE)) == 0 ||
           strcmp(variant, PLAN_UPPER) == 0;
}

static bool plan_moves_stack(const struct list_row *row)
{
    for (int i = 0; i < row->nimplicit; i++)
        if (row->implicit[i].kind == OPERAND_GPR && row->implicit[i].fixed == REG_RSP &&
            row->implicit[i].access & ACCESS_WRITE)
            return true;
    return false;
}

// Returns why the row cannot be planned from its operands; NULL if it can.
static const char *plan_obstacle(const struct list_row *row, const struct plan_params *params,
                                 enum outcome *outcome)
{
    *outcome = OUTCOME_SKIPPED;
    if (row->bits == 32 && params->skip_32)
        return params->skip_32;
    *outcome = OUTCOME_UNSUPPORTED;
    if (row->ring0 && params->no_ring0)
        return params->no_ring0;
    const char *refused = params->refused ? refusals_reason(params->refused, row) : NULL;
    if (refused)
        return refused;
    *outcome = OUTCOME_NOT_MEASURABLE;
    if (plan_moves_stack(row) && !row->stack)
        return "moves the stack pointer; needs the option stack= or a macro";
    for (int i = 0; i < row->nops; i++)
        if (row->ops[i].kind == OPERAND_TILE)
            return "tiles need a configuration first; needs a macro";
    bool target = false;
    for (int i = 0; i < row->nops; i++)
        target |= row->ops[i].kind == OPERAND_REL;
    if (!target && (strcmp(row->mnemonic, "jmp") == 0 || strcmp(row->mnemonic, "call") == 0))
        return "jumps to an address; needs a macro";
    return NULL;
}

static void plan_one_refusal(struct row_plan *rp, enum outcome outcome, const char *detail)
{
    plan_refuse(plan_add_test(rp, TEST_THROUGHPUT, ""), outcome, detail);
}

// Adds all tests of the row with one set of data.
static void plan_variant(struct row_plan *rp, int set, unsigned tests)
{
    static const char *const names[] = {"fast", "slow", "slow2", "slow3"};
    const char *variant = data_sets(rp->row) > 1 ? names[set] : "";
    rp->npoints = 0;
    rp->vec_bits = 0;
    points_collect(rp);
    data_set(rp, set);
    // A row that moves the stack has no chain through operands.
    if (tests & TESTS_LATENCY && !rp->row->stack)
        latency_plan(rp, variant);
    if (tests & TESTS_THROUGHPUT)
        throughput_plan(rp, variant);
}

// Adds tests with other immediates, or with a register that is known to be zero, beside the usual
// ones.
static void plan_immediates(struct row_plan *rp, unsigned tests)
{
    const struct immediate *values;
    int n = immediates_of(rp, &values);
    for (int i = 0; i < n; i++) {
        rp->immediate = &values[i];
        if (!immediate_is_requested(rp))
            continue;
        if (tests & TESTS_LATENCY && !rp->row->stack)
            latency_plan_immediate(rp);
        if (tests & TESTS_THROUGHPUT && !rp->immediate->upper)
            throughput_plan_immediate(rp);
    }
    rp->immediate = NULL;
}

int plan_row(const struct list_row *row, const struct plan_params *params, struct arena *arena,
             struct plan *plan, struct err *err)
{
    *plan = (struct plan){.row = row};
    if (bridges_load(err) != 0 || immediates_load(err) != 0)
        return -1;
    struct row_plan rp = {.row = row,
                          .params = params,
                          .arena = arena,
                          .plan = plan,
                          .same = row->same,
                          .avx = row->enc != ENC_LEGACY};
    unsigned tests = row->tests & params->tests;
    enum outcome outcome;
    const char *obstacle = plan_obstacle(row, params, &outcome);
    if (obstacle && (!row->macro.file || outcome != OUTCOME_NOT_MEASURABLE)) {
        plan_one_refusal(&rp, outcome, obstacle);
        return 0;
    }
    if (row->macro.file)
        return macro_plan(&rp, err);
    for (int set = 0; set < data_sets(row); set++)
        plan_variant(&rp, set, tests);
    if (data_sets(row) == 1)
        plan_immediates(&rp, tests);
    return 0;
}
