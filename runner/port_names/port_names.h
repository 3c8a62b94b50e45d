// SPDX-License-Identifier: MIT
// Names of the port sets of a discovered model, from cpuinfo/ports/ (port_names_file.h). The files
// only give names: sizes and overlaps are measured.
#pragma once

#include "ports/ports.h"

struct port_names;

// The forms that a file may name, and the oracle that times them.
struct port_subjects {
    const struct port_oracle *oracle;
    const struct port_form *forms;
    int n;
};

// Infers the forms that the file names and gives their sets and ports the file's names, if all of
// them use one port set with the file's sizes and overlaps; else the systematic names stay and
// *note says why (empty: named). Forms that the CPU does not execute or that were unstable are
// ignored, and so are sets that the front end may hide (as large as it is wide) unless something
// contradicts; at least half of the sets must be seen. Sets that the file does not name are called
// by their ports if these are all named. Ports that the model distinguishes and the file does not
// stay without a name. Returns 0; -1 if a form is in no list, or the oracle failed.
int port_names_give(const struct port_subjects *subjects, const struct port_names *names,
                    struct port_model *model, struct err *note, struct err *err);

// Calls port_names_give() with the file that applies to the uarch; without one, nothing is named
// and no note made. Returns -1 also if the file is malformed.
int port_name_sets(const struct port_subjects *subjects, const char *uarch,
                   struct port_model *model, struct err *note, struct err *err);
