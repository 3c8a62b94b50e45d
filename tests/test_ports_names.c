// SPDX-License-Identifier: MIT
// Published names of port sets: for every CPU family that has them, a simulated CPU is made of the
// sets in its file, and must get these names on sets and ports, up to symmetry, with and without
// noise, and with counters on the sets that the front end hides. Files of other families must not
// give it a name that its structure contradicts. What a file may not say, too.
#include "../cpuinfo/cpuinfo.h"
#include "lists_fixture.h"
#include "port_sim.h"
#include "ports_forms.h"
#include "ports_names.h"
#include "ports_names_file.h"
#include "util/paths.h"

#include <glob.h>
#include <unistd.h>

enum { CPUS_MAX = 64, NOISY_SEEDS = 3 };

// A family with the CPU made for it. Ports of the CPU that the file does not name are known by
// their names here as well.
struct made_cpu {
    char uarch[32];
    struct port_names names;
    struct sim_cpu sim;
    char ports[PORTS_MAX][PORT_LABEL_MAX]; // by number in sim
    int nports;
};
static struct made_cpu cpus[CPUS_MAX];
static int ncpus;

static const struct list_row *find_row(const char *form, void *data)
{
    (void)data;
    for (int i = 0; i < lists_all.nrows; i++)
        if (lists_all.rows[i].row->bits == 64 && strcmp(lists_all.rows[i].row->form, form) == 0)
            return lists_all.rows[i].row;
    return NULL;
}

// --- the CPUs ---

static uint32_t made_port(struct made_cpu *cpu, const char *name)
{
    for (int i = 0; i < cpu->nports; i++)
        if (strcmp(cpu->ports[i], name) == 0)
            return UINT32_C(1) << i;
    assert_true(cpu->nports < PORTS_MAX);
    snprintf(cpu->ports[cpu->nports], PORT_LABEL_MAX, "%s", name);
    return UINT32_C(1) << cpu->nports++;
}

// The CPU's ports, or those that it gets now, of names separated by blanks.
static uint32_t made_set(struct made_cpu *cpu, const char *names)
{
    uint32_t set = 0;
    char name[PORT_LABEL_MAX];
    for (int used; sscanf(names, "%7s%n", name, &used) == 1; names += used)
        set |= made_port(cpu, name);
    return set;
}

static struct sim_form *made_form(struct made_cpu *cpu, const char *name, int cost)
{
    for (int i = 0; i < cpu->sim.nforms; i++)
        if (strcmp(cpu->sim.forms[i].name, name) == 0)
            return NULL;
    struct sim_form *form = &cpu->sim.forms[cpu->sim.nforms++];
    *form = (struct sim_form){.slots = 1, .cost = cost, .unit = -1};
    snprintf(form->name, sizeof form->name, "%s", name);
    return form;
}

static void made_use(struct made_cpu *cpu, const char *name, uint32_t set)
{
    const struct list_row *row = find_row(name, NULL);
    struct sim_form *form = made_form(cpu, name, row ? ports_form(row).blocker_cost : 0);
    if (form && set)
        form->uses[form->nuses++] = (struct port_use){set, 1};
}

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
    struct err err = {""};
    sim_forms(sim->cpu, forms);
    if (port_discover(&oracle, forms, sim->cpu->nforms, sim->cpu->width, &result->systematic,
                      &err) != 0)
        fail_msg("%s: %s", uarch, err.text);
    result->named = result->systematic;
    if (port_name_sets(&oracle, forms, sim->cpu->nforms, uarch, &result->named, &result->note,
                       &err) < 0)
        fail_msg("%s: %s", uarch, err.text);
}

static uint32_t sim_ports_of(const struct sim_cpu *sim, const struct port_class *class)
{
    return sim->forms[class->blocker].uses[0].set;
}

// Whether a port of the model that has this name can be the CPU's port `number`: both are in the
// same sets.
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

