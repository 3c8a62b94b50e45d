// SPDX-License-Identifier: MIT
// Identification from the leaves alone: vendor, family, features, hypervisor, TSC. Which uarch that
// makes is judged in cpu_evidence.c.
#include "cpu_decode.h"
#include "cpu_tables.h"

#include <stdio.h>
#include <string.h>

const struct cpuid_leaf *cpu_leaf_find(const struct cpu_info *cpu, uint32_t leaf, uint32_t subleaf)
{
    for (int i = 0; i < cpu->nleaves; i++)
        if (cpu->leaves[i].leaf == leaf && cpu->leaves[i].subleaf == subleaf)
            return &cpu->leaves[i];
    return NULL;
}

// What identifies a specimen or the logical processor that executed CPUID, by leaf: bits to keep.
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

static uint64_t pseudo_value(const struct cpu_info *cpu, uint32_t leaf)
{
    const struct cpuid_leaf *found = cpu_leaf_find(cpu, leaf, 0);
    return found ? (uint64_t)found->edx << 32 | found->eax : 0;
}

// Copies registers as text: printable ASCII only, without blanks at the ends. NUL ends the text.
static void text_put(char *out, size_t out_bytes, const uint32_t *words, size_t nwords)
{
    char text[64] = "";
    size_t len = 0;
    for (size_t i = 0; i < 4 * nwords && len < sizeof text - 1; i++) {
        char c = (char)(words[i / 4] >> (8 * (i % 4)) & 0xff);
        if (c == '\0')
            break;
        if (len == 0 && c == ' ')
            continue;
        text[len++] = c >= ' ' && c <= '~' ? c : '?';
    }
    while (len > 0 && text[len - 1] == ' ')
        len--;
    text[len] = '\0';
    snprintf(out, out_bytes, "%s", text);
}

static void decode_brand(struct cpu_info *cpu)
{
    uint32_t words[12];
    for (uint32_t i = 0; i < 3; i++) {
        const struct cpuid_leaf *leaf = cpu_leaf_find(cpu, 0x80000002 + i, 0);
        if (!leaf)
            return;
        memcpy(&words[4 * i], &leaf->eax, 4 * sizeof words[0]);
    }
    text_put(cpu->brand, sizeof cpu->brand, words, 12);
}

static void decode_signature(struct cpu_info *cpu)
{
    const struct cpuid_leaf *leaf = cpu_leaf_find(cpu, 1, 0);
    if (!leaf)
        return;
    uint32_t sig = leaf->eax;
    cpu->signature = sig;
    cpu->stepping = (int)(sig & 15);
    cpu->family = (int)(sig >> 8 & 15);
    cpu->model = (int)(sig >> 4 & 15);
    // The extended model counts from family 6 on, except on AMD's family 6 (where it is 0 anyway).
    if (cpu->family >= 6)
        cpu->model += (int)(sig >> 12 & 0xf0);
    if (cpu->family == 15)
        cpu->family += (int)(sig >> 20 & 0xff);
    leaf = cpu_leaf_find(cpu, 0x1a, 0);
    if (leaf) {
        cpu->core_type = (int)(leaf->eax >> 24);
        cpu->native_model = leaf->eax & 0xffffff;
    }
}

// What hypervisors put into EBX, ECX, EDX of their first leaf, without blanks at the ends.
static const struct {
    const char *signature, *name;
} hypervisors[] = {
    {"KVMKVMKVM",    "KVM"            },
    {"Linux KVM Hv", "KVM"            },
    {"Microsoft Hv", "Hyper-V"        },
    {"VMwareVMware", "VMware"         },
    {"XenVMMXenVMM", "Xen"            },
    {"TCGTCGTCGTCG", "QEMU TCG"       },
    {"VBoxVBoxVBox", "VirtualBox"     },
    {"bhyve bhyve",  "bhyve"          },
    {"prl hyperv",   "Parallels"      },
    {"lrpepyh  vr",  "Parallels"      },
    {"ACRNACRNACRN", "ACRN"           },
    {"QNXQVMBSQG",   "QNX"            },
    {"HAXMHAXMHAXM", "HAXM"           },
    {"Jailhouse",    "Jailhouse"      },
    {"SRESRESRESRE", "Lockheed Martin"},
    {"UnisysSpar64", "Unisys"         },
    {"___ NVMM ___", "NVMM"           },
    {"OpenBSDVMM58", "OpenBSD vmm"    },
};

