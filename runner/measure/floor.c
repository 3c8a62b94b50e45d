// SPDX-License-Identifier: MIT
// Finds the canary's floor; see floor.h. A state is a narrow group of samples that holds a share of
// all and was seen in two windows at least. The issue width is the least integer that allows the
// fastest state of the canaries that nothing can fuse.
#include "floor.h"
#include "store/store_cpu.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUND_MS = 150,    // length of a look; between two of them the core does something else
    LONG_ROUNDS = 160, // 24 seconds: longer than most disturbances
    LEAST_ROUNDS = 3,  // one a window
    ODD_ROUNDS = 40,   // six seconds
    CHECK_MS = 50,     // length of a look that only checks a floor
    CANARY_INSTRS = 960,
    CANARY_STATES_MAX = 24,
    STATE_SAMPLES = 8, // fewer are chance
};

static const double STATE_WIDTH = 0.01;  // samples of one state differ by less: relative
static const double STATE_SHARE = 0.02;  // least share of all samples; less is chance
static const double STEADY_SHARE = 0.10; // so often undisturbed, the floor is beyond doubt
// Share of a state's even share that a second window must have
static const double COMES_BACK = 0.2;
static const double GATE = 0.02;       // distance from the floor that the gate accepts
static const double FASTER = 0.02;     // a state may seem faster than the core by so much
static const double FULL_WIDTH = 0.92; // a canary that needs less of the width misses disturbances
static const double SIBLING_SLOWS = 0.75; // share of the width that a busy sibling leaves at most
static const double QUIET_SHARE = 0.02;   // share of a window; less says nothing about a canary
static const double NEAR_WIDTH = 0.97;    // share of the rate of the fastest canary
static const double TIE = 0.995;          // the same, of those that show the core as quiet
static const double AS_OFTEN = 0.8;       // undisturbed, as the canary that is so most often
static const double HOLDS = 0.5;          // share of the best canary's undisturbed time

struct state {
    double clk;   // cycles per instruction
    double share; // share of the canary's samples
};

// One canary's samples, and its steady states, fastest first.
struct canary {
    uint32_t counts[CORE_FLOOR_BINS];    // over all windows
    uint32_t below[CORE_FLOOR_BINS + 1]; // sum of the bins before each
    uint32_t total;
    struct state states[CANARY_STATES_MAX];
    int nstates;
};

static uint32_t bins_sum(const uint32_t *counts, int from, int end)
{
    uint32_t sum = 0;
    for (int i = from; i < end && i < CORE_FLOOR_BINS; i++)
        sum += counts[i];
    return sum;
}

// Returns the end of the group of bins that starts with `from`.
static int group_end(int from)
{
    return from + 1 + (int)(from * STATE_WIDTH);
}

// Returns the samples of the group that starts with `from`.
static uint32_t group_sum(const struct canary *canary, int from)
{
    int end = group_end(from);
    return from < CORE_FLOOR_BINS
               ? canary->below[end < CORE_FLOOR_BINS ? end : CORE_FLOOR_BINS] - canary->below[from]
               : 0;
}

// Returns true if a second window has enough of the group's samples.
static bool group_comes_back(const struct exec_floor *windows, int kind, int from)
{
    uint32_t sum = 0;
    int often = 0;
    for (int b = 0; b < FLOOR_WINDOWS; b++)
        sum += bins_sum(windows[b].counts[kind], from, group_end(from));
    for (int b = 0; b < FLOOR_WINDOWS; b++)
        often += bins_sum(windows[b].counts[kind], from, group_end(from)) >=
                 COMES_BACK * sum / FLOOR_WINDOWS;
    return often >= 2;
}

// Returns the group with the most samples among those that begin within a group's width after
// `from`. The first group that is large enough may be the fringe of a state.
static int group_densest(const struct canary *canary, int from)
{
    int best = from;
    for (int i = from; i < group_end(group_end(from)); i++)
        if (group_sum(canary, i) > group_sum(canary, best))
            best = i;
    return best;
}

static void canary_find_states(const struct exec_floor *windows, int kind, struct canary *canary)
{
    memset(canary, 0, sizeof *canary);
    for (int b = 0; b < FLOOR_WINDOWS; b++)
        for (int i = 0; i < CORE_FLOOR_BINS; i++)
            canary->counts[i] += windows[b].counts[kind][i];
    for (int i = 0; i < CORE_FLOOR_BINS; i++)
        canary->below[i + 1] = canary->below[i] + canary->counts[i];
    canary->total = canary->below[CORE_FLOOR_BINS];
    for (int from = 1; from < CORE_FLOOR_BINS && canary->nstates < CANARY_STATES_MAX; from++) {
        uint32_t n = group_sum(canary, from);
        if (n < STATE_SAMPLES || n < STATE_SHARE * canary->total)
            continue;
        int at = group_densest(canary, from);
        if (!group_comes_back(windows, kind, at))
            continue;
        double sum = 0;
        for (int i = at; i < group_end(at) && i < CORE_FLOOR_BINS; i++)
            sum += canary->counts[i] * (i + 0.5) * CORE_FLOOR_BIN_CLK;
        n = group_sum(canary, at);
        canary->states[canary->nstates++] = (struct state){sum / n, (double)n / canary->total};
        from = group_end(at);
    }
}

