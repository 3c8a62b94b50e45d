// SPDX-License-Identifier: MIT
// Ports that depend on the width of vectors in flight. Some cores give vector µops of any width
// other ports while one of 512 bits waits in the scheduler: Intel's close port 1 to vectors, and
// µops of port 1 alone go to port 5. The blockers of the narrow structure show that: a few wide
// forms beside many of them make them slower than ports explain. Then wide forms have a structure
// of their own, found beside those blockers that keep their ports: general-purpose forms, and
// vector forms with one port. Sets of forms of 512 bits are found by the same search as all others.
#include "ports_discover.h"

#include <math.h>
#include <stdlib.h>

enum {
    FEW = 3,            // wide forms: one waits at any time, and they take little time
    CONFIRM_ROUNDS = 2, // second looks at slow mixes: a disturbed core is slow, too
};

// Narrow class beside the representative of a wide cluster.
struct beside {
    int class, cluster;
    double clk, most; // most: if its blockers' ports are the same
};

struct wide_search {
    struct discovery *d; // of the wide forms
    struct port_model *model;
    struct beside *besides; // narrow class major
    int nwide;              // clusters of wide forms, which come first
    bool *brings;           // by cluster: beside it narrow blockers use other ports
    bool depends;
};

static bool class_is_vector(const struct wide_search *search, int class)
{
    return search->d->forms[search->model->classes[class].blocker].bits > 0;
}

static struct port_mix beside_mix(const struct port_class *class, int wide, int few)
{
    return (struct port_mix){
        {{wide, few}, {class->blocker, port_set_size(class->set) * 2 * PORT_BUSY_CLK}},
        2,
        1u << MIX_INTERLEAVED | 1u << MIX_SHUFFLED
    };
}

static struct port_mix wide_mix(const struct wide_search *search, const struct beside *beside)
{
    const struct discovery *d = search->d;
    return beside_mix(&search->model->classes[beside->class],
                      d->candidates[d->clusters[beside->cluster].rep].form, FEW);
}

// Times the mixes that are slower than their ports explain, or all; the least of their times stays.
static int wide_time(struct wide_search *search, bool all, struct err *err)
{
    int n = 0, nbesides = search->model->nclasses * search->nwide;
    struct port_mix *mixes = xcalloc((size_t)nbesides + 1, sizeof *mixes);
    struct port_timing *timings = xcalloc((size_t)nbesides + 1, sizeof *timings);
    struct beside **which = xcalloc((size_t)nbesides + 1, sizeof *which);
    for (int i = 0; i < nbesides; i++) {
        if (!all && !(search->besides[i].clk > search->besides[i].most))
            continue;
        which[n] = &search->besides[i];
        mixes[n++] = wide_mix(search, &search->besides[i]);
    }
    int status =
        n ? ports_time(search->d->oracle, "beside wide vectors", mixes, n, timings, err) : 0;
    for (int i = 0; i < n && status == 0; i++)
        if (timings[i].outcome == OUTCOME_OK)
            which[i]->clk = fmin(which[i]->clk, timings[i].clk);
    free(mixes);
    free(timings);
    free(which);
    return status;
}

// Times every narrow class beside every kind of wide form.
static int wide_besides(struct wide_search *search, struct err *err)
{
    const struct discovery *d = search->d;
    for (int i = 0; i < search->model->nclasses * search->nwide; i++) {
        int class = i / search->nwide, cluster = i % search->nwide;
        int size = port_set_size(search->model->classes[class].set);
        // At worst the wide form takes all its time on these ports.
        double own =
            FEW *
            fmax(1, ceil(d->candidates[d->clusters[cluster].rep].clk * size - PORT_NOISE_ALONE));
        double uops = size * 2 * PORT_BUSY_CLK + own;
        search->besides[i] = (struct beside){
            class, cluster, (double)NAN, (1 + PORT_EXCESS) * fmax(uops / size, uops / d->width)};
    }
    int status = wide_time(search, true, err);
    for (int round = 0; round < CONFIRM_ROUNDS && status == 0; round++)
        status = wide_time(search, false, err);
    return status;
}

static const struct beside *beside_at(const struct wide_search *search, int class, int cluster)
{
    return &search->besides[class * search->nwide + cluster];
}

