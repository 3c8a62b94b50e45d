// SPDX-License-Identifier: MIT
// The clock. One repeat is canary, kernel, calibration chain; all three run as kernels through
// core_enter. Here they are built and run; core_time_calibrate.c finds what their times mean.
#include "core_internal.h"

#include <string.h>
#include <sys/mman.h>

enum {
    CANARY_BYTES_MAX = TIME_CANARY_INSTRS * 9,
    DATA_BYTES = 72 * 1024,
    DATA_FILL_BYTES = 4096, // bytes that are rewritten before each pass
    DATA_BEFORE_BYTES = 4096,
    // Small, so that a body whose pushes and pops do not balance leaves it within a few rounds.
    STACK_ABOVE_BYTES = 4096,
    STACK_BYTES = STACK_ABOVE_BYTES + 8 * 1024,
    GUARD_BYTES = 1 << 20,      // unmapped on both sides of data and stack
    STACK_FAR_BYTES = 64 << 20, // below the data area
};

static uint8_t *data_base, *stack_top;
struct time_code time_code;

// The links of the calibration chain and of the chain that it is compared with.
#ifdef __x86_64__
static const uint8_t imul_link[] = {0x48, 0x0f, 0xaf, 0xc0}; // imul rax, rax
static const uint8_t add_link[] = {0x48, 0x01, 0xc0};        // add rax, rax
#else
static const uint8_t imul_link[] = {0x0f, 0xaf, 0xc0}; // imul eax, eax
static const uint8_t add_link[] = {0x01, 0xc0};        // add eax, eax
#endif

// Code of the canaries: the nops that the vendors' manuals recommend, by length, and three mixtures
// that no CPU fuses, since Zen 4 executes up to twice as many nops per cycle as µops. They have no
// chains and need few ports: constants to four registers and two eliminated moves; zero idioms;
// zero idioms and constants.
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

int32_t time_cpu(void)
{
    // Linux keeps the numbers of the CPU and, in the bits above it, of its node as the limit of a
    // segment.
    enum { SEGMENT = 0x7b, CPU_MASK = 0xfff };
    uint32_t limit;
    bool known;
    __asm__ volatile("lsl %2, %0" : "=r"(limit), "=@ccz"(known) : "r"(SEGMENT));
    return known ? (int32_t)(limit & CPU_MASK) : -1;
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
static uint8_t calib_body[TIME_CALIB_LINKS * sizeof imul_link];
static uint8_t add_body[TIME_CALIB_LINKS * sizeof add_link];
// Aligned so that what comes after the core's sections begins with a page of its own.
static _Alignas(CORE_PAGE) uint8_t canary_body[CANARY_BYTES_MAX];

size_t time_code_bytes(void)
{
    struct core_kernel calib = time_own_kernel(calib_body, sizeof calib_body, TIME_CALIB_LINKS);
    struct core_kernel canary =
        time_own_kernel(canary_body, sizeof canary_body, TIME_CANARY_INSTRS);
    return 3 * code_bytes(&calib, (struct code_options){0}) + // chains, and the loop
           (CORE_CANARIES - 1) * code_bytes(&canary, (struct code_options){0});
}

// Maps addresses without memory, of which a part gets some, with every page touched.
static uint8_t *time_map(uintptr_t wanted, size_t bytes, size_t from, size_t part_bytes)
{
    uint8_t *map = mmap((void *)wanted, bytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (map != (void *)wanted)
        send_fatal("the address range for the data area is taken");
    if (mprotect(map + from, part_bytes, PROT_READ | PROT_WRITE) != 0)
        send_fatal("cannot map the data area");
    memset(map + from, 0, part_bytes);
    return map + from;
}

// The stack lies after the data area, or out of the way of code that walks on from there.
static void time_map_areas(const struct core_config *config)
{
    uintptr_t data = (uintptr_t)core_data_start - DATA_BEFORE_BYTES, end = data + DATA_BYTES;
    uintptr_t stack = config->frames ? data - STACK_FAR_BYTES : end + GUARD_BYTES;
    size_t guard = config->frames ? GUARD_BYTES : 0; // else the data area's
    data_base = time_map(data - GUARD_BYTES, 2 * GUARD_BYTES + DATA_BYTES, GUARD_BYTES, DATA_BYTES);
    stack_top = time_map(stack - guard, guard + STACK_BYTES + GUARD_BYTES, guard, STACK_BYTES);
    data_base += DATA_BEFORE_BYTES;
    stack_top += STACK_BYTES - STACK_ABOVE_BYTES;
}

static struct code time_canary_code(const struct canary *canary)
{
    uint32_t periods = TIME_CANARY_INSTRS / canary->instrs;
    for (uint32_t i = 0; i < periods; i++)
        memcpy(canary_body + i * canary->bytes, canary->code, canary->bytes);
    struct core_kernel kernel =
        time_own_kernel(canary_body, periods * canary->bytes, periods * canary->instrs);
    return code_add(&kernel, (struct code_options){0});
}

void time_build(const struct core_config *config)
{
    time_map_areas(config);
    for (int i = 0; i < TIME_CALIB_LINKS; i++)
        memcpy(calib_body + i * (int)sizeof imul_link, imul_link, sizeof imul_link);
    for (int i = 0; i < TIME_CALIB_LINKS; i++)
        memcpy(add_body + i * (int)sizeof add_link, add_link, sizeof add_link);
    struct core_kernel calib = time_own_kernel(calib_body, sizeof calib_body, TIME_CALIB_LINKS);
    struct core_kernel add = time_own_kernel(add_body, sizeof add_body, TIME_CALIB_LINKS);
    time_code.calib = code_add(&calib, (struct code_options){0});
    time_code.add = code_add(&add, (struct code_options){0});
    if (core_is_timed(config)) {
        struct core_kernel loop = time_own_kernel(calib_body, 0, 0);
        time_code.loop = code_add(&loop, (struct code_options){0});
    }
    for (uint32_t kind = 1; kind < CORE_CANARIES; kind++)
        time_code.canary[kind] = time_canary_code(&canaries[kind]);
    time_code.gate = config->canary;
    if (time_code.gate < 1 || time_code.gate >= CORE_CANARIES)
        time_code.gate = 1;
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

uint32_t time_own(const struct code *code, uint32_t iterations)
{
    const struct core_setup setup = {.code = (uint64_t)(uintptr_t)code->variants[0].entry,
                                     .stack = (uint64_t)(uintptr_t)stack_top,
                                     .data = (uint64_t)(uintptr_t)data_base,
                                     .gpr_fill = 1};
    interrupts_off();
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

bool time_is_guard(uintptr_t address)
{
    uintptr_t data = (uintptr_t)data_base - DATA_BEFORE_BYTES, end = data + DATA_BYTES;
    return (address >= data - GUARD_BYTES && address < data) ||
           (address >= end && address < end + GUARD_BYTES);
}

const void *time_data(const void **end)
{
    *end = data_base - DATA_BEFORE_BYTES + DATA_BYTES;
    return data_base - DATA_BEFORE_BYTES;
}

uint32_t time_kernel(const struct core_kernel *kernel, const uint8_t *entry, uint32_t iterations)
{
    uint32_t vec_bits = kernel->vec_bits;
    if (kernel->flags & CORE_RING0)
        return ring0_time(kernel, entry, iterations);
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
    corunner_begin(kernel);
    uint32_t ticks = time_setup(&setup, iterations);
    corunner_end(kernel);
    return ticks;
}
