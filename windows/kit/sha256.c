// SPDX-License-Identifier: MIT
// SHA-256 by the system, under libmd's names.
#include <sha256.h>
#include <stdio.h>
#include <stdlib.h>

#include <windows.h>

#include <bcrypt.h>

enum { DIGEST_BYTES = 32 };

static void sha_check(NTSTATUS status)
{
    if (status != 0)
        abort();
}

void SHA256Init(SHA256_CTX *sha)
{
    static BCRYPT_ALG_HANDLE how; // two threads at once may open it twice, which harms nothing
    if (!how)
        sha_check(BCryptOpenAlgorithmProvider(&how, BCRYPT_SHA256_ALGORITHM, NULL, 0));
    sha_check(BCryptCreateHash(how, &sha->hash, NULL, 0, NULL, 0, 0));
}

void SHA256Update(SHA256_CTX *sha, const uint8_t *bytes, size_t n)
{
    enum { AT_ONCE = 1 << 30 };
    for (size_t have = 0; have < n; have += AT_ONCE)
        sha_check(BCryptHashData(sha->hash, (PUCHAR)(uintptr_t)(bytes + have),
                                 (ULONG)(n - have < AT_ONCE ? n - have : AT_ONCE), 0));
}

char *SHA256End(SHA256_CTX *sha, char hex[SHA256_DIGEST_STRING_LENGTH])
{
    uint8_t digest[DIGEST_BYTES];
    sha_check(BCryptFinishHash(sha->hash, digest, sizeof digest, 0));
    BCryptDestroyHash(sha->hash);
    for (int i = 0; i < DIGEST_BYTES; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    return hex;
}

char *SHA256Data(const uint8_t *bytes, size_t n, char hex[SHA256_DIGEST_STRING_LENGTH])
{
    SHA256_CTX sha;
    SHA256Init(&sha);
    SHA256Update(&sha, bytes, n);
    return SHA256End(&sha, hex);
}

char *SHA256File(const char *path, char hex[SHA256_DIGEST_STRING_LENGTH])
{
    uint8_t bytes[16384];
    FILE *file = fopen(path, "re");
    if (!file)
        return NULL;
    SHA256_CTX sha;
    SHA256Init(&sha);
    for (size_t got; (got = fread(bytes, 1, sizeof bytes, file)) > 0;)
        SHA256Update(&sha, bytes, got);
    int bad = ferror(file);
    fclose(file);
    SHA256End(&sha, hex);
    return bad ? NULL : hex;
}
