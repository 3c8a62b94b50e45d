// SPDX-License-Identifier: MIT
// A property: a question about the pipeline that sweeps a variable, as a row of lists/properties/
// puts it (format: lists/properties/README.md), with its points and kernels. Pure: the caller
// supplies the machine's caches and memory.
#pragma once

#include "conclude/conclude.h"
#include "core/core_abi.h"
#include "measure/cpu_places.h"
#include "plan/plan.h"
#include "util/err.h"
#include "util/mem.h"

#include <stdbool.h>
#include <stdint.h>

// "4*l3", "16K", "x": a number, or a multiple of something that is known later.
enum property_base {
    BASE_ONE,
    BASE_X,  // the swept variable
    BASE_BY, // the second one
    BASE_L1D,
    BASE_L1I,
    BASE_L2,
    BASE_L3,
    BASE_CPUS, // CPUs that may be used
    BASE_COUNT
};
struct property_number {
    double factor;
    enum property_base base;
    double most; // it is no more than that; 0: any
};

enum sweep_rule {
    SWEEP_NONE,
    SWEEP_VALUES,
    SWEEP_LINEAR,
    SWEEP_GEOMETRIC,
    SWEEP_CPUS // the numbers of the CPUs that may be used
};
// On which other CPUs the template's corunner goes round meanwhile.
enum property_corunner {
    CORUNNER_NONE,
    CORUNNER_CPU,     // CPU number x
    CORUNNER_SIBLING, // another thread of the measuring core
    CORUNNER_CORE,    // a CPU of another core
    CORUNNER_ALL,     // all others
    CORUNNER_THREADS, // so many others that x CPUs are busy in all
};
enum { SWEEP_VALUES_MAX = 64, SWEEP_POINTS_MAX = 4096 };
struct property_sweep {
    enum sweep_rule rule;
    struct property_number from, to;
    double step;  // linear: from point to point; geometric: points an octave
    double grain; // all points are multiples of it; 1 unless said otherwise
    bool refine;  // points are added where something happens
    double values[SWEEP_VALUES_MAX];
    int nvalues;
};

struct property_variant {
    const char *name; // "" where there is one only
    const char *isa;  // features that it needs, ""
    int vec_bits;     // width of the vector registers that it wants filled; 0: none
};

struct property_data { // struct core_fill, as far as it is known from the row
    struct core_fill fill;
    struct property_number bytes, stride;
};

struct property {
    const char *path, *source; // the list, and the row's line for messages
    int line;
    const char *grp; // file name without .csv
    const char *name, *title, *question, *x_unit, *by_unit, *y_unit, *reading, *compare;
    struct conclude_question how;
    struct property_variant *variants;
    int nvariants;
    struct property_sweep sweep, by;
    const char *file, *macro; // template: macros/FILE, and the begin of its macros' names
    const char *arguments;    // further ones of the macros: ", a, b", or ""
    struct property_data data[CORE_FILLS_MAX];
    int ndata;
    struct property_number count; // instances per body
    int copies, align, seconds;   // 0: chosen
    int window_us;                // length of a timing; 0: as all
    const char *vm;               // reason why a virtual machine distorts the number; "": none
    bool once, cold, quick, clear_upper;
    bool anew; // each pass in a process of its own: where its code lies matters
    uint64_t gpr_fill, vec_fill;
    enum property_corunner corunner;
    const char *corunner_macro; // the end of its macro's name: the option's, corunner or company
    bool on_by;                 // the second variable is the CPU that measures
    uint32_t permits;           // CORE_PERMIT_*
};

// All properties of the lists, in the order of file names and lines.
struct properties {
    struct property *rows;
    int n;
    struct arena arena; // owns everything
    const char **paths; // the lists
    int npaths;
};

// Reads one list, appending its rows. Reports each fault in a row to `fault`, leaves the row out,
// and goes on. Returns the number of faults, or -1 if the file cannot be read as CSV (reported,
// too).
typedef void property_fault_fn(const struct err *err, void *data);
int properties_read(const char *path, struct properties *properties, property_fault_fn *fault,
                    void *data);
// Reads all of lists/properties/; names are unique. Returns 0, or -1 with the first fault.
int properties_load(struct properties *properties, struct err *err);
void properties_free(struct properties *properties);

// Values of the machine that rows refer to by name.
struct property_machine {
    double cache_bytes[BASE_COUNT]; // by BASE_L1D ... BASE_L3; 0: unknown
    double memory_bytes;            // limit for data
    // CPUs that may be used, of the type of the one that measures; it comes first, then those that
    // share its core, then the others.
    struct cpu_place cpus[CORE_CORUNNERS_MAX + 1];
    int ncpus;
    int nothers;     // after them: those of other kinds, to which lines go from these
    char kinds[256]; // "CPUs 0-15 are alderlake_p, 16-23 alderlake_e"; "": there is one kind
};
// Returns the value of a number; NaN: it names an unknown cache.
double property_number_value(const struct property_number *number,
                             const struct property_machine *machine, double x, double by);

// Returns true if `count` is a valid number of instances per body.
bool property_count_fits(double count);

// Lists the points of the sweep in ascending order in values[SWEEP_POINTS_MAX]. Returns their
// number; 0: there are none, and *why has the reason. Data that would not fit into memory cut it
// short: *limit is the largest x then, else NaN.
int property_points(const struct property *property, const struct property_machine *machine,
                    double values[SWEEP_POINTS_MAX], double *limit, struct err *why);
// Lists the points of the second variable; without one, a single NaN. Returns their number.
int property_by_points(const struct property *property, const struct property_machine *machine,
                       double values[SWEEP_POINTS_MAX]);

// Finds the CPU that measures a point, and the CPUs of its corunners, as numbers in
// cpus[CORE_CORUNNERS_MAX]. Returns the number of corunners; -1: the point is impossible, and *why
// has the reason, or is empty if the point is to be left out silently.
struct property_point {
    double x, by; // by: NaN where there is none
};
int property_places(const struct property *property, const struct property_machine *machine,
                    const struct property_point *point, int *measuring,
                    int cpus[CORE_CORUNNERS_MAX], struct err *why);

// Returns the kernel of a point. Strings are the arena's.
struct kernel_spec property_kernel(const struct property *property,
                                   const struct property_variant *variant,
                                   const struct property_machine *machine, double x, double by,
                                   struct arena *arena);
