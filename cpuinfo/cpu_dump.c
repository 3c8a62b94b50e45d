// SPDX-License-Identifier: MIT
// CPUID dumps as text: a machine that can be mailed, kept in tests/fixtures/cpu/ and identified
// anywhere. The format is specified in README.md. Reading is strict: half a dump would be another
// CPU.
#include "cpu_decode.h"
#include "cpu_tables.h"
#include "util/cpulist.h"
#include "util/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DUMP_VERSION = 1, DUMP_VERSION_KINDS = 2, DUMP_LINE_MAX = 8192 };

static int order(const struct cpuid_leaf *a, const struct cpuid_leaf *b)
{
    if (a->leaf != b->leaf)
        return a->leaf < b->leaf ? -1 : 1;
    return a->subleaf < b->subleaf ? -1 : a->subleaf > b->subleaf;
}

static void leaves_write(const struct cpu_info *cpu, FILE *f)
{
    fprintf(f, "# %s%s%s, family 0x%x model 0x%x stepping %d\n", cpu->vendor,
            cpu->brand[0] ? ", " : "", cpu->brand, (unsigned)cpu->family, (unsigned)cpu->model,
            cpu->stepping);
    fprintf(f, "# leaf  sub eax      ebx      ecx      edx\n");
    for (int i = 0; i < cpu->nleaves; i++) {
        const struct cpuid_leaf *leaf = &cpu->leaves[i];
        fprintf(f, "%08x %02x %08x %08x %08x %08x\n", leaf->leaf, leaf->subleaf, leaf->eax,
                leaf->ebx, leaf->ecx, leaf->edx);
    }
    fprintf(f, "end %d\n", cpu->nleaves);
}

// One kind is written as a dump of one CPU, which older versions read, too.
static void dump_write(const struct cpu_kinds *kinds, FILE *f)
{
    bool several = kinds->n > 1;
    fprintf(f, "latput-cpuid %d\n", several ? DUMP_VERSION_KINDS : DUMP_VERSION);
    for (int i = 0; i < kinds->n; i++) {
        struct strbuf cpus = {0};
        cpulist_write(&kinds->kinds[i].cpus, &cpus);
        if (several)
            fprintf(f, "cpus %s\n", strbuf_text(&cpus));
        leaves_write(&kinds->kinds[i].cpu, f);
        strbuf_free(&cpus);
    }
}

int cpu_save(const struct cpu_info *cpu, const char *path, struct err *err)
{
    struct cpu_kinds kinds = {.n = 0};
    cpu_kinds_add(&kinds, cpu);
    int status = cpu_kinds_save(&kinds, path, err);
    cpu_kinds_free(&kinds);
    return status;
}

int cpu_kinds_save(const struct cpu_kinds *kinds, const char *path, struct err *err)
{
    if (strcmp(path, "-") == 0) {
        dump_write(kinds, stdout);
        if (fflush(stdout) != 0 || ferror(stdout))
            return err_set(err, "cannot write to standard output: %s", strerror(errno));
        return 0;
    }
    FILE *f = fopen(path, "we");
    if (!f)
        return err_set(err, "%s: cannot be written: %s", path, strerror(errno));
    dump_write(kinds, f);
    bool failed = ferror(f) != 0;
    if (fclose(f) != 0 || failed)
        return err_set(err, "%s: cannot be written: %s", path, strerror(errno));
    return 0;
}

struct reader {
    const char *path;
    int line;
    char text[DUMP_LINE_MAX];
    char *fields[8];
    int nfields;
    bool several, ended; // the version with `cpus`; after the end of a CPU
    struct cpu_info *cpu;
    cpu_set_t cpus; // of the CPU; empty before its line
    struct cpu_kinds *kinds;
};

// Cuts the comment off and splits at blanks. More than 7 fields count as 8.
static void line_split(struct reader *r)
{
    char *p = r->text;
    p[strcspn(p, "#\r\n")] = '\0';
    r->nfields = 0;
    while (*(p += strspn(p, " \t")) && r->nfields < 8) {
        r->fields[r->nfields++] = p;
        p += strcspn(p, " \t");
        if (*p)
            *p++ = '\0';
    }
}

static int hex_parse(const char *text, size_t digits, uint32_t *value)
{
    char prefixed[16];
    uint64_t number;
    size_t len = strlen(text);
    if (len == 0 || len > digits)
        return -1;
    snprintf(prefixed, sizeof prefixed, "0x%s", text);
    if (cell_number(prefixed, len + 2, 0xffffffff, &number) < 0)
        return -1;
    *value = (uint32_t)number;
    return 0;
}

static int leaf_parse(struct reader *r, struct cpu_info *cpu, struct err *err)
{
    static const char *const names[] = {"leaf", "subleaf", "EAX", "EBX", "ECX", "EDX"};
    uint32_t v[6];
    if (r->nfields != 6)
        return err_set(err,
                       "%s:%d: %d numbers where a leaf has 6: leaf subleaf eax ebx ecx edx, in "
                       "hexadecimal",
                       r->path, r->line, r->nfields);
    for (int i = 0; i < 6; i++)
        if (hex_parse(r->fields[i], i == 1 ? 2 : 8, &v[i]) < 0)
            return err_set(err, "%s:%d: %s '%.20s' is no hexadecimal number of up to %d digits",
                           r->path, r->line, names[i], r->fields[i], i == 1 ? 2 : 8);
    struct cpuid_leaf leaf = {v[0], v[1], v[2], v[3], v[4], v[5]};
    if (cpu->nleaves > 0 && order(&cpu->leaves[cpu->nleaves - 1], &leaf) >= 0)
        return err_set(err, "%s:%d: leaf %x subleaf %x does not come after the one before it",
                       r->path, r->line, leaf.leaf, leaf.subleaf);
    if (cpu->nleaves == CPUID_LEAVES_MAX)
        return err_set(err, "%s:%d: more than %d leaves", r->path, r->line, CPUID_LEAVES_MAX);
    cpu_leaf_add(cpu, &leaf);
    return 0;
}

