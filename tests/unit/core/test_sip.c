// SPDX-License-Identifier: MIT
// The hash by which the core knows its memory, against Python's, which is the same function with a
// key of zeros (PYTHONHASHSEED=0).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/core_internal.h"

// The core is a program of its own; this file of it has no state and no dependencies.
#include "core/core_sip.c"

enum { WORDS = 32 };

static uint64_t hash(const uint64_t key[2], const uint64_t *words, size_t n, uint64_t last)
{
    struct sip sip = sip_begin(key);
    sip_words(&sip, words, n * sizeof *words);
    sip_words(&sip, &last, sizeof last);
    return sip_end(&sip, (n + 1) * sizeof *words);
}

static void hashes_are_those_of_others(void **state)
{
    (void)state;
    static const uint64_t zeros[2], ones[2] = {1, 0}, twos[2] = {0, 1};
    uint64_t words[WORDS];
    for (size_t i = 0; i < WORDS; i++)
        words[i] = (i + 1) * 0x9e3779b97f4a7c15;
    assert_true(hash(zeros, words, 0, 7) == 0x6634b0bda4fe8a7b);
    assert_true(hash(zeros, words, 1, 7) == 0xf06b983dadd593fa);
    assert_true(hash(zeros, words, 4, 7) == 0x834ba805b576974c);
    assert_true(hash(zeros, words, 32, 7) == 0x53e4463befc46ec0);
    assert_true(hash(zeros, words, 32, 7) != hash(ones, words, 32, 7));
    assert_true(hash(zeros, words, 32, 7) != hash(twos, words, 32, 7));
    words[WORDS - 1] ^= 1;
    assert_true(hash(zeros, words, 32, 7) != 0x53e4463befc46ec0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hashes_are_those_of_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
