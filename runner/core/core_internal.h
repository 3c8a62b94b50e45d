// SPDX-License-Identifier: MIT
// Declarations that the files of the measurement core share. The core is a static program of its
// own, linked with the bodies of one batch, and exists for 64-bit and for 32-bit mode; it depends
// on libc only. It allocates nothing while it measures: code, data area and kernel state are mapped
// before the first body runs.
#pragma once

#include "core_abi.h"
#include "outcome.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The object of the batch (gen.c).
extern const struct core_kernel latput_kernels[];
extern const uint32_t latput_kernel_count;
extern const uint8_t latput_code[]; // code of kernels that are CORE_COMPOSED

// Mirrors `struc setup` in core_layout.inc.
struct core_setup {
    uint64_t code, stack, data;
    uint64_t gpr_fill, mask_fill;
    uint32_t vec_bits, features;
    uint64_t vec_fill[2];
};
_Static_assert(offsetof(struct core_setup, vec_fill) == 48, "struc setup in core_layout.inc");

// Mirrors `struc state` in core_layout.inc.
struct core_state {
    uint64_t saved_rsp, saved_rax, saved_rdx, tsc_begin, tsc_end, leave;
    uint32_t iterations, in_kernel;
    uint32_t reserved[2];
    uint64_t start_tsc;          // core_wait waits for it
    uint64_t begin_rsp, end_rsp; // before the loop and after it
    // For counting kernels (core_rdpmc.c):
    uint64_t saved_rcx;
    uint32_t rdpmc[CORE_TIMED_MAX]; // values of ecx
    uint64_t count_begin[CORE_TIMED_MAX], count_end[CORE_TIMED_MAX];
    uint32_t count_lock[CORE_TIMED_MAX]; // lock words of the pages that rdpmc came from
    uint32_t count_lost;                 // 1: a counter was not running
    uint32_t reserved_2;
};
_Static_assert(offsetof(struct core_state, iterations) == 48, "struc state in core_layout.inc");
_Static_assert(offsetof(struct core_state, count_end) == 168, "struc state in core_layout.inc");

// State of the process that core_leave restores after each kernel. Mirrors `struc own`.
struct core_own {
    uint64_t fs_base, gs_base; // 64-bit mode
    uint32_t pkru;
    uint32_t fs, gs, ds, es; // selectors
    uint32_t reserved;
};
_Static_assert(offsetof(struct core_own, es) == 32, "struc own in core_layout.inc");

// Sections of the core's variables that change while bodies may run; all others are read-only then
// (core_seal.c). Kept: it must be unchanged after they ran. Open: they, or the handler of signals,
// may write it.
#define CORE_KEPT __attribute__((section("core_kept")))
#define CORE_OPEN __attribute__((section("core_open")))

// Values of core_state.in_kernel.
enum {
    STATE_OUTSIDE,
    STATE_KERNEL,  // a fault leads to core_leave
    STATE_OPENING, // the seal: a fault ends the process
};

enum {
    FEATURE_AVX = 1,
    FEATURE_AVX512F = 2,
    FEATURE_AVX512BW = 4,
    FEATURE_MMX = 8,
    FEATURE_FSGSBASE = 16,
    FEATURE_PKEYS = 32,
    FEATURE_TILES = 64,
};

// core_state.c
struct guard_fault {
    int signal, code; // 0: none
    uint64_t address;
    bool fetch; // of an instruction
};
extern struct core_state core_state;  // the one thing that kernels write
extern struct guard_fault guard_last; // the handler's
extern struct core_own core_own;
extern uint32_t core_features;         // FEATURE_* of this CPU (not MMX)
extern struct core_secret core_secret; // the last; zeros while bodies may run
extern uint64_t core_seal_sp;          // the stack pointer where core_sealed was called

// core_call.asm
extern const uint32_t core_data_start; // address of the data area (core_layout.inc)
extern const uint32_t core_corunner_start;
// a system call, without libc
long core_call(long number, intptr_t a, intptr_t b, intptr_t c, intptr_t d);

// core_send.c: records to the runner.
extern struct core_record core_outbox[CORE_RECORDS_MAX]; // the records that the filter lets out
void send_record(const struct core_record *record);      // soon
void send_sign(struct core_record *record);              // signs it as the core's own
void send_all(void); // now; before bodies run, and before waiting
_Noreturn void send_fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));
// Ends a process that measures nothing, though another one may (CORE_REC_ASIDE).
_Noreturn void send_aside(const char *format, ...) __attribute__((format(printf, 1, 2)));

