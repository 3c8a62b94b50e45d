// SPDX-License-Identifier: MIT
// Throughput: independent instances of the instruction in several numbers, with and without
// breakers of its implicit dependencies. The fastest shape depends on the CPU: too few instances
// wait for each other, a breaker costs a slot. All are measured; the smallest time counts.
#include "plan_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNTS_MAX = 3, LINE_BYTES = 64 };

// Instances that rewrite adjacent places, so many that each was stored long before it is loaded
// again. On some cores stores leave for the first-level cache a line at a time: on a Zen 3
// `add m64 r64` takes 1.00 cycle with a line for each instance, and 0.50 with adjacent places.
enum { NEAR_INSTANCES = INSTANCES_MAX, NEAR_BYTES = 512 };

// Fillers after each division or square root: some dividers begin the next one sooner if it comes
// later. On a Zen 3 `divps x x` takes 3.5 cycles after another, and 3.0 after eight fillers.
enum { SPACED_FILLERS = 8 };

// Instances after each sparse breaker: their chains are short enough to overlap, and the breaker
// takes a fifth of the slots, not half.
enum { SPARSE_INSTANCES = 4 };

// Numbers of instances by the class of the written register.
static const int throughput_counts[CLASS_COUNT][COUNTS_MAX] = {
    [CLASS_NONE] = {8 },
      [CLASS_GPR] = {   3, 8, 12},
      [CLASS_VEC] = { 8,  12, 24},
    [CLASS_MASK] = {4,  6},
      [CLASS_MMX] = {    4,  7},
      [CLASS_X87] = {4,  6},
    [CLASS_FLAGS] = {    8 },
      [CLASS_MEM] = {8,  16},
};

// Returns true for destinations that each instance has for itself.
static bool throughput_own_register(const struct point *point)
{
    return point->written && point->fixed < 0 && point->class != CLASS_FLAGS &&
           point->class != CLASS_MEM && point->class != CLASS_NONE && point->class != CLASS_FPSW;
}

static bool throughput_overlapping_flags(const struct row_plan *rp, int i)
{
    if (!rp->points[i].written)
        return false;
    for (int j = 0; j < rp->npoints; j++)
        if (rp->points[j].class == CLASS_FLAGS && rp->points[j].read &&
            points_flags_overlap(rp->points[i].op, rp->points[j].op))
            return true;
    return false;
}

// Returns true if the point writes a register, or a part of one, that another point of the row
// reads: cwde reads ax and writes eax.
static bool throughput_feeds_other(const struct row_plan *rp, int i)
{
    const struct point *point = &rp->points[i];
    for (int j = 0; j < rp->npoints; j++)
        if (j != i && rp->points[j].read && rp->points[j].class == point->class &&
            rp->points[j].fixed == point->fixed && rp->points[j].need == NEED_NOTHING)
            return true;
    return false;
}

// Returns true if instances depend on each other through this point, whatever registers they get.
static bool throughput_breakable(const struct row_plan *rp, int i)
{
    const struct point *point = &rp->points[i];
    if (point->class == CLASS_FLAGS)
        return throughput_overlapping_flags(rp, i);
    if (point->class == CLASS_MEM || point->class == CLASS_NONE || point->class == CLASS_FPSW)
        return false;
    if (point->merges)
        return true;
    return point->written && point->fixed >= 0 && (point->read || throughput_feeds_other(rp, i));
}

// Returns true if the point must be set anew because its value would be lost or would leave its
// range.
static bool throughput_must_set(const struct row_plan *rp, int i)
{
    const struct point *point = &rp->points[i];
    if (!point->written || point->class == CLASS_MEM || point->class == CLASS_FPSW)
        return false;
    bool dividend = rp->slow && rp->data == DATA_DIVIDE && point->class == CLASS_VEC &&
                    point->read && point->part == PART_WHOLE;
    return dividend || (point->need != NEED_NOTHING && !point->stable);
}

int throughput_bytes(const struct point *point)
{
    int bytes = 1;
    while (bytes * 8 < point->bits)
        bytes *= 2;
    return bytes;
}

