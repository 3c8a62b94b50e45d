// SPDX-License-Identifier: MIT
// Limits of this process (setrlimit(2)) below which latput cannot work.
#pragma once

#include "err.h"

// Returns 0 if the stack and the number of open files suffice, after raising a limit that this
// process may raise, which programs that it starts inherit. Otherwise -1 with a message that names
// the limit, its value and the remedy.
int limits_check(struct err *err);
