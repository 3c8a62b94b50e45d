// SPDX-License-Identifier: MIT
// Variables below everything else: those that kernels and the handler of signals write, the inputs
// of entering a kernel, and the secrets that open the seal.
#include "core_internal.h"

CORE_OPEN struct core_state core_state;
CORE_OPEN struct guard_fault guard_last;
CORE_OPEN struct core_secret core_secret;
CORE_KEPT uint64_t core_seal_sp;
struct core_own core_own;
uint32_t core_features;
