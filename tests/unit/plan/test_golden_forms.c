// SPDX-License-Identifier: MIT
// The forms that lists/ stands for are exactly those of fixtures/golden/forms.txt, whatever rows
// they are written in: a line an instruction has the number of its forms and a hash of all that
// their rows say. After forms were added or changed with intent: `make golden`, and look at the
// diff.
#include "fixtures/golden_fixture.h"
#include "fixtures/lists_fixture.h"
#include "util/strbuf.h"

#include <inttypes.h>

struct instruction {
    const char *name;
    int forms;
    uint64_t hash;
};

// The instruction without prefixes: "lock add" is an add.
static const char *instruction_name(const struct list_row *row)
{
    const char *blank = strrchr(row->mnemonic, ' ');
    return blank ? blank + 1 : row->mnemonic;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3; // FNV-1a
    return (hash ^ ',') * 0x100000001b3;
}

// Hashes all fields of a row. The hash is mixed at the end, because the hashes of rows are added
// up.
static uint64_t hash_row(const struct list_row *row)
{
    uint64_t hash = hash_text(0xcbf29ce484222325, encoding_name(row->enc));
    for (int i = 0; i < LIST_COLUMNS; i++)
        hash = hash_text(hash, row->fields[i]);
    hash = (hash ^ hash >> 31) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 29;
}

static int compare_rows(const void *a, const void *b)
{
    const struct selected_row *x = a, *y = b;
    return strcmp(instruction_name(x->row), instruction_name(y->row));
}

static void put_line(struct strbuf *out, const struct instruction *one)
{
    if (one->forms)
        strbuf_printf(out, "%-20s %4d %016" PRIx64 "\n", one->name, one->forms, one->hash);
}

static void print_forms(struct strbuf *out)
{
    struct instruction one = {"", 0, 0};
    qsort(lists_all.rows, (size_t)lists_all.nrows, sizeof *lists_all.rows, compare_rows);
    for (int i = 0; i < lists_all.nrows; i++) {
        const struct list_row *row = lists_all.rows[i].row;
        if (strcmp(one.name, instruction_name(row)) != 0) {
            put_line(out, &one);
            one = (struct instruction){instruction_name(row), 0, 0};
        }
        one.forms++;
        one.hash += hash_row(row);
    }
    put_line(out, &one);
    strbuf_printf(out, "%-20s %4d\n", "forms", lists_all.nrows);
}

static void test_forms(void **state)
{
    (void)state;
    struct strbuf found = {0};
    print_forms(&found);
    golden_expect("forms.txt", &found);
    strbuf_free(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms)};
    return cmocka_run_group_tests(tests, lists_setup, lists_teardown);
}
