// SPDX-License-Identifier: MIT
// The model of a CPU: names and texts of its ports, and how mixes of its forms are timed.
#include "ports_internal.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Unstable mixes of a series, as a share and as a number: more than both are of a disturbed
// machine, and timing them again would not help.
static const double UNSTABLE_SHARE = 0.2;
static const double UNSTABLE_FEW = 20;
static const double ENOUGH = 1.01; // of the predicted time: other orders gain nothing

const char *port_holds_name(enum port_holds holds)
{
    static const char *const names[] = {"always", "narrow", "wide", "wide forms"};
    return names[holds];
}

bool port_class_is_wide(const struct port_class *class)
{
    return class->holds == PORT_WIDE || class->holds == PORT_WIDE_FORMS;
}

void port_label(const struct port_model *model, int port, char label[PORT_LABEL_MAX])
{
    if (model->port_names[port][0])
        snprintf(label, PORT_LABEL_MAX, "%s", model->port_names[port]);
    else
        snprintf(label, PORT_LABEL_MAX, "u%d", port % PORTS_MAX);
}

bool port_before(const struct port_model *model, int a, int b)
{
    const char *name_a = model->port_names[a], *name_b = model->port_names[b];
    return *name_a && (!*name_b || strverscmp(name_a, name_b) < 0);
}

int port_set_ports(const struct port_model *model, uint32_t set, int ports[PORTS_MAX])
{
    int n = 0;
    for (int port = 0; port < PORTS_MAX; port++) {
        if (!(set & UINT32_C(1) << port))
            continue;
        int at = n++;
        for (; at > 0 && port_before(model, port, ports[at - 1]); at--)
            ports[at] = ports[at - 1];
        ports[at] = port;
    }
    return n;
}

// Writes a set as vendors do: the letters that all names begin with, then the one digit of each.
// Returns false if the names differ in more, or a port is already called so.
static bool ports_contract(const struct port_model *model, const int *ports, int n, char text[64])
{
    size_t letters = strcspn(model->port_names[ports[0]], "0123456789");
    size_t len = letters;
    memcpy(text, model->port_names[ports[0]], letters);
    for (int i = 0; i < n; i++) {
        const char *name = model->port_names[ports[i]];
        if (strncmp(name, text, letters) != 0 || !isdigit((unsigned char)name[letters]) ||
            name[letters + 1] || len == 63)
            return false;
        text[len++] = name[letters];
    }
    text[len] = 0;
    for (int port = 0; port < PORTS_MAX; port++)
        if (strcmp(model->port_names[port], text) == 0)
            return false;
    return true;
}

void port_set_joined(const struct port_model *model, uint32_t set, struct strbuf *out)
{
    char text[64];
    int ports[PORTS_MAX], n = port_set_ports(model, set, ports);
    if (n > 1 && ports_contract(model, ports, n, text)) {
        strbuf_puts(out, text);
        return;
    }
    for (int i = 0; i < n; i++) {
        char label[PORT_LABEL_MAX];
        port_label(model, ports[i], label);
        strbuf_printf(out, "%s%s", i ? "/" : "", label);
    }
}

void port_set_text(const struct port_model *model, uint32_t set, struct strbuf *out)
{
    for (int i = 0; i < model->nclasses; i++)
        if (model->classes[i].set == set && !port_class_is_wide(&model->classes[i])) {
            strbuf_puts(out, model->classes[i].name);
            return;
        }
    for (int i = 0; i < model->nhidden; i++)
        if (model->hidden[i].set == set) {
            strbuf_puts(out, model->hidden[i].name);
            return;
        }
    port_set_joined(model, set, out);
}

void port_usage_text(const struct port_model *model, const struct port_usage *usage,
                     struct strbuf *out)
{
    for (int i = 0; i < usage->uses.n; i++) {
        strbuf_printf(out, "%s%d*", i ? "+" : "", usage->uses.use[i].uops);
        port_set_text(model, usage->uses.use[i].set, out);
    }
}

struct port_usage ports_one_uop(uint32_t set)
{
    struct port_usage usage = {
        .front = {.slots = 1},
          .uses = { .n = 1, .uops = 1}
    };
    usage.uses.use[0] = (struct port_use){set, 1};
    return usage;
}

