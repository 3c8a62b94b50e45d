// SPDX-License-Identifier: MIT
// Forms as LLVM knows them: the opcode and operands of their machine code, told by llvm-mc, and
// what the results say in the terms of its scheduling models.
#ifndef LATPUT_LLVM_H
#define LATPUT_LLVM_H

#include "known/known.h"

// One instruction; opcode NULL: `why` there is none (one of the texts below, or known_no_code).
struct llvm_instr {
    const char *opcode;   // "ADD64rr"
    const char *operands; // as llvm-exegesis writes them: "RAX RAX RBX"
    const char *text;     // in AT&T syntax, blanks instead of tabs
    const char *why;
};
extern const char llvm_unknown[]; // LLVM does not decode the bytes
extern const char llvm_several[]; // it decodes several instructions, as of a lock prefix

// (*instrs)[i] is of data->forms[i], owned by data->arena. 0, or -1 with the message, which says
// so where LLVM is not installed. The data must have code.
int llvm_decode(struct known_cpu *data, struct llvm_instr **instrs, struct err *err);

// The latency that a scheduling model should give the form: from any operand, through an address
// too, to the last of its registers, which lies in [least, most] for fast data, and is slow for
// slow data (NaN: there is none). false: nothing is known of it.
struct llvm_latency {
    double least, most, slow;
};
bool llvm_latency(const struct known_form *form, struct llvm_latency *latency);

#endif
