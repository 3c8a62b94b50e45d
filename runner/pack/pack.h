// SPDX-License-Identifier: MIT
// Packs: the runs that a CPU's tables are made of, or one run, as an archive fit for publication;
// and merging such archives into a database. A pack is a zip file with the members README.txt,
// info.txt, tables/<list>.txt, ports.svg, table.html, instruction_table.csv and .json,
// latency_table.csv and .json, false_dependency_table.csv and .json, port_table.csv and .json,
// failure_table.csv, for pieces of code also bench_table.csv and .json and
// bench_repetition_table.csv, run.db (a database with only these runs) and MANIFEST (sha256 of
// each, as sha256sum writes it). Members without rows are left out. The same content gives the same
// bytes. A slim pack, the usual one, is a tar.xz file with README.txt, info.txt, ports.svg, run.db
// and MANIFEST.
#pragma once

#include "merge/merge.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    PACK_MEMBERS_MAX = 1024,
    PACK_NAME_MAX = 128,
    PACK_MANIFEST_BYTES_MAX = 256 << 10,
};

// Limits on reading, against archives made to exhaust disk or memory.
static const int64_t PACK_MEMBER_BYTES_MAX = 512LL << 20;
static const int64_t PACK_RATIO_MAX = 100;               // unpacked to packed size ...
static const int64_t PACK_RATIO_FREE_BYTES = 16LL << 20; // ... for sizes above this

// Returns the file name of a run's pack: <vendor>-<signature>-<uarch>-<date>-<version>.zip, for
// pieces of code with -bench-<identity> before .zip; for slim packs with .tar.xz. The caller frees
// it; NULL after an error.
char *pack_name(struct store *store, int64_t run_id, enum merge_keep keep, struct err *err);
// Selection of the runs in a pack. Its file appears only when it is complete.
struct pack_what {
    int64_t run_id;
    bool others; // include the other runs that the tables of its CPU are made of
    enum merge_keep keep;
};
int pack_write(struct store *store, const struct pack_what *what, const char *path,
               struct err *err);

// Returns true if a named file is meant as a pack: it begins like an archive that
// pack_merge_all() reads, has such a name, or cannot be read. So a damaged pack counts; a README
// beside packs, or a directory, does not.
bool pack_is_meant(const char *path);

// Returns 0 if a file begins as a pack does: an archive whose first member is one of a pack's; else
// -1.
int pack_probe(const char *path, struct err *err);

// Merges n packs into a database open for writing, all or none; merged[i] tells about paths[i].
// Nothing in the files is trusted. Returns how many of their runs were added (the others are there
// already), or -1 if a pack is refused; then nothing was added.
int pack_merge_all(struct store *store, char *const *paths, int n, struct progress *progress,
                   struct store_merged *merged, struct err *err);

// Returns true if a pack may have a member of this name.
bool pack_is_member(const char *name);
