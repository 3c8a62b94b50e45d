// SPDX-License-Identifier: MIT
// Execution ports from throughput alone: the model of a CPU, the usage of it by an instruction
// form, and the way from timings of mixes to both. Pure but for the oracle, which returns how long
// a mix takes: the measurement (portrun_mixes.c), or a simulated CPU in tests. docs/PORTS.md has
// the method, its sources and its limits.
#pragma once

#include "core/outcome.h"
#include "util/err.h"
#include "util/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    PORTS_MAX = 32,         // ports of a CPU: bits of a port set
    PORT_CLASSES_MAX = 32,  // distinct port sets that forms of one µop have
    PORT_HIDDEN_MAX = 8,    // sets with a name and without a blocker
    PORT_UNITS_MAX = 10,    // resources beside the ports: dividers, MS, paths
    PORT_PATHS_MAX = 6,     // of these, paths
    PORT_DEMANDS_MAX = 7,   // units that one form needs
    PORT_USES_MAX = 8,      // distinct port sets in one form's µops
    PORT_MIX_PARTS_MAX = 9, // forms in a mix
    // Instances in the body of a mix. Shorter bodies have an order of short period, and load what
    // they have just stored: 20 `inc m64` among others take 0.62 cycles each on Zen 5, 64 take
    // 0.50. Bodies of 256 take a little longer again.
    PORT_MIX_BODY = 128,
    PORT_GROUPS_MAX = 12, // groups of ports that are counted together
    PORT_NAME_MAX = 24,
    PORT_LABEL_MAX = 8,   // bytes of the name of one port
    PORT_WIDE_BITS = 512, // wide vectors, beside which others may use other ports than alone
};

// Port map that a set belongs to. Some CPUs lose ports while forms of PORT_WIDE_BITS are in flight:
// they have one map for mixes without such forms and one for mixes with one. Port numbers are
// common to both.
enum port_holds {
    PORT_ALWAYS,     // its blocker uses this set in any mix
    PORT_NARROW,     // only in mixes without wide forms
    PORT_WIDE,       // its blocker is a wide form, beside which vectors of any width use wide sets
    PORT_WIDE_FORMS, // only wide forms have the set; they change nothing for others (loads)
};

// Demand of an instance on a unit, beside ports and the front end. A wait that no resource explains
// is a demand on an unknown unit: instances of the form wait for each other, not for others.
struct port_demand {
    int unit;          // index; -1: unknown
    double clk;        // cycles that it keeps the unit busy, or waits
    double beside_clk; // the same in mixes where another form needs all parts; 0: no longer
    bool whole;        // it needs all parts of the unit
};
struct port_demands {
    int n;
    struct port_demand of[PORT_DEMANDS_MAX]; // of units before paths, one each
};

// A set of ports that some form of one µop can choose from. Ports that no form tells apart are
// symmetric; their numbers mean nothing.
struct port_class {
    uint32_t set;             // bit mask of ports
    char name[PORT_NAME_MAX]; // "ALU", "FP01"; or systematic: "A4", "B2<A4"
    int blocker;              // index of the form that occupies it
    double blocker_clk;       // its reciprocal throughput: 1 / size of the set
    int members;              // forms of one µop that were found to use it
    enum port_holds holds;
    struct port_demands demands; // on paths, of the blocker; not stored
};

// A published name of a set that no form of one µop shows alone, because the front end is no wider.
struct port_hidden {
    uint32_t set;
    char name[PORT_NAME_MAX];
};

// µops of an instance that choose from the same set.
struct port_use {
    uint32_t set;
    int uops;
};
struct port_uses {
    int n;
    int uops;                           // the sum over all sets
    struct port_use use[PORT_USES_MAX]; // largest sets first
};
// Demand of an instance on the front end.
struct port_front {
    double slots; // of dispatch; NaN: unknown
    double mixed; // slots that others in a mix lose by it: a form that begins a group of dispatch
                  // also cuts the group before; NaN or 0: as many as slots
    double stall_clk; // cycles beside its slots without any delivery, while the front end goes to
                      // the sequencer of microcode and back; long runs of others hide them
};
// Way by which the usage of a form was found.
enum port_way {
    PORT_WAY_SEARCH,  // by all trials that could show something
    PORT_WAY_SIBLING, // the same as a sibling, by the trials that would have refuted that
    PORT_WAY_REFUTED, // by search, since it is not as any of its siblings
    PORT_WAY_AGREES,  // drawn to be searched although a sibling fits: the same
    PORT_WAY_DIFFERS, // drawn, and search found something else
    PORT_WAYS
};
// Demands of an instance of a form on all resources.
struct port_usage {
    enum port_way way;
    enum outcome outcome;       // if not OK, the other fields mean nothing
    const char *detail;         // reason if not OK; static storage
    bool ambiguous;             // another usage explains the timings about as well
    bool wide;                  // in mixes with it other forms use their wide_uses
    struct port_uses uses;      // of ports
    struct port_uses wide_uses; // in mixes with a wide form; none: the same as uses
    struct port_front front;
    struct port_demands demands;
    double residual; // largest deviation, in µops
    bool counted;    // counters of the ports took part
};

