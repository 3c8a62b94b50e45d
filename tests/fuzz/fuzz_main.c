// SPDX-License-Identifier: MIT
// libFuzzer's entry: the target that the environment variable LATPUT_FUZZ names; see fuzz.h.
#include "fuzz.h"
#include "fuzz_rows.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t max); // libFuzzer's own
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max, unsigned seed);

static fuzz_function *target;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    const char *name = getenv("LATPUT_FUZZ");
    target = name ? fuzz_target_find(name) : NULL;
    if (!target) {
        fputs("fuzz: LATPUT_FUZZ must name a target; tests/fuzz/run does\n", stderr);
        exit(99);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    target(bytes, size);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max, unsigned seed)
{
    return target == fuzz_merge ? rows_mutate(bytes, size, max, seed, LLVMFuzzerMutate)
                                : LLVMFuzzerMutate(bytes, size, max);
}
