// SPDX-License-Identifier: MIT
// The time that this process spends, by activity: whoever does the work adds to the account,
// whoever asks about a part of it reads before and after. Safe to call from any thread.
#pragma once

// Activities, in seconds; repeats in numbers.
enum spent_on {
    // Activities of the thread that measures, one after another:
    SPENT_MEASURING, // a measuring process runs
    SPENT_PROGRAMS,  // waiting for a program to measure
    SPENT_INFERRING, // ports and conclusions from results
    // Activities beside these, or in their place:
    SPENT_WRITING, // storing in the database
    SPENT_ASSEMBLING,
    SPENT_LINKING,
    // Parts of SPENT_MEASURING, as the measuring process reports them:
    SPENT_QUIET, // waiting until the core is quiet
    SPENT_GAPS,  // waiting until the next pass is due
    // CPU time of measuring processes:
    SPENT_USER,
    SPENT_KERNEL,
    // Repeats; refused ones by their reason (enum core_refusal of core/core_abi.h):
    SPENT_ACCEPTED,
    SPENT_REFUSED,
    SPENT_REFUSED_LAST = SPENT_REFUSED + 3,
    SPENT_MOVES, // of measuring processes to another CPU
    SPENT_KINDS
};

struct spent {
    double at_s; // of the monotonic clock
    double on[SPENT_KINDS];
};

void spent_add(enum spent_on what, double amount);
// Adds the time since start_s (of clock_now_s()).
void spent_add_time(enum spent_on what, double start_s);
struct spent spent_now(void);
// Returns what was added since `before`; its at_s is the time since then.
struct spent spent_since(const struct spent *before);
// Adds the time since `before` that went neither into measuring, waiting for programs, inferring
// nor writing.
void spent_add_rest(enum spent_on what, const struct spent *before);
