// SPDX-License-Identifier: MIT
// Builds kernels: init, start stub, a loop over copies of the body, stop stub. The mapping is
// writable while it is built and executable afterwards, never both. Each kernel exists in up to
// three unrollings, because how long a body takes is only known once it has run, and by then code
// can no longer be written.
#include "core_internal.h"

#include <string.h>
#include <sys/mman.h>

enum {
    LOOP_ALIGN = 64,
    // A loop pays for its own µop and its branch: 384 instructions make that 0.26 % at the worst.
    // More than about 6 KB would leave the µop cache.
    LOOP_INSTRS = 384,
    LOOP_BYTES_MAX = 5632,
    JNZ_BYTES = 6,
    VARIANT_STEP = 8, // each unrolling has an eighth of the copies of the one before
};

static uint8_t *code_base, *code_at, *code_limit;
static const struct core_counter *code_counters;
static uint32_t code_ncounters;

void code_count(const struct core_counter *counters, uint32_t n)
{
    code_counters = counters;
    code_ncounters = n;
}

void code_begin(size_t bytes)
{
    bytes = (bytes + 4095) & ~(size_t)4095;
    // All of it is written: the system gives it at once, which takes half the time of page by page.
    code_base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (code_base == MAP_FAILED)
        send_fatal("cannot map %zu bytes for code", bytes);
    code_at = code_base;
    code_limit = code_base + bytes;
}

static uint32_t code_copies(const struct core_kernel *kernel, struct code_options options)
{
    if (options.copies)
        return options.copies;
    if (kernel->copies)
        return kernel->copies;
    if (kernel->flags & CORE_UNROLLED || kernel->body_bytes == 0)
        return 1;
    uint32_t instrs = kernel->instrs ? kernel->instrs : 1;
    uint32_t copies = (LOOP_INSTRS + instrs - 1) / instrs;
    uint32_t most = LOOP_BYTES_MAX / kernel->body_bytes;
    if (copies > most)
        copies = most;
    return copies ? copies : 1;
}

static size_t code_fixed_bytes(const struct core_kernel *kernel)
{
    return kernel->init_bytes + kernel->fini_bytes + kernel->align +
           (size_t)(core_wait_end - core_wait) + (size_t)(core_start_end - core_start) +
           2 * LOOP_ALIGN + (size_t)(core_step_end - core_step) + JNZ_BYTES +
           (size_t)(core_watch_end - core_watch) + (size_t)(core_stop_end - core_stop) +
           (size_t)(core_exit_end - core_exit) + (size_t)(core_spare_end - core_spare) +
           (size_t)(core_count_begin_end - core_count_begin) +
           (size_t)(core_unspare_end - core_unspare) +
           (size_t)(core_count_stop_end - core_count_stop);
}

size_t code_bytes(const struct core_kernel *kernel, struct code_options options)
{
    size_t bytes = 0;
    for (uint32_t copies = code_copies(kernel, options), n = 0; n < VARIANTS_MAX && copies;
         copies /= VARIANT_STEP, n++)
        bytes += code_fixed_bytes(kernel) + (size_t)kernel->body_bytes * copies;
    return bytes + code_fixed_bytes(kernel) + kernel->body_bytes; // the single copy at the end
}

static void code_put(const void *bytes, size_t n)
{
    memcpy(code_at, bytes, n);
    code_at += n;
}

// Finds the part of `stubs` that reads counter `i`.
static void code_put_counter(const uint8_t *stubs, const uint8_t *end, uint32_t i)
{
    size_t bytes = (size_t)(end - stubs) / CORE_TIMED_MAX;
    code_put(stubs + i * bytes, bytes);
}

static void code_put_counters_begin(void)
{
    if (!code_ncounters)
        return;
    code_put(core_spare, (size_t)(core_spare_end - core_spare));
    for (uint32_t i = 0; i < code_ncounters; i++)
        if (code_counters[i].source == CORE_COUNTER_TSC)
            code_put_counter(core_ticks_begin, core_ticks_begin_end, i);
        else
            code_put_counter(core_count_begin, core_count_begin_end, i);
    code_put(core_unspare, (size_t)(core_unspare_end - core_unspare));
}

static void code_put_counters_stop(void)
{
    for (uint32_t i = 0; i < code_ncounters; i++)
        if (code_counters[i].source == CORE_COUNTER_TSC)
            code_put_counter(core_ticks_stop, core_ticks_stop_end, i);
        else
            code_put_counter(core_count_stop, core_count_stop_end, i);
}

