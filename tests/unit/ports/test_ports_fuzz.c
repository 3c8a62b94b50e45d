// SPDX-License-Identifier: MIT
// The inference of ports on random CPUs: sets that overlap as no real CPU's do, forms that use
// them, what they have in common and what they do not. What throughput tells must be found; what it
// cannot tell must be equivalent to the truth or be called ambiguous.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixtures/cases.h"
#include "fixtures/port_sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Numbers of forms and models. LATPUT_SIM_VERBOSE prints the wrong ones.
enum { FORMS = 8, MODELS = 150 };

static uint32_t random_set(const struct sim_cpu *cpu, int nports, uint64_t *random)
{
    uint32_t set = 0;
    if (cpu->nsets && random_below(random, 3) == 0) { // inside another, or more than it
        set = cpu->sets[random_below(random, cpu->nsets)].set;
        set = random_below(random, 2) ? set | 1u << random_below(random, nports)
                                      : set & (uint32_t)random_bits(random);
    }
    int size = 1 + random_below(random, nports < 5 ? nports : 5);
    while (!set || (size > 0 && !cpu->nsets)) {
        set |= 1u << random_below(random, nports);
        if (port_set_size(set) >= size)
            break;
    }
    return set;
}

// A class, what two of them have in common, or what is left of one.
static uint32_t random_use(const struct sim_cpu *cpu, uint64_t *random)
{
    uint32_t a = cpu->sets[random_below(random, cpu->nsets)].set;
    uint32_t b = cpu->sets[random_below(random, cpu->nsets)].set;
    int kind = random_below(random, 4);
    uint32_t set = kind == 0 ? a & b : kind == 1 ? a & ~b : a;
    return set ? set : a;
}

static void form_use(struct sim_form *form, uint32_t set)
{
    int u = 0;
    while (u < form->nuses && form->uses[u].set != set)
        u++;
    if (u == form->nuses)
        form->uses[form->nuses++] = (struct port_use){set, 0};
    form->uses[u].uops++;
}

static struct sim_form *add_form(struct sim_cpu *cpu, const char *what, double slots, int cost)
{
    struct sim_form *form = &cpu->forms[cpu->nforms];
    *form = (struct sim_form){.slots = slots, .cost = cost, .unit = -1};
    snprintf(form->name, sizeof form->name, "%s%d", what, cpu->nforms++);
    return form;
}

static void random_cpu(struct sim_cpu *cpu, uint64_t *random)
{
    int nports = 2 + random_below(random, 11), nsets = 2 + random_below(random, 9);
    *cpu = (struct sim_cpu){.width = 2 + random_below(random, 7)};
    add_form(cpu, "nop", 1, 0)->filler_only = true;
    for (int tries = 0; tries < 50 && cpu->nsets < nsets; tries++) {
        uint32_t set = random_set(cpu, nports, random);
        int s = 0;
        while (s < cpu->nsets && cpu->sets[s].set != set)
            s++;
        if (s < cpu->nsets)
            continue;
        cpu->sets[cpu->nsets++].set = set;
        form_use(add_form(cpu, "blocker", 1, random_below(random, 4)), set);
    }
    for (int port = 0; port < nports; port++)
        if (cpu->ngroups < 8)
            cpu->groups[cpu->ngroups++].set = 1u << port;
        else
            cpu->groups[random_below(random, 8)].set |= 1u << port;
    for (int i = 0; i < FORMS; i++) {
        int uops = 1 + random_below(random, 4);
        struct sim_form *form = add_form(cpu, "form", uops, -1);
        for (int u = 0; u < uops; u++)
            form_use(form, random_use(cpu, random));
    }
}

struct tally {
    int models, same, equal, other;
    int verdicts[SIM_VERDICTS];
    int flagged; // exact or equivalent, but called ambiguous
    int counted;
    int ways[PORT_WAYS];
    long mixes;
};

static void print_cpu(const struct sim_cpu *cpu, const struct port_model *model, uint64_t seed)
{
    printf("seed %lu: width %d, sets", (unsigned long)seed, cpu->width);
    for (int s = 0; s < cpu->nsets; s++) {
        printf(" ");
        for (int port = 0; port < PORTS_MAX; port++)
            if (cpu->sets[s].set & 1u << port)
                printf("%x", (unsigned)port);
    }
    for (int c = 0; model && c < model->nclasses; c++)
        printf("%s%s=%x", c ? " " : "; found ", cpu->forms[model->classes[c].blocker].name,
               model->classes[c].set);
    printf("\n");
}

