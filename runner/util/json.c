// SPDX-License-Identifier: MIT
#include "json.h"
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// Writes the comma and white space before the next value.
static void json_begin(struct json *json)
{
    if (!json->named) {
        strbuf_puts(json->out, json->more ? "," : "");
        strbuf_puts(json->out, json->space ? json->space : json->more && !json->script ? " " : "");
        json->space = NULL;
    }
    json->named = false;
    json->more = true;
}

// Returns the code of a character of two or three bytes.
static unsigned json_code(const char *text, size_t len)
{
    unsigned code = (unsigned char)*text & (0x7fu >> len);
    for (size_t i = 1; i < len; i++)
        code = code << 6 | ((unsigned char)text[i] & 0x3fu);
    return code;
}

// Writes a quoted string. Since JSON may be printed on a terminal, characters that are not plain
// are escaped and invalid UTF-8 is replaced.
static void json_quote(struct strbuf *out, const char *text, bool script)
{
    strbuf_puts(out, "\"");
    for (size_t len; *text; text += len) {
        bool plain;
        len = text_next(text, &plain);
        unsigned char byte = (unsigned char)*text;
        if (byte >= 0x80 && len == 1)
            strbuf_puts(out, "\\ufffd");
        else if (!plain && len > 1) // all such characters have two or three bytes
            strbuf_printf(out, "\\u%04x", json_code(text, len));
        else if (!plain || (script && strchr("<>&", byte)))
            strbuf_printf(out, "\\u%04x", byte);
        else if (byte == '"' || byte == '\\')
            strbuf_printf(out, "\\%c", byte);
        else
            strbuf_put(out, text, len);
    }
    strbuf_puts(out, "\"");
}

struct json *json_break(struct json *json, const char *space)
{
    json->space = json->script ? NULL : space;
    return json;
}

struct json *json_name(struct json *json, const char *name)
{
    json_text(json, name);
    strbuf_puts(json->out, json->script ? ":" : ": ");
    json->named = true;
    return json;
}

void json_open(struct json *json, char bracket)
{
    json_begin(json);
    strbuf_put(json->out, &bracket, 1);
    json->more = false;
}

void json_close(struct json *json, char bracket)
{
    strbuf_puts(json->out, json->space ? json->space : "");
    strbuf_put(json->out, &bracket, 1);
    json->space = NULL;
    json->more = true;
}

void json_text(struct json *json, const char *text)
{
    json_begin(json);
    json_quote(json->out, text ? text : "", json->script);
}

void json_text_known(struct json *json, const char *text)
{
    if (text && *text)
        json_text(json, text);
    else
        json_null(json);
}

void json_int(struct json *json, int64_t value)
{
    json_begin(json);
    strbuf_printf(json->out, "%" PRId64, value);
}

void json_uint(struct json *json, uint64_t value)
{
    json_begin(json);
    strbuf_printf(json->out, "%" PRIu64, value);
}

void json_fixed(struct json *json, double value, int decimals)
{
    if (!isfinite(value)) {
        json_null(json);
        return;
    }
    json_begin(json);
    strbuf_printf(json->out, "%.*f", decimals, value);
}

void json_digits(struct json *json, double value, int digits)
{
    if (!isfinite(value)) {
        json_null(json);
        return;
    }
    json_begin(json);
    strbuf_printf(json->out, "%.*g", digits, value);
}

void json_real(struct json *json, double value)
{
    if (!isfinite(value)) {
        json_null(json);
        return;
    }
    json_begin(json);
    strbuf_put_real(json->out, value);
}

void json_raw(struct json *json, const char *value)
{
    json_begin(json);
    strbuf_puts(json->out, value);
}

void json_bool(struct json *json, bool value)
{
    json_begin(json);
    strbuf_puts(json->out, value ? "true" : "false");
}

void json_null(struct json *json)
{
    json_begin(json);
    strbuf_puts(json->out, "null");
}
