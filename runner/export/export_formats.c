// SPDX-License-Identifier: MIT
// The list of formats.
#include "export_formats.h"

#include <string.h>

const struct export_format *const export_formats[] = {
    &export_csv,
    &export_spreadsheet,
    &export_json,
    &export_uops_xml,
    &export_osaca,
    &export_exegesis,
    &export_exegesis_throughput,
    &export_exegesis_uops,
    &export_llvm_json,
    &export_llvm_sched,
    &export_intrinsics,
    &export_asmdude,
    NULL,
};

const struct export_format *export_format_find(const char *name)
{
    for (int i = 0; export_formats[i]; i++)
        if (strcmp(export_formats[i]->name, name) == 0)
            return export_formats[i];
    return NULL;
}
