// SPDX-License-Identifier: MIT
// Calibration of the clock. Core cycles come from the calibration chain, a dependent imul chain
// whose latency is a known integer on this uarch; the canary, a loop that needs the whole width of
// dispatch, shows whether something else uses the core. Method: docs/MEASUREMENT.md.
#include "core_internal.h"

// Distance from an integer that the latency of imul, in units of that of add, may have: to be used
// without a table's figure, and to refute one.
static const double LINK_TOLERANCE = 0.05, LINK_REFUTED = 0.02;

enum {
    OVERHEAD_ROUNDS = 101,
    OVERHEAD_ROUNDS_LEAST = 11,
    RATIO_ROUNDS = 101,
    // index in the sorted rounds: a busy sibling slows the chain of add
    RATIO_FAST = RATIO_ROUNDS / 10,
};

static CORE_KEPT uint32_t calib_iterations, canary_iterations;
// Ticks of the canary per tick of calibration, without overhead, on an undisturbed core. Above:
// something takes front-end slots. Below: the calibration chain was slowed down, as while a core
// changes its power state after 512-bit instructions.
static CORE_KEPT double canary_least, canary_most;
static CORE_KEPT double overhead;
// Rounds for the overhead that passed the gate, of which there may be few at first, and the times
// that the overhead goes into.
static CORE_KEPT float overhead_values[OVERHEAD_ROUNDS];
static CORE_KEPT int noverheads;
static CORE_KEPT struct times *found;

uint32_t time_calibration(void)
{
    return time_own(&time_code.calib, calib_iterations);
}

uint32_t time_canary_of(uint32_t kind)
{
    return time_own(&time_code.canary[kind], canary_iterations);
}

uint32_t time_canary(void)
{
    return time_canary_of(time_code.gate);
}

double time_canary_instrs(void)
{
    return (double)TIME_CANARY_INSTRS * canary_iterations;
}

bool time_canary_quiet(uint32_t canary_tsc, uint32_t calib_tsc)
{
    double ratio = (canary_tsc - overhead) / (calib_tsc - overhead);
    return ratio >= canary_least && ratio <= canary_most;
}

// Times a long chain between two short ones, as a kernel between two calibrations, and computes the
// overhead. `gated`: under the gate. Returns false if it was disturbed.
static bool time_overhead_round(const struct core_config *config, bool gated, double *value)
{
    enum { LONG = 3 };
    uint32_t canary = gated ? time_canary() : 0, before = time_calibration();
    if (gated && !time_canary_quiet(canary, before))
        return false;
    uint32_t long_tsc = time_own(&time_code.calib, LONG * calib_iterations);
    if (gated)
        canary = time_canary();
    uint32_t after = time_calibration();
    double differ = before > after ? before - after : after - before;
    if (gated && (differ > config->calib_tolerance * before || !time_canary_quiet(canary, after)))
        return false;
    *value = (LONG * ((double)before + after) / 2 - long_tsc) / (LONG - 1);
    return true;
}

// Returns the overhead of a timing: stubs, and the way into and out of the pipeline. It is measured
// with chains of two lengths. A wrong one moves all values of its process: 30 ticks of 54 too many
// are 0.5 % of a kernel that is twice as long as the calibration. A shared core takes longer, 50 to
// 318 ticks beside a busy sibling, so once the gate exists only rounds that pass it count, and
// time_overhead_found() waits for them.
static double time_overhead_ungated(const struct core_config *config)
{
    double values[OVERHEAD_ROUNDS];
    for (int i = 0; i < OVERHEAD_ROUNDS; i++)
        time_overhead_round(config, false, &values[i]);
    return values_densest(values, OVERHEAD_ROUNDS);
}

