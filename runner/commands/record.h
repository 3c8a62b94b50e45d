// SPDX-License-Identifier: MIT
// The recording of a core: what it says about random mixes and pairs, and its canaries, as files.
#pragma once

#include "port_table.h"

struct record_request {
    const char *output; // directory, which exists
    int mixes, pairs;
};
// Measures in the session, and writes the files. Returns 0, or -1 with a message.
int record_write(const struct record_request *request, struct store *store, struct session *session,
                 struct port_table *table, struct err *err);