// Resource other than ports and the front end, which each form needs for some cycles. Dividers are
// not pipelined; MS is the sequencer of microcode; paths are shared by several ports, and a form
// may need several of them. A unit may have parts that work side by side until a form needs all of
// them (two dividers, and a division of 512 bits): in a mix with such a form, the others are one
// after the other.
#define PORT_MICROCODE "MS" // name of the sequencer
#define PORT_PATH "path"    // prefix of the names of paths: path1, path2
struct port_unit {
    char name[PORT_NAME_MAX];
    int blocker;
    double blocker_clk;      // cycles that the blocker keeps it busy
    struct port_usage usage; // of the blocker; a path's has its demands stored only
    int whole_blocker;       // index of a form that needs all parts; -1: none
    double whole_clk;        // cycles that this form needs them
};

// Part of a prediction that can be left out, to see its worth.
enum port_concept {
    CONCEPT_FRONT,     // slots of dispatch
    CONCEPT_DELIVERY,  // stalls of the front end
    CONCEPT_PORTS,     // µops on ports
    CONCEPT_WIDE,      // other ports beside wide vectors
    CONCEPT_DIVIDERS,  // units that are not pipelined
    CONCEPT_MICROCODE, // the sequencer of microcode
    CONCEPT_PATHS,     // paths that several ports share
    CONCEPT_WAITS,     // throughput that no port and no unit explains
    CONCEPT_NORM,      // overlap of several resources; without it, the longest time
    PORT_CONCEPTS
};

struct port_model {
    unsigned without; // concepts that predictions leave out, a bit each; not stored
    int width;        // slots that are dispatched per cycle
    int nports;       // ports in all classes
    char port_names[PORTS_MAX]
                   [PORT_LABEL_MAX]; // published names, where the structure fits; else ""
    int filler; // index of a form that takes a slot and no port; -1: none known
    int nclasses;
    struct port_class classes[PORT_CLASSES_MAX]; // by size, smallest first
    int nhidden;
    struct port_hidden hidden[PORT_HIDDEN_MAX];
    int nunits;
    struct port_unit units[PORT_UNITS_MAX];
    double residual;     // largest |measured - predicted| / predicted over the pairs of classes
    int unexplained;     // forms of one µop whose class no structure explains
    int teller;          // index of a class whose blocker is slower in mixes with wide forms; -1:
                         // none, the ports do not depend on the width of vectors
    double teller_clk;   // reciprocal throughput of this blocker in such mixes
    uint32_t drawn_seed; // chooses forms that are searched although a sibling fits; 0: none were
    int fast; // forms as fast as slots allow that may use ports. Those ports are at least as many
              // as slots, so no timing of the form shows them; -1: not known
};

// Returns "front-end", "delivery", "ports", "wide", "dividers", "microcode", "paths", "waits" or
// "norm".
const char *port_concept_name(enum port_concept concept);
// Returns "always", "narrow", "wide" or "wide forms".
const char *port_holds_name(enum port_holds holds);
// Returns true if the set exists only in mixes with wide forms.
bool port_class_is_wide(const struct port_class *class);
bool port_unit_is_path(const struct port_unit *unit);
bool port_unit_is_microcode(const struct port_unit *unit);

// Cycles that a mix of counts[i] instances of usages[i] needs of each resource (ports_predict.c).
struct port_limits {
    double front_clk;    // dispatch of the slots
    double delivery_clk; // delivery by the front end, with stalls
    double ports_clk;    // µops with the best choice of ports
    uint32_t worst;      // the ports that take ports_clk; 0: none is used
    bool wide;           // the mix has a wide form: µops choose from wide_uses
    double unit_clk[PORT_UNITS_MAX];
    double unknown_clk; // longest wait of a form that no port explains
    double bound_clk;   // the longest of these: no mix takes less
    double clk;         // time of the mix: the norm of all of them
};
void port_limits(const struct port_model *model, const struct port_usage *const *usages,
                 const int *counts, int n, struct port_limits *limits);
// Return bound_clk and clk of the limits.
double port_bound(const struct port_model *model, const struct port_usage *const *usages,
                  const int *counts, int n);
double port_predict(const struct port_model *model, const struct port_usage *const *usages,
                    const int *counts, int n);
