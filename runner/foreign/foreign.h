// SPDX-License-Identifier: MIT
// Instruction tables of others: InstLatX64's dumps, uops.info's instructions.xml, llvm-exegesis'
// YAML, a plain CSV, and latput's own databases and packs, each as rows with values in cycles.
// What the files hold is not trusted: sizes are bounded, and what is no value is told and left out.
#pragma once

#include "list/list.h"
#include "ports/ports.h"
#include "util/err.h"
#include "util/mem.h"
#include "util/strbuf.h"

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>

enum foreign_format {
    FOREIGN_NONE,
    FOREIGN_LATPUT,
    FOREIGN_PACK,
    FOREIGN_CSV,
    FOREIGN_INSTLAT,
    FOREIGN_UOPS_INFO,
    FOREIGN_EXEGESIS,
    FOREIGN_LLVM // no file: LLVM's scheduling model (compare/)
};
// Returns "an InstLatX64 dump" and the like.
const char *foreign_format_name(enum foreign_format format);

enum {
    FOREIGN_OPERANDS_MAX = 8,
    FOREIGN_ROWS_MAX = 500000,   // of a file
    FOREIGN_VALUES_MAX = 256,    // of a row
    FOREIGN_LINE_MAX = 64 << 10, // bytes of a line
    FOREIGN_DEPTH_MAX = 16       // of elements within each other
};

enum foreign_quantity {
    FOREIGN_LATENCY,
    FOREIGN_THROUGHPUT,
    FOREIGN_UOPS,
    FOREIGN_PORTS, // its value is the number of µops; the row has the sets
    FOREIGN_QUANTITIES
};
extern const char *const foreign_quantity_names[FOREIGN_QUANTITIES]; // "latency", ...

struct foreign_value {
    enum foreign_quantity quantity;
    // Latencies of a pair of operands, named as in latency_table; NULL: of the row.
    const char *src, *dst, *variant;
    double least, most; // in cycles, equal unless the file has two numbers
    double rounding;    // by which the file's whole numbers may be off
    bool upper;         // an upper bound
    bool ns;            // in ns, since the file states no clock
};

struct foreign_operand {
    const char *class; // as lists write it: "r32", "x{k}", "m128", "i8"
    int reg;           // operands of the same number are the same register; -1: not known
};

struct foreign_row {
    int line;
    const char *name;     // as the file has it
    const char *form;     // latput's; NULL: the row is found by its operands
    const char *enc;      // "vex"; "": not known
    int bits, opcode;     // mode; the opcode's byte, -1: not known
    const char *mnemonic; // in lower case, with its prefix: "lock add"
    struct foreign_operand ops[FOREIGN_OPERANDS_MAX];
    int nops;
    bool model;      // a scheduling model's: one latency for all pairs to the result
    bool chain;      // one instruction repeated, whose registers are known: they are the chain
    const char *dst; // the operand that ends the chain, named as ours; NULL: any
    struct foreign_value *values;
    int nvalues, room;
    const char *ports;            // as the file has them, "1*p06+2*p5"; NULL: unknown
    const struct port_uses *uses; // the same as sets of our ports; NULL: by their names
    const char *at_rename;        // as ours (known/known.h); NULL: not known
    const char *why;              // reason for which it is compared with nothing; NULL: none
};

// Values or rows that are not used, by reason.
struct foreign_told {
    const char *what;
    int n, line; // line of the first
};
enum { FOREIGN_TOLD_MAX = 16 };

struct foreign_table {
    const char *path;
    enum foreign_format format;
    const char *cpu;   // as the file names it; "": it does not
    const char *uarch; // of cpus.csv; "": not known
    double clock_mhz;  // of the file, 0: none
    struct foreign_row *rows;
    int nrows;
    size_t capacity;
    struct foreign_told told[FOREIGN_TOLD_MAX];
    int ntold;
    bool unable;        // reading failed for lack of space or rights, not for what the file has
    struct arena arena; // owns the texts
};

// Returns the format, by content; FOREIGN_NONE with a message if it is none of them.
enum foreign_format foreign_recognise(const char *path, struct err *err);
// Reads a file, of several CPUs the one that `cpu` names: a uarch, or as the file has it. Returns
// 0, or -1 with the message. The caller frees with foreign_free() in either case.
int foreign_read(const char *path, const char *cpu, struct foreign_table *table, struct err *err);
void foreign_free(struct foreign_table *table);
// Returns true if a table is of the CPU that a user names so: by its uarch, or as the file has it.
bool foreign_is_of(const struct foreign_table *table, const char *cpu);
// Makes a table of a CPU of ours, as if it had been read from a database. Returns 0, or -1 with the
// message; the caller frees it as after reading.
struct known_cpu;
int foreign_of_known(const struct known_cpu *data, struct foreign_table *table, struct err *err);

// --- filling a table ---

// Adds a row; NULL with a message if there are too many.
struct foreign_row *foreign_row_add(struct foreign_table *table, int line, const char *name,
                                    struct err *err);
// Adds a value to a row, unless it has too many.
void foreign_value_add(struct foreign_table *table, struct foreign_row *row,
                       struct foreign_value value);

// --- shapes: how forms of lists and of files are found by each other (foreign_shape.c) ---

enum foreign_shape {
    FOREIGN_EXACT,
    FOREIGN_LOOSE, // constants of any size and value, memory of any size
    FOREIGN_WIDTH, // that, and vectors of any width
};
// Appends mnemonic and operands: "vpermilps x x i8".
void foreign_shape_of_row(const struct list_row *row, enum foreign_shape shape, struct strbuf *out);
void foreign_shape_of(const struct foreign_row *row, enum foreign_shape shape, struct strbuf *out);
