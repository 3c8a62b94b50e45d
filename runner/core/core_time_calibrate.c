// SPDX-License-Identifier: MIT
// Calibration of the clock. Core cycles come from the calibration chain, a dependent imul chain
// whose latency is a known integer on this uarch; the canary, a loop that needs the whole width of
// dispatch, shows whether something else uses the core. Method: docs/MEASUREMENT.md.
//
// A fact that is found once decides about all kernels of the process. So it counts when rounds that
// pass the gate have confirmed it, and is found anew while the gate stays shut.
#include "core_internal.h"

// Largest distance from an integer of the ratio of imul's latency to add's: to use the ratio where
// no table has a figure, and to refute a table's.
static const double LINK_TOLERANCE = 0.05, LINK_REFUTED = 0.02;

enum {
    OVERHEAD_ROUNDS = 101,
    CONFIRM_ROUNDS = 101,
    CONFIRM_ROUNDS_LEAST = 11,
    CONFIRM_MS = 50, // at most, for all of them
    RATIO_ROUNDS = 101,
    // index in the sorted rounds: a busy sibling slows the chain of add
    RATIO_FAST = RATIO_ROUNDS / 10,
    // Looks at the ratio, so far apart: those that must agree against the figure of a table, and
    // those that are made without one until two agree.
    REFUTING_LOOKS = 5,
    UNKNOWN_LOOKS = 40,
    LOOKS_APART_MS = 5,
};

// Facts about the clock. Canary: ticks of it per tick of calibration, without overhead, on
// an undisturbed core. Above: something takes front-end slots. Below: the calibration chain was
// slowed down, as while a core changes its power state after 512-bit instructions.
static CORE_KEPT struct clock_facts {
    uint32_t calib_iterations;
    double canary_least, canary_most;
    bool confirmed;
    struct times times;
} facts;
static CORE_KEPT struct times *found; // the caller's copy of facts.times
// Rounds that passed the gate, of which there may be few at first.
static CORE_KEPT struct {
    float overhead_tsc[CONFIRM_ROUNDS], calib_tsc[CONFIRM_ROUNDS], add_tsc[CONFIRM_ROUNDS];
    int n;
} rounds;

uint32_t time_calibration(void)
{
    return time_own(&time_code.calib, facts.calib_iterations);
}

uint32_t time_canary_of(const struct core_config *config, uint32_t kind)
{
    return time_own(&time_code.canary[kind], config->canary_iterations);
}

uint32_t time_canary(const struct core_config *config)
{
    return time_canary_of(config, time_code.gate);
}

double time_canary_instrs(const struct core_config *config)
{
    return (double)TIME_CANARY_INSTRS * config->canary_iterations;
}

bool time_canary_quiet(uint32_t canary_tsc, uint32_t calib_tsc)
{
    double overhead = facts.times.overhead_tsc;
    double ratio = (canary_tsc - overhead) / (calib_tsc - overhead);
    return ratio >= facts.canary_least && ratio <= facts.canary_most;
}

static uint32_t time_add(void)
{
    return time_own(&time_code.add, facts.calib_iterations);
}

// The overhead of a timing: stubs, and the way into and out of the pipeline, from chains of two
// lengths. A wrong one moves all values of its process: 30 ticks of 54 too many are 0.5 % of a
// kernel that is twice as long as the calibration. A shared core takes longer, 50 to 318 ticks
// beside a busy sibling, so once the gate exists only rounds that pass it count.
enum { LONG = 3 };

static double time_overhead_of(double before, double long_tsc, double after)
{
    return (LONG * (before + after) / 2 - long_tsc) / (LONG - 1);
}

static double time_overhead_ungated(void)
{
    double values[OVERHEAD_ROUNDS];
    for (int i = 0; i < OVERHEAD_ROUNDS; i++) {
        uint32_t before = time_calibration();
        uint32_t long_tsc = time_own(&time_code.calib, LONG * facts.calib_iterations);
        values[i] = time_overhead_of(before, long_tsc, time_calibration());
    }
    return values_densest(values, OVERHEAD_ROUNDS);
}

// Takes one look at the ratio of imul's latency to add's, which is one cycle on every CPU. The
// ratio checks the table's figure, and replaces it where the uarch is unknown.
static double time_imul_per_add(void)
{
    double imul[RATIO_ROUNDS], add[RATIO_ROUNDS];
    for (int i = 0; i < RATIO_ROUNDS; i++) {
        imul[i] = time_calibration() - facts.times.overhead_tsc;
        add[i] = time_add() - facts.times.overhead_tsc;
    }
    values_sort(imul, RATIO_ROUNDS);
    values_sort(add, RATIO_ROUNDS);
    return imul[RATIO_FAST] / add[RATIO_FAST];
}

