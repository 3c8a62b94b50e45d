// SPDX-License-Identifier: MIT
// CPUs that are not what their signature claims: the belief from CPUID alone, and from
// measurements.
#include "cpuinfo/cpu_tables.h"
#include "util/mem.h"
#include "util/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char sapphirerapids_words[] =
    "AVX512_BF16, AVX512_FP16|which no rocketlake has|L2 is shown with 2048 KiB; rocketlake has "
    "512|"
    "sapphirerapids and emeraldrapids fit alike and have the same core; the first of them is taken";
static const char graniterapids_words[] = "AMX_TILE|L1i is shown with 64 KiB; rocketlake has "
                                          "32|graniterapids is the family that fits best";
static const char zen5_words[] = "AVX512F, GFNI, AVX_VNNI|L1d is shown with 48 KiB; zen3 has "
                                 "32|zen5 is the family that fits best";
static const char baseline_words[] =
    "dispatches 6 µops per cycle; haswell dispatches 4|L1d is shown with 48 KiB; haswell has 32|"
    "raptorlake_p, sapphirerapids and emeraldrapids fit alike and have the same core";

// clang-format off
static const struct {
    int line;
    const char *dump;
    int width; // measured
    double imul_per_add;
    const char *claim, *uarch;
    enum cpu_decision decision;
    const char *words;   // all of these, separated by `|`, in the text of the evidence
    uint64_t widths;     // bits that cpu_widths_allowed() must have
    uint64_t not_widths; // and those that it must not have
} disguises[] = {
    // Nothing is measured: CPUID contradicts itself.
    {__LINE__, "sapphirerapids_renamed_kvm", 0, 0, "rocketlake", "sapphirerapids?",
     CPU_DECIDED_INFERRED, sapphirerapids_words, 1 << 6, 1 << 5},
    {__LINE__, "graniterapids_renamed_kvm", 0, 0, "rocketlake", "graniterapids?",
     CPU_DECIDED_INFERRED, graniterapids_words, 1 << 6, 1 << 5},
    {__LINE__, "zen5_renamed", 0, 0, "zen3", "zen5?", CPU_DECIDED_INFERRED, zen5_words, 1 << 8,
     1 << 6},
    // Measuring confirms it, or nothing contradicts the claim.
    {__LINE__, "sapphirerapids_renamed_kvm", 6, 3.004, "rocketlake", "sapphirerapids?",
     CPU_DECIDED_INFERRED, "dispatches 6 µops per cycle; rocketlake dispatches 5", 1 << 6, 1 << 5},
    {__LINE__, "emeraldrapids_kvm", 6, 3.0, "emeraldrapids", "emeraldrapids", CPU_DECIDED_CLAIM, "",
     1 << 6, 1 << 5},
    {__LINE__, "skylakex_avx512_off", 0, 0, "skylakex", "skylakex", CPU_DECIDED_CLAIM, "", 1 << 4,
     0},
    {__LINE__, "skylakex_avx512_off", 4, 3.01, "skylakex", "skylakex", CPU_DECIDED_CLAIM, "",
     1 << 4, 0},
    {__LINE__, "zen2", 5, 3.0, "zen2", "zen2", CPU_DECIDED_CLAIM, "", 1 << 5 | 1 << 6, 0},
    {__LINE__, "zen2", 6, 3.0, "zen2", "zen2", CPU_DECIDED_CLAIM, "", 1 << 5 | 1 << 6, 0},
    // A baseline for live migration hides all that is newer; caches alone are no proof.
    {__LINE__, "haswell_baseline_kvm", 0, 0, "haswell", "haswell", CPU_DECIDED_CLAIM, "",
     1 << 4 | 1 << 6, 0},
    {__LINE__, "haswell_baseline_kvm", 6, 3.0, "haswell", "raptorlake_p?", CPU_DECIDED_INFERRED,
     baseline_words, 1 << 4 | 1 << 6, 0},
    // Widths that no family has.
    {__LINE__, "zen5", 9, 3.0, "zen5", "unknown", CPU_DECIDED_UNKNOWN,
     "dispatches 9 µops per cycle; zen5 dispatches 8|no family of cpus.csv fits", 1 << 8, 1 << 6},
    // Less than the width may be noise, and contradicts nothing.
    {__LINE__, "zen5", 7, 3.0, "zen5", "zen5", CPU_DECIDED_CLAIM, "", 1 << 8, 1 << 6},
    {__LINE__, "zen5", 3, 3.0, "zen5", "zen5", CPU_DECIDED_CLAIM, "", 1 << 8, 1 << 6},
    {__LINE__, "zen5_renamed", 7, 3.0, "zen3", "zen5?", CPU_DECIDED_INFERRED,
     "dispatches 7 µops per cycle; zen3 dispatches 6|zen5 is the family that fits best", 1 << 8,
     1 << 6},
    {__LINE__, "emeraldrapids_kvm", 6, 4.0, "emeraldrapids", "unknown", CPU_DECIDED_UNKNOWN,
     "imul r64,r64 takes 4.00 cycles; on emeraldrapids it takes 3|no family", 0, 1 << 6},
    // A ratio that is no integer says nothing.
    {__LINE__, "emeraldrapids_kvm", 6, 3.4, "emeraldrapids", "emeraldrapids", CPU_DECIDED_CLAIM, "",
     1 << 6, 0},
    // Without a claim there is nothing to contradict.
    {__LINE__, "unknown_model", 5, 3.0, "unknown", "unknown", CPU_DECIDED_UNKNOWN, "", 0, 0},
    {__LINE__, "kvm64", 5, 3.0, "unknown", "unknown", CPU_DECIDED_UNKNOWN, "", 0, 0},
};
// clang-format on
static void cpu_read(const char *name, struct cpu_info *cpu)
{
    struct err err;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.cpuid", path_data("tests/fixtures/cpu"), name);
    if (cpu_load(path, cpu, &err) < 0)
        fail_msg("%s", err.text);
}

