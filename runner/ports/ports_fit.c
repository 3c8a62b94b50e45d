// SPDX-License-Identifier: MIT
// The joint fit; see ports_fit.h. The numbers of µops on each set are small integers, and
// fit_judge() returns how far such counts are from all trials together: a single trial may be
// wrong, all of them seldom are. Two descents over single changes and exchanges start from nothing
// and from the counts by inclusion: what the smallest sets show is taken off the sets that contain
// them; the better one wins. Then the other ways to place as many µops are tried, as long as these
// are few. An answer is ambiguous if the second best costs about as much, or if it leaves something
// unexplained.
#include "ports_fit.h"
#include "ports_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SETS_MAX = 64, RIVALS_MAX = 20000, RIVAL_UOPS_MAX = 6 };
// Weight of µops by which a rival is faster than the best answer. With PORT_IMPOSSIBLE in its place
// 25 forms of a recorded Sapphire Rapids are ambiguous, with 4 12.
static const double RIVAL_WEIGHT = 4;
static const double UOP_COST = 0.03;    // of a µop more or less than slots
static const double RESIDUAL_MAX = 0.8; // µops; more is ambiguous
static const double LIMIT_COST = 30;    // of a µop more than slots allow
static const double STEADY_TIMES = 1.5; // of the fewest µops that trials of a class show: the most
// Shares of the largest loss of a group of dispatch, which a form that begins another one cuts
// short: GROUP_CUT shows at least if the form stands among others in no order, and mixes lose
// GROUP_LOST. Zen 5, pairs of 390 forms: 0.3 puts 88 % within a tenth, 0.2 and 0.5 put 87 %.
static const double GROUP_CUT = PORT_NOISE, GROUP_LOST = PORT_NOISE;

struct fit {
    const struct port_model *model;
    const struct port_trials *trials;
    struct port_trial best[PORT_CLASSES_MAX]; // by class: the trial that shows the fewest µops
    double least[PORT_CLASSES_MAX];           // these µops; NaN: no trial
    double counted[PORT_CLASSES_MAX];         // by class: fewest µops on its ports; NaN: no counts
    // By class: the trial of fewest blockers that fillers explain; no instances: there is none.
    struct port_trial waits[PORT_CLASSES_MAX];
    double stall_clk;        // of the front end; 0: none
    int uops_most;           // µops that slots allow; 0: any number
    uint32_t sets[SETS_MAX]; // sets that µops may choose from: classes first, then their parts
    int nsets;
    int counts[SETS_MAX];
    int order[PORT_CLASSES_MAX]; // of judging the classes
};

double port_trial_uops(const struct port_model *model, const struct port_trial *trial)
{
    int size = port_set_size(model->classes[trial->class].set);
    return (trial->clk * size - trial->blockers) / trial->instances;
}

double port_controls_uops(const struct port_controls *controls, const struct port_uses *uses,
                          int class)
{
    double uops = 0;
    for (int i = 0; controls && i < controls->n; i++)
        for (int u = 0; u < uses->n && controls->controls[i].class == class; u++)
            if (uses->use[u].set == controls->controls[i].set)
                uops += uses->use[u].uops * controls->controls[i].uops;
    return uops;
}

static double trial_beside(const struct port_trial *trial)
{
    return (double)trial->blockers / trial->instances;
}

// Returns the usage of these counts, the widest sets first.
static struct port_usage fit_usage(const struct fit *fit, const int *counts)
{
    struct port_usage usage = {.detail = ""};
    int used[SETS_MAX], sizes[SETS_MAX], n = 0;
    for (int i = 0; i < fit->nsets; i++) {
        int size = counts[i] > 0 ? port_set_size(fit->sets[i]) : 0, at = n;
        if (size == 0)
            continue;
        for (n++; at > 0 && sizes[at - 1] < size; at--) {
            used[at] = used[at - 1];
            sizes[at] = sizes[at - 1];
        }
        used[at] = i;
        sizes[at] = size;
    }
    for (int i = 0; i < n && usage.uses.n < PORT_USES_MAX; i++) {
        usage.uses.use[usage.uses.n++] = (struct port_use){fit->sets[used[i]], counts[used[i]]};
        usage.uses.uops += counts[used[i]];
    }
    return usage;
}

