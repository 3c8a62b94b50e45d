// SPDX-License-Identifier: MIT
// The clock. One repeat is canary, kernel, calibration chain; all three run as kernels through
// core_enter. Core cycles come from the calibration chain, a dependent imul chain whose latency is
// a known integer on this uarch; the canary, a loop that needs the whole width of dispatch, shows
// whether something else uses the core. docs/MEASUREMENT.md has the experiments behind the choices.
#include "core_internal.h"

#include <string.h>
#include <sys/mman.h>

// How far from an integer the latency of imul, in units of that of add, may be: to be taken where
// no table has it, and to be taken although a table says something else.
static const double LINK_TOLERANCE = 0.05, LINK_REFUTED = 0.02;

enum {
    CALIB_LINKS = 256,
    CANARY_INSTRS = 960, // long enough to leave a loop buffer, short enough for the µop cache
    CANARY_BYTES_MAX = CANARY_INSTRS * 9,
    OVERHEAD_ROUNDS = 201,
    OVERHEAD_ROUNDS_LEAST = 11,
    RATIO_ROUNDS = 101,
    RATIO_FAST = RATIO_ROUNDS / 10, // of sorted rounds: a busy sibling slows the chain of add
    COUNT_LOOPS = 512,              // of a loop without a body
    DATA_BYTES = 72 * 1024,
    DATA_FILL_BYTES = 4096, // what is rewritten before each pass
    DATA_BEFORE_BYTES = 4096,
    // Small, so that a body whose pushes and pops do not balance leaves it within a few rounds.
    STACK_ABOVE_BYTES = 4096,
    STACK_BYTES = STACK_ABOVE_BYTES + 8 * 1024,
    GUARD_BYTES = 1 << 20, // unmapped on both sides of data and stack
};

static uint8_t *data_base, *stack_top;
static struct code calib_code, add_code, loop_code, canary_code[CORE_CANARIES];
static uint32_t calib_iterations, canary_iterations;
static uint32_t canary_kind; // of the gate
// Ticks of canary per tick of calibration, overhead subtracted, on an undisturbed core. More:
// something takes front-end slots. Less: the calibration chain itself was slowed down, which
// happens while a core changes its power state after 512-bit instructions.
static double canary_least, canary_most;
static double overhead;

// The links of the calibration chain and of the chain that it is compared with.
#ifdef __x86_64__
static const uint8_t imul_link[] = {0x48, 0x0f, 0xaf, 0xc0}; // imul rax, rax
static const uint8_t add_link[] = {0x48, 0x01, 0xc0};        // add rax, rax
#else
static const uint8_t imul_link[] = {0x0f, 0xaf, 0xc0}; // imul eax, eax
static const uint8_t add_link[] = {0x01, 0xc0};        // add eax, eax
#endif

// What the canaries repeat: the nops that the vendors' manuals recommend, by length; and, since Zen
// 4 takes up to twice as many nops in a cycle as µops, now more, now fewer, three that no CPU
// fuses. They have no chains and ask little of the ports: constants to four registers and two
// eliminated moves; zero idioms; zero idioms and constants.
static const struct canary {
    uint32_t bytes, instrs;
    const char *code;
} canaries[CORE_CANARIES] = {
    {0,  1, ""                                                                     },
    {1,  1, "\x90"                                                                 },
    {2,  1, "\x66\x90"                                                             },
    {3,  1, "\x0f\x1f\x00"                                                         },
    {4,  1, "\x0f\x1f\x40\x00"                                                     },
    {5,  1, "\x0f\x1f\x44\x00\x00"                                                 },
    {6,  1, "\x66\x0f\x1f\x44\x00\x00"                                             },
    {7,  1, "\x0f\x1f\x80\x00\x00\x00\x00"                                         },
    {8,  1, "\x0f\x1f\x84\x00\x00\x00\x00\x00"                                     },
    {9,  1, "\x66\x0f\x1f\x84\x00\x00\x00\x00\x00"                                 },
    {26, 6,
     "\xb8\x01\x00\x00\x00" /* mov eax, 1 */ "\xb9\x01\x00\x00\x00" /* mov ecx, 1 */
     "\x0f\x28\xc1" /* movaps xmm0, xmm1 */ "\xba\x01\x00\x00\x00"  /* mov edx, 1 */
     "\xbe\x01\x00\x00\x00" /* mov esi, 1 */ "\x0f\x28\xd3" /* movaps xmm2, xmm3 */},
    {8,  4,
     "\x31\xc0" /* xor eax, eax */ "\x31\xc9" /* xor ecx, ecx */
     "\x31\xd2" /* xor edx, edx */ "\x31\xf6" /* xor esi, esi */                   },
    {15, 4,
     "\x31\xc0" /* xor eax, eax */ "\xb9\x01\x00\x00\x00" /* mov ecx, 1 */
     "\x0f\x57\xc0" /* xorps xmm0, xmm0 */ "\xbe\x01\x00\x00\x00" /* mov esi, 1 */ },
};

