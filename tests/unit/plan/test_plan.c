// SPDX-License-Identifier: MIT
// Plans of single rows: their tests, the allowed contents of kernels, and that the operands of slow
// divisions return the values that a chain needs.
#include "plan/plan.h"
#include "plan/refusals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

__extension__ typedef unsigned __int128 wide_t; // dividends of 128 bits

struct planned {
    struct list list;
    struct arena arena;
    struct plan plan;
    struct err err;
    int status;
};

static void plan_params(struct planned *planned, const char *row, int width, unsigned tests)
{
    char path[] = "/tmp/latput-test-plan-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    fprintf(file, "# Test\nmnemonic,operands,implicit,isa,tests,options\n%s\n", row);
    fclose(file);
    *planned = (struct planned){0};
    int status = list_read(path, &planned->list, &planned->err);
    unlink(path);
    if (status != 0)
        fail_msg("%s", planned->err.text);
    const struct plan_params params = {.issue_width = width, .tests = tests};
    planned->status =
        plan_row(&planned->list.rows[0], &params, &planned->arena, &planned->plan, &planned->err);
}

static void plan_text(struct planned *planned, const char *row)
{
    plan_params(planned, row, 8, TESTS_ALL);
    if (planned->status != 0)
        fail_msg("%s", planned->err.text);
}

static void planned_free(struct planned *planned)
{
    list_free(&planned->list);
    arena_free(&planned->arena);
}

static const struct test *find_test(const struct planned *planned, const char *src, const char *dst,
                                    const char *variant)
{
    for (int i = 0; i < planned->plan.ntests; i++) {
        const struct test *test = &planned->plan.tests[i];
        if (strcmp(test->src, src) == 0 && strcmp(test->dst, dst) == 0 &&
            strcmp(test->variant, variant) == 0)
            return test;
    }
    fail_msg("no test %s -> %s %s", src, dst, variant);
    return NULL;
}

// Each pair of a read and a written operand has a test; what is no pair has none.
static void test_pairs(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"op1", "op1"     },
        {"op1", "flags"   },
        {"op2", "op1"     },
        {"op2", "flags"   },
        {"cf",  "op1"     },
        {"cf",  "flags"   },
        {"op1", "flags.of"},
        {"op1", "flags.zf"},
        {"op2", "flags.of"},
        {"op2", "flags.zf"},
    };
    struct planned planned;
    plan_text(&planned, "adc,+r64 r64,cf =flags,X86_64,,");
    assert_int_equal(planned.plan.ntests, ARRAY_LEN(pairs) + 1);
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        const struct test *test = find_test(&planned, pairs[i][0], pairs[i][1], "");
        assert_int_equal(test->kind, TEST_LATENCY);
        assert_int_equal(test->outcome, OUTCOME_OK);
        // With op1 cut there are two more ways of cutting; flags are cut in one way.
        assert_int_equal(test->nkernels, i == 2 || i == 4 || i == 5 ? 4 : 2);
        assert_string_equal(test->kernels[0].shape, "dense");
        assert_string_equal(test->kernels[1].shape, "filled");
        assert_int_equal(test->kernels[1].instrs,
                         test->kernels[0].instrs + 7 * test->kernels[0].instances);
    }
    planned_free(&planned);
}

// Dependencies outside a pair are cut by a move, by a load and by a constant; a point that needs a
// value gets no other one, and a pair that is a bound at best needs no further kernel.
static void test_breakers(void **state)
{
    (void)state;
    struct planned planned;
    plan_text(&planned, "vfmadd231ps,+x x x,,FMA,,");
    const struct test *test = find_test(&planned, "op2", "op1", "");
    assert_int_equal(test->nkernels, 4);
    assert_string_equal(test->kernels[2].shape, PLAN_CUT_LOAD);
    assert_string_equal(test->kernels[2].init, "vmovaps [r14+1024], xmm15\n");
    assert_string_equal(test->kernels[2].body, "vmovaps xmm1, [r14+1024]\n"
                                               "vfmadd231ps xmm1, xmm0, xmm2\n"
                                               "vmovaps xmm0, [r14+1024]\n"
                                               "vfmadd231ps xmm0, xmm1, xmm2\n");
    assert_string_equal(test->kernels[3].shape, PLAN_CUT_CONSTANT);
    assert_string_equal(test->kernels[3].body,
                        "vpxor xmm1, xmm1, xmm1\nvfmadd231ps xmm1, xmm0, xmm2\n"
                        "vpxor xmm0, xmm0, xmm0\nvfmadd231ps xmm0, xmm1, xmm2\n");
    assert_int_equal(find_test(&planned, "op1", "op1", "")->nkernels, 2);
    planned_free(&planned);
    plan_text(&planned, "sqrtsd,+x x,,SSE2,,data=sqrt"); // zero would be another radicand
    test = find_test(&planned, "op2", "op1", "fast");
    assert_int_equal(test->nkernels, 3);
    assert_string_equal(test->kernels[2].shape, PLAN_CUT_LOAD);
    planned_free(&planned);
    plan_text(&planned, "adc,+r64 r64,cf =flags,X86_64,,");
    assert_int_equal(find_test(&planned, "op2", "flags", "")->nkernels, 2);
    assert_int_equal(find_test(&planned, "op1", "op1", "")->nkernels, 2); // flags have one breaker
    planned_free(&planned);
}

// Tests of a row in another arrangement follow the usual ones, under their names; what would be the
// same is not asked again, nor what no arrangement suits.
static void test_again(void **state)
{
    (void)state;
    static const char add[] = "add,+r64 r64,=flags,X86_64,,";
    static const char add_memory[] = "add,+m64 r64,=flags,X86_64,,";
    static const char add_high[] = "add,+r8h i8,=flags,I386,,";
    static const char sqrtsd[] = "sqrtsd,+x x,,SSE2,,data=sqrt";
    static const struct {
        const char *row;
        enum arrangement wanted;
        const char *point, *variant, *body, *init; // of a pair from a point to itself
        // clang-format off
    } cases[] = {
        {add, ARRANGED_REGISTERS, "op1", "again registers", "add rbp, rdx\n", ""},
        {add, ARRANGED_LINES, "op1", "again fillers", "add rbx, rsi\n", ""},
        {add, ARRANGED_COPIES, "op1", "again copies", "add rbx, rsi\n", ""},
        {add_memory, ARRANGED_LINES, "op1.data", "again lines", "add qword [r14], rbx\n",
         "add r14, 704\n"},
        {add_high, ARRANGED_REGISTERS, "op1", "again fillers", "add bh, 5\n", ""},
        {sqrtsd, ARRANGED_COPIES, "op1", "slow again copies", NULL, NULL},
        {add, ARRANGED_HIGH, "op1", "again r16-r31", "add r16, r30\n",
         "mov r16, 0x1\nmov r30, 0x1\n"},
        {add_memory, ARRANGED_HIGH, "op1.data", "again r16-r31", "add qword [r31], r16\n",
         "mov r31, r14\nmov r16, 0x1\n"},
        {add_high, ARRANGED_HIGH, "op1", "again fillers", "add bh, 5\n", ""},
        {"vfmadd231ps,+x x m128,,FMA,,", ARRANGED_HIGH, "op1", "again registers", NULL, NULL},
    };
    // clang-format on
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct planned planned;
        plan_text(&planned, cases[i].row);
        const struct plan_params params = {.issue_width = 8,
                                           .tests = TESTS_LATENCY | TESTS_THROUGHPUT,
                                           .high_gprs = cases[i].wanted == ARRANGED_HIGH};
        struct err err;
        int usual = planned.plan.ntests;
        assert_int_equal(plan_row_again(planned.plan.row, &params, cases[i].wanted, &planned.arena,
                                        &planned.plan, &err),
                         0);
        assert_true(planned.plan.ntests > usual);
        for (int t = 0; t < planned.plan.ntests; t++)
            assert_int_equal(strstr(planned.plan.tests[t].variant, PLAN_AGAIN) != NULL, t >= usual);
        const struct test *test =
            find_test(&planned, cases[i].point, cases[i].point, cases[i].variant);
        if (cases[i].body) {
            assert_string_equal(test->kernels[0].body, cases[i].body);
            assert_string_equal(test->kernels[0].init, cases[i].init);
        }
        bool copies = strstr(cases[i].variant, "copies");
        assert_int_equal(test->kernels[0].copies > 0, copies);
        planned_free(&planned);
    }
}

