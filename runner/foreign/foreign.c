// SPDX-License-Identifier: MIT
// Recognises tables of others, and has their readers read them; see foreign.h.
#include "foreign_internal.h"

#include "cpuinfo/cpuinfo.h"
#include "pack/pack.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

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
           (strstr(line, "latency") || strstr(line, "throughput") || strstr(line, "uops") ||
            strstr(line, "ports"));
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
    // A pipe gives its content once, and is read twice: what it is, then what it has.
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        err_set(err, "%s: %s", path,
                S_ISDIR(info.st_mode) ? "is a directory, no table"
                                      : "is no file: write what comes from it into one");
        return FOREIGN_NONE;
    }
    FILE *file = fopen(path, "re");
    if (!file) {
        err_set(err, "%s: %s", path, strerror(errno));
        return FOREIGN_NONE;
    }
    size_t got = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[got] = '\0';
    if (got >= 15 && memcmp(text, "SQLite format 3", 15) == 0)
        return FOREIGN_LATPUT;
    if (got > 0 && pack_is_meant(path))
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

bool foreign_is_of(const struct foreign_table *table, const char *cpu)
{
    struct err ignored;
    const char *uarch = cpu_uarch_called(cpu, &ignored);
    return strcasecmp(table->cpu, cpu) == 0 ||
           (*table->uarch && cpu_same_family(table->uarch, uarch ? uarch : cpu));
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
    for (int i = 0; i < table->nrows; i++)
        if (!table->rows[i].why && !table->rows[i].form && !*table->rows[i].mnemonic)
            table->rows[i].why = "a row that names no instruction";
    if (table->nrows == 0)
        return err_set(err, "%s: %s without a row of an instruction; is it cut off?", path,
                       foreign_format_name(table->format));
    return 0;
}
