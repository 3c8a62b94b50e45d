// SPDX-License-Identifier: MIT
// Stage 2: from a row to its tests, and from a test to the kernels that answer it. Pure: the plan
// depends on the row, on the bridge table and on the few CPU facts in struct plan_params, on
// nothing else. All strings are owned by the arena that the caller gives.
#ifndef LATPUT_PLAN_H
#define LATPUT_PLAN_H

#include "core/outcome.h"
#include "list/list.h"
#include "util/err.h"
#include "util/mem.h"

#include <stdint.h>

struct core_fill; // core/core_abi.h

// The arrangement of a form's kernels. Values must not depend on it, so that a share of the forms
// is measured in another one as well.
enum arrangement {
    ARRANGED_AS_USUAL,
    ARRANGED_REGISTERS, // operands get the registers that usually come last
    ARRANGED_LINES,     // the data area begins some lines further
    ARRANGED_FILLERS,   // longer nops
    ARRANGED_COPIES,    // other loops: two thirds as many copies of a body
    ARRANGEMENTS
};

struct plan_params {
    int issue_width;     // µops the front end delivers a cycle (filler counts follow from it)
    unsigned tests;      // TESTS_* wanted; others are left out
    const char *skip_32; // why rows with bits=32 are not measured here; NULL: they are
    enum arrangement arrangement;
};

enum test_kind { TEST_LATENCY, TEST_THROUGHPUT, TEST_PORTS };
enum bound { BOUND_EXACT, BOUND_UPPER };

// Register contract of every body (runner/core/README.md has the reasons), in 64-bit mode:
//   r15  loop counter of the core: never named in a body
//   r14  start of the data area, 64-byte aligned, readable and writable from -4096 to +65535
//   rsp  stack of the kernel, usable for push/pop/call as long as it is balanced over a body
//   rax..r13 but rsp: free; all set to `gpr_fill` before init
// In 32-bit mode:
//   ebp  start of the data area
//   esp  as rsp; eax ebx ecx edx esi edi: free; the loop counter lies in memory
// In both:
//   vectors, mm, st: filled with vec_fill; k0..k7 with mask_fill
// The core sets these, runs `init`, starts the clock, runs the body in a loop, stops the clock.
struct kernel_spec {
    const char *shape;  // "dense", "filled", "n8", "n12+break", ... unique within its test
    const char *body;   // NASM source, lines end with \n; may use local labels (.name)
    const char *init;   // NASM source run once before the clock, or ""
    int instances;      // tested instructions (or chain links) in a body: time / instances = result
    int instrs;         // all instructions in a body, fillers and breakers included
    bool unrolled;      // the body must not be replicated by copying; NASM has unrolled it
    bool clear_upper;   // vzeroall first, fill xmm by legacy moves: for legacy-SSE and x87 bodies
    int vec_bits;       // width to which vector registers are filled: 0, 128, 256, 512
    uint64_t vec_fill;  // 64-bit pattern in every vector and mm register
    uint64_t mem_fill;  // 64-bit pattern in the first 4 KiB of the data area
    uint64_t gpr_fill;  // value of every free general-purpose register
    uint64_t mask_fill; // value of every mask register
    bool stream;        // stores that wait on their way to memory
    double extra_clk;   // latency of bridges in one link, subtracted from the time per link
    // What only properties want, 0 or NULL else; as in struct core_kernel.
    const char *fini; // NASM source run behind the clock: what goes on in the next call is kept
    const struct core_fill *fills;
    int nfills;
    int align, copies;
    bool once, cold;
    const char *corunner, *corunner_init; // NASM source that goes round on other CPUs meanwhile
    int corunner_from, corunner_to;       // on which, of those of struct exec_params
    const char *breaker; // NASM text of a dependency breaker in this shape, or NULL
};

struct test {
    enum test_kind kind;
    const char *src, *dst; // latency: names of the operands: "op1", "op2.base", "op2.data", "flags"
    const char *variant;   // "", or data variant: "fast", "slow", "slow2", ...; PLAN_*
    const char *note;      // what the table says beside the number, or ""
    enum bound bound;      // what the plan can promise at best
    enum outcome outcome;  // OUTCOME_OK, or why there is no kernel (NOT_MEASURABLE, SKIPPED)
    const char *detail;    // reason where outcome is not OK, else ""
    struct kernel_spec *kernels;
    int nkernels;
};

// The variant of a throughput test that times only what gives operands their values anew, which the
// other kernels of the row do in front of each instance.
#define PLAN_SETTING "setting"

// The variant of a latency test from what a written operand held before to what it gets, where the
// instruction does not read it: a false dependency, if the CPU has one. It is its kernel's shape,
// too.
#define PLAN_FALSE "false"