const struct point *throughput_stored(const struct row_plan *rp)
{
    const struct point *stored = NULL;
    for (int i = 0; i < rp->npoints; i++) {
        const struct point *point = &rp->points[i];
        if (point->part == PART_INDEX && point->class == CLASS_VEC)
            return NULL;
        if (!stored && point->part == PART_DATA)
            stored = point;
    }
    return stored && stored->written && stored->bits ? stored : NULL;
}

// Returns an instance's displacement.
static int throughput_disp(const struct row_plan *rp, const struct instances *instances,
                           int instance)
{
    const int area_bytes = instances->area_bytes; // 0: one line each
    for (int i = 0; i < rp->npoints; i++) {
        const struct point *point = &rp->points[i];
        if (point->part == PART_INDEX && point->class == CLASS_VEC)
            return 0; // the index gives the place
        if (point->part != PART_DATA)
            continue;
        if (point->read && point->written && !area_bytes)
            return instance * LINE_BYTES;
        if (!point->bits)
            return 0; // of unknown size: stays aligned
        int bytes = throughput_bytes(point);
        if (point->read && point->written)
            return instance * (bytes < instances->place_bytes ? instances->place_bytes : bytes) %
                   area_bytes;
        return bytes < LINE_BYTES ? instance * bytes % LINE_BYTES : 0;
    }
    return 0;
}

// Returns true if an immediate can restore the point's register: one that the row names or implies
// itself, and no pointer.
static bool throughput_takes_immediate(const struct row_plan *rp, int i)
{
    const struct point *point = &rp->points[i];
    return point->class == CLASS_GPR && point->part == PART_WHOLE && point->fixed >= 0 &&
           point->fixed != rp->data_reg &&
           (point->read || point->merges || throughput_feeds_other(rp, i)) &&
           (point->need == NEED_NOTHING || point->need == NEED_VALUE);
}

// Writes moves of immediates. They wait for nothing, not even for a register that keeps a constant,
// and the register has a recent writer. (On Golden Cove cdq takes 1.00 cycles if eax has not been
// written for long, and 0.50 after `mov eax, 1`.)
static void throughput_put_immediates(struct draft *draft)
{
    const struct row_plan *rp = draft->rp;
    uint32_t done = 0;
    for (int i = 0; i < rp->npoints; i++) {
        const struct point *point = &rp->points[i];
        if (!throughput_takes_immediate(rp, i) || done & 1u << point->fixed)
            continue;
        done |= 1u << point->fixed;
        uint64_t value = point->need == NEED_VALUE ? point->value : rp->gpr_fill;
        int bits = value > UINT32_MAX ? 64 : 32;
        draft_line(draft, "mov %s, 0x%" PRIx64, render_gpr(point->fixed, bits, false), value);
    }
}

void throughput_before(struct draft *draft, int instances)
{
    int moved = draft->rp->row->stack;
    if (moved > 0)
        draft_line(draft, "lea %s, [%s-%d]", draft_gpr(draft, REG_RSP), draft_gpr(draft, REG_RSP),
                   moved * instances);
}

void throughput_after(struct draft *draft, int instances)
{
    int moved = draft->rp->row->stack;
    if (moved < 0)
        draft_line(draft, "lea %s, [%s+%d]", draft_gpr(draft, REG_RSP), draft_gpr(draft, REG_RSP),
                   -moved * instances);
}

// Returns the number of instances that the free registers suffice for.
static int throughput_limit(const struct draft *draft, int wanted)
{
    int need[CLASS_COUNT] = {0};
    bool same = false;
    for (int i = 0; i < draft->rp->npoints; i++) {
        const struct point *point = &draft->rp->points[i];
        if (!throughput_own_register(point) || (point->same && same))
            continue;
        need[point->class]++;
        same |= point->same;
    }
    for (int class = 0; class < CLASS_COUNT; ++class) {
        if (!need[class])
            continue;
        int most = draft_available(draft, (enum chain_class) class) / need[class];
        if (wanted > most)
            wanted = most;
    }
    return wanted;
}

