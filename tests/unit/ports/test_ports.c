// SPDX-License-Identifier: MIT
// The inference of ports on simulated CPUs with the structure of real ones: discovery must return
// the structure, and inference what every form uses.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixtures/port_sim.h"
#include "ports/ports_fit.h"
#include "ports/ports_internal.h"
#include "util/mem.h"
#include "util/quantile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const cpu_files[] = {
    "tests/fixtures/sim/skylake_like.csv",     "tests/fixtures/sim/zen_like.csv",
    "tests/fixtures/sim/golden_cove_like.csv", "tests/fixtures/sim/narrow_like.csv",
    "tests/fixtures/sim/four_wide.csv",        "tests/fixtures/sim/transitions.csv",
    "tests/fixtures/sim/eliminates.csv",
};
enum { CPU_FILES = sizeof cpu_files / sizeof cpu_files[0], NOISY_SEEDS = 10, CORE_MIXES = 1000 };

static void read_cpu(const char *path, struct sim_cpu *cpu)
{
    struct err err = {0};
    if (sim_read(path, cpu, &err) != 0)
        fail_msg("%s", err.text);
}

static int discover_status(struct sim *sim, struct port_model *model, struct err *err)
{
    struct port_form forms[SIM_FORMS_MAX];
    struct port_oracle oracle = sim_oracle(sim);
    sim_forms(sim->cpu, forms);
    return port_discover(&oracle, forms, sim->cpu->nforms, sim->cpu->width, model, err);
}

static int infer_status(struct sim *sim, const struct port_model *model, struct port_usage *usages,
                        struct err *err)
{
    struct port_form forms[SIM_FORMS_MAX];
    struct port_oracle oracle = sim_oracle(sim);
    int which[SIM_FORMS_MAX];
    sim_forms(sim->cpu, forms);
    for (int i = 0; i < sim->cpu->nforms; i++)
        which[i] = i;
    const struct port_question question = {
        .oracle = &oracle, .forms = forms, .which = which, .n = sim->cpu->nforms};
    return port_infer(&question, model, usages, err);
}

// Infers all forms and counts the verdicts; with LATPUT_SIM_VERBOSE tells what is not exact.
static void infer(struct sim *sim, const struct port_model *model, const int map[PORTS_MAX],
                  int verdicts[SIM_VERDICTS])
{
    struct port_usage usages[SIM_FORMS_MAX];
    struct err err = {0};
    if (infer_status(sim, model, usages, &err) != 0)
        fail_msg("%s", err.text);
    for (int i = 0; i < sim->cpu->nforms; i++) {
        enum sim_verdict verdict = sim_judge(sim->cpu, i, &usages[i], map, 1);
        verdicts[verdict]++;
        if (verdict != SIM_EXACT && getenv("LATPUT_SIM_VERBOSE"))
            sim_explain(sim->cpu, i, &usages[i], map, verdict);
    }
}

static void every_cpu_is_found_without_noise(void **state)
{
    (void)state;
    for (int i = 0; i < CPU_FILES; i++) {
        struct sim_cpu cpu;
        read_cpu(cpu_files[i], &cpu);
        struct sim sim = {.cpu = &cpu, .seed = 1};
        struct port_model model;
        struct err err = {0};
        int map[PORTS_MAX], verdicts[SIM_VERDICTS] = {0};
        assert_int_equal(discover_status(&sim, &model, &err), 0);
        if (!sim_same_model(&cpu, &model, map))
            fail_msg("%s: another structure", cpu_files[i]);
        assert_true(model.residual < 1e-9);
        assert_int_equal(model.unexplained, 0);
        infer(&sim, &model, map, verdicts);
        sim_print_verdicts(cpu_files[i], verdicts);
        assert_int_equal(verdicts[SIM_WRONG] + verdicts[SIM_COARSER], 0);
        assert_true(verdicts[SIM_AMBIGUOUS] <= 1);
    }
}

static void every_cpu_is_found_with_noise(void **state)
{
    (void)state;
    for (int i = 0; i < CPU_FILES; i++) {
        struct sim_cpu cpu;
        int verdicts[SIM_VERDICTS] = {0}, other = 0;
        read_cpu(cpu_files[i], &cpu);
        for (int seed = 1; seed <= NOISY_SEEDS; seed++) {
            struct sim sim = {.cpu = &cpu, .seed = (uint64_t)seed, .noise = true};
            struct port_model model;
            struct err err = {0};
            int map[PORTS_MAX];
            assert_int_equal(discover_status(&sim, &model, &err), 0);
            if (sim_same_model(&cpu, &model, map))
                infer(&sim, &model, map, verdicts);
            else
                other++;
        }
        sim_print_verdicts(cpu_files[i], verdicts);
        printf("  with noise; another structure for %d seeds of %d\n", other, NOISY_SEEDS);
        assert_true(other * 5 <= NOISY_SEEDS);
        assert_true(verdicts[SIM_WRONG] * 100 <= cpu.nforms * NOISY_SEEDS);
    }
}

// Forms of the same unit, with two members at least and busy for as long as anything that is found.
static int unit_members(const struct sim_cpu *cpu, int unit)
{
    int members = 0;
    for (int f = 0; f < cpu->nforms; f++)
        members +=
            cpu->forms[f].unit == unit && (cpu->forms[f].busy_clk > 2.5 || cpu->forms[f].slots > 4);
    return members;
}

static void dividers_are_found(void **state)
{
    (void)state;
    for (int i = 0; i < CPU_FILES; i++) {
        struct sim_cpu cpu;
        read_cpu(cpu_files[i], &cpu);
        struct sim sim = {.cpu = &cpu, .seed = 9, .noise = true};
        struct port_oracle oracle = sim_oracle(&sim);
        struct port_form forms[SIM_FORMS_MAX];
        struct port_usage usages[SIM_FORMS_MAX];
        struct port_model model;
        struct err err = {0};
        int which[SIM_FORMS_MAX], units = 0, unit_is[PORT_UNITS_MAX];
        sim_forms(&cpu, forms);
        for (int f = 0; f < cpu.nforms; f++)
            which[f] = f;
        assert_int_equal(discover_status(&sim, &model, &err), 0);
        assert_int_equal(infer_status(&sim, &model, usages, &err), 0);
        const struct port_question question = {
            .oracle = &oracle, .forms = forms, .which = which, .n = cpu.nforms};
        assert_int_equal(port_find_units(&question, &model, usages, &err), 0);
        for (int unit = 0; unit < cpu.nunits; unit++)
            units += unit_members(&cpu, unit) >= 2;
        assert_int_equal(model.nunits, units);
        for (int u = 0; u < model.nunits; u++)
            unit_is[u] = cpu.forms[model.units[u].blocker].unit;
        for (int f = 0; f < cpu.nforms; f++) {
            int unit = cpu.forms[f].unit;
            bool found = unit >= 0 && unit_members(&cpu, unit) >= 2;
            const struct port_demand *demand = port_usage_unit(&model, &usages[f]);
            if ((demand != NULL) != found)
                fail_msg("%s: unit of %s", cpu_files[i], cpu.forms[f].name);
            if (!found)
                continue;
            assert_int_equal(unit_is[demand->unit], unit);
            assert_true(fabs(demand->clk / cpu.forms[f].busy_clk - 1) < 0.02);
            assert_int_equal(demand->whole, cpu.forms[f].whole);
            double beside_clk = cpu.forms[f].busy_clk * cpu.units[unit].parts;
            if (cpu.units[unit].parts > 1 && !cpu.forms[f].whole && !cpu.forms[f].legacy)
                assert_true(fabs(demand->beside_clk / beside_clk - 1) < 0.02);
            else
                assert_true(demand->beside_clk == 0);
        }
    }
}

