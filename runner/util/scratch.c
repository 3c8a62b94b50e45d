// SPDX-License-Identifier: MIT
// Scratch directories; see scratch.h. The lock is flock() on the directory itself: it ends with the
// process, whatever ends that, and is not handed on to the programs that it starts.
#include "scratch.h"

#include "mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char PREFIX[] = "latput-scratch-"; // and six characters
static const char KEPT[] = ".keep";             // in a directory that outlives its process

struct scratch { // those of this process
    struct scratch *next;
    char *path;
    int lock;
};
static struct scratch *scratches;
static pthread_mutex_t scratches_mutex = PTHREAD_MUTEX_INITIALIZER;

// The directory, locked by us; -1: it is none, another's, or alive. `wait`: until it is free.
static int scratch_lock(int parent, const char *name, int wait)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat about;
    if (fd >= 0 && fstat(fd, &about) == 0 && about.st_uid == geteuid() &&
        flock(fd, wait ? LOCK_EX : LOCK_EX | LOCK_NB) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static void scratch_empty(int fd)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    DIR *directory = copy >= 0 ? fdopendir(copy) : NULL;
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(fd, entry->d_name, 0);
    if (directory)
        closedir(directory);
}

static void scratch_sweep(const char *parent)
{
    DIR *directory = opendir(parent);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        if (strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1) != 0)
            continue;
        int fd = scratch_lock(dirfd(directory), entry->d_name, 0);
        if (fd < 0)
            continue;
        if (faccessat(fd, KEPT, F_OK, 0) != 0) {
            scratch_empty(fd);
            unlinkat(dirfd(directory), entry->d_name, AT_REMOVEDIR);
        }
        close(fd);
    }
    if (directory)
        closedir(directory);
}

char *scratch_begin(struct err *err)
{
    const char *tmp = getenv("TMPDIR");
    const char *parent = tmp && *tmp ? tmp : "/tmp";
    scratch_sweep(parent);
    for (;;) {
        char *path = xasprintf("%s/%sXXXXXX", parent, PREFIX);
        struct stat about;
        if (!mkdtemp(path)) {
            err_set(err,
                    "%s: cannot make a scratch directory: %s; set TMPDIR to a directory that can "
                    "be written",
                    path, strerror(errno));
            free(path);
            return NULL;
        }
        int lock = scratch_lock(AT_FDCWD, path, 1);
        // A sweeper may have taken it for a dead one before the lock was there: then once more.
        if (lock < 0 || fstat(lock, &about) != 0 || about.st_nlink == 0) {
            if (lock >= 0)
                close(lock);
            free(path);
            continue;
        }
        struct scratch *made = xcalloc(1, sizeof *made);
        *made = (struct scratch){.path = path, .lock = lock};
        pthread_mutex_lock(&scratches_mutex);
        made->next = scratches;
        scratches = made;
        pthread_mutex_unlock(&scratches_mutex);
        return path;
    }
}

// The entry of a directory, taken out of the list.
static struct scratch *scratch_take(const char *path)
{
    pthread_mutex_lock(&scratches_mutex);
    struct scratch **at = &scratches;
    while (*at && (*at)->path != path)
        at = &(*at)->next;
    struct scratch *found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&scratches_mutex);
    return found;
}

void scratch_end(char *directory, bool keep)
{
    struct scratch *scratch = directory ? scratch_take(directory) : NULL;
    if (!scratch)
        return;
    if (keep) {
        int mark = openat(scratch->lock, KEPT, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (mark >= 0)
            close(mark);
    } else {
        scratch_empty(scratch->lock);
        rmdir(directory);
    }
    close(scratch->lock);
    free(scratch->path);
    free(scratch);
}
