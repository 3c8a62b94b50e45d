// SPDX-License-Identifier: MIT
#include "dynlib.h"

#include <dlfcn.h>

int dynlib_load(const struct dynlib *library, void **calls, struct err *err)
{
    void *handle = NULL;
    for (int i = 0; !handle && library->files[i]; i++)
        handle = dlopen(library->files[i], RTLD_NOW);
    if (!handle)
        return err_set(err, "%s %s, which cannot be loaded: %s", library->who, library->name,
                       dlerror());
    for (size_t i = 0; i < library->n; i++)
        if (!(calls[i] = dlsym(handle, library->names[i])))
            return err_set(err, "%s a newer %s: %s", library->who, library->name, dlerror());
    return 0;
}
