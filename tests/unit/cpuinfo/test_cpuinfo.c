// SPDX-License-Identifier: MIT
// Recorded and constructed CPUID dumps against what must be read off them; damaged dumps and tables
// against the message that must come.
#include "commands/cpu_print.h"
#include "cpuinfo/cpu_decode.h"
#include "cpuinfo/cpu_kinds.h"
#include "cpuinfo/cpu_tables.h"
#include "cpuinfo/environment.h"
#include "util/cpulist.h"
#include "util/mem.h"
#include "util/paths.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const struct {
    int line;
    const char *dump, *vendor;
    int family, model, stepping;
    const char *uarch, *hypervisor;
    int issue_width, imul64_clk;
    const char *has; // each of these, separated by blanks
    const char *has_not;
    const char *caches;
    uint64_t tsc_hz;
    // clang-format off
} machines[] = {
    {__LINE__, "emeraldrapids_kvm", "GenuineIntel", 6, 0xcf, 2, "emeraldrapids", "KVM", 6, 3,
        "I386 X86_64 AVX512F+AVX512VL AVX512_FP16 AVX_VNNI AMX_TILE+AMX_INT8 GFNI+AVX512F AES+AVX "
        "RTM", "SSE4A XOP AVX_IFMA AVX10 APX_F RDPRU AVX512F+AVX512ER PKU",
        "d48x12 i32x8 u2048x16 u266240x20", 0},
    {__LINE__, "zen5", "AuthenticAMD", 0x1a, 2, 1, "zen5", "", 8, 3,
        "AVX512_VP2INTERSECT AVX_VNNI SSE4A CLZERO RDPRU PREFETCHI LZCNT PKU",
        "FMA4 AVX512_FP16 AMX_TILE", "d48x12 i32x8 u1024x16 u32768x16", 0},
    {__LINE__, "zen2", "AuthenticAMD", 0x17, 0x71, 0, "zen2", "", 6, 3, "AVX2 SHA RDPID CLWB",
        "AVX512F VAES PREFETCHI", "d32x8 i32x8 u512x8 u16384x16", 0},
    {__LINE__, "k10", "AuthenticAMD", 0x10, 4, 2, "k10", "", 3, 4,
        "3DNOW 3DNOWEXT SSE4A LZCNT POPCNT", "SSSE3 AVX XSAVE", "d64x2 i64x2 u512x16 u6144x48", 0},
    {__LINE__, "skylake", "GenuineIntel", 6, 0x5e, 3, "skylake", "", 4, 3,
        "AVX2 RTM MPX SGX BMI1+BMI2", "AVX512F SHA SSE4A AVX512VL+AVX2",
        "d32x8 i32x8 u256x4 u8192x16", 4008000000},
    {__LINE__, "skylakex_avx512_off", "GenuineIntel", 6, 0x55, 4, "skylakex", "", 4, 3,
        "AVX2 FMA BMI1", "AVX512F AVX512VL PKU", "d32x8 i32x8 u1024x16 u28160x11", 2400000000},
    {__LINE__, "cascadelake", "GenuineIntel", 6, 0x55, 7, "cascadelake", "", 4, 3,
        "AVX512F+AVX512_VNNI PKU", "AVX512_BF16 RTM", "d32x8 i32x8 u1024x16 u28160x11", 0},
    {__LINE__, "alderlake_p", "GenuineIntel", 6, 0x97, 2, "alderlake_p", "", 6, 3,
        "AVX_VNNI PTWRITE SERIALIZE", "AVX512F", "d48x12 i32x8 u1280x10 u30720x12", 3187200000},
    {__LINE__, "alderlake_e", "GenuineIntel", 6, 0x97, 2, "alderlake_e", "", 5, 5, "AVX_VNNI",
        "AVX512F", "d32x8 i64x8 u2048x16 u30720x12", 3187200000},
    {__LINE__, "alderlake_hidden", "GenuineIntel", 6, 0x97, 2, "unknown", "KVM", 0, 0, "AVX_VNNI",
        "AVX512F", "d48x12 i32x8 u1280x10 u30720x12", 3187200000},
    {__LINE__, "p6", "GenuineIntel", 6, 7, 3, "p6", "", 3, 0, "CMOV SSE FXSR NOPL",
        "SSE2 X86_64 LAHF_LM AVX XSAVE PREFETCHW", "d16x4 i16x4 u512x4", 0},
    {__LINE__, "via_nano", "CentaurHauls", 6, 15, 2, "via_nano", "", 3, 0,
        "PADLOCK_AES PADLOCK_SHA SSSE3", "SSE4_1 PADLOCK_PMM", "d64x16 i64x16 u1024x16", 0},
    {__LINE__, "zhaoxin_zxe", "Shanghai", 7, 0x3b, 0, "zhaoxin_zxe", "", 0, 0,
        "AVX2 PADLOCK_ACE2 PADLOCK_PMM", "FMA LZCNT", "d32x8 i32x8 u4096x16", 0},
    {__LINE__, "unknown_vendor", "ExampleVendr", 6, 1, 1, "unknown", "", 0, 0, "SSE4_2 I386",
        "AVX", "", 0},
    {__LINE__, "unknown_model", "GenuineIntel", 6, 0xfe, 0, "unknown", "", 0, 0, "AVX2 ADX",
        "AVX512F", "", 0},
};
// clang-format on

static const char *dump_path(const char *name)
{
    static char path[4096];
    static const char *directory; // path_data() keeps each of its answers
    if (!directory)
        directory = path_data("tests/fixtures/cpu");
    snprintf(path, sizeof path, "%s/%s.cpuid", directory, name);
    return path;
}