static void fuzz_infer(struct sim *sim, const struct port_form *forms,
                       const struct port_model *model, const int *map, struct tally *tally)
{
    const struct sim_cpu *cpu = sim->cpu;
    struct port_oracle oracle = sim_oracle(sim);
    struct port_usage usages[SIM_FORMS_MAX];
    int which[SIM_FORMS_MAX];
    bool told = false;
    for (int i = 0; i < cpu->nforms; i++)
        which[i] = i;
    struct port_siblings *siblings = forms[0].family ? port_siblings_new(sim->seed) : NULL;
    const struct port_question question = {
        .oracle = &oracle, .forms = forms, .which = which, .n = cpu->nforms, .siblings = siblings};
    assert_int_equal(port_infer(&question, model, usages, NULL), 0);
    port_siblings_free(siblings);
    for (int i = 0; i < cpu->nforms; i++) {
        tally->ways[usages[i].way]++;
        assert_true(usages[i].way != PORT_WAY_DIFFERS || usages[i].ambiguous);
    }
    for (int i = 1; i < cpu->nforms; i++) {
        enum sim_verdict verdict = sim_judge(cpu, i, &usages[i], map, sim->seed);
        tally->verdicts[verdict]++;
        tally->counted += usages[i].counted;
        tally->flagged += verdict <= SIM_EQUIVALENT && usages[i].ambiguous;
        if (verdict < SIM_AMBIGUOUS || !getenv("LATPUT_SIM_VERBOSE"))
            continue;
        if (!told)
            print_cpu(cpu, NULL, sim->seed);
        told = true;
        sim_explain(cpu, i, &usages[i], map, verdict);
    }
}

// siblings: every form is said to be like every other.
static void fuzz_one(uint64_t seed, bool noise, bool counts, bool siblings, struct tally *tally)
{
    uint64_t random = seed;
    struct sim_cpu cpu;
    random_cpu(&cpu, &random);
    struct sim sim = {.cpu = &cpu, .seed = seed, .noise = noise, .counts = counts};
    struct port_oracle oracle = sim_oracle(&sim);
    struct port_form forms[SIM_FORMS_MAX];
    struct port_model truth, found;
    int map[PORTS_MAX];
    sim_forms(&cpu, forms);
    for (int i = 0; i < cpu.nforms; i++)
        forms[i].family = siblings;
    sim_model(&cpu, &truth);
    if (truth.nclasses == 0)
        return; // all sets are as wide as the front end
    tally->models++;
    assert_int_equal(port_discover(&oracle, forms, cpu.nforms, cpu.width, &found, NULL), 0);
    if (sim_same_model(&cpu, &found, map)) {
        tally->same++;
    } else {
        bool equal = found.nclasses == truth.nclasses && sim_equal_model(&cpu, &found, seed);
        tally->equal += equal;
        tally->other += !equal;
        if (!equal && getenv("LATPUT_SIM_VERBOSE")) {
            printf("OTHER ");
            print_cpu(&cpu, &found, seed);
        }
        for (int port = 0; port < PORTS_MAX; port++)
            map[port] = port;
        found = truth;
    }
    fuzz_infer(&sim, forms, &found, map, tally);
    tally->mixes += sim.mixes;
}

static void print_tally(const char *what, const struct tally *tally)
{
    printf("%s: %d models: %d the same, %d equivalent, %d other\n", what, tally->models,
           tally->same, tally->equal, tally->other);
    sim_print_verdicts("  forms", tally->verdicts);
    printf("  of the right ones called ambiguous: %d; %ld mixes\n", tally->flagged, tally->mixes);
}

static int right(const struct tally *tally)
{
    return tally->verdicts[SIM_EXACT] + tally->verdicts[SIM_EQUIVALENT];
}

