// SPDX-License-Identifier: MIT
// CPUs for the threads of a bench, for topologies of machines as Linux shows them in /sys: with and
// without SMT, with two types of core, with CPUs that are offline or not allowed.
#include "fixtures/machine_fixture.h"

#include "bench/bench_cpus.h"
#include "util/cpulist.h"

static struct arena arena;

// A CPU and its siblings; type of core or NULL.
struct made_cpu {
    int cpu;
    const char *siblings;
};
struct made_machine {
    const char *present, *online;
    const struct made_cpu cpus[16]; // ends with siblings NULL
    const char *core, *atom;        // CPUs of each type; NULL: one type
};

static const struct made_machine smt = {
    "0-7",
    "0-7",
    {{0, "0,4"},
      {1, "1,5"},
      {2, "2,6"},
      {3, "3,7"},
      {4, "0,4"},
      {5, "1,5"},
      {6, "2,6"},
      {7, "3,7"}},
    NULL,
    NULL
};
static const struct made_machine neighbours = {
    "0-3", "0-3", {{0, "0-1"}, {1, "0-1"}, {2, "2-3"}, {3, "2-3"}},
      NULL, NULL
};
static const struct made_machine no_smt = {
    "0-3", "0-3", {{0, "0"}, {1, "1"}, {2, "2"}, {3, "3"}},
      NULL, NULL
};
static const struct made_machine one = {"0", "0", {{0, "0"}}, NULL, NULL};
static const struct made_machine one_core = {
    "0-1", "0-1", {{0, "0-1"}, {1, "0-1"}},
      NULL, NULL
};
// Two performance cores with two threads each, four efficient ones with one.
static const struct made_machine hybrid = {
    "0-7",
    "0-7",
    {{0, "0-1"}, {1, "0-1"}, {2, "2-3"}, {3, "2-3"}, {4, "4"}, {5, "5"}, {6, "6"}, {7, "7"}},
    "0-3",
    "4-7"
};
static const struct made_machine half_offline = {
    "0-7", "0-1,4", {{0, "0,4"}, {1, "1"}, {4, "0,4"}},
      NULL, NULL
};
static const struct made_machine untold = {NULL, NULL, {{0}}, NULL, NULL};

static void make(const struct made_machine *made)
{
    char path[128];
    machine_begin(NULL);
    if (made->present)
        machine_file("/sys/devices/system/cpu/present", made->present);
    if (made->online)
        machine_file("/sys/devices/system/cpu/online", made->online);
    for (const struct made_cpu *cpu = made->cpus; cpu->siblings; cpu++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
                 cpu->cpu);
        machine_file(path, cpu->siblings);
    }
    if (made->core)
        machine_file("/sys/bus/event_source/devices/cpu_core/cpus", made->core);
    if (made->atom)
        machine_file("/sys/bus/event_source/devices/cpu_atom/cpus", made->atom);
}

struct placed {
    int chosen[5];
    const char *placement;
};

// CPUs first to last may be used.
static int choose(const struct made_machine *made, int first, int last,
                  const struct bench_spec *spec, struct placed *placed, struct err *err)
{
    static struct cpu_places cpus;
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    for (int cpu = first; cpu <= last; cpu++)
        CPU_SET((size_t)cpu, &allowed);
    make(made);
    cpu_places_read(machine_root, &allowed, &cpus);
    assert_int_equal(machine_end(), 0);
    int status = bench_cpus_choose(&cpus, spec, placed->chosen, err);
    if (status == 0)
        placed->placement =
            bench_cpus_describe(&cpus, placed->chosen, spec->threads ? spec->threads : 1, &arena);
    return status;
}

