// SPDX-License-Identifier: MIT
// Reads what the fact sheet tells of from the database; see report_sheet.h.
#include "report_sheet.h"

#include "store/store_property.h"
#include "store/store_read.h"
#include "util/mem.h"

#include <inttypes.h>
#include <math.h>

static const char *copy_column(struct store_rows *rows, const char *name, struct arena *arena)
{
    return arena_strdup(arena, store_rows_text(rows, store_rows_column(rows, name)));
}

// Reads the run's row. Returns 1, 0 if there is none, or -1.
static int load_run(struct store *store, struct sheet_cpu *cpu, struct arena *arena,
                    struct err *err)
{
    const struct store_filter filter = {.run_id = cpu->run_id};
    struct store_rows *rows = store_rows_open(store, STORE_VIEW_RUN, &filter, err);
    int got = rows ? store_rows_next(rows, err) : -1;
    if (got > 0) {
        double core_hz = store_rows_real(rows, store_rows_column(rows, "core_hz"));
        cpu->uarch = copy_column(rows, "uarch", arena);
        cpu->name = copy_column(rows, "uarch_name", arena);
        cpu->brand = copy_column(rows, "brand", arena);
        cpu->hypervisor = copy_column(rows, "hypervisor", arena);
        cpu->date = copy_column(rows, "started_utc", arena);
        cpu->version = copy_column(rows, "version", arena);
        cpu->core_hz = isfinite(core_hz) ? core_hz : 0;
    }
    store_rows_close(rows);
    return got;
}

int report_sheet_load(struct store *store, int64_t run_id, struct sheet_cpu *cpu,
                      struct arena *arena, struct err *err)
{
    *cpu = (struct sheet_cpu){.run_id = run_id};
    int got = load_run(store, cpu, arena, err);
    if (got == 0)
        return err_set(err, "%s: has no run %" PRId64, store_path(store), run_id);
    if (got < 0 ||
        store_get_properties(store, run_id, &cpu->properties, &cpu->nproperties, arena, err) != 0)
        return -1;
    return 0;
}
