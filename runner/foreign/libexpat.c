// SPDX-License-Identifier: MIT
#include "libexpat.h"

#include "util/mem.h"

#include <dlfcn.h>
#include <string.h>

struct libexpat xp;

int libexpat_load(struct err *err)
{
#define NAME(call) #call,
    static const char *const names[] = {LIBEXPAT_CALLS(NAME)};
    static const char *const files[] = {"libexpat.so.1", "libexpat.so"};
    _Static_assert(sizeof xp == sizeof names, "a pointer a name");
    if (xp.XML_ParserCreate)
        return 0;
    void *library = NULL, *calls[ARRAY_LEN(names)];
    for (size_t i = 0; !library && i < ARRAY_LEN(files); i++)
        library = dlopen(files[i], RTLD_NOW);
    if (!library)
        return err_set(err, "XML needs libexpat, which cannot be loaded: %s", dlerror());
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (!(calls[i] = dlsym(library, names[i])))
            return err_set(err, "XML needs a newer libexpat: %s", dlerror());
    memcpy(&xp, calls, sizeof xp);
    return 0;
}
