// SPDX-License-Identifier: MIT
// Mixes: the kernels of several rows in one body: registers, data, orders, moves that cut chains;
// and every row of lists/ beside a blocker, which NASM must accept.
#include "assemble/assemble.h"
#include "fixtures/lists_fixture.h"
#include "plan/plan.h"
#include "util/paths.h"

#include <ctype.h>
#include <inttypes.h>
#include <unistd.h>

enum { LINE_BYTES = 128, LINES_MAX = 1024, REGISTERS = 64, VECTOR_0 = 32 };

// Among the orders: struct mix has these apart.
enum { ONE_SET = 1 << MIX_ORDER_COUNT, CHAINED = 2 * ONE_SET };

struct mixed {
    struct arena arena;
    struct plan plan;
    const struct test *test;
    int status;
};

static struct mixed mix_rows(const struct mix_part *parts, int n, unsigned orders,
                             enum breaking breaking)
{
    const struct plan_params params = {.issue_width = 6, .tests = TESTS_ALL};
    struct mixed mixed = {.status = 0};
    const struct mix mix = {parts,           n, orders & MIX_ORDERS_ALL, breaking, orders & ONE_SET,
                            orders & CHAINED};
    mixed.status = mix_plan(&mix, &params, &mixed.arena, &mixed.plan);
    assert_int_equal(mixed.plan.ntests, 1);
    mixed.test = &mixed.plan.tests[0];
    assert_int_equal(mixed.test->kind, TEST_PORTS);
    return mixed;
}

// A mix as text: "4*add r64 r64; 2*mov r32 i32".
static struct mixed mix_text(const char *text, unsigned orders, enum breaking breaking)
{
    struct mix_part parts[16];
    int n = 0;
    char *copy = xstrdup(text), *rest = copy, *part;
    while ((part = strsep(&rest, ";"))) {
        char *form = strchr(part, '*') + 1;
        parts[n++] = (struct mix_part){lists_row(form), atoi(part)};
    }
    free(copy);
    return mix_rows(parts, n, orders, breaking);
}

// The lines of a text, with `times N` written out. Returns their number.
static int lines_split(const char *text, char lines[LINES_MAX][LINE_BYTES])
{
    int n = 0;
    for (const char *at = text; *at;) {
        size_t len = strcspn(at, "\n");
        int times = 1, skip = 0;
        if (sscanf(at, "times %d %n", &times, &skip) != 1)
            times = 1;
        for (int i = 0; i < times; i++, n++) {
            assert_true(n < LINES_MAX && len < LINE_BYTES);
            snprintf(lines[n], LINE_BYTES, "%.*s", (int)len - skip, at + skip);
        }
        at += len + (at[len] == '\n');
    }
    return n;
}

// The number of a register's name, vectors from VECTOR_0 on; -1: it is none.
static int register_number(const char *name)
{
    static const char *const gprs[] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};
    size_t len = strlen(name);
    if (len > 3 && strncmp(name + 1, "mm", 2) == 0 && strchr("xyz", name[0]))
        return VECTOR_0 + atoi(name + 3);
    if (name[0] == 'r' && isdigit((unsigned char)name[1]))
        return atoi(name + 1);
    for (int i = 0; i < 8; i++)
        if (len >= 2 && len <= 3 && strcmp(name + len - 2, gprs[i]) == 0)
            return i;
    return -1;
}

// Bit masks of the registers that a line names, and of its first operand.
static void line_registers(const char *line, uint64_t *named, uint64_t *first)
{
    char copy[LINE_BYTES], *rest = copy, *word;
    bool brackets = false, operand_1 = true;
    *named = *first = 0;
    snprintf(copy, sizeof copy, "%s", strchr(line, ' ') ? strchr(line, ' ') : "");
    while ((word = strsep(&rest, " ,+*]"))) {
        brackets |= *word == '[';
        int number = register_number(word + (*word == '['));
        if (number >= 0)
            *named |= UINT64_C(1) << number;
        if (number >= 0 && operand_1 && !brackets)
            *first |= UINT64_C(1) << number;
        operand_1 &= !*word;
    }
}

// Finds the registers that lines with `mnemonic` name and write.
static void body_registers(const char *body, const char *mnemonic, uint64_t *named,
                           uint64_t *written)
{
    static char lines[LINES_MAX][LINE_BYTES];
    *named = *written = 0;
    for (int n = lines_split(body, lines), i = 0; i < n; i++) {
        uint64_t names, first;
        size_t len = strlen(mnemonic);
        if (strncmp(lines[i], mnemonic, len) != 0 || lines[i][len] != ' ')
            continue;
        line_registers(lines[i], &names, &first);
        *named |= names;
        *written |= first;
    }
}