// Returns how many kinds of wide forms slow the class down.
static int class_slowed(const struct wide_search *search, int class)
{
    int slower = 0;
    for (int k = 0; k < search->nwide && class_is_vector(search, class); k++)
        slower += beside_at(search, class, k)->clk > beside_at(search, class, k)->most;
    return slower;
}

// Chooses the teller, the class that shows which wide forms change the ports of others: the one
// that fewest of them slow down, since some classes depend on loads and stores as well. A class
// that is slow beside fewer than half as many as the slowest one shows something other than width.
static void wide_teller(struct wide_search *search)
{
    struct port_model *model = search->model;
    int fewest = search->nwide + 1, most = 0;
    for (int class = 0; class < model->nclasses; class ++)
        most = class_slowed(search, class) > most ? class_slowed(search, class) : most;
    for (int class = 0; class < model->nclasses; class ++) {
        int slower = class_slowed(search, class);
        if (slower > 0 && 2 * slower >= most && slower < fewest) {
            fewest = slower;
            model->teller = class;
        }
    }
    search->depends = model->teller >= 0;
    for (int k = 0; k < search->nwide && search->depends; k++) {
        const struct beside *beside = beside_at(search, model->teller, k);
        int blockers = port_set_size(model->classes[model->teller].set) * 2 * PORT_BUSY_CLK;
        search->brings[k] = beside->clk > beside->most;
        if (search->brings[k])
            model->teller_clk = fmax(model->teller_clk, beside->clk / (blockers + FEW));
    }
}

// Returns true if most wide forms that bring other ports slow the class's blocker down.
static bool class_slower(const struct wide_search *search, int class)
{
    int slower = 0, brings = 0;
    for (int k = 0; k < search->nwide; k++) {
        const struct beside *beside = beside_at(search, class, k);
        brings += search->brings[k];
        slower += search->brings[k] && beside->clk > beside->most;
    }
    return 2 * slower > brings;
}

// Returns true if the class's blocker keeps its ports beside wide forms. Vectors that have a choice
// may have another one of the same size, if classes that overlap with theirs are slower.
static bool class_stays(const struct wide_search *search, int class)
{
    const struct port_model *model = search->model;
    if (!search->depends || !class_is_vector(search, class) ||
        port_set_size(model->classes[class].set) == 1)
        return !search->depends || !class_slower(search, class);
    uint32_t together = ports_component(model, model->classes[class].set);
    for (int c = 0; c < model->nclasses; c++)
        if (model->classes[c].set & together && class_slower(search, c))
            return false;
    return true;
}

// Makes the classes that stay clusters with a known set, after the wide ones.
static void wide_fix(struct wide_search *search)
{
    struct discovery *d = search->d;
    for (int c = 0; c < search->model->nclasses; c++) {
        struct port_class *class = &search->model->classes[c];
        bool stays = class_stays(search, c);
        class->holds = stays ? PORT_ALWAYS : PORT_NARROW;
        if (!stays || d->nclusters == PORT_CLASSES_MAX)
            continue;
        int size = port_set_size(class->set);
        d->candidates[d->ncandidates] = (struct candidate){.form = class->blocker,
                                                           .clk = class->blocker_clk,
                                                           .size = size,
                                                           .cluster = d->nclusters};
        d->clusters[d->nclusters++] = (struct cluster){.rep = d->ncandidates++,
                                                       .size = size,
                                                       .members = 1,
                                                       .state = CLUSTER_FIXED,
                                                       .set = class->set};
    }
}

static bool model_has_set(const struct port_model *model, uint32_t set)
{
    for (int c = 0; c < model->nclasses; c++)
        if (model->classes[c].set == set)
            return true;
    return false;
}

// Inserts a class by size.
static void model_insert(struct port_model *model, const struct port_class *class)
{
    int at = model->nclasses++;
    for (; at > 0 && port_set_size(model->classes[at - 1].set) > port_set_size(class->set); at--) {
        model->classes[at] = model->classes[at - 1];
        model->teller += model->teller == at - 1;
    }
    model->classes[at] = *class;
}

