// SPDX-License-Identifier: MIT
// Results in the formats of other programs (docs/EXPORTS.md), and beside the scheduling model of a
// compiler. Everything comes from the database through the headers of store/; what a form is made
// of (operands, machine code) comes from the lists and NASM. A form that a format cannot express is
// left out, counted and named, never bent into something that it can.
#ifndef LATPUT_EXPORT_H
#define LATPUT_EXPORT_H

#include "list/list.h"
#include "store/store_ports.h"
#include "store/store_read.h"
#include "util/err.h"
#include "util/mem.h"
#include "util/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The latency from an operand that is read to one that is written; only those that were measured.
struct export_pair {
    // As in latency_table: "op2.base", "flags"; "", "fast", "slow". PLAN_FALSE (plan.h): from what
    // the operand held before, which the instruction overwrites.
    const char *src, *dst, *variant;
    double clk;          // the least of both chains (docs/MEASUREMENT.md)
    double dense_clk;    // one link directly after the other; NaN: not measured so
    bool upper, average; // how it bounds the true one
};

struct export_form {
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
    struct export_pair *pairs;
    int npairs;
    const struct list_row *row; // what the lists say of it; NULL: it is not in them
    const unsigned char *code;  // one instance, as `latput check` assembles it; NULL: none
    size_t code_len;
};

// One CPU with what its best runs, or one run, say.
struct export_data {
    const char *uarch; // as in the views: "zen4", "sapphirerapids?"
    const char *uarch_name, *vendor, *brand, *hypervisor, *claimed, *decided, *evidence, *version;
    const char *started_utc;
    int64_t run_id;            // the newest run of it, which these are of
    struct port_model *model;  // of the newest run with ports; NULL: none
    struct export_form *forms; // by form, enc, bits
    int nforms;
    struct list *lists;
    int nlists;
    struct arena arena;
};

// What is read beside the numbers.
enum { EXPORT_ROWS = 1, EXPORT_CODE = 2 | EXPORT_ROWS, EXPORT_FALSE = 4 };

// Reads what the filter selects of a CPU; its uarch must be given. 0, or -1 with the message. The
// caller frees with export_free() in either case.
int export_read(struct store *store, const struct store_filter *filter, unsigned what,
                struct export_data *data, struct err *err);
void export_free(struct export_data *data);

// What another program calls the CPU family (with or without '?' behind it): a column of
// cpuinfo/other_names.csv, "" where it has no name for it. To be freed; NULL after an error.
char *export_other_name(const char *uarch, const char *column, struct err *err);

// --- what is written ---

enum { EXPORT_REASONS_MAX = 24 };
struct export_reason {
    const char *text; // static
    int count;
    struct strbuf names; // of the forms, each with a line feed
};
struct export_out {
    struct strbuf text;
    int written; // forms
    struct export_reason reasons[EXPORT_REASONS_MAX];
    int nreasons;
};
// The form is not in the text, for this reason (a static string).
void export_leave(struct export_out *out, const struct export_form *form, const char *reason);
void export_out_free(struct export_out *out);

struct export_format {
    const char *name;
    const char *summary; // half a line, for --help
    unsigned what;       // EXPORT_*
    // 0, or -1 with the message.
    int (*write)(struct export_data *data, struct export_out *out, struct err *err);
};
extern const struct export_format *const export_formats[];        // ends with NULL
const struct export_format *export_format_find(const char *name); // NULL: there is none

#endif
