// SPDX-License-Identifier: MIT
// The rule of differences on the cases of tests/fixtures/diff_cases.csv, which the page follows as
// well; the families in which names of ports mean something.
#include "diff/diff.h"

#include "util/mem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char usual[] = "rthroughput_clk=1 result_latency_clk=4 "
                            "result_latency_max_clk=4 uops=1 "
                            "ports=1*A tests=LTP outcome=ok family=zen5";

// Returns a setting, of `given` before the usual one; "" if it is unknown. The arena owns it.
static const char *setting(struct arena *arena, const char *given, const char *name)
{
    const char *const texts[] = {given, usual};
    size_t len = name ? strlen(name) : 0;
    for (size_t i = 0; name && i < ARRAY_LEN(texts); i++)
        for (const char *at = texts[i]; *at; at += strspn(at, " ")) {
            size_t n = strcspn(at, " ");
            if (strncmp(at, name, len) == 0 && at[len] == '=')
                return at[len + 1] == '-'
                           ? ""
                           : arena_printf(arena, "%.*s", (int)(n - len - 1), at + len + 1);
            at += n;
        }
    return "";
}

static struct diff_form make_form(struct arena *arena, const struct diff *diff, const char *given)
{
    struct diff_form form = {
        .form = "add r64 r64",
        .enc = "legacy",
        .isa = "",
        .list = "int",
        .outcome = setting(arena, given, "outcome"),
        .refused_by = setting(arena, given, "refused_by"),
        .family = setting(arena, given, "family"),
        .tests = setting(arena, given, "tests"),
        .bits = 64,
    };
    for (int i = 0; i < diff->ncolumns; i++) {
        const struct column *column = diff->columns[i];
        const char *text = setting(arena, given, column->look.name);
        const char *most = setting(arena, given, column->most);
        const char *bound = setting(arena, given, column->bound);
        form.values[i] = (struct diff_value){
            .number = *text && column->look.type != LOOK_TEXT ? atof(text) : (double)NAN,
            .most = *most ? atof(most) : (double)NAN,
            .spread = atof(setting(arena, given, column->spread)),
            .upper = strcmp(bound, "upper") == 0,
            .mark = strcmp(bound, "average") == 0 ? "~" : setting(arena, given, column->mark),
            .text = text,
        };
    }
    return form;
}

static void check_case(const char *const fields[6])
{
    struct arena arena = {0};
    struct diff diff = {.tolerance = COLUMN_TOLERANCE};
    diff_begin(&diff);
    for (int i = 0; i < 2; i++) {
        diff.sides[i].forms = xcalloc(1, sizeof *diff.sides[i].forms);
        diff.sides[i].forms[0] = make_form(&arena, &diff, fields[1 + i]);
        diff.sides[i].nforms = 1;
    }
    diff_make(&diff);
    assert_int_equal(diff.npairs, 1);
    const char *change = diff_change_names[diff.pairs[0].change];
    const char *sure = diff.pairs[0].sure ? "sure" : "in doubt";
    if (strcmp(change, fields[3]) != 0 || strcmp(sure, fields[4]) != 0)
        fail_msg("%s: %s, %s; expected %s, %s", fields[0], change, sure, fields[3], fields[4]);
    double ratio = diff.pairs[0].ratio, sought = *fields[5] ? atof(fields[5]) : (double)NAN;
    if (isnan(ratio) != isnan(sought) || fabs(ratio - sought) > 1e-3)
        fail_msg("%s: %g, expected %g", fields[0], ratio, sought);
    assert_int_equal(!diff.pairs[0].ratio_of, isnan(ratio));
    diff_free(&diff);
    arena_free(&arena);
}

static void test_cases(void **state)
{
    (void)state;
    FILE *file = fopen("tests/fixtures/diff_cases.csv", "r");
    char line[1000];
    int n = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        const char *fields[6] = {""};
        char *rest = line;
        line[strcspn(line, "\n")] = '\0';
        if (*line == '#' || strncmp(line, "what,", 5) == 0)
            continue;
        for (int i = 0; i < 6; i++)
            assert_non_null(fields[i] = strsep(&rest, ","));
        check_case(fields);
        n++;
    }
    fclose(file);
    assert_true(n > 30);
}

static struct diff_form *make_forms(struct arena *arena, const struct diff *diff, const char *given,
                                    const char *const names[])
{
    struct diff_form *forms = xcalloc(3, sizeof *forms);
    for (int i = 0; i < 3; i++) {
        forms[i] = make_form(arena, diff, i == 0 ? given : "");
        forms[i].form = names[i];
    }
    return forms;
}

static void test_order(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct diff diff = {.tolerance = COLUMN_TOLERANCE};
    diff_begin(&diff);
    diff.sides[0].forms = make_forms(&arena, &diff, "result_latency_max_clk=40",
                                     (const char *const[]){"aad", "add", "aes"});
    diff.sides[1].forms = make_forms(&arena, &diff, "result_latency_max_clk=50",
                                     (const char *const[]){"aad", "aes", "and"});
    for (int i = 0; i < diff.ncolumns; i++)
        if (strcmp(diff.columns[i]->look.name, "rthroughput_clk") == 0)
            diff.sides[1].forms[1].values[i].number = 0.25; // of aes
    diff.sides[0].nforms = diff.sides[1].nforms = 3;
    diff_make(&diff);
    assert_int_equal(diff.npairs, 4);
    const struct diff_class *all = &diff.classes[0];
    assert_int_equal(all->common, 2);
    assert_int_equal(all->counts[DIFF_ONLY_A], 1);
    assert_int_equal(all->counts[DIFF_ONLY_B], 1);
    static const char *const orders[DIFF_ORDERS][4] = {
        {"aad", "add", "aes", "and"},
        {"aes", "aad", "add", "and"},
        {"aad", "aes", "add", "and"}
    };
    for (int order = 0; order < DIFF_ORDERS; order++) {
        diff_sort(&diff, (enum diff_order)order);
        for (int i = 0; i < 4; i++)
            assert_string_equal(diff_pair_form(&diff.pairs[i])->form, orders[order][i]);
    }
    diff_free(&diff);
    arena_free(&arena);
}

static void test_family(void **state)
{
    (void)state;
    char family[64];
    assert_string_equal(diff_family("zen5", family, sizeof family), "zen5");
    assert_string_equal(diff_family("zen5?@desk", family, sizeof family), "zen5");
    assert_string_equal(diff_family("unknown", family, sizeof family), "");
    assert_string_equal(diff_family("unknown@desk", family, sizeof family), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_family),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
