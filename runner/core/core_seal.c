// SPDX-License-Identifier: MIT
// The wall behind the sandbox: code in a body shares its address space with the core, so it may do
// whatever the core may, but it must not speak for another kernel. So all that outlives a kernel
// lies in the sealed memory: the buffer that records are written from, the state of all kernels,
// and a copy of the core's data and stack. While bodies run (core_sealed) nobody can read or write
// there, and the system calls that take their arguments from there do nothing. Only one instruction
// can open it, which the system-call filter knows by its address. Behind it the stack pointer comes
// out of the sealed memory, and what differs from the copy is put right before anything is done.
// So what a body can forge is what is said of itself.
#include "core_internal.h"

#include <emmintrin.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    STACK_COPY_BYTES = 64 * 1024, // the core's frames are shallow
    // Huge pages, where there are any: protecting one page costs less than protecting hundreds.
    SEAL_GRAIN = 2 << 20,
    ALLOC_GRAIN = 64,
    THREAD_BYTES = 4096, // of libc's thread, more than it has
    THREAD_LEAST = 512,  // of it, where it is not on the heap
    HOLES = 4,
    RANGES = HOLES + 3,
};

extern char __executable_start[], _end[]; // of the static program's image

static bool shut;      // compared like all data: it is true whenever a copy is made
static uint32_t used;  // of the sealed memory
static uint32_t limit; // of it, for seal_alloc

// What is guarded, and where the copy lies. In the sealed memory.
struct guarded {
    struct guard_range {
        const char *from;
        size_t bytes;
    } ranges[RANGES];
    int nranges, nfixed; // fixed: without the stack
    char *copy;
    size_t copy_bytes;
};
static struct guarded *guarded;
static struct guarded watched; // the same where it can be read while the memory is shut
static bool watching;

void seal_setup(size_t bytes)
{
    size_t image = (size_t)(_end - __executable_start), copy = image + STACK_COPY_BYTES;
    size_t wanted = sizeof(struct core_seal) + sizeof(struct guarded) + copy + bytes;
    wanted = (wanted + 8 * ALLOC_GRAIN + SEAL_GRAIN - 1) / SEAL_GRAIN * SEAL_GRAIN;
    void *start = (void *)(uintptr_t)core_seal_start;
    if (mmap(start, wanted, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != start)
        send_fatal("the address range for sealed memory is taken");
    madvise(start, wanted, MADV_HUGEPAGE); // old kernels and small systems have none
    limit = core_seal_bytes = (uint32_t)wanted;
    used = (sizeof(struct core_seal) + ALLOC_GRAIN - 1) / ALLOC_GRAIN * ALLOC_GRAIN;
    guarded = seal_alloc(sizeof *guarded);
    guarded->copy = seal_alloc(copy);
    guarded->copy_bytes = copy;
    watched.copy = mmap(NULL, copy, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (watched.copy == MAP_FAILED)
        send_fatal("cannot map %zu bytes", copy);
}

void seal_watch(bool on)
{
    watching = on;
}

void *seal_alloc(size_t bytes)
{
    char *start = (char *)(uintptr_t)core_seal_start + used;
    bytes = (bytes + ALLOC_GRAIN - 1) / ALLOC_GRAIN * ALLOC_GRAIN;
    if (bytes > limit - used)
        send_fatal("the sealed memory is too small");
    used += (uint32_t)bytes;
    return start;
}

bool seal_shut(void)
{
    return shut;
}

static void guard_add_range(const char *from, const char *to)
{
    if (from < to)
        guarded->ranges[guarded->nranges++] = (struct guard_range){from, (size_t)(to - from)};
}

// Data of the object that a snippet in C brings along: its own to write. The linker makes the
// symbols where there are such sections.
extern char __start_latput_user[] __attribute__((weak)), __stop_latput_user[] __attribute__((weak));
extern char __start_latput_user_bss[] __attribute__((weak)),
    __stop_latput_user_bss[] __attribute__((weak));

// What kernels and the handler may write, in the order of addresses.
static int guard_find_holes(struct guard_range holes[HOLES])
{
    const struct guard_range all[HOLES] = {
        {(const char *)&core_state, sizeof core_state                                         },
        {(const char *)&guard_last, sizeof guard_last                                         },
        {__start_latput_user,       (size_t)(__stop_latput_user - __start_latput_user)        },
        {__start_latput_user_bss,   (size_t)(__stop_latput_user_bss - __start_latput_user_bss)},
    };
    int n = 0;
    for (int i = 0; i < HOLES; i++) {
        if (!all[i].from)
            continue;
        int at = n++;
        for (; at > 0 && holes[at - 1].from > all[i].from; at--)
            holes[at] = holes[at - 1];
        holes[at] = all[i];
    }
    return n;
}

// Where the writable part of the program begins, which has addresses of functions in it, and how
// long the part is that libc copies for each thread.
static const char *guard_find_image(size_t *thread_bytes)
{
    const ElfW(Phdr) *header = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    size_t n = getauxval(AT_PHNUM);
    const char *from = NULL;
    for (size_t i = 0; header && i < n; i++) {
        if (header[i].p_type == PT_LOAD && header[i].p_flags & PF_W && !from)
            from = (const char *)(uintptr_t)header[i].p_vaddr;
        if (header[i].p_type == PT_TLS)
            *thread_bytes = header[i].p_memsz + header[i].p_align;
    }
    if (!from)
        send_fatal("the program has no headers");
    return from;
}

// What libc keeps of its thread (its locale, for one) lies on the heap of a static program.
static void guard_add_thread(size_t before_bytes)
{
    const char *thread, *heap_end = sbrk(0);
#ifdef __x86_64__
    __asm__("mov %%fs:0, %0" : "=r"(thread));
#else
    __asm__("mov %%gs:0, %0" : "=r"(thread));
#endif
    bool on_heap = thread > _end && thread < heap_end;
    size_t bytes = on_heap ? (size_t)(heap_end - thread) : THREAD_LEAST;
    guard_add_range(thread - before_bytes, thread + (bytes < THREAD_BYTES ? bytes : THREAD_BYTES));
}

static void guard_find_fixed(bool with_thread)
{
    struct guard_range holes[HOLES];
    size_t thread_bytes = 0;
    int nholes = guard_find_holes(holes);
    const char *from = guard_find_image(&thread_bytes);
    for (int i = 0; i < nholes; i++) {
        guard_add_range(from, holes[i].from < _end ? holes[i].from : _end);
        const char *to = holes[i].from + holes[i].bytes;
        from = to > from ? to : from;
    }
    guard_add_range(from, _end);
    if (with_thread)
        guard_add_thread(thread_bytes);
    guarded->nfixed = guarded->nranges;
}

static void guard_add_stack(const char *stack_from)
{
    extern char **environ;
    guarded->nranges = guarded->nfixed;
    guard_add_range(stack_from, (const char *)environ);
    size_t bytes = 0;
    for (int i = 0; i < guarded->nranges; i++)
        bytes += guarded->ranges[i].bytes + ALLOC_GRAIN;
    if (bytes > guarded->copy_bytes)
        send_fatal("too much data of the core to guard: %zu bytes", bytes);
}

// The copy of the next range: aligned, since copying is what costs.
static char *guard_next_copy(char *copy, size_t bytes)
{
    return copy + (bytes + ALLOC_GRAIN - 1) / ALLOC_GRAIN * ALLOC_GRAIN;
}

static void guard_copy(const struct guarded *of)
{
    char *to = of->copy;
    for (int i = 0; i < of->nranges; i++) {
        memcpy(to, of->ranges[i].from, of->ranges[i].bytes);
        to = guard_next_copy(to, of->ranges[i].bytes);
    }
}

// Not by libc's function, which is called by way of an address in the data that is compared.
static bool guard_same(const char *a, const char *b, size_t bytes)
{
    __m128i differ = _mm_setzero_si128();
    size_t at = 0;
    for (; at + 32 <= bytes; at += 32)
        for (size_t half = at; half < at + 32; half += 16)
            differ = _mm_or_si128(
                differ, _mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)(a + half)),
                                      _mm_loadu_si128((const __m128i *)(const void *)(b + half))));
    bool same = _mm_movemask_epi8(_mm_cmpeq_epi8(differ, _mm_setzero_si128())) == 0xffff;
    for (; at < bytes; at++)
        same &= a[at] == b[at];
    return same;
}

