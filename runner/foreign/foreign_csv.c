// SPDX-License-Identifier: MIT
// A plain CSV: its header names mnemonic and operands, or code (hexadecimal), and latency,
// throughput, µops or ports; other columns are ignored. Times are cycles, or ns, which the column
// mhz makes cycles; without it the clock is found as that of dumps (compare_clock.c).
#include "foreign_internal.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum csv_column {
    CSV_MNEMONIC,
    CSV_OPERANDS,
    CSV_CODE,
    CSV_ENC,
    CSV_LATENCY,
    CSV_THROUGHPUT,
    CSV_UOPS,
    CSV_PORTS,
    CSV_LATENCY_NS,
    CSV_THROUGHPUT_NS,
    CSV_MHZ,
    CSV_COLUMNS
};
enum { CSV_FIELDS_MAX = 256, CSV_CODE_MAX = 15 };

static const char *const csv_names[CSV_COLUMNS][3] = {
    [CSV_MNEMONIC] = {"mnemonic",      "instruction",     ""                     },
    [CSV_OPERANDS] = {"operands",      "",                ""                     },
    [CSV_CODE] = {"code",          "bytes",           "hex"                  },
    [CSV_ENC] = {"enc",           "encoding",        ""                     },
    [CSV_LATENCY] = {"latency",       "latency_clk",     "latency_max_clk"      },
    [CSV_THROUGHPUT] = {"throughput",    "rthroughput_clk", "reciprocal throughput"},
    [CSV_UOPS] = {"uops",          "µops",           ""                     },
    [CSV_PORTS] = {"ports",         "",                ""                     },
    [CSV_LATENCY_NS] = {"latency_ns",    "",                ""                     },
    [CSV_THROUGHPUT_NS] = {"throughput_ns", "rthroughput_ns",  ""                     },
    [CSV_MHZ] = {"mhz",           "clock_mhz",       ""                     },
};

struct csv_table {
    int at[CSV_COLUMNS]; // field of each column, from 0; -1: the file has not this column
    int nfields;
    bool ns; // it has times in ns, beside which cycles may be missing
};

// Splits a line in place. Returns the number of fields; -1: a quote does not end.
static int csv_split(char *line, char *fields[CSV_FIELDS_MAX])
{
    int n = 0;
    char *at = line;
    while (n < CSV_FIELDS_MAX) {
        char *to = at;
        bool quoted = *at == '"';
        fields[n++] = at;
        at += quoted;
        while (*at && (quoted || *at != ',')) {
            if (quoted && *at == '"' && at[1] != '"') {
                quoted = false;
                at++;
                continue;
            }
            at += quoted && *at == '"';
            *to++ = *at++;
        }
        if (quoted)
            return -1;
        bool more = *at == ',';
        at += more;
        *to = '\0';
        if (!more)
            break;
    }
    return n;
}

static int csv_header(struct csv_table *csv, char *fields[], int nfields,
                      const struct foreign_lines *lines, struct err *err)
{
    csv->nfields = nfields;
    for (int column = 0; column < CSV_COLUMNS; column++) {
        csv->at[column] = -1;
        for (int i = nfields - 1; i >= 0; i--)
            for (int name = 0; name < 3; name++)
                if (*csv_names[column][name] && strcasecmp(fields[i], csv_names[column][name]) == 0)
                    csv->at[column] = i;
    }
    if (csv->at[CSV_MNEMONIC] < 0 && csv->at[CSV_CODE] < 0)
        return err_set(err, "%s:%d: the header names no column mnemonic", lines->path, lines->line);
    bool any = false;
    for (int column = CSV_LATENCY; column < CSV_MHZ; column++)
        any |= csv->at[column] >= 0;
    csv->ns = csv->at[CSV_LATENCY_NS] >= 0 || csv->at[CSV_THROUGHPUT_NS] >= 0;
    if (!any)
        return err_set(err, "%s:%d: the header names no column latency, throughput, uops or ports",
                       lines->path, lines->line);
    return 0;
}

// Reads pairs of hexadecimal digits; returns the number of bytes, 0 if they are none.
static size_t csv_code(const char *text, unsigned char *code)
{
    size_t n = 0;
    for (; *text; text++) {
        unsigned byte;
        if (*text == ' ')
            continue;
        if (n == CSV_CODE_MAX || !isxdigit((unsigned char)text[0]) ||
            !isxdigit((unsigned char)text[1]) || sscanf(text, "%2x", &byte) != 1)
            return 0;
        code[n++] = (unsigned char)byte;
        text++;
    }
    return n;
}