static double fit_predict(const struct fit *fit, const struct port_usage *usage,
                          const struct port_trial *trial)
{
    const struct port_usage blocker = ports_one_uop(fit->model->classes[trial->class].set);
    const struct port_usage *usages[] = {usage, &blocker};
    const int counts[] = {trial->instances, trial->blockers};
    return port_bound(fit->model, usages, counts, 2);
}

// Returns the time of a trial in front of the ports, each run of blockers in whole cycles, if the
// form stalls the front end. Up to that, the trial shows no µops.
static double fit_front_clk(const struct fit *fit, const struct port_trial *trial)
{
    if (fit->stall_clk <= 0)
        return 0;
    return trial->instances * (fit->trials->front_clk + 1) +
           (double)trial->blockers / fit->model->width;
}

// Returns the least time of the form by itself; infinite if no such time is valid.
static double fit_alone_clk(const struct port_trials *trials)
{
    return fmin(trials->shared_clk, fmin(trials->alone_clk, trials->best_clk));
}

// Returns the cost of counts of ports: the µops bound to each class while its blockers keep it
// busy, and all µops. These equations do not depend on the scheduler.
static double fit_counted_cost(const struct fit *fit, const int *counts, int uops)
{
    double cost = 0;
    for (int c = 0; c < fit->model->nclasses; c++) {
        int bound = 0;
        for (int i = 0; i < fit->nsets; i++)
            if ((fit->sets[i] & ~fit->model->classes[c].set) == 0)
                bound += counts[i];
        if (!isnan(fit->counted[c]))
            cost += PORT_IMPOSSIBLE * fabs(fit->counted[c] - bound);
    }
    if (!isnan(fit->trials->counted_uops))
        cost += PORT_IMPOSSIBLE * fabs(fit->trials->counted_uops - uops);
    return cost;
}

struct fit_misfit {
    double cost;     // of what the counts leave unexplained, in µops
    double residual; // largest deviation of a trial, in µops
    double faster;   // sum of the µops by which trials are faster than the counts allow
};

// Returns the deviation of the trial of a class from the usage, in µops; NaN: it has no trial.
static double fit_deviation(const struct fit *fit, const struct port_usage *usage, int class)
{
    const struct port_trial *trial = &fit->best[class];
    if (isnan(fit->least[class]))
        return (double)NAN;
    double predicted_clk =
        fmax(fit_predict(fit, usage, trial), fmin(trial->clk, fit_front_clk(fit, trial)));
    const struct port_trial *waits = &fit->waits[class];
    // A form that waits beside some blockers waits beside more of them, too.
    if (predicted_clk < trial->clk && waits->instances &&
        trial_beside(trial) >= trial_beside(waits) && fit_predict(fit, usage, waits) <= waits->clk)
        return 0;
    double uops = (trial->clk - predicted_clk) * port_set_size(fit->model->classes[class].set) /
                  trial->instances;
    // The usage explains what controls show.
    double shown = port_controls_uops(fit->trials->controls, &usage->uses, class);
    return uops > 0 ? fmax(0, uops - shown) : uops;
}

static void misfit_add(struct fit_misfit *is, const struct fit *fit, int class, double deviation)
{
    double scale = 1 + PORT_EXCESS * fmax(fit->least[class], 0);
    if (isnan(deviation))
        return;
    is->cost += (deviation < 0 ? -deviation * PORT_IMPOSSIBLE : deviation) / scale;
    is->faster += fmax(-deviation, 0) / scale;
    is->residual = fmax(is->residual, fabs(deviation) / scale);
}

// Adds the cost of each class, until the sum is over `enough`. The class that ended the judgement
// of an earlier answer comes first.
static void fit_judge_trials(struct fit *fit, const struct port_usage *usage, double enough,
                             struct fit_misfit *is)
{
    double deviations[PORT_CLASSES_MAX];
    struct fit_misfit so_far = *is;
    int n = fit->model->nclasses;
    for (int i = 0; i < n; i++) {
        int class = fit->order[i];
        deviations[class] = fit_deviation(fit, usage, class);
        misfit_add(&so_far, fit, class, deviations[class]);
        if (so_far.cost > enough + PORT_EQUAL) {
            memmove(fit->order + 1, fit->order, (size_t)i * sizeof *fit->order);
            fit->order[0] = class;
            *is = so_far;
            return;
        }
    }
    for (int class = 0; class < n; class ++) // a fixed order of the sum
        misfit_add(is, fit, class, deviations[class]);
}

