// SPDX-License-Identifier: MIT
// Sides: simulated CPUs of which a part takes fewer slots a cycle than dispatch has, and others of
// which none does. The side must be found with all that is on it, and mixes predicted exactly.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixtures/port_sim.h"
#include "util/random.h"

#include <math.h>
#include <string.h>

enum { FP = 3, MIXES = 2000, PARTS = 4, COUNT_MOST = 4, NOISY_SEEDS = 8 };

// What is found of a CPU.
struct found {
    struct sim_cpu cpu;
    struct sim sim;
    struct port_oracle oracle;
    struct port_form forms[SIM_FORMS_MAX];
    int which[SIM_FORMS_MAX];
    struct port_question question;
    struct port_model model;
    struct port_usage usages[SIM_FORMS_MAX];
};

static void find_begin(struct found *found, const char *file)
{
    struct err err = {0};
    if (sim_read(file, &found->cpu, &err) != 0)
        fail_msg("%s", err.text);
    for (int i = 0; i < found->cpu.nforms; i++)
        found->which[i] = i;
}

static void find(struct found *found, struct sim sim)
{
    struct err err = {0};
    found->sim = sim;
    found->sim.cpu = &found->cpu;
    found->oracle = sim_oracle(&found->sim);
    sim_forms(&found->cpu, found->forms);
    found->question = (struct port_question){.oracle = &found->oracle,
                                             .forms = found->forms,
                                             .which = found->which,
                                             .n = found->cpu.nforms};
    if (port_discover(&found->oracle, found->forms, found->cpu.nforms, found->cpu.width,
                      &found->model, &err) != 0 ||
        port_infer(&found->question, &found->model, found->usages, &err) != 0)
        fail_msg("%s", err.text);
}

// Classes are on the side as their blockers are, and forms take of it what they do.
static void expect_members(const struct found *found)
{
    for (int c = 0; c < found->model.nclasses; c++) {
        const struct sim_form *blocker = &found->cpu.forms[found->model.classes[c].blocker];
        if (found->model.classes[c].side != (blocker->side_slots > 0))
            fail_msg("%s is %son the side", blocker->name,
                     found->model.classes[c].side ? "" : "not ");
    }
    for (int f = 0; f < found->cpu.nforms; f++) {
        const struct sim_form *form = &found->cpu.forms[f];
        double got = found->usages[f].side_slots;
        if (!(fabs(got - form->side_slots) < 0.3))
            fail_msg("%s takes %.2f slots of the side, not %.2f", form->name, got,
                     form->side_slots);
    }
}

static void expect_no_side(const struct found *found)
{
    assert_int_equal(found->model.side.width, 0);
    for (int c = 0; c < found->model.nclasses; c++)
        assert_false(found->model.classes[c].side);
    for (int f = 0; f < found->cpu.nforms; f++)
        assert_true(found->usages[f].side_slots == 0);
}

// How many of the mixes are predicted as they are.
static int mixes_right(const struct found *found, bool without_side)
{
    struct port_model model = found->model;
    uint64_t state = 5;
    int right = 0;
    if (without_side)
        model.side.width = 0;
    for (int m = 0; m < MIXES; m++) {
        const struct sim_form *forms[PARTS];
        const struct port_usage *usages[PARTS];
        int counts[PARTS];
        for (int p = 0; p < PARTS; p++) {
            int form = random_below(&state, found->cpu.nforms);
            forms[p] = &found->cpu.forms[form];
            usages[p] = &found->usages[form];
            counts[p] = 1 + random_below(&state, COUNT_MOST);
        }
        double clk = sim_clk(&found->cpu, forms, counts, PARTS);
        double said = port_bound(&model, usages, counts, PARTS);
        right += fabs(said / clk - 1) < 1e-3;
    }
    return right;
}

static const struct {
    const char *file, *probe;
    int side, without; // mixes that are right without the side, at most
} cpus[] = {
    {"tests/fixtures/sim/side.csv",        "vmovaps x x", 6, 1800 },
 // As many ports as the side has slots: what goes there seems to be a µop on them, and is right.
    {"tests/fixtures/sim/side_narrow.csv", "",            0, MIXES},
};
enum { CPUS = sizeof cpus / sizeof cpus[0] };

static void a_side_is_found(void **state)
{
    (void)state;
    for (int i = 0; i < CPUS; i++) {
        static struct found found;
        find_begin(&found, cpus[i].file);
        find(&found, (struct sim){.seed = 1});
        assert_int_equal(found.model.side.width, cpus[i].side);
        if (cpus[i].side) {
            assert_string_equal(found.forms[found.model.side.probe].name, cpus[i].probe);
            expect_members(&found);
        }
        int right = mixes_right(&found, false), without = mixes_right(&found, true);
        print_message("%s: %d of %d mixes are right, %d without the side\n", cpus[i].file, right,
                      MIXES, without);
        assert_int_equal(right, MIXES);
        assert_true(without <= cpus[i].without);
    }
}

static void a_side_is_found_with_noise(void **state)
{
    (void)state;
    for (int i = 0; i < CPUS; i++)
        for (uint64_t seed = 1; seed <= NOISY_SEEDS; seed++) {
            static struct found found;
            find_begin(&found, cpus[i].file);
            find(&found, (struct sim){.seed = seed, .noise = true});
            assert_int_equal(found.model.side.width, cpus[i].side);
            if (cpus[i].side)
                expect_members(&found);
        }
}

