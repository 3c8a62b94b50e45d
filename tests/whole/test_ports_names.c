// SPDX-License-Identifier: MIT
// Published names of port sets: for every CPU family that has them, a simulated CPU is made of the
// sets in its file, and must get these names on sets and ports, up to symmetry, with and without
// noise, and with counters on the sets that the front end hides. Files of other families must not
// give it a name that its structure contradicts.
#include "cpuinfo/cpuinfo.h"
#include "fixtures/names_fixture.h"
#include "util/paths.h"

#include <glob.h>

enum { CPUS_MAX = 64, NOISY_SEEDS = 3 };

static struct made_cpu cpus[CPUS_MAX];
static int ncpus;

// --- the CPUs ---

// Intel's ports as the counters have them: p23a counts the ports 2, 3 and 10.
static void made_counters(struct made_cpu *cpu, const char *ids)
{
    char id[16];
    for (int used; sscanf(ids, "%15s%n", id, &used) == 1; ids += used) {
        struct sim_set *group = &cpu->sim.groups[cpu->sim.ngroups++];
        assert_true(id[0] == 'p' && !id[1 + strspn(id + 1, "0123456789ab")]);
        snprintf(group->name, sizeof group->name, "%s", id);
        for (const char *at = id + 1; *at; at++) {
            char port[16];
            snprintf(port, sizeof port, "p%d", *at <= '9' ? *at - '0' : *at - 'a' + 10);
            group->set |= made_port(cpu, port);
        }
    }
}

// Intel's stores take a port for their address and one for their data; they look like a form of one
// µop that might name a set.
static void made_stores(struct made_cpu *cpu, const char *counters)
{
    const char *address =
        strstr(counters, "p78")                                                     ? "p7 p8"
        : strstr(counters, "p7")                                                    ? "p2 p3 p7"
        : strcmp(cpu->uarch, "nehalem") == 0 || strcmp(cpu->uarch, "westmere") == 0 ? "p3"
                                                                                    : "p2 p3";
    struct sim_form *form = made_form(cpu, "mov m32 r32", 0);
    form->uses[form->nuses++] = (struct port_use){made_set(cpu, address), 1};
    form->uses[form->nuses++] =
        (struct port_use){made_set(cpu, strstr(counters, "p49") ? "p4 p9" : "p4"), 1};
}

static void make_cpu(const char *path, const char *uarch)
{
    assert_true(ncpus < CPUS_MAX);
    struct made_cpu *cpu = &cpus[ncpus++];
    struct err err;
    const struct cpu_family *family = cpu_family_find(uarch);
    snprintf(cpu->uarch, sizeof cpu->uarch, "%s", uarch);
    assert_int_equal(port_names_read(path, &cpu->names, &err), 0);
    assert_non_null(family);
    cpu->sim.width = family->issue_width;
    made_form(cpu, "nop", 0)->filler_only = true;
    bool intel = cpu->names.published[0][0] == 'p';
    if (intel) {
        // The CPU's numbers of ports are none of Intel's.
        made_set(cpu, "p6 p3 p11 p1 p5");
        made_stores(cpu, family->ports);
        made_counters(cpu, family->ports);
    }
    for (int i = cpu->names.n - 1; i >= 0; i--) {
        const struct port_named_set *set = &cpu->names.sets[i];
        char own[16];
        snprintf(own, sizeof own, "x%d", i);
        made_use(cpu, set->form, made_set(cpu, set->ports ? set->record->fields[1] : own));
    }
}

static int make_cpus(void **state)
{
    glob_t files;
    struct err err;
    if (lists_setup(state) != 0 || cpuinfo_load(&err) != 0 ||
        glob(path_data("cpuinfo/ports/*.csv"), 0, NULL, &files) != 0)
        return -1;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct port_names names;
        char uarch[32];
        if (port_names_read(files.gl_pathv[i], &names, &err) != 0) {
            print_error("%s\n", err.text);
            return -1;
        }
        const char *at = names.applies;
        for (int used; sscanf(at, "%31s%n", uarch, &used) == 1; at += used)
            make_cpu(files.gl_pathv[i], uarch);
        port_names_free(&names);
    }
    globfree(&files);
    return ncpus > 0 ? 0 : -1;
}

