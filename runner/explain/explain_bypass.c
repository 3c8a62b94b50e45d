// SPDX-License-Identifier: MIT
#include "explain_bypass.h"

#include "util/csvfile.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double NOTHING_CLK = 0.1; // repeated measurements of one latency differ by less

static double value_of(const struct property_value *values, int n, const char *variant)
{
    for (int i = 0; i < n; i++)
        if (strcmp(values[i].variant, variant) == 0)
            return values[i].y;
    return NAN;
}

// Returns the bypass delay: the latency of producer and consumer in a chain, minus the sum of their
// own latencies. A delay below NOTHING_CLK is 0. The consumer was measured as a pair.
static double delay_clk(const struct property_value *values, int n, const char *pair,
                        double producer_clk, const char *consumer)
{
    double clk = value_of(values, n, pair) - producer_clk - value_of(values, n, consumer) / 2;
    return fabs(clk) < NOTHING_CLK ? 0 : clk;
}

void bypass_read(const struct property_value *values, int n, struct bypass *bypass)
{
    static const char *const pairs[BYPASS_CLASSES][2] = {
        [BYPASS_OTHER] = {"sum_logic",     "logic"    },
        [BYPASS_SHIFT] = {"sum_shift",     "shift"    },
        [BYPASS_CARRY] = {"sum_carry",     "carry"    },
        [BYPASS_MULTIPLY] = {"sum_multiply",  "multiply" },
        [BYPASS_SELECT] = {"sum_condition", "condition"},
        [BYPASS_SET] = {"sum_condition", "condition"},
    };
    double apart = value_of(values, n, "shift_apart"), fadd = value_of(values, n, "fadd") / 2;
    for (int c = 0; c < BYPASS_CLASSES; c++) {
        const char *const *pair = pairs[pairs[c][0] ? c : BYPASS_OTHER];
        bypass->sum_clk[c] = delay_clk(values, n, pair[0], 0, pair[1]);
    }
    bypass->logic_select_clk = delay_clk(values, n, "logic_condition", 0, "condition");
    bypass->logic_set_clk = delay_clk(values, n, "logic_set", 0, "condition");
    bypass->fcompare_clk = delay_clk(values, n, "fcompare_condition", 0, "condition");
    bypass->sum_shift_uops = fmax(0, round(value_of(values, n, "sum_shift_apart") / apart - 0.7));
    bypass->fadd_clk = fadd;
    bypass->fadd_other_clk = (delay_clk(values, n, "fadd_fmul", fadd, "fmul") +
                              delay_clk(values, n, "fadd_vector_logic", fadd, "vector_logic")) /
                             2;
    bypass->store_clk = value_of(values, n, "store_line") / 2;
    bypass->store_line_clk = value_of(values, n, "store_lines") / 2;
    bypass->forward_clk = value_of(values, n, "forward") - value_of(values, n, "fmul") / 2;
    bypass->forward_other_clk = value_of(values, n, "forward_other");
    bypass->forward_plain_clk = value_of(values, n, "forward_plain");
    bypass->load_clk = value_of(values, n, "load") / 2;
    bypass->load_index_clk = value_of(values, n, "load_index") / 2 - bypass->load_clk;
    bypass->load_scaled_clk = value_of(values, n, "load_scaled") / 2 - bypass->load_clk;
    bypass->stack_clk = value_of(values, n, "stack_two") - value_of(values, n, "stack_sum");
    bypass->stack_clk = fabs(bypass->stack_clk) < NOTHING_CLK ? 0 : bypass->stack_clk;
    bypass->stack_sum_clk = delay_clk(values, n, "stack_sum", bypass->stack_clk, "sum");
    bypass->narrow_wait_clk = value_of(values, n, "narrow_apart");
    bypass->before_wait_clk = value_of(values, n, "before_apart");
    if (isnan(bypass->before_wait_clk)) // runs of older versions
        bypass->before_wait_clk = bypass->narrow_wait_clk;
    bypass->narrow_clk = value_of(values, n, "narrow_store");
}

// Gives the class to all mnemonics that the glob names. Returns how many, or -1 with *twice set to
// one that has a class already.
static int classes_add(struct bypass *bypass, const char *glob, enum bypass_class class,
                       const char **twice)
{
    int n = 0;
    for (int m = 1; m <= ZYDIS_MNEMONIC_MAX_VALUE; m++) {
        if (fnmatch(glob, ZydisMnemonicGetString((ZydisMnemonic)m), 0) != 0)
            continue;
        if (bypass->classes[m]) {
            *twice = ZydisMnemonicGetString((ZydisMnemonic)m);
            return -1;
        }
        bypass->classes[m] = (unsigned char)class;
        n++;
    }
    return n;
}

static int classes_read_record(struct bypass *bypass, const char *path,
                               const struct csv_record *record, struct err *err)
{
    static const char *const names[] = {"",      "sum",   "logic",    "fcompare", "fadd",
                                        "shift", "carry", "multiply", "select",   "set"};
    size_t class = 1;
    while (class < ARRAY_LEN(names) && strcmp(record->fields[0], names[class]) != 0)
        class ++;
    if (class == ARRAY_LEN(names))
        return csv_record_error(path, record, 0, err, "'%s' is no class of instructions",
                                record->fields[0]);
    for (const char *word = record->fields[1]; *word;) {
        char glob[64];
        const char *twice;
        size_t len = strcspn(word, " ");
        snprintf(glob, sizeof glob, "%.*s", (int)len, word);
        int n = classes_add(bypass, glob, (enum bypass_class) class, &twice);
        if (n < 0)
            return csv_record_error(path, record, 1, err, "'%s' has two classes", twice);
        if (n == 0)
            return csv_record_error(path, record, 1, err, "'%s' names no mnemonic", glob);
        word += len + strspn(word + len, " ");
    }
    return 0;
}

int bypass_read_classes(const char *path, struct bypass *bypass, struct err *err)
{
    static const char *const columns[] = {"class", "mnemonics"};
    static const struct csv_spec spec = {columns, ARRAY_LEN(columns), 0};
    struct csv_file file;
    memset(bypass->classes, BYPASS_OTHER, sizeof bypass->classes);
    if (csv_file_read(path, &spec, &file, err) != 0)
        return -1;
    int status = 0;
    for (size_t i = 0; i < file.nrecords && status == 0; i++)
        status = classes_read_record(bypass, path, &file.records[i], err);
    csv_file_free(&file);
    return status;
}

enum bypass_class bypass_class(const struct bypass *bypass, const struct block_instr *instr)
{
    return (enum bypass_class)bypass->classes[instr->in.mnemonic];
}

double bypass_flags_clk(const struct bypass *bypass, const struct block_instr *producer,
                        const struct block_instr *consumer)
{
    switch (bypass_class(bypass, producer)) {
    case BYPASS_LOGIC:
        return bypass_class(bypass, consumer) == BYPASS_SET ? bypass->logic_set_clk
                                                            : bypass->logic_select_clk;
    case BYPASS_FCOMPARE:
        return bypass->fcompare_clk;
    default:
        return 0;
    }
}
