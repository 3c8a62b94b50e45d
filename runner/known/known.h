// SPDX-License-Identifier: MIT
// The forms of one CPU, one record per form: its numbers from the database, its operands and
// machine code from the lists and NASM.
#pragma once

#include "list/list.h"
#include "store/store_ports.h"
#include "store/store_read.h"
#include "util/err.h"
#include "util/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Measured latency from an operand that is read to one that is written.
struct known_pair {
    // Operands and variant as in latency_table: "op2.base", "flags"; "", "fast", "slow". PLAN_FALSE
    // (plan.h): from the old content of the operand, which the instruction overwrites.
    const char *src, *dst, *variant;
    double clk;          // minimum of both chains (docs/MEASUREMENT.md)
    double dense_clk;    // links directly after each other; NaN: not measured
    bool upper, average; // relation to the true latency
    bool in_result;      // it counts for the latency of the form's result
    const char *bound;   // the same as a word: "upper", "average", else "exact"
};

struct known_form {
    struct stored_form id;            // form, enc, bits
    const struct field_value *values; // of the columns of exports (KNOWN_VALUES)
    const char *mnemonic, *operands, *options;
    int64_t run_id, ports_run_id;            // runs with its numbers; 0: none
    double latency_min_clk, latency_max_clk; // of the result; NaN: none, here and below
    bool min_upper, max_upper;               // these are upper bounds
    double rthroughput_clk, rthroughput_slow_clk;
    const char *rthroughput_bound;
    bool rthroughput_upper;
    int uops;               // dispatch slots; -1: unknown
    const char *uops_bound; // "exact", "upper", or ""
    bool uops_upper;        // uops is an upper bound
    const char *ports;      // as in instruction_table: "1*ALU+1*LOAD", "" for none; NULL: unknown
    const char *at_rename;  // "idiom", "eliminated", "partly" or ""
    const struct port_model *model; // of the run with its ports; NULL: unknown
    const struct port_usage *usage; // valid; NULL: unknown
    struct known_pair *pairs;
    int npairs;
    const struct list_row *row; // row in the lists; NULL: none
    const unsigned char *code;  // one instance, as `latput check` assembles it; NULL: none
    size_t code_len;
};

// One CPU with the results of its best runs, or of one run.
struct known_cpu {
    const char *uarch; // as in the views: "zen4", "sapphirerapids?"
    const char *uarch_name, *vendor, *brand, *hypervisor, *claimed, *decided, *evidence, *version;
    const char *started_utc;
    int64_t run_id;                                 // newest run among these results
    struct port_model *model;                       // of the newest run with ports; NULL: none
    const struct column *columns[VIEW_COLUMNS_MAX]; // of values: all of COLUMN_CSV, by place
    int ncolumns;
    struct known_form *forms; // by form, enc, bits
    int nforms;
    struct list *lists;
    int nlists;
    struct arena arena;
};

// Things to read beside the numbers.
enum { KNOWN_ROWS = 1, KNOWN_CODE = 2 | KNOWN_ROWS, KNOWN_FALSE = 4, KNOWN_VALUES = 8 };

// Reads the forms of a CPU that the filter selects; its uarch must be given. Returns 0, or -1 with
// the message. The caller frees with known_free() in either case.
int known_read(struct store *store, const struct store_filter *filter, unsigned what,
               struct known_cpu *data, struct err *err);
// Returns the value of one of its columns (KNOWN_VALUES).
const struct field_value *known_value(const struct known_cpu *data, const struct known_form *form,
                                      const struct column *column);
// Finds the rows and the machine code of forms of which only the ids are given, in the order of
// stored_form_compare(). Returns 0, or -1 with the message.
int known_code(struct known_cpu *data, struct err *err);
void known_free(struct known_cpu *data);

// Reasons for leaving a form out.
extern const char known_no_row[];  // not in the lists
extern const char known_32bit[];   // 32-bit form, when 64-bit ones are asked for
extern const char known_no_code[]; // NASM does not assemble it
