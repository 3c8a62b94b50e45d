// SPDX-License-Identifier: MIT
// Mixes of forms as they are timed, against the expected text: for each order its init and its
// body, and which waiting is cut. After a change with intent: `make golden`, and look at the diff.
#include "fixtures/golden_fixture.h"
#include "fixtures/lists_fixture.h"
#include "plan/plan.h"

enum { PARTS_MAX = 4 };

// clang-format off
static const struct {
    const char *what;
    struct {
        const char *form;
        int count;
    } parts[PARTS_MAX];
    unsigned orders;
    enum breaking breaking;
} mixes[] = {
    {"independent forms", {{"add r64 r64", 4}, {"mov r32 i32", 2}}, MIX_ORDERS_ALL, BREAK_NEEDED},
    {"what waits for itself in a register that it names",
     {{"mul r64", 1}, {"vpaddb x x x", 3}},
     1 << MIX_INTERLEAVED | 1 << MIX_BLOCKS,
     BREAK_IMPLICIT},
    {"no waiting through registers",
     {{"imul r64 r64", 2}, {"vfmadd231ps y y y", 2}},
     1 << MIX_INTERLEAVED,
     BREAK_REGISTERS},
    {"nor through flags", {{"adc r64 r64", 2}, {"vptest x x", 1}}, 1 << MIX_INTERLEAVED, BREAK_ALL},
    {"memory: each part has its own",
     {{"mov r64 m64", 2}, {"mov m64 r64", 1}, {"addps x m128", 2}},
     1 << MIX_INTERLEAVED,
     BREAK_NEEDED},
    {"masks, and data that takes long",
     {{"vaddps z{k}{z} z z", 2}, {"kortestw k k", 1}, {"div r32", 1}},
     1 << MIX_INTERLEAVED,
     BREAK_IMPLICIT},
};
// clang-format on

static void put_text(struct strbuf *out, const char *title, const char *text)
{
    strbuf_printf(out, "  %s\n", title);
    for (const char *at = text; *at;) {
        size_t len = strcspn(at, "\n");
        strbuf_printf(out, "    %.*s\n", (int)len, at);
        at += len + (at[len] == '\n');
    }
}

static void put_mix(struct strbuf *out, size_t m)
{
    const struct plan_params params = {.issue_width = 6, .tests = TESTS_ALL};
    struct mix_part parts[PARTS_MAX];
    struct arena arena = {0};
    struct plan plan;
    struct mix mix = {parts, 0, mixes[m].orders, mixes[m].breaking, false, false};
    strbuf_printf(out, "%s:", mixes[m].what);
    for (; mix.nparts < PARTS_MAX && mixes[m].parts[mix.nparts].form; mix.nparts++) {
        parts[mix.nparts].row = lists_row(mixes[m].parts[mix.nparts].form);
        parts[mix.nparts].count = mixes[m].parts[mix.nparts].count;
        strbuf_printf(out, "%s %d*%s", mix.nparts ? ";" : "", parts[mix.nparts].count,
                      parts[mix.nparts].row->form);
    }
    strbuf_puts(out, "\n");
    assert_int_equal(mix_plan(&mix, &params, &arena, &plan), 0);
    for (int k = 0; k < plan.tests[0].nkernels; k++) {
        const struct kernel_spec *spec = &plan.tests[0].kernels[k];
        strbuf_printf(out, " %s, %d instructions\n", spec->shape, spec->instrs);
        if (k == 0)
            put_text(out, "init", spec->init);
        put_text(out, "body", spec->body);
    }
    arena_free(&arena);
}

static void test_mixes(void **state)
{
    (void)state;
    struct strbuf found = {0};
    for (size_t m = 0; m < ARRAY_LEN(mixes); m++)
        put_mix(&found, m);
    golden_expect("mixes.txt", &found);
    strbuf_free(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mixes)};
    return cmocka_run_group_tests(tests, lists_setup, lists_teardown);
}
