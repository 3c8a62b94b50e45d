// SPDX-License-Identifier: MIT
// All leaves of CPUID with their subleaves, and XCR0, of the CPU that executes this. The program
// for Windows (windows/) has it, too: nothing here asks the system.
#include "cpu_decode.h"
#include "util/mem.h"

#include <cpuid.h>
#include <x86intrin.h>

enum { SUBLEAVES_MAX = 64 };

// Ways to find the number of subleaves of a leaf.
enum subleaf_rule {
    SUB_EAX_COUNT,  // EAX of subleaf 0 is the last subleaf
    SUB_EAX_TYPE,   // until EAX[4:0] is 0
    SUB_ECX_TYPE,   // until ECX[15:8] is 0
    SUB_STATE_BITS, // 0, 1, and one for each bit of XCR0 and IA32_XSS
    SUB_FIXED,      // a constant number, none of them if subleaf 0 is empty
};

static const struct {
    uint32_t leaf;
    enum subleaf_rule rule;
    uint32_t count; // for SUB_FIXED
} subleaf_rules[] = {
    {0x4,        SUB_EAX_TYPE,   0},
    {0x7,        SUB_EAX_COUNT,  0},
    {0xb,        SUB_ECX_TYPE,   0},
    {0xd,        SUB_STATE_BITS, 0},
    {0xf,        SUB_FIXED,      2},
    {0x10,       SUB_FIXED,      6},
    {0x12,       SUB_FIXED,      4},
    {0x14,       SUB_EAX_COUNT,  0},
    {0x17,       SUB_EAX_COUNT,  0},
    {0x18,       SUB_EAX_COUNT,  0},
    {0x1d,       SUB_EAX_COUNT,  0},
    {0x1e,       SUB_FIXED,      2},
    {0x1f,       SUB_ECX_TYPE,   0},
    {0x20,       SUB_EAX_COUNT,  0},
    {0x23,       SUB_FIXED,      6},
    {0x24,       SUB_EAX_COUNT,  0},
    {0x8000001d, SUB_EAX_TYPE,   0},
    {0x80000020, SUB_FIXED,      4},
    {0x80000026, SUB_ECX_TYPE,   0},
};

static struct cpuid_leaf leaf_read(uint32_t number, uint32_t subleaf)
{
    struct cpuid_leaf leaf = {.leaf = number, .subleaf = subleaf};
    __cpuid_count(number, subleaf, leaf.eax, leaf.ebx, leaf.ecx, leaf.edx);
    return leaf;
}

static uint64_t state_bits(void)
{
    struct cpuid_leaf user = leaf_read(0xd, 0), system = leaf_read(0xd, 1);
    return ((uint64_t)(user.edx | system.edx) << 32) | user.eax | system.ecx;
}

static void leaf_capture(struct cpu_info *cpu, uint32_t number)
{
    enum subleaf_rule rule = SUB_FIXED;
    uint32_t count = 1;
    for (size_t i = 0; i < ARRAY_LEN(subleaf_rules); i++)
        if (subleaf_rules[i].leaf == number) {
            rule = subleaf_rules[i].rule;
            count = subleaf_rules[i].count;
        }
    if (rule == SUB_EAX_COUNT)
        count = leaf_read(number, 0).eax + 1;
    else if (rule != SUB_FIXED)
        count = SUBLEAVES_MAX;
    if (count == 0 || count > SUBLEAVES_MAX)
        count = SUBLEAVES_MAX;
    uint64_t states = rule == SUB_STATE_BITS ? state_bits() : 0;
    for (uint32_t sub = 0; sub < count; sub++) {
        if (rule == SUB_STATE_BITS && sub > 1 && !(states >> sub & 1))
            continue;
        struct cpuid_leaf leaf = leaf_read(number, sub);
        cpu_leaf_add(cpu, &leaf);
        bool empty = sub == 0 && !(leaf.eax | leaf.ebx | leaf.ecx | leaf.edx);
        if ((rule == SUB_FIXED && empty) || (rule == SUB_EAX_TYPE && !(leaf.eax & 31)) ||
            (rule == SUB_ECX_TYPE && !(leaf.ecx >> 8 & 0xff)))
            break;
    }
}

// Captures a range of leaves whose first one has the number of the last. Beyond the last, Intel
// CPUs answer with the data of some other leaf; so a last one outside of the range means that the
// range does not exist.
static void range_capture(struct cpu_info *cpu, uint32_t first)
{
    uint32_t last = leaf_read(first, 0).eax;
    if (last < first || last > first + 0xff)
        return;
    for (uint32_t number = first; number <= last; number++)
        if (number != 3) // the serial number
            leaf_capture(cpu, number);
}

__attribute__((target("xsave"))) static uint64_t xcr0_read(void)
{
    return (uint64_t)_xgetbv(0);
}

void cpu_pseudo_add(struct cpu_info *cpu, uint32_t leaf, uint64_t value)
{
    struct cpuid_leaf pseudo = {
        .leaf = leaf, .eax = (uint32_t)value, .edx = (uint32_t)(value >> 32)};
    cpu_leaf_add(cpu, &pseudo);
}

void cpu_leaves_read(struct cpu_info *cpu)
{
    range_capture(cpu, 0);
    const struct cpuid_leaf *features = cpu_leaf_find(cpu, 1, 0);
    uint32_t ecx = features ? features->ecx : 0;
    if (ecx >> 31)
        for (uint32_t base = 0x40000000; base <= 0x40000300; base += 0x100)
            range_capture(cpu, base);
    range_capture(cpu, 0x80000000);
    range_capture(cpu, 0xc0000000);
    if (ecx >> 27 & 1)
        cpu_pseudo_add(cpu, CPUID_PSEUDO_XCR0, xcr0_read());
}