// A register that a part writes is named by no other part: the mnemonics of the parts differ.
static void test_registers(void **state)
{
    (void)state;
    static const struct {
        const char *mix;
        const char *mnemonics[8];
        int kinds; // of places for stores
        // clang-format off
    } cases[] = {
        {"4*add r64 r64;2*mov r32 i32;3*imul r64 r64 i8", {"add", "mov", "imul"}, 1},
        {"4*vaddps x x x;2*vpaddb x x x;1*vmulpd y y y;1*vpxor x x x", {"vaddps", "vpaddb",
            "vmulpd", "vpxor"}, 1},
        {"8*vaddps z z z;3*vpaddb y y y;1*shlx r64 r64 r64;1*add r64 m64", {"vaddps", "vpaddb",
            "shlx", "add"}, 1},
        {"3*mulps x x;2*pand x x;1*add m32 r32;1*mov m64 r64", {"mulps", "pand", "add", "mov"}, 2},
        {"2*mul r64;1*lea r64 agen:b;1*blsr r64 r64", {"mul", "lea", "blsr"}, 1},
    };
    // clang-format on
    for (size_t c = 0; c < ARRAY_LEN(cases); c++) {
        struct mixed mixed = mix_text(cases[c].mix, MIX_ORDERS_ALL, false);
        assert_int_equal(mixed.status, 0);
        assert_int_equal(mixed.test->nkernels, MIX_ORDER_COUNT * cases[c].kinds);
        const char *body = mixed.test->kernels[0].body;
        uint64_t named[8], written[8];
        int n = 0;
        for (; n < 8 && cases[c].mnemonics[n]; n++) {
            body_registers(body, cases[c].mnemonics[n], &named[n], &written[n]);
            if (!named[n])
                fail_msg("no registers of %s in\n%s", cases[c].mnemonics[n], body);
        }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                if (i != j && written[i] & named[j])
                    fail_msg("%s and %s meet in\n%s", cases[c].mnemonics[i], cases[c].mnemonics[j],
                             body);
        arena_free(&mixed.arena);
    }
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(a, b);
}

// Pointers that are no operands point into the part's own data: what stosq writes is nobody's
// source.
static void test_pointers(void **state)
{
    (void)state;
    struct mixed mixed =
        mix_text("2*vsqrtps y m256;2*stosq;1*movsd;1*maskmovq mm mm", 1u << MIX_BLOCKS, BREAK_ALL);
    const struct kernel_spec *spec = &mixed.test->kernels[0];
    assert_non_null(strstr(spec->body, "yword [r14]"));
    assert_non_null(strstr(spec->body, "stosq"));
    assert_non_null(strstr(spec->init, "lea rdi, [r14+448]"));
    assert_non_null(strstr(spec->init, "lea rsi, [r14+896]"));
    assert_non_null(strstr(spec->init, "lea rdi, [r14+1152]")); // of movsd: in its part's data, too
    assert_null(strstr(spec->init, ", r14"));
    assert_null(strstr(spec->body, ", r14"));
    arena_free(&mixed.arena);
}

// With all dependencies cut, each part has registers for several instances, as far as there are
// enough; blockers make do with one.
static void test_distinct(void **state)
{
    (void)state;
    static const struct {
        const char *mix;
        enum breaking breaking;
        int registers; // that the instances of imul write
        unsigned orders;
        // clang-format off
    } cases[] = {
        {"4*mov r32 i32;4*imul r64 r64 i8", BREAK_REGISTERS, 1, 0},
        {"4*mov r32 i32;4*imul r64 r64 i8", BREAK_ALL, 4, 0},
        {"4*mov r32 i32;4*imul r64 r64 i8", BREAK_ALL, 1, ONE_SET},
        {"4*imul r64 r64 i8;4*mov r32 i32", BREAK_ALL, 4, 0},
        {"4*imul r64 r64 i8;4*mov r32 i32", BREAK_ALL, 1, ONE_SET},
        {"4*mov r32 i32;2*imul r64 r64 i8", BREAK_ALL, 2, 0},
        {"4*mov r32 i32;4*imul r64 r64 i8;4*shlx r32 r32 r32;4*pdep r32 r32 r32;4*lea r32 agen:b",
            BREAK_ALL, 1, 0},
    };
    // clang-format on
    for (size_t c = 0; c < ARRAY_LEN(cases); c++) {
        struct mixed mixed =
            mix_text(cases[c].mix, 1u << MIX_BLOCKS | cases[c].orders, cases[c].breaking);
        static char lines[LINES_MAX][LINE_BYTES];
        int n = lines_split(mixed.test->kernels[0].body, lines), registers = 0;
        char seen[16][8];
        for (int i = 0; i < n; i++) {
            char target[8];
            bool known = sscanf(lines[i], "imul %7[^,]", target) != 1;
            for (int r = 0; r < registers && !known; r++)
                known = strcmp(seen[r], target) == 0;
            if (!known)
                strcpy(seen[registers++], target);
        }
        assert_int_equal(registers, cases[c].registers);
        arena_free(&mixed.arena);
    }
}

