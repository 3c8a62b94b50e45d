// SPDX-License-Identifier: MIT
// See ../../../README.md: what the runner takes from Linux's header of this name.
#pragma once

#include <stddef.h>
#include <sys/types.h>

ssize_t getrandom(void *to, size_t bytes, unsigned flags);
