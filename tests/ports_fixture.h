// SPDX-License-Identifier: MIT
// A synthetic port model, usages of five forms, their evidence and validations, for the tests of
// the store and of what shows ports. All numbers are made up.
#ifndef LATPUT_PORTS_FIXTURE_H
#define LATPUT_PORTS_FIXTURE_H

#include "store_fixture.h"

#include <math.h>

enum { FIXTURE_PORTS = 5, FIXTURE_ALU = 0xf, FIXTURE_SHIFT = 0x9, FIXTURE_LOAD = 0x30 };

static inline struct stored_port_model fixture_port_model(void)
{
    return (struct stored_port_model){
        .model = {.width = 8,
                  .nports = 6,
                  .port_names = {"ALU10", "ALU0", "", "ALU2"},
                  .filler = 3,
                  .nclasses = 3,
                  .classes = {{FIXTURE_SHIFT, "SHIFT", 2, 0.5, 14},
                              {FIXTURE_LOAD, "LOAD", 1, 0.5, 120},
                              {FIXTURE_ALU, "ALU", 0, 0.25, 310}},
                  .nhidden = 1,
                  .hidden = {{FIXTURE_ALU | FIXTURE_LOAD, "ALL"}},
                  .nunits = 3,
                  .units = {{.name = "DIV",
                             .blocker = 4,
                             .blocker_clk = 5,
                             .whole_blocker = 2,
                             .whole_clk = 9.5},
                            {.name = "path1", .blocker_clk = 0.5, .whole_blocker = -1},
                            {.name = "path2", .blocker_clk = 1, .whole_blocker = -1}},
                  .nprobes = 2,
                  .probes = {{.form = 5, .usage = {.nshares = 2, .shares = {{1, 0.5}, {2, 1}}}},
                             {.form = 6, .usage = {.nshares = 1, .shares = {{1, 0.75}}}}},
                  .binding = 0.125,
                  .residual = 0.012,
                  .unexplained = 2},
        .filler = "nop",
        .class_blockers = {"shlx r64 r64 r64",                                                         "mov r64 m64",                                   "lea r64 agen"},
        .unit_blockers = {"div r64",                                                        "vmovd r32 x", "vmovd r32 x"},
        .unit_wholes = {"vdivpd z z z", "",                                    ""},
        .probe_forms = {"vmovd r32 x",                                                    "vptest x x"                              },
    };
}

// In the order of fixture_port_usages().
static const char *const fixture_port_forms[FIXTURE_PORTS] = {"add r64 r64", "div r64", "hlt r64",
                                                              "add r64 m64", "nop"};

static inline const struct port_usage *fixture_port_usages(void)
{
    static struct port_usage usages[FIXTURE_PORTS] = {
        {.uses = {{FIXTURE_ALU, 1}}, .nuses = 1, .uops = 1, .slots = 0.98, .unit = -1},
        {.ambiguous = true,
         .uses = {{FIXTURE_ALU, 2}},
         .nuses = 1,
         .uops = 2,
         .slots = 2.04,
         .slots_mixed = 2.5,
         .unit = 0,
         .whole = true,
         .busy_clk = 5,
         .beside_clk = 7.5,
         .residual = 0.3},
        {.outcome = OUTCOME_NOT_MEASURABLE,
         .detail = "serialises: nothing else runs beside it",
         .slots = 40,
         .unit = -1},
        {.uses = {{FIXTURE_ALU, 1}, {FIXTURE_LOAD, 1}},
         .nuses = 2,
         .uops = 2,
         .slots = 1.02,
         .unit = -1,
         .nshares = 2,
         .shares = {{1, 0.25}, {2, 1}},
         .residual = 0.05},
        {.unit = -1                },
    };
    usages[4].slots = (double)NAN;
    return usages;
}

static inline void fixture_put_validations(struct store *store, int64_t run_id)
{
    static const struct validation_class classes[] = {
        {"integer", 3000, 2.5, 97.1},
        {"vector",  2000, 4,   92  },
    };
    static const struct validation_mix worst[] = {
        {"2*add r64 r64; 1*div r64", 7, 5  },
        {"1*add r64 m64; 3*nop",     1, 0.5},
    };
    const struct validation full = {7, 5000, 3.1, 0.93, 95, classes, 2, worst, 2};
    const struct validation none = {8, 0, (double)NAN, (double)NAN, (double)NAN, NULL, 0, NULL, 0};
    struct err err = {""};
    if (store_put_validation(store, run_id, &none, &err) != 0 ||
        store_put_validation(store, run_id, &full, &err) != 0)
        fail_msg("%s", err.text);
}

// Model, usages (of forms that the run has, and of two that it has not) and validations.
static inline void fixture_put_usages(struct store *store, int64_t run_id,
                                      const struct port_usage usages[FIXTURE_PORTS])
{
    struct list_row rows[FIXTURE_PORTS] = {
        fixture_row("add", "r64 r64", "add r64 r64"),
        fixture_row("div", "r64", "div r64"),
        fixture_row("hlt", "r64", "hlt r64"),
        fixture_row("add", "r64 m64", "add r64 m64"),
        fixture_row("nop", "", "nop"),
    };
    struct measured_port_trial trials[] = {
        {.blocker = "front end",   .blockers = 24, .instances = 4 },
        {.blocker = "ALU",         .blockers = 24, .instances = 4 },
        {.blocker = "LOAD",        .blockers = 12, .instances = 4 },
        {.blocker = "vmovd r32 x", .blockers = 30, .instances = 60},
    };
    trials[0].timing = (struct port_timing){.clk = 3.5, .spread_clk = 0.01};
    trials[1].timing = (struct port_timing){
        .clk = 7.02, .spread_clk = 0.02, .counted = true, .uops = {18, 10, NAN},
                   .slots = 28
    };
    trials[2].timing = (struct port_timing){
        .outcome = OUTCOME_UNSTABLE,
        .clk = (double)NAN,
        .spread_clk = 9,
        .counted = true,
        .uops = {1, 1, 1}
    };
    trials[3].timing = (struct port_timing){.clk = 31};
    static const char *const groups[] = {"p01", "p23", "p5"};
    struct measured_ports results[FIXTURE_PORTS];
    for (int i = 0; i < FIXTURE_PORTS; i++)
        results[i] = (struct measured_ports){.row = &rows[i],
                                             .list_name = "int",
                                             .position = i,
                                             .method = "throughput",
                                             .usage = &usages[i],
                                             .trials = trials,
                                             .groups = groups,
                                             .ngroups = 3,
                                             .slots = "uops_issued",
                                             .ntrials = i == 0 ? 4 : 0};
    struct stored_port_model model = fixture_port_model();
    struct err err = {""};
    if (store_put_port_model(store, run_id, &model, &err) != 0 ||
        store_put_port_results(store, run_id, &model.model, results, FIXTURE_PORTS, &err) != 0)
        fail_msg("%s", err.text);
    fixture_put_validations(store, run_id);
}

static inline void fixture_put_ports(struct store *store, int64_t run_id)
{
    fixture_put_usages(store, run_id, fixture_port_usages());
}

// fixture_fill() with ports.
static inline int64_t fixture_fill_ports(struct store *store, const char *uarch, uint32_t signature,
                                         double scale)
{
    int64_t run_id = fixture_fill(store, uarch, signature, scale);
    fixture_put_ports(store, run_id);
    return run_id;
}

#endif
