// SPDX-License-Identifier: MIT
#include "number.h"

#include <stdbool.h>
#include <stdlib.h>

// Values stay so small that no operation overflows.
enum { NUMBER_DEPTH = 32 };
static const int64_t number_most = INT32_MAX;

struct number_text {
    const char *at, *end;
    int depth;
    bool wrong;
};

static int64_t number_sum(struct number_text *text);

static char number_next(struct number_text *text)
{
    while (text->at < text->end && *text->at == ' ')
        text->at++;
    return text->at < text->end ? *text->at : '\0';
}

static int64_t number_checked(struct number_text *text, int64_t value)
{
    text->wrong |= value > number_most || value < -number_most;
    return text->wrong ? 0 : value;
}

static int64_t number_single(struct number_text *text)
{
    char next = number_next(text), *after;
    if (text->depth >= NUMBER_DEPTH || next == '\0') {
        text->wrong = true;
        return 0;
    }
    if (next == '(' || next == '-') {
        text->at++;
        text->depth++;
        int64_t value = next == '(' ? number_sum(text) : -number_single(text);
        text->depth--;
        if (next == '(' && number_next(text) != ')')
            text->wrong = true;
        text->at += next == '(' && !text->wrong;
        return value;
    }
    bool hexadecimal = next == '0' && text->at + 1 < text->end && text->at[1] == 'x';
    long long value = strtoll(text->at, &after, hexadecimal ? 16 : 10);
    char follows = after < text->end ? *after : '\0';
    // 1b, 1q and the like are other notations.
    text->wrong |= next < '0' || next > '9' || after > text->end ||
                   (follows >= 'a' && follows <= 'z') || follows == '_' || follows == '.';
    text->at = after;
    return number_checked(text, value);
}

static int64_t number_product(struct number_text *text)
{
    int64_t value = number_single(text);
    for (char next;
         !text->wrong && ((next = number_next(text)) == '*' || next == '/' || next == '%');) {
        bool twice = text->at + 1 < text->end && text->at[1] == next;
        // `//` and `%%` are signed; here there is a difference for negative numbers only.
        text->at += 1 + (twice && next != '*');
        int64_t by = number_single(text);
        if (next != '*' && (by <= 0 || value < 0)) {
            text->wrong = true;
            return 0;
        }
        value = number_checked(text, next == '*'   ? value * by
                                     : next == '/' ? value / by
                                                   : value % by);
    }
    return value;
}

static int64_t number_sum(struct number_text *text)
{
    int64_t value = number_product(text);
    for (char next; !text->wrong && ((next = number_next(text)) == '+' || next == '-');) {
        text->at++;
        int64_t by = number_product(text);
        value = number_checked(text, next == '+' ? value + by : value - by);
    }
    return value;
}

const char *number_read(const char *from, const char *end, int64_t *value)
{
    struct number_text text = {from, end, 0, false};
    *value = number_sum(&text);
    char next = number_next(&text);
    // A letter begins an instruction or a directive; anything else belongs to an expression.
    bool follows = next == '\0' || (next >= 'a' && next <= 'z');
    return text.wrong || !follows ? NULL : text.at;
}
