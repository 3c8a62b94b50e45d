// SPDX-License-Identifier: MIT
// Checks the text that an SQL query may have assembled; see latput_sqlite.h. Pure.
#include "latput_sqlite.h"

#include "util/mem.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { CODE_BYTES_MAX = 16384 };

// Words of NASM that are no instructions: directives, and pseudo-instructions that read files or
// make much of little.
static const char *const forbidden_words[] = {
    "absolute", "align",     "alignb",    "at",       "bits",     "build_version",
    "common",   "cpu",       "debug",     "default",  "dup",      "endstruc",
    "export",   "extern",    "float",     "global",   "gpostfix", "gprefix",
    "group",    "gsuffix",   "iend",      "import",   "incbin",   "istruc",
    "library",  "limit",     "list",      "lpostfix", "lprefix",  "lsuffix",
    "map",      "module",    "org",       "osabi",    "overlay",  "pragma",
    "prefix",   "postfix",   "required",  "resb",     "resd",     "reso",
    "resq",     "rest",      "resw",      "resy",     "resz",     "safeseh",
    "section",  "sectalign", "segment",   "static",   "struc",    "subsections_via_symbols",
    "suffix",   "times",     "uppercase", "use16",    "use32",    "use64",
    "warning",  "weak",
};

static bool text_in_word(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("_$#@~.?", c));
}

static bool word_is_forbidden(const char *word, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(forbidden_words); i++)
        if (strlen(forbidden_words[i]) == len && strncasecmp(forbidden_words[i], word, len) == 0)
            return true;
    return false;
}

int code_check(const char *what, const char *text, struct err *err)
{
    if (strlen(text) > CODE_BYTES_MAX)
        return err_set(err, "%s: longer than %d characters", what, CODE_BYTES_MAX);
    bool begins = true; // at the begin of a line or of a part of it
    for (const char *at = text; *at;) {
        size_t len = 0;
        while (text_in_word(at[len]))
            len++;
        if (len > 0) {
            if (word_is_forbidden(at, len))
                return err_set(err,
                               "%s: '%.*s' is not allowed in a query: only instructions, labels "
                               "and data. To repeat code, give `unroll`; for all else there is "
                               "latput bench",
                               what, (int)len, at);
            begins = false;
            at += len;
            continue;
        }
        // The preprocessor reads files and the environment; a continued line could hide a word;
        // directives stand in brackets.
        if (*at == '%' || *at == '\\' || (*at == '[' && begins))
            return err_set(err, "%s: '%c' is not allowed here in a query", what, *at);
        begins = (begins && isspace((unsigned char)*at)) || *at == '\n' || *at == ';' || *at == ':';
        at++;
    }
    return 0;
}
