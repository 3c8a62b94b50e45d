// SPDX-License-Identifier: MIT
// An explanation as text for a terminal of 80 columns, and as JSON.
#ifndef LATPUT_EXPLAIN_PRINT_H
#define LATPUT_EXPLAIN_PRINT_H

#include "explain.h"
#include "explain_try.h"

#include "util/json.h"

// `measured` NULL: nothing was measured.
void explain_print_text(const struct explanation *explanation,
                        const struct explain_measured *measured, struct strbuf *out);
void explain_print_json(const struct explanation *explanation,
                        const struct explain_measured *measured, struct json *json);

#endif