// Returns the instructions per cycle, with the loop's own µop.
static double state_rate(const struct state *state)
{
    return (CANARY_INSTRS + 1.0) / CANARY_INSTRS / state->clk;
}

double floor_rate(int width)
{
    return width / (1 - FASTER);
}

int floor_width(double rate)
{
    return (int)ceil(rate * (1 - FASTER));
}

// The least width that allows it.
static int state_width(const struct state *state)
{
    return floor_width(state_rate(state));
}

static bool width_allowed(const struct floor_witness *witness, int width)
{
    return witness->allowed == 0 || (width < 64 && witness->allowed >> width & 1);
}

// Returns true if a state shows the width of the core even against slower ones: a family that fits
// has this width, or it is frequent. To refute all of these families it must be the most frequent
// state, and near its width, since times that spread have a fast fringe.
static bool state_convinces(const struct canary *canary, const struct state *state,
                            const struct floor_witness *witness)
{
    int width = state_width(state);
    if (!witness->allowed || width_allowed(witness, width))
        return witness->allowed || state->share >= STEADY_SHARE;
    for (int i = 0; i < canary->nstates; i++)
        if (canary->states[i].share > state->share)
            return false;
    return state->share >= STEADY_SHARE && state_rate(state) >= width * FULL_WIDTH;
}

// Returns the state that shows the width: the fastest state of the mixtures that convinces, or
// without any the fastest.
static const struct state *width_state(const struct canary *canaries,
                                       const struct floor_witness *witness)
{
    const struct state *best = NULL;
    bool best_convinces = false;
    for (int kind = CORE_CANARY_MIXTURES; kind < CORE_CANARIES; kind++)
        for (int i = 0; i < canaries[kind].nstates; i++) {
            const struct state *state = &canaries[kind].states[i];
            bool convinces = state_convinces(&canaries[kind], state, witness);
            if (convinces > best_convinces ||
                (convinces == best_convinces && (!best || state->clk < best->clk))) {
                best = state;
                best_convinces = convinces;
            }
        }
    return best;
}

// Returns true if nops share µops on this CPU. None of them is a canary then: disturbed, it may
// look like one that just reaches the width.
static bool nops_fuse(const struct canary *canaries, int width)
{
    for (int kind = 1; kind < CORE_CANARY_MIXTURES; kind++)
        if (canaries[kind].nstates > 0 &&
            state_rate(&canaries[kind].states[0]) > width * (1 + FASTER))
            return true;
    return false;
}

// Returns the share of some samples of a canary that the gate would accept with this floor.
static double gate_share(const uint32_t *counts, double clk)
{
    int from = (int)(clk * (1 - GATE) / CORE_FLOOR_BIN_CLK);
    int end = (int)(clk * (1 + GATE) / CORE_FLOOR_BIN_CLK) + 1;
    uint32_t total = bins_sum(counts, 0, CORE_FLOOR_BINS);
    return total ? (double)bins_sum(counts, from, end) / total : 0;
}

// A canary with one of its states as the floor.
struct gate {
    int canary;
    double clk;
    double share;             // share of all samples that it would accept
    double by[FLOOR_WINDOWS]; // the same by window
};

static struct gate gate_make(const struct exec_floor *windows, int kind, const uint32_t *counts,
                             double clk)
{
    struct gate gate = {kind, clk, gate_share(counts, clk), {0}};
    for (int b = 0; b < FLOOR_WINDOWS; b++)
        gate.by[b] = gate_share(windows[b].counts[kind], clk);
    return gate;
}

// Lists the canaries that need the whole width, each with its fastest state; slower states are
// disturbed. Returns their number.
static int gates_find(const struct exec_floor *windows, const struct canary *canaries, int width,
                      struct gate *gates)
{
    bool fuse = nops_fuse(canaries, width);
    int n = 0;
    for (int kind = fuse ? CORE_CANARY_MIXTURES : 1; kind < CORE_CANARIES; kind++)
        for (int i = 0; i < canaries[kind].nstates; i++) {
            const struct state *state = &canaries[kind].states[i];
            if (state_rate(state) > width * (1 + FASTER))
                continue;
            if (state_rate(state) >= width * FULL_WIDTH)
                gates[n++] = gate_make(windows, kind, canaries[kind].counts, state->clk);
            break;
        }
    return n;
}

