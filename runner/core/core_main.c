// SPDX-License-Identifier: MIT
// The measurement core's main program: reads its configuration, builds all code, gives up what it
// does not need, and measures the selected kernels in passes, sending a record for each. It never
// decides what a number means; it only decides which repeats were undisturbed. A kernel that was
// not measured is requeued to the end of its pass; a core that never becomes quiet ends in
// `unstable`.
#include "core_internal.h"

#include "../outcome.h"

#include <cpuid.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    LATER_GAPS = 3, // the pauses after the first are shorter by this: there are up to six of them
    DATA_NEAR_BYTES = 1 << 20, // an address so near to the data area was meant to be in it
    TRIAL_ITERATIONS = 2,
    TRIAL_ROUNDS = 3,
    WARM_ROUNDS =
        2, // whole kernels before the first repeat of a pass: caches, predictors, AVX units
    PAUSE_FIRST_MS = 20, // before a requeued round; doubles up to PAUSE_LAST_MS
    PAUSE_LAST_MS = 500,
    WAIT_RECORD_MS = 200, // at least this often the runner hears that we are alive
    LONG_LOOP_WINDOWS =
        4, // a loop this many times longer than the window wants a smaller unrolling
};

struct core_state core_state;
uint32_t core_features;

static struct core_config config;
static struct times times;
static struct kernel_run *runs; // config.nselected of them

// Times that change while a kernel is measured; mapped apart from the guarded data.
static struct clocks {
    uint64_t last_accept_tsc, last_record_tsc;
    uint32_t warm_bits; // vector width that is powered up
} * clocks;

static uint64_t ms_to_tsc(uint32_t ms)
{
    return (uint64_t)(ms * config.tsc_hz / 1000);
}

static void send_simple(enum core_record_type type, uint32_t kernel, uint32_t pass)
{
    struct core_record record = {.type = type, .kernel = kernel};
    record.begin.pass = pass;
    guard_send(&record);
    clocks->last_record_tsc = time_now();
}

static void send_outcome(const struct kernel_run *run, enum outcome outcome, int signal_number,
                         const char *detail)
{
    struct core_record record = {.type = CORE_REC_TIMING, .kernel = run->kernel->id};
    record.timing.pass = run->pass;
    record.timing.outcome = outcome;
    record.timing.signal = signal_number;
    record.timing.tried = run->tried;
    snprintf(record.timing.detail, sizeof record.timing.detail, "%s", detail);
    guard_send(&record);
    clocks->last_record_tsc = time_now();
}

