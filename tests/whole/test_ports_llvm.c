// SPDX-License-Identifier: MIT
// Cores as LLVM's scheduling models have them, simulated: every form of all lists that the model
// knows is timed on its units, whose ports µops are bound to as they enter a queue, with noise;
// structure, units, paths and ports of all forms are found from that alone. Such a core has what
// its model has: addresses and data of stores, buffers that loads go through beside their ports,
// one width for all. Whether that is the CPU is LLVM's business; it is a core that nobody here has
// made up, of another width and another vendor. What is found must predict random mixes of all
// forms as the figures of docs/PORTS_FIGURES.md ask, be certain and have taken no more kernels than
// they allow. LATPUT_LLVM_CORES: those that it names, or all; else three, old and new, of both
// vendors. Skipped where LLVM 19 is not installed.
#include "fixtures/pack_fixture.h"
#include "fixtures/port_sim.h"
#include "fixtures/ports_dump.h"
#include "fixtures/whole_fixture.h"

#include "compare/compare_model.h"
#include "validate/validate.h"
#include "llvm/llvm_run.h"

#include <math.h>

enum {
    FEW_UOPS = 3,
    KERNELS_MOST = 500000,
    MIXES = 3000,
    MIX_FORMS = 8,
    MIX_INSTANCES = 3,
    FORMS_LEAST = 2000
};
// Extensions that cores execute, each with those before it.
enum level { LEVEL_AVX, LEVEL_AVX2, LEVEL_AVX512, LEVEL_AVX512_MORE, LEVEL_FP16 };
static const char *const level_isas[] = {
    "I386 I486 X86_64 CMOV CX8 CX16 FXSR LAHF_LM NOPL POPCNT X87 MMX SSE SSE2 SSE3 SSSE3 SSE4_1 "
    "SSE4_2 AES PCLMULQDQ AVX",
    "AVX2 FMA F16C BMI1 BMI2 LZCNT MOVBE ADX SHA",
    "AVX512F AVX512VL AVX512BW AVX512DQ AVX512CD",
    "AVX512_VNNI AVX512_VBMI AVX512_VBMI2 AVX512_IFMA AVX512_BITALG AVX512_VPOPCNTDQ AVX512_BF16 "
    "GFNI VAES VPCLMULQDQ",
    "AVX512_FP16 AVX_VNNI",
};
static const struct {
    const char *name;
    enum level level;
} cores[] = {
    {"sandybridge",    LEVEL_AVX        },
    {"haswell",        LEVEL_AVX2       },
    {"alderlake",      LEVEL_AVX2       },
    {"znver1",         LEVEL_AVX2       },
    {"znver2",         LEVEL_AVX2       },
    {"znver3",         LEVEL_AVX2       },
    {"skylake-avx512", LEVEL_AVX512     },
    {"icelake-server", LEVEL_AVX512_MORE},
    {"znver4",         LEVEL_AVX512_MORE},
    {"sapphirerapids", LEVEL_FP16       },
};
static const struct sim_queue SCHEDULER = {"all", UINT32_MAX, 97, true};
static const double LONG_CLK = 30, LONGEST_CLK = 1000;
static const double NEAR = 0.1;

// Requirements for any core.
static const double AMBIGUOUS_MOST = 0.05, ERROR_MOST = 0.04, TAU_LEAST = 0.95, NEAR_LEAST = 0.92;

struct core {
    const char *name;
    struct cpu_info has; // its features
    const struct model *model;
    const struct model_class *const *classes; // of data->forms
    const struct known_cpu *data;
    int ports_of[MODEL_UNITS_MAX]; // the first port of a unit; -1: it is not in use
    struct sim_cpu cpu;
    struct sim_form *forms; // as in `all`
    bool *known;
    struct portrun_forms all;
    struct sim sim;
};

static int compare_data_form(const void *key, const void *element)
{
    return stored_form_compare(key, &((const struct known_form *)element)->id);
}

// No model says what a nop needs, since nobody waits for it: a slot.
static bool row_is_nop(const struct list_row *row)
{
    return strncmp(row->form, "nop", 3) == 0;
}

