// SPDX-License-Identifier: MIT
// Moves that are fused with what stands behind them: a simulated CPU of which some forms are, and
// the same without.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixtures/port_sim.h"

#include <math.h>

enum { NOISY_SEEDS = 8 };
static const char file[] = "tests/fixtures/sim/zen_like.csv";

struct found {
    struct sim_cpu cpu;
    struct port_model model;
    struct port_usage usages[SIM_FORMS_MAX];
    long mixes;
};

// Every form but blockers has a move, two of three of those that write registers of one kind is
// fused.
static void find(struct found *found, struct sim sim, bool fused)
{
    struct err err = {0};
    struct port_form forms[SIM_FORMS_MAX];
    int which[SIM_FORMS_MAX];
    if (sim_read(file, &found->cpu, &err) != 0)
        fail_msg("%s", err.text);
    sim_model(&found->cpu, &found->model);
    for (int f = 0; f < found->cpu.nforms; f++) {
        struct sim_form *form = &found->cpu.forms[f];
        which[f] = f;
        form->moves = form->nuses > 0;
        for (int c = 0; c < found->model.nclasses; c++)
            form->moves &= found->model.classes[c].blocker != f;
        form->writes = f % 4 ? PORT_WRITES_GPR : PORT_WRITES_VECTOR;
        form->fused = fused && form->moves && form->writes == PORT_WRITES_GPR && f % 3 > 0;
    }
    sim.cpu = &found->cpu;
    const struct port_oracle oracle = sim_oracle(&sim);
    sim_forms(&found->cpu, forms);
    const struct port_question question = {
        .oracle = &oracle, .forms = forms, .which = which, .n = found->cpu.nforms};
    if (port_infer(&question, &found->model, found->usages, &err) != 0)
        fail_msg("%s", err.text);
    found->mixes = sim.mixes;
}

// How many forms are said to be fused; none that is not, and with the slots that both take.
static int fused_forms(const struct found *found, int *missed)
{
    int n = 0;
    *missed = 0;
    for (int f = 0; f < found->cpu.nforms; f++) {
        const struct sim_form *form = &found->cpu.forms[f];
        const struct port_usage *usage = &found->usages[f];
        bool said = usage->slots_moved > 0;
        n += said;
        *missed += form->fused && !said && usage->outcome == OUTCOME_OK && form->slots <= 4;
        if (said && !form->fused)
            fail_msg("%s is not fused", form->name);
        if (said && !(fabs(usage->slots_moved - form->slots) < 0.35))
            fail_msg("%s takes %.2f slots with its move, not %.2f", form->name, usage->slots_moved,
                     form->slots);
    }
    return n;
}

static void what_is_fused_is_found(void **state)
{
    (void)state;
    static struct found found;
    int missed;
    find(&found, (struct sim){.seed = 1}, true);
    int n = fused_forms(&found, &missed);
    print_message("%d forms are fused, %d of them are not seen\n", n + missed, missed);
    assert_true(n >= 5 && 5 * missed <= n);
    for (int seed = 1; seed <= NOISY_SEEDS; seed++) {
        find(&found, (struct sim){.seed = (uint64_t)seed, .noise = true}, true);
        int noisy = fused_forms(&found, &missed);
        assert_true(noisy >= n - 2);
    }
}

// And asks for fewer mixes.
static void nothing_is_fused(void **state)
{
    (void)state;
    static struct found found;
    int missed;
    find(&found, (struct sim){.seed = 1}, true);
    long mixes = found.mixes;
    for (int seed = 1; seed <= NOISY_SEEDS; seed++) {
        find(&found, (struct sim){.seed = (uint64_t)seed, .noise = seed > 1}, false);
        assert_int_equal(fused_forms(&found, &missed), 0);
        if (seed == 1)
            assert_true(found.mixes < mixes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_fused_is_found),
        cmocka_unit_test(nothing_is_fused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