// Compares a canary with the best one in each window and returns the worst ratio; 1: as well as
// any. Long nops are disturbed by the place of the program, which is another one in each process.
static double gate_steadiness(const struct gate *gate, const struct gate *gates, int n)
{
    double least = 1;
    for (int b = 0; b < FLOOR_WINDOWS; b++) {
        double best = QUIET_SHARE;
        for (int i = 0; i < n; i++)
            best = fmax(best, gates[i].by[b]);
        if (best > QUIET_SHARE)
            least = fmin(least, gate->by[b] / best);
    }
    return least;
}

// Keeps those that are near the fastest of the ones that are undisturbed nearly as often as any.
// Returns how many.
static int gates_keep(struct gate *gates, int n, double often, double near)
{
    double most = 0, rate = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, gates[i].share);
    for (int i = 0; i < n; i++)
        if (gates[i].share >= often * most)
            rate = fmax(rate, 1 / gates[i].clk);
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (1 / gates[i].clk >= rate * near)
            gates[kept++] = gates[i];
    return kept;
}

// Chooses the canary that comes nearest to the width; of several that tie, the one that varies
// least. A canary that something besides dispatch slows by a hundredth is only chosen without
// others, since at another time it may be slowed much more: nops of five bytes and more, of which a
// line of code holds few, pass in 95 of 100 samples in one process and in two in the next. Returns
// the share that the gate would accept; 0: there is none.
static double choose_canary(const struct exec_floor *windows, const struct canary *canaries,
                            int width, struct canary_floor *floor)
{
    struct gate gates[CORE_CANARIES];
    int n = gates_find(windows, canaries, width, gates);
    n = gates_keep(gates, n, HOLDS, NEAR_WIDTH);
    n = gates_keep(gates, n, AS_OFTEN, TIE);
    double best = 0, share = 0;
    for (int i = 0; i < n; i++) {
        double merit = gates[i].share * gate_steadiness(&gates[i], gates, n);
        if (merit <= best)
            continue;
        best = merit;
        share = gates[i].share;
        floor->canary = gates[i].canary;
        floor->clk_per_instr = gates[i].clk;
    }
    return share;
}

// Guesses a floor from the densest samples, since there is no state.
static void guess_floor(const struct canary *canaries, const struct floor_witness *witness,
                        struct canary_floor *floor)
{
    const struct canary *canary = &canaries[CORE_CANARIES - 1];
    uint32_t below = 0;
    int bin = 0;
    while (bin < CORE_FLOOR_BINS - 1 && (below += canary->counts[bin]) * 2 <= canary->total)
        bin++;
    double clk = canary->total ? (bin + 0.5) * CORE_FLOOR_BIN_CLK : 1;
    *floor = (struct canary_floor){CORE_CANARIES - 1, clk, witness->claimed};
    if (!floor->issue_width)
        floor->issue_width = (int)fmax(1, round(1 / clk));
}

// Returns the least width that this CPU can have if tables are right; 0: they say nothing.
static int expected_width(const struct floor_witness *witness)
{
    int least = witness->claimed;
    for (int w = 1; w < 64 && !least; w++)
        if (witness->allowed >> w & 1)
            least = w;
    return least;
}

// Returns true if the width is what a permanently busy sibling leaves: less than any family that
// this CPU could be has.
static bool looks_halved(const struct floor_witness *witness, int width)
{
    return width < SIBLING_SLOWS * expected_width(witness);
}

bool floor_is_narrow(const struct floor_witness *witness, const struct canary_floor *floor)
{
    return floor->issue_width < expected_width(witness);
}

// Returns true if the width is more than any family that this CPU could be has.
static bool floor_is_wide(const struct floor_witness *witness, const struct canary_floor *floor)
{
    int most = witness->claimed;
    for (int w = most + 1; w < 64; w++)
        if (witness->allowed >> w & 1)
            most = w;
    return most && floor->issue_width > most;
}

bool floor_settled(const struct floor_witness *witness, const struct canary_floor *floor,
                   enum floor_trust trust, int rounds)
{
    if (trust != FLOOR_STEADY)
        return false;
    bool odd = floor_is_narrow(witness, floor) || floor_is_wide(witness, floor);
    return rounds >= (odd ? ODD_ROUNDS : LEAST_ROUNDS);
}

