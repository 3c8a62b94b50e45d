// SPDX-License-Identifier: MIT
// Figures of merit of a table over measured mixes; see validate.h.
#include "validate.h"

#include "util/csvtext.h"

#include <math.h>
#include <stdlib.h>

enum { WORST = 20, GROUPS_MAX = 32 };
static const double WITHIN = 0.10;

// Returns |predicted - measured| / measured.
static double validate_error(const struct validate_mix *mix)
{
    return fabs(mix->predicted_clk - mix->measured_clk) / mix->measured_clk;
}

// Traits of the forms of a mix.
struct traits {
    unsigned classes; // bit mask
    unsigned widths;  // bit mask over `widths` below
    bool ambiguous;
};

// A group of mixes: those with all of `classes` and `widths`.
struct group {
    const char *name;
    unsigned classes, widths;
    bool only;     // no other widths
    int ambiguous; // forms with ambiguous ports: 1 at least one, 0 none, -1 either
};

static const int widths[] = {128, 256, 512};

static struct traits mix_traits(const struct validate_forms *forms, const struct port_mix *mix)
{
    struct traits traits = {0};
    for (int i = 0; i < mix->nparts; i++) {
        const struct validate_form *form = &forms->forms[mix->parts[i].form];
        traits.classes |= 1u << form->class;
        for (size_t w = 0; w < ARRAY_LEN(widths); w++)
            traits.widths |= form->vector_bits == widths[w] ? 1u << w : 0;
        traits.ambiguous |= form->usage.ambiguous;
    }
    return traits;
}

static bool group_has(const struct group *group, const struct traits *traits)
{
    return (traits->classes & group->classes) == group->classes &&
           (traits->widths & group->widths) == group->widths &&
           (!group->only || traits->widths == group->widths) &&
           (group->ambiguous < 0 || traits->ambiguous == (group->ambiguous == 1));
}

// Makes the groups that any CPU may have; the classes come first.
static int groups_make(struct group groups[GROUPS_MAX])
{
    static const struct group others[] = {
        {"no vectors",       0, 0, true,  -1},
        {"only 128 bits",    0, 1, true,  -1},
        {"only 256 bits",    0, 2, true,  -1},
        {"only 512 bits",    0, 4, true,  -1},
        {"256 and 128 bits", 0, 3, false, -1},
        {"512 and 128 bits", 0, 5, false, -1},
        {"512 and 256 bits", 0, 6, false, -1},
        {"certain ports",    0, 0, false, 0 },
        {"ambiguous ports",  0, 0, false, 1 },
    };
    int n = 0;
    for (int class = 0; class < VALIDATE_CLASSES; ++class)
        groups[n++] = (struct group){validate_class_name(class), 1u << class, 0, false, -1};
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        groups[n++] = others[i];
    return n;
}

static struct validation_class group_figures(const struct group *group,
                                             const struct validate_mixes *mixes,
                                             const struct traits *traits)
{
    struct validation_class figures = {.name = group->name};
    double sum = 0;
    int64_t within = 0;
    for (int i = 0; i < mixes->n; i++) {
        if (!group_has(group, &traits[i]))
            continue;
        double error = validate_error(&mixes->mixes[i]);
        figures.mixes++;
        sum += error;
        within += error <= WITHIN;
    }
    double n = (double)figures.mixes;
    figures.mape_percent = n > 0 ? 100 * sum / n : (double)NAN;
    figures.within_10_percent = n > 0 ? 100 * (double)within / n : (double)NAN;
    return figures;
}

// Appends "2*add r64 r64; 1*mulps x x".
static void validate_mix_text(const struct validate_forms *forms, const struct port_mix *mix,
                              struct strbuf *out)
{
    for (int i = 0; i < mix->nparts; i++)
        strbuf_printf(out, "%s%d*%s", i ? "; " : "", mix->parts[i].count,
                      forms->forms[mix->parts[i].form].row->form);
}

static int compare_errors(const void *a, const void *b)
{
    const struct validate_mix *left = *(const struct validate_mix *const *)a;
    const struct validate_mix *right = *(const struct validate_mix *const *)b;
    double difference = validate_error(right) - validate_error(left);
    if (difference != 0)
        return difference > 0 ? 1 : -1;
    return (left > right) - (left < right); // as they were drawn
}

// Names so many of the mixes, worst first.
static void figures_worst(const struct validate_forms *forms, const struct validate_mixes *mixes,
                          int most, struct arena *arena, struct validation *result)
{
    size_t room = (size_t)mixes->n + 1;
    const struct validate_mix **worst = arena_alloc(arena, room * sizeof *worst);
    struct validation_mix *texts = arena_alloc(arena, room * sizeof *texts);
    int n = mixes->n < most ? mixes->n : most;
    for (int i = 0; i < mixes->n; i++)
        worst[i] = &mixes->mixes[i];
    qsort(worst, (size_t)mixes->n, sizeof(const struct validate_mix *), compare_errors);
    for (int i = 0; i < n; i++) {
        struct strbuf text = {0};
        validate_mix_text(forms, &worst[i]->mix, &text);
        texts[i] = (struct validation_mix){arena_strdup(arena, strbuf_text(&text)),
                                           worst[i]->measured_clk, worst[i]->predicted_clk};
        strbuf_free(&text);
    }
    result->worst = texts;
    result->nworst = n;
}

