// SPDX-License-Identifier: MIT
// Trials: the mixes that show the usages of forms. ports_infer.c and ports_suggest.c choose which a
// form needs; here they are made, timed and kept.
#pragma once

#include "ports_count.h"
#include "ports_fit.h"
#include "ports_internal.h"

// Kinds of trials beside blockers of a class, a bit each. The screen is one kernel with many
// blockers, which hardly ever shows µops that are not there.
enum {
    BESIDE_FEW = 1 << 0,    // as many blockers as pass in the form's throughput
    BESIDE_MORE = 1 << 1,   // half as many again, if instances wait for each other
    BESIDE_ORDERS = 1 << 2, // half as many again as pass in its time alone
    BESIDE_SCREEN = 1 << 3,
    // Balanced: as many blockers as the ports let pass in the time of the form alone, if it has no
    // more µops there than in the classes inside. Among more blockers, an operation of several
    // cycles delays operations of one cycle on its port, which looks like another µop.
    BESIDE_BALANCED = 1 << 4,
    // A quarter more than the screen, for microcode: where it begins a group of dispatch, some
    // numbers of blockers lose more than its slots, which looks like µops on their ports. (Zen 5,
    // `vphaddw x x x`: 0.5 cycles beside 48 and 96 `mov r32 i32`, none beside 36, 60, 72 and 84.)
    BESIDE_LONGER = 1 << 5,
    BESIDE_ALL = BESIDE_FEW | BESIDE_MORE | BESIDE_ORDERS | BESIDE_SCREEN, // the first four
};
// Kinds of trials beside fillers, a bit each.
enum {
    FILLED_ORDERED = 1 << 0,
    FILLED_MIXED = 1 << 1,
    FILLED_AGAIN = 1 << 2, // ordered and mixed with another number of fillers
    FILLED_BUSY = 1 << 3,  // few fillers: its throughput among others
    FILLED_WHOLE = 1 << 4, // as many fillers as fill whole cycles of dispatch
    FILLED_ALL = FILLED_ORDERED | FILLED_MIXED | FILLED_AGAIN | FILLED_BUSY | FILLED_WHOLE,
};

// Knowledge of a form beside wide ones by its narrow usage, which has the slots, too.
struct moved {
    int uops;        // that choose from other sets there
    uint64_t family; // of the forms with the same mnemonic and narrow usage, with or without memory
};

// Suggestions of siblings that the trials of a form rule out, by index.
struct rejected {
    int *siblings;
    int n;
};

struct inference {
    const struct port_question *question;
    const struct port_model *model;
    const char *const *names;   // of its classes, for the evidence
    enum ports_map map;         // of the CPU, that `model` has
    const struct moved *moved;  // by position in which; NULL: nothing is known of the forms
    struct port_trials *trials; // by position in which
    struct port_timing *alone;
    unsigned char (*beside)[PORT_CLASSES_MAX]; // kinds that were timed, by position and class
    unsigned char *filled;                     // kinds that were timed beside fillers
    struct rejected *rejected;                 // by position in which
    struct port_groups groups;
    struct port_controls controls;
    double filler_clk; // time of a filler among many
};
// Times the controls, and all forms in question alone. Returns -1 if the oracle fails; trials_end()
// in any case.
int trials_begin(struct inference *inference, struct err *err);
void trials_end(struct inference *inference);

// Mixes of a round, with the purpose of each.
struct round_mixes {
    struct port_mix *mixes;
    struct port_timing *timings;
    struct round_purpose *purposes;
    int n, capacity;
};
// Add the trials of these kinds that were not timed yet.
void trials_add_beside(struct inference *inference, struct round_mixes *round, int i, int class,
                       unsigned kinds);
void trials_add_filled(struct inference *inference, struct round_mixes *round, int i,
                       unsigned kinds);
// Returns the kinds of trials beside fillers that are due.
unsigned trials_due_filled(const struct inference *inference, int i);
// Times the round, keeps the trials, and empties it.
int trials_round(struct inference *inference, const char *what, struct round_mixes *round,
                 struct err *err);

static inline const struct port_form *trials_form(const struct inference *inference, int i)
{
    return &inference->question->forms[inference->question->which[i]];
}
// Returns true if the form can stand beside blockers.
bool trials_possible(const struct inference *inference, int i);
// Returns the throughput with chains broken, if it is known.
double trials_best_clk(const struct inference *inference, int i);
// Returns the fewest µops that trials show on all ports: the sum over maximal classes, none below
// 0.
double trials_shown(const struct port_model *model, const struct port_trials *trials);
// Returns true if the class `outer` has all ports of the class `inner`.
bool trials_class_inside(const struct port_model *model, int inner, int outer);
// Returns the µops that are certainly on the class's ports: those that trials show of the classes
// inside it, each less those inside that in turn.
int trials_inside(const struct inference *inference, int i, int class);
// Returns true if what trials beside the class show of the form is a share of a path, and no µops.
bool trials_share(const struct inference *inference, int i, int class);
// Returns true if fillers explain a trial beside the class.
bool trials_wait(const struct inference *inference, int i, int class);
// Returns true if no other class contains it.
bool trials_class_maximal(const struct port_model *model, int class);
// Returns the fewest µops on a class that a trial shows; NaN: there is none.
double trials_least(const struct port_model *model, const struct port_trials *trials, int class);
