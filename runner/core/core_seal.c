// SPDX-License-Identifier: MIT
// The wall inside the sandbox. Code in a body shares its address space with the core, so it may do
// whatever the core may, but it must not speak for another kernel. Three measures, none of which
// changes protections for each kernel, see to that:
//
// Memory that never changes after set-up is read-only, by a call that the system-call filter does
// not let through again.
//
// Memory that changes (CORE_KEPT, and the stack above core_sealed) is remembered before bodies run,
// as a SipHash whose key is then wiped. The way back (core_sealed) begins with the one read that
// the filter allows, at an address after which nothing is used that a body could have prepared. It
// brings the key; a difference ends the process. Each key is used once, so what a body found in
// memory earlier is of no use to it. The states of other kernels have tags, whose key comes the
// same way.
//
// The runner believes a record by its token, which comes with the key, changes with each read, and
// is wiped before bodies run. So a body can only forge statements about itself.
#include "core_internal.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    STACK_MOST_BYTES = 64 * 1024, // the core's frames are shallow
    OPENING_STACK_BYTES = 8192,
    THREAD_LEAST = 512, // bytes of libc's thread, if it is not on the heap
    HOLES = 4,
};

extern char __executable_start[], _end[]; // image of the static program
// The linker makes the symbols where there are such sections. The user's are data of the object
// that a snippet in C brings along: its own to write.
extern char __start_core_kept[], __stop_core_kept[], __start_core_open[], __stop_core_open[];
extern char __start_latput_user[] __attribute__((weak)), __stop_latput_user[] __attribute__((weak));
extern char __start_latput_user_bss[] __attribute__((weak)),
    __stop_latput_user_bss[] __attribute__((weak));

static CORE_KEPT bool shut, watching;
static CORE_OPEN uint64_t remembered; // useless without its key
static CORE_OPEN uint64_t watched;
// key of `watched`, where bodies can only forge statements about themselves
static const uint64_t known_key[2];
static CORE_KEPT const char *guard_stack; // from where guard_protect remembers the stack
// The stack on which core_sealed continues after bodies, before it trusts their stack pointer.
extern char core_opening_stack[];
CORE_OPEN _Alignas(64) char core_opening_stack[OPENING_STACK_BYTES];

// Overwrites the stack below the caller's frame. The key of a SipHash can be computed from its last
// state, which a function called before from the same frame may have left there. (core_sealed does
// that after the last call.)
static __attribute__((noinline)) void seal_wipe_stack(void)
{
    enum { WORDS = 256 };
    uint64_t dead[WORDS];
    for (int i = 0; i < WORDS; i++)
        ((volatile uint64_t *)dead)[i] = 0;
}

static __attribute__((noinline)) uint64_t seal_hash(const void *from, size_t bytes, uint64_t number)
{
    struct sip sip = sip_begin(core_secret.tags);
    sip_words(&sip, from, bytes);
    sip_words(&sip, &number, sizeof number);
    return sip_end(&sip, bytes + sizeof number);
}

uint64_t seal_tag(const void *from, size_t bytes, uint64_t number)
{
    uint64_t tag = seal_hash(from, bytes, number);
    seal_wipe_stack();
    return tag;
}

static const char *seal_stack_end(void)
{
    extern char **environ;
    return (const char *)environ;
}

// Returns the SipHash of all kept memory and of the stack above `stack`.
static uint64_t seal_digest(const uint64_t key[2], const char *stack)
{
    size_t kept = (size_t)(__stop_core_kept - __start_core_kept);
    size_t frames = (size_t)(seal_stack_end() - stack);
    struct sip sip = sip_begin(key);
    sip_words(&sip, __start_core_kept, kept / sizeof(uint64_t) * sizeof(uint64_t));
    sip_words(&sip, stack, frames / sizeof(uint64_t) * sizeof(uint64_t));
    return sip_end(&sip, kept + frames);
}

static void seal_wipe(struct core_secret *secret)
{
    for (size_t i = 0; i < sizeof *secret / sizeof(uint64_t); i++)
        ((volatile uint64_t *)secret)[i] = 0;
}

void seal_take(struct core_secret *first)
{
    for (size_t i = 0; i < sizeof *first / sizeof(uint64_t); i++)
        ((uint64_t *)&core_secret)[i] = ((uint64_t *)first)[i];
    seal_wipe(first);
}

void seal_watch(bool on)
{
    watching = on;
}