static void decode_hypervisor(struct cpu_info *cpu)
{
    const struct cpuid_leaf *features = cpu_leaf_find(cpu, 1, 0);
    if (!features || !(features->ecx >> 31))
        return;
    // A hypervisor that imitates another one has its own leaves 0x100 above.
    for (uint32_t base = 0x40000000; base <= 0x40000300; base += 0x100) {
        const struct cpuid_leaf *leaf = cpu_leaf_find(cpu, base, 0);
        char signature[16];
        if (!leaf)
            continue;
        text_put(signature, sizeof signature, &leaf->ebx, 3);
        if (!signature[0])
            continue;
        const char *name = signature;
        for (size_t i = 0; i < ARRAY_LEN(hypervisors); i++)
            if (strcmp(hypervisors[i].signature, signature) == 0)
                name = hypervisors[i].name;
        size_t len = strlen(cpu->hypervisor);
        if (strcmp(cpu->hypervisor, name) != 0)
            snprintf(cpu->hypervisor + len, sizeof cpu->hypervisor - len, "%s%s", len ? " as " : "",
                     name);
    }
    if (!cpu->hypervisor[0])
        snprintf(cpu->hypervisor, sizeof cpu->hypervisor, "unnamed hypervisor");
}

bool cpu_feature_announced(const struct cpu_info *cpu, const struct feature_row *row)
{
    bool announced = row->nplaces == 0;
    for (int p = 0; p < row->nplaces; p++) {
        const struct feature_place *place = &row->places[p];
        const struct cpuid_leaf *leaf = cpu_leaf_find(cpu, place->leaf, place->subleaf);
        announced = announced || (leaf && leaf_register(leaf, place->reg) >> place->bit & 1);
    }
    return announced;
}

static void decode_features(struct cpu_info *cpu)
{
    const struct feature_table *table = features_table();
    uint64_t xcr0 = pseudo_value(cpu, CPUID_PSEUDO_XCR0);
    for (int i = 0; i < table->nrows; i++) {
        const struct feature_row *row = &table->rows[i];
        cpu->features[i] = cpu_feature_announced(cpu, row) && (xcr0 & row->xcr0) == row->xcr0;
    }
}

// In the order of trust: what the hypervisor says, what the CPU says, what was measured, and the
// nominal frequency, which the TSC of such CPUs follows.
static void decode_tsc(struct cpu_info *cpu)
{
    const struct cpuid_leaf *leaf = cpu_leaf_find(cpu, 0x80000007, 0);
    cpu->tsc_invariant = leaf && leaf->edx >> 8 & 1;
    leaf = cpu_leaf_find(cpu, 0x40000010, 0);
    if (cpu->hypervisor[0] && leaf && leaf->eax) {
        cpu->tsc_hz = leaf->eax * UINT64_C(1000);
        return;
    }
    leaf = cpu_leaf_find(cpu, 0x15, 0);
    if (leaf && leaf->eax && leaf->ebx && leaf->ecx) {
        cpu->tsc_hz = (uint64_t)leaf->ecx * leaf->ebx / leaf->eax;
        return;
    }
    cpu->tsc_hz = pseudo_value(cpu, CPUID_PSEUDO_TSC_HZ);
    const struct cpuid_leaf *nominal = cpu_leaf_find(cpu, 0x16, 0);
    if (!cpu->tsc_hz && leaf && leaf->eax && leaf->ebx && nominal)
        cpu->tsc_hz = (nominal->eax & 0xffff) * UINT64_C(1000000);
}

// Brands of CPUs that only hypervisors know. Some borrow the signature of a real CPU that is
// nothing like what the program runs on.
static const struct {
    const char *brand;
    int model; // with this model only; -1: any
} invented[] = {
    {"QEMU Virtual CPU",               -1  }, // qemu64: signature of a K8
    {"QEMU TCG CPU",                   -1  }, // max
    {"Common KVM processor",           -1  }, // kvm64: signature of a Pentium 4
    {"Common 32-bit KVM processor",    -1  },
    {"Intel Xeon Processor (Icelake)", 0x86}, // Icelake-Server up to v3: signature of a Tremont
};

bool cpu_is_invented(const struct cpu_info *cpu)
{
    for (size_t i = 0; i < ARRAY_LEN(invented); i++)
        if (strncmp(cpu->brand, invented[i].brand, strlen(invented[i].brand)) == 0 &&
            (invented[i].model < 0 || invented[i].model == cpu->model))
            return true;
    return false;
}

int cpu_decode(struct cpu_info *cpu, struct err *err)
{
    if (cpuinfo_load(err) < 0)
        return -1;
    const struct cpuid_leaf *first = cpu_leaf_find(cpu, 0, 0);
    if (!first)
        return err_set(err, "CPUID leaf 0 is missing");
    const uint32_t vendor[3] = {first->ebx, first->edx, first->ecx};
    text_put(cpu->vendor, sizeof cpu->vendor, vendor, 3);
    decode_brand(cpu);
    decode_signature(cpu);
    decode_hypervisor(cpu);
    decode_features(cpu);
    decode_tsc(cpu);
    cpu_decode_caches(cpu);
    cpu->microcode = (uint32_t)pseudo_value(cpu, CPUID_PSEUDO_MICROCODE);
    cpu_judge(cpu, NULL);
    return 0;
}
