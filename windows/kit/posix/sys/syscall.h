// SPDX-License-Identifier: MIT
// See ../../../README.md: there are no such calls.
#pragma once

enum { SYS_perf_event_open };
long syscall(long number, ...); // fails