// All orders hold the same instructions, in orders that differ.
static void test_orders(void **state)
{
    (void)state;
    static char lines[2][LINES_MAX][LINE_BYTES];
    for (int breaking = BREAK_NEEDED; breaking <= BREAK_ALL; breaking++) {
        struct mixed mixed = mix_text("5*add r64 r64;7*mov r32 i32;3*vpaddb x x x;2*adc r64 r64",
                                      MIX_ORDERS_ALL, (enum breaking)breaking);
        static const char *const shapes[MIX_ORDER_COUNT] = {"interleaved", "blocks", "shuffled",
                                                            "shuffled 2", "shuffled 3"};
        assert_int_equal(mixed.test->nkernels, MIX_ORDER_COUNT);
        int n = lines_split(mixed.test->kernels[0].body, lines[0]);
        qsort(lines[0], (size_t)n, LINE_BYTES, compare_lines);
        assert_true(breaking ? n > 17 : n >= 17);
        for (int k = 0; k < MIX_ORDER_COUNT; k++) {
            const struct kernel_spec *spec = &mixed.test->kernels[k];
            assert_string_equal(spec->shape, shapes[k]);
            assert_int_equal(spec->instances, 1);
            assert_int_equal(spec->instrs, n);
            assert_int_equal(body_instrs(spec->body), n);
            assert_int_equal(lines_split(spec->body, lines[1]), n);
            qsort(lines[1], (size_t)n, LINE_BYTES, compare_lines);
            for (int i = 0; i < n; i++)
                assert_string_equal(lines[0][i], lines[1][i]);
            for (int other = 0; other < k; other++)
                assert_string_not_equal(spec->body, mixed.test->kernels[other].body);
        }
        arena_free(&mixed.arena);
    }
    struct mixed one = mix_text("2*add r64 r64;2*mov r32 i32", 1u << MIX_BLOCKS, false);
    assert_int_equal(one.test->nkernels, 1);
    assert_string_equal(one.test->kernels[0].shape, "blocks");
    arena_free(&one.arena);
}

// The same line many times is one line for NASM; interleaved, blockers come between instances.
static void test_times(void **state)
{
    (void)state;
    static char lines[LINES_MAX][LINE_BYTES];
    struct mixed mixed = mix_text("2*imul r64 r64 i8;200*mov r32 i32",
                                  1u << MIX_INTERLEAVED | 1u << MIX_BLOCKS, false);
    const char *blocks = mixed.test->kernels[1].body;
    assert_non_null(strstr(blocks, "times 200 mov "));
    int newlines = 0;
    for (const char *at = blocks; *at; at++)
        newlines += *at == '\n';
    assert_int_equal(newlines, 3);
    assert_int_equal(lines_split(mixed.test->kernels[0].body, lines), 202);
    int at[2], found = 0;
    for (int i = 0; i < 202; i++)
        if (strncmp(lines[i], "imul", 4) == 0 && found < 2)
            at[found++] = i;
    assert_int_equal(found, 2);
    assert_in_range(at[1] - at[0], 90, 110);
    arena_free(&mixed.arena);
}

// Labels of rows that jump are unique in a body.
static void test_labels(void **state)
{
    (void)state;
    char path[] = "/tmp/latput-test-mix-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    fputs("# Test\nmnemonic,operands,implicit,isa,tests,options\njb,rel8,cf,I386,T,\n"
          "jmp,rel32,,I386,T,\n",
          file);
    fclose(file);
    struct list list;
    struct err err = {0};
    int status = list_read(path, &list, &err);
    unlink(path);
    if (status != 0)
        fail_msg("%s", err.text);
    const struct mix_part parts[] = {
        {&list.rows[0],            3},
        {&list.rows[1],            3},
        {&list.rows[0],            2},
        {lists_row("mov r32 i32"), 2},
        {lists_row("add m64 r64"), 8}, // because of which the mix stands in the body several times
    };
    struct mixed mixed = mix_rows(parts, 5, MIX_ORDERS_ALL, false);
    assert_int_equal(mixed.test->kernels[0].instances, 4);
    assert_int_equal(mixed.status, 0);
    static char lines[LINES_MAX][LINE_BYTES];
    for (int k = 0; k < mixed.test->nkernels; k++) {
        int n = lines_split(mixed.test->kernels[k].body, lines), labels = 0;
        for (int i = 0; i < n; i++) {
            if (lines[i][strlen(lines[i]) - 1] != ':')
                continue;
            labels++;
            // The jump in front of it is to this label.
            char label[LINE_BYTES];
            snprintf(label, sizeof label, " %.*s", (int)strlen(lines[i]) - 1, lines[i]);
            assert_true(i > 0 && strstr(lines[i - 1], label));
            for (int j = 0; j < i; j++)
                assert_string_not_equal(lines[i], lines[j]);
        }
        assert_int_equal(labels, 4 * 8);
    }
    arena_free(&mixed.arena);
    list_free(&list);
}

// A move in front of each instance cuts what it would wait for; mix_breakers() says which.
static void test_breaking(void **state)
{
    (void)state;
    static const struct {
        const char *mix, *form;
        enum breaking breaking;
        const char *moves[3];
        // clang-format off
    } cases[] = {
        {"3*add r64 r64;2*mov r32 i32", "add r64 r64", BREAK_ALL, {"mov r64 r64", NULL}},
        {"3*add r64 r64;2*mov r32 i32", "add r64 r64", BREAK_NEEDED, {NULL, NULL}},
        {"3*adc r64 r64;2*mov r32 i32", "adc r64 r64", BREAK_ALL, {"mov r64 r64", "test r32 r32"}},
        {"3*adc r64 r64;2*mov r32 i32", "adc r64 r64", BREAK_REGISTERS, {"mov r64 r64", NULL}},
        {"3*mulps x x;2*mov r32 i32", "mulps x x", BREAK_ALL, {"movaps x x", NULL}},
        {"3*vpaddb y y y;2*mov r32 i32", "vpaddb y y y", BREAK_ALL, {NULL, NULL}},
        {"3*paddb mm mm;2*mov r32 i32", "paddb mm mm", BREAK_ALL, {"movq mm mm", NULL}},
        {"3*vfmadd231ps y y y;2*mov r32 i32", "vfmadd231ps y y y", BREAK_ALL, {"vmovaps y y",
            NULL}},
    };
    // clang-format on
    for (size_t c = 0; c < ARRAY_LEN(cases); c++) {
        const char *moves[MIX_BREAKERS_MAX];
        int wanted = 0, n = mix_breakers(lists_row(cases[c].form), cases[c].breaking, moves);
        while (cases[c].moves[wanted])
            wanted++;
        if (n != wanted)
            fail_msg("%s has %d moves in front", cases[c].form, n);
        struct mixed mixed = mix_text(cases[c].mix, 1u << MIX_BLOCKS, cases[c].breaking);
        assert_int_equal(mixed.test->kernels[0].instrs, 5 + 3 * n);
        static char lines[LINES_MAX][LINE_BYTES];
        assert_int_equal(lines_split(mixed.test->kernels[0].body, lines), 5 + 3 * n);
        for (int i = 0; i < n; i++) {
            bool found = false;
            for (int j = 0; j < n; j++)
                found |= strcmp(moves[j], cases[c].moves[i]) == 0;
            assert_true(found);
            size_t len = strcspn(moves[i], " ");
            for (int instance = 0; instance < 3; instance++)
                if (strncmp(lines[instance * (n + 1) + i], moves[i], len) != 0)
                    fail_msg("no %s in front of an instance:\n%s", moves[i],
                             mixed.test->kernels[0].body);
        }
        arena_free(&mixed.arena);
    }
}

