// SPDX-License-Identifier: MIT
// docs/COMPARISON.md has the tolerances and groups of the records: between two marks stands what
// compare_document() says. `make comparison` rewrites it.
#include "fixtures/golden_fixture.h"

#include "compare/compare_tables.h"
#include "util/file_write.h"

static const char begin[] = "<!-- made -->\n", end[] = "<!-- end -->";

static void test_document(void **state)
{
    (void)state;
    static char text[65536];
    struct strbuf found = {0};
    struct err err = {0};
    FILE *file = fopen("docs/COMPARISON.md", "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    char *from = strstr(text, begin), *to = strstr(text, end);
    assert_non_null(from);
    assert_non_null(to);
    strbuf_put(&found, text, (size_t)(from - text) + strlen(begin));
    compare_document(&found);
    strbuf_puts(&found, to);
    if (getenv("LATPUT_GOLDEN"))
        assert_int_equal(file_write("docs/COMPARISON.md", strbuf_text(&found), found.len, &err), 0);
    else if (strcmp(text, strbuf_text(&found)) != 0)
        fail_msg("docs/COMPARISON.md is not what runner/compare/ says; make comparison writes it");
    strbuf_free(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_document)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
