// SPDX-License-Identifier: MIT
// A block of machine code as instructions, with what each reads and writes: registers, flags, and
// memory as far as addresses can be compared. By Zydis; pure.
#pragma once

#include "util/err.h"
#include "util/mem.h"

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BLOCK_INSTRS_MAX = 1000,
    BLOCK_TOUCHES_MAX = 32, // per instruction
};

// Places of values: registers by their numbers, groups of flags, then places in memory.
enum {
    PLACE_GPR = 0,
    PLACE_VEC = 16,
    PLACE_MASK = 48,
    PLACE_MMX = 56,
    PLACE_FLAGS_C = 64,
    PLACE_FLAGS_O,
    PLACE_FLAGS_REST, // zero, sign, parity, auxiliary carry
    PLACE_FLAGS_D,
    PLACE_X87, // the whole stack: what goes through it is taken for one value
    PLACE_REGISTERS,
    PLACE_MEMORY = PLACE_REGISTERS, // + number of the memory place
    PLACES_MAX = PLACE_MEMORY + 64,
    PLACE_NONE = -1 // memory that nothing else of the block touches
};

enum touch_part { PART_REGISTER, PART_REST, PART_BASE, PART_INDEX, PART_DATA, PART_FLAGS };

// Relation of the bytes of a load to the last store there.
enum forward_kind {
    FORWARD_SAME,   // by the same operand
    FORWARD_INSIDE, // all of it, by another operand
    FORWARD_NARROW, // only a part of it, from its first byte on
    FORWARD_BEFORE, // only a part of it: the load begins before the store
};

// One value that an instruction reads or writes.
struct block_touch {
    int place;
    int operand; // index of the decoder's operand; -1: flags
    enum touch_part part;
    bool write; // else read
    // The instruction of this block that stores the data that are read; -1: none, or no data.
    int writer;
    enum forward_kind forward;
    int line;   // line of the data: equal for the same cache line, among stores and among loads
    int offset; // of data that are read, in their line; -1: not known, or other ones in each copy
};

struct block_instr {
    size_t offset;
    const uint8_t *bytes;
    ZydisDecodedInstruction in;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    const char *text;
    struct block_touch touches[BLOCK_TOUCHES_MAX];
    int ntouches;
    bool same; // all register operands that are written in the text are one register, at least two
};

// Contents of a register when the first copy begins.
struct block_held {
    enum { HELD_UNKNOWN, HELD_CONSTANT, HELD_DATA } kind; // DATA: an address in the data area
    int64_t value;
};

struct block {
    int bits;
    struct block_held held[16]; // by the register's number
    struct block_instr *instrs;
    int n;
    int nmemory;         // memory places that are written and read
    bool memory_dropped; // there are more than fit
    // A load and a store go by pointers that cannot be compared. They are taken to lie apart, or,
    // if `meets` is set before places are found, to be one place.
    bool memory_unknown, meets;
};

// Returns the reason, in words, why a block may not hold an instruction that transfers control;
// NULL: it may. A conditional branch may be the last instruction.
const char *block_refuses(const ZydisDecodedInstruction *instr, bool last);
// Makes a decoder of 64-bit or 32-bit mode.
int block_decoder_begin(ZydisDecoder *decoder, int bits, struct err *err);
// Decodes code[0..len). Returns 0, or -1 with a message: it is empty, has bytes that are no
// instruction, too many instructions, calls, system calls, or jumps before its end.
int block_read(const uint8_t *code, size_t len, int bits, struct block *block, struct arena *arena,
               struct err *err);
// Returns the instruction that wrote last what is in a place when instruction `at` begins: of this
// copy, or of the one before; -1: none.
int block_writer_before(const struct block *block, int at, int place);
// Returns true if the touch is the stack pointer as push and pop move it.
bool block_is_stack_move(const struct block_instr *instr, const struct block_touch *touch);
// Sets the contents of registers to the initial ones of bench, then runs init's machine code on
// them. Without this call nothing is known.
void block_hold_initial(struct block *block, const uint8_t *init, size_t len);
// Returns the name of a place: "rax", "cf", "memory 1".
const char *block_place_name(const struct block *block, int place, struct arena *arena);
// Removes the reads of an instruction whose result is always the same, but for flags (sbb).
// Measurements show which ones are: not the decoder.
void block_break_inputs(struct block_instr *instr);
// Adds a read of the decoder's operand, which is in fact read and written (a part of the register
// is kept).
void block_add_read(struct block_instr *instr, int operand, enum touch_part part);
// Finds places in memory that one instruction writes and another one, or the same in the next copy
// of the block, reads: after all other touches are right.
void block_link_memory(struct block *block);
