// SPDX-License-Identifier: MIT
// Where the time of this process goes: an account that everybody who does the work adds to, and
// whoever wants to know of a part of it reads before and after. Safe to call from any thread.
#ifndef LATPUT_SPENT_H
#define LATPUT_SPENT_H

// In seconds; repeats in numbers.
enum spent_on {
    // One after another, in the thread that measures:
    SPENT_MEASURING, // while a measuring process ran
    SPENT_PROGRAMS,  // until a program to be measured was there
    SPENT_INFERRING, // structure and use of ports, conclusions
    // Beside these, or in their place:
    SPENT_WRITING, // into the database
    SPENT_ASSEMBLING,
    SPENT_LINKING,
    // Of SPENT_MEASURING, as the measuring process tells it:
    SPENT_QUIET, // until the core was quiet
    SPENT_GAPS,  // until the next pass was due
    // CPU time of measuring processes:
    SPENT_USER,
    SPENT_KERNEL,
    // Repeats; those that were refused by their reasons (enum core_refusal of core/core_abi.h):
    SPENT_ACCEPTED,
    SPENT_REFUSED,
    SPENT_REFUSED_LAST = SPENT_REFUSED + 3,
    SPENT_KINDS
};

struct spent {
    double at_s; // of the monotonic clock
    double on[SPENT_KINDS];
};

void spent_add(enum spent_on what, double amount);
// Adds what has passed since start_s, of clock_now_s().
void spent_add_time(enum spent_on what, double start_s);
struct spent spent_now(void);
// What was added from then on; at_s: how long ago that was.
struct spent spent_since(const struct spent *before);
// Adds what has passed from then on and was spent neither on measuring, waiting for programs,
// inferring nor writing.
void spent_add_rest(enum spent_on what, const struct spent *before);

#endif
