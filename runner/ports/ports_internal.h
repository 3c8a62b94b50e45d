// SPDX-License-Identifier: MIT
// Interface between the files of the port inference.
#pragma once

#include "plan/plan.h"
#include "ports.h"
#include "util/mem.h"

// Tolerances, each one number for all that it says.
//
// Two times are the same. The blockers of six recorded runs, 76 of them, take a whole number of
// ports within 0.8 %; the next answer, seven ports or eight, is 12 % away.
#define PORT_SAME 0.035
// A time is explained by one that is less by no more than this share, as in `latput validate`.
// Members of a Zen 3's dividers cost the blocker 0.99 of their time and more.
#define PORT_EXCESS 0.1
// µops, slots or cycles of an instance by which a trial may be wrong: 94 % of 37,005 trials of
// forms with certain ports on a Zen 3 show whole µops within it.
#define PORT_NOISE 0.3
// The same of the least of several trials: of these 97 %, and 87 % within PORT_NOISE_ALONE, which
// is for slots and cycles that nothing stands beside.
#define PORT_NOISE_BEST 0.2
#define PORT_NOISE_ALONE 0.1
// Costs that differ by less are equal: it is more than the order of a sum changes.
#define PORT_EQUAL 1e-9
// What is impossible, as a mix that is faster than ports allow, costs so many times what is only
// not explained. With 3 and 4 recordings of five runs give the same ports.
#define PORT_IMPOSSIBLE 3
// Cycles of a form from which on it may be microcode, and is too slow to block a path: it leaves
// gaps. Forms of one µop take a cycle at most.
#define PORT_MICROCODE_CLK 1.5
// Cycles of a form of which one instance is enough in a mix, and of each form of a pair.
#define PORT_LONG_CLK 30
// Slots from which on a form may be microcode, and hides waits in pairs: three, shown with an
// error.
#define PORT_MICROCODE_SLOTS 2.5
// Instances of a form alone in a body, or in a chain; cycles for which blockers keep a set busy.
enum { PORT_ALONE = 8, PORT_BUSY_CLK = 6 };

// Slots of dispatch: a form of more is microcode and may begin a group of its own.
#define PORT_GROUP_SLOTS 4.5

// Share of the width above which the front end or renaming limits a form, not ports. Zen 5
// eliminates seven `lea r32, [r]` in its eight slots per cycle. Taken for a set of seven ports,
// they would make all other forms, loads first, appear to need several µops.
#define PORT_RENAME_SHARE 0.87

// Cycles of a link of a chain below which the form is eliminated at rename, since executed µops
// have a latency of at least 1.
#define PORT_ELIMINATED_CLK 0.75
struct port_mix ports_chain(int form);
bool ports_chain_eliminated(const struct port_timing *timing);

// Asks the oracle and reports the progress.
int ports_time(const struct port_oracle *oracle, const char *what, const struct port_mix *mixes,
               int n, struct port_timing *timings, struct err *err);

// Control mixes: the same number of fillers alone in each of them shows the true time of as many
// slots. No core dispatches quite its width in every cycle (Zen 5, eight wide: 128 nops take 16.27
// cycles).
enum { PORT_CONTROLS = 3 };
void ports_put_controls(int filler, int count, struct port_mix mixes[PORT_CONTROLS]);
// Returns the time of the fastest; NaN: none came back.
double ports_controls_clk(const struct port_timing timings[PORT_CONTROLS]);

struct port_series {
    const char *what;
    const struct port_mix *mixes;
    const double *enough_clk; // of each mix, predicted by the model
    int n;
};
// Times mixes like ports_time(), but a mix that takes no more than enough_clk[i] (times ENOUGH) in
// its first order is not timed in the others, since no order is faster than the ports allow.
int ports_time_enough(const struct port_oracle *oracle, const struct port_series *series,
                      struct port_timing *timings, struct err *err);

// Returns a mix of two forms, each for as long alone, in several orders: the best of them has the
// cost of a unit, but no cost of schedulers.
struct port_mix ports_pair(int a, double a_clk, int b, double b_clk);
// Returns the least time of an instance by the model.
double ports_one_clk(const struct port_model *model, const struct port_usage *usage);
// Adds the moves before an instance, without those that the usage includes.
void ports_usage_move(const struct port_form *form, struct port_usage *usage);
// Returns the least time of a pair by the model, with the moves between instances.
double ports_pair_clk(const struct port_model *model, const struct port_form *forms,
                      const struct port_usage *a, const struct port_usage *b,
                      const struct port_mix *pair);
// Passes on the timing of a mix whose first part is the form in question; evidence may be NULL.
void ports_tell(const struct port_evidence *evidence, const char *blocker,
                const struct port_mix *mix, const struct port_timing *timing);

// Returns the usage of a blocker: one slot, and one µop of this set.
struct port_usage ports_one_uop(uint32_t set);
// Returns the demand on a unit (-1: the unknown one), which it adds if there is none.
struct port_demand *ports_demand_put(struct port_demands *demands, int unit);
void ports_demand_drop(struct port_demands *demands, int unit);
// Returns true if the usage has no demand on a known unit.
bool ports_waits_only(const struct port_usage *usage);

// Finds the shares of paths of the model's blockers, and adds them to its classes.
int ports_blockers_paths(const struct port_oracle *oracle, const struct port_form *forms,
                         struct port_model *model, struct err *err);
// Finds the shares of paths of the forms in question (ports_share.h).
struct sharing;
int ports_assign_paths(struct sharing *sharing, struct err *err);

// Returns true if what a form loses beside blockers of the class are no µops, but shares of the
// paths that stores need: it loads and does not store.
bool ports_shares_stores(const struct port_form *forms, const struct port_form *form,
                         const struct port_class *class);
// Turns µops on the ports of stores, of such forms, into these shares.
void ports_share_stores(const struct port_question *question, const struct port_model *model,
                        struct port_usage *usages);

// Maps of ports, by their classes (ports_wide.c).
enum ports_map {
    PORTS_NARROW, // of mixes without wide forms
    PORTS_WIDE,   // of mixes with one
};
// Returns true if both maps differ.
bool ports_wide_apart(const struct port_model *model);
// Copies a model with the classes of this map only, `moved`: only the classes of the wide map that
// are not of wide forms alone and not in the narrow map. names[] get the names of its classes in
// `model`.
void ports_model_map(const struct port_model *model, enum ports_map map, bool moved,
                     struct port_model *to, const char *names[PORT_CLASSES_MAX]);
// ports_teller_mix() returns the mix of the teller with a wide form, ports_teller_slower() true if
// it shows that the form makes vectors use other ports. An instance alone takes alone_clk. Only for
// models with a teller.
struct port_mix ports_teller_mix(const struct port_model *model, int form);
bool ports_teller_slower(const struct port_model *model, const struct port_timing *timing,
                         double alone_clk);

// Return the cycles in which the front end delivers so many slots of others between forms that
// stall it, and those that a run of others loses on average, since it ends within a cycle of
// delivery.
double ports_delivery_clk(const struct port_model *model, double slots);
double ports_delivery_loss(const struct port_model *model);
// Returns the ports of all sets that overlap with this one, directly or through others.
uint32_t ports_component(const struct port_model *model, uint32_t set);
// Gives every class a systematic name: a letter for each group of sets that are connected by
// inclusion or overlap, and the size; sets of the same size in a group by a further letter.
void ports_name(struct port_model *model);
// Gives a class this name, marked if it is wide.
void ports_name_class(struct port_class *class, const char *name);