static const char *csv_field(const struct csv_table *csv, char *fields[], enum csv_column column)
{
    return csv->at[column] < 0 ? "" : fields[csv->at[column]];
}

// Adds the times of a row that are in ns, unless it has the same in cycles.
static void csv_row_ns(struct foreign_table *table, const struct csv_table *csv, char *fields[],
                       struct foreign_row *row)
{
    static const enum csv_column columns[][2] = {
        {CSV_LATENCY,    CSV_LATENCY_NS   },
        {CSV_THROUGHPUT, CSV_THROUGHPUT_NS}
    };
    static const enum foreign_quantity quantities[] = {FOREIGN_LATENCY, FOREIGN_THROUGHPUT};
    const char *mhz = csv_field(csv, fields, CSV_MHZ);
    double clock_mhz = 0;
    bool upper;
    if (*mhz && foreign_number(table, row->line, mhz, &clock_mhz, &upper) != 0)
        return; // its times are not those of the other rows' clock
    for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
        const char *ns = csv_field(csv, fields, columns[i][1]);
        struct foreign_value value = {.quantity = quantities[i], .ns = clock_mhz <= 0};
        if (!*ns || *csv_field(csv, fields, columns[i][0]) ||
            foreign_number(table, row->line, ns, &value.most, &value.upper) != 0)
            continue;
        value.most *= clock_mhz > 0 ? clock_mhz / 1e3 : 1;
        value.least = value.most;
        foreign_value_add(table, row, value);
    }
}

static int csv_row(struct foreign_table *table, const struct csv_table *csv, char *fields[],
                   int line, struct err *err)
{
    static const enum csv_column values[] = {CSV_LATENCY, CSV_THROUGHPUT, CSV_UOPS};
    unsigned char code[CSV_CODE_MAX];
    const char *mnemonic = csv_field(csv, fields, CSV_MNEMONIC);
    const char *operands = csv_field(csv, fields, CSV_OPERANDS);
    const char *bytes = csv_field(csv, fields, CSV_CODE);
    struct strbuf name = {0};
    strbuf_printf(&name, "%s%s%s%s", mnemonic, *operands ? " " : "", operands,
                  *mnemonic ? "" : bytes);
    struct foreign_row *row = foreign_row_add(table, line, strbuf_text(&name), err);
    strbuf_free(&name);
    if (!row)
        return -1;
    size_t len = csv_code(bytes, code);
    if (*bytes && (len == 0 || !foreign_row_decode(table, row, code, len)))
        row->why = "bytes that are no single instruction";
    if (!*bytes) {
        foreign_mnemonic_set(table, row, mnemonic, strlen(mnemonic));
        row->enc = arena_strdup(&table->arena, csv_field(csv, fields, CSV_ENC));
        row->why = foreign_operands_parse(table, row, operands);
    }
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        if (csv->at[values[i]] >= 0 && (*fields[csv->at[values[i]]] || !csv->ns))
            foreign_value_text(table, row, (enum foreign_quantity)i, fields[csv->at[values[i]]]);
    csv_row_ns(table, csv, fields, row);
    if (*csv_field(csv, fields, CSV_PORTS))
        foreign_ports_add(table, row, csv_field(csv, fields, CSV_PORTS));
    return 0;
}

int foreign_read_csv(const char *path, const char *cpu, struct foreign_table *table,
                     struct err *err)
{
    struct foreign_lines *lines = foreign_lines_open(path, err);
    struct csv_table csv = {.nfields = 0};
    char *fields[CSV_FIELDS_MAX];
    int got = lines ? 1 : -1;
    (void)cpu;
    while (got > 0 && (got = foreign_line(lines, err)) > 0) {
        char *text = lines->text;
        if (lines->line == 1 && strncmp(text, "\xef\xbb\xbf", 3) == 0)
            text += 3;
        if (*text == '#' || *text == '\0')
            continue;
        int n = csv_split(text, fields);
        if (n < 0)
            got = err_set(err, "%s:%d: a quote does not end in its line", path, lines->line);
        else if (csv.nfields == 0)
            got = csv_header(&csv, fields, n, lines, err) == 0 ? 1 : -1;
        else if (n != csv.nfields)
            got = err_set(err, "%s:%d: %d fields, where the header has %d", path, lines->line, n,
                          csv.nfields);
        else if (csv_row(table, &csv, fields, lines->line, err) != 0)
            got = -1;
    }
    foreign_lines_close(lines);
    return got;
}
