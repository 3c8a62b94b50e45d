// SPDX-License-Identifier: MIT
// Records that a body of `bench` could make up, which nothing seals there: what is taken of them
// lies in its bounds. The test is its own core, when it is started with FORGES set.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "execute/exec.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPEATS = 2, FORGED_REPEATS = 20 };
static const char FORGES[] = "LATPUT_TEST_FORGES";

// Says a record whose other bytes are the first one of FORGES.
static int say(uint32_t type, uint32_t number)
{
    struct core_record record;
    memset(&record, *getenv(FORGES), sizeof record);
    record.type = type;
    if (type == CORE_REC_CODE)
        record.code.bytes = number;
    else if (type == CORE_REC_TIMING)
        record.timing.outcome = number;
    else if (type == CORE_REC_REPEAT)
        record.repeat.repetition = number;
    return write(CORE_RECORD_FD, &record, sizeof record) == sizeof record ? 0 : 1;
}

static int forge(void)
{
    int status = say(CORE_REC_HELLO, 0) | say(CORE_REC_BEGIN, 0) | say(CORE_REC_CODE, UINT32_MAX);
    for (uint32_t i = 0; i < FORGED_REPEATS; i++)
        status |= say(CORE_REC_REPEAT, i);
    return status | say(CORE_REC_TIMING, OUTCOME_COUNT + 7) | say(1000, 0) | say(CORE_REC_END, 0);
}

static void run_forged(const char *byte, struct exec_bench *bench, struct arena *arena)
{
    const struct exec_params params = exec_defaults();
    struct err err = {0};
    *bench = (struct exec_bench){.copies = 1, .iterations = 1, .repeats = REPEATS};
    setenv(FORGES, byte, 1);
    if (exec_bench("/proc/self/exe", &params, bench, arena, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(bench->outcome, OUTCOME_NOT_MEASURABLE);
}

static void test_forged(void **state)
{
    (void)state;
    struct exec_bench bench;
    struct arena arena = {0};
    run_forged("A", &bench, &arena);
    assert_int_equal(strlen(bench.detail), CORE_TEXT_MAX); // the next record is no part of it
    assert_int_equal(bench.nrepeats, REPEATS + 1);
    assert_int_equal(bench.repeats_done[REPEATS].repetition, REPEATS);
    assert_int_equal(bench.code_bytes, 0); // an int further on
    run_forged("\033", &bench, &arena);    // nor does a reason steer a terminal
    assert_string_equal(bench.detail, "the code wrote a reason of its own, which is no text");
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forged)};
    return getenv(FORGES) ? forge() : cmocka_run_group_tests(tests, NULL, NULL);
}
