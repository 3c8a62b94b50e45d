// SPDX-License-Identifier: MIT
// A table of others (foreign/) beside the forms of one CPU: which row is which form, how many
// values agree, and what explains those that do not.
#pragma once

#include "columns/columns.h"
#include "foreign/foreign.h"
#include "known/known.h"
#include "output/output.h"

// Explanations, in the order in which they are tried. Evidence is at hand for each but the last.
enum compare_group {
    GROUP_AGREES,
    GROUP_EXCHANGED, // the file's row and its neighbour each have the other's value
    GROUP_BOUND,     // one side has an upper bound, and the other's value lies below it
    GROUP_IDIOM,     // the value of the form with one register for all operands
    GROUP_TWO,       // between the value among other instructions and that of a dense chain
    GROUP_IMMEDIATE, // the value with another constant
    GROUP_PAIR,      // the value of another pair of operands
    GROUP_CUT,       // their throughput is the latency of a chain that ours cuts
    GROUP_WIDTH,     // a multiple of two for wide vectors alone
    GROUP_PORTS,     // as many µops, on more or fewer of the same ports
    GROUP_NO_CHAIN,  // their latency is their throughput
    GROUP_OPEN,      // not explained
    COMPARE_GROUPS
};
struct compare_group_record {
    const char *name, *judged; // judged: "theirs", "ours", "neither": which is in doubt
    const char *says;
};
extern const struct compare_group_record compare_group_records[COMPARE_GROUPS];

// A form's row in the file.
struct compare_match {
    const struct foreign_row *row;
    const struct known_form *form;    // NULL: none is, or several could be
    const struct known_form *same;    // with one register for all operands; NULL: none
    const struct known_form **others; // with other constants
    int nothers;
    const char *why, *fits; // why there is no form, and which would fit; "": none
};

// A value of ours beside one of theirs. The true value lies in [least, most], and is `bound` at
// most where pairs of operands have upper bounds only; NaN: not known.
struct compare_ours {
    double least, most, bound, dense;
    double bound_from;             // the least of several upper bounds
    const char *src, *dst;         // pair of operands; "": none in particular
    struct port_uses uses, theirs; // ports of both, where these are compared
};

struct compare_value {
    const struct compare_match *match;
    const struct foreign_value *theirs;
    const struct known_form *form; // whose value is ours: the match's, or the one of one register
    struct compare_ours ours;
    enum compare_group group;
    const char *evidence;
};

struct compare_counted {
    const char *class, *quantity;
    int compared, agree, grouped[COMPARE_GROUPS];
};
struct compare_reason {
    const char *why, *example;
    int n;
};

struct compare_width {
    const char *key;
    int bits; // of its widest vector
    const struct compare_value *value;
};

struct compare_tables {
    const struct foreign_table *theirs;
    const struct known_cpu *ours;
    struct compare_match *matches; // one per row of the file
    int nmatches, matched;
    struct compare_value *values;
    int nvalues;
    size_t room;
    struct compare_counted quantities[FOREIGN_QUANTITIES], *classes;
    int nclasses;
    struct compare_reason *reasons; // of rows without a form, the most frequent first
    int nreasons;
    int ours_measured, ours_found; // forms of ours with a value, and those that the file has
    int groups[COMPARE_GROUPS];
    struct compare_width *widths; // values that agree, by form without the width of its vectors
    int nwidths;
    int without;           // values for which ours has no chain, pair or ports
    double factor;         // cycles of the file's clock per core cycle; 1: they are core cycles
    double ns;             // of the file per core cycle; NaN: not known
    int unclocked;         // values in ns that nothing makes cycles
    const char *called[2]; // ours and theirs, in evidence
    bool named;            // by those names; false: as "ours" and "theirs"
    bool kin; // other forms and pairs of ours may be what they have: not of another family, whose
              // forms have the same names
    struct arena arena;
};

// Compares a file with forms that were read with KNOWN_ROWS and KNOWN_FALSE. called: how evidence
// names ours and theirs; NULL: as that.
void compare_tables_make(const struct foreign_table *theirs, const struct known_cpu *ours,
                         const char *const called[2], struct compare_tables *tables);
void compare_tables_free(struct compare_tables *tables);
// Returns the share of compared values that differ and are not explained, in percent.
double compare_tables_open(const struct compare_tables *tables);

// Values of one quantity are the same up to so many cycles, or to this share of ours
// (column_gap_is_small()).
extern const struct column_tolerance compare_tolerances[FOREIGN_QUANTITIES];
bool compare_near(enum foreign_quantity quantity, double theirs, double ours);

// Appends tolerances and groups as docs/COMPARISON.md has them.
void compare_document(struct strbuf *out);

// Prints n comparisons as text (REPORT_TABLE), CSV or JSON; of each at most so many differences
// (0: all).
void compare_tables_print(const struct compare_tables *tables, int n, int entries,
                          enum report_format format, struct strbuf *out);
extern const struct output_kind compare_tables_kind;
