// SPDX-License-Identifier: MIT
// The tables, read once, and the questions that the rest of the program asks of them: feature
// names, isa expressions, families.
#include "cpuinfo.h"
#include "cpu_decode.h"
#include "cpu_tables.h"
#include "util/paths.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static struct {
    pthread_once_t once;
    int status;
    struct err err;
    const char *features_path, *families_path, *sizes_path;
    struct feature_table features;
    struct family_table families;
    struct size_table sizes;
    struct name_table names;
} tables = {.once = PTHREAD_ONCE_INIT};

static void tables_read(void)
{
    tables.features_path = path_data("cpuinfo/features.csv");
    tables.families_path = path_data("cpuinfo/cpus.csv");
    tables.status = features_read(tables.features_path, &tables.features, &tables.err);
    if (tables.status == 0)
        tables.status =
            families_read(tables.families_path, &tables.features, &tables.families, &tables.err);
    tables.sizes_path = path_data("cpuinfo/core_sizes.csv");
    if (tables.status == 0)
        tables.status = sizes_read(tables.sizes_path, &tables.families, &tables.sizes, &tables.err);
    if (tables.status == 0)
        tables.status = names_read(path_data("cpuinfo/other_names.csv"), &tables.families,
                                   &tables.names, &tables.err);
}

int cpuinfo_load(struct err *err)
{
    pthread_once(&tables.once, tables_read);
    if (tables.status < 0)
        return err_set(err, "%s", tables.err.text);
    return 0;
}

int cpuinfo_check(struct err *err)
{
    if (cpuinfo_load(err) < 0)
        return -1;
    if (tables.features.nrows == 0 || tables.families.nrows == 0)
        return err_set(
            err, "%s: the table is empty",
            path_data(tables.features.nrows ? "cpuinfo/cpus.csv" : "cpuinfo/features.csv"));
    return 0;
}

const struct feature_table *features_table(void)
{
    cpuinfo_load(NULL);
    return &tables.features;
}

const struct family_table *families_table(void)
{
    cpuinfo_load(NULL);
    return &tables.families;
}

const struct size_table *sizes_table(void)
{
    cpuinfo_load(NULL);
    return &tables.sizes;
}

const struct name_table *names_table(void)
{
    cpuinfo_load(NULL);
    return &tables.names;
}

bool cpu_observes(const char *property, const char *variant, const char *label)
{
    const struct size_table *sizes = sizes_table();
    for (int i = 0; i < sizes->nrows; i++) {
        const struct size_row *row = &sizes->rows[i];
        if (strcmp(row->property, property) == 0 && strcmp(row->variant, variant) == 0 &&
            strcmp(row->label, label) == 0)
            return true;
    }
    return false;
}

const char *cpu_uarch_key(const char *uarch, char *key, size_t size)
{
    snprintf(key, size, "%.*s", (int)strcspn(uarch, "?@"), uarch);
    return key;
}

bool cpu_same_family(const char *uarch, const char *other)
{
    char one[64], two[64];
    return strcmp(cpu_uarch_key(uarch, one, sizeof one), cpu_uarch_key(other, two, sizeof two)) ==
           0;
}

const struct cpu_family *cpu_family_find(const char *uarch)
{
    const struct family_table *families = families_table();
    char key[64];
    cpu_uarch_key(uarch, key, sizeof key);
    for (int i = 0; i < families->nrows; i++)
        if (strcmp(families->rows[i].facts.uarch, key) == 0)
            return &families->rows[i].facts;
    return NULL;
}

const char *cpu_family_name(int i)
{
    const struct family_table *families = families_table();
    for (int r = 0; r < families->nrows; r++)
        if (!families->rows[r].again && i-- == 0)
            return families->rows[r].facts.uarch;
    return NULL;
}

static int feature_find_len(const char *name, size_t len)
{
    return feature_row_find(features_table(), name, len);
}

int feature_find(const char *name)
{
    return feature_find_len(name, strlen(name));
}

const char *feature_name(int index)
{
    const struct feature_table *features = features_table();
    return index >= 0 && index < features->nrows ? features->rows[index].name : NULL;
}

const char *feature_group(int index)
{
    const struct feature_table *features = features_table();
    return index >= 0 && index < features->nrows ? features->rows[index].group : NULL;
}

const char *feature_encoding(int index)
{
    const struct feature_table *features = features_table();
    return index >= 0 && index < features->nrows ? features->rows[index].encoding : NULL;
}

const char *feature_narrow(int index)
{
    const struct feature_table *features = features_table();
    bool known = index >= 0 && index < features->nrows;
    return known && *features->rows[index].narrow ? features->rows[index].narrow : NULL;
}

int isa_check(const char *isa, const char **unknown, size_t *unknown_len)
{
    for (const char *name = isa;; name++) {
        size_t len = strcspn(name, "+");
        if (feature_find_len(name, len) < 0) {
            *unknown = name;
            *unknown_len = len;
            return -1;
        }
        name += len;
        if (!*name)
            return 0;
    }
}

bool cpu_has_isa(const struct cpu_info *cpu, const char *isa)
{
    for (const char *name = isa;; name++) {
        size_t len = strcspn(name, "+");
        int index = feature_find_len(name, len);
        if (index < 0 || !cpu->features[index])
            return false;
        name += len;
        if (!*name)
            return true;
    }
}

bool cpu_announces(const struct cpu_info *cpu, int index)
{
    return cpu_feature_announced(cpu, &features_table()->rows[index]);
}

// Writes the numbers of the bits, joined by blanks.
static void state_bits_text(uint64_t bits, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (int bit = 0; bit < 64 && used < size; bit++)
        if (bits >> bit & 1)
            used += (size_t)snprintf(text + used, size - used, "%s%d", used ? ", " : "", bit);
}

bool cpu_lacks_state(const struct cpu_info *cpu, const char *isa, char *reason, size_t size)
{
    const struct cpuid_leaf *leaf = cpu_leaf_find(cpu, CPUID_PSEUDO_XCR0, 0);
    uint64_t xcr0 = leaf ? (uint64_t)leaf->edx << 32 | leaf->eax : UINT64_MAX;
    for (const char *name = isa; *name;) {
        size_t len = strcspn(name, "+");
        int index = feature_find_len(name, len);
        const struct feature_row *row = index < 0 ? NULL : &features_table()->rows[index];
        uint64_t off = row ? row->xcr0 & ~xcr0 : 0;
        if (off && strcmp(row->encoding, "legacy") != 0) {
            char bits[64];
            state_bits_text(off, bits, sizeof bits);
            snprintf(reason, size,
                     "%s %s: the system has not enabled its register state (XCR0 lacks bit %s)",
                     cpu_feature_announced(cpu, row) ? "the CPU has" : "the CPU does not announce",
                     row->name, bits);
            return true;
        }
        name += len + (name[len] == '+');
    }
    return false;
}