static void throughput_own_registers(struct draft *draft, struct instances *instances)
{
    const struct row_plan *rp = draft->rp;
    for (int j = 0; j < instances->n; j++)
        for (int i = 0; i < rp->npoints; i++) {
            const struct point *point = &rp->points[i];
            if (!throughput_own_register(point) || draft->reg[i] >= 0)
                continue;
            int twin = points_same_before(rp, i);
            int8_t *own = instances->own[i];
            int reg = twin >= 0 ? instances->own[twin][j] : draft_take(draft, point->class);
            own[j] = (int8_t)(reg < 0 ? 0 : reg);
            if (twin < 0)
                draft_place(draft, i, own[j]);
            draft->reg[i] = -1;
        }
}

// Returns true if the register that the point writes is also read, by the point itself or, in a
// same-register form, as another operand.
static bool throughput_reads_own(const struct row_plan *rp, int i)
{
    for (int j = i + 1; j < rp->npoints; j++)
        if (rp->points[j].read && points_same_before(rp, j) == i)
            return true;
    return rp->points[i].read;
}

// Selects the points that get a breaker in this kernel.
int throughput_breakers(const struct row_plan *rp, enum breaking breaking,
                        bool breakers[POINTS_MAX])
{
    int n = 0;
    for (int i = 0; i < rp->npoints; i++) {
        const struct point *point = &rp->points[i];
        bool wanted = breaking != BREAK_NEEDED && throughput_breakable(rp, i);
        if (breaking == BREAK_FLAGS)
            wanted |= point->class == CLASS_FLAGS && point->written;
        if (breaking >= BREAK_REGISTERS)
            wanted |= throughput_own_register(point) && throughput_reads_own(rp, i);
        if (breaking == BREAK_REGISTERS)
            wanted &= point->class != CLASS_FLAGS;
        breakers[i] = throughput_must_set(rp, i) || wanted;
        n += breakers[i];
    }
    return n;
}

static const struct point *throughput_same_owner(const struct row_plan *rp)
{
    int first = 0;
    while (!rp->points[first].same)
        first++;
    return &rp->points[first];
}

// Places the registers and constants that all instances share: sources, addresses, data. Operands
// of which each instance has its own are marked as placed meanwhile, and opened again afterwards.
// Sources of breakers come last, from the registers that are left.
static void throughput_sources(struct draft *draft, const bool breakers[POINTS_MAX])
{
    const struct row_plan *rp = draft->rp;
    int divisors[2] = {0, 0}, divisor = data_divisor_point(rp);
    for (int i = 0; i < rp->npoints; i++) {
        if (throughput_own_register(&rp->points[i]))
            draft->reg[i] = 0; // keeps draft_place_others away
        if (points_same_before(rp, i) >= 0 && throughput_own_register(throughput_same_owner(rp)))
            draft->reg[i] = 0;
    }
    draft_place_others(draft, -1, -1);
    data_divisor_init(draft, divisors);
    if (divisor >= 0 && rp->points[divisor].class == CLASS_VEC)
        draft->reg[divisor] = divisors[0];
    for (int i = 0; i < rp->npoints; i++) {
        if (rp->points[i].part == PART_INDEX && rp->points[i].class == CLASS_VEC)
            data_index_init(draft, i);
        if (throughput_own_register(&rp->points[i]))
            draft->reg[i] = -1;
        if (breakers[i] && rp->points[i].class != CLASS_FLAGS)
            draft_constant(draft, i);
        else if (breakers[i])
            draft_zero(draft);
    }
    draft_repush_reserve(draft);
}

static void throughput_place(struct draft *draft, const struct instances *instances, int j)
{
    const struct row_plan *rp = draft->rp;
    for (int i = 0; i < rp->npoints; i++)
        if (throughput_own_register(&rp->points[i]))
            draft->reg[i] = instances->own[i][j % instances->n];
    if (instances->chain_from >= 0)
        draft->reg[instances->chain_to] =
            instances->own[instances->chain_from][(j + instances->n - 1) % instances->n];
    for (int i = 0; i < rp->npoints; i++) {
        int twin = points_same_before(rp, i);
        if (twin >= 0)
            draft->reg[i] = draft->reg[twin];
    }
}

// Returns true for an operand of its own that may be any register of the class.
static bool throughput_any_register(const struct row_plan *rp, const struct point *point)
{
    return point->part == PART_WHOLE && point->fixed < 0 && !point->block && !point->same &&
           !point->high8 && !(rp->abcd && point->class == CLASS_GPR);
}