// Helpers that are not measured stay off the core that measures, if there is another.
static void the_measuring_core_is_left_alone(void **state)
{
    (void)state;
    static const struct {
        const struct made_machine *machine;
        int first, last, cpu;
        const char *others;
    } cases[] = {
        {&smt,        0, 7, 7, "0-2,4-6"},
        {&smt,        0, 3, 3, "0-2"    },
        {&neighbours, 0, 2, 1, "2"      },
        {&one_core,   0, 1, 1, "0"      }, // better there than nowhere
        {&one,        0, 0, 0, ""       },
        {&hybrid,     0, 7, 3, "0-1,4-7"},
        {&untold,     0, 3, 3, "0-2"    },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static struct cpu_places cpus;
        cpu_set_t set, expected;
        CPU_ZERO(&set);
        for (int cpu = cases[i].first; cpu <= cases[i].last; cpu++)
            CPU_SET((size_t)cpu, &set);
        make(cases[i].machine);
        cpu_places_read(machine_root, &set, &cpus);
        assert_int_equal(machine_end(), 0);
        cpu_places_leave_core(&cpus, cases[i].cpu, &set);
        assert_int_equal(cpulist_parse_set(cases[i].others, &expected), 0);
        if (!CPU_EQUAL(&set, &expected))
            fail_msg("case %zu: %d CPUs are left", i, CPU_COUNT(&set));
    }
}

static void threads_are_placed(void **state)
{
    (void)state;
    // clang-format off
    static const struct {
        const struct made_machine *machine;
        int first, last, cpu, threads;
        int chosen[5];
        const char *placement;
    } cases[] = {
        {&smt, 0, 7, -1, 1, {7}, "7 on a core of its own"},
        {&smt, 0, 7, -1, 2, {7, 3}, "7+3 on one core"},
        {&smt, 0, 7, -1, 3, {7, 3, 6}, "7+3 on one core; 6 on a core of its own"},
        {&smt, 0, 7, -1, 5, {7, 3, 6, 5, 4}, "7+3 on one core; 6, 5, 4 on cores of their own"},
        {&smt, 0, 7, 2, 3, {2, 6, 7}, "2+6 on one core; 7 on a core of its own"},
        {&smt, 0, 3, -1, 3, {3, 2, 1},
         "3, 2, 1 on cores of their own (no two that may be used share one)"}, // taskset
        {&smt, 2, 6, -1, 3, {6, 2, 5}, "6+2 on one core; 5 on a core of its own"},
        {&neighbours, 0, 3, -1, 3, {3, 2, 1}, "3+2 on one core; 1 on a core of its own"},
        {&neighbours, 0, 3, -1, 4, {3, 2, 1, 0}, "3+2 on one core; 1+0 on one core"},
        {&neighbours, 0, 2, -1, 3, {1, 0, 2}, "1+0 on one core; 2 on a core of its own"},
        {&no_smt, 0, 3, -1, 3, {3, 2, 1},
         "3, 2, 1 on cores of their own (no two that may be used share one)"},
        {&one, 0, 0, -1, 1, {0}, "0 on a core of its own"},
        {&one_core, 0, 1, -1, 2, {1, 0}, "1+0 on one core"},
        {&hybrid, 0, 7, -1, 1, {7}, "7 on a core of its own"},
        {&hybrid, 0, 7, -1, 2, {3, 2}, "3+2 on one core"},
        {&hybrid, 0, 7, -1, 3, {3, 2, 1}, "3+2 on one core; 1 on a core of its own"},
        {&hybrid, 0, 7, 5, 3, {5, 7, 6}, "5, 7, 6 on cores of their own"},
        {&hybrid, 4, 7, -1, 2, {7, 6},
         "7, 6 on cores of their own (no two that may be used share one)"},
        {&half_offline, 0, 7, -1, 3, {4, 0, 1}, "4+0 on one core; 1 on a core of its own"},
        {&untold, 0, 3, -1, 2, {3, 2}, "which of them share a core is not known here"},
    };
    // clang-format on
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bench_spec spec = bench_defaults();
        struct err err = {0};
        struct placed placed = {.placement = ""};
        spec.cpu = cases[i].cpu;
        spec.threads = cases[i].threads;
        if (choose(cases[i].machine, cases[i].first, cases[i].last, &spec, &placed, &err) != 0)
            fail_msg("case %zu: %s", i, err.text);
        for (int t = 0; t < spec.threads; t++)
            if (placed.chosen[t] != cases[i].chosen[t])
                fail_msg("case %zu: thread %d runs on CPU %d, not on %d", i, t, placed.chosen[t],
                         cases[i].chosen[t]);
        assert_string_equal(placed.placement, cases[i].placement);
    }
}

