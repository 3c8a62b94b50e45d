// SPDX-License-Identifier: MIT
// A simulated CPU: ports, port sets, units and forms as a file in tests/sim/ or a test has them,
// and an oracle that times mixes on it. A mix takes as long as the worst subset of all ports, of
// which every one is tried: nothing here shares code or idea with the model under test. Noise is as
// docs/MEASUREMENT.md has it, drawn from the seed, the mix and how often the oracle was
// asked.
#ifndef LATPUT_PORT_SIM_H
#define LATPUT_PORT_SIM_H

#include "../runner/ports.h"
#include "../runner/util/random.h"

enum { SIM_FORMS_MAX = 128, SIM_SETS_MAX = 48 };

struct sim_set {
    char name[PORT_NAME_MAX];
    uint32_t set;
};

struct sim_form {
    char name[48];
    int nuses;
    struct port_use uses[PORT_USES_MAX];
    double slots;
    int cost; // as a blocker; -1: none
    bool filler_only;
    int unit;   // -1: none
    bool whole; // it needs all parts of the unit
    double busy_clk;
};

struct sim_cpu {
    int width;
    int nsets;
    struct sim_set sets[SIM_SETS_MAX];
    int nunits;
    struct sim_unit {
        char name[PORT_NAME_MAX];
        int parts; // that work side by side, unless a form needs all of them
    } units[PORT_UNITS_MAX];
    int ngroups; // of ports that have a counter
    struct sim_set groups[PORT_GROUPS_MAX];
    int nforms;
    struct sim_form forms[SIM_FORMS_MAX];
};

// Reads tests/sim/NAME (format: tests/sim/README.md). -1 with `file:line:`.
int sim_read(const char *path, struct sim_cpu *cpu, struct err *err);

// Cycles of a mix, by trying all subsets of the ports; counts[i] instances of forms[i].
double sim_clk(const struct sim_cpu *cpu, const struct sim_form *const *forms, const int *counts,
               int n);

struct sim {
    const struct sim_cpu *cpu;
    uint64_t seed;
    bool noise;
    bool all_unstable;
    int mixes_left; // until measuring cannot go on; 0: without end
    bool counts;    // has counters for the ports of its groups, and for slots
    double binding; // how early µops are bound to ports, 0 (the best port is known) to 1 (evenly)
    long series, mixes, kernels;
};

struct port_oracle sim_oracle(struct sim *sim);
// What inference knows of the forms beforehand. forms[SIM_FORMS_MAX].
void sim_forms(const struct sim_cpu *cpu, struct port_form *forms);
// A form as the usage that inference should find.
struct port_usage sim_usage(const struct sim_form *form);
// The model that discovery should find: a class for each set that some blocker of one µop has and
// that the front end can fill. Ports keep their numbers.
void sim_model(const struct sim_cpu *cpu, struct port_model *model);

// Whether the model is that of the CPU but for the numbers of ports; map[port of the model] is the
// CPU's. The model's blockers tell which class is which.
bool sim_same_model(const struct sim_cpu *cpu, const struct port_model *model, int map[PORTS_MAX]);
// Whether both predict the same for mixes of blockers, of which many are tried.
bool sim_equal_model(const struct sim_cpu *cpu, const struct port_model *model, uint64_t seed);

enum sim_verdict {
    SIM_EXACT,
    SIM_EQUIVALENT, // other sets, but no mix of it with any blockers takes another time
    SIM_AMBIGUOUS,  // another usage, or none, and the usage says so
    // It has µops on sets without a blocker, and they are said to be on sets that have one. By
    // decision that is no reason to call it ambiguous: such sets are rare, such doubts are not.
    SIM_COARSER,
    SIM_WRONG,
    SIM_VERDICTS
};
// Compares what was inferred for a form with what it is. `seed` of the mixes that are tried.
enum sim_verdict sim_judge(const struct sim_cpu *cpu, int form, const struct port_usage *usage,
                           const int map[PORTS_MAX], uint64_t seed);
// Prints what the form is and what was said, in the CPU's port numbers.
void sim_explain(const struct sim_cpu *cpu, int form, const struct port_usage *usage,
                 const int map[PORTS_MAX], enum sim_verdict verdict);
void sim_print_verdicts(const char *what, const int verdicts[SIM_VERDICTS]);

#endif
