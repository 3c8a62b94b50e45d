// SPDX-License-Identifier: MIT
// Latency: one test for each pair of a point that is read and a point that is written. A link of
// the chain is the instruction, after breakers of other dependencies and before the bridge that
// carries the result back to the source.
#include "plan_internal.h"

#include <string.h>

enum {
    LINKS = 8,       // even, so that two alternating registers close the circle
    SLOT_BYTES = 64, // distance of memory operands that must not depend on each other
};

enum chain_mode {
    CHAIN_SELF,   // source and result are one point: the chain closes by itself
    CHAIN_SHARED, // source and result are always the same register
    CHAIN_TURNS,  // two registers alternate
    CHAIN_BRIDGE, // other instructions carry the result back
};

struct pair {
    int s, d; // indices of points
    enum chain_mode mode;
    bool pointer;     // mov r64, m64: the register points to memory that holds its own address
    const char *flag; // flag read from a result in all flags; NULL: the usual one
    bool rest;        // source is the part of the register that the write leaves alone
    bool overwritten; // source is the register's content before the write
    enum break_way way;
};

// Returns true if a point other than s and d reads register `reg` of the class.
static bool latency_read_elsewhere(const struct row_plan *rp, const struct pair *pair, int reg)
{
    for (int i = 0; i < rp->npoints; i++)
        if (i != pair->s && i != pair->d && rp->points[i].read && rp->points[i].fixed == reg &&
            rp->points[i].class == rp->points[pair->s].class)
            return true;
    return false;
}

static bool latency_is_pointer_chase(const struct row_plan *rp, const struct pair *pair)
{
    const struct point *s = &rp->points[pair->s], *d = &rp->points[pair->d];
    return strcmp(rp->row->mnemonic, "mov") == 0 && s->part == PART_BASE && rp->row->nops == 2 &&
           d->class == CLASS_GPR && d->bits == rp->row->bits && d->fixed < 0 && !d->read;
}

static enum chain_mode latency_mode(const struct row_plan *rp, const struct pair *pair)
{
    const struct point *s = &rp->points[pair->s], *d = &rp->points[pair->d];
    // The loop's counter leaves no flag alone but the carry.
    if (s->class == CLASS_FLAGS && strcmp(s->op->text, "cf") != 0)
        return CHAIN_BRIDGE;
    if (pair->s == pair->d && rp->x87_moves <= 0)
        return CHAIN_SELF;
    if (pair->pointer || (s->same && d->same))
        return CHAIN_SHARED;
    if (s->class == CLASS_FLAGS && d->class == CLASS_FLAGS)
        return points_flags_overlap(s->op, d->op) ? CHAIN_SHARED : CHAIN_BRIDGE;
    if (s->class != d->class || s->class == CLASS_MEM || s->need != NEED_NOTHING)
        return CHAIN_BRIDGE;
    // Each has its own place in the stack, which moves with pushes and pops.
    if (s->class == CLASS_X87 || s->class == CLASS_FPSW)
        return CHAIN_BRIDGE;
    // ah is no part of al: a value in the one does not reach the other.
    if (s->high8 != d->high8 && s->bits == 8 && d->bits == 8)
        return CHAIN_BRIDGE;
    if (s->fixed >= 0 && d->fixed >= 0)
        return s->fixed == d->fixed ? CHAIN_SHARED : CHAIN_BRIDGE;
    if (s->fixed < 0 && d->fixed < 0)
        return CHAIN_TURNS;
    // If one is free, it may take the other's register, unless two pairs then become one.
    int reg = s->fixed >= 0 ? s->fixed : d->fixed;
    bool merges = d->read || d->merges || latency_read_elsewhere(rp, pair, reg);
    return merges ? CHAIN_BRIDGE : CHAIN_SHARED;
}

static bool latency_reads_flags(const struct row_plan *rp)
{
    for (int i = 0; i < rp->npoints; i++)
        if (rp->points[i].class == CLASS_FLAGS && rp->points[i].read)
            return true;
    return false;
}

// Returns true if the dependency of this point on its own past would run beside the chain.
static bool latency_must_break(const struct draft *draft, const struct pair *pair, int i)
{
    const struct row_plan *rp = draft->rp;
    const struct point *point = &rp->points[i], *s = &rp->points[pair->s];
    bool carries = point->written && (point->read || point->merges);
    if (point->class == CLASS_FLAGS || !carries)
        return false;
    // A source that is also written gets its next value from the chain, and so do points that share
    // its register: the al that cbw reads is a part of the ax that it writes.
    return i != pair->s && (point->class != s->class || draft->reg[i] != draft->reg[pair->s]);
}

