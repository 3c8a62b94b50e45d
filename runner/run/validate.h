// SPDX-License-Identifier: MIT
// How well a table of port usages predicts: random mixes of forms, drawn by a seed, whose measured
// throughput is compared with the bottleneck model's. The usual test of port mappings (Ritter and
// Hack, PMEvo, 2020). Pure but for the oracle.
#ifndef LATPUT_VALIDATE_H
#define LATPUT_VALIDATE_H

#include "list/list.h"
#include "list/select.h"
#include "ports/ports.h"
#include "store/store_ports.h"
#include "store/store_validation.h"
#include "util/mem.h"

// A form that mixes are drawn from.
struct validate_form {
    const struct list_row *row;
    struct port_usage usage; // with that of the moves that stand in front of each instance
    int class;               // index of a name of validate_class_name()
};
enum { VALIDATE_CLASSES = 7 };
const char *validate_class_name(int class);

struct validate_forms {
    struct validate_form *forms;
    int n;
    int left_out; // plannable forms with a usage that are not drawn: their instances wait for each
                  // other
};
// The forms of `rows` that have a usage and whose instances need not wait for each other. usages:
// sorted as store_get_port_usages() gives them. Owned by the arena.
struct validate_forms validate_choose(const struct selected_row *rows, int nrows,
                                      const struct stored_port_usage *usages, int nusages,
                                      struct arena *arena);

// What is tried, and how.
struct validate_trial {
    const struct validate_forms *forms;
    const struct port_model *model;
    const struct port_oracle *oracle; // its form i is forms->forms[i]
    int wanted;                       // mixes
    uint64_t seed;
};
// Draws and measures so many mixes of 2 to 8 forms; classes are equally likely, and forms within
// them. *result and its arrays are owned by the arena. Returns 0, or -1: nothing could be measured.
int validate_mixes(const struct validate_trial *trial, struct arena *arena,
                   struct validation *result, struct err *err);

// Kendall's rank correlation (tau-b) of n pairs; NaN where one side is constant.
double validate_kendall(const double *a, const double *b, int n);

#endif
