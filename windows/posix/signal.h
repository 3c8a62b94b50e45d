// SPDX-License-Identifier: MIT
// See ../README.md: Linux's numbers of signals, which are the runner's words for faults. Nothing
// here sends or takes signals; core_exceptions.c says which exception is which.
#pragma once

enum {
    SIGILL = 4,
    SIGTRAP = 5,
    SIGBUS = 7,
    SIGFPE = 8,
    SIGSEGV = 11,
    SIGSYS = 31,
};
// si_code
enum { SI_KERNEL = 0x80, SEGV_MAPERR = 1, SEGV_ACCERR = 2 };
