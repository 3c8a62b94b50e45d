// SPDX-License-Identifier: MIT
// Machines of one CPU family apart: names that tell them from each other, where several share one.
#pragma once

#include "store.h"
#include "util/mem.h"

// Returns a brand string without what says nothing: "AMD Ryzen 9 7950X 16-Core Processor" is "Ryzen
// 9 7950X".
const char *store_brand_short(struct arena *arena, const char *brand);

// Names each kind of CPU (vendor, brand, signature) of a uarch, where there are several: "zen5" is
// "zen5@epyc-9b45" and "zen5@ryzen-9-9950x"; as far as that tells them apart not, also by the
// signature, then by the vendor. A label of the owner's stays before it; a CPU without a brand
// keeps the uarch if it is the only one. The views have these names in the place of the uarch, and
// a best row of each form for each. For a database opened for reading, until it is closed; later
// runs are not seen.
int store_machines_apart(struct store *store, struct err *err);
// Returns all uarchs, each after the one that it is a machine of (itself, unless that was divided),
// as texts with their NUL, an empty one at the end; NULL after an error. The caller frees it.
char *store_machines(struct store *store, struct err *err);
// Finds the machine of a divided uarch with the newest run, of this machine's own if there are
// some. Returns its name, to be freed by the caller; NULL after an error.
char *store_machine_newest(struct store *store, const char *uarch, struct err *err);
