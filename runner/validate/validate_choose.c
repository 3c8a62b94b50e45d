// SPDX-License-Identifier: MIT
// Chooses the forms that random mixes are drawn from, with reasons for leaving others out; see
// validate.h.
#include "validate.h"

#include "plan/plan.h"
#include "ports/ports_forms.h"

#include <math.h>
#include <string.h>

static const double SLOTS_MICROCODE = 4.5;
static const double UNIT_CLK = 2.5; // cycles for which a form keeps a unit busy from which the unit
                                    // is not pipelined
static const double LONG_CLK = 30;  // cycles of forms that would outweigh all others

enum form_class {
    CLASS_GPR_FORM,
    CLASS_VECTOR,
    CLASS_MASK_FORM,
    CLASS_LOAD,
    CLASS_STORE,
    CLASS_UNIT,
    CLASS_MICROCODE
};

const char *validate_class_name(int class)
{
    static const char *const names[VALIDATE_CLASSES] = {
        "general-purpose", "vector", "mask", "load", "store", "non-pipelined", "microcode"};
    return names[class];
}

static int form_class(const struct port_model *model, const struct list_row *row,
                      const struct port_usage *usage)
{
    bool vector = false, mask = false, load = false, store = false;
    for (int i = 0; i < row->nops; i++) {
        const struct operand *op = &row->ops[i];
        bool memory = op->kind == OPERAND_MEM || op->kind == OPERAND_VSIB;
        vector |= op->kind == OPERAND_VEC || op->kind == OPERAND_MMX || op->kind == OPERAND_X87;
        mask |= op->kind == OPERAND_MASK;
        load |= memory && op->access & ACCESS_READ;
        store |= memory && op->access & ACCESS_WRITE;
    }
    const struct port_demand *unit = port_usage_unit(model, usage);
    if (unit && unit->clk >= UNIT_CLK && !(usage->front.slots > SLOTS_MICROCODE))
        return CLASS_UNIT;
    if (usage->front.slots > SLOTS_MICROCODE)
        return CLASS_MICROCODE;
    return store    ? CLASS_STORE
           : load   ? CLASS_LOAD
           : vector ? CLASS_VECTOR
           : mask   ? CLASS_MASK_FORM
                    : CLASS_GPR_FORM;
}

// Returns true if instances of the row wait for each other in a way that neither moves nor memory
// of their own prevents.
static bool row_waits(const struct list_row *row, enum validate_reason *reason)
{
    int read = 0, written = 0, both = 0;
    for (int i = 0; i < row->nops + row->nimplicit; i++) {
        const struct operand *op = i < row->nops ? &row->ops[i] : &row->implicit[i - row->nops];
        *reason = VALIDATE_X87;
        if (op->kind == OPERAND_X87 || op->kind == OPERAND_FPSW)
            return true;
        *reason = VALIDATE_MEMORY;
        if (op->kind == OPERAND_MOFFS)
            return true; // all forms of a mix would use the same address
        if (op->kind != OPERAND_MEM && op->kind != OPERAND_VSIB)
            continue;
        read |= op->access & ACCESS_READ;
        written |= op->access & ACCESS_WRITE;
        both += i < row->nops && op->kind == OPERAND_MEM && op->access & ACCESS_READ &&
                op->access & ACCESS_WRITE;
    }
    return read && written && both != 1;
}

static bool uses_add(struct port_uses *uses, const struct port_uses *more)
{
    for (int i = 0; i < more->n; i++)
        if (!port_uses_add(uses, more->use[i]))
            return false;
    return true;
}

// Adds a usage. Beside wide forms either may use other ports than alone, which is added, too.
static bool usage_add(struct port_usage *to, const struct port_usage *usage)
{
    if (usage->wide_uses.n > 0 && to->wide_uses.n == 0)
        to->wide_uses = to->uses;
    if ((to->wide_uses.n > 0 || usage->wide_uses.n > 0) &&
        !uses_add(&to->wide_uses, port_uses_beside(usage, true)))
        return false;
    if (!uses_add(&to->uses, &usage->uses))
        return false;
    to->wide |= usage->wide;
    to->ambiguous |= usage->ambiguous;
    to->front.mixed = port_usage_slots(to) + port_usage_slots(usage);
    to->front.slots += usage->front.slots;
    to->front.stall_clk += usage->front.stall_clk;
    return true;
}

