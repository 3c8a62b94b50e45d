// SPDX-License-Identifier: MIT
// Names of CPU families in other programs; see known.h.
#include "known.h"

#include "util/csvfile.h"
#include "util/paths.h"

#include <stdlib.h>
#include <string.h>

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

char *known_other_name(const char *uarch, const char *column, struct err *err)
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
