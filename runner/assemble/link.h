// SPDX-License-Identifier: MIT
// Links an assembled batch with the linked core (load.h): puts its sections at the addresses that
// the core knows, and fills in the addresses that its code and its table name.
#pragma once

#include "util/err.h"
#include "util/mem.h"

#include <stddef.h>

struct link_fault {
    const char *label;  // the label of gen.h in front of the place, "k12_body"; "": there is none
    const char *detail; // as linkers say it: "undefined reference to `x'"
};
struct link_faults {
    struct link_fault *items; // the arena's
    size_t n, capacity;
};
// Writes the program `to`. Returns 0; 1 if there are faults, for which nothing is written; -1 with
// a message.
int link_write(const char *core, const char *object, const char *to, struct arena *arena,
               struct link_faults *faults, struct err *err);
