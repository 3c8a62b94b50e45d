// SPDX-License-Identifier: MIT
// What a reader of the table must know beside the number: which values an x87 function computed
// with, what puts the x87 stack back, how much a store writes, an encoding that costs time before
// the instruction is decoded, and what the list itself says (option note=). It follows from the row
// alone.
#include "plan_internal.h"

#include <stdlib.h>
#include <string.h>

// A prefix of the operand size beside an immediate of 16 bits: without it there would be 32, so the
// length of the instruction depends on the prefix. Intel's decoders stall on that; as long as the
// code comes out of the cache of decoded instructions some of these cost nothing.
bool row_changes_length(const struct list_row *row)
{
    bool word = strncmp(row->mnemonic, "o16 push", 8) == 0, immediate = false;
    for (int i = 0; i < row->nops; i++) {
        const struct operand *op = &row->ops[i];
        bool place = op->kind == OPERAND_GPR || op->kind == OPERAND_MEM;
        word |= place && op->bits == 16;
        immediate |= op->kind == OPERAND_IMM && op->bits == 16;
    }
    return word && immediate;
}

// "st0 1.7, others 2.3" of the set of data that is planned; NULL where all are 1.0.
static const char *note_x87_values(const struct row_plan *rp, const char *variant)
{
    const struct x87_values *st = data_x87_option(rp);
    const char *gap = *variant ? ": " : "";
    if (!st)
        return NULL;
    if (!st->others_text)
        return arena_printf(rp->arena, "%s%sst %s", variant, gap, st->top_text);
    return arena_printf(rp->arena, "%s%sst0 %s, others %s", variant, gap, st->top_text,
                        st->others_text);
}

// What each kernel does to the x87 stack behind the instruction, which takes part of the time;
// NULL: nothing.
static const char *note_x87_moves(const struct row_plan *rp)
{
    switch (rp->x87_moves) {
    case 1:
        return "with an fstp st0";
    case -1:
        return "with an fld st";
    case -2:
        return "with two fld st";
    default:
        return NULL;
    }
}

static const char *note_join(const struct row_plan *rp, const char *note, const char *more)
{
    return *note && more ? arena_printf(rp->arena, "%s; %s", note, more) : more ? more : note;
}

const char *plan_note(const struct row_plan *rp, const char *variant)
{
    const char *note = "";
    int bytes = stream_bytes(rp);
    // The views put the rate behind it.
    if (bytes)
        note = arena_printf(rp->arena, "%d bytes each, to fresh lines", bytes);
    note = note_join(rp, note, note_x87_values(rp, variant));
    if (rp->slow)
        return note; // the rest is said once
    note = note_join(rp, note, note_x87_moves(rp));
    note = note_join(rp, note, row_changes_length(rp->row) ? "length-changing prefix" : NULL);
    return note_join(rp, note, rp->row->note);
}
