// SPDX-License-Identifier: MIT
#include "report_lacking.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static struct lacking_cpu *lacking_cpu(struct lacking *lacking, const char *uarch)
{
    for (int i = 0; i < lacking->ncpus; i++)
        if (strcmp(lacking->cpus[i].uarch, uarch) == 0)
            return &lacking->cpus[i];
    if (lacking->ncpus == LACK_CPUS_MAX)
        return NULL;
    lacking->cpus[lacking->ncpus] = (struct lacking_cpu){.uarch = xstrdup(uarch)};
    return &lacking->cpus[lacking->ncpus++];
}

void lacking_add(struct lacking *lacking, struct store_rows *rows)
{
    bool lacks = strcmp(store_text_of(rows, "outcome"), "unsupported") == 0;
    bool apx = lacks && strncmp(store_text_of(rows, "isa"), "APX_", 4) == 0;
    struct lacking_cpu *cpu =
        lacks && !apx ? lacking_cpu(lacking, store_text_of(rows, "uarch")) : NULL;
    size_t n = lacking->nrows++;
    lacking->rows = xgrow(lacking->rows, &lacking->capacity, n + 1, sizeof *lacking->rows);
    lacking->apx = xgrow(lacking->apx, &lacking->apx_capacity, n + 1, sizeof *lacking->apx);
    lacking->rows[n] = apx || cpu;
    lacking->apx[n] = apx;
    lacking->napx += apx;
    if (cpu && cpu->n++ < LACK_NAMED)
        strbuf_printf(&cpu->names, "%s%s", cpu->n > 1 ? ", " : "",
                      store_rows_form(rows, store_rows_column(rows, "form")));
}

void lacking_fold(const struct lacking *lacking, struct text_table *table, struct strbuf *lines)
{
    int n = 0;
    for (int i = 0; i < lacking->ncpus; i++)
        n += lacking->cpus[i].n;
    if ((size_t)n + (size_t)lacking->napx == lacking->nrows)
        return;
    text_table_remove(table, n < LACK_MIN ? lacking->apx : lacking->rows);
    for (int i = 0; i < lacking->ncpus && n >= LACK_MIN; i++) {
        const struct lacking_cpu *cpu = &lacking->cpus[i];
        strbuf_printf(lines, "unsupported on %s: %s", cpu->uarch, strbuf_text(&cpu->names));
        if (cpu->n > LACK_NAMED)
            strbuf_printf(lines, " and %d more", cpu->n - LACK_NAMED);
        strbuf_puts(lines, "\n");
    }
}

void lacking_free(struct lacking *lacking)
{
    for (int i = 0; i < lacking->ncpus; i++) {
        free(lacking->cpus[i].uarch);
        strbuf_free(&lacking->cpus[i].names);
    }
    free(lacking->rows);
    free(lacking->apx);
}
