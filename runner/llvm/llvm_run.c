// SPDX-License-Identifier: MIT
#include "llvm_run.h"

#include "util/mem.h"
#include "util/program.h"

#include <stdlib.h>
#include <string.h>

// Time limits; a run of llvm-mca gets as much as takes a tenth of a second, but it may hang.
enum { LLVM_TIMEOUT_MS = 120 * 1000, LLVM_MCA_TIMEOUT_MS = 5 * 1000 };
static const size_t LLVM_OUTPUT_MAX = 512u << 20;

// Returns true for version 19: others have other names, numbers and models.
static bool llvm_is_19(const char *name)
{
    const char *const argv[] = {name, "--version", NULL};
    const struct subproc_options options = {.timeout_ms = LLVM_MCA_TIMEOUT_MS, .tool = true};
    struct subproc_result result;
    if (subproc_run(argv, &options, &result, NULL) != 0)
        return false;
    bool is = strstr(result.out, "LLVM version 19.") != NULL;
    subproc_result_free(&result);
    return is;
}

char *llvm_find(const char *tool, struct err *err)
{
    char *name = xasprintf("%s-19", tool), *path = program_find(name);
    if (!path && llvm_is_19(tool))
        path = program_find(tool);
    if (!path)
        err_set(err, "%s cannot be run; this needs LLVM 19: apt-get install llvm-19", name);
    free(name);
    return path;
}

int llvm_run(const char *tool, const char *const *arguments, const char *directory,
             const char *stdin_name, struct subproc_result *result, struct err *err)
{
    const char *argv[16];
    char *path = llvm_find(tool, err);
    if (!path)
        return -1;
    char *input = stdin_name ? xasprintf("%s/%s", directory, stdin_name) : NULL;
    int n = 1;
    while (arguments[n - 1]) {
        argv[n] = arguments[n - 1];
        n++;
    }
    argv[n] = NULL;
    argv[0] = path;
    const struct subproc_options options = {
        .cwd = directory,
        .stdin_path = input,
        .timeout_ms = strcmp(tool, "llvm-mca") == 0 ? LLVM_MCA_TIMEOUT_MS : LLVM_TIMEOUT_MS,
        .max_output_bytes = LLVM_OUTPUT_MAX,
        .tool = true};
    int status = subproc_run(argv, &options, result, err);
    free(input);
    free(path);
    if (status == 0 && (result->timed_out || result->signal)) {
        subproc_result_free(result);
        return err_set(err, "%s %s", tool, "crashed, or did not come to an end");
    }
    return status;
}
