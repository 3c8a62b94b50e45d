// SPDX-License-Identifier: MIT
#include "list_value.h"

#include "list_mnemonic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STACK_BYTES_MAX = 256, // limit per instruction; kernels restore the pointer by its product with
                           // their instances
    X87_NUMBER_MAX = 32,   // characters
};

int list_value_pattern(const char *text, size_t len, struct list_fault *fault)
{
    int64_t value;
    if (*text == '-')
        return list_fault_set(fault, text, "a pattern of bits has no sign");
    return list_number_parse(text, len, 64, &value, fault);
}

int list_value_stack(const char *text, size_t len, struct list_fault *fault)
{
    int64_t bytes;
    size_t sign = *text == '+' || *text == '-';
    if (list_number_parse(text + sign, len - sign, 64, &bytes, fault))
        return -1;
    if (text[sign] == '-' || bytes < 1 || bytes > STACK_BYTES_MAX)
        return list_fault_set(fault, text, "stack=-BYTES or stack=+BYTES with 1 to %d bytes",
                              STACK_BYTES_MAX);
    return 0;
}

// Returns the length of the finite decimal number at text[0..len), 0 if there is none.
static size_t value_x87_number(const char *text, size_t len)
{
    char number[X87_NUMBER_MAX + 1], *end;
    size_t n = strspn(text, "0123456789.eE+-");
    n = n < len ? n : len;
    if (n == 0 || n > X87_NUMBER_MAX)
        return 0;
    memcpy(number, text, n);
    number[n] = '\0';
    return isfinite(strtod(number, &end)) && !*end ? n : 0;
}

// Reads VALUE or TOP/OTHERS; returns its end, NULL if there is none.
static const char *value_x87_pair(const char *at, const char *end)
{
    size_t n = value_x87_number(at, (size_t)(end - at));
    if (n == 0 || at + n == end || at[n] != '/')
        return n ? at + n : NULL;
    at += n + 1;
    n = value_x87_number(at, (size_t)(end - at));
    return n ? at + n : NULL;
}

int list_value_x87(const char *text, size_t len, struct list_fault *fault)
{
    const char *end = text + len, *at = value_x87_pair(text, end);
    for (int sets = 1; sets < X87_SETS_MAX && at && at < end && *at == ':'; sets++)
        at = value_x87_pair(at + 1, end);
    return at == end ? 0
                     : list_fault_set(
                           fault, text,
                           "st=VALUE, st=TOP/OTHERS, or two to four of these with ':' between");
}

// Returns true for a register, or the name of an operand or a part of it: op1, op2.base, flags.
static bool value_is_operand(const char *text, size_t len)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789.";
    return len > 0 && len < 16 && strspn(text, letters) >= len && *text != '.';
}

int list_value_operands(const char *text, size_t len, struct list_fault *fault)
{
    for (const char *at = text, *end = text + len; at <= end; at++) {
        size_t n = strcspn(at, "+");
        if (n > (size_t)(end - at))
            n = (size_t)(end - at);
        if (!value_is_operand(at, n))
            return list_fault_set(fault, at,
                                  "registers or operands joined by '+', as in rsi+rdi or op1");
        at += n;
    }
    return 0;
}

static bool value_is_word(const char *text, size_t len, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(words[i]) == len && memcmp(words[i], text, len) == 0)
            return true;
    return false;
}

// Returns true for two names with a colon between them; `role`: the second must be one of the
// roles.
static bool value_is_pair(const char *text, size_t len, bool role)
{
    static const char *const roles[] = {"index", "table", "data", "mask"};
    const char *colon = memchr(text, ':', len);
    if (!colon || !value_is_operand(text, (size_t)(colon - text)))
        return false;
    size_t rest = len - (size_t)(colon + 1 - text);
    return role ? value_is_word(colon + 1, rest, roles, ARRAY_LEN(roles))
                : value_is_operand(colon + 1, rest);
}

// Checks such pairs joined by '+'. Returns the place of the first that is none, NULL if there is
// none.
static const char *value_no_pair(const char *text, size_t len, bool role)
{
    for (const char *at = text, *end = text + len; at <= end; at++) {
        size_t n = strcspn(at, "+");
        if (n > (size_t)(end - at))
            n = (size_t)(end - at);
        if (!value_is_pair(at, n, role))
            return at;
        at += n;
    }
    return NULL;
}

int list_value_pairs(const char *text, size_t len, struct list_fault *fault)
{
    const char *wrong = value_no_pair(text, len, false);
    return wrong ? list_fault_set(fault, wrong, "pairs SRC:DST of operands joined by '+'") : 0;
}

int list_value_roles(const char *text, size_t len, struct list_fault *fault)
{
    const char *wrong = value_no_pair(text, len, true);
    return wrong ? list_fault_set(fault, wrong,
                                  "pairs OPERAND:ROLE joined by '+'; a role is index, table, data "
                                  "or mask")
                 : 0;
}

static bool value_is_name(const char *text, size_t len)
{
    return len > 0 && len < 64 && *text >= 'a' && *text <= 'z' &&
           strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_") >= len;
}

// Returns true for [r14+NAME]: a place in the data area that the macros name.
static bool value_is_place(const char *text, size_t len)
{
    static const char start[] = "[r14+";
    size_t skip = sizeof start - 1;
    return len > skip + 1 && memcmp(text, start, skip) == 0 && text[len - 1] == ']' &&
           value_is_name(text + skip, len - skip - 1);
}

// Returns true for a safe argument of a macro, which puts it into an instruction of its own.
static bool value_is_argument(const char *text, size_t len)
{
    static const char *const words[] = {
        "short",
        "near",
        "rep",
        "repe",
        "repne",
        "lock",
        "o16",
        "o32",
        "o64",
        "a32",
        "a64",
        "w",
        "q", // operand sizes at the end of a mnemonic
        // conditions
        "o",
        "no",
        "b",
        "nb",
        "z",
        "nz",
        "be",
        "nbe",
        "s",
        "ns",
        "p",
        "np",
        "l",
        "nl",
        "le",
        "nle",
    };
    int64_t number;
    struct list_fault ignored;
    return list_number_parse(text, len, 64, &number, &ignored) == 0 ||
           value_is_word(text, len, words, ARRAY_LEN(words)) || list_register_known(text, len) ||
           list_mnemonic_known(text, len) || value_is_place(text, len);
}

int list_value_macro(const char *text, size_t len, struct list_fault *fault)
{
    static const char extension[] = ".inc";
    const char *end = text + len, *colon = memchr(text, ':', len);
    size_t file = colon ? (size_t)(colon - text) : len, tail = sizeof extension - 1;
    if (!colon || file <= tail || memcmp(colon - tail, extension, tail) != 0 ||
        !value_is_name(text, file - tail))
        return list_fault_set(fault, text,
                              "macro=FILE.inc:NAME:ARGUMENT... names a file in macros/ and a "
                              "macro in it");
    for (bool name = true; colon < end; name = false) {
        const char *at = colon + 1;
        size_t n = strcspn(at, ":");
        if (n > (size_t)(end - at))
            n = (size_t)(end - at);
        if (name ? !value_is_name(at, n) : !value_is_argument(at, n))
            return list_fault_set(fault, at,
                                  name ? "'%.*s' is no name of a macro"
                                       : "'%.*s' cannot be given to a macro: numbers, registers, "
                                         "mnemonics, conditions, prefixes, short, near and "
                                         "[r14+NAME] can",
                                  (int)n, at);
        colon = at + n;
    }
    return 0;
}