// Returns the misfit of the counts. A cost over `enough` is only a lower bound.
static struct fit_misfit fit_judge(struct fit *fit, const int *counts, double enough)
{
    struct port_usage usage = fit_usage(fit, counts);
    bool known =
        !isnan(fit->trials->slots) && fit->stall_clk <= 0; // a stall has slots without µops
    double slots = known ? round(fit->trials->slots) : 0;
    struct fit_misfit is = {.cost = UOP_COST * fabs(usage.uses.uops - slots)};
    is.cost += fit_counted_cost(fit, counts, usage.uses.uops);
    if (fit->uops_most > 0 && usage.uses.uops > fit->uops_most)
        is.cost += LIMIT_COST * (usage.uses.uops - fit->uops_most);
    for (int i = fit->model->nclasses; i < fit->nsets; i++)
        is.cost += UOP_COST * counts[i];
    fit_judge_trials(fit, &usage, enough, &is);
    if (is.cost > enough)
        return is;
    double alone_clk = fit_alone_clk(fit->trials);
    double ports_clk = ports_one_clk(fit->model, &usage);
    if (ports_clk > alone_clk * (1 + PORT_EXCESS))
        is.cost += PORT_IMPOSSIBLE * (ports_clk / alone_clk - 1);
    // A narrower set that explains the throughput is better than a wide one that leaves it open.
    double known_clk = fit->stall_clk > 0 ? fmax(ports_clk, fit->trials->front_clk) : ports_clk;
    if (alone_clk > known_clk * (1 + PORT_EXCESS) && !isnan(fit->trials->best_clk))
        is.cost += fmin(alone_clk / fmax(known_clk, PORT_EQUAL) - 1, PORT_NOISE);
    return is;
}

// Returns the cost of a rival, an answer of as many µops on other sets. Trials that are faster than
// a rival allows cost more than in a fit: a scheduler that binds early shows a set that contains
// another as the smaller one, only in part. (Golden Cove, loads of 512 bits on two of the three
// ports of loads: `vpaddq z z m64{1to8}` shows 0.73 to 0.91 µops on the two. A µop there would show
// in full, so it is also the third port's.)
static double fit_rival_cost(const struct fit_misfit *rival, const struct fit_misfit *best)
{
    return rival->cost + (RIVAL_WEIGHT - PORT_IMPOSSIBLE) * fmax(0, rival->faster - best->faster);
}

static void fit_trials(struct fit *fit)
{
    for (int c = 0; c < fit->model->nclasses; c++)
        fit->least[c] = fit->counted[c] = (double)NAN;
    for (int i = 0; i < fit->trials->n; i++) {
        const struct port_trial *trial = &fit->trials->trials[i];
        double uops = port_trial_uops(fit->model, trial);
        fit->counted[trial->class] = fmin(fit->counted[trial->class], trial->counted_uops);
        struct port_trial *waits = &fit->waits[trial->class];
        if (port_trial_waits(fit->model, fit->trials, trial) &&
            (!waits->instances || trial_beside(trial) < trial_beside(waits)))
            *waits = *trial;
        if (isnan(uops) || fit->least[trial->class] <= uops ||
            fit->trials->shares >> trial->class & 1)
            continue;
        fit->least[trial->class] = uops;
        fit->best[trial->class] = *trial;
    }
}

static void fit_add_set(struct fit *fit, uint32_t set)
{
    for (int i = 0; i < fit->nsets; i++)
        if (fit->sets[i] == set)
            return;
    if (set && fit->nsets < SETS_MAX)
        fit->sets[fit->nsets++] = set;
}

// Fills in the classes, and the common and separate ports of pairs of them: no form has µops there
// only, so these sets have no blocker. With counters of ports, also the ports where µops of the
// form were counted.
static void fit_sets(struct fit *fit)
{
    const struct port_model *model = fit->model;
    for (int c = 0; c < model->nclasses; c++) {
        fit->order[c] = c;
        fit->sets[fit->nsets++] = model->classes[c].set;
    }
    for (int a = 0; a < model->nclasses; a++)
        for (int b = 0; b < model->nclasses; b++) {
            uint32_t both = model->classes[a].set & model->classes[b].set;
            if (!both || a == b || !(fit->least[a] > PORT_NOISE))
                continue;
            fit_add_set(fit, both);
            fit_add_set(fit, model->classes[a].set & ~both);
        }
    fit_add_set(fit, fit->trials->touched);
}