// core_enter.asm
void core_sealed(void (*work)(void)); // see core_seal.c
extern const uint8_t core_seal_open[], core_seal_opened[];
extern const uint8_t core_own_probe[], core_own_lost[]; // 64-bit mode; core_own.c
void core_enter(const struct core_setup *setup);
void core_leave(void);
extern const uint8_t core_wait[], core_wait_end[], core_start[], core_start_end[], core_step[],
    core_step_end[], core_watch[], core_watch_end[], core_stop[], core_stop_end[], core_exit[],
    core_exit_end[];
// Stubs of kernels that are counted. In the last four a part for each of CORE_TIMED_MAX counters
// follows the other, all of one length.
extern const uint8_t core_spare[], core_spare_end[], core_unspare[], core_unspare_end[],
    core_count_begin[], core_count_begin_end[], core_count_stop[], core_count_stop_end[],
    core_ticks_begin[], core_ticks_begin_end[], core_ticks_stop[], core_ticks_stop_end[];

// A kernel in several unrollings, from many copies to one, all in executable memory.
enum { VARIANTS_MAX = 3 };
struct code_variant {
    const uint8_t *entry, *end;
    uint32_t copies;
};
struct code {
    struct code_variant variants[VARIANTS_MAX];
    int nvariants;
};

// State of one selected kernel while it is measured.
struct kernel_run {
    const struct core_kernel *kernel;
    struct code code;
    struct core_kernel empty; // the same without a body, where events are counted
    struct code empty_code;
    struct core_kernel corunner; // code for other CPUs, as a kernel; in their processes
    struct code corunner_code;
    const struct code_variant *variant; // chosen by the trial; NULL before
    uint32_t iterations;
    double loop_tsc;         // shortest time of one iteration seen
    uint32_t requeued;       // in this pass
    uint64_t requeued_tsc;   // for the first time
    uint32_t pass;           // the pass it is in, from 1
    uint32_t tried;          // repeats tried in this pass
    bool finished;           // nothing more to do
    bool due;                // has not had its pass in this round
    bool wakes;              // wide units, which sleep
    struct core_fault fault; // that finished it
    // Samples of the finished passes, in cycles per instance, ascending within a pass.
    double values[CORE_PASSES_MAX][CORE_SAMPLES_MAX];
    uint32_t nsamples[CORE_PASSES_MAX];
    uint32_t nvalues; // passes in it
    uint64_t tag;     // tag of all members above, while another kernel is measured
};

// Results of calibration (core_time_calibrate.c).
struct times {
    double overhead_tsc, calib_clk, core_hz;
    double imul_per_add;
    uint32_t calib_link_clk;
    double overhead_counts[CORE_TIMED_MAX], link_counts[CORE_TIMED_MAX],
        loop_counts[CORE_TIMED_MAX]; // see the record
};

// Returns true if kernels read counters themselves.
static inline bool core_is_timed(const struct core_config *config)
{
    return config->ncounters && (config->mode == CORE_MODE_MEASURE || config->timed);
}

// core_run.c: what measuring in passes and repetition by repetition share. The configuration and
// what calibrating finds out stay the caller's.
struct surroundings { // last timings before a kernel, or first after it
    uint32_t calib_tsc, canary_tsc;
    bool quiet;
};
void run_setup(const struct core_config *config, const struct times *times);
// The outcome of a kernel, kept while nothing can be sent.
struct kept_outcome {
    bool there;
    struct core_record record;
};
void run_keep_outcomes(struct kept_outcome *in); // sets their place, which is the caller's
void run_begin(void); // measuring begins now; the functions below come after it
struct surroundings run_look_around(void);
bool run_calibrations_agree(uint32_t before_tsc, uint32_t after_tsc);
void run_trial(struct kernel_run *run);      // chooses unrolling and iterations
void run_wake(struct kernel_run *run);       // before run_warm: whether wide units sleep
bool run_warm(struct kernel_run *run);       // false: the kernel is finished, with its outcome sent
void run_used(const struct kernel_run *run); // after it ran: wide units are awake
bool run_damaged(struct kernel_run *run);    // after each kernel; true: finished, the same
// Waits, and doubts what was found at the start if nothing was accepted for a while; not to return
// where it is another process's turn.
void run_pause_for_quiet(uint32_t sleep_ms);
void run_show_life(void);           // a record now and then, for the runner's watchdog
struct core_tally *run_tally(void); // to be added to; events carry it
void run_accepted(void);            // remembers when a repeat was accepted
bool run_gave_up(void);             // nothing was accepted for config.give_up_ms
void run_wait_for_facts(void);      // until they are confirmed, or it is given up
bool run_out_of_time(void);         // config.most_ms are over
uint64_t run_ms_to_tsc(uint32_t ms);
void run_send(const struct core_record *record);
void run_send_event(enum core_record_type type, uint32_t kernel, uint32_t pass);
// Sends the outcome; where bodies can run, keeps it for the caller of core_sealed to send.
void run_send_outcome(const struct kernel_run *run, enum outcome outcome, int signal_number,
                      const char *detail);