static void latency_put_breakers(struct draft *draft, const struct pair *pair)
{
    const struct row_plan *rp = draft->rp;
    const struct point *s = &rp->points[pair->s];
    for (int i = 0; i < rp->npoints; i++)
        if (latency_must_break(draft, pair, i))
            draft_break(draft, i);
    if (s->class == CLASS_FLAGS || !latency_reads_flags(rp))
        return;
    for (int i = 0; i < rp->npoints; i++)
        if (rp->points[i].class == CLASS_FLAGS && rp->points[i].written) {
            draft_break(draft, i);
            return;
        }
}

static int latency_register(struct draft *draft, int point)
{
    const struct point *p = &draft->rp->points[point];
    if (p->fixed >= 0)
        return p->fixed;
    if (p->class == CLASS_FLAGS || p->class == CLASS_FPSW || p->class == CLASS_MEM)
        return 0;
    if (p->part == PART_MASK)
        return draft_take_helper(draft, CLASS_MASK); // never k0
    return draft_take(draft, p->class);
}

// Gives source and result their registers; `turns` are those that alternate.
static void latency_place(struct draft *draft, const struct pair *pair, int turns[2])
{
    const struct row_plan *rp = draft->rp;
    const struct point *s = &rp->points[pair->s], *d = &rp->points[pair->d];
    int reg;
    switch (pair->mode) {
    case CHAIN_SELF:
        reg = latency_register(draft, pair->s);
        draft_place(draft, pair->s, reg < 0 ? 0 : reg);
        break;
    case CHAIN_SHARED:
        reg = latency_register(draft, s->fixed >= 0 || d->fixed < 0 ? pair->s : pair->d);
        draft_place(draft, pair->s, reg < 0 ? 0 : reg);
        draft->reg[pair->d] = draft->reg[pair->s];
        if (pair->pointer)
            draft_init_line(draft, "mov [%s], %s", draft_gpr(draft, rp->data_reg),
                            draft_gpr(draft, rp->data_reg));
        break;
    case CHAIN_TURNS:
    case CHAIN_BRIDGE:
        turns[0] = latency_register(draft, pair->s);
        turns[1] = latency_register(draft, pair->d);
        draft_place(draft, pair->s, turns[0] < 0 ? 0 : turns[0]);
        draft_place(draft, pair->d, turns[1] < 0 ? 0 : turns[1]);
    }
}

// Returns true if memory that is read and written outside the chain needs another line per link.
static bool latency_spreads_memory(const struct row_plan *rp, const struct pair *pair)
{
    for (int i = 0; i < rp->npoints; i++)
        if (rp->points[i].part == PART_DATA && rp->points[i].written && i != pair->s)
            return rp->points[i].read;
    return false;
}

// Restores the radicand of a slow square root: root OR radicand is the radicand.
static void latency_put_radicand(struct draft *draft, const struct pair *pair)
{
    const struct row_plan *rp = draft->rp;
    if (!rp->slow || rp->data != DATA_SQRT || rp->points[pair->d].class != CLASS_VEC)
        return;
    char kind = plan_vector(rp);
    int d = draft->reg[pair->d];
    if (draft->fill_reg[CLASS_VEC] < 0)
        draft->fill_reg[CLASS_VEC] = draft_take_helper(draft, CLASS_VEC);
    int fill = draft->fill_reg[CLASS_VEC];
    if (rp->row->enc == ENC_LEGACY)
        draft_line(draft, "orps xmm%d, xmm%d", d, fill);
    else
        draft_line(draft, "%s %cmm%d, %cmm%d, %cmm%d", kind == 'z' || d > 15 ? "vporq" : "vorps",
                   kind, d, kind, d, kind, fill);
    draft->extra_clk += 1;
    draft->certain = false;
}

