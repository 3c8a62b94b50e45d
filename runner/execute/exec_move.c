// SPDX-License-Identifier: MIT
// When a measuring process looks for another CPU; see exec_move.h.
#include "exec_move.h"

// A look takes milliseconds of the other CPUs. Neighbours stay for seconds to hours.
static const int64_t FIRST_MS = 1000, LONGEST_MS = 64000;
// A process with a larger share of undisturbed time stays where it is.
static const double GOOD_SHARE = 0.6;

void exec_move_begin(struct exec_mover *mover, int64_t now_ms)
{
    mover->last = (struct exec_fare){.at_ms = now_ms};
    if (mover->pause_ms == 0)
        mover->pause_ms = FIRST_MS;
    if (mover->next_ms < now_ms + FIRST_MS)
        mover->next_ms = now_ms + FIRST_MS;
}

bool exec_move_due(const struct exec_mover *mover, int64_t now_ms)
{
    return now_ms >= mover->next_ms;
}

// Returns the undisturbed share of the time between two looks: of the repeats, where the process
// did not wait for quiet, and could run.
static double move_share(const struct exec_fare *from, const struct exec_fare *to)
{
    double accepted = (double)(to->accepted - from->accepted);
    double tried = accepted + (double)(to->disturbed - from->disturbed);
    double waited = (double)(to->waited_ms - from->waited_ms);
    double ms = (double)(to->at_ms - from->at_ms);
    double busy = ms > waited ? 1 - waited / ms : 0;
    return (tried > 0 ? accepted / tried : 0) * busy * subproc_ran_share(&from->ran, &to->ran);
}

int exec_move_consider(struct exec_mover *mover, const struct exec_fare *fare, int cpu)
{
    double share = move_share(&mover->last, fare);
    int to = share < GOOD_SHARE ? mover->look(mover->context, cpu, share) : cpu;
    mover->last = *fare;
    if (to != cpu || share >= GOOD_SHARE)
        mover->pause_ms = FIRST_MS;
    else if (mover->pause_ms < LONGEST_MS)
        mover->pause_ms *= 2;
    mover->next_ms = fare->at_ms + mover->pause_ms;
    return to;
}
