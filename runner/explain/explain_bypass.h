// SPDX-License-Identifier: MIT
// Bypass delays: what the latency of an instruction depends on beside the instruction itself,
// namely the producer of the value that it waits for. Numbers come from the property `bypass_delay`
// of the CPU (lists/properties/core.csv).
#ifndef LATPUT_EXPLAIN_BYPASS_H
#define LATPUT_EXPLAIN_BYPASS_H

#include "explain_block.h"
#include "store/store_property.h"

// Classes of consumers of a value.
enum bypass_consumer {
    CONSUMER_OTHER,
    CONSUMER_SHIFT,
    CONSUMER_CONDITION,
    CONSUMER_CARRY,
    CONSUMER_MULTIPLY,
    CONSUMERS
};

// Producers of the flags that a conditional instruction reads: integer comparison and addition;
// logic, apart for consumers that select a value and for those that set a byte; comparison of
// floating point numbers.
enum bypass_flags { FLAGS_OTHER, FLAGS_LOGIC, FLAGS_LOGIC_SET, FLAGS_FCOMPARE, FLAGS_FROM };

// Delays in cycles; NaN: not measured on this CPU.
struct bypass {
    double sum_clk[CONSUMERS];        // more, behind a sum that was made at rename
    double flags_clk[FLAGS_FROM];     // more, where a condition is asked of such flags
    double sum_shift_uops;            // more, on the ports of the shift
    double fadd_clk;                  // an addition of floating point numbers behind another one
    double fadd_other_clk;            // more, where anything else uses its result
    double store_clk, store_line_clk; // a store to the line of the one before, or to another one
    double forward_clk;               // from a store to a load that comes a while later
    double narrow_wait_clk;           // from one such load to the next
    double narrow_clk;                // a load of more than the store before it had written
};
void bypass_read(const struct property_value *values, int n, struct bypass *bypass);

enum bypass_flags bypass_flags(const struct block_instr *producer,
                               const struct block_instr *consumer);
enum bypass_consumer bypass_consumer(const struct block_instr *instr);
// Of instructions that are done at rename: it adds a constant.
bool bypass_adds_constant(const struct block_instr *instr);
bool bypass_is_fadd(const struct block_instr *instr);

#endif
