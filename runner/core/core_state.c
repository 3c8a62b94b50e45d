// SPDX-License-Identifier: MIT
// What lies below everything: what kernels and the handler of signals write, what entering a kernel
// asks for, and how large the sealed memory is.
#include "core_internal.h"

struct core_state core_state;
struct guard_fault guard_last;
struct core_own core_own;
uint32_t core_features;
uint32_t core_seal_bytes;
