// SPDX-License-Identifier: MIT
// Draws the conclusions of properties again; see rederive.h.
#include "rederive.h"

#include "store/store_internal.h"
#include "store/store_property.h"

#include <string.h>

// Returns true if two lists of conclusions are the same.
static bool same_conclusions(const struct conclusion *a, int na, const struct conclusion *b, int nb)
{
    bool same = na == nb;
    for (int i = 0; i < na && same; i++)
        same = a[i].outcome == b[i].outcome && strcmp(a[i].variant, b[i].variant) == 0 &&
               strcmp(a[i].sentence, b[i].sentence) == 0;
    return same;
}

// Returns true if the property was measured, and is kept without its samples.
static bool is_bare(const struct swept_property *property)
{
    bool measured = false;
    for (int i = 0; i < property->npoints; i++) {
        measured |= property->points[i].samples > 0;
        if (property->points[i].ntimings)
            return false;
    }
    return measured;
}

static int rederive_run(struct store *store, int64_t run_id, int64_t *made, int64_t *changed,
                        struct err *err)
{
    struct arena arena = {0};
    struct swept_property *properties;
    int n, status = store_get_properties(store, run_id, &properties, &n, &arena, err);
    for (int i = 0; i < n && status == 0; i++) {
        if (is_bare(&properties[i]))
            continue;
        const struct conclusion *before = properties[i].conclusions;
        int nbefore = properties[i].nconclusions;
        status = swept_conclude(&properties[i], &arena, err);
        if (status == 0)
            status = store_put_conclusions(store, &properties[i], err);
        *made += properties[i].nconclusions;
        *changed += !same_conclusions(before, nbefore, properties[i].conclusions,
                                      properties[i].nconclusions);
    }
    arena_free(&arena);
    return status;
}

int rederive_properties(struct store *store, int64_t run_id, int64_t *made, int64_t *changed,
                        struct err *err)
{
    bool own;
    int64_t from = run_id ? run_id - 1 : 0, found_id = 0;
    if (store_unit_begin(store, &own, err) != 0)
        return -1;
    int status = 0, found = 1;
    while (status == 0 && found == 1) {
        found = store_get_int(store, err, &found_id,
                              "SELECT min(run_id) FROM property WHERE run_id > ?1 "
                              "AND (?2 = 0 OR run_id = ?2)",
                              "ii", from, run_id);
        if (found < 0 || found_id == 0)
            break;
        status = rederive_run(store, found_id, made, changed, err);
        from = found_id;
    }
    return store_unit_end(store, own, found < 0 ? -1 : status, err);
}
