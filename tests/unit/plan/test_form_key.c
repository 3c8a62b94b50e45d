// SPDX-License-Identifier: MIT
// The key of a form in docs/OUTPUT.md distinguishes all forms of the lists; keys that it calls
// insufficient do not.
#include "fixtures/lists_fixture.h"

static char *key_unique(const struct list_row *row)
{
    return xasprintf("%s\t%s\t%d", row->form, encoding_name(row->enc), row->bits);
}

static char *key_readable(const struct list_row *row)
{
    return xasprintf("%s\t%s\t%s", row->mnemonic, row->operands_text, encoding_name(row->enc));
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// Counts the different keys of all rows; *twice: one that several have, to be freed.
static int count_keys(char *(*key)(const struct list_row *), char **twice)
{
    int n = lists_all.nrows, different = 0;
    char **keys = xcalloc((size_t)n, sizeof *keys);
    *twice = NULL;
    for (int i = 0; i < n; i++)
        keys[i] = key(lists_all.rows[i].row);
    qsort(keys, (size_t)n, sizeof *keys, compare);
    for (int i = 0; i < n; i++) {
        bool same = i > 0 && strcmp(keys[i], keys[i - 1]) == 0;
        different += !same;
        if (same && !*twice)
            *twice = xstrdup(keys[i]);
    }
    for (int i = 0; i < n; i++)
        free(keys[i]);
    free(keys);
    return different;
}

static void test_key(void **state)
{
    (void)state;
    char *twice;
    assert_true(lists_all.nrows > 17000);
    int different = count_keys(key_unique, &twice);
    if (twice)
        fail_msg("two forms are %s", twice);
    assert_int_equal(different, lists_all.nrows);
}

static void test_no_key(void **state)
{
    (void)state;
    char *twice;
    assert_true(count_keys(key_readable, &twice) < lists_all.nrows);
    assert_non_null(twice);
    free(twice);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key),
        cmocka_unit_test(test_no_key),
    };
    return cmocka_run_group_tests(tests, lists_setup, lists_teardown);
}
