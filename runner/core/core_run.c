// SPDX-License-Identifier: MIT
// One kernel at a time: the common part of measuring in passes and of repetitions. It chooses
// unrolling and iterations, warms up, looks whether the core is disturbed, and recognises faults
// and stray writes of a kernel. It also records when the runner last heard from the core and when a
// repeat was last accepted.
#include "core_internal.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum {
    DATA_NEAR_BYTES = 1 << 20, // an address so near to the data area was meant to be in it
    TRIAL_ITERATIONS = 2,
    TRIAL_ROUNDS = 3,
    STREAM_STORES = 4096, // buffers hold a hundred, which a timing does not wait for
    WARM_ROUNDS =
        2, // whole kernels before the first repeat of a pass: caches, predictors, AVX units
    PAUSE_MS = 500,  // at most, until the core is quiet
    DOUBT_MS = 1000, // without an accepted repeat; then what was found at the start is found anew
    WAIT_RECORD_MS = 200, // at least this often the runner hears that we are alive
    LONG_LOOP_WINDOWS =
        4, // a loop this many times longer than the window wants a smaller unrolling
};

static const struct core_config *config;
static const struct times *times;

static CORE_KEPT struct clocks {
    uint64_t begin_tsc, last_accept_tsc, last_record_tsc, last_doubt_tsc;
    uint32_t warm_bits; // vector width that is powered up, and when it was last used
    uint64_t warm_tsc;
    struct core_tally tally;
} clocks;

static struct kept_outcome *kept; // in memory that bodies can reach

void run_setup(const struct core_config *wanted, const struct times *found)
{
    config = wanted;
    times = found;
}

void run_keep_outcomes(struct kept_outcome *in)
{
    kept = in;
}

void run_begin(void)
{
    clocks.begin_tsc = clocks.last_accept_tsc = time_now();
    clocks.last_record_tsc = clocks.last_doubt_tsc = clocks.begin_tsc;
}

uint64_t run_ms_to_tsc(uint32_t ms)
{
    return (uint64_t)(ms * config->tsc_hz / 1000);
}

void run_send(const struct core_record *record)
{
    send_record(record);
    clocks.last_record_tsc = time_now();
}

void run_send_event(enum core_record_type type, uint32_t kernel, uint32_t pass)
{
    struct core_record record = {.type = type, .kernel = kernel};
    record.begin.pass = pass;
    record.begin.tally = clocks.tally;
    run_send(&record);
}

void run_send_outcome(const struct kernel_run *run, enum outcome outcome, int signal_number,
                      const char *detail)
{
    struct core_record record = {.type = CORE_REC_TIMING, .kernel = run->kernel->id};
    record.timing.pass = run->pass;
    record.timing.outcome = outcome;
    record.timing.signal = signal_number;
    record.timing.tried = run->tried;
    record.timing.fault = run->fault;
    snprintf(record.timing.detail, sizeof record.timing.detail, "%s", detail);
    if (seal_shut())
        *kept = (struct kept_outcome){true, record};
    else
        run_send(&record);
}

extern const char __executable_start[], _end[]; // image of the static program

// Describes a memory fault; si_code says whether there is an address.
static void fault_text(const struct guard_fault *fault, char text[CORE_TEXT_MAX])
{
    long long offset = (long long)(fault->address - core_data_start);
    int len = snprintf(text, CORE_TEXT_MAX, "SIGSEGV: no access to memory at 0x%llx",
                       (unsigned long long)fault->address);
    if (fault->code == SI_KERNEL) {
        len = snprintf(text, CORE_TEXT_MAX,
                       "SIGSEGV: a privileged instruction, or an address that is misaligned or not "
                       "canonical");
        if (fault->address)
            snprintf(text + len, (size_t)(CORE_TEXT_MAX - len), ": a register has 0x%llx",
                     (unsigned long long)fault->address);
    } else if (fault->address >= (uintptr_t)__executable_start && fault->address < (uintptr_t)_end)
        snprintf(text + len, (size_t)(CORE_TEXT_MAX - len),
                 ", which belongs to the measurement core or to libc");
    else if (offset > -DATA_NEAR_BYTES && offset < DATA_NEAR_BYTES)
        snprintf(text + len, (size_t)(CORE_TEXT_MAX - len), ", %lld from the data area's address",
                 offset);
}

static void signal_text(const struct guard_fault *fault, char text[CORE_TEXT_MAX])
{
    static const struct {
        int number;
        const char *text;
    } texts[] = {
        {SIGBUS,  "SIGBUS: misaligned or missing memory"                       },
        {SIGFPE,  "SIGFPE: division error or unmasked floating-point exception"},
        {SIGTRAP, "SIGTRAP: breakpoint or single step"                         },
        {SIGSYS,  "SIGSYS: system call refused"                                },
    };
    snprintf(text, CORE_TEXT_MAX, "signal %d", fault->signal);
    if (fault->signal == SIGSEGV)
        fault_text(fault, text);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].number == fault->signal)
            snprintf(text, CORE_TEXT_MAX, "%s", texts[i].text);
}

