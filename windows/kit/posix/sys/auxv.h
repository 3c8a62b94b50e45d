// SPDX-License-Identifier: MIT
// See ../../../README.md: what the runner takes from Linux's header of this name.
#pragma once

enum { AT_HWCAP2 = 26, AT_EXECFN = 31 };
unsigned long long getauxval(unsigned long type);
