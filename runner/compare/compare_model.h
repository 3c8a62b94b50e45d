// SPDX-License-Identifier: MIT
// LLVM's scheduling model of a CPU, as llvm-exegesis tells it: the class of each instruction and
// what the model says of the classes.
#ifndef LATPUT_COMPARE_MODEL_H
#define LATPUT_COMPARE_MODEL_H

#include "llvm/llvm.h"

enum { MODEL_RESOURCES_MAX = 16, MODEL_UNITS_MAX = 64 };
// What a class takes some cycles of: a unit, or one of several.
struct model_resource {
    const char *name; // "SPRPort00_06"
    double count;     // cycles of it
    uint64_t units;   // any of these: bits by the number in model.units; 0: unknown
};
// What takes one at a time: a port, a divider; or `parts` of it that nothing tells apart.
struct model_unit {
    const char *name; // "SPRPort00"
    int parts;
};
struct model_class {
    const char *name; // "SETCCr"
    bool valid;       // the model says something of it
    int uops;
    double latency_clk, rthroughput_clk;
    struct model_resource resources[MODEL_RESOURCES_MAX];
    int nresources;
    // What each unit has to do at best, for all resources together.
    struct model_resource pressure[MODEL_RESOURCES_MAX];
    int npressure;
};
struct model {
    const char *cpu;
    int width; // slots that are dispatched in a cycle
    struct model_unit units[MODEL_UNITS_MAX];
    int nunits;
    struct model_class *classes; // by name
    int nclasses;
};

// What the model of `cpu` (LLVM's name) says of the forms: (*of)[i], of data->forms[i]; NULL where
// instrs[i].why says why not, or LLVM leaves the class to several cases. Owned by data->arena. 0,
// or -1 with the message.
int model_read(struct known_cpu *data, const struct llvm_instr *instrs, const char *cpu,
               struct model *model, const struct model_class *const **of, struct err *err);

// Reads the units and the width from what llvm-mca prints of any program.
void model_read_units(struct arena *arena, const char *text, struct model *model);
// Finds which units the resources of the classes stand for: from what a class that takes nothing
// else needs of each unit; else by name; else from what other resources of a class leave open.
void model_resolve(struct model *model);

#endif
