// SPDX-License-Identifier: MIT
// Remarks that a reader of the table needs beside the number: the values of an x87 function, the
// instructions that restore the x87 stack, the bytes of a store, an encoding that costs time in the
// decoder, and the list's own (option note=). They follow from the row alone.
#include "plan_internal.h"

#include <string.h>

// A prefix of the operand size changes an immediate from 32 to 16 bits, and so the length of the
// instruction. Intel's decoders stall on that, except for some such instructions from the cache of
// decoded instructions.
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

// Returns "st0 1.7, others 2.3" for the current set of data; NULL if all are 1.0.
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

// Returns a remark on the instructions that restore the x87 stack, which take part of the time;
// NULL: none.
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
    // The views append the rate.
    if (bytes)
        note = arena_printf(rp->arena, "%d bytes each, to fresh lines", bytes);
    note = note_join(rp, note, note_x87_values(rp, variant));
    if (rp->slow)
        return note; // later sets of data need no more
    note = note_join(rp, note, note_x87_moves(rp));
    note = note_join(rp, note, row_changes_length(rp->row) ? "length-changing prefix" : NULL);
    return note_join(rp, note, rp->row->note);
}
