// SPDX-License-Identifier: MIT
// LLVM's scheduling model of a CPU, as llvm-exegesis tells it: the class of each instruction and
// what the model says of the classes.
#ifndef LATPUT_COMPARE_MODEL_H
#define LATPUT_COMPARE_MODEL_H

#include "export_llvm.h"

enum { MODEL_RESOURCES_MAX = 16 };
struct model_resource {
    const char *name; // "SPRPort00_06"
    double count;     // cycles of it
};
struct model_class {
    const char *name; // "SETCCr"
    bool valid;       // the model says something of it
    int uops;
    double latency_clk, rthroughput_clk;
    struct model_resource resources[MODEL_RESOURCES_MAX];
    int nresources;
};
struct model {
    const char *cpu;
    struct model_class *classes; // by name
    int nclasses;
};

// What the model of `cpu` (LLVM's name) says of the forms: (*of)[i], of data->forms[i]; NULL where
// instrs[i].why says why not, or LLVM leaves the class to several cases. Owned by data->arena. 0,
// or -1 with the message.
int model_read(struct export_data *data, const struct llvm_instr *instrs, const char *cpu,
               struct model *model, const struct model_class *const **of, struct err *err);

#endif
