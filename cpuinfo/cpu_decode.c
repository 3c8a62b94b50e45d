// SPDX-License-Identifier: MIT
// Identification from the leaves alone: vendor, family, features, hypervisor, TSC. Which uarch that
// makes is judged in cpu_evidence.c.
#include "cpu_decode.h"
#include "cpu_tables.h"

#include <stdio.h>
#include <string.h>

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

// Returns true if AMD's topology says, of any level, that its cores are of several types. Bits
// 31:28 of EBX are 0 elsewhere, which is a type, too.
static bool cpu_is_heterogeneous(const struct cpu_info *cpu)
{
    for (int i = 0; i < cpu->nleaves; i++)
        if (cpu->leaves[i].leaf == 0x80000026 && cpu->leaves[i].eax >> 30 & 1)
            return true;
    return false;
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
}

bool cpu_is_hybrid(const struct cpu_info *cpu)
{
    const struct cpuid_leaf *leaf = cpu_leaf_find(cpu, 7, 0);
    return cpu_is_heterogeneous(cpu) ||
           (leaf && leaf->edx >> 15 & 1 && cpu_leaf_find(cpu, 0x1a, 0));
}

static void decode_core_type(struct cpu_info *cpu)
{
    const struct cpuid_leaf *leaf = cpu_leaf_find(cpu, 0x1a, 0);
    if (leaf) {
        cpu->core_type = (int)(leaf->eax >> 24);
        cpu->native_model = leaf->eax & 0xffffff;
    }
    leaf = cpu_leaf_find(cpu, 0x80000026, 0);
    if (cpu_is_heterogeneous(cpu) && leaf) {
        cpu->core_type = CPU_CORE_AMD | (int)(leaf->ebx >> 28);
        cpu->native_model = leaf->ebx >> 24 & 15;
    }
}

// Names that hypervisors put into EBX, ECX, EDX of their first leaf, without blanks at the ends.
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

static void decode_features(struct cpu_info *cpu)
{
    const struct feature_table *table = features_table();
    uint64_t xcr0 = pseudo_value(cpu, CPUID_PSEUDO_XCR0);
    for (int i = 0; i < table->nrows; i++) {
        const struct feature_row *row = &table->rows[i];
        cpu->features[i] = cpu_feature_announced(cpu, row) && (xcr0 & row->xcr0) == row->xcr0;
    }
}

// Sets the frequency of the TSC from the most trusted source: the hypervisor, the CPU, the
// measurement, the nominal frequency, which the TSC of such CPUs follows.
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
    decode_core_type(cpu);
    decode_hypervisor(cpu);
    decode_features(cpu);
    decode_tsc(cpu);
    cpu_decode_caches(cpu);
    cpu->microcode = (uint32_t)pseudo_value(cpu, CPUID_PSEUDO_MICROCODE);
    cpu_judge(cpu, NULL);
    return 0;
}
