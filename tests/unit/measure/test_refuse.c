// SPDX-License-Identifier: MIT
// Features whose register state is off: their rows are refused untried, and no candidates.
#include "measure/refuse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

// Without its register state in XCR0 the CPU refuses a form, whatever it announces.
static void test_states(void **state)
{
    (void)state;
    static struct cpu_info cpu;
    const struct session session = {.cpu = &cpu};
    const char *const names[] = {"apx_stack", "avx512_fma", "amx", "amd_3dnow"};
    struct selection selection;
    struct arena arena = {0};
    struct refusals refused = {.n = 0};
    struct err err;
    if (cpu_load("tests/fixtures/cpu/zen5.cpuid", &cpu, &err) != 0 ||
        select_rows(names, ARRAY_LEN(names), NULL, &selection, &err) != 0)
        fail_msg("%s", err.text);
    const struct refuse_asked asked = {&session, selection.rows, selection.nrows};
    refuse_states(&asked, &arena, &refused);
    assert_string_equal(refusals_reason(&refused, selection.rows[0].row),
                        "the CPU does not announce APX_F: the system has not enabled its register "
                        "state (XCR0 lacks bit 19)");
    int before = selection.nrows, of_state = 0;
    for (int i = 0; i < before; i++)
        of_state += strstr(selection.rows[i].row->isa, "APX_F") ||
                    strstr(selection.rows[i].row->isa, "AMX_TILE");
    assert_true(of_state > 0 && of_state < before);
    refuse_leave_out(&refused, &selection);
    assert_int_equal(selection.nrows, before - of_state); // 3DNow! is tried
    for (int i = 0; i < selection.nrows; i++)
        assert_null(refusals_reason(&refused, selection.rows[i].row));
    selection_free(&selection);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_states)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