// A result in memory is loaded again from where it went.
static void test_reload_is_of_the_stored_line(void **state)
{
    (void)state;
    struct planned planned;
    plan_text(&planned, "add,+m64 r64,=flags,X86_64,,");
    const struct test *test = find_test(&planned, "op2", "op1.data", "");
    assert_non_null(strstr(test->kernels[0].body, "add qword [r14+448], rbx\n"
                                                  "mov rbx, qword [r14+448]\n"));
    planned_free(&planned);
}

// Source and destination of a string instruction lie apart, in each kernel: else each load waits
// for the store in front of it.
static void test_pointers_apart(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "movsq,,+rsi +rdi df,X86_64,,pointer=rsi+rdi unrelated=rsi:rdi+rdi:rsi",
        "cmpsb,,+rsi +rdi =flags df,I386,,pointer=rsi+rdi",
    };
    struct planned planned;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        plan_text(&planned, rows[i]);
        for (int j = 0; j < planned.plan.ntests; j++)
            for (int k = 0; k < planned.plan.tests[j].nkernels; k++) {
                const struct kernel_spec *kernel = &planned.plan.tests[j].kernels[k];
                assert_non_null(strstr(kernel->init, "mov rsi, r14\n"));
                assert_non_null(strstr(kernel->init, "lea rdi, [r14+256]\n"));
                assert_null(strstr(kernel->body, "mov rdi, r14\n"));
                assert_null(strstr(kernel->body, "lea rdi, [rsi+r14]\n"));
            }
        planned_free(&planned);
    }
    plan_text(&planned, rows[0]);
    assert_string_equal(find_test(&planned, "rdi", "rdi", "")->kernels[0].body,
                        "mov rsi, r14\nmovsq\nand rdi, r12\nlea rdi, [rdi+r13]\n");
    planned_free(&planned);
}

// A register that is written whole and not read may be waited for all the same; of all others
// nothing is asked.
static void test_false_dependencies(void **state)
{
    (void)state;
    static const char *const none[] = {"add,+r64 r64,=flags,X86_64,,", "mov,=r8 r8,,X86_64,,",
                                       "vaddps,+z{k} z z,,AVX512F,,", "mov,=m64 r64,,X86_64,,",
                                       "cwde,,=eax ax,X86_64,,"};
    struct planned planned;
    plan_text(&planned, "popcnt,=r64 r64,=flags,POPCNT,,");
    const struct test *test = find_test(&planned, "op1", "op1", PLAN_FALSE);
    assert_int_equal(test->kind, TEST_LATENCY);
    assert_int_equal(test->nkernels, 1);
    assert_string_equal(test->kernels[0].body, "popcnt rbx, rsi\nimul rbx, rbx\n");
    assert_int_equal((int)test->kernels[0].extra_clk, 3);
    planned_free(&planned);
    plan_text(&planned, "vpcompressd,=z{k}{z} z,,AVX512F,,");
    assert_non_null(find_test(&planned, "op1", "op1", PLAN_FALSE));
    planned_free(&planned);
    plan_text(&planned, "sqrtpd,=x x,,SSE2,,data=sqrt"); // of one set of data
    assert_non_null(find_test(&planned, "op1", "op1", PLAN_FALSE));
    planned_free(&planned);
    for (size_t i = 0; i < ARRAY_LEN(none); i++) {
        plan_text(&planned, none[i]);
        for (int t = 0; t < planned.plan.ntests; t++)
            assert_string_not_equal(planned.plan.tests[t].variant, PLAN_FALSE);
        planned_free(&planned);
    }
}

static bool has_test(const struct planned *planned, const char *src, const char *dst)
{
    for (int i = 0; i < planned->plan.ntests; i++) {
        const struct test *test = &planned->plan.tests[i];
        if (test->kind == TEST_LATENCY && strcmp(test->src, src) == 0 &&
            strcmp(test->dst, dst) == 0 && !*test->variant)
            return true;
    }
    return false;
}

// APX: a new destination is written without being read or merged, flags that are left alone are no
// results, and conditional comparisons read the flags that their condition names.
static void test_apx(void **state)
{
    (void)state;
    struct planned planned;
    plan_text(&planned, "add,=r16 r16 r16,=flags,APX_F,,opcode=evex.66.map4.w0.01.vmr.nd");
    assert_non_null(find_test(&planned, "op2", "op1", ""));
    assert_non_null(find_test(&planned, "op3", "op1", ""));
    assert_non_null(find_test(&planned, "op2", "flags", ""));
    assert_false(has_test(&planned, "op1", "op1"));
    assert_false(has_test(&planned, "op1.rest", "op1"));
    assert_non_null(find_test(&planned, "op1", "op1", PLAN_FALSE));
    // op1 in vvvv and op2 in r/m: the chain goes from one to the other.
    // add si, bx, di; add bx, si, di
    assert_string_equal(find_test(&planned, "op2", "op1", "")->kernels[0].body,
                        "db 0x62,0xf4,0x4d,0x18,0x01,0xfb\ndb 0x62,0xf4,0x65,0x18,0x01,0xfe\n");
    planned_free(&planned);
    plan_text(&planned, "{nf} add,+r16 r16,,APX_F,,opcode=evex.66.map4.w0.01.mr.nf");
    assert_non_null(find_test(&planned, "op1", "op1", ""));
    for (int t = 0; t < planned.plan.ntests; t++)
        assert_null(strstr(planned.plan.tests[t].dst ? planned.plan.tests[t].dst : "", "flags"));
    planned_free(&planned);
    plan_text(&planned, "ccmpb,r64 r64,cf =flags,APX_F,,opcode=evex.np.map4.w1.39.mr.scc2.dfv0");
    const struct test *test = find_test(&planned, "cf", "flags", "");
    assert_int_equal(test->bound, BOUND_EXACT);
    assert_string_equal(test->kernels[0].body, "db 0x62,0xf4,0x84,0x02,0x39,0xf3\n");
    planned_free(&planned);
    plan_text(&planned, "ctestt,r64 r64,=flags,APX_F,,opcode=evex.np.map4.w1.85.mr.scca.dfv0");
    assert_false(has_test(&planned, "cf", "flags"));
    planned_free(&planned);
    plan_text(&planned, "cfcmovb,=r64 r64,cf,APX_F,,opcode=evex.np.map4.w1.42");
    assert_non_null(find_test(&planned, "cf", "op1", ""));
    assert_false(has_test(&planned, "op1", "op1")); // a select with 0
    assert_non_null(find_test(&planned, "op1", "op1", PLAN_FALSE));
    planned_free(&planned);
}

static void expect_refused(const char *row, const char *reason)
{
    const struct refusal items[] = {
        {"FMA4", false, "no FMA4"  },
        {"BMI1", false, "no BMI1"  },
        {"X87",  true,  "the state"}
    };
    const struct refusals refused = {items, ARRAY_LEN(items)};
    const struct plan_params params = {.issue_width = 8, .tests = TESTS_ALL, .refused = &refused};
    struct planned planned;
    struct plan plan;
    struct err err;
    plan_text(&planned, row);
    assert_int_equal(plan_row(&planned.list.rows[0], &params, &planned.arena, &plan, &err), 0);
    if (reason) {
        assert_int_equal(plan.ntests, 1);
        assert_int_equal(plan.tests[0].nkernels, 0);
        assert_int_equal(plan.tests[0].outcome, OUTCOME_UNSUPPORTED);
        assert_string_equal(plan.tests[0].detail, reason);
    } else
        assert_true(plan.ntests > 1);
    planned_free(&planned);
}

