// SPDX-License-Identifier: MIT
// Instruction lists: read, planned and written as NASM source, as `check` and `run` do before
// anything is assembled. All rows are read; one of them is planned, and one kernel of each of its
// tests is written, chosen by the input's bytes: to write all takes ten times as long as the rest,
// and says no more.
#include "fuzz.h"

#include "assemble/gen.h"
#include "list/list.h"

#include <string.h>

static void plan(const struct list_row *row, unsigned choice)
{
    const struct plan_params params = {.issue_width = 6, .tests = TESTS_ALL};
    struct arena arena = {0};
    struct plan plan;
    struct strbuf source = {0};
    struct err err = {0};
    if (plan_row(row, &params, &arena, &plan, &err) != 0) {
        fuzz_check_message(&err);
        plan.ntests = 0;
    }
    for (int t = 0; t < plan.ntests; t++) {
        const struct test *test = &plan.tests[t];
        for (int k = 0; k < test->nkernels; k++)
            fuzz_check(test->kernels[k].instances > 0, "a kernel has instances");
        if (test->nkernels == 0)
            continue;
        struct gen_kernel kernel = {
            .row = row, .test = test, .spec = &test->kernels[choice % (unsigned)test->nkernels]};
        strbuf_clear(&source);
        gen_write(&kernel, 1, row->bits, NULL, &source);
    }
    strbuf_free(&source);
    arena_free(&arena);
}

static void count_fault(const struct err *err, void *data)
{
    int *faults = data;
    fuzz_check_message(err);
    ++*faults;
}

void fuzz_list(const uint8_t *bytes, size_t size)
{
    const char *path = fuzz_file(bytes, size);
    struct list list;
    struct err err = {0};
    int told = 0, faults = list_read_all(path, &list, count_fault, &told);
    fuzz_check(faults < 0 ? told > 0 : told == faults, "each fault is told");
    const unsigned choice = fuzz_choice(bytes, size), nrows = (unsigned)list.nrows;
    if (nrows > 0)
        plan(&list.rows[choice % nrows], choice / nrows);
    list_free(&list);
    int status = list_read(path, &list, &err);
    fuzz_check((status == 0) == (faults == 0), "both ways to read a list agree");
    if (status == 0)
        list_free(&list);
    else
        fuzz_check_message(&err);
}
