// SPDX-License-Identifier: MIT
// Declarations shared by the files of stage 2. A row is first taken apart into points (everything
// that an instruction reads or writes and that a chain can run through); latency tests are pairs of
// points, throughput tests give each instance registers of its own. A kernel grows in a draft.
#pragma once

#include "plan.h"
#include "render.h"
#include "util/strbuf.h"

#include <stdbool.h>

enum chain_class {
    CLASS_NONE, // no chain can run through it
    CLASS_GPR,
    CLASS_VEC,
    CLASS_MASK,
    CLASS_MMX,
    CLASS_X87,
    CLASS_FLAGS,
    CLASS_FPSW, // condition bits of the x87 status word
    CLASS_MEM,
    CLASS_COUNT
};

enum point_part { PART_WHOLE, PART_MASK, PART_BASE, PART_INDEX, PART_DATA };

// Value that a point needs when it is read.
enum point_need {
    NEED_NOTHING, // none: the fill of its register class
    NEED_ADDRESS, // the start of the data area, or point.place in it
    NEED_VALUE,   // point.value
    NEED_ONES,    // the mask of a gather: all ones, or the option mask=
};

struct point {
    const struct operand *op;
    const char *name; // name in results
    int position;     // index in row->ops; -1: implicit
    enum point_part part;
    enum chain_class class;
    int bits;
    int fixed; // register number, or -1
    bool read, written, high8;
    bool block;  // stands for four registers from `fixed` on
    bool same;   // shares its register with all others of these (same-register forms)
    bool merges; // a write keeps the rest of the register: depends on it without reading it
    enum point_need need;
    uint64_t value;
    int place;   // bytes from the place of the row's first pointer, if it is no operand
    bool stable; // an instruction chained on this point alone keeps giving the needed value
};

// Offset in the data area at which init builds constants, and bridges pass memory.
enum { DATA_SCRATCH = 3072 };

enum { POINTS_MAX = 2 * (OPERANDS_MAX + IMPLICIT_MAX) };

// A value that the row's immediate bytes have beside the usual one; or `upper`: the register that
// the row merges into is known to be zero.
struct immediate {
    const char *variant; // PLAN_IMMEDIATE and the value as in the table; PLAN_UPPER
    int value;
    bool upper;
};

// A row while it is planned.
struct row_plan {
    const struct list_row *row;
    const struct plan_params *params;
    struct arena *arena;
    struct plan *plan;
    int tests_capacity, kernels_capacity; // of the plan's tests; of the last test's kernels
    struct point points[POINTS_MAX];
    int npoints;
    bool no_rex;   // names ah..dh: no operand may need a REX prefix
    bool abcd;     // general-purpose operands must be ax..bx: no_rex, and bytes in 32-bit mode
    int data_reg;  // holds the start of the data area
    int base_reg;  // base of memory operands: data_reg, but for no_rex and r16 to r31
    bool same;     // same-register form
    bool avx;      // helpers are VEX- or EVEX-encoded, else legacy SSE
    bool x87;      // computes on the x87 stack
    int x87_moves; // effect on the stack: 1 pushes, -1 and -2 pop; 0: none
    int vec_bits;  // widest vector operand; 0: none
    enum data_kind data;
    int set;                           // number of the row's set of data
    bool slow;                         // any but the first of them
    bool set_timed;                    // the instructions that restore operands' values have a test
    const struct immediate *immediate; // NULL: the usual one
    uint64_t vec_fill, mem_fill, gpr_fill, mask_fill;
};

// Way in which a register is set to its constant anew: see plan_break.c.
enum break_way { BREAK_BY_MOVE, BREAK_BY_LOAD, BREAK_BY_CONSTANT, BREAK_WAYS };

