// SPDX-License-Identifier: MIT
// Execution ports from throughput alone: the model of a CPU, what an instruction form uses of it,
// and the way from timings of mixes to both. Pure but for the oracle, which tells how long a mix
// takes: the measurement (measure_mixes.c), or a simulated CPU in tests. docs/PORTS.md has the
// method, its sources and its limits.
#ifndef LATPUT_PORTS_H
#define LATPUT_PORTS_H

#include "core/outcome.h"
#include "util/err.h"
#include "util/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    PORTS_MAX = 32,         // units of a CPU: bits of a port set
    PORT_CLASSES_MAX = 32,  // distinct port sets that forms of one µop have
    PORT_HIDDEN_MAX = 8,    // sets with a name and without a blocker
    PORT_UNITS_MAX = 10,    // units that are busy for several cycles: dividers, and paths
    PORT_PATHS_MAX = 6,     // of these, paths
    PORT_PROBES_MAX = 18,   // forms that show what others need of the paths
    PORT_USES_MAX = 8,      // distinct port sets in one form's µops
    PORT_MIX_PARTS_MAX = 9, // forms in a mix
    // Instances of a body in which a mix is repeated, so that its order has no short period, and
    // what an iteration stores has long been stored when the next one loads it: 20 `inc m64` among
    // others take 0.62 cycles each on Zen 5, 64 take 0.50. (Bodies of 256 take a little longer
    // again.)
    PORT_MIX_BODY = 128,
    PORT_GROUPS_MAX = 12, // of ports that have a counter
    PORT_NAME_MAX = 24,
    PORT_LABEL_MAX = 8,   // of a single port
    PORT_WIDE_BITS = 512, // vectors beside which others may use other ports than alone
};

// Where the ports depend on how wide the vectors are that are about, two structures share the
// numbers of ports: that of mixes without forms of PORT_WIDE_BITS, and that of mixes with one.
enum port_holds {
    PORT_ALWAYS,     // its blocker uses this set in any mix
    PORT_NARROW,     // only where no wide form is about
    PORT_WIDE,       // its blocker is a wide form, beside which vectors of any width use wide sets
    PORT_WIDE_FORMS, // only wide forms have the set; they change nothing for others (loads)
};

// How long an instance keeps a path busy.
struct port_share {
    int unit; // index
    double clk;
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
    int nshares; // of paths, that the blocker needs beside it; not stored
    struct port_share shares[PORT_PATHS_MAX];
};

// A published name of a set that no form of one µop shows alone, because the front end is no wider.
struct port_hidden {
    uint32_t set;
    char name[PORT_NAME_MAX];
};

// What one instance of a form uses.
struct port_use {
    uint32_t set;
    int uops;
};
// How it was found what a form uses.
enum port_way {
    PORT_WAY_SEARCH,  // by all trials that could show something
    PORT_WAY_SIBLING, // the same as a sibling, by the trials that would have refuted that
    PORT_WAY_REFUTED, // by search, since it is not as any of its siblings
    PORT_WAY_AGREES,  // as a sibling and, since it was drawn, by search: the same
    PORT_WAY_DIFFERS, // search found something else
    PORT_WAYS
};
struct port_usage {
    enum port_way way;
    enum outcome outcome; // OK, or NOT_MEASURABLE ... and then nothing else counts
    const char *detail;   // why, where not OK; static storage
    bool ambiguous;       // another usage explains the timings about as well
    int nuses;
    struct port_use uses[PORT_USES_MAX];      // largest sets first
    int uops;                                 // sum over uses: µops that need a port
    bool wide;                                // while it is about, other forms use their wide_uses
    int nwide;                                // 0: the same as uses
    struct port_use wide_uses[PORT_USES_MAX]; // while a wide form is about
    double slots;                             // dispatch slots; NaN: unknown
    double slots_mixed; // those that others in a mix lose by it: of what begins a group of
                        // dispatch also a part of the group before; NaN or 0: as many as slots
    double stall_clk;   // beside its slots, in which the front end delivers nothing to anybody:
                        // it goes to the sequencer of microcode and back. Long runs of others
                        // hide that, and slots are measured beside many
    int unit;           // index of the unit that it keeps busy, -1: none
    bool whole;         // it needs all parts of the unit
    double busy_clk;    // for how long; with unit == -1 what no port explains
    double beside_clk;  // for how long where others need all parts; 0: no longer
    int nshares;
    struct port_share shares[PORT_PATHS_MAX]; // by unit: paths, and a divider beside MS
    double decode_clk; // more that an instance takes where it is decoded than out of the µop
                       // cache; 0: none, NaN: not tried
    double residual;   // largest deviation, in µops
    bool counted;      // counters of the ports took part
};