// core_measure.c: in passes, all kernels of the configuration.
extern struct kernel_run *measure_runs; // their states
// Sets up measuring, before the system-call filter; all three stay the caller's.
void measure_setup(const struct core_config *config, const struct times *times,
                   struct kernel_run *runs);
void measure_passes(void);

// core_team.c: processes that repeat in step. Alone, every function returns at once. Those that
// return bool are false when another one cannot go on.
void team_join(const struct core_config *config); // before the system-call filter
void team_abort(void);
bool team_turn(uint32_t thread, bool *mine); // to be called for each thread in turn
bool team_start(void);                       // sets core_state.start_tsc a little ahead
bool team_agree(bool mine, uint32_t late_tsc, bool *all); // *all: all threads accept the repetition
bool team_give_up(bool mine, bool *give_up); // *give_up: thread 0 wants to, by its `mine`

// At CORUNNER_START. Bodies can write here; all kernels of a program are of one property, so they
// only spoil results of their own.
struct corunners {
    uint32_t going; // 1: those who were called go round. Mirrors core_watch in core_layout.inc
    uint32_t turn;  // counts the calls
    uint32_t kernel, from, to;
    uint32_t running;         // corunners that were called and are in their loops or at their end
    struct guard_fault fault; // of any of them
};

// core_corunner.c
struct corunners *corunner_map(const struct core_config *config); // NULL: it cannot be
// Start and stop the corunners around the timing of a kernel; without any they return at once.
void corunner_begin(const struct core_kernel *kernel);
void corunner_end(const struct core_kernel *kernel);

// core_corunner_serve.c: processes on other CPUs, in which something goes round while one is timed.
// Splits off one for each of the CPUs, before the system-call filter. Returns which one this is
// from then on, or -1: the one that measures.
int corunner_split(const struct core_config *config, const int32_t *cpus);
void corunner_prepare(struct kernel_run *run); // before code is built: what its loop is
_Noreturn void corunner_serve(struct kernel_run *runs, uint32_t n); // in those processes

// core_bench.c
void bench_measure(const struct core_config *config, const struct times *times,
                   struct kernel_run *run);

// core_chase.c
enum { LIFE_NODES = 1 << 18 }; // so often the runner hears that we are alive
uint64_t chase_nodes(const struct core_fill *fill);
uint64_t chase_random(uint64_t *state); // the next 64 random bits
// Sets the order in which a cycle goes through all nodes: at random, or page by page at random,
// with an incomplete page last. Calls `alive` now and then.
void chase_order(const struct core_fill *fill, uint32_t *order, void (*alive)(void));

// core_area.c: large data of kernels. They are set up in two steps before the system-call filter:
// memory that corunners share is mapped before they are split off, the rest after that.
void area_setup(const struct kernel_run *runs, uint32_t n, uint32_t permits);
void area_setup_own(void);
// Lists the calls by which bodies may give back areas, at most CORE_AREAS_MAX. Returns their
// number.
struct filter_call;
int area_filter_calls(uint32_t permits, struct filter_call *calls);
void area_mapped_bytes(uint64_t *bytes, uint64_t *huge_bytes); // bytes that were mapped
// Fills the areas for the kernel; memory is not sealed. `walk`: goes along chases, so that caches
// hold of them what they would after many rounds.
void area_fill(const struct core_kernel *kernel, bool walk);
uint64_t area_fills_bytes(const struct core_kernel *kernel);
void area_walk(const struct core_kernel *kernel); // its chases once more, after a pause
void area_leave_shared(void); // from now on: what is in shared areas is another process's matter
void area_chill(const struct kernel_run *run); // its code and large data out of the caches
struct core_parameters *time_parameters(void); // in the data area (core_time.c)

// core_pages.c: memory where code invents addresses.
// Maps the frames after the data area, and a page at each address, after time_build() and before
// the system-call filter.
void pages_map(const uint64_t *pages, uint32_t n);
void pages_fill(uint64_t word);                      // all frames, if there are any
bool pages_missing(const struct guard_fault *fault); // a page there would help