static const struct port_class *class_of(const struct sim_cpu *sim, const struct port_model *model,
                                         uint32_t set)
{
    for (int c = 0; c < model->nclasses; c++)
        if (sim->forms[model->classes[c].blocker].nuses == 1 &&
            sim_ports_of(sim, &model->classes[c]) == set)
            return &model->classes[c];
    return NULL;
}

static uint32_t line_ports(struct made_cpu *cpu, int line)
{
    const struct port_named_set *set = &cpu->names.sets[line];
    return set->ports ? made_set(cpu, set->record->fields[1]) : 0;
}

// Whether a form that the file does not name tells ports of the set apart, as stores of two µops do
// with the load ports of Sandy Bridge: then nothing says which of these is p2.
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

// Of the families that share a file.
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
    struct err err = {""};
    int which = 0;
    sim_forms(sim->cpu, forms);
    while (strcmp(forms[which].name, form) != 0)
        which++;
    if (port_infer(&oracle, forms, &which, 1, model, NULL, &usage, &err) != 0)
        fail_msg("%s: %s", form, err.text);
    strbuf_clear(text);
    port_usage_text(model, &usage, text);
}

// Where ports are counted, the forms of every published set use it by its name, the hidden ones
// too; without counters these show nothing.
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

// Whether the sets of the other file's lines are, on this CPU, those of the file but for the names
// of ports; as far as they are seen.
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

