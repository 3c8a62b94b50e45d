// SPDX-License-Identifier: MIT
// Explains the time of a block of code: the prediction from the tables of this CPU, by the front
// end, the ports, units that are not pipelined and the chain from copy to copy, beside the
// measurement. docs/EXPLAIN.md has the model.
#pragma once

#include "explain_block.h"
#include "explain_chain.h"
#include "explain_table.h"

// Data that the lists and the database have about an instruction.
enum explain_known {
    KNOWN_ALL,      // latencies and ports
    KNOWN_NO_PORTS, // latencies and throughput, no ports
    KNOWN_LISTED,   // in the lists, not in the database
    KNOWN_NOTHING,  // not in the lists
    KNOWN_JUMP,     // a jump at the end: its slot alone is counted
};

struct explain_instr {
    const struct block_instr *code;
    const struct table_row *row; // NULL: none fits
    enum explain_known known;
    bool has_usage;
    struct port_usage usage; // in the ports of the explanation's model
    double slots;            // dispatch slots
    bool fused;              // with the instruction before it, into one slot
    double load[PORTS_MAX];  // µops that each port does for it where the load is dealt best
};

enum explain_kind { LIMIT_FRONT, LIMIT_PORTS, LIMIT_UNIT, LIMIT_WAIT, LIMIT_CHAIN, LIMIT_STORES };
struct explain_limit {
    enum explain_kind kind;
    double clk;       // a copy of the block
    const char *text; // "front end: 12 of 6 slots per cycle", "ports p01"
    uint32_t set;     // of LIMIT_PORTS
    int unit;         // of LIMIT_UNIT
};
enum { EXPLAIN_LIMITS_MAX = PORT_UNITS_MAX + 12 };

struct explanation {
    struct block block;
    struct explain_instr *instrs;
    const char *uarch;
    const struct port_model *model; // NULL: no ports are known
    const struct bypass *bypass;
    struct chain chain;
    double slots;
    double pressure[PORTS_MAX];                      // µops per copy on each port
    struct explain_limit limits[EXPLAIN_LIMITS_MAX]; // the longest first
    int nlimits;
    double predicted_clk; // the longest
    double meets_clk; // the same if loads find what stores by other pointers wrote; NaN: no longer
    int fused;        // the last two are one: 1 or 0; -1 not known; -2: there is no jump
    int unknown;      // instructions whose numbers are assumed, all or some
};

// Predicts for a block as it was read. What is measured goes beside it elsewhere. All that the
// explanation points to is the arena's or the table's.
void explain_predict(const struct explain_table *table, const struct block *block,
                     struct explanation *explanation, struct arena *arena);
const char *explain_kind_name(enum explain_kind kind); // "front end", "ports", ...
const char *explain_known_text(enum explain_known known);