static void words_check(const char *text, const char *words, int line)
{
    char copy[512];
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok(copy, "|"); word; word = strtok(NULL, "|"))
        if (!strstr(text, word))
            fail_msg("line %d: no '%s' in: %s", line, word, text);
}

static void test_disguises(void **state)
{
    (void)state;
    static struct cpu_info cpu;
    for (size_t i = 0; i < ARRAY_LEN(disguises); i++) {
        char evidence[2000];
        int line = disguises[i].line;
        cpu_read(disguises[i].dump, &cpu);
        const struct cpu_measured measured = {.issue_width = disguises[i].width,
                                              .imul_per_add = disguises[i].imul_per_add};
        uint64_t widths = cpu_widths_allowed(&cpu, &measured);
        cpu_judge(&cpu, &measured);
        cpu_evidence_text(&cpu, evidence, sizeof evidence);
        print_message("line %d: %s: %s\n", line, cpu.uarch, evidence);
        assert_string_equal(cpu.claim, disguises[i].claim);
        assert_string_equal(cpu.uarch, disguises[i].uarch);
        assert_int_equal(cpu.decision, disguises[i].decision);
        assert_int_equal(cpu.measured_width, measured.issue_width);
        assert_int_equal(cpu_seen_narrow(&cpu), cpu.measured_width &&
                                                    cpu.measured_width < cpu.issue_width &&
                                                    strcmp(cpu.uarch, "zen2") != 0);
        words_check(evidence, disguises[i].words, line);
        if (!*disguises[i].words)
            assert_string_equal(evidence, "");
        assert_int_equal(widths & disguises[i].widths, disguises[i].widths);
        assert_int_equal(widths & disguises[i].not_widths, 0);
    }
}

// Values of properties, for CPUs whose CPUID alone is believed. Each is
// property/variant/label=value.
#define GOLDEN_ROB "reorder_buffer/nop/knee=500 "
#define GOLDEN_QUEUES "memory_queues/load/knee=190 memory_queues/store/knee=112 "
#define GOLDEN_MORE "branches_under_way/branch/knee=127 code_footprint/nop/end 1=32768 "
static const struct {
    int line;
    const char *dump, *seen, *uarch, *words;
    int agree; // properties that agree with what is believed
    // clang-format off
} seen_cases[] = {
    // A core that its baseline hides.
    {__LINE__, "haswell_baseline_kvm", GOLDEN_ROB GOLDEN_QUEUES GOLDEN_MORE, "raptorlake_p?",
     "reorder_buffer (nop) is 500; the most that haswell has is 192|L1d is shown with 48 KiB|"
     "memory_queues (load) is 190; the most that haswell has is 72", 5},
    // One property is never enough, however far off it is, nor are two values of one.
    {__LINE__, "haswell_baseline_kvm", GOLDEN_ROB, "haswell", "", 0},
    {__LINE__, "haswell_baseline_kvm", GOLDEN_QUEUES, "haswell", "", 0},
    {__LINE__, "emeraldrapids_kvm", "reorder_buffer/nop/knee=900 " GOLDEN_QUEUES GOLDEN_MORE,
     "emeraldrapids", "", 4},
    {__LINE__, "emeraldrapids_kvm", GOLDEN_ROB GOLDEN_QUEUES GOLDEN_MORE, "emeraldrapids", "", 5},
    // More than any core has is no core that is known; two such values refute no claim.
    {__LINE__, "haswell_baseline_kvm", "reorder_buffer/nop/knee=2000 memory_queues/load/knee=999 ",
     "haswell", "", 0},
    // A busy sibling takes half of all of them, and says nothing.
    {__LINE__, "emeraldrapids_kvm",
     "reorder_buffer/nop/knee=250 memory_queues/load/knee=95 memory_queues/store/knee=56 "
     "branches_under_way/branch/knee=64 ", "emeraldrapids", "", 0},
    {__LINE__, "skylake", "reorder_buffer/nop/knee=222 memory_queues/load/knee=70 ",
     "skylake", "", 2},
    // If more values agree than are too large, the latter count as disturbed.
    {__LINE__, "skylake",
     "reorder_buffer/nop/knee=222 memory_queues/load/knee=190 memory_queues/store/knee=56 "
     "l1_ways//end 1=12 ", "skylake", "", 2},
    // CPUID refutes the claim already; the properties are named, too.
    {__LINE__, "sapphirerapids_renamed_kvm", GOLDEN_ROB GOLDEN_QUEUES, "sapphirerapids?",
     "CPUID announces|reorder_buffer (nop) is 500; the most that rocketlake has is 352", 3},
};
// clang-format on

