// SPDX-License-Identifier: MIT
// The interface of the runner, the generated NASM file and the measurement core. gen.c writes both
// sides of struct core_kernel, as NASM's text and as bytes; the sizes are asserted here.
#pragma once

#include <stdint.h>

enum { CORE_ABI_VERSION = 22, CORE_CONFIG_FD = 3, CORE_RECORD_FD = 4, CORE_TEAM_FD = 5 };

// core_time.c has them; number 0 is none, those before CORE_CANARY_MIXTURES are nops.
enum { CORE_CANARIES = 13, CORE_CANARY_MIXTURES = 10 };

// flags of a kernel
enum {
    CORE_UNROLLED = 1,    // copy the body once: NASM has unrolled it
    CORE_CLEAR_UPPER = 2, // vzeroall, then legacy moves
    CORE_ONCE = 4,        // one iteration a timing, however short
    CORE_COLD = 8,        // code and data of the kernel are flushed before each timing
    CORE_PERMISSION = 16, // the system may forbid the instruction: #GP says so
    CORE_STREAM = 32,     // stores wait on their way out: a timing has many more than can wait
    CORE_COMPOSED = 64,   // body and init are no addresses, but offsets from `latput_code`
    CORE_RING0 = 128,     // the kernel module runs it
};

// The address of a jmpabs with this in its upper 48 bits, which makes it none that a program can
// have, becomes one in each copy of the body: as many bytes after where it stands as the lower 16
// bits say. Mirrored in macros/branch.inc.
#define CORE_ADDRESS_MARK UINT64_C(0x6c6174707574)

// Large data of a kernel, beside the data area. The memory is mapped once for all kernels of the
// program, as large as the largest needs it. It is written before a kernel's trial and passes,
// unless the kernel before left the same contents. The page after the first one of the data area
// describes it to the kernel (macros/property.inc is the NASM side).
enum core_fill_kind {
    CORE_FILL_ZERO,         // zeros
    CORE_FILL_CHASE,        // nodes that lead through all of them, at random, and back
    CORE_FILL_CHASE_LINEAR, // in the order of addresses
    CORE_FILL_RANDOM,       // random bits
    CORE_FILL_CHASE_PAGES,  // at random in a page, then in another one, pages at random, too
    CORE_FILL_KINDS
};
enum { CORE_AREAS_MAX = 4, CORE_CURSORS_MAX = 16, CORE_FILLS_MAX = 4 };
enum { CORE_PAGE = 4096, CORE_LINE = 64 };
enum {
    CORE_FILL_SHARED = 1, // the same memory for the corunners, too; else it has its own
    CORE_FILL_CODE = 2,   // may be executed, where the program may write code (CORE_PERMIT_CODE)
    CORE_FILL_SMALL = 4,  // in no huge pages
};
struct core_fill {
    uint32_t kind; // enum core_fill_kind
    uint32_t area;
    uint32_t cursor;  // chase: number of the cursor with the address of its next node
    uint32_t stride;  // chase: distance of its nodes
    uint32_t stagger; // chase: node i lies i * stagger bytes further within its page
    uint32_t frames;  // area: number of different pages that repeat; 0: all differ
    uint32_t flags;   // area: CORE_FILL_*
    uint32_t reserved;
    uint64_t bytes; // filled part of the area
    uint64_t seed;
};
_Static_assert(sizeof(struct core_fill) == 48, "mirrored in gen.c");

// The page of parameters, CORE_PAGE bytes after the start of the data area.
struct core_parameters {
    uint64_t cursors[CORE_CURSORS_MAX]; // kept from call to call
    uint64_t areas[CORE_AREAS_MAX];     // addresses
    uint64_t bytes[CORE_AREAS_MAX];     // filled for this kernel
    uint64_t mapped[CORE_AREAS_MAX];    // bytes of the whole areas
    uint64_t process;                   // its number, and its one thread's
};
_Static_assert(sizeof(struct core_parameters) == 232, "mirrored in macros/property.inc");

// One kernel of the object. The table is the symbol `latput_kernels`, the number of its entries the
// 32-bit symbol `latput_kernel_count`. Addresses are 64 bits wide in 32-bit objects too.
struct core_kernel {
    uint64_t body, init; // addresses, or offsets (CORE_COMPOSED)
    uint32_t body_bytes, init_bytes;
    uint32_t id; // index in the batch
    uint32_t instances, instrs;
    uint32_t flags;
    uint32_t vec_bits;
    // Values are usually multiples of 1/n for an n up to this: 1 latency, 6 throughput, 0 none are.
    uint32_t grid;
    uint64_t vec_fill, mem_fill, gpr_fill, mask_fill;
    uint64_t fini;  // code that is run after the clock; it finds all registers of the body but
                    // rax, rcx and rdx
    uint64_t fills; // address of struct core_fill
    uint32_t fini_bytes, nfills;
    uint32_t align;  // alignment of the loop; 0: as all
    uint32_t copies; // copies of the body in the loop; 0: chosen
    // Code that runs on other CPUs while the body is timed (core_corunner.c), and code that runs
    // there first; 0: none. It runs on the CPUs of the configuration from corunner_from to before
    // corunner_to.
    uint64_t corunner, corunner_init;
    uint32_t corunner_bytes, corunner_init_bytes;
    uint32_t corunner_from, corunner_to;
};
_Static_assert(sizeof(struct core_kernel) == 144, "mirrored in gen.c");

