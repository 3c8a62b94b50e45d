// SPDX-License-Identifier: MIT
// Plausibility of counts. Counters are wrong at times: errata, an event of another model, a
// hypervisor. All users of counted ports or cycles ask here first. Pure functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Count of one event per instance of the code.
struct counted_port {
    const char *id; // id of the counter tables: "p0", "p23a"
    double uops;    // NaN: not counted
};

// Returns the number of ports that the event counts together, by its id: 1 of "p0", 3 of "p23a"; 0
// if the name does not have it ("p_alu"), or it counts no µops on ports ("p5b_cycles_ge2").
int plausible_port_width(const char *id);

// Checks counts per port: none below 0; no more than one µop per cycle on a port (`clk` cycles per
// instance; NaN: not known); and, if all the ports of the core were counted (`whole`), an integer
// sum, since an instruction has a whole number of µops. Events of unknown width have the first
// check only. Returns NULL, or `text` with what is wrong, a sentence without a full stop.
const char *plausible_ports_check(const struct counted_port *ports, int nports, double clk,
                                  int whole, char *text, size_t size);

// Compares the core cycles of a counter with the cycles by the calibration chain. Returns NULL if
// they agree, or `text` with what is wrong.
const char *plausible_clk_check(double counted_clk, double calibrated_clk, char *text, size_t size);
// Returns true if the timed ratio of a multiplication to an addition is a whole number, as both
// latencies are; else it was disturbed.
bool plausible_ratio(double imul_per_add);
// Checks the core cycles that a counter gives one link of the calibration chain, whose latency is a
// whole number, and as many additions as its timed ratio to them (0: not known). A counter of
// reference cycles fails. Returns the same.
const char *plausible_link_check(double link_clk, double imul_per_add, char *text, size_t size);
