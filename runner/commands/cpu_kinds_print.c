// SPDX-License-Identifier: MIT
// The kinds of cores of a machine: a row each, for `latput cpu` and `latput cpu --kinds`.
#include "cpu_print.h"

#include "cpuinfo/environment.h"
#include "util/cpulist.h"
#include "util/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct kind_row {
    const char *kind;
    char cpus[256];
    char core_type[16];
    int64_t native_model;
    int efficiency, l1d_kib, l2_kib, l3_kib, max_mhz, capacity; // 0: not known
    char name[96];
};
#define KIND(title, align_as, ...)                                                                 \
    OUTPUT_FIELD(struct kind_row, __VA_ARGS__, .look.heading = (title), .look.align = (align_as))
#define KIND_NUMBER(title, ...)                                                                    \
    KIND(title, ALIGN_RIGHT, __VA_ARGS__, .known = true, .none = 0, .gap = true)
OUTPUT_DEFINE(kind_record, struct kind_row, OUTPUT_LINE, KIND("kind", ALIGN_LEFT, kind),
              KIND("CPUs", ALIGN_LEFT, cpus, .look.fit = {FIT_KEEP, 12}),
              KIND("type", ALIGN_LEFT, core_type, .known = true),
              KIND("native", ALIGN_RIGHT, native_model, .known = true, .none = -1),
              KIND_NUMBER("efficiency", efficiency), KIND_NUMBER("L1d KiB", l1d_kib),
              KIND_NUMBER("L2 KiB", l2_kib), KIND_NUMBER("L3 KiB", l3_kib),
              KIND_NUMBER("MHz", max_mhz), KIND_NUMBER("capacity", capacity),
              KIND("core", ALIGN_LEFT, name, .known = true, .look.fit = {FIT_KEEP, 20}));
const struct output_kind cpu_kinds_print_kind = {
    "cpu_kinds", "latput cpu --kinds: the kinds of cores of this machine", &kind_record, 1, 0};

static int cache_kib(const struct cpu_info *cpu, int level, char type)
{
    for (int i = 0; i < cpu->ncaches; i++)
        if (cpu->caches[i].level == level && cpu->caches[i].type == type)
            return (int)(cpu->caches[i].bytes >> 10);
    return 0;
}

// Returns the static efficiency ranking of AMD's cores; 0: none.
static int efficiency_ranking(const struct cpu_info *cpu)
{
    const struct cpuid_leaf *leaf = cpu_leaf_find(cpu, 0x80000026, 0);
    return leaf && leaf->eax >> 29 & 1 ? (int)(leaf->ebx >> 16 & 0xff) : 0;
}

static struct kind_row kind_row(const struct cpu_kind *kind, bool live)
{
    const struct cpu_info *cpu = &kind->cpu;
    const struct cpu_family *family = cpu_family_find(cpu->claim);
    struct strbuf cpus = {0};
    struct kind_row row = {.kind = kind->name,
                           .native_model = cpu->core_type ? (int64_t)cpu->native_model : -1,
                           .efficiency = efficiency_ranking(cpu),
                           .l1d_kib = cache_kib(cpu, 1, 'd'),
                           .l2_kib = cache_kib(cpu, 2, 'u'),
                           .l3_kib = cache_kib(cpu, 3, 'u')};
    cpulist_write(&kind->cpus, &cpus);
    snprintf(row.cpus, sizeof row.cpus, "%s", strbuf_text(&cpus));
    strbuf_free(&cpus);
    if (cpu->core_type)
        snprintf(row.core_type, sizeof row.core_type, "0x%02x", (unsigned)cpu->core_type);
    snprintf(row.name, sizeof row.name, "%s", family ? family->name : "");
    if (live)
        environment_speed(&kind->cpus, &row.max_mhz, &row.capacity);
    return row;
}

void cpu_print_kinds(const struct cpu_kinds *kinds, const struct cpu_kinds_page *as, FILE *out)
{
    struct kind_row *rows = xcalloc((size_t)kinds->n, sizeof *rows);
    struct strbuf text = {0}, note = {0};
    const struct output_page page = {as->format, as->width, terminal_has_colour(STDOUT_FILENO)};
    for (int i = 0; i < kinds->n; i++)
        rows[i] = kind_row(&kinds->kinds[i], as->live);
    output_print(&kind_record, rows, kinds->n, &page, &text, &note);
    fputs(strbuf_text(&text), out);
    strbuf_free(&text);
    strbuf_free(&note);
    free(rows);
}
