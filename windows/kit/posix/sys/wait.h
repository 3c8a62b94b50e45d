// SPDX-License-Identifier: MIT
// See ../../../README.md: what the runner takes from Linux's header of this name.
#pragma once

int waitpid(int pid, int *status, int flags); // fails