static void words_check(const struct cpu_info *cpu, const char *words, bool expected, int line)
{
    char copy[512];
    snprintf(copy, sizeof copy, "%s", words);
    for (char *isa = strtok(copy, " "); isa; isa = strtok(NULL, " ")) {
        const char *unknown;
        size_t unknown_len;
        if (isa_check(isa, &unknown, &unknown_len) < 0)
            fail_msg("line %d: features.csv has no %.*s", line, (int)unknown_len, unknown);
        if (cpu_has_isa(cpu, isa) != expected)
            fail_msg("line %d: %s is %s", line, isa, expected ? "missing" : "announced");
    }
}

static void caches_text(const struct cpu_info *cpu, char *text, size_t bytes)
{
    text[0] = '\0';
    for (int i = 0; i < cpu->ncaches; i++) {
        size_t len = strlen(text);
        snprintf(text + len, bytes - len, "%s%c%dx%d", i ? " " : "", cpu->caches[i].type,
                 (int)(cpu->caches[i].bytes >> 10), cpu->caches[i].ways);
    }
}

static void test_machines(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(machines); i++) {
        static struct cpu_info cpu;
        struct err err;
        char caches[128];
        int line = machines[i].line;
        if (cpu_load(dump_path(machines[i].dump), &cpu, &err) < 0)
            fail_msg("line %d: %s", line, err.text);
        print_message("%s\n", machines[i].dump);
        assert_string_equal(cpu.vendor, machines[i].vendor);
        assert_int_equal(cpu.family, machines[i].family);
        assert_int_equal(cpu.model, machines[i].model);
        assert_int_equal(cpu.stepping, machines[i].stepping);
        assert_string_equal(cpu.uarch, machines[i].uarch);
        assert_string_equal(cpu.hypervisor, machines[i].hypervisor);
        assert_int_equal(cpu.issue_width, machines[i].issue_width);
        assert_int_equal(cpu.imul64_clk, machines[i].imul64_clk);
        assert_false(cpu.live);
        words_check(&cpu, machines[i].has, true, line);
        words_check(&cpu, machines[i].has_not, false, line);
        caches_text(&cpu, caches, sizeof caches);
        assert_string_equal(caches, machines[i].caches);
        if (machines[i].tsc_hz)
            assert_int_equal(cpu.tsc_hz, machines[i].tsc_hz);
    }
}

static char *file_read(const char *path)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char *text = xcalloc(1, 1 << 16);
    size_t got = fread(text, 1, (1 << 16) - 1, f);
    assert_true(got > 0);
    fclose(f);
    return text;
}

static const char *write_text(const char *text, size_t bytes)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/latput-test-cpuinfo.%d", (int)getpid());
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, bytes, f), bytes);
    assert_int_equal(fclose(f), 0);
    return path;
}

// By members: structures have padding.
static void same_check(const struct cpu_info *a, const struct cpu_info *b)
{
    assert_int_equal(a->nleaves, b->nleaves);
    assert_memory_equal(a->leaves, b->leaves, (size_t)a->nleaves * sizeof a->leaves[0]);
    assert_memory_equal(a->features, b->features, sizeof a->features);
    assert_string_equal(a->vendor, b->vendor);
    assert_string_equal(a->brand, b->brand);
    assert_string_equal(a->uarch, b->uarch);
    assert_string_equal(a->hypervisor, b->hypervisor);
    assert_int_equal(a->signature, b->signature);
    assert_int_equal(a->tsc_hz, b->tsc_hz);
    assert_int_equal(a->tsc_invariant, b->tsc_invariant);
    assert_int_equal(a->microcode, b->microcode);
    assert_int_equal(a->ncaches, b->ncaches);
}

static void test_round_trip(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(machines); i++) {
        static struct cpu_info first, second;
        struct err err;
        const char *path = write_text("", 0);
        assert_int_equal(cpu_load(dump_path(machines[i].dump), &first, &err), 0);
        assert_int_equal(cpu_save(&first, path, &err), 0);
        char *saved = file_read(path);
        assert_int_equal(cpu_load(path, &second, &err), 0);
        same_check(&first, &second);
        assert_int_equal(cpu_save(&second, path, &err), 0);
        char *again = file_read(path);
        assert_string_equal(saved, again);
        free(saved);
        free(again);
        unlink(path);
    }
}

static void test_live(void **state)
{
    (void)state;
    static struct cpu_info live, loaded;
    struct err err;
    if (cpu_identify(CPU_LAST, &live, &err) < 0)
        fail_msg("%s", err.text);
    assert_true(live.live);
    assert_true(live.nleaves > 2 && live.nleaves < CPUID_LEAVES_MAX);
    assert_true(live.tsc_hz > 100000000);
    assert_true(cpu_has_isa(&live, "X86_64+SSE2"));
    const struct cpuid_leaf *leaf = cpu_leaf_find(&live, 1, 0);
    assert_non_null(leaf);
    assert_int_equal(leaf->ebx >> 24, 0);
    assert_null(cpu_leaf_find(&live, 3, 0));
    int ends = 0, listed = 0; // of the list of caches; nothing follows it
    for (int i = 0; i < live.nleaves; i++) {
        ends += live.leaves[i].leaf == 4 && (live.leaves[i].eax & 31) == 0;
        listed |= live.leaves[i].leaf == 4;
    }
    assert_int_equal(ends, listed);
    const char *path = write_text("", 0);
    assert_int_equal(cpu_save(&live, path, &err), 0);
    if (cpu_load(path, &loaded, &err) < 0)
        fail_msg("%s", err.text);
    unlink(path);
    same_check(&live, &loaded);
}

#define HEAD "latput-cpuid 1\n"
#define KINDS_HEAD "latput-cpuid 2\n"
#define LEAF0 "00000000 00 00000001 756e6547 6c65746e 49656e69\n"
#define DUMP(text) text, sizeof text - 1

