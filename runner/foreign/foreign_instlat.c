// SPDX-License-Identifier: MIT
// InstLatX64's dumps: a head with the CPU and its clock, then rows of latency and throughput. Their
// code is one instruction repeated; `r32, r32` is one register, `r1_32, r2_32` are two.
#include "foreign_internal.h"

#include "cpuinfo/cpuinfo.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CLOCK_MHZ_MIN = 10, CLOCK_MHZ_MAX = 20000 };

static const char why_several[] = "several instructions, of which the dump has one time";
static const char why_data[] = "operands of values that the forms of the lists do not have";
static const char why_bandwidth[] = "a bandwidth";
static const char why_cut[] = "a row that is cut off";

static void instlat_head(struct foreign_table *table, const char *text, int line)
{
    char vendor[16], brand[64];
    struct cpu_info cpu = {.core_type = 0};
    const char *clock = strstr(text, "Freq:"), *type = strstr(text, "Type: \"");
    const char *who = strstr(text, "Vendor:");
    if (clock && table->clock_mhz == 0) {
        double mhz = strtod(clock + strlen("Freq:"), NULL);
        if (mhz >= CLOCK_MHZ_MIN && mhz <= CLOCK_MHZ_MAX)
            table->clock_mhz = mhz;
        else
            foreign_tell(table, line, "a clock that no CPU has");
    }
    if (who && !*table->uarch &&
        sscanf(who, "Vendor: %12s Family: %x Model: %x Stepping: %x", vendor,
               (unsigned *)&cpu.family, (unsigned *)&cpu.model, (unsigned *)&cpu.stepping) == 4) {
        snprintf(cpu.vendor, sizeof cpu.vendor, "%s", vendor);
        cpu_judge(&cpu, NULL);
        if (strcmp(cpu.claim, "unknown") != 0)
            table->uarch = arena_strdup(&table->arena, cpu.claim);
    }
    if (type && !*table->cpu && sscanf(type, "Type: \"%63[^\"]", brand) == 1)
        table->cpu = arena_strdup(&table->arena, brand);
}

// Returns where a row's name begins; NULL: the line is no row.
static const char *instlat_name(const char *text)
{
    const char *at = text + strspn(text, " ");
    size_t digits = strspn(at, "0123456789"), word;
    if (digits == 0 || at[digits] != ' ')
        return NULL;
    at += digits + strspn(at + digits, " ");
    word = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+/");
    at += word;
    at += strspn(at, " ");
    return word > 0 && *at == ':' ? at + 1 : NULL;
}

// Reads `0.29ns=  1.0c`. Cycles are ns times the clock of the dump: what is not is no value.
static void instlat_value(struct foreign_table *table, struct foreign_row *row,
                          enum foreign_quantity quantity, const char *text)
{
    char ns_text[32] = "", clk_text[32] = "";
    struct foreign_value value = {.quantity = quantity};
    double ns = NAN, clk = NAN, clock_ghz = table->clock_mhz / 1000;
    bool upper = false;
    text += strspn(text, " ");
    if (*text == '[') // [no true dep.]: there is no chain of it
        return;
    snprintf(ns_text, sizeof ns_text, "%.*s", (int)(strcspn(text, "n=c") % 31), text);
    bool has_ns = strstr(text, "ns") != NULL;
    const char *after = has_ns ? strchr(text, '=') : text;
    if (after)
        snprintf(clk_text, sizeof clk_text, "%.*s", (int)(strcspn(after + has_ns, "c") % 31),
                 after + has_ns);
    if (has_ns && foreign_number(table, row->line, ns_text, &ns, &upper) != 0)
        return;
    if (after && foreign_number(table, row->line, clk_text, &clk, &upper) != 0)
        return;
    if (!after && clock_ghz > 0)
        clk = ns * clock_ghz;
    if (isnan(clk)) { // the clock can be seen from rows of one cycle
        value.ns = true;
        clk = ns;
    }
    if (has_ns && after && clock_ghz > 0 &&
        fabs(ns * clock_ghz - clk) > 0.06 + 0.006 * clock_ghz + 0.01 * clk) {
        foreign_tell(table, row->line, "cycles that are not the ns by the clock of the dump");
        return;
    }
    value.least = value.most = clk;
    value.upper = upper;
    foreign_value_add(table, row, value);
}

