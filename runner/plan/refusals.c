// SPDX-License-Identifier: MIT
#include "refusals.h"

#include <string.h>

const char *refusals_reason(const struct refusals *refusals, const struct list_row *row)
{
    for (int i = 0; i < refusals->n; i++) {
        const struct refusal *item = &refusals->items[i];
        if ((item->legacy || row->enc != ENC_LEGACY) && strcmp(item->isa, row->isa) == 0)
            return item->reason;
    }
    return NULL;
}
