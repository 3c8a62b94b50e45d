// SPDX-License-Identifier: MIT
#include "llvm_run.h"

#include "util/mem.h"
#include "util/program.h"

#include <stdlib.h>
#include <string.h>

// Time limits; a run of llvm-mca gets as much as takes a tenth of a second, but it may hang.
enum { LLVM_TIMEOUT_MS = 120 * 1000, LLVM_MCA_TIMEOUT_MS = 5 * 1000 };
static const size_t LLVM_OUTPUT_MAX = 512u << 20;

static int llvm_version; // 0: not chosen yet

void llvm_choose(int version)
{
    llvm_version = version;
}

// Returns the version that a tool without a number in its name is of; 0: unknown.
static int llvm_version_of(const char *name)
{
    static const char mark[] = "LLVM version ";
    const char *const argv[] = {name, "--version", NULL};
    const struct subproc_options options = {.timeout_ms = LLVM_MCA_TIMEOUT_MS, .tool = true};
    struct subproc_result result;
    if (subproc_run(argv, &options, &result, NULL) != 0)
        return 0;
    const char *at = strstr(result.out, mark);
    int version = at ? atoi(at + strlen(mark)) : 0;
    subproc_result_free(&result);
    return version;
}

static char *llvm_find_version(const char *tool, int version)
{
    char *name = xasprintf("%s-%d", tool, version), *path = program_find(name);
    free(name);
    return path;
}

int llvm_chosen(void)
{
    return llvm_version;
}

char *llvm_find(const char *tool, struct err *err)
{
    char *path = NULL;
    int least = llvm_version ? llvm_version : LLVM_LEAST;
    for (int version = llvm_version ? llvm_version : LLVM_MOST; !path && version >= least;
         version--)
        if ((path = llvm_find_version(tool, version)))
            llvm_version = version; // all tools are of one
    if (!path) {
        int version = llvm_version_of(tool);
        if (llvm_version ? version == llvm_version : version >= LLVM_LEAST)
            path = program_find(tool);
    }
    if (!path)
        err_set(err, "%s-%d cannot be run; this needs LLVM %d%s: apt-get install llvm-%d", tool,
                least, least, llvm_version ? "" : " or newer", least);
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