// Returns the slots of dispatch that an instance takes in a mix.
double port_usage_slots(const struct port_usage *usage);
// Returns true if both are of the same sets as often.
bool port_uses_same(const struct port_uses *a, const struct port_uses *b);
// Adds µops to those on the same set. Returns false if there is no room for another set.
bool port_uses_add(struct port_uses *uses, struct port_use more);
// Returns the sets of an instance in a mix, wide or not as in port_limits.
const struct port_uses *port_uses_beside(const struct port_usage *usage, bool wide);
// Returns the demand on a unit (-1: the unknown one), or NULL.
const struct port_demand *port_demand_on(const struct port_demands *demands, int unit);
// Returns the demand on a divider or the sequencer of microcode, the first if there are several;
// NULL: none.
const struct port_demand *port_usage_unit(const struct port_model *model,
                                          const struct port_usage *usage);
// Returns the cycles of a wait that no resource explains; 0: none.
double port_usage_wait_clk(const struct port_usage *usage);
// Returns the number of ports. __builtin_popcount() is a call on CPUs without an instruction for
// it, and searches need no function more often.
static inline int port_set_size(uint32_t set)
{
    set -= set >> 1 & 0x55555555;
    set = (set & 0x33333333) + (set >> 2 & 0x33333333);
    set = (set + (set >> 4)) & 0x0f0f0f0f;
    return (int)(set * 0x01010101 >> 24);
}
// Writes the published name of a port, or u and its number, which means nothing.
void port_label(const struct port_model *model, int port, char label[PORT_LABEL_MAX]);
// Returns true if port a is listed before b. Names are in natural order (ALU10 after ALU2), ports
// without a name last and in any order.
bool port_before(const struct port_model *model, int a, int b);
// Writes the ports of a set in that order, those without a name by number. Returns how many.
int port_set_ports(const struct port_model *model, uint32_t set, int ports[PORTS_MAX]);
// Appends "2*ALU+1*LOAD", or nothing for no µops.
void port_usage_text(const struct port_model *model, const struct port_usage *usage,
                     struct strbuf *out);
// Appends the name of a set, or its ports as port_set_joined() does if the model has none.
void port_set_text(const struct port_model *model, uint32_t set, struct strbuf *out);
// Appends the ports of a set: ALU03, AGU/ALU3, u1/u4.
void port_set_joined(const struct port_model *model, uint32_t set, struct strbuf *out);

// Effect of a form on the upper halves of vector registers, which legacy vector instructions leave
// as they are. Beside vectors of more than 128 bits both cost more than alone, so a mix has one
// kind or the other.
enum port_upper {
    UPPER_NONE,   // neither kind
    UPPER_LEGACY, // keeps them
    UPPER_WIDE,   // uses them, or memory of that size
};

// Facts about a form for discovery and inference; the oracle knows the rest.
struct port_form {
    const char *name;
    int blocker_cost;       // disturbance of others as a blocker: 0 least; -1: unfit
    bool filler_only;       // candidate for the filler, not for classes
    bool chains;            // its instances wait for each other unless moves stand between them
    int bits;               // width of its widest vector operand; 0: none
    enum port_upper upper;  // halves of vector registers
    bool mmx;               // it names an MMX register: the x87 stack has no valid numbers then
    bool x87;               // it reads such numbers, which takes it hundreds of cycles then
    bool locks;             // memory accesses of others wait for it: it shows slots, no ports
    bool decoding;          // decoding may limit its throughput, which then shows no ports
    int moves;              // moves before each instance in PORT_MIX_INDEPENDENT
    int resets;             // of these, moves that stand there in any mix
    uint64_t family;        // forms with the same value are siblings: port_family()
    bool memory;            // it has a memory operand
    bool stores;            // it writes memory, or may
    bool rewrites;          // it writes memory that it reads
    bool memory_wide;       // its memory has as many bits as the widest vectors
    uint64_t operands;      // numbers of operands read and written, by kind: forms with the same
                            // value move data between the same places
    double rthroughput_clk; // measured before, with chains broken; NaN: unknown
};

// Returns true if one of them makes the numbers of the other invalid, by `mmx` and `x87`.
bool port_forms_clash(const struct port_form *a, const struct port_form *b);
// Returns true if both may stand in one mix: they do not clash, see enum port_upper.
bool port_forms_mix(const struct port_form *a, const struct port_form *b);