// Permissions of the bodies of a program beyond computing, as bits. The filter of the core lets
// nothing else through.
enum core_permit {
    CORE_PERMIT_CALL = 1,    // getppid(), the system call that does nothing
    CORE_PERMIT_DISCARD = 2, // madvise(area, mapped, MADV_DONTNEED) of whole areas
    CORE_PERMIT_SIGNAL = 4,  // tgkill(process, process, SIGUSR1), which comes back at once
    CORE_PERMIT_CODE = 8,    // areas may have code that is written while it runs
    CORE_PERMITS = 15,
};

enum core_mode {
    CORE_MODE_MEASURE, // the selected kernels, in passes
    CORE_MODE_FLOOR,   // no kernels: time all canaries, for the floor
    CORE_MODE_BENCH,   // one kernel, repetition by repetition, each with a record of its own
};

// Samples this close, relative or in cycles per instance, show one state; one that comes back has
// so many of them in each of so many passes.
#define CORE_STATE_WIDTH 0.006
#define CORE_STATE_WIDTH_CLK 0.003
enum { CORE_STATE_SAMPLES = 2, CORE_STATE_PASSES = 2 };
// A state that is faster by as much than one that is seen more often counts if it came in so many
// passes, be it in one sample only: the gate refuses whatever makes a sample as much too fast.
#define CORE_RARE_APART 0.03
enum { CORE_RARE_PASSES = 4 };

// Random numbers of the runner's, by which the core knows its own memory, and the runner the core's
// words, after foreign code ran (core_seal.c). The first of them is in the configuration. Each of
// the others follows it on fd 3, to be read at the one place in the core where that is allowed.
struct core_secret {
    uint64_t before[2]; // `after` of the one before
    uint64_t after[2];  // the key of what the core remembers until the next one
    uint64_t tags[2];   // the key of what it remembers of each kernel; the same in all
    uint64_t token;     // mark of all records that are sent until the next secret
    uint32_t number;    // from 0
    uint32_t reserved;
};
_Static_assert(sizeof(struct core_secret) == 64, "the same in 32-bit mode");

// The configuration that the runner writes to fd 3 of the core. It is followed by nselected 32-bit
// kernel ids, by ncounters counters (at most CORE_TIMED_MAX that kernels read, else
// CORE_COUNTERS_MAX), by ncorunners 32-bit CPUs, by npages 64-bit addresses, then by secrets.
struct core_config {
    uint32_t abi_version;
    uint32_t mode;           // enum core_mode
    int32_t cpu;             // to pin to
    uint32_t calib_link_clk; // latency of imul on this uarch, at the mode's width; 0: by the ratio
    uint32_t canary;  // number of the canary: 1 to 9 are nops of that length, 10 and more mixtures
    uint32_t most_ms; // passes end after so long, done or not; 0: when all is done
    double floor_clk_per_instr; // cycles per instruction of the canary on an undisturbed core
    double tsc_hz;
    double canary_tolerance;      // accept up to floor * (1 + this)
    double calib_tolerance;       // largest |before - after| / before
    double passes_tolerance;      // two passes that differ by more call for a third
    uint32_t window_ns, calib_ns; // length of a kernel's timing, and of a calibration
    // Rounds of the canary. A start and an end belong to its time, which a floor is of, so there
    // are as many in all processes: half as many take 2 % longer each.
    uint32_t canary_iterations;
    uint32_t accept; // accepted repeats wanted a pass
    uint32_t enough; // repeats that will do, if they agree and no pass before showed another state
    uint32_t together;    // repeats between two looks whether the core is disturbed; 0: one
    uint32_t tries;       // repeats tried at most before the kernel is requeued
    uint32_t requeues;    // times that a kernel is requeued before it is unstable,
    uint32_t requeues_ms; // and for how long at least
    uint32_t give_up_ms;  // nothing accepted for so long: stop waiting
    uint32_t aside_ms;    // the same: end, for another process (CORE_REC_ASIDE); 0: never
    uint32_t passes;      // at most
    uint32_t pass_gap_ms; // least time between two passes of a kernel
    uint32_t floor_ms;    // duration of CORE_MODE_FLOOR
    uint32_t nselected;
    // CORE_MODE_BENCH:
    uint32_t copies; // copies of the body in the loop; 0: chosen
    // Rounds of the loop; 0: only find out how many fill the window (CORE_REC_SHAPE)
    uint32_t iterations;
    uint32_t repeats;   // warm repetitions wanted, after the cold one
    uint32_t cold;      // 1: all repetitions are cold
    uint32_t threads;   // processes that repeat in step; more than 1: share CORE_TEAM_FD
    uint32_t thread;    // number of this thread, from 0
    uint32_t ncounters; // struct core_counter that follow the kernel ids
    uint32_t timed;     // 1: kernels read the counters themselves, as in CORE_MODE_MEASURE
    // CORE_MODE_MEASURE:
    uint32_t counts_clk; // 1: the first of the counters counts core cycles
    uint32_t ncorunners; // CPUs for corunners, at most CORE_CORUNNERS_MAX
    uint32_t permits;    // CORE_PERMIT_*
    // 1: other processes have confirmed calib_link_clk; one that finds another does not measure
    uint32_t link_known;
    uint32_t probe; // 1: nothing is timed: all kernels run briefly, and those that fault are told
    // Code that invents addresses (core_pages.c): 1: it has frames, and a fault says its address
    uint32_t frames;
    uint32_t npages;         // pages to be mapped, at most CORE_PAGES_MAX
    uint32_t interrupts_off; // 1: while a body or the clock's own code is timed (core_interrupts.c)
    uint32_t reserved;
    struct core_secret secret; // the first
};
enum { CORE_CORUNNERS_MAX = 256, CORE_PAGES_MAX = 1 << 15 };

