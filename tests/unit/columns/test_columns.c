// SPDX-License-Identifier: MIT
// The records of columns: each column of a public view has one, and the other way round; orders
// that programs rely on; names in expressions; the page that is written from them.
#include "columns/columns.h"
#include "fixtures/store_fixture.h"
#include "store/store_internal.h"
#include "util/file_write.h"
#include "util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Returns the number of columns of a view in SQL, which must all have records.
static int view_check(struct store *store, enum store_view view)
{
    struct err err = {0};
    const char *name = columns_view_name(view);
    sqlite3_stmt *stmt =
        store_bind(store, &err, "SELECT name FROM pragma_table_info(?1)", "s", name);
    int n = 0;
    assert_non_null(stmt);
    for (; sqlite3_step(stmt) == SQLITE_ROW; n++) {
        const char *column = (const char *)sqlite3_column_text(stmt, 0);
        if (!columns_find(view, column))
            fail_msg("%s.%s has no record in runner/columns/", name, column);
    }
    sqlite3_reset(stmt);
    return n;
}

static void test_views(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    for (int view = 0; view < STORE_VIEW_LIST_BEST; view++) {
        int n;
        columns_of((enum store_view)view, &n);
        assert_true(n <= VIEW_COLUMNS_MAX);
        if (columns_view_name((enum store_view)view) &&
            view_check(store, (enum store_view)view) != n)
            fail_msg("%s: a record has no column in db/views.sql",
                     columns_view_name((enum store_view)view));
    }
    fixture_end(&fixture, store);
}

// Other columns that a record names are there, and each says what it is.
static void test_records(void **state)
{
    (void)state;
    for (int view = 0; view < STORE_VIEWS; view++) {
        int n;
        const struct column *columns = columns_of((enum store_view)view, &n);
        for (int i = 0; i < n; i++) {
            const struct column *own = &columns[i];
            const char *const others[] = {own->bound, own->mark, own->spread};
            assert_ptr_equal(columns_find((enum store_view)view, own->look.name), own);
            assert_true(own->look.says && strlen(own->look.says) > 2);
            assert_true(!own->on || own->place > 0 || own->look.heading == NULL);
            for (size_t o = 0; o < ARRAY_LEN(others); o++)
                if (others[o])
                    assert_non_null(columns_find((enum store_view)view, others[o]));
        }
    }
}

static void check_order(enum column_surface surface, const char *const *names, int n)
{
    const struct column *found[VIEW_COLUMNS_MAX];
    assert_true(columns_on(STORE_VIEW_INSTRUCTION, surface, found) >= n);
    for (int i = 0; i < n; i++)
        assert_string_equal(found[i]->look.name, names[i]);
}

// Columns of version 1.0 come first, in its order.
static void test_orders(void **state)
{
    (void)state;
    static const char *const csv[] = {"uarch",
                                      "form",
                                      "mnemonic",
                                      "operands",
                                      "enc",
                                      "bits",
                                      "isa",
                                      "options",
                                      "outcome",
                                      "latency_min_clk",
                                      "latency_bound",
                                      "latency_max_clk",
                                      "latency_max_bound",
                                      "rthroughput_clk",
                                      "rthroughput_bound",
                                      "rthroughput_slow_clk",
                                      "uops",
                                      "ports",
                                      "at_rename",
                                      "list",
                                      "run_id",
                                      "uops_bound"};
    static const char *const diff[] = {"latency_min_clk",
                                       "latency_max_clk",
                                       "rthroughput_clk",
                                       "rthroughput_slow_clk",
                                       "outcome",
                                       "uops",
                                       "ports"};
    const struct column *found[VIEW_COLUMNS_MAX];
    check_order(COLUMN_CSV, csv, ARRAY_LEN(csv));
    int n = columns_on(STORE_VIEW_INSTRUCTION, COLUMN_DIFF, found);
    columns_sort_diff(found, n);
    for (size_t i = 0; i < ARRAY_LEN(diff); i++)
        assert_string_equal(found[i]->look.name, diff[i]);
    // JSON has values of CSV.
    for (int i = columns_on(STORE_VIEW_INSTRUCTION, COLUMN_JSON, found); i-- > 0;)
        assert_true(found[i]->on & COLUMN_ON(COLUMN_CSV));
    for (int i = columns_on(STORE_VIEW_INSTRUCTION, COLUMN_TABLE, found); --i > 0;)
        assert_true(found[i]->place > found[i - 1]->place && found[i]->look.heading);
}

static void test_called(void **state)
{
    (void)state;
    static const struct {
        enum store_view view;
        const char *called, *name;
    } cases[] = {
        {STORE_VIEW_INSTRUCTION, "latency",     "result_latency_clk"    },
        {STORE_VIEW_INSTRUCTION, "Max",         "result_latency_max_clk"},
        {STORE_VIEW_INSTRUCTION, "throughput",  "rthroughput_clk"       },
        {STORE_VIEW_INSTRUCTION, "tput",        "rthroughput_clk"       },
        {STORE_VIEW_INSTRUCTION, "instruction", "form"                  },
        {STORE_VIEW_INSTRUCTION, "put",         NULL                    },
        {STORE_VIEW_LATENCY,     "latency",     "latency_clk"           },
        {STORE_VIEW_LATENCY,     "from",        "src"                   },
        {STORE_VIEW_LATENCY,     "data",        "variant"               },
        {STORE_VIEW_DOUBT,       "cycles",      "clk"                   },
        {STORE_VIEW_BENCH,       "code",        "code"                  },
        {STORE_VIEW_BENCH,       "started",     "started_utc"           },
        {STORE_VIEW_EVIDENCE,    "size",        NULL                    },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct column *found = columns_called(cases[i].view, cases[i].called);
        if (!cases[i].name)
            assert_null(found);
        else
            assert_string_equal(found->look.name, cases[i].name);
    }
}

static void test_document(void **state)
{
    (void)state;
    struct strbuf made = {0};
    struct err err = {0};
    static char page[200000];
    columns_document(&made);
    if (getenv("LATPUT_GOLDEN"))
        assert_int_equal(file_write("docs/COLUMNS.md", strbuf_text(&made), made.len, &err), 0);
    FILE *file = fopen("docs/COLUMNS.md", "r");
    assert_non_null(file);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    if (strcmp(page, strbuf_text(&made)) != 0)
        fail_msg("docs/COLUMNS.md is not what runner/columns/ says; make golden writes it");
    strbuf_free(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_views),    cmocka_unit_test(test_records),
        cmocka_unit_test(test_orders),   cmocka_unit_test(test_called),
        cmocka_unit_test(test_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