// Forms that are known to be refused are not planned. Legacy encodings may be something else on an
// older CPU, so only those go whose state is off.
static void test_refused(void **state)
{
    (void)state;
    expect_refused("vfmaddps,=x x x x,,FMA4,,", "no FMA4");
    expect_refused("vaddps,=z z z,,AVX512F,,", NULL);
    expect_refused("andn,=r64 r64 r64,=flags,BMI1,,", "no BMI1");
    expect_refused("tzcnt,=r64 r64,=flags,BMI1,,enc=legacy", NULL);
    expect_refused("fadd,+st0 st1,=fpsw,X87,,", "the state");
}

// Tests with other immediates: one kernel each, which the usual value has as well.
static void test_immediates(void **state)
{
    (void)state;
    struct planned planned;
    plan_text(&planned, "vextractf128,=x y i8,,AVX,,");
    const struct test *test = find_test(&planned, "op2", "op1", "i8=0");
    assert_int_equal(test->kind, TEST_LATENCY);
    assert_int_equal(test->nkernels, 1);
    assert_string_equal(test->kernels[0].shape, "dense");
    assert_string_equal(test->kernels[0].body,
                        "vextractf128 xmm1, ymm0, 0\nvextractf128 xmm0, ymm1, 0\n");
    test = find_test(&planned, "", "", "i8=0xff");
    assert_int_equal(test->kind, TEST_THROUGHPUT);
    assert_int_equal(test->nkernels, 1);
    assert_non_null(strstr(test->kernels[0].body, ", 255\n"));
    const struct test *usual = find_test(&planned, "", "", "");
    assert_string_equal(usual->kernels[usual->nkernels - 1].shape, test->kernels[0].shape);
    assert_non_null(strstr(usual->kernels[0].body, ", 5\n"));
    planned_free(&planned);
    // The value must not lead to another encoding, and is not asked of all pairs.
    plan_text(&planned, "rcl,+r64 i8,+cf =of,X86_64,,");
    test = find_test(&planned, "op1", "op1", "i8=1");
    assert_string_equal(test->kernels[0].body, "test r13d, r13d\nrcl rbx, byte 1\n");
    assert_string_equal(find_test(&planned, "", "", "i8=1")->kernels[0].shape, "n12+break");
    for (int t = 0; t < planned.plan.ntests; t++)
        assert_true(!plan_is_immediate(planned.plan.tests[t].variant) ||
                    strcmp(planned.plan.tests[t].src, "cf") != 0);
    planned_free(&planned);
}

// A register whose rest is zero, of legacy forms that keep it.
static void test_upper(void **state)
{
    (void)state;
    static const char *const none[] = {"vcvtsi2sd,=x x r64,,AVX,,", "addpd,+x x,,SSE2,,type=f64",
                                       "movsd,=x m64,,SSE2,,"};
    struct planned planned;
    plan_text(&planned, "cvtsi2sd,+x r64,,SSE2,,");
    const struct test *test = find_test(&planned, "op1", "op1", PLAN_UPPER);
    assert_int_equal(test->nkernels, 1);
    assert_string_equal(test->kernels[0].init, "pxor xmm0, xmm0\n");
    assert_string_equal(test->kernels[0].body, "cvtsi2sd xmm0, rbx\n");
    assert_true(plan_is_immediate(test->variant));
    planned_free(&planned);
    plan_text(&planned, "roundsd,+x x i8,,SSE4_1,,type=f64");
    test = find_test(&planned, "op1", "op1", PLAN_UPPER);
    assert_string_equal(test->kernels[0].body, "roundsd xmm0, xmm1, 5\n");
    find_test(&planned, "op1", "op1", "i8=0");
    planned_free(&planned);
    for (size_t i = 0; i < ARRAY_LEN(none); i++) {
        plan_text(&planned, none[i]);
        for (int t = 0; t < planned.plan.ntests; t++)
            assert_string_not_equal(planned.plan.tests[t].variant, PLAN_UPPER);
        planned_free(&planned);
    }
}

// Forms that others answer for, and those whose value is given, or a number of more than a byte.
static void test_usual_immediate_only(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "vpermq,=y m256 i8,,AVX2,,",
        "vpermq,+z{k} z i8,,AVX512F,,",
        "vrangepd,=z z z i8 {sae},,AVX512DQ,,type=f64",
        "vpternlogd,+z z z i8:0xff,,AVX512F,,",
        "pclmulqdq,+x x i8,,PCLMULQDQ,,",
        "add,+r64 i32,=flags,X86_64,,",
        "shl,+r64 1,=flags,X86_64,,",
        "lock add,+m64 i8,=flags,X86_64,,",
        "vaddps,=x x x,,AVX,,",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct planned planned;
        plan_text(&planned, rows[i]);
        assert_true(planned.plan.ntests > 0);
        for (int t = 0; t < planned.plan.ntests; t++)
            assert_false(plan_is_immediate(planned.plan.tests[t].variant));
        planned_free(&planned);
    }
}

// The same-register form of a value that makes an idiom is a form of its own.
static void test_same_with_immediate(void **state)
{
    (void)state;
    struct planned planned;
    plan_text(&planned, "vpternlogd,+z z z i8:0xff,,AVX512F,,same");
    const struct test *test = find_test(&planned, "op1", "op1", "");
    assert_string_equal(test->kernels[0].body, "vpternlogd zmm0, zmm0, zmm0, 255\n");
    planned_free(&planned);
}

static void test_bounds(void **state)
{
    (void)state;
    struct planned planned;
    plan_text(&planned, "add,+r64 r64,=flags,X86_64,,");
    assert_int_equal(find_test(&planned, "op2", "op1", "")->bound, BOUND_EXACT);
    const struct test *bridged = find_test(&planned, "op2", "flags", "");
    assert_int_equal(bridged->bound, BOUND_UPPER); // setcc may take longer than one cycle
    assert_true(bridged->kernels[0].extra_clk > 0.99 && bridged->kernels[0].extra_clk < 1.01);
    planned_free(&planned);
    // An address is restored by two instructions of one cycle each: exact.
    plan_text(&planned, "movzx,=r32 m8,,I386,,");
    const struct test *load = find_test(&planned, "op2.base", "op1", "");
    assert_int_equal(load->bound, BOUND_EXACT);
    assert_true(load->kernels[0].extra_clk > 1.99 && load->kernels[0].extra_clk < 2.01);
    assert_int_equal(find_test(&planned, "op2.data", "op1", "")->bound, BOUND_UPPER);
    planned_free(&planned);
}

// An operand that is not the chain's must not be the chain's register.
static void test_no_accidental_same_register(void **state)
{
    (void)state;
    struct planned planned;
    plan_text(&planned, "add,+r64 r64,=flags,X86_64,,");
    for (int t = 0; t < planned.plan.ntests; t++)
        for (int k = 0; k < planned.plan.tests[t].nkernels; k++) {
            char line[128], a[16], b[16];
            const char *body = planned.plan.tests[t].kernels[k].body;
            for (const char *at = body; *at; at += strcspn(at, "\n") + 1) {
                snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
                if (sscanf(line, "add %15[^,], %15s", a, b) == 2)
                    assert_string_not_equal(a, b);
            }
        }
    planned_free(&planned);
    plan_text(&planned, "xor,+r64 r64,=flags,X86_64,,same");
    const struct test *test = find_test(&planned, "op1", "op1", "");
    assert_non_null(strstr(test->kernels[0].body, "xor rbx, rbx\n"));
    planned_free(&planned);
}

