// SPDX-License-Identifier: MIT
// Whether counts can be true. Counters lie at times: errata, an event of another model, a
// hypervisor. Whoever uses counted ports or cycles asks here first. Pure functions.
#ifndef LATPUT_PLAUSIBLE_H
#define LATPUT_PLAUSIBLE_H

#include <stdbool.h>
#include <stddef.h>

// What one event has counted, divided by the instances of the code.
struct counted_port {
    const char *id; // of the counter tables: "p0", "p23a"
    double uops;    // NaN: not counted
};

// How many ports the event of this id counts together, by its name: 1 of "p0", 3 of "p23a"; 0 where
// the name does not tell ("p_alu"), or if it is no count of µops on ports ("p5b_cycles_ge2").
int plausible_port_width(const char *id);

// Looks for: a count below 0; more than one µop a cycle on a port (`clk` cycles an instance; NaN:
// not known); and, if all the ports of the core were counted (`whole`), a sum that is no integer,
// since an instruction has a whole number of µops. Of events whose width is not known only the
// first is asked. Returns NULL, or `text` with what is wrong, a sentence without a full stop.
const char *plausible_ports_check(const struct counted_port *ports, int nports, double clk,
                                  int whole, char *text, size_t size);

// Looks at core cycles: those that a counter says a piece of code took, and those that follow from
// the calibration chain. Returns NULL if they agree, or `text` with what is wrong.
const char *plausible_clk_check(double counted_clk, double calibrated_clk, char *text, size_t size);
// Whether the timed ratio of a multiplication to an addition is a whole number, as both latencies
// are; else it was disturbed.
bool plausible_ratio(double imul_per_add);
// Looks at what a counter of core cycles says of one link of the calibration chain, whose latency
// is a whole number of cycles, and that of as many additions as its timed ratio to them says (0:
// not known): that tells it from one of reference cycles. Returns the same.
const char *plausible_link_check(double link_clk, double imul_per_add, char *text, size_t size);

#endif
