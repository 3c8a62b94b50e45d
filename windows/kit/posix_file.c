// SPDX-License-Identifier: MIT
// Files by the names of Linux; see ../README.md. Paths have slashes: the system takes them, too.
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>

#include <windows.h>

#undef fopen
#undef open
#undef rename

// Files of Linux's kernel are not there, even where wine would find those of the system below it.
static bool path_is_of_linux(const char *path)
{
    static const char *const roots[] = {"/proc/", "/sys/", "/dev/"};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (strncmp(path, roots[i], strlen(roots[i])) == 0)
            return true;
    return false;
}

FILE *posix_fopen(const char *path, const char *mode)
{
    char known[8] = "";
    int flags = strchr(mode, 'r') ? O_RDONLY : O_WRONLY | O_CREAT;
    if (strchr(mode, '+'))
        flags = (flags & O_CREAT) | O_RDWR;
    if (flags & O_CREAT)
        flags |= strchr(mode, 'x') ? O_EXCL : strchr(mode, 'a') ? O_APPEND : O_TRUNC;
    int fd = posix_open(path, flags | O_CLOEXEC, 0666);
    snprintf(known, sizeof known, "%c%sb", *mode, strchr(mode, '+') ? "+" : "");
    FILE *file = fd >= 0 ? _fdopen(fd, known) : NULL;
    if (!file && fd >= 0)
        close(fd);
    return file;
}

int posix_open(const char *path, int flags, ...)
{
    if (path_is_of_linux(path) || flags & O_DIRECTORY) {
        errno = ENOENT;
        return -1;
    }
    return _open(path, flags | O_BINARY, _S_IREAD | _S_IWRITE);
}

int posix_rename(const char *from, const char *to)
{
    if (MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING))
        return 0;
    errno = GetLastError() == ERROR_FILE_NOT_FOUND ? ENOENT : EACCES;
    return -1;
}

int getc_unlocked(FILE *file)
{
    return _getc_nolock(file);
}

int fsync(int fd)
{
    return _commit(fd);
}

int fchmod(int fd, int mode)
{
    (void)fd, (void)mode;
    return 0;
}

char *realpath(const char *path, char *resolved)
{
    char whole[MAX_PATH + 1];
    if (!_fullpath(whole, path, sizeof whole) || access(whole, F_OK) != 0) {
        errno = ENOENT;
        return NULL;
    }
    for (char *at = whole; *at; at++)
        if (*at == '\\')
            *at = '/';
    return resolved ? strcpy(resolved, whole) : strdup(whole);
}

int statvfs(const char *path, struct statvfs *about)
{
    ULARGE_INTEGER left;
    if (!GetDiskFreeSpaceExA(path, &left, NULL, NULL))
        return -1;
    *about = (struct statvfs){.f_bavail = left.QuadPart};
    return 0;
}

long sysconf(int name)
{
    SYSTEM_INFO info;
    MEMORYSTATUSEX memory = {.dwLength = sizeof memory};
    GetSystemInfo(&info);
    if (name == _SC_PAGESIZE)
        return (long)info.dwPageSize;
    if (name != _SC_AVPHYS_PAGES || !GlobalMemoryStatusEx(&memory))
        return -1;
    // Memory that is committed counts against the page file, too.
    return (long)(min(memory.ullAvailPhys, memory.ullAvailPageFile) / info.dwPageSize);
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t from)
{
    (void)at, (void)protection;
    char *map = VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    bool filled = map && (flags & MAP_ANONYMOUS || _lseeki64(fd, from, SEEK_SET) == from);
    errno = ENOMEM;
    for (size_t have = 0; filled && !(flags & MAP_ANONYMOUS) && have < bytes;) {
        int got = read(fd, map + have, (unsigned)(bytes - have));
        filled = got >= 0;
        have = got > 0 ? have + (size_t)got : bytes; // as zeros after the end
    }
    if (map && !filled)
        VirtualFree(map, 0, MEM_RELEASE);
    return filled ? map : MAP_FAILED;
}

int munmap(void *at, size_t bytes)
{
    (void)bytes;
    return VirtualFree(at, 0, MEM_RELEASE) ? 0 : -1;
}

static int glob_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int glob(const char *pattern, int flags, int (*error)(const char *, int), glob_t *found)
{
    (void)error;
    if (!(flags & GLOB_APPEND))
        *found = (glob_t){0};
    const char *slash = strrchr(pattern, '/');
    int before = slash ? (int)(slash + 1 - pattern) : 0;
    size_t first = found->gl_pathc;
    WIN32_FIND_DATAA entry;
    HANDLE search = FindFirstFileA(pattern, &entry);
    for (bool any = search != INVALID_HANDLE_VALUE; any; any = FindNextFileA(search, &entry)) {
        size_t bytes = (size_t)before + strlen(entry.cFileName) + 1;
        char **grown = realloc(found->gl_pathv, (found->gl_pathc + 2) * sizeof *grown);
        char *path = malloc(bytes);
        if (!grown || !path)
            abort();
        snprintf(path, bytes, "%.*s%s", before, pattern, entry.cFileName);
        found->gl_pathv = grown;
        grown[found->gl_pathc++] = path;
        grown[found->gl_pathc] = NULL;
    }
    if (search != INVALID_HANDLE_VALUE)
        FindClose(search);
    if (found->gl_pathc == first)
        return GLOB_NOMATCH;
    qsort(found->gl_pathv + first, found->gl_pathc - first, sizeof *found->gl_pathv, glob_order);
    return 0;
}

void globfree(glob_t *found)
{
    for (size_t i = 0; i < found->gl_pathc; i++)
        free(found->gl_pathv[i]);
    free(found->gl_pathv);
    *found = (glob_t){0};
}