static void expect_pairs(const char *row, const char *const (*pairs)[2], int npairs)
{
    struct planned planned;
    plan_text(&planned, row);
    assert_int_equal(planned.plan.ntests, npairs + 1);
    for (int i = 0; i < npairs; i++)
        assert_int_equal(find_test(&planned, pairs[i][0], pairs[i][1], "")->outcome, OUTCOME_OK);
    planned_free(&planned);
}

// Registers of the x87 stack, memory, status word and flags have their pairs; what two operands
// that change places leave of themselves has none.
static void test_x87_pairs(void **state)
{
    (void)state;
    static const char *const memory[][2] = {
        {"op1.base", "st0"},
        {"op1.data", "st0"},
        {"st0",      "st0"},
    };
    expect_pairs("fadd,m32,+st0 =fpsw,X87,,type=f32", memory, 3);
    expect_pairs("fild,m64,=st0 =fpsw,X87,,x87=push", memory, 2);
    static const char *const pop[][2] = {
        {"op1", "op1"},
        {"op2", "op1"},
    };
    expect_pairs("faddp,+st st0,=fpsw,X87,,type=f80 x87=pop", pop, 2);
    static const char *const exchange[][2] = {
        {"op1", "st0"},
        {"st0", "op1"},
    };
    expect_pairs("fxch,+st,+st0 =fpsw,X87,,type=f80 unrelated=op1:op1+st0:st0", exchange, 2);
    static const char *const status[][2] = {
        {"op1", "fpsw"},
        {"st0", "fpsw"},
    };
    expect_pairs("fcomp,st,st0 =fpsw,X87,,type=f80 x87=pop", status, 2);
    static const char *const flags[][2] = {
        {"op1", "flags"},
        {"st0", "flags"},
    };
    expect_pairs("fcomi,st,st0 =fpsw =flags,CMOV+X87,,type=f80", flags, 2);
    static const char *const reader[][2] = {
        {"fpsw",     "op1"},
        {"op1.rest", "op1"},
    };
    expect_pairs("fnstsw,=ax,fpsw,X87,,", reader, 2);
    expect_pairs("fldcw,m16,=fpsw,X87,,fill=0x037f", NULL, 0);
}

// Values that a function would change are put back, in both variants.
static void test_x87_values(void **state)
{
    (void)state;
    struct planned planned;
    plan_text(&planned, "fpatan,,st0 +st1 =fpsw,X87,,type=f80 x87=pop data=function st=1/0:2/0.5");
    const struct kernel_spec *fast = find_test(&planned, "st1", "st1", "fast")->kernels;
    const struct kernel_spec *slow = find_test(&planned, "st1", "st1", "slow")->kernels;
    assert_string_equal(fast->body, slow->body);
    assert_non_null(strstr(slow->body, "fcmovb st0, st"));
    assert_non_null(strstr(fast->init, "mov rax, 0x0\n"));                // st1
    assert_non_null(strstr(fast->init, "mov rax, 0x3ff0000000000000\n")); // st0
    assert_non_null(strstr(slow->init, "mov rax, 0x3fe0000000000000\n"));
    assert_non_null(strstr(slow->init, "mov rax, 0x4000000000000000\n"));
    assert_int_equal(find_test(&planned, "st0", "st1", "slow")->bound, BOUND_UPPER);
    planned_free(&planned);
    plan_text(&planned, "fdiv,st,+st0 =fpsw,X87,,type=f80 data=div");
    assert_null(strstr(find_test(&planned, "st0", "st0", "fast")->kernels[0].body, "fcmov"));
    assert_non_null(strstr(find_test(&planned, "st0", "st0", "slow")->kernels[0].body, "fcmov"));
    planned_free(&planned);
}

// A bridge leaves the operand in memory alone on its way, and brings it a number of its kind.
static void test_bridges_keep_memory(void **state)
{
    (void)state;
    struct planned planned;
    plan_text(&planned, "fidiv,m16,+st0 =fpsw,X87,,data=div");
    const char *body = find_test(&planned, "op1.base", "st0", "fast")->kernels[0].body;
    assert_non_null(strstr(body, "fidiv word [rbx]"));
    assert_null(strstr(body, "[r14]"));
    assert_non_null(strstr(body, "fst dword [r14+3072]"));
    planned_free(&planned);
    plan_text(&planned, "fcom,m32,st0 =fpsw,X87,,type=f32");
    const struct kernel_spec *kernel = find_test(&planned, "op1.data", "fpsw", "")->kernels;
    assert_non_null(strstr(kernel->init, "mov r12, 0x3f800000\n"));
    assert_non_null(strstr(kernel->body, "lea r13, [r13+r12]\n"));
    assert_non_null(strstr(kernel->body, "mov dword [r14], r13d\n"));
    planned_free(&planned);
    plan_text(&planned, "ficom,m16,st0 =fpsw,X87,,");
    assert_null(strstr(find_test(&planned, "op1.data", "fpsw", "")->kernels->body, "lea"));
    planned_free(&planned);
}

// The adjust flag is read by lahf, which needs rax; a constant there must not be overwritten.
static void test_adjust_flag(void **state)
{
    (void)state;
    struct planned planned;
    plan_text(&planned, "inc,+r64,=zf =sf =pf =af =of,X86_64,,");
    const struct test *test = find_test(&planned, "op1", "af", "");
    assert_int_equal(test->bound, BOUND_UPPER);
    assert_non_null(strstr(test->kernels[0].body, "inc rbx\nlahf\nmov ebx, eax\n"));
    planned_free(&planned);
    plan_text(&planned, "sahf,,ah =cf =zf =sf =pf =af,LAHF_LM,,");
    assert_int_equal(find_test(&planned, "ah", "af", "")->outcome, OUTCOME_OK);
    planned_free(&planned);
    plan_text(&planned, "add,r64 rax,=af,X86_64,,");
    assert_int_equal(find_test(&planned, "op2", "af", "")->outcome, OUTCOME_OK);
    assert_int_equal(find_test(&planned, "op1", "af", "")->outcome, OUTCOME_NOT_MEASURABLE);
    planned_free(&planned);
}

// The rest of a register has a pair of its own if a part of it is written.
static void test_partial_registers(void **state)
{
    (void)state;
    struct planned planned;
    plan_text(&planned, "mov,=r8 r8,,I386,,");
    const struct test *test = find_test(&planned, "op1.rest", "op1", "");
    assert_int_equal(test->bound, BOUND_EXACT);
    assert_string_equal(test->kernels[0].body, "mov bl, sil\nlea rbx, [rbx+r13]\n");
    // The pair from the source has it cut off.
    assert_non_null(strstr(find_test(&planned, "op2", "op1", "")->kernels[0].body,
                           "mov rbx, r13\nmov bl, sil\n"));
    planned_free(&planned);
    static const char *const without[] = {"mov,=r32 r32,,I386,,", "mov,=r8 r8,,I386,,same",
                                          "add,+r8 r8,=flags,I386,,", "cbw,,=ax al,I386,,",
                                          "movss,+x x,,SSE,,type=f32"};
    for (size_t i = 0; i < ARRAY_LEN(without); i++) {
        plan_text(&planned, without[i]);
        for (int t = 0; t < planned.plan.ntests; t++)
            assert_null(strstr(planned.plan.tests[t].src, ".rest"));
        planned_free(&planned);
    }
    plan_text(&planned, "add,+r8h r8h,=flags,I386,,");
    find_test(&planned, "op1.rest", "op1", "");
    planned_free(&planned);
}