// core_code.c: builds machine code into one mapping, writable first, executable afterwards.
void code_begin(size_t bytes);
struct code_options {
    uint32_t copies; // copies of the body in the loop, in one unrolling only; 0: chosen
    bool waits;      // for core_state.start_tsc, before the clock is read
    bool watches;    // goes round until corunners are to stop, instead of so many times
};
// Makes all kernels from now on read these counters, at most CORE_TIMED_MAX; they stay the
// caller's.
void code_count(const struct core_counter *counters, uint32_t n);
size_t code_bytes(const struct core_kernel *kernel, struct code_options options); // upper bound
// Returns the address of the kernel's body or init, given its value in the kernel's entry.
const void *code_of(const struct core_kernel *kernel, uint64_t address);
struct code code_add(const struct core_kernel *kernel, struct code_options options);
void code_end(void); // from here on the code is executable and no longer writable

// core_filter.c: the system-call filter.
struct filter_call {
    long number;
    int nargs;         // number of arguments with prescribed values
    uintptr_t args[4]; // the rest may be anything
    uintptr_t from;    // address after the instruction that makes the call; 0: any
};
// Installs a filter that raises SIGSYS for all but these calls. 0, or an errno. What libc writes to
// may be read-only by then.
int filter_install(const struct filter_call *calls, int ncalls);

// core_own.c: state of the process that user code can change, so that it can be restored.
void own_remember(void); // fills core_own, and features of core_features; before the filter
bool own_filter_call(struct filter_call *call); // the call that own_restore makes, if any
// Restores the state that only the system can restore: after a kernel if bodies are not sealed,
// else before libc is used
void own_restore(void);

// core_sip.c: SipHash of words; bytes: of all of them.
struct sip {
    uint64_t v[4];
};
struct sip sip_begin(const uint64_t key[2]);
void sip_words(struct sip *sip, const void *from, size_t bytes);
uint64_t sip_end(struct sip *sip, uint64_t bytes);

// core_seal.c: what bodies must not change.
void seal_take(struct core_secret *first); // and wipes it there
// Makes read-only what does not change any more, or writable again; of libc's thread, too, if
// `thread`. Before the system-call filter.
void seal_make_constant(bool thread, bool constant);
// Turns on the checksum of sealed memory in guard_intact(). Call before the first body runs.
void seal_watch(bool on);
bool seal_shut(void);       // bodies may have run
void seal_remember(void);   // called by core_sealed
void seal_verify(long got); // the same; got: bytes of the secret
// Returns a tag of `bytes` (whole words) and a number that stands for the time. Only the core can
// make it.
uint64_t seal_tag(const void *from, size_t bytes, uint64_t number);
_Noreturn void seal_broken(int status); // ends the process: CORE_EXIT_*
// Remembers the core's own data, and the stack above the frame of the first call, for bodies that
// are not sealed (CORE_MODE_BENCH).
void guard_protect(const void *stack_from);
bool guard_intact(void); // false if they changed since guard_protect

// core_ring0.c: kernels with CORE_RING0.
// Returns the variants that the module has of the kernel, none if it is not in its list. Before the
// system-call filter.
struct code ring0_find(const struct core_kernel *kernel);
int ring0_filter_call(struct filter_call *call); // returns 1 with the call, or 0: nothing is open
// Times a variant, named by its `entry`, as time_kernel() does. UINT32_MAX: the module refuses.
uint32_t ring0_time(const struct core_kernel *kernel, const uint8_t *name, uint32_t iterations);
bool ring0_takes_too_long(void); // the last timing was refused; forgets that
enum outcome ring0_outcome(const struct core_kernel *kernel, const struct guard_fault *fault,
                           char text[CORE_TEXT_MAX]);

// Asks the module for the right to turn interrupts off, and takes care that no page is missing
// while they are; after all is mapped, before the system-call filter.
void ring0_allow_interrupts(void);

// core_interrupts.c
extern bool core_turns_off; // this process may
// Turn them off for what is timed next, which core_leave ends, and on; where it may.
void interrupts_off(void);
void interrupts_on(void);
// Returns true if they may be off for a kernel that is expected to take so long.
bool interrupts_may_be_off(const struct core_kernel *kernel, double expected_ms);

