// SPDX-License-Identifier: MIT
// Features of which a CPU refuses all forms: such forms are unsupported without being tried, and
// blockers are chosen among the others.
#pragma once

#include "list/list.h"

// One isa expression that the lists have.
struct refusal {
    const char *isa;
    bool legacy; // forms of legacy encoding, too: some of them execute as something older
    const char *reason;
};
struct refusals {
    const struct refusal *items;
    int n;
};

// Returns why the CPU refuses the row; NULL: nothing speaks against trying it.
const char *refusals_reason(const struct refusals *refusals, const struct list_row *row);
