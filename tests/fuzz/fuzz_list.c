// SPDX-License-Identifier: MIT
// Instruction lists: read, planned and written as NASM source, as `check` and `run` do before
// anything is assembled.
#include "fuzz.h"

#include "assemble/gen.h"
#include "list/list.h"

#include <string.h>

static void plan(const struct list_row *row)
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
    for (int t = 0; t < plan.ntests; t++)
        for (int k = 0; k < plan.tests[t].nkernels; k++) {
            struct gen_kernel kernel = {
                .row = row, .test = &plan.tests[t], .spec = &plan.tests[t].kernels[k]};
            strbuf_clear(&source);
            gen_write(&kernel, 1, row->bits, NULL, &source);
            fuzz_check(kernel.spec->instances > 0, "a kernel has instances");
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
    for (int i = 0; i < list.nrows; i++)
        plan(&list.rows[i]);
    list_free(&list);
    int status = list_read(path, &list, &err);
    fuzz_check((status == 0) == (faults == 0), "both ways to read a list agree");
    if (status == 0)
        list_free(&list);
    else
        fuzz_check_message(&err);
}
