// SPDX-License-Identifier: MIT
#include "count_choose.h"

#include "util/mem.h"

#include <string.h>

static const char *const names[] = {[COUNT_CHOICE_AUTO] = "auto",
                                    [COUNT_CHOICE_PERF] = "perf",
                                    [COUNT_CHOICE_MSR] = "msr",
                                    [COUNT_CHOICE_TSC] = "tsc"};

int count_choice_parse(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    return -1;
}

static enum count_obstacle choose_auto(const struct count_machine *machine,
                                       const struct count_backend **backend, struct err *err)
{
    struct err perf = {0}, msr = {0};
    if (count_perf.probe(machine, &perf) == COUNT_FINE)
        *backend = &count_perf;
    else if (count_msr.probe(machine, &msr) == COUNT_FINE)
        *backend = &count_msr;
    else
        err_set(err, "perf: %.900s; msr: %.900s", perf.text, msr.text);
    return COUNT_FINE;
}

enum count_obstacle count_choose(enum count_choice choice, const struct count_machine *machine,
                                 const struct count_backend **backend, struct err *err)
{
    *backend = NULL;
    if (choice == COUNT_CHOICE_TSC)
        return COUNT_FINE;
    if (choice == COUNT_CHOICE_AUTO)
        return choose_auto(machine, backend, err);
    const struct count_backend *wanted = choice == COUNT_CHOICE_MSR ? &count_msr : &count_perf;
    enum count_obstacle obstacle = wanted->probe(machine, err);
    if (!obstacle)
        *backend = wanted;
    else
        err_prefix(err, "the backend %s cannot be used: ", wanted->name);
    return obstacle;
}
