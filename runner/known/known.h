// SPDX-License-Identifier: MIT
// All that is known of the forms of one CPU, one record per form: its numbers from the database,
// its operands and machine code from the lists and NASM.
#ifndef LATPUT_KNOWN_H
#define LATPUT_KNOWN_H

#include "list/list.h"
#include "store/store_ports.h"
#include "store/store_read.h"
#include "util/err.h"
#include "util/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The latency from an operand that is read to one that is written; only those that were measured.
struct known_pair {
    // As in latency_table: "op2.base", "flags"; "", "fast", "slow". PLAN_FALSE (plan.h): from what
    // the operand held before, which the instruction overwrites.
    const char *src, *dst, *variant;
    double clk;          // the least of both chains (docs/MEASUREMENT.md)
    double dense_clk;    // one link directly after the other; NaN: not measured so
    bool upper, average; // how it bounds the true one
};

struct known_form {
    struct stored_form id; // form, enc, bits
    const char *mnemonic, *operands, *options, *isa, *list;
    const char *outcome;
    int64_t run_id, ports_run_id;            // the runs of its numbers; 0: none
    double latency_min_clk, latency_max_clk; // NaN where there is none, here and below
    const char *min_bound, *max_bound;       // of the latency: "exact", "average", "upper"; ""
    bool min_upper, max_upper;               // these are upper bounds
    double rthroughput_clk, rthroughput_slow_clk;
    const char *rthroughput_bound;
    bool rthroughput_upper;
    int uops;               // dispatch slots; -1: unknown
    const char *uops_bound; // "exact", "upper"; ""
    bool uops_upper;        // so these are the most
    const char *ports;      // as in instruction_table: "1*ALU+1*LOAD", "" for none; NULL: unknown
    const char *at_rename;  // "idiom", "eliminated", "partly" or ""
    const struct port_model *model; // of the run of its ports; NULL: unknown
    const struct port_usage *usage; // OK; NULL: unknown
    struct known_pair *pairs;
    int npairs;
    const struct list_row *row; // what the lists say of it; NULL: it is not in them
    const unsigned char *code;  // one instance, as `latput check` assembles it; NULL: none
    size_t code_len;
};

// One CPU with what its best runs, or one run, say.
struct known_cpu {
    const char *uarch; // as in the views: "zen4", "sapphirerapids?"
    const char *uarch_name, *vendor, *brand, *hypervisor, *claimed, *decided, *evidence, *version;
    const char *started_utc;
    int64_t run_id;           // the newest run of it, which these are of
    struct port_model *model; // of the newest run with ports; NULL: none
    struct known_form *forms; // by form, enc, bits
    int nforms;
    struct list *lists;
    int nlists;
    struct arena arena;
};

// What is read beside the numbers.
enum { KNOWN_ROWS = 1, KNOWN_CODE = 2 | KNOWN_ROWS, KNOWN_FALSE = 4 };

// Reads what the filter selects of a CPU; its uarch must be given. 0, or -1 with the message. The
// caller frees with known_free() in either case.
int known_read(struct store *store, const struct store_filter *filter, unsigned what,
               struct known_cpu *data, struct err *err);
void known_free(struct known_cpu *data);

// What another program calls the CPU family (with or without '?' behind it): a column of
// cpuinfo/other_names.csv, "" where it has no name for it. To be freed; NULL after an error.
char *known_other_name(const char *uarch, const char *column, struct err *err);

// Why a form is left out.
extern const char known_no_row[];  // it is not in the lists
extern const char known_32bit[];   // it is of 32-bit mode, what is asked of 64-bit mode
extern const char known_no_code[]; // NASM makes no machine code of it

#endif