// Something that forms wait for although their ports are free; each needs it for some cycles. Units
// are dividers, which are not pipelined; the sequencer of microcode; and paths that several ports
// share, of which a form may need several. A unit may have parts that work side by side until a
// form needs all of them (two dividers, and a division of 512 bits): in a mix with such a form, the
// others are one after the other.
#define PORT_MICROCODE "MS" // name of the sequencer
#define PORT_PATH "path"    // what names of shared paths begin with: path1, path2
struct port_unit {
    char name[PORT_NAME_MAX];
    int blocker;
    double blocker_clk;      // how long the blocker keeps it busy
    struct port_usage usage; // of the blocker; not stored
    int whole_blocker;       // a form that needs all parts; -1: none
    double whole_clk;        // and for how long
};

// A form that needs a path, beside which others are timed to see whether they need it.
struct port_probe {
    int form;
    struct port_usage usage; // of which only the shares are stored
};

// Parts of a prediction, each of which can be left out to see what it is worth.
enum port_concept {
    CONCEPT_FRONT,     // slots of dispatch
    CONCEPT_DELIVERY,  // stalls of the front end
    CONCEPT_PORTS,     // µops on ports
    CONCEPT_WIDE,      // other ports beside wide vectors
    CONCEPT_DIVIDERS,  // units that are not pipelined
    CONCEPT_MICROCODE, // the sequencer of microcode
    CONCEPT_PATHS,     // paths that several ports share
    CONCEPT_WAITS,     // what no port and no unit explains
    CONCEPT_NORM,      // resources beside each other; else the longest
    PORT_CONCEPTS
};

struct port_model {
    unsigned without; // concepts that predictions leave out, a bit each; not stored
    int width;        // of dispatch: slots a cycle
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
    int nprobes;
    struct port_probe probes[PORT_PROBES_MAX];
    double residual;   // largest |measured - predicted| / predicted over the pairs of classes
    int unexplained;   // forms of one µop whose class fitted into no structure
    int teller;        // class whose blocker takes longer while a wide form is about; -1: none, the
                       // ports do not depend on the width of vectors
    double teller_clk; // its reciprocal throughput then
    uint32_t drawn_seed; // which forms are searched though siblings are known; 0: nothing was drawn
    int fast; // forms that are as fast as slots allow and may use ports: then at least as many as
              // there are slots, and no timing of theirs shows which; -1: not known
};

// "front-end", "delivery", "ports", "wide", "dividers", "microcode", "paths", "waits",
// "norm".
const char *port_concept_name(enum port_concept concept);
// "always", "narrow", "wide" or "wide forms".
const char *port_holds_name(enum port_holds holds);
// Whether only wide forms bring the set about.
bool port_class_is_wide(const struct port_class *class);
bool port_unit_is_path(const struct port_unit *unit);
bool port_unit_is_microcode(const struct port_unit *unit);

// What a mix of counts[i] instances of usages[i] waits for, in cycles (ports_predict.c).
struct port_limits {
    double front_clk;    // slots of dispatch
    double delivery_clk; // what the front end takes to deliver them, stalls included
    double ports_clk;    // µops with the best choice of ports
    uint32_t worst;      // the ports that are busy so long; 0: none is used
    bool wide;           // a form brings the structure of wide vectors about
    double unit_clk[PORT_UNITS_MAX];
    double unknown_clk; // the longest that a form waits for what no port explains
    double bound_clk;   // the longest of these: no mix takes less
    double clk;         // that a mix takes: a norm of all of them
};
void port_limits(const struct port_model *model, const struct port_usage *const *usages,
                 const int *counts, int n, struct port_limits *limits);
