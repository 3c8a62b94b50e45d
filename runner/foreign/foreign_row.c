// SPDX-License-Identifier: MIT
// Rows and values of tables of others, and the lines that they are read from.
#include "foreign_internal.h"

#include "cpuinfo/cpuinfo.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PORTS_UOPS_MAX = 1000 };

const char *const foreign_quantity_names[FOREIGN_QUANTITIES] = {"latency", "throughput", "uops",
                                                                "ports"};

void foreign_free(struct foreign_table *table)
{
    for (int i = 0; i < table->nrows; i++)
        free(table->rows[i].values);
    free(table->rows);
    arena_free(&table->arena);
    table->rows = NULL;
    table->nrows = 0;
}

// --- rows and values ---

struct foreign_row *foreign_row_add(struct foreign_table *table, int line, const char *name,
                                    struct err *err)
{
    if (table->nrows == FOREIGN_ROWS_MAX) {
        err_set(err, "%s:%d: more than %d rows: no table of instructions has so many", table->path,
                line, FOREIGN_ROWS_MAX);
        return NULL;
    }
    table->rows =
        xgrow(table->rows, &table->capacity, (size_t)table->nrows + 1, sizeof *table->rows);
    struct foreign_row *row = &table->rows[table->nrows++];
    *row = (struct foreign_row){.line = line,
                                .name = arena_strdup(&table->arena, name),
                                .enc = "",
                                .mnemonic = "",
                                .bits = 64,
                                .opcode = -1};
    return row;
}

void foreign_value_add(struct foreign_table *table, struct foreign_row *row,
                       struct foreign_value value)
{
    if (row->nvalues == FOREIGN_VALUES_MAX) {
        foreign_tell(table, row->line, "more values than a form has pairs of operands");
        return;
    }
    if (row->nvalues == row->room) {
        row->room = row->room ? 2 * row->room : 2;
        row->values = xrealloc(row->values, (size_t)row->room * sizeof *row->values);
    }
    row->values[row->nvalues++] = value;
}

void foreign_tell(struct foreign_table *table, int line, const char *what)
{
    int i = 0;
    while (i < table->ntold && strcmp(table->told[i].what, what) != 0)
        i++;
    if (i == table->ntold && i == FOREIGN_TOLD_MAX)
        return;
    if (i == table->ntold)
        table->told[table->ntold++] = (struct foreign_told){what, 0, line};
    table->told[i].n++;
}

int foreign_number(struct foreign_table *table, int line, const char *text, double *value,
                   bool *upper)
{
    static const char *const marks[] = {"<=", "≤", "<", "&le;"};
    static const double clk_max = 1e7; // of any instruction; 2^63 and its like are no times
    while (*text == ' ' || *text == '\t')
        text++;
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (strncmp(text, marks[i], strlen(marks[i])) == 0) {
            *upper = true;
            text += strlen(marks[i]);
            break;
        }
    double number = NAN;
    char *end = (char *)text;
    if (isdigit((unsigned char)*text) || strchr(".-+", *text))
        number = strtod(text, &end);
    if (isnan(number) || end == text || end[strspn(end, " \t\r")]) {
        foreign_tell(table, line, *text ? "a value that is no number" : "an empty value");
        return -1;
    }
    if (number < 0 || number > clk_max) {
        foreign_tell(table, line,
                     number < 0 ? "a negative value, which stands for none"
                                : "a value beyond any time, such as 2^63, which stands for none");
        return -1;
    }
    *value = number;
    return 0;
}

void foreign_value_text(struct foreign_table *table, struct foreign_row *row,
                        enum foreign_quantity quantity, const char *text)
{
    struct foreign_value value = {.quantity = quantity};
    if (foreign_number(table, row->line, text, &value.most, &value.upper) != 0)
        return;
    value.least = value.most;
    foreign_value_add(table, row, value);
}

