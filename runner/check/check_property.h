// SPDX-License-Identifier: MIT
// Checks lists of properties: their rows are read, and the code of the first and the last point of
// each curve is assembled.
#pragma once

#include "check.h"

// Returns true for the path of a list of properties: it lies in a directory of that name.
bool check_is_property(const char *path);
struct check_properties; // of which code is being assembled
// Reads the lists, and has the code assembled while the caller checks other things.
struct check_properties *check_properties_begin(const char *const *paths, int npaths);
// Waits for it, and frees it. Adds problems to check->problems, and sets check->nproperties.
// Returns -1 only if the environment lacks something.
int check_properties_end(struct check_properties *begun, struct check *check, struct err *err);