// Some of it is read-only, and never differs.
static void guard_put_back(char *to, const char *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at++)
        if (((volatile char *)to)[at] != from[at])
            ((volatile char *)to)[at] = from[at];
}

bool guard_intact(void)
{
    if (shut && !watching) // it is found out when it is opened
        return true;
    const struct guarded *of = shut ? &watched : guarded;
    const char *copy = of->copy;
    for (int i = 0; i < of->nranges; i++) {
        if (!guard_same(copy, of->ranges[i].from, of->ranges[i].bytes))
            return false;
        copy = guard_next_copy((char *)copy, of->ranges[i].bytes);
    }
    return true;
}

void guard_protect(const void *stack_from)
{
    if (!guarded->nranges) {
        guard_find_fixed(false);
        guard_add_stack(stack_from);
    }
    guard_copy(guarded);
}

void seal_remember(const char *stack_from)
{
    if (!guarded->nfixed)
        guard_find_fixed(true);
    guard_add_stack(stack_from);
    memcpy(watched.ranges, guarded->ranges, sizeof watched.ranges);
    watched.nranges = guarded->nranges;
    shut = true;
    guard_copy(guarded);
    if (watching)
        guard_copy(&watched);
}

bool seal_verify(void)
{
    struct core_seal *seal = (struct core_seal *)(uintptr_t)core_seal_start;
    // The address in `guarded` is not to be relied on before it was compared.
    const struct guarded *own =
        (const struct guarded *)((char *)seal +
                                 (sizeof *seal + ALLOC_GRAIN - 1) / ALLOC_GRAIN * ALLOC_GRAIN);
    const char *copy = own->copy;
    bool intact = true;
    for (int i = 0; i < own->nranges; i++) {
        const struct guard_range *range = &own->ranges[i];
        if (!guard_same(copy, range->from, range->bytes)) {
            guard_put_back((char *)range->from, copy, range->bytes);
            intact = false;
        }
        copy = guard_next_copy((char *)copy, range->bytes);
    }
    shut = false;
    // By returning from a signal that there was not, a body can change these.
    core_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&seal->signal_mask, 0, SEAL_SIGNALS_BYTES);
    core_call(SYS_sigaltstack, (long)&seal->signal_stack, 0, 0, 0);
    core_state.in_kernel = STATE_OUTSIDE;
    return intact;
}
