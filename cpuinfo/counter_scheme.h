// SPDX-License-Identifier: MIT
// Limits of the control registers of each scheme. Only the reader of the tables and the parser of
// raw codes need them.
#pragma once

#include "counters.h"

// Returns the scheme of this name, or -1.
int scheme_find(const char *name);
// Describes what in the event does not fit its scheme ("umask 0x100 is larger than 0xff"), in
// `text`; NULL: all does.
const char *scheme_misfit(const struct counter_event *event, char *text, size_t size);
// Sets the fields of an event from a code of counter_event_code(). Returns 0, or -1 if it has other
// bits.
int scheme_decode(uint64_t code, struct counter_event *event);
