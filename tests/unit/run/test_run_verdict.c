// SPDX-License-Identifier: MIT
// The exit status of a run: 0 if everything possible was measured, also with a few unstable tests;
// 1 if the results as a whole are in doubt or tests failed; 3 if there is no result.
#include "run/run_verdict.h"

#include "cli/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

// clang-format off
static const struct {
    int64_t ok, unsupported, not_measurable, unstable, asm_failed, signalled, scattered;
    bool uncertain, off, stopped, ports_missing;
    int status;
    const char *why;
} cases[] = {
    {.ok = 1000, .unsupported = 500, .not_measurable = 300, .status = EXIT_DONE},
    {.ok = 981, .unstable = 19, .status = EXIT_DONE},
    {.ok = 980, .unstable = 20, .status = EXIT_DONE},
    {.ok = 979, .unstable = 21, .status = EXIT_SOME_FAILED, .why = "2.1 % of the tests"},
    {.ok = 990, .unstable = 10, .scattered = 10, .status = EXIT_DONE},
    {.ok = 990, .unstable = 10, .scattered = 11, .status = EXIT_SOME_FAILED, .why = "2.1 % of"},
    // Forms that were never timed do not make the rest look better.
    {.ok = 100, .unstable = 3, .unsupported = 10000, .status = EXIT_SOME_FAILED, .why = "2.9 %"},
    {.ok = 1000, .asm_failed = 1, .status = EXIT_SOME_FAILED, .why = "1 tests asm_failed"},
    {.ok = 1000, .signalled = 2, .status = EXIT_SOME_FAILED, .why = "2 tests signalled"},
    {.ok = 1000, .uncertain = true, .status = EXIT_SOME_FAILED, .why = "undisturbed"},
    {.ok = 1000, .off = true, .status = EXIT_SOME_FAILED, .why = "calibration contradicts"},
    {.ok = 1000, .stopped = true, .status = EXIT_SOME_FAILED, .why = "stopped"},
    {.ok = 1000, .ports_missing = true, .status = EXIT_SOME_FAILED, .why = "ports"},
    {.unsupported = 10, .status = EXIT_ENVIRONMENT},
    {.unstable = 10, .status = EXIT_ENVIRONMENT},
};
// clang-format on

static void test_verdicts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct run_summary summary = {
            .counts = {[OUTCOME_OK] = cases[i].ok,
                       [OUTCOME_UNSUPPORTED] = cases[i].unsupported,
                       [OUTCOME_NOT_MEASURABLE] = cases[i].not_measurable,
                       [OUTCOME_UNSTABLE] = cases[i].unstable,
                       [OUTCOME_ASM_FAILED] = cases[i].asm_failed,
                       [OUTCOME_SIGNALLED] = cases[i].signalled},
            .scattered = cases[i].scattered,
            .floor_guessed = cases[i].uncertain,
            .calibration_off = cases[i].off,
            .stopped = cases[i].stopped,
            .ports_missing = cases[i].ports_missing
        };
        struct strbuf why = {0};
        int status = run_verdict(&summary, &why);
        if (status != cases[i].status)
            fail_msg("case %zu: status %d instead of %d", i, status, cases[i].status);
        const char *wanted = cases[i].why ? cases[i].why : "";
        if (!strstr(strbuf_text(&why), wanted) || (!*wanted && why.len))
            fail_msg("case %zu: '%s' does not say '%s'", i, strbuf_text(&why), wanted);
        strbuf_free(&why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_verdicts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