// What raised a memory fault: si_code says whether there is an address.
static void fault_text(const struct guard_fault *fault, char text[CORE_TEXT_MAX])
{
    long long offset = (long long)(fault->address - core_data_start);
    int len = snprintf(text, CORE_TEXT_MAX, "SIGSEGV: no access to memory at 0x%llx",
                       (unsigned long long)fault->address);
    if (fault->code == SI_KERNEL)
        snprintf(text, CORE_TEXT_MAX,
                 "SIGSEGV: a privileged instruction, or an address that is misaligned or not "
                 "canonical");
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

// After a kernel ran: did it fault or write where it should not? Reports and finishes it if so.
bool run_damaged(struct kernel_run *run)
{
    bool intact = guard_intact(); // before anything is sent: sending changes the core's own data
    struct guard_fault fault = guard_take_fault();
    if (fault.signal == 0 && intact)
        return false;
    run->finished = true;
    team_abort();
    char text[CORE_TEXT_MAX] = "SIGILL: the CPU refuses the instruction";
    if (fault.signal && fault.signal != SIGILL)
        signal_text(&fault, text);
    size_t len = strlen(text);
    if (!core_state.tsc_begin) // the clock had not been started
        snprintf(text + len, sizeof text - len, " (in init)");
    if (fault.signal)
        send_outcome(run, fault.signal == SIGILL ? OUTCOME_UNSUPPORTED : OUTCOME_SIGNALLED,
                     fault.signal, text);
    else
        send_outcome(run, OUTCOME_NOT_MEASURABLE, 0,
                     "the body writes over the memory of the measurement core");
    if (!intact)
        _exit(114); // a new process measures the rest
    return true;
}

// Iterations that fill the window, from the shortest loop seen: an interrupt within a timing must
// not shorten all those after it.
static void set_iterations(struct kernel_run *run, uint32_t ticks, uint32_t iterations)
{
    double window_tsc = config.window_ns * config.tsc_hz / 1e9;
    double work_tsc = ticks > times.overhead_tsc ? ticks - times.overhead_tsc : 1;
    double loop_tsc = work_tsc / iterations;
    if (run->loop_tsc <= 0 || loop_tsc < run->loop_tsc)
        run->loop_tsc = loop_tsc;
    run->iterations = (uint32_t)(window_tsc / run->loop_tsc) + 1;
}

// Chooses the unrolling. From one copy upwards: what is slow is found out before it is slow many
// times.
void run_trial(struct kernel_run *run)
{
    double window_tsc = config.window_ns * config.tsc_hz / 1e9;
    for (int i = run->code.nvariants - 1; i >= 0; i--) {
        const struct code_variant *variant = &run->code.variants[i];
        double shortest_tsc = 0;
        for (int round = 0; round < TRIAL_ROUNDS; round++) {
            uint32_t ticks = time_kernel(run->kernel, variant->entry, TRIAL_ITERATIONS);
            if (run_damaged(run))
                return;
            if (round == 0 || ticks < shortest_tsc)
                shortest_tsc = ticks;
        }
        double loop_tsc = (shortest_tsc - times.overhead_tsc) / TRIAL_ITERATIONS;
        if (run->variant && loop_tsc > LONG_LOOP_WINDOWS * window_tsc)
            break;
        run->variant = variant;
        run->loop_tsc = 0;
        // Short timings are rough: go only some of the way, run_warm() settles the rest.
        set_iterations(run, (uint32_t)shortest_tsc, TRIAL_ITERATIONS);
        run->iterations = run->iterations > 8 ? run->iterations / 4 : run->iterations;
    }
}

// Some CPUs power up the upper vector lanes, and lower the frequency, only when wide instructions
// come; until then these run at a fraction of their speed.
static void warm_wide_units(const struct kernel_run *run)
{
    static const uint32_t WAKE_MS = 1;
    if (run->kernel->vec_bits <= clocks->warm_bits)
        return;
    clocks->warm_bits = run->kernel->vec_bits;
    uint64_t end = time_now() + ms_to_tsc(WAKE_MS);
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
    now.canary_tsc = time_canary();
    now.calib_tsc = time_calibration();
    now.quiet = time_canary_quiet(now.canary_tsc, now.calib_tsc);
    return now;
}

bool run_calibrations_agree(uint32_t before, uint32_t after)
{
    double differ = before > after ? before - after : after - before;
    return differ <= config.calib_tolerance * before;
}

void run_accepted(void)
{
    clocks->last_accept_tsc = time_now();
}

bool run_gave_up(void)
{
    return time_now() - clocks->last_accept_tsc > ms_to_tsc(config.give_up_ms);
}

static double sample_value(const struct core_sample *sample)
{
    return (sample->kernel_tsc - times.overhead_tsc) /
           ((sample->before_tsc + sample->after_tsc) / 2.0 - times.overhead_tsc);
}

static void keep_values(struct kernel_run *run, const struct core_record *record)
{
    double scale = times.calib_clk / ((double)run->iterations * run->variant->copies *
                                      (run->kernel->instances ? run->kernel->instances : 1));
    double *values = run->values[run->nvalues++];
    for (uint32_t i = 0; i < record->timing.accepted; i++) {
        double value = sample_value(&record->timing.samples[i]) * scale;
        uint32_t at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
}

static void send_timing(struct kernel_run *run, struct core_record *record,
                        struct core_record *counts)
{
    keep_values(run, record);
    run->finished = run->nvalues == config.passes ||
                    steady_settled(run, record->timing.accepted, config.passes_tolerance);
    record->timing.last = run->finished;
    if (config.ncounters) {
        counts->counts.pass = run->pass;
        counts->counts.ncounters = config.ncounters;
        guard_send(counts);
    }
    guard_send(record);
    clocks->last_record_tsc = time_now();
}

// One attempt at a pass of a kernel. Returns false when too few repeats were accepted.
static bool run_measure(struct kernel_run *run)
{
    struct core_record record = {.type = CORE_REC_TIMING, .kernel = run->kernel->id};
    struct core_record counts = {.type = CORE_REC_COUNTS, .kernel = run->kernel->id};
    uint32_t accepted = 0;
    struct surroundings before = run_look_around();
    for (uint32_t tries = 0; tries < config.tries && accepted < config.accept; tries++) {
        run->tried++;
        if (!before.quiet) {
            before = run_look_around();
            continue;
        }
        uint32_t ticks = time_kernel(run->kernel, run->variant->entry, run->iterations);
        bool counted = rdpmc_take(counts.counts.samples[accepted]);
        struct surroundings after = run_look_around();
        if (run_damaged(run))
            return true;
        if (after.quiet && counted && run_calibrations_agree(before.calib_tsc, after.calib_tsc)) {
            uint32_t canary =
                before.canary_tsc > after.canary_tsc ? before.canary_tsc : after.canary_tsc;
            record.timing.samples[accepted++] =
                (struct core_sample){ticks, before.calib_tsc, after.calib_tsc, canary};
            run_accepted();
        }
        before = after;
    }
    if (accepted < config.accept)
        return false;
    record.timing.pass = run->pass;
    record.timing.outcome = OUTCOME_OK;
    record.timing.accepted = accepted;
    record.timing.tried = run->tried;
    record.timing.iterations = run->iterations;
    record.timing.copies = run->variant->copies;
    record.timing.overhead_tsc = times.overhead_tsc;
    record.timing.calib_clk = times.calib_clk;
    send_timing(run, &record, &counts);
    return true;
}

// Returns false when the kernel has to be requeued.
static bool run_pass(struct kernel_run *run)
{
    if (run->tried == 0)
        send_simple(CORE_REC_BEGIN, run->kernel->id, run->pass);
    time_fill_data(run->kernel);
    guard_protect(__builtin_frame_address(0));
    if (!run_warm(run))
        return true;
    return run_measure(run);
}

static void run_give_up(struct kernel_run *run)
{
    char detail[CORE_TEXT_MAX];
    snprintf(detail, sizeof detail,
             "no %u undisturbed repeats in %u tries: something else uses this core", config.accept,
             run->tried);
    send_outcome(run, OUTCOME_UNSTABLE, 0, detail);
    run->finished = true;
}

void run_show_life(void)
{
    if (time_now() - clocks->last_record_tsc > ms_to_tsc(WAIT_RECORD_MS))
        send_simple(CORE_REC_WAIT, 0, 0);
}

// Waits until a canary is quiet again, or the pause is over.
void run_pause_for_quiet(uint32_t ms)
{
    uint64_t end = time_now() + ms_to_tsc(ms);
    guard_sleep_ms(ms < PAUSE_FIRST_MS ? ms : PAUSE_FIRST_MS);
    while (time_now() < end && !run_look_around().quiet) {
        run_show_life();
        guard_sleep_ms(1);
    }
}

// Measures each run that is in pass `pass`, requeueing what was disturbed.
static void measure_pass(uint32_t pass)
{
    uint32_t pause_ms = 0;
    clocks->warm_bits = 0;
    for (bool again = true; again;) {
        again = false;
        if (pause_ms) {
            run_pause_for_quiet(pause_ms);
            clocks->warm_bits = 0;
        }
        for (uint32_t i = 0; i < config.nselected; i++) {
            struct kernel_run *run = &runs[i];
            if (run->finished || run->pass != pass)
                continue;
            if (run_pass(run)) {
                run->pass++;
                run->tried = run->requeued = 0;
            } else if (++run->requeued > config.requeues || run_gave_up()) {
                run_give_up(run);
            } else {
                again = true;
            }
        }
        pause_ms = pause_ms ? (pause_ms * 2 > PAUSE_LAST_MS ? PAUSE_LAST_MS : pause_ms * 2)
                            : PAUSE_FIRST_MS;
    }
}

// Runs each kernel briefly before any is measured: a body that ends the process is found before
// there is work to lose.
static void try_all(void)
{
    for (uint32_t i = 0; i < config.nselected; i++) {
        send_simple(CORE_REC_BEGIN, runs[i].kernel->id, 0);
        time_fill_data(runs[i].kernel);
        guard_protect(__builtin_frame_address(0));
        run_trial(&runs[i]);
    }
}

static void measure(void)
{
    try_all();
    for (uint32_t pass = 1; pass <= config.passes; pass++) {
        uint64_t start = time_now();
        measure_pass(pass);
        uint64_t took = time_now() - start;
        bool more = false;
        for (uint32_t i = 0; i < config.nselected; i++)
            more |= !runs[i].finished;
        if (!more)
            break;
        // A short batch waits, so that one disturbance does not cover both passes.
        uint32_t gap_ms = pass == 1 ? config.pass_gap_ms : config.pass_gap_ms / LATER_GAPS;
        while (pass < config.passes && time_now() - start < ms_to_tsc(gap_ms) && took) {
            send_simple(CORE_REC_WAIT, 0, 0);
            guard_sleep_ms(PAUSE_FIRST_MS);
        }
    }
}

static void read_all(void *to, size_t bytes)
{
    char *at = to;
    while (bytes > 0) {
        ssize_t got = read(CORE_CONFIG_FD, at, bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            guard_fatal("the configuration is incomplete");
        at += got;
        bytes -= (size_t)got;
    }
}

static const struct core_kernel *kernel_by_id(uint32_t id)
{
    for (uint32_t k = 0; k < latput_kernel_count; k++) // ids ascend: usually found at once
        if (latput_kernels[(k + id) % latput_kernel_count].id == id)
            return &latput_kernels[(k + id) % latput_kernel_count];
    guard_fatal("there is no kernel %u", id);
}

// Kernels of one vector width in a row: the core changes its power state once and not for each.
static void read_kernels(void)
{
    static const uint32_t widths[] = {0, 128, 256, 512};
    uint32_t *ids = mmap(NULL, config.nselected * sizeof *ids, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ids == MAP_FAILED)
        guard_fatal("cannot map the numbers of %u kernels", config.nselected);
    read_all(ids, config.nselected * sizeof *ids);
    uint32_t n = 0;
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++)
        for (uint32_t i = 0; i < config.nselected; i++) {
            const struct core_kernel *kernel = kernel_by_id(ids[i]);
            if (kernel->vec_bits == widths[w])
                runs[n++] = (struct kernel_run){.kernel = kernel, .pass = 1};
        }
    if (n != config.nselected)
        guard_fatal("a kernel has vectors of no known width");
}

static void read_config(void)
{
    read_all(&config, sizeof config);
    if (config.abi_version != CORE_ABI_VERSION)
        guard_fatal("the core and the runner are of different versions; build again");
    if (config.accept > CORE_SAMPLES_MAX)
        guard_fatal("more samples wanted than a record holds");
    if (config.passes < 1 || config.passes > CORE_PASSES_MAX)
        guard_fatal("from 1 to %d passes", CORE_PASSES_MAX);
    if (!config.nselected && config.mode == CORE_MODE_BENCH)
        guard_fatal("no kernel to repeat");
    if (!config.nselected)
        return;
    clocks = mmap(NULL, sizeof *clocks + config.nselected * sizeof *runs, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (clocks == MAP_FAILED)
        guard_fatal("cannot map the state of %u kernels", config.nselected);
    runs = (struct kernel_run *)(clocks + 1);
    read_kernels();
    static struct core_counter counters[CORE_COUNTERS_MAX];
    bool timed = core_is_timed(&config);
    if (config.ncounters > (timed ? (uint32_t)CORE_TIMED_MAX : (uint32_t)CORE_COUNTERS_MAX))
        guard_fatal("more counters wanted than a record holds");
    read_all(counters, config.ncounters * sizeof *counters);
    if (!timed) {
        count_open(counters, config.ncounters);
        return;
    }
    rdpmc_open(counters, config.ncounters);
    code_count(counters, config.ncounters);
}

static void find_features(void)
{
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if (!(c & bit_AVX) || (low & 6) != 6)
        return;
    core_features |= FEATURE_AVX;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX512F) || (low & 0xe0) != 0xe0)
        return;
    core_features |= FEATURE_AVX512F | (b & bit_AVX512BW ? FEATURE_AVX512BW : 0);
}

// Linux hands out the tile state on request only; where it refuses, tile instructions fault, which
// is their result. Must come before the filter.
static void ask_for_tiles(void)
{
#ifdef __x86_64__
    enum { REQUEST_XCOMP_PERM = 0x1023, XFEATURE_TILE_DATA = 18 }; // asm/prctl.h of Linux 5.16
    syscall(SYS_arch_prctl, REQUEST_XCOMP_PERM, XFEATURE_TILE_DATA);
#endif
}

static size_t build_code(void)
{
    const struct code_options options = {config.copies, config.threads > 1};
    size_t bytes = time_code_bytes();
    for (uint32_t i = 0; i < config.nselected; i++)
        bytes += code_bytes(runs[i].kernel, options);
    const struct code_options once = {.copies = 1};
    bool empty = config.ncounters && !core_is_timed(&config);
    if (empty) {
        runs[0].empty = *runs[0].kernel;
        runs[0].empty.body_bytes = 0;
        bytes += code_bytes(&runs[0].empty, once);
    }
    code_begin(bytes);
    time_build(&config);
    if (empty)
        runs[0].empty_code = code_add(&runs[0].empty, once);
    for (uint32_t i = 0; i < config.nselected; i++)
        runs[i].code = code_add(runs[i].kernel, options);
    code_end();
    return bytes;
}

static void send_hello(size_t bytes)
{
    struct core_record record = {.type = CORE_REC_HELLO};
    record.hello.overhead_tsc = times.overhead_tsc;
    record.hello.calib_clk = times.calib_clk;
    record.hello.core_hz = times.core_hz;
    record.hello.imul_per_add = times.imul_per_add;
    record.hello.calib_link_clk = times.calib_link_clk;
    record.hello.code_bytes = (uint32_t)bytes;
    record.hello.kernels = config.nselected;
    record.hello.ncounters = config.mode == CORE_MODE_MEASURE ? config.ncounters : 0;
    memcpy(record.hello.overhead_counts, times.overhead_counts, sizeof times.overhead_counts);
    memcpy(record.hello.link_counts, times.link_counts, sizeof times.link_counts);
    memcpy(record.hello.loop_counts, times.loop_counts, sizeof times.loop_counts);
    guard_send(&record);
    for (uint32_t i = 0; i < config.nselected; i++) {
        const struct core_kernel *kernel = runs[i].kernel;
        struct core_record code = {.type = CORE_REC_CODE, .kernel = kernel->id};
        code.code.bytes = kernel->body_bytes;
        memcpy(code.code.code, (const void *)(uintptr_t)kernel->body,
               kernel->body_bytes < CORE_CODE_MAX ? kernel->body_bytes : CORE_CODE_MAX);
        guard_send(&code);
    }
}

int main(void)
{
    read_config();
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)config.cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        guard_fatal("cannot run on CPU %d: %s", config.cpu, strerror(errno));
    find_features();
    guard_setup();
    ask_for_tiles();
    team_join(&config);
    size_t bytes = build_code();
    guard_drop_privileges();
    if (config.mode == CORE_MODE_FLOOR) {
        time_floor(&config);
    } else {
        time_calibrate(&config, &times);
        send_hello(bytes);
        clocks->last_accept_tsc = clocks->last_record_tsc = time_now();
        if (config.mode == CORE_MODE_BENCH)
            bench_measure(&config, &times, &runs[0]);
        else
            measure();
    }
    struct core_record end = {.type = CORE_REC_END};
    guard_send(&end);
    return 0;
}