bool throughput_chain(const struct row_plan *rp, struct instances *instances)
{
    for (int from = 0; from < rp->npoints; from++) {
        const struct point *written = &rp->points[from];
        if (!throughput_own_register(written) || written->read ||
            !throughput_any_register(rp, written))
            continue;
        for (int to = 0; to < rp->npoints; to++) {
            const struct point *read = &rp->points[to];
            if (!read->read || read->written || read->class != written->class ||
                read->bits > written->bits || !throughput_any_register(rp, read))
                continue;
            instances->chain_from = from;
            instances->chain_to = to;
            return true;
        }
    }
    return false;
}

// Sets the registers of instance j, and writes what restores some of them in front of it.
static void throughput_set_registers(struct draft *draft, const struct instances *instances, int j)
{
    const struct row_plan *rp = draft->rp;
    throughput_place(draft, instances, j);
    for (int i = 0; i < rp->npoints; i++)
        if (instances->breakers[i] && points_same_before(rp, i) < 0 &&
            (j % instances->cut_every == 0 || throughput_must_set(rp, i)))
            draft_break(draft, i);
    if (instances->immediates)
        throughput_put_immediates(draft);
}

static void throughput_execute(struct draft *draft, const struct instances *instances, int j)
{
    draft->disp = instances->disp;
    if (!instances->one_place)
        draft->disp += throughput_disp(draft->rp, instances, j);
    draft_instruction(draft);
    draft_repush(draft);
    draft_repop(draft);
}

void throughput_instance(struct draft *draft, const struct instances *instances, int j)
{
    throughput_set_registers(draft, instances, j);
    throughput_execute(draft, instances, j);
}

bool throughput_prepare(struct draft *draft, int wanted, enum breaking breaking,
                        struct instances *instances)
{
    instances->nbreakers = throughput_breakers(draft->rp, breaking, instances->breakers);
    throughput_sources(draft, instances->breakers);
    instances->n = throughput_limit(draft, wanted);
    instances->disp = instances->area_bytes = instances->place_bytes = 0;
    instances->one_place = instances->immediates = false;
    instances->cut_every = 1;
    instances->chain_from = instances->chain_to = -1;
    if (instances->n <= 0 || draft->out_of_regs)
        return false;
    throughput_own_registers(draft, instances);
    return true;
}

// Instructions in front of each instance of a kernel.
enum cut {
    CUT_NEEDED,     // restore operands that need a value
    CUT_IMPLICIT,   // and cut dependencies that all instances share, by moves from constants
    CUT_IMMEDIATES, // the same, with moves of immediates into registers that the row fixes
    CUT_SPARSE,     // like CUT_IMPLICIT, in front of every fourth instance: for breakers that take
                    // longer than the instance itself
    CUT_AHEAD,      // like CUT_NEEDED, but all in front of the first instance
    CUT_NEAR,       // like CUT_IMPLICIT, and instances rewrite adjacent places of memory
    CUT_NEAR_FLAGS, // the same with flags cut even if no instance reads them: then the stores of a
                    // Zen 3 leave in pairs each time, and else in one sample of six
    CUT_APART,      // like CUT_NEAR, but each place has at least eight bytes
    CUT_SPACED,     // like CUT_NEEDED, with fillers after each instance
    CUT_COUNT
};

static const char *const cut_suffix[CUT_COUNT] = {
    [CUT_NEEDED] = "+set",
    [CUT_IMPLICIT] = "+break",
    [CUT_IMMEDIATES] = "+imm",
    [CUT_SPARSE] = "+sparse",
    [CUT_AHEAD] = "+ahead",
    [CUT_NEAR] = "+near",
    [CUT_NEAR_FLAGS] = "+near+flags",
    [CUT_APART] = "+apart",
    [CUT_SPACED] = "+spaced",
};

static const enum breaking cut_breaking[CUT_COUNT] = {
    [CUT_IMPLICIT] = BREAK_IMPLICIT, [CUT_IMMEDIATES] = BREAK_IMPLICIT,
    [CUT_SPARSE] = BREAK_IMPLICIT,   [CUT_NEAR] = BREAK_IMPLICIT,
    [CUT_NEAR_FLAGS] = BREAK_FLAGS,  [CUT_APART] = BREAK_IMPLICIT,
};

