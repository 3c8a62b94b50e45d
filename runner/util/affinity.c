// SPDX-License-Identifier: MIT
#include "affinity.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

int affinity_pin(pid_t pid, int cpu)
{
    cpu_set_t one;
    if (cpu < 0 || cpu >= CPU_SETSIZE) {
        errno = EINVAL;
        return -1;
    }
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    return sched_setaffinity(pid, sizeof one, &one);
}

void affinity_set_all(const cpu_set_t *cpus)
{
    DIR *threads = opendir("/proc/self/task");
    sched_setaffinity(0, sizeof *cpus, cpus);
    for (const struct dirent *entry; threads && (entry = readdir(threads));)
        if (entry->d_name[0] != '.')
            sched_setaffinity((pid_t)strtol(entry->d_name, NULL, 10), sizeof *cpus, cpus);
    if (threads)
        closedir(threads);
}

struct affinity_visit affinity_visit(const int *cpus, int ncpus)
{
    struct affinity_visit visit;
    cpu_set_t there;
    CPU_ZERO(&there);
    for (int i = 0; i < ncpus; i++)
        CPU_SET((size_t)cpus[i], &there);
    visit.moved = sched_getaffinity(0, sizeof visit.before, &visit.before) == 0 &&
                  sched_setaffinity(0, sizeof there, &there) == 0;
    return visit;
}

void affinity_return(const struct affinity_visit *visit)
{
    if (visit->moved)
        sched_setaffinity(0, sizeof visit->before, &visit->before);
}
