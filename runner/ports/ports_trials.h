// SPDX-License-Identifier: MIT
// Trials: the mixes that tell what forms use. Which of them are timed for a form is decided
// elsewhere (ports_infer.c, ports_suggest.c); here they are made, timed and kept.
#ifndef LATPUT_PORTS_TRIALS_H
#define LATPUT_PORTS_TRIALS_H

#include "ports_count.h"
#include "ports_fit.h"
#include "ports_internal.h"

// What a form is timed beside blockers of a class for, a bit each. The screen is one kernel, with
// many blockers: it hardly ever shows µops that are not there.
enum {
    BESIDE_FEW = 1 << 0,    // as many blockers as one instance takes
    BESIDE_MORE = 1 << 1,   // where instances wait for each other
    BESIDE_ORDERS = 1 << 2, // as many as it takes alone and half as many again
    BESIDE_SCREEN = 1 << 3,
    // As many blockers as the ports let pass in the time that the form takes alone, if it has no
    // more µops there than in the classes inside. What takes several cycles is in the way of what
    // takes one on the same port, where there are many of these: that is no µop.
    BESIDE_BALANCED = 1 << 4,
    BESIDE_ALL = BESIDE_FEW | BESIDE_MORE | BESIDE_ORDERS | BESIDE_SCREEN, // without that
};
// And beside fillers.
enum {
    FILLED_ORDERED = 1 << 0,
    FILLED_MIXED = 1 << 1,
    FILLED_AGAIN = 1 << 2, // both with another number of fillers
    FILLED_BUSY = 1 << 3,  // few fillers: how fast it is among others
    FILLED_WHOLE = 1 << 4, // as many as fill whole cycles of dispatch
    FILLED_ALL = FILLED_ORDERED | FILLED_MIXED | FILLED_AGAIN | FILLED_BUSY | FILLED_WHOLE,
};

extern const double TRIAL_USED_UOPS; // fewer are none

struct inference {
    const struct port_question *question;
    const struct port_model *model;
    const char *const *names;        // of its classes, as the evidence is told them
    enum ports_part part;            // that the model is
    const struct port_usage *narrow; // by position in which, what is known; NULL: nothing
    const uint64_t *families;        // by position in which; NULL: those of the forms
    struct port_trials *trials;      // by position in which
    struct port_timing *alone;
    unsigned char (*beside)[PORT_CLASSES_MAX]; // which were timed, by position and class
    unsigned char *filled;                     // the same beside fillers
    uint64_t *rejected; // suggestions of siblings that its trials do not lead to, a bit each
    struct port_groups groups;
    double filler_clk; // of a filler among many of them
};
// Times all forms in question alone. -1: the oracle fails; trials_end() in any case.
int trials_begin(struct inference *inference, struct err *err);
void trials_end(struct inference *inference);

// Mixes of a round, and what each is for.
struct round_mixes {
    struct port_mix *mixes;
    struct port_timing *timings;
    struct round_purpose *purposes;
    int n, capacity;
};
// Adds those of the trials that were not timed yet.
void trials_add_beside(struct inference *inference, struct round_mixes *round, int i, int class,
                       unsigned kinds);
void trials_add_filled(struct inference *inference, struct round_mixes *round, int i,
                       unsigned kinds);
// Which trials beside fillers are due.
unsigned trials_due_filled(const struct inference *inference, int i);
// Times the round, keeps what it says, and empties it.
int trials_round(struct inference *inference, const char *what, struct round_mixes *round,
                 struct err *err);

// Whether the form can stand beside blockers at all.
bool trials_possible(const struct inference *inference, int i);
// The throughput with chains broken, if it is known.
double trials_best_clk(const struct inference *inference, int i);
// The fewest µops that trials show on all ports: the sum over maximal classes, none below 0.
double trials_shown(const struct port_model *model, const struct port_trials *trials);
// Whether the ports of one class are among those of another.
bool trials_class_inside(const struct port_model *model, int inner, int outer);
// µops that are on the class's ports for sure: those that trials show of the classes inside it,
// each less what is inside that in turn.
int trials_inside(const struct inference *inference, int i, int class);
// Whether no other class contains it.
bool trials_class_maximal(const struct port_model *model, int class);
// The fewest µops on a class that a trial shows; NaN: there is none.
double trials_least(const struct port_model *model, const struct port_trials *trials, int class);

#endif
