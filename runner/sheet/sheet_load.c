// SPDX-License-Identifier: MIT
// Reads what the fact sheet tells of from the database; see sheet.h.
#include "sheet.h"

#include "store/store_property.h"

int sheet_cpu_load(struct store *store, int64_t run_id, struct sheet_cpu *cpu, struct arena *arena,
                   struct err *err)
{
    *cpu = (struct sheet_cpu){.nproperties = 0};
    if (store_whose_read(store, run_id, &cpu->whose, arena, err) != 0 ||
        store_get_caches(store, run_id, &cpu->caches, &cpu->ncaches, arena, err) != 0)
        return -1;
    return store_get_properties(store, run_id, &cpu->properties, &cpu->nproperties, arena, err);
}
