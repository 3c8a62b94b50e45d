// SPDX-License-Identifier: MIT
// Bypass delays: what the latency of an instruction depends on beside the instruction itself,
// namely the producer of the value that it waits for. Numbers come from the property `bypass_delay`
// of the CPU (lists/properties/core.csv), classes of instructions from
// cpuinfo/instruction_classes.csv.
#pragma once

#include "explain_block.h"
#include "store/store_property.h"

enum bypass_class {
    BYPASS_OTHER,
    BYPASS_SUM,      // adds a constant, which some CPUs do at rename
    BYPASS_LOGIC,    // makes flags by logic
    BYPASS_FCOMPARE, // makes flags by comparing floating-point numbers
    BYPASS_FADD,     // adds floating-point numbers
    BYPASS_SHIFT,
    BYPASS_CARRY, // adds with carry
    BYPASS_MULTIPLY,
    BYPASS_SELECT, // selects a value by a condition
    BYPASS_SET,    // sets a byte by a condition
    BYPASS_CLASSES
};

// Delays in cycles; NaN: not measured on this CPU.
struct bypass {
    unsigned char classes[ZYDIS_MNEMONIC_MAX_VALUE + 1]; // by mnemonic: enum bypass_class
    double sum_clk[BYPASS_CLASSES];   // after a sum that was made at rename, by consumer
    double logic_select_clk;          // after flags of logic, where they select
    double logic_set_clk;             // after flags of logic, where they set a byte
    double fcompare_clk;              // after flags of a floating-point comparison
    double sum_shift_uops;            // more of a shift after such a sum, on the ports of the shift
    double fadd_clk;                  // latency of a floating-point addition after another one
    double fadd_other_clk;            // after a floating-point addition, for any other consumer
    double store_clk, store_line_clk; // a store to the line of the one before; to another one
    double forward_clk;               // from a store to a load that comes a while later
    double forward_other_clk;         // from a store to a load of it by another operand
    double forward_plain_clk; // from a store to a load of it by an operand without registers
    double load_clk;          // from an address to what is loaded; more of it ...
    double load_index_clk;    // ... by a register that is added to another one and a number
    double load_scaled_clk;   // ... by one that is scaled
    double stack_clk;         // of the stack pointer by an instruction that only moves it
    double stack_sum_clk;     // more of arithmetic after such an instruction
    double narrow_wait_clk;   // from one load of more than was stored to the next
    double before_wait_clk;   // the same where the loads begin before what was stored
    double narrow_clk;        // such a load directly after the store
};

// Reads the table at path (cpuinfo/instruction_classes.csv) into bypass->classes. Returns 0, or -1
// with a message.
int bypass_read_classes(const char *path, struct bypass *bypass, struct err *err);
// Sets the delays from points of the property; n 0: all are unknown.
void bypass_read(const struct property_value *values, int n, struct bypass *bypass);

enum bypass_class bypass_class(const struct bypass *bypass, const struct block_instr *instr);
// Returns the delay of a conditional consumer directly after the producer of its flags.
double bypass_flags_clk(const struct bypass *bypass, const struct block_instr *producer,
                        const struct block_instr *consumer);
