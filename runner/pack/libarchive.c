// SPDX-License-Identifier: MIT
#include "libarchive.h"

#include "util/dynlib.h"
#include "util/mem.h"

#include <string.h>

struct libarchive la;

int libarchive_load(struct err *err)
{
#define NAME(call) #call,
    static const char *const names[] = {LIBARCHIVE_CALLS(NAME)};
    // The versions of its interface that distributions have; then the one that latput was built
    // with.
    static const char *const files[] = {"libarchive.so.13", "libarchive.so", NULL};
    _Static_assert(sizeof la == sizeof names, "a pointer a name");
    if (la.archive_errno)
        return 0;
    void *calls[ARRAY_LEN(names)];
    const struct dynlib library = {"packs need", "libarchive", files, names, ARRAY_LEN(names)};
    if (dynlib_load(&library, calls, err) != 0)
        return -1;
    memcpy(&la, calls, sizeof la);
    return 0;
}
