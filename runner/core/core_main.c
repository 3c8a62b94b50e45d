// SPDX-License-Identifier: MIT
// The measurement core's main program: reads its configuration, builds all code, gives up what it
// does not need, calibrates, and has the selected kernels measured.
#include "core_internal.h"

#include <cpuid.h>
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct core_config config;
static CORE_KEPT struct times times;
static struct kernel_run *runs; // config.nselected of them
static int32_t corunner_cpus[CORE_CORUNNERS_MAX];
static uint64_t *pages; // config.npages of them

static void read_all(void *to, size_t bytes)
{
    char *at = to;
    while (bytes > 0) {
        ssize_t got = read(CORE_CONFIG_FD, at, bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            send_fatal("the configuration is incomplete");
        at += got;
        bytes -= (size_t)got;
    }
}

static const struct core_kernel *kernel_by_id(uint32_t id)
{
    for (uint32_t k = 0; k < latput_kernel_count; k++) // ids ascend: usually found at once
        if (latput_kernels[(k + id) % latput_kernel_count].id == id)
            return &latput_kernels[(k + id) % latput_kernel_count];
    send_fatal("there is no kernel %u", id);
}

// Orders kernels by vector width, so that the core changes its power state once and not for each.
static void read_kernels(void)
{
    static const uint32_t widths[] = {0, 128, 256, 512};
    uint32_t *ids = mmap(NULL, config.nselected * sizeof *ids, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ids == MAP_FAILED)
        send_fatal("cannot map the numbers of %u kernels", config.nselected);
    read_all(ids, config.nselected * sizeof *ids);
    uint32_t n = 0;
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++)
        for (uint32_t i = 0; i < config.nselected; i++) {
            const struct core_kernel *kernel = kernel_by_id(ids[i]);
            if (kernel->vec_bits == widths[w])
                runs[n++] = (struct kernel_run){.kernel = kernel, .pass = 1};
        }
    if (n != config.nselected)
        send_fatal("a kernel has vectors of no known width");
}

// Reads the addresses of pages to be mapped.
static void read_pages(void)
{
    if (!config.npages)
        return;
    if (config.npages > CORE_PAGES_MAX)
        send_fatal("more pages wanted than there may be");
    size_t bytes = config.npages * sizeof *pages;
    pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        send_fatal("cannot map the addresses of %u pages", config.npages);
    read_all(pages, bytes);
}

