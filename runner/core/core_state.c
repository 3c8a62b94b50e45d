// SPDX-License-Identifier: MIT
// What lies below everything: what kernels and the handler of signals write, what entering a kernel
// asks for, and what the seal is opened with.
#include "core_internal.h"

CORE_OPEN struct core_state core_state;
CORE_OPEN struct guard_fault guard_last;
CORE_OPEN struct core_secret core_secret;
CORE_KEPT uint64_t core_seal_sp;
struct core_own core_own;
uint32_t core_features;