struct port_part {
    int form; // index
    int count;
};
// Flags in port_mix.orders that cut dependencies between instances of a form, at the cost of moves.
enum {
    PORT_MIX_BREAKING = 1 << 8,    // through registers
    PORT_MIX_INDEPENDENT = 1 << 9, // all: see BREAK_ALL
    PORT_MIX_SINGLE = 1 << 10,     // one set of registers for all instances of a form
    PORT_MIX_CHAINED = 1 << 11,    // instances of parts[0] wait for each other instead
};
struct port_mix {
    struct port_part parts[PORT_MIX_PARTS_MAX]; // the form in question first, then blockers
    int nparts;
    unsigned orders; // bit mask of enum mix_order, the arrangements to be timed, and of
                     // PORT_MIX_...
};
struct port_timing {
    enum outcome outcome;
    double clk; // core cycles of the whole mix, the least over its arrangements
    double spread_clk;
    bool counted;                 // the oracle has counters; else slots and uops mean nothing
    double slots;                 // dispatched for the whole mix; NaN: no counter
    double uops[PORT_GROUPS_MAX]; // of the whole mix, by the oracle's groups
};
// measure() times mixes[0..n). Returns -1 if measuring cannot go on; a mix that fails has an
// outcome.
struct port_oracle {
    int (*measure)(void *context, const struct port_mix *mixes, int n, struct port_timing *timings,
                   struct err *err);
    void *context;
    void (*step)(void *context, const char *what, int mixes); // before each series; may be NULL
    int ngroups; // groups of ports that are counted together; 0: no counters
    const char *groups[PORT_GROUPS_MAX]; // as counter tables have them: "p0", "p23"
};

// A bound on what a search may ask of an oracle: the limited one fails with a message that says so.
struct port_limit {
    const struct port_oracle *oracle;
    int64_t kernels_most;
    double most_s;
    double (*now_s)(void);
    int64_t kernels; // so far
    double begun_s;
    const char *what; // name of the series under way
};
// Returns the oracle with the limit, and starts the clock. *limit must live as long as the oracle.
struct port_oracle port_limited(struct port_limit *limit);

// Finds the structure of the ports from single and pairwise throughput of the forms that can be
// blockers. `width`: slots per cycle. Returns -1 with the reason if the oracle fails or no
// structure shows.
int port_discover(const struct port_oracle *oracle, const struct port_form *forms, int nforms,
                  int width, struct port_model *model, struct err *err);

// Receiver of the timings of forms in question.
struct port_evidence {
    void (*tell)(void *context, int form, const char *blocker, int blockers, int instances,
                 const struct port_timing *timing);
    void *context;
};
// Usages found so far, for siblings: these are expected to use the same, and only trials that would
// refute it are timed. One form in ten, by the seed, is searched in spite of that.
struct port_siblings;
struct port_siblings *port_siblings_new(uint64_t seed);
void port_siblings_free(struct port_siblings *siblings); // NULL is fine
// Returns the family of the forms with this mnemonic.
uint64_t port_family(const char *mnemonic);
// Returns "search", "sibling", "refuted", "agrees" or "differs".
const char *port_way_name(enum port_way way);
// Returns true, and appends a sentence on it, if so many forms differ from their siblings that
// siblings are in doubt.
bool port_ways_doubt(const int64_t ways[PORT_WAYS], struct strbuf *out);
// Appends one line: the number of forms by way, and in how many the two ways disagree.
void port_ways_text(const int64_t ways[PORT_WAYS], uint32_t seed, struct strbuf *out);

// Forms whose usage is to be found. usages[i] in all functions below belongs to form which[i].
struct port_question {
    const struct port_oracle *oracle;
    const struct port_form *forms; // all forms of the oracle
    const int *which;              // indices of those in question
    int n;
    const struct port_evidence *evidence; // receiver; NULL: none
    struct port_siblings *siblings;       // usages of others; NULL: all forms are searched
};

// Finds the usage of each form in question, and passes every timing to the evidence.
int port_infer(const struct port_question *question, const struct port_model *model,
               struct port_usage *usages, struct err *err);

// Finds units that are not pipelined by the inferred forms in question: adds them to the model and
// the demands on them to the usages. Forms need their rthroughput_clk. No evidence is passed on.
int port_find_units(const struct port_question *question, struct port_model *model,
                    struct port_usage *usages, struct err *err);
// Finds paths that several ports share: forms in question, of few slots and half a cycle or more,
// disturb each other more than their ports explain, in pairs and in larger mixes. Adds the paths
// to the model. No evidence is passed on.
int port_find_paths(const struct port_question *question, struct port_model *model,
                    const struct port_usage *usages, struct err *err);
// Finds the usages of the blockers of the model's units; needed before port_assign_units() with a
// stored model.
int port_infer_units(const struct port_oracle *oracle, const struct port_form *forms,
                     struct port_model *model, struct err *err);
// Finds the model's units that the forms keep busy, alone and beside forms that need all parts.
// Evidence is passed on as by port_infer(), with the unit as the blocker, or for a path the form
// that blocks it.
int port_assign_units(const struct port_question *question, const struct port_model *model,
                      struct port_usage *usages, struct err *err);
