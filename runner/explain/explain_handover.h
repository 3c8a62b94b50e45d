// SPDX-License-Identifier: MIT
// What a latency depends on beside the instruction that has it: who made the value that it waits
// for. Numbers come from the property `handover` of the CPU (lists/properties/core.csv).
#ifndef LATPUT_EXPLAIN_HANDOVER_H
#define LATPUT_EXPLAIN_HANDOVER_H

#include "explain_block.h"
#include "store/store_property.h"

// Who uses a value.
enum handover_user { USER_OTHER, USER_SHIFT, USER_CONDITION, USER_CARRY, USER_MULTIPLY, USERS };

// Who made the flags that a condition is asked of: comparing and adding, logic (by the users that
// choose, and by those that set a byte), comparing floating point numbers.
enum handover_flags { FLAGS_OTHER, FLAGS_LOGIC, FLAGS_LOGIC_SET, FLAGS_FCOMPARE, FLAGS_FROM };

// Cycles; NaN: not measured on this CPU.
struct handover {
    double sum_clk[USERS];            // more, behind a sum that was made at rename
    double flags_clk[FLAGS_FROM];     // more, where a condition is asked of such flags
    double sum_shift_uops;            // more, on the ports of the shift
    double fadd_clk;                  // an addition of floating point numbers behind another one
    double fadd_other_clk;            // more, where anything else uses its result
    double store_clk, store_line_clk; // a store to the line of the one before, or to another one
    double forward_clk;               // from a store to a load that comes a while later
    double narrow_wait_clk;           // from one such load to the next
    double narrow_clk;                // a load of more than the store before it had written
};
void handover_read(const struct property_value *values, int n, struct handover *handover);

enum handover_flags handover_flags(const struct block_instr *maker, const struct block_instr *user);
enum handover_user handover_user(const struct block_instr *instr);
// Of instructions that are done at rename: it adds a constant.
bool handover_adds_constant(const struct block_instr *instr);
bool handover_is_fadd(const struct block_instr *instr);

#endif