// A division that is microcode keeps both busy, the sequencer and the divider.
static void microcode_divides(void **state)
{
    (void)state;
    enum { DIVIDER = 20 }; // a port that no form of one µop shows
    struct sim_cpu cpu;
    struct port_form forms[SIM_FORMS_MAX];
    struct port_usage usages[SIM_FORMS_MAX];
    struct port_model model;
    struct err err = {0};
    int which[SIM_FORMS_MAX], one = -1, many = -1;
    read_cpu("tests/fixtures/sim/transitions.csv", &cpu);
    struct sim_form *more = &cpu.forms[cpu.nforms++];
    for (int f = 0; f < cpu.nforms; f++) {
        struct sim_form *form = &cpu.forms[f];
        which[f] = f;
        if (strcmp(form->name, "rcl r32 cl") == 0)
            *more = *form;
        if (strncmp(form->name, "div r", 5) != 0 && form != more)
            continue;
        form->uses[form->nuses++] = (struct port_use){1u << DIVIDER, 6};
        form->unit = form == more ? form->unit : -1;
        *(form == more ? &many : &one) = f;
    }
    more->slots = 8;
    snprintf(more->name, sizeof more->name, "div r16");
    struct sim sim = {.cpu = &cpu, .seed = 4};
    struct port_oracle oracle = sim_oracle(&sim);
    sim_forms(&cpu, forms);
    assert_int_equal(discover_status(&sim, &model, &err), 0);
    assert_int_equal(infer_status(&sim, &model, usages, &err), 0);
    const struct port_question question = {
        .oracle = &oracle, .forms = forms, .which = which, .n = cpu.nforms};
    assert_int_equal(port_find_units(&question, &model, usages, &err), 0);
    const struct port_demands *demands = &usages[many].demands;
    assert_int_equal(demands->n, 2);
    assert_string_equal(model.units[demands->of[0].unit].name, PORT_MICROCODE);
    assert_int_equal(usages[one].demands.n, 1);
    assert_int_equal(demands->of[1].unit, usages[one].demands.of[0].unit);
    const struct port_usage *both[] = {&usages[one], &usages[many]};
    const int counts[] = {3, 2};
    assert_true(fabs(port_bound(&model, both, counts, 2) - 30) < 0.1);
}

// Returns how long the simulated form needs the ports of a path.
static double path_clk(const struct sim_form *form, uint32_t path)
{
    for (int u = 0; u < form->nuses; u++)
        if (form->uses[u].set == path)
            return (double)form->uses[u].uops / port_set_size(path);
    return 0;
}

static double usage_path_clk(const struct port_usage *usage, int unit)
{
    const struct port_demand *demand = port_demand_on(&usage->demands, unit);
    return demand ? demand->clk : 0;
}

// Evidence: how many timings beside a form were told of.
struct told {
    const char *form;
    int timings;
};

static void tell(void *context, int form, const char *blocker, int blockers, int instances,
                 const struct port_timing *timing)
{
    struct told *told = context;
    assert_true(form >= 0 && blockers > 0 && instances > 0 && timing->clk > 0);
    told->timings += strcmp(blocker, told->form) == 0;
}

// A CPU with paths, its structure found, and the question about all of its forms.
struct path_case {
    struct sim_cpu cpu;
    struct sim sim;
    struct port_oracle oracle;
    struct port_form forms[SIM_FORMS_MAX];
    int which[SIM_FORMS_MAX];
    struct port_question question;
    struct port_model model;
    struct port_usage usages[SIM_FORMS_MAX];
};

// Forms that need other paths move data between other places.
static void path_case_begin(struct path_case *on, const char *file, const uint32_t *paths,
                            int npaths, struct sim sim)
{
    struct err err = {0};
    read_cpu(file, &on->cpu);
    on->sim = sim;
    on->sim.cpu = &on->cpu;
    on->oracle = sim_oracle(&on->sim);
    sim_forms(&on->cpu, on->forms);
    for (int f = 0; f < on->cpu.nforms; f++) {
        on->which[f] = f;
        on->forms[f].family = (uint64_t)f + 1; // each of another mnemonic
        for (int p = 0; p < npaths; p++)
            on->forms[f].operands |= path_clk(&on->cpu.forms[f], paths[p]) > 0 ? 1u << p : 0;
    }
    on->question = (struct port_question){
        .oracle = &on->oracle, .forms = on->forms, .which = on->which, .n = on->cpu.nforms};
    assert_int_equal(discover_status(&on->sim, &on->model, &err), 0);
}

// Each form has the shares that it needs, of the path that unit 0 is (`first` of paths[]) and of
// the other one.
static void expect_two_paths(const struct path_case *on, const uint32_t paths[2], int first)
{
    for (int f = 0; f < on->cpu.nforms; f++)
        for (int u = 0; u < 2; u++) {
            double want = path_clk(&on->cpu.forms[f], paths[u ^ first]);
            double got = usage_path_clk(&on->usages[f], u);
            if (fabs(got - want) > 0.05)
                fail_msg("%s: %.2f cycles of path %d, not %.2f", on->cpu.forms[f].name, got, u,
                         want);
        }
}

