// SPDX-License-Identifier: MIT
// Published names of port sets, one question at a time: small simulated CPUs, each with a file that
// fits or contradicts it, and what a file may say at all.
#include "fixtures/names_fixture.h"

#include <unistd.h>

struct small_set {
    const char *form, *ports; // ports of the CPU
};
struct small {
    const char *what;             // the question
    const struct small_set *sets; // ends with NULL
    const char *lines;            // of the file
    const char *unsupported;      // forms that the CPU does not execute, by '|'; NULL: none
    bool unstable;                // they are unstable instead
    const char *note;             // part of it; NULL: named
    const char *names;            // of the sets in the order of `sets`, by blanks; NULL: any
    const char *ports;            // names of the ports that have one, sorted; NULL: any
};

static void names_write(const char *records, char path[64])
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
        fail_msg("%s: sets are '%s', not '%s'", small->what, strbuf_text(&sets), small->names);
    if (small->ports && strcmp(strbuf_text(&ports), small->ports) != 0)
        fail_msg("%s: ports are '%s', not '%s'", small->what, strbuf_text(&ports), small->ports);
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
    struct err err = {0}, note = {0};
    char path[64];
    snprintf(cpu.uarch, sizeof cpu.uarch, "small");
    made_form(&cpu, "nop", 0)->filler_only = true;
    for (int i = 0; small->sets[i].form; i++)
        made_use(&cpu, small->sets[i].form, made_set(&cpu, small->sets[i].ports));
    names_write(small->lines, path);
    assert_int_equal(port_names_read(path, &names, &err), 0);
    for (int i = 0; i < names.n && small->unsupported; i++)
        if (strstr(small->unsupported, names.sets[i].form))
            made_use(&cpu, names.sets[i].form, made_set(&cpu, "x"));
    small_sim = (struct sim){.cpu = &cpu.sim, .seed = 1};
    small_unsupported = small->unsupported;
    small_unstable = small->unstable;
    sim_forms(&cpu.sim, forms);
    assert_int_equal(port_discover(&oracle, forms, cpu.sim.nforms, 6, &model, &err), 0);
    const struct port_subjects subjects = {&oracle, forms, cpu.sim.nforms};
    if (port_names_give(&subjects, &names, &model, &note, &err) != 0)
        fail_msg("%s", err.text);
    if (!small->note != !*note.text || (small->note && !strstr(note.text, small->note)))
        fail_msg("%s: '%s', not '%s'", small->what, note.text, small->note ? small->note : "");
    if (small->note)
        expect_systematic(&model, &names);
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

static const struct small_set nested[] = {
    {F1,   "a b c d"},
    {F2,   "b c"    },
    {F5,   "b"      },
    {F3,   "e f"    },
    {NULL, NULL     },
};
static const struct small_set chain[] = {
    {F1,   "a b c d"},
    {F2,   "a b"    },
    {F3,   "b c"    },
    {F4,   "c a"    },
    {F5,   "b"      },
    {NULL, NULL     },
};
static const struct small_set star[] = {
    {F1,   "a b"},
    {F2,   "a c"},
    {F3,   "a d"},
    {NULL, NULL },
};

// Rows name what they need, which clang-format 14 cannot align.
// clang-format off