static void what_cannot_be_says_why(void **state)
{
    (void)state;
    static const struct {
        const struct made_machine *machine;
        int first, last, cpu, threads;
        int named[3]; // --cpus, if there are two that differ
        const char *message;
        // clang-format off
    } cases[] = {
        {&one, 0, 0, -1, 3, {0},
            "3 threads need as many CPUs, but this process may use 1 only (0)"},
        {&one_core, 0, 1, -1, 3, {0}, "may use 2 only (0-1)"},
        {&smt, 6, 7, -1, 3, {0},
            "may use 2 only (6-7); taskset or a cpuset keeps it from others of " "0-7"},
        {&half_offline, 0, 7, -1, 4, {0}, "may use 3 only (0-1,4); offline are 2-3,5-7"},
        {&hybrid, 0, 7, -1, 5, {0},
            "one type of core, since cycles are calibrated and events counted "
            "for one; this process may use 4 cpu_core, 4 cpu_atom"},
        {&hybrid, 2, 7, 3, 3, {0}, "this process may use 2 cpu_core, 4 cpu_atom"},
        {&half_offline, 0, 7, 2, 1, {0},
            "CPU 2 is offline: echo 1 > /sys/devices/system/cpu/cpu2/online"},
        {&no_smt, 0, 3, 4, 1, {0}, "there is no CPU 4; there are 0-3"},
        {&no_smt, 0, 3, 8000, 1, {0}, "there is no CPU 8000; there are 0-3"},
        {&no_smt, 2, 3, 1, 1, {0}, "CPU 1 is not one that this process may use, which are 2-3"},
        {&no_smt, 0, 3, -1, 2, {1, 1}, "CPU 1 is named twice"},
        {&half_offline, 0, 7, -1, 2, {0, 5}, "CPU 5 is offline"},
        {&hybrid, 0, 7, -1, 2, {0, 7},
            "CPU 7 has another type of core (cpu_atom) than CPU 0 (cpu_core)"},
    };
    // clang-format on
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bench_spec spec = bench_defaults();
        struct err err = {0};
        struct placed placed;
        spec.cpu = cases[i].cpu;
        spec.threads = cases[i].threads;
        if (cases[i].named[1])
            spec.cpus = cases[i].named;
        assert_int_equal(
            choose(cases[i].machine, cases[i].first, cases[i].last, &spec, &placed, &err), -1);
        if (!strstr(err.text, cases[i].message))
            fail_msg("case %zu: '%s' is not in '%s'", i, cases[i].message, err.text);
    }
}

// CPUID tells the kinds where /sys shows one type of core, as of AMD's dense cores.
static void threads_keep_to_a_kind(void **state)
{
    (void)state;
    static struct cpu_places cpus;
    struct cpu_kinds kinds;
    struct bench_spec spec = bench_defaults();
    struct err err = {0};
    int chosen[17] = {0};
    if (cpuinfo_load(&err) != 0 ||
        cpu_kinds_load("tests/fixtures/cpu/zen5_dense.cpuid", &kinds, &err) != 0)
        fail_msg("%s", err.text);
    make(&untold);
    cpu_places_read_kinds(machine_root, &kinds, &cpus);
    assert_int_equal(machine_end(), 0);
    spec.threads = 3;
    spec.cpu = 12;
    assert_int_equal(bench_cpus_choose(&cpus, &spec, chosen, &err), 0);
    assert_int_equal(chosen[1], 15);
    assert_int_equal(chosen[2], 14);
    spec.threads = 9; // of the other kind
    spec.cpu = 3;
    assert_int_equal(bench_cpus_choose(&cpus, &spec, chosen, &err), -1);
    assert_non_null(strstr(err.text, "may use 8 zen5, 16 zen5c"));
    spec.threads = 2;
    spec.cpus = (int[]){3, 4};
    assert_int_equal(bench_cpus_choose(&cpus, &spec, chosen, &err), -1);
    assert_non_null(strstr(err.text, "CPU 4 has another type of core (zen5c) than CPU 3 (zen5)"));
    cpu_kinds_free(&kinds);
}

static int free_arena(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_measuring_core_is_left_alone),
        cmocka_unit_test_teardown(threads_are_placed, free_arena),
        cmocka_unit_test_teardown(what_cannot_be_says_why, free_arena),
        cmocka_unit_test(threads_keep_to_a_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