// Resources shared by several ports are found, with the time that forms need; other forms stay free
// of them.
static void shared_paths_are_found(void **state)
{
    (void)state;
    static const uint32_t paths[] = {1u << 14, 3u << 16};
    struct path_case on;
    struct err err = {0};
    for (int noise = 0; noise < 2; noise++) {
        path_case_begin(&on, "tests/fixtures/sim/shared_path.csv", paths, 2,
                        (struct sim){.seed = 3, .noise = noise});
        assert_int_equal(infer_status(&on.sim, &on.model, on.usages, &err), 0);
        assert_int_equal(port_find_paths(&on.question, &on.model, on.usages, &err), 0);
        assert_int_equal(on.model.nunits, 2);
        int first = path_clk(&on.cpu.forms[on.model.units[0].blocker], paths[0]) > 0 ? 0 : 1;
        for (int u = 0; u < 2; u++) {
            assert_true(port_unit_is_path(&on.model.units[u]));
            assert_true(path_clk(&on.cpu.forms[on.model.units[u].blocker], paths[u ^ first]) > 0);
        }
        // A form that may wait for itself blocks no path, nor one that was slower in the run: those
        // of the narrow path, which takes longer than their ports.
        int waits = on.model.units[first].blocker;
        for (int why = 0; why < 2; why++) {
            struct port_model again;
            struct port_form before = on.forms[waits];
            assert_int_equal(discover_status(&on.sim, &again, &err), 0);
            on.forms[waits].chains = why == 0;
            on.forms[waits].rthroughput_clk *= why == 0 ? 1 : 2;
            assert_int_equal(port_find_paths(&on.question, &again, on.usages, &err), 0);
            on.forms[waits] = before;
            for (int u = 0; u < again.nunits; u++)
                assert_true(again.units[u].blocker != waits);
        }
        assert_int_equal(port_infer_units(&on.oracle, on.forms, &on.model, &err), 0);
        struct told told = {on.forms[on.model.units[0].blocker].name, 0};
        const struct port_evidence evidence = {tell, &told};
        on.question.evidence = &evidence;
        assert_int_equal(port_assign_units(&on.question, &on.model, on.usages, &err), 0);
        assert_true(told.timings >= 10);
        expect_two_paths(&on, paths, first);
    }
}

// The CPU with two paths, these and its units found. Returns which of paths[] unit 0 is.
static int two_paths_begin(struct path_case *on, const uint32_t paths[2])
{
    struct err err = {0};
    path_case_begin(on, "tests/fixtures/sim/shared_path.csv", paths, 2, (struct sim){.seed = 3});
    assert_int_equal(infer_status(&on->sim, &on->model, on->usages, &err), 0);
    assert_int_equal(port_find_paths(&on->question, &on->model, on->usages, &err), 0);
    assert_int_equal(port_infer_units(&on->oracle, on->forms, &on->model, &err), 0);
    return path_clk(&on->cpu.forms[on->model.units[0].blocker], paths[0]) > 0 ? 0 : 1;
}

// A blocker that needs another path, too, and so slows forms that need that one, says nothing of
// these: what they need of the other path explains their time.
static void mixed_blockers_tell_paths_apart(void **state)
{
    (void)state;
    static const uint32_t paths[] = {1u << 14, 3u << 16};
    struct path_case on;
    struct err err = {0};
    int first = two_paths_begin(&on, paths), seen = 0;
    assert_int_equal(port_assign_units(&on.question, &on.model, on.usages, &err), 0);
    struct port_unit *narrow = &on.model.units[first];
    for (int f = 0; f < on.cpu.nforms; f++)
        if (strcmp(on.forms[f].name, "vcvtss2si r32 x") == 0)
            *narrow = (struct port_unit){.name = PORT_PATH,
                                         .blocker = f,
                                         .blocker_clk = usage_path_clk(&on.usages[f], first),
                                         .usage = on.usages[f]};
    assert_int_equal(narrow->usage.demands.n, 2);
    assert_int_equal(port_infer(&on.question, &on.model, on.usages, &err), 0);
    assert_int_equal(port_assign_units(&on.question, &on.model, on.usages, &err), 0);
    for (int f = 0; f < on.cpu.nforms; f++) {
        bool both = strcmp(on.forms[f].name, "vcvttss2si r32 x") == 0;
        if (!both && strcmp(on.forms[f].name, "vcomiss x x") != 0)
            continue;
        for (int u = 0; u < 2; u++)
            assert_true(fabs(usage_path_clk(&on.usages[f], u) -
                             path_clk(&on.cpu.forms[f], paths[u ^ first])) < 0.05);
        seen++;
    }
    assert_int_equal(seen, 2);
}

// Moves that take ports make pairs longer, with whatever stands beside them: that is no share of a
// path, and shares that are there are found without them.
static void moves_are_no_path(void **state)
{
    (void)state;
    static const uint32_t paths[] = {1u << 14, 3u << 16};
    struct path_case on;
    struct err err = {0};
    int first = two_paths_begin(&on, paths), moved = 0;
    for (int f = 0; f < on.cpu.nforms; f++) {
        const char *name = on.forms[f].name;
        bool moves = strcmp(name, "vmaxps x x x") == 0 || strcmp(name, "vaddps x{k} x x") == 0 ||
                     strcmp(name, "vdpps x x x") == 0;
        for (int u = 0; u < on.model.nunits; u++)
            moves &= on.model.units[u].blocker != f;
        on.forms[f].moves = on.cpu.forms[f].moves = on.cpu.forms[f].move_takes = moves;
        moved += moves;
    }
    assert_true(moved >= 2);
    assert_int_equal(port_infer(&on.question, &on.model, on.usages, &err), 0);
    assert_int_equal(port_assign_units(&on.question, &on.model, on.usages, &err), 0);
    expect_two_paths(&on, paths, first);
}

// A slot without a µop may be one on ports that no form shows, unless a chain of the form shows
// that it is not executed at all.
static void what_is_eliminated_is_no_doubt(void **state)
{
    enum { HIDDEN = 0xff << 16 }; // ports of no other form, as many as slots
    (void)state;
    for (int eliminated = 0; eliminated < 2; eliminated++) {
        struct sim_cpu cpu;
        struct port_model model;
        struct port_usage usages[SIM_FORMS_MAX];
        struct err err = {0};
        read_cpu("tests/fixtures/sim/eliminates.csv", &cpu);
        struct sim sim = {.cpu = &cpu, .seed = 1};
        assert_int_equal(discover_status(&sim, &model, &err), 0);
        int moves = 0;
        for (int f = 0; f < cpu.nforms; f++) {
            moves += cpu.forms[f].eliminated;
            if (cpu.forms[f].eliminated && !eliminated) {
                cpu.forms[f].eliminated = false;
                cpu.forms[f].uses[cpu.forms[f].nuses++] = (struct port_use){HIDDEN, 1};
            }
        }
        assert_true(moves >= 2);
        assert_int_equal(infer_status(&sim, &model, usages, &err), 0);
        for (int f = 0; f < cpu.nforms; f++) {
            bool hidden = cpu.forms[f].nuses == 1 && cpu.forms[f].uses[0].set == HIDDEN;
            if (cpu.forms[f].eliminated || hidden)
                assert_int_equal(usages[f].ambiguous, hidden);
        }
    }
}

