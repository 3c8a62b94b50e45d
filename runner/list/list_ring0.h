// SPDX-License-Identifier: MIT
// Rows with ring=0, which the kernel module runs (kernel/README.md).
#pragma once

#include "list.h"

// Returns why the row cannot be one with ring=0, or needs to be; NULL: nothing is wrong. The text
// is a constant.
const char *list_ring0_refuses(const struct list_row *row);
