// SPDX-License-Identifier: MIT
// Scratch directories and files on the way to their names, in the place of runner/util/scratch.c.
// Directories lie in that of the kit, which goes with all that is in it (kit_place.c). A file is
// marked by an object of its name, which ends with its process.
#include "kit.h"

#include "util/mem.h"
#include "util/scratch.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static const char UNDER_WAY[] = ".tmp"; // and KIT_DIGITS hexadecimal digits

// Suffixes of a file on its way to its name, and of what SQLite puts beside a database.
static const char *const BESIDE[] = {"", "-journal", "-wal", "-shm"};

struct scratch {
    struct scratch *next;
    char *path;
    HANDLE mark;    // of a file
    bool directory; // of this process, until its end
};
static struct scratch *scratches;
static pthread_mutex_t scratches_mutex = PTHREAD_MUTEX_INITIALIZER;

static uint64_t scratch_random(void)
{
    uint64_t random = 0;
    getrandom(&random, sizeof random, 0);
    return random;
}

static struct scratch *scratch_add(char *path, bool directory)
{
    struct scratch *made = xcalloc(1, sizeof *made);
    *made = (struct scratch){.path = path, .directory = directory};
    pthread_mutex_lock(&scratches_mutex);
    made->next = scratches;
    scratches = made;
    pthread_mutex_unlock(&scratches_mutex);
    return made;
}

// Takes an entry out of the list; NULL: there is none.
static struct scratch *scratch_take(const char *path)
{
    pthread_mutex_lock(&scratches_mutex);
    struct scratch **at = &scratches, *found;
    while (*at && (*at)->path != path)
        at = &(*at)->next;
    found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&scratches_mutex);
    return found;
}

static void scratch_free(struct scratch *scratch)
{
    if (scratch->mark)
        CloseHandle(scratch->mark);
    free(scratch->path);
    free(scratch);
}

char *scratch_begin(struct err *err)
{
    return scratch_begin_in(getenv("TMPDIR"), err);
}

char *scratch_begin_in(const char *parent, struct err *err)
{
    char *path =
        xasprintf("%s/latput-scratch-%016llx", parent, (unsigned long long)scratch_random());
    if (mkdir(path, 0700) != 0) {
        err_set(err, "%s: cannot make a scratch directory: %s", path, strerror(errno));
        free(path);
        return NULL;
    }
    return scratch_add(path, true)->path;
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
    struct scratch *scratch = directory ? scratch_take(directory) : NULL;
    if (!scratch)
        return;
    if (!keep) {
        scratch_empty(directory);
        rmdir(directory);
    }
    scratch_free(scratch);
}

static bool scratch_holds(const struct scratch *scratch, const char *file)
{
    size_t len = strlen(scratch->path);
    return scratch->directory && strncmp(scratch->path, file, len) == 0 &&
           (file[len] == '/' || !file[len]);
}

bool scratch_has(const char *file)
{
    bool has = false;
    pthread_mutex_lock(&scratches_mutex);
    for (const struct scratch *at = scratches; at && !has; at = at->next)
        has = scratch_holds(at, file);
    pthread_mutex_unlock(&scratches_mutex);
    return has;
}

bool scratch_is_gone(const char *file, struct err *err)
{
    bool gone = false;
    pthread_mutex_lock(&scratches_mutex);
    for (const struct scratch *at = scratches; at && !gone; at = at->next) {
        gone = scratch_holds(at, file) && access(at->path, F_OK) != 0;
        if (gone)
            err_set(err, "%s: the scratch directory was removed while it was in use; begin again",
                    at->path);
    }
    pthread_mutex_unlock(&scratches_mutex);
    return gone;
}

static void scratch_file_remove(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(BESIDE); i++) {
        char *beside = xasprintf("%s%s", name, BESIDE[i]);
        unlink(beside);
        free(beside);
    }
}

// Removes what ended processes left on its way to `path`.
static void scratch_file_sweep(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    char *pattern = xasprintf("%s%s*", path, UNDER_WAY);
    size_t before = strlen(base) + sizeof UNDER_WAY - 1;
    WIN32_FIND_DATAA entry;
    HANDLE search = FindFirstFileA(pattern, &entry);
    for (BOOL any = search != INVALID_HANDLE_VALUE; any; any = FindNextFileA(search, &entry)) {
        const char *digits = entry.cFileName + before;
        if (strlen(entry.cFileName) != before + KIT_DIGITS ||
            strspn(digits, "0123456789abcdef") != KIT_DIGITS)
            continue;
        HANDLE mark = kit_mark(digits, false);
        if (mark) {
            CloseHandle(mark);
            continue;
        }
        char *file = xasprintf("%.*s%s", (int)(base - path), path, entry.cFileName);
        scratch_file_remove(file);
        free(file);
    }
    if (search != INVALID_HANDLE_VALUE)
        FindClose(search);
    free(pattern);
}

const char *scratch_file_begin(const char *path)
{
    scratch_file_sweep(path);
    char *name =
        xasprintf("%s%s%0*llx", path, UNDER_WAY, KIT_DIGITS, (unsigned long long)scratch_random());
    struct scratch *made = scratch_add(name, false);
    made->mark = kit_mark(scratch_file_own(name), true);
    FILE *file = fopen(name, "wx"); // where none can be made, writing to that name will report it
    if (file)
        fclose(file);
    return name;
}

const char *scratch_file_own(const char *name)
{
    return name + strlen(name) - KIT_DIGITS;
}

int scratch_file_end(const char *name, const char *path)
{
    struct scratch *scratch = scratch_take(name);
    int result = path ? rename(name, path) : 0, error = errno;
    if (!path || result != 0)
        scratch_file_remove(name);
    scratch_free(scratch);
    errno = error;
    return result;
}

void scratch_files_end(void)
{
    pthread_mutex_lock(&scratches_mutex);
    for (const struct scratch *at = scratches; at; at = at->next)
        if (!at->directory)
            scratch_file_remove(at->path);
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