// What clears a register waits for no port, though its instances do not wait for each other, which
// would show it: six a cycle are the side's doing.
static void what_the_side_explains_is_no_doubt(void **state)
{
    (void)state;
    static struct found found;
    find_begin(&found, cpus[0].file);
    for (uint64_t seed = 0; seed < NOISY_SEEDS; seed++) {
        int idioms = 0;
        find(&found, (struct sim){.seed = seed, .noise = seed > 0});
        for (int f = 0; f < found.cpu.nforms; f++) {
            const struct sim_form *form = &found.cpu.forms[f];
            if (form->nuses > 0 || form->eliminated || form->filler_only)
                continue;
            assert_int_equal(found.usages[f].nuses, 0);
            assert_false(found.usages[f].ambiguous);
            idioms++;
        }
        assert_true(idioms > 0);
    }
}

// As many ports as the side is wide have all that is on it, but no one class: then the ports do not
// say as much.
static void ports_of_several_classes_are_no_side(void **state)
{
    (void)state;
    static struct found found;
    find_begin(&found, cpus[0].file);
    struct sim_form *store = sim_named(&found.cpu, "mov m64 r64");
    assert_non_null(store);
    store->cost = -1; // so that the stores of vectors stand for all stores
    for (uint64_t seed = 0; seed < NOISY_SEEDS; seed++) {
        find(&found, (struct sim){.seed = seed, .noise = seed > 0});
        assert_int_equal(found.model.side.width, cpus[0].side);
        expect_members(&found);
    }
}

// As many slots a cycle for all: the moves are no slower than others. Or they are, by a limit of
// renaming, which nothing else has.
static void no_side_is_found_where_none_is(void **state)
{
    (void)state;
    for (int i = 0; i < 3 * CPUS; i++) {
        static struct found found;
        int how = i / CPUS;
        find_begin(&found, cpus[i % CPUS].file);
        if (how == 0)
            found.cpu.side = found.cpu.width;
        for (int f = 0; f < found.cpu.nforms && how > 0; f++) {
            struct sim_form *form = &found.cpu.forms[f];
            form->side_slots = how == 1 ? form->eliminated && form->unit < 0 : form->slots;
        }
        for (uint64_t seed = 0; seed < NOISY_SEEDS; seed++) {
            find(&found, (struct sim){.seed = seed, .noise = seed > 0});
            expect_no_side(&found);
        }
    }
}

// A move that is eliminated most of the time goes to ports for the rest.
static void moves_on_ports_are_no_side(void **state)
{
    (void)state;
    static struct found found;
    find_begin(&found, cpus[0].file);
    found.cpu.side = 0;
    assert_string_equal(found.cpu.sets[FP].name, "FP");
    for (int f = 0; f < found.cpu.nforms; f++) {
        struct sim_form *form = &found.cpu.forms[f];
        form->side_slots = 0;
        if (!form->eliminated || form->unit >= 0)
            continue;
        form->part = 0.8; // so that four ports let five pass a cycle
        form->uses[form->nuses++] = (struct port_use){found.cpu.sets[FP].set, 1};
    }
    for (uint64_t seed = 0; seed < NOISY_SEEDS; seed++) {
        find(&found, (struct sim){.seed = seed, .noise = seed > 0});
        expect_no_side(&found);
    }
}

// What nothing was timed of is not said.
static void what_is_unstable_is_unknown(void **state)
{
    (void)state;
    static struct found found;
    struct err err = {0};
    find_begin(&found, cpus[0].file);
    find(&found, (struct sim){.seed = 1});
    found.sim.all_unstable = true;
    assert_int_equal(port_infer(&found.question, &found.model, found.usages, &err), 0);
    for (int f = 0; f < found.cpu.nforms; f++)
        assert_true(isnan(found.usages[f].side_slots));
    found.model.side.width = 0;
    assert_int_equal(port_infer(&found.question, &found.model, found.usages, &err), 0);
    for (int f = 0; f < found.cpu.nforms; f++)
        assert_true(found.usages[f].side_slots == 0);
}

// Slots of the side add up, unless how many they are is unknown.
static void slots_of_the_side_add_up(void **state)
{
    (void)state;
    const struct port_model ideal = {.width = 8, .side = {.width = 6}};
    const struct port_model none = {.width = 8};
    const struct port_usage on = {.slots = 1, .side_slots = 1, .unit = -1};
    const struct port_usage off = {.slots = 1, .unit = -1};
    const struct port_usage unknown = {.slots = 1, .side_slots = (double)NAN, .unit = -1};
    const struct port_usage *usages[] = {&on, &off, &unknown};
    const int counts[] = {12, 2, 1};
    struct port_limits limits;
    assert_true(fabs(port_bound(&ideal, usages, counts, 3) - 2) < 1e-9);
    assert_true(fabs(port_bound(&none, usages, counts, 3) - 15 / 8.0) < 1e-9);
    port_limits(&ideal, usages, counts, 3, &limits);
    assert_true(fabs(limits.side_clk - 2) < 1e-9 && fabs(limits.front_clk - 15 / 8.0) < 1e-9);
    port_limits(&none, usages, counts, 3, &limits);
    assert_true(limits.side_clk == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_side_is_found),
        cmocka_unit_test(a_side_is_found_with_noise),
        cmocka_unit_test(what_the_side_explains_is_no_doubt),
        cmocka_unit_test(ports_of_several_classes_are_no_side),
        cmocka_unit_test(no_side_is_found_where_none_is),
        cmocka_unit_test(moves_on_ports_are_no_side),
        cmocka_unit_test(what_is_unstable_is_unknown),
        cmocka_unit_test(slots_of_the_side_add_up),
    };
    return cmocka_run_group_tests_name("ports_sides", tests, NULL, NULL);
}
