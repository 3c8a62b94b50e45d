// SPDX-License-Identifier: MIT
// Declarations that the readers share.
#pragma once

#include "foreign.h"

#include <stdio.h>

typedef int foreign_reader(const char *path, const char *cpu, struct foreign_table *table,
                           struct err *err);
foreign_reader foreign_read_csv, foreign_read_instlat, foreign_read_uops_info,
    foreign_read_exegesis, foreign_read_latput;

// Reads a number of cycles, which a `<=` or `≤` may precede, and adds it; what is none is told.
void foreign_value_text(struct foreign_table *table, struct foreign_row *row,
                        enum foreign_quantity quantity, const char *text);
// Reads a number of cycles; -1 (told) if it is none: empty, negative, 2^63 and the like. A mark of
// bounds before it sets *upper.
int foreign_number(struct foreign_table *table, int line, const char *text, double *value,
                   bool *upper);
// Adds ports, a sum of sets with the number of µops on each; what is none is told.
void foreign_ports_add(struct foreign_table *table, struct foreign_row *row, const char *text);
// Counts something that is not used.
void foreign_tell(struct foreign_table *table, int line, const char *what);
void foreign_operand_add(struct foreign_table *table, struct foreign_row *row, const char *class,
                         int reg);
// Sets mnemonic, operands and encoding from machine code; false if it is no single instruction.
bool foreign_row_decode(struct foreign_table *table, struct foreign_row *row,
                        const unsigned char *code, size_t len);
// The same for an instruction that was decoded.
bool foreign_row_decoded(struct foreign_table *table, struct foreign_row *row,
                         const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops);
// Splits operands as assemblers and tables write them (`r32, [m32]`, `xmm1 {k}, xmm`) and adds
// them. Returns NULL, or why they cannot be told.
const char *foreign_operands_parse(struct foreign_table *table, struct foreign_row *row,
                                   const char *text);
// Sets the mnemonic: in lower case, with single blanks.
void foreign_mnemonic_set(struct foreign_table *table, struct foreign_row *row, const char *text,
                          size_t len);
// Sets table->uarch from a name that others use, or a uarch.
void foreign_uarch_set(struct foreign_table *table, const char *said);

// A text file, line by line.
struct foreign_lines {
    const char *path;
    FILE *file;
    int line;
    size_t len;
    char text[FOREIGN_LINE_MAX]; // without its end
};
// Returns 1 with the next line, 0 at the end, or -1 with a message: it cannot be read, or a line is
// too long or has NUL bytes.
int foreign_line(struct foreign_lines *lines, struct err *err);
struct foreign_lines *foreign_lines_open(const char *path, struct err *err);
void foreign_lines_close(struct foreign_lines *lines);
