// SPDX-License-Identifier: MIT
// The part of subproc.h that is the same on every system.
#pragma once

#include "strbuf.h"
#include "subproc.h"

#include <signal.h>

extern volatile sig_atomic_t subproc_stopped; // by subproc_stop()

void subproc_print(const char *const argv[]); // the command, if commands are shown
// Appends to an output, of which the rest is dropped.
void subproc_put(struct strbuf *out, const char *bytes, size_t n,
                 const struct subproc_options *options);
// Hands both outputs over, in the result.
void subproc_take(struct strbuf outputs[2], struct subproc_result *result);