// Adds the moves that cut the dependencies of an instance; false if their ports are unknown. Moves
// that restore a needed value are part of the form's ports already.
static bool usage_add_breakers(struct port_usage *to, const struct list_row *row,
                               const struct stored_port_usages *usages)
{
    const char *breakers[MIX_BREAKERS_MAX], *resets[MIX_BREAKERS_MAX];
    int nbreakers = mix_breakers(row, BREAK_ALL, breakers);
    int nresets = mix_breakers(row, BREAK_NEEDED, resets);
    for (int i = 0, reset = 0; i < nbreakers; i++) {
        if (reset < nresets && strcmp(breakers[i], resets[reset]) == 0) {
            reset++;
            continue;
        }
        const struct stored_port_usage *move =
            stored_form_find_move(breakers[i], usages->usages, usages->n, sizeof *usages->usages);
        if (!move || move->usage.outcome != OUTCOME_OK || isnan(move->usage.front.slots) ||
            !usage_add(to, &move->usage))
            return false;
    }
    return true;
}

const char *validate_reason_text(enum validate_reason reason)
{
    static const char *const texts[VALIDATE_REASONS] = {
        [VALIDATE_NO_SLOTS] = "take an unknown number of slots",
        [VALIDATE_LONG] = "take more than 30 cycles, in which all others are done",
        [VALIDATE_X87] = "share the one x87 stack",
        [VALIDATE_MEMORY] = "wait for each other through memory",
        [VALIDATE_MOVES] = "wait for each other, and the ports of moves between them are unknown",
        [VALIDATE_DECODING] = "take longer in the decoder than from the µop cache",
        [VALIDATE_REGISTER] = "wait for the register that they write and do not read",
    };
    return texts[reason];
}

// Decides whether a form with ports is in mixes; false with the reason if not.
static bool form_chosen(const struct list_row *row, const struct stored_port_usages *usages,
                        struct validate_form *form, enum validate_reason *reason)
{
    *reason = VALIDATE_NO_SLOTS;
    if (isnan(form->usage.front.slots))
        return false;
    *reason = VALIDATE_LONG;
    for (int d = 0; d < form->usage.demands.n; d++)
        if (form->usage.demands.of[d].clk > LONG_CLK)
            return false;
    if (row_waits(row, reason))
        return false;
    *reason = VALIDATE_MOVES;
    return usage_add_breakers(&form->usage, row, usages);
}

struct validate_forms validate_choose(const struct port_model *model,
                                      const struct selected_row *rows, int nrows,
                                      const struct stored_port_usages *usages, struct arena *arena)
{
    struct validate_forms chosen = {
        .forms = arena_alloc(arena, ((size_t)nrows + 1) * sizeof *chosen.forms)};
    for (int i = 0; i < nrows; i++) {
        const struct list_row *row = rows[i].row;
        const struct stored_form key = stored_form_of(row);
        const struct stored_port_usage *stored =
            stored_form_find(&key, usages->usages, usages->n, sizeof *usages->usages);
        if (!stored || stored->usage.outcome != OUTCOME_OK || row->bits != 64 ||
            !mix_plannable(row) || mix_locks(row))
            continue;
        struct validate_form form = {.row = row,
                                     .usage = stored->usage,
                                     .class = form_class(model, row, &stored->usage),
                                     .decode_clk = stored->decode_clk,
                                     .vector_bits = ports_form_bits(row)};
        enum validate_reason reason;
        if (form_chosen(row, usages, &form, &reason))
            chosen.forms[chosen.n++] = form;
        else
            chosen.left_out[reason]++;
    }
    return chosen;
}