// A kernel while it is written.
struct draft {
    const struct row_plan *rp;
    uint32_t used[CLASS_COUNT];  // bit masks of registers
    int reg[POINTS_MAX];         // register of each point
    int value_reg[POINTS_MAX];   // register with the value that the point needs; -1: none yet
    int fill_reg[CLASS_COUNT];   // register with the fill; -1: none yet
    int bridge_reg[CLASS_COUNT]; // register of a class in the middle of a bridge; -1: none yet
    int memory_gpr;              // general-purpose register with the fill of memory; -1: none yet
    int zero_gpr;                // general-purpose register that is 0; -1: none yet
    int disp;                    // of the memory operand of the next instruction
    int area; // place in the data area of pointers that are no operands: rsi of lodsb
    int labels;
    bool clobbers_rax; // a bridge uses rax on its way
    bool sets_vectors; // the caller sets up vector registers 16 and up
    const char *flag;  // flag read from a result in all flags; NULL: one that suits the row's data
    struct strbuf init, body;
    size_t flags_at; // offset in the body at which a bridge last brought the chain into the flags;
                     // 0: nowhere
    int instrs;
    double extra_clk;
    bool certain;     // extra_clk is exactly the latency of the bridges, not only a lower limit
    bool out_of_regs; // a register was wanted and none was left
    const char *breaker;
    enum break_way way;
    bool broken_otherwise; // a breaker is a load or constant, as `way` says
    uint32_t stored;       // points whose constants init has stored for loading
};

// Returns the letter of the row's widest vector registers: x, y or z.
static inline char plan_vector(const struct row_plan *rp)
{
    return rp->vec_bits == 512 ? 'z' : rp->vec_bits == 256 ? 'y' : 'x';
}

// plan_points.c
void points_collect(struct row_plan *rp);
bool points_flags_overlap(const struct operand *a, const struct operand *b);
// Returns true if `name` is one of the words joined by `+` in `list`.
bool points_listed(const char *list, const char *name);
// Returns the first point whose register point i of a same-register form shares; -1: none, or it is
// the first.
int points_same_before(const struct row_plan *rp, int i);

