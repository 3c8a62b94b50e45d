// SPDX-License-Identifier: MIT
// Measuring inside one's own program, in C11 or C++17, on x86 under Linux. The first part, the time
// stamp, consists of inline functions and needs nothing but this header. The rest is in liblatput:
// performance counters, core cycles without them, and latput_measure(), which runs a function again
// and again against a baseline. docs/LIBRARY.md has examples with their output.
#ifndef LATPUT_H
#define LATPUT_H

#include <stddef.h>
#include <stdint.h>

#if !defined(__x86_64__) && !defined(__i386__)
#error "latput.h: the instructions that it uses exist on x86 only"
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ---- The time stamp: header only. Unit: ticks of the time-stamp counter (TSC), which runs at one
// speed whatever the core's clock does.

#define LATPUT_INLINE static inline __attribute__((always_inline, unused))

// Reads the time stamp before the code to be measured: all instructions before have completed, and
// none after has begun. LFENCE does it without the exit to the hypervisor that CPUID costs in a
// virtual machine. Stores may still be on their way from the store buffer to the cache.
LATPUT_INLINE uint64_t latput_begin(void)
{
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
}

// Reads the time stamp after the code to be measured, when that has completed. RDTSCP would wait
// likewise, but some CPUs do not have it.
LATPUT_INLINE uint64_t latput_end(void)
{
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
}

// Reads performance counter `index`, serialised as above. Traps (SIGSEGV) unless the system allows
// it; latput_counters_index() knows.
LATPUT_INLINE uint64_t latput_rdpmc(uint32_t index)
{
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdpmc\n\tlfence" : "=a"(low), "=d"(high) : "c"(index) : "memory");
    return (uint64_t)high << 32 | low;
}

// Ticks that latput_begin() and latput_end() measure when there is nothing between them; to be
// subtracted. The mean of many, because a TSC that advances in steps gives the same pair now fewer
// and now more ticks. Takes about 0.1 ms.
LATPUT_INLINE double latput_overhead(void)
{
    enum { LATPUT_PAIRS = 2000 };
    uint64_t ticks[LATPUT_PAIRS], least = UINT64_MAX, sum = 0;
    unsigned n = 0;
    for (int i = 0; i < LATPUT_PAIRS; i++) {
        uint64_t begin = latput_begin();
        ticks[i] = latput_end() - begin;
        least = ticks[i] < least ? ticks[i] : least;
    }
    // Whoever interrupts takes thousands of ticks.
    for (int i = 0; i < LATPUT_PAIRS; i++) {
        if (ticks[i] <= 2 * least + 100) {
            sum += ticks[i];
            n++;
        }
    }
    return (double)sum / n;
}

// Makes the compiler compute `value` (an integer or a pointer) here and forget what it knows of it,
// so that it neither drops nor moves the code to be measured.
#define LATPUT_KEEP(value) __asm__ volatile("" : "+r"(value) : : "memory")

// ---- The library. Link with -llatput (pkg-config latput). None of its functions may be called by
// two threads at the same time. None ends the program: where memory is used up, or the system
// denies the calls that ask for it, they fail, and say which of it where they have a message.

#define LATPUT_API __attribute__((visibility("default")))

// Keeps the calling thread on one CPU (-1: the last one that it may use). Returns which, or -1.
LATPUT_API int latput_pin(int cpu);

// Steps in which the TSC advances, in ticks: 1 on most machines, tens on some virtual ones.
// Measured at the first call, as the greatest common divisor of differences of time stamps.
LATPUT_API double latput_tsc_step(void);

// Core cycles of one link of the chain that core cycles are measured by (IMUL of a register by
// itself): its ratio to a chain of ADD, which must be an integer. Measured once. 0 if it is none:
// then there are no core cycles.
LATPUT_API int latput_calibration_link_clk(void);
// Returns the TSC ticks per core cycle at the moment, by timing the chain, which takes some 5
// microseconds. NaN: there are none.
LATPUT_API double latput_tsc_per_clk(void);