// Appends an instruction that reads and writes a register, so that a chain through overwritten
// content takes longer than the instructions side by side. Its latency is the least of any CPU.
static void latency_put_user(struct draft *draft, int point)
{
    const struct row_plan *rp = draft->rp;
    int reg = draft->reg[point];
    const char *name;
    switch (rp->points[point].class) {
    case CLASS_GPR:
        name = draft_gpr(draft, reg);
        draft_line(draft, "imul %s, %s", name, name);
        draft->extra_clk += 3;
        break;
    case CLASS_VEC:
        draft->out_of_regs |= reg > 15; // the others have no such instruction on every CPU
        if (rp->avx)
            draft_line(draft, "vpmullw xmm%d, xmm%d, xmm%d", reg, reg, reg);
        else
            draft_line(draft, "pmullw xmm%d, xmm%d", reg, reg);
        draft->extra_clk += 3;
        break;
    case CLASS_MMX:
        draft_line(draft, "pmullw mm%d, mm%d", reg, reg);
        draft->extra_clk += 3;
        break;
    default:
        draft_line(draft, "kshiftrw k%d, k%d, 1", reg, reg);
        draft->extra_clk += 1;
    }
    draft->certain = false;
}

// Writes one link of the chain, in this order: registers and memory (alternating registers swap in
// every link), breakers of other dependencies, the instruction, and a bridge to the next link's
// source if that is another register or value. Returns false if no bridge leads there.
static bool latency_put_link(struct draft *draft, const struct pair *pair, int link, int turns[2],
                             const int divisors[2])
{
    const struct row_plan *rp = draft->rp;
    int divisor = data_divisor_point(rp);
    if (pair->mode == CHAIN_TURNS) {
        draft->reg[pair->s] = turns[link % 2];
        draft->reg[pair->d] = turns[(link + 1) % 2];
    }
    draft->disp = latency_spreads_memory(rp, pair) ? link * SLOT_BYTES : 0;
    if (divisor >= 0 && divisor != pair->s) {
        if (rp->points[divisor].class == CLASS_MEM)
            draft->disp = divisors[link % 2];
        else
            draft->reg[divisor] = divisors[link % 2];
    }
    latency_put_breakers(draft, pair);
    draft_instruction(draft);
    if (pair->rest) {
        // An instruction that reads and writes the full register, in one cycle on every x86-64 CPU.
        // (Zen 4 eliminates lea with the register alone, like a move.)
        const char *whole = draft_gpr(draft, draft->reg[pair->d]);
        draft_line(draft, "lea %s, [%s+%s]", whole, whole, draft_gpr(draft, draft_zero(draft)));
        draft->extra_clk += 1;
    }
    if (pair->overwritten)
        latency_put_user(draft, pair->d);
    draft_repush(draft);
    latency_put_radicand(draft, pair);
    bool restore = rp->points[pair->s].need != NEED_NOTHING && !rp->points[pair->s].stable;
    if (pair->mode == CHAIN_BRIDGE || (pair->mode == CHAIN_SELF && restore))
        if (!bridge_write(draft, pair->d, pair->s))
            return false;
    draft_repop(draft);
    return true;
}

// Moves the last link's step into the flags to the start of the body. The loop's counter overwrites
// flags, which would cut a chain through them at the end of the body and let rounds overlap; this
// way a register passes the end.
static void latency_flags_first(struct draft *draft)
{
    if (draft->flags_at == 0)
        return;
    struct strbuf turned = {0};
    const char *body = strbuf_text(&draft->body);
    strbuf_puts(&turned, body + draft->flags_at);
    strbuf_put(&turned, body, draft->flags_at);
    strbuf_free(&draft->body);
    draft->body = turned;
}

// Writes one kernel; `fillers` nops follow each link. Returns false if the chain cannot be closed.
static bool latency_draft(struct draft *draft, const struct row_plan *rp, const struct pair *pair,
                          int fillers)
{
    int turns[2] = {-1, -1}, divisors[2] = {0, 0};
    draft_begin(draft, rp);
    draft->flag = pair->flag;
    draft->way = pair->way;
    latency_place(draft, pair, turns);
    if (rp->immediate && rp->immediate->upper)
        draft_init_line(draft, "pxor xmm%d, xmm%d", draft->reg[pair->s], draft->reg[pair->s]);
    draft_place_others(draft, pair->s, pair->d);
    data_divisor_init(draft, divisors);
    bool closed = true;
    for (int link = 0; link < LINKS && closed; link++) {
        closed = latency_put_link(draft, pair, link, turns, divisors);
        draft_fill(draft, fillers);
    }
    draft->extra_clk /= LINKS;
    latency_flags_first(draft);
    return closed && !draft->out_of_regs;
}

static void latency_refuse(struct row_plan *rp, struct test *test, const struct draft *draft)
{
    if (draft->out_of_regs)
        plan_refuse(test, OUTCOME_NOT_MEASURABLE, "too few registers for the chain");
    else
        plan_refuse(test, OUTCOME_NOT_MEASURABLE,
                    arena_printf(rp->arena, "no bridge from %s back to %s", test->dst, test->src));
}

