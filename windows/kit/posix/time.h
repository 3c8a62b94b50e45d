// SPDX-License-Identifier: MIT
// See ../../README.md: what the runner takes from Linux's header of this name.
#pragma once
#define _POSIX_THREAD_SAFE_FUNCTIONS 200809L
#include_next <time.h>

#include <pthread_time.h>

#define CLOCK_MONOTONIC_RAW CLOCK_MONOTONIC