// Contents of vector registers after the init of a spec.
struct vectors {
    uint64_t low[32];
    bool wide[32]; // the upper half holds the same; else it is zero
};

static void vectors_run(const struct kernel_spec *spec, struct vectors *vectors)
{
    static char lines[LINES_MAX][LINE_BYTES];
    uint64_t rax = spec->gpr_fill;
    for (int i = 0; i < 32; i++) {
        vectors->low[i] = i < 16 || spec->vec_bits == 512 ? spec->vec_fill : 0;
        vectors->wide[i] = spec->vec_bits > 128 && !spec->clear_upper;
    }
    for (int n = lines_split(spec->init, lines), i = 0; i < n; i++) {
        char name[32] = "", kind = 0;
        int to = 0, from = 0;
        if (sscanf(lines[i], "mov rax, %" SCNx64, &rax) == 1)
            continue;
        if (sscanf(lines[i], "%31s %cmm%d, %*cmm%d", name, &kind, &to, &from) < 3)
            continue;
        assert_true(to >= 0 && to < 32 && from >= 0 && from < 32);
        bool legacy = name[0] != 'v';
        if (strstr(name, "movq"))
            vectors->low[to] = rax;
        else if (strcmp(name, "vmovaps") == 0 || strcmp(name, "vmovdqa") == 0)
            vectors->low[to] = vectors->low[from];
        if (strcmp(name, "vpbroadcastq") == 0 || strcmp(name, "vinsertf128") == 0)
            vectors->wide[to] = true;
        else if (!legacy)
            vectors->wide[to] = kind != 'x' && vectors->wide[from];
    }
    assert_true(rax == spec->gpr_fill);
}

// All registers that the lines of the mnemonic name must hold `fill`.
static void expect_fill(const struct kernel_spec *spec, const char *mnemonic, uint64_t fill,
                        bool wide)
{
    struct vectors vectors;
    uint64_t named, written;
    vectors_run(spec, &vectors);
    body_registers(spec->body, mnemonic, &named, &written);
    assert_true(named >> VECTOR_0 != 0);
    for (int reg = 0; reg < 32; reg++)
        if (named & UINT64_C(1) << (VECTOR_0 + reg) &&
            (vectors.low[reg] != fill || vectors.wide[reg] != wide))
            fail_msg("%s: register %d holds %" PRIx64 ", upper half %s:\n%s%s", mnemonic, reg,
                     vectors.low[reg], vectors.wide[reg] ? "too" : "not", spec->init, spec->body);
}

static const uint64_t SINGLE = 0x3f8000003f800000, DOUBLE = 0x3ff0000000000000;

// Each part finds ordinary numbers of its type.
static void test_fills(void **state)
{
    (void)state;
    static const struct {
        const char *mix, *first, *second;
        uint64_t first_fill, second_fill;
        bool wide_first, wide_second;
    } cases[] = {
        {"4*vaddps x x x;1*vmulpd x x x", "vaddps", "vmulpd", SINGLE, DOUBLE, false, false},
        {"4*vaddpd y y y;1*vmulps y y y", "vaddpd", "vmulps", DOUBLE, SINGLE, true,  true },
        {"4*vaddps y y y;1*vmulpd y y y", "vaddps", "vmulpd", SINGLE, DOUBLE, true,  true },
        {"4*addps x x;1*mulpd x x",       "addps",  "mulpd",  SINGLE, DOUBLE, false, false},
        {"1*vaddps z z z;2*vmulpd y y y", "vaddps", "vmulpd", SINGLE, DOUBLE, true,  true },
 // Legacy registers beside wide ones: clean upper halves.
        {"4*vaddps y y y;2*mulpd x x",    "vaddps", "mulpd",  SINGLE, DOUBLE, true,  false},
        {"4*vaddps y y y;2*mulps x x",    "vaddps", "mulps",  SINGLE, SINGLE, true,  false},
        {"4*vpaddb y y y;2*vmulps y y y", "vmulps", "vmulps", SINGLE, SINGLE, true,  true },
    };
    for (size_t c = 0; c < ARRAY_LEN(cases); c++) {
        struct mixed mixed = mix_text(cases[c].mix, MIX_ORDERS_ALL, false);
        assert_int_equal(mixed.status, 0);
        for (int k = 0; k < mixed.test->nkernels; k++) {
            const struct kernel_spec *spec = &mixed.test->kernels[k];
            expect_fill(spec, cases[c].first, cases[c].first_fill, cases[c].wide_first);
            expect_fill(spec, cases[c].second, cases[c].second_fill, cases[c].wide_second);
        }
        arena_free(&mixed.arena);
    }
}

