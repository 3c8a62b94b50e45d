// SPDX-License-Identifier: MIT
#include "stat_threshold.h"

#include "util/mem.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CMASK_MAX = 255 };

// Meaning of a comparison: at least `n + plus`, or with `inv` fewer than that.
static const struct {
    const char *name;
    unsigned plus;
    bool inv;
} comparisons[] = {
    {"lt", 0, true },
    {"le", 1, true },
    {"gt", 1, false},
    {"ge", 0, false},
};

static int threshold_parse(const char *text, struct stat_threshold *threshold, bool *plain,
                           struct err *err)
{
    const char *number = text;
    unsigned plus = 0;
    *plain = true;
    threshold->inv = false;
    for (size_t i = 0; i < ARRAY_LEN(comparisons); i++)
        if (strncmp(text, comparisons[i].name, 2) == 0) {
            number = text + 2;
            plus = comparisons[i].plus;
            threshold->inv = comparisons[i].inv;
            *plain = false;
        }
    char *end;
    unsigned long value = strtoul(number, &end, 10);
    if (!isdigit((unsigned char)*number) || *end || value > CMASK_MAX)
        return err_set(err, "'%s' is no threshold; there are gt2, ge3, le2, lt3 and 3", text);
    threshold->cmask = (unsigned)value + plus;
    if (threshold->cmask == 0)
        return err_set(err, "'%s' %s", text,
                       threshold->inv ? "is never true: no cycle has fewer than 0 events"
                                      : "is always true: count core_clk instead");
    if (threshold->cmask > CMASK_MAX)
        return err_set(err, "'%s' is more than counters can compare with (%d)", text, CMASK_MAX);
    if (*plain)
        snprintf(threshold->text, sizeof threshold->text, "ge%u", threshold->cmask);
    else
        snprintf(threshold->text, sizeof threshold->text, "%s", text);
    return 0;
}

// Applies the flags of --invert to the thresholds, in the same order.
static int invert_apply(const char *invert, struct stat_threshold *thresholds, const bool *plain,
                        int n, struct err *err)
{
    int i = 0;
    for (const char *at = invert; *at; i++) {
        if ((*at != '0' && *at != '1') || (at[1] && at[1] != ','))
            return err_set(err, "--invert is a list of 0 and 1, not '%s'", invert);
        if (i >= n)
            return err_set(err, "--invert has more flags than --compare has thresholds (%d)", n);
        if (*at == '1') {
            if (!plain[i])
                return err_set(err,
                               "'%s' says itself whether it is inverted; --invert goes with "
                               "plain numbers",
                               thresholds[i].text);
            thresholds[i].inv = true;
            snprintf(thresholds[i].text, sizeof thresholds[i].text, "lt%u", thresholds[i].cmask);
        }
        at += at[1] ? 2 : 1;
    }
    return 0;
}

int stat_thresholds_parse(const char *compare, const char *invert,
                          struct stat_threshold *thresholds, struct err *err)
{
    bool plain[STAT_THRESHOLDS_MAX];
    int n = 0;
    if (!*compare)
        return err_set(err, "the list of thresholds is empty");
    for (const char *at = compare; *at;) {
        char item[16];
        size_t len = strcspn(at, ",");
        if (n == STAT_THRESHOLDS_MAX)
            return err_set(err, "more than %d thresholds", STAT_THRESHOLDS_MAX);
        snprintf(item, sizeof item, "%.*s", (int)len, at);
        if (threshold_parse(item, &thresholds[n], &plain[n], err) != 0)
            return -1;
        n++;
        at += len + (at[len] == ',');
    }
    return invert && invert_apply(invert, thresholds, plain, n, err) != 0 ? -1 : n;
}

int stat_thresholds_series(int n, struct stat_threshold *thresholds)
{
    for (int i = 0; i < n; i++) {
        thresholds[i] = (struct stat_threshold){.cmask = (unsigned)i + 1};
        snprintf(thresholds[i].text, sizeof thresholds[i].text, "ge%d", (i + 1) % 1000);
    }
    return n;
}

struct expansion {
    const struct counter_table *table;
    struct stat_event *events;
    size_t n, capacity;
};

static struct stat_event *expansion_add(struct expansion *e, const struct count_event *event,
                                        int base)
{
    e->events = xgrow(e->events, &e->capacity, e->n + 1, sizeof *e->events);
    e->events[e->n] = (struct stat_event){.event = *event, .base = base < 0 ? (int)e->n : base};
    return &e->events[e->n++];
}

static bool is_clock(const struct count_event *event)
{
    return event->kind == COUNT_HARDWARE && (strncmp(event->hardware.id, "core_clk", 8) == 0 ||
                                             strncmp(event->hardware.id, "ref_clk", 7) == 0);
}

static bool can_compare(const struct count_event *event)
{
    return event->kind == COUNT_HARDWARE && event->hardware.kind == COUNTER_GENERAL &&
           event->hardware.cmask == 0 && !event->hardware.edge && !is_clock(event);
}

// Adds a variant of the event `base`, by modifiers of counter_parse(), named `base:suffix`.
static struct stat_event *variant_add(struct expansion *e, int base, const char *modifiers,
                                      const char *suffix, struct err *err)
{
    struct count_event made = e->events[base].event;
    char text[2 * COUNTER_LABEL_BYTES];
    snprintf(text, sizeof text, "%s%s", made.name, modifiers);
    if (counter_parse(e->table, text, &made.hardware, err) != 0)
        return NULL;
    snprintf(text, sizeof text, "%s:%s", made.name, suffix);
    snprintf(made.name, sizeof made.name, "%.*s", COUNTER_LABEL_BYTES - 1, text);
    return expansion_add(e, &made, base);
}