static void wide_classes(struct wide_search *search)
{
    struct discovery *d = search->d;
    struct port_model *model = search->model;
    for (int c = 0; c < search->nwide; c++) {
        const struct cluster *cluster = &d->clusters[c];
        const struct candidate *rep = &d->candidates[cluster->rep];
        if (!cluster->set || model->nclasses == PORT_CLASSES_MAX ||
            (!search->brings[c] && model_has_set(model, cluster->set)))
            continue;
        const struct port_class class = {
            .set = cluster->set,
            .blocker = rep->form,
            .blocker_clk = rep->clk,
            .members = cluster->members,
            .holds = search->brings[c] ? PORT_WIDE : PORT_WIDE_FORMS,
        };
        model_insert(model, &class);
        for (int port = 0; port < PORTS_MAX; port++)
            if (class.set & UINT32_C(1) << port && port >= model->nports)
                model->nports = port + 1;
    }
}

static int wide_place(struct wide_search *search, struct err *err)
{
    if (wide_besides(search, err) != 0)
        return -1;
    wide_teller(search);
    wide_fix(search);
    if (discover_pairs(search->d, err) != 0 || discover_sets(search->d, err) != 0)
        return -1;
    wide_classes(search);
    search->model->residual = fmax(search->model->residual, discover_residual(search->d));
    return 0;
}

int discover_wide(const struct discovery *narrow, int nforms, struct port_model *model,
                  struct err *err)
{
    struct discovery *d = xcalloc(1, sizeof *d);
    *d = (struct discovery){.oracle = narrow->oracle,
                            .forms = narrow->forms,
                            .width = narrow->width,
                            .filler = narrow->filler,
                            .wide = true};
    struct wide_search search = {.d = d, .model = model};
    int status = discover_kinds(d, nforms, err);
    if (status == 0 && d->nclusters > 0) {
        size_t n = (size_t)model->nclasses * (size_t)d->nclusters + 1;
        search.nwide = d->nclusters;
        search.besides = xcalloc(n, sizeof *search.besides);
        search.brings = xcalloc((size_t)d->nclusters, sizeof *search.brings);
        status = wide_place(&search, err);
    }
    free(search.besides);
    free(search.brings);
    free(d->pairs);
    free(d->candidates);
    free(d->eliminated);
    free(d);
    return status;
}

// --- inference ---

static bool ports_class_holds(const struct port_model *model, int class, enum ports_map map,
                              bool moved)
{
    enum port_holds holds = model->classes[class].holds;
    if (map == PORTS_NARROW)
        return holds == PORT_ALWAYS || holds == PORT_NARROW;
    if (moved || holds != PORT_ALWAYS)
        return holds == PORT_WIDE || (!moved && holds == PORT_WIDE_FORMS);
    for (int c = 0; c < model->nclasses; c++) // the wide blocker of the set serves, too
        if (model->classes[c].holds == PORT_WIDE &&
            model->classes[c].set == model->classes[class].set)
            return false;
    return true;
}

bool ports_wide_apart(const struct port_model *model)
{
    bool apart = model->teller >= 0;
    for (int c = 0; c < model->nclasses; c++)
        apart |= model->classes[c].holds != PORT_ALWAYS;
    return apart;
}

void ports_model_map(const struct port_model *model, enum ports_map map, bool moved,
                     struct port_model *to, const char *names[PORT_CLASSES_MAX])
{
    *to = *model;
    to->nclasses = 0;
    for (int c = 0; c < model->nclasses; c++)
        if (ports_class_holds(model, c, map, moved)) {
            names[to->nclasses] = model->classes[c].name;
            to->classes[to->nclasses++] = model->classes[c];
        }
    if (moved)
        to->filler = -1; // slots are known
}

struct port_mix ports_teller_mix(const struct port_model *model, int form)
{
    return beside_mix(&model->classes[model->teller], form, 1);
}

bool ports_teller_slower(const struct port_model *model, const struct port_timing *timing,
                         double alone_clk)
{
    const struct port_class *teller = &model->classes[model->teller];
    int blockers = port_set_size(teller->set) * 2 * PORT_BUSY_CLK;
    return timing->outcome == OUTCOME_OK &&
           timing->clk - alone_clk > blockers * (teller->blocker_clk + model->teller_clk) / 2;
}