// Registers 16 and up hold what their part needs, whatever register 0 was given to.
static void test_high_registers(void **state)
{
    (void)state;
    struct mixed mixed = mix_text("4*{evex} vaddps y y y;1*{evex} vaddpd y y y;"
                                  "1*{evex} vmulpd y y y;1*{evex} vsubpd y y y;"
                                  "1*{evex} vmaxpd y y y;1*{evex} vminpd y y y",
                                  1u << MIX_BLOCKS, false);
    assert_int_equal(mixed.status, 0);
    const struct kernel_spec *spec = &mixed.test->kernels[0];
    uint64_t named, written;
    body_registers(spec->body, "{evex} vaddps", &named, &written);
    assert_true(named >> (VECTOR_0 + 16) != 0);
    expect_fill(spec, "{evex} vaddps", SINGLE, true);
    expect_fill(spec, "{evex} vminpd", DOUBLE, true);
    expect_fill(spec, "{evex} vaddpd", DOUBLE, true);
    arena_free(&mixed.arena);
}

// A part of AVX must not be set up by AVX2: a CPU may have no more.
static void test_fill_extension(void **state)
{
    (void)state;
    struct mixed mixed = mix_text("4*vaddps y y y;1*vmulpd y y y", 1u << MIX_BLOCKS, false);
    assert_null(strstr(mixed.test->kernels[0].init, "vpbroadcast"));
    arena_free(&mixed.arena);
}

// Memory of a part is its own and holds numbers of its type.
static void test_memory(void **state)
{
    (void)state;
    struct mixed mixed =
        mix_text("4*vaddps x x m128;2*vmulpd x x m128;2*mov r64 m64", 1u << MIX_BLOCKS, false);
    const struct kernel_spec *spec = &mixed.test->kernels[0];
    static char lines[LINES_MAX][LINE_BYTES];
    long stored = -1;
    long lowest[3] = {1 << 20, 1 << 20, 1 << 20}, highest[3] = {0};
    static const char *const names[] = {"vaddps", "vmulpd", "mov"};
    for (int n = lines_split(spec->body, lines), i = 0; i < n; i++)
        for (int part = 0; part < 3; part++) {
            const char *at = strstr(lines[i], "[r14");
            size_t len = strlen(names[part]);
            if (!at || strncmp(lines[i], names[part], len) != 0 || lines[i][len] != ' ')
                continue;
            long disp = strtol(at + 4, NULL, 0);
            lowest[part] = disp < lowest[part] ? disp : lowest[part];
            highest[part] = disp > highest[part] ? disp : highest[part];
        }
    for (int part = 1; part < 3; part++)
        assert_true(lowest[part] >= highest[part - 1] + 64 && lowest[part] < 1 << 20);
    uint64_t value = 0;
    for (int n = lines_split(spec->init, lines), i = 0; i < n; i++) {
        sscanf(lines[i], "mov rax, %" SCNx64, &value);
        if (sscanf(lines[i], "mov [r14+%ld], rax", &stored) == 1 && stored < lowest[2]) {
            assert_in_range(stored, lowest[1], lowest[1] + 56);
            assert_true(value == DOUBLE);
        }
    }
    assert_true(stored >= lowest[1]);
    arena_free(&mixed.arena);
}

// Bytes of the memory operand of a store, by its text.
static int line_bytes(const char *line)
{
    static const struct {
        const char *word;
        int bytes;
    } sizes[] = {
        {"byte", 1 },
        {"zmm",  64},
        {"ymm",  32},
        {"xmm",  16},
        {"add",  8 },
        {"mov",  4 }
    };
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        if (strstr(line, sizes[i].word))
            return sizes[i].bytes;
    return 0;
}

enum { PLACES_BYTES = 4096 };

// Stores of a body, by their bytes.
struct stored {
    int bits[PLACES_BYTES];          // of one byte: 1, it is rewritten; 2, it is only written
    long block, end;                 // of the last place that was rewritten
    int rewrites, stores;            // instances
    int half, apart;                 // bytes of half a block, of the smallest place
    bool shared;                     // two stores of rewritten memory are in one double word
    int least[PLACES_BYTES / 8 + 1]; // rewriting stores by double word
};

// Checks a store that rewrites memory: its place follows that of the one before.
static void stored_rewrites(struct stored *stored, long at, int bytes)
{
    int size = bytes < stored->apart ? stored->apart : bytes;
    long place = (PLACES_BYTES / 64 - 1 - at / 64) * 64 + at % 64; // lines go down
    long after = (stored->end + size - 1) / size * size;
    if (after % (2L * stored->half) >= stored->half)
        after += 2L * stored->half - after % (2L * stored->half);
    assert_int_equal(place, after);
    stored->end = place + size;
    stored->block = at / (2L * stored->half);
    stored->shared |= stored->least[at / 8]++ > 0;
    stored->rewrites++;
}

