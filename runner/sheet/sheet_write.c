// SPDX-License-Identifier: MIT
// Writes properties.txt: the fact sheet of a core, with all conclusions of the run below it; see
// sheet.h.
#include "sheet.h"

#include "util/file_write.h"
#include "util/mem.h"

#include <stdlib.h>

// Appends the fact sheet, and all conclusions of the run below it.
static int make_sheet(const struct sheet_cpu *cpu, struct strbuf *out, struct err *err)
{
    struct sheet_lines lines;
    if (sheet_lines_load(&lines, err) != 0)
        return -1;
    sheet_print(&lines, cpu, 1, &(struct sheet_look){REPORT_TABLE, SHEET_WIDTH, false}, out);
    sheet_lines_free(&lines);
    strbuf_puts(out, "\nProperties of the pipeline\n");
    sheet_put_conclusions(cpu->properties, cpu->nproperties, *cpu->whose.hypervisor != '\0', out);
    return 0;
}

int sheet_write(const struct sheet_cpu *cpu, const char *directory, struct err *err)
{
    struct strbuf sheet = {0};
    char *path = xasprintf("%s/properties.txt", directory);
    int status = make_sheet(cpu, &sheet, err);
    if (status == 0)
        status = file_write(path, strbuf_text(&sheet), sheet.len, err);
    strbuf_free(&sheet);
    free(path);
    return status;
}
