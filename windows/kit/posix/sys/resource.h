// SPDX-License-Identifier: MIT
// See ../../../README.md: what the runner takes from Linux's header of this name.
#pragma once

#include <sys/time.h>

struct rusage {
    struct timeval ru_utime, ru_stime;
    long ru_maxrss, ru_minflt, ru_majflt, ru_inblock, ru_oublock, ru_nvcsw, ru_nivcsw;
};