// Checks that stores of a body follow each other to one block, whatever part they are of, and that
// what rewrites memory has bytes of its own there.
static void body_stores(const char *body, struct stored *stored)
{
    static char lines[LINES_MAX][LINE_BYTES];
    for (int n = lines_split(body, lines), i = 0; i < n; i++) {
        bool rewrites = strncmp(lines[i], "add", 3) == 0 || strncmp(lines[i], "shl", 3) == 0;
        long at = PLACES_BYTES + strtol(strstr(lines[i], "[r14") + 4, NULL, 0);
        int bytes = line_bytes(lines[i]);
        assert_in_range(at, 0, PLACES_BYTES - bytes);
        assert_int_equal(at % bytes, 0);
        for (int byte = 0; byte < bytes; byte++) {
            assert_true(rewrites ? !stored->bits[at + byte] : !(stored->bits[at + byte] & 1));
            stored->bits[at + byte] |= rewrites ? 1 : 2;
        }
        if (rewrites) {
            stored_rewrites(stored, at, bytes);
        } else if (stored->rewrites > 0 && bytes < 64) {
            assert_int_equal(at / (2L * stored->half), stored->block);
            assert_true(at % (2L * stored->half) >= stored->half);
            stored->stores++;
        }
    }
}

// Stores follow each other to one block; what rewrites memory has places of its own there, back to
// back and, if they are small, also in double words of their own.
static void test_stores(void **state)
{
    (void)state;
    static const struct {
        const char *mix;
        int half, kinds;
        // clang-format off
    } cases[] = {
        {"60*add m64 r64;25*mov m32 r32;20*vmovups m128 x;40*shl m8 1", 16, 2},
        {"60*add m64 r64;25*mov m32 r32;10*vmovups m256 y;40*shl m8 1", 32, 2},
        {"60*add m64 r64;25*mov m32 r32;10*vmovups m512 z;40*shl m8 1", 16, 2},
        {"60*add m64 r64;25*mov m32 r32;20*vmovups m128 x", 16, 1},
    };
    // clang-format on
    for (size_t c = 0; c < ARRAY_LEN(cases); c++)
        for (unsigned order = 0; order < MIX_ORDER_COUNT; order++) {
            struct mixed mixed = mix_text(cases[c].mix, 1u << order, BREAK_NEEDED);
            assert_int_equal(mixed.test->nkernels, cases[c].kinds);
            for (int kind = 0; kind < cases[c].kinds; kind++) {
                struct stored stored = {.half = cases[c].half, .apart = kind ? 8 : 1};
                body_stores(mixed.test->kernels[kind].body, &stored);
                assert_int_equal(!!strstr(mixed.test->kernels[kind].shape, "+apart"), kind);
                assert_int_equal(stored.rewrites, cases[c].kinds == 2 ? 100 : 60);
                // Blocks have all bytes one after another.
                if (kind == 1 || cases[c].kinds == 1 || order == MIX_BLOCKS)
                    assert_int_equal(stored.shared, kind == 0 && cases[c].kinds == 2);
                assert_true(stored.stores >= 20);
            }
            arena_free(&mixed.arena);
        }
}

// Stores of a mix that loads none of them go to one place.
static void test_stores_only(void **state)
{
    (void)state;
    static char lines[LINES_MAX][LINE_BYTES];
    struct mixed mixed = mix_text("3*mov m64 r64;2*mov m8 r8", 1u << MIX_INTERLEAVED, BREAK_NEEDED);
    assert_int_equal(mixed.test->nkernels, 1);
    assert_int_equal(mixed.test->kernels[0].instances, 1);
    long first = 0;
    for (int n = lines_split(mixed.test->kernels[0].body, lines), i = 0; i < n; i++) {
        long at = strtol(strstr(lines[i], "[r14") + 4, NULL, 0);
        first = i ? first : at;
        assert_int_equal(at, first);
    }
    arena_free(&mixed.arena);
}

// Rewritten memory was stored long before it is loaded again: a mix with few such instances is
// repeated in its body, with places and labels of its own.
static void test_repeats(void **state)
{
    (void)state;
    static char lines[LINES_MAX][LINE_BYTES];
    struct mixed mixed = mix_text("5*add m64 r64;3*mov r32 i32", 1u << MIX_BLOCKS, BREAK_NEEDED);
    const struct kernel_spec *spec = &mixed.test->kernels[0];
    assert_int_equal(spec->instances, 7); // of five each: 35
    assert_int_equal(spec->instrs, 7 * 8);
    int rewrites = 0;
    for (int n = lines_split(spec->body, lines), i = 0; i < n; i++) {
        rewrites += strncmp(lines[i], "add", 3) == 0;
        for (int j = 0; j < i && strncmp(lines[i], "add", 3) == 0; j++)
            assert_string_not_equal(lines[i], lines[j]);
    }
    assert_int_equal(rewrites, 35);
    arena_free(&mixed.arena);
}