// The features of all levels up to this one.
static void level_features(enum level level, struct cpu_info *cpu)
{
    for (int i = 0; i <= (int)level; i++) {
        char *names = strdup(level_isas[i]), *rest;
        for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
            int feature = feature_find(name);
            if (feature < 0)
                fail_msg("no feature '%s'", name);
            cpu->features[feature] = true;
        }
        free(names);
    }
}

// Models say something of all instructions. What has no operands and is no nop they take lightly.
static bool core_executes(const struct core *core, const struct list_row *row)
{
    return (row->nops > 0 || row_is_nop(row)) && cpu_has_isa(&core->has, row->isa);
}

// NULL: the core does not execute it, or the model has no word on it.
static const struct model_class *core_class(const struct core *core, const struct list_row *row)
{
    if (!core_executes(core, row))
        return NULL;
    const struct stored_form id = stored_form_of(row);
    const struct known_form *form = bsearch(&id, core->data->forms, (size_t)core->data->nforms,
                                            sizeof *core->data->forms, compare_data_form);
    return form ? core->classes[form - core->data->forms] : NULL;
}

static bool row_accesses(const struct list_row *row, int access)
{
    bool accesses = false;
    for (int i = 0; i < row->nops; i++)
        accesses |= (row->ops[i].kind == OPERAND_MEM || row->ops[i].kind == OPERAND_MOFFS) &&
                    row->ops[i].access & access;
    return accesses;
}

// Models count an operation and its load, or the address and the data of a store, as one or two;
// CPUs dispatch them as one.
static double class_slots(const struct model_class *class, const struct list_row *row)
{
    double uops = 0;
    for (int r = 0; r < class->nresources; r++)
        uops += class->resources[r].count;
    uops -= row_accesses(row, ACCESS_READ) + row_accesses(row, ACCESS_WRITE);
    return fmax(fmin(class->uops, uops), 1);
}

// Units that any class takes get ports; one of several parts as many.
static bool core_ports(struct core *core)
{
    uint64_t used = 0;
    int next = 0;
    for (int i = 0; i < core->data->nforms; i++)
        for (int r = 0; core->classes[i] && r < core->classes[i]->nresources; r++)
            used |= core->classes[i]->resources[r].units;
    for (int u = 0; u < core->model->nunits; u++) {
        core->ports_of[u] = used >> u & 1 ? next : -1;
        next += used >> u & 1 ? core->model->units[u].parts : 0;
    }
    return next <= PORTS_MAX;
}

static uint32_t core_set(const struct core *core, uint64_t units)
{
    uint32_t set = 0;
    for (int u = 0; u < core->model->nunits; u++)
        for (int part = 0; units >> u & 1 && part < core->model->units[u].parts; part++)
            set |= 1u << (core->ports_of[u] + part);
    return set;
}

// false: the model does not tell.
static bool core_form(const struct core *core, const struct list_row *row, struct sim_form *form)
{
    const struct model_class *class = core_class(core, row);
    *form = (struct sim_form){.unit = -1, .slots = 1};
    if (!class || class->nresources > PORT_USES_MAX ||
        (class->nresources == 0 && class->latency_clk > 0 && !row_is_nop(row)))
        return false;
    form->slots = row_is_nop(row) ? 1 : class_slots(class, row);
    form->latency_clk = (int)class->latency_clk;
    form->eliminated = form->latency_clk == 0;
    for (int r = 0; r < class->nresources && !row_is_nop(row); r++) {
        const struct model_resource *resource = &class->resources[r];
        if (resource->units == 0 || resource->count > LONGEST_CLK)
            return false;
        form->uses[form->nuses++] =
            (struct port_use){core_set(core, resource->units), (int)(resource->count + 0.5)};
    }
    return true;
}

// Measures mixes. Forms that the model does not describe are not executed.
static int core_measure(void *context, const struct port_mix *mixes, int n,
                        struct port_timing *timings, struct err *err)
{
    struct core *core = context;
    const struct port_oracle oracle = sim_oracle(&core->sim);
    if (oracle.measure(oracle.context, mixes, n, timings, err) != 0)
        return -1;
    for (int i = 0; i < n; i++)
        for (int p = 0; p < mixes[i].nparts; p++)
            if (!core->known[mixes[i].parts[p].form])
                timings[i] = (struct port_timing){
                    .outcome = OUTCOME_UNSUPPORTED, .clk = NAN, .spread_clk = NAN};
    return 0;
}

