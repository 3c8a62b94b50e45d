// SPDX-License-Identifier: MIT
// The accuracy of a table of port usages: random mixes of forms, drawn by a seed, whose measured
// throughput is compared with the bottleneck model's. The usual test of port mappings (Ritter and
// Hack, PMEvo, 2020). Pure but for the oracle.
#pragma once

#include "list/list.h"
#include "list/select.h"
#include "ports/ports.h"
#include "store/store_ports.h"
#include "store/store_validation.h"
#include "util/mem.h"

// A form that mixes are drawn from.
struct validate_form {
    const struct list_row *row;
    struct port_usage usage; // includes the moves in front of each instance
    double decode_clk;       // see struct measured_ports
    int class;               // argument of validate_class_name()
    int vector_bits;         // width of its widest vector operand; 0: none
    bool decodes_slowly;     // found by validate_measure(): not drawn
    bool waits;              // found by validate_measure(): mixes with it are left out
};
enum { VALIDATE_CLASSES = 7 };
const char *validate_class_name(int class);

// Reason why a form that has ports is in no mix.
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
// Returns the rest of a sentence on such forms: "share the one x87 stack".
const char *validate_reason_text(enum validate_reason reason);

struct validate_forms {
    struct validate_form *forms;
    int n;
    int left_out[VALIDATE_REASONS]; // forms with ports that are not drawn
};
// Chooses the forms of `rows` that have ports, except those whose instances always wait for each
// other. Owned by the arena.
struct validate_forms validate_choose(const struct port_model *model,
                                      const struct selected_row *rows, int nrows,
                                      const struct stored_port_usages *usages, struct arena *arena);

enum validate_kind {
    VALIDATE_MIXES,  // 2 to 8 forms, 1 to 3 instances of each
    VALIDATE_PAIRS,  // two forms
    VALIDATE_RATIOS, // two forms that share ports, one instance of one and 3 to 12 of the other
};

// Ways in which operands lie that a mix rewrites in memory: back to back, and each in a place of
// its own; the least time counts. What was measured in fewer says nothing of cores on which
// neighbours disturb each other. It grows with each further way.
enum { VALIDATE_LAYOUTS = 2 };

// A trial: what is drawn and how it is timed.
struct validate_trial {
    struct validate_forms *forms;
    const struct port_model *model;
    const struct port_oracle *oracle; // form i of the oracle is forms->forms[i]
    int wanted;                       // number of mixes
    uint64_t seed;
    enum validate_kind kind;
};
// A mix that could be timed; cycles are per mix.
struct validate_mix {
    struct port_mix mix;
    double measured_clk, predicted_clk;
};
struct validate_mixes {
    struct validate_mix *mixes; // in the order of drawing
    int n;
    int unknown; // mixes of a file with a form that has no ports, or is not drawn
};
// Draws and measures the wanted number of mixes; classes are equally likely, and forms within them.
// Forms that take longer in the decoder than from the µop cache, because a prefix changes their
// length, are found first and not drawn: which of the two a mix meets depends on where its code
// lies. mixes->mixes is owned by the arena. Returns 0, or -1 if nothing could be measured.
int validate_measure(const struct validate_trial *trial, struct arena *arena,
                     struct validate_mixes *mixes, struct err *err);

// Predicts by this table the mixes of a file as validate_csv() writes it, measured before; the
// predictions in the file are ignored. mixes->mixes is owned by the arena. Returns 0, or -1 with
// `path:line:` if the file is malformed, or no mix can be predicted.
struct validate_again {
    const struct validate_forms *forms;
    const struct port_model *model;
};
int validate_again(const char *path, const struct validate_again *again, struct arena *arena,
                   struct validate_mixes *mixes, struct err *err);
// Predicts by this table the mixes that a run has with it, as validate_name_all() made them.
// mixes->mixes is owned by the arena. Returns 0, or -1 if one of them is malformed.
int validate_stored(const struct validation *stored, const struct validate_again *again,
                    struct arena *arena, struct validate_mixes *mixes, struct err *err);
// Returns the predicted cycles of a mix; its parts are indices of forms.
double validate_predict(const struct validate_forms *forms, const struct port_model *model,
                        const struct port_mix *mix);
// Finds the bounds of its prediction.
void validate_limits(const struct validate_forms *forms, const struct port_model *model,
                     const struct port_mix *mix, struct port_limits *limits);

// Returns the figures over all mixes, by what the mixes have in common (classes of forms, widths of
// vectors, certain and ambiguous ports), and the worst mixes. Owned by the arena.
struct validation validate_figures(const struct validate_forms *forms,
                                   const struct validate_mixes *mixes, uint64_t seed,
                                   struct arena *arena);
// Names all mixes in the figures, worst first, so that they are stored.
void validate_name_all(const struct validate_forms *forms, const struct validate_mixes *mixes,
                       struct arena *arena, struct validation *result);
// Leaves out the last mixes if all together take more than STORE_VALIDATION_BYTES_MAX.
void validate_shorten(const struct validate_forms *forms, struct validate_mixes *mixes);
// Appends one line per mix: mix, measured and predicted cycles, widest vectors, whether a form's
// ports are ambiguous, and the lower bounds of the prediction: front end, side, ports, the unit
// that is busy longest with its name, and the unexplained rest.
void validate_csv(const struct validate_forms *forms, const struct port_model *model,
                  const struct validate_mixes *mixes, struct strbuf *out);

// Returns Kendall's rank correlation (tau-b) of n pairs; NaN if one side is constant.
double validate_kendall(const double *a, const double *b, int n);
