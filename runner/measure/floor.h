// SPDX-License-Identifier: MIT
// The canary's floor: the canary that this CPU runs at its full width, the time of one instruction
// of it on an undisturbed core, and the width. It is measured, whatever tables say: a core cannot
// be faster than it is, so the fastest time that comes back is the truth. A table's claim decides
// only where measurements leave a choice. The floor is found once per CPU and kept in the database.
// Method: docs/MEASUREMENT.md.
#pragma once

#include "execute/exec.h"
#include "store/store_cpu.h"

#include <stdbool.h>

// Knowledge of the CPU besides its timings.
struct floor_witness {
    int claimed;      // issue width of the family that everything but the width speaks for; 0: none
    uint64_t allowed; // widths of the families that fit all that is known but the width: bit w, for
                      // w up to 63; 0: none is known
};

enum floor_trust {
    FLOOR_GUESS,  // the best that was seen, which must not be kept: `seen` says why
    FLOOR_SEEN,   // undisturbed, but for a small part of the time
    FLOOR_STEADY, // undisturbed for much of the time: looking longer brings nothing
};

// Samples are kept apart by when they were taken, so that one episode cannot pass for a time that
// comes back.
enum { FLOOR_WINDOWS = 3 };

// Chooses canary, floor and issue width from the samples of FLOOR_WINDOWS times. *seen: what was
// seen, in words. Pure.
enum floor_trust floor_choose(const struct exec_floor *windows, const struct floor_witness *witness,
                              struct canary_floor *floor, struct err *seen);

// Has the core of `program` time all canaries in rounds `first` to `end` - 1, each for a moment,
// and adds the samples to the windows, FLOOR_WINDOWS of them in turn. 0, or -1 with a message.
int floor_look(const char *program, const struct exec_params *params, int first, int end,
               struct exec_floor *windows, struct err *err);
enum { FLOOR_QUICK_ROUNDS = 12 }; // two seconds

// Returns true if every family that this CPU could be is wider. Such a core is in no
// table, or was busy during the look. The longer the look, the less likely the latter; a later one
// may see the whole width, so such a floor is not kept.
bool floor_is_narrow(const struct floor_witness *witness, const struct canary_floor *floor);
// Returns the least width that allows such a rate, in instructions per cycle.
int floor_width(double rate);
// Returns the highest rate that such a width allows.
double floor_rate(int width);
// Returns true if no further look is needed after so many rounds: a width that no table allows is
// looked at longer.
bool floor_settled(const struct floor_witness *witness, const struct canary_floor *floor,
                   enum floor_trust trust, int rounds);

// Returns true if a floor that was found some time ago is still right for the gate. It is not if
// another canary was undisturbed for much of the time, and this one for less than half of that: the
// core is quiet, so the place of the canary disturbs, or the floor was found at a bad time.
bool floor_holds(const struct exec_floor *windows, const struct floor_witness *witness,
                 const struct canary_floor *floor);
// Returns true if one look shows that the floor holds: no canary could be undisturbed twice as
// often.
bool floor_is_met(const struct exec_floor *look, const struct canary_floor *floor);
// Checks the floor by short looks of 50 ms each: three at most, one on a quiet core. Returns 0, or
// -1 with a message.
int floor_check(const char *program, const struct exec_params *params,
                const struct floor_witness *witness, const struct canary_floor *floor, bool *holds,
                struct err *err);

struct floor_result {
    struct canary_floor floor;
    enum floor_trust trust;
    bool narrow;         // floor_is_narrow()
    double imul_per_add; // ratio of these latencies
    struct err seen;     // observations in words, and their duration
};

// Measures with the core of `program` until the floor is steady; at most two seconds if `quick`,
// else 24. 0, or -1 with a message where nothing can be measured.
int floor_measure(const char *program, const struct exec_params *params,
                  const struct floor_witness *witness, bool quick, struct floor_result *result,
                  struct err *err);
