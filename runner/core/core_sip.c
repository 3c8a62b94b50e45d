// SPDX-License-Identifier: MIT
// SipHash of whole words, with one round per word and three at the end (Aumasson and Bernstein,
// "SipHash: a fast short-input PRF", 2012). The hash shows whether memory has changed, and cannot
// be made without the key.
#include "core_internal.h"

static uint64_t sip_rotate(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static inline __attribute__((always_inline)) void sip_round(struct sip *sip)
{
    uint64_t *v = sip->v;
    v[0] += v[1], v[2] += v[3];
    v[1] = sip_rotate(v[1], 13) ^ v[0], v[3] = sip_rotate(v[3], 16) ^ v[2];
    v[0] = sip_rotate(v[0], 32);
    v[2] += v[1], v[0] += v[3];
    v[1] = sip_rotate(v[1], 17) ^ v[2], v[3] = sip_rotate(v[3], 21) ^ v[0];
    v[2] = sip_rotate(v[2], 32);
}

struct sip sip_begin(const uint64_t key[2])
{
    return (struct sip){
        {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
         key[1] ^ 0x7465646279746573}
    };
}

static inline __attribute__((always_inline)) void sip_take(struct sip *sip, uint64_t word)
{
    sip->v[3] ^= word;
    sip_round(sip);
    sip->v[0] ^= word;
}

void sip_words(struct sip *sip, const void *from, size_t bytes)
{
    struct sip at = *sip;
    for (const uint64_t *word = from; word < (const uint64_t *)from + bytes / sizeof *word; word++)
        sip_take(&at, *word);
    *sip = at;
}

uint64_t sip_end(struct sip *sip, uint64_t bytes)
{
    sip_take(sip, bytes << 56);
    sip->v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(sip);
    return sip->v[0] ^ sip->v[1] ^ sip->v[2] ^ sip->v[3];
}
