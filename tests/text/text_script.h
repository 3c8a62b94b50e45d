// SPDX-License-Identifier: MIT
// The script of a core made of text: its speed, the times of its instructions, and the faults of
// its bodies and records. Format: tests/text/README.md.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { TEXT_PORTS = 16, TEXT_USES = 6, TEXT_OPERANDS = 5, TEXT_LEVELS = 8, TEXT_LINES = 256 };

struct text_uses { // µops by set of ports, bit n for port n
    int n;
    uint32_t sets[TEXT_USES];
    double uops[TEXT_USES];
};

// Costs of the instructions of a form. The last line whose pattern fits a form applies.
struct text_form {
    char pattern[64];
    struct text_uses uses;
    double slots;                   // of dispatch
    double latency_clk;             // from any input to any output, but for:
    double from_clk[TEXT_OPERANDS]; // from operand i + 1; 0: latency_clk
};

enum text_fault_kind {
    TEXT_SIGNAL, // raised by the instruction
    TEXT_EXIT,   // the process ends with this status
    TEXT_KILL,   // as by another program
    TEXT_STOP,   // held by another program
    TEXT_HANG,   // the body does not return
    TEXT_WRITE,  // the body writes over the core's memory
};
struct text_fault {
    char pattern[64];
    enum text_fault_kind kind;
    int value; // the signal, or the status
    bool once; // in the first process that comes to it, and in no other one
    int line;
};

enum text_record_kind {
    TEXT_HALF,    // a part of it, then the process ends with status 0
    TEXT_TWICE,   // the same record again
    TEXT_UNKNOWN, // of no known type
    TEXT_FOREIGN, // of a kernel that there is not
    TEXT_SILENT,  // none from here on: the process ends with status 0
};
struct text_record {
    long number; // of a process that measures several kernels in passes, from 1
    enum text_record_kind kind;
    bool once; // as of faults
    int line;
};

struct text_script {
    double width; // slots per cycle
    double overhead_clk, fill_clk;
    double least_hz, most_hz, drift_ms; // the clock goes from least to most in drift_ms, and back
    bool jumps;                         // or stays so long at each
    double noise;                       // relative: a timing is as much longer at most
    double busy_ms, every_ms, busy_from_ms; // another thread has half of all slots and ports for
                                            // so long, so often, from then on
    int loud_processes, loud_kernels, loud_line; // the first that measure so many kernels are
                                                 // disturbed all the time
    double pace_ms;                              // of our time, that a record takes at least
    double interrupt_ms, interrupt_us;           // every, takes; 0: none
    // The next timing after one with more bytes of code than this takes so much longer; 0: none.
    double evicting_bytes, evicted_clk;
    double touch_clk; // that the first access to memory after a record was sent takes longer
    struct text_uses load, store, loop; // µops of an access to memory; of dec and jnz
    double load_clk, forward_clk;       // from address to value; from a store's data to a load
    double renamed_bytes, beside_clk;   // size of a place that is renamed, 0: any; from a store to
                                        // a load of such a place where stores are beside each other
    double leave_bytes; // two stores leave in a cycle if both are in such a block; 0: always
    int nforms, nidioms, nmoves, nstates, nfaults, nrecords, nlevels, nlacks;
    struct text_form forms[TEXT_LINES];
    char idioms[TEXT_LINES][64]; // forms that depend on nothing where their registers are the same
    char moves[TEXT_LINES][64];  // forms that take no port and no time
    char lacks[TEXT_LINES][64];  // sets of instructions, as Zydis names them
    struct text_state {
        char pattern[64];
        double factor, share; // a timing takes so many times as long, in this share of all
        enum text_when {
            TEXT_ALWAYS,
            TEXT_REGISTERS,
            TEXT_FILLERS,
            TEXT_COPIES,
            TEXT_WILD,
            TEXT_HIGH,  // where it names r16 to r31
            TEXT_EARLY, // in the first early_ms of a process that measures several kernels
        } when;
        double early_ms;
        bool once; // as of faults
        int line;
    } states[TEXT_LINES];
    struct text_fault faults[TEXT_LINES];
    struct text_record records[TEXT_LINES];
    struct text_level { // of a chase through so many bytes: its latency
        double bytes, clk;
    } levels[TEXT_LEVELS];
};

// Reads a script. Calls fail("FILE:LINE: ...") if it is wrong; that does not return.
void text_script_read(const char *path, struct text_script *script, void (*fail)(const char *text));
// Returns true if the pattern fits the name; a pattern with values ('=') must fit the name with
// these.
bool text_script_match(const char *pattern, const char *name, const char *valued);
// Returns the form of this name; NULL: no line fits.
const struct text_form *text_script_form(const struct text_script *script, const char *name,
                                         const char *valued);
bool text_script_fits(const char (*patterns)[64], int n, const char *name);
