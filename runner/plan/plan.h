// SPDX-License-Identifier: MIT
// Stage 2: from a row to its tests, and from a test to the kernels that answer it. Pure: the plan
// depends on the row, on the bridge table and on the few CPU facts in struct plan_params, on
// nothing else. All strings are owned by the arena that the caller gives.
#pragma once

#include "core/outcome.h"
#include "list/list.h"
#include "util/err.h"
#include "util/mem.h"

#include <stdint.h>

struct refusals;  // declared in refusals.h
struct core_fill; // declared in core/core_abi.h

// Arrangement of a form's kernels. Values must not depend on it, so a share of the forms is
// measured in another one as well.
enum arrangement {
    ARRANGED_AS_USUAL,
    ARRANGED_REGISTERS, // operands get the registers that usually come last
    ARRANGED_LINES,     // the data area begins some lines later
    ARRANGED_FILLERS,   // longer nops
    ARRANGED_COPIES,    // other loops: two thirds as many copies of a body
    ARRANGED_HIGH,      // operands and addresses get r16 to r31; last, since most CPUs have none
    ARRANGEMENTS
};

struct plan_params {
    int issue_width;      // µops that the front end delivers per cycle; fillers are counted by it
    unsigned tests;       // TESTS_* to plan
    const char *skip_32;  // reason to skip rows with bits=32; NULL: they are measured
    const char *no_ring0; // reason why rows with ring=0 cannot be measured; NULL: they can
    bool high_gprs;       // the CPU has r16 to r31, and the system saves them
    enum arrangement arrangement;
    const struct refusals *refused; // features of which all forms are unsupported; NULL: none
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
//   esp  like rsp; eax ebx ecx edx esi edi: free; the loop counter lies in memory
// In both:
//   vectors, mm, st: filled with vec_fill; k0..k7 with mask_fill
// The core sets these, runs `init`, starts the clock, runs the body in a loop, stops the clock.
struct kernel_spec {
    const char *shape;  // "dense", "filled", "n8", "n12+break", ... unique within its test
    const char *body;   // NASM source, lines end with \n; may use local labels (.name)
    const char *init;   // NASM source run once before the clock, or ""
    int instances;      // tested instructions (or chain links) per body: time / instances = result
    int instrs;         // all instructions of a body, fillers and breakers included
    bool unrolled;      // the body must not be replicated by copying; NASM has unrolled it
    bool clear_upper;   // vzeroall first, fill xmm by legacy moves: for legacy-SSE and x87 bodies
    int vec_bits;       // width to which vector registers are filled: 0, 128, 256, 512
    uint64_t vec_fill;  // 64-bit pattern in every vector and mm register
    uint64_t mem_fill;  // 64-bit pattern in the first 4 KiB of the data area
    uint64_t gpr_fill;  // value of every free general-purpose register
    uint64_t mask_fill; // value of every mask register
    bool stream;        // stores that wait on their way to memory
    double extra_clk;   // latency of bridges in one link, subtracted from the time per link
    // Fields that only properties use, 0 or NULL for others; as in struct core_kernel.
    const char *fini; // NASM source run after the clock has stopped, to keep state for the next
                      // call
    const struct core_fill *fills;
    int nfills;
    int align, copies;
    bool once, cold;
    const char *corunner, *corunner_init; // NASM source that runs in a loop on other CPUs meanwhile
    int corunner_from, corunner_to;       // range of these CPUs in struct exec_params
    const char *breaker; // NASM text of a dependency breaker of this shape, or NULL
};

struct test {
    enum test_kind kind;
    const char *src, *dst; // latency: names of the operands: "op1", "op2.base", "op2.data", "flags"
    const char *variant;   // "", or data variant: "fast", "slow", "slow2", ...; PLAN_*
    const char *note;      // remark for the table beside the number, or ""
    enum bound bound;      // best bound that the plan can promise
    enum outcome outcome;  // OUTCOME_OK, or the reason for no kernel (NOT_MEASURABLE, SKIPPED)
    const char *detail;    // reason if outcome is not OK, else ""
    struct kernel_spec *kernels;
    int nkernels;
};

// Variant of a throughput test that times only the instructions which restore operands' values and
// which the row's other kernels have in front of each instance.
#define PLAN_SETTING "setting"

// Variant of a latency test from the old content of a written operand to the new one, for an
// instruction that does not read it: a false dependency, if the CPU has one. Also its kernel's
// shape.
#define PLAN_FALSE "false"

// Shapes of latency kernels that are like "dense" but cut unwanted dependencies by a load or a
// constant instead of a move.
#define PLAN_CUT_LOAD "dense+load"
#define PLAN_CUT_CONSTANT "dense+constant"

// Prefix of the variant of tests with another immediate than the usual one; its value follows:
// "i8=0".
#define PLAN_IMMEDIATE "i8="
// Variant of a pair whose register is known to be zero above the element that is written.
#define PLAN_UPPER "upper=0"
bool plan_is_immediate(const char *variant); // true for either

// Shape of a throughput kernel that stores to fresh lines, past the caches.
#define PLAN_STREAM "stream"

struct plan {
    const struct list_row *row;
    struct test *tests;
    int ntests;
};

// Plans one row. Succeeds for each row that list_read() accepted, unless a macro named by the row
// is missing or malformed. Returns 0, or -1 with a message.
int plan_row(const struct list_row *row, const struct plan_params *params, struct arena *arena,
             struct plan *plan, struct err *err);

// Adds the tests of a planned row once more in another arrangement, the first one from
// `arrangement` on (round robin) that changes its kernels. The variant of such a test is made of
// the usual variant, PLAN_AGAIN and the arrangement's name ("registers", "lines", ...). Tests that
// no arrangement changes, or that only macros can write, are not repeated. Kernels with r16 to r31
// name them as they are called, which NASM does not know (assemble/high.h). Errors as plan_row().
int plan_row_again(const struct list_row *row, const struct plan_params *params,
                   enum arrangement arrangement, struct arena *arena, struct plan *plan,
                   struct err *err);
#define PLAN_AGAIN "again "
// Returns the number of arrangements that this CPU can have, ARRANGED_AS_USUAL among them.
int plan_arrangements(const struct plan_params *params);
// Returns true if a test of the variant is an addition to the form's own tests: asked again, or of
// another immediate.
bool plan_is_aside(const char *variant);

// A row of a mix and its number of instances. A mix has instances of several rows in one body.
// Their order decides which of them execute together, so there is a kernel for each order asked
// for.
struct mix_part {
    const struct list_row *row;
    int count; // number of instances in the body
};
enum mix_order {
    MIX_INTERLEAVED,
    MIX_BLOCKS,
    MIX_SHUFFLED,
    MIX_SHUFFLED_2, // other random orders
    MIX_SHUFFLED_3,
    MIX_ORDER_COUNT
};
// Dependencies between instances that are cut, by a move in front of each instance.
enum breaking {
    BREAK_NEEDED,    // none; only operands that need a value are set anew
    BREAK_IMPLICIT,  // also those through operands that no instance has for itself, flags included
    BREAK_FLAGS,     // the same, and flags that are written, though no instance reads them
    BREAK_REGISTERS, // all through registers, but not through flags
    BREAK_ALL,       // all
};
enum { MIX_ORDERS_FEW = (1 << MIX_SHUFFLED_2) - 1, MIX_ORDERS_ALL = (1 << MIX_ORDER_COUNT) - 1 };
struct mix {
    const struct mix_part *parts;
    int nparts;
    unsigned orders; // bit mask over enum mix_order: one kernel each
    enum breaking breaking;
    bool single;  // all instances of a part write the same registers: see mix_plan()
    bool chained; // each instance of the first part reads the result of the one before it
};

// Returns true if instances of the row can stand beside others: it needs no macro, leaves the
// stacks alone, and does not wait for memory.
bool mix_plannable(const struct list_row *row);
// Returns true if an instance can stand beside such rows: also one that moves the stack pointer by
// a number of bytes that is known. Two of those would be in each other's way.
bool mix_stands(const struct list_row *row);
// Returns true if the row is locked, by its prefix or because it exchanges with memory: memory
// accesses of other instructions then wait for it.
bool mix_locks(const struct list_row *row);
// Returns true if a prefix changes the length of the rest of the instruction, which slows some
// decoders.
bool row_changes_length(const struct list_row *row);
// Plans one test of kind TEST_PORTS whose kernels are the mix in its orders. A kernel's instance is
// the mix; the body repeats it if instances would wait for recent stores of others. parts[0]
// decides the data in registers and memory. With BREAK_ALL each part has registers for several
// instances, as far as there are enough, so that false dependencies are few, too; with `single`
// each part has one set, so that all dependencies remain. Returns 0, or -1 if there are too few
// registers, or none that instances could be chained through; the test then says so and has no
// kernels.
int mix_plan(const struct mix *mix, const struct plan_params *params, struct arena *arena,
             struct plan *plan);

// Lists the forms of the moves in front of each instance of the row in a mix. Returns their number.
enum { MIX_BREAKERS_MAX = 8 };
int mix_breakers(const struct list_row *row, enum breaking breaking,
                 const char *forms[MIX_BREAKERS_MAX]);

const char *test_kind_name(enum test_kind kind); // "latency", "throughput", "ports"
const char *bound_name(enum bound bound);        // "exact", "upper"
