// SPDX-License-Identifier: MIT
// The monotonic clock: for how long something has taken, whatever is done to the time of day.
#ifndef LATPUT_CLOCK_H
#define LATPUT_CLOCK_H

#include <stdint.h>

int64_t clock_now_ns(void); // since some moment in the past
int64_t clock_now_ms(void);
double clock_now_s(void);

#endif
