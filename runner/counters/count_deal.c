// SPDX-License-Identifier: MIT
#include "count_deal.h"

enum count_obstacle count_deal(struct count_deal *deal, struct count_capacity capacity,
                               struct err *err)
{
    struct count_pass undealt;
    int pass[COUNT_EVENTS_MAX];
    deal->npasses = deal->first;
    const struct count_dealt dealt = {deal->events, deal->nevents, deal->pass};
    enum count_obstacle obstacle =
        count_pass_choose(&dealt, COUNT_UNDEALT, COUNT_EVENTS_MAX, &undealt, err);
    if (obstacle)
        return obstacle;
    do {
        obstacle = COUNT_FINE;
        deal->npasses =
            deal->first + count_passes_plan(undealt.events, undealt.nevents, capacity, pass);
        for (int i = 0; i < undealt.nevents; i++)
            deal->pass[undealt.index[i]] = deal->first + pass[i];
        for (int number = deal->first; number < deal->npasses && !obstacle; number++)
            obstacle = deal->attempt(deal->user, number, err);
    } while (count_capacity_yield(&capacity, obstacle));
    return obstacle;
}

enum count_obstacle count_pass_choose(const struct count_dealt *dealt, int which, int most,
                                      struct count_pass *chosen, struct err *err)
{
    int n = 0;
    for (int i = 0; i < dealt->nevents; i++) {
        if (dealt->pass[i] != which)
            continue;
        if (n < COUNT_EVENTS_MAX) {
            chosen->events[n] = dealt->events[i];
            chosen->index[n] = i;
        }
        n++;
    }
    chosen->nevents = n < COUNT_EVENTS_MAX ? n : COUNT_EVENTS_MAX;
    if (n <= most)
        return COUNT_FINE;
    err_set(err, "%d events at the same time; %d are possible", n, most);
    return COUNT_TOO_MANY;
}