// Returns the fit for a form of one slot that shows so many µops beside each class.
static struct port_usage fit_shown(const struct port_model *model, const double *uops,
                                   const struct port_controls *controls)
{
    enum { COUNT = 4, BLOCKERS = 24 };
    struct port_trial array[PORT_CLASSES_MAX];
    for (int c = 0; c < model->nclasses; c++)
        array[c] = (struct port_trial){
            c, COUNT, BLOCKERS, (BLOCKERS + uops[c] * COUNT) / port_set_size(model->classes[c].set),
            (double)NAN};
    const struct port_trials trials = {.alone_clk = 0.5,
                                       .best_clk = 0.5,
                                       .shared_clk = (double)NAN,
                                       .slots = 1,
                                       .slots_mixed = 1,
                                       .counted_uops = (double)NAN,
                                       .counted_total = (double)NAN,
                                       .controls = controls,
                                       .trials = array,
                                       .n = model->nclasses};
    return port_fit(model, &trials);
}

// A scheduler that binds early shows most of a µop on a set inside the true one; what shows all of
// it, or on two sets alike, may be any of them.
static void a_part_of_a_uop_is_no_answer(void **state)
{
    (void)state;
    const struct port_model nested = {
        .width = 6,
        .nports = 5,
        .nclasses = 3,
        .classes = {{.set = 3, .name = "B2"}, {.set = 24, .name = "C2"}, {.set = 7, .name = "B3"}}
    };
    const struct port_model alike = {
        .width = 6,
        .nports = 3,
        .nclasses = 3,
        .classes = {{.set = 3, .name = "B2"}, {.set = 6, .name = "B2b"}, {.set = 7, .name = "B3"}}
    };
    const struct {
        const struct port_model *model;
        double uops[3];
        bool ambiguous;
        uint32_t set; // that it has a µop on
    } cases[] = {
        {&nested, {0, 1, 1},       false, 7},
        {&nested, {0.73, 1, 1},    false, 7}, // `vpaddq z z m64{1to8}` on Golden Cove
        {&nested, {1, 1, 1},       false, 3},
        {&alike,  {0.79, 0.79, 1}, true,  0},
        {&alike,  {1, 0, 1},       false, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct port_usage usage = fit_shown(cases[i].model, cases[i].uops, NULL);
        bool there = false;
        for (int u = 0; u < usage.uses.n; u++)
            there |= usage.uses.use[u].set == cases[i].set && usage.uses.use[u].uops == 1;
        assert_int_equal(usage.ambiguous, cases[i].ambiguous);
        assert_true(there || cases[i].ambiguous);
    }
}

// A form that shows as much on a class as the blocker of a wider one has no µop there; one that
// shows a whole µop has one.
static void what_controls_show_is_no_uop(void **state)
{
    (void)state;
    const struct port_model loads = {
        .width = 6,
        .nports = 5,
        .nclasses = 3,
        .classes = {{.set = 3, .name = "L2"}, {.set = 24, .name = "C2"}, {.set = 7, .name = "L3"}}
    };
    struct port_control control = {.set = 7, .class = 0, .uops = 0.72};
    const struct port_controls none = {.n = 0}, one = {.controls = &control, .n = 1};
    const struct {
        double uops[3];
        const struct port_controls *controls;
        bool ambiguous;
        uint32_t set; // that it has a µop on
    } cases[] = {
        {{0.77, 1, 1}, &none, true,  3}, // `vaddpd y y m256` of a Raptor Cove
        {{0.77, 1, 1}, &one,  false, 7},
        {{0.82, 1, 1}, &none, false, 3}, // `vdivpd x x m128`
        {{0.82, 1, 1}, &one,  false, 7},
        {{1, 1, 1},    &one,  false, 3}, // a load of 512 bits
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct port_usage usage = fit_shown(&loads, cases[i].uops, cases[i].controls);
        assert_int_equal(usage.uses.n, 2);
        assert_int_equal(usage.ambiguous, cases[i].ambiguous);
        assert_true(usage.uses.use[0].set == cases[i].set || usage.uses.use[1].set == cases[i].set);
    }
}

// The form that stands for the class of this set.
static const char *blocker_of(const struct sim_cpu *cpu, uint32_t set)
{
    static struct port_model model;
    struct err err = {0};
    struct sim sim = {.cpu = cpu, .seed = 1};
    int map[PORTS_MAX];
    assert_int_equal(discover_status(&sim, &model, &err), 0);
    assert_true(sim_same_model(cpu, &model, map));
    for (int c = 0; c < model.nclasses; c++)
        if (cpu->forms[model.classes[c].blocker].uses[0].set == set)
            return cpu->forms[model.classes[c].blocker].name;
    fail_msg("a set has no blocker");
    return NULL;
}

// The fastest of equally simple forms is the blocker, since results of several cycles are in the
// way of those of one.
static void what_is_done_soonest_is_the_blocker(void **state)
{
    (void)state;
    static const char *const alike[][2] = {
        {"mov r32 i32", "lea r64 m" },
        {"vpand x x x", "vpor x x x"}
    };
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++) {
        struct sim_cpu cpu;
        read_cpu("tests/fixtures/sim/zen_like.csv", &cpu);
        struct sim_form *first = sim_named(&cpu, alike[i][0]);
        struct sim_form *other = sim_named(&cpu, alike[i][1]);
        assert_true(first && other);
        first->latency_clk = 3; // but simpler
        assert_string_equal(blocker_of(&cpu, first->uses[0].set), first->name);
        other->cost = first->cost;
        assert_string_equal(blocker_of(&cpu, first->uses[0].set), other->name);
        other->latency_clk = 3;
        assert_string_equal(blocker_of(&cpu, first->uses[0].set), first->name);
    }
}