static int seen_parse(const char *text, struct cpu_observed *observed)
{
    int n = 0, used = 0;
    struct cpu_observed *at = observed;
    while (*text) {
        *at = (struct cpu_observed){0};
        const char *slash = strchr(text, '/');
        const char *second = strchr(slash + 1, '/'), *equals = strchr(second, '=');
        snprintf(at->property, sizeof at->property, "%.*s", (int)(slash - text), text);
        snprintf(at->variant, sizeof at->variant, "%.*s", (int)(second - slash - 1), slash + 1);
        snprintf(at->label, sizeof at->label, "%.*s", (int)(equals - second - 1), second + 1);
        if (sscanf(equals, "=%lf %n", &at->value, &used) != 1)
            fail_msg("no value: %s", text);
        at->low = at->value * 0.99;
        at->high = at->value * 1.01;
        if (!cpu_observes(at->property, at->variant, at->label))
            fail_msg("core_sizes.csv has no %s %s %s", at->property, at->variant, at->label);
        text = equals + used;
        at++;
        n++;
    }
    return n;
}

static void test_properties(void **state)
{
    (void)state;
    static struct cpu_info cpu;
    for (size_t i = 0; i < ARRAY_LEN(seen_cases); i++) {
        struct cpu_observed observed[CPU_OBSERVED_MAX];
        char evidence[2000];
        int n = seen_parse(seen_cases[i].seen, observed), agree = 0;
        const struct cpu_measured measured = {.observed = observed, .nobserved = n};
        cpu_read(seen_cases[i].dump, &cpu);
        cpu_judge(&cpu, &measured);
        cpu_evidence_text(&cpu, evidence, sizeof evidence);
        print_message("line %d: %s: %s\n", seen_cases[i].line, cpu.uarch, evidence);
        assert_string_equal(cpu.uarch, seen_cases[i].uarch);
        words_check(evidence, seen_cases[i].words, seen_cases[i].line);
        if (!*seen_cases[i].words)
            assert_string_equal(evidence, "");
        assert_int_equal(cpu.nsights, n);
        for (int s = 0; s < n; s++)
            agree += cpu.sights[s].believed == CPU_SAYS_AGREES;
        assert_int_equal(agree, seen_cases[i].agree);
        cpu_judge(&cpu, NULL); // nothing of it is left
        assert_int_equal(cpu.nsights, 0);
    }
}

// Facts are those of the believed family, and an earlier judgement leaves nothing behind.
static void test_facts_follow(void **state)
{
    (void)state;
    static struct cpu_info cpu;
    const struct cpu_measured wide = {.issue_width = 6, .imul_per_add = 3};
    cpu_read("haswell_baseline_kvm", &cpu);
    assert_int_equal(cpu.issue_width, 4);
    cpu_judge(&cpu, &wide);
    assert_int_equal(cpu.issue_width, 6);
    assert_int_equal(cpu.imul64_clk, 3);
    assert_non_null(strstr(cpu.uarch_name, ", inferred"));
    int contradictions = cpu.ncontradictions;
    cpu_judge(&cpu, &wide);
    assert_int_equal(cpu.ncontradictions, contradictions);
    cpu_judge(&cpu, NULL);
    assert_string_equal(cpu.uarch, "haswell");
    assert_string_equal(cpu.uarch_name, "Haswell");
    assert_int_equal(cpu.issue_width, 4);
    assert_int_equal(cpu.ncontradictions, 0);
    assert_string_equal(cpu.reason, "");
}

