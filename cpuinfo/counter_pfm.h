// SPDX-License-Identifier: MIT
// Events that only libpfm4 knows: its lists are much longer than the tables here. The library is
// used where it is installed and never needed.
#pragma once

#include "counters.h"

// Fills the event's code from the first `len` bytes of `name`, an event of libpfm4's without
// modifiers, for the family of the table. Returns 0; 1 if there is no libpfm4 or it does not know
// the family or the event; -1 with a message if the event needs what it does not say here.
int counter_pfm_find(const struct counter_table *table, const char *name, size_t len,
                     struct counter_event *event, struct err *err);

// Returns true if the library is installed.
bool counter_pfm_available(void);