bool time_overhead_found(const struct core_config *config)
{
    enum { WAIT_MS = 50 };
    if (noverheads >= OVERHEAD_ROUNDS_LEAST)
        return true;
    uint64_t end = time_now() + (uint64_t)(WAIT_MS * config->tsc_hz / 1000);
    while (noverheads < OVERHEAD_ROUNDS && time_now() < end) {
        double value = 0;
        bool quiet = time_overhead_round(config, true, &value);
        overhead_values[noverheads] = (float)value;
        noverheads += quiet;
    }
    if (noverheads < OVERHEAD_ROUNDS_LEAST) {
        // Hardly ever quiet; or what was found without the gate is so wrong that it keeps it shut.
        found->overhead_tsc = overhead = time_overhead_ungated(config);
        return false;
    }
    double values[OVERHEAD_ROUNDS];
    for (int i = 0; i < noverheads; i++)
        values[i] = overhead_values[i];
    found->overhead_tsc = overhead = values_densest(values, noverheads);
    return true;
}

// Returns the latency of imul in units of that of add, which is one cycle on every CPU: the check
// on the table's figure, and its substitute where the uarch is unknown.
static double time_imul_per_add(void)
{
    double imul[RATIO_ROUNDS], add[RATIO_ROUNDS];
    for (int i = 0; i < RATIO_ROUNDS; i++) {
        imul[i] = time_own(&time_code.calib, calib_iterations) - overhead;
        add[i] = time_own(&time_code.add, calib_iterations) - overhead;
    }
    values_sort(imul, RATIO_ROUNDS);
    values_sort(add, RATIO_ROUNDS);
    return imul[RATIO_FAST] / add[RATIO_FAST];
}

// Returns the latency of a link of the calibration chain. A table's figure is a claim, which a
// ratio of another integer refutes. A ratio that is no integer shows that something disturbs the
// chain of add.
static uint32_t time_link_clk(const struct core_config *config, const struct times *times)
{
    bool counted = config->ncounters && config->counts_clk;
    double clk = counted ? times->link_counts[0] : times->imul_per_add;
    uint32_t nearest = (uint32_t)(clk + 0.5);
    double off = clk > nearest ? clk - nearest : nearest - clk;
    if (config->calib_link_clk && (nearest < 1 || off > LINK_REFUTED * nearest))
        return config->calib_link_clk;
    if (nearest < 1 || off > LINK_TOLERANCE * nearest)
        send_fatal("the latency of imul is not known for this CPU, and %s, %.3f, is no integer: "
                   "core cycles cannot be calibrated",
                   counted ? "what a counter says" : "its ratio to that of add", clk);
    return nearest;
}

// Ticks of one iteration of a loop at its fastest; also warms it up.
static double time_iteration(const struct code *code)
{
    enum { ITERATIONS = 64, TRIES = 20 };
    uint32_t one = time_own(code, ITERATIONS);
    for (int i = 0; i < TRIES; i++) {
        uint32_t again = time_own(code, ITERATIONS);
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

void time_calibrate(const struct core_config *config, struct times *times)
{
    double ticks_per_ns = config->tsc_hz / 1e9;
    calib_iterations =
        (uint32_t)(config->calib_ns * ticks_per_ns / time_iteration(&time_code.calib)) + 1;
    canary_iterations = (uint32_t)(config->canary_ns * ticks_per_ns /
                                   time_iteration(&time_code.canary[time_code.gate])) +
                        1;
    overhead = time_overhead_ungated(config);
    times->imul_per_add = time_imul_per_add();
    if (core_is_timed(config))
        time_count(config, calib_iterations, times);
    times->calib_link_clk = time_link_clk(config, times);
    times->calib_clk = (double)calib_iterations * TIME_CALIB_LINKS * times->calib_link_clk;
    times->core_hz = times->calib_clk / (time_calibration_median() - overhead) * config->tsc_hz;
    double floor_clk = config->floor_clk_per_instr * TIME_CANARY_INSTRS * canary_iterations;
    canary_least = floor_clk * (1 - config->canary_tolerance) / times->calib_clk;
    canary_most = floor_clk * (1 + config->canary_tolerance) / times->calib_clk;
    times->overhead_tsc = overhead;
    found = times;
    if (config->mode != CORE_MODE_FLOOR)
        time_overhead_found(config);
}
