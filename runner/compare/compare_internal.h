// SPDX-License-Identifier: MIT
// Declarations shared by comparing and printing.
#pragma once

#include "compare.h"
#include "compare_model.h"

enum { DIFFERS_LATENCY = 1, DIFFERS_THROUGHPUT = 2, DIFFERS_UOPS = 4, DIFFERS_PORTS = 8 };
enum { DIFFERS_KINDS = 4 };

// A form whose result contradicts the model.
struct compare_member {
    const struct known_form *form;
    const struct llvm_instr *instr;
    const struct model_class *class;
    unsigned differs;
    double count; // frequency in compiled code
};
struct compare_entry {
    const struct model_class *class;
    struct compare_member *members; // the most frequent first
    int nmembers, compared;         // compared: all forms of the class, also those that agree
    double count;
};
struct comparison {
    const struct known_cpu *data;
    const char *cpu;
    const struct compare_ports *ports;
    int compared, agree, unknown; // numbers of forms; unknown: the model or the decoder does not
                                  // know them
    int differ[DIFFERS_KINDS];    // by bit of `differs`
    struct compare_entry *entries;
    int nentries;
    double counted; // number of all counted instructions
    const char *files;
};

// Members that behave alike, for which a patch would have one line; the most frequent first.
struct compare_alike {
    const struct compare_member **members;
    int n;
};
struct compare_alike *
compare_alike_find(const struct compare_entry *entry); // n is 0 after the last
void compare_alike_free(struct compare_alike *groups);

// Append wording without line feeds (compare_words.c).
double compare_per_million(const struct comparison *comparison, double count);
int compare_shown(const struct comparison *comparison, int entries); // limit on entries; 0: all
void compare_put_summary(struct strbuf *out, const struct comparison *comparison);
void compare_put_differs(struct strbuf *out, const struct compare_entry *entry);
void compare_put_count(struct strbuf *out, const struct comparison *comparison,
                       const struct compare_entry *entry);
void compare_put_evidence(struct strbuf *out, const struct compare_entry *entry);
void compare_put_model(struct strbuf *out, const struct model_class *class);
void compare_put_result(struct strbuf *out, const struct comparison *comparison,
                        const struct known_form *form); // appends to an empty text
// Appends at most so many forms, and how many more there are.
void compare_put_forms(struct strbuf *out, const struct compare_alike *group, int most);
void compare_put_opcodes(struct strbuf *out, const struct compare_alike *group, int most);

// Frequencies of instructions in compiled code: cpuinfo/instruction_counts.csv.
struct compare_counts;
struct compare_counts *compare_counts_read(struct err *err); // NULL after an error
double compare_counts_of(const struct compare_counts *counts, const struct known_form *form);
double compare_counts_total(const struct compare_counts *counts);
const char *compare_counts_files(const struct compare_counts *counts);
void compare_counts_free(struct compare_counts *counts);

// The model's ports and ours that are the same, found by forms of one µop in both: their names
// differ from maker to maker.
struct compare_ports;
struct compare_ports *compare_ports_new(const struct known_cpu *data, const struct model *model,
                                        const struct model_class *const *of);
// Fills in the ports of a class as sets of ours, and appends them as the model names them; dividers
// and the like are no ports. Returns false, and appends nothing, if a set has no match among ours,
// or the form has another number of µops there.
bool compare_ports_uses(const struct compare_ports *ports, const struct known_form *form,
                        const struct model_class *class, struct port_uses *uses,
                        struct strbuf *text);
// Appends the ports that a form uses, by the model's names of sets: "1*SPRPort00_06". Returns
// false, and appends nothing, if they are ambiguous or unknown, or a set has no name in the model.
bool compare_ports_names(const struct compare_ports *ports, const struct known_form *form,
                         struct strbuf *out);
void compare_ports_free(struct compare_ports *ports);
