// SPDX-License-Identifier: MIT
// The meaning of the marks in a table on a terminal; see report.h. It looks at the printed text, so
// it only explains marks that are there.
#include "report.h"

#include "util/mem.h"
#include "util/text.h"

#include <ctype.h>
#include <string.h>

static bool is_end(char c)
{
    return !c || isspace((unsigned char)c);
}

// Returns true if the table has a number with this sign right after it.
static bool has_behind_number(const char *table, char sign)
{
    for (const char *at = table; (at = strchr(at, sign)); at++)
        if (at > table && isdigit((unsigned char)at[-1]) && is_end(at[1]))
            return true;
    return false;
}

// Returns true if a word ends with ?: ports (which have a * in them or are none), or others.
static bool has_doubt(const char *table, bool ports)
{
    for (const char *at = table; (at = strchr(at, '?')); at++) {
        const char *word = at;
        while (word > table && !isspace((unsigned char)word[-1]))
            word--;
        bool of_ports = memchr(word, '*', (size_t)(at - word)) || strncmp(word, "none?", 5) == 0;
        if (is_end(at[1]) && at > word && of_ports == ports)
            return true;
    }
    return false;
}

// Returns true if the table names a part of an operand: op3.data.
static bool has_part(const char *table, const char *part)
{
    for (const char *at = table; (at = strstr(at, part)); at++)
        if (at - 3 >= table && strncmp(at - 3, "op", 2) == 0 && is_end(at[strlen(part)]))
            return true;
    return false;
}

// Returns true if the table has ports that no form of one µop has for itself: 1*p1/p5.
static bool has_joined(const char *table)
{
    for (const char *at = table; (at = strchr(at, '*')); at++)
        for (const char *end = at + 1; !is_end(*end); end++)
            if (*end == '/')
                return true;
    return false;
}

// Returns true if the last column is the run, and a line ends with two, 3/1.
static bool has_two_runs(const char *table)
{
    static const char run[] = " run";
    size_t len = strcspn(table, "\n");
    if (len < strlen(run) || strncmp(table + len - strlen(run), run, strlen(run)) != 0)
        return false;
    for (const char *at = table; (at = strchr(at, '/')); at++) {
        size_t digits = strspn(at + 1, "0123456789");
        if (digits > 0 && at[digits + 1] == '\n' && at > table && isdigit((unsigned char)at[-1]))
            return true;
    }
    return false;
}

// Returns true if the table has two numbers with this between them.
static bool has_between_numbers(const char *table, const char *between)
{
    size_t len = strlen(between);
    for (const char *at = table; (at = strstr(at, between)); at += len)
        if (at > table && isdigit((unsigned char)at[-1]) && isdigit((unsigned char)at[len]))
            return true;
    return false;
}

static bool has_average(const char *table)
{
    for (const char *at = table; (at = strchr(at, '~')); at++)
        if (isdigit((unsigned char)at[1]))
            return true;
    return false;
}

static void add(struct strbuf *line, const char *text)
{
    strbuf_printf(line, "%s%s", line->len ? "; " : "", text);
}

void report_legend(const char *table, int width, struct strbuf *out)
{
    struct strbuf line = {0};
    const bool has[COLUMN_SIGNS] = {
        [SIGN_UPPER] = strstr(table, column_marks[SIGN_UPPER].sign) != NULL,
        [SIGN_AVERAGE] = has_average(table),
        [SIGN_STATES] = has_behind_number(table, '*'),
        [SIGN_PORTS] = has_doubt(table, true),
        [SIGN_JOINED] = has_joined(table),
        [SIGN_NAME] = has_doubt(table, false),
        [SIGN_RANGE] = has_between_numbers(table, "–"),
        [SIGN_SLOW] = has_between_numbers(table, " / "),
    };
    for (int i = 0; i < COLUMN_SIGNS; i++)
        if (has[i]) {
            add(&line, column_marks[i].sign);
            strbuf_printf(&line, " %s", column_marks[i].says);
        }
    if (has_part(table, ".data"))
        add(&line, "op2.data: the content of memory at operand 2");
    if (has_part(table, ".base") || has_part(table, ".index"))
        add(&line, "op2.base, .index: the registers of its address");
    if (has_part(table, ".mask"))
        add(&line, "op1.mask: its {k}");
    if (has_part(table, ".rest"))
        add(&line, "op1.rest: the part of a register that stays");
    if (has_two_runs(table))
        add(&line, "run 3/1: ports and µops are of run 1");
    if (line.len)
        text_wrap(out, strbuf_text(&line), 0, width);
    strbuf_free(&line);
}
