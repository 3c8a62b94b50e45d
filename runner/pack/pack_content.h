// SPDX-License-Identifier: MIT
// The members of a pack in memory.
#pragma once

#include "pack.h"
#include "util/strbuf.h"

enum { PACK_MEMBERS_BESIDE = 18 }; // most members that are no tables of lists

struct pack {
    struct pack_member {
        char *name;
        struct strbuf content;
    } members[PACK_MEMBERS_MAX];
    int nmembers;
    bool slim; // results only, in the database alone
};

struct strbuf *pack_add(struct pack *pack, const char *name); // returns the empty content of a new
                                                              // member
void pack_free(struct pack *pack);

// Makes all members but MANIFEST from a database with the runs 1 to `nruns`; titles name the last
// run.
int pack_collect(struct pack *pack, const char *database, int nruns, struct err *err);
// Writes README.txt, which describes the members that are there (pack_readme.c).
int pack_readme(const struct pack *pack, struct store *store, int nruns, struct strbuf *out,
                struct err *err);
