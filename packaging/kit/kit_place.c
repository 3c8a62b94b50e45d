// SPDX-License-Identifier: MIT
// Places of a kit's directory. A directory is locked by flock() while its process lives, so that
// the next kit recognises and removes what a killed one has left.
#include "kit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const char PREFIX[] = "latput-kit-"; // and six characters
static char reasons[1024];

static void place_refuse(const char *parent, const char *why)
{
    size_t len = strlen(reasons);
    snprintf(reasons + len, sizeof reasons - len, "%s%s: %s", len ? "; " : "", parent, why);
}

const char *kit_place_reasons(void)
{
    return reasons;
}

static void remove_tree(int parent, const char *name);

// Removes what is in the directory, and closes it.
static void remove_inside(int fd)
{
    DIR *directory = fdopendir(fd);
    if (!directory) {
        close(fd);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(directory));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            unlinkat(fd, entry->d_name, 0) != 0)
            remove_tree(fd, entry->d_name);
    closedir(directory);
}

static void remove_tree(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        remove_inside(fd);
    unlinkat(parent, name, AT_REMOVEDIR);
}

// Removes the directories of kits whose processes were killed.
static void place_sweep(const char *parent)
{
    DIR *directory = opendir(parent);
    for (const struct dirent *entry; directory && (entry = readdir(directory));) {
        struct stat about;
        if (strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1) != 0)
            continue;
        int fd = openat(dirfd(directory), entry->d_name,
                        O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && fstat(fd, &about) == 0 && about.st_uid == geteuid() &&
            flock(fd, LOCK_EX | LOCK_NB) == 0)
            remove_tree(dirfd(directory), entry->d_name);
        if (fd >= 0)
            close(fd);
    }
    if (directory)
        closedir(directory);
}

// Makes and locks the directory. mkdtemp() takes no name that is there, whosever it is.
static bool place_make(struct kit_place *place)
{
    struct stat about;
    do {
        snprintf(place->directory, sizeof place->directory, "%s/%sXXXXXX", place->parent, PREFIX);
        if (!mkdtemp(place->directory)) {
            place_refuse(place->parent, strerror(errno));
            return false;
        }
        place->fd = open(place->directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        // Another kit may have removed it as abandoned before it was locked: try again.
    } while (place->fd < 0 || flock(place->fd, LOCK_EX) != 0 || fstat(place->fd, &about) != 0 ||
             about.st_nlink == 0);
    return true;
}

// Returns true if somebody else could put another directory in the place of ours: the owner of the
// parent, or anybody where all may write and names are not protected. In a user namespace owners
// that it does not know, root among them, are 65534.
static bool place_is_foreign(const char *parent)
{
    enum { UNKNOWN = 65534 };
    struct stat about;
    if (stat(parent, &about) != 0)
        return true;
    return (about.st_uid != 0 && about.st_uid != geteuid() && about.st_uid != UNKNOWN) ||
           (about.st_mode & S_IWOTH && !(about.st_mode & S_ISVTX));
}

static bool place_take(const char *parent, struct kit_place *place)
{
    struct statvfs about;
    if (!realpath(parent, place->parent)) {
        place_refuse(parent, strerror(errno));
        return false;
    }
    if (statvfs(place->parent, &about) == 0 && about.f_flag & ST_NOEXEC) {
        place_refuse(place->parent, "no programs may run there (noexec)");
        return false;
    }
    if (place_is_foreign(place->parent)) {
        place_refuse(place->parent, "somebody else could replace what is there");
        return false;
    }
    place_sweep(place->parent);
    return place_make(place);
}

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return written;
}

// Gets mounts of this process alone: as root, or as the same user in a user namespace.
static bool own_mounts(void)
{
    char users[64], groups[64];
    if (unshare(CLONE_NEWNS) != 0) {
        snprintf(users, sizeof users, "%u %u 1", geteuid(), geteuid());
        snprintf(groups, sizeof groups, "%u %u 1", getegid(), getegid());
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 ||
            !write_text("/proc/self/setgroups", "deny") ||
            !write_text("/proc/self/uid_map", users) || !write_text("/proc/self/gid_map", groups))
            return false;
    }
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static bool place_mount(struct kit_place *place)
{
    if (mount("latput", place->parent, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0700") != 0)
        return false;
    place->mounted = true;
    return place_make(place);
}

// Tells whether a directory is there and has nothing in it that a mount would hide.
static bool directory_is_empty(const char *path)
{
    struct stat about;
    int n = 0;
    DIR *directory = lstat(path, &about) == 0 && S_ISDIR(about.st_mode) ? opendir(path) : NULL;
    if (!directory)
        return false;
    while (readdir(directory))
        n++;
    closedir(directory);
    return n <= 2;
}

// Mounts over an empty directory of the root, where none can be made.
static bool place_over_empty(struct kit_place *place)
{
    DIR *root = opendir("/");
    bool taken = false;
    for (const struct dirent *entry; !taken && root && (entry = readdir(root));) {
        snprintf(place->parent, sizeof place->parent, "/%s", entry->d_name);
        taken = directory_is_empty(place->parent) && place_mount(place);
    }
    if (root)
        closedir(root);
    return taken;
}

// Mounts a file system in memory, which nobody else sees: on a directory of its own if it may make
// one.
static bool place_in_memory(struct kit_place *place)
{
    static const char *const parents[] = {"/dev/shm", "/tmp", "/var/tmp", "."};
    char resolved[sizeof place->parent];
    if (!own_mounts()) {
        place_refuse("memory", "no mount is allowed");
        return false;
    }
    for (size_t i = 0; i < sizeof parents / sizeof *parents; i++) {
        if (!realpath(parents[i], resolved))
            continue;
        snprintf(place->parent, sizeof place->parent, "%.4000s/%sXXXXXX", resolved, PREFIX);
        if (!mkdtemp(place->parent))
            continue;
        place->made = true;
        if (place_mount(place))
            return true;
        rmdir(place->parent);
        place->made = false;
    }
    if (place_over_empty(place))
        return true;
    place_refuse("memory", "nothing can be mounted");
    return false;
}

bool kit_place_next(const struct kit_file *file, struct kit_place *place)
{
    static int next;
    char user[64], own[sizeof file->path];
    snprintf(user, sizeof user, "/run/user/%u", geteuid());
    snprintf(own, sizeof own, "%s", file->path);
    char *slash = strrchr(own, '/');
    if (slash)
        slash[slash == own] = '\0';
    const char *const parents[] = {
        getenv("TMPDIR"), "/tmp", "/dev/shm", "/var/tmp", user, ".", own};
    while (next < (int)(sizeof parents / sizeof *parents)) {
        const char *parent = parents[next++];
        if (parent && *parent && place_take(parent, place))
            return true;
    }
    return next++ == (int)(sizeof parents / sizeof *parents) && place_in_memory(place);
}

void kit_place_remove(struct kit_place *place)
{
    remove_tree(AT_FDCWD, place->directory);
    close(place->fd);
    if (place->mounted) {
        umount2(place->parent, MNT_DETACH);
        if (place->made)
            rmdir(place->parent);
    }
}
