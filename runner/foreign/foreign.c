// SPDX-License-Identifier: MIT
// Recognises tables of others, and what their readers share; see foreign.h.
#include "foreign_internal.h"

#include "cpuinfo/cpuinfo.h"
#include "pack/pack.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

const char *const foreign_quantity_names[FOREIGN_QUANTITIES] = {"latency", "throughput", "uops"};

const char *foreign_format_name(enum foreign_format format)
{
    static const char *const names[] = {
        [FOREIGN_NONE] = "nothing",
        [FOREIGN_LATPUT] = "a database of latput",
        [FOREIGN_PACK] = "a pack of latput",
        [FOREIGN_CSV] = "a CSV",
        [FOREIGN_INSTLAT] = "an InstLatX64 dump",
        [FOREIGN_UOPS_INFO] = "XML as uops.info has it",
        [FOREIGN_EXEGESIS] = "YAML of llvm-exegesis",
        [FOREIGN_LLVM] = "LLVM's scheduling model",
    };
    return names[format];
}

// --- recognition ---

// Returns true if a line of the text begins so.
static bool begins_line(const char *text, const char *with)
{
    size_t len = strlen(with);
    for (const char *at = text; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, with, len) == 0)
            return true;
    }
    return false;
}

// Returns true if a CSV's header names instructions and a value.
static bool is_header(const char *text)
{
    char line[1024] = "";
    const char *at = text;
    while (*at == '#' || *at == '\n' || *at == '\r')
        at += strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n');
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\r\n"), at);
    for (char *c = line; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    bool named = strstr(line, "mnemonic") || strstr(line, "operands") || strstr(line, "hex") ||
                 strstr(line, "code");
    return strchr(line, ',') && named &&
           (strstr(line, "latency") || strstr(line, "throughput") || strstr(line, "uops"));
}

static enum foreign_format recognise_text(const char *text)
{
    text += strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    const char *first = text + strspn(text, " \t\r\n");
    if (*first == '<')
        return FOREIGN_UOPS_INFO;
    if (begins_line(text, "mode:") && begins_line(text, "---"))
        return FOREIGN_EXEGESIS;
    if (begins_line(text, "CPU#0") || begins_line(text, "Instruction Latency") ||
        strstr(text, "aida_bench") || strstr(text, "InstLatX64"))
        return FOREIGN_INSTLAT;
    return is_header(text) ? FOREIGN_CSV : FOREIGN_NONE;
}

enum foreign_format foreign_recognise(const char *path, struct err *err)
{
    char text[16384];
    struct stat info;
    FILE *file = fopen(path, "re");
    if (!file || fstat(fileno(file), &info) != 0 || S_ISDIR(info.st_mode)) {
        err_set(err, "%s: %s", path, file ? "is a directory, no table" : strerror(errno));
        if (file)
            fclose(file);
        return FOREIGN_NONE;
    }
    size_t got = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[got] = '\0';
    if (got >= 15 && memcmp(text, "SQLite format 3", 15) == 0)
        return FOREIGN_LATPUT;
    if (S_ISREG(info.st_mode) && got > 0 && pack_is_meant(path))
        return FOREIGN_PACK;
    enum foreign_format format = strlen(text) == got ? recognise_text(text) : FOREIGN_NONE;
    if (format == FOREIGN_NONE)
        err_set(err,
                "%s: no table that compare knows; it reads InstLatX64's dumps, uops.info's "
                "instructions.xml, llvm-exegesis' YAML, databases and packs of latput, and CSV "
                "with a header such as mnemonic,operands,latency,throughput",
                path);
    return format;
}

int foreign_read(const char *path, const char *cpu, struct foreign_table *table, struct err *err)
{
    static foreign_reader *const readers[] = {
        [FOREIGN_LATPUT] = foreign_read_latput,
        [FOREIGN_PACK] = foreign_read_latput,
        [FOREIGN_CSV] = foreign_read_csv,
        [FOREIGN_INSTLAT] = foreign_read_instlat,
        [FOREIGN_UOPS_INFO] = foreign_read_uops_info,
        [FOREIGN_EXEGESIS] = foreign_read_exegesis,
    };
    *table = (struct foreign_table){.path = path, .cpu = "", .uarch = ""};
    table->format = foreign_recognise(path, err);
    if (table->format == FOREIGN_NONE || readers[table->format](path, cpu, table, err) != 0)
        return -1;
    if (table->nrows == 0)
        return err_set(err, "%s: %s without a row of an instruction; is it cut off?", path,
                       foreign_format_name(table->format));
    return 0;
}

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
    char *end = NULL;
    double number = isdigit((unsigned char)*text) || *text == '.' || *text == '-' || *text == '+' ||
                            *text == ' '
                        ? strtod(text, &end)
                        : (double)NAN;
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