struct port_demand *ports_demand_put(struct port_demands *demands, int unit)
{
    int d = 0;
    while (d < demands->n && demands->of[d].unit != unit)
        d++;
    assert(d < PORT_DEMANDS_MAX);
    if (d == demands->n)
        demands->of[demands->n++] = (struct port_demand){.unit = unit};
    return &demands->of[d];
}

void ports_demand_drop(struct port_demands *demands, int unit)
{
    int kept = 0;
    for (int d = 0; d < demands->n; d++)
        if (demands->of[d].unit != unit)
            demands->of[kept++] = demands->of[d];
    demands->n = kept;
}

bool ports_waits_only(const struct port_usage *usage)
{
    return usage->demands.n == 0 || (usage->demands.n == 1 && usage->demands.of[0].unit < 0);
}

// Times unstable mixes once more, so that a short disturbance of the core costs no form.
static int ports_time_again(const struct port_oracle *oracle, const struct port_mix *mixes, int n,
                            struct port_timing *timings, struct err *err)
{
    int unstable = 0, status = 0;
    for (int i = 0; i < n; i++)
        unstable += timings[i].outcome == OUTCOME_UNSTABLE;
    if (unstable == 0 || unstable > fmax(UNSTABLE_FEW, n * UNSTABLE_SHARE))
        return 0;
    struct port_mix *again = xcalloc((size_t)unstable, sizeof *again);
    struct port_timing *second = xcalloc((size_t)unstable, sizeof *second);
    int k = 0;
    for (int i = 0; i < n; i++)
        if (timings[i].outcome == OUTCOME_UNSTABLE)
            again[k++] = mixes[i];
    status = oracle->measure(oracle->context, again, unstable, second, err);
    k = 0;
    for (int i = 0; i < n && status == 0; i++)
        if (timings[i].outcome == OUTCOME_UNSTABLE)
            timings[i] = second[k++];
    free(again);
    free(second);
    return status;
}

int ports_time(const struct port_oracle *oracle, const char *what, const struct port_mix *mixes,
               int n, struct port_timing *timings, struct err *err)
{
    if (n == 0)
        return 0;
    if (oracle->step)
        oracle->step(oracle->context, what, n);
    if (oracle->measure(oracle->context, mixes, n, timings, err) != 0)
        return -1;
    return ports_time_again(oracle, mixes, n, timings, err);
}

void ports_put_controls(int filler, int count, struct port_mix mixes[PORT_CONTROLS])
{
    for (int i = 0; i < PORT_CONTROLS; i++)
        mixes[i] = (struct port_mix){{{filler, count}}, 1, 1u << MIX_INTERLEAVED};
}

double ports_controls_clk(const struct port_timing timings[PORT_CONTROLS])
{
    double least = NAN;
    for (int i = 0; i < PORT_CONTROLS; i++)
        if (timings[i].outcome == OUTCOME_OK)
            least = fmin(least, timings[i].clk);
    return least;
}

int ports_time_enough(const struct port_oracle *oracle, const struct port_series *series,
                      struct port_timing *timings, struct err *err)
{
    const struct port_mix *mixes = series->mixes;
    int n = series->n;
    struct port_mix *some = xcalloc((size_t)n + 1, sizeof *some);
    struct port_timing *others = xcalloc((size_t)n + 1, sizeof *others);
    int *which = xcalloc((size_t)n + 1, sizeof *which), nothers = 0;
    for (int i = 0; i < n; i++) {
        unsigned orders = mixes[i].orders & MIX_ORDERS_ALL;
        some[i] = mixes[i];
        some[i].orders ^= orders & (orders - 1); // leaves the first
    }
    int status = ports_time(oracle, series->what, some, n, timings, err);
    for (int i = 0; i < n && status == 0; i++) {
        unsigned first = some[i].orders & MIX_ORDERS_ALL;
        bool enough =
            timings[i].outcome == OUTCOME_OK && timings[i].clk <= ENOUGH * series->enough_clk[i];
        if (enough || first == (mixes[i].orders & MIX_ORDERS_ALL))
            continue;
        which[nothers] = i;
        some[nothers] = mixes[i];
        some[nothers++].orders ^= first;
    }
    if (status == 0)
        status = ports_time(oracle, series->what, some, nothers, others, err);
    for (int k = 0; k < nothers && status == 0; k++) {
        struct port_timing *timing = &timings[which[k]];
        if (others[k].outcome == OUTCOME_OK &&
            (timing->outcome != OUTCOME_OK || others[k].clk < timing->clk))
            *timing = others[k];
    }
    free(some);
    free(others);
    free(which);
    return status;
}