static const struct {
    int line;
    const char *text;
    size_t bytes;
    const char *message; // after the path
    // clang-format off
} bad_dumps[] = {
    {__LINE__, DUMP(""), ":1: the file is empty"},
    {__LINE__, DUMP("\n"), ":1: no CPUID dump"},
    {__LINE__, DUMP("\x7f" "ELF\x02\x01"), ":1: no CPUID dump"},
    {__LINE__, DUMP("latput-cpuid 3\nend 0\n"), ":1: version '3'"},
    {__LINE__, DUMP(KINDS_HEAD), ":1: the dump is cut short"},
    {__LINE__, DUMP(KINDS_HEAD LEAF0), ":2: text after the end"},
    {__LINE__, DUMP(KINDS_HEAD "cpus 1-\n"), ":2: write `cpus` and a list"},
    {__LINE__, DUMP(KINDS_HEAD "cpus 1\n" LEAF0 "cpus 2\n"), ":4: `cpus` before the `end`"},
    {__LINE__, DUMP(KINDS_HEAD "cpus 1\n" LEAF0 "end 1\ncpus 0-1\n"), ":5: a CPU is in two"},
    {__LINE__, DUMP(KINDS_HEAD "cpus 1\n" LEAF0 "end 1\ncpus 2\n"), ":5: the dump is cut short"},
    {__LINE__, DUMP(HEAD "cpus 1\n"), ":2: `cpus` wants version 2"},
    {__LINE__, DUMP(HEAD LEAF0), ":2: the dump is cut short"},
    {__LINE__, DUMP(HEAD LEAF0 "00000001 00 000c06"), ":3: 3 numbers where a leaf has 6"},
    {__LINE__, DUMP(HEAD LEAF0 "end 2\n"), ":3: 1 leaves where the end says 2"},
    {__LINE__, DUMP(HEAD LEAF0 "end\n"), ":3: write `end` and the number"},
    {__LINE__, DUMP(HEAD LEAF0 "end 1\n" LEAF0), ":4: text after the end"},
    {__LINE__, DUMP(HEAD LEAF0 LEAF0 "end 2\n"), ":3: leaf 0 subleaf 0 does not come after"},
    {__LINE__, DUMP(HEAD "00000000 00 0000000g 0 0 0\nend 1\n"), ":2: EAX '0000000g' is no hex"},
    {__LINE__, DUMP(HEAD "00000000 000 0 0 0 0\nend 1\n"), ":2: subleaf '000' is no hex"},
    {__LINE__, DUMP(HEAD "00000000 00 0 0 -1 0\nend 1\n"), ":2: ECX '-1' is no hex"},
    {__LINE__, DUMP(HEAD "00000000 00 0 0 0 0 0 0 0 0\nend 1\n"), ":2: 8 numbers"},
    {__LINE__, DUMP(HEAD "00000000 00 0 \0 0 0\nend 1\n"), ":2: a NUL byte"},
    {__LINE__, DUMP(HEAD "00000001 00 0 0 0 0\nend 1\n"), ": CPUID leaf 0 is missing"},
};
// clang-format on

static void test_bad_dumps(void **state)
{
    (void)state;
    static struct cpu_info cpu;
    struct err err;
    for (size_t i = 0; i < ARRAY_LEN(bad_dumps); i++) {
        const char *path = write_text(bad_dumps[i].text, bad_dumps[i].bytes);
        if (cpu_load(path, &cpu, &err) == 0)
            fail_msg("line %d was taken for a dump", bad_dumps[i].line);
        unlink(path);
        if (strncmp(err.text, path, strlen(path)) != 0 ||
            strncmp(err.text + strlen(path), bad_dumps[i].message, strlen(bad_dumps[i].message)) !=
                0)
            fail_msg("line %d: wrong message: %s", bad_dumps[i].line, err.text);
    }
    assert_int_equal(cpu_load("/nonexistent/dump", &cpu, &err), -1);
    assert_non_null(strstr(err.text, "/nonexistent/dump: cannot be read"));
}

// Cut at every byte, a dump is either refused or (without its last line feed) complete.
static void test_truncated_dumps(void **state)
{
    (void)state;
    static struct cpu_info cpu;
    struct err err;
    char *text = file_read(dump_path("p6"));
    size_t len = strlen(text);
    for (size_t cut = 0; cut + 1 < len; cut++) {
        const char *path = write_text(text, cut);
        if (cpu_load(path, &cpu, &err) == 0)
            fail_msg("the first %d bytes were taken for a dump", (int)cut);
        unlink(path);
    }
    free(text);
}

static void test_masking(void **state)
{
    (void)state;
    static struct cpu_info cpu;
    struct err err;
    static const char text[] = HEAD LEAF0 "00000001 00 000c06f2 ff020800 0 0\n"
                                          "00000003 00 0 0 12345678 9abcdef0\n"
                                          "0000000b 00 1 2 100 77\n"
                                          "8000001e 00 33 144 155 0\nend 5\n";
    const char *path = write_text(text, sizeof text - 1);
    if (cpu_load(path, &cpu, &err) < 0)
        fail_msg("%s", err.text);
    unlink(path);
    assert_int_equal(cpu_leaf_find(&cpu, 1, 0)->ebx, 0x00020800);
    assert_int_equal(cpu_leaf_find(&cpu, 3, 0)->ecx, 0);
    assert_int_equal(cpu_leaf_find(&cpu, 3, 0)->edx, 0);
    assert_int_equal(cpu_leaf_find(&cpu, 0xb, 0)->edx, 0);
    assert_int_equal(cpu_leaf_find(&cpu, 0x8000001e, 0)->eax, 0);
    assert_int_equal(cpu_leaf_find(&cpu, 0x8000001e, 0)->ebx, 0x100);
    assert_int_equal(cpu_leaf_find(&cpu, 0x8000001e, 0)->ecx, 0x100);
}

