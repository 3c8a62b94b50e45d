// SPDX-License-Identifier: MIT
// What comparing and printing share.
#ifndef LATPUT_COMPARE_INTERNAL_H
#define LATPUT_COMPARE_INTERNAL_H

#include "compare.h"
#include "compare_model.h"

enum { DIFFERS_LATENCY = 1, DIFFERS_THROUGHPUT = 2, DIFFERS_UOPS = 4, DIFFERS_PORTS = 8 };

// A form whose result contradicts the model.
struct compare_member {
    const struct export_form *form;
    const struct llvm_instr *instr;
    const struct model_class *class;
    unsigned differs;
    double count; // in compiled code
};
struct compare_entry {
    const struct model_class *class;
    struct compare_member *members; // those that occur most first
    int nmembers, compared;         // compared: forms of the class, those that agree too
    double count;
};
struct comparison {
    const struct export_data *data;
    const char *cpu;
    int compared, agree, unknown; // forms; unknown: the model or the decoder has no word on them
    struct compare_entry *entries;
    int nentries;
    double counted; // instructions in all that were counted
    const char *files;
};

void compare_print_text(const struct comparison *comparison, int entries, struct strbuf *out);
void compare_print_json(const struct comparison *comparison, int entries, struct strbuf *out);

// How often instructions occur in compiled code: cpuinfo/instruction_counts.csv.
struct compare_counts;
struct compare_counts *compare_counts_read(struct err *err); // NULL after an error
double compare_counts_of(const struct compare_counts *counts, const struct export_form *form);
double compare_counts_total(const struct compare_counts *counts);
const char *compare_counts_files(const struct compare_counts *counts);
void compare_counts_free(struct compare_counts *counts);

// Which port of the model is which of ours, by the forms of one µop in both: their names differ
// from maker to maker.
struct compare_ports;
struct compare_ports *compare_ports_new(const struct export_data *data,
                                        const struct model_class *const *of);
// Whether the sets of ports contradict each other. Only where both have as many µops.
bool compare_ports_differ(const struct compare_ports *ports, const struct export_form *form,
                          const struct model_class *class);
void compare_ports_free(struct compare_ports *ports);

#endif
