// SPDX-License-Identifier: MIT
// A block in another shape: some of its instructions changed or left out, to be measured where the
// block is: as text, in a NASM file whose `testcode` it is, or in the function whose loop it is.
#ifndef LATPUT_EXPLAIN_SHAPE_H
#define LATPUT_EXPLAIN_SHAPE_H

#include "bench/bench.h"
#include "explain.h"

// Where the block of a file is.
struct explain_place {
    const char *directory; // for files of shapes
    const char *testcode;  // of a NASM file: its text; else NULL
    const char *object;    // of a loop: the object with the function; else NULL
    size_t offset;         // of the loop in it
    double runs;           // of the block in one of bench's results
};

// What experiments are made with.
struct explain_subject {
    const struct explanation *explanation;
    const struct bench_spec *spec; // that the block was measured by
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
    struct shape_piece *pieces; // one an instruction
    bool broken;                // chains through registers and flags; not in a function
};
struct shape shape_as_is(const struct explain_subject *subject, struct arena *arena);
// Whether the instruction may be another one there: not where a loop's end or an address depends
// on it, nor where the linker may write into it.
bool shape_may_change(const struct shape *shape, int instr);
// A loop's instructions stay where they are: what is left out there becomes a nop. False: there is
// no room for so many bytes.
bool shape_change(struct shape *shape, int instr, const uint8_t *bytes, int n);
void shape_leave_out(struct shape *shape, int instr);
// What bench is to measure, and the block that it then is. 1: it cannot be made here; -1 with a
// message.
int shape_make(const struct shape *shape, struct bench_spec *spec, struct block *block,
               struct arena *arena, struct err *err);

#endif
