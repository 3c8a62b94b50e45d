/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/* The interface of /dev/latput. All of it is the same in 32-bit and 64-bit mode. */
#ifndef LATPUT_KERNEL_H
#define LATPUT_KERNEL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define LATPUT_DEVICE "/dev/latput"
enum { LATPUT_KERNEL_VERSION = 2 };
enum { LATPUT_VARIANTS = 3, LATPUT_NAME_MAX = 160, LATPUT_CODE_MAX = 4096 };

/* A kernel is looked for by its code, byte by byte. */
struct latput_find {
    __u64 init, body; /* in: their addresses in the caller */
    __u32 init_bytes, body_bytes;
    __u32 number;                  /* out: its number in the module's list */
    __u32 copies[LATPUT_VARIANTS]; /* of the body in the loop of each variant, most first */
};

/* One timing. Where the time of a kernel's body is not known yet, only its last variant is run, and
 * at most LATPUT_FIRST_ITERATIONS of it. ETIME: it would take longer than interrupts may be off. */
enum { LATPUT_FIRST_ITERATIONS = 2 };
struct latput_run {
    __u32 number, variant, iterations; /* in */
    __u32 faulted;                     /* out: 1: an exception ended it */
    __u32 vector, reserved;            /* of the exception */
    __u64 gpr_fill, mem_fill; /* in: contents of registers, and of the first 4 KiB of data */
    __u64 tsc_begin, tsc_end; /* out; begin 0: the init had not ended */
    __s64 stack_moved;        /* bytes that the loop left the stack pointer from where it was */
};

struct latput_name {
    __u32 number;               /* in */
    char name[LATPUT_NAME_MAX]; /* out: the form */
};

/* Whether the calling task may turn interrupts off: 1: cli and sti are its own to use in user
 * mode, and so are, as with iopl(2) before Linux 5.5, the ports of devices; 0: no longer. An
 * execve() ends it, a fork() hands it on. EPERM: without CAP_SYS_RAWIO, or where the kernel is
 * locked down. */
#define LATPUT_INTERRUPTS _IOW('L', 0xc4, __u32)

/* ENOENT: there is none. */
#define LATPUT_VERSION _IOR('L', 0xc0, __u32)
#define LATPUT_FIND _IOWR('L', 0xc1, struct latput_find)
#define LATPUT_RUN _IOWR('L', 0xc2, struct latput_run)
#define LATPUT_NAME _IOWR('L', 0xc3, struct latput_name)

#endif