// Summary of values. All NaN and n = 0 if there are none, or no memory to sort them in.
struct latput_summary {
    int n;
    double min, max, median;
    double mean;   // over the values within three spreads of the median
    double spread; // interquartile range
};
// Summarises n values in any order; NaN among them are left out. `grain`: the resolution of the
// values, which the spread that decides about the mean does not go below; 0: there is none.
LATPUT_API struct latput_summary latput_summarise(const double *values, int n, double grain);

// Performance counters of the calling thread; hardware events in user mode. `events`: ids of
// latput's tables ("core_clk,instructions", see latput counters), names of the vendor or of
// libpfm4, raw codes ("event=0xc0,umask=1", "r1b1"), or software events ("page-faults").
// All are counted at the same time or the set is refused; nothing is scaled. NULL with a message of
// why, and what to do about it, in error[size] (may be NULL). Ended by latput_counters_close().
struct latput_counters;
LATPUT_API struct latput_counters *latput_counters_open(const char *events, char *error,
                                                        size_t size);
LATPUT_API int latput_counters_count(const struct latput_counters *counters);
// Name of counter i as it was asked for. Owned by the counters.
LATPUT_API const char *latput_counters_name(const struct latput_counters *counters, int i);
// "rdpmc": all are read in user mode. "read": by a system call, a thousand cycles and more.
LATPUT_API const char *latput_counters_method(const struct latput_counters *counters);
// Returns the reason why the counters are not read by RDPMC, which they own; "": they are.
LATPUT_API const char *latput_counters_obstacle(const struct latput_counters *counters);
// For latput_rdpmc(), between start and stop, as long as the thread stays where it is; -1 if
// counter i cannot be read by it now.
LATPUT_API int latput_counters_index(const struct latput_counters *counters, int i);
// From 0; 0 or -1.
LATPUT_API int latput_counters_start(struct latput_counters *counters);
// Counts since start, into values[count]. 0, or -1 if they are not complete: then nothing in values
// is valid. Between start and stop, or after stop.
LATPUT_API int latput_counters_read(struct latput_counters *counters, uint64_t *values);
LATPUT_API int latput_counters_stop(struct latput_counters *counters);
LATPUT_API void latput_counters_close(struct latput_counters *counters); // NULL is allowed

// Parameters of latput_measure(). Zero or NULL has the meaning given here.
struct latput_test {
    void (*test)(void *data);
    void (*baseline)(void *data);     // subtracted; NULL: an empty function
    void *data;                       // for both
    struct latput_counters *counters; // the caller's; NULL: time only
    int repetitions;                  // rows wanted; 0: 100
    int calls; // per repetition, of the function; 0: as many as take 10 microseconds
};

// One figure of every repetition, per call of the function, the baseline's mean subtracted (so that
// it can be negative).
struct latput_column {
    const char *name; // "tsc", "clk", or the counter's
    double *values;   // one a repetition, in their order
    double baseline;  // subtracted from the values
    struct latput_summary summary;
};

enum { LATPUT_TSC, LATPUT_CLK, LATPUT_COUNTERS }; // columns: ticks, core cycles, the first counter

struct latput_result {
    int repetitions; // accepted ones
    int tried;       // in order to get them
    int calls;       // in each
    int ncolumns;    // LATPUT_COUNTERS + number of counters
    struct latput_column *columns;
    double tsc_per_clk; // median of all repetitions; NaN if there are no core cycles
    char message[512];  // reason of a failure, or what is missing; "": all is well
};

// Runs the test `repetitions` times. One repetition is: baseline, calibration chain, test,
// calibration chain. It is repeated if the two calibrations differ by more than 0.6 %, which shows
// an interrupt or a change of the core's clock, in at most ten times as many tries. One repetition
// before them warms up and is not counted. Returns 0 if there are as many as wanted; 1 if there are
// fewer, with a message; -1 if nothing was measured. The caller frees the result by
// latput_result_free() in all cases.
LATPUT_API int latput_measure(const struct latput_test *test, struct latput_result *result);
LATPUT_API void latput_result_free(struct latput_result *result);

#ifdef __cplusplus
}
#endif

#endif
