// SPDX-License-Identifier: MIT
// Names of port sets; see port_names.h. The file's sets that are seen must match the model's sets
// of the same forms but for the names of ports: every combination of sets has as many ports on both
// sides.
#include "port_names.h"
#include "port_names_file.h"
#include "ports/ports_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Result of looking for a line's set in the model.
enum sight { SIGHT_NONE, SIGHT_CLASS, SIGHT_HIDDEN };
struct named {
    enum sight sight;
    int class;
    const struct port_usage *usage;
};

struct naming {
    const struct port_names *names;
    struct named sets[PORT_NAMED_MAX];
    int published_of[PORTS_MAX]; // published port of each port of the model; -1: none
};

static int names_form(const struct port_subjects *subjects, const char *name)
{
    for (int i = 0; i < subjects->n; i++)
        if (strcmp(subjects->forms[i].name, name) == 0)
            return i;
    return -1;
}

static int model_class(const struct port_model *model, const struct port_usage *usage)
{
    if (usage->outcome != OUTCOME_OK || usage->uses.n != 1 || usage->uses.uops != 1)
        return -1;
    int found = -1;
    for (int c = 0; c < model->nclasses; c++)
        if (model->classes[c].set == usage->uses.use[0].set &&
            (found < 0 || !port_class_is_wide(&model->classes[c])))
            found = c;
    return found;
}

// Returns true if the form's set may be hidden because it is as large as the front end is wide: it
// shows no ports, or counters showed that many.
static bool usage_hidden(const struct port_model *model, const struct port_usage *usage)
{
    return usage->outcome == OUTCOME_OK &&
           (usage->uses.n == 0 || (usage->uses.n == 1 && usage->uses.uops == 1 &&
                                   port_set_size(usage->uses.use[0].set) >= model->width));
}

static int published_size(const struct port_named_set *set)
{
    return __builtin_popcountll(set->ports);
}

// Finds the set of each line in the model.
static int names_look(struct naming *naming, const struct port_model *model,
                      const struct port_usage *usages, struct err *note)
{
    const struct port_names *names = naming->names;
    int expected = 0, seen = 0;
    for (int i = 0; i < names->n; i++) {
        const struct port_named_set *set = &names->sets[i];
        struct named *named = &naming->sets[i];
        *named = (struct named){SIGHT_NONE, model_class(model, &usages[i]), &usages[i]};
        expected += set->ports != 0;
        if (named->class >= 0)
            named->sight = SIGHT_CLASS;
        else if (!set->ports || usages[i].outcome != OUTCOME_OK)
            continue;
        else if (published_size(set) >= model->width && usage_hidden(model, &usages[i]))
            named->sight = SIGHT_HIDDEN;
        else
            return err_set(note, "%s: %s does not use one known port set", set->name, set->form);
        seen += set->ports && named->sight == SIGHT_CLASS;
    }
    if (seen * 2 < expected)
        return err_set(note, "only %d of %d published sets can be seen", seen, expected);
    return 0;
}

// Drops one of two lines with the same set: the one that names no ports.
static int names_twice(struct naming *naming, int i, int j, struct err *note)
{
    const struct port_named_set *sets = naming->names->sets;
    if (sets[i].ports && sets[j].ports)
        return err_set(note, "%s and %s are the same set here", sets[i].name, sets[j].name);
    naming->sets[sets[i].ports ? j : i].sight = SIGHT_NONE;
    return 0;
}

static bool is_seen(const struct naming *naming, int i)
{
    return naming->sets[i].sight == SIGHT_CLASS && naming->names->sets[i].ports;
}