// Fills in the counts by inclusion: the µops shown by a set, less the counts of the sets inside it.
static void fit_start(struct fit *fit)
{
    const struct port_model *model = fit->model;
    for (int c = 0; c < model->nclasses; c++) {
        double inside = 0;
        for (int j = 0; j < c; j++)
            if ((model->classes[j].set & ~model->classes[c].set) == 0)
                inside += fit->counts[j];
        double count = isnan(fit->least[c]) ? 0 : round(fit->least[c] - inside);
        fit->counts[c] = count > 0 ? (int)count : 0;
    }
}

// Takes one step down, the best of all single changes and exchanges. *best: the misfit of the
// counts. *second: the cost of the best of those that were not taken.
static bool fit_step(struct fit *fit, struct fit_misfit *best, double *second)
{
    int best_add = -1, best_remove = -1;
    const struct fit_misfit before = *best;
    *second = (double)INFINITY;
    for (int add = -1; add < fit->nsets; add++)
        for (int remove = -1; remove < fit->nsets; remove++) {
            if (add == remove || (remove >= 0 && fit->counts[remove] == 0) ||
                (add >= 0 && add < fit->model->nclasses && !(fit->least[add] > PORT_NOISE)))
                continue;
            int counts[SETS_MAX];
            memcpy(counts, fit->counts, sizeof counts);
            if (add >= 0)
                counts[add]++;
            if (remove >= 0)
                counts[remove]--;
            // A part of a set without a blocker is only a closer answer, not another; once there is
            // one, others may be as good.
            bool answer = add < fit->model->nclasses || remove >= fit->model->nclasses;
            const struct fit_misfit other =
                fit_judge(fit, counts, answer ? fmax(best->cost, *second) : best->cost);
            if (answer)
                *second = fmin(*second, add >= 0 && remove >= 0 ? fit_rival_cost(&other, &before)
                                                                : other.cost);
            if (other.cost < best->cost - PORT_EQUAL) {
                *best = other;
                best_add = add;
                best_remove = remove;
            }
        }
    if (best_add >= 0)
        fit->counts[best_add]++;
    if (best_remove >= 0)
        fit->counts[best_remove]--;
    return best_add >= 0 || best_remove >= 0;
}

static struct fit_misfit fit_descend(struct fit *fit, double *second)
{
    struct fit_misfit best = fit_judge(fit, fit->counts, (double)INFINITY);
    while (fit_step(fit, &best, second))
        ;
    return best;
}

// Returns true if µops were counted on ports outside the model.
static bool fit_outside(const struct port_trials *trials)
{
    return round(trials->counted_total - trials->counted_uops) > 0;
}

static bool fit_is_counted(const struct fit *fit)
{
    bool counted = !isnan(fit->trials->counted_uops);
    for (int c = 0; c < fit->model->nclasses; c++)
        counted |= !isnan(fit->counted[c]);
    return counted;
}

// Returns true if the form may have µops on ports without a blocker: there are fewer µops than
// slots, and ports or time where the rest could be.
static bool fit_unseen(const struct port_model *model, const struct port_trials *trials,
                       const struct port_usage *usage)
{
    if (!(round(usage->front.slots) > usage->uses.uops) ||
        round(trials->counted_total) == usage->uses.uops)
        return false;
    // A form without ports may only be slow to be renamed.
    double renamed_clk =
        usage->uses.uops == 0 ? usage->front.slots / (PORT_RENAME_SHARE * model->width) : 0;
    return port_usage_wait_clk(usage) > renamed_clk ||
           (model->fast != 0 && round(usage->front.slots) > 1);
}

// Returns true if the counts on `set` and all that contain it are no more than trials show: µops
// bound to a class show beside its blockers.
static bool rival_possible(const struct fit *fit, const int *counts, uint32_t set)
{
    for (int c = 0; c < fit->model->nclasses; c++) {
        int bound = 0;
        if ((set & ~fit->model->classes[c].set) != 0)
            continue;
        for (int i = 0; i < fit->model->nclasses; i++)
            if ((fit->sets[i] & ~fit->model->classes[c].set) == 0)
                bound += counts[i];
        if (bound > fit->least[c] + PORT_NOISE)
            return false;
    }
    return true;
}

// Answers that are tried beside that in fit->counts.
struct rivals {
    struct fit *fit;
    int counts[SETS_MAX]; // the one under way
    int tries;
    struct fit_misfit best;
    double second; // the cost of the best other
};