// Returns the integer that a latency is near; 0: none.
static uint32_t time_integer(double clk, double tolerance)
{
    uint32_t nearest = (uint32_t)(clk + 0.5);
    double off = clk > nearest ? clk - nearest : nearest - clk;
    return off <= tolerance * nearest ? nearest : 0;
}

static bool time_link_is_counted(const struct core_config *config)
{
    return config->ncounters && config->counts_clk;
}

// Returns the latency of a link of the calibration chain by looks at the ratio. A table's figure is
// a claim, which stands unless all looks show one other integer: beside a sibling that is busy just
// then, a look may be near any. A ratio that is no integer shows that something disturbs the chain
// of add; 0: nothing is claimed, and all looks show that, or other integers.
static uint32_t time_link_by_ratio(const struct core_config *config)
{
    uint32_t claim = config->calib_link_clk, last = 0;
    for (int look = 1; look <= (claim ? REFUTING_LOOKS : UNKNOWN_LOOKS); look++) {
        facts.times.imul_per_add = time_imul_per_add();
        uint32_t seen =
            time_integer(facts.times.imul_per_add, claim ? LINK_REFUTED : LINK_TOLERANCE);
        if (claim && (config->link_known || !seen || seen == claim || (last && seen != last)))
            return claim;
        if (seen && seen == last && (!claim || look == REFUTING_LOOKS))
            return seen;
        last = seen;
        guard_sleep_ms(LOOKS_APART_MS);
    }
    return 0;
}

static uint32_t time_link_by_counter(const struct core_config *config)
{
    uint32_t claim = config->calib_link_clk;
    facts.times.imul_per_add = time_imul_per_add();
    uint32_t seen = time_integer(facts.times.link_counts[0], claim ? LINK_REFUTED : LINK_TOLERANCE);
    return claim && (config->link_known || !seen) ? claim : seen;
}

// Returns the latency of a link; what is no integer now may have been one before.
static uint32_t time_link_clk(const struct core_config *config)
{
    bool counted = time_link_is_counted(config);
    uint32_t link = counted ? time_link_by_counter(config) : time_link_by_ratio(config);
    if (!link)
        link = facts.times.calib_link_clk;
    if (!link)
        send_fatal("the latency of imul is not known for this CPU, and %s, %.3f, is no integer: "
                   "core cycles cannot be calibrated",
                   counted ? "what a counter says" : "its ratio to that of add",
                   counted ? facts.times.link_counts[0] : facts.times.imul_per_add);
    return link;
}

// Ticks of one iteration of the calibration at its fastest; also warms it up.
static double time_iteration(void)
{
    enum { ITERATIONS = 64, TRIES = 20 };
    uint32_t one = time_own(&time_code.calib, ITERATIONS);
    for (int i = 0; i < TRIES; i++) {
        uint32_t again = time_own(&time_code.calib, ITERATIONS);
        one = again < one ? again : one;
    }
    return (double)one / ITERATIONS;
}

static double time_calibration_median(void)
{
    double values[RATIO_ROUNDS];
    for (int i = 0; i < RATIO_ROUNDS; i++)
        values[i] = time_calibration();
    values_sort(values, RATIO_ROUNDS);
    return values[RATIO_ROUNDS / 2];
}

// Sets the link, and the gate that follows from it. Rounds before it mean nothing.
static void time_set_link(const struct core_config *config, uint32_t link_clk)
{
    struct times *times = &facts.times;
    times->calib_link_clk = link_clk;
    times->calib_clk = (double)facts.calib_iterations * TIME_CALIB_LINKS * link_clk;
    double floor_clk = config->floor_clk_per_instr * time_canary_instrs(config);
    facts.canary_least = floor_clk * (1 - config->canary_tolerance) / times->calib_clk;
    facts.canary_most = floor_clk * (1 + config->canary_tolerance) / times->calib_clk;
    facts.confirmed = false;
    rounds.n = 0;
}

static bool time_is_quiet(const struct core_config *config)
{
    uint32_t canary_tsc = time_canary(config);
    return time_canary_quiet(canary_tsc, time_calibration());
}

// Finds all facts anew, as far as that is possible without the gate. What cannot be found ends the
// process the first time; later it stays as it was.
static void time_find(const struct core_config *config)
{
    double ticks_per_ns = config->tsc_hz / 1e9;
    facts.calib_iterations = (uint32_t)(config->calib_ns * ticks_per_ns / time_iteration()) + 1;
    facts.times.overhead_tsc = time_overhead_ungated();
    if (core_is_timed(config))
        time_count(config, facts.calib_iterations,
                   facts.times.calib_link_clk ? time_is_quiet : NULL, &facts.times);
    time_set_link(config, time_link_clk(config));
    facts.times.core_hz = facts.times.calib_clk /
                          (time_calibration_median() - facts.times.overhead_tsc) * config->tsc_hz;
    *found = facts.times;
}