// Compares sizes and overlaps with the file.
static int names_compare(struct naming *naming, const struct port_model *model, struct err *note)
{
    const struct port_names *names = naming->names;
    for (int i = 0; i < names->n; i++)
        for (int j = 0; j < i; j++)
            if (naming->sets[i].sight == SIGHT_CLASS && naming->sets[j].sight == SIGHT_CLASS &&
                naming->sets[i].class == naming->sets[j].class &&
                names_twice(naming, i, j, note) != 0)
                return -1;
    for (int i = 0; i < names->n; i++)
        for (int j = 0; j <= i && is_seen(naming, i); j++) {
            if (!is_seen(naming, j))
                continue;
            const struct port_named_set *a = &names->sets[i], *b = &names->sets[j];
            int published = __builtin_popcountll(a->ports & b->ports);
            int measured = port_set_size(model->classes[naming->sets[i].class].set &
                                         model->classes[naming->sets[j].class].set);
            if (measured != published)
                return i == j ? err_set(note, "%s has %d ports here, not %d", a->name, measured,
                                        published)
                              : err_set(note, "%s and %s share %d ports here, not %d", a->name,
                                        b->name, measured, published);
        }
    return 0;
}

// Returns the lines, as a bit mask, whose sets contain a port: of the model, or a published one.
static uint32_t port_lines(const struct naming *naming, const struct port_model *model, int port)
{
    uint32_t lines = 0;
    for (int i = 0; i < naming->names->n; i++)
        if (is_seen(naming, i) && model->classes[naming->sets[i].class].set & UINT32_C(1) << port)
            lines |= UINT32_C(1) << i;
    return lines;
}

static uint32_t published_lines(const struct naming *naming, int published)
{
    uint32_t lines = 0;
    for (int i = 0; i < naming->names->n; i++)
        if (is_seen(naming, i) && naming->names->sets[i].ports & UINT64_C(1) << published)
            lines |= UINT32_C(1) << i;
    return lines;
}

// Gives each port of a seen set a published port in the same lines: one of several if they are
// symmetric. This checks all sets together, since pairs of sets may fit when all do not.
static int names_ports(struct naming *naming, const struct port_model *model, struct err *note)
{
    uint64_t taken = 0;
    int ports = 0;
    for (int port = 0; port < PORTS_MAX; port++) {
        uint32_t lines = port_lines(naming, model, port);
        naming->published_of[port] = -1;
        for (int p = 0; p < naming->names->npublished && lines; p++)
            if (!(taken & UINT64_C(1) << p) && published_lines(naming, p) == lines) {
                naming->published_of[port] = p;
                taken |= UINT64_C(1) << p;
                break;
            }
        if (lines && naming->published_of[port] < 0)
            return err_set(note, "the sets do not overlap as published");
        ports += lines != 0;
    }
    for (int p = 0; p < naming->names->npublished; p++)
        ports -= published_lines(naming, p) != 0;
    return ports == 0 ? 0 : err_set(note, "the sets do not overlap as published");
}

// Returns true if the model distinguishes this port from one in the same lines: then nothing tells
// which of them has which name.
static bool port_uncertain(const struct naming *naming, const struct port_model *model, int port)
{
    uint32_t twins = 0, lines = port_lines(naming, model, port);
    for (int other = 0; other < PORTS_MAX; other++)
        if (port_lines(naming, model, other) == lines)
            twins |= UINT32_C(1) << other;
    for (int c = 0; c < model->nclasses; c++) {
        uint32_t inside = model->classes[c].set & twins;
        if (inside && inside != twins)
            return true;
    }
    return false;
}

// Returns the ports of a hidden set in the model; 0 if they cannot be told.
static uint32_t hidden_ports(const struct naming *naming, const struct port_model *model,
                             const struct port_named_set *set)
{
    uint32_t ports = 0, in = 0, out = 0;
    for (int port = 0; port < PORTS_MAX; port++) {
        int published = naming->published_of[port];
        if (published < 0)
            continue;
        bool inside = set->ports & UINT64_C(1) << published;
        ports |= (uint32_t)inside << port;
        *(inside ? &in : &out) |= UINT32_C(1) << port;
    }
    for (int a = 0; a < PORTS_MAX; a++)
        for (int b = 0; b < PORTS_MAX; b++)
            if (in & UINT32_C(1) << a && out & UINT32_C(1) << b &&
                port_lines(naming, model, a) == port_lines(naming, model, b))
                return 0;
    return port_set_size(ports) == published_size(set) ? ports : 0;
}