// More than one in fifty of at least fifty drawn forms is a doubt, in words.
static void disagreement_is_told(void **state)
{
    (void)state;
    static const struct {
        int64_t agree, differ;
        bool doubt;
    } cases[] = {
        {98, 2,  false},
        {97, 3,  true },
        {48, 1,  false},
        {48, 2,  true },
        {0,  49, false}
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int64_t ways[PORT_WAYS] = {[PORT_WAY_SEARCH] = 900,
                                         [PORT_WAY_AGREES] = cases[i].agree,
                                         [PORT_WAY_DIFFERS] = cases[i].differ};
        struct strbuf text = {0};
        assert_int_equal(port_ways_doubt(ways, &text), cases[i].doubt);
        if (i == 1)
            assert_string_equal(strbuf_text(&text),
                                "of 100 forms that were searched although they are like a sibling, "
                                "3 (3.0 %) have other ports");
        strbuf_free(&text);
    }
}

static void ways_are_told_in_a_line(void **state)
{
    (void)state;
    const int64_t ways[PORT_WAYS] = {[PORT_WAY_SEARCH] = 2383,
                                     [PORT_WAY_SIBLING] = 6932,
                                     [PORT_WAY_REFUTED] = 3577,
                                     [PORT_WAY_AGREES] = 748,
                                     [PORT_WAY_DIFFERS] = 2};
    struct strbuf text = {0};
    port_ways_text(ways, 7, &text);
    assert_string_equal(strbuf_text(&text),
                        "ports: 2383 searched, 6932 as a checked sibling, 3577 rejected as "
                        "siblings; spot check (seed 7): 2 of 750 wrong");
    strbuf_free(&text);
}

static void random_cpus_without_noise(void **state)
{
    (void)state;
    struct tally tally = {.models = 0};
    for (int seed = 1; seed <= cases(MODELS); seed++)
        fuzz_one((uint64_t)seed, false, false, false, &tally);
    print_tally("without noise", &tally);
    assert_int_equal(tally.other, 0);
    assert_int_equal(tally.verdicts[SIM_WRONG], 0);
    assert_true((tally.verdicts[SIM_AMBIGUOUS] + tally.verdicts[SIM_COARSER]) * 100 <
                right(&tally));
}

static void random_cpus_with_noise(void **state)
{
    (void)state;
    struct tally tally = {.models = 0};
    for (int seed = 1; seed <= cases(MODELS / 2); seed++)
        fuzz_one((uint64_t)seed, true, false, false, &tally);
    print_tally("with noise", &tally);
    assert_true(tally.other * 50 <= tally.models);
    assert_true(tally.verdicts[SIM_WRONG] * 500 <= right(&tally));
    assert_true((tally.verdicts[SIM_AMBIGUOUS] + tally.verdicts[SIM_COARSER]) * 50 < right(&tally));
}

// Suggestions that are wrong for most forms are refuted.
static void random_cpus_with_siblings(void **state)
{
    (void)state;
    struct tally tally = {.models = 0};
    for (int seed = 1; seed <= cases(MODELS / 2); seed++)
        fuzz_one((uint64_t)seed, true, false, true, &tally);
    print_tally("with noise and siblings", &tally);
    for (int way = 0; way < PORT_WAYS; way++)
        printf("  %s %d", port_way_name((enum port_way)way), tally.ways[way]);
    printf("\n");
    assert_true(tally.verdicts[SIM_WRONG] * 500 <= right(&tally));
    assert_true(tally.ways[PORT_WAY_SIBLING] > 0 && tally.ways[PORT_WAY_REFUTED] > tally.models);
    assert_true(tally.ways[PORT_WAY_DIFFERS] * 20 <= tally.ways[PORT_WAY_AGREES]);
}

// A counter for every port or two.
static void random_cpus_with_counters(void **state)
{
    (void)state;
    struct tally tally = {.models = 0};
    for (int seed = 1; seed <= cases(MODELS / 2); seed++)
        fuzz_one((uint64_t)seed, true, true, false, &tally);
    print_tally("with noise and counters", &tally);
    assert_true(tally.other * 50 <= tally.models);
    assert_true(tally.verdicts[SIM_WRONG] * 500 <= right(&tally));
    assert_true(tally.counted * 10 > right(&tally) * 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(disagreement_is_told),      cmocka_unit_test(ways_are_told_in_a_line),
        cmocka_unit_test(random_cpus_without_noise), cmocka_unit_test(random_cpus_with_noise),
        cmocka_unit_test(random_cpus_with_siblings), cmocka_unit_test(random_cpus_with_counters),
    };
    return cmocka_run_group_tests_name("ports_fuzz", tests, NULL, NULL);
}