// Takes `(edx)`, the operand that ends the chain. Returns false for other words in parentheses,
// which are data.
static bool instlat_result(struct foreign_table *table, struct foreign_row *row, char *name)
{
    static const struct {
        const char *word, *dst;
    } results[] = {
        {"(al)",  "al" },
        {"(ax)",  "ax" },
        {"(eax)", "eax"},
        {"(rax)", "rax"},
        {"(ah)",  "ah" },
        {"(dx)",  "dx" },
        {"(edx)", "edx"},
        {"(rdx)", "rdx"}
    };
    char *open = strstr(name, " (");
    if (!open)
        return !strchr(name, '/') && !strchr(name, '^');
    for (size_t i = 0; i < ARRAY_LEN(results); i++)
        if (strcmp(open + 1, results[i].word) == 0) {
            row->dst = results[i].dst;
            *open = '\0';
            return true;
        }
    (void)table;
    return false;
}

// Returns true for two instructions: `MOV r32, mm+MOVD mm, r32`, `MOVAPS LS pair`, `, FXCH st(i)`.
static bool instlat_is_several(const char *name)
{
    int depth = 0;
    for (const char *at = name; *at; at++) {
        depth += (*at == '[') - (*at == ']');
        if (depth == 0 && *at == '+')
            return true;
    }
    return strstr(name, "pair") || strstr(name, ", FXCH") || strstr(name, "2x") ||
           strchr(name, ';');
}

static void instlat_instruction(struct foreign_table *table, struct foreign_row *row,
                                const char *text, bool evex)
{
    static const char *const prefixes[] = {"LOCK ", "REP ", "REPE ", "REPNE ", "REPZ ", "REPNZ "};
    char name[256];
    const char *from = text + strspn(text, " ");
    if (strncasecmp(from, "{evex}", 6) == 0 || strncasecmp(from, "{vex}", 5) == 0) {
        evex = from[1] == 'E' || from[1] == 'e';
        row->enc = evex ? "evex" : "vex";
        from += strcspn(from, "}") + 1;
        from += strspn(from, " ");
    }
    snprintf(name, sizeof name, "%s", from);
    if (instlat_is_several(name)) {
        row->why = why_several;
        return;
    }
    if (!instlat_result(table, row, name) || (isdigit((unsigned char)*name))) {
        row->why = why_data;
        return;
    }
    size_t prefix = 0;
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (strncasecmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            prefix = strlen(prefixes[i]);
    size_t len = prefix + strcspn(name + prefix, " ");
    foreign_mnemonic_set(table, row, name, len);
    if (*row->mnemonic == 'v' && !*row->enc)
        row->enc = evex ? "evex" : "vex";
    row->chain = true;
    row->why = foreign_operands_parse(table, row, name + len);
}

// Copies a field without blanks around it, up to where the next begins.
static void instlat_field(const char *from, const char *to, char field[256])
{
    size_t len;
    from += strspn(from, " ");
    len = to && to > from ? (size_t)(to - from) : to ? 0 : strcspn(from, "\r");
    snprintf(field, 256, "%.*s", (int)(len < 255 ? len : 255), from);
    for (len = strlen(field); len > 0 && field[len - 1] == ' '; len--)
        field[len - 1] = '\0';
}

static int instlat_row(struct foreign_table *table, const char *line_text, const char *name_at,
                       int line, struct err *err)
{
    char name[256], value[256];
    const char *latency = strstr(name_at, " L:"), *bandwidth = strstr(name_at, "BW in ");
    const char *throughput = strstr(latency ? latency : name_at, " T:");
    const char *extension = line_text + strspn(line_text, " 0123456789");
    instlat_field(name_at, latency ? latency : bandwidth, name);
    struct foreign_row *row = foreign_row_add(table, line, name, err);
    if (!row)
        return -1;
    instlat_instruction(table, row, name, strncmp(extension, "AVX512", 6) == 0);
    if (!latency || !throughput) {
        row->why = bandwidth ? why_bandwidth : why_cut;
        return 0;
    }
    instlat_field(latency + 3, throughput, value);
    instlat_value(table, row, FOREIGN_LATENCY, value);
    instlat_field(throughput + 3, NULL, value);
    instlat_value(table, row, FOREIGN_THROUGHPUT, value);
    return 0;
}

int foreign_read_instlat(const char *path, const char *cpu, struct foreign_table *table,
                         struct err *err)
{
    struct foreign_lines *lines = foreign_lines_open(path, err);
    int got = lines ? 1 : -1;
    (void)cpu;
    while (got > 0 && (got = foreign_line(lines, err)) > 0) {
        const char *name = instlat_name(lines->text);
        if (!name)
            instlat_head(table, lines->text, lines->line);
        else if (instlat_row(table, lines->text, name, lines->line, err) != 0)
            got = -1;
    }
    foreign_lines_close(lines);
    return got;
}