static const struct {
    const char *dump;
    struct {
        const char *name, *cpus;
        int core_type;
        uint32_t native_model;
        const char *caches;
    } kinds[3];
    // clang-format off
} machines_of_kinds[] = {
    {"alderlake", {{"alderlake_p", "0-15", 0x40, 1, "d48x12 i32x8 u1280x10 u30720x12"},
                   {"alderlake_e", "16-23", 0x20, 1, "d32x8 i64x8 u2048x16 u30720x12"}}},
    {"meteorlake", {{"meteorlake_p", "0-3,12-13", 0x40, 2, "d48x12 i64x8 u2048x16 u24576x12"},
                    {"meteorlake_e", "4-11", 0x20, 2, "d32x8 i64x8 u2048x16 u24576x12"},
                    {"meteorlake_lpe", "14-15", 0x20, 2, "d32x8 i64x8 u2048x16"}}},
    {"zen5_dense", {{"zen5", "0-3,12-15", 0x10, 0, "d48x12 i32x8 u1024x16 u16384x16"},
                    {"zen5c", "4-11,16-23", 0x11, 0, "d48x12 i32x8 u1024x16 u8192x16"}}},
    {"zen5", {{"zen5", NULL, 0, 0, "d48x12 i32x8 u1024x16 u32768x16"}}},
    {"unknown_model", {{"unknown", NULL, 0, 0, ""}}},
};
// clang-format on

static void kind_check(const struct cpu_kinds *kinds, int at, const char *cpus)
{
    const struct cpu_kind *kind = &kinds->kinds[at];
    struct strbuf text = {0};
    struct err err;
    cpulist_write(&kind->cpus, &text);
    if (cpus)
        assert_string_equal(strbuf_text(&text), cpus);
    strbuf_free(&text);
    assert_ptr_equal(cpu_kinds_of(kinds, cpu_kind_last(kind)), kind);
    assert_ptr_equal(cpu_kinds_called(kinds, kind->name, &err), kind);
    assert_false(cpu_kind_is_hidden(kinds, kind));
    assert_string_equal(kind->cpu.uarch, kind->name);
}

static void test_kinds(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(machines_of_kinds); i++) {
        struct cpu_kinds kinds, again;
        struct err err;
        char caches[128];
        print_message("%s\n", machines_of_kinds[i].dump);
        if (cpu_kinds_load(dump_path(machines_of_kinds[i].dump), &kinds, &err) != 0)
            fail_msg("%s", err.text);
        for (int k = 0; k < kinds.n; k++) {
            const struct cpu_info *cpu = &kinds.kinds[k].cpu;
            assert_string_equal(kinds.kinds[k].name, machines_of_kinds[i].kinds[k].name);
            assert_int_equal(cpu->core_type, machines_of_kinds[i].kinds[k].core_type);
            assert_int_equal(cpu->native_model, machines_of_kinds[i].kinds[k].native_model);
            caches_text(cpu, caches, sizeof caches);
            assert_string_equal(caches, machines_of_kinds[i].kinds[k].caches);
            kind_check(&kinds, k, machines_of_kinds[i].kinds[k].cpus);
            assert_int_equal(cpu_is_hybrid(cpu), kinds.n > 1);
        }
        assert_true(kinds.n == 3 || !machines_of_kinds[i].kinds[kinds.n].name);
        assert_null(cpu_kinds_called(&kinds, "skylake", &err));
        assert_null(cpu_kinds_of(&kinds, 900));
        const char *path = write_text("", 0);
        assert_int_equal(cpu_kinds_save(&kinds, path, &err), 0);
        assert_int_equal(cpu_kinds_load(path, &again, &err), 0);
        unlink(path);
        assert_int_equal(again.n, kinds.n);
        for (int k = 0; k < kinds.n; k++)
            same_check(&kinds.kinds[k].cpu, &again.kinds[k].cpu);
        cpu_kinds_free(&again);
        cpu_kinds_free(&kinds);
    }
}

// Kinds that the tables do not know have names of their own; only the last one's results would not
// be taken for those of another.
static void test_unknown_kinds(void **state)
{
    (void)state;
    struct cpu_kinds kinds;
    struct err err;
    static const char text[] = KINDS_HEAD
        "cpus 0\n" LEAF0 "00000001 00 000f0f60 0 0 0\n0000001a 00 40000009 0 0 0\nend 3\n"
        "cpus 1\n" LEAF0 "00000001 00 000f0f60 0 0 0\n0000001a 00 20000009 0 0 0\nend 3\n";
    const char *path = write_text(text, sizeof text - 1);
    if (cpu_kinds_load(path, &kinds, &err) != 0)
        fail_msg("%s", err.text);
    unlink(path);
    assert_int_equal(kinds.n, 2);
    assert_string_equal(kinds.kinds[0].name, "unknown-40-9");
    assert_string_equal(kinds.kinds[1].name, "unknown-20-9");
    assert_true(cpu_kind_is_hidden(&kinds, &kinds.kinds[0]));
    assert_false(cpu_kind_is_hidden(&kinds, &kinds.kinds[1]));
    cpu_kinds_free(&kinds);
}

