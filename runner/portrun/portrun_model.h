// SPDX-License-Identifier: MIT
// Finds the port model of a CPU with rows of all lists: selects those that may show sets, units and
// paths, and searches for these. For runs and for `latput ports`.
#pragma once

#include "list/select.h"
#include "measure/session.h"
#include "ports/ports.h"
#include "store/store_ports.h"

// The forms that blockers and units are chosen from (all lists), followed by the rows in question.
struct portrun_forms {
    const struct list_row **rows; // by index of a form
    struct port_form *forms;
    int n;
    int first_requested;      // index of the first row in question
    struct list_row *rows_32; // blockers in 32-bit mode
};
// Makes the forms. `all`: the rows of all lists. Rows and their texts must outlive the forms.
void portrun_forms_make(struct portrun_forms *forms, const struct selection *all,
                        const struct selected_row *asked, int nasked,
                        const struct stored_throughputs *throughputs);
void portrun_forms_free(struct portrun_forms *forms);

// Limits of the search for a model, so that it ends on any CPU with any noise: kernels, and how
// many times as long as tests wait for an undisturbed core (--give-up). A disturbed virtual machine
// needs a fifth of either.
enum { PORTRUN_KERNELS_MOST = 500000, PORTRUN_GIVE_UPS_MOST = 30 };

// Finds structure, units and names. *note: why the published names do not apply, if they do not.
int portrun_find_model(const struct portrun_forms *forms, const struct port_oracle *oracle,
                       const struct session *session, struct port_model *model, struct err *note,
                       struct err *err);

// Adds the names of the forms to the model; they live as long as `forms`.
void portrun_stored_model(const struct portrun_forms *forms, const struct port_model *model,
                          struct stored_port_model *stored);

// Finds the forms of a stored model. Returns false if one is no longer in the lists, or the
// demands of a path's blocker are unknown.
bool portrun_model_of_stored(const struct portrun_forms *forms,
                             const struct stored_port_model *stored, struct port_model *model);

// Makes the same model with blockers that run in 32-bit mode, which are added to the forms; classes
// whose blocker cannot, and units, are left out.
void portrun_model_for_32(struct portrun_forms *forms, const struct port_model *model,
                          struct port_model *model_32);
