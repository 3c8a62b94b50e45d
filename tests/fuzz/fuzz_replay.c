// SPDX-License-Identifier: MIT
// Usage: fuzz_replay TARGET FILE...: gives each file to a target, without libFuzzer, with any
// compiler, so that old findings stay mended.
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

enum { BYTES_MAX = 4 << 20, HARNESS_BROKEN = 99 };

int main(int argc, char **argv)
{
    fuzz_function *target = argc > 1 ? fuzz_target_find(argv[1]) : NULL;
    if (!target) {
        fputs("Usage: fuzz_replay TARGET FILE...\n", stderr);
        return HARNESS_BROKEN;
    }
    static uint8_t bytes[BYTES_MAX];
    for (int i = 2; i < argc; i++) {
        FILE *file = fopen(argv[i], "re");
        if (!file) {
            perror(argv[i]);
            return HARNESS_BROKEN;
        }
        size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        printf("%s\n", argv[i]);
        fflush(stdout); // the last one printed is the one that crashed
        target(bytes, size);
    }
    return 0;
}