// The stack pointer is brought back once per body, which has many instances that move it.
static void test_stack(void **state)
{
    (void)state;
    static char lines[LINES_MAX][LINE_BYTES];
    static const struct {
        const char *mix, *brings;
        int instances;
    } cases[] = {
        {"4*push r64;3*mov r32 i32",   "lea rsp, [rsp+256]", 8},
        {"4*pop r64;3*mov r32 i32",    "lea rsp, [rsp-256]", 8},
        {"4*push r16;500*mov r32 i32", "lea rsp, [rsp+16]",  2},
        {"8*push r64",                 "lea rsp, [rsp+256]", 4},
    };
    for (size_t c = 0; c < ARRAY_LEN(cases); c++) {
        struct mixed mixed = mix_text(cases[c].mix, 1u << MIX_BLOCKS, BREAK_NEEDED);
        const struct kernel_spec *spec = &mixed.test->kernels[0];
        bool pops = strstr(cases[c].mix, "pop") != NULL;
        int brings = 0, moves = 0, n = lines_split(spec->body, lines);
        for (int i = 0; i < n; i++) {
            brings += strstr(lines[i], "rsp") != NULL;
            moves += strncmp(lines[i], pops ? "pop" : "push", 3) == 0;
        }
        assert_int_equal(spec->instances, cases[c].instances);
        assert_int_equal(n, spec->instrs);
        assert_int_equal(brings, 1);
        assert_string_equal(lines[pops ? 0 : n - 1], cases[c].brings);
        assert_true(moves >= 8);
        arena_free(&mixed.arena);
    }
}

static void test_too_many(void **state)
{
    (void)state;
    struct mix_part parts[9];
    for (int i = 0; i < 9; i++)
        parts[i] = (struct mix_part){lists_row("vpaddb x x x"), 2};
    struct mixed mixed = mix_rows(parts, 9, MIX_ORDERS_ALL, false);
    assert_int_equal(mixed.status, -1);
    assert_int_equal(mixed.test->outcome, OUTCOME_NOT_MEASURABLE);
    assert_int_equal(mixed.test->nkernels, 0);
    assert_non_null(strstr(mixed.test->detail, "too few registers"));
    arena_free(&mixed.arena);
}

// In 32-bit mode: eight registers, none of them r8 and up, and no 64-bit name.
static void test_mode_32(void **state)
{
    (void)state;
    struct list_row blocker = *lists_row("mov r32 i32");
    blocker.bits = 32;
    const struct mix_part parts[] = {
        {lists_selected("inc r32 bits=32", 32)->row, 4},
        {&blocker,                                3                                },
    };
    for (int breaking = BREAK_NEEDED; breaking <= BREAK_ALL; breaking++) {
        struct mixed mixed = mix_rows(parts, 2, MIX_ORDERS_ALL, (enum breaking)breaking);
        assert_int_equal(mixed.status, 0);
        const struct kernel_spec *spec = &mixed.test->kernels[0];
        assert_null(strstr(spec->init, "rax"));
        assert_null(strstr(spec->body, "r8"));
        assert_null(strstr(spec->body, " r"));
        assert_int_equal(body_instrs(spec->body), spec->instrs);
        arena_free(&mixed.arena);
    }
}

// A chained form reads the result of the instance before it, also across the loop.
static void test_chained(void **state)
{
    (void)state;
    static const char *const chained[] = {"vmovaps x x", "mov r64 r64", "movzx r32 r16",
                                          "vpand y y y"};
    for (size_t i = 0; i < sizeof chained / sizeof chained[0]; i++) {
        char text[64], lines[LINES_MAX][LINE_BYTES];
        snprintf(text, sizeof text, "8*%s", chained[i]);
        struct mixed mixed = mix_text(text, 1u << MIX_INTERLEAVED | CHAINED, BREAK_NEEDED);
        assert_int_equal(mixed.status, 0);
        int n = lines_split(mixed.test->kernels[0].body, lines);
        assert_int_equal(n, 8);
        for (int j = 0; j < n; j++) {
            uint64_t named, first, named_before, first_before;
            line_registers(lines[(j + n - 1) % n], &named_before, &first_before);
            line_registers(lines[j], &named, &first);
            assert_int_not_equal(first, first_before);
            assert_int_equal(named & first_before, first_before);
        }
        arena_free(&mixed.arena);
    }
    static const char *const not_chained[] = {"8*mov r64 m64", "8*add r64 r64", "8*vmovd r32 x",
                                              "8*mov m64 r64", "8*mul r64"};
    for (size_t i = 0; i < sizeof not_chained / sizeof not_chained[0]; i++) {
        struct mixed mixed =
            mix_text(not_chained[i], 1u << MIX_INTERLEAVED | CHAINED, BREAK_NEEDED);
        assert_int_equal(mixed.status, -1);
        assert_non_null(strstr(mixed.test->detail, "no chain"));
        arena_free(&mixed.arena);
    }
}

static void test_plannable(void **state)
{
    (void)state;
    assert_true(mix_plannable(lists_row("add r64 r64")));
    assert_true(mix_locks(lists_row("lock add m64 r64")));
    assert_true(mix_locks(lists_row("lock cmpxchg16b m128")));
    assert_true(mix_locks(lists_row("xchg m64 r64")));
    assert_false(mix_locks(lists_row("xchg r64 r64")));
    assert_false(mix_locks(lists_row("add m64 r64")));
    // Stores that bypass the caches say so, in every encoding.
    for (int i = 0; i < lists_all.nrows; i++) {
        const struct list_row *row = lists_all.rows[i].row;
        if (strstr(row->mnemonic, "movnt") && row->ops[0].kind == OPERAND_MEM && !row->nontemporal)
            fail_msg("%s lacks nontemporal", row->form);
    }
    for (int i = 0; i < lists_all.nrows; i++) {
        const struct list_row *row = lists_all.rows[i].row;
        bool push = strcmp(row->mnemonic, "push") == 0;
        if (push || strcmp(row->mnemonic, "jb") == 0 || strcmp(row->mnemonic, "fld") == 0 ||
            strcmp(row->mnemonic, "call") == 0) {
            assert_false(mix_plannable(row));
            assert_int_equal(mix_stands(row), push && !row->macro.file);
        }
    }
}

