// SPDX-License-Identifier: MIT
// The place of a database: the kind of its file system, and its users; see store_internal.h. A
// write-ahead log has an index in memory that all processes must share. Machines that mount the
// same network file system do not share memory, and programs behind FUSE and 9p need not: two of
// them would damage the file.
#include "store_internal.h"

#include "util/mem.h"
#include "util/scratch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

// Types of file systems, from the kernel's linux/magic.h and the file systems' own headers.
bool store_is_remote_type(unsigned long type)
{
    static const uint32_t remote[] = {
        0x6969,     // NFS
        0x517b,     // SMB
        0xff534d42, // CIFS
        0xfe534d42, // SMB2
        0x564c,     // NCP
        0x5346414f, // AFS
        0x6b414653, // kAFS
        0x73757245, // Coda
        0x00c36400, // Ceph
        0x0bd00bd0, // Lustre
        0x47504653, // GPFS
        0x01161970, // GFS2
        0x7461636f, // OCFS2
        0x19830326, // BeeGFS
        0x01021997, // 9p
        0x65735546, // FUSE
        0x786f4256, // vboxsf
    };
    for (size_t i = 0; i < ARRAY_LEN(remote); i++)
        if ((uint32_t)type == remote[i])
            return true;
    return false;
}

static char *place_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? xasprintf("%.*s", (int)(slash - path + 1), path) : xstrdup(".");
}

// The lock is on the directory: closing a second descriptor of the file would drop SQLite's own
// locks. If it cannot be locked, or somebody keeps it locked, files are not removed from it. A
// scratch directory of latput is locked all the time, so this does not wait.
int store_place_hold(const char *path)
{
    enum { WAIT_MS = 1000 };
    if (scratch_has(path))
        return -1;
    char *directory = place_directory(path);
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(directory);
    for (int ms = 0; fd >= 0; ms++) {
        if (flock(fd, LOCK_SH | LOCK_NB) == 0)
            return fd;
        if (ms == WAIT_MS) {
            close(fd);
            return -1;
        }
        usleep(1000);
    }
    return -1;
}

bool store_place_alone(int place)
{
    return place >= 0 && flock(place, LOCK_EX | LOCK_NB) == 0;
}

bool store_is_remote(const char *path)
{
    struct statfs about;
    int got = statfs(path, &about);
    if (got != 0) {
        char *directory = place_directory(path);
        got = statfs(directory, &about);
        free(directory);
    }
    return got == 0 && store_is_remote_type((unsigned long)about.f_type);
}