// Names that are taken. Ports are known up to symmetry.
static const struct small named[] = {
    {.what = "all of the file, and a form beside it that the file does not know",
     .sets = nested,
     .lines = "ALL,q0 q1 q2 q10," F1 "\nTWO,q1 q2," F2 "\nONE,q1," F5 "\n",
     .names = "ALL TWO ONE B2",
     .ports = "q0 q1 q2 q10"},
    {.what = "ports that a set without a line tells apart have no name",
     .sets = nested,
     .lines = "ALL,q0 q1 q2 q3," F1 "\nONE,q1," F5 "\n",
     .names = "ALL A2 ONE B2",
     .ports = "q1"},
    {.what = "a set without a line is called by its ports where these are known",
     .sets = chain,
     .lines = "ALL,q0 q1 q2 q3," F1 "\nL,q0 q1," F2 "\nR,q1 q2," F3 "\n",
     .names = "ALL L R q02 q1",
     .ports = "q0 q1 q2 q3"},
    {.what = "names of ports with another letter",
     .sets = chain,
     .lines = "ALL,q0 r1 q2 q3," F1 "\nL,q0 r1," F2 "\nR,r1 q2," F3 "\n",
     .names = "ALL L R q02 r1",
     .ports = "q0 q2 q3 r1"},
    {.what = "names of ports without a number",
     .sets = chain,
     .lines = "ALL,q0 q1 AGU q3," F1 "\nL,q0 q1," F2 "\nR,q1 AGU," F3 "\n",
     .names = "ALL L R AGU/q0 q1",
     .ports = "AGU q0 q1 q3"},
    {.what = "a name that the ports would make is that of a port",
     .sets = chain,
     .lines = "ALL,q0 q1 q2 q02," F1 "\nL,q0 q1," F2 "\nR,q1 q2," F3 "\n",
     .names = "ALL L R q0/q2 q1"},
    {.what = "a port that the file does not have",
     .sets = star,
     .lines = "X,q0 q1," F1 "\nY,q0 q2," F2 "\n",
     .names = "X Y A2",
     .ports = "q0 q1 q2"},
    {.what = "sets named after what they do say nothing of ports, and give way to others",
     .sets = nested,
     .lines = "ALL,q0 q1 q2 q3," F1 "\nTWO,q1 q2," F2 "\nONE,q1," F5 "\nLOAD,," F3 "\n",
     .names = "ALL TWO ONE LOAD",
     .ports = "q0 q1 q2 q3"},
    {.what = "what the CPU lacks cannot contradict",
     .sets = nested,
     .lines = "ALL,q0 q1 q2 q3," F1 "\nTWO,q1 q2," F2 "\nNEW,q1 q3," F4 "\n",
     .unsupported = F4,
     .names = "ALL TWO A1 B2",
     .ports = "q0 q3"},
    {.what = "what is unstable cannot contradict",
     .sets = nested,
     .lines = "ALL,q0 q1 q2 q3," F1 "\nTWO,q1 q2," F2 "\nNEW,q1 q3," F4 "\n",
     .unsupported = F4,
     .unstable = true,
     .names = "ALL TWO A1 B2",
     .ports = "q0 q3"},
};

// Files that contradict the CPU.
static const struct small refused[] = {
    {.what = "overlaps, where the CPU lacks a form",
     .sets = nested,
     .lines = "ALL,q0 q1 q2 q3," F1 "\nNEW,q1 q3," F4 "\nNEWER,q4," F2 "\n",
     .unsupported = F4,
     .note = "NEWER and ALL share 2 ports here, not 0"},
    {.what = "too few sets to tell",
     .sets = nested,
     .lines = "ONE,q1," F5 "\nNEW,q1 q3," F4 "\nNEWER,q1 q2," F6 "\n",
     .unsupported = F4 "|" F6,
     .note = "only 1 of 3 published sets can be seen"},
    {.what = "the size of a set",
     .sets = nested,
     .lines = "ALL,q0 q1 q2," F1 "\nTWO,q1 q2," F2 "\n",
     .note = "ALL has 4 ports here, not 3"},
    {.what = "a set that should be inside another",
     .sets = nested,
     .lines = "ALL,q0 q1 q2 q3," F1 "\nTWO,q1 q4," F2 "\n",
     .note = "TWO and ALL share 2 ports here, not 1"},
    {.what = "a set that should be around another",
     .sets = nested,
     .lines = "ALL,q0 q1 q2 q3," F1 "\nSIX,q0 q1 q2 q3 q4 q5," F2 "\n",
     .note = "SIX and ALL share 2 ports here, not 4"},
    {.what = "what all sets have in common",
     .sets = star,
     .lines = "X,q0 q1," F1 "\nY,q1 q2," F2 "\nZ,q2 q0," F3 "\n",
     .note = "the sets do not overlap as published"},
};

// clang-format on

static void test_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(named); i++)
        run_small(&named[i]);
}

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        run_small(&refused[i]);
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
        struct err err = {0};
        char path[64];
        names_write(cases[i].records, path);
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
    struct err err = {0};
    assert_int_equal(port_names_check("/nowhere/x.csv", find_row, NULL, &err), -1);
    assert_non_null(strstr(err.text, "/nowhere/x.csv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_named),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests_name("port_names_small", tests, lists_setup, lists_teardown);
}