// A breaker in front of the instruction must not give a constant to what the chain runs through:
// the source may be a part of the register whose old content is to be cut off.
static void test_breakers_leave_the_chain(void **state)
{
    (void)state;
    static const struct {
        const char *row, *src, *dst, *whole;
    } pairs[] = {
        {"cbw,,=ax al,I386,,",          "al",  "ax",    "rax"},
        {"mul,r8,al =ax =flags,I386,,", "al",  "ax",    "rax"},
        {"mul,r8,al =ax =flags,I386,,", "al",  "flags", "rax"},
        {"aam,i8:10,+ax =flags,I386,,", "ax",  "flags", "rax"},
        {"xchg,+r16 r16,,I386,,same",   "op1", "op1",   "rbx"},
        {"mov,=r8 r8,,I386,,same",      "op2", "op1",   "rbx"},
    };
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        struct planned planned;
        plan_text(&planned, pairs[i].row);
        char breaker[32];
        snprintf(breaker, sizeof breaker, "mov %s, ", pairs[i].whole);
        const struct test *test = find_test(&planned, pairs[i].src, pairs[i].dst, "");
        assert_int_equal(test->outcome, OUTCOME_OK);
        if (strstr(test->kernels[0].body, breaker))
            fail_msg("%s: the chain is cut in\n%s", pairs[i].row, test->kernels[0].body);
        planned_free(&planned);
    }
    // From another register it is cut as before.
    struct planned planned;
    plan_text(&planned, "mul,r8,al =ax =flags,I386,,");
    assert_non_null(strstr(find_test(&planned, "op1", "ax", "")->kernels[0].body, "mov rax, "));
    planned_free(&planned);
}

static const struct kernel_spec *find_shape(const struct planned *planned, const char *shape)
{
    const struct test *test = find_test(planned, "", "", "");
    for (int k = 0; k < test->nkernels; k++)
        if (strcmp(test->kernels[k].shape, shape) == 0)
            return &test->kernels[k];
    return NULL;
}

// A repeated body is stored once; the core repeats it. Parts that differ in each instance stay.
static void test_bodies_are_one_period(void **state)
{
    (void)state;
    struct planned planned;
    plan_text(&planned, "imul,+r64 r64,=flags,I386,,");
    const struct kernel_spec *kernel = find_test(&planned, "op1", "op1", "")->kernels;
    assert_string_equal(kernel->body, "imul rbx, rsi\n");
    assert_int_equal(kernel->instances, 1);
    assert_int_equal(kernel->instrs, 1);
    assert_string_equal(kernel[1].body, "imul rbx, rsi\ntimes 7 nop\n");
    assert_int_equal(kernel[1].instrs, 8);
    kernel = find_test(&planned, "op2", "op1", "")->kernels; // two registers take turns
    assert_string_equal(kernel->body, "mov rsi, r13\nimul rsi, rbx\nmov rbx, r13\nimul rbx, rsi\n");
    assert_int_equal(kernel->instances, 2);
    assert_int_equal(kernel->instrs, 4);
    assert_int_equal(find_shape(&planned, "n8")->instances, 8);
    planned_free(&planned);
    plan_text(&planned, "cmp,r64 r64,=flags,X86_64,,");
    assert_int_equal(find_shape(&planned, "n8")->instances, 1);
    planned_free(&planned);
    plan_text(&planned, "jmp,rel32,,I386,,"); // each instance has a label of its own
    assert_int_equal(find_shape(&planned, "n8")->instances, 8);
    planned_free(&planned);
    plan_text(&planned, "pop,=r64,,X86_64,T,stack=8"); // the stack pointer is put back once
    assert_int_equal(find_test(&planned, "", "", "")->kernels[0].instances, 3);
    planned_free(&planned);
}

// Instances that feed each other through registers which the row names itself run one behind the
// other, unless these are set anew: from a constant, or by an immediate.
static void test_throughput_of_implicit_operands(void **state)
{
    (void)state;
    struct planned planned;
    plan_text(&planned, "cwde,,=eax ax,I386,,");
    assert_non_null(strstr(find_shape(&planned, "n8+break")->body, "mov rax, r13\ncwde\n"));
    assert_non_null(strstr(find_shape(&planned, "n8+imm")->body, "mov eax, 0x1\ncwde\n"));
    planned_free(&planned);
    // No dependency, but a source that nothing writes: how such a one is read is up to the core.
    plan_text(&planned, "cdq,,=edx eax,I386,,");
    assert_null(find_shape(&planned, "n8+break"));
    assert_non_null(strstr(find_shape(&planned, "n8+imm")->body, "mov eax, 0x1\ncdq\n"));
    planned_free(&planned);
    // The value is the one that the instruction needs; flags are cut as well.
    plan_text(&planned, "div,r64,+rax +rdx =flags,X86_64,T,data=idiv");
    const struct test *slow = find_test(&planned, "", "", "slow");
    const struct kernel_spec *imm = NULL;
    for (int i = 0; i < slow->nkernels; i++)
        if (strcmp(slow->kernels[i].shape, "n8+imm") == 0)
            imm = &slow->kernels[i];
    assert_non_null(imm);
    assert_non_null(strstr(imm->body, "mov rax, 0x5555555500000000\nmov edx, 0x55555555\ndiv"));
    planned_free(&planned);
    plan_text(&planned, "adc,+ax i16,cf =flags,I386,,");
    assert_non_null(strstr(find_shape(&planned, "n8+imm")->body,
                           "test r12d, r12d\nmov eax, 0x1\nadc ax, 4660\n"));
    planned_free(&planned);
    // A pointer stays one, and what the row leaves to us needs no immediate.
    plan_text(&planned, "lodsb,,=al +rsi df,I386,,pointer=rsi");
    assert_null(strstr(find_shape(&planned, "n8+imm")->body, "mov esi"));
    assert_non_null(strstr(find_shape(&planned, "n8+imm")->body, "mov rsi, r14\n"));
    planned_free(&planned);
    plan_text(&planned, "add,+r64 r64,=flags,X86_64,,");
    assert_null(find_shape(&planned, "n8+imm"));
    planned_free(&planned);
}

static int lines_with(const char *body, const char *word)
{
    int n = 0;
    while ((body = strstr(body, word))) {
        n++;
        body += strlen(word);
    }
    return n;
}

// A breaker in front of each instance may take longer than the instance: `fadd st` had 1.5 cycles,
// which are three slots of two stack operations, and `add eax, i32` two slots of six.
static void test_throughput_cut_now_and_then(void **state)
{
    (void)state;
    struct planned planned;
    plan_text(&planned, "add,+eax i32,=flags,I386,,");
    const struct kernel_spec *sparse = find_shape(&planned, "n8+sparse");
    assert_int_equal(lines_with(sparse->body, "mov rax, r13\n"), 1); // and again each round
    assert_int_equal(lines_with(sparse->body, "add eax, "), 4);
    assert_int_equal(sparse->instances, 4);
    planned_free(&planned);
    // Groups are whole, also where registers do not suffice for all twelve instances.
    plan_text(&planned, "adc,+r16 r16,cf =flags,I386,,");
    sparse = find_shape(&planned, "n8+sparse");
    assert_int_equal(lines_with(sparse->body, "test "), 2);
    assert_int_equal(lines_with(sparse->body, "adc "), 8);
    planned_free(&planned);
    // Operands that need a value are set in front of each instance.
    plan_text(&planned, "lodsb,,=al +rsi df,I386,,pointer=rsi");
    sparse = find_shape(&planned, "n8+sparse");
    assert_int_equal(lines_with(sparse->body, "mov rsi, r14\n"), lines_with(sparse->body, "lodsb"));
    planned_free(&planned);
    // Nothing to cut: no such shape.
    plan_text(&planned, "add,+r64 r64,=flags,X86_64,,");
    assert_null(find_shape(&planned, "n8+sparse"));
    planned_free(&planned);
}

static uint64_t init_value(const char *init, const char *reg)
{
    char start[32];
    snprintf(start, sizeof start, "mov %s, 0x", reg);
    const char *at = strstr(init, start);
    if (!at)
        fail_msg("%s is not set in:\n%s", reg, init);
    return strtoull(at + strlen(start) - 2, NULL, 0);
}