static int thresholds_add(struct expansion *e, int base, const struct stat_variants *variants,
                          struct err *err)
{
    const struct stat_threshold *thresholds = variants->thresholds;
    for (int i = 0; i < variants->nthresholds; i++) {
        char modifiers[16];
        snprintf(modifiers, sizeof modifiers, ":c=%u%s", thresholds[i].cmask,
                 thresholds[i].inv ? ":i" : "");
        struct stat_event *made = variant_add(e, base, modifiers, thresholds[i].text, err);
        if (!made)
            return -1;
        made->at_least = thresholds[i].inv ? 0 : thresholds[i].cmask;
        made->fewer = thresholds[i].inv ? thresholds[i].cmask : 0;
    }
    return 0;
}

// Adds the cycles of an event, unless a threshold counts them already, and its beginnings.
static int durations_add(struct expansion *e, int base, struct err *err)
{
    bool have = false;
    for (size_t i = (size_t)base + 1; i < e->n; i++)
        have = have || e->events[i].at_least == 1;
    if (!have && !variant_add(e, base, ":c=1", "cycles", err))
        return -1;
    return variant_add(e, base, ":c=1:e", "begins", err) ? 0 : -1;
}

static void clock_add(struct expansion *e, enum count_rings rings)
{
    const struct counter_event *clock = counter_find(e->table, "core_clk");
    for (size_t i = 0; i < e->n; i++)
        if (e->events[i].event.kind == COUNT_HARDWARE &&
            strcmp(e->events[i].event.hardware.id, "core_clk") == 0)
            return;
    if (!clock)
        return;
    struct count_event event = count_event_make(clock, rings);
    expansion_add(e, &event, -1);
}

int stat_events_expand(const struct counter_table *table, const struct count_event *events,
                       int nevents, const struct stat_variants *variants, struct stat_event **out,
                       struct err *err)
{
    struct expansion e = {.table = table};
    int status = 0;
    *out = NULL;
    for (int i = 0; i < nevents && status == 0; i++) {
        int base = (int)e.n;
        expansion_add(&e, &events[i], -1);
        if (!can_compare(&events[i]))
            continue;
        status = thresholds_add(&e, base, variants, err);
        if (status == 0 && variants->durations)
            status = durations_add(&e, base, err);
    }
    if (status != 0) {
        free(e.events);
        return -1;
    }
    if (variants->nthresholds > 0 && nevents > 0)
        clock_add(&e, events[0].kind == COUNT_HARDWARE ? events[0].rings : COUNT_USER);
    *out = e.events;
    return (int)e.n;
}

// Returns the mean count of the variant of base that has this condition; NaN if there is none.
static double condition_mean(const struct stat_event *events, const double *means, int nevents,
                             int base, unsigned at_least, unsigned fewer)
{
    for (int i = 0; i < nevents; i++)
        if (events[i].base == base && i != base && events[i].at_least == at_least &&
            events[i].fewer == fewer && (at_least || fewer))
            return means[i];
    return NAN;
}

static double total_find(const struct stat_event *events, const double *means, int nevents,
                         int base)
{
    for (unsigned k = 1; k <= CMASK_MAX; k++) {
        double total = condition_mean(events, means, nevents, base, k, 0) +
                       condition_mean(events, means, nevents, base, 0, k);
        if (!isnan(total))
            return total;
    }
    for (int i = 0; i < nevents; i++)
        if (events[i].base == i && events[i].event.kind == COUNT_HARDWARE &&
            strcmp(events[i].event.hardware.id, "core_clk") == 0 &&
            events[i].event.rings == events[base].event.rings)
            return means[i];
    return NAN;
}

bool stat_histogram_make(const struct stat_event *events, const double *means, int nevents,
                         int base, struct stat_histogram *histogram)
{
    double total = total_find(events, means, nevents, base), before = total, weighted = 0;
    *histogram = (struct stat_histogram){.total_clk = total};
    if (isnan(total) || total <= 0)
        return false;
    int n = 0;
    while (n < STAT_BUCKETS_MAX - 1) {
        unsigned k = (unsigned)n + 1;
        double at_least = condition_mean(events, means, nevents, base, k, 0);
        if (isnan(at_least))
            at_least = total - condition_mean(events, means, nevents, base, 0, k);
        if (isnan(at_least))
            break;
        histogram->clk[n++] = before - at_least;
        before = at_least;
    }
    if (n == 0)
        return false;
    histogram->clk[n] = before;
    histogram->nbuckets = n + 1;
    for (int i = 0; i <= n; i++)
        weighted += i * histogram->clk[i];
    histogram->mean = weighted / total;
    return true;
}

int stat_duration_find(const struct stat_event *events, int nevents, int cycles)
{
    const struct count_event *a = &events[cycles].event;
    if (a->kind != COUNT_HARDWARE || a->hardware.edge || a->hardware.kind != COUNTER_GENERAL)
        return -1;
    for (int i = 0; i < nevents; i++) {
        const struct count_event *b = &events[i].event;
        if (b->kind == COUNT_HARDWARE && b->hardware.edge && b->rings == a->rings &&
            b->hardware.event == a->hardware.event && b->hardware.umask == a->hardware.umask &&
            b->hardware.cmask == a->hardware.cmask && b->hardware.inv == a->hardware.inv &&
            b->hardware.any == a->hardware.any && b->hardware.select == a->hardware.select)
            return i;
    }
    return -1;
}
