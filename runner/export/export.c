// SPDX-License-Identifier: MIT
// What the formats share; see export.h.
#include "export_internal.h"

#include "util/csvfile.h"
#include "util/paths.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char export_no_result[] = "no result that the format has a place for";
const char export_no_row[] = "not in the lists of this latput, which tell its operands";
const char export_no_code[] = "NASM makes no machine code of it";
const char export_same[] = "measured with one register for all operands, for which the format "
                           "has no word";
const char export_32bit[] = "a form of 32-bit mode; the format is of 64-bit mode";

void export_leave(struct export_out *out, const struct export_form *form, const char *reason)
{
    int i = 0;
    while (i < out->nreasons && out->reasons[i].text != reason)
        i++;
    if (i == out->nreasons && i < EXPORT_REASONS_MAX)
        out->reasons[out->nreasons++].text = reason;
    struct export_reason *place = &out->reasons[i < EXPORT_REASONS_MAX ? i : i - 1];
    place->count++;
    strbuf_printf(&place->names, "%s\n", form->id.form);
}

void export_out_free(struct export_out *out)
{
    for (int i = 0; i < out->nreasons; i++)
        strbuf_free(&out->reasons[i].names);
    strbuf_free(&out->text);
}

struct export_whole export_whole(const struct export_pair *pair)
{
    // What two timings of one whole number of cycles differ by at most; see docs/MEASUREMENT.md.
    static const double near = 0.15;
    double nearest = round(pair->clk);
    if (fabs(pair->clk - nearest) <= near + 0.005 * pair->clk)
        return (struct export_whole){(long)nearest, (long)nearest};
    return (struct export_whole){(long)floor(pair->clk), (long)ceil(pair->clk)};
}

void export_line(struct strbuf *out, const char *text)
{
    for (; *text; text++) {
        char byte = (char)(iscntrl((unsigned char)*text) ? ' ' : *text);
        strbuf_put(out, &byte, 1);
    }
}

static char *names_find(const struct csv_file *file, const char *uarch, const char *const *columns,
                        const char *column)
{
    size_t len = strcspn(uarch, "?");
    int c = 0;
    while (strcmp(columns[c], column) != 0)
        c++;
    for (size_t i = 0; i < file->nrecords; i++) {
        const char *name = file->records[i].fields[0];
        if (strlen(name) == len && strncmp(name, uarch, len) == 0)
            return xstrdup(file->records[i].fields[c]);
    }
    return xstrdup("");
}

char *export_other_name(const char *uarch, const char *column, struct err *err)
{
    static const char *const columns[] = {"uarch", "llvm", "uops_info", "osaca"};
    static const struct csv_spec spec = {columns, ARRAY_LEN(columns), 0};
    struct csv_file file;
    if (csv_file_read(path_data("cpuinfo/other_names.csv"), &spec, &file, err) != 0)
        return NULL;
    char *name = names_find(&file, uarch, columns, column);
    csv_file_free(&file);
    return name;
}
