// SPDX-License-Identifier: MIT
// The ports of a run: their structure (store_ports.c), and what each form uses of them
// (store_port_results.c).
#ifndef LATPUT_STORE_PORTS_H
#define LATPUT_STORE_PORTS_H

#include "ports/ports.h"
#include "store.h"
#include "store_form.h"
#include "util/mem.h"

#include <stddef.h>
#include <stdint.h>

// A port model with the forms that its indices stand for, as texts (form.form): in the database the
// caller's numbering of forms has no meaning. "" where there is none.
struct stored_port_model {
    struct port_model model; // out of the store, `filler`, blockers and probes are -1
    const char *filler;
    const char *class_blockers[PORT_CLASSES_MAX];
    const char *unit_blockers[PORT_UNITS_MAX], *unit_wholes[PORT_UNITS_MAX];
    const char *probe_forms[PORT_PROBES_MAX];
    int64_t ways[PORT_WAYS]; // out of the store: results of the run by the way they were found
};
// Once a run; an error if the run has one.
int store_put_port_model(struct store *store, int64_t run_id, const struct stored_port_model *model,
                         struct err *err);
// The model of a run, its texts owned by the arena. 1 found, 0 none, -1 error.
int store_get_port_model(struct store *store, int64_t run_id, struct stored_port_model *model,
                         struct arena *arena, struct err *err);
// The newest run with a port model: of this CPU (cpu_id), measured here, or with cpu_id 0 of this
// uarch; with both 0 and NULL of all, those measured here first. 1 found, 0 none, -1 error.
int store_newest_port_run(struct store *store, int64_t cpu_id, const char *uarch, int64_t *run_id,
                          struct err *err);

// One mix that was timed for a form, as struct port_evidence tells it.
struct measured_port_trial {
    const char *blocker; // name of the class or unit, "front end", or the form of a probe
    int blockers, instances;
    struct port_timing timing;
};
struct measured_ports {
    const struct list_row *row;
    struct form_place place;
    const char *method; // "throughput" or "counter"
    const struct port_usage *usage;
    const struct measured_port_trial *trials;
    int ntrials;
    // The events of the timings' uops (as the oracle has them) and slots, where they are counted.
    const char *const *groups;
    int ngroups;
    const char *slots; // NULL: not counted
};
// All of them or none. Forms that the run has not measured otherwise are added to it; those that it
// has port results of are an error. `model`: of the run, for the texts of the port sets.
int store_put_port_results(struct store *store, int64_t run_id, const struct port_model *model,
                           const struct measured_ports *results, int n, struct err *err);
// Whether this run has a port result of the row. 1, 0, or -1.
int store_has_port_result(struct store *store, int64_t run_id, const struct list_row *row,
                          struct err *err);

// What identifies a form in a database.
struct stored_form {
    const char *form, *enc; // enc: as encoding_name()
    int bits;
};
// That of a row, whose text it has.
struct stored_form stored_form_of(const struct list_row *row);
// By form (strcmp), enc, bits: the order of the arrays below, for bsearch().
int stored_form_compare(const struct stored_form *a, const struct stored_form *b);
// The item with this form among n items of `bytes` bytes in that order, each of which begins with
// its struct stored_form. NULL: there is none.
const void *stored_form_find(const struct stored_form *form, const void *items, int n,
                             size_t bytes);
// The same for a move of mix_breakers(), whose encoding is not in its text: there is one of each.
const void *stored_form_find_move(const char *move, const void *items, int n, size_t bytes);

struct stored_port_usage {
    struct stored_form form;
    struct port_usage usage; // `unit` is the index in the run's model
};
struct stored_port_usages {
    struct stored_port_usage *usages; // in the order of stored_form_compare()
    int n;
};
// All port results of a run, those that are not ok included. Owned by the arena.
int store_get_port_usages(struct store *store, int64_t run_id, struct stored_port_usages *usages,
                          struct arena *arena, struct err *err);
// That of a form, where it is ok; else NULL.
const struct port_usage *stored_port_usage_ok(const struct stored_port_usages *usages,
                                              const struct stored_form *form);

// One throughput a form, as derive/form_throughput.h chooses it, in the order of
// stored_form_compare().
struct stored_throughput {
    struct stored_form form;
    double value_clk;
};
struct stored_throughputs {
    struct stored_throughput *values;
    int n;
};
// The throughputs that are ok of a run, or if it has asked for none, of the newest run on its CPU
// that has. values->values is owned by the arena.
int store_get_throughputs(struct store *store, int64_t run_id, struct stored_throughputs *values,
                          struct arena *arena, struct err *err);
// Puts them in order.
void stored_throughputs_sort(struct stored_throughputs *values);
// That of a form; NaN: there is none.
double stored_throughput_clk(const struct stored_throughputs *values,
                             const struct stored_form *form);

#endif