// Nothing but the systematic names is left, and they look like no published one.
static void expect_systematic(const struct port_model *model)
{
    for (int port = 0; port < PORTS_MAX; port++) {
        char label[PORT_LABEL_MAX];
        port_label(model, port, label);
        assert_true(label[0] == 'u');
    }
    assert_int_equal(model->nhidden, 0);
    for (int c = 0; c < model->nclasses; c++) {
        const char *name = model->classes[c].name;
        for (int i = 0; i < ncpus; i++) {
            for (int s = 0; s < cpus[i].names.n; s++)
                assert_string_not_equal(name, cpus[i].names.sets[s].name);
            for (int p = 0; p < cpus[i].names.npublished; p++)
                assert_string_not_equal(name, cpus[i].names.published[p]);
        }
    }
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
                expect_systematic(&result.named);
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

// --- small CPUs and files for one question each ---

enum { SMALL_SETS_MAX = 8 };
struct small_set {
    const char *form, *ports; // ports of the CPU
};
struct small {
    const struct small_set *sets; // ends with NULL
    const char *lines;            // of the file
    const char *unsupported;      // forms that the CPU does not execute, by '|'; NULL: none
    bool unstable;                // they are unstable instead
    const char *note;             // part of it; NULL: named
    const char *names;            // of the sets in the order of `sets`, by blanks; NULL: any
    const char *ports;            // names of the ports that have one, sorted; NULL: any
};

static void file_write(const char *records, char path[64])
{
    snprintf(path, 64, "/tmp/latput-test-names-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    fprintf(file, "# Names.\n# source: test\n# applies: zen4\nname,ports,form\n%s", records);
    fclose(file);
}

static struct sim small_sim;
static const char *small_unsupported;
static bool small_unstable;

static int small_measure(void *context, const struct port_mix *mixes, int n,
                         struct port_timing *timings, struct err *err)
{
    (void)context;
    struct port_oracle oracle = sim_oracle(&small_sim);
    int status = oracle.measure(oracle.context, mixes, n, timings, err);
    for (int i = 0; i < n; i++)
        for (int p = 0; p < mixes[i].nparts && small_unsupported; p++)
            if (strstr(small_unsupported, small_sim.cpu->forms[mixes[i].parts[p].form].name))
                timings[i] = (struct port_timing){.outcome = small_unstable ? OUTCOME_UNSTABLE
                                                                            : OUTCOME_UNSUPPORTED};
    return status;
}

static void expect_small(const struct small *small, const struct made_cpu *cpu,
                         const struct port_model *model)
{
    struct strbuf sets = {0}, ports = {0};
    for (int i = 0; small->sets[i].form; i++) {
        struct made_cpu copy = *cpu;
        const struct port_class *class =
            class_of(&cpu->sim, model, made_set(&copy, small->sets[i].ports));
        strbuf_printf(&sets, "%s%s", i ? " " : "", class ? class->name : "-");
    }
    int order[PORTS_MAX], n = port_set_ports(model, UINT32_MAX, order);
    for (int p = 0; p < n && model->port_names[order[p]][0]; p++)
        strbuf_printf(&ports, "%s%s", p ? " " : "", model->port_names[order[p]]);
    if (small->names && strcmp(strbuf_text(&sets), small->names) != 0)
        fail_msg("%s: sets are '%s', not '%s'", small->lines, strbuf_text(&sets), small->names);
    if (small->ports && strcmp(strbuf_text(&ports), small->ports) != 0)
        fail_msg("%s: ports are '%s', not '%s'", small->lines, strbuf_text(&ports), small->ports);
    strbuf_free(&sets);
    strbuf_free(&ports);
}

static void run_small(const struct small *small)
{
    struct made_cpu cpu = {.sim = {.width = 6}};
    struct port_form forms[SIM_FORMS_MAX];
    struct port_oracle oracle = {.measure = small_measure};
    struct port_model model;
    struct port_names names;
    struct err err = {""}, note = {""};
    char path[64];
    snprintf(cpu.uarch, sizeof cpu.uarch, "small");
    made_form(&cpu, "nop", 0)->filler_only = true;
    for (int i = 0; small->sets[i].form; i++)
        made_use(&cpu, small->sets[i].form, made_set(&cpu, small->sets[i].ports));
    file_write(small->lines, path);
    assert_int_equal(port_names_read(path, &names, &err), 0);
    for (int i = 0; i < names.n && small->unsupported; i++)
        if (strstr(small->unsupported, names.sets[i].form))
            made_use(&cpu, names.sets[i].form, made_set(&cpu, "x"));
    small_sim = (struct sim){.cpu = &cpu.sim, .seed = 1};
    small_unsupported = small->unsupported;
    small_unstable = small->unstable;
    sim_forms(&cpu.sim, forms);
    assert_int_equal(port_discover(&oracle, forms, cpu.sim.nforms, 6, &model, &err), 0);
    if (port_names_give(&names, &oracle, forms, cpu.sim.nforms, &model, &note, &err) != 0)
        fail_msg("%s", err.text);
    if (!small->note != !*note.text || (small->note && !strstr(note.text, small->note)))
        fail_msg("%s: '%s', not '%s'", small->lines, note.text, small->note ? small->note : "");
    if (small->note)
        expect_systematic(&model);
    expect_small(small, &cpu, &model);
    port_names_free(&names);
    unlink(path);
}

#define F1 "mov r32 i32"
#define F2 "shlx r32 r32 r32"
#define F3 "vpaddb x x x"
#define F4 "vmulps x x x"
#define F5 "imul r32 r32 i32"
#define F6 "vaddps x x x"

static void test_small(void **state)
{
    (void)state;
    static const struct small_set nested[] = {
        {F1,   "a b c d"},
        {F2,   "b c"    },
        {F5,   "b"      },
        {F3,   "e f"    },
        {NULL, NULL     }
    };
    static const struct small_set chain[] = {
        {F1,   "a b c d"},
        {F2,   "a b"    },
        {F3,   "b c"    },
        {F4,   "c a"    },
        {F5,   "b"      },
        {NULL, NULL     }
    };
    static const struct small_set star[] = {
        {F1,   "a b"},
        {F2,   "a c"},
        {F3,   "a d"},
        {NULL, NULL }
    };
    static const struct small cases[] = {
  // All of it, and forms beside it that the file does not know. Ports are known up to
  // symmetry.
        {.sets = nested,
         .lines = "ALL,q0 q1 q2 q10," F1 "\nTWO,q1 q2," F2 "\nONE,q1," F5 "\n",
         .names = "ALL TWO ONE B2",
         .ports = "q0 q1 q2 q10"},
 // A set without a line is called by its ports, where these are known; ports that it tells
  // apart and the file does not have no name.
        {.sets = nested,
         .lines = "ALL,q0 q1 q2 q3," F1 "\nONE,q1," F5 "\n",
         .names = "ALL A2 ONE B2",
         .ports = "q1"},
        {.sets = chain,
         .lines = "ALL,q0 q1 q2 q3," F1 "\nL,q0 q1," F2 "\nR,q1 q2," F3 "\n",
         .names = "ALL L R q02 q1",
         .ports = "q0 q1 q2 q3"},
        {.sets = chain,
         .lines = "ALL,q0 r1 q2 q3," F1 "\nL,q0 r1," F2 "\nR,r1 q2," F3 "\n",
         .names = "ALL L R q02 r1",
         .ports = "q0 q2 q3 r1"},
        {.sets = chain,
         .lines = "ALL,q0 q1 AGU q3," F1 "\nL,q0 q1," F2 "\nR,q1 AGU," F3 "\n",
         .names = "ALL L R AGU/q0 q1",
         .ports = "AGU q0 q1 q3"},
        {.sets = chain,
         .lines = "ALL,q0 q1 q2 q02," F1 "\nL,q0 q1," F2 "\nR,q1 q2," F3 "\n",
         .names = "ALL L R q0/q2 q1"                                           },
        {.sets = star,
         .lines = "X,q0 q1," F1 "\nY,q0 q2," F2 "\n",
         .names = "X Y A2",
         .ports = "q0 q1 q2"},
 // Sets named after what they do say nothing of ports, and give way to others.
        {.sets = nested,
         .lines = "ALL,q0 q1 q2 q3," F1 "\nTWO,q1 q2," F2 "\nONE,q1," F5 "\nLOAD,," F3 "\n",
         .names = "ALL TWO ONE LOAD",
         .ports = "q0 q1 q2 q3"},
 // What the CPU lacks cannot contradict.
        {.sets = nested,
         .lines = "ALL,q0 q1 q2 q3," F1 "\nTWO,q1 q2," F2 "\nNEW,q1 q3," F4 "\n",
         .unsupported = F4,
         .names = "ALL TWO A1 B2",
         .ports = "q0 q3"},
        {.sets = nested,
         .lines = "ALL,q0 q1 q2 q3," F1 "\nTWO,q1 q2," F2 "\nNEW,q1 q3," F4 "\n",
         .unsupported = F4,
         .unstable = true,
         .names = "ALL TWO A1 B2",
         .ports = "q0 q3"},
        {.sets = nested,
         .lines = "ALL,q0 q1 q2 q3," F1 "\nNEW,q1 q3," F4 "\nNEWER,q4," F2 "\n",
         .unsupported = F4,
         .note = "NEWER and ALL share 2 ports here, not 0"},
        {.sets = nested,
         .lines = "ONE,q1," F5 "\nNEW,q1 q3," F4 "\nNEWER,q1 q2," F6 "\n",
         .unsupported = F4 "|" F6,
         .note = "only 1 of 3 published sets can be seen"},
 // Sizes, overlaps of two sets, of all sets.
        {.sets = nested,
         .lines = "ALL,q0 q1 q2," F1 "\nTWO,q1 q2," F2 "\n",
         .note = "ALL has 4 ports here, not 3"                                                       },
        {.sets = nested,
         .lines = "ALL,q0 q1 q2 q3," F1 "\nTWO,q1 q4," F2 "\n",
         .note = "TWO and ALL share 2 ports here, not 1"                                                      },
        {.sets = star,
         .lines = "X,q0 q1," F1 "\nY,q1 q2," F2 "\nZ,q2 q0," F3 "\n",
         .note = "the sets do not overlap as published"       },
        {.sets = nested,
         .lines = "ALL,q0 q1 q2 q3," F1 "\nSIX,q0 q1 q2 q3 q4 q5," F2 "\n",
         .note = "SIX and ALL share 2 ports here, not 4"      },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        run_small(&cases[i]);
}

// --- what files may say ---

static void test_files(void **state)
{
    (void)state;
    struct strbuf many_ports = {0}, many_sets = {0};
    for (int i = 0; i < 8; i++) {
        strbuf_printf(&many_ports, "SET%d,", i);
        for (int port = 0; port < 9; port++)
            strbuf_printf(&many_ports, "q%d ", 9 * i + port);
        strbuf_puts(&many_ports, ",mov r32 i32\n");
    }
    for (int i = 0; i < 33; i++)
        strbuf_printf(&many_sets, "SET%d,,mov r32 i32\n", i);
    const struct {
        const char *records, *message; // NULL: fine
    } cases[] = {
        {"ALU,p0 p1," F1 "\n",                      NULL                                      },
        {"ALU,p0 p1," F1 "\nV,," F3 "\n",           NULL                                      },
        {",p0," F1 "\n",                            ":5: a name has 1 to 23 letters"          },
        {"A+B,p0," F1 "\n",                         "a name has 1 to 23 letters"              },
        {"A B,p0," F1 "\n",                         "a name has 1 to 23 letters"              },
        {"A*,p0," F1 "\n",                          "a name has 1 to 23 letters"              },
        {"A/B,p0," F1 "\n",                         "a name has 1 to 23 letters"              },
        {"A23456789012345678901234,p0," F1 "\n",    "a name has 1 to 23 letters"              },
        {"A2345678901234567890123,p0," F1 "\n",     NULL                                      },
        {"A4,p0," F1 "\n",                          "sets without a name are called like this"},
        {"B2a,p0," F1 "\n",                         "sets without a name are called like this"},
        {"u0,p0," F1 "\n",                          "sets without a name are called like this"},
        {"V01,p0," F1 "\n",                         NULL                                      },
        {"A,u1 p0," F1 "\n",                        "'u1' looks like a port without a name"   },
        {"A,p0," F1 "\nB,p1," F5 "\nA,p2," F3 "\n", ":7: the name stands in line 5 too"       },
        {"A,p0 p1," F1 "\nB,p1 p0," F3 "\n",        ":6: line 5 names this set too"           },
        {"A,p0 p1," F1 "\nB,p1," F1 "\n",           ":6: the form stands in line 5 too"       },
        {"A,p0 p1," F1 "\np1,p0," F3 "\n",          "this is the name of a port"              },
        {"A,p0 p1," F1 "\np1,p1," F3 "\n",          NULL                                      },
        {"A,p0 p1 p0," F1 "\n",                     "a port stands twice in the set"          },
        {"A,p0 p1234567," F1 "\n",                  "a port's name has at most 7 letters"     },
        {"A,p0,mov r32 r99\n",                      "no list has the form 'mov r32 r99'"      },
        {"A,p0,add r32 r32\n",                      "'add r32 r32' cannot show a set"         },
        {"A,p0,\n",                                 "no list has the form ''"                 },
        {"A,p0\n",                                  ":5: "                                    },
        {strbuf_text(&many_ports),                  "more than 64 ports"                      },
        {strbuf_text(&many_sets),                   "more than 32 port sets"                  },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = {""};
        char path[64];
        file_write(cases[i].records, path);
        int status = port_names_check(path, find_row, NULL, &err);
        // A file that is right but for its name, which is not zen4.csv, has this fault only.
        const char *message = cases[i].message ? cases[i].message : "the file must be zen4.csv";
        if (status != -1 || !strstr(err.text, message))
            fail_msg("%s gave %d: %s", cases[i].records, status, err.text);
        assert_non_null(strstr(err.text, path));
        unlink(path);
    }
    strbuf_free(&many_ports);
    strbuf_free(&many_sets);
    struct err err = {""};
    assert_int_equal(port_names_check("/nowhere/x.csv", find_row, NULL, &err), -1);
    assert_non_null(strstr(err.text, "/nowhere/x.csv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_family),  cmocka_unit_test(test_with_noise),
        cmocka_unit_test(test_with_counters), cmocka_unit_test(test_wrong_family),
        cmocka_unit_test(test_small),         cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests_name("ports_names", tests, make_cpus, free_cpus);
}