// Adds the same chain with other kinds of breakers, whose own latency might be in its value.
static void latency_plan_ways(struct row_plan *rp, struct test *test, struct pair pair)
{
    static const char *const shapes[BREAK_WAYS] = {
        [BREAK_BY_LOAD] = PLAN_CUT_LOAD, [BREAK_BY_CONSTANT] = PLAN_CUT_CONSTANT};
    if (test->bound != BOUND_EXACT || rp->immediate || !test->kernels[0].breaker)
        return;
    for (int way = BREAK_BY_MOVE + 1; way < BREAK_WAYS; way++) {
        struct draft draft;
        pair.way = (enum break_way)way;
        if (latency_draft(&draft, rp, &pair, 0) && draft.broken_otherwise)
            plan_add_kernel(rp, test, draft_finish(&draft, shapes[way], LINKS));
        else
            draft_free(&draft);
    }
}

static void latency_plan_pair(struct row_plan *rp, struct pair pair, const char *variant)
{
    pair.pointer = latency_is_pointer_chase(rp, &pair);
    pair.mode = latency_mode(rp, &pair);
    struct test *test = plan_add_test(rp, TEST_LATENCY, variant);
    const char *src = rp->points[pair.s].name, *dst = rp->points[pair.d].name;
    test->src = pair.rest ? arena_printf(rp->arena, "%s.rest", src) : src;
    test->dst = pair.flag ? arena_printf(rp->arena, "%s.%s", dst, pair.flag) : dst;
    if (rp->points[pair.d].part == PART_DATA && rp->row->nontemporal) {
        plan_refuse(test, OUTCOME_NOT_MEASURABLE,
                    "what is stored past the caches comes back from memory, not from the core");
        return;
    }
    int width = rp->params->issue_width;
    int shapes = rp->immediate ? 1 : 2;
    for (int filled = 0; filled < shapes; filled++) {
        struct draft draft;
        if (!latency_draft(&draft, rp, &pair, filled && width > 1 ? width - 1 : 0)) {
            latency_refuse(rp, test, &draft);
            draft_free(&draft);
            return;
        }
        if (!draft.certain)
            test->bound = BOUND_UPPER;
        plan_add_kernel(rp, test, draft_finish(&draft, filled ? "filled" : "dense", LINKS));
    }
    latency_plan_ways(rp, test, pair);
}

static int latency_first_same(const struct row_plan *rp, int access)
{
    for (int i = 0; i < rp->npoints; i++)
        if (rp->points[i].same && rp->points[i].op->access & access)
            return i;
    return -1;
}

// Returns true if a chain through this pair has a meaning. An address does not delay the stored
// data that a reload waits for. A scatter's index arrives late, and its reload waits for all
// elements.
static bool latency_pair_exists(const struct row_plan *rp, int s, int d)
{
    const struct point *source = &rp->points[s], *result = &rp->points[d];
    if (!source->read || !result->written || source->class == CLASS_NONE ||
        result->class == CLASS_NONE)
        return false;
    // A gather always leaves 0 in its mask; the chain from the mask itself shows when.
    if (result->need == NEED_ONES && s != d)
        return false;
    const char *unrelated = rp->row->unrelated;
    if (unrelated &&
        points_listed(unrelated, arena_printf(rp->arena, "%s:%s", source->name, result->name)))
        return false;
    // Operands that share a register are one source and one result.
    if ((source->same && latency_first_same(rp, ACCESS_READ) != s) ||
        (result->same && latency_first_same(rp, ACCESS_WRITE) != d))
        return false;
    bool address = source->part == PART_BASE || source->part == PART_INDEX;
    return !(address && result->part == PART_DATA && result->op->kind != OPERAND_VSIB);
}

// Returns true if carry, overflow, and the flags of the result's value may arrive at different
// times: integer instructions with register sources. From memory all go the same way.
static bool latency_has_groups(const struct row_plan *rp, int s, int d)
{
    const struct point *source = &rp->points[s], *result = &rp->points[d];
    bool registers =
        source->class == CLASS_GPR || source->class == CLASS_VEC || source->class == CLASS_MASK;
    return result->class == CLASS_FLAGS && strcmp(result->op->text, "flags") == 0 && registers &&
           source->part == PART_WHOLE && rp->row->element == ELEMENT_INT;
}