// Of these bound_clk and clk.
double port_bound(const struct port_model *model, const struct port_usage *const *usages,
                  const int *counts, int n);
double port_predict(const struct port_model *model, const struct port_usage *const *usages,
                    const int *counts, int n);
// Slots of dispatch that an instance takes among others.
double port_usage_slots(const struct port_usage *usage);
// What one instance uses beside others: `wide` as in port_limits. Returns how many.
int port_uses_beside(const struct port_usage *usage, bool wide, const struct port_use **uses);
// How many ports. Not __builtin_popcount(): without an instruction for it, which not every CPU has,
// that is a call, and searches ask for nothing more often.
static inline int port_set_size(uint32_t set)
{
    set -= set >> 1 & 0x55555555;
    set = (set & 0x33333333) + (set >> 2 & 0x33333333);
    set = (set + (set >> 4)) & 0x0f0f0f0f;
    return (int)(set * 0x01010101 >> 24);
}
// Relative, of the cycles of a mix; what is farther off counts as half: something else did that.
double port_mix_error(double predicted_clk, double measured_clk);
// What a port is called: its published name, or u and its number, which means nothing.
void port_label(const struct port_model *model, int port, char label[PORT_LABEL_MAX]);
// Whether port a is listed before b: by name as people count (ALU10 behind ALU2), those without a
// name last and in any order.
bool port_before(const struct port_model *model, int a, int b);
// The ports of a set in that order, those without a name by number. Returns how many.
int port_set_ports(const struct port_model *model, uint32_t set, int ports[PORTS_MAX]);
// "2*ALU+1*LOAD" appended; "" for no µops.
void port_usage_text(const struct port_model *model, const struct port_usage *usage,
                     struct strbuf *out);
// The name of a set; where the model has none, as port_set_joined().
void port_set_text(const struct port_model *model, uint32_t set, struct strbuf *out);
// A set by its ports: ALU03, AGU/ALU3, u1/u4.
void port_set_joined(const struct port_model *model, uint32_t set, struct strbuf *out);

// Legacy vector instructions leave the upper halves of registers as they are. Beside vectors of
// more than 128 bits both cost what is neither's, so mixes have one kind or the other.
enum port_upper {
    UPPER_NONE,   // it does not matter
    UPPER_LEGACY, // keeps them
    UPPER_WIDE,   // uses them, or as much memory
};

// What discovery and inference need to know of a form; the oracle knows the rest.
struct port_form {
    const char *name;
    int blocker_cost;       // how well it serves as a blocker: 0 best; -1: not at all
    bool filler_only;       // takes part in the search for a filler, not in that for classes
    bool chains;            // its instances wait for each other unless moves stand between them
    int bits;               // of its widest vector operand; 0: it has none
    enum port_upper upper;  // halves of vector registers
    bool decoding;          // decoders may be slow with it: its own time says nothing of ports
    int moves;              // that PORT_MIX_INDEPENDENT puts in front of each instance
    int resets;             // of these, those that stand there in any mix
    uint64_t family;        // forms with the same value are siblings: port_family()
    bool memory;            // it has a memory operand
    bool stores;            // it writes memory, or may
    bool rewrites;          // it writes memory that it reads
    bool memory_wide;       // of as many bits as the widest vectors
    uint64_t operands;      // how many of each kind it reads and writes: forms with the same value
                            // move data between the same places
    double rthroughput_clk; // measured before, with chains broken; NaN: unknown
};

// Whether a mix of both says something about either: see enum port_upper.
bool port_forms_mix(const struct port_form *a, const struct port_form *b);

