// SPDX-License-Identifier: MIT
// Measures a property: round by round, points → kernels → program → samples, each round where the
// one before saw something happen.
#pragma once

#include "assemble/gen.h"
#include "measure/session.h"
#include "property.h"
#include "store/store_property.h"

// Machine code of the points of a property, by their index, kept from replicate to replicate, so
// that NASM is asked once for each.
struct property_codes {
    const struct gen_code **by_point; // NULL: not known; memory owned as the result's
    size_t capacity;
};

struct property_measuring {
    struct session *session; // with its floor
    const struct property_machine *machine;
    const struct exec_progress *progress; // may be NULL
    struct property_codes *codes;         // of the property, owned by the caller
    // Tells the progress bar that so many more kernels follow.
    void (*planned)(void *context, int kernels);
    bool keep;       // the assembly files
    bool stopped;    // out: by a signal; the result is then not complete
    int64_t kernels; // out, added to: measured
};

// Fills *result without conclusions, and the codes; all memory is the arena's. What cannot be
// measured is an outcome. -1 with a message when nothing can be measured here.
int property_measure(struct property_measuring *measuring, const struct property *property,
                     struct arena *arena, struct swept_property *result, struct err *err);

// Measures all points of *result again, which property_measure() has filled. The samples are added
// as passes of their own. `replicate`: 1 the first time.
int property_measure_again(struct property_measuring *measuring, const struct property *property,
                           int replicate, struct arena *arena, struct swept_property *result,
                           struct err *err);

// Concludes from all replicates.
int property_conclude(struct swept_property *result, struct arena *arena, struct err *err);

// Adds the points of the first round to *result, for tests. Returns their number; 0:
// result->outcome and detail say why.
int property_begin(const struct property *property, const struct property_machine *machine,
                   const struct cpu_info *cpu, struct arena *arena, struct swept_property *result);
