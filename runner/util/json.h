// SPDX-License-Identifier: MIT
// Writes JSON: the writer adds commas, quotes and escapes, the caller the layout. Characters that
// steer a terminal are escaped; bytes that are not UTF-8 become U+FFFD.
//
//     struct json json = {.out = &text};
//     json_open(&json, '{');
//     json_text(json_name(&json, "uarch"), "zen5");
//     json_open(json_name(json_break(&json, "\n  "), "ports"), '[');
//     json_int(&json, 4);
//     json_close(&json, ']');
//     json_close(&json, '}');
//
// makes {"uarch": "zen5",
//   "ports": [4]}
#pragma once

#include "strbuf.h"

#include <stdbool.h>
#include <stdint.h>

struct json {
    struct strbuf *out; // owned by the caller, who also ends the text with a line feed
    // The form for a file that a page loads as a script: no blanks, and no text that would end a
    // script, begin a comment of HTML or end a line of JavaScript.
    bool script;
    const char *space; // set by json_break(); NULL: none
    bool more;         // the array or object has a member already
    bool named;        // the next value belongs to a name
};

// Puts this white space in front of the next value, name or closing bracket, instead of the blank
// after a comma. Returns json, as json_name() does.
struct json *json_break(struct json *json, const char *space);
// Begins a member of an object.
struct json *json_name(struct json *json, const char *name);
void json_open(struct json *json, char bracket);  // '[' or '{'
void json_close(struct json *json, char bracket); // ']' or '}'

// Each writes a value: a member's, or an element of an array.
void json_text(struct json *json, const char *text);       // UTF-8; NULL: ""
void json_text_known(struct json *json, const char *text); // NULL and "": null
void json_int(struct json *json, int64_t value);
void json_uint(struct json *json, uint64_t value);
void json_fixed(struct json *json, double value, int decimals); // not finite: null
void json_digits(struct json *json, double value, int digits);  // as %g; not finite: null
void json_real(struct json *json, double value);                // all its digits; not finite: null
void json_raw(struct json *json, const char *value);            // JSON already
void json_bool(struct json *json, bool value);
void json_null(struct json *json);