uint64_t time_now(void)
{
    return __builtin_ia32_rdtsc();
}

static struct core_kernel time_own_kernel(const uint8_t *body, uint32_t bytes, uint32_t instrs)
{
    return (struct core_kernel){.body = (uint64_t)(uintptr_t)body,
                                .body_bytes = bytes,
                                .instances = instrs,
                                .instrs = instrs,
                                .flags = CORE_UNROLLED,
                                .gpr_fill = 1};
}

// Bodies of the own kernels, unrolled; static because code_add copies from them.
static uint8_t calib_body[CALIB_LINKS * sizeof imul_link];
static uint8_t add_body[CALIB_LINKS * sizeof add_link];
static uint8_t canary_body[CANARY_BYTES_MAX];

size_t time_code_bytes(void)
{
    struct core_kernel calib = time_own_kernel(calib_body, sizeof calib_body, CALIB_LINKS);
    struct core_kernel canary = time_own_kernel(canary_body, sizeof canary_body, CANARY_INSTRS);
    return 3 * code_bytes(&calib, (struct code_options){0}) + // chains, and the loop
           (CORE_CANARIES - 1) * code_bytes(&canary, (struct code_options){0});
}

static void time_map_areas(void)
{
    void *wanted = (void *)(uintptr_t)(core_data_start - DATA_BEFORE_BYTES - GUARD_BYTES);
    char *area = mmap(wanted, 3 * GUARD_BYTES + DATA_BYTES + STACK_BYTES, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (area != wanted)
        send_fatal("the address range for the data area is taken");
    char *stack = area + 2 * GUARD_BYTES + DATA_BYTES;
    area += GUARD_BYTES;
    if (mprotect(area, DATA_BYTES, PROT_READ | PROT_WRITE) != 0 ||
        mprotect(stack, STACK_BYTES, PROT_READ | PROT_WRITE) != 0)
        send_fatal("cannot map the data area");
    data_base = (uint8_t *)area + DATA_BEFORE_BYTES;
    stack_top = (uint8_t *)stack + STACK_BYTES - STACK_ABOVE_BYTES;
    memset(area, 0, DATA_BYTES); // touch every page now
    memset(stack, 0, STACK_BYTES);
}

static struct code time_canary_code(const struct canary *canary)
{
    uint32_t periods = CANARY_INSTRS / canary->instrs;
    for (uint32_t i = 0; i < periods; i++)
        memcpy(canary_body + i * canary->bytes, canary->code, canary->bytes);
    struct core_kernel kernel =
        time_own_kernel(canary_body, periods * canary->bytes, periods * canary->instrs);
    return code_add(&kernel, (struct code_options){0});
}

void time_build(const struct core_config *config)
{
    time_map_areas();
    for (int i = 0; i < CALIB_LINKS; i++)
        memcpy(calib_body + i * (int)sizeof imul_link, imul_link, sizeof imul_link);
    for (int i = 0; i < CALIB_LINKS; i++)
        memcpy(add_body + i * (int)sizeof add_link, add_link, sizeof add_link);
    struct core_kernel calib = time_own_kernel(calib_body, sizeof calib_body, CALIB_LINKS);
    struct core_kernel add = time_own_kernel(add_body, sizeof add_body, CALIB_LINKS);
    calib_code = code_add(&calib, (struct code_options){0});
    add_code = code_add(&add, (struct code_options){0});
    if (core_is_timed(config)) {
        struct core_kernel loop = time_own_kernel(calib_body, 0, 0);
        loop_code = code_add(&loop, (struct code_options){0});
    }
    for (uint32_t kind = 1; kind < CORE_CANARIES; kind++)
        canary_code[kind] = time_canary_code(&canaries[kind]);
    canary_kind = config->canary;
    if (canary_kind < 1 || canary_kind >= CORE_CANARIES)
        canary_kind = 1;
}

static uint32_t time_setup(const struct core_setup *setup, uint32_t iterations)
{
    core_state.leave = (uint64_t)(uintptr_t)core_leave;
    core_state.iterations = iterations;
    core_state.tsc_begin = core_state.tsc_end = 0;
    core_state.begin_rsp = core_state.end_rsp = 0;
    rdpmc_begin();
    core_enter(setup);
    uint64_t ticks = core_state.tsc_end - core_state.tsc_begin;
    return ticks > UINT32_MAX ? UINT32_MAX : (uint32_t)ticks;
}

static uint32_t time_own(const struct code *code, uint32_t iterations)
{
    const struct core_setup setup = {.code = (uint64_t)(uintptr_t)code->variants[0].entry,
                                     .stack = (uint64_t)(uintptr_t)stack_top,
                                     .data = (uint64_t)(uintptr_t)data_base,
                                     .gpr_fill = 1};
    return time_setup(&setup, iterations);
}

void time_fill_data(const struct core_kernel *kernel)
{
    uint64_t *words = (uint64_t *)(void *)data_base;
    for (size_t i = 0; i < DATA_FILL_BYTES / sizeof *words; i++)
        words[i] = kernel->mem_fill;
}

struct core_parameters *time_parameters(void)
{
    return (struct core_parameters *)(void *)(data_base + CORE_PAGE);
}

const void *time_data(const void **end)
{
    *end = data_base - DATA_BEFORE_BYTES + DATA_BYTES;
    return data_base - DATA_BEFORE_BYTES;
}

uint32_t time_kernel(const struct core_kernel *kernel, const uint8_t *entry, uint32_t iterations)
{
    uint32_t vec_bits = kernel->vec_bits;
    if (vec_bits > 256 && !(core_features & FEATURE_AVX512F))
        vec_bits = 256;
    if (vec_bits > 128 && !(core_features & FEATURE_AVX))
        vec_bits = 128;
    if (kernel->flags & CORE_CLEAR_UPPER && vec_bits > 128)
        vec_bits = 128;
    const struct core_setup setup = {
        .code = (uint64_t)(uintptr_t)entry,
        .stack = (uint64_t)(uintptr_t)stack_top,
        .data = (uint64_t)(uintptr_t)data_base,
        .gpr_fill = kernel->gpr_fill,
        .mask_fill = kernel->mask_fill,
        .vec_bits = vec_bits,
        .features = core_features | FEATURE_MMX,
        .vec_fill = {kernel->vec_fill, kernel->vec_fill}
    };
    company_begin(kernel);
    uint32_t ticks = time_setup(&setup, iterations);
    own_restore();
    company_end(kernel);
    return ticks;
}

uint32_t time_calibration(void)
{
    return time_own(&calib_code, calib_iterations);
}

uint32_t time_canary_of(uint32_t kind)
{
    return time_own(&canary_code[kind], canary_iterations);
}

uint32_t time_canary(void)
{
    return time_canary_of(canary_kind);
}

double time_canary_instrs(void)
{
    return (double)CANARY_INSTRS * canary_iterations;
}

bool time_canary_quiet(uint32_t canary_tsc, uint32_t calib_tsc)
{
    double ratio = (canary_tsc - overhead) / (calib_tsc - overhead);
    return ratio >= canary_least && ratio <= canary_most;
}

// A long chain between two short ones, as a kernel is between two calibrations, and what follows
// for the overhead. `gated`: under the gate. False: disturbed.
static bool time_overhead_round(const struct core_config *config, bool gated, double *value)
{
    enum { LONG = 3 };
    uint32_t canary = gated ? time_canary() : 0, before = time_calibration();
    if (gated && !time_canary_quiet(canary, before))
        return false;
    uint32_t long_tsc = time_own(&calib_code, LONG * calib_iterations);
    if (gated)
        canary = time_canary();
    uint32_t after = time_calibration();
    double differ = before > after ? before - after : after - before;
    if (gated && (differ > config->calib_tolerance * before || !time_canary_quiet(canary, after)))
        return false;
    *value = (LONG * ((double)before + after) / 2 - long_tsc) / (LONG - 1);
    return true;
}

// What a timing costs beyond the work in its loop: the stubs, the way into and out of the pipeline.
// From chains of two lengths, so that all of it is in. A wrong one moves all values of its process:
// 30 ticks of 54 too many are 0.5 % where a kernel is twice as long as the calibration. A core that
// is shared takes longer for it, by half; so once the gate is there only rounds that pass it count,
// and on a core that is seldom quiet they are waited for.
static double time_overhead(const struct core_config *config, bool gated)
{
    enum { WAIT_MS = 250 };
    double values[OVERHEAD_ROUNDS];
    int n = 0;
    uint64_t end = time_now() + (uint64_t)(WAIT_MS * config->tsc_hz / 1000);
    while (n < OVERHEAD_ROUNDS && time_now() < end)
        n += time_overhead_round(config, gated, &values[n]);
    if (n < OVERHEAD_ROUNDS_LEAST) // hardly ever quiet: nothing is known better than before
        return overhead;
    return values_densest(values, n);
}

// The latency of imul in units of that of add, which is one cycle on every CPU: the check on the
// table's figure, and its substitute where the uarch is unknown.
static double time_imul_per_add(void)
{
    double imul[RATIO_ROUNDS], add[RATIO_ROUNDS];
    for (int i = 0; i < RATIO_ROUNDS; i++) {
        imul[i] = time_own(&calib_code, calib_iterations) - overhead;
        add[i] = time_own(&add_code, calib_iterations) - overhead;
    }
    values_sort(imul, RATIO_ROUNDS);
    values_sort(add, RATIO_ROUNDS);
    return imul[RATIO_FAST] / add[RATIO_FAST];
}

// A table's figure is a claim: a ratio that is another integer refutes it. One that is no integer
// says that something disturbs the chain of add, and nothing about the table.
static uint32_t time_link_clk(const struct core_config *config, const struct times *times)
{
    bool counted = config->ncounters && config->counts_clk;
    double clk = counted ? times->link_counts[0] : times->imul_per_add;
    uint32_t nearest = (uint32_t)(clk + 0.5);
    double off = clk > nearest ? clk - nearest : nearest - clk;
    if (config->calib_link_clk && (nearest < 1 || off > LINK_REFUTED * nearest))
        return config->calib_link_clk;
    if (nearest < 1 || off > LINK_TOLERANCE * nearest)
        send_fatal("the latency of imul is not known for this CPU, and %s, %.3f, is no integer: "
                   "core cycles cannot be calibrated",
                   counted ? "what a counter says" : "its ratio to that of add", clk);
    return nearest;
}

// What the last timing has counted, into row `round`. A fault says that RDPMC is not allowed.
static bool time_take(double rows[CORE_TIMED_MAX][OVERHEAD_ROUNDS], int round)
{
    uint32_t counts[CORE_TIMED_MAX];
    if (guard_take_fault().signal)
        send_fatal("RDPMC faults: the system keeps the counters from user code (CR4.PCE)");
    bool whole = rdpmc_take(counts);
    for (int i = 0; i < CORE_TIMED_MAX; i++)
        rows[i][round] = whole ? counts[i] : 0;
    return whole;
}

// What one more iteration of a kernel counts, and what a timing of it counts besides: by loops of
// `iterations` and of twice as many.
static void time_count_slope(const struct core_config *config, const struct code *code,
                             uint32_t iterations, double slope[CORE_TIMED_MAX],
                             double rest[CORE_TIMED_MAX])
{
    // Not static: all that is has to be compared after each kernel.
    double once[CORE_TIMED_MAX][OVERHEAD_ROUNDS], twice[CORE_TIMED_MAX][OVERHEAD_ROUNDS];
    int n = 0;
    for (int tries = 0; tries < 4 * OVERHEAD_ROUNDS && n < OVERHEAD_ROUNDS; tries++) {
        time_own(code, iterations);
        if (!time_take(once, n))
            continue;
        time_own(code, 2 * iterations);
        n += time_take(twice, n);
    }
    if (n < OVERHEAD_ROUNDS)
        send_fatal("the counters do not run all the time: something else counts as well");
    for (uint32_t i = 0; i < config->ncounters; i++) {
        for (int round = 0; round < n; round++) {
            double more = twice[i][round] - once[i][round];
            once[i][round] -= more; // the rest
            twice[i][round] = more / iterations;
        }
        values_sort(once[i], n);
        values_sort(twice[i], n);
        rest[i] = once[i][n / 2];
        slope[i] = twice[i][n / 2];
    }
}

static void time_count(const struct core_config *config, struct times *times)
{
    double ignored[CORE_TIMED_MAX];
    time_count_slope(config, &calib_code, calib_iterations, times->link_counts,
                     times->overhead_counts);
    for (uint32_t i = 0; i < config->ncounters; i++)
        times->link_counts[i] /= CALIB_LINKS;
    time_count_slope(config, &loop_code, COUNT_LOOPS, times->loop_counts, ignored);
}

// Ticks of one iteration of a loop at its fastest; also warms it up.
static double time_iteration(const struct code *code)
{
    enum { ITERATIONS = 64, TRIES = 20 };
    uint32_t one = time_own(code, ITERATIONS);
    for (int i = 0; i < TRIES; i++) {
        uint32_t again = time_own(code, ITERATIONS);
        one = again < one ? again : one;
    }
    return (double)one / ITERATIONS;
}

static double time_calibration_median(void)
{
    double values[RATIO_ROUNDS];
    for (int i = 0; i < RATIO_ROUNDS; i++)
        values[i] = time_calibration();
    values_sort(values, RATIO_ROUNDS);
    return values[RATIO_ROUNDS / 2];
}

void time_calibrate(const struct core_config *config, struct times *times)
{
    double ticks_per_ns = config->tsc_hz / 1e9;
    calib_iterations =
        (uint32_t)(config->calib_ns * ticks_per_ns / time_iteration(&calib_code)) + 1;
    canary_iterations =
        (uint32_t)(config->canary_ns * ticks_per_ns / time_iteration(&canary_code[canary_kind])) +
        1;
    overhead = time_overhead(config, false);
    times->imul_per_add = time_imul_per_add();
    if (core_is_timed(config))
        time_count(config, times);
    times->calib_link_clk = time_link_clk(config, times);
    times->calib_clk = (double)calib_iterations * CALIB_LINKS * times->calib_link_clk;
    times->core_hz = times->calib_clk / (time_calibration_median() - overhead) * config->tsc_hz;
    double floor_clk = config->floor_clk_per_instr * CANARY_INSTRS * canary_iterations;
    canary_least = floor_clk * (1 - config->canary_tolerance) / times->calib_clk;
    canary_most = floor_clk * (1 + config->canary_tolerance) / times->calib_clk;
    if (config->mode != CORE_MODE_FLOOR)
        overhead = time_overhead(config, true);
    times->overhead_tsc = overhead;
}
