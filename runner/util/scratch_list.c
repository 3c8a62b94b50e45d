// SPDX-License-Identifier: MIT
// The list of scratch directories and files; see scratch_internal.h.
#include "scratch_internal.h"

#include "clock.h"
#include "mem.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static const char UNDER_WAY[] = ".tmp"; // and RANDOM_DIGITS hexadecimal digits
enum { RANDOM_DIGITS = 16 };

struct scratch *volatile scratches;
pthread_mutex_t scratches_mutex = PTHREAD_MUTEX_INITIALIZER;

void scratch_add(char *path, bool directory, intptr_t lock)
{
    struct scratch *made = xcalloc(1, sizeof *made);
    *made = (struct scratch){.path = path, .directory = directory, .lock = lock};
    pthread_mutex_lock(&scratches_mutex);
    made->next = scratches;
    scratches = made;
    pthread_mutex_unlock(&scratches_mutex);
}

struct scratch *scratch_find(const char *path)
{
    pthread_mutex_lock(&scratches_mutex);
    struct scratch *found = scratches;
    while (found && found->path != path)
        found = found->next;
    pthread_mutex_unlock(&scratches_mutex);
    return found;
}

intptr_t scratch_forget(struct scratch *scratch)
{
    pthread_mutex_lock(&scratches_mutex);
    if (scratches == scratch)
        scratches = scratch->next;
    for (struct scratch *at = scratches; at; at = at->next)
        if (at->next == scratch)
            at->next = scratch->next;
    pthread_mutex_unlock(&scratches_mutex);
    intptr_t lock = scratch->lock;
    free(scratch->path);
    free(scratch);
    return lock;
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
            err_set(err,
                    "%s: the scratch directory was removed while it was in use; begin again, and "
                    "keep what cleans up away from it",
                    at->path);
    }
    pthread_mutex_unlock(&scratches_mutex);
    return gone;
}

char *scratch_file_name(const char *path)
{
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        random = (uint64_t)clock_now_ns();
    return xasprintf("%s%s%0*llx", path, UNDER_WAY, RANDOM_DIGITS, (unsigned long long)random);
}

const char *scratch_file_own(const char *name)
{
    return name + strlen(name) - RANDOM_DIGITS;
}

void scratch_files_find(const char *path, void (*sweep)(const char *name))
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    char *parent = slash ? xasprintf("%.*s", (int)(base - path), path) : xstrdup(".");
    size_t len = strlen(base), ending = sizeof UNDER_WAY - 1;
    DIR *directory = opendir(parent);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (strncmp(entry->d_name, base, len) == 0 &&
            strncmp(entry->d_name + len, UNDER_WAY, ending) == 0 &&
            strlen(entry->d_name + len + ending) == RANDOM_DIGITS &&
            strspn(entry->d_name + len + ending, "0123456789abcdef") == RANDOM_DIGITS) {
            char *name = xasprintf("%.*s%s", (int)(base - path), path, entry->d_name);
            sweep(name);
            free(name);
        }
    if (directory)
        closedir(directory);
    free(parent);
}

void scratch_file_remove(const char *name)
{
    static const char *const beside[] = {"", "-journal", "-wal", "-shm"};
    char file[PATH_MAX];
    size_t len = strlen(name);
    for (size_t i = 0; i < ARRAY_LEN(beside); i++) {
        size_t more = strlen(beside[i]) + 1;
        if (len + more > sizeof file) // no such file can be
            continue;
        memcpy(file, name, len + 1);
        memcpy(file + len, beside[i], more);
        unlink(file);
    }
}

void scratch_files_remove(void)
{
    for (const struct scratch *at = scratches; at; at = at->next)
        if (!at->directory)
            scratch_file_remove(at->path);
}
