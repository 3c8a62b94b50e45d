// SPDX-License-Identifier: MIT
// Calls of Linux for which there is nothing here: they fail, and who called says what follows. What
// cannot work without them is refused before (kit_main.c).
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int lacking(void)
{
    errno = ENOSYS;
    return -1;
}

int dladdr(const void *at, Dl_info *info)
{
    (void)at, (void)info;
    return 0;
}

void *dlopen(const char *file, int flags)
{
    (void)file, (void)flags;
    return NULL;
}

void *dlsym(void *library, const char *name)
{
    (void)library, (void)name;
    return NULL;
}

int fork(void)
{
    return lacking();
}

int kill(int pid, int number)
{
    (void)pid, (void)number;
    return lacking();
}

int memfd_create(const char *name, unsigned flags)
{
    (void)name, (void)flags;
    return lacking();
}

int pipe2(int fds[2], int flags)
{
    (void)fds, (void)flags;
    return lacking();
}

ssize_t pread(int fd, void *to, size_t bytes, off_t from)
{
    (void)fd, (void)to, (void)bytes, (void)from;
    return lacking();
}

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t to)
{
    (void)fd, (void)from, (void)bytes, (void)to;
    return lacking();
}

ssize_t readlink(const char *path, char *to, size_t bytes)
{
    (void)path, (void)to, (void)bytes;
    return lacking();
}

ssize_t send(int fd, const void *from, size_t bytes, int flags)
{
    (void)fd, (void)from, (void)bytes, (void)flags;
    return lacking();
}

int setsid(void)
{
    return lacking();
}

long syscall(long number, ...)
{
    (void)number;
    return lacking();
}

int waitpid(int pid, int *status, int flags)
{
    (void)pid, (void)status, (void)flags;
    return lacking();
}
