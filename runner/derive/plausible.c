// SPDX-License-Identifier: MIT
// Sanity of counted ports and cycles; see plausible.h. The tolerances are wide: what they let
// through can still be wrong, what they hold back certainly is.
#include "plausible.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A counter starts and stops some cycles beside the code, and the overhead is taken off: both leave
// a fraction of a µop per instance. One that cannot be is off by halves and wholes.
static const double below_zero = 0.02, above_port = 0.03, off_integer = 0.1;
// The gate lets calibrations through that are wrong by a percent or two.
static const double off_calibration = 0.05;
// Counted cycles have no such error. Reference cycles, at another frequency, seldom come so close.
static const double off_link = 0.01;
// Both are timed in turn. A ratio that is further from an integer shows a disturbance, and nothing
// else.
static const double off_ratio = 0.02;

int plausible_port_width(const char *id)
{
    size_t digits = *id == 'p' ? strspn(id + 1, "0123456789ab") : 0;
    return digits && id[1 + digits] == '\0' ? (int)digits : 0;
}

const char *plausible_ports_check(const struct counted_port *ports, int nports, double clk,
                                  int whole, char *text, size_t size)
{
    double sum = 0;
    for (int i = 0; i < nports; i++) {
        const struct counted_port *port = &ports[i];
        int width = plausible_port_width(port->id);
        if (isnan(port->uops)) {
            whole = 0;
            continue;
        }
        if (port->uops < -below_zero) {
            snprintf(text, size, "%s has counted %.2f µops, fewer than none", port->id, port->uops);
            return text;
        }
        if (!width)
            continue;
        if (port->uops > width * clk * (1 + above_port) + below_zero) {
            snprintf(text, size,
                     "%s has counted %.2f µops in %.2f cycles, and %d port%s can take "
                     "%d per cycle",
                     port->id, port->uops, clk, width, width > 1 ? "s" : "", width);
            return text;
        }
        sum += port->uops;
    }
    if (!whole || fabs(sum - round(sum)) <= off_integer)
        return NULL;
    snprintf(text, size,
             "the ports together have counted %.2f µops per instance, which is no whole "
             "number",
             sum);
    return text;
}

const char *plausible_clk_check(double counted_clk, double calibrated_clk, char *text, size_t size)
{
    if (!(counted_clk > 0))
        snprintf(text, size, "%.2f cycles were counted, which is none or fewer", counted_clk);
    else if (!(fabs(counted_clk - calibrated_clk) <= off_calibration * calibrated_clk))
        snprintf(text, size, "%.2f cycles were counted where the calibration says %.2f",
                 counted_clk, calibrated_clk);
    else
        return NULL;
    return text;
}

bool plausible_ratio(double imul_per_add)
{
    return fabs(imul_per_add - round(imul_per_add)) <= off_ratio * imul_per_add;
}

const char *plausible_link_check(double link_clk, double imul_per_add, char *text, size_t size)
{
    double nearest = round(link_clk), ratio = round(imul_per_add);
    if (nearest >= 1 && fabs(link_clk - nearest) <= off_link * nearest) {
        if (ratio < 1 || ratio == nearest || !plausible_ratio(imul_per_add))
            return NULL;
        snprintf(text, size,
                 "a multiplication of the calibration chain has counted %.3f cycles, and takes as "
                 "long as %.3f additions: these are no core cycles",
                 link_clk, imul_per_add);
        return text;
    }
    snprintf(text, size,
             "a multiplication of the calibration chain has counted %.3f cycles, and takes a whole "
             "number: these are no core cycles",
             link_clk);
    return text;
}