// Returns true if the CPU refuses the instruction, or the system does and the kernel's row allows
// that.
static bool run_refused(const struct kernel_run *run, const struct guard_fault *fault)
{
    return fault->signal == SIGILL || (fault->signal == SIGSEGV && fault->code == SI_KERNEL &&
                                       run->kernel->flags & CORE_PERMISSION);
}

static void send_fault(struct kernel_run *run, const struct guard_fault *fault)
{
    run->fault = (struct core_fault){fault->address, pages_missing(fault), 0};
    bool refused = run_refused(run, fault);
    enum outcome outcome = refused ? OUTCOME_UNSUPPORTED : OUTCOME_SIGNALLED;
    char text[CORE_TEXT_MAX] = "SIGILL: the CPU refuses the instruction";
    if (run->kernel->flags & CORE_RING0)
        outcome = ring0_outcome(run->kernel, fault, text);
    else if (refused && fault->signal != SIGILL)
        snprintf(text, sizeof text, "#GP: the system keeps the instruction from user code");
    else if (!refused)
        signal_text(fault, text);
    size_t len = strlen(text);
    if (!core_state.tsc_begin) // the clock had not been started
        snprintf(text + len, sizeof text - len, " (in init)");
    run_send_outcome(run, outcome, fault->signal, text);
}

// Pushes without their pops: each round would work on other memory, and fault sooner or later.
static void send_stack_moved(const struct kernel_run *run)
{
    char text[CORE_TEXT_MAX];
    snprintf(text, sizeof text, "the loop leaves the stack pointer %lld bytes from where it was",
             (long long)(core_state.end_rsp - core_state.begin_rsp));
    run_send_outcome(run, OUTCOME_NOT_MEASURABLE, 0, text);
}

// Checks whether the kernel that ran has faulted, written where it should not, or lost its stack;
// if so, reports and finishes it.
bool run_damaged(struct kernel_run *run)
{
    bool intact = guard_intact(); // before anything is sent: sending changes the core's own data
    struct guard_fault fault = guard_take_fault();
    bool stack_moved = core_state.end_rsp != core_state.begin_rsp;
    if (fault.signal == 0 && intact && !stack_moved)
        return false;
    own_restore();
    run->finished = true;
    team_abort();
    if (fault.signal)
        send_fault(run, &fault);
    else if (intact)
        send_stack_moved(run);
    else
        run_send_outcome(run, OUTCOME_NOT_MEASURABLE, 0,
                         "the body writes over the memory of the measurement core");
    if (!intact && !seal_shut()) {
        send_all();
        seal_broken(CORE_EXIT_DAMAGED); // a new process measures the rest
    }
    return true;
}

// Iterations that fill the window, from the shortest loop seen: an interrupt within a timing must
// not shorten all those after it.
static void set_iterations(struct kernel_run *run, uint32_t ticks, uint32_t iterations)
{
    if (run->kernel->flags & CORE_ONCE) {
        run->iterations = 1;
        return;
    }
    double window_tsc = config->window_ns * config->tsc_hz / 1e9;
    double work_tsc = ticks > times->overhead_tsc ? ticks - times->overhead_tsc : 1;
    double loop_tsc = work_tsc / iterations;
    if (run->loop_tsc <= 0 || loop_tsc < run->loop_tsc)
        run->loop_tsc = loop_tsc;
    run->iterations = (uint32_t)(window_tsc / run->loop_tsc) + 1;
    if (run->kernel->flags & CORE_STREAM) {
        uint32_t least = STREAM_STORES / run->kernel->instances;
        run->iterations = run->iterations < least ? least : run->iterations;
    }
}

// Chooses the unrolling. From one copy upwards: what is slow is found out before it is slow many
// times.
void run_trial(struct kernel_run *run)
{
    double window_tsc = config->window_ns * config->tsc_hz / 1e9;
    if (!run->code.nvariants) {
        run->finished = true;
        run_send_outcome(run, OUTCOME_UNSUPPORTED, 0,
                         "the kernel module has another list: build and load it again");
    }
    for (int i = run->code.nvariants - 1; i >= 0; i--) {
        const struct code_variant *variant = &run->code.variants[i];
        double shortest_tsc = 0;
        for (int round = 0; round < TRIAL_ROUNDS; round++) {
            uint32_t ticks = time_kernel(run->kernel, variant->entry, TRIAL_ITERATIONS);
            if (run->variant && ring0_takes_too_long())
                return;
            if (run_damaged(run))
                return;
            if (round == 0 || ticks < shortest_tsc)
                shortest_tsc = ticks;
        }
        double loop_tsc = (shortest_tsc - times->overhead_tsc) / TRIAL_ITERATIONS;
        if (run->variant && loop_tsc > LONG_LOOP_WINDOWS * window_tsc)
            break;
        run->variant = variant;
        run->loop_tsc = 0;
        // Short timings are rough: go only some of the way, run_warm() settles the rest.
        set_iterations(run, (uint32_t)shortest_tsc, TRIAL_ITERATIONS);
        run->iterations = run->iterations > 8 ? run->iterations / 4 : run->iterations;
    }
}

