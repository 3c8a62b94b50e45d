// SPDX-License-Identifier: MIT
// The ports of a run: their structure (store_ports.c), and their use by each form
// (store_port_results.c).
#pragma once

#include "ports/ports.h"
#include "store.h"
#include "store_form.h"
#include "util/mem.h"

#include <stddef.h>
#include <stdint.h>

// A port model with the texts of the forms (form.form) that its indices stand for: the caller's
// numbering of forms has no meaning in the database. "": none.
struct stored_port_model {
    struct port_model model; // when read, `filler` and blockers are -1
    const char *filler;
    const char *class_blockers[PORT_CLASSES_MAX];
    const char *unit_blockers[PORT_UNITS_MAX], *unit_wholes[PORT_UNITS_MAX];
    int64_t ways[PORT_WAYS]; // when read: results of the run by the way they were found
};
// Stores the model of a run; an error if the run has one.
int store_put_port_model(struct store *store, int64_t run_id, const struct stored_port_model *model,
                         struct err *err);
// Reads the model of a run, its texts owned by the arena. Returns 1 if found, 0 if none, -1.
int store_get_port_model(struct store *store, int64_t run_id, struct stored_port_model *model,
                         struct arena *arena, struct err *err);
// Finds the newest run with a port model: measured here on this CPU (cpu_id), or with cpu_id 0 of
// this uarch; with both 0 and NULL any run, those measured here first. Returns 1 if found, 0 if
// none, -1.
int store_newest_port_run(struct store *store, int64_t cpu_id, const char *uarch, int64_t *run_id,
                          struct err *err);

// A mix that was timed for a form, as in struct port_evidence.
struct measured_port_trial {
    const char *blocker; // name of the class or unit, "front end", or form of the probe
    int blockers, instances;
    struct port_timing timing;
};
struct measured_ports {
    const struct list_row *row;
    struct form_place place;
    const char *method; // "throughput" or "counter"
    const struct port_usage *usage;
    double decode_clk; // cycles that an instance takes more if it is decoded than from the µop
                       // cache; 0: none, NaN: not tried
    const struct measured_port_trial *trials;
    int ntrials;
    // Events of the timings' uops (as the oracle has them) and slots, if they are counted.
    const char *const *groups;
    int ngroups;
    const char *slots; // NULL: not counted
};
// Stores all results or none. Forms that the run has not measured otherwise are added to it; a
// second port result of a form is an error. `model`: of the run, for the texts of the port sets.
int store_put_port_results(struct store *store, int64_t run_id, const struct port_model *model,
                           const struct measured_ports *results, int n, struct err *err);
// Returns 1 if this run has a port result of the row, 0 if not, or -1.
int store_has_port_result(struct store *store, int64_t run_id, const struct list_row *row,
                          struct err *err);

// The identity of a form in a database.
struct stored_form {
    const char *form, *enc; // enc: as encoding_name() writes it
    int bits;
};
// Returns the identity of a row, sharing its text.
struct stored_form stored_form_of(const struct list_row *row);
// Compares by form (strcmp), enc, bits: the order of the arrays below, for bsearch().
int stored_form_compare(const struct stored_form *a, const struct stored_form *b);
// Finds the item with this form among n items of `bytes` bytes in that order, each of which begins
// with its struct stored_form. NULL: none.
const void *stored_form_find(const struct stored_form *form, const void *items, int n,
                             size_t bytes);
// Finds an item by a move of mix_breakers(), whose text lacks the encoding: there is one of each.
const void *stored_form_find_move(const char *move, const void *items, int n, size_t bytes);

struct stored_port_usage {
    struct stored_form form;
    struct port_usage usage; // units are indices in the run's model
    double decode_clk;       // as in struct measured_ports
};
struct stored_port_usages {
    struct stored_port_usage *usages; // in the order of stored_form_compare()
    int n;
};
// Reads all port results of a run, also those that are not ok. Owned by the arena.
int store_get_port_usages(struct store *store, int64_t run_id, struct stored_port_usages *usages,
                          struct arena *arena, struct err *err);
// Returns the usage of a form if it is ok; else NULL.
const struct port_usage *stored_port_usage_ok(const struct stored_port_usages *usages,
                                              const struct stored_form *form);

// One throughput per form, as chosen by derive/form_throughput.h, in the order of
// stored_form_compare().
struct stored_throughput {
    struct stored_form form;
    double value_clk;
};
struct stored_throughputs {
    struct stored_throughput *values;
    int n;
};
// Reads the valid throughputs of a run or, if it measured none, of the newest run on its CPU that
// did. values->values is owned by the arena.
int store_get_throughputs(struct store *store, int64_t run_id, struct stored_throughputs *values,
                          struct arena *arena, struct err *err);
// Sorts them into that order.
void stored_throughputs_sort(struct stored_throughputs *values);
// Returns the throughput of a form; NaN: none.
double stored_throughput_clk(const struct stored_throughputs *values,
                             const struct stored_form *form);