// (high * 2^w + low) / divisor must be low again: then rax can be chained onto itself.
static void test_slow_integer_division(void **state)
{
    (void)state;
    static const struct {
        const char *row;
        int bits;
    } rows[] = {
        {"div,r16,+ax +dx =flags,I386,,data=idiv",     16},
        {"idiv,r32,+eax +edx =flags,I386,,data=idiv",  32},
        {"div,r64,+rax +rdx =flags,X86_64,,data=idiv", 64},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct planned planned;
        plan_text(&planned, rows[i].row);
        const char *rax = planned.list.rows[0].implicit[0].name;
        const struct test *test = find_test(&planned, rax, rax, "slow");
        const char *init = test->kernels[0].init;
        wide_t high = init_value(init, "rdx");
        uint64_t low = init_value(init, "rax"), divisor = init_value(init, "rbx");
        wide_t dividend = high << rows[i].bits | low;
        assert_true(high < divisor); // else the quotient overflows
        assert_true(dividend / divisor == low);
        assert_true(dividend % divisor == 0);
        assert_true(low < (uint64_t)1 << (rows[i].bits - 1)); // signed too
        assert_true(low >= (uint64_t)1 << (rows[i].bits - 2));
        find_test(&planned, rax, rax, "fast");
        planned_free(&planned);
    }
}

static void test_selection_of_tests(void **state)
{
    (void)state;
    struct planned planned;
    plan_params(&planned, "add,+r64 r64,=flags,X86_64,,", 4, TESTS_THROUGHPUT);
    assert_int_equal(planned.plan.ntests, 1);
    assert_int_equal(planned.plan.tests[0].kind, TEST_THROUGHPUT);
    planned_free(&planned);
    plan_params(&planned, "add,+r64 r64,=flags,X86_64,T,", 4, TESTS_LATENCY);
    assert_int_equal(planned.status, 0);
    assert_int_equal(planned.plan.ntests, 0);
    planned_free(&planned);
    // A front end of one instruction a cycle has no room for fillers.
    plan_params(&planned, "add,+r64 r64,=flags,X86_64,,", 1, TESTS_LATENCY);
    assert_null(strstr(find_test(&planned, "op1", "op1", "")->kernels[1].body, "nop"));
    planned_free(&planned);
}

static void test_what_cannot_be_planned(void **state)
{
    (void)state;
    static const struct {
        const char *row;
        enum outcome outcome;
        const char *detail;
    } rows[] = {
        {"call,rel32,+rsp,I386,,",    OUTCOME_NOT_MEASURABLE, "stack pointer"},
        {"jmp,r64,,X86_64,,",         OUTCOME_NOT_MEASURABLE, "macro"        },
        {"tilezero,=tmm,,AMX_TILE,,", OUTCOME_NOT_MEASURABLE, "tiles"        },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct planned planned;
        plan_text(&planned, rows[i].row);
        assert_int_equal(planned.plan.ntests, 1);
        assert_int_equal(planned.plan.tests[0].outcome, rows[i].outcome);
        assert_int_equal(planned.plan.tests[0].nkernels, 0);
        assert_non_null(strstr(planned.plan.tests[0].detail, rows[i].detail));
        planned_free(&planned);
    }
}

// Every kernel of a plan, bodies and inits, one after the other.
static void expect_nowhere(const struct planned *planned, const char *part)
{
    for (int t = 0; t < planned->plan.ntests; t++)
        for (int k = 0; k < planned->plan.tests[t].nkernels; k++) {
            const struct kernel_spec *spec = &planned->plan.tests[t].kernels[k];
            if (strstr(spec->body, part) || strstr(spec->init, part))
                fail_msg("%s in:\n%s%s", part, spec->init, spec->body);
        }
}

static void test_32_bit_mode_has_its_own_registers(void **state)
{
    (void)state;
    // Names that 32-bit mode lacks: 64-bit registers, numbered ones, low bytes of esi and edi.
    static const char *const absent[] = {"rax", "rbx", "rcx", "rdx",  "rsi",  "rdi",  "rbp", "rsp",
                                         "r8",  "r9",  "r10", "r11",  "r12",  "r13",  "r14", "r15",
                                         "sil", "dil", "bpl", "xmm8", "xmm9", "xmm15"};
    static const char *const rows[] = {
        "add,+r32 r32,=flags,I386,,bits=32",
        "add,+r8 r8,=flags,I386,,bits=32",
        "add,+m32 r32,=flags,I386,,bits=32",
        "mov,=r8h r8,,I386,,bits=32",
        "lodsb,,=al +esi df,I386,,pointer=esi bits=32",
        "cvtsi2sd,+x r32,,SSE2,,bits=32",
        "comisd,x x,=flags,SSE2,,type=f64 bits=32",
        "divpd,+x x,,SSE2,,type=f64 data=div bits=32",
        "div,r32,+eax +edx =flags,I386,,data=idiv bits=32",
        "fdiv,+st st0,=fpsw,X87,,type=f80 data=div bits=32",
        "vpgatherqq,+x vm64x +x,,AVX2,,bits=32",
        "vpaddd,=z{k}{z} z z,,AVX512F,,bits=32",
        "popa,,=eax =ecx =edx =ebx +esp =ebp =esi =edi,I386,,bits=32 stack=+32",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct planned planned;
        plan_text(&planned, rows[i]);
        int kernels = 0;
        for (int t = 0; t < planned.plan.ntests; t++)
            kernels += planned.plan.tests[t].nkernels;
        assert_true(kernels > 0);
        for (size_t a = 0; a < ARRAY_LEN(absent); a++)
            expect_nowhere(&planned, absent[a]);
        planned_free(&planned);
    }
}

static void test_32_bit_rows_are_skipped_with_a_reason(void **state)
{
    (void)state;
    struct planned planned;
    plan_text(&planned, "aaa,,+ax =flags,I386,,bits=32");
    struct plan plan;
    const struct plan_params params = {
        .issue_width = 8, .tests = TESTS_ALL, .skip_32 = "no 32-bit programs here"};
    assert_int_equal(plan_row(&planned.list.rows[0], &params, &planned.arena, &plan, &planned.err),
                     0);
    assert_int_equal(plan.ntests, 1);
    assert_int_equal(plan.tests[0].nkernels, 0);
    assert_int_equal(plan.tests[0].outcome, OUTCOME_SKIPPED);
    assert_string_equal(plan.tests[0].detail, "no 32-bit programs here");
    planned_free(&planned);
}

static void test_macro(void **state)
{
    (void)state;
    struct planned planned;
    plan_text(&planned, "call,rel32,+rsp,I386,T,macro=branch.inc:branch_call_ret");
    assert_int_equal(planned.plan.ntests, 1);
    assert_int_equal(planned.plan.tests[0].nkernels, 4);
    assert_int_equal(planned.plan.tests[0].kernels[0].instrs, 17);
    assert_string_equal(planned.plan.tests[0].kernels[0].body, "branch_call_ret\n");
    assert_string_equal(planned.plan.tests[0].kernels[1].body, "branch_call_ret_16\n");
    planned_free(&planned);
    // Arguments go to the body and to the init.
    plan_text(&planned, "jz,rel8,zf,I386,T,macro=branch.inc:branch_taken:z:short");
    const struct kernel_spec *kernels = planned.plan.tests[0].kernels;
    assert_string_equal(kernels[0].body, "branch_taken_32 z, short\n");
    assert_string_equal(kernels[0].init, "%include \"branch.inc\"\nbranch_flags_init z, short\n");
    assert_false(kernels[0].unrolled);
    assert_true(kernels[planned.plan.tests[0].nkernels - 1].unrolled);
    planned_free(&planned);
    // Instructions beside the tested one in each kernel can be timed alone, like those of other
    // rows.
    plan_text(&planned, "leave,,+rsp +rbp,X86_64,T,macro=state.inc:state_leave:o32:rbp note=x");
    assert_int_equal(planned.plan.ntests, 2);
    const struct test *leave = find_test(&planned, "", "", "");
    const struct test *setting = find_test(&planned, "", "", PLAN_SETTING);
    assert_int_equal(leave->bound, BOUND_UPPER);
    assert_string_equal(leave->note, "x");
    assert_string_equal(setting->kernels[0].body, "state_leave_set o32, rbp\n");
    assert_string_equal(setting->note, "");
    planned_free(&planned);
    plan_text(&planned, "std,,=df,I386,T,macro=state.inc:state_direction_kept"); // std alone
    assert_int_equal(planned.plan.tests[0].bound, BOUND_EXACT);
    assert_int_equal(planned.plan.tests[0].kernels[0].instances,
                     planned.plan.tests[0].kernels[0].instrs);
    planned_free(&planned);
    plan_params(&planned, "call,rel32,+rsp,I386,T,macro=branch.inc:nosuch", 8, TESTS_ALL);
    assert_int_equal(planned.status, -1);
    assert_non_null(strstr(planned.err.text, "nosuch"));
    planned_free(&planned);
}