// plan_registers.c
void draft_free(struct draft *draft);
void draft_line(struct draft *draft, const char *format, ...) __attribute__((format(printf, 2, 3)));
void draft_init_line(struct draft *draft, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void draft_fill(struct draft *draft, int fillers);                  // so many nops
int draft_take(struct draft *draft, enum chain_class class);        // for an operand; -1: none
int draft_take_helper(struct draft *draft, enum chain_class class); // for breakers and bridges
int draft_take_bridge(struct draft *draft, enum chain_class class); // for the middle of a bridge
const char *draft_gpr(const struct draft *draft, int reg);          // name at the mode's full width
int draft_available(const struct draft *draft, enum chain_class class);
int draft_zero(struct draft *draft);
// Returns the x87 registers in use in front of an instruction: those that it pops, and room for
// those that it pushes and for one more, through which values move.
int draft_x87_depth(const struct row_plan *rp);

// plan_data.c: contents of registers and memory. Rows with data=... have several sets: 0 is fast.
int data_sets(const struct list_row *row);
void data_set(struct row_plan *rp, int set);
const struct x87_values *data_x87_option(const struct row_plan *rp); // values of the current set;
                                                                     // NULL: none
// Slow division of vectors: the divisor's point (-1 for all other rows), and two divisors
// (registers or displacements), reciprocals of each other, that alternate from link to link.
int data_divisor_point(const struct row_plan *rp);
void data_divisor_init(struct draft *draft, int divisors[2]);
int data_element_bytes(const struct list_row *row);          // that a gather or scatter moves
void data_index_init(struct draft *draft, int point);        // VSIB index, by the option index=
void data_mask_init(struct draft *draft, int reg, int bits); // vector mask of a gather
void data_x87_init(struct draft *draft); // loads the values, if the row uses the x87 stack
void data_x87_set(struct draft *draft, int reg, uint64_t value); // in init: one value, as a double

// plan_draft.c
void draft_begin(struct draft *draft, const struct row_plan *rp);
int draft_constant(struct draft *draft, int point); // returns a register with the value that the
                                                    // point needs
// Gives the point the register, and has init set the value that it needs.
void draft_place(struct draft *draft, int point, int reg);
// Places all points but the two given (-1: none): sources get constants, results registers of their
// own.
void draft_place_others(struct draft *draft, int but, int and_but);
void draft_instruction(struct draft *draft);    // one instance with the current registers
void draft_repush_reserve(struct draft *draft); // takes the register that draft_repush() needs
void draft_repush(struct draft *draft);         // x87: constants for what it has popped
void draft_repop(struct draft *draft);          // x87: drops what it has pushed
struct kernel_spec draft_finish(struct draft *draft, const char *shape, int instances);

// plan_break.c
void draft_break(struct draft *draft, int point); // cuts the dependency on the point's register

// plan_bridge.c
int bridges_load(struct err *err); // once; -1: the table is missing or malformed
// Appends instructions that carry the value of point d to point s. Returns false if no way is
// known.
bool bridge_write(struct draft *draft, int d, int s);

// plan_immediate.c
int immediates_load(struct err *err); // once; -1: the table is missing or malformed
// Returns true if the plan chooses the operand's value among several.
bool immediate_takes(const struct row_plan *rp, const struct operand *op);
// Returns true if the row can be measured with rp->immediate.
bool immediate_is_requested(const struct row_plan *rp);
// Finds the values that the row is measured with beside the usual one; returns their number.
int immediates_of(const struct row_plan *rp, const struct immediate **values);

// plan_throughput.c: independent instances, each with registers of its own.
enum { INSTANCES_MAX = 32 };
struct instances {
    int n;                     // distinct instances: instance j has the registers of instance j
                               // modulo n
    int disp;                  // added to the displacement of memory operands
    int area_bytes;            // size of the memory that instances which read and write it share;
                               // 0: any
    int place_bytes;           // least distance of such memory of two instances
    bool one_place;            // memory operands of all instances are at disp
    bool breakers[POINTS_MAX]; // points whose register is set anew before each instance
    int nbreakers;
    int chain_from, chain_to; // points that instances read and the one before wrote; from -1: none
    int cut_every;            // needless dependencies are cut in front of each cut_every-th
                              // instance
    bool immediates;          // moves of immediates set the registers that the row names itself
    int8_t own[POINTS_MAX][INSTANCES_MAX];
};
// Takes registers for up to `wanted` instances. Returns false if there are too few for one.
bool throughput_prepare(struct draft *draft, int wanted, enum breaking breaking,
                        struct instances *instances);
// Finds the points of an instance that are set anew before it; returns their number.
int throughput_breakers(const struct row_plan *rp, enum breaking breaking,
                        bool breakers[POINTS_MAX]);
// Makes each instance read the result of the one before it, from any register to any. Returns false
// if the row has no operands for that.
bool throughput_chain(const struct row_plan *rp, struct instances *instances);
void throughput_instance(struct draft *draft, const struct instances *instances, int j);
// Write, before and after instances of a row that moves the stack pointer, what brings it back;
// else nothing.
void throughput_before(struct draft *draft, int instances);
void throughput_after(struct draft *draft, int instances);
// Returns the memory operand that an instance writes at an address that its displacement gives;
// NULL: none, or of unknown size.
const struct point *throughput_stored(const struct row_plan *rp);
// Returns its bytes, rounded up to a power of two.
int throughput_bytes(const struct point *stored);

// plan_places.c: where the stores of a mix go.
enum places_kind {
    PLACES_ADJACENT, // back to back: some cores store to one line twice in a cycle, not to two
    PLACES_APART,    // each operand that is rewritten in 8 bytes of its own: some cores let a load
                     // have a recent store's data at once, unless others store beside it
    PLACES_KINDS
};
enum { PLACE_APART = 8 };
struct places {
    enum places_kind kind;
    int half;       // bytes of a block for what is rewritten, and as many for what is only written
    bool rewritten; // some memory is
    int at;         // next place for rewritten memory, in bytes
    int block;      // of the last rewriting store
};
// Begins the places of n operands in memory; NULL: the part stores nothing. Returns a bit for each
// kind that takes places other than those before it.
unsigned places_find(const struct point *const *stored, int n, struct places *places);
// Returns the displacement of the next store of the operand.
int places_next(struct places *places, const struct point *stored);

// plan_stream.c: stores to fresh lines.
int stream_bytes(const struct row_plan *rp); // stored per instance; 0: no row of this kind
bool stream_kernel(struct row_plan *rp, struct test *test); // false: no kernel can be written

// plan_note.c: the remark for the table about the row with the current set of data; "": none.
const char *plan_note(const struct row_plan *rp, const char *variant);

// plan_latency.c, plan_throughput.c, plan_macro.c: append tests to the plan.
void latency_plan(struct row_plan *rp, const char *variant);
void throughput_plan(struct row_plan *rp, const char *variant);
// Plan, with rp->immediate: the dense chain of the form's main pair, and one shape.
void latency_plan_immediate(struct row_plan *rp);
void throughput_plan_immediate(struct row_plan *rp);
int macro_plan(struct row_plan *rp, struct err *err);

// plan_tests.c
struct test *plan_add_test(struct row_plan *rp, enum test_kind kind, const char *variant);
void plan_refuse(struct test *test, enum outcome outcome, const char *detail);
void plan_add_kernel(struct row_plan *rp, struct test *test, struct kernel_spec spec);
