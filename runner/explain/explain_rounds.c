// SPDX-License-Identifier: MIT
#include "explain_rounds.h"

#include "util/file_write.h"
#include "util/paths.h"
#include "util/strbuf.h"
#include "util/subproc.h"

#include <limits.h>
#include <signal.h>
#include <string.h>

enum {
    TOOL_TIMEOUT_MS = 60 * 1000,
    CALLS_CPU_S = 100,             // of both calls: each round is two signals
    CALLS_TIMEOUT_MS = 120 * 1000, // by the clock, for what sleeps
    REFUSED = 2,                   // statuses of the program: without a filter,
    TRAPPED = 3,                   // and at a breakpoint that it has not set
    CALLS = 2
};

// Writes the program's source: what macros/rounds.asm must know of the function.
static int write_source(const struct explain_place *place, const struct explain_count *counts,
                        int n, struct arena *arena, struct err *err)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "FUNCTION_LEN equ %zu\nCPU_SECONDS equ %d\n%%macro user_places 0\n",
                  place->function_len, CALLS_CPU_S);
    for (int i = 0; i < n; i++)
        strbuf_printf(&text, "dd %zu\n", counts[i].offset);
    strbuf_printf(&text,
                  "%%endmacro\n%%macro user_call 0\n%s%%endmacro\n"
                  "%%macro user_init 0\n%s%%endmacro\n%%include \"%s\"\n",
                  place->call->call, place->call->init, path_data("macros/rounds.asm"));
    char *path = arena_printf(arena, "%s/rounds.asm", place->directory);
    int status = file_write(path, strbuf_text(&text), text.len, err);
    strbuf_free(&text);
    return status;
}

// Runs a program in the directory. Returns 1 if it succeeds, 0 if not; -1 if it does not start.
static int run_in(const char *directory, const char *const argv[], int timeout_ms,
                  struct subproc_result *result, struct err *err)
{
    const struct subproc_options options = {
        .cwd = directory, .timeout_ms = timeout_ms, .tool = true};
    if (subproc_run(argv, &options, result, err) != 0)
        return -1;
    return !result->timed_out && !result->signal && result->exit_status == 0;
}

// Builds the program. Returns 1, 0 if a tool refuses it, or -1.
static int build(const char *directory, const char *object, struct err *err)
{
    const char *const assemble[] = {"nasm", "-f",       "elf64",      "-w-all",
                                    "-o",   "rounds.o", "rounds.asm", NULL};
    // Other functions of the object may need what is not there.
    const char *const link[] = {
        "ld", "-N",     "-static",  "-z",   "noexecstack", "--unresolved-symbols=ignore-all",
        "-o", "rounds", "rounds.o", object, NULL};
    const char *const *const tools[] = {assemble, link};
    int status = 1;
    for (size_t i = 0; i < ARRAY_LEN(tools) && status == 1; i++) {
        struct subproc_result result = {0};
        status = run_in(directory, tools[i], TOOL_TIMEOUT_MS, &result, err);
        subproc_result_free(&result);
    }
    return status;
}

// Returns why the calls have not come to their end.
static const char *calls_fail(const struct subproc_result *result, struct arena *arena)
{
    if (result->signal == SIGPROF)
        return arena_printf(arena, "%d calls take more than %d seconds of CPU time", CALLS,
                            CALLS_CPU_S);
    if (result->timed_out)
        return arena_printf(arena, "a call does not come to its end in %d seconds",
                            CALLS_TIMEOUT_MS / CALLS / 1000);
    if (result->signal == SIGSYS)
        return "the function calls the system";
    const char *name = result->signal ? sigabbrev_np(result->signal) : NULL;
    if (result->signal)
        return arena_printf(arena, "a call ends with SIG%s; functions of libraries are not there",
                            name ? name : "?");
    return result->exit_status == REFUSED   ? "this kernel allows no system-call filter"
           : result->exit_status == TRAPPED ? "the function has breakpoints of its own"
                                            : "a call does not return";
}

static void counts_take(struct explain_count *counts, int n, const uint64_t *found,
                        struct arena *arena)
{
    for (int i = 0; i < n; i++) {
        long long first = (long long)found[i], second = (long long)found[n + i];
        bool steady = first == second && first <= INT32_MAX;
        counts[i].n = steady ? (long)first : -1;
        if (!steady)
            counts[i].why = arena_printf(arena, "two calls have %lld and %lld", first, second);
    }
}

int explain_count_rounds(const struct explain_place *place, int bits, struct explain_count *counts,
                         int n, struct arena *arena, struct err *err)
{
    struct subproc_result result = {0};
    const char *const program[] = {arena_printf(arena, "%s/rounds", place->directory), NULL};
    const char *why = "only those of 64-bit code are";
    uint64_t found[CALLS * EXPLAIN_COUNTS_MAX];
    size_t bytes = (size_t)(CALLS * n) * sizeof *found;
    int status = bits != 64 ? 0 : write_source(place, counts, n, arena, err) != 0 ? -1 : 1;
    if (status == 1) {
        why = "the function needs more than itself";
        status = build(place->directory, place->object, err);
    }
    if (status == 1) {
        status = run_in(place->directory, program, CALLS_TIMEOUT_MS, &result, err);
        why = calls_fail(&result, arena);
    }
    bool whole = status == 1 && result.out_len == bytes;
    if (whole)
        memcpy(found, result.out, bytes);
    subproc_result_free(&result);
    for (int i = 0; i < n; i++) {
        counts[i].n = -1;
        counts[i].why = whole ? NULL : why;
    }
    if (whole)
        counts_take(counts, n, found, arena);
    return status < 0 ? -1 : 0;
}

struct explain_rounds explain_rounds_of(const struct code_loop *loop,
                                        const struct explain_count *counts, int n)
{
    if (n == 0)
        return (struct explain_rounds){0, -1,
                                       loop->entered ? "branches enter it at several places"
                                                     : "it begins with a repeated instruction"};
    struct explain_rounds rounds = {0, LONG_MAX, NULL};
    for (int i = 0; i < n; i++) {
        if (counts[i].n < 0)
            return (struct explain_rounds){0, -1, counts[i].why};
        rounds.n += counts[i].rounds * counts[i].n;
        if (counts[i].on_way && counts[i].n < rounds.this_way)
            rounds.this_way = counts[i].n;
    }
    if (rounds.n <= 0)
        return (struct explain_rounds){0, -1, "the call does not reach it"};
    rounds.this_way = rounds.this_way < rounds.n ? rounds.this_way : rounds.n;
    return rounds;
}