static int free_cpus(void **state)
{
    for (int i = 0; i < ncpus; i++)
        port_names_free(&cpus[i].names);
    return lists_teardown(state);
}

// --- naming ---

struct named_model {
    struct port_model systematic, named;
    struct err note;
};

static void name_model(struct sim *sim, const char *uarch, struct named_model *result)
{
    struct port_form forms[SIM_FORMS_MAX];
    struct port_oracle oracle = sim_oracle(sim);
    struct err err = {0};
    sim_forms(sim->cpu, forms);
    if (port_discover(&oracle, forms, sim->cpu->nforms, sim->cpu->width, &result->systematic,
                      &err) != 0)
        fail_msg("%s: %s", uarch, err.text);
    result->named = result->systematic;
    const struct port_subjects subjects = {&oracle, forms, sim->cpu->nforms};
    if (port_name_sets(&subjects, uarch, &result->named, &result->note, &err) < 0)
        fail_msg("%s: %s", uarch, err.text);
}

// Returns true if a port of the model with this name can be the CPU's port `number`: both are in
// the same sets.
static bool port_fits(const struct sim_cpu *sim, const struct port_model *model, int port,
                      int number)
{
    for (int c = 0; c < model->nclasses; c++) {
        const struct sim_form *blocker = &sim->forms[model->classes[c].blocker];
        bool inside = model->classes[c].set & UINT32_C(1) << port;
        if (blocker->nuses == 1 &&
            inside != ((sim_ports_of(sim, &model->classes[c]) >> number) & 1))
            return false;
    }
    return true;
}

static int made_number(const struct made_cpu *cpu, const char *name)
{
    for (int i = 0; i < cpu->nports; i++)
        if (strcmp(cpu->ports[i], name) == 0)
            return i;
    return -1;
}

// Every name of a port is one that this port can have.
static void expect_ports(const struct made_cpu *cpu, const struct port_model *model)
{
    for (int port = 0; port < PORTS_MAX; port++) {
        const char *name = model->port_names[port];
        int number = made_number(cpu, name);
        if (*name && (number < 0 || !port_fits(&cpu->sim, model, port, number)))
            fail_msg("%s: port %d cannot be %s", cpu->uarch, port, name);
        for (int other = 0; other < port; other++)
            assert_true(!*name || strcmp(name, model->port_names[other]) != 0);
    }
}

static uint32_t line_ports(struct made_cpu *cpu, int line)
{
    const struct port_named_set *set = &cpu->names.sets[line];
    return set->ports ? made_set(cpu, set->record->fields[1]) : 0;
}

// Returns true if a form that the file does not name distinguishes ports of the set, as stores of
// two µops do with the load ports of Sandy Bridge: then nothing tells which of these is p2.
static bool is_split(const struct made_cpu *cpu, const struct port_model *model, uint32_t set)
{
    for (int c = 0; c < model->nclasses; c++)
        if (cpu->sim.forms[model->classes[c].blocker].nuses > 1 && model->classes[c].set & set)
            return true;
    return false;
}