static void read_config(void)
{
    read_all(&config, sizeof config);
    seal_take(&config.secret);
    if (config.abi_version != CORE_ABI_VERSION)
        send_fatal("the core and the runner are of different versions; build again");
    if (!config.canary_iterations)
        send_fatal("a canary without rounds");
    if (config.accept > CORE_SAMPLES_MAX)
        send_fatal("more samples wanted than a record holds");
    if (config.passes < 1 || config.passes > CORE_PASSES_MAX)
        send_fatal("from 1 to %d passes", CORE_PASSES_MAX);
    if (!config.nselected && config.mode == CORE_MODE_BENCH)
        send_fatal("no kernel to repeat");
    if (!config.nselected)
        return;
    runs = mmap(NULL, config.nselected * sizeof *runs, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (runs == MAP_FAILED)
        send_fatal("cannot map the state of %u kernels", config.nselected);
    read_kernels();
    static struct core_counter counters[CORE_COUNTERS_MAX];
    bool timed = core_is_timed(&config);
    if (config.ncorunners > CORE_CORUNNERS_MAX || config.permits & ~(uint32_t)CORE_PERMITS)
        send_fatal("more wanted of the core than there is");
    if (config.ncounters > (timed ? (uint32_t)CORE_TIMED_MAX : (uint32_t)CORE_COUNTERS_MAX))
        send_fatal("more counters wanted than a record holds");
    read_all(counters, config.ncounters * sizeof *counters);
    read_all(corunner_cpus, config.ncorunners * sizeof *corunner_cpus);
    read_pages();
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

static size_t build_code(void)
{
    const struct code_options options = {config.copies, config.threads > 1, false};
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
        runs[i].code = runs[i].kernel->flags & CORE_RING0 ? ring0_find(runs[i].kernel)
                                                          : code_add(runs[i].kernel, options);
    code_end();
    return bytes;
}

// Builds the code of a corunner's process: its loops, and the clock's own kernels.
static void build_corunner(void)
{
    const struct code_options options = {.copies = 1, .watches = true};
    size_t bytes = time_code_bytes();
    for (uint32_t i = 0; i < config.nselected; i++) {
        corunner_prepare(&runs[i]);
        bytes += code_bytes(&runs[i].corunner, options);
    }
    code_begin(bytes);
    time_build(&config);
    for (uint32_t i = 0; i < config.nselected; i++)
        runs[i].corunner_code = code_add(&runs[i].corunner, options);
    code_end();
}

static void send_hello(size_t bytes)
{
    struct core_record record = {.type = CORE_REC_HELLO};
    record.hello.overhead_tsc = times.overhead_tsc;
    record.hello.calib_clk = times.calib_clk;
    record.hello.core_hz = times.core_hz;
    record.hello.imul_per_add = times.imul_per_add;
    record.hello.calib_link_clk = times.calib_link_clk;
    record.hello.confirmed = time_confirmed();
    record.hello.code_bytes = (uint32_t)bytes;
    record.hello.kernels = config.nselected;
    area_mapped_bytes(&record.hello.area_bytes, &record.hello.area_huge_bytes);
    record.hello.ncounters = config.mode == CORE_MODE_MEASURE ? config.ncounters : 0;
    memcpy(record.hello.overhead_counts, times.overhead_counts, sizeof times.overhead_counts);
    memcpy(record.hello.link_counts, times.link_counts, sizeof times.link_counts);
    memcpy(record.hello.loop_counts, times.loop_counts, sizeof times.loop_counts);
    send_record(&record);
    for (uint32_t i = 0; i < config.nselected; i++) {
        const struct core_kernel *kernel = runs[i].kernel;
        struct core_record code = {.type = CORE_REC_CODE, .kernel = kernel->id};
        code.code.bytes = kernel->body_bytes;
        memcpy(code.code.code, code_of(kernel, kernel->body),
               kernel->body_bytes < CORE_CODE_MAX ? kernel->body_bytes : CORE_CODE_MAX);
        send_record(&code);
    }
}

int main(void)
{
    read_config();
    run_setup(&config, &times);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)config.cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        send_fatal("cannot run on CPU %d: %s", config.cpu, strerror(errno));
    find_features();
    own_remember();
    guard_setup(config.permits);
    team_join(&config);
    measure_setup(&config, &times, runs);
    area_setup(runs, config.nselected, config.permits);
    bool helps = corunner_split(&config, corunner_cpus) >= 0;
    area_setup_own();
    if (helps) {
        build_corunner();
        close(CORE_RECORD_FD); // a corunner sends no records
        close(CORE_CONFIG_FD);
        guard_drop_privileges(&config, 0, NULL, 0);
        corunner_serve(runs, config.nselected);
    }
    size_t bytes = build_code();
    if (config.frames)
        pages_map(pages, config.npages);
    if (config.mode == CORE_MODE_FLOOR)
        floor_prepare();
    struct filter_call calls[GUARD_MORE_CALLS];
    int ncalls = area_filter_calls(config.permits, calls);
    ncalls += ring0_filter_call(&calls[ncalls]);
    guard_drop_privileges(&config, config.permits, calls, ncalls);
    if (config.probe)
        times.core_hz = config.tsc_hz; // nothing follows from it
    else
        time_calibrate(&config, &times);
    send_hello(bytes);
    if (config.mode == CORE_MODE_FLOOR) {
        floor_measure_canaries(&config, &times);
    } else {
        run_begin();
        if (config.mode == CORE_MODE_BENCH) {
            if (config.threads < 2) // else each disturbs the others
                run_wait_for_facts();
            bench_measure(&config, &times, &runs[0]);
        } else {
            measure_passes();
        }
    }
    run_send_event(CORE_REC_END, 0, 0);
    _exit(0); // libc's own data are read-only
}
