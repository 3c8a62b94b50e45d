// SPDX-License-Identifier: MIT
// A report of a function: its loops, and its instructions with what each takes.
#pragma once

#include "explain_job.h"
#include "output/output.h"

struct explain_load {
    char port[PORT_LABEL_MAX];
    double clk; // µops that the port does for it
};
struct explain_listed {
    char address[24];
    const char *bytes, *instruction;
    int loop;     // number of the loop that it is in; 0: none
    double slots; // NaN: not known, or none of its own
    const struct explain_load *ports;
    int nports;
    const char *shown_ports; // the same in a word
    bool on_chain;           // of its loop's longest chain
    const char *shown_loop, *shown_chain;
};
struct explain_listed_loop {
    int loop, instructions;
    char address[24], end[24]; // of the first instruction, and after the last
    long rounds, way_rounds;   // in a call, 0: not known; at most so many go this way, or -1
    const char *uncounted;     // why not; ""
    double predicted_clk, measured_clk, spread_clk;
    const char *limit, *by;
    const char *failure; // why it was not predicted or measured; ""
};
struct explain_listing {
    const char *title, *uarch;
    int bits;
    double call_clk, loops_clk; // of a call, and of its loops as predicted; NaN: not known
    bool shares;                // the loops of a call share instructions, so they have no sum
    const char *failure;        // why a call has no time; ""
    int others;                 // branches back that close none of the loops
    struct explain_listed_loop *loops;
    int nloops;
    struct explain_listed *instructions;
    int ninstructions;
};
extern const struct output_kind explain_listing_kind;

// The function as it was read.
struct explain_function {
    struct code_function code;
    int others;
    bool called;             // of a C file or an object: calls of it can be measured
    bool refused;            // told: the input is at fault, else the tools or the disk
    struct explain_job call; // place and mode of the call
};
// Reads the function that the request names, and makes jobs of its loops, which are prepared.
// Returns 0, or -1 with a message.
int explain_function_read(struct explain_work *work, struct explain_function *function,
                          struct err *err);
// Predicts and measures after explain_work_load(). The arena owns what the listing points to.
int explain_function_list(struct explain_work *work, const struct explain_function *function,
                          struct explain_listing *listing, struct arena *arena, struct err *err);
// Appends the listing in any format but CSV.
void explain_listing_print(const struct explain_listing *listing, const struct output_page *page,
                           struct strbuf *out);
