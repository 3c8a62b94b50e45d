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

static void add(struct strbuf *line, const char *text)
{
    strbuf_printf(line, "%s%s", line->len ? "; " : "", text);
}

void report_legend(const char *table, int width, struct strbuf *out)
{
    struct strbuf line = {0};
    if (strstr(table, "≤"))
        add(&line, "≤ upper bound");
    for (const char *at = table; (at = strchr(at, '~')); at++)
        if (isdigit((unsigned char)at[1])) {
            add(&line, "~ mean of executions that differ");
            break;
        }
    if (has_behind_number(table, '*'))
        add(&line, "* fastest of several steady states");
    if (has_doubt(table, true))
        add(&line, "ports? others fit as well");
    if (has_doubt(table, false))
        add(&line, "name? found by measuring, not claimed by the CPU");
    if (has_part(table, ".data"))
        add(&line, "op2.data: the content of memory at operand 2");
    if (has_part(table, ".base") || has_part(table, ".index"))
        add(&line, "op2.base, .index: the registers of its address");
    if (has_part(table, ".mask"))
        add(&line, "op1.mask: its {k}");
    if (has_part(table, ".rest"))
        add(&line, "op1.rest: the part of a register that stays");
    if (line.len)
        text_wrap(out, strbuf_text(&line), 0, width);
    strbuf_free(&line);
}
