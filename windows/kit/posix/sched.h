// SPDX-License-Identifier: MIT
// See ../../README.md: what the runner takes from Linux's header of this name.
#pragma once
#include_next <sched.h>

#include <stddef.h>
#include <stdint.h>

enum { CPU_SETSIZE = 1024, CPU_WORDS = CPU_SETSIZE / 64 };
typedef struct {
    uint64_t words[CPU_WORDS];
} cpu_set_t;

static inline void cpu_set_put(cpu_set_t *set, size_t cpu, int on)
{
    uint64_t bit = (uint64_t)1 << (cpu & 63);
    if (cpu < CPU_SETSIZE)
        set->words[cpu / 64] = on ? set->words[cpu / 64] | bit : set->words[cpu / 64] & ~bit;
}
static inline int cpu_set_has(size_t cpu, const cpu_set_t *set)
{
    return cpu < CPU_SETSIZE && (set->words[cpu / 64] >> (cpu & 63) & 1);
}
static inline int cpu_set_count(const cpu_set_t *set)
{
    int count = 0;
    for (size_t i = 0; i < CPU_WORDS; i++)
        count += __builtin_popcountll(set->words[i]);
    return count;
}
static inline void cpu_set_and(cpu_set_t *to, const cpu_set_t *a, const cpu_set_t *b)
{
    for (size_t i = 0; i < CPU_WORDS; i++)
        to->words[i] = a->words[i] & b->words[i];
}
static inline void cpu_set_or(cpu_set_t *to, const cpu_set_t *a, const cpu_set_t *b)
{
    for (size_t i = 0; i < CPU_WORDS; i++)
        to->words[i] = a->words[i] | b->words[i];
}
static inline void cpu_set_xor(cpu_set_t *to, const cpu_set_t *a, const cpu_set_t *b)
{
    for (size_t i = 0; i < CPU_WORDS; i++)
        to->words[i] = a->words[i] ^ b->words[i];
}
#define CPU_ZERO(set) ((void)(*(set) = (cpu_set_t){{0}}))
#define CPU_SET(cpu, set) cpu_set_put(set, cpu, 1)
#define CPU_CLR(cpu, set) cpu_set_put(set, cpu, 0)
#define CPU_ISSET(cpu, set) cpu_set_has(cpu, set)
#define CPU_COUNT(set) cpu_set_count(set)
#define CPU_AND(to, a, b) cpu_set_and(to, a, b)
#define CPU_OR(to, a, b) cpu_set_or(to, a, b)
#define CPU_XOR(to, a, b) cpu_set_xor(to, a, b)

// The CPUs that this process may use. Nothing is moved: a core does that by itself.
int sched_getaffinity(int thread, size_t bytes, cpu_set_t *set);
int sched_setaffinity(int thread, size_t bytes, const cpu_set_t *set);
int sched_getcpu(void);
