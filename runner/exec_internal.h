// SPDX-License-Identifier: MIT
// What the files of exec share: reading the records of core processes.
#ifndef LATPUT_EXEC_INTERNAL_H
#define LATPUT_EXEC_INTERNAL_H

#include "exec.h"

#include <stddef.h>

// One process that writes records.
struct exec_stream {
    int fd; // -1 once it is closed
    void (*take)(void *context, const struct core_record *record);
    void *context;
    struct core_record record; // being read
    size_t have;
};

enum exec_end {
    EXEC_CLOSED,  // every process closed its end
    EXEC_SILENT,  // nothing came from any of them for `timeout_ms` (ten times that at first)
    EXEC_STOPPED, // exec_stop()
};
// Reads until one of these. Descriptors are left open.
enum exec_end exec_read(struct exec_stream *streams, int n, int timeout_ms);

#endif