static enum floor_trust choose_among(const struct exec_floor *windows,
                                     const struct canary *canaries,
                                     const struct floor_witness *witness,
                                     struct canary_floor *floor, struct err *seen)
{
    const struct state *state = width_state(canaries, witness);
    if (!state) {
        guess_floor(canaries, witness, floor);
        err_set(seen, "no canary took the same time again and again");
        return FLOOR_GUESS;
    }
    int width = state_width(state);
    floor->issue_width = width;
    double share = choose_canary(windows, canaries, width, floor);
    if (share == 0) {
        guess_floor(canaries, witness, floor);
        err_set(seen, "no canary came near the %d instructions per cycle that were seen", width);
        return FLOOR_GUESS;
    }
    err_set(seen, "at best %.2f instructions per cycle, in %.0f %% of the samples",
            state_rate(state), share * 100);
    if (looks_halved(witness, width)) {
        err_set(seen,
                "at best %.2f instructions per cycle, in %.0f %% of the samples, where this CPU "
                "should take more than %d: its other thread seems to be busy all the time",
                state_rate(state), share * 100, width);
        return FLOOR_GUESS;
    }
    if (share >= STEADY_SHARE)
        return FLOOR_STEADY;
    bool expected =
        width == witness->claimed || (witness->allowed && width_allowed(witness, width));
    return expected ? FLOOR_SEEN : FLOOR_GUESS;
}

enum floor_trust floor_choose(const struct exec_floor *windows, const struct floor_witness *witness,
                              struct canary_floor *floor, struct err *seen)
{
    struct canary *canaries = xcalloc(CORE_CANARIES, sizeof *canaries);
    for (int kind = 1; kind < CORE_CANARIES; kind++)
        canary_find_states(windows, kind, &canaries[kind]);
    *floor = (struct canary_floor){.canary = 0};
    enum floor_trust trust = choose_among(windows, canaries, witness, floor, seen);
    free(canaries);
    return trust;
}

bool floor_holds(const struct exec_floor *windows, const struct floor_witness *witness,
                 const struct canary_floor *floor)
{
    struct canary_floor best;
    struct err seen;
    if (floor->canary < 1 || floor->canary >= CORE_CANARIES)
        return false;
    if (floor_choose(windows, witness, &best, &seen) != FLOOR_STEADY)
        return true;
    double share = 0, best_share = 0;
    for (int b = 0; b < FLOOR_WINDOWS; b++) {
        share += gate_share(windows[b].counts[floor->canary], floor->clk_per_instr);
        best_share += gate_share(windows[b].counts[best.canary], best.clk_per_instr);
    }
    return share >= HOLDS * best_share;
}

bool floor_is_met(const struct exec_floor *look, const struct canary_floor *floor)
{
    return floor->canary >= 1 && floor->canary < CORE_CANARIES &&
           gate_share(look->counts[floor->canary], floor->clk_per_instr) >= HOLDS;
}

int floor_look(const char *program, const struct exec_params *params, int first, int end,
               struct exec_floor *windows, struct err *err)
{
    int status = 0;
    for (int round = first; round < end && status == 0; round++)
        status = exec_floor(program, params, ROUND_MS, &windows[round % FLOOR_WINDOWS], err);
    return status;
}

int floor_check(const char *program, const struct exec_params *params,
                const struct floor_witness *witness, const struct canary_floor *floor, bool *holds,
                struct err *err)
{
    struct exec_floor *windows = xcalloc(FLOOR_WINDOWS, sizeof *windows);
    int status = 0;
    *holds = false;
    for (int b = 0; b < FLOOR_WINDOWS && status == 0 && !*holds; b++) {
        status = exec_floor(program, params, CHECK_MS, &windows[b], err);
        *holds = status == 0 && floor_is_met(&windows[b], floor);
    }
    if (status == 0 && !*holds)
        *holds = floor_holds(windows, witness, floor);
    free(windows);
    return status;
}

int floor_measure(const char *program, const struct exec_params *params,
                  const struct floor_witness *witness, bool quick, struct floor_result *result,
                  struct err *err)
{
    int rounds = quick ? FLOOR_QUICK_ROUNDS : LONG_ROUNDS, done = 0;
    int status = 0;
    bool settled = false;
    struct exec_floor *windows = xcalloc(FLOOR_WINDOWS, sizeof *windows);
    *result = (struct floor_result){.trust = FLOOR_GUESS};
    for (int end = LEAST_ROUNDS; end <= rounds && !settled && status == 0; end++) {
        status = floor_look(program, params, done, end, windows, err);
        done = end;
        result->imul_per_add = windows[(done - 1) % FLOOR_WINDOWS].imul_per_add;
        if (status == 0)
            result->trust = floor_choose(windows, witness, &result->floor, &result->seen);
        settled = floor_settled(witness, &result->floor, result->trust, done);
    }
    result->narrow = floor_is_narrow(witness, &result->floor);
    free(windows);
    if (status == 0 && result->trust == FLOOR_GUESS)
        err_prefix(&result->seen, "in %.1f s ", done * ROUND_MS / 1000.0);
    return status;
}
