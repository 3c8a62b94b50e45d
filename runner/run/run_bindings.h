// SPDX-License-Identifier: MIT
// How early schedulers bind µops to ports, by random mixes of all forms that a run has the ports
// of. Shared paths are looked for with a binding by mixes of few forms, which have neither loads
// nor the forms of AVX-512; this one is for predictions.
#ifndef LATPUT_RUN_BINDINGS_H
#define LATPUT_RUN_BINDINGS_H

#include "run_ports.h"
#include "validate.h"

// The bindings by which the model explains these mixes best: one for all forms, and for those that
// write one kind of operand their own where that explains their mixes clearly better.
void bindings_fit(const struct validate_forms *forms, const struct validate_mixes *mixes,
                  struct port_model *model);

// Measures the mixes and stores the bindings, unless the run has them, or too few forms for them.
// The seed of the mixes is none that `latput validate` takes by itself.
int run_bindings(struct run_ports *run, const struct selected_row *rows, int nrows,
                 struct err *err);

#endif
