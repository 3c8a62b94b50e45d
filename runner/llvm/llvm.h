// SPDX-License-Identifier: MIT
// Forms as LLVM knows them: the opcode and operands of their machine code, from llvm-mc, and their
// results in the terms of its scheduling models.
#pragma once

#include "known/known.h"

// One instruction; if opcode is NULL, `why` gives the reason (LLVM does not decode
// the bytes, or decodes several instructions, as with a lock prefix; or known_no_code).
struct llvm_instr {
    const char *opcode;   // "ADD64rr"
    const char *operands; // as llvm-exegesis writes them: "RAX RAX RBX"
    const char *text;     // in AT&T syntax, blanks instead of tabs
    const char *why;
};

// Decodes the forms: (*instrs)[i] is of data->forms[i], owned by data->arena. Returns 0, or -1 with
// the message, also if LLVM is not installed. The data must have code.
int llvm_decode(struct known_cpu *data, struct llvm_instr **instrs, struct err *err);

// The latency that a scheduling model should give the form: from any register, also through an
// address, to the last of its results in registers. It lies in [least, most] for fast data, and is
// `slow` for slow data (NaN: none). llvm_latency() returns false if nothing is known.
struct llvm_latency {
    double least, most, slow;
};
bool llvm_latency(const struct known_form *form, struct llvm_latency *latency);