// Leaves out breakers of registers that immediates set.
static void throughput_use_immediates(const struct row_plan *rp, struct instances *instances)
{
    instances->immediates = true;
    for (int i = 0; i < rp->npoints; i++)
        if (instances->breakers[i] && throughput_takes_immediate(rp, i)) {
            instances->breakers[i] = false;
            instances->nbreakers--;
        }
}

// Sets everything first, then lists the instances. (On Golden Cove gathers of two elements take 1.3
// cycles this way, and 2.0 with anything between them, even a nop.)
static void throughput_set_ahead(struct draft *draft, const struct instances *instances)
{
    for (int j = 0; j < instances->n; j++)
        throughput_set_registers(draft, instances, j);
    for (int j = 0; j < instances->n; j++) {
        throughput_place(draft, instances, j);
        throughput_execute(draft, instances, j);
    }
}

// Returns true if setting ahead works: each instance has its own register for all that must be set.
static bool throughput_can_set_ahead(const struct row_plan *rp)
{
    int set = 0;
    for (int i = 0; i < rp->npoints; i++) {
        if (!throughput_must_set(rp, i))
            continue;
        if (!throughput_own_register(&rp->points[i]))
            return false;
        set++;
    }
    return set > 0;
}

// Adds a kernel. Returns its number of instances; 0 if there is none, or the same number as before.
static int throughput_kernel(struct row_plan *rp, struct test *test, int wanted, int before,
                             enum cut cut)
{
    static _Thread_local struct instances instances;
    struct draft draft;
    draft_begin(&draft, rp);
    if (!throughput_prepare(&draft, wanted, cut_breaking[cut], &instances) ||
        instances.n <= before) {
        draft_free(&draft);
        return 0;
    }
    if (cut == CUT_IMMEDIATES)
        throughput_use_immediates(rp, &instances);
    if (cut == CUT_NEAR || cut == CUT_NEAR_FLAGS || cut == CUT_APART)
        instances.area_bytes = NEAR_BYTES;
    if (cut == CUT_APART)
        instances.place_bytes = PLACE_APART;
    if (cut == CUT_SPARSE) {
        instances.cut_every = SPARSE_INSTANCES;
        if (instances.n > SPARSE_INSTANCES)
            instances.n -= instances.n % SPARSE_INSTANCES;
    }
    throughput_before(&draft, instances.n);
    for (int j = 0; j < instances.n && cut != CUT_AHEAD; j++) {
        throughput_instance(&draft, &instances, j);
        if (cut == CUT_SPACED)
            draft_fill(&draft, SPACED_FILLERS);
    }
    if (cut == CUT_AHEAD)
        throughput_set_ahead(&draft, &instances);
    throughput_after(&draft, instances.n);
    char shape[32];
    bool plain = cut == CUT_NEEDED && instances.nbreakers == 0;
    snprintf(shape, sizeof shape, "n%d%s", instances.n, plain ? "" : cut_suffix[cut]);
    plan_add_kernel(rp, test, draft_finish(&draft, shape, instances.n));
    return instances.n;
}

static enum chain_class throughput_class(const struct row_plan *rp)
{
    enum chain_class class = CLASS_NONE;
    for (int i = 0; i < rp->npoints; i++) {
        if (throughput_own_register(&rp->points[i]))
            return rp->points[i].class;
        if (rp->points[i].class == CLASS_MEM && rp->points[i].written && rp->points[i].read)
            class = CLASS_MEM;
    }
    return class;
}

// Adds the test of the setting instructions. Their µops may take part of the time or run beside the
// instruction: both times are reported, nothing is subtracted.
static void throughput_plan_setting(struct row_plan *rp)
{
    static _Thread_local struct instances instances;
    struct draft draft;
    draft_begin(&draft, rp);
    int wanted = throughput_counts[throughput_class(rp)][0];
    if (throughput_prepare(&draft, wanted, BREAK_NEEDED, &instances) && instances.nbreakers > 0) {
        for (int j = 0; j < instances.n; j++)
            throughput_set_registers(&draft, &instances, j);
        if (draft.instrs > 0) {
            struct test *test = plan_add_test(rp, TEST_THROUGHPUT, PLAN_SETTING);
            rp->set_timed = true;
            plan_add_kernel(rp, test, draft_finish(&draft, "alone", instances.n));
            return;
        }
    }
    draft_free(&draft);
}