// Compares the answer under way with the best one, which it replaces if it costs less.
static void rivals_compare(struct rivals *rivals)
{
    struct fit *fit = rivals->fit;
    const struct fit_misfit other =
        fit_judge(fit, rivals->counts, fmax(rivals->best.cost, rivals->second));
    rivals->tries++;
    if (memcmp(rivals->counts, fit->counts, sizeof fit->counts) == 0)
        return;
    if (other.cost >= rivals->best.cost - PORT_EQUAL) {
        rivals->second = fmin(rivals->second, fit_rival_cost(&other, &rivals->best));
        return;
    }
    rivals->second = fmin(rivals->second, fit_rival_cost(&rivals->best, &other));
    memcpy(fit->counts, rivals->counts, sizeof fit->counts);
    rivals->best = other;
}

// Tries every way to put `uops` on the classes from `from` on. Few are possible.
static void rivals_try(struct rivals *rivals, int from, int uops)
{
    const struct fit *fit = rivals->fit;
    if (uops == 0)
        rivals_compare(rivals);
    for (int c = from; uops > 0 && c < fit->model->nclasses && rivals->tries < RIVALS_MAX; c++) {
        rivals->counts[c]++;
        if (fit->least[c] > PORT_NOISE && rival_possible(fit, rivals->counts, fit->sets[c]))
            rivals_try(rivals, c, uops - 1);
        rivals->counts[c]--;
    }
}

// Tries all answers of as many µops, one less and one more: exchanges of one for one do not lead
// from every answer to every other.
static struct fit_misfit fit_beyond(struct fit *fit, struct fit_misfit best, double *second)
{
    struct rivals rivals = {.fit = fit, .best = best, .second = *second};
    int uops = 0;
    for (int i = 0; i < fit->nsets; i++)
        uops += fit->counts[i];
    for (int n = uops > 1 ? uops - 1 : 1; n <= uops + 1 && uops <= RIVAL_UOPS_MAX; n++)
        rivals_try(&rivals, 0, n);
    *second = rivals.second;
    return rivals.best;
}

// Returns the cycles beyond its slots that an instance costs few fillers. Slots are measured beside
// many, so the trials then wait for the front end, and not for dispatch.
static double fit_stall_clk(const struct port_model *model, const struct port_trials *trials)
{
    double slots_clk = trials->slots / model->width;
    if (!(trials->front_clk - slots_clk > PORT_NOISE))
        return 0;
    return fmax(trials->front_clk, trials->delivery_clk) - slots_clk;
}

bool port_trial_waits(const struct port_model *model, const struct port_trials *trials,
                      const struct port_trial *trial)
{
    double beside = trial_beside(trial);
    double front_clk = (trials->among_fillers + trials->slots) / model->width;
    return beside >= trials->among_fillers && trials->among_clk > front_clk + PORT_NOISE &&
           trial->clk <= (1 + PORT_EXCESS) * trial->instances * trials->among_clk &&
           fit_stall_clk(model, trials) <= 0;
}

// Returns the least slots of microcode: it may begin a group of dispatch, which cuts no other short
// among fillers of whole groups, and instances one after another take no more slots than their time
// has.
static double trials_slots_least(const struct port_model *model, const struct port_trials *trials)
{
    double least = trials->slots;
    if (least > PORT_GROUP_SLOTS && trials->slots_whole > PORT_GROUP_SLOTS)
        least = fmin(least, trials->slots_whole);
    double alone = fmin(trials->alone_clk, trials->best_clk) * model->width;
    return least > PORT_GROUP_SLOTS && alone > PORT_GROUP_SLOTS ? fmin(least, alone) : least;
}

// Sets the slots and the stall. Many others hide a stall, so it costs many less than few. A form
// that costs any number of others the same begins a group of dispatch: it takes its slots, and on
// average half of the largest loss of the group that it cuts short.
static void usage_take_front(struct port_usage *usage, const struct port_model *model,
                             const struct port_trials *trials, double stall_clk)
{
    bool hidden =
        isnan(trials->front_many_clk) || trials->front_clk - trials->front_many_clk > PORT_NOISE;
    double rest = model->width - 1; // what a group may lose
    usage->front.slots = usage->front.mixed = trials->slots;
    if (stall_clk > 0 && hidden) {
        usage->front.stall_clk = stall_clk;
        return;
    }
    if (stall_clk > 0) {
        usage->front.slots = usage->front.mixed =
            fmax(fmax(trials->slots, trials->slots_mixed), trials->slots + rest / 2);
        return;
    }
    usage->front.slots = usage->front.mixed = trials_slots_least(model, trials);
    if (usage->front.slots > PORT_GROUP_SLOTS &&
        trials->slots_mixed - usage->front.slots > GROUP_CUT * rest)
        usage->front.mixed = usage->front.slots + GROUP_LOST * rest;
}