// Forms that need both of two paths are no use to tell these apart.
static void paths_that_overlap_are_told_apart(void **state)
{
    (void)state;
    static const uint32_t paths[] = {3u << 14, 3u << 16};
    struct path_case on;
    struct err err = {0};
    for (int noise = 0; noise < 2; noise++) {
        path_case_begin(&on, "tests/fixtures/sim/paths_overlap.csv", paths, 2,
                        (struct sim){.seed = 11, .noise = noise});
        assert_int_equal(infer_status(&on.sim, &on.model, on.usages, &err), 0);
        assert_int_equal(port_find_paths(&on.question, &on.model, on.usages, &err), 0);
        assert_int_equal(on.model.nunits, 2);
        assert_int_equal(port_infer_units(&on.oracle, on.forms, &on.model, &err), 0);
        assert_int_equal(port_assign_units(&on.question, &on.model, on.usages, &err), 0);
        int first = path_clk(&on.cpu.forms[on.model.units[0].blocker], paths[0]) > 0 ? 0 : 1;
        expect_two_paths(&on, paths, first);
    }
}

// A path that only some kinds of forms need, which one form of each would not show.
static void a_path_that_few_need_is_found(void **state)
{
    (void)state;
    static const uint32_t path = 3u << 20;
    struct path_case on;
    struct err err = {0};
    for (int noise = 0; noise < 2; noise++) {
        path_case_begin(&on, "tests/fixtures/sim/few_share.csv", &path, 1,
                        (struct sim){.seed = 7, .noise = noise});
        assert_int_equal(infer_status(&on.sim, &on.model, on.usages, &err), 0);
        assert_int_equal(port_find_paths(&on.question, &on.model, on.usages, &err), 0);
        assert_int_equal(on.model.nunits, 1);
        assert_int_equal(port_infer_units(&on.oracle, on.forms, &on.model, &err), 0);
        assert_int_equal(port_assign_units(&on.question, &on.model, on.usages, &err), 0);
        for (int f = 0; f < on.cpu.nforms; f++) {
            double want = path_clk(&on.cpu.forms[f], path);
            assert_float_equal(usage_path_clk(&on.usages[f], 0), want, 0.05);
        }
    }
}

// Losses of mixes from early binding of µops by schedulers are no path.
static void early_binding_is_no_path(void **state)
{
    (void)state;
    // One queue, or one per side, as large as on real CPUs, or small.
    static const struct sim_queue schedulers[][3] = {
        {{"all", UINT32_MAX, 97, true}},
        { {"int", 0xf, 96, true}, {"mem", 0x70, 44, true}, {"fp", 0x3f00, 64, true}},
        {     {"int", 0xf, 32, true}, {"mem", 0x70, 16, true}, {"fp", 0x3f00, 24, true}},
    };
    struct sim_cpu cpu;
    struct port_model model;
    struct port_form forms[SIM_FORMS_MAX];
    struct port_usage usages[SIM_FORMS_MAX];
    struct err err = {0};
    int which[SIM_FORMS_MAX];
    read_cpu("tests/fixtures/sim/zen_like.csv", &cpu);
    sim_forms(&cpu, forms);
    for (int f = 0; f < cpu.nforms; f++) {
        which[f] = f;
        usages[f] = sim_usage(&cpu.forms[f]);
    }
    for (size_t b = 0; b < 2 * ARRAY_LEN(schedulers); b++) {
        memcpy(cpu.queues, schedulers[b / 2], sizeof schedulers[0]);
        cpu.nqueues = b < 2 ? 1 : 3;
        struct sim sim = {.cpu = &cpu, .seed = b, .noise = b % 2};
        struct port_oracle oracle = sim_oracle(&sim);
        sim_model(&cpu, &model);
        const struct port_question question = {
            .oracle = &oracle, .forms = forms, .which = which, .n = cpu.nforms};
        assert_int_equal(port_find_paths(&question, &model, usages, &err), 0);
        assert_int_equal(model.nunits, 0);
    }
}

// Counters show what throughput cannot: what the ports do that are together as wide as the front
// end.
static void counters_show_more(void **state)
{
    (void)state;
    for (int i = 0; i < CPU_FILES; i++) {
        struct sim_cpu cpu;
        read_cpu(cpu_files[i], &cpu);
        struct sim sim = {.cpu = &cpu, .seed = 3, .noise = true};
        struct port_model model;
        struct port_usage usages[SIM_FORMS_MAX];
        struct err err = {0};
        int map[PORTS_MAX], without[SIM_VERDICTS] = {0}, with[SIM_VERDICTS] = {0};
        assert_int_equal(discover_status(&sim, &model, &err), 0);
        assert_true(sim_same_model(&cpu, &model, map));
        infer(&sim, &model, map, without);
        sim.counts = true;
        infer(&sim, &model, map, with);
        sim_print_verdicts(cpu_files[i], with);
        printf("  with counters; without: %d exact\n", without[SIM_EXACT]);
        assert_int_equal(with[SIM_WRONG], 0);
        // Without counters of ports both differ by their noise only.
        assert_true(cpu.ngroups == 0 || with[SIM_EXACT] >= without[SIM_EXACT] + (i == 0 ? 2 : 0));
        assert_int_equal(infer_status(&sim, &model, usages, &err), 0);
        for (int f = 0; f < cpu.nforms; f++)
            assert_int_equal(usages[f].counted, cpu.ngroups > 0);
    }
}

// Else the tests with noise show nothing.
static void the_noise_is_as_measured(void **state)
{
    (void)state;
    enum { MIXES = 20000 };
    struct sim_cpu cpu;
    read_cpu(cpu_files[0], &cpu);
    struct sim sim = {.cpu = &cpu, .seed = 5, .noise = true};
    struct port_oracle oracle = sim_oracle(&sim);
    static double off[MIXES];
    int unstable = 0, n = 0, slow = 0;
    for (int i = 0; i < MIXES; i++) {
        struct port_mix mix = {
            {{1, 3}, {2, 1}},
            2, 7
        };
        struct port_timing timing;
        assert_int_equal(oracle.measure(&sim, &mix, 1, &timing, NULL), 0);
        if (timing.outcome == OUTCOME_OK)
            off[n++] = fabs(timing.clk - 1);
        else
            unstable++;
        mix.orders = 1;
        assert_int_equal(oracle.measure(&sim, &mix, 1, &timing, NULL), 0);
        slow += timing.outcome == OUTCOME_OK && timing.clk > 1.02;
    }
    quantile_sort(off, n);
    print_message("median %.3f %%, p99 %.3f %%\n", 100 * off[n / 2], 100 * off[n * 99 / 100]);
    assert_true(off[n / 2] > 0.0003 && off[n / 2] < 0.0010);
    assert_true(off[n * 99 / 100] > 0.002 && off[n * 99 / 100] < 0.006);
    assert_true(unstable > 10 && unstable < 100);
    assert_true(slow > MIXES / 60 && slow < MIXES / 15);
}

