// SPDX-License-Identifier: MIT
#include "text.h"

#include <string.h>

int text_width(const char *text, size_t len)
{
    int width = 0;
    for (size_t i = 0; i < len; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80; // not a continuation byte
    return width;
}

void text_wrap(struct strbuf *out, const char *text, int indent, int width)
{
    int column = indent;
    for (const char *at = text; *at; at += strspn(at, " ")) {
        if (*at == '\n') {
            strbuf_puts(out, "\n");
            column = 0;
            at++;
            continue;
        }
        size_t len = strcspn(at, " \n");
        int columns = text_width(at, len);
        if (column > indent && column + 1 + columns > width) {
            strbuf_puts(out, "\n");
            column = 0;
        }
        int blanks = column == 0 ? indent : column > indent;
        strbuf_printf(out, "%*s%.*s", blanks, "", (int)len, at);
        column += blanks + columns;
        at += len;
    }
    strbuf_puts(out, "\n");
}

static bool is_digit(const char *at, const char *end)
{
    return at < end && *at >= '0' && *at <= '9';
}

// Returns the end of a number, and in *at where it begins without zeros in front.
static const char *number_end(const char **at, const char *end)
{
    while (is_digit(*at + 1, end) && **at == '0')
        ++*at;
    const char *after = *at;
    while (is_digit(after, end))
        after++;
    return after;
}

int text_compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
    const char *x = a, *y = b, *x_end = a + a_len, *y_end = b + b_len;
    while (x < x_end && y < y_end) {
        if (is_digit(x, x_end) && is_digit(y, y_end)) {
            const char *x_after = number_end(&x, x_end), *y_after = number_end(&y, y_end);
            if (x_after - x != y_after - y)
                return x_after - x < y_after - y ? -1 : 1;
            int order = memcmp(x, y, (size_t)(x_after - x));
            if (order != 0)
                return order;
            x = x_after;
            y = y_after;
        } else if (*x != *y) {
            return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
        } else {
            x++;
            y++;
        }
    }
    if (x < x_end || y < y_end)
        return x < x_end ? 1 : -1;
    // The same but for zeros in front of numbers: more of them come later.
    int order = a_len == b_len ? memcmp(a, b, a_len) : 0;
    return order ? order : (a_len > b_len) - (a_len < b_len);
}

size_t text_decode(const char *text, size_t len, uint32_t *code)
{
    const unsigned char *s = (const unsigned char *)text;
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    *code = s[0];
    if (s[0] < 0x80)
        return 1;
    size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || n > len)
        return 0;
    *code = s[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (s[i] & 0x3fu);
    }
    bool valid = *code >= least[n] && *code <= 0x10ffff && (*code < 0xd800 || *code > 0xdfff);
    return valid ? n : 0;
}

static bool text_is_control(uint32_t code)
{
    return code < ' ' || (code >= 0x7f && code < 0xa0);
}

size_t text_next(const char *text, bool *plain)
{
    uint32_t code;
    size_t len = text_decode(text, strnlen(text, 4), &code);
    // Characters that steer: marks, embeddings, overrides and isolates of direction; separators of
    // lines and paragraphs.
    bool steers = code == 0x061c || code == 0x200e || code == 0x200f ||
                  (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    *plain = len > 0 && !text_is_control(code) && !steers;
    return len ? len : 1;
}

bool text_is_clean(const char *text, size_t len)
{
    for (size_t at = 0, step; at < len; at += step) {
        uint32_t code;
        step = text_decode(text + at, len - at, &code);
        if (step == 0 || (text_is_control(code) && code != '\n' && code != '\t'))
            return false;
    }
    return true;
}

bool text_is_plain(const char *text)
{
    bool plain = true;
    while (*text && plain) {
        if (*text >= ' ' && *text <= '~') {
            text++;
            continue;
        }
        bool tab = *text == '\t';
        text += text_next(text, &plain);
        plain |= tab;
    }
    return plain;
}

void text_put_escaped(struct strbuf *out, const char *text)
{
    while (*text) {
        bool plain, kept = *text == '\t' || *text == '\n';
        size_t len = text_next(text, &plain);
        if (plain || kept)
            strbuf_put(out, text, len);
        for (size_t i = 0; !plain && !kept && i < len; i++)
            strbuf_printf(out, "\\x%02x", (unsigned char)text[i]);
        text += len;
    }
}

void text_put_markup(struct strbuf *out, const char *text)
{
    for (; *text; text++)
        if (*text == '&')
            strbuf_puts(out, "&amp;");
        else if (*text == '<')
            strbuf_puts(out, "&lt;");
        else if (*text == '>')
            strbuf_puts(out, "&gt;");
        else if (*text == '"')
            strbuf_puts(out, "&quot;");
        else
            strbuf_put(out, text, 1);
}
