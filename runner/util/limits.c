// SPDX-License-Identifier: MIT
// Limits of this process; see limits.h. A stack that is too small ends a process without a word,
// and too few open files are told as faults of whatever wanted one.
#include "limits.h"

#include "mem.h"

#include <stddef.h>
#include <sys/resource.h>

// The largest frame has 260 KB, and threads have stacks of the limit's size. Some fifteen files are
// open at a time, and subproc.c moves some out of the way to numbers from 40 on.
static const struct limit {
    __rlimit_resource_t resource;
    rlim_t least, unit;
    const char *name, *remedy;
} LIMITS[] = {
    {RLIMIT_STACK,  (rlim_t)1 << 20, 1024, "size of the stack (KB)", "ulimit -s 8192"},
    {RLIMIT_NOFILE, 64,              1,    "number of open files",   "ulimit -n 256" },
};

static int limit_check(const struct limit *limit, struct err *err)
{
    struct rlimit now;
    if (getrlimit(limit->resource, &now) != 0 || now.rlim_cur >= limit->least)
        return 0;
    const struct rlimit raised = {.rlim_cur = limit->least, .rlim_max = now.rlim_max};
    if (now.rlim_max >= limit->least && setrlimit(limit->resource, &raised) == 0)
        return 0;
    return err_set(err, "the limit of the %s is %llu, but latput needs %llu: raise it (%s)",
                   limit->name, (unsigned long long)(now.rlim_cur / limit->unit),
                   (unsigned long long)(limit->least / limit->unit), limit->remedy);
}

int limits_check(struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(LIMITS); i++)
        if (limit_check(&LIMITS[i], err) != 0)
            return -1;
    return 0;
}
