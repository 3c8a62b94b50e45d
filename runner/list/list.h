// SPDX-License-Identifier: MIT
// Stage 1: instruction lists. Reads lists/*.csv (format: lists/README.md) into rows whose operands
// are parsed and classified. Pure: needs no CPU. Everything a row points to is owned by its list's
// arena. A row of a file may stand for a family of forms, which here becomes one row per form.
#pragma once

#include "util/err.h"
#include "util/mem.h"

#include <stdbool.h>
#include <stdint.h>

enum encoding { ENC_LEGACY, ENC_VEX, ENC_EVEX, ENC_XOP };
const char *encoding_name(enum encoding enc); // "legacy", "vex", "evex", "xop"

// Class of an operand without its width: determines which registers and which chains are possible.
enum operand_kind {
    OPERAND_GPR,   // r8 r8h r16 r32 r64, or fixed: al ax eax rax cl dx ...
    OPERAND_MMX,   // mm
    OPERAND_VEC,   // x y z, or fixed: xmm0
    OPERAND_MASK,  // k
    OPERAND_X87,   // st, or fixed: st0
    OPERAND_TILE,  // tmm
    OPERAND_SEG,   // seg, fixed: fs gs ...
    OPERAND_BOUND, // bnd
    OPERAND_MEM,   // m8 .. m512, m80, m (no width), broadcast: m32{1to16}
    OPERAND_VSIB,  // vm32x vm32y vm32z vm64x ...
    OPERAND_AGEN,  // an address that is computed, not accessed (lea): agen or agen:b, agen:b+i, ...
    OPERAND_MOFFS, // moffs8 .. moffs64: absolute address
    OPERAND_IMM,   // i8 i16 i32 i64, or a literal such as 1
    OPERAND_REL,   // rel8 rel32: branch target
    OPERAND_FLAGS, // implicit only: flags, or a group: cf of zf sf pf af df
    OPERAND_MXCSR, // implicit only
    OPERAND_FPSW,  // implicit only: x87 status word
    OPERAND_SYSTEM, // control or debug register: cr0, dr7; macros only
    OPERAND_KIND_COUNT
};

enum { ACCESS_READ = 1, ACCESS_WRITE = 2 };
enum { OPERANDS_MAX = 6, IMPLICIT_MAX = 10 };
enum { FORM_CHARS_MAX = 1000 }; // longest text of a form, a limit of the database
// Most rows of a list: four times the forms of all lists together, in 0.3 GB of memory.
enum { LIST_ROWS_MAX = 100000 };

struct operand {
    enum operand_kind kind;
    const char *text; // class as written, without access prefix, value and decoration: "m32", "z"
    const char *name; // name in results: "op1", "op2", ... in the text; "flags", "rax", ...
                      // implicit
    const char *role; // role in the instruction: "index" (option roles=); NULL: none given
    int bits;         // register or access width; for VSIB the element width; 0 if none
    int access;       // ACCESS_READ | ACCESS_WRITE
    int fixed;        // number of the one register it can be (rax 0, rcx 1, ...; xmm0 0), or -1
    bool high8;       // ah ch dh bh
    bool masked, zeroing; // {k}, {k}{z}: the mask is read by the instruction
    int broadcast;        // 2..32 of {1toN}, or 0
    int index_bits;       // VSIB: width of the index register (128, 256, 512)
    bool has_value;
    int64_t value; // of an immediate given as i8:0x1b, or of a literal operand
    bool literal;  // the operand is the number itself (`shl r64,1`)
};

enum rounding { ROUND_NONE, ROUND_ER, ROUND_SAE };
enum { TESTS_LATENCY = 1, TESTS_THROUGHPUT = 2, TESTS_PORTS = 4, TESTS_ALL = 7 };

// Reads letters L, T and P; "" is none. Returns 0, or -1 with *wrong at an unknown letter.
int tests_parse(const char *letters, unsigned *tests, const char **wrong);

// Type of the elements that the instruction computes with: decides the data in registers and memory
// (1.0 of the type, or small integers).
enum element { ELEMENT_INT, ELEMENT_F16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F64, ELEMENT_F80 };

// Encoding that the option opcode= prescribes.
struct opcode {
    bool given;
    enum encoding enc; // ENC_LEGACY for REX2
    bool rex2;
    int prefix; // 0 none, 1 66, 2 F3, 3 F2: numbered like VEX.pp
    int map;    // 0 one-byte opcodes, 1 0F, 2 0F38, 3 0F3A, ...
    int w;
    uint8_t byte;
    char fields[OPERANDS_MAX + 1]; // field of each operand that is no constant: 'r' reg, 'm' r/m,
                                   // 'v' vvvv, 'o' the opcode's low bits, '-' none; "": as usual
    int digit;                     // reg field if it belongs to the opcode; -1: an operand
    bool nd, nf;                   // APX: new data destination (or zeroed upper bits); no flags
    int scc, dfv;                  // APX: condition, or -1; flags if it is false: OF SF ZF CF
};