// Nor are types of core that cpus.csv has one family of.
static void test_kinds_of_one_family(void **state)
{
    (void)state;
    struct cpu_kinds kinds;
    struct err err;
    static const char text[] = KINDS_HEAD
        "cpus 0\n" LEAF0 "00000001 00 000c06c1 0 0 0\n0000001a 00 20000004 0 0 0\nend 3\n"
        "cpus 1\n" LEAF0 "00000001 00 000c06c1 0 0 0\n0000001a 00 20000005 0 0 0\nend 3\n";
    const char *path = write_text(text, sizeof text - 1);
    if (cpu_kinds_load(path, &kinds, &err) != 0)
        fail_msg("%s", err.text);
    unlink(path);
    assert_int_equal(kinds.n, 2);
    assert_string_equal(kinds.kinds[0].cpu.claim, "pantherlake_e");
    assert_string_equal(kinds.kinds[0].name, "pantherlake_e-20-4");
    assert_string_equal(kinds.kinds[1].name, "pantherlake_e-20-5");
    assert_true(cpu_kind_is_hidden(&kinds, &kinds.kinds[0]));
    assert_ptr_equal(cpu_kinds_called(&kinds, "pantherlake_e-20-4", &err), &kinds.kinds[0]);
    assert_null(cpu_kinds_called(&kinds, "darkmont", &err));
    cpu_kinds_free(&kinds);
}

#define FEATURES_HEAD "name,group,leaf,subleaf,register,bit,encoding,os,note\n"
#define FAMILIES_HEAD                                                                              \
    "vendor,family,models,stepping,core_type,uarch,name,issue_width,instr_width,imul64_clk,"       \
    "general_counters,fixed_counters,ports,core,always,never,l1i_kib,l1d_kib,l2_kib,source,note\n"

struct bad_table {
    int line;
    const char *text, *message;
};

// clang-format off
static const struct bad_table bad_features[] = {
    {__LINE__, FEATURES_HEAD "AVX,g,1,0,ecx,28,vexx,0x6,\n", ":2: 'vexx' is no encoding"},
    {__LINE__, FEATURES_HEAD "AVX,,1,0,ecx,28,vex,0x6,\n", ":2: '' is no group"},
    {__LINE__, FEATURES_HEAD "avx,g,1,0,ecx,28,vex,0x6,\n", ":2: 'avx' is no feature name"},
    {__LINE__, FEATURES_HEAD "AVX,g,1,0,rcx,28,vex,0x6,\n", ":2: 'rcx' is no register"},
    {__LINE__, FEATURES_HEAD "AVX,g,1,0,ecx,32,vex,0x6,\n", ":2: '32' is no bit"},
    {__LINE__, FEATURES_HEAD "AVX,g,1,0,ecx,7-0>=1,vex,0x6,\n", ":2: '7-0>=1' is no bit"},
    {__LINE__, FEATURES_HEAD "AVX,g,1,0,ecx,0-7,vex,0x6,\n", ":2: '0-7' is no bit"},
    {__LINE__, FEATURES_HEAD "AVX,g,1,0,ecx,0-7>=256,vex,0x6,\n", ":2: '0-7>=256' is no bit"},
    {__LINE__, FEATURES_HEAD "AVX,g,1,0,ecx,0-7>=0,vex,0x6,\n", ":2: '0-7>=0' is no bit"},
    {__LINE__, FEATURES_HEAD "AVX,g,,0,ecx,3,vex,0x6,\n", ":2: '' is no leaf"},
    {__LINE__, FEATURES_HEAD "AVX,g,1,-1,ecx,3,vex,0x6,\n", ":2: '-1' is no subleaf"},
    {__LINE__, FEATURES_HEAD "AVX,g,1,0,ecx,3,vex,6h,\n", ":2: '6h' is no mask"},
    {__LINE__, FEATURES_HEAD "A,g,1,0,ecx,3,vex,,\n#\nA,g,1,0,ecx,3,vex,,\n",
     ":4: A is in line 2 already"},
    {__LINE__, FEATURES_HEAD "A,g,1,0,ecx,3,vex,,\nA,g,1,0,ecx,4,evex,,\n",
     ":3: A is in line 2 already"},
    {__LINE__, FEATURES_HEAD "A,g,1,0,ecx,3,vex,,\nA,g,,,,,vex,,\n",
     ":3: A is in line 2 already"},
};