static void nothing_stable_is_no_structure(void **state)
{
    (void)state;
    struct sim_cpu cpu;
    read_cpu(cpu_files[0], &cpu);
    struct sim sim = {.cpu = &cpu, .all_unstable = true};
    struct port_model model;
    struct port_usage usages[SIM_FORMS_MAX];
    struct err err = {0};
    assert_int_equal(discover_status(&sim, &model, &err), -1);
    assert_non_null(strstr(err.text, "no structure"));
    sim_model(&cpu, &model);
    assert_int_equal(infer_status(&sim, &model, usages, &err), 0);
    for (int i = 0; i < cpu.nforms; i++)
        assert_int_equal(usages[i].outcome, OUTCOME_UNSTABLE);
}

static void no_candidates_is_no_structure(void **state)
{
    (void)state;
    struct sim_cpu cpu;
    read_cpu(cpu_files[1], &cpu);
    for (int i = 0; i < cpu.nforms; i++)
        cpu.forms[i].cost = -1;
    struct sim sim = {.cpu = &cpu};
    struct port_model model;
    struct err err = {0};
    assert_int_equal(discover_status(&sim, &model, &err), -1);
    assert_non_null(strstr(err.text, "no structure"));
    cpu.nforms = 0;
    assert_int_equal(discover_status(&sim, &model, &err), -1);
}

static void without_a_filler_slots_are_unknown(void **state)
{
    (void)state;
    struct sim_cpu cpu;
    read_cpu(cpu_files[1], &cpu);
    assert_true(cpu.forms[0].filler_only);
    memmove(cpu.forms, cpu.forms + 1, (size_t)--cpu.nforms * sizeof cpu.forms[0]);
    struct sim sim = {.cpu = &cpu};
    struct port_model model;
    struct port_usage usages[SIM_FORMS_MAX];
    struct err err = {0};
    int map[PORTS_MAX], verdicts[SIM_VERDICTS] = {0};
    assert_int_equal(discover_status(&sim, &model, &err), 0);
    assert_int_equal(model.filler, -1);
    assert_true(sim_same_model(&cpu, &model, map));
    assert_int_equal(infer_status(&sim, &model, usages, &err), 0);
    for (int i = 0; i < cpu.nforms; i++)
        assert_true(isnan(usages[i].front.slots));
    infer(&sim, &model, map, verdicts);
    sim_print_verdicts("without a filler", verdicts);
    assert_int_equal(verdicts[SIM_WRONG], 0);
}

// A filler that is slower than the width gives no form more slots.
static void a_slow_filler_is_no_slot(void **state)
{
    (void)state;
    for (int i = 0; i < CPU_FILES; i++) {
        struct sim_cpu cpu;
        read_cpu(cpu_files[i], &cpu);
        struct sim sim = {.cpu = &cpu};
        struct port_model model;
        struct err err = {0};
        int map[PORTS_MAX];
        for (int f = 0; f < cpu.nforms; f++)
            if (cpu.forms[f].filler_only)
                cpu.forms[f].slots = 1.03;
        if (discover_status(&sim, &model, &err) != 0)
            fail_msg("%s: %s", cpu_files[i], err.text);
        if (!sim_same_model(&cpu, &model, map))
            fail_msg("%s: another model", cpu_files[i]);
    }
}

static void an_oracle_that_fails_ends_it(void **state)
{
    (void)state;
    struct sim_cpu cpu;
    read_cpu(cpu_files[1], &cpu);
    struct sim sim = {.cpu = &cpu};
    struct port_model model;
    struct port_usage usages[SIM_FORMS_MAX];
    struct err err = {0};
    assert_int_equal(discover_status(&sim, &model, &err), 0);
    long discovery = sim.mixes;
    assert_int_equal(infer_status(&sim, &model, usages, &err), 0);
    long inference = sim.mixes - discovery;
    for (int at = 1; at <= discovery; at += 7) {
        err.text[0] = 0;
        sim.mixes_left = at;
        assert_int_equal(discover_status(&sim, &model, &err), -1);
        assert_string_equal(err.text, "the simulated CPU has gone");
    }
    sim_model(&cpu, &model);
    for (int at = 1; at <= inference; at += 37) {
        err.text[0] = 0;
        sim.mixes_left = at;
        assert_int_equal(infer_status(&sim, &model, usages, &err), -1);
        assert_string_equal(err.text, "the simulated CPU has gone");
    }
}

static double seconds_now; // of a clock that goes on by one with every look

static double seconds_tick(void)
{
    return seconds_now++;
}

// However much a search asks for, it ends, and says what it was doing.
static void a_search_has_an_end(void **state)
{
    (void)state;
    struct sim_cpu cpu;
    read_cpu(cpu_files[2], &cpu);
    struct port_form forms[SIM_FORMS_MAX];
    int refused = 0;
    sim_forms(&cpu, forms);
    for (int most = 40; most <= 1000000; most *= 5) {
        struct sim sim = {.cpu = &cpu};
        const struct port_oracle oracle = sim_oracle(&sim);
        struct port_limit limit = {
            .oracle = &oracle, .kernels_most = most, .most_s = 3600, .now_s = seconds_tick};
        const struct port_oracle limited = port_limited(&limit);
        struct port_model model;
        struct err err = {0};
        int status = port_discover(&limited, forms, cpu.nforms, cpu.width, &model, &err);
        assert_true(sim.kernels <= most && limit.kernels >= sim.kernels);
        assert_true(status != 0 || refused > 1);
        if (status == 0)
            break;
        refused++;
        char expected[64];
        snprintf(expected, sizeof expected, "may take %d kernels and 3600 s", most);
        assert_non_null(strstr(err.text, expected));
        assert_non_null(strstr(err.text, "when \""));
    }
    struct sim sim = {.cpu = &cpu};
    const struct port_oracle oracle = sim_oracle(&sim);
    struct port_limit limit = {
        .oracle = &oracle, .kernels_most = 1000000, .most_s = 3, .now_s = seconds_tick};
    const struct port_oracle limited = port_limited(&limit);
    struct port_model model;
    struct err err = {0};
    assert_int_equal(port_discover(&limited, forms, cpu.nforms, cpu.width, &model, &err), -1);
    assert_non_null(strstr(err.text, "and 3 s, and had taken "));
}

