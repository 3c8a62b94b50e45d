// SPDX-License-Identifier: MIT
// A block in another shape: some of its instructions changed or left out, to be measured where the
// block is: as text, in a NASM file whose `testcode` it is, or in the function whose loop it is.
#pragma once

#include "bench/bench.h"
#include "bench/bench_source.h"
#include "explain.h"

// Place of a block in a file.
struct explain_place {
    const char *directory;         // for files of shapes
    const char *testcode;          // text of a NASM file; else NULL
    const char *object;            // object with the function of a loop; else NULL
    const struct bench_call *call; // with it: how it is called
    size_t function_len;           // bytes of the function
    size_t offset;                 // of the loop in the object
    double runs;                   // of the block per result of bench
};

// Inputs of an experiment.
struct explain_subject {
    const struct explanation *explanation;
    const struct bench_spec *spec; // as the block was measured
    const struct explain_table *table;
    const struct explain_place *place; // NULL: the block is the spec's body
};

struct shape_piece {
    const uint8_t *bytes;
    int n; // 0: left out
    bool changed;
};
struct shape {
    const struct explain_subject *subject;
    struct shape_piece *pieces; // one per instruction
    bool broken;                // chains through registers and flags; not in a function
};
struct shape shape_as_is(const struct explain_subject *subject, struct arena *arena);
// Returns true if the instruction may be replaced: no end of a loop and no address depends on it,
// and the linker does not write into it.
bool shape_may_change(const struct shape *shape, int instr);
// Replaces an instruction. In a loop the others stay where they are, and the rest of its bytes
// becomes a nop. Returns false if there is no room for so many bytes.
bool shape_change(struct shape *shape, int instr, const uint8_t *bytes, int n);
void shape_leave_out(struct shape *shape, int instr);
// Makes the spec for bench, and the block that it measures. 1: it cannot be made here; -1 with a
// message.
int shape_make(const struct shape *shape, struct bench_spec *spec, struct block *block,
               struct arena *arena, struct err *err);