// Times chains under the gate: a long one between two short ones, as a kernel between two
// calibrations, and one of add. Nothing is kept if the round was disturbed.
static void time_round(const struct core_config *config)
{
    uint32_t canary = time_canary(config), before = time_calibration();
    if (!time_canary_quiet(canary, before))
        return;
    uint32_t add_tsc = time_add();
    uint32_t long_tsc = time_own(&time_code.calib, LONG * facts.calib_iterations);
    canary = time_canary(config);
    uint32_t after = time_calibration();
    double differ = before > after ? before - after : after - before;
    if (differ > config->calib_tolerance * before || !time_canary_quiet(canary, after))
        return;
    rounds.overhead_tsc[rounds.n] = (float)time_overhead_of(before, long_tsc, after);
    rounds.calib_tsc[rounds.n] = ((float)before + (float)after) / 2;
    rounds.add_tsc[rounds.n++] = (float)add_tsc;
}

static double time_densest(const float *from, int n)
{
    double values[CONFIRM_ROUNDS];
    for (int i = 0; i < n; i++)
        values[i] = from[i];
    return values_densest(values, n);
}

// Takes overhead and ratio from rounds that passed the gate. Returns the link by them; 0: no
// integer.
static uint32_t time_take_rounds(void)
{
    double overhead = time_densest(rounds.overhead_tsc, rounds.n);
    double calib = time_densest(rounds.calib_tsc, rounds.n);
    double add = time_densest(rounds.add_tsc, rounds.n);
    facts.times.overhead_tsc = overhead;
    facts.times.imul_per_add = (calib - overhead) / (add - overhead);
    return time_integer(facts.times.imul_per_add, LINK_REFUTED);
}

// Looks for rounds that pass the gate. Returns false if there were too few.
static bool time_rounds_pass(const struct core_config *config)
{
    uint64_t end = time_now() + (uint64_t)(CONFIRM_MS * config->tsc_hz / 1000);
    while (rounds.n < CONFIRM_ROUNDS && time_now() < end)
        time_round(config);
    return rounds.n >= CONFIRM_ROUNDS_LEAST;
}

static void time_accept(const struct core_config *config)
{
    if (core_is_timed(config))
        time_count(config, facts.calib_iterations, time_is_quiet, &facts.times);
    facts.confirmed = true;
    *found = facts.times;
}

// Confirms the facts by rounds that pass the gate. Returns false if there were too few. A ratio
// that shows another link counts if the gate opens by that, too.
static bool time_confirm(const struct core_config *config)
{
    if (!time_rounds_pass(config))
        return false;
    uint32_t seen = time_take_rounds();
    if (seen && seen != facts.times.calib_link_clk && !config->link_known &&
        !time_link_is_counted(config)) {
        const struct clock_facts claimed = facts;
        time_set_link(config, seen);
        if (!time_rounds_pass(config) || time_take_rounds() != seen)
            facts = claimed;
    }
    time_accept(config);
    return true;
}

// Tries the other link: the one that the ratio shows now or, if that is what keeps the gate shut,
// the one that was claimed. Returns true if the gate opens.
static bool time_try_other_link(const struct core_config *config)
{
    uint32_t claim = config->calib_link_clk, other = claim;
    if (!claim || facts.times.calib_link_clk == claim)
        other = time_integer(time_imul_per_add(), LINK_REFUTED);
    if (!other || other == facts.times.calib_link_clk || time_link_is_counted(config))
        return false;
    time_set_link(config, other);
    return time_rounds_pass(config) && (time_take_rounds() == other || other == claim);
}

bool time_find_again(const struct core_config *config)
{
    const struct clock_facts before = facts;
    time_find(config);
    if (time_confirm(config))
        return true;
    const struct clock_facts unconfirmed = facts;
    if (time_try_other_link(config)) {
        if (config->link_known)
            send_aside("imul takes %u cycles by its ratio to add, in the run's other processes %u",
                       facts.times.calib_link_clk, config->calib_link_clk);
        time_accept(config);
        return true;
    }
    facts = before.confirmed ? before : unconfirmed;
    rounds.n = 0;
    *found = facts.times;
    return false;
}

bool time_facts_hold(const struct core_config *config)
{
    return facts.confirmed || time_confirm(config) || (rounds.n == 0 && time_find_again(config));
}

bool time_confirmed(void)
{
    return facts.confirmed;
}

void time_calibrate(const struct core_config *config, struct times *times)
{
    found = times;
    time_find(config);
    if (config->mode != CORE_MODE_FLOOR)
        time_confirm(config);
}
