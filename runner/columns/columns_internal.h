// SPDX-License-Identifier: MIT
// Words for the records of columns.
#pragma once

#include "columns.h"

#include <stddef.h>

// The records of a view.
struct column_view {
    const char *name; // of the public view; NULL: it is none
    const struct column *columns;
    size_t n;
};
extern const struct column_view columns_instruction, columns_latency, columns_port, columns_false;
extern const struct column_view columns_doubt, columns_evidence, columns_kernel, columns_failure;
extern const struct column_view columns_property, columns_property_point, columns_run;
extern const struct column_view columns_warning, columns_list, columns_bench, columns_repetition;

// The value of a column.
#define TEXT(name_, says_) COLUMN(name_, LOOK_TEXT, NULL, ALIGN_LEFT, says_)
#define INTEGER(name_, unit_, says_) COLUMN(name_, LOOK_INTEGER, unit_, ALIGN_RIGHT, says_)
#define BOOL(name_, says_) COLUMN(name_, LOOK_BOOL, NULL, ALIGN_RIGHT, says_)
#define REAL(name_, unit_, says_) COLUMN(name_, LOOK_REAL, unit_, ALIGN_POINT, says_)
#define CLK(name_, says_) REAL(name_, "clk", says_)
#define COLUMN(name_, type_, unit_, align_, says_)                                                 \
    .look.name = name_, .look.type = type_, .look.unit = unit_, .look.align = align_,              \
    .look.says = says_

// Its heading, and its place and fate in tables.
#define SHOWN(place_, heading_, rank_, fold_)                                                      \
    .place = place_, .look.heading = heading_, .look.fit.rank = rank_, .look.fit.fold = fold_
#define TABLED(place_, heading_, rank_, fold_) SHOWN(place_, heading_, rank_, fold_), .on = TABLE
enum {
    TABLE = COLUMN_ON(COLUMN_TABLE),
    LISTS = COLUMN_ON(COLUMN_LIST),
    PAGE = COLUMN_ON(COLUMN_PAGE),
    SIDE = COLUMN_ON(COLUMN_SIDE) | COLUMN_ON(COLUMN_SIDES),
    BESIDE = COLUMN_ON(COLUMN_SIDE),
    SIDES = COLUMN_ON(COLUMN_SIDES),
    EXPORT = COLUMN_ON(COLUMN_CSV) | COLUMN_ON(COLUMN_JSON),
    CSV = COLUMN_ON(COLUMN_CSV),
    DIFF = COLUMN_ON(COLUMN_DIFF),
    SITE = COLUMN_ON(COLUMN_SITE),
};

// Columns that mean the same in several views.
#define SAYS_UARCH "CPU family, with ? where it is inferred and @label where the machine has one"
#define SAYS_FORM "the form as the lists have it"
#define SAYS_ENC "encoding: legacy, vex, evex, xop"
#define SAYS_BITS "mode, 64 or 32"
#define SAYS_LIST "list of the form"
#define SAYS_RUN "run that measured it"
#define SAYS_OUTCOME "`ok`, or why there is no number"
#define SAYS_DETAIL "reason if the outcome is not `ok`"
#define SAYS_ACCEPTED "repeats that passed the gate"
#define SAYS_TRIED "all repeats"
#define SAYS_SPREAD "interquartile range of the samples"
#define SAYS_BOUND "`exact`, `average` (mean of executions that differ) or `upper` (it may be less)"

#define UARCH                                                                                      \
    {                                                                                              \
        TEXT("uarch", SAYS_UARCH), TABLED(10, "uarch", FIT_SAME, 0), .key = true                   \
    }
#define MNEMONIC                                                                                   \
    {                                                                                              \
        TEXT("mnemonic", "mnemonic")                                                               \
    }
#define OPERANDS                                                                                   \
    {                                                                                              \
        TEXT("operands", "classes of the operands")                                                \
    }
#define FORM                                                                                       \
    {                                                                                              \
        TEXT("form", SAYS_FORM), SHOWN(20, "instruction", FIT_KEEP, 24),                           \
            .on = TABLE | SIDE, .kind = COLUMN_FORM, .key = true                                   \
    }
#define ENC(rank_)                                                                                 \
    {                                                                                              \
        TEXT("enc", SAYS_ENC), SHOWN(30, "enc", rank_, 0), .on = TABLE | SIDE, .key = true         \
    }
#define ENC_UNSEEN                                                                                 \
    {                                                                                              \
        TEXT("enc", SAYS_ENC), .key = true                                                         \
    }
#define BITS                                                                                       \
    {                                                                                              \
        INTEGER("bits", NULL, SAYS_BITS), SHOWN(40, "bits", FIT_SAME, 0), .on = SIDE, .key = true  \
    }
#define OPTIONS                                                                                    \
    {                                                                                              \
        TEXT("options", "options of the list's row that are part of the form")                     \
    }
#define LIST                                                                                       \
    {                                                                                              \
        TEXT("list", SAYS_LIST)                                                                    \
    }
#define RUN(place_, rank_)                                                                         \
    {                                                                                              \
        INTEGER("run_id", NULL, SAYS_RUN), TABLED(place_, "run", rank_, 0)                         \
    }
#define OUTCOME(rank_)                                                                             \
    {                                                                                              \
        TEXT("outcome", SAYS_OUTCOME), TABLED(900, "outcome", rank_, 0), .kind = COLUMN_OUTCOME    \
    }
#define DETAIL                                                                                     \
    {                                                                                              \
        TEXT("detail", SAYS_DETAIL)                                                                \
    }
#define SQL_ONLY(name_, says_)                                                                     \
    {                                                                                              \
        INTEGER(name_, NULL, says_), .sql = true                                                   \
    }
