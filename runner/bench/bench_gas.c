// SPDX-License-Identifier: MIT
// The assembler of binutils; see bench_gas.h. A statement is labels and one instruction, whose
// mnemonic is letters and digits, so that no directive and no assignment passes.
#include "bench_gas.h"

#include "bench_elf.h"
#include "util/file_write.h"
#include "util/strbuf.h"
#include "util/subproc.h"

#include <Zydis/Zydis.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { AS_TIMEOUT_MS = 60 * 1000 };

bool bench_text_is_att(const char *text)
{
    for (const char *at = strchr(text, '%'); at; at = strchr(at + 1, '%')) {
        size_t len = 0;
        while (isalnum((unsigned char)at[1 + len]))
            len++;
        for (int reg = ZYDIS_REGISTER_NONE + 1; len && reg <= ZYDIS_REGISTER_MAX_VALUE; reg++) {
            const char *name = ZydisRegisterGetString((ZydisRegister)reg);
            if (name && strlen(name) == len && strncasecmp(name, at + 1, len) == 0)
                return true;
        }
    }
    return false;
}

// Returns true if a word of the text ends in this one, in any case, right before `end`.
static bool ends_in_word(const char *text, const char *end, const char *word)
{
    size_t len = strlen(word);
    return (size_t)(end - text) >= len && strncasecmp(end - len, word, len) == 0;
}

bool bench_text_is_intel(const char *text)
{
    for (const char *at = text; (at = strcasestr(at, "ptr")); at++) {
        const char *end = at;
        while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
            end--;
        if (end < at && (ends_in_word(text, end, "word") || ends_in_word(text, end, "byte")) &&
            (at[3] == ' ' || at[3] == '\t' || at[3] == '['))
            return true;
    }
    return false;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

// Checks one statement: labels, prefixes in braces, a mnemonic, operands.
static int statement_check(const char *at, const char *end, int line, struct err *err)
{
    const char *begin = at;
    while (end > at && isspace((unsigned char)end[-1]))
        end--;
    for (;;) {
        while (at < end && isspace((unsigned char)*at))
            at++;
        const char *word = at;
        while (at < end && is_name(*at))
            at++;
        if (at == word || at == end || *at != ':') {
            at = word;
            break;
        }
        at++;
    }
    if (at == end)
        return 0;
    int shown = (int)(end - begin < 60 ? end - begin : 60);
    if (*at == '.')
        return err_set(err,
                       "%d: '%.*s': no directive is taken, only instructions and labels: assemble "
                       "the file, and give the object with --symbol",
                       line, (int)(strcspn(at, " \t\n") < 60 ? strcspn(at, " \t\n") : 60), at);
    if (!isalpha((unsigned char)*at) && *at != '{')
        return err_set(err, "%d: '%.*s' is no instruction", line, shown, begin);
    for (const char *p = at; p < end; p++)
        if (strchr("\"'\\=`", *p) || (iscntrl((unsigned char)*p) && *p != '\t'))
            return err_set(err, "%d: '%.*s': '%c' belongs to no instruction", line, shown, begin,
                           isprint((unsigned char)*p) ? *p : '?');
    return 0;
}

// Returns the end of a statement, and in *next where the one after it begins.
static const char *statement_end(const char *at, const char **next)
{
    const char *end = at + strcspn(at, ";#\n");
    *next = *end == '#' ? end + strcspn(end, "\n") : end;
    return end;
}

int bench_gas_check(const char *text, struct err *err)
{
    int line = 1;
    for (const char *at = text; *at;) {
        const char *next, *end = statement_end(at, &next);
        if (statement_check(at, end, line, err) != 0)
            return -1;
        line += *next == '\n';
        at = next + (*next != '\0');
    }
    return 0;
}

static int source_write(const char *path, const char *text, enum bench_syntax syntax,
                        struct err *err)
{
    struct strbuf lines = {0};
    strbuf_puts(&lines, syntax == BENCH_INTEL ? ".intel_syntax noprefix; " : "");
    for (const char *at = text; *at;) {
        const char *next, *end = statement_end(at, &next);
        strbuf_printf(&lines, "%.*s%s", (int)(end - at), at, *next == ';' ? ";" : "\n");
        at = next + (*next != '\0');
    }
    int status = file_write_scratch(path, strbuf_text(&lines), err);
    strbuf_free(&lines);
    return status;
}

// Sets the first message of `as`: "foreign.s:3: Error: no such instruction: `foo'".
static void gas_refused(const char *errors, const int *lines, struct err *err)
{
    static const char name[] = "foreign.s:", error[] = "Error: ";
    const char *message = strstr(errors, error), *at = message;
    while (at && at > errors && at[-1] != '\n')
        at--;
    int line = at && strncmp(at, name, strlen(name)) == 0 ? atoi(at + strlen(name)) : 0;
    if (!message || line < 1) {
        err_set(err, "as refuses it: %.*s", (int)strcspn(errors, "\n"), errors);
        return;
    }
    message += strlen(error);
    err_set(err, "%d: as says: %.*s", lines ? lines[line - 1] : line, (int)strcspn(message, "\n"),
            message);
}

static int gas_run(struct bench_reading *reading, const int *lines, int bits, struct err *err)
{
    const char *const argv[] = {"as", bits == 32 ? "--32" : "--64", "-o", "foreign.o", "foreign.s",
                                NULL};
    // It reads its input, which lies in its directory, and nothing else.
    const char *const readable[] = {NULL};
    const struct subproc_options options = {
        .cwd = reading->directory, .timeout_ms = AS_TIMEOUT_MS, .tool = true, .readable = readable};
    struct subproc_result result = {0};
    if (subproc_run(argv, &options, &result, err) != 0)
        return -1;
    reading->refused = result.exit_status != 0 || result.signal || result.timed_out;
    if (reading->refused)
        gas_refused(result.timed_out ? "it takes more than a minute" : result.err, lines, err);
    subproc_result_free(&result);
    return reading->refused ? -1 : 0;
}

int bench_gas_assemble(struct bench_reading *reading, const char *text, const int *lines,
                       enum bench_syntax syntax, struct bench_bytes *code, struct err *err)
{
    reading->refused = true;
    if (bench_gas_check(text, err) != 0) {
        if (lines) { // the listing's number instead
            const struct err what = *err;
            char *rest;
            long line = strtol(what.text, &rest, 10);
            err_set(err, "%d%s", lines[line - 1], rest);
        }
        return -1;
    }
    reading->refused = false;
    const char *source = arena_printf(reading->arena, "%s/foreign.s", reading->directory),
               *object = arena_printf(reading->arena, "%s/foreign.o", reading->directory);
    int status = source_write(source, text, syntax, err);
    if (status == 0)
        status = gas_run(reading, lines, code->bits, err);
    if (status == 0)
        status = bench_elf_text(object, code, reading, err);
    unlink(source);
    unlink(object);
    return status;
}