static const struct bad_table bad_families[] = {
    {__LINE__, FAMILIES_HEAD "V,6,0x10,,,u,N,,,,,,,,,,,,,,\nV,6,1-0x1f,,,w,N,,,,,,,,,,,,,,\n",
     ":3: these models overlap with line 2 (u)"},
    {__LINE__, FAMILIES_HEAD "V,6,1,0-4,,u,N,,,,,,,,,,,,,,\nV,6,1,4-5,,w,N,,,,,,,,,,,,,,\n",
     ":3: these models"},
    {__LINE__, FAMILIES_HEAD "V,6,1,,0x40,u,N,,,,,,,,,,,,,,\nV,6,1,,0x40,w,N,,,,,,,,,,,,,,\n",
     ":3: these models"},
    {__LINE__, FAMILIES_HEAD "V,6,1,,0x2/3,u,N,,,,,,,,,,,,,,\nV,6,1,,0x2 no-l3,w,N,,,,,,,,,,,,,,\n",
     ":3: these mod"},
    {__LINE__, FAMILIES_HEAD "V,6,1,,0x20 l3,u,N,,,,,,,,,,,,,,\n", ":2: '0x20 l3' is no core_type"},
    {__LINE__, FAMILIES_HEAD "V,6,1 2-4 3,,,u,N,,,,,,,,,,,,,,\n", ":2: a model is named twice"},
    {__LINE__, FAMILIES_HEAD "V,6,1,,,u,N,4,,,,,,,,,,,,,\nV,6,2,,,u,N,5,,,,,,,,,,,,,\n",
     ":3: issue_width of u differs from line 2"},
    {__LINE__, FAMILIES_HEAD "V,6,,,,u,N,,,,,,,,,,,,,,\n", ":2: '' is no models"},
    {__LINE__, FAMILIES_HEAD "V,6,4-2,,,u,N,,,,,,,,,,,,,,\n", ":2: '4-2' is no models"},
    {__LINE__, FAMILIES_HEAD "V,6,0x100,,,u,N,,,,,,,,,,,,,,\n", ":2: '0x100' is no models"},
    {__LINE__, FAMILIES_HEAD "V,6,1,16,,u,N,,,,,,,,,,,,,,\n", ":2: '16' is no stepping"},
    {__LINE__, FAMILIES_HEAD "V,6,1,,P,u,N,,,,,,,,,,,,,,\n", ":2: 'P' is no core_type"},
    {__LINE__, FAMILIES_HEAD "V,6,1,,,unknown,N,,,,,,,,,,,,,,\n", ":2: 'unknown' is no uarch"},
    {__LINE__, FAMILIES_HEAD "V,6,1,,,Zen,N,,,,,,,,,,,,,,\n", ":2: 'Zen' is no uarch"},
    {__LINE__, FAMILIES_HEAD "V,six,1,,,u,N,,,,,,,,,,,,,,\n", ":2: 'six' is no family"},
    {__LINE__, FAMILIES_HEAD "V,6,1,,,u,N,wide,,,,,,,,,,,,,\n", ":2: 'wide' is no issue_width"},
    {__LINE__, FAMILIES_HEAD "VeryLongVendor,6,1,,,u,N,,,,,,,,,,,,,,\n",
     ":2: 'VeryLongVendor' is no ven"},
    {__LINE__, FAMILIES_HEAD "V,6,1,,,u,N,,,,,,,,AVX NOPE,,,,,,\n",
     ":2: 'AVX NOPE' is no always"},
    {__LINE__, FAMILIES_HEAD "V,6,1,,,u,N,,,,,,,,,avx,,,,,\n", ":2: 'avx' is no never"},
    {__LINE__, FAMILIES_HEAD "V,6,1,,,u,N,,,,,,,,AVX AVX2,AVX2,,,,,\n",
     ":2: AVX2 is in the column always, too"},
    {__LINE__, FAMILIES_HEAD "V,6,1,,,u,N,,,,,,,Zen 5,,,,,,,\n", ":2: 'Zen 5' is no core"},
    {__LINE__, FAMILIES_HEAD "V,6,1,,,u,N,,,,,,,,,,32K,,,,\n", ":2: '32K' is no l1i_kib"},
    {__LINE__, FAMILIES_HEAD "V,6,1,,,u,N,,,,,,,,,,,0,,,\n", ":2: '0' is no l1d_kib"},
    {__LINE__, FAMILIES_HEAD "V,6,1,,,u,N,,,,,,,,,,,,1 2 3 4 5 6 7,,\n",
     ":2: '1 2 3 4 5 6 7' is no l2_kib"},
    {__LINE__, FAMILIES_HEAD "V,6,1,,,u,N,4,5,,,,,,,,,,,,\n", ":2: '5' is no instr_width"},
    {__LINE__, FAMILIES_HEAD "V,6,1,,,u,N,,,,,,,,AVX,,,,,,\nV,6,2,,,u,N,,,,,,,,AVX2,,,,,,\n",
     ":3: always of u differs from line 2"},
    {__LINE__, FAMILIES_HEAD "V,6,1,,,u,N,,,,,,,,,,,,256,,\nV,6,2,,,u,N,,,,,,,,,,,,512,,\n",
     ":3: l2_kib of u differs from line 2"},
};
// clang-format on

static void message_check(const char *path, const struct err *err, const char *message, int line)
{
    if (strncmp(err->text, path, strlen(path)) != 0 ||
        strncmp(err->text + strlen(path), message, strlen(message)) != 0)
        fail_msg("line %d: wrong message: %s", line, err->text);
}

static void test_bad_tables(void **state)
{
    (void)state;
    struct err err;
    for (size_t i = 0; i < ARRAY_LEN(bad_features); i++) {
        struct feature_table table;
        const char *path = write_text(bad_features[i].text, strlen(bad_features[i].text));
        if (features_read(path, &table, &err) == 0)
            fail_msg("line %d was accepted", bad_features[i].line);
        unlink(path);
        message_check(path, &err, bad_features[i].message, bad_features[i].line);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad_families); i++) {
        struct family_table table;
        const char *path = write_text(bad_families[i].text, strlen(bad_families[i].text));
        if (families_read(path, features_table(), &table, &err) == 0)
            fail_msg("line %d was accepted", bad_families[i].line);
        unlink(path);
        message_check(path, &err, bad_families[i].message, bad_families[i].line);
    }
}

