// SPDX-License-Identifier: MIT
// See llvm_run.h.
#include "llvm_run.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

// llvm-mca gets pieces that take it a tenth of a second, and may hang.
enum { LLVM_TIMEOUT_MS = 120 * 1000, LLVM_MCA_TIMEOUT_MS = 5 * 1000 };
static const size_t LLVM_OUTPUT_MAX = 512u << 20;

int llvm_run(const char *tool, const char *const *arguments, const char *directory,
             const char *stdin_name, struct subproc_result *result, struct err *err)
{
    static const char *const versions[] = {"-19", ""};
    const char *argv[16];
    char *path = stdin_name ? xasprintf("%s/%s", directory, stdin_name) : NULL;
    int n = 1, status = -1;
    while (arguments[n - 1]) {
        argv[n] = arguments[n - 1];
        n++;
    }
    argv[n] = NULL;
    for (size_t i = 0; i < ARRAY_LEN(versions) && status != 0; i++) {
        char *name = xasprintf("%s%s", tool, versions[i]);
        struct subproc_options options = {
            .cwd = directory,
            .stdin_path = path,
            .timeout_ms = strcmp(tool, "llvm-mca") == 0 ? LLVM_MCA_TIMEOUT_MS : LLVM_TIMEOUT_MS,
            .max_output_bytes = LLVM_OUTPUT_MAX,
            .tool = true};
        argv[0] = name;
        status = subproc_run(argv, &options, result, err);
        free(name);
    }
    free(path);
    if (status != 0)
        return err_set(err, "%s-19 cannot be run; this needs LLVM 19: apt-get install llvm-19",
                       tool);
    if (result->timed_out || result->signal) {
        subproc_result_free(result);
        return err_set(err, "%s %s", tool, "crashed, or did not come to an end");
    }
    return 0;
}
