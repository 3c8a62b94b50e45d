// SPDX-License-Identifier: MIT
// Finds the canary's floor; see floor.h.
#include "floor.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    QUICK_MS = 400,   // enough where the issue width tells what to expect
    MODE_MS = 6000,   // where only the mode can tell: longer than most disturbances
    QUIET_ROUNDS = 4, // times that MODE_MS is tried before a core counts as never quiet
    CANARY_INSTRS = 960,
    CANARY_MIXTURE = 10, // canaries below are nops
};

// A canary may run this much slower than its width allows and still be taken for undisturbed: code
// fetch takes its share on some CPUs. A busy sibling takes a quarter at the least.
static const double WIDTH_TOLERANCE = 0.08;
static const double SHARE_MIN = 0.15; // of the samples near the mode: less is no peak

static const double FUSED = 0.97; // of the width's time: faster means that nops share a µop

// Whether nops share µops on this CPU. Then none of them is a canary: disturbed, it may look like
// one that just reaches the width.
static bool floor_nops_fuse(const struct exec_floor *floors, int nfloors, double least_clk)
{
    for (int i = 0; i < nfloors; i++)
        if (floors[i].canary < CANARY_MIXTURE && floors[i].fastest_clk > 0 &&
            floors[i].fastest_clk < least_clk)
            return true;
    return false;
}

static const struct exec_floor *floor_best(const struct exec_floor *floors, int nfloors,
                                           double least_clk)
{
    const struct exec_floor *best = NULL;
    bool fuse = floor_nops_fuse(floors, nfloors, least_clk);
    for (int i = 0; i < nfloors; i++)
        if (floors[i].clk_per_instr > least_clk && floors[i].share >= SHARE_MIN &&
            (!fuse || floors[i].canary >= CANARY_MIXTURE) &&
            (!best || floors[i].clk_per_instr < best->clk_per_instr))
            best = &floors[i];
    return best;
}

// Cycles an instruction at full width, the loop's own µop included.
static double floor_width_clk(int issue_width)
{
    return (CANARY_INSTRS + 1.0) / CANARY_INSTRS / issue_width;
}

int floor_choose(const struct exec_floor *floors, int nfloors, int issue_width,
                 struct canary_floor *floor)
{
    double width_clk = issue_width > 0 ? floor_width_clk(issue_width) : 0;
    const struct exec_floor *best = floor_best(floors, nfloors, width_clk * FUSED);
    if (!best)
        return -1;
    *floor = (struct canary_floor){best->canary, best->clk_per_instr, "mode"};
    if (issue_width <= 0)
        return 1;
    if (best->clk_per_instr > width_clk * (1 + WIDTH_TOLERANCE))
        return 0;
    floor->method = "issue-width";
    return 1;
}

int floor_measure(const char *program, const struct exec_params *params, bool quick,
                  struct canary_floor *floor, bool *keep, struct err *err)
{
    struct exec_floor floors[EXEC_FLOORS_MAX];
    int width = (int)params->config.issue_width;
    int found = -1;
    *keep = false;
    for (int round = 0; round < QUIET_ROUNDS; round++) {
        uint32_t ms = quick || (round == 0 && width > 0) ? QUICK_MS : MODE_MS;
        int n = exec_floor(program, params, ms, floors, err);
        if (n < 0)
            return -1;
        found = floor_choose(floors, n, width, floor);
        if (found == 1)
            break;
    }
    if (found < 0 && quick && width > 0) { // the mixture runs at the width wherever that is known
        *floor = (struct canary_floor){CORE_CANARIES - 1, floor_width_clk(width), "issue-width"};
        found = 0;
    }
    if (found < 0)
        return err_set(err,
                       "no canary gave a steady time: the core is too disturbed to measure on. "
                       "Stop other programs, or try again later");
    *keep = found == 1 && (!quick || width > 0);
    return 0;
}
