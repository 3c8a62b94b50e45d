// SPDX-License-Identifier: MIT
// Functions on text by the names of Linux's C library; see ../README.md.
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *strcasestr(const char *text, const char *part)
{
    size_t len = strlen(part);
    for (;; text++) {
        if (strncasecmp(text, part, len) == 0)
            return (char *)text;
        if (!*text)
            return NULL;
    }
}

char *strndup(const char *text, size_t bytes)
{
    size_t len = strnlen(text, bytes);
    char *copy = malloc(len + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

char *strsep(char **rest, const char *at)
{
    char *begin = *rest;
    if (!begin)
        return NULL;
    char *end = begin + strcspn(begin, at);
    *rest = *end ? end + 1 : NULL;
    *end = '\0';
    return begin;
}

// Numbers in texts have their order. Those that begin with 0, which Linux has before others, do not
// come up.
int strverscmp(const char *a, const char *b)
{
    while (*a && *a == *b && !isdigit((unsigned char)*a)) {
        a++;
        b++;
    }
    if (!isdigit((unsigned char)*a) || !isdigit((unsigned char)*b))
        return (unsigned char)*a - (unsigned char)*b;
    char *a_end, *b_end;
    unsigned long long a_number = strtoull(a, &a_end, 10), b_number = strtoull(b, &b_end, 10);
    if (a_number != b_number)
        return a_number < b_number ? -1 : 1;
    return strverscmp(a_end, b_end);
}

const char *sigabbrev_np(int number)
{
    static const char *const names[] = {
        [SIGHUP] = "HUP",   [SIGINT] = "INT",   [SIGQUIT] = "QUIT", [SIGILL] = "ILL",
        [SIGTRAP] = "TRAP", [SIGBUS] = "BUS",   [SIGFPE] = "FPE",   [SIGKILL] = "KILL",
        [SIGSEGV] = "SEGV", [SIGTERM] = "TERM", [SIGSYS] = "SYS",
    };
    return number >= 0 && number < (int)(sizeof names / sizeof *names) ? names[number] : NULL;
}

ssize_t getline(char **line, size_t *room, FILE *file)
{
    size_t len = 0;
    for (int c; (c = getc(file)) != EOF;) {
        if (len + 2 > *room) {
            size_t grown = 2 * *room + 256;
            char *larger = realloc(*line, grown);
            if (!larger)
                return -1;
            *line = larger;
            *room = grown;
        }
        (*line)[len++] = (char)c;
        if (c == '\n')
            break;
    }
    if (len == 0)
        return -1;
    (*line)[len] = '\0';
    return (ssize_t)len;
}

static int letter_of(int c, int flags)
{
    return flags & FNM_CASEFOLD ? tolower((unsigned char)c) : c;
}

// Compares a letter with a set, [...]. *pattern is at its bracket, and goes past it. A bracket
// without an end is a letter.
static bool set_has(const char **pattern, int c, int flags)
{
    const char *at = *pattern + 1;
    bool not = *at == '!' || *at == '^', has = false;
    const char *first = at += not ;
    for (; *at && (*at != ']' || at == first); at++) {
        int low = letter_of(*at, flags), high = low;
        if (at[1] == '-' && at[2] && at[2] != ']') {
            high = letter_of(at[2], flags);
            at += 2;
        }
        has |= low <= c && c <= high;
    }
    if (!*at) {
        ++*pattern;
        return c == '[';
    }
    *pattern = at + 1;
    return has != not ;
}

// Compares one letter with the head of the pattern, and goes past that.
static bool head_is(const char **pattern, int c, int flags)
{
    if (**pattern == '[')
        return set_has(pattern, c, flags);
    if (**pattern == '?') {
        ++*pattern;
        return true;
    }
    if (**pattern == '\\' && (*pattern)[1])
        ++*pattern;
    return letter_of(*(*pattern)++, flags) == c;
}

int fnmatch(const char *pattern, const char *text, int flags)
{
    const char *star = NULL, *from = text; // the last star, and the text that it ends at
    while (*text || *pattern == '*') {
        if (*pattern == '*') {
            star = ++pattern;
            from = text;
            continue;
        }
        if (*pattern && head_is(&pattern, letter_of(*text, flags), flags)) {
            text++;
            continue;
        }
        if (!star || !*from)
            return FNM_NOMATCH;
        pattern = star;
        text = ++from;
    }
    return *pattern ? FNM_NOMATCH : 0;
}
