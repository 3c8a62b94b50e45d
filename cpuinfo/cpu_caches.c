// SPDX-License-Identifier: MIT
// Caches from CPUID. Three schemes in the order of trust: the deterministic leaves (4, 0x8000001D),
// AMD's older leaves 0x80000005/6, and the descriptor bytes of leaf 2.
#include "cpu_decode.h"
#include "util/mem.h"

// Adds a cache in the order of level and type, whatever the order of the leaves.
static void cache_add(struct cpu_info *cpu, struct cpu_cache cache)
{
    if (cache.bytes == 0 || cpu->ncaches == CPU_CACHES_MAX)
        return;
    int at = cpu->ncaches++;
    for (; at > 0; at--) {
        const struct cpu_cache *before = &cpu->caches[at - 1];
        if (before->level < cache.level ||
            (before->level == cache.level && before->type <= cache.type))
            break;
        cpu->caches[at] = *before;
    }
    cpu->caches[at] = cache;
}

static void deterministic_caches(struct cpu_info *cpu, uint32_t number)
{
    static const char types[] = {0, 'd', 'i', 'u'};
    for (uint32_t sub = 0; sub < CPU_CACHES_MAX; sub++) {
        const struct cpuid_leaf *leaf = cpu_leaf_find(cpu, number, sub);
        uint32_t type = leaf ? leaf->eax & 31 : 0;
        if (type == 0 || type >= ARRAY_LEN(types))
            return;
        uint64_t line = (leaf->ebx & 0xfff) + 1, ways = (leaf->ebx >> 22) + 1;
        uint64_t partitions = (leaf->ebx >> 12 & 0x3ff) + 1, sets = (uint64_t)leaf->ecx + 1;
        cache_add(cpu, (struct cpu_cache){
                           .level = (int)(leaf->eax >> 5 & 7),
                           .type = types[type],
                           .bytes = line * ways * partitions * sets,
                           .ways = leaf->eax >> 9 & 1 ? -1 : (int)ways,
                           .line_bytes = (int)line,
                           .sharing = (int)(leaf->eax >> 14 & 0xfff) + 1,
                       });
    }
}

// Returns the codes of 0x80000006; 0: disabled or described elsewhere.
static int amd_ways(uint32_t code)
{
    static const int ways[16] = {0, 1, 2, 3, 4, 6, 8, 0, 16, 0, 32, 48, 64, 96, 128, -1};
    return ways[code & 15];
}

static void amd_first_level(struct cpu_info *cpu, uint32_t reg, char type)
{
    int ways = (int)(reg >> 16 & 0xff);
    cache_add(cpu, (struct cpu_cache){.level = 1,
                                      .type = type,
                                      .bytes = (uint64_t)(reg >> 24) << 10,
                                      .ways = ways == 0xff ? -1 : ways,
                                      .line_bytes = (int)(reg & 0xff)});
}

static void amd_caches(struct cpu_info *cpu)
{
    const struct cpuid_leaf *leaf = cpu_leaf_find(cpu, 0x80000005, 0);
    if (leaf) {
        amd_first_level(cpu, leaf->ecx, 'd');
        amd_first_level(cpu, leaf->edx, 'i');
    }
    leaf = cpu_leaf_find(cpu, 0x80000006, 0);
    if (!leaf)
        return;
    cache_add(cpu, (struct cpu_cache){.level = 2,
                                      .type = 'u',
                                      .bytes = (uint64_t)(leaf->ecx >> 16) << 10,
                                      .ways = amd_ways(leaf->ecx >> 12),
                                      .line_bytes = (int)(leaf->ecx & 0xff)});
    cache_add(cpu, (struct cpu_cache){.level = 3,
                                      .type = 'u',
                                      .bytes = (uint64_t)(leaf->edx >> 18) << 19,
                                      .ways = amd_ways(leaf->edx >> 12),
                                      .line_bytes = (int)(leaf->edx & 0xff)});
}

