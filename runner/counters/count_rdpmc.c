// SPDX-License-Identifier: MIT
#include "count_rdpmc.h"

#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum count_obstacle count_rdpmc_find(const struct count_machine *machine,
                                     char path[RDPMC_PATH_BYTES], int *allowed, struct err *err)
{
    static const char *const paths[] = {"/sys/bus/event_source/devices/cpu/rdpmc",
                                        "/sys/bus/event_source/devices/cpu_core/rdpmc",
                                        "/sys/bus/event_source/devices/cpu_atom/rdpmc"};
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        char full[2 * RDPMC_PATH_BYTES];
        snprintf(full, sizeof full, "%s%s", machine->root, paths[i]);
        FILE *file = fopen(full, "re");
        if (!file)
            continue;
        int got = fscanf(file, "%d", allowed); // NOLINT(cert-err34-c): a number of the kernel's
        fclose(file);
        if (got != 1)
            continue;
        snprintf(path, RDPMC_PATH_BYTES, "%s", paths[i]);
        return COUNT_FINE;
    }
    err_set(err,
            "the kernel has no driver for the counters of this CPU (no %s%s), so that it never "
            "allows the instruction (CR4.PCE). Use a kernel that knows the CPU, on bare metal or "
            "with a virtual PMU",
            machine->root, paths[0]);
    return COUNT_FORBIDDEN;
}

// Writes the number by system calls alone, since the guardian does it, too.
static int rdpmc_write(const char *path, int number)
{
    const char text[] = {(char)('0' + number), '\n'};
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int status = write(fd, text, sizeof text) == sizeof text ? 0 : -1;
    close(fd);
    return status;
}

static void rdpmc_restore(const void *context)
{
    const struct count_rdpmc *rdpmc = context;
    rdpmc_write(rdpmc->path, rdpmc->before);
}

enum count_obstacle count_rdpmc_allow(const struct count_machine *machine,
                                      struct count_rdpmc *rdpmc, struct err *err)
{
    char path[RDPMC_PATH_BYTES];
    *rdpmc = (struct count_rdpmc){.before = 0};
    enum count_obstacle obstacle = count_rdpmc_find(machine, path, &rdpmc->before, err);
    if (obstacle || rdpmc->before == RDPMC_FOR_ALL)
        return obstacle;
    snprintf(rdpmc->path, sizeof rdpmc->path, "%s%s", machine->root, path);
    if (count_guard_begin(rdpmc_restore, rdpmc, &rdpmc->guard, err) != 0) {
        obstacle = COUNT_FAILED;
    } else if (rdpmc_write(rdpmc->path, RDPMC_FOR_ALL) != 0) {
        err_set(err, "%s: cannot be set to %d: %s. Run as root", rdpmc->path, RDPMC_FOR_ALL,
                strerror(errno));
        count_guard_end(&rdpmc->guard);
        obstacle = COUNT_FORBIDDEN;
    }
    if (obstacle)
        rdpmc->path[0] = '\0';
    return obstacle;
}

void count_rdpmc_end(struct count_rdpmc *rdpmc)
{
    if (!rdpmc->path[0])
        return;
    rdpmc_write(rdpmc->path, rdpmc->before);
    count_guard_end(&rdpmc->guard);
    rdpmc->path[0] = '\0';
}
