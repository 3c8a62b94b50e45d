// SPDX-License-Identifier: MIT
// Tells whether the kernel module is there, by which kernels of ring 0 are run (core_ring0.c).
#pragma once

// Returns NULL if it is, and this process may use it; else the reason, a constant.
const char *exec_no_ring0(void);
// The same for interrupts, which the module lets a core turn off. A core made of text needs a file
// `dev/latput` beside it.
const char *exec_no_interrupts_off(void);
