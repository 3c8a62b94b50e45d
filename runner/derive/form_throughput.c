// SPDX-License-Identifier: MIT
#include "form_throughput.h"

#include "plan/plan.h"

#include <math.h>
#include <string.h>

void form_throughput_add(struct form_throughput *form, const char *variant, double clk)
{
    if (strcmp(variant, PLAN_SETTING) == 0 || plan_is_aside(variant))
        return;
    if (strncmp(variant, "slow", strlen("slow")) == 0)
        form->slow_clk = form->nslow++ ? fmax(form->slow_clk, clk) : clk;
    else
        form->quick_clk = form->nquick++ ? fmin(form->quick_clk, clk) : clk;
}

double form_throughput_clk(const struct form_throughput *form)
{
    if (form->nquick)
        return form->quick_clk;
    return form->nslow ? form->slow_clk : (double)NAN;
}
