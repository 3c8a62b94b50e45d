// SPDX-License-Identifier: MIT
// Shares of units; see ports_share.h.
#include "ports_share.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sharing_begin(struct sharing *sharing)
{
    const struct port_question *question = sharing->question;
    size_t most = 2 * (size_t)question->n + 1;
    sharing->may = xcalloc(most, sizeof *sharing->may);
    sharing->clk = xcalloc(most, sizeof *sharing->clk);
    sharing->without = xcalloc(most, sizeof *sharing->without);
    sharing->at = xcalloc(most, sizeof *sharing->at);
    sharing->mixes = xcalloc(most, sizeof *sharing->mixes);
    sharing->timings = xcalloc(most, sizeof *sharing->timings);
    sharing->enough_clk = xcalloc(most, sizeof *sharing->enough_clk);
    // The wait of a usage is the least of its times.
    for (int i = 0; i < question->n; i++) {
        double wait_clk = port_usage_wait_clk(&sharing->usages[i]);
        sharing->clk[i] = question->forms[question->which[i]].rthroughput_clk;
        if (wait_clk > 0)
            sharing->clk[i] = fmin(sharing->clk[i], wait_clk);
    }
}

void sharing_end(struct sharing *sharing)
{
    free(sharing->may);
    free(sharing->clk);
    free(sharing->without);
    free(sharing->at);
    free(sharing->mixes);
    free(sharing->timings);
    free(sharing->enough_clk);
}

void sharing_choose(struct sharing *sharing, bool (*may)(const struct sharing *sharing, int i))
{
    for (int i = 0; i < sharing->question->n; i++)
        sharing->may[i] = may(sharing, i);
}

void sharing_add(struct sharing *sharing, int i, int beside, double beside_clk)
{
    int k = sharing->n++, form = sharing->question->which[i];
    sharing->at[k] = i;
    sharing->mixes[k] = ports_pair(form, sharing->clk[i], beside, beside_clk);
    sharing->mixes[k].nparts = beside < 0 ? 1 : 2;
    sharing->mixes[k].orders &= ~sharing->without[i];
}

int sharing_time(struct sharing *sharing, const char *what, struct err *err)
{
    const struct port_series series = {what, sharing->mixes, sharing->enough_clk, sharing->n};
    return ports_time_enough(sharing->question->oracle, &series, sharing->timings, err);
}

int sharing_ask(struct sharing *sharing, int unit, int blocker, double clk, struct err *err)
{
    const struct port_question *question = sharing->question;
    const struct port_form *forms = question->forms;
    const struct port_unit *to = &sharing->model->units[unit];
    bool path = port_unit_is_path(to);
    sharing->n = 0;
    for (int i = 0; i < question->n; i++) {
        struct port_usage usage = sharing->usages[i], beside = to->usage;
        if (!sharing->may[i] || !port_forms_mix(&forms[question->which[i]], &forms[blocker]))
            continue;
        sharing_add(sharing, i, blocker, clk);
        int k = sharing->n - 1;
        if (!path) { // the sequencer shows by its stall, and long waits in any two orders
            usage.front.stall_clk = beside.front.stall_clk = 0;
            sharing->mixes[k].orders &=
                1u << MIX_INTERLEAVED | 1u << MIX_SHUFFLED | ~(unsigned)MIX_ORDERS_ALL;
        }
        sharing->enough_clk[k] =
            ports_pair_clk(sharing->model, forms, &usage, &beside, &sharing->mixes[k]);
    }
    int status = sharing_time(sharing, path ? "paths" : "units", err);
    const char *name = path ? forms[blocker].name : sharing->named->units[unit].name;
    for (int k = 0; k < sharing->n && status == 0; k++)
        ports_tell(question->evidence, name, &sharing->mixes[k], &sharing->timings[k]);
    return status;
}

double sharing_clk(const struct sharing *sharing, int unit, int k)
{
    const struct port_unit *to = &sharing->model->units[unit];
    const struct port_form *forms = sharing->question->forms;
    const struct port_part *parts = sharing->mixes[k].parts;
    const struct port_timing *timing = &sharing->timings[k];
    double clk = (timing->clk - parts[1].count * to->blocker_clk) / parts[0].count;
    if (strcmp(forms[parts[0].form].name, forms[to->blocker].name) == 0)
        return to->blocker_clk;
    bool shown = timing->outcome == OUTCOME_OK && timing->spread_clk <= PORT_EXCESS * timing->clk &&
                 timing->clk > (1 + PORT_EXCESS) * sharing->enough_clk[k];
    return shown && clk >= PORT_NOISE ? clk : 0;
}
