// SPDX-License-Identifier: MIT
// The port part of a run: finds the structure of the ports, then what each row uses of it, in
// chunks that are stored as they are done. Also used by `latput ports` for the structure alone.
#ifndef LATPUT_RUN_PORTS_H
#define LATPUT_RUN_PORTS_H

#include "measure_mixes.h"
#include "ports.h"
#include "select.h"
#include "store.h"

// The forms that blockers and units are chosen from (all lists), and the rows in question behind
// them.
struct ports_forms {
    struct selection lists;
    const struct list_row **rows; // by index of a form
    struct port_form *forms;
    int n;
    int first_asked;          // index of the first row in question
    struct list_row *rows_32; // blockers in 32-bit mode
};
// `throughputs` (n of them, sorted) are put into the forms; NULL: none known.
int ports_forms_load(struct ports_forms *forms, const struct selected_row *asked, int nasked,
                     const struct stored_throughput *throughputs, int nthroughputs,
                     struct err *err);
void ports_forms_free(struct ports_forms *forms);

// Structure, units and names. *note: why the published names do not apply, if they do not.
int ports_find_model(const struct ports_forms *forms, const struct port_oracle *oracle,
                     const struct cpu_info *cpu, struct port_model *model, struct err *note,
                     struct err *err);

// The model with the names of the forms that it has the indices of, which live as long as `forms`.
void ports_stored_model(const struct ports_forms *forms, const struct port_model *model,
                        struct stored_port_model *stored);

struct run_ports {
    const struct session *session;
    struct store *store;
    int64_t run_id, cpu_id;
    bool reuse_model; // take the CPU's newest, if there is one
    bool ahead, quiet, keep;
    const char *skip_32;         // why rows with bits=32 are not measured; NULL: they are
    int64_t kernels, passes;     // out
    bool stopped;                // out: by exec_stop(); what was stored stays
    bool not_measured;           // out: no structure was found, a warning says why
    const bool *measure_stopped; // while it measures
};
// Measures those of the rows that want port tests and have no port result in this run yet.
int run_ports(struct run_ports *run, const struct selected_row *rows, int nrows, struct err *err);

#endif
