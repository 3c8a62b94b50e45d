// SPDX-License-Identifier: MIT
// Results compared with LLVM's scheduling model: contradictions, one entry per class of the model.
#pragma once

#include "export/export.h"
#include "foreign/foreign.h"
#include "output/output.h"

struct comparison;
typedef void compare_printer(const struct comparison *comparison, int entries, struct strbuf *out);
extern const struct output_kind compare_print_kind;
// Printers for people, for programs, and for one HTML page that needs no other file.
compare_printer compare_print_text, compare_print_json, compare_print_page;

struct compare_options {
    const char *cpu; // LLVM's name
    compare_printer *print;
    int entries; // most entries to write; 0: all
};
// Appends the differences. The data must have code. Returns 0, or -1 with the message.
int compare_llvm(struct known_cpu *data, const struct compare_options *options, struct strbuf *out,
                 struct err *err);
// Makes a table of the model's values, for compare_tables_make(). The data must have code. Returns
// 0, or -1 with the message; the caller frees with foreign_free() in either case.
int compare_llvm_table(struct known_cpu *data, const char *cpu, struct foreign_table *table,
                       struct err *err);
