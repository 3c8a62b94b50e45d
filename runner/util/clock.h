// SPDX-License-Identifier: MIT
// The monotonic clock: durations that changes of the time of day do not touch.
#pragma once

#include <stdint.h>

int64_t clock_now_ns(void); // since an arbitrary moment
int64_t clock_now_ms(void);
double clock_now_s(void);