// Kind of data that the time of the instruction depends on (option data=).
enum data_kind { DATA_ORDINARY, DATA_DIVIDE, DATA_SQRT, DATA_INTEGER_DIVIDE, DATA_FUNCTION };

// Relative positions of the elements of a gather (option index=).
enum index_pattern { INDEX_ADJACENT, INDEX_SAME, INDEX_OVERLAP, INDEX_LINE, INDEX_RANDOM };

// Values of the x87 registers (option st=): one per set of data of the row.
enum { X87_SETS_MAX = 4 };
struct x87_values {
    double top, others;
    const char *top_text, *others_text; // as written; others_text NULL: the same as the top
};

// A hand-written kernel (option macro=FILE:NAME:ARGUMENT:...).
struct row_macro {
    const char *file, *name;
    const char *arguments; // each after a ':'; "": none
};

struct list_option {
    const char *key, *value;
};

// Columns of a list, in the order of struct list_row.fields.
enum {
    LIST_MNEMONIC,
    LIST_OPERANDS,
    LIST_IMPLICIT,
    LIST_ISA,
    LIST_TESTS,
    LIST_OPTIONS,
    LIST_COLUMNS
};

struct list_row {
    const char *path; // of the list, as given
    int line;
    const char *source;        // the source line, for messages
    const char *section;       // heading of the section, "Permute"; "": none
    bool family;               // one of several forms that the line stands for
    const char *const *fields; // columns of the list as a row of this form alone would have them

    const char *mnemonic;      // without {vex}/{evex}, with lock/rep prefixes: "lock add"
    const char *nasm_mnemonic; // as written in the list: "{evex} vaddps"
    const char *operands_text; // canonical, without access prefixes: "z{k}{z} z z {er}"; "" if none
    const char *form; // identity: nasm_mnemonic, operands with values, and those options that
                      // make another form of it (same, bits, data, ...), by single blanks
    enum encoding enc;
    int bits; // mode: 64 or 32
    enum rounding rounding;
    struct operand ops[OPERANDS_MAX];
    int nops;
    struct operand *implicit; // IMPLICIT_MAX at most
    int nimplicit;
    const char *isa; // "AVX512F+AVX512VL"
    unsigned tests;  // TESTS_*
    enum element element;
    struct opcode opcode;
    struct list_option *options; // all, in the order of the row; the fields below hold their
                                 // meaning
    int noptions;

    // Meanings of options; texts are NULL if the row does not have the option.
    bool same;        // all register operands are one register
    bool nontemporal; // stores that bypass the caches
    bool permission;  // the system may forbid the instruction to user code
    bool ring0;       // runs in ring 0, by the kernel module
    enum data_kind data;
    struct x87_values st[X87_SETS_MAX];
    int nst;
    int x87_moves; // growth of the x87 stack in registers
    int stack;     // bytes that the stack pointer moves up; 0: not given
    enum index_pattern index;
    bool has_mask, has_fill;
    uint64_t mask, fill;                 // contents of masks and memory, if given
    const char *pointer, *small, *signs; // operands, joined by '+': points_listed() of plan/
    const char *unrelated;               // pairs SRC:DST, joined by '+'
    const char *note;                    // for the printed table
    struct row_macro macro;              // file NULL: none
};

struct list {
    const char *path;
    const char *name;  // file name without directory and .csv
    const char *title; // first comment line: heading of the result table
    struct list_row *rows;
    int nrows;
    struct arena arena;
};

// Reads and parses one list. Returns 0, or -1 with `path:line: ...` and a caret at the first fault.
int list_read(const char *path, struct list *list, struct err *err);
// The same, but goes on after a fault: each is told to `fault`, its row is left out.
// Returns the number of faults, or -1 when the file cannot be read as CSV, has no rows at all, or
// too many (this is told too). The list is to be freed in either case.
typedef void list_fault_fn(const struct err *err, void *data);
int list_read_all(const char *path, struct list *list, list_fault_fn *fault, void *data);
void list_free(struct list *list);

// Returns the column, from 1, at which `token` first occurs in the row's source line; 1 if it is
// NULL or not found.
int list_row_column(const struct list_row *row, const char *token);
// Sets err to `path:line: message` with the row's source line and a caret in that column. Returns
// -1.
int list_row_error(const struct list_row *row, const char *token, struct err *err,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));
// Sets err like list_row_error(), with the caret in that column. The message names the form if the
// line stands for several. Returns -1.
int list_row_error_at(const struct list_row *row, int column, struct err *err, const char *message);