// Every published set has its name, whether it was seen or is hidden, and all of its ports have
// theirs; nothing else is called like it.
static void expect_names(struct made_cpu *cpu, const struct named_model *result)
{
    const struct port_model *model = &result->named;
    if (getenv("LATPUT_SIM_VERBOSE"))
        for (int c = 0; c < model->nclasses; c++)
            printf("  %-8s %08x %s\n", model->classes[c].name, model->classes[c].set,
                   cpu->sim.forms[model->classes[c].blocker].name);
    if (*result->note.text)
        fail_msg("%s: %s", cpu->uarch, result->note.text);
    expect_ports(cpu, model);
    for (int i = 0; i < cpu->names.n; i++) {
        const struct port_named_set *line = &cpu->names.sets[i];
        uint32_t set = line_ports(cpu, i);
        const struct port_class *class = class_of(&cpu->sim, model, set);
        bool hidden = port_set_size(set) >= model->width;
        if (set && !class != hidden)
            fail_msg("%s: %s is %sseen", cpu->uarch, line->name, hidden ? "" : "not ");
        if (class && strcmp(class->name, line->name) != 0)
            fail_msg("%s: %s is called %s", cpu->uarch, line->name, class->name);
        for (int c = 0; c < model->nclasses; c++)
            if (strcmp(model->classes[c].name, line->name) == 0)
                assert_true(!set || &model->classes[c] == class);
        int ports[PORTS_MAX];
        for (int p = class ? port_set_ports(model, class->set, ports) - 1 : -1; p >= 0; p--)
            if (!model->port_names[ports[p]][0] && !is_split(cpu, model, class->set))
                fail_msg("%s: port %d of %s has no name", cpu->uarch, ports[p], line->name);
    }
}

// Returns true for the first of the families that share a file.
static bool is_first(const struct made_cpu *cpu)
{
    size_t len = strlen(cpu->uarch);
    return strncmp(cpu->names.applies, cpu->uarch, len) == 0 &&
           (cpu->names.applies[len] == ' ' || !cpu->names.applies[len]);
}

static void test_every_family(void **state)
{
    (void)state;
    for (int i = 0; i < ncpus; i++) {
        struct sim sim = {.cpu = &cpus[i].sim, .seed = 1};
        struct named_model result;
        name_model(&sim, cpus[i].uarch, &result);
        expect_names(&cpus[i], &result);
        printf("%-16s %2d sets, %2d of them named, %d hidden\n", cpus[i].uarch,
               result.named.nclasses, cpus[i].names.n, result.named.nhidden);
    }
    assert_true(ncpus >= 25);
}

static void test_with_noise(void **state)
{
    (void)state;
    for (int i = 0; i < ncpus; i++)
        for (int seed = 1; seed <= NOISY_SEEDS && is_first(&cpus[i]); seed++) {
            struct sim sim = {.cpu = &cpus[i].sim, .seed = (uint64_t)seed, .noise = true};
            struct named_model result;
            name_model(&sim, cpus[i].uarch, &result);
            expect_names(&cpus[i], &result);
        }
}

// --- with counters ---

static void infer_text(struct sim *sim, const struct port_model *model, const char *form,
                       struct strbuf *text)
{
    struct port_form forms[SIM_FORMS_MAX];
    struct port_oracle oracle = sim_oracle(sim);
    struct port_usage usage;
    struct err err = {0};
    int which = 0;
    sim_forms(sim->cpu, forms);
    while (strcmp(forms[which].name, form) != 0)
        which++;
    const struct port_question question = {
        .oracle = &oracle, .forms = forms, .which = &which, .n = 1};
    if (port_infer(&question, model, &usage, &err) != 0)
        fail_msg("%s: %s", form, err.text);
    strbuf_clear(text);
    port_usage_text(model, &usage, text);
}

// With counters, the forms of every published set use it by its name, also hidden ones, which show
// nothing without counters.
static void test_with_counters(void **state)
{
    (void)state;
    struct strbuf text = {0};
    int hidden = 0, counted = 0;
    for (int i = 0; i < ncpus; i++) {
        struct made_cpu *cpu = &cpus[i];
        struct sim sim = {.cpu = &cpu->sim, .seed = 1, .noise = true, .counts = true};
        struct named_model result;
        if (cpu->sim.ngroups == 0)
            continue;
        counted++;
        name_model(&sim, cpu->uarch, &result);
        expect_names(cpu, &result);
        for (int line = 0; line < cpu->names.n; line++) {
            const struct port_named_set *set = &cpu->names.sets[line];
            char expected[PORT_NAME_MAX + 2];
            snprintf(expected, sizeof expected, "1*%s", set->name);
            infer_text(&sim, &result.named, set->form, &text);
            if (set->ports && strcmp(strbuf_text(&text), expected) != 0)
                fail_msg("%s: %s uses %s, not %s", cpu->uarch, set->form, strbuf_text(&text),
                         expected);
            if (port_set_size(line_ports(cpu, line)) < cpu->sim.width)
                continue;
            hidden++;
            sim.counts = false;
            infer_text(&sim, &result.named, set->form, &text);
            assert_string_equal(strbuf_text(&text), "");
            sim.counts = true;
        }
    }
    assert_true(counted >= 20 && hidden >= 6);
    strbuf_free(&text);
}

