// SPDX-License-Identifier: MIT
// Processes that repeat in step, one per CPU. They meet at a barrier in shared memory, agree on a
// time a little ahead, and each waits for it by itself, between the kernel's init and its clock: so
// all start within some tens of TSC ticks. A process that waits spins with `pause`, which leaves
// the core to an SMT sibling.
#include "core_internal.h"

#include <emmintrin.h>
#include <sys/mman.h>

enum {
    LEAD_FIRST_US = 20,
    LEAD_MOST_US = 20000,
    LATE_MOST_NS = 100,  // a start that is later than this was missed
    BARRIER_MOST_S = 10, // one that does not come for so long is gone
};

static struct core_team *team; // NULL: alone
static uint32_t team_size, team_own;
static double ticks_per_us;

void team_join(const struct core_config *config)
{
    if (config->threads < 2)
        return;
    team = mmap(NULL, sizeof *team, PROT_READ | PROT_WRITE, MAP_SHARED, CORE_TEAM_FD, 0);
    if (team == MAP_FAILED)
        send_fatal("cannot map what the threads share");
    team_size = config->threads;
    team_own = config->thread;
    ticks_per_us = config->tsc_hz / 1e6;
}

void team_abort(void)
{
    if (team)
        __atomic_store_n(&team->aborted, 1, __ATOMIC_RELEASE);
}

// Waits for all threads; the last one to arrive calls `last`, while all others stand still.
static bool team_barrier(void (*last)(void))
{
    if (!team)
        return true;
    uint32_t generation = __atomic_load_n(&team->generation, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&team->arrived, 1, __ATOMIC_ACQ_REL) == team_size) {
        if (last)
            last();
        __atomic_store_n(&team->arrived, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&team->generation, generation + 1, __ATOMIC_RELEASE);
    }
    uint64_t end = time_now() + (uint64_t)(BARRIER_MOST_S * 1e6 * ticks_per_us);
    while (__atomic_load_n(&team->generation, __ATOMIC_ACQUIRE) == generation) {
        if (__atomic_load_n(&team->aborted, __ATOMIC_ACQUIRE))
            return false;
        if (time_now() > end)
            team_abort();
        _mm_pause();
    }
    return !__atomic_load_n(&team->aborted, __ATOMIC_ACQUIRE);
}

bool team_turn(uint32_t thread, bool *mine)
{
    *mine = !team || thread == team_own;
    return team_barrier(NULL);
}

static void team_set_start(void)
{
    if (!team->lead_us)
        team->lead_us = LEAD_FIRST_US;
    if (team->late && team->lead_us < LEAD_MOST_US)
        team->lead_us *= 2;
    team->late = team->accepted = 0;
    team->start_tsc = time_now() + (uint64_t)(team->lead_us * ticks_per_us);
}

bool team_start(void)
{
    if (!team_barrier(team_set_start))
        return false;
    core_state.start_tsc = team ? team->start_tsc : 0;
    return true;
}

bool team_agree(bool mine, uint32_t late_tsc, bool *all)
{
    *all = mine;
    if (!team)
        return true;
    bool late = late_tsc > LATE_MOST_NS * ticks_per_us / 1000;
    if (late)
        __atomic_add_fetch(&team->late, 1, __ATOMIC_ACQ_REL);
    if (mine && !late)
        __atomic_add_fetch(&team->accepted, 1, __ATOMIC_ACQ_REL);
    if (!team_barrier(NULL))
        return false;
    *all = __atomic_load_n(&team->accepted, __ATOMIC_ACQUIRE) == team_size;
    return true;
}

bool team_give_up(bool mine, bool *give_up)
{
    if (!team) {
        *give_up = mine;
        return true;
    }
    if (team_own == 0)
        __atomic_store_n(&team->gave_up, mine, __ATOMIC_RELEASE);
    if (!team_barrier(NULL))
        return false;
    *give_up = __atomic_load_n(&team->gave_up, __ATOMIC_ACQUIRE);
    return true;
}
