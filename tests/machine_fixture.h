// SPDX-License-Identifier: MIT
// A machine whose /proc, /sys and /dev are in a scratch directory, for tests of the backends that
// count: what they read there is what the test has written. One machine at a time.
#ifndef LATPUT_MACHINE_FIXTURE_H
#define LATPUT_MACHINE_FIXTURE_H

#include "count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char machine_root[64];
static struct cpu_info machine_cpu;
static struct count_machine machine;

// A file of the machine with its directories, e.g. "/proc/sys/kernel/nmi_watchdog".
static void machine_file(const char *path, const char *text)
{
    char full[256];
    snprintf(full, sizeof full, "%s%s", machine_root, path);
    for (char *at = full + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(full, 0777);
        *at = '/';
    }
    FILE *f = fopen(full, "we");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void machine_begin(const struct count_calls *calls)
{
    strcpy(machine_root, "/tmp/latput-machine-XXXXXX");
    assert_non_null(mkdtemp(machine_root));
    memset(&machine_cpu, 0, sizeof machine_cpu);
    machine = (struct count_machine){.cpu = &machine_cpu, .root = machine_root, .calls = calls};
}

static int machine_end(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", machine_root);
    return system(command); // NOLINT: a path of mkdtemp
}

#endif
