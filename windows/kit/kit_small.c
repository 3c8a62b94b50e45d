// SPDX-License-Identifier: MIT
// In the place of small files of runner/util/: affinity.c, dynlib.c, limits.c, pager.c, program.c;
// of runner/check/check_known.c; and of runner/pack/libarchive.c, since the library is linked
// statically.
#include "kit.h"

#include "check/check_known.h"
#include "pack/libarchive.h"
#include "util/affinity.h"
#include "util/dynlib.h"
#include "util/limits.h"
#include "util/mem.h"
#include "util/pager.h"
#include "util/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A core moves to its CPU by itself, and this program leaves that (machine_leave_cpu()).
int affinity_pin(pid_t pid, int cpu)
{
    cpu_set_t usable;
    (void)pid;
    errno = EINVAL;
    return sched_getaffinity(0, sizeof usable, &usable) == 0 && cpu >= 0 &&
                   CPU_ISSET((size_t)cpu, &usable)
               ? 0
               : -1;
}

void affinity_set_all(const cpu_set_t *cpus)
{
    (void)cpus;
}

struct affinity_visit affinity_visit(const int *cpus, int ncpus)
{
    (void)cpus, (void)ncpus;
    return (struct affinity_visit){.moved = false};
}

void affinity_return(const struct affinity_visit *visit)
{
    (void)visit;
}

int dynlib_load(const struct dynlib *library, void **calls, struct err *err)
{
    (void)calls;
    return err_set(err, "%s %s, which the kit for Windows does not have", library->who,
                   library->name);
}

int limits_check(struct err *err)
{
    (void)err;
    return 0;
}

void pager_forbid(void)
{
}

FILE *pager_open(void)
{
    return stdout;
}

void pager_close(FILE *stream)
{
    fflush(stream);
}

void pager_put(const char *text)
{
    fputs(text, stdout);
    fflush(stdout);
}

// Programs are those of the kit, and no others.
char *program_find(const char *name)
{
    if (strchr(name, '/'))
        return xstrdup(name);
    const char *own = kit_program(), *slash = strrchr(own, '/');
    char *path = xasprintf("%.*s/%s.exe", slash ? (int)(slash - own) : 0, own, name);
    if (*name && access(path, F_OK) == 0)
        return path;
    free(path);
    return NULL;
}

#define LIBARCHIVE_CALL(call) .call = (call),
struct libarchive la = {LIBARCHIVE_CALLS(LIBARCHIVE_CALL)};

int libarchive_load(struct err *err)
{
    (void)err;
    return 0;
}

// Nothing is remembered of lists that were checked: the directory for that is one of Linux.
struct check_known *check_known_open(const char *nasm)
{
    (void)nasm;
    return NULL;
}

void check_known_key(const struct check_known *known, const struct list *list,
                     char key[CHECK_KEY_BYTES])
{
    (void)known, (void)list;
    key[0] = '\0';
}

bool check_known_has(const struct check_known *known, const char *key)
{
    (void)known, (void)key;
    return false;
}

void check_known_add(const struct check_known *known, const char *key)
{
    (void)known, (void)key;
}

void check_known_close(struct check_known *known)
{
    (void)known;
}
