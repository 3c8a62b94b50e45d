// SPDX-License-Identifier: MIT
// Checks lists of properties: their rows are read, and the code of the first and the last point of
// each curve is assembled.
#pragma once

#include "check.h"

// Returns true for the path of a list of properties: it lies in a directory of that name.
bool check_is_property(const char *path);
// Adds problems to check->problems, and sets check->nproperties. Returns -1 only if the environment
// lacks something.
int check_properties(const char *const *paths, int npaths, struct check *check, struct err *err);
