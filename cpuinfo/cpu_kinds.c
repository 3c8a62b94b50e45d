// SPDX-License-Identifier: MIT
// Kinds of cores: gathered CPU by CPU, named, and found by CPU or name; see cpu_kinds.h. cpu_dump.c
// reads and writes them, cpu_kinds_find.c finds those of this machine.
#include "cpu_kinds.h"

#include "cpu_decode.h"
#include "util/mem.h"
#include "util/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool kind_is_same(const struct cpu_info *a, const struct cpu_info *b)
{
    return strcmp(a->claim, b->claim) == 0 && a->core_type == b->core_type &&
           a->native_model == b->native_model && cpu_lacks_l3(a) == cpu_lacks_l3(b);
}

struct cpu_kind *cpu_kinds_add(struct cpu_kinds *kinds, const struct cpu_info *cpu)
{
    for (int i = 0; i < kinds->n; i++)
        if (kind_is_same(&kinds->kinds[i].cpu, cpu))
            return &kinds->kinds[i];
    kinds->kinds = xrealloc(kinds->kinds, ((size_t)kinds->n + 1) * sizeof *kinds->kinds);
    struct cpu_kind *kind = &kinds->kinds[kinds->n++];
    kind->cpu = *cpu;
    CPU_ZERO(&kind->cpus);
    return kind;
}

void cpu_kinds_name(struct cpu_kinds *kinds)
{
    for (int i = 0; i < kinds->n; i++) {
        struct cpu_kind *kind = &kinds->kinds[i];
        const struct cpu_info *cpu = &kind->cpu;
        int len = snprintf(kind->name, sizeof kind->name, "%s", cpu->claim), sharing = 0;
        for (int k = 0; k < kinds->n; k++)
            sharing += strcmp(kinds->kinds[k].cpu.claim, cpu->claim) == 0;
        if (sharing > 1)
            snprintf(kind->name + len, sizeof kind->name - (size_t)len, "-%02x-%x%s",
                     (unsigned)cpu->core_type & 0xff, cpu->native_model & 0xffffff,
                     cpu_lacks_l3(cpu) ? "-no-l3" : "");
    }
}

void cpu_kinds_free(struct cpu_kinds *kinds)
{
    free(kinds->kinds);
    *kinds = (struct cpu_kinds){.n = 0};
}

const struct cpu_kind *cpu_kinds_of(const struct cpu_kinds *kinds, int number)
{
    const struct cpu_kind *last = NULL;
    if (number >= CPU_SETSIZE)
        return NULL;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        for (int i = 0; i < kinds->n; i++)
            if (CPU_ISSET((size_t)cpu, &kinds->kinds[i].cpus) && (number < 0 || number == cpu))
                last = &kinds->kinds[i];
    return last;
}

int cpu_kind_last(const struct cpu_kind *kind)
{
    int last = CPU_SETSIZE - 1;
    while (last > 0 && !CPU_ISSET((size_t)last, &kind->cpus))
        last--;
    return last;
}

const struct cpu_kind *cpu_kinds_called(const struct cpu_kinds *kinds, const char *said,
                                        struct err *err)
{
    const struct cpu_kind *found = NULL;
    struct strbuf names = {0};
    int n = 0;
    for (int i = 0; i < kinds->n; i++) {
        const struct cpu_kind *kind = &kinds->kinds[i];
        strbuf_printf(&names, "%s%s", i ? ", " : "", kind->name);
        if (cpu_is_called(kind->name, said)) {
            found = kind;
            n++;
        }
    }
    for (int i = 0; i < kinds->n; i++)
        if (strcmp(kinds->kinds[i].name, said) == 0) {
            found = &kinds->kinds[i];
            n = 1;
        }
    if (n == 0)
        err_set(err, "this machine has no kind of core '%s' that may be used; it has %s", said,
                strbuf_text(&names));
    else if (n > 1)
        err_set(err, "'%s' means several kinds of core of this machine, %s: name one of them", said,
                strbuf_text(&names));
    strbuf_free(&names);
    return n == 1 ? found : NULL;
}

bool cpu_kind_is_hidden(const struct cpu_kinds *kinds, const struct cpu_kind *kind)
{
    for (int i = (int)(kind - kinds->kinds) + 1; i < kinds->n; i++)
        if (strcmp(kind->cpu.claim, kinds->kinds[i].cpu.claim) == 0)
            return true;
    return false;
}
