// SPDX-License-Identifier: MIT
// The words of `latput cpu` on measured properties beside what cores are said to have: a range is a
// range, and only what lies within agrees.
#include "commands/cpu_print.h"

#include "cpuinfo/cpuinfo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int setup(void **state)
{
    (void)state;
    char tree[4096];
    struct err err;
    if (!getenv("LATPUT_ROOT") && getcwd(tree, sizeof tree))
        setenv("LATPUT_ROOT", tree, 1);
    return cpuinfo_load(&err);
}

// Measures a property of a Zen 5 and looks for what is said of it.
static void check_sight(struct cpu_observed seen, const char *expected)
{
    static struct cpu_info cpu;
    const struct cpu_measured measured = {.observed = &seen, .nobserved = 1};
    char *text = NULL;
    size_t size = 0;
    struct err err;
    if (cpu_load("tests/fixtures/cpu/zen5.cpuid", &cpu, &err) != 0)
        fail_msg("%s", err.text);
    cpu_judge(&cpu, &measured);
    FILE *out = open_memstream(&text, &size);
    cpu_print_text(&cpu, NULL, NULL, out);
    fclose(out);
    char *to = text; // lines are wrapped
    for (const char *at = text; *at; at++)
        if (!strchr(" \n", *at) || (at > text && !strchr(" \n", at[-1])))
            *to++ = *at == '\n' ? ' ' : *at;
    *to = '\0';
    if (!strstr(text, expected))
        fail_msg("'%s' is not in:\n%s", expected, text);
    free(text);
}

static void sizes_are_held_against(void **state)
{
    (void)state;
    check_sight(
        (struct cpu_observed){"reorder_buffer", "nop", "knee", 446, 446, 449},
        "reorder_buffer nop: 446 (446 to 449); zen5 has 448 to 896 (entries; nops if two take "
        "one), which agrees ");
    check_sight(
        (struct cpu_observed){"memory_queues", "load", "knee", 208, 204, 224},
        "; zen5 has 202 (as probers found it), 3 % less than measured, which the method may "
        "be wrong by ");
    check_sight((struct cpu_observed){"memory_queues", "load", "knee", 202, 202, 202},
                "memory_queues load: 202; zen5 has 202 (as probers found it), which agrees ");
    check_sight((struct cpu_observed){"memory_queues", "store", "knee", 52, 51, 53},
                "; zen5 has 104, 50 % more than measured ");
    check_sight((struct cpu_observed){"memory_queues", "store", "knee", 200, 190, 210},
                "; zen5 has 104, which is too few ");
    check_sight((struct cpu_observed){"memory_queues", "nobody", "knee", 1, 1, 1},
                "memory_queues nobody: 1 ");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_are_held_against)};
    return cmocka_run_group_tests(tests, setup, NULL);
}
