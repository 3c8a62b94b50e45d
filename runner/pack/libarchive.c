// SPDX-License-Identifier: MIT
#include "libarchive.h"

#include "util/mem.h"

#include <dlfcn.h>
#include <string.h>

struct libarchive la;

int libarchive_load(struct err *err)
{
#define NAME(call) #call,
    static const char *const names[] = {LIBARCHIVE_CALLS(NAME)};
    // The versions of its interface that distributions have; then the one that latput was built
    // with.
    static const char *const files[] = {"libarchive.so.13", "libarchive.so"};
    _Static_assert(sizeof la == sizeof names, "a pointer a name");
    if (la.archive_errno)
        return 0;
    void *library = NULL, *calls[ARRAY_LEN(names)];
    for (size_t i = 0; !library && i < ARRAY_LEN(files); i++)
        library = dlopen(files[i], RTLD_NOW);
    if (!library)
        return err_set(err, "packs need libarchive, which cannot be loaded: %s", dlerror());
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (!(calls[i] = dlsym(library, names[i])))
            return err_set(err, "packs need a newer libarchive: %s", dlerror());
    memcpy(&la, calls, sizeof la);
    return 0;
}