static void latency_plan_groups(struct row_plan *rp, int s, int d, const char *variant)
{
    static const char *const groups[] = {"of", "zf"}; // the carry is read by default
    for (size_t i = 0; i < ARRAY_LEN(groups); i++)
        latency_plan_pair(rp, (struct pair){.s = s, .d = d, .flag = groups[i]}, variant);
}

// Returns true if a part of the register is kept and has a latency of its own to the full width:
// the instruction does not read the register, or it writes a byte that some CPUs rename apart.
static bool latency_has_rest(const struct row_plan *rp, int i)
{
    const struct point *point = &rp->points[i];
    if (!point->merges || point->same || point->need != NEED_NOTHING ||
        (point->read && !point->high8))
        return false;
    for (int j = 0; j < rp->npoints; j++)
        if (j != i && point->fixed >= 0 && rp->points[j].read && rp->points[j].class == CLASS_GPR &&
            rp->points[j].fixed == point->fixed)
            return false;
    return true;
}

// Returns true for a register that the instruction writes whole and does not read under any name.
static bool latency_overwrites(const struct row_plan *rp, int i)
{
    const struct point *point = &rp->points[i];
    bool chainable = point->class == CLASS_GPR || point->class == CLASS_VEC ||
                     point->class == CLASS_MMX || point->class == CLASS_MASK;
    if (!chainable || !point->written || point->read || point->merges || point->same ||
        point->need != NEED_NOTHING || rp->x87)
        return false;
    const struct pair pair = {.s = i, .d = i};
    return point->fixed < 0 || !latency_read_elsewhere(rp, &pair, point->fixed);
}

// Adds the test of a false dependency. One kernel suffices, since its time is compared with the
// throughput.
static void latency_plan_false(struct row_plan *rp, int i)
{
    const struct pair pair = {.s = i, .d = i, .mode = CHAIN_SELF, .overwritten = true};
    struct draft draft;
    if (!latency_draft(&draft, rp, &pair, 0)) {
        draft_free(&draft);
        return;
    }
    struct test *test = plan_add_test(rp, TEST_LATENCY, PLAN_FALSE);
    test->src = test->dst = rp->points[i].name;
    test->bound = BOUND_UPPER;
    plan_add_kernel(rp, test, draft_finish(&draft, PLAN_FALSE, LINKS));
}

// Finds the pair that represents the form: from the first source that is a register to the first
// result.
static bool latency_main_pair(const struct row_plan *rp, struct pair *pair)
{
    for (int s = 0; s < rp->npoints; s++) {
        const struct point *source = &rp->points[s];
        bool register_ = source->class == CLASS_GPR || source->class == CLASS_VEC ||
                         source->class == CLASS_MASK || source->class == CLASS_MMX;
        for (int d = 0; d < rp->npoints; d++)
            if (register_ && source->part == PART_WHOLE && latency_pair_exists(rp, s, d)) {
                *pair = (struct pair){.s = s, .d = d};
                return true;
            }
    }
    return false;
}

void latency_plan_immediate(struct row_plan *rp)
{
    struct pair pair = {.s = 0, .d = 0};
    if (rp->immediate->upper ? !latency_pair_exists(rp, 0, 0) : !latency_main_pair(rp, &pair))
        return;
    latency_plan_pair(rp, pair, rp->immediate->variant);
    if (rp->plan->tests[rp->plan->ntests - 1].outcome != OUTCOME_OK)
        rp->plan->ntests--; // says no more than the usual value
}

void latency_plan(struct row_plan *rp, const char *variant)
{
    for (int s = 0; s < rp->npoints; s++)
        for (int d = 0; d < rp->npoints; d++)
            if (latency_pair_exists(rp, s, d))
                latency_plan_pair(rp, (struct pair){.s = s, .d = d}, variant);
    for (int s = 0; s < rp->npoints; s++)
        for (int d = 0; d < rp->npoints; d++)
            if (latency_pair_exists(rp, s, d) && latency_has_groups(rp, s, d))
                latency_plan_groups(rp, s, d, variant);
    for (int i = 0; i < rp->npoints; i++)
        if (latency_has_rest(rp, i))
            latency_plan_pair(rp, (struct pair){.s = i, .d = i, .rest = true}, variant);
    for (int i = 0; i < rp->npoints && rp->set == 0; i++)
        if (latency_overwrites(rp, i))
            latency_plan_false(rp, i);
}
