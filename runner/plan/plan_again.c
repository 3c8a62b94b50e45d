// SPDX-License-Identifier: MIT
// Tests of a row in another arrangement; see plan.h. The same code plans them, with other
// registers, data, fillers or loops; kernels that come out the same are not measured again.
#include "plan_internal.h"

#include <string.h>

static const char *arrangement_name(enum arrangement arrangement)
{
    static const char *const names[ARRANGEMENTS] = {
        [ARRANGED_AS_USUAL] = "usual", [ARRANGED_REGISTERS] = "registers",
        [ARRANGED_LINES] = "lines",    [ARRANGED_FILLERS] = "fillers",
        [ARRANGED_COPIES] = "copies",  [ARRANGED_HIGH] = "r16-r31",
    };
    return names[arrangement];
}

bool plan_is_aside(const char *variant)
{
    return strstr(variant, PLAN_AGAIN) || plan_is_immediate(variant);
}

static bool again_kernel_differs(const struct kernel_spec *a, const struct kernel_spec *b)
{
    return a->copies != b->copies || strcmp(a->body, b->body) != 0 || strcmp(a->init, b->init) != 0;
}

// Returns true if the test has a value of its own and the other arrangement changes its kernels.
static bool again_is_requested(const struct test *usual, const struct test *other)
{
    if (usual->nkernels == 0 || usual->nkernels != other->nkernels ||
        strcmp(usual->variant, PLAN_FALSE) == 0 || strcmp(usual->variant, PLAN_SETTING) == 0 ||
        plan_is_immediate(usual->variant))
        return false;
    bool differs = false;
    for (int k = 0; k < usual->nkernels; k++)
        differs |= again_kernel_differs(&usual->kernels[k], &other->kernels[k]);
    return differs;
}

// Returns false if the arrangement cannot matter: instructions without memory do not see data
// elsewhere; those beside ah..dh, those in VEX and EVEX prefixes, and bytes that the list gives
// have no REX2 prefix.
static bool again_suits(const struct list_row *row, enum arrangement arrangement)
{
    bool memory = false, high8 = false;
    for (int i = 0; i < row->nops; i++) {
        memory |= row->ops[i].kind == OPERAND_MEM || row->ops[i].kind == OPERAND_VSIB;
        high8 |= row->ops[i].high8;
    }
    if (arrangement == ARRANGED_HIGH)
        return row->bits == 64 && row->enc == ENC_LEGACY && !row->opcode.given && !row->ring0 &&
               !high8;
    return arrangement != ARRANGED_LINES || memory;
}

// Adds the tests that the arrangement changes. Returns their number.
static int again_add(struct row_plan *to, const struct plan *other, int usual,
                     enum arrangement arrangement)
{
    int added = 0;
    for (int t = 0; t < usual && t < other->ntests; t++) {
        const struct test *test = &other->tests[t];
        if (!again_is_requested(&to->plan->tests[t], test))
            continue;
        const char *variant = test->variant;
        struct test *again =
            plan_add_test(to, test->kind,
                          arena_printf(to->arena, "%s%s" PLAN_AGAIN "%s", variant,
                                       *variant ? " " : "", arrangement_name(arrangement)));
        const char *name = again->variant;
        *again = *test;
        again->variant = name;
        again->note = "";
        added++;
    }
    return added;
}

int plan_arrangements(const struct plan_params *params)
{
    return params->high_gprs ? ARRANGEMENTS : ARRANGED_HIGH;
}

int plan_row_again(const struct list_row *row, const struct plan_params *params,
                   enum arrangement arrangement, struct arena *arena, struct plan *plan,
                   struct err *err)
{
    struct row_plan to = {.arena = arena, .plan = plan, .tests_capacity = plan->ntests};
    int usual = plan->ntests;
    if (row->macro.file)
        return 0;
    for (int tried = 1; tried < plan_arrangements(params); tried++) {
        struct plan_params others = *params;
        others.arrangement = arrangement;
        struct plan other;
        if (again_suits(row, arrangement)) {
            if (plan_row(row, &others, arena, &other, err) != 0)
                return -1;
            if (again_add(&to, &other, usual, arrangement) > 0)
                return 0;
        }
        bool last = (int)arrangement + 1 >= plan_arrangements(params);
        arrangement = last ? ARRANGED_REGISTERS : arrangement + 1;
    }
    return 0;
}