static void core_make(struct core *core)
{
    static const struct stored_throughputs none = {0};
    assert_true(core_ports(core));
    core->cpu = (struct sim_cpu){.width = core->model->width, .nqueues = 1, .queues = {SCHEDULER}};
    whole_forms(&core->all, &none);
    core->forms = calloc((size_t)core->all.n, sizeof *core->forms);
    core->known = calloc((size_t)core->all.n, sizeof *core->known);
    for (int f = 0; f < core->all.n; f++) {
        struct port_form *form = &core->all.forms[f];
        struct sim_form *sim_form = &core->forms[f];
        const int one = 1;
        core->known[f] = core_form(core, core->all.rows[f], sim_form);
        const struct sim_form *alone = sim_form;
        form->rthroughput_clk = core->known[f] ? sim_clk(&core->cpu, &alone, &one, 1) : (double)NAN;
        sim_form->bits = form->bits;
        sim_form->moves = form->moves;
    }
    core->sim =
        (struct sim){.cpu = &core->cpu, .forms = core->forms, .seed = WHOLE_SEED, .noise = true};
}

static void core_free(struct core *core)
{
    portrun_forms_free(&core->all);
    free(core->forms);
    free(core->known);
}

// Results for a core, and their quality.
struct found {
    struct port_model model;
    struct port_usage *usages; // usages[i]: of all.first_requested + i
    int *drawable, ndrawable;  // forms that mixes are drawn from
    int n, few, ambiguous;
    double error, near, tau; // of MIXES mixes
};

// Random mixes of forms that have ports; every one as the core takes it, without noise.
static void core_mixes(struct core *core, const struct port_oracle *oracle, struct found *found)
{
    double *is = calloc(MIXES, sizeof *is), *said = calloc(MIXES, sizeof *said);
    uint64_t random = WHOLE_SEED;
    struct err err = {0};
    core->sim.noise = false;
    for (int m = 0; m < MIXES; m++) {
        struct port_mix mix = {.orders = 1, .nparts = 2 + random_below(&random, MIX_FORMS - 1)};
        const struct port_usage *parts[MIX_FORMS];
        int counts[MIX_FORMS];
        struct port_timing timing;
        for (int p = 0; p < mix.nparts; p++) {
            int form = found->drawable[random_below(&random, found->ndrawable)];
            counts[p] = 1 + random_below(&random, MIX_INSTANCES);
            parts[p] = &found->usages[form - core->all.first_requested];
            mix.parts[p].form = form;
            mix.parts[p].count = counts[p];
        }
        assert_int_equal(oracle->measure(oracle->context, &mix, 1, &timing, &err), 0);
        is[m] = timing.clk;
        said[m] = port_bound(&found->model, parts, counts, mix.nparts); // it knows no norm
        double off = fabs(said[m] / is[m] - 1);
        found->error += off / MIXES;
        found->near += (off <= NEAR) / (double)MIXES;
    }
    found->tau = validate_kendall(is, said, MIXES);
    free(is);
    free(said);
}

// Returns true if LLVM has the form take more ports than its slots have room for: such a form is
// doubtful, and in no mix. With memory a slot has three µops, and no set of units more of them; a
// load by itself is on several sets.
static bool core_overfills(const struct core *core, int form)
{
    int uops = 0, most = 0;
    for (int u = 0; u < core->forms[form].nuses; u++) {
        int mine = core->forms[form].uses[u].uops;
        uops += mine;
        most = mine > most ? mine : most;
    }
    return core->all.forms[form].memory ? most > 3 * core->forms[form].slots
                                        : uops > core->forms[form].slots;
}