// Ways to get at a count. Kernels read counters themselves, between the same fences as the clock
// (core_rdpmc.c). CORE_MODE_BENCH without `timed` reads all of them at once through the system
// (core_count.c), for events that RDPMC cannot read; CORE_COUNTER_PERF only.
enum core_counter_source {
    CORE_COUNTER_PERF,  // opened by the core; RDPMC where the kernel's page says it is
    CORE_COUNTER_RDPMC, // programmed by someone else, and running: RDPMC by number
    CORE_COUNTER_TSC,   // ticks of the TSC times config / 65536: what a test can know beforehand
};

// An event to be counted, in the terms of perf_event_attr, or where it is counted already.
struct core_counter {
    uint64_t config, config1;
    uint32_t type;
    uint16_t exclude_user, exclude_kernel;
    uint16_t source; // enum core_counter_source
    uint16_t bits;   // width for CORE_COUNTER_RDPMC
    uint32_t rdpmc;  // value of ecx for CORE_COUNTER_RDPMC
};
enum { CORE_COUNTERS_MAX = 16, CORE_TIMED_MAX = 6 };
_Static_assert(sizeof(struct core_counter) == 32, "the same in 32-bit mode");

// Memory that the processes of a team share, mapped from CORE_TEAM_FD; zeros at first. core_team.c
// says which of them writes what, and when.
struct core_team {
    uint32_t arrived, generation; // barrier
    uint32_t aborted;             // one cannot go on
    uint32_t accepted, late;      // numbers of threads, for the last repetition
    uint32_t gave_up;
    uint32_t lead_us; // from the barrier to the start; grows when a start was missed
    uint32_t reserved;
    uint64_t start_tsc; // start of the next repetition
};

enum core_record_type {
    CORE_REC_HELLO,  // once, after calibration
    CORE_REC_BEGIN,  // kernel, pass: about to run a kernel in this pass; with a tally
    CORE_REC_COUNTS, // kernel, pass: what was counted, in front of the timing it belongs to
    CORE_REC_TIMING, // kernel, pass: end of a pass, samples follow in the record
    CORE_REC_WAIT,   // alive, waiting for the core to become quiet; with a tally
    CORE_REC_FLOOR,  // part of a canary's histogram in CORE_MODE_FLOOR
    CORE_REC_CODE,   // kernel: its machine code
    CORE_REC_SHAPE,  // kernel: copies and iterations that fill the window
    CORE_REC_REPEAT, // kernel: one repetition of CORE_MODE_BENCH
    CORE_REC_FATAL,  // the core cannot work; text says why
    CORE_REC_ASIDE,  // this process measures nothing right; text says why. A new one may.
    CORE_REC_END,    // with the last tally
};

enum { CORE_SAMPLES_MAX = 16, CORE_PASSES_MAX = 8, CORE_CODE_MAX = 64, CORE_TEXT_MAX = 160 };

struct core_sample { // raw TSC ticks
    uint32_t kernel_tsc, before_tsc, after_tsc, canary_tsc;
};

// A fault for want of memory, of code that has frames.
struct core_fault {
    uint64_t address;
    uint32_t missing; // 1: nothing is mapped there, and a new process may map something
    uint32_t reserved;
};

