// SPDX-License-Identifier: MIT
// Names for the port sets of a discovered model, from cpuinfo/ports/ (port_names_file.h). The
// files give names only: sizes and overlaps are what was measured.
#ifndef LATPUT_PORT_NAMES_H
#define LATPUT_PORT_NAMES_H

#include "ports/ports.h"

struct port_names;

// The forms that a file may name, and who times them.
struct port_subjects {
    const struct port_oracle *oracle;
    const struct port_form *forms;
    int n;
};

// Infers the forms that the file names and gives their sets and ports the file's names, if all of
// them use one port set as large as the file says and overlap as it says; else the systematic names
// stay and *note says why (empty: named). Not looked at are forms that the CPU does not execute
// or that were unstable, and sets that the front end hides: as large as it is wide, where nothing
// contradicts; at least half of the sets must be seen. Sets that the file does not name are called
// by their ports where these are all named. Ports that the model tells apart and the file does not
// stay without a name. -1: a form is in no list, or the oracle failed.
int port_names_give(const struct port_subjects *subjects, const struct port_names *names,
                    struct port_model *model, struct err *note, struct err *err);

// The same with the file that applies to the uarch; nothing is named and no note made if there is
// none. -1 also if it is malformed.
int port_name_sets(const struct port_subjects *subjects, const char *uarch,
                   struct port_model *model, struct err *note, struct err *err);

#endif
