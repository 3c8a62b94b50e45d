// SPDX-License-Identifier: MIT
// Rows of strangers: the bytes change rows of a sound pack's database (fuzz_rows.h), which is
// checked as `latput merge` does once it has found the schema to be ours. One input in LOOSE,
// chosen by its bytes, breaks constraints, too. Of those that pass one in COPIED is copied, derived
// from and read, which takes some twenty times as long. All databases are in memory and stay open.
#include "fuzz.h"
#include "fuzz_rows.h"
#include "fuzz_world.h"

#include "merge/merge_internal.h"

static const char FOREIGN[] = "file:fuzz_foreign?mode=memory&cache=shared";
static const char TARGET[] = "file:fuzz_target?mode=memory&cache=shared";

enum { LOOSE = 16 };

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

// The check of constraints takes longer than all others. Where rows were changed within them, it
// would find nothing.
static int check(struct store *from, bool loose, struct err *err)
{
    if (loose)
        return merge_check_content(from, err);
    return merge_check_keys(from, err) == 0 ? merge_check_values(from, err) : -1;
}

void fuzz_merge(const uint8_t *bytes, size_t size)
{
    static struct rows *foreign;
    static struct store *from;
    int64_t sources[MERGE_RUNS_MAX];
    const unsigned choice = fuzz_choice(bytes, size);
    struct err err = {0};
    int n = 0;
    if (!foreign) {
        foreign = rows_open(FOREIGN, fuzz_world()->sound);
        from = fuzz_connect(FOREIGN);
        fuzz_check(merge_check_content(from, &err) == 0, "the run is sound");
    }
    const bool loose = choice / COPIED % LOOSE == 0;
    rows_change(foreign, bytes, size, loose);
    int result = check(from, loose, &err) == 0 ? merge_check_runs(from, sources, &n, &err) : -1;
    if (result == 0 && (size < CHANGE_BYTES || choice % COPIED == 0))
        result = copy_runs(from, sources, n, choice / COPIED, &err);
    if (size < CHANGE_BYTES)
        fuzz_check(result == 0 && n == 1, "a sound run is merged");
    if (result != 0)
        fuzz_check_message(&err);
    rows_restore(foreign, false);
}
