// SPDX-License-Identifier: MIT
// Latencies of an instruction's pairs, as the table of the CPU has them; see explain_table.h.
#include "explain_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Least latency of an execution unit, in cycles; below it the result is made at rename.
static const double AT_RENAME_CLK = 0.5;
static const double ASSUMED_CLK = 1;
// A chain at rename takes at most this multiple of the cycles of its slots.
static const double SLOT_TIMES = 1.3;

// Returns the index of the decoder's operand among the operands of the row; -1: the text does not
// have it.
static int role_index(const struct table_row *row, const struct block_instr *instr, int operand)
{
    int visible = 0, at = -1, n = row ? row->row->nops : ZYDIS_MAX_OPERAND_COUNT;
    for (int i = 0; i < instr->in.operand_count_visible; i++)
        visible += instr->ops[i].encoding != ZYDIS_OPERAND_ENCODING_MASK;
    for (int i = 0; i <= operand && i < instr->in.operand_count_visible; i++) {
        if (instr->ops[i].encoding == ZYDIS_OPERAND_ENCODING_MASK) {
            if (i == operand)
                return -1;
            continue;
        }
        // The decoder shows registers that the text leaves out (xmm0 of blendvps).
        if (instr->ops[i].visibility == ZYDIS_OPERAND_VISIBILITY_IMPLICIT && visible > n) {
            visible--;
            if (i == operand)
                return -1;
            continue;
        }
        at++;
    }
    return operand < instr->in.operand_count_visible && at < n ? at : -1;
}

static const char *role_flags(int place, int n)
{
    static const char *const names[][4] = {
        {"cf", "flags.cf", "flags", "flags.zf"},
        {"of", "flags.of", "flags", "flags.zf"},
        {"zf", "flags.zf", "flags", "sf"      },
        {"df", NULL,       NULL,    NULL      },
    };
    return n < 4 ? names[place - PLACE_FLAGS_C][n] : NULL;
}

// Returns the name of an operand that the text does not have: its register's, in the widths of the
// lists.
static const char *role_implicit(const struct table_row *row, const struct block_instr *instr,
                                 const struct block_touch *touch, struct arena *arena)
{
    const ZydisDecodedOperand *op = &instr->ops[touch->operand];
    ZydisRegister reg = op->type == ZYDIS_OPERAND_TYPE_REGISTER ? op->reg.value : op->mem.base;
    const char *name = ZydisRegisterGetString(reg);
    for (int i = 0; row && i < row->row->nimplicit; i++) {
        const struct operand *implicit = &row->row->implicit[i];
        if (implicit->kind == OPERAND_GPR && touch->place == PLACE_GPR + implicit->fixed)
            name = implicit->name;
    }
    if (!name)
        return NULL;
    return touch->part == PART_REST ? arena_printf(arena, "%s.rest", name) : name;
}

// Returns the n-th name (from 0) by which the table may know the operand of a touch: "op1",
// "op2.data", "flags", "rax"; NULL: there are no more.
static const char *table_role(const struct table_row *row, const struct block_instr *instr,
                              const struct block_touch *touch, int n, struct arena *arena)
{
    static const char *const parts[] = {"", ".rest", ".base", ".index", ".data", ""};
    if (touch->part == PART_FLAGS)
        return role_flags(touch->place, n);
    if (n > 0)
        return NULL;
    if (instr->ops[touch->operand].encoding == ZYDIS_OPERAND_ENCODING_MASK)
        return "op1.mask";
    int index = role_index(row, instr, touch->operand);
    if (index < 0)
        return role_implicit(row, instr, touch, arena);
    return arena_printf(arena, "op%d%s", index + 1, parts[touch->part]);
}

static const struct known_pair *pair_find(const struct known_form *form, const char *src,
                                          const char *dst)
{
    const struct known_pair *found = NULL;
    for (int i = 0; i < form->npairs; i++) {
        const struct known_pair *pair = &form->pairs[i];
        // Fast data are assumed, since the data are not known.
        if (strcmp(pair->src, src) == 0 && strcmp(pair->dst, dst) == 0 && !isnan(pair->clk) &&
            (!found || pair->clk < found->clk))
            found = pair;
    }
    return found;
}

// Returns the least exact latency from this operand to any: a result that can only be bounded is
// hardly later than another.
static double pair_exact(const struct known_form *form, const char *src)
{
    double clk = NAN;
    for (int i = 0; i < form->npairs; i++)
        if (strcmp(form->pairs[i].src, src) == 0 && !form->pairs[i].upper)
            clk = fmin(clk, form->pairs[i].clk); // fmin() prefers numbers
    return clk;
}

// Returns the least latency of the form from anything but addresses, for a pair that was not
// measured.
static double pair_typical(const struct known_form *form)
{
    double clk = NAN;
    for (int i = 0; i < form->npairs; i++)
        if (!strchr(form->pairs[i].src, '.'))
            clk = fmin(clk, form->pairs[i].clk);
    return clk;
}

