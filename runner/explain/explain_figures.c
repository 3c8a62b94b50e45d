// SPDX-License-Identifier: MIT
#include "explain_figures.h"

#include "util/quantile.h"
#include "validate/validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double WITHIN = 0.10;

static bool row_counts(const struct explain_row *row, double predicted, const char *limit)
{
    return isfinite(predicted) && row->measured_clk > 0 && isfinite(row->measured_clk) &&
           (!limit || strcmp(row->limit, limit) == 0);
}

struct figures figures_of(const struct explain_row *rows, int n, const double *predicted,
                          const char *limit)
{
    struct figures figures = {.name = limit ? limit : "all"};
    size_t room = (size_t)n + 1;
    double *errors = xcalloc(3 * room, sizeof *errors), *ours = errors + room,
           *theirs = ours + room;
    double sum = 0, within = 0, weights = 0, weighted_sum = 0, weighted_within = 0;
    for (int i = 0; i < n; i++) {
        double clk = predicted ? predicted[i] : rows[i].predicted_clk;
        if (!row_counts(&rows[i], clk, limit))
            continue;
        double error = fabs(clk - rows[i].measured_clk) / rows[i].measured_clk;
        double near = error <= WITHIN;
        ours[figures.blocks] = clk;
        theirs[figures.blocks] = rows[i].measured_clk;
        errors[figures.blocks++] = error;
        sum += error;
        within += near;
        weights += rows[i].weight;
        weighted_sum += rows[i].weight * error;
        weighted_within += rows[i].weight * near;
    }
    double each = figures.blocks ? 100.0 / figures.blocks : (double)NAN;
    double part = weights > 0 ? 100 / weights : (double)NAN;
    quantile_sort(errors, figures.blocks);
    figures.within_10_percent = within * each;
    figures.mape_percent = sum * each;
    figures.median_percent =
        figures.blocks ? 100 * quantile_median(errors, figures.blocks) : (double)NAN;
    figures.kendall_tau =
        figures.blocks ? validate_kendall(ours, theirs, figures.blocks) : (double)NAN;
    figures.weighted_within_10_percent = weighted_within * part;
    figures.weighted_mape_percent = weighted_sum * part;
    free(errors);
    return figures;
}

static bool limit_is_known(const struct explain_figures *figures, const char *limit)
{
    for (int i = 0; i < figures->nlimits; i++)
        if (strcmp(figures->limits[i].name, limit) == 0)
            return true;
    return false;
}

void explain_figures_make(const struct explain_row *rows, int n, struct explain_figures *figures)
{
    *figures = (struct explain_figures){.rows = n};
    figures->all = figures_of(rows, n, NULL, NULL);
    for (int i = 0; i < n; i++) {
        const char *limit = rows[i].limit;
        figures->refused += *rows[i].refused != '\0';
        figures->failed += *rows[i].failure != '\0';
        if (!row_counts(&rows[i], rows[i].predicted_clk, NULL) || !*limit ||
            limit_is_known(figures, limit) || figures->nlimits == FIGURES_LIMITS_MAX)
            continue;
        figures->limits[figures->nlimits++] = figures_of(rows, n, NULL, limit);
    }
}
