// SPDX-License-Identifier: MIT
// Rows of strangers: the bytes change rows of a sound pack's database (fuzz_rows.h), which is
// checked as `latput merge` does once it has found the schema to be ours. Of the inputs that pass
// one in COPIED, chosen by its bytes, is copied, derived from and read, which takes some twenty
// times as long. All databases are in memory and stay open.
#include "fuzz.h"
#include "fuzz_rows.h"
#include "fuzz_world.h"

#include "merge/merge_internal.h"

static const char FOREIGN[] = "file:fuzz_foreign?mode=memory&cache=shared";
static const char TARGET[] = "file:fuzz_target?mode=memory&cache=shared";

enum { COPIED = 16 };

static unsigned hash(const uint8_t *bytes, size_t size)
{
    unsigned sum = 2166136261u;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * 16777619u;
    return sum >> 3;
}

// Copies the runs, and reads the last of them.
static int copy_runs(struct store *from, const int64_t *sources, int n, unsigned choice,
                     struct err *err)
{
    static struct fuzz_target target;
    static struct store *reader;
    int64_t last = 0;
    int result = 0;
    if (!reader) {
        target = fuzz_target_open(TARGET);
        reader = fuzz_connect(TARGET);
    }
    for (int i = 0; i < n && result == 0; i++)
        result = merge_copy_checked(from, sources[i], target.store, NULL, &last, err);
    if (result != 0)
        store_rollback(target.store);
    else if (n > 0)
        fuzz_read_run(reader, last, choice);
    rows_restore(target.rows, true);
    return result;
}

void fuzz_merge(const uint8_t *bytes, size_t size)
{
    static struct rows *foreign;
    static struct store *from;
    int64_t sources[MERGE_RUNS_MAX];
    const unsigned choice = hash(bytes, size);
    struct err err = {0};
    int n = 0;
    if (!foreign) {
        foreign = rows_open(FOREIGN, fuzz_world()->sound);
        from = fuzz_connect(FOREIGN);
    }
    rows_change(foreign, bytes, size);
    int result =
        merge_check_content(from, &err) == 0 ? merge_check_runs(from, sources, &n, &err) : -1;
    if (result == 0 && (size < CHANGE_BYTES || choice % COPIED == 0))
        result = copy_runs(from, sources, n, choice / COPIED, &err);
    if (size < CHANGE_BYTES)
        fuzz_check(result == 0 && n == 1, "a sound run is merged");
    if (result != 0)
        fuzz_check_message(&err);
    rows_restore(foreign, false);
}