void foreign_ports_add(struct foreign_table *table, struct foreign_row *row, const char *text)
{
    int uops = 0;
    for (const char *at = text; *at && uops >= 0;) {
        char *end = (char *)at;
        long n = isdigit((unsigned char)*at) ? strtol(at, &end, 10) : 1;
        const char *name = *end == '*' ? end + 1 : at;
        size_t len = 0;
        while (isalnum((unsigned char)name[len]) || (name[len] && strchr("_/<", name[len])))
            len++;
        bool one = n > 0 && n <= PORTS_UOPS_MAX && len > 0 && (*end == '*' || end == at) &&
                   (name[len] == '\0' || (name[len] == '+' && name[len + 1]));
        uops = one && uops <= PORTS_UOPS_MAX ? uops + (int)n : -1;
        at = name + len + (name[len] == '+');
    }
    if (uops < 0) {
        foreign_tell(table, row->line, "ports that are no sum of sets such as 1*p06+2*p5");
        return;
    }
    row->ports = arena_strdup(&table->arena, text);
    foreign_value_add(
        table, row, (struct foreign_value){.quantity = FOREIGN_PORTS, .least = uops, .most = uops});
}

void foreign_operand_add(struct foreign_table *table, struct foreign_row *row, const char *class,
                         int reg)
{
    if (row->nops < FOREIGN_OPERANDS_MAX)
        row->ops[row->nops++] = (struct foreign_operand){arena_strdup(&table->arena, class), reg};
}

void foreign_mnemonic_set(struct foreign_table *table, struct foreign_row *row, const char *text,
                          size_t len)
{
    struct strbuf name = {0};
    for (size_t i = 0; i < len; i++) {
        char byte = (char)tolower((unsigned char)text[i]);
        bool blank = byte == ' ' || byte == '\t';
        if (!blank || (name.len > 0 && name.data[name.len - 1] != ' '))
            strbuf_put(&name, blank ? " " : &byte, 1);
    }
    while (name.len > 0 && name.data[name.len - 1] == ' ')
        strbuf_cut(&name, name.len - 1);
    row->mnemonic = arena_strdup(&table->arena, strbuf_text(&name));
    strbuf_free(&name);
}

void foreign_uarch_set(struct foreign_table *table, const char *said)
{
    struct err ignored;
    const char *uarch = *said ? cpu_uarch_called(said, &ignored) : NULL;
    for (int i = 0; !uarch && cpu_family_name(i); i++)
        if (strcasecmp(cpu_other_name(cpu_family_name(i), CPU_NAME_LLVM), said) == 0 ||
            strcasecmp(cpu_other_name(cpu_family_name(i), CPU_NAME_UOPS_INFO), said) == 0)
            uarch = cpu_family_name(i);
    table->uarch = uarch && strcmp(uarch, "unknown") != 0 ? uarch : "";
}

// --- lines ---

struct foreign_lines *foreign_lines_open(const char *path, struct err *err)
{
    struct foreign_lines *lines = xcalloc(1, sizeof *lines);
    lines->path = path;
    lines->file = fopen(path, "re");
    if (lines->file)
        return lines;
    err_set(err, "%s: %s", path, strerror(errno));
    free(lines);
    return NULL;
}

int foreign_line(struct foreign_lines *lines, struct err *err)
{
    size_t len = 0;
    int byte = 0;
    while ((byte = getc_unlocked(lines->file)) != EOF && byte != '\n') {
        if (len + 1 == sizeof lines->text || byte == 0)
            return err_set(err, "%s:%d: %s", lines->path, lines->line + 1,
                           byte ? "the line is longer than any of such a table"
                                : "a NUL byte: this is no text");
        lines->text[len++] = (char)byte;
    }
    if (byte == EOF && ferror(lines->file))
        return err_set(err, "%s: %s", lines->path, strerror(errno));
    if (byte == EOF && len == 0)
        return 0;
    lines->line++;
    while (len > 0 && lines->text[len - 1] == '\r')
        len--;
    lines->text[len] = '\0';
    lines->len = len;
    return 1;
}

void foreign_lines_close(struct foreign_lines *lines)
{
    if (lines)
        fclose(lines->file);
    free(lines);
}