// Names the hidden sets. A form whose ports were counted must use the ports of the file.
static int names_hidden(const struct naming *naming, struct port_model *model, struct err *note)
{
    for (int i = 0; i < naming->names->n; i++) {
        const struct port_named_set *set = &naming->names->sets[i];
        uint32_t ports =
            naming->sets[i].sight == SIGHT_HIDDEN ? hidden_ports(naming, model, set) : 0;
        if (!ports || model->nhidden == PORT_HIDDEN_MAX)
            continue;
        const struct port_usage *usage = naming->sets[i].usage;
        if (usage->uses.n == 1 && usage->uses.use[0].set != ports)
            return err_set(note, "%s: %s uses other ports", set->name, set->form);
        struct port_hidden *hidden = &model->hidden[model->nhidden++];
        hidden->set = ports;
        snprintf(hidden->name, sizeof hidden->name, "%s", set->name);
    }
    return 0;
}

// Names other sets by their ports, if these have names.
static void names_rest(const struct naming *naming, struct port_model *model)
{
    bool named[PORT_CLASSES_MAX] = {false};
    for (int i = 0; i < naming->names->n; i++)
        if (naming->sets[i].sight == SIGHT_CLASS)
            named[naming->sets[i].class] = true;
    for (int c = 0; c < model->nclasses; c++) {
        int ports[PORTS_MAX], n = port_set_ports(model, model->classes[c].set, ports);
        struct strbuf text = {0};
        for (int p = 0; p < n; p++)
            named[c] |= !model->port_names[ports[p]][0];
        port_set_joined(model, model->classes[c].set, &text);
        if (!named[c] && text.len < PORT_NAME_MAX)
            ports_name_class(&model->classes[c], strbuf_text(&text));
        strbuf_free(&text);
    }
}

static void names_apply(const struct naming *naming, struct port_model *model)
{
    for (int i = 0; i < naming->names->n; i++)
        if (naming->sets[i].sight == SIGHT_CLASS)
            ports_name_class(&model->classes[naming->sets[i].class], naming->names->sets[i].name);
    for (int port = 0; port < PORTS_MAX; port++)
        if (naming->published_of[port] >= 0 && !port_uncertain(naming, model, port))
            snprintf(model->port_names[port], PORT_LABEL_MAX, "%s",
                     naming->names->published[naming->published_of[port]]);
    names_rest(naming, model);
}

int port_names_give(const struct port_subjects *subjects, const struct port_names *names,
                    struct port_model *model, struct err *note, struct err *err)
{
    int which[PORT_NAMED_MAX];
    struct port_usage usages[PORT_NAMED_MAX];
    struct naming naming = {.names = names};
    for (int i = 0; i < names->n; i++) {
        which[i] = names_form(subjects, names->sets[i].form);
        if (which[i] < 0)
            return csv_record_error(names->file.path, names->sets[i].record, -1, err,
                                    "no list has the form '%s' in 64-bit mode",
                                    names->sets[i].form);
    }
    const struct port_question question = {
        .oracle = subjects->oracle, .forms = subjects->forms, .which = which, .n = names->n};
    if (port_infer(&question, model, usages, err) != 0)
        return -1;
    struct port_model named = *model;
    if (names_look(&naming, model, usages, note) == 0 && names_compare(&naming, model, note) == 0 &&
        names_ports(&naming, model, note) == 0 && names_hidden(&naming, &named, note) == 0) {
        names_apply(&naming, &named);
        *model = named;
    }
    return 0;
}

int port_name_sets(const struct port_subjects *subjects, const char *uarch,
                   struct port_model *model, struct err *note, struct err *err)
{
    *note = (struct err){0};
    struct port_names names;
    int found = port_names_load(uarch, &names, err);
    int status = found;
    if (found == 1)
        status = port_names_give(subjects, &names, model, note, err);
    port_names_free(&names);
    return status;
}
