// SPDX-License-Identifier: MIT
// Names of CPU families in other programs and among people, and the family that a name means.
#include "cpu_tables.h"
#include "util/strbuf.h"
#include "util/suggest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char *cpu_other_name(const char *uarch, enum cpu_namer whose)
{
    const struct name_table *names = names_table();
    char key[64];
    cpu_uarch_key(uarch, key, sizeof key);
    for (size_t i = 0; i < names->file.nrecords; i++)
        if (strcmp(names->file.records[i].fields[0], key) == 0)
            return names->file.records[i].fields[whose];
    return "";
}

const char *cpu_llvm_name(const char *uarch)
{
    const struct family_table *families = families_table();
    const char *name = cpu_other_name(uarch, CPU_NAME_LLVM), *core = "";
    char key[64];
    cpu_uarch_key(uarch, key, sizeof key);
    for (int i = 0; i < families->nrows && !*core; i++)
        if (strcmp(families->rows[i].facts.uarch, key) == 0)
            core = families->rows[i].evidence.core;
    for (int i = 0; i < families->nrows && *core && !*name; i++)
        if (strcmp(families->rows[i].evidence.core, core) == 0)
            name = cpu_other_name(families->rows[i].facts.uarch, CPU_NAME_LLVM);
    return name;
}

static const char separators[] = " -_."; // in names, where people have one or another, or none

// Returns true if the first `len` bytes of a name are `said`, but for letter case and separators.
static bool name_is(const char *name, size_t len, const char *said)
{
    const char *end = name + len;
    for (;; name++, said++) {
        while (name < end && strchr(separators, *name))
            name++;
        said += strspn(said, separators);
        if (name == end || !*said)
            return name == end && !*said;
        if (tolower((unsigned char)*name) != tolower((unsigned char)*said))
            return false;
    }
}

// Returns true if one of the names, separated by blanks, is `said`.
static bool name_among(const char *names, const char *said)
{
    while (*names) {
        size_t len = strcspn(names, " ");
        if (name_is(names, len, said))
            return true;
        names += len + (names[len] == ' ');
    }
    return false;
}

bool cpu_is_called(const char *uarch, const char *said)
{
    const struct family_table *families = families_table();
    const char *of = strchr(uarch, '@'), *label = strchr(said, '@');
    char key[64], family[64];
    if (label && (!of || strcmp(label, of) != 0))
        return false;
    if (label) {
        snprintf(family, sizeof family, "%.*s", (int)(label - said), said);
        return !*family || cpu_is_called(uarch, family);
    }
    cpu_uarch_key(uarch, key, sizeof key);
    bool called = name_among(key, said);
    for (int i = 0; i < families->nrows && !called; i++)
        called = strcmp(families->rows[i].facts.uarch, key) == 0 &&
                 name_among(families->rows[i].evidence.core, said);
    for (enum cpu_namer whose = CPU_NAME_LLVM; whose <= CPU_NAME_PEOPLE && !called; whose++)
        called = name_among(cpu_other_name(uarch, whose), said);
    return called;
}

const char *cpu_uarch_called(const char *said, struct err *err)
{
    struct suggestion near = suggest_start(said, strlen(said));
    struct strbuf found = {0};
    const char *one = NULL, *uarch;
    char hint[96];
    const struct cpu_family *family = strchr(said, '?') ? NULL : cpu_family_find(said);
    if (family || strcmp(said, "unknown") == 0)
        return family ? family->uarch : "unknown";
    // "Zen 5" is zen5, though zen5c has that core, too.
    for (int i = 0; (uarch = cpu_family_name(i)); i++)
        if (name_is(uarch, strlen(uarch), said))
            return uarch;
    for (int i = 0; (uarch = cpu_family_name(i)); i++) {
        suggest_offer(&near, uarch);
        if (cpu_is_called(uarch, said)) {
            strbuf_printf(&found, "%s%s", one ? ", " : "", uarch);
            one = uarch;
        }
    }
    bool several = strchr(strbuf_text(&found), ',') != NULL;
    if (several)
        err_set(err, "'%s' means several uarchs, %s: name one of them", said, strbuf_text(&found));
    else if (!one)
        err_set(err, "there is no uarch '%s' in cpus.csv%s", said,
                *suggest_text(&near, hint, sizeof hint) ? hint : "; name one of its column uarch");
    strbuf_free(&found);
    return several ? NULL : one;
}
