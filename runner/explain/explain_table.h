// SPDX-License-Identifier: MIT
// Results of a CPU for the instructions of a block. Each row of the lists is assembled and decoded
// like the block; both are described in the same words, and so found.
#pragma once

#include "explain_again.h"
#include "explain_banks.h"
#include "explain_block.h"
#include "explain_bypass.h"
#include "explain_cross.h"
#include "explain_front.h"
#include "export/export.h"
#include "list/select.h"

// A row of the lists as the decoder sees it.
struct table_row {
    const struct list_row *row;
    struct block_instr instr;
    const char *signature;
    const struct known_form *form; // its results in the database; NULL: none
    const struct cross *cross;     // with `form`
};
struct explain_table {
    struct known_cpu data; // results of the CPU; no forms without a database
    struct selection selection;
    struct table_row *rows; // rows with a mnemonic of the blocks
    int nrows;
    const struct port_model *model; // the newest; NULL: none
    struct bypass bypass;
    struct banks banks;
    struct cross cross;
    struct again again;
    struct front_density density;
    struct property_values fusion; // points of `macro_fusion`; none: not measured
    struct property_values taken;  // points of `taken_branches`; none: not measured
    double mispredicted_clk;       // of a branch; NaN: not measured
    struct arena arena;
};

// Returns the row that fits an instruction best, or NULL.
const struct table_row *table_match(const struct explain_table *table,
                                    const struct block_instr *instr);

// Source of the results.
struct explain_from {
    struct store *store; // NULL: none
    const char *uarch;
    int64_t run_id; // 0: the best runs
};
// Reads what the lists and the database have for the mnemonics of the blocks. To be freed with
// table_free() in either case.
int table_load(const struct explain_from *from, const struct block *blocks, int nblocks,
               struct explain_table *table, struct err *err);
void table_free(struct explain_table *table);

enum latency_source {
    LATENCY_MEASURED,
    LATENCY_BOUND,
    LATENCY_SHARED, // between kinds of registers: right with a way back (explain_cross.h)
    LATENCY_ASSUMED
};
// Returns the latency from a value that the instruction reads to one that it writes. `row` NULL:
// unknown. `dense`: directly after its producer, else with other instructions between them.
double table_latency(const struct table_row *row, const struct block_instr *instr,
                     const struct block_touch *from, const struct block_touch *to, bool dense,
                     enum latency_source *source);
// Returns true if a latency is so short that the result is there when the instruction is renamed.
bool table_is_at_rename(double clk, const struct port_model *model);
// Corrects what the instruction reads by what the list and the measurements say: parts that are
// kept, inputs that do not matter (zero idioms).
void table_correct(const struct table_row *row, struct block_instr *instr);
