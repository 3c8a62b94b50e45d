// SPDX-License-Identifier: MIT
// LLVM's scheduling model of a CPU, from llvm-exegesis: the class of each instruction, and the
// classes' values.
#pragma once

#include "llvm/llvm.h"

enum { MODEL_RESOURCES_MAX = 16, MODEL_UNITS_MAX = 64 };
// A resource that a class occupies for some cycles: a unit, or one of several.
struct model_resource {
    const char *name; // "SPRPort00_06"
    double count;     // cycles of it
    uint64_t units;   // alternatives: bits by the number in model.units; 0: unknown
};
// A unit that serves one at a time: a port, a divider; or `parts` equal ones.
struct model_unit {
    const char *name; // "SPRPort00"
    int parts;
};
struct model_class {
    const char *name; // "SETCCr"
    bool valid;       // the model has values for it
    int uops;
    double latency_clk, rthroughput_clk;
    struct model_resource resources[MODEL_RESOURCES_MAX];
    int nresources;
    // Least load of each unit, for all resources together.
    struct model_resource pressure[MODEL_RESOURCES_MAX];
    int npressure;
};
struct model {
    const char *cpu;
    int width; // slots dispatched per cycle
    struct model_unit units[MODEL_UNITS_MAX];
    int nunits;
    struct model_class *classes; // sorted by name
    int nclasses;
};

// Reads the model of `cpu` (LLVM's name): (*of)[i] is the class of data->forms[i]; NULL if
// instrs[i].why gives a reason, or LLVM leaves the class to several cases. Owned by data->arena.
// Returns 0, or -1 with the message.
int model_read(struct known_cpu *data, const struct llvm_instr *instrs, const char *cpu,
               struct model *model, const struct model_class *const **of, struct err *err);

// Reads the units and the width from the output of llvm-mca for any program.
void model_read_units(struct arena *arena, const char *text, struct model *model);
// Finds the units of the classes' resources: from the load of each unit by a class that uses
// nothing else; else by name; else from the load that other resources of a class do not explain.
void model_resolve(struct model *model);
