// SPDX-License-Identifier: MIT
// See ../../README.md: what the runner takes from libmd's header of this name.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { SHA256_DIGEST_STRING_LENGTH = 65 };
typedef struct {
    void *hash;
} SHA256_CTX;
void SHA256Init(SHA256_CTX *sha);
void SHA256Update(SHA256_CTX *sha, const uint8_t *bytes, size_t n);
char *SHA256End(SHA256_CTX *sha, char hex[SHA256_DIGEST_STRING_LENGTH]);
char *SHA256Data(const uint8_t *bytes, size_t n, char hex[SHA256_DIGEST_STRING_LENGTH]);
char *SHA256File(const char *path, char hex[SHA256_DIGEST_STRING_LENGTH]);
