// SPDX-License-Identifier: MIT
// Simulated CPUs made of port sets, for tests of published names: forms of real lists that use the
// sets, and what became of these in a model.
#ifndef LATPUT_NAMES_FIXTURE_H
#define LATPUT_NAMES_FIXTURE_H

#include "lists_fixture.h"
#include "port_sim.h"
#include "ports_forms.h"
#include "ports_names.h"
#include "ports_names_file.h"

// A family with the CPU made for it. Ports of the CPU that the file does not name are known by
// their names here as well.
struct made_cpu {
    char uarch[32];
    struct port_names names;
    struct sim_cpu sim;
    char ports[PORTS_MAX][PORT_LABEL_MAX]; // by number in sim
    int nports;
};
static inline const struct list_row *find_row(const char *form, void *data)
{
    (void)data;
    for (int i = 0; i < lists_all.nrows; i++)
        if (lists_all.rows[i].row->bits == 64 && strcmp(lists_all.rows[i].row->form, form) == 0)
            return lists_all.rows[i].row;
    return NULL;
}

static inline uint32_t made_port(struct made_cpu *cpu, const char *name)
{
    for (int i = 0; i < cpu->nports; i++)
        if (strcmp(cpu->ports[i], name) == 0)
            return UINT32_C(1) << i;
    assert_true(cpu->nports < PORTS_MAX);
    snprintf(cpu->ports[cpu->nports], PORT_LABEL_MAX, "%.*s", PORT_LABEL_MAX - 1, name);
    return UINT32_C(1) << cpu->nports++;
}

// The CPU's ports, or those that it gets now, of names separated by blanks.
static inline uint32_t made_set(struct made_cpu *cpu, const char *names)
{
    uint32_t set = 0;
    char name[PORT_LABEL_MAX];
    for (int used; sscanf(names, "%7s%n", name, &used) == 1; names += used)
        set |= made_port(cpu, name);
    return set;
}

static inline struct sim_form *made_form(struct made_cpu *cpu, const char *name, int cost)
{
    for (int i = 0; i < cpu->sim.nforms; i++)
        if (strcmp(cpu->sim.forms[i].name, name) == 0)
            return NULL;
    struct sim_form *form = &cpu->sim.forms[cpu->sim.nforms++];
    *form = (struct sim_form){.slots = 1, .cost = cost, .unit = -1};
    snprintf(form->name, sizeof form->name, "%s", name);
    return form;
}

static inline void made_use(struct made_cpu *cpu, const char *name, uint32_t set)
{
    const struct list_row *row = find_row(name, NULL);
    struct sim_form *form = made_form(cpu, name, row ? ports_form(row).blocker_cost : 0);
    if (form && set)
        form->uses[form->nuses++] = (struct port_use){set, 1};
}

static inline uint32_t sim_ports_of(const struct sim_cpu *sim, const struct port_class *class)
{
    return sim->forms[class->blocker].uses[0].set;
}

static inline const struct port_class *class_of(const struct sim_cpu *sim,
                                                const struct port_model *model, uint32_t set)
{
    for (int c = 0; c < model->nclasses; c++)
        if (sim->forms[model->classes[c].blocker].nuses == 1 &&
            sim_ports_of(sim, &model->classes[c]) == set)
            return &model->classes[c];
    return NULL;
}

// Nothing but the systematic names is left, and they look like none that the file has.
static inline void expect_systematic(const struct port_model *model, const struct port_names *names)
{
    for (int port = 0; port < PORTS_MAX; port++) {
        char label[PORT_LABEL_MAX];
        port_label(model, port, label);
        assert_true(label[0] == 'u');
    }
    assert_int_equal(model->nhidden, 0);
    for (int c = 0; c < model->nclasses; c++) {
        const char *name = model->classes[c].name;
        for (int s = 0; s < names->n; s++)
            assert_string_not_equal(name, names->sets[s].name);
        for (int p = 0; p < names->npublished; p++)
            assert_string_not_equal(name, names->published[p]);
    }
}

#endif
