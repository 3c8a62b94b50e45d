// SPDX-License-Identifier: MIT
// The port model of a CPU from the rows of all lists: which of them may show sets, units and paths,
// and the search for these. For runs and for `latput ports`.
#ifndef LATPUT_RUN_PORT_MODEL_H
#define LATPUT_RUN_PORT_MODEL_H

#include "list/select.h"
#include "measure/session.h"
#include "ports/ports.h"
#include "store/store_ports.h"

// The forms that blockers and units are chosen from (all lists), and the rows in question behind
// them.
struct ports_forms {
    const struct list_row **rows; // by index of a form
    struct port_form *forms;
    int n;
    int first_requested;      // index of the first row in question
    struct list_row *rows_32; // blockers in 32-bit mode
};
// `all`: the rows of all lists. Rows and the texts of them must outlive the forms.
void ports_forms_make(struct ports_forms *forms, const struct selection *all,
                      const struct selected_row *asked, int nasked,
                      const struct stored_throughputs *throughputs);
void ports_forms_free(struct ports_forms *forms);

// What finding a model may take: so that it ends on any CPU, however its timings vary. A virtual
// machine that others disturb needs a fifth of either.
enum { PORTS_MODEL_KERNELS_MOST = 500000, PORTS_MODEL_SECONDS_MOST = 900 };

// Structure, units and names. *note: why the published names do not apply, if they do not.
int ports_find_model(const struct ports_forms *forms, const struct port_oracle *oracle,
                     const struct session *session, struct port_model *model, struct err *note,
                     struct err *err);

// The model with the names of the forms that it has the indices of, which live as long as `forms`.
void ports_stored_model(const struct ports_forms *forms, const struct port_model *model,
                        struct stored_port_model *stored);

// And back. false: it names forms that are no longer in the lists, or has paths without probes.
bool ports_model_of_stored(const struct ports_forms *forms, const struct stored_port_model *stored,
                           struct port_model *model);

// The same model with blockers that run in 32-bit mode; classes whose blocker cannot are left out,
// and units. Adds the blockers to the forms.
void ports_model_for_32(struct ports_forms *forms, const struct port_model *model,
                        struct port_model *model_32);

#endif
