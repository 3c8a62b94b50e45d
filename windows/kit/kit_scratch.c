// SPDX-License-Identifier: MIT
// Scratch directories and files on the way to their names, in the place of runner/util/scratch.c.
// Directories lie in that of the kit, which goes with all that is in it (kit_place.c). A file is
// marked by an object of its name, which ends with its process.
#include "kit.h"

#include "util/mem.h"
#include "util/scratch_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *scratch_begin(struct err *err)
{
    return scratch_begin_in(getenv("TMPDIR"), err);
}

char *scratch_begin_in(const char *parent, struct err *err)
{
    char *base = xasprintf("%s/latput-scratch", parent), *path = scratch_file_name(base);
    free(base);
    if (mkdir(path, 0700) != 0) {
        err_set(err, "%s: cannot make a scratch directory: %s", path, strerror(errno));
        free(path);
        return NULL;
    }
    scratch_add(path, true, 0);
    return path;
}

static void scratch_empty(const char *directory)
{
    char *pattern = xasprintf("%s/*", directory);
    WIN32_FIND_DATAA entry;
    HANDLE search = FindFirstFileA(pattern, &entry);
    for (BOOL any = search != INVALID_HANDLE_VALUE; any; any = FindNextFileA(search, &entry)) {
        char *path = xasprintf("%s/%s", directory, entry.cFileName);
        unlink(path);
        free(path);
    }
    if (search != INVALID_HANDLE_VALUE)
        FindClose(search);
    free(pattern);
}

void scratch_end(char *directory, bool keep)
{
    struct scratch *scratch = directory ? scratch_find(directory) : NULL;
    if (!scratch)
        return;
    if (!keep) {
        scratch_empty(directory);
        rmdir(directory);
    }
    scratch_forget(scratch);
}

// Removes a file on its way, if its process has ended.
static void scratch_file_sweep(const char *name)
{
    HANDLE mark = kit_mark(scratch_file_own(name), false);
    if (mark)
        CloseHandle(mark);
    else
        scratch_file_remove(name);
}

const char *scratch_file_begin(const char *path)
{
    scratch_files_find(path, scratch_file_sweep);
    char *name = scratch_file_name(path);
    scratch_add(name, false, (intptr_t)kit_mark(scratch_file_own(name), true));
    FILE *file = fopen(name, "wx"); // where none can be made, writing to that name will report it
    if (file)
        fclose(file);
    return name;
}

int scratch_file_end(const char *name, const char *path)
{
    int result = path ? rename(name, path) : 0, error = errno;
    if (!path || result != 0)
        scratch_file_remove(name);
    CloseHandle((HANDLE)scratch_forget(scratch_find(name)));
    errno = error;
    return result;
}

void scratch_files_end(void)
{
    pthread_mutex_lock(&scratches_mutex);
    scratch_files_remove();
    pthread_mutex_unlock(&scratches_mutex);
}

int scratch_keep_directory(const char *path, struct err *err)
{
    struct stat about;
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return err_set(err, "%s: cannot be made: %s", path, strerror(errno));
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
        return err_set(err, "%s: no files can be written there: %s", path, strerror(ENOTDIR));
    return 0;
}