// core_guard.c: signals, limits and system-call filter.
void guard_setup(uint32_t permits); // handlers and an own signal stack
// rlimits and seccomp; last step before the first body. `calls` are let through as well.
enum { GUARD_MORE_CALLS = CORE_AREAS_MAX + 1 };
void guard_drop_privileges(const struct core_config *config, uint32_t permits,
                           const struct filter_call *calls, int ncalls);
struct guard_fault guard_take_fault(void); // returns the fault of the last kernel, and clears it
void guard_sleep_ms(uint32_t ms);

// core_steady.c: whether the passes so far settle a kernel's value, and how many samples the next
// one wants, of `accept` that a first one has.
bool steady_settled(const struct kernel_run *run, double tolerance);
uint32_t steady_accept(const struct kernel_run *run, uint32_t accept, double tolerance);
// Returns true if the first samples of the next pass, in cycles per instance, agree with each other
// and with all before, so that the pass needs no more.
bool steady_agree(const struct kernel_run *run, const double *values, uint32_t samples,
                  double tolerance);

// core_values.c
void values_sort(double *values, int n);      // ascending
double values_densest(double *values, int n); // sorts; the mean of the n > 0 values' densest half

// core_count.c: events counted around repetitions.
void count_open(const struct core_counter *counters, uint32_t n); // before the system-call filter
// Opens counter number `which` with perf, in the group of a descriptor (-1: as a group's first);
// `format`: of what reading gives (PERF_FORMAT_*). Returns its own descriptor.
int count_open_event(const struct core_counter *counter, uint32_t which, int group,
                     uint64_t format);
bool count_filter_call(struct filter_call *call); // the call that count_read makes, if it does any
void count_read(uint64_t values[CORE_COUNTERS_MAX]);

// core_rdpmc.c: counters that kernels read by themselves.
void rdpmc_open(const struct core_counter *counters, uint32_t n); // before the system-call filter
void rdpmc_begin(void);                                           // before each timing
// Takes the counts of the last timing. Returns false if a counter did not run all the time.
bool rdpmc_take(uint32_t counts[CORE_TIMED_MAX]);

// core_time.c: runs kernels against the clock.
enum {
    TIME_CALIB_LINKS = 256,
    TIME_CANARY_INSTRS = 960, // long enough to leave a loop buffer, short enough for the µop cache
};
// The clock's own kernels.
extern struct time_code {
    struct code calib, add, loop, canary[CORE_CANARIES];
    uint32_t gate; // the canary of the gate
} time_code;
void time_build(const struct core_config *config);     // its own kernels: calibration and canaries
size_t time_code_bytes(void);                          // room that time_build needs
void time_fill_data(const struct core_kernel *kernel); // memory as a kernel finds it at its start
const void *time_data(const void **end);               // the data area
bool time_is_guard(uintptr_t address);                 // around it, where pages may be mapped
uint32_t time_kernel(const struct core_kernel *kernel, const uint8_t *entry, uint32_t iterations);
uint32_t time_own(const struct code *code, uint32_t iterations); // one of time_code
uint64_t time_now(void);                                         // TSC
int32_t time_cpu(void); // the CPU that this runs on; -1: the system does not tell

// core_time_count.c: what calibration chain and loop count, into `times`. In rounds before which
// the core is `quiet` (NULL: in all); what has too few of them stays as it is.
typedef bool time_quiet(const struct core_config *config);
void time_count(const struct core_config *config, uint32_t calib_iterations, time_quiet *quiet,
                struct times *times);

// core_time_calibrate.c: what the clock's times mean.
// Finds what a process has to know, into *times, which the functions below change.
void time_calibrate(const struct core_config *config, struct times *times);
bool time_confirmed(void); // it was found on an undisturbed core
// The same, after 50 ms of trying if it was not; if the gate did not open once, all is found anew.
bool time_facts_hold(const struct core_config *config);
// Finds all of it anew, since the gate stays shut: what it goes by may be wrong. What had been
// confirmed is kept where the gate does not open by the new facts either. Not within a pass.
bool time_find_again(const struct core_config *config);
uint32_t time_calibration(void);                        // ticks of a chain, overhead included
uint32_t time_canary(const struct core_config *config); // ticks of the gate's canary
uint32_t time_canary_of(const struct core_config *config, uint32_t kind);
double time_canary_instrs(const struct core_config *config); // instructions per canary
bool time_canary_quiet(uint32_t canary_tsc, uint32_t calib_tsc);

// core_floor.c: CORE_MODE_FLOOR.
void floor_prepare(void); // before the system-call filter
void floor_measure_canaries(const struct core_config *config, const struct times *times);
