// SPDX-License-Identifier: MIT
#include "clock.h"

#include <time.h>

enum { NS_PER_S = 1000000000 };

int64_t clock_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t clock_now_ms(void)
{
    return clock_now_ns() / 1000000;
}

double clock_now_s(void)
{
    return (double)clock_now_ns() / NS_PER_S;
}