struct batch {
    struct gen_kernel *kernels;
    size_t n, capacity;
    int faults, refused;
};

// Two instances of the row and three of a blocker.
static void batch_add_mix(struct batch *batch, const struct list_row *row,
                          const struct list_row *blocker, int i, struct arena *arena)
{
    const struct plan_params params = {.issue_width = 6, .tests = TESTS_ALL};
    const struct mix_part parts[] = {
        {row,     2},
        {blocker, 3}
    };
    struct plan *plan = arena_alloc(arena, sizeof *plan);
    enum breaking breaking = (enum breaking)(i % (BREAK_ALL + 1));
    const struct mix mix = {parts, 2, 1u << MIX_INTERLEAVED, breaking, i % 3 == 0, false};
    if (mix_plan(&mix, &params, arena, plan) != 0) {
        batch->refused += mix_plannable(row); // pusha needs all registers
        print_message("refused: %s\n", row->form);
        return;
    }
    const struct kernel_spec *spec = &plan->tests[0].kernels[0];
    const char *moves[MIX_BREAKERS_MAX];
    int nmoves =
        mix_breakers(row, breaking, moves) * 2 + 3 * mix_breakers(blocker, breaking, moves);
    if (body_instrs(spec->body) != spec->instrs || strstr(spec->body, "r15") ||
        strchr(spec->body, '?') || spec->instrs < 5 + nmoves) {
        batch->faults++;
        print_error("%s: bad mix, %d instructions, %d moves:\n%s", row->form, spec->instrs, nmoves,
                    spec->body);
    }
    batch->kernels = xgrow(batch->kernels, &batch->capacity, batch->n + 1, sizeof *batch->kernels);
    batch->kernels[batch->n++] =
        (struct gen_kernel){.row = row, .test = &plan->tests[0], .spec = spec};
}

static void batch_assemble(struct batch *batch, int bits, const char *directory,
                           struct arena *arena)
{
    struct assemble_options options = {
        .directory = directory, .stem = "batch", .bits = bits, .compose = true};
    struct program program;
    struct err err = {0};
    if (assemble_program(batch->kernels, (int)batch->n, &options, arena, &program, &err) != 0)
        fail_msg("%s", err.text);
    for (int i = 0; i < program.nfailures; i++) {
        const struct gen_kernel *kernel = &batch->kernels[program.failures[i].kernel];
        print_error("%s:%d: %s: %s\n%s%s", kernel->row->path, kernel->row->line, kernel->row->form,
                    program.failures[i].detail, kernel->spec->init, kernel->spec->body);
    }
    batch->faults += program.nfailures;
    if (program.path)
        unlink(program.path);
}

// Every row that can be in a mix, beside one of the two blockers, with and without moves.
static void test_all_lists(void **state)
{
    (void)state;
    char directory[] = "/tmp/latput-test-mix-XXXXXX";
    assert_non_null(mkdtemp(directory));
    struct list_row blockers[2] = {*lists_row("mov r32 i32"), *lists_row("vpaddb x x x")};
    int total = 0, refused = 0;
    for (int bits = 64; bits >= 32; bits -= 32) {
        struct arena arena = {0};
        struct batch batch = {.n = 0};
        blockers[0].bits = blockers[1].bits = bits;
        if (bits == 32 && access(path_library("core32.o"), R_OK) != 0)
            continue;
        for (int i = 0; i < lists_all.nrows; i++)
            if (lists_all.rows[i].row->bits == bits && mix_stands(lists_all.rows[i].row))
                batch_add_mix(&batch, lists_all.rows[i].row, &blockers[i / 2 % 2], i, &arena);
        batch_assemble(&batch, bits, directory, &arena);
        total += (int)batch.n;
        refused += batch.refused;
        assert_int_equal(batch.faults, 0);
        free(batch.kernels);
        arena_free(&arena);
    }
    assert_true(total > 15000);
    assert_int_equal(refused, 0);
    assert_int_equal(rmdir(directory), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registers),      cmocka_unit_test(test_orders),
        cmocka_unit_test(test_times),          cmocka_unit_test(test_labels),
        cmocka_unit_test(test_pointers),       cmocka_unit_test(test_distinct),
        cmocka_unit_test(test_breaking),       cmocka_unit_test(test_fills),
        cmocka_unit_test(test_high_registers), cmocka_unit_test(test_fill_extension),
        cmocka_unit_test(test_memory),         cmocka_unit_test(test_stores),
        cmocka_unit_test(test_stores_only),    cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_too_many),       cmocka_unit_test(test_mode_32),
        cmocka_unit_test(test_chained),        cmocka_unit_test(test_plannable),
        cmocka_unit_test(test_stack),          cmocka_unit_test(test_all_lists),
    };
    return cmocka_run_group_tests(tests, lists_setup, lists_teardown);
}