// Finds the counts that explain the trials best. *second: the cost of the best other answer.
static struct fit_misfit fit_search(struct fit *fit, double *second)
{
    struct fit other = *fit;
    double other_second;
    struct fit_misfit best = fit_descend(fit, second); // from nothing
    fit_start(&other);
    const struct fit_misfit other_best = fit_descend(&other, &other_second);
    if (other_best.cost < best.cost) {
        *fit = other;
        *second = other_second;
        best = other_best;
    }
    return fit_beyond(fit, best, second);
}

// Returns the time of an answer's ports, divided by the time of the form by itself.
static double fit_explained(const struct fit *fit)
{
    const struct port_usage usage = fit_usage(fit, fit->counts);
    return ports_one_clk(fit->model, &usage) / fit_alone_clk(fit->trials);
}

// Returns true if the answer has more µops than another one only on sets that show about as many
// beside any number of blockers.
static bool fit_steady(const struct fit *fit, const struct fit *other)
{
    for (int t = 0; t < fit->trials->n; t++) {
        const struct port_trial *trial = &fit->trials->trials[t];
        int class = trial->class;
        if (fit->counts[class] > other->counts[class] &&
            port_trial_uops(fit->model, trial) > STEADY_TIMES * fit->least[class])
            return false;
    }
    return true;
}

// Drops the limit of µops where it contradicts the trials: without it the ports take the form's own
// time, which they do not with it; or the limit is the only doubt. Returns true if the latter: a
// port may be kept by something other than µops.
static bool fit_beyond_slots(struct fit *fit, struct fit_misfit *best, double *second)
{
    struct fit any = *fit;
    any.uops_most = 0;
    memset(any.counts, 0, sizeof any.counts);
    double any_second, explained = fit_explained(fit);
    if (fit->uops_most == 0 || !(best->residual > RESIDUAL_MAX ||
                                 (explained < 1 - PORT_EXCESS && best->residual > PORT_NOISE)))
        return false;
    const struct fit_misfit any_best = fit_search(&any, &any_second);
    double any_explained = fit_explained(&any);
    bool own = explained < 1 - PORT_EXCESS && fabs(any_explained - 1) <= PORT_EXCESS;
    bool kept = best->residual > RESIDUAL_MAX && fit_steady(&any, fit);
    if (any_best.residual > best->residual - PORT_NOISE || !(own || kept))
        return false;
    *fit = any;
    *best = any_best;
    *second = any_second;
    return !own;
}

struct port_usage port_fit(const struct port_model *model, const struct port_trials *trials)
{
    struct fit fit = {.model = model,
                      .trials = trials,
                      .stall_clk = fit_stall_clk(model, trials),
                      .uops_most = trials->uops_most};
    fit_trials(&fit);
    fit_sets(&fit);
    double second;
    struct fit_misfit best = fit_search(&fit, &second);
    bool kept = fit_beyond_slots(&fit, &best, &second);
    struct port_usage usage = fit_usage(&fit, fit.counts);
    usage_take_front(&usage, model, trials, fit.stall_clk);
    usage.residual = best.residual;
    usage.counted = fit_is_counted(&fit);
    usage.ambiguous = kept || best.residual > RESIDUAL_MAX ||
                      second - best.cost < PORT_NOISE_BEST ||
                      fit_counted_cost(&fit, fit.counts, usage.uses.uops) > PORT_IMPOSSIBLE / 2.0;
    double alone_clk = fit_alone_clk(trials);
    double ports_clk = ports_one_clk(model, &usage);
    if (isfinite(alone_clk) && alone_clk > ports_clk * (1 + PORT_EXCESS))
        ports_demand_put(&usage.demands, -1)->clk = alone_clk;
    usage.ambiguous |= isfinite(alone_clk) && ports_clk > alone_clk * (1 + PORT_EXCESS);
    if (fit_unseen(model, trials, &usage) || fit_outside(trials))
        usage.ambiguous = true;
    return usage;
}