// Stores that bypass the caches run through fresh lines, each written whole; what comes back from
// memory is no latency of theirs.
static void test_streams(void **state)
{
    (void)state;
    // clang-format off
    static const struct {
        const char *row, *body, *note;
        int instances;
    } cases[] = {
        {"movntdq,=m128 x,,SSE2,,nontemporal",
         "lea r13, [r14+r12]\nmovntdq oword [r13], xmm0\nmovntdq oword [r13+16], xmm0\n",
         "16 bytes each, to fresh lines", 32},
        {"movnti,=m32 r32,,SSE2,,nontemporal", "movnti dword [r13+508], ebx\n",
         "4 bytes each, to fresh lines", 128},
        {"movdir64b,r64 m512,,MOVDIR64B,,pointer=op1 nontemporal",
         "lea rbx, [r13+448]\nmovdir64b rbx, zword [r14-64]\n", "64 bytes each, to fresh lines", 8},
        {"maskmovdqu,x x,rdi,SSE2,,pointer=rdi signs=op2 nontemporal",
         "lea rdi, [r13+0]\nmaskmovdqu xmm0, xmm1\nlea rdi, [r13+16]\n",
         "16 bytes each, to fresh lines", 32},
        {"maskmovq,mm mm,rdi,SSE+MMX,,pointer=rdi signs=op2 nontemporal",
         "lea rdi, [r13+504]\nmaskmovq", "8 bytes each, to fresh lines", 64},
    };
    // clang-format on
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct planned planned;
        plan_text(&planned, cases[i].row);
        const struct test *test = find_test(&planned, "", "", "");
        assert_int_equal(test->nkernels, 1);
        const struct kernel_spec *spec = &test->kernels[0];
        assert_string_equal(spec->shape, "stream");
        assert_true(spec->stream);
        assert_int_equal(spec->instances, cases[i].instances);
        assert_string_equal(test->note, cases[i].note);
        assert_non_null(strstr(spec->init, "xor r12d, r12d\n"));
        // Moves on by what was written, 64 KiB in all: the data area.
        assert_memory_equal(spec->body, "add r12d, 512\nmovzx r12d, r12w\n", 31);
        if (!strstr(spec->body, cases[i].body))
            fail_msg("%s: no %s in\n%s", cases[i].row, cases[i].body, spec->body);
        // A mask of zeros would store nothing.
        if (strstr(cases[i].row, "signs="))
            assert_non_null(strstr(spec->init, "pcmpeqd "));
        planned_free(&planned);
    }
    struct planned planned;
    plan_text(&planned, cases[0].row);
    assert_int_equal(find_test(&planned, "op2", "op1.data", "")->outcome, OUTCOME_NOT_MEASURABLE);
    planned_free(&planned);
}

// Instructions that restore operands are also timed alone, once per row, and the value with both is
// an upper bound.
static void test_setting_is_timed_alone(void **state)
{
    (void)state;
    struct planned planned;
    plan_text(&planned, "vpgatherdd,+y vm32y +y,,AVX2,T,");
    const struct test *test = find_test(&planned, "", "", "");
    assert_int_equal(test->bound, BOUND_UPPER);
    const struct kernel_spec *alone = find_test(&planned, "", "", PLAN_SETTING)->kernels;
    assert_int_equal(alone->instances, alone->instrs);
    assert_null(strstr(alone->body, "gather"));
    assert_memory_equal(alone->body, test->kernels[0].body, strcspn(alone->body, "\n"));
    planned_free(&planned);
    static const char *const others[] = {"add,+r64 r64,=flags,X86_64,T,",
                                         "mul,r64,+rax =rdx =flags,X86_64,T,"};
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        plan_text(&planned, others[i]);
        assert_int_equal(planned.plan.ntests, 1);
        assert_int_equal(planned.plan.tests[0].bound, BOUND_EXACT);
        planned_free(&planned);
    }
    plan_text(&planned, "div,r8,+ax =flags,I386,T,data=idiv"); // only the slow data need it
    assert_int_equal(planned.plan.ntests, 3);
    find_test(&planned, "", "", PLAN_SETTING);
    planned_free(&planned);
}

// Gathers with anything between them take longer than gathers side by side, so their masks are also
// set in front of all of them. That needs a register each.
static void test_setting_ahead(void **state)
{
    (void)state;
    struct planned planned;
    plan_text(&planned, "vpgatherdd,+y vm32y +y,,AVX2,T,");
    const struct kernel_spec *ahead = find_shape(&planned, "n7+ahead");
    const char *gather = strstr(ahead->body, "vpgatherdd");
    assert_int_equal(lines_with(gather, "vpgatherdd"), 7);
    assert_int_equal(lines_with(gather, "\n"), 7); // and nothing but gathers from the first on
    assert_int_equal(lines_with(ahead->body, "\n"), 14);
    planned_free(&planned);
    plan_text(&planned, "lodsb,,=al +rsi df,I386,T,pointer=rsi");
    assert_null(find_shape(&planned, "n8+ahead"));
    planned_free(&planned);
}

// Up to four sets of x87 values, each a variant that says which they are.
static void test_sets_of_values(void **state)
{
    (void)state;
    static const char *const variants[][3] = {
        {"fast",  "fast: st 0",     "mov rax, 0x0\n"               },
        {"slow",  "slow: st 0.5",   "mov rax, 0x3fe0000000000000\n"},
        {"slow2", "slow2: st 2.5",  "mov rax, 0x4004000000000000\n"},
        {"slow3", "slow3: st 1e10", "mov rax, 0x4202a05f20000000\n"},
    };
    struct planned planned;
    plan_text(&planned, "fcos,,+st0 =fpsw,X87,,type=f80 data=function st=0:0.5:2.5:1e10");
    for (size_t i = 0; i < ARRAY_LEN(variants); i++) {
        const struct test *test = find_test(&planned, "", "", variants[i][0]);
        assert_string_equal(test->note, variants[i][1]);
        assert_non_null(strstr(test->kernels[0].init, variants[i][2]));
        find_test(&planned, "st0", "st0", variants[i][0]);
    }
    planned_free(&planned);
    plan_text(&planned, "fscale,,+st0 st1 =fpsw,X87,T,type=f80 st=1.7/3");
    assert_string_equal(planned.plan.tests[0].note, "st0 1.7, others 3");
    planned_free(&planned);
}

