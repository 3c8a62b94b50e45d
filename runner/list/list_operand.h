// SPDX-License-Identifier: MIT
// Part of stage 1, for list.c only: parses one operand of a row.
#pragma once

#include "list.h"

#include <stddef.h>

// A fault in a text: its message, and its place, `at`, in the text that was parsed.
struct list_fault {
    const char *at;
    char text[1024];
};

// Sets the fault; always returns -1.
int list_fault_set(struct list_fault *fault, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Parses text[0..len), e.g. "=z{k}{z}", "m32{1to16}", "i8:0x1b" or, if `implicit`, "+rax". Strings
// come from constant tables or the arena; operand->name is set for implicit operands only. Returns
// 0, or -1 with the fault.
int list_operand_parse(const char *text, size_t len, bool implicit, struct arena *arena,
                       struct operand *operand, struct list_fault *fault);

// Parses a whole number: decimal (without leading zeros) or 0x..., perhaps with `-` in front, that
// fits in `bits` bits, signed or not, and takes all of text[0..len). Returns 0, or -1 with the
// fault.
int list_number_parse(const char *text, size_t len, int bits, int64_t *value,
                      struct list_fault *fault);
// Returns true if text[0..len) names one register: "rax", "xmm0", "k1", "ds".
bool list_register_known(const char *text, size_t len);