// --- files that do not fit ---

// The CPU with the other file's forms beside its own: as wide as anything on this CPU.
static void add_forms(struct made_cpu *cpu, const struct port_names *names)
{
    uint32_t widest = 0;
    for (int i = 0; i < cpu->names.n; i++)
        if (port_set_size(line_ports(cpu, i)) > port_set_size(widest))
            widest = line_ports(cpu, i);
    for (int i = 0; i < names->n; i++)
        made_use(cpu, names->sets[i].form, widest);
}

// Returns true if the sets of the other file's lines are, on this CPU, those of the file but for
// the names of ports, as far as they are seen.
static bool lines_fit(const struct made_cpu *cpu, const struct port_names *names,
                      const struct port_model *model)
{
    uint32_t is[PORT_NAMED_MAX] = {0};
    uint64_t said[PORT_NAMED_MAX] = {0};
    int count_is[1 << 12] = {0}, count_said[1 << 12] = {0};
    assert_true(names->n <= 12);
    for (int i = 0; i < names->n; i++)
        for (int f = 0; f < cpu->sim.nforms; f++)
            if (strcmp(cpu->sim.forms[f].name, names->sets[i].form) == 0 &&
                port_set_size(cpu->sim.forms[f].uses[0].set) < model->width) {
                is[i] = cpu->sim.forms[f].uses[0].set;
                said[i] = names->sets[i].ports;
            }
    for (int port = 0; port < 64; port++) {
        int lines_is = 0, lines_said = 0;
        for (int i = 0; i < names->n; i++) {
            lines_is |= (said[i] && port < PORTS_MAX && is[i] & UINT32_C(1) << port) << i;
            lines_said |= (said[i] & UINT64_C(1) << port ? 1 : 0) << i;
        }
        count_is[lines_is]++;
        count_said[lines_said]++;
    }
    return memcmp(count_is + 1, count_said + 1, sizeof count_is - sizeof *count_is) == 0;
}

// The file of every family on every CPU of another file. It may be taken only where the CPU's sets
// are those of the file.
static void test_wrong_family(void **state)
{
    (void)state;
    int refused = 0, taken = 0;
    for (int i = 0; i < ncpus; i++)
        for (int j = 0; j < ncpus; j++) {
            if (i == j || !is_first(&cpus[i]) || !is_first(&cpus[j]))
                continue;
            struct made_cpu cpu = cpus[i];
            add_forms(&cpu, &cpus[j].names);
            struct sim sim = {.cpu = &cpu.sim, .seed = 1};
            struct named_model result;
            name_model(&sim, cpus[j].uarch, &result);
            bool fits = lines_fit(&cpu, &cpus[j].names, &result.named);
            if (*result.note.text) {
                refused++;
                assert_memory_equal(&result.named, &result.systematic, sizeof result.named);
                for (int k = 0; k < ncpus; k++)
                    expect_systematic(&result.named, &cpus[k].names);
            } else {
                taken++;
                printf("%s is called as %s\n", cpu.uarch, cpus[j].uarch);
                if (!fits)
                    fail_msg("%s is called as %s", cpu.uarch, cpus[j].uarch);
            }
        }
    printf("%d refused, %d taken\n", refused, taken);
    assert_true(refused > 8 * taken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_family),
        cmocka_unit_test(test_with_noise),
        cmocka_unit_test(test_with_counters),
        cmocka_unit_test(test_wrong_family),
    };
    return cmocka_run_group_tests_name("port_names", tests, make_cpus, free_cpus);
}