// Returns true if instances depend on each other through points that a breaker can cut.
static bool throughput_wants_breakers(const struct row_plan *rp)
{
    for (int i = 0; i < rp->npoints; i++)
        if (throughput_breakable(rp, i) && !throughput_must_set(rp, i))
            return true;
    return false;
}

// Adds kernels of instances that rewrite adjacent places; `cuts`: they have breakers anyhow.
static void throughput_plan_near(struct row_plan *rp, struct test *test, bool cuts)
{
    const struct point *stored = throughput_stored(rp);
    if (!stored || !stored->read)
        return;
    throughput_kernel(rp, test, NEAR_INSTANCES, 1, CUT_NEAR);
    if (throughput_bytes(stored) < PLACE_APART)
        throughput_kernel(rp, test, NEAR_INSTANCES, 1, CUT_APART);
    for (int i = 0; i < rp->npoints && !cuts; i++)
        if (rp->points[i].class == CLASS_FLAGS && rp->points[i].written) {
            throughput_kernel(rp, test, NEAR_INSTANCES, 1, CUT_NEAR_FLAGS);
            return;
        }
}

static void throughput_plan_shapes(struct row_plan *rp, struct test *test)
{
    bool wanted[CUT_COUNT] = {[CUT_NEEDED] = true, [CUT_IMPLICIT] = throughput_wants_breakers(rp)};
    for (int i = 0; i < rp->npoints; i++)
        wanted[CUT_IMMEDIATES] |= throughput_takes_immediate(rp, i);
    const int *counts = throughput_counts[throughput_class(rp)];
    int most = 1;
    for (int cut = 0; cut < CUT_SPARSE; cut++)
        for (int i = 0, before = 0; wanted[cut] && i < COUNTS_MAX && counts[i]; i++) {
            int got = throughput_kernel(rp, test, counts[i], before, (enum cut)cut);
            before = got ? got : before;
            most = most < before ? before : most;
        }
    if (wanted[CUT_IMPLICIT] && most > 1)
        throughput_kernel(rp, test, most, 1, CUT_SPARSE);
    if (throughput_can_set_ahead(rp))
        throughput_kernel(rp, test, most, 1, CUT_AHEAD);
    if (rp->data != DATA_ORDINARY)
        throughput_kernel(rp, test, counts[0], 0, CUT_SPACED);
    throughput_plan_near(rp, test, wanted[CUT_IMPLICIT]);
}

void throughput_plan(struct row_plan *rp, const char *variant)
{
    struct test *test = plan_add_test(rp, TEST_THROUGHPUT, variant);
    test->note = plan_note(rp, variant);
    bool breakers[POINTS_MAX];
    bool sets = throughput_breakers(rp, BREAK_NEEDED, breakers) > 0;
    // Restoring what the row moved or changed takes part of the time.
    if (rp->row->x87_moves || rp->row->stack || sets)
        test->bound = BOUND_UPPER;
    if (stream_bytes(rp))
        stream_kernel(rp, test);
    else
        throughput_plan_shapes(rp, test);
    if (test->nkernels == 0)
        plan_refuse(test, OUTCOME_NOT_MEASURABLE, "too few registers for one instance");
    else if (sets && !rp->set_timed && !stream_bytes(rp))
        throughput_plan_setting(rp);
}

// Adds the shape with most instances, which the usual value has, too.
void throughput_plan_immediate(struct row_plan *rp)
{
    struct test *test = plan_add_test(rp, TEST_THROUGHPUT, rp->immediate->variant);
    const int *counts = throughput_counts[throughput_class(rp)];
    int most = 0;
    for (int i = 0; i < COUNTS_MAX; i++)
        most = most < counts[i] ? counts[i] : most;
    enum cut cut = throughput_wants_breakers(rp) ? CUT_IMPLICIT : CUT_NEEDED;
    if (throughput_kernel(rp, test, most, 0, cut) == 0)
        rp->plan->ntests--; // says no more than the usual value
}
