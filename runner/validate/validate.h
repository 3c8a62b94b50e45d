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
    int vector_bits;         // of its widest vector operand; 0: it has none
    bool decodes_slowly;     // as validate_measure() sees: not drawn
    bool waits;              // as validate_measure() sees: mixes with it are left out
};
enum { VALIDATE_CLASSES = 7 };
const char *validate_class_name(int class);

// Why a form that has ports is in no mix.
enum validate_reason {
    VALIDATE_NO_SLOTS,
    VALIDATE_LONG,
    VALIDATE_X87,
    VALIDATE_MEMORY,
    VALIDATE_MOVES,
    VALIDATE_DECODING,
    VALIDATE_REGISTER,
    VALIDATE_REASONS
};
// "share the one x87 stack": what such forms do.
const char *validate_reason_text(enum validate_reason reason);

struct validate_forms {
    struct validate_form *forms;
    int n;
    int left_out[VALIDATE_REASONS]; // forms with ports that are not drawn
};
// The forms of `rows` that have ports, but for those whose instances wait for each other whatever
// is done. Owned by the arena.
struct validate_forms validate_choose(const struct selected_row *rows, int nrows,
                                      const struct stored_port_usages *usages, struct arena *arena);

// Which mixes are drawn.
enum validate_kind {
    VALIDATE_MIXES,  // 2 to 8 forms, 1 to 3 instances of each
    VALIDATE_PAIRS,  // two forms
    VALIDATE_RATIOS, // two that have ports in common, one instance of one and 3 to 12 of the other
};

// What is tried, and how.
struct validate_trial {
    struct validate_forms *forms;
    const struct port_model *model;
    const struct port_oracle *oracle; // its form i is forms->forms[i]
    int wanted;                       // mixes
    uint64_t seed;
    enum validate_kind kind;
};
// A mix that could be timed; the cycles are those of one mix.
struct validate_mix {
    struct port_mix mix;
    double measured_clk, predicted_clk;
};
struct validate_mixes {
    struct validate_mix *mixes; // in the order in which they were drawn
    int n;
    int unknown; // mixes of a file with a form that has no ports, or is not drawn
};
// Draws and measures so many mixes of 2 to 8 forms; classes are equally likely, and forms within
// them. Forms that take longer where their code has to be decoded than where the µop cache has it,
// for the length that a prefix changes, are found first and not drawn: which of the two a mix gets
// is a matter of where its code lies. mixes->mixes is owned by the arena. Returns 0, or -1: nothing
// could be measured.
int validate_measure(const struct validate_trial *trial, struct arena *arena,
                     struct validate_mixes *mixes, struct err *err);

// Mixes that were measured before, in a file as validate_csv() writes it, predicted by this table.
// What the file says was predicted does not matter. mixes->mixes is owned by the arena. -1 with
// `path:line:` where the file is no such file, or where there are none that can be predicted.
struct validate_again {
    const struct validate_forms *forms;
    const struct port_model *model;
};
int validate_again(const char *path, const struct validate_again *again, struct arena *arena,
                   struct validate_mixes *mixes, struct err *err);
// Cycles of a mix, by the table; its parts are forms of it.
double validate_predict(const struct validate_forms *forms, const struct port_model *model,
                        const struct port_mix *mix);
// The usages of its parts, and how many instances each has. [PORT_MIX_PARTS_MAX]
void validate_usages(const struct validate_forms *forms, const struct port_mix *mix,
                     const struct port_usage **usages, int *counts);
// What bounds it.
void validate_limits(const struct validate_forms *forms, const struct port_model *model,
                     const struct port_mix *mix, struct port_limits *limits);

// The figures over all mixes, by what the mixes have in common (classes of forms, widths of
// vectors, certain and ambiguous ports), and the worst. Owned by the arena.
struct validation validate_figures(const struct validate_forms *forms,
                                   const struct validate_mixes *mixes, uint64_t seed,
                                   struct arena *arena);
// All mixes, a line each, appended: mix, measured and predicted cycles, widest vectors, whether
// the ports of a form of it are ambiguous, and the bounds, none of which the prediction is below:
// front end, side, ports, the unit that is busy longest with its name, and what nothing explains.
void validate_csv(const struct validate_forms *forms, const struct port_model *model,
                  const struct validate_mixes *mixes, struct strbuf *out);

// Kendall's rank correlation (tau-b) of n pairs; NaN where one side is constant.
double validate_kendall(const double *a, const double *b, int n);

#endif