static void test_tables(void **state)
{
    (void)state;
    struct err err;
    const char *unknown;
    size_t unknown_len;
    if (cpuinfo_check(&err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(feature_find("AVX512"), -1); // never a part of a name
    assert_int_equal(feature_find(""), -1);
    assert_string_equal(feature_name(feature_find("AVX512VL")), "AVX512VL");
    assert_string_equal(feature_encoding(feature_find("AVX512VL")), "evex");
    assert_string_equal(feature_encoding(feature_find("XOP")), "xop");
    assert_null(feature_name(-1));
    assert_null(feature_name(CPU_FEATURES_MAX));
    assert_int_equal(isa_check("AVX+FOO+BMI1", &unknown, &unknown_len), -1);
    assert_memory_equal(unknown, "FOO+BMI1", 8);
    assert_int_equal(unknown_len, 3);
    assert_int_equal(isa_check("AVX+", &unknown, &unknown_len), -1);
    assert_int_equal(isa_check("", &unknown, &unknown_len), -1);
    assert_int_equal(isa_check("AVX+BMI1", &unknown, &unknown_len), 0);
    assert_int_equal(cpu_family_find("zen5")->issue_width, 8);
    assert_null(cpu_family_find("unknown"));
}

// Answers in the order latency, ports, events, quiet; y, p or n.
static const struct {
    int line;
    const char *dump;
    struct cpu_environment env;
    const char *answers;
    const char *words; // of one of the verdicts
    // clang-format off
} situations[] = {
    {__LINE__, "emeraldrapids_kvm", {.perf = PERF_ABSENT, .perf_errno = ENOENT}, "ypnp",
        "the hypervisor (KVM) does not expose a PMU"},
    {__LINE__, "emeraldrapids_kvm", {.perf = PERF_STILL}, "ypnp", "stands still"},
    {__LINE__, "emeraldrapids_kvm", {.perf = PERF_WORKS, .rdpmc = true}, "yyyp", "read with RDPMC"},
    {__LINE__, "skylake", {.perf = PERF_WORKS, .nmi_watchdog = 1}, "yyyy", "kernel.nmi_watchdog=0"},
    {__LINE__, "skylake", {.perf = PERF_WORKS, .siblings = "0,4"}, "yyyp",
        "SMT siblings (CPUs 0,4)"},
    {__LINE__, "skylake", {.perf = PERF_DENIED, .perf_errno = EACCES, .paranoid = 4}, "ypny",
        "kernel.perf_event_paranoid is 4"},
    {__LINE__, "skylake", {.perf = PERF_DENIED, .perf_errno = EPERM, .paranoid = 1}, "ypny",
        "seccomp profile"},
    {__LINE__, "skylake", {.perf = PERF_NO_CALL, .perf_errno = ENOSYS}, "ypny",
        "CONFIG_PERF_EVENTS"},
    {__LINE__, "skylake", {.perf = PERF_ABSENT, .perf_errno = ENODEV}, "ypny",
        "newer than the CPU"},
    {__LINE__, "skylake", {.perf = PERF_WORKS, .governor = "powersave"}, "yyyyp", "is powersave"},
    {__LINE__, "alderlake_e", {.perf = PERF_WORKS}, "ypyy", "no counters by port"},
    {__LINE__, "alderlake_hidden", {.perf = PERF_ABSENT}, "nnnp", "pass CPUID leaf 1AH"},
    {__LINE__, "kvm64", {.perf = PERF_ABSENT}, "nnnp", "-cpu host"},
    {__LINE__, "unknown_model", {.perf = PERF_ABSENT}, "nnny", "Add a line for this CPU"},
    {__LINE__, "unknown_model", {.perf = PERF_WORKS}, "yppy", "architectural events only"},
    {__LINE__, "zhaoxin_zxe", {.perf = PERF_ABSENT}, "nnny", "Fill imul64_clk of zhaoxin_zxe"},
};
// clang-format on

static void test_verdicts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(situations); i++) {
        static struct cpu_info cpu;
        struct verdict verdicts[VERDICTS_MAX];
        struct err err;
        char answers[VERDICTS_MAX + 1] = "";
        bool said = false;
        assert_int_equal(cpu_load(dump_path(situations[i].dump), &cpu, &err), 0);
        if (!cpu.tsc_hz) // as it would have been measured
            cpu.tsc_hz = 2000000000;
        int n = verdicts_make(&cpu, &situations[i].env, verdicts);
        for (int v = 0; v < n; v++) {
            answers[v] = "ypn"[verdicts[v].answer];
            said = said || strstr(verdicts[v].how, situations[i].words) ||
                   strstr(verdicts[v].remedy, situations[i].words);
            assert_true(verdicts[v].how[0] != 0);
            assert_true(strlen(verdicts[v].how) + 1 < sizeof verdicts[v].how);
            assert_true(strlen(verdicts[v].remedy) + 1 < sizeof verdicts[v].remedy);
        }
        if (strcmp(answers, situations[i].answers) != 0 || !said)
            fail_msg("line %d: answers %s; '%s' is %s", situations[i].line, answers,
                     situations[i].words, said ? "said" : "missing");
    }
}

static void test_counters(void **state)
{
    (void)state;
    static const struct {
        const char *dump;
        int general, fixed;
    } expected[] = {
        {"skylake",           4, 3},
        {"alderlake_p",       6, 4},
        {"zen5",              6, 0},
        {"zhaoxin_zxe",       4, 3},
        {"p6",                0, 0},
        {"emeraldrapids_kvm", 0, 0}
    };
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        static struct cpu_info cpu;
        struct err err;
        int general, fixed;
        assert_int_equal(cpu_load(dump_path(expected[i].dump), &cpu, &err), 0);
        cpu_counters(&cpu, &general, &fixed);
        assert_int_equal(general, expected[i].general);
        assert_int_equal(fixed, expected[i].fixed);
    }
}

// A counter of core cycles: 100 for each reading, and what `chain` says for what is between the
// second and the third of three.
struct cycle_counter {
    uint64_t now, chain;
    int readings;
};

static uint64_t cycle_count(void *data)
{
    struct cycle_counter *counter = data;
    counter->now += 100 + (counter->readings++ % 3 == 2 ? counter->chain : 0);
    return counter->now;
}

static void test_chain_ratio(void **state)
{
    (void)state;
    static struct cpu_info cpu;
    struct cycle_counter counter = {.now = 12345, .chain = 3 * 16000 + 480};
    cpu.imul64_clk = 3;
    double ratio = chain_ratio(&cpu, cycle_count, &counter);
    assert_true(ratio > 1.0099 && ratio < 1.0101);
    cpu.imul64_clk = 0; // nothing to compare with
    assert_true(chain_ratio(&cpu, cycle_count, &counter) == 0);
}

