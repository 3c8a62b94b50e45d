// SPDX-License-Identifier: MIT
// Rules for rows with ring=0. The module has the last word: it runs nothing but its own list.
#include "list_ring0.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *mnemonic, *why;
} refused[] = {
    {"hlt",  "hlt is not measured: with interrupts off it ends the machine"             },
    {"ltr",  "ltr is not measured: with another task register the machine ends"         },
    {"lldt", "lldt is not measured: another table would take away what programs run in" },
    {"invd", "invd is not measured: it loses what caches have not written to memory yet"},
};
static const char efer[] = "wrmsr does not write EFER (0xc0000080): it can end the machine";

static const char *ring0_refuses_word(const char *word, size_t len)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        if (strlen(refused[i].mnemonic) == len && memcmp(refused[i].mnemonic, word, len) == 0)
            return refused[i].why;
    return NULL;
}

// Looks at what the macro is given: mnemonics, and for wrmsr the number of a register.
static const char *ring0_refuses_arguments(const struct list_row *row)
{
    static const unsigned long long EFER = 0xc0000080;
    bool writes = strcmp(row->mnemonic, "wrmsr") == 0;
    const char *why = NULL;
    for (const char *at = row->macro.arguments; *at == ':' && !why;) {
        size_t len = strcspn(++at, ":");
        why = ring0_refuses_word(at, len);
        if (writes && strtoull(at, NULL, 0) == EFER)
            why = efer;
        at += len;
    }
    return why;
}

const char *list_ring0_refuses(const struct list_row *row)
{
    for (int i = 0; i < row->nops && !row->ring0; i++)
        if (row->ops[i].kind == OPERAND_SYSTEM)
            return "a control or debug register takes ring=0";
    if (!row->ring0)
        return NULL;
    const char *why = ring0_refuses_word(row->mnemonic, strlen(row->mnemonic));
    if (why)
        return why;
    if (row->bits != 64 || !row->macro.file || row->tests != TESTS_THROUGHPUT)
        return "a row with ring=0 has a macro, the tests T, and 64 bits: the kernel module runs "
               "only what it was built with";
    return ring0_refuses_arguments(row);
}
