// SPDX-License-Identifier: MIT
// Measured mixes beside what llvm-mca's model of the CPU says of them.
#ifndef LATPUT_VALIDATE_MCA_H
#define LATPUT_VALIDATE_MCA_H

#include "port_table.h"
#include "llvm/mca.h"

struct validate_beside {
    struct validation ours, theirs; // over the mixes that llvm-mca takes
    struct mca_counts counts;       // of those that it does not
    const char *cpu;                // LLVM's name of it
};
// mixes are of the table. Texts are owned by the arena. 0, or -1 with the message.
int validate_beside_mca(struct store *store, const struct port_table *table,
                        const struct validate_mixes *mixes, struct arena *arena,
                        struct validate_beside *beside, struct err *err);

#endif