// Descriptors of the CPUs that have no leaf 4, up to the first Pentium 4; later ones do not need
// leaf 2. Source: Intel SDM vol. 2A, CPUID, "Encoding of CPUID leaf 2 descriptors".
static const struct {
    uint8_t code;
    struct cpu_cache cache;
} descriptors[] = {
    {0x06, {1, 'i', 8 << 10, 4, 32, 0}  },
    {0x08, {1, 'i', 16 << 10, 4, 32, 0} },
    {0x0a, {1, 'd', 8 << 10, 2, 32, 0}  },
    {0x0c, {1, 'd', 16 << 10, 4, 32, 0} },
    {0x2c, {1, 'd', 32 << 10, 8, 64, 0} },
    {0x30, {1, 'i', 32 << 10, 8, 64, 0} },
    {0x41, {2, 'u', 128 << 10, 4, 32, 0}},
    {0x42, {2, 'u', 256 << 10, 4, 32, 0}},
    {0x43, {2, 'u', 512 << 10, 4, 32, 0}},
    {0x44, {2, 'u', 1 << 20, 4, 32, 0}  },
    {0x45, {2, 'u', 2 << 20, 4, 32, 0}  },
    {0x60, {1, 'd', 16 << 10, 8, 64, 0} },
    {0x66, {1, 'd', 8 << 10, 4, 64, 0}  },
    {0x67, {1, 'd', 16 << 10, 4, 64, 0} },
    {0x68, {1, 'd', 32 << 10, 4, 64, 0} },
    {0x78, {2, 'u', 1 << 20, 4, 64, 0}  },
    {0x79, {2, 'u', 128 << 10, 8, 64, 0}},
    {0x7a, {2, 'u', 256 << 10, 8, 64, 0}},
    {0x7b, {2, 'u', 512 << 10, 8, 64, 0}},
    {0x7c, {2, 'u', 1 << 20, 8, 64, 0}  },
    {0x7d, {2, 'u', 2 << 20, 8, 64, 0}  },
    {0x7f, {2, 'u', 512 << 10, 2, 64, 0}},
    {0x82, {2, 'u', 256 << 10, 8, 32, 0}},
    {0x83, {2, 'u', 512 << 10, 8, 32, 0}},
    {0x84, {2, 'u', 1 << 20, 8, 32, 0}  },
    {0x85, {2, 'u', 2 << 20, 8, 32, 0}  },
    {0x86, {2, 'u', 512 << 10, 4, 64, 0}},
    {0x87, {2, 'u', 1 << 20, 8, 64, 0}  },
};

static void descriptor_caches(struct cpu_info *cpu)
{
    const struct cpuid_leaf *leaf = cpu_leaf_find(cpu, 2, 0);
    if (!leaf)
        return;
    const uint32_t regs[4] = {leaf->eax & ~0xffu, leaf->ebx, leaf->ecx, leaf->edx};
    for (int i = 0; i < 16; i++) {
        uint32_t code = regs[i / 4] >> (8 * (i % 4)) & 0xff;
        if (regs[i / 4] >> 31) // the register holds no descriptors
            continue;
        for (size_t d = 0; d < ARRAY_LEN(descriptors); d++)
            if (descriptors[d].code == code)
                cache_add(cpu, descriptors[d].cache);
    }
}

void cpu_decode_caches(struct cpu_info *cpu)
{
    cpu->ncaches = 0;
    deterministic_caches(cpu, 4);
    // AMD and Hygon; leaf 4 is empty there.
    if (cpu->ncaches == 0)
        deterministic_caches(cpu, 0x8000001d);
    if (cpu->ncaches == 0)
        amd_caches(cpu);
    // Intel fills only the second level of 0x80000006.
    if (cpu->ncaches < 2) {
        cpu->ncaches = 0;
        descriptor_caches(cpu);
        if (cpu->ncaches == 0)
            amd_caches(cpu);
    }
}

bool cpu_lacks_l3(const struct cpu_info *cpu)
{
    for (int i = 0; i < cpu->ncaches; i++)
        if (cpu->caches[i].level == 3)
            return false;
    return cpu->ncaches > 0;
}