const void *code_of(const struct core_kernel *kernel, uint64_t address)
{
    uint64_t base = kernel->flags & CORE_COMPOSED ? (uint64_t)(uintptr_t)latput_code : 0;
    return (const void *)(uintptr_t)(base + address);
}

static void code_align(uint32_t align)
{
    while ((uintptr_t)code_at % align)
        *code_at++ = 0x90; // nop
}

// Returns the offset of the next marked address of a jmpabs, or the body's length; *word: the mark.
static uint32_t code_find_address(const struct core_kernel *kernel, uint32_t at, uint64_t *word)
{
    static const uint8_t jmpabs[] = {0xd5, 0x00, 0xa1};
    const uint8_t *body = code_of(kernel, kernel->body);
    for (at += sizeof jmpabs; at + sizeof *word <= kernel->body_bytes; at++) {
        memcpy(word, body + at, sizeof *word);
        if (*word >> 16 == CORE_ADDRESS_MARK &&
            memcmp(body + at - sizeof jmpabs, jmpabs, sizeof jmpabs) == 0)
            return at;
    }
    return kernel->body_bytes;
}

// Puts copies of the body, with the addresses that it asks for.
static void code_put_bodies(const struct core_kernel *kernel, uint32_t copies)
{
    uint64_t word;
    bool asks = code_find_address(kernel, 0, &word) < kernel->body_bytes;
    for (uint32_t i = 0; i < copies; i++) {
        uint8_t *copy = code_at;
        code_put(code_of(kernel, kernel->body), kernel->body_bytes);
        for (uint32_t at = 0; asks; at += sizeof word) {
            at = code_find_address(kernel, at, &word);
            if (at == kernel->body_bytes)
                break;
            word = (uint64_t)(uintptr_t)(copy + at) + (word & UINT16_MAX);
            memcpy(copy + at, &word, sizeof word);
        }
    }
}

static const uint8_t *code_add_variant(const struct core_kernel *kernel, uint32_t copies,
                                       const struct code_options *options)
{
    if (code_fixed_bytes(kernel) + (size_t)kernel->body_bytes * copies >
        (size_t)(code_limit - code_at))
        send_fatal("the code area is too small");
    code_align(LOOP_ALIGN);
    const uint8_t *entry = code_at;
    code_put(code_of(kernel, kernel->init), kernel->init_bytes);
    if (options->waits)
        code_put(core_wait, (size_t)(core_wait_end - core_wait));
    code_put_counters_begin();
    code_put(core_start, (size_t)(core_start_end - core_start));
    code_align(kernel->align > LOOP_ALIGN ? kernel->align : (uint32_t)LOOP_ALIGN);
    const uint8_t *loop = code_at;
    code_put_bodies(kernel, copies);
    if (options->watches)
        code_put(core_watch, (size_t)(core_watch_end - core_watch));
    else
        code_put(core_step, (size_t)(core_step_end - core_step));
    static const uint8_t jnz[] = {0x0f, 0x85};
    code_put(jnz, sizeof jnz);
    int32_t back = (int32_t)(loop - (code_at + 4));
    code_put(&back, sizeof back);
    code_put(core_stop, (size_t)(core_stop_end - core_stop));
    code_put_counters_stop();
    code_put((const void *)(uintptr_t)kernel->fini, kernel->fini_bytes);
    code_put(core_exit, (size_t)(core_exit_end - core_exit));
    return entry;
}

struct code code_add(const struct core_kernel *kernel, struct code_options options)
{
    struct code code = {.nvariants = 0};
    uint32_t copies = code_copies(kernel, options);
    while (code.nvariants < VARIANTS_MAX) {
        const uint8_t *entry = code_add_variant(kernel, copies, &options);
        code.variants[code.nvariants++] = (struct code_variant){entry, code_at, copies};
        if (copies == 1 || options.copies || kernel->copies)
            break;
        copies =
            code.nvariants == VARIANTS_MAX - 1 || copies < VARIANT_STEP ? 1 : copies / VARIANT_STEP;
    }
    return code;
}

void code_end(void)
{
    if (mprotect(code_base, (size_t)(code_limit - code_base), PROT_READ | PROT_EXEC) != 0)
        send_fatal("cannot make the code executable");
}
