// SPDX-License-Identifier: MIT
// Landlock; see confine.h. The C library has no functions for it, and older headers lack the
// numbers.
#include "confine.h"

#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

// Numbers of include/uapi/linux/landlock.h and asm-generic/unistd.h, the same on all machines.
enum { SYS_CREATE_RULESET = 444, SYS_ADD_RULE = 445, SYS_RESTRICT_SELF = 446, PATH_BENEATH = 1 };
enum {
    ACCESS_WRITE_FILE = 1 << 1,
    ACCESS_READ_FILE = 1 << 2,
    ACCESS_MAKE_REG = 1 << 8,
    ACCESS_HANDLED = ACCESS_WRITE_FILE | ACCESS_READ_FILE | ACCESS_MAKE_REG,
};
struct confine_rules {
    uint64_t handled_access_fs;
};
struct confine_rule {
    uint64_t allowed_access;
    int32_t parent_fd;
} __attribute__((packed));

static int confine_allow(int rules, const char *path, uint64_t access)
{
    struct stat about;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about) != 0) {
        if (fd >= 0)
            close(fd);
        return errno == ENOENT || errno == ENOTDIR || errno == EACCES ? 0 : -1;
    }
    if (!S_ISDIR(about.st_mode))
        access &= ACCESS_READ_FILE | ACCESS_WRITE_FILE; // a file has no files below it
    const struct confine_rule rule = {access, fd};
    long status = syscall(SYS_ADD_RULE, rules, PATH_BENEATH, &rule, 0);
    close(fd);
    return (int)status;
}

// Allows the directories of a path list: programs load libraries from the paths of the environment.
static int confine_allow_listed(int rules, const char *paths)
{
    int status = 0;
    while (paths && *paths && status == 0) {
        size_t len = strcspn(paths, ":");
        char *path = xasprintf("%.*s", (int)len, paths);
        if (*path == '/' && path[1])
            status = confine_allow(rules, path, ACCESS_READ_FILE);
        free(path);
        paths += len + (paths[len] == ':');
    }
    return status;
}

int confine_open(const char *const *readable, const char *writable)
{
    static const char programs[] = "/usr:/bin:/lib:/lib32:/lib64:/libx32:/opt:/nix/store:/gnu/store"
                                   ":/etc/ld.so.cache:/etc/ld.so.preload";
    const struct confine_rules handled = {ACCESS_HANDLED};
    int rules = (int)syscall(SYS_CREATE_RULESET, &handled, sizeof handled, 0);
    if (rules < 0)
        return -1;
    fcntl(rules, F_SETFD, FD_CLOEXEC);
    int status = confine_allow_listed(rules, programs);
    if (status == 0)
        status = confine_allow_listed(rules, getenv("PATH"));
    if (status == 0)
        status = confine_allow_listed(rules, getenv("LD_LIBRARY_PATH"));
    for (size_t i = 0; readable[i] && status == 0; i++)
        status = confine_allow(rules, readable[i], ACCESS_READ_FILE);
    if (status == 0)
        status = confine_allow(rules, writable, ACCESS_HANDLED);
    if (status == 0)
        return rules;
    close(rules);
    return -1;
}

int confine_enter(int fd)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return 0; // a sandbox that refuses this: as without Landlock
    return (int)syscall(SYS_RESTRICT_SELF, fd, 0);
}