bool seal_shut(void)
{
    return shut;
}

void seal_broken(int status)
{
    core_call(SYS_exit_group, status, 0, 0, 0);
    __builtin_trap();
}

void seal_remember(void)
{
    const char *stack = (const char *)(uintptr_t)core_seal_sp;
    shut = true;
    if (watching)
        guard_protect(stack);
    remembered = seal_digest(core_secret.after, stack);
    seal_wipe(&core_secret);
}

void seal_verify(long got)
{
    const char *stack = (const char *)(uintptr_t)core_seal_sp, *end = seal_stack_end();
    if (got != (long)sizeof core_secret || stack >= end || end - stack > STACK_MOST_BYTES ||
        core_seal_sp % sizeof(long) || seal_digest(core_secret.before, stack) != remembered)
        seal_broken(CORE_EXIT_DAMAGED);
    shut = false;
    core_state.in_kernel = STATE_OUTSIDE;
}

void guard_protect(const void *stack_from)
{
    if (stack_from)
        guard_stack = (const char *)((uintptr_t)stack_from & ~(uintptr_t)(sizeof(uint64_t) - 1));
    watched = seal_digest(known_key, guard_stack);
}

bool guard_intact(void)
{
    if (shut && !watching) // it is found out when the seal is opened
        return true;
    return watched == seal_digest(known_key, guard_stack);
}

// Returns the begin of the program's writable part, and the length of the part that libc copies for
// each thread.
static char *seal_find_image(size_t *thread_bytes)
{
    const ElfW(Phdr) *header = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    size_t n = getauxval(AT_PHNUM);
    char *from = NULL;
    for (size_t i = 0; header && i < n; i++) {
        if (header[i].p_type == PT_LOAD && header[i].p_flags & PF_W && !from)
            from = (char *)(uintptr_t)header[i].p_vaddr;
        if (header[i].p_type == PT_TLS)
            *thread_bytes = header[i].p_memsz + header[i].p_align;
    }
    if (!from)
        send_fatal("the program has no headers");
    return from;
}

// Protects the whole pages between two addresses, without those that something else shares.
static void seal_protect(const char *from, const char *to, bool constant)
{
    uintptr_t first = ((uintptr_t)from + CORE_PAGE - 1) / CORE_PAGE * CORE_PAGE;
    uintptr_t last = (uintptr_t)to / CORE_PAGE * CORE_PAGE;
    int protection = constant ? PROT_READ : PROT_READ | PROT_WRITE;
    if (first < last && mprotect((void *)first, last - first, protection) != 0)
        send_fatal("cannot make the core's memory read-only");
}

// The heap of a static program holds libc's data of its thread, such as the locale.
static void seal_protect_thread(size_t before_bytes, bool constant)
{
    const char *thread, *heap_end = sbrk(0);
#ifdef __x86_64__
    __asm__("mov %%fs:0, %0" : "=r"(thread));
#else
    __asm__("mov %%gs:0, %0" : "=r"(thread));
#endif
    bool on_heap = thread > _end && thread < heap_end;
    const char *from = thread - before_bytes, *to = on_heap ? heap_end : thread + THREAD_LEAST;
    seal_protect(from - (uintptr_t)from % CORE_PAGE, to + CORE_PAGE - 1, constant);
}

void seal_make_constant(bool thread, bool constant)
{
    // Wherever the linker has put them.
    struct {
        const char *from, *to;
    } holes[HOLES] = {
        {__start_core_kept,       __stop_core_kept      },
        {__start_core_open,       __stop_core_open      },
        {__start_latput_user,     __stop_latput_user    },
        {__start_latput_user_bss, __stop_latput_user_bss},
    };
    size_t thread_bytes = 0;
    const char *from = seal_find_image(&thread_bytes);
    if ((uintptr_t)__start_core_kept % CORE_PAGE || (uintptr_t)__start_core_open % CORE_PAGE)
        send_fatal("the core is linked wrongly: what it keeps shares its pages");
    for (;;) {
        int next = -1;
        for (int i = 0; i < HOLES; i++)
            if (holes[i].from && holes[i].to > from &&
                (next < 0 || holes[i].from < holes[next].from))
                next = i;
        seal_protect(from, next < 0 ? _end : holes[next].from, constant);
        if (next < 0)
            break;
        from = holes[next].to;
    }
    if (thread)
        seal_protect_thread(thread_bytes, constant);
}
