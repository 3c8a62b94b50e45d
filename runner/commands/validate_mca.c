// SPDX-License-Identifier: MIT
// Compares with llvm-mca; see validate_mca.h. Its input has the moves in front of instances, too.
#include "validate_mca.h"

#include "cli/option_store.h"
#include "plan/plan.h"
#include "util/mem.h"

#include <math.h>
#include <stdlib.h>

static bool mix_add(struct mca_mix *mix, const struct known_cpu *data,
                    const struct known_form *form, int count)
{
    if (!form || mix->nparts == MCA_PARTS_MAX)
        return false;
    mix->parts[mix->nparts].form = (int)(form - data->forms);
    mix->parts[mix->nparts++].count = count;
    return true;
}

// Converts a mix; false if a form of it, or a move, is not in the data.
static bool mix_convert(const struct known_cpu *data, const struct validate_forms *forms,
                        const struct port_mix *from, struct mca_mix *to)
{
    bool known = true;
    to->nparts = 0;
    for (int p = 0; p < from->nparts; p++) {
        const struct list_row *row = forms->forms[from->parts[p].form].row;
        const char *moves[MIX_BREAKERS_MAX];
        int nmoves = mix_breakers(row, BREAK_ALL, moves);
        const struct stored_form key = stored_form_of(row);
        size_t bytes = sizeof *data->forms;
        known &= mix_add(to, data, stored_form_find(&key, data->forms, data->nforms, bytes),
                         from->parts[p].count);
        for (int m = 0; m < nmoves; m++)
            known &=
                mix_add(to, data, stored_form_find_move(moves[m], data->forms, data->nforms, bytes),
                        from->parts[p].count);
    }
    return known;
}

static int beside_figures(struct known_cpu *data, const struct port_table *table,
                          const struct validate_mixes *mixes, struct arena *arena,
                          struct validate_beside *beside, struct err *err)
{
    struct mca_mix *asked = xcalloc((size_t)mixes->n + 1, sizeof *asked);
    int *which = xcalloc((size_t)mixes->n + 1, sizeof *which), n = 0;
    struct validate_mixes ours = {.mixes =
                                      arena_alloc(arena, (size_t)mixes->n * sizeof *ours.mixes)};
    struct validate_mixes theirs = {.mixes =
                                        arena_alloc(arena, (size_t)mixes->n * sizeof *ours.mixes)};
    for (int i = 0; i < mixes->n; i++)
        if (mix_convert(data, &table->forms, &mixes->mixes[i].mix, &asked[n]))
            which[n++] = i;
    int status = mca_bounds(data, beside->cpu, asked, n, &beside->counts, err);
    beside->counts.refused += mixes->n - n;
    for (int i = 0; i < n && status == 0; i++) {
        if (isnan(asked[i].clk))
            continue;
        ours.mixes[ours.n++] = theirs.mixes[theirs.n] = mixes->mixes[which[i]];
        theirs.mixes[theirs.n++].predicted_clk = asked[i].clk;
    }
    beside->ours = validate_figures(&table->forms, &ours, 0, arena);
    beside->theirs = validate_figures(&table->forms, &theirs, 0, arena);
    free(asked);
    free(which);
    return status;
}

int validate_beside_mca(struct store *store, const struct port_table *table,
                        const struct validate_mixes *mixes, struct arena *arena,
                        struct validate_beside *beside, struct err *err)
{
    struct known_cpu data = {0};
    char *uarch = store_option_uarch(store, table->run_id, err);
    const char *cpu = uarch ? mca_cpu_of(uarch, err) : NULL;
    struct store_filter filter = {.uarch = uarch, .run_id = table->run_id};
    int status = cpu ? 0 : -1;
    *beside = (struct validate_beside){.cpu = cpu};
    if (status == 0)
        status = known_read(store, &filter, KNOWN_CODE, &data, err);
    if (status == 0)
        status = beside_figures(&data, table, mixes, arena, beside, err);
    known_free(&data);
    free(uarch);
    return status;
}
