// SPDX-License-Identifier: MIT
// Measured mixes compared with llvm-mca's model of the CPU.
#pragma once

#include "port_table.h"
#include "llvm/mca.h"

struct validate_beside {
    struct validation ours, theirs; // over the mixes that llvm-mca accepts
    struct mca_counts counts;       // mixes that it does not accept
    const char *cpu;                // LLVM's name of the CPU
};
// Compares mixes of the table. Texts are owned by the arena. Returns 0, or -1 with the message.
int validate_beside_mca(struct store *store, const struct port_table *table,
                        const struct validate_mixes *mixes, struct arena *arena,
                        struct validate_beside *beside, struct err *err);