static bool core_judge(struct core *core, const struct port_oracle *oracle, struct found *found)
{
    long kernels = core->sim.kernels;
    found->drawable = calloc((size_t)core->all.n, sizeof *found->drawable);
    for (int f = core->all.first_requested; f < core->all.n; f++) {
        const struct port_usage *usage = &found->usages[f - core->all.first_requested];
        if (usage->outcome != OUTCOME_OK)
            continue;
        found->n++;
        found->few += usage->uses.uops <= FEW_UOPS;
        if (core_overfills(core, f))
            continue;
        found->ambiguous += usage->uses.uops <= FEW_UOPS && usage->ambiguous;
        if (core->all.forms[f].rthroughput_clk <= LONG_CLK)
            found->drawable[found->ndrawable++] = f;
    }
    assert_true(found->few > 0 && found->ndrawable > 0);
    core_mixes(core, oracle, found);
    free(found->drawable);
    double ambiguous = (double)found->ambiguous / found->few;
    print_message("%-16s width %d, %5d forms, %6ld kernels, %4.1f %% ambiguous, mixes: %4.2f %%, "
                  "tau %.3f, %4.1f %% within 10 %%\n",
                  core->name, core->model->width, found->n, kernels, 100 * ambiguous,
                  100 * found->error, found->tau, 100 * found->near);
    return found->n >= FORMS_LEAST && kernels <= KERNELS_MOST && ambiguous <= AMBIGUOUS_MOST &&
           found->error <= ERROR_MOST && found->tau >= TAU_LEAST && found->near >= NEAR_LEAST;
}

static bool core_is_found(struct core *core)
{
    struct found *found = calloc(1, sizeof *found);
    struct session *session = calloc(1, sizeof *session);
    struct err err = {0}, note = {0};
    core_make(core);
    session->cpu = &core->has;
    session->issue_width = core->model->width;
    session->params.config.give_up_ms = 600000;
    const struct port_oracle oracle = {.measure = core_measure, .context = core};
    bool good = portrun_find_model(&core->all, &oracle, session, &found->model, &note, &err) == 0;
    if (!good)
        print_message("%s: %s\n", core->name, err.text);
    if (good) {
        print_message("%-16s %ld kernels for the structure, %d sets, %d ports, %d units\n",
                      core->name, core->sim.kernels, found->model.nclasses, found->model.nports,
                      found->model.nunits);
        found->usages =
            calloc((size_t)(core->all.n - core->all.first_requested), sizeof *found->usages);
        whole_infer(&core->all, &oracle, &found->model, found->usages);
        ports_dump(core->name, &found->model, core->all.forms + core->all.first_requested, NULL,
                   found->usages, core->all.n - core->all.first_requested);
        good = core_judge(core, &oracle, found);
        free(found->usages);
    }
    free(session);
    free(found);
    core_free(core);
    return good;
}

static void cores_are_found(void **state)
{
    (void)state;
    struct err err = {0};
    struct known_cpu data;
    struct llvm_instr *instrs = NULL;
    int64_t run_id;
    int wrong = 0;
    struct store *store = fixture_published("sapphirerapids", &run_id);
    struct store_filter filter = {.uarch = "sapphirerapids?", .run_id = run_id};
    if (known_read(store, &filter, KNOWN_CODE, &data, &err) != 0 ||
        llvm_decode(&data, &instrs, &err) != 0)
        fail_msg("%s", err.text);
    const char *more = getenv("LATPUT_LLVM_CORES"), *named = more ? more : "haswell znver1 znver4";
    for (size_t i = 0; i < ARRAY_LEN(cores); i++) {
        struct core core = {.name = cores[i].name, .has = {.uarch = ""}, .data = &data};
        struct model model;
        if (strcmp(named, "all") != 0 && !strstr(named, core.name))
            continue;
        if (model_read(&data, instrs, core.name, &model, &core.classes, &err) != 0)
            fail_msg("%s: %s", core.name, err.text);
        level_features(cores[i].level, &core.has);
        core.model = &model;
        wrong += !core_is_found(&core);
    }
    known_free(&data);
    store_close(store);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    struct err err;
    llvm_choose(19);
    char *tool = llvm_find("llvm-exegesis", &err);
    if (!tool) {
        puts(err.text);
        return 77;
    }
    free(tool);
    const struct CMUnitTest tests[] = {cmocka_unit_test(cores_are_found)};
    return cmocka_run_group_tests_name("ports of LLVM's cores", tests, lists_setup, lists_teardown);
}
