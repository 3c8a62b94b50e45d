// SPDX-License-Identifier: MIT
// Results compared with LLVM's scheduling model: contradictions, one entry per class of the model.
#pragma once

#include "compare_tables.h"
#include "export/export.h"

struct comparison;
typedef void compare_printer(const struct comparison *comparison, int entries, struct strbuf *out);
extern const struct output_kind compare_print_kind;
// Printers for people, for programs, and for one HTML page that needs no other file.
compare_printer compare_print_text, compare_print_json, compare_print_page;

struct compare_options {
    compare_printer *print;
    int entries; // most entries to write; 0: all
};
// LLVM's model of a CPU (its name there), read for the forms of ours. The data must have code, and
// outlives it. Returns 0, or -1 with the message; the caller frees *made in either case.
struct compare_llvm;
int compare_llvm_read(struct known_cpu *data, const char *cpu, struct compare_llvm **made,
                      struct err *err);
void compare_llvm_free(struct compare_llvm *llvm);
// Returns the model's values as a table of others, for compare_tables_make().
const struct foreign_table *compare_llvm_table(const struct compare_llvm *llvm);
// Appends the differences of that comparison by class of the model. Returns 0, or -1 with the
// message.
int compare_llvm_print(const struct compare_llvm *llvm, const struct compare_tables *tables,
                       const struct compare_options *options, struct strbuf *out, struct err *err);