struct port_part {
    int form; // index
    int count;
};
// In orders: cut dependencies of a form's instances on each other, at the cost of moves.
enum {
    PORT_MIX_BREAKING = 1 << 8,    // through registers
    PORT_MIX_INDEPENDENT = 1 << 9, // all: see BREAK_ALL
    PORT_MIX_SINGLE = 1 << 10,     // one set of registers for all instances of a form
    PORT_MIX_CHAINED = 1 << 11,    // instances of parts[0] wait for each other instead
};
struct port_mix {
    struct port_part parts[PORT_MIX_PARTS_MAX]; // the form in question first, blockers behind it
    int nparts;
    unsigned orders; // bit mask over enum mix_order: which arrangements are timed; and
                     // how they are broken
};
struct port_timing {
    enum outcome outcome;
    double clk; // core cycles of the whole mix, the least over its arrangements
    double spread_clk;
    bool counted;                 // the oracle has counters; else what follows means nothing
    double slots;                 // dispatched for the whole mix; NaN: no counter
    double uops[PORT_GROUPS_MAX]; // of the whole mix, by the oracle's groups
};
// Times mixes[0..n). -1 when measuring cannot go on; a mix that fails has an outcome.
struct port_oracle {
    int (*measure)(void *context, const struct port_mix *mixes, int n, struct port_timing *timings,
                   struct err *err);
    void *context;
    void (*step)(void *context, const char *what, int mixes); // before each series; may be NULL
    int ngroups;                         // ports that are counted together; 0: no counters
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
    const char *what; // is timed
};
// The clock starts now; *limit must live as long as the oracle.
struct port_oracle port_limited(struct port_limit *limit);

// The structure of the ports from single and pairwise throughput of the forms that can be blockers.
// `width`: slots a cycle. -1 when the oracle fails or no structure can be seen; says why.
int port_discover(const struct port_oracle *oracle, const struct port_form *forms, int nforms,
                  int width, struct port_model *model, struct err *err);

// Who is told the timings of forms in question.
struct port_evidence {
    void (*tell)(void *context, int form, const char *blocker, int blockers, int instances,
                 const struct port_timing *timing);
    void *context;
};
// What was found of forms, for their siblings: they are expected to use the same, and only trials
// that would refute it are timed. One form in ten, by the seed, is searched in spite of that.
struct port_siblings;
struct port_siblings *port_siblings_new(uint64_t seed);
void port_siblings_free(struct port_siblings *siblings); // NULL is fine
// Of forms with this mnemonic.
uint64_t port_family(const char *mnemonic);
// "search", "sibling", "refuted", "agrees", "differs".
const char *port_way_name(enum port_way way);
// Whether so many came to another result that siblings are in doubt, and a sentence that says so.
bool port_ways_doubt(const int64_t ways[PORT_WAYS], struct strbuf *out);
// Appends one line: the number of forms by way, and in how many the two ways disagree.
void port_ways_text(const int64_t ways[PORT_WAYS], uint32_t seed, struct strbuf *out);

// The forms that something is to be found out about. What is found of form which[i] is usages[i] in
// all functions below.
struct port_question {
    const struct port_oracle *oracle;
    const struct port_form *forms; // all that the oracle knows
    const int *which;              // indices of those in question
    int n;
    const struct port_evidence *evidence; // NULL: nobody is told
    struct port_siblings *siblings;       // what is known of others; NULL: all forms are searched
};

// What each of the forms in question uses. The evidence is told every timing.
int port_infer(const struct port_question *question, const struct port_model *model,
               struct port_usage *usages, struct err *err);

// Finds units that are not pipelined among the inferred forms in question: adds them to the model
// and sets unit and busy_clk of the usages. Forms need their rthroughput_clk. Tells no evidence.
int port_find_units(const struct port_question *question, struct port_model *model,
                    struct port_usage *usages, struct err *err);
// Finds paths that several ports share: forms in question, of few slots and half a cycle or more,
// disturb each other more than their ports explain, in pairs and in larger mixes. Adds them and the
// probes for them to the model. Tells no evidence.
int port_find_paths(const struct port_question *question, struct port_model *model,
                    const struct port_usage *usages, struct err *err);
// What the blockers of the model's units, and its probes, use; before port_assign_units() with a
// stored model.
int port_infer_units(const struct port_oracle *oracle, const struct port_form *forms,
                     struct port_model *model, struct err *err);
// Finds out which of the model's units the forms keep busy, alone and beside what needs all parts.
// The evidence is told as by port_infer(): the blocker is the unit, or for a path the name of the
// probe.
int port_assign_units(const struct port_question *question, const struct port_model *model,
                      struct port_usage *usages, struct err *err);

#endif
