// SPDX-License-Identifier: MIT
// Finding programs; see program.h. execvp() would search in each child anew, and have sh read files
// that the kernel refuses.
#include "program.h"

#include "mem.h"

#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Number of found programs remembered for the current value of PATH; the oldest makes room.
enum { FOUND_MAX = 8 };
static struct {
    pthread_mutex_t lock;
    char *where;
    char *names[FOUND_MAX], *paths[FOUND_MAX];
    int next;
} found = {.lock = PTHREAD_MUTEX_INITIALIZER};

// Returns the absolute path of a file in a directory, since a child may work elsewhere.
static char *program_in(const char *directory, int len, const char *name)
{
    struct stat about;
    char *named = len ? xasprintf("%.*s", len, directory) : xstrdup(".");
    char *absolute = *named == '/' ? NULL : realpath(named, NULL);
    char *path = xasprintf("%s/%s", absolute ? absolute : named, name);
    free(absolute);
    free(named);
    if (stat(path, &about) == 0 && S_ISREG(about.st_mode))
        return path;
    free(path);
    return NULL;
}

static char *program_search(const char *where, const char *name)
{
    char *denied = NULL;
    for (const char *at = where;; at++) {
        int len = (int)strcspn(at, ":");
        char *path = program_in(at, len, name);
        if (path && access(path, X_OK) == 0) {
            free(denied);
            return path;
        }
        if (denied)
            free(path);
        else
            denied = path;
        at += len;
        if (!*at)
            return denied;
    }
}

static void program_forget(const char *where)
{
    for (int i = 0; i < FOUND_MAX; i++) {
        free(found.names[i]);
        free(found.paths[i]);
        found.names[i] = found.paths[i] = NULL;
    }
    free(found.where);
    found.where = xstrdup(where);
}

// Remembers a path; takes ownership of it.
static void program_keep(const char *name, char *path)
{
    int i = found.next;
    found.next = (i + 1) % FOUND_MAX;
    free(found.names[i]);
    free(found.paths[i]);
    found.names[i] = xstrdup(name);
    found.paths[i] = path;
}

char *program_find(const char *name)
{
    if (!*name || strchr(name, '/'))
        return *name ? xstrdup(name) : NULL;
    char *path = NULL;
    pthread_mutex_lock(&found.lock);
    const char *where = getenv("PATH");
    where = where ? where : "/usr/local/bin:/usr/bin:/bin";
    if (!found.where || strcmp(found.where, where) != 0)
        program_forget(where);
    for (int i = 0; i < FOUND_MAX && !path; i++)
        if (found.names[i] && strcmp(found.names[i], name) == 0)
            path = found.paths[i];
    if (!path && (path = program_search(where, name)))
        program_keep(name, path);
    path = path ? xstrdup(path) : NULL;
    pthread_mutex_unlock(&found.lock);
    return path;
}

static bool program_begin(const char *path, unsigned char head[EI_NIDENT])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = fd >= 0 ? read(fd, head, EI_NIDENT) : -1;
    if (fd >= 0)
        close(fd);
    return got == EI_NIDENT && memcmp(head, ELFMAG, SELFMAG) == 0;
}

bool program_is_elf(const char *path)
{
    unsigned char head[EI_NIDENT];
    return program_begin(path, head);
}

bool program_is_32(const char *path)
{
    unsigned char head[EI_NIDENT];
    return program_begin(path, head) && head[EI_CLASS] == ELFCLASS32;
}
