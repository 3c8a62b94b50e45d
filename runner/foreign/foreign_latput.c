// SPDX-License-Identifier: MIT
// Databases and packs of latput as tables of others: each latency of a pair is a value.
#include "foreign_internal.h"

#include "cpuinfo/cpuinfo.h"
#include "known/known.h"
#include "pack/pack.h"
#include "store/store_machines.h"
#include "util/scratch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Finds the uarch that is meant among those of the runs, or the newest of its family; the only one
// if there is one. Returns 0 or -1.
static int latput_uarch(struct store *store, struct foreign_table *table, const char *cpu,
                        struct err *err)
{
    struct strbuf all = {0};
    struct store_rows *rows = store_rows_open(store, STORE_VIEW_RUN, NULL, err);
    const char *first = "", *found = "", *near = "";
    int got = rows ? 1 : -1, n = 0;
    while (got > 0 && (got = store_rows_next(rows, err)) > 0) {
        const char *uarch = store_rows_keep(rows, "uarch", &table->arena);
        if (*first && strcmp(uarch, first) == 0)
            continue;
        if (!*found && (strcmp(uarch, cpu) == 0 || cpu_is_called(uarch, cpu)))
            found = uarch;
        if (!*near && cpu_same_family(uarch, cpu))
            near = uarch;
        first = *first ? first : uarch;
        strbuf_printf(&all, "%s%s", n++ ? ", " : "", uarch);
    }
    if (rows)
        store_rows_close(rows);
    found = *found ? found : near;
    table->uarch = *found || n > 1 ? found : first;
    if (got == 0 && !*table->uarch)
        got = err_set(err, "%s: has no results of %s, but of %s; say of which with --theirs",
                      table->path, cpu, n ? strbuf_text(&all) : "nothing");
    strbuf_free(&all);
    return got;
}

static void latput_value(struct foreign_table *table, struct foreign_row *row,
                         enum foreign_quantity quantity, double clk, bool upper)
{
    if (!isnan(clk))
        foreign_value_add(table, row,
                          (struct foreign_value){
                              .quantity = quantity, .least = clk, .most = clk, .upper = upper});
}

static int latput_row(struct foreign_table *table, const struct known_form *form, int line,
                      struct err *err)
{
    struct arena *arena = &table->arena;
    struct foreign_row *row = foreign_row_add(table, line, form->id.form, err);
    if (!row)
        return -1;
    row->form = row->name;
    row->enc = arena_strdup(arena, form->id.enc);
    row->bits = form->id.bits;
    row->mnemonic = arena_strdup(arena, form->mnemonic);
    row->at_rename = arena_strdup(arena, form->at_rename);
    for (int i = 0; i < form->npairs; i++) {
        const struct known_pair *pair = &form->pairs[i];
        if (isnan(pair->clk))
            continue;
        foreign_value_add(table, row,
                          (struct foreign_value){.src = arena_strdup(arena, pair->src),
                                                 .dst = arena_strdup(arena, pair->dst),
                                                 .variant = arena_strdup(arena, pair->variant),
                                                 .least = pair->clk,
                                                 .most = pair->clk,
                                                 .upper = pair->upper});
    }
    latput_value(table, row, FOREIGN_THROUGHPUT, form->rthroughput_clk, form->rthroughput_upper);
    latput_value(table, row, FOREIGN_UOPS, form->uops < 0 ? (double)NAN : form->uops,
                 form->uops_upper);
    if (form->ports && !strchr(form->ports, '?'))
        foreign_ports_add(table, row, form->ports);
    return 0;
}

int foreign_of_known(const struct known_cpu *data, struct foreign_table *table, struct err *err)
{
    int status = 0;
    table->cpu = arena_strdup(&table->arena, data->brand);
    table->uarch = arena_strdup(&table->arena, data->uarch);
    for (int i = 0; status == 0 && i < data->nforms; i++)
        status = latput_row(table, &data->forms[i], i + 1, err);
    return status;
}

static int latput_rows(struct store *store, struct foreign_table *table, const char *cpu,
                       struct err *err)
{
    struct known_cpu data;
    if (latput_uarch(store, table, cpu, err) != 0)
        return -1;
    const struct store_filter filter = {.uarch = table->uarch};
    int status = known_read(store, &filter, 0, &data, err);
    if (status == 0)
        status = foreign_of_known(&data, table, err);
    known_free(&data);
    return status;
}

// Merges a pack into a database of its own, where it is checked.
static int latput_unpack(struct foreign_table *table, const char *to, struct err *err)
{
    struct store *store;
    struct store_merged merged;
    char *packs[] = {xstrdup(table->path)};
    int status = store_open(to, STORE_WRITE, &store, err) == 0 ? 0 : -1;
    table->unable = status != 0;
    if (status == 0) {
        status = pack_merge_all(store, packs, 1, NULL, &merged, err) < 0 ? -1 : 0;
        table->unable = store_is_unable(store);
        store_close(store);
    }
    free(packs[0]);
    return status;
}

int foreign_read_latput(const char *path, const char *cpu, struct foreign_table *table,
                        struct err *err)
{
    struct store *store;
    char *directory = table->format == FOREIGN_PACK ? scratch_begin(err) : NULL;
    char *unpacked = directory ? xasprintf("%s/pack.db", directory) : NULL;
    table->unable = table->format == FOREIGN_PACK && !directory;
    int status = table->unable ? -1 : 0;
    if (unpacked && status == 0)
        status = latput_unpack(table, unpacked, err);
    if (status == 0)
        status = store_open(unpacked ? unpacked : path, STORE_READ, &store, err) == 0 ? 0 : -1;
    if (status == 0) {
        status = store_machines_apart(store, err);
        if (status == 0)
            status = latput_rows(store, table, cpu ? cpu : "", err);
        table->unable |= status != 0 && store_is_unable(store);
        store_close(store);
    }
    free(unpacked);
    scratch_end(directory, false);
    return status;
}
