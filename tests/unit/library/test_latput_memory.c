// SPDX-License-Identifier: MIT
// liblatput without memory: it says why, and the program that it is part of goes on. Each case is a
// process of its own, which cannot have its memory back.
#include "../../fixtures/sanitized.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <latput.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WENT_ON = 42, NO_FILTER = 77, KEPT_MAX = 256 };
static const char denied[] = "system calls are denied", used_up[] = "out of memory";

// From now on the kernel refuses memory to this process, as a sandbox of the user's may. brk gets a
// 0 and not an error: libc takes any answer that is not below its wish for the new end of the heap.
static void memory_deny(void)
{
    static struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mmap, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_brk, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(NO_FILTER);
}

static void memory_limit(void)
{
    const struct rlimit limit = {1, 1};
    setrlimit(RLIMIT_AS, &limit);
}

// Takes all that is left in the heap, but for `kept` blocks of 1 KB.
static void memory_use_up(int kept)
{
    void *blocks[KEPT_MAX];
    for (int i = 0; i < kept; i++)
        blocks[i] = malloc(1000);
    for (size_t bytes = 1 << 20; bytes > 0; bytes /= 2)
        for (volatile char *used; (used = malloc(bytes)) != NULL;)
            *used = 0;
    for (int i = 0; i < kept; i++)
        free(blocks[i]);
}

static void nothing(void *data)
{
    (void)data;
}

// The allocator of AddressSanitizer asks for memory in its own way, and ends the program itself.
static void skip_if_sanitized(void)
{
    if (SANITIZED)
        skip();
}

static void expect_in_child(void (*refuse)(void), int (*use)(const char *), const char *why)
{
    int status;
    skip_if_sanitized();
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        refuse();
        _exit(use(why));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status))
        fail_msg("signal %d instead of: %s", WTERMSIG(status), why);
    if (WEXITSTATUS(status) == NO_FILTER)
        skip();
    assert_int_equal(WEXITSTATUS(status), WENT_ON);
}

// Too many repetitions, then too little memory for one.
static int measure(const char *why)
{
    static const int repetitions[] = {100000000, 1};
    for (int i = 0; i < 2; i++) {
        const struct latput_test test = {.test = nothing, .repetitions = repetitions[i]};
        struct latput_result result;
        if (i == 1)
            memory_use_up(0);
        if (latput_measure(&test, &result) != -1 || !strstr(result.message, why) ||
            result.ncolumns != 0 || !isnan(result.tsc_per_clk))
            return 1 + i;
        latput_result_free(&result);
    }
    return WENT_ON;
}

// The counters must fail wherever memory ends, from the first block that they ask for to the last.
static int open_counters(const char *why)
{
    char error[512] = "";
    memory_use_up(0);
    if (latput_counters_open("page-faults", error, sizeof error) || !strstr(error, why))
        return 1;
    if (latput_counters_open("page-faults", NULL, 0))
        return 2;
    return WENT_ON;
}

static int kept_blocks;
static int open_counters_late(const char *why)
{
    char error[512] = "";
    memory_use_up(kept_blocks);
    struct latput_counters *counters = latput_counters_open("page-faults", error, sizeof error);
    (void)why; // a file that could not be opened has a message of its own
    return counters || *error ? WENT_ON : 1;
}

static int summarise(const char *why)
{
    const double values[] = {1, 2, 3};
    (void)why;
    memory_use_up(0);
    return latput_summarise(values, 3, 0).n == 0 && isnan(latput_summarise(values, 3, 0).mean)
               ? WENT_ON
               : 1;
}

static void denied_calls_are_told_and_the_program_goes_on(void **state)
{
    (void)state;
    expect_in_child(memory_deny, measure, denied);
    expect_in_child(memory_deny, open_counters, denied);
    expect_in_child(memory_deny, summarise, denied);
}

static void so_is_memory_that_is_used_up(void **state)
{
    (void)state;
    expect_in_child(memory_limit, measure, used_up);
    expect_in_child(memory_limit, open_counters, used_up);
    expect_in_child(memory_limit, summarise, used_up);
}

static void wherever_memory_ends(void **state)
{
    (void)state;
    for (kept_blocks = 1; kept_blocks <= KEPT_MAX; kept_blocks *= 2)
        expect_in_child(memory_deny, open_counters_late, denied);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(denied_calls_are_told_and_the_program_goes_on),
        cmocka_unit_test(so_is_memory_that_is_used_up),
        cmocka_unit_test(wherever_memory_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