// Names of families, as people write them; "" if the message is about several or none.
static void test_called(void **state)
{
    static const struct {
        const char *said, *uarch, *message;
    } names[] = {
        {"zen5",            "zen5",           ""                                       },
        {"Zen 5",           "zen5",           ""                                       },
        {"znver5",          "zen5",           ""                                       },
        {"turin",           "zen5",           ""                                       },
        {"ZEN+",            "zenplus",        ""                                       },
        {"SPR",             "sapphirerapids", ""                                       },
        {"ADL-E",           "",               "means several uarchs, alderlake_e, "    },
        {"skylake-avx512",  "skylakex",       ""                                       },
        {"lion cove",       "",               "arrowlake_p, lunarlake_p: name one"     },
        {"sunny cove",      "",               "uarchs, icelake, icelakex: name"        },
        {"Willow Cove",     "tigerlake",      ""                                       },
        {"unknown",         "unknown",        ""                                       },
        {"sapphirerapid",   "",               "; did you mean 'sapphirerapids'?"       },
        {"zen5?",           "",               "; did you mean 'zen5'?"                 },
        {"",                "",               "there is no uarch '' in cpus.csv"       },
        {"--",              "",               "; name one of its column uarch"         },
        {"kabylakecoffeel", "",               "there is no uarch 'kabylakecoffeel' in "},
        {"Sapphire_Rapids", "sapphirerapids", ""                                       },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct err err = {0};
        const char *uarch = cpu_uarch_called(names[i].said, &err);
        assert_string_equal(uarch ? uarch : "", names[i].uarch);
        if (!strstr(err.text, names[i].message))
            fail_msg("%s: %s", names[i].said, err.text);
    }
    assert_true(cpu_is_called("sapphirerapids?", "golden cove"));
    assert_false(cpu_is_called("sapphirerapids?", "golden"));
    assert_string_equal(cpu_other_name("zen3?", CPU_NAME_OSACA), "ZEN3");
    assert_string_equal(cpu_other_name("unknown", CPU_NAME_LLVM), "");
    // Dense cores have no name of their own there.
    assert_string_equal(cpu_other_name("zen5c", CPU_NAME_LLVM), "");
    assert_string_equal(cpu_llvm_name("zen5c?"), "znver5");
    assert_string_equal(cpu_llvm_name("zen4c"), "znver4");
    assert_string_equal(cpu_llvm_name("zenplus"), "znver1");
    assert_string_equal(cpu_llvm_name("zen6"), "");
    assert_string_equal(cpu_llvm_name("unknown"), "");
}

static void test_override(void **state)
{
    (void)state;
    static struct cpu_info cpu;
    struct err err;
    assert_int_equal(cpu_override("no_such", &err), -1);
    assert_non_null(strstr(err.text, "'no_such'"));
    assert_int_equal(cpu_override("zen5?", &err), -1);
    assert_int_equal(cpu_override("Znver 4", &err), 0);
    cpu_read("sapphirerapids_renamed_kvm", &cpu);
    assert_string_equal(cpu.uarch, "zen4");
    assert_string_equal(cpu.claim, "rocketlake");
    assert_int_equal(cpu.decision, CPU_DECIDED_OVERRIDE);
    assert_true(cpu.ncontradictions > 0);
    assert_int_equal(cpu_override("unknown", &err), 0);
    cpu_judge(&cpu, NULL);
    assert_string_equal(cpu.uarch, "unknown");
    assert_int_equal(cpu.issue_width, 0);
    assert_int_equal(cpu_override(NULL, &err), 0);
    cpu_judge(&cpu, NULL);
    assert_string_equal(cpu.uarch, "sapphirerapids?");
}

static void test_key(void **state)
{
    (void)state;
    char key[8];
    assert_string_equal(cpu_uarch_key("zen5?", key, sizeof key), "zen5");
    assert_string_equal(cpu_uarch_key("zen5", key, sizeof key), "zen5");
    assert_string_equal(cpu_uarch_key("", key, sizeof key), "");
    assert_string_equal(cpu_family_find("zen5?")->uarch, "zen5");
}

int main(void)
{
    if (!getenv("LATPUT_ROOT"))
        setenv("LATPUT_ROOT", ".", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disguises),    cmocka_unit_test(test_properties),
        cmocka_unit_test(test_facts_follow), cmocka_unit_test(test_called),
        cmocka_unit_test(test_override),     cmocka_unit_test(test_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