void validate_name_all(const struct validate_forms *forms, const struct validate_mixes *mixes,
                       struct arena *arena, struct validation *result)
{
    figures_worst(forms, mixes, mixes->n, arena, result);
}

void validate_shorten(const struct validate_forms *forms, struct validate_mixes *mixes)
{
    size_t bytes = 0;
    for (int i = 0; i < mixes->n; i++) {
        struct strbuf text = {0};
        validate_mix_text(forms, &mixes->mixes[i].mix, &text);
        bytes += store_validation_bytes(strbuf_text(&text));
        strbuf_free(&text);
        if (bytes > STORE_VALIDATION_BYTES_MAX)
            mixes->n = i;
    }
}

static double figures_kendall(const struct validate_mixes *mixes)
{
    double *both = xcalloc(2 * (size_t)mixes->n + 1, sizeof *both);
    for (int i = 0; i < mixes->n; i++) {
        both[i] = mixes->mixes[i].measured_clk;
        both[mixes->n + i] = mixes->mixes[i].predicted_clk;
    }
    double tau = validate_kendall(both, both + mixes->n, mixes->n);
    free(both);
    return tau;
}

struct validation validate_figures(const struct validate_forms *forms,
                                   const struct validate_mixes *mixes, uint64_t seed,
                                   struct arena *arena)
{
    struct group groups[GROUPS_MAX];
    int ngroups = groups_make(groups);
    struct traits *traits = arena_alloc(arena, ((size_t)mixes->n + 1) * sizeof *traits);
    for (int i = 0; i < mixes->n; i++)
        traits[i] = mix_traits(forms, &mixes->mixes[i].mix);
    struct validation_class *classes = arena_alloc(arena, (size_t)ngroups * sizeof *classes);
    const struct group any = {.ambiguous = -1};
    struct validation_class all = group_figures(&any, mixes, traits);
    struct validation result = {.seed = (int64_t)seed,
                                .mixes = mixes->n,
                                .layouts = VALIDATE_LAYOUTS,
                                .mape_percent = all.mape_percent,
                                .within_10_percent = all.within_10_percent,
                                .kendall_tau = figures_kendall(mixes),
                                .classes = classes};
    for (int g = 0; g < ngroups; g++) {
        struct validation_class figures = group_figures(&groups[g], mixes, traits);
        if (figures.mixes > 0)
            classes[result.nclasses++] = figures;
    }
    figures_worst(forms, mixes, WORST, arena, &result);
    return result;
}

// Writes the lower bounds of a prediction.
static void bounds_csv(const struct port_model *model, const struct port_limits *limits,
                       struct strbuf *out)
{
    int unit = 0;
    for (int u = 1; u < model->nunits; u++)
        unit = limits->unit_clk[u] > limits->unit_clk[unit] ? u : unit;
    double unit_clk = model->nunits ? limits->unit_clk[unit] : 0;
    strbuf_printf(out, ",%.3f,%.3f,%.3f,%s,%.3f\n", fmax(limits->front_clk, limits->delivery_clk),
                  limits->ports_clk, unit_clk, unit_clk > 0 ? model->units[unit].name : "",
                  limits->unknown_clk);
}

void validate_csv(const struct validate_forms *forms, const struct port_model *model,
                  const struct validate_mixes *mixes, struct strbuf *out)
{
    strbuf_puts(out, "mix,measured_clk,predicted_clk,vector_bits,ambiguous,front_clk,"
                     "ports_clk,unit_clk,unit,unknown_clk\n");
    for (int i = 0; i < mixes->n; i++) {
        const struct validate_mix *mix = &mixes->mixes[i];
        struct traits traits = mix_traits(forms, &mix->mix);
        struct strbuf text = {0};
        int bits = 0;
        for (size_t w = 0; w < ARRAY_LEN(widths); w++)
            bits = traits.widths & 1u << w ? widths[w] : bits;
        validate_mix_text(forms, &mix->mix, &text);
        csv_put_text(out, strbuf_text(&text));
        strbuf_printf(out, ",%.3f,%.3f,%d,%d", mix->measured_clk, mix->predicted_clk, bits,
                      traits.ambiguous);
        struct port_limits limits;
        validate_limits(forms, model, &mix->mix, &limits);
        bounds_csv(model, &limits, out);
        strbuf_free(&text);
    }
}