void run_wake(struct kernel_run *run)
{
    // Intel's cores power the upper lanes down after 0.7 ms; registers of 128 bits have none.
    enum { AWAKE_US = 400, NARROW_BITS = 128 };
    uint32_t bits = run->kernel->vec_bits;
    if (time_now() - clocks.warm_tsc > run_ms_to_tsc(1) * AWAKE_US / 1000)
        clocks.warm_bits = NARROW_BITS;
    run->wakes = bits > clocks.warm_bits;
    if (run->wakes)
        clocks.warm_bits = bits;
}

void run_used(const struct kernel_run *run)
{
    if (run->kernel->vec_bits >= clocks.warm_bits)
        clocks.warm_tsc = time_now();
}

// Executes wide instructions until they run at full speed. Some CPUs power up the upper vector
// lanes, and lower the frequency, only when these come.
static void warm_wide_units(struct kernel_run *run)
{
    static const uint32_t WAKE_MS = 1;
    if (!run->wakes)
        return;
    run->wakes = false;
    uint64_t end = time_now() + run_ms_to_tsc(WAKE_MS);
    while (time_now() < end)
        time_kernel(run->kernel, run->variant->entry, run->iterations);
}

// Settles the iterations with longer timings than the trial's; also warms up.
bool run_warm(struct kernel_run *run)
{
    warm_wide_units(run);
    for (int round = 0; round < WARM_ROUNDS; round++) {
        uint32_t ticks = time_kernel(run->kernel, run->variant->entry, run->iterations);
        if (run_damaged(run))
            return false;
        if (run->pass == 1) {
            run->loop_tsc = round == 0 ? 0 : run->loop_tsc;
            set_iterations(run, ticks, run->iterations);
        }
    }
    return true;
}

struct surroundings run_look_around(void)
{
    struct surroundings now;
    now.canary_tsc = time_canary(config);
    now.calib_tsc = time_calibration();
    now.quiet = time_canary_quiet(now.canary_tsc, now.calib_tsc);
    return now;
}

bool run_calibrations_agree(uint32_t before, uint32_t after)
{
    double differ = before > after ? before - after : after - before;
    return differ <= config->calib_tolerance * before;
}

struct core_tally *run_tally(void)
{
    return &clocks.tally;
}

void run_accepted(void)
{
    clocks.last_accept_tsc = time_now();
}

bool run_gave_up(void)
{
    return time_now() - clocks.last_accept_tsc > run_ms_to_tsc(config->give_up_ms);
}

bool run_out_of_time(void)
{
    return config->most_ms && time_now() - clocks.begin_tsc > run_ms_to_tsc(config->most_ms);
}

void run_show_life(void)
{
    if (time_now() - clocks.last_record_tsc > run_ms_to_tsc(WAIT_RECORD_MS))
        run_send_event(CORE_REC_WAIT, 0, 0);
}

// Finds anew what was found at the start where the gate stays shut, and leaves what is to be
// measured to another process where that does not help: its code lies elsewhere.
static void run_doubt(void)
{
    uint64_t now = time_now(), silent_tsc = now - clocks.last_accept_tsc;
    if (config->aside_ms && silent_tsc > run_ms_to_tsc(config->aside_ms))
        send_aside("no repeat was undisturbed for %.1f s", config->aside_ms / 1000.0);
    if (time_confirmed() && silent_tsc > run_ms_to_tsc(DOUBT_MS) &&
        now - clocks.last_doubt_tsc > run_ms_to_tsc(DOUBT_MS) && config->threads < 2) {
        time_find_again(config);
        clocks.last_doubt_tsc = time_now();
    }
}

// Sleeps and looks on in turn until a canary is quiet again, or the pause is over. Neighbours leave
// a core alone for 0.1 to 2 ms at a time, which sleeps alone would miss. But a host that has moved
// a neighbour here puts a guest that wakes up where it is quieter: looks without sleep find a third
// less.
void run_pause_for_quiet(uint32_t sleep_ms)
{
    enum { LOOK_ON_MS = 1 };
    uint64_t begin = time_now(), end = begin + run_ms_to_tsc(PAUSE_MS + sleep_ms);
    bool quiet = false;
    while (!quiet && time_now() < end) {
        run_show_life();
        guard_sleep_ms(sleep_ms);
        sleep_ms = 1;
        uint64_t sleep = time_now() + run_ms_to_tsc(LOOK_ON_MS);
        while (!quiet && time_now() < sleep)
            quiet = run_look_around().quiet;
    }
    clocks.tally.quiet_tsc += time_now() - begin;
    run_doubt();
}

void run_wait_for_facts(void)
{
    bool hold;
    while (!(hold = time_facts_hold(config)) && !run_gave_up() && !run_out_of_time()) {
        run_show_life();
        run_pause_for_quiet(1);
    }
    if (hold)
        run_accepted();
}
