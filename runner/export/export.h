// SPDX-License-Identifier: MIT
// Results in the formats of other programs (docs/EXPORTS.md). A form that a format cannot express
// is left out, counted and named, never approximated by something else.
#pragma once

#include "known/known.h"
#include "util/err.h"
#include "util/strbuf.h"

enum { EXPORT_REASONS_MAX = 24 };
struct export_reason {
    const char *text; // a static string
    int count;
    struct strbuf names; // names of the forms, each with a line feed
};
struct export_out {
    struct strbuf text;
    int written; // number of forms
    struct export_reason reasons[EXPORT_REASONS_MAX];
    int nreasons;
};
// Records that the form is not in the text, with the reason (a static string).
void export_leave(struct export_out *out, const struct known_form *form, const char *reason);
void export_out_free(struct export_out *out);

struct export_format {
    const char *name;
    const char *summary; // half a line, for --help
    unsigned what;       // EXPORT_*
    // Writes the text. Returns 0, or -1 with the message.
    int (*write)(struct known_cpu *data, struct export_out *out, struct err *err);
};
extern const struct export_format *const export_formats[];        // ends with NULL
const struct export_format *export_format_find(const char *name); // NULL: none
