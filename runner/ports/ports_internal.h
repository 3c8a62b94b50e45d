// SPDX-License-Identifier: MIT
// What the files of the port inference share.
#ifndef LATPUT_PORTS_INTERNAL_H
#define LATPUT_PORTS_INTERNAL_H

#include "plan/plan.h"
#include "ports.h"
#include "util/mem.h"

// Slots of dispatch from which on a form is microcode and may begin a group of its own.
#define PORT_GROUP_SLOTS 4.5

// What is nearly as fast as the front end shows the front end, or what renaming allows: a Zen 5
// eliminates seven `lea r32, [r]` of its eight slots a cycle. As a set of seven ports they made all
// forms beside them, loads first, look like several µops.
#define PORT_RENAME_SHARE 0.87

// Of a link of a chain: what passes a value on in less is eliminated at rename, since the least
// latency of what is executed is 1.
#define PORT_ELIMINATED_CLK 0.75
enum { PORT_CHAIN_LINKS = 8 }; // instances of a form that wait for each other
struct port_mix ports_chain(int form);
bool ports_chain_eliminated(const struct port_timing *timing);

// Asks the oracle and tells the progress.
int ports_time(const struct port_oracle *oracle, const char *what, const struct port_mix *mixes,
               int n, struct port_timing *timings, struct err *err);

// A number of fillers alone, timed so often, each a mix: what as many slots take. No core
// dispatches quite its width in every cycle (128 nops take a Zen 5, eight wide, 16.27 cycles, not
// 16).
enum { PORT_CONTROLS = 3 };
void ports_put_controls(int filler, int count, struct port_mix mixes[PORT_CONTROLS]);
// The fastest of them; NaN: none came back.
double ports_controls_clk(const struct port_timing timings[PORT_CONTROLS]);

struct port_series {
    const char *what;
    const struct port_mix *mixes;
    const double *enough_clk; // of each mix, by the model
    int n;
};
// The same, where a mix that takes no more than enough_clk[i] (times ENOUGH) in one of its orders
// is not timed in the others: no order is faster than what the ports allow.
int ports_time_enough(const struct port_oracle *oracle, const struct port_series *series,
                      struct port_timing *timings, struct err *err);

// Two forms side by side, each for about `clk` alone, in orders that schedulers like.
struct port_mix ports_pair(int a, double a_clk, int b, double b_clk, double clk);
// How long it takes at least by the model; and how long any mix of forms with these usages (one a
// part) takes. Moves stand between their instances.
double ports_pair_clk(const struct port_model *model, const struct port_form *forms,
                      const struct port_usage *a, const struct port_usage *b,
                      const struct port_mix *pair);
double ports_mix_clk(const struct port_model *model, const struct port_form *forms,
                     const struct port_usage *usages, const struct port_mix *mix);
// Mixes of several of the forms in question, drawn and timed; free() them in any case. usages[i] is
// of which[i].
struct ports_mixes;
int ports_mixes_time(const struct port_question *question, const struct port_model *model,
                     const struct port_usage *usages, struct ports_mixes **mixes, struct err *err);
// Sum of the relative errors of what the model says of them, each half at most, where the shares of
// the unit `without` do not count (-1: all do).
double ports_mixes_error(const struct ports_mixes *mixes, const struct port_model *model,
                         const struct port_usage *usages, int without);

// Tells the timing of a mix whose first part is the form in question; evidence may be NULL.
void ports_tell(const struct port_evidence *evidence, const char *blocker,
                const struct port_mix *mix, const struct port_timing *timing);

// What the blockers of the model's classes need of its paths, into the model.
int ports_blockers_paths(const struct port_oracle *oracle, const struct port_form *forms,
                         struct port_model *model, struct err *err);
// Finds out how much of each shared path the forms need.
int ports_assign_paths(const struct port_question *question, const struct port_model *model,
                       struct port_usage *usages, struct err *err);

// A form whose shares of paths are known, and how it stands beside the probes of these.
struct port_shared {
    const struct port_form *form;
    struct port_usage usage;       // before it had shares
    double times[PORT_PROBES_MAX]; // longer than its ports explain, beside each; NaN: not known
    double shares[PORT_PATHS_MAX]; // cycles of an instance
};
void siblings_learn_shares(struct port_siblings *siblings, const struct port_shared *shared);
// A known one of the same family, operands, ports and throughput: the next behind `after` (NULL:
// the first). NULL: none. Valid until more is learned.
const struct port_shared *siblings_shared(const struct port_siblings *siblings,
                                          const struct port_shared *like,
                                          const struct port_shared *after);

// What forms that load and store nothing lose beside stores is no µop on the ports of stores, but a
// share of the path that these need.
void ports_share_stores(const struct port_question *question, const struct port_model *model,
                        struct port_usage *usages);

// The classes of a model that forms are tried beside (ports_wide.c).
enum ports_part {
    PORTS_NARROW,      // forms that are not wide
    PORTS_OF_WIDE,     // wide forms
    PORTS_BESIDE_WIDE, // the others, for what they use while wide forms are about
};
// Whether wide forms have classes of their own: else the first two are the same.
bool ports_wide_apart(const struct port_model *model);
// Only with these; names[] are those of its classes, in `model`.
void ports_model_part(const struct port_model *model, enum ports_part part, struct port_model *to,
                      const char *names[PORT_CLASSES_MAX]);
// What shows whether a wide form makes vectors use other ports, and whether it does; an instance
// alone takes alone_clk. Only where the model has a teller.
struct port_mix ports_teller_mix(const struct port_model *model, int form);
bool ports_teller_slower(const struct port_model *model, const struct port_timing *timing,
                         double alone_clk);

// Cycles in which the front end delivers so many slots of others between forms that stall it, and
// those that a run of them loses on average, since it ends somewhere in a cycle of delivery.
double ports_delivery_clk(const struct port_model *model, double slots);
double ports_delivery_loss(const struct port_model *model);
// The ports of all sets that hang together with this one, directly or through others.
uint32_t ports_component(const struct port_model *model, uint32_t set);
// Gives every class a systematic name: a letter for each group of sets that are connected by
// inclusion or overlap, and the size; sets of the same size in a group by a further letter.
void ports_name(struct port_model *model);
// Gives a class this name, marked if it is wide.
void ports_name_class(struct port_class *class, const char *name);

#endif