static void test_notes(void **state)
{
    (void)state;
    // clang-format off
    static const struct {
        const char *row, *note;
    } cases[] = {
        {"add,+r16 i16,=flags,I386,T,", "length-changing prefix"},
        {"mov,=m16 i16,,I386,T,", "length-changing prefix"},
        {"imul,=r16 r16 i16,=flags,I386,T,", "length-changing prefix"},
        {"o16 push,i16,+rsp,I386,T,stack=-2", "length-changing prefix"},
        {"add,+r16 i8,=flags,I386,T,", ""},
        {"add,+r32 i32,=flags,I386,T,", ""},
        {"ret,i16,+rsp,I386,T,macro=branch.inc:branch_call_ret_pop", ""},
        {"fld,m64,=st0 =fpsw,X87,T,type=f64 x87=push", "with an fstp st0"},
        {"faddp,+st st0,=fpsw,X87,T,type=f80 x87=pop", "with an fld st"},
        {"fcompp,,st0 st1 =fpsw,X87,T,type=f80 x87=pop2", "with two fld st"},
        {"cld,,=df,I386,T,note=clear_already", "clear already"},
        {"std,,=df,I386,T,macro=state.inc:state_direction note=both_ways", "both ways"},
    };
    // clang-format on
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct planned planned;
        plan_text(&planned, cases[i].row);
        assert_string_equal(planned.plan.tests[0].note, cases[i].note);
        planned_free(&planned);
    }
}

// Gathers and scatters reach memory element by element, all in one place, where a scatter's
// addresses come late, too. The mask that they clear is set again, depending on what they left.
static void test_vectors_of_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *row, *src, *dst, *body;
    } cases[] = {
        {"vpgatherdd,+x vm32x +x,,AVX2,L,",             "op2.data",  "op1",
         "vmovaps xmm0, xmm15\nvmovaps xmm2, xmm14\n"
         "vpgatherdd xmm0, [r14+xmm1*1], xmm2\nvmovd dword [r14], xmm0\n"                    },
        {"vpgatherdq,+x vm32x +x,,AVX2,L,",             "op3",       "op3",
         "vmovaps xmm1, xmm15\nvpgatherdq xmm1, [r14+xmm2*1], xmm0\nvpor xmm0, xmm0, xmm14\n"},
        {"vpscatterdd,=vm32z{k} z,,AVX512F,L,",         "op2",       "op1.data",
         "kmovw k7, k6\nvpscatterdd [r14+zmm1*1]{k7}, zmm0\nvmovd xmm0, dword [r14]\n"       },
        {"vscatterqpd,=vm64z{k} z,,AVX512F,L,type=f64", "op1.index", "op1.data",
         "kmovw k7, k6\nvscatterqpd [r14+zmm0*1]{k7}, zmm1\nvmovq xmm0, qword [r14]\n"       },
        {"vpscatterdd,=vm32z{k} z,,AVX512F,L,",         "op1.mask",  "op1.mask",
         "vpscatterdd [r14+zmm0*1]{k7}, zmm1\nkorw k7, k7, k6\n"                             },
        {"vpgatherdd,+z{k} vm32z,,AVX512F,L,",          "op1.mask",  "op1.mask",
         "vmovaps zmm0, zmm15\nvpgatherdd zmm0{k7}, [r14+zmm1*1]\nkorw k7, k7, k6\n"         },
    };
    struct planned planned;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        plan_text(&planned, cases[i].row);
        const struct test *test = find_test(&planned, cases[i].src, cases[i].dst, "");
        assert_int_equal(test->bound, BOUND_UPPER);
        assert_string_equal(test->kernels[0].body, cases[i].body);
        planned_free(&planned);
    }
    // The mask is the result of no other operand: a scatter has five pairs.
    plan_text(&planned, "vpscatterdd,=vm32z{k} z,,AVX512F,L,");
    assert_int_equal(planned.plan.ntests, 5);
    planned_free(&planned);
    // If the index gives the places of elements, nothing else does.
    plan_text(&planned, "vpscatterdd,=vm32z{k} z,,AVX512F,T,");
    for (int k = 0; k < planned.plan.tests[0].nkernels; k++)
        assert_null(strstr(planned.plan.tests[0].kernels[k].body, "*1+"));
    planned_free(&planned);
}

static void test_gather_patterns(void **state)
{
    (void)state;
    static const struct {
        const char *row, *init;
    } cases[] = {
        {"vpgatherdd,+z{k} vm32z,,AVX512F,T,",           "mov dword [r14+3132], 60\n" },
        {"vpgatherdd,+z{k} vm32z,,AVX512F,T,index=same", "mov dword [r14+3132], 0\n"  },
        {"vpgatherqq,+z{k} vm64z,,AVX512F,T,index=line", "mov qword [r14+3128], 448\n"},
        {"vpgatherdq,+y vm32x +y,,AVX2,T,mask=0x2",      "mov dword [r14+3080], -1\n" },
        {"vpgatherdq,+y vm32x +y,,AVX2,T,mask=0x2",      "mov dword [r14+3088], 0\n"  },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct planned planned;
        plan_text(&planned, cases[i].row);
        const char *init = planned.plan.tests[0].kernels[0].init;
        if (!strstr(init, cases[i].init))
            fail_msg("%s: no %s in\n%s", cases[i].row, cases[i].init, init);
        planned_free(&planned);
    }
    struct planned planned;
    plan_text(&planned, "vpgatherdd,+z{k} vm32z,,AVX512F,T,mask=0x5");
    assert_int_equal(planned.plan.tests[0].kernels[0].mask_fill, 5);
    planned_free(&planned);
}

// Legacy kernels must not hold VEX instructions and the other way round: mixing costs transitions.
static void test_encodings_do_not_mix(void **state)
{
    (void)state;
    static const struct {
        const char *row;
        bool avx;
    } rows[] = {
        {"cvtsi2sd,+x r64,,SSE2,,",             false},
        {"movups,=m128 x,,SSE,,type=f32",       false},
        {"blendvps,+x x,xmm0,SSE4_1,,type=f32", false},
        {"vcvtsi2sd,=x x r64,,AVX,,",           true },
        {"vmovups,=m128 x,,AVX,,type=f32",      true },
        {"vcomisd,x x,=flags,AVX,,type=f64",    true },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct planned planned;
        plan_text(&planned, rows[i].row);
        for (int t = 0; t < planned.plan.ntests; t++)
            for (int k = 0; k < planned.plan.tests[t].nkernels; k++) {
                const struct kernel_spec *spec = &planned.plan.tests[t].kernels[k];
                for (const char *at = spec->body; *at; at += strcspn(at, "\n") + 1) {
                    char line[128];
                    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
                    if (strstr(line, "mm"))
                        assert_true((line[0] == 'v') == rows[i].avx);
                }
                assert_int_equal(spec->clear_upper, !rows[i].avx);
            }
        planned_free(&planned);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_breakers),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_reload_is_of_the_stored_line),
        cmocka_unit_test(test_pointers_apart),
        cmocka_unit_test(test_false_dependencies),
        cmocka_unit_test(test_apx),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_immediates),
        cmocka_unit_test(test_upper),
        cmocka_unit_test(test_usual_immediate_only),
        cmocka_unit_test(test_same_with_immediate),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_x87_pairs),
        cmocka_unit_test(test_x87_values),
        cmocka_unit_test(test_bridges_keep_memory),
        cmocka_unit_test(test_adjust_flag),
        cmocka_unit_test(test_partial_registers),
        cmocka_unit_test(test_bodies_are_one_period),
        cmocka_unit_test(test_breakers_leave_the_chain),
        cmocka_unit_test(test_throughput_of_implicit_operands),
        cmocka_unit_test(test_throughput_cut_now_and_then),
        cmocka_unit_test(test_no_accidental_same_register),
        cmocka_unit_test(test_slow_integer_division),
        cmocka_unit_test(test_selection_of_tests),
        cmocka_unit_test(test_what_cannot_be_planned),
        cmocka_unit_test(test_32_bit_mode_has_its_own_registers),
        cmocka_unit_test(test_32_bit_rows_are_skipped_with_a_reason),
        cmocka_unit_test(test_macro),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_setting_is_timed_alone),
        cmocka_unit_test(test_setting_ahead),
        cmocka_unit_test(test_sets_of_values),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_vectors_of_addresses),
        cmocka_unit_test(test_gather_patterns),
        cmocka_unit_test(test_encodings_do_not_mix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
