// SPDX-License-Identifier: MIT
// Measuring a piece of code that the user brings: one kernel, timed repetition by repetition under
// the same gate and with the same estimator as the instruction lists. Whatever the code does
// (refused by the assembler, crash, endless loop) is an outcome. Not for use by several threads at
// the same time.
#pragma once

#include "counters/count_choose.h"
#include "store/store_bench.h"
#include "util/err.h"
#include "util/mem.h"

#include <stdbool.h>
#include <stdint.h>

// Syntax of code as text.
enum bench_syntax {
    BENCH_NASM,
    BENCH_ATT,   // of binutils' assembler; also where registers are written %rax
    BENCH_INTEL, // as that assembler and objdump -M intel write it
};
int bench_syntax_parse(const char *name, enum bench_syntax *syntax); // -1: no such name

enum bench_mode {
    // The code as it is: a copy waits for the one before where the code says so, and a call of a
    // function until the one before is done.
    BENCH_LATENCY,
    // The chain from copy to copy is broken (bench_break.h); calls may overlap.
    BENCH_THROUGHPUT,
};
const char *bench_mode_name(enum bench_mode mode);             // "latency", "throughput"
int bench_mode_parse(const char *name, enum bench_mode *mode); // case does not matter; -1: no mode

// The question to bench. Begin with bench_defaults(); a field that is 0 or NULL has the meaning
// given here. Registers and memory obey the contract of bodies (plan.h, docs/BENCH.md).
struct bench_spec {
    const char *body; // NASM, Intel syntax; instructions separated by newline or `;`
    // Instead of the body a file: .nasm or .asm with the macros of docs/BENCH.md, .c, or .o. What
    // the spec leaves open may then stand in the file.
    const char *file;
    // Addresses instead of a symbol, "A..B" in hexadecimal digits: the code between them, of an
    // executable, a library or an object.
    const char *address;
    const char *hex;          // instead of body and file: machine code in hexadecimal digits
    enum bench_syntax syntax; // of the body, or of a file that is text for the assembler
    const char *symbol;       // the function of a .c or .o file: void f(void *data, long bytes)
    const char *cflags;       // for the compiler, separated by spaces; NULL: none
    // Arguments of the function, separated by commas: numbers, `data`, `data+N`; NULL: `data,
    // 65536`
    const char *args;
    bool foreign; // the body is code of a program, which may invent addresses: pages are mapped
                  // there
    // Object that bench_file_code() made of the .c or .o file, possibly changed; NULL: it is made
    // here
    const char *object;
    const char *init; // text as the body; run before the clock of every repetition. NULL: nothing
    const char *testcode; // text in place of the `testcode` of a NASM file; NULL: as in the file
    const char *after;    // with it: text that runs after all of init, before the clock; or NULL
    enum bench_mode mode;
    int bits;        // 64 or 32; 0: 64
    int instances;   // divisor of the results: instances per body; 0: 1
    int unroll;      // copies of the body in the loop; 0: chosen
    bool looped;     // the body lacks its own jump back: that of the loop around it stands for it
    int loop;        // iterations of the loop; 0: chosen, some microseconds a repetition
    int repeat;      // repetitions after the first one, which is cold; 0: 8
    bool cold;       // all repetitions are cold: code and data in no cache
    int cpu;         // to measure on; -1: the last one that may be used
    int threads;     // run the code on so many CPUs in step; 0: 1
    const int *cpus; // one per thread, instead of `cpu`; NULL: chosen
    const char *events; // to count around every repetition, separated by commas: ids of the CPU's
                        // table, sets (@branches), raw codes, software events; NULL: none
    enum count_choice backend;  // counts hardware events: auto, perf or msr
    const char *const *columns; // computed ones, "ipc=instructions/core_clk": expressions of events
                                // and of tsc, core_clk, ns, instances, copies, iterations
    int ncolumns;               // at most BENCH_COLUMNS_MAX
    int give_up_ms;             // nothing undisturbed for so long: stop waiting; 0: 5000
    const char *db; // database that keeps the canary's floor of this CPU. NULL: none; the floor is
                    // found anew, in half a second to five, once per process
    bool db_optional;  // a database that cannot be used is done without
    bool store;        // keep the result in the database, which is then not optional
    const char *label; // name of what is stored; NULL: none
    bool keep;         // leave the assembly file; result->directory says where
};
struct bench_spec bench_defaults(void);
// Takes what a user gave without an option: nothing, or one file or piece of code. It is code if no
// file has that name, and it has no ending of one. Returns 0, or -1 with a message.
int bench_take_operands(struct bench_spec *spec, char **operands, int n, struct err *err);
enum {
    BENCH_UNROLL_MAX = 1000000,
    BENCH_LOOP_MAX = 2000000000,
    BENCH_REPEAT_MAX = 100000,
    BENCH_GIVE_UP_MAX_S = 3600,
    BENCH_THREADS_MAX = 64,
    BENCH_EVENTS_MAX = 32,
    BENCH_COLUMNS_MAX = 16
};

struct bench_result {
    enum outcome outcome;
    const char *detail;      // reason, unless ok; for asm_failed the assembler's message
    bool refused;            // after -1: the spec or the file is at fault, not this machine
    const char *failed_file; // asm_failed: the fault is in line failed_line of this file; or NULL
    bool failed_init;        // else: in the init text, not in the body
    int failed_line;         // number of the instruction (or line) of the text, from 1; 0: unknown
    struct bench_summary summary;  // thread 0
    struct bench_summary *threads; // each thread
    const int *cpus;               // each thread's
    int cpu;                       // thread 0's
    int nthreads;
    const char *placement;  // threads on cores, for people; "": one thread
    struct bench_row *rows; // by pass, repetition, thread; owned by the arena
    int nrows;
    struct bench_metric *metrics; // the events, then the computed columns
    int nevents, ncolumns;
    int pass; // the pass to show: the one that contributes most to the summary
    int bits, copies, iterations, instances;
    const char *breakers; // instructions before each copy that break its chains, a line each, or ""
    double core_hz, tsc_hz, overhead_tsc;
    double imul_per_add; // ratio of the latencies of imul r64,r64 and add r64,r64
    // Description of a core that was never undisturbed, so that there is no value; NULL: it was
    const char *floor_guessed;
    const char *uarch, *brand;
    const uint8_t *code;       // first bytes of the body's machine code
    int code_bytes;            // length of the body; `code` has at most 64 of it
    const char *directory;     // kept files; NULL: none
    int64_t run_id;            // its run in the database; 0: not stored
    const char *store_failure; // reason why it is not stored; NULL
};

// Measures the spec. Returns 0, also if the code fails: result->outcome has the reason. Returns -1
// with a message if the spec is wrong or nothing can be measured here. The arena owns strings and
// rows.
int bench_measure(const struct bench_spec *spec, struct bench_result *result, struct arena *arena,
                  struct err *err);

// Measures n pieces of code in the same processes; they are text, of one mode, without events,
// columns, threads, modes and rows, on the CPU, with the patience and the database of the first.
// Fills outcome, detail and summary of each result. Returns -1 with a message if nothing can be
// measured here.
int bench_measure_many(const struct bench_spec *specs, int n, struct bench_result *results,
                       struct arena *arena, struct err *err);

// Looks whether the ports that were counted can be true. NULL, or `text`: what is wrong with them.
const char *bench_doubt_ports(const struct bench_result *result, char *text, size_t size);