// Reasons to refuse a repeat.
enum core_refusal {
    CORE_REFUSED_CANARY,  // the core was disturbed
    CORE_REFUSED_CALIB,   // calibrations before and after it disagree
    CORE_REFUSED_COUNTER, // a counter was not running
    CORE_REFUSED_FEW,     // it was accepted, but too few with it
    CORE_REFUSALS
};
// Counts of a process in CORE_MODE_MEASURE since its begin.
struct core_tally {
    uint64_t accepted, refused[CORE_REFUSALS]; // repeats
    uint64_t quiet_tsc, gap_tsc;               // waited for quiet; until the next pass was due
};

// Histograms of CORE_MODE_FLOOR: core cycles per instruction, in bins of CORE_FLOOR_BIN_CLK. Empty
// parts are not sent.
enum { CORE_FLOOR_BINS = 8064, CORE_FLOOR_CHUNK = 96 };
#define CORE_FLOOR_BIN_CLK 0.00025 // 0.15 % at six instructions per cycle

// A record that the core writes to fd 4. All have one size, so that a torn one cannot be misread.
struct core_record {
    uint32_t type;   // enum core_record_type
    uint32_t kernel; // id, where it applies
    uint64_t token;  // token of the secret `number`
    uint32_t number;
    int32_t cpu; // of a timing: that it is from; -1: the system does not tell
    union {
        struct {
            double overhead_tsc; // time of an empty timing
            double calib_clk;    // core cycles of the calibration chain
            double core_hz;
            double imul_per_add;     // ratio of the latencies of imul r64,r64 and add r64,r64
            uint32_t calib_link_clk; // as configured, or found from the ratio
            uint32_t confirmed;      // 1: all of this was found on an undisturbed core
            uint32_t code_bytes, kernels;
            uint32_t ncounters, reserved;
            // By counter: of a timing without work, of one link of the calibration chain, and of
            // one round of a loop without a body.
            double overhead_counts[CORE_TIMED_MAX], link_counts[CORE_TIMED_MAX],
                loop_counts[CORE_TIMED_MAX];
            // All areas together: mapped bytes, and bytes in huge pages.
            uint64_t area_bytes, area_huge_bytes;
        } hello;
        struct {
            uint32_t pass, reserved;
            struct core_tally tally;
        } begin; // also for CORE_REC_WAIT and CORE_REC_END
        struct {
            uint32_t pass, ncounters;
            uint32_t samples[CORE_SAMPLES_MAX][CORE_TIMED_MAX]; // with overhead
        } counts;
        struct {
            uint32_t pass;
            uint32_t outcome; // enum outcome
            int32_t signal;   // if signalled or unsupported
            uint32_t accepted, tried;
            uint32_t iterations, copies;
            uint32_t last; // 1: no further pass of this kernel follows
            double overhead_tsc, calib_clk;
            union {
                struct core_sample samples[CORE_SAMPLES_MAX];
                struct core_fault fault; // if signalled
            };
            char detail[CORE_TEXT_MAX];
        } timing;
        struct { // samples in the bins [first, first + CORE_FLOOR_CHUNK) of a canary's histogram
            uint32_t canary, first;
            uint32_t counts[CORE_FLOOR_CHUNK];
        } floor;
        struct {
            uint32_t bytes; // length of the body; code holds at most CORE_CODE_MAX of it
            uint8_t code[CORE_CODE_MAX];
        } code;
        struct {
            uint32_t copies, iterations;
        } shape;
        struct {
            uint32_t repetition; // from 0
            uint32_t cold;       // code and data were in no cache
            uint32_t accepted;   // passed the gate; if not, this is the last try
            uint32_t tried;
            uint32_t copies, iterations;
            uint32_t late_tsc; // after the start that all threads had agreed on
            uint32_t reserved;
            double overhead_tsc, calib_clk;
            struct core_sample sample;
            uint64_t counts[CORE_COUNTERS_MAX]; // without the overhead of counting
        } repeat;
        char text[CORE_TEXT_MAX];
    };
};
// So many are written at once, at most: the write to a pipe is atomic.
enum { CORE_RECORDS_MAX = 8 };
_Static_assert(CORE_RECORDS_MAX * sizeof(struct core_record) <= 4096, "PIPE_BUF");

// Exit statuses of a core: the current body has changed its memory; some earlier body has changed
// the state of another kernel; the process was put aside.
enum { CORE_EXIT_DAMAGED = 114, CORE_EXIT_TAMPERED = 115, CORE_EXIT_ASIDE = 116 };

// The runner is a 64-bit program, the core may be a 32-bit one, where a double needs less
// alignment.
_Static_assert(sizeof(struct core_config) == 256, "the same in 32-bit mode");
_Static_assert(sizeof(struct core_record) == 488, "the same in 32-bit mode");
