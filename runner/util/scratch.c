// SPDX-License-Identifier: MIT
// Scratch directories; see scratch.h. The lock is flock() on the directory itself: it ends with the
// process, whatever ends that, and is not handed on to the programs that it starts.
#include "scratch_internal.h"

#include "mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char PREFIX[] = "latput-scratch-"; // and six characters
static const char KEPT[] = ".keep";             // file in a directory that outlives its process

struct made_directory {
    struct made_directory *next;
    char *path;
    pid_t pid; // the process that made it; its forks remove nothing
};
static struct made_directory *volatile made_directories; // the newest first: children, then parents

// Locks a scratch directory; `wait` until it is free. Returns -1 if it is none, another user's, or
// in use.
static int scratch_lock(int parent, const char *name, int wait)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat about;
    if (fd >= 0 && fstat(fd, &about) == 0 && about.st_uid == geteuid() &&
        flock(fd, wait ? LOCK_EX : LOCK_EX | LOCK_NB) == 0)
        return fd;
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

// Removes the files of a directory, by system calls alone since signal handlers call it.
static void scratch_empty(int fd)
{
    struct entry { // layout of getdents64(2)
        uint64_t inode;
        int64_t offset;
        unsigned short length;
        unsigned char type;
        char name[];
    };
    _Alignas(struct entry) char bytes[4096];
    int removed;
    do { // again, since removing may hide entries that come later
        removed = 0;
        lseek(fd, 0, SEEK_SET);
        for (long got; (got = syscall(SYS_getdents64, fd, bytes, sizeof bytes)) > 0;)
            for (long at = 0; at < got;) {
                const struct entry *entry = (const struct entry *)(const void *)(bytes + at);
                if (strcmp(entry->name, ".") != 0 && strcmp(entry->name, "..") != 0)
                    removed += unlinkat(fd, entry->name, 0) == 0;
                at += entry->length;
            }
    } while (removed);
}

// Removes the directories that are empty, by system calls alone.
static void made_directories_remove(void)
{
    for (const struct made_directory *at = made_directories; at; at = at->next)
        if (at->pid == getpid())
            rmdir(at->path);
}

// Ends the process as the signal would, after removing its scratch directories and files. NASM and
// the linker, which end with it, may write into them until then.
static void scratch_stopped(int signal_number)
{
    enum { TRIES = 200, PAUSE_NS = 5000000 };
    scratch_files_remove();
    for (const struct scratch *at = scratches; at; at = at->next)
        for (int i = 0; i < TRIES && at->directory; i++) {
            scratch_empty((int)at->lock);
            if (rmdir(at->path) == 0 || errno == ENOENT)
                break;
            nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        }
    made_directories_remove(); // scratch directories may lie in them
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

// Users send these, and limits: a reader that has gone (PIPE), time that is over (XCPU).
static const int STOPPING[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU};

// Installs the handler for signals that have none: they would leave the directory in place.
static void scratch_watch(void)
{
    for (size_t i = 0; i < ARRAY_LEN(STOPPING); i++) {
        struct sigaction old;
        if (sigaction(STOPPING[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(STOPPING[i], &(struct sigaction){.sa_handler = scratch_stopped}, NULL);
    }
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

static char *scratch_make(const char *parent, struct err *err)
{
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
        if (lock < 0 && errno != ENOENT) {
            err_set(err, "%s: cannot be opened though just made: %s%s", path, strerror(errno),
                    errno == EACCES ? "; check the umask (022)" : "");
            rmdir(path);
            free(path);
            return NULL;
        }
        // Another process may have removed it as abandoned before it was locked: try again.
        if (lock < 0 || fstat(lock, &about) != 0 || about.st_nlink == 0) {
            if (lock >= 0)
                close(lock);
            free(path);
            continue;
        }
        scratch_add(path, true, lock);
        return path;
    }
}

// Holds signals back while a directory is made, until the handler knows of it.
static void scratch_hold(sigset_t *before)
{
    sigset_t stopping;
    sigemptyset(&stopping);
    for (size_t i = 0; i < ARRAY_LEN(STOPPING); i++)
        sigaddset(&stopping, STOPPING[i]);
    scratch_watch();
    pthread_sigmask(SIG_BLOCK, &stopping, before);
}

char *scratch_begin(struct err *err)
{
    const char *tmp = getenv("TMPDIR");
    return scratch_begin_in(tmp && *tmp ? tmp : "/tmp", err);
}

char *scratch_begin_in(const char *parent, struct err *err)
{
    sigset_t before;
    scratch_sweep(parent);
    scratch_hold(&before);
    char *path = scratch_make(parent, err);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return path;
}

void scratch_end(char *directory, bool keep)
{
    struct scratch *scratch = directory ? scratch_find(directory) : NULL;
    if (!scratch)
        return;
    if (keep) {
        int mark = openat((int)scratch->lock, KEPT, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (mark >= 0)
            close(mark);
    } else {
        scratch_empty((int)scratch->lock);
        rmdir(directory);
    }
    close((int)scratch_forget(scratch));
}

// Removes a file on its way, if its process has ended.
static void scratch_file_sweep(const char *name)
{
    int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat about;
    if (fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0)
        scratch_file_remove(name);
    if (fd >= 0)
        close(fd);
}

// Makes and locks a file of a new name (*name: freed by the caller). mkstemp() would make it
// private. Returns -1 if none can be made; writing to that name will report it.
static int scratch_file_make(const char *path, char **name)
{
    for (;;) {
        struct stat about;
        *name = scratch_file_name(path);
        int fd = open(*name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            return -1;
        // Another process may have removed it as abandoned before it was locked: try again.
        if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
            fstat(fd, &about) == 0 && about.st_nlink > 0)
            return fd;
        if (fd >= 0)
            close(fd);
        free(*name);
    }
}

const char *scratch_file_begin(const char *path)
{
    sigset_t before;
    char *name;
    scratch_files_find(path, scratch_file_sweep);
    scratch_hold(&before);
    int lock = scratch_file_make(path, &name);
    scratch_add(name, false, lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return name;
}

int scratch_file_end(const char *name, const char *path)
{
    int result = path ? rename(name, path) : 0, error = errno;
    if (!path || result != 0)
        scratch_file_remove(name);
    int lock = (int)scratch_forget(scratch_find(name));
    if (lock >= 0)
        close(lock);
    errno = error;
    return result;
}

static int made_directory_make(const char *path)
{
    if (mkdir(path, 0777) != 0)
        return errno == EEXIST ? 0 : -1;
    struct made_directory *made = xcalloc(1, sizeof *made);
    *made = (struct made_directory){.path = xstrdup(path), .pid = getpid()};
    pthread_mutex_lock(&scratches_mutex);
    if (!made_directories)
        atexit(made_directories_remove);
    made->next = made_directories;
    made_directories = made;
    pthread_mutex_unlock(&scratches_mutex);
    return 0;
}

// Returns 0 if files can be made in the directory, else -1 with errno.
static int kept_directory_check(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return -1;
    if (!S_ISDIR(about.st_mode)) {
        errno = ENOTDIR;
        return -1;
    }
    return access(path, W_OK | X_OK);
}

int scratch_keep_directory(const char *path, struct err *err)
{
    sigset_t before;
    scratch_hold(&before);
    int status = made_directory_make(path), error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status != 0)
        return err_set(err, "%s: cannot be made: %s", path, strerror(error));
    if (kept_directory_check(path) != 0)
        return err_set(err, "%s: no files can be written there: %s%s", path, strerror(errno),
                       errno == EACCES ? "; check its permissions, and the umask (022)" : "");
    return 0;
}
