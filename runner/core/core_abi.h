// SPDX-License-Identifier: MIT
// What the runner, the generated NASM file and the measurement core agree on. The NASM side of
// struct core_kernel is written by gen.c (one `dq/dd` line a kernel); the sizes are asserted here.
#ifndef LATPUT_CORE_ABI_H
#define LATPUT_CORE_ABI_H

#include <stdint.h>

enum { CORE_ABI_VERSION = 1, CORE_CONFIG_FD = 3, CORE_RECORD_FD = 4 };

// flags of a kernel
enum {
    CORE_UNROLLED = 1,    // copy the body once: NASM has unrolled it
    CORE_CLEAR_UPPER = 2, // vzeroall, then legacy moves
};

// One kernel of the object. The table is the symbol `latput_kernels`, the number of its entries the
// 32-bit symbol `latput_kernel_count`. Addresses are 64 bits wide in 32-bit objects too.
struct core_kernel {
    uint64_t body, init; // addresses
    uint32_t body_bytes, init_bytes;
    uint32_t id; // index in the batch
    uint32_t instances, instrs;
    uint32_t flags;
    uint32_t vec_bits;
    uint32_t reserved;
    uint64_t vec_fill, mem_fill, gpr_fill, mask_fill;
};
_Static_assert(sizeof(struct core_kernel) == 80, "mirrored in gen.c");

#endif