// Returns true if the list says (SRC:DST+SRC:DST) that dst does not wait for src.
static bool pair_unrelated(const struct table_row *row, const char *src, const char *dst)
{
    char pair[64];
    if (!row || !row->row->unrelated || !src || !dst)
        return false;
    size_t len = (size_t)snprintf(pair, sizeof pair, "%s:%s", src, dst);
    for (const char *at = row->row->unrelated; (at = strstr(at, pair)); at += len)
        if ((at == row->row->unrelated || at[-1] == '+') && (at[len] == '\0' || at[len] == '+'))
            return true;
    return false;
}

// Returns the latency of a pair; a bound holds for both chains. `excess_clk`: of the way back of a
// bound.
static double pair_clk(const struct known_form *form, const struct known_pair *pair, bool dense,
                       double excess_clk)
{
    if (pair->upper)
        return fmin(fmax(pair->clk - excess_clk, 0), pair_exact(form, pair->src));
    return dense ? fmax(pair->clk, pair->dense_clk) : pair->clk; // fmax() prefers numbers
}

// Returns the excess of the way back from a register to another.
static double touches_excess(const struct table_row *row, const struct block_instr *instr,
                             const struct block_touch *from, const struct block_touch *to)
{
    bool memory = from->part == PART_DATA || to->part == PART_DATA;
    return row->cross && !memory
               ? cross_excess_clk(row->cross, instr, row->row->isa, from->place, to->place)
               : 0;
}

double table_latency(const struct table_row *row, const struct block_instr *instr,
                     const struct block_touch *from, const struct block_touch *to, bool dense,
                     enum latency_source *source)
{
    struct arena arena = {0};
    const struct known_form *form = row ? row->form : NULL;
    double clk = NAN;
    *source = LATENCY_ASSUMED;
    for (int i = 0; form && isnan(clk) && i < 4; i++) {
        const char *src = table_role(row, instr, from, i, &arena);
        for (int j = 0; src && isnan(clk) && j < 4; j++) {
            const char *dst = table_role(row, instr, to, j, &arena);
            const struct known_pair *pair = dst ? pair_find(form, src, dst) : NULL;
            if (!pair)
                continue;
            double excess = pair->upper ? touches_excess(row, instr, from, to) : 0;
            clk = pair_clk(form, pair, dense, excess);
            *source = !pair->upper ? LATENCY_MEASURED : excess > 0 ? LATENCY_SHARED : LATENCY_BOUND;
        }
    }
    // The parts of an address take about as long as one another.
    if (isnan(clk) && from->part == PART_INDEX) {
        struct block_touch base = *from;
        base.part = PART_BASE;
        arena_free(&arena);
        return table_latency(row, instr, &base, to, dense, source);
    }
    // An address is not waited for by what is stored, nor does it make the data older.
    bool address = from->part == PART_BASE || from->part == PART_INDEX;
    if (isnan(clk) && ((address && to->part == PART_DATA) ||
                       pair_unrelated(row, table_role(row, instr, from, 0, &arena),
                                      table_role(row, instr, to, 0, &arena)))) {
        arena_free(&arena);
        return NAN;
    }
    if (isnan(clk) && form) {
        const char *src = table_role(row, instr, from, 0, &arena);
        clk = src ? pair_exact(form, src) : clk;
        if (isnan(clk))
            clk = pair_typical(form);
    }
    arena_free(&arena);
    return isnan(clk) ? ASSUMED_CLK : clk;
}

// Returns true if the result does not depend on the operands: the form with one register for all
// operands is done at rename, and is no move.
static bool row_is_idiom(const struct table_row *row)
{
    if (!row->form || !row->row->same || strcmp(row->form->at_rename, "eliminated") == 0)
        return false;
    if (strcmp(row->form->at_rename, "idiom") == 0)
        return true;
    const struct known_pair *pair = pair_find(row->form, "op1", "op1");
    if (!pair)
        pair = pair_find(row->form, "op2", "op1");
    return pair && pair->clk < AT_RENAME_CLK;
}

bool table_is_at_rename(double clk, const struct port_model *model)
{
    return model && model->width > 0 && clk < SLOT_TIMES / model->width;
}

void table_correct(const struct table_row *row, struct block_instr *instr)
{
    if (!row)
        return;
    if (row_is_idiom(row)) {
        block_break_inputs(instr);
        return;
    }
    for (int i = 0; i < instr->in.operand_count_visible; i++) {
        int index = role_index(row, instr, i);
        if (index < 0 || instr->ops[i].type != ZYDIS_OPERAND_TYPE_REGISTER)
            continue;
        char rest[32], whole[32];
        snprintf(rest, sizeof rest, "op%d.rest", index + 1);
        snprintf(whole, sizeof whole, "op%d", index + 1);
        bool kept = false, waits = false;
        for (int p = 0; row->form && p < row->form->npairs; p++) {
            const struct known_pair *pair = &row->form->pairs[p];
            kept |= strcmp(pair->src, rest) == 0;
            waits |= strcmp(pair->variant, PLAN_FALSE) == 0 && strcmp(pair->src, whole) == 0;
        }
        if (waits || row->row->ops[index].access & ACCESS_READ)
            block_add_read(instr, i, PART_REGISTER);
        else if (kept)
            block_add_read(instr, i, PART_REST);
    }
}
