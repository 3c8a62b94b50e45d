// SPDX-License-Identifier: MIT
// The points of a property's sweep; see property.h.
#include "property.h"

#include <math.h>

static double number_any(const struct property_number *number,
                         const struct property_machine *machine, double x, double by)
{
    switch (number->base) {
    case BASE_ONE:
        return number->factor;
    case BASE_X:
        return number->factor * x;
    case BASE_BY:
        return number->factor * by;
    case BASE_CPUS:
        return number->factor * machine->ncpus;
    default:
        return machine->cache_bytes[number->base] > 0
                   ? number->factor * machine->cache_bytes[number->base]
                   : (double)NAN;
    }
}

double property_number_value(const struct property_number *number,
                             const struct property_machine *machine, double x, double by)
{
    double value = number_any(number, machine, x, by);
    return number->most > 0 && value > number->most ? number->most : value;
}

bool property_count_fits(double count)
{
    return count >= 1 && count <= 2e9;
}

// Returns true if the instances per body are valid at this point; else *why has the reason.
static bool property_counts(const struct property *property, const struct property_machine *machine,
                            double x, double by, struct err *why)
{
    double count = property_number_value(&property->count, machine, x, by);
    if (!property_count_fits(count))
        err_set(why, "count is %g at x = %.0f, and it can be 1 to 2,000,000,000", count, x);
    return property_count_fits(count);
}

// Returns the bytes that the data of a point take.
static double property_data_bytes(const struct property *property,
                                  const struct property_machine *machine, double x, double by)
{
    double bytes = 0;
    // Number of processes with data of their own.
    int users = property->corunner == CORUNNER_NONE   ? 1
                : property->corunner == CORUNNER_CORE ? 2
                                                      : machine->ncpus;
    for (int i = 0; i < property->ndata; i++) {
        const struct property_data *data = &property->data[i];
        double own = property_number_value(&data->bytes, machine, x, by);
        double stride = property_number_value(&data->stride, machine, x, by);
        // Beside the nodes of a chase, their order takes four bytes each.
        bool own_each = !(data->fill.flags & CORE_FILL_SHARED);
        bytes += data->fill.frames ? 0 : (own + own / fmax(stride, 1) * 4) * (own_each ? users : 1);
    }
    return bytes;
}

static double to_grain(double x, double grain)
{
    double rounded = floor(x / grain + 0.5) * grain;
    return rounded > 0 ? rounded : grain;
}

// Appends a point unless it is there already. False when there is no more room.
static bool add_point(double values[SWEEP_POINTS_MAX], int *n, double x)
{
    if (*n && values[*n - 1] >= x)
        return true;
    if (*n == SWEEP_POINTS_MAX)
        return false;
    values[(*n)++] = x;
    return true;
}

// Lists the first n CPUs in ascending order; the machine has another one. Returns n.
static int sweep_cpus(const struct property_machine *machine, int n,
                      double values[SWEEP_POINTS_MAX])
{
    for (int i = 0; i < n; i++) {
        double cpu = machine->cpus[i].cpu;
        int at = i;
        for (; at > 0 && values[at - 1] > cpu; at--)
            values[at] = values[at - 1];
        values[at] = cpu;
    }
    return n;
}

static int sweep_points(const struct property_sweep *sweep, double from, double to,
                        double values[SWEEP_POINTS_MAX])
{
    int n = 0;
    if (sweep->rule == SWEEP_VALUES) {
        for (int i = 0; i < sweep->nvalues; i++)
            add_point(values, &n, sweep->values[i]);
        return n;
    }
    for (int i = 0; i < SWEEP_POINTS_MAX; i++) {
        double x =
            sweep->rule == SWEEP_LINEAR ? from + i * sweep->step : from * exp2(i / sweep->step);
        x = to_grain(x, sweep->grain);
        if (x > to || !add_point(values, &n, x))
            break;
    }
    return n;
}

int property_points(const struct property *property, const struct property_machine *machine,
                    double values[SWEEP_POINTS_MAX], double *limit, struct err *why)
{
    const struct property_sweep *sweep = &property->sweep;
    double from = 0, to = 0, bys[SWEEP_POINTS_MAX];
    int nbys = property_by_points(property, machine, bys), n;
    *limit = (double)NAN;
    if (sweep->rule == SWEEP_LINEAR || sweep->rule == SWEEP_GEOMETRIC) {
        from = property_number_value(&sweep->from, machine, 0, 0);
        to = property_number_value(&sweep->to, machine, 0, 0);
        if (isnan(from) || isnan(to)) {
            err_set(why, "the size of a cache that the sweep names is not known");
            return 0;
        }
    }
    n = sweep->rule == SWEEP_CPUS ? sweep_cpus(machine, machine->ncpus + machine->nothers, values)
                                  : sweep_points(sweep, from, to, values);
    int all = n;
    while (n > 0 && property_data_bytes(property, machine, values[n - 1], bys[nbys - 1]) >
                        machine->memory_bytes)
        n--;
    if (n < all && n > 0)
        *limit = values[n - 1];
    if (n == 0)
        err_set(why, "its data need %.0f MiB of memory, and %.0f MiB may be used",
                property_data_bytes(property, machine, values[0], bys[nbys - 1]) / 1048576,
                machine->memory_bytes / 1048576);
    for (int b = 0; b < nbys; b++)
        for (int i = 0; i < n; i++)
            if (!property_counts(property, machine, values[i], bys[b], why))
                return 0;
    return n;
}

int property_by_points(const struct property *property, const struct property_machine *machine,
                       double values[SWEEP_POINTS_MAX])
{
    const struct property_sweep *by = &property->by;
    double from = property_number_value(&by->from, machine, 0, 0);
    double to = property_number_value(&by->to, machine, 0, 0);
    int n = by->rule == SWEEP_NONE   ? 0
            : by->rule == SWEEP_CPUS ? sweep_cpus(machine, machine->ncpus, values)
                                     : sweep_points(by, from, to, values);
    if (n)
        return n;
    values[0] = (double)NAN;
    return 1;
}