static int end_parse(struct reader *r, struct err *err)
{
    struct cpu_info *cpu = r->cpu;
    uint64_t count;
    if (r->nfields != 2 || cell_number(r->fields[1], strlen(r->fields[1]), 99999, &count) < 0)
        return err_set(err, "%s:%d: write `end` and the number of leaves", r->path, r->line);
    if ((int)count != cpu->nleaves)
        return err_set(err, "%s:%d: %d leaves where the end says %d: the dump is damaged", r->path,
                       r->line, cpu->nleaves, (int)count);
    if (cpu_decode(cpu, err) < 0)
        return err_prefix(err, "%s: ", r->path);
    struct cpu_kind *kind = cpu_kinds_add(r->kinds, cpu);
    CPU_OR(&kind->cpus, &kind->cpus, &r->cpus);
    r->ended = true;
    return 0;
}

// Begins the CPUs of another kind.
static int cpus_parse(struct reader *r, struct err *err)
{
    if (!r->several)
        return err_set(err, "%s:%d: `cpus` wants version %d in the first line", r->path, r->line,
                       DUMP_VERSION_KINDS);
    if (!r->ended)
        return err_set(err, "%s:%d: `cpus` before the `end` of what is above it", r->path, r->line);
    if (r->nfields != 2 || cpulist_parse_set(r->fields[1], &r->cpus) != 0)
        return err_set(err, "%s:%d: write `cpus` and a list of CPUs, as 0-3,8", r->path, r->line);
    for (int i = 0; i < r->kinds->n; i++) {
        cpu_set_t both;
        CPU_AND(&both, &r->cpus, &r->kinds->kinds[i].cpus);
        if (CPU_COUNT(&both))
            return err_set(err, "%s:%d: a CPU is in two lists", r->path, r->line);
    }
    memset(r->cpu, 0, sizeof *r->cpu);
    r->ended = false;
    return 0;
}

static int head_parse(struct reader *r, struct err *err)
{
    if (r->nfields != 2 || strcmp(r->fields[0], "latput-cpuid") != 0)
        return err_set(err, "%s:1: no CPUID dump; the first line must be `latput-cpuid %d`",
                       r->path, DUMP_VERSION);
    r->several = r->ended = strcmp(r->fields[1], "2") == 0;
    if (!r->several && strcmp(r->fields[1], "1") != 0)
        return err_set(err, "%s:1: version '%.20s' of the format; this program reads 1 and 2",
                       r->path, r->fields[1]);
    return 0;
}

static int line_parse(struct reader *r, struct err *err)
{
    line_split(r);
    if (r->line == 1)
        return head_parse(r, err);
    if (r->nfields == 0)
        return 0;
    if (strcmp(r->fields[0], "cpus") == 0)
        return cpus_parse(r, err);
    if (r->ended)
        return err_set(err, "%s:%d: text after the end", r->path, r->line);
    if (strcmp(r->fields[0], "end") == 0)
        return end_parse(r, err);
    return leaf_parse(r, r->cpu, err);
}

static int dump_read(FILE *f, struct reader *reader, struct err *err)
{
    const char *path = reader->path;
    char *buffer = NULL;
    size_t capacity = 0;
    ssize_t got;
    int status = 0;
    while (status == 0 && (got = getline(&buffer, &capacity, f)) >= 0) {
        reader->line++;
        if (got >= DUMP_LINE_MAX || memchr(buffer, '\0', (size_t)got))
            status = err_set(err, "%s:%d: %s", path, reader->line,
                             got >= DUMP_LINE_MAX ? "the line is too long" : "a NUL byte in text");
        else {
            memcpy(reader->text, buffer, (size_t)got + 1);
            status = line_parse(reader, err);
        }
    }
    free(buffer);
    if (status == 0 && ferror(f))
        return err_set(err, "%s: cannot be read: %s", path, strerror(errno));
    if (status == 0 && reader->line == 0)
        return err_set(err, "%s:1: the file is empty", path);
    if (status == 0 && (!reader->ended || reader->kinds->n == 0))
        return err_set(err, "%s:%d: the dump is cut short: there is no `end`", path, reader->line);
    return status;
}

static int kinds_read(const char *path, struct cpu_kinds *kinds, struct err *err)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return err_set(err, "%s: cannot be read: %s", path, strerror(errno));
    struct reader *reader = xcalloc(1, sizeof *reader);
    reader->path = path;
    reader->kinds = kinds;
    reader->cpu = xcalloc(1, sizeof *reader->cpu);
    int status = dump_read(f, reader, err);
    fclose(f);
    if (status == 0 && !reader->several)
        sched_getaffinity(0, sizeof kinds->kinds[0].cpus, &kinds->kinds[0].cpus);
    free(reader->cpu);
    free(reader);
    return status;
}

int cpu_kinds_load(const char *path, struct cpu_kinds *kinds, struct err *err)
{
    *kinds = (struct cpu_kinds){.n = 0};
    if (kinds_read(path, kinds, err) != 0) {
        cpu_kinds_free(kinds);
        return -1;
    }
    cpu_kinds_name(kinds);
    return 0;
}

int cpu_load(const char *path, struct cpu_info *cpu, struct err *err)
{
    struct cpu_kinds kinds;
    if (cpu_kinds_load(path, &kinds, err) != 0)
        return -1;
    *cpu = kinds.kinds[0].cpu;
    cpu_kinds_free(&kinds);
    return 0;
}
