// SPDX-License-Identifier: MIT
#include "libexpat.h"

#include "util/dynlib.h"
#include "util/mem.h"

#include <string.h>

struct libexpat xp;

int libexpat_load(struct err *err)
{
#define NAME(call) #call,
    static const char *const names[] = {LIBEXPAT_CALLS(NAME)};
    static const char *const files[] = {"libexpat.so.1", "libexpat.so", NULL};
    _Static_assert(sizeof xp == sizeof names, "a pointer a name");
    if (xp.XML_ParserCreate)
        return 0;
    void *calls[ARRAY_LEN(names)];
    const struct dynlib library = {"XML needs", "libexpat", files, names, ARRAY_LEN(names)};
    if (dynlib_load(&library, calls, err) != 0)
        return -1;
    memcpy(&xp, calls, sizeof xp);
    return 0;
}