void ports_tell(const struct port_evidence *evidence, const char *blocker,
                const struct port_mix *mix, const struct port_timing *timing)
{
    if (evidence)
        evidence->tell(evidence->context, mix->parts[0].form, blocker,
                       mix->nparts > 1 ? mix->parts[1].count : 0, mix->parts[0].count, timing);
}

uint32_t ports_component(const struct port_model *model, uint32_t set)
{
    uint32_t before;
    do {
        before = set;
        for (int i = 0; i < model->nclasses; i++)
            if (model->classes[i].set & set)
                set |= model->classes[i].set;
    } while (set != before);
    return set;
}

// Marks the name of a set that exists only beside wide forms: it may be another set of the same
// ports.
static void class_mark_wide(struct port_class *class)
{
    size_t len = strlen(class->name);
    if (port_class_is_wide(class))
        snprintf(class->name + len, sizeof class->name - len, ".%d", PORT_WIDE_BITS);
}

void ports_name_class(struct port_class *class, const char *name)
{
    snprintf(class->name, sizeof class->name, "%s", name);
    class_mark_wide(class);
}

void ports_name(struct port_model *model)
{
    uint32_t components[PORT_CLASSES_MAX];
    int ncomponents = 0;
    for (int i = model->nclasses - 1; i >= 0; i--) { // largest sets first
        struct port_class *class = &model->classes[i];
        uint32_t component = ports_component(model, class->set);
        int c = 0, twins = 0;
        while (c < ncomponents && components[c] != component)
            c++;
        if (c == ncomponents)
            components[ncomponents++] = component;
        for (int j = model->nclasses - 1; j > i; j--)
            twins += port_set_size(model->classes[j].set) == port_set_size(class->set) &&
                     port_class_is_wide(&model->classes[j]) == port_class_is_wide(class) &&
                     (model->classes[j].set & component);
        char letter = (char)('A' + c % 26);
        snprintf(class->name, sizeof class->name, "%c%d", letter, port_set_size(class->set));
        if (twins)
            snprintf(class->name, sizeof class->name, "%c%d%c", letter, port_set_size(class->set),
                     'a' + twins % 26);
        class_mark_wide(class);
    }
}

bool port_forms_clash(const struct port_form *a, const struct port_form *b)
{
    return (a->x87 && b->mmx) || (a->mmx && b->x87);
}

bool port_forms_mix(const struct port_form *a, const struct port_form *b)
{
    return !port_forms_clash(a, b) && (!a->upper || !b->upper || a->upper == b->upper);
}

struct port_mix ports_pair(int a, double a_clk, int b, double b_clk)
{
    return (struct port_mix){
        {{a, (int)ceil(PORT_LONG_CLK / a_clk)}, {b, (int)ceil(PORT_LONG_CLK / b_clk)}},
        2,
        MIX_ORDERS_FEW | PORT_MIX_INDEPENDENT
    };
}

double ports_one_clk(const struct port_model *model, const struct port_usage *usage)
{
    const int one = 1;
    return port_bound(model, &usage, &one, 1);
}

void ports_usage_move(const struct port_form *form, struct port_usage *usage)
{
    int moves = form->moves - form->resets;
    usage->front.mixed = port_usage_slots(usage) + moves;
    usage->front.slots += moves;
}

double ports_pair_clk(const struct port_model *model, const struct port_form *forms,
                      const struct port_usage *a, const struct port_usage *b,
                      const struct port_mix *pair)
{
    struct port_usage moved[] = {*a, *b};
    const struct port_usage *usages[] = {&moved[0], &moved[1]};
    const int counts[] = {pair->parts[0].count, pair->parts[1].count};
    for (int i = 0; i < 2; i++)
        ports_usage_move(&forms[pair->parts[i].form], &moved[i]);
    return port_bound(model, usages, counts, 2);
}
