// SPDX-License-Identifier: MIT
// The system-call filter, as a classic BPF program. Written by hand and not by libseccomp, which
// 64-bit systems have no static 32-bit library of: so the cores of both modes have one mechanism,
// and every batch links with libc alone. The program compares call number and arguments with those
// few that the core itself uses.
#include "core_internal.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>

#ifdef __x86_64__
static const uint32_t filter_arch = AUDIT_ARCH_X86_64;
#else
static const uint32_t filter_arch = AUDIT_ARCH_I386;
#endif

enum { FILTER_MAX = 256 };

struct filter {
    struct sock_filter code[FILTER_MAX];
    unsigned short n;
};

static void filter_put(struct filter *filter, unsigned code, uint8_t yes, uint8_t no,
                       uint32_t operand)
{
    if (filter->n < FILTER_MAX)
        filter->code[filter->n++] = (struct sock_filter){(unsigned short)code, yes, no, operand};
}

// Loads a word of struct seccomp_data and goes on if it has the value; else skips `skip`
// instructions.
static void filter_put_compare(struct filter *filter, size_t offset, uint32_t value, int skip)
{
    filter_put(filter, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
    filter_put(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, (uint8_t)skip, value);
}

// Adds the comparison of an argument. Arguments are 64 bits wide in both modes, BPF's words 32.
static void filter_put_wide(struct filter *filter, size_t offset, uint64_t value, int *left)
{
    for (int half = 0; half < 2; half++) {
        *left -= 2;
        filter_put_compare(filter, offset + (size_t)half * 4, (uint32_t)(value >> 32 * half),
                           *left);
    }
}

static void filter_put_call(struct filter *filter, const struct filter_call *call)
{
    // Instructions to skip on a mismatch: a load and a jump for each further word, and the return.
    int left = 2 * (2 * (call->nargs + (call->from ? 1 : 0))) + 1;
    filter_put_compare(filter, offsetof(struct seccomp_data, nr), (uint32_t)call->number, left);
    if (call->from)
        filter_put_wide(filter, offsetof(struct seccomp_data, instruction_pointer), call->from,
                        &left);
    for (int i = 0; i < call->nargs; i++)
        filter_put_wide(filter, offsetof(struct seccomp_data, args) + (size_t)i * 8, call->args[i],
                        &left);
    filter_put(filter, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
}

int filter_install(const struct filter_call *calls, int ncalls)
{
    struct filter filter = {.n = 0};
    // Calls of the other mode (int 0x80 from 64-bit code) have numbers of their own.
    filter_put_compare(&filter, offsetof(struct seccomp_data, arch), filter_arch, 1);
    filter_put(&filter, BPF_JMP | BPF_JA, 0, 0, 1);
    filter_put(&filter, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_TRAP);
    for (int i = 0; i < ncalls; i++)
        filter_put_call(&filter, &calls[i]);
    filter_put(&filter, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_TRAP);
    if (filter.n == FILTER_MAX)
        return E2BIG;
    const struct sock_fprog program = {filter.n, filter.code};
    // A filter must not change what is measured: by default old kernels switch the speculative
    // store bypass off for filtered processes, which slows store forwarding. Kernels before 4.17
    // do not know the flag.
    long result = core_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                            (long)&program, 0);
    if (result != 0)
        result = core_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&program, 0);
    return (int)-result;
}