// In the first order 12 cycles; in the others as many as the mix has instances.
static int ordered_measure(void *context, const struct port_mix *mixes, int n,
                           struct port_timing *timings, struct err *err)
{
    int *kernels = context;
    (void)err;
    for (int i = 0; i < n; i++) {
        bool first = mixes[i].orders == (1u << MIX_INTERLEAVED | PORT_MIX_BREAKING);
        assert_true(first || mixes[i].orders == (1u << MIX_BLOCKS | PORT_MIX_BREAKING));
        timings[i] = (struct port_timing){.clk = first ? 12 : mixes[i].parts[0].count};
        if (mixes[i].parts[0].count == 5 && first)
            timings[i] = (struct port_timing){.outcome = OUTCOME_UNSTABLE, .clk = (double)NAN};
        kernels[first]++;
    }
    return 0;
}

// A mix that takes no longer than it must in one order is not timed in others.
static void orders_end_when_enough(void **state)
{
    (void)state;
    struct {
        int instances;
        double enough_clk, expected_clk;
    } cases[] = {
        {9,  12, 12},
        {9,  10, 9 },
        {14, 10, 12},
        {5,  12, 5 },
    };
    enum { N = sizeof cases / sizeof cases[0] };
    int kernels[2] = {0};
    const struct port_oracle oracle = {.measure = ordered_measure, .context = kernels};
    struct port_mix mixes[N];
    struct port_timing timings[N];
    double enough_clk[N];
    for (int i = 0; i < N; i++) {
        mixes[i] = (struct port_mix){{{0, cases[i].instances}},
                                     1,
                                     1u << MIX_INTERLEAVED | 1u << MIX_BLOCKS | PORT_MIX_BREAKING};
        enough_clk[i] = cases[i].enough_clk;
    }
    const struct port_series series = {"mixes", mixes, enough_clk, N};
    assert_int_equal(ports_time_enough(&oracle, &series, timings, NULL), 0);
    for (int i = 0; i < N; i++)
        assert_true(timings[i].outcome == OUTCOME_OK && timings[i].clk == cases[i].expected_clk);
    assert_int_equal(kernels[true], N + 1); // what is unstable is timed once more
    assert_int_equal(kernels[false], N - 1);
}

// The times of two forms together are drawn between the least that ports can explain and the sum.
static int contradicting_measure(void *context, const struct port_mix *mixes, int n,
                                 struct port_timing *timings, struct err *err)
{
    struct sim *sim = context;
    const struct port_oracle oracle = sim_oracle(sim);
    if (oracle.measure(sim, mixes, n, timings, err) != 0)
        return -1;
    for (int i = 0; i < n; i++) {
        const struct port_part *parts = mixes[i].parts;
        if (mixes[i].nparts != 2 || sim->cpu->forms[parts[0].form].nuses == 0 ||
            sim->cpu->forms[parts[1].form].nuses == 0)
            continue;
        double clk[2];
        for (int p = 0; p < 2; p++) {
            const struct sim_form *form = &sim->cpu->forms[parts[p].form];
            clk[p] = sim_clk(sim->cpu, &form, &parts[p].count, 1);
        }
        double least = fmax(clk[0], clk[1]);
        timings[i].clk = least + (clk[0] + clk[1] - least) * random_below(&sim->seed, 90) / 100;
    }
    return 0;
}

// A model that explains little of the timings is refused, and the forms that contradict each other
// are named.
static void contradictions_are_named(void **state)
{
    (void)state;
    int refused = 0, found = 0;
    for (uint64_t seed = 1; seed <= NOISY_SEEDS; seed++) {
        struct sim_cpu cpu;
        read_cpu(cpu_files[2], &cpu);
        struct port_form forms[SIM_FORMS_MAX];
        sim_forms(&cpu, forms);
        struct sim sim = {.cpu = &cpu, .seed = seed};
        const struct port_oracle oracle = {.measure = contradicting_measure, .context = &sim};
        struct port_model model;
        struct err err = {0};
        if (port_discover(&oracle, forms, cpu.nforms, cpu.width, &model, &err) == 0) {
            found++;
            continue;
        }
        refused++;
        assert_non_null(strstr(err.text, "no structure explains the timings: of "));
        assert_non_null(strstr(err.text, " take "));
        if (refused == 1)
            print_message("%s\n", err.text);
    }
    print_message("refused %d, found %d\n", refused, found);
    assert_true(refused > 0);
}

// Returns the worst time of all subsets of the ports, and of the slots and the unit.
static double subsets_clk(const struct sim_cpu *cpu, const struct sim_form *const *forms,
                          const int *counts, int n)
{
    double slots = 0, busy_clk = 0;
    uint32_t all = 0;
    bool whole = false;
    for (int f = 0; f < n; f++) {
        whole |= forms[f]->whole;
        slots += forms[f]->slots * counts[f];
        for (int u = 0; u < forms[f]->nuses; u++)
            all |= forms[f]->uses[u].set;
    }
    for (int f = 0; f < n; f++)
        busy_clk +=
            forms[f]->busy_clk * counts[f] * (whole && !forms[f]->whole ? cpu->units[0].parts : 1);
    double worst = fmax(slots / cpu->width, busy_clk);
    for (uint32_t subset = all; subset; subset = (subset - 1) & all) {
        int uops = 0;
        for (int f = 0; f < n; f++)
            for (int u = 0; u < forms[f]->nuses; u++)
                if (!(forms[f]->uses[u].set & ~subset))
                    uops += forms[f]->uses[u].uops * counts[f];
        worst = fmax(worst, (double)uops / port_set_size(subset));
    }
    return worst;
}

