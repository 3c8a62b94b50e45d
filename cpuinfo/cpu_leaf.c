// SPDX-License-Identifier: MIT
// The leaves of a CPU: finding one, adding one without what identifies a specimen, and the features
// that they announce.
#include "cpu_decode.h"

#include "cpu_tables.h"

#include <stddef.h>

const struct cpuid_leaf *cpu_leaf_find(const struct cpu_info *cpu, uint32_t leaf, uint32_t subleaf)
{
    for (int i = 0; i < cpu->nleaves; i++)
        if (cpu->leaves[i].leaf == leaf && cpu->leaves[i].subleaf == subleaf)
            return &cpu->leaves[i];
    return NULL;
}

// Bits to keep of the leaves that identify a specimen or the logical processor that executed CPUID.
static const struct {
    uint32_t leaf, eax, ebx, ecx, edx;
} kept_bits[] = {
    {0x1,        ~0u, 0x00ffffff, ~0u,    ~0u}, // EBX[31:24]: initial APIC id
    {0x3,        0,   0,          0,      0  }, // processor serial number
    {0xb,        ~0u, ~0u,        ~0u,    0  }, // x2APIC id
    {0x1f,       ~0u, ~0u,        ~0u,    0  }, // x2APIC id
    {0x8000001e, 0,   0xffffff00, ~0xffu, ~0u}, // APIC id, core id, node id
    {0x80000026, ~0u, ~0u,        ~0u,    0  }, // x2APIC id
};

void cpu_leaf_add(struct cpu_info *cpu, const struct cpuid_leaf *leaf)
{
    if (cpu->nleaves == CPUID_LEAVES_MAX)
        return;
    struct cpuid_leaf *new_leaf = &cpu->leaves[cpu->nleaves++];
    *new_leaf = *leaf;
    for (size_t i = 0; i < ARRAY_LEN(kept_bits); i++) {
        if (kept_bits[i].leaf != leaf->leaf)
            continue;
        new_leaf->eax &= kept_bits[i].eax;
        new_leaf->ebx &= kept_bits[i].ebx;
        new_leaf->ecx &= kept_bits[i].ecx;
        new_leaf->edx &= kept_bits[i].edx;
    }
}

static uint32_t leaf_register(const struct cpuid_leaf *leaf, int reg)
{
    return reg == 0 ? leaf->eax : reg == 1 ? leaf->ebx : reg == 2 ? leaf->ecx : leaf->edx;
}

bool cpu_feature_announced(const struct cpu_info *cpu, const struct feature_row *row)
{
    bool announced = row->nplaces == 0;
    for (int p = 0; p < row->nplaces; p++) {
        const struct feature_place *place = &row->places[p];
        const struct cpuid_leaf *leaf = cpu_leaf_find(cpu, place->leaf, place->subleaf);
        uint32_t field = leaf ? leaf_register(leaf, place->reg) >> place->bit : 0;
        announced = announced || (field & (UINT32_MAX >> (32 - place->bits))) >= place->least;
    }
    return announced;
}
