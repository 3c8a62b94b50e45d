// SPDX-License-Identifier: MIT
#include "list_mnemonic.h"

#include "util/mem.h"

#include <Zydis/Zydis.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MNEMONICS = ZYDIS_MNEMONIC_MAX_VALUE, WORD_MAX = 64 };

// Condition codes with several names: NASM's names and the decoder's.
static const char *const condition_synonyms[][2] = {
    {"c",   "b"  },
    {"nae", "b"  },
    {"ae",  "nb" },
    {"nc",  "nb" },
    {"e",   "z"  },
    {"ne",  "nz" },
    {"na",  "be" },
    {"a",   "nbe"},
    {"pe",  "p"  },
    {"po",  "np" },
    {"nge", "l"  },
    {"ge",  "nl" },
    {"ng",  "le" },
    {"g",   "nle"},
};
static const char *const condition_prefixes[] = {"j",    "set",   "cmov",  "setzu",
                                                 "ccmp", "ctest", "cfcmov"};

// Synonyms of NASM and the decoder for one instruction, encoded the same.
static const char *const mnemonic_synonyms[][2] = {
    {"sal",   "shl"  },
    {"xlatb", "xlat" },
    {"wait",  "fwait"},
};

// Mnemonics that the decoder has, in one release or another, under another name for some operands
// (lists/exceptions.csv says which), or not at all. In alphabetical order.
static const char *const further_mnemonics[] = {
    "aadd",
    "aand",
    "aor",
    "axor",
    "cmpbexadd",
    "cmpbxadd",
    "cmplexadd",
    "cmplxadd",
    "cmpnbexadd",
    "cmpnbxadd",
    "cmpnlexadd",
    "cmpnlxadd",
    "cmpnoxadd",
    "cmpnpxadd",
    "cmpnsxadd",
    "cmpnzxadd",
    "cmpoxadd",
    "cmppxadd",
    "cmpsxadd",
    "cmpzxadd",
    "jmpabs",
    "pfrcpit1",
    "pfrsqrt",
    "popaw",
    "popfw",
    "prefetchit0",
    "prefetchit1",
    "pushaw",
    "pushfw",
    "tcmmimfp16ps",
    "tcmmrlfp16ps",
    "tcvtrowd2ps",
    "tcvtrowps2bf16h",
    "tcvtrowps2bf16l",
    "tcvtrowps2phh",
    "tcvtrowps2phl",
    "tdpbf8ps",
    "tdpbhf8ps",
    "tdpfp16ps",
    "tdphbf8ps",
    "tdphf8ps",
    "tileloaddrs",
    "tileloaddrst1",
    "tilemovrow",
    "vpdpbssd",
    "vpdpbssds",
    "vpdpbsud",
    "vpdpbsuds",
    "vpdpbuud",
    "vpdpbuuds",
    "vpdpwsud",
    "vpdpwsuds",
    "vpdpwusd",
    "vpdpwusds",
    "vpdpwuud",
    "vpdpwuuds",
    "wbnoinvd",
};

static const char *mnemonic_names[MNEMONICS + ARRAY_LEN(further_mnemonics)]; // sorted
static size_t mnemonic_count;
static pthread_once_t mnemonics_once = PTHREAD_ONCE_INIT;

static int mnemonic_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void mnemonics_collect(void)
{
    for (int i = ZYDIS_MNEMONIC_INVALID + 1; i <= MNEMONICS; i++)
        mnemonic_names[mnemonic_count++] = ZydisMnemonicGetString((ZydisMnemonic)i);
    for (size_t i = 0; i < ARRAY_LEN(further_mnemonics); i++)
        mnemonic_names[mnemonic_count++] = further_mnemonics[i];
    qsort(mnemonic_names, mnemonic_count, sizeof *mnemonic_names, mnemonic_compare);
}

void list_mnemonic_canonical(const char *name, char *out, size_t size)
{
    for (size_t i = 0; i < ARRAY_LEN(condition_prefixes); i++) {
        size_t len = strlen(condition_prefixes[i]);
        for (size_t j = 0; j < ARRAY_LEN(condition_synonyms); j++)
            if (strncmp(name, condition_prefixes[i], len) == 0 &&
                strcmp(name + len, condition_synonyms[j][0]) == 0) {
                snprintf(out, size, "%s%s", condition_prefixes[i], condition_synonyms[j][1]);
                return;
            }
    }
    for (size_t j = 0; j < ARRAY_LEN(mnemonic_synonyms); j++)
        if (strcmp(name, mnemonic_synonyms[j][0]) == 0)
            name = mnemonic_synonyms[j][1];
    snprintf(out, size, "%s", name);
}

bool list_mnemonic_known(const char *word, size_t len)
{
    char name[WORD_MAX], canonical[WORD_MAX];
    if (len >= sizeof name)
        return false;
    pthread_once(&mnemonics_once, mnemonics_collect);
    memcpy(name, word, len);
    name[len] = '\0';
    list_mnemonic_canonical(name, canonical, sizeof canonical);
    const char *key = canonical;
    return bsearch(&key, mnemonic_names, mnemonic_count, sizeof *mnemonic_names,
                   mnemonic_compare) != NULL;
}