// The bound is that of all subsets of the ports. The simulated core knows none: it takes no less,
// and, since any port may take the oldest µop, hardly more.
static void predictions_are_the_optimum(void **state)
{
    (void)state;
    uint64_t random = 7;
    int longer = 0, mixes = 0;
    for (int i = 0; i < 3000; i++) {
        struct sim_cpu cpu = {.width = 2 + random_below(&random, 7),
                              .nunits = 1,
                              .units = {{"U", 1 + random_below(&random, 2)}}};
        struct port_model model = {.width = cpu.width, .nunits = 1};
        int n = 1 + random_below(&random, 5), counts[5], nports = 2 + random_below(&random, 9);
        const struct sim_form *forms[5];
        struct port_usage usages[5];
        const struct port_usage *pointers[5];
        for (int f = 0; f < n; f++) {
            struct sim_form *form = &cpu.forms[f];
            form->nuses = 1 + random_below(&random, 4);
            for (int u = 0; u < form->nuses; u++)
                form->uses[u] =
                    (struct port_use){1 + (uint32_t)random_below(&random, (1 << nports) - 1),
                                      1 + random_below(&random, 3)};
            form->slots = 1 + random_below(&random, 3);
            form->unit = random_below(&random, 4) ? -1 : 0;
            form->busy_clk = form->unit < 0 ? 0 : random_below(&random, 5);
            form->whole = form->unit >= 0 && random_below(&random, 3) == 0;
            counts[f] = 1 + random_below(&random, 12);
            forms[f] = form;
            usages[f] = sim_usage(form);
            for (int d = 0; d < usages[f].demands.n; d++)
                usages[f].demands.of[d].beside_clk = form->busy_clk * cpu.units[0].parts;
            pointers[f] = &usages[f];
        }
        double is = subsets_clk(&cpu, forms, counts, n);
        assert_true(fabs(port_bound(&model, pointers, counts, n) - is) < 1e-9 * is);
        bool serial = false; // a core with few that wait has others beside each other
        for (int f = 0; f < n; f++)
            for (int other = 0; other < n; other++)
                serial |= forms[f]->whole && forms[other]->unit >= 0 && !forms[other]->whole;
        if (serial || mixes == CORE_MIXES)
            continue;
        mixes++;
        double simulated = sim_clk(&cpu, forms, counts, n);
        if (simulated < 0.995 * is) // a loop is whole cycles
            fail_msg("%.3f cycles of at least %.3f", simulated, is);
        longer += simulated > 1.02 * is;
    }
    printf("%d of %d mixes take longer than their resources\n", longer, CORE_MIXES);
    assert_true(mixes == CORE_MIXES && longer * 50 < CORE_MIXES);
}

// The simulated core has the losses of queues: those of a block that fills them, and of binding
// before it is known what comes next; and instances that wait for each other are a chain.
static void the_core_is_one_of_queues(void **state)
{
    (void)state;
    struct sim_cpu cpu = {
        .width = 4,
        .nqueues = 1,
        .queues = {{"all", 7, 16, false}                                 },
        .nforms = 3,
        .forms = { {.uses = {{1, 1}}, .nuses = 1, .slots = 1, .unit = -1, .latency_clk = 3},
                   {.uses = {{6, 1}}, .nuses = 1, .slots = 1, .unit = -1},
                   {.uses = {{2, 1}}, .nuses = 1, .slots = 1, .unit = -1}}
    };
    const struct {
        struct port_mix mix;
        int entries;
        bool binds;
        double least_clk, most_clk;
    } cases[] = {
        {{{{0, 32}, {1, 64}}, 2, 1 << MIX_INTERLEAVED},           16,  false, 32, 32  },
        {{{{0, 32}, {1, 64}}, 2, 1 << MIX_BLOCKS},                16,  false, 40, 60  },
        {{{{0, 32}, {1, 64}}, 2, 1 << MIX_BLOCKS},                400, false, 32, 32.5},
        {{{{1, 32}, {2, 32}}, 2, 1 << MIX_INTERLEAVED},           16,  true,  32, 32  },
        {{{{1, 32}, {2, 32}}, 2, 1 << MIX_BLOCKS},                32,  true,  33, 48  },
        {{{{0, 10}}, 1, 1 << MIX_INTERLEAVED | PORT_MIX_CHAINED}, 16,  false, 30, 30  },
        {{{{0, 10}}, 1, 1 << MIX_INTERLEAVED},                    16,  false, 10, 10  },
    };
    struct sim sim = {.cpu = &cpu};
    const struct port_oracle oracle = sim_oracle(&sim);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct port_timing timing;
        cpu.queues[0].entries = cases[i].entries;
        cpu.queues[0].binds = cases[i].binds;
        assert_int_equal(oracle.measure(&sim, &cases[i].mix, 1, &timing, NULL), 0);
        if (timing.clk < cases[i].least_clk - 1e-9 || timing.clk > cases[i].most_clk + 1e-9)
            fail_msg("case %d takes %.3f cycles", (int)i, timing.clk);
    }
}

static void bad_files_are_refused(void **state)
{
    (void)state;
    const struct {
        const char *line, *message;
    } bad[] = {
        {"width,,0,,,,",     ":2: expected slots"       },
        {"set,A,0 99,,,,",   ":2: expected port numbers"},
        {"form,a,B,1,,,",    ":2: expected sets"        },
        {"form,a,,1,,DIV,3", ":2: no unit of this name" },
        {"queue,A,0 1,0,,,", ":2: expected port numbers"},
        {"ports,a,,1,,,",    ":2: expected width, set"  },
        {"set,A,0 1,,,,",    ": no width"               },
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char path[] = "/tmp/latput-sim-XXXXXX";
        int fd = mkstemp(path);
        FILE *file = fdopen(fd, "w");
        assert_non_null(file);
        fprintf(file, "kind,name,uses,slots,cost,unit,busy_clk\n%s\n", bad[i].line);
        fclose(file);
        struct sim_cpu cpu;
        struct err err = {0};
        int status = sim_read(path, &cpu, &err);
        remove(path);
        assert_int_equal(status, -1);
        if (!strstr(err.text, bad[i].message))
            fail_msg("%s: %s", bad[i].line, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(the_core_is_one_of_queues),
        cmocka_unit_test(the_noise_is_as_measured),
        cmocka_unit_test(predictions_are_the_optimum),
        cmocka_unit_test(every_cpu_is_found_without_noise),
        cmocka_unit_test(every_cpu_is_found_with_noise),
        cmocka_unit_test(shared_paths_are_found),
        cmocka_unit_test(moves_are_no_path),
        cmocka_unit_test(mixed_blockers_tell_paths_apart),
        cmocka_unit_test(what_is_eliminated_is_no_doubt),
        cmocka_unit_test(a_part_of_a_uop_is_no_answer),
        cmocka_unit_test(what_controls_show_is_no_uop),
        cmocka_unit_test(what_is_done_soonest_is_the_blocker),
        cmocka_unit_test(paths_that_overlap_are_told_apart),
        cmocka_unit_test(a_path_that_few_need_is_found),
        cmocka_unit_test(early_binding_is_no_path),
        cmocka_unit_test(dividers_are_found),
        cmocka_unit_test(microcode_divides),
        cmocka_unit_test(counters_show_more),
        cmocka_unit_test(nothing_stable_is_no_structure),
        cmocka_unit_test(no_candidates_is_no_structure),
        cmocka_unit_test(without_a_filler_slots_are_unknown),
        cmocka_unit_test(a_slow_filler_is_no_slot),
        cmocka_unit_test(an_oracle_that_fails_ends_it),
        cmocka_unit_test(a_search_has_an_end),
        cmocka_unit_test(orders_end_when_enough),
        cmocka_unit_test(contradictions_are_named),
    };
    return cmocka_run_group_tests_name("ports", tests, NULL, NULL);
}
