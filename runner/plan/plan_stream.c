// SPDX-License-Identifier: MIT
// Throughput of stores that bypass the caches (option nontemporal). Each line is written once,
// whole and from beginning to end, then the next one: stores that hit the same few lines again
// would only show how long they wait for earlier ones on the way to memory.
#include "plan_internal.h"

enum {
    STREAM_BYTES = 512,  // written per body: some lines, so that moving on costs little
    STREAM_SOURCE = -64, // offset in the data area of the source of movdir64b, outside the stream
};

static const struct operand *stream_stored(const struct list_row *row)
{
    for (int i = 0; i < row->nops; i++)
        if (row->ops[i].kind == OPERAND_MEM && row->ops[i].access & ACCESS_WRITE)
            return &row->ops[i];
    // For a pointer in a register: the width of the other operands.
    const struct operand *widest = NULL;
    for (int i = 0; i < row->nops; i++)
        if (row->ops[i].kind != OPERAND_GPR && (!widest || row->ops[i].bits > widest->bits))
            widest = &row->ops[i];
    return widest;
}

int stream_bytes(const struct row_plan *rp)
{
    const struct operand *stored = stream_stored(rp->row);
    return rp->row->nontemporal && stored ? stored->bits / 8 : 0;
}

// Returns the point with the address of an instance's store: the base of its memory operand, or a
// pointer.
static int stream_pointer(const struct row_plan *rp)
{
    const struct operand *stored = stream_stored(rp->row);
    bool memory = stored->kind == OPERAND_MEM && stored->access & ACCESS_WRITE;
    for (int i = 0; i < rp->npoints; i++) {
        const struct point *point = &rp->points[i];
        if (memory ? point->part == PART_BASE && point->op == stored
                   : point->part == PART_WHOLE && point->need == NEED_ADDRESS)
            return i;
    }
    return -1;
}

static int stream_place(struct draft *draft, int pointer, int line)
{
    const struct point *point = &draft->rp->points[pointer];
    if (point->part == PART_BASE)
        draft->reg[pointer] = line;
    else
        draft->reg[pointer] = point->fixed >= 0 ? point->fixed : draft_take(draft, CLASS_GPR);
    draft_place_others(draft, -1, -1);
    return draft->reg[pointer];
}

bool stream_kernel(struct row_plan *rp, struct test *test)
{
    int bytes = stream_bytes(rp), pointer = stream_pointer(rp);
    if (pointer < 0 || bytes == 0)
        return false;
    struct draft draft;
    draft_begin(&draft, rp);
    int line = draft_take_helper(&draft, CLASS_GPR), offset = draft_zero(&draft);
    int reg = stream_place(&draft, pointer, line);
    const char *offset_32 = render_gpr(offset, 32, false);
    // After 64 KiB from the beginning again: those lines have long left for memory.
    draft_line(&draft, "add %s, %d", offset_32, STREAM_BYTES);
    draft_line(&draft, "movzx %s, %s", offset_32, render_gpr(offset, 16, false));
    draft_line(&draft, "lea %s, [%s+%s]", draft_gpr(&draft, line), draft_gpr(&draft, rp->data_reg),
               draft_gpr(&draft, offset));
    for (int at = 0; at < STREAM_BYTES; at += bytes) {
        draft.disp = reg == line ? at : STREAM_SOURCE;
        if (reg != line)
            draft_line(&draft, "lea %s, [%s+%d]", draft_gpr(&draft, reg), draft_gpr(&draft, line),
                       at);
        draft_instruction(&draft);
    }
    bool fits = !draft.out_of_regs;
    if (!fits) {
        draft_free(&draft);
        return false;
    }
    struct kernel_spec spec = draft_finish(&draft, PLAN_STREAM, STREAM_BYTES / bytes);
    spec.stream = true;
    plan_add_kernel(rp, test, spec);
    return true;
}