// The shapes of latency kernels that are as "dense" but for what cuts the dependencies that are not
// asked for: a load or a constant for a move.
#define PLAN_CUT_LOAD "dense+load"
#define PLAN_CUT_CONSTANT "dense+constant"

// Tests with another immediate than the usual one have the variant of this and the value: "i8=0".
#define PLAN_IMMEDIATE "i8="
// And that of a pair whose register is known to be zero above the element that is written.
#define PLAN_UPPER "upper=0"
bool plan_is_immediate(const char *variant); // one of both

// The shape of a throughput kernel that stores through fresh lines, past the caches.
#define PLAN_STREAM "stream"

struct plan {
    const struct list_row *row;
    struct test *tests;
    int ntests;
};

// Plans one row. Always succeeds for a row that list_read() accepted, unless a macro named by the
// row is missing or malformed: -1 with a message.
int plan_row(const struct list_row *row, const struct plan_params *params, struct arena *arena,
             struct plan *plan, struct err *err);

// Adds the tests of a planned row once more in another arrangement, the first one from
// `arrangement` on (round robin) that changes kernels of it. The variant of such a test is that of
// the usual one, PLAN_AGAIN and the arrangement's name. What no arrangement changes, or only macros
// can write, gets none. Errors as plan_row().
int plan_row_again(const struct list_row *row, const struct plan_params *params,
                   enum arrangement arrangement, struct arena *arena, struct plan *plan,
                   struct err *err);
#define PLAN_AGAIN "again "
bool plan_is_again(const char *variant);
// Whether a test of the variant stands beside the form's own: asked again, or of another immediate.
bool plan_is_aside(const char *variant);
const char *arrangement_name(enum arrangement arrangement); // "registers", "lines", ...

// A mix: instances of several rows in one body. Which of them are fast together depends on their
// order, so a mix has a kernel for each order that is asked for.
struct mix_part {
    const struct list_row *row;
    int count; // of instances in the body
};
enum mix_order {
    MIX_INTERLEAVED,
    MIX_BLOCKS,
    MIX_SHUFFLED,
    MIX_SHUFFLED_2, // the same in other random orders
    MIX_SHUFFLED_3,
    MIX_ORDER_COUNT
};
// Which waiting of instances for each other is cut, by a move in front of each instance.
enum breaking {
    BREAK_NEEDED,    // none; only what must have a value has it set anew
    BREAK_IMPLICIT,  // also what instances with registers of their own wait for, flags included
    BREAK_REGISTERS, // all through registers, but not through flags
    BREAK_ALL,       // all of it
};
enum { MIX_ORDERS_FEW = (1 << MIX_SHUFFLED_2) - 1, MIX_ORDERS_ALL = (1 << MIX_ORDER_COUNT) - 1 };
struct mix {
    const struct mix_part *parts;
    int nparts;
    unsigned orders; // bit mask over enum mix_order: a kernel each
    enum breaking breaking;
    bool single;  // all instances of a part write the same registers: see mix_plan()
    bool chained; // each instance of the first part reads what the one before it wrote
};

// Whether instances of the row can stand beside others: it needs no macro, leaves the stacks alone,
// and does not wait for memory.
bool mix_plannable(const struct list_row *row);
// Whether the row is locked, by its prefix or as exchanges with memory are: then other instructions
// wait with their memory until it is done.
bool mix_locks(const struct list_row *row);
// Whether a prefix changes how long the rest of the instruction is, which some decoders are slow
// with.
bool row_changes_length(const struct list_row *row);
// One test of kind TEST_PORTS whose kernels are the mix in its orders; a kernel's instance is the
// mix, which stands in the body several times where instances would wait for what others stored a
// moment before. The data in registers and memory are those of parts[0]. With BREAK_ALL each part
// has registers for several instances, so that dependencies which the CPU only believes in are few
// too, as far as there are registers; with `single` no part has, so that they are all there. -1:
// there are too few registers, or no register that instances could be chained through; the test
// then says so and has no kernels.
int mix_plan(const struct mix *mix, const struct plan_params *params, struct arena *arena,
             struct plan *plan);

// The forms of the moves that stand in front of each instance of the row in a mix. Returns their
// number.
enum { MIX_BREAKERS_MAX = 8 };
int mix_breakers(const struct list_row *row, enum breaking breaking,
                 const char *forms[MIX_BREAKERS_MAX]);

const char *test_kind_name(enum test_kind kind); // "latency", "throughput", "ports"
const char *bound_name(enum bound bound);        // "exact", "upper"

#endif