static void test_report_of_counters(void **state)
{
    (void)state;
    static struct cpu_info cpu;
    struct err err;
    struct cpu_environment env = {.perf = PERF_WORKS, .clk_per_chain_clk = 1.002};
    char *text;
    size_t size;
    assert_int_equal(cpu_load(dump_path("skylake"), &cpu, &err), 0);
    for (int i = 0; i < 4; i++) {
        static const double ratios[] = {1.002, 1.334, 0, 0};
        static const char *const says[] = {"core cycles  1.002 counted", "they do not agree",
                                           "core cycles  counted; the", "core cycles  not counted"};
        env.perf = i < 3 ? PERF_WORKS : PERF_ABSENT;
        FILE *out = open_memstream(&text, &size);
        env.clk_per_chain_clk = ratios[i];
        cpu_print_text(&cpu, &env, NULL, out);
        fclose(out);
        if (!strstr(text, says[i]) ||
            (ratios[i] == 0 && strstr(text, "the calibration chain (imul")))
            fail_msg("%s", strstr(text, "Performance"));
        free(text);
        out = open_memstream(&text, &size);
        cpu_print_json(&cpu, &env, out);
        fclose(out);
        assert_non_null(strstr(text, ratios[i] > 0 ? i ? "\"clk_per_chain_clk\": 1.334,"
                                                       : "\"clk_per_chain_clk\": 1.002,"
                                                   : "\"clk_per_chain_clk\": null,"));
        free(text);
    }
}

// A CPU with APX, AVX10.2 and newer AMX: sapphirerapids_renamed_kvm with further leaves.
static void newer_features(struct cpu_info *cpu, uint32_t avx10_version, uint64_t xcr0)
{
    const struct cpuid_leaf further[] = {
        {0x24, 0, 1, avx10_version, 0, 0},
        {0x24, 1, 0, 0,             4, 0},
        {0x29, 0, 0, 1,             0, 0},
    };
    struct err err;
    assert_int_equal(cpu_load(dump_path("sapphirerapids_renamed_kvm"), cpu, &err), 0);
    for (int i = 0; i < cpu->nleaves; i++) {
        struct cpuid_leaf *leaf = &cpu->leaves[i];
        if (leaf->leaf == 7 && leaf->subleaf == 1)
            leaf->edx |= 1u << 19 | 1u << 21;
        if (leaf->leaf == CPUID_PSEUDO_XCR0)
            *leaf = (struct cpuid_leaf){
                .leaf = CPUID_PSEUDO_XCR0, .eax = (uint32_t)xcr0, .edx = (uint32_t)(xcr0 >> 32)};
    }
    for (size_t i = 0; i < ARRAY_LEN(further); i++)
        cpu_leaf_add(cpu, &further[i]);
    assert_int_equal(cpu_decode(cpu, &err), 0);
}

static char *newer_report(const struct cpu_info *cpu)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    cpu_print_text(cpu, NULL, NULL, out);
    fclose(out);
    return text;
}

static void test_newer_features(void **state)
{
    (void)state;
    static struct cpu_info cpu;
    char reason[CPU_REASON_BYTES] = "";
    newer_features(&cpu, 2, 0xe02e7);
    words_check(&cpu, "AVX10 AVX10_2 AVX10_V1_AUX APX_F APX_F+APX_NCI_NDD_NF", true, __LINE__);
    words_check(&cpu, "AVX10_V2_AUX AMX_MOVRS", false, __LINE__);
    assert_false(cpu_lacks_state(&cpu, "APX_F+APX_NCI_NDD_NF", reason, sizeof reason));
    char *text = newer_report(&cpu);
    assert_null(strstr(text, "not enabled"));
    free(text);
    newer_features(&cpu, 1, 0x602e7); // AVX10.1, and the system knows no APX
    words_check(&cpu, "AVX10 AVX10_V1_AUX", true, __LINE__);
    words_check(&cpu, "AVX10_2 APX_F APX_NCI_NDD_NF", false, __LINE__);
    assert_true(cpu_lacks_state(&cpu, "I386+APX_F", reason, sizeof reason));
    assert_string_equal(reason, "the CPU has APX_F: the system has not enabled its register state "
                                "(XCR0 lacks bit 19)");
    text = newer_report(&cpu);
    assert_non_null(strstr(text, "not enabled  APX_F APX_NCI_NDD_NF (the system"));
    free(text);
    newer_features(&cpu, 2, 7); // nor AVX-512 and AMX
    assert_true(cpu_lacks_state(&cpu, "AVX512F", reason, sizeof reason));
    assert_non_null(strstr(reason, "the CPU has AVX512F"));
    assert_non_null(strstr(reason, "lacks bit 5, 6, 7)"));
    assert_true(cpu_lacks_state(&cpu, "XOP+LWP", reason, sizeof reason));
    assert_non_null(strstr(reason, "the CPU does not announce LWP"));
    assert_false(cpu_lacks_state(&cpu, "MPX", reason, sizeof reason)); // executes as NOP
    assert_false(cpu_lacks_state(&cpu, "AVX2+BMI1", reason, sizeof reason));
}

int main(void)
{
    if (!getenv("LATPUT_ROOT"))
        setenv("LATPUT_ROOT", ".", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),         cmocka_unit_test(test_machines),
        cmocka_unit_test(test_round_trip),     cmocka_unit_test(test_live),
        cmocka_unit_test(test_bad_dumps),      cmocka_unit_test(test_truncated_dumps),
        cmocka_unit_test(test_chain_ratio),    cmocka_unit_test(test_report_of_counters),
        cmocka_unit_test(test_masking),        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_counters),       cmocka_unit_test(test_bad_tables),
        cmocka_unit_test(test_newer_features), cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_unknown_kinds),  cmocka_unit_test(test_kinds_of_one_family),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
