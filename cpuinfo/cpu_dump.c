// SPDX-License-Identifier: MIT
// CPUID dumps as text: a machine that can be mailed, kept in tests/fixtures/cpu/ and identified
// anywhere. The format is specified in README.md. Reading is strict: half a dump would be another
// CPU.
#include "cpu_decode.h"
#include "cpu_tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DUMP_VERSION = 1, DUMP_LINE_MAX = 256 };

static int order(const struct cpuid_leaf *a, const struct cpuid_leaf *b)
{
    if (a->leaf != b->leaf)
        return a->leaf < b->leaf ? -1 : 1;
    return a->subleaf < b->subleaf ? -1 : a->subleaf > b->subleaf;
}

static void dump_write(const struct cpu_info *cpu, FILE *f)
{
    fprintf(f, "latput-cpuid %d\n", DUMP_VERSION);
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

int cpu_save(const struct cpu_info *cpu, const char *path, struct err *err)
{
    if (strcmp(path, "-") == 0) {
        dump_write(cpu, stdout);
        if (fflush(stdout) != 0 || ferror(stdout))
            return err_set(err, "cannot write to standard output: %s", strerror(errno));
        return 0;
    }
    FILE *f = fopen(path, "we");
    if (!f)
        return err_set(err, "%s: cannot be written: %s", path, strerror(errno));
    dump_write(cpu, f);
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
    bool ended;
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

static int end_parse(struct reader *r, const struct cpu_info *cpu, struct err *err)
{
    uint64_t count;
    if (r->nfields != 2 || cell_number(r->fields[1], strlen(r->fields[1]), 99999, &count) < 0)
        return err_set(err, "%s:%d: write `end` and the number of leaves", r->path, r->line);
    if ((int)count != cpu->nleaves)
        return err_set(err, "%s:%d: %d leaves where the end says %d: the dump is damaged", r->path,
                       r->line, cpu->nleaves, (int)count);
    r->ended = true;
    return 0;
}

static int line_parse(struct reader *r, struct cpu_info *cpu, struct err *err)
{
    if (r->line == 1) {
        line_split(r);
        if (r->nfields != 2 || strcmp(r->fields[0], "latput-cpuid") != 0)
            return err_set(err, "%s:1: no CPUID dump; the first line must be `latput-cpuid %d`",
                           r->path, DUMP_VERSION);
        if (strcmp(r->fields[1], "1") != 0)
            return err_set(err, "%s:1: version '%.20s' of the format; this program reads 1",
                           r->path, r->fields[1]);
        return 0;
    }
    line_split(r);
    if (r->nfields == 0)
        return 0;
    if (r->ended)
        return err_set(err, "%s:%d: text after the end", r->path, r->line);
    if (strcmp(r->fields[0], "end") == 0)
        return end_parse(r, cpu, err);
    return leaf_parse(r, cpu, err);
}

static int dump_read(FILE *f, const char *path, struct cpu_info *cpu, struct err *err)
{
    struct reader r = {.path = path};
    char *buffer = NULL;
    size_t capacity = 0;
    ssize_t got;
    int status = 0;
    while (status == 0 && (got = getline(&buffer, &capacity, f)) >= 0) {
        r.line++;
        if (got >= DUMP_LINE_MAX || memchr(buffer, '\0', (size_t)got))
            status = err_set(err, "%s:%d: %s", path, r.line,
                             got >= DUMP_LINE_MAX ? "the line is too long" : "a NUL byte in text");
        else {
            memcpy(r.text, buffer, (size_t)got + 1);
            status = line_parse(&r, cpu, err);
        }
    }
    free(buffer);
    if (status == 0 && ferror(f))
        return err_set(err, "%s: cannot be read: %s", path, strerror(errno));
    if (status == 0 && r.line == 0)
        return err_set(err, "%s:1: the file is empty", path);
    if (status == 0 && !r.ended)
        return err_set(err, "%s:%d: the dump is cut short: there is no `end`", path, r.line);
    return status;
}

int cpu_load(const char *path, struct cpu_info *cpu, struct err *err)
{
    memset(cpu, 0, sizeof *cpu);
    FILE *f = fopen(path, "re");
    if (!f)
        return err_set(err, "%s: cannot be read: %s", path, strerror(errno));
    int status = dump_read(f, path, cpu, err);
    fclose(f);
    if (status < 0)
        return -1;
    if (cpu_decode(cpu, err) < 0)
        return err_prefix(err, "%s: ", path);
    return 0;
}
