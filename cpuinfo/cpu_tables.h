// SPDX-License-Identifier: MIT
// The two tables as the C code sees them; only the files of this folder and their tests include
// this. Reading is strict: a table with an error is not used at all, because a CPU that is taken
// for another one makes every result wrong. Strings are owned by the table.
#pragma once

#include "cpuinfo.h"
#include "table_read.h"
#include "util/csvfile.h"

enum { FEATURE_PLACES_MAX = 4, MODEL_RANGES_MAX = 16 };

struct feature_place {
    uint32_t leaf, subleaf;
    int reg;        // 0 eax, 1 ebx, 2 ecx, 3 edx
    int bit;        // lowest bit of a field
    int bits;       // width of the field
    uint32_t least; // the value that the field must have at least
};

struct feature_row {
    const char *name, *group, *encoding, *note;
    const char *narrow; // name of what its forms below 512 bits need besides; "": nothing
    struct feature_place places[FEATURE_PLACES_MAX]; // any of them announces the feature
    int nplaces;                                     // 0: always announced
    uint64_t xcr0;                                   // bits that must all be set; 0: none needed
    int line;
};

struct feature_table {
    struct feature_row *rows;
    int nrows;
    struct csv_file file;
};

enum { EVIDENCE_FEATURES_MAX = 32, CACHE_SIZES_MAX = 6 };

// Features that every CPU of a family has, or that none has: indices into the feature table.
struct feature_list {
    int features[EVIDENCE_FEATURES_MAX];
    int n;
};

// The sizes that a cache comes in; n 0: not known.
struct cache_sizes {
    int kib[CACHE_SIZES_MAX];
    int n;
};

enum { CACHE_L1I, CACHE_L1D, CACHE_L2, CACHES_COMPARED };

// By what a family is recognised; see cpu_evidence.c.
struct family_evidence {
    const char *core; // families with the same core are measured alike; "" if not known
    int instr_width;  // the width that measurement sees; issue_width unless less
    struct feature_list always, never;
    struct cache_sizes caches[CACHES_COMPARED];
};

struct model_range {
    int from, to;
};

struct family_row {
    struct cpu_family facts;
    int family;
    struct model_range models[MODEL_RANGES_MAX];
    int nmodels;
    struct model_range steppings;
    int core_type;         // -1: any
    uint32_t native_model; // 0: any
    bool no_l3;            // only of cores that CPUID shows no L3 cache of
    bool refines;          // another row fits its CPUs, too, and asks for less
    bool again;            // an earlier row has its uarch
    struct family_evidence evidence;
    const struct csv_record *record;
};

struct family_table {
    const struct feature_table *features; // referred to by the evidence
    struct family_row *rows;
    int nrows;
    struct csv_file file;
};

// Size that a core has of what a property measures; most 0: not known.
struct core_size {
    double least, most;
    const char *note; // "": none
};
struct size_row {
    const char *core, *property, *variant, *label;
    struct core_size size;
};
struct size_table {
    const struct family_table *families; // families with these cores
    struct size_row *rows;
    int nrows;
    struct csv_file file;
};

struct name_table {
    const struct family_table *families; // families that have names
    struct csv_file file;
};

// 0, or -1 with `path:line:` and a caret. The caller frees by csv_file_free(&table->file).
int features_read(const char *path, struct feature_table *table, struct err *err);
// Reads a table of families. Names of features are looked up in `features`.
int families_read(const char *path, const struct feature_table *features,
                  struct family_table *table, struct err *err);
int sizes_read(const char *path, const struct family_table *families, struct size_table *table,
               struct err *err);
int names_read(const char *path, const struct family_table *families, struct name_table *table,
               struct err *err);

// Returns the row of this name, of `len` bytes, or -1.
int feature_row_find(const struct feature_table *table, const char *name, size_t len);

// Returns the cached tables; empty where cpuinfo_load() fails.
const struct feature_table *features_table(void);
const struct family_table *families_table(void);
const struct size_table *sizes_table(void);
const struct name_table *names_table(void);

// Returns the row for vendor, family, model, stepping and core of `cpu`, of several the one that
// asks for most; NULL: there is none.
const struct family_row *family_lookup(const struct family_table *table,
                                       const struct cpu_info *cpu);
// Returns true if the core's type, native model and L3 cache are as the row wants them.
bool family_row_fits_core(const struct family_row *row, const struct cpu_info *cpu);

// Returns the core's size in the table for this observation; most 0: none.
struct core_size core_size_find(const struct size_table *table, const char *core,
                                const struct cpu_observed *seen);
enum cpu_says core_size_says(const struct core_size *size, const struct cpu_observed *seen);
// Numbers of properties that agree with a core, and that find more than it has.
struct sizes_fit {
    int agree, more;
};
struct sizes_fit core_sizes_fit(const struct size_table *table, const char *core,
                                const struct cpu_measured *measured);

// Parses a number of decimal or 0x-hexadecimal digits and nothing else, at most `max`. Returns 0 or
// -1.
int cell_number(const char *text, size_t len, uint64_t max, uint64_t *value);
