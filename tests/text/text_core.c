// SPDX-License-Identifier: MIT
// A core made of text: the measuring process without a CPU. It is the core's own code, linked with
// stand-ins for the layer below it (-Wl,--wrap): entering a kernel, the clock, sleeping, the walls
// around bodies, and sending. Kernels take the script's time, on a clock of their own that this
// time advances; so gate, passes, states and protocol are those of the real core. `core_text
// PROGRAM` reads the kernels from a program as the runner builds it, and the script from
// $LATPUT_MACHINE/core.text.
#include "core/core_internal.h"
#include "text_body.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    // Addresses of the batch's symbols, as the linker is told (Makefile), with room for each.
    KERNELS_AT = 0x40000000,
    COUNT_AT = 0x47fffff8,
    CODE_AT = 0x48000000,
    AREAS_BYTES = 0x08000000,
    COUNT_BYTES = 8,
    VARIANTS_BITS = 17,
    NOW_TSC = 40,        // time for reading the clock
    SLACK_NS = 20000000, // so much sooner may be sent what takes so long
};

extern const char __executable_start[], _end[]; // of this program

static struct text_script script;
static const struct core_config *config;
static const double FIRST_TSC = 1e9;
static double tsc = FIRST_TSC; // now
static int bits;
static uint64_t drawn = 88172645463325252;
static bool inside, damaged, touched, undisturbed;
static long records;
static double claimed_tsc;
static bool loud; // something disturbs this process all the time
static struct timespec born;

// Variants of kernels by their entries.
struct variant {
    const uint8_t *entry, *end;
    uint32_t copies;
    const struct text_body *body;
};
static struct variant variants[1 << VARIANTS_BITS]; // in the order of entries
static struct text_body bodies[1 << VARIANTS_BITS];
static size_t nvariants, nbodies;

// The C library's heap would lie at random where the core maps its areas, so its few allocations
// come from here.
#pragma GCC visibility push(default)
void *malloc(size_t bytes)
{
    static _Alignas(16) char heap[1 << 20];
    static size_t used;
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > sizeof heap - used)
        return NULL;
    used += bytes;
    return heap + used - bytes;
}

void *calloc(size_t n, size_t bytes)
{
    return malloc(n * bytes); // never given back, so zero
}

void *realloc(void *old, size_t bytes)
{
    char *again = malloc(bytes);
    for (size_t i = 0; again && old && i < bytes; i++)
        again[i] = ((char *)old)[i];
    return again;
}

void free(void *bytes)
{
    (void)bytes;
}
#pragma GCC visibility pop

static void text_fail(const char *text)
{
    send_fatal("%s", text);
}

static double text_random(void)
{
    drawn ^= drawn << 13;
    drawn ^= drawn >> 7;
    drawn ^= drawn << 17;
    return (double)(drawn >> 11) * 0x1p-53;
}

// The program's segments where it wants them, and its table of kernels where we expect ours.
static void *text_map(uintptr_t at, size_t bytes)
{
    void *map = mmap((void *)at, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
    if (map != (void *)at)
        send_fatal("the core made of text cannot map %zu bytes", bytes);
    return map;
}

static void text_segment(const char *file, size_t bytes, uint64_t offset, uint64_t at,
                         uint64_t in_file, uint64_t in_memory)
{
    uint64_t from = at & ~(uint64_t)4095, to = (at + in_memory + 4095) & ~(uint64_t)4095;
    static uint64_t mapped; // segments ascend, and may share a page
    from = from < mapped ? mapped : from;
    if (to > from)
        text_map(from, to - from);
    mapped = to > mapped ? to : mapped;
    if (offset + in_file > bytes)
        send_fatal("the program of kernels is cut short");
    memcpy((void *)(uintptr_t)at, file + offset, in_file);
}

// A symbol's bytes, to the end of its section, at the address where the core expects them.
static void text_copy(uintptr_t to, uint64_t from, uint64_t bytes)
{
    if (bytes > AREAS_BYTES - COUNT_BYTES)
        send_fatal("the program of kernels is larger than a core made of text holds");
    memcpy((void *)to, (const void *)(uintptr_t)from, bytes);
}

static void text_symbol(const char *name, uint64_t value, uint64_t end)
{
    if (strcmp(name, "latput_kernel_count") == 0)
        text_copy(COUNT_AT, value, sizeof latput_kernel_count);
    else if (strcmp(name, "latput_kernels") == 0)
        text_copy(KERNELS_AT, value, end - value);
    else if (strcmp(name, "latput_code") == 0)
        text_copy(CODE_AT, value, end - value);
}

// Both classes of ELF, by the names that their structures share.
#define TEXT_LOAD(CLASS)                                                                           \
    static void text_load_##CLASS(const char *file, size_t bytes)                                  \
    {                                                                                              \
        const Elf##CLASS##_Ehdr *head = (const void *)file;                                        \
        const Elf##CLASS##_Phdr *segments = (const void *)(file + head->e_phoff);                  \
        const Elf##CLASS##_Shdr *sections = (const void *)(file + head->e_shoff);                  \
        for (int i = 0; i < head->e_phnum; i++)                                                    \
            if (segments[i].p_type == PT_LOAD)                                                     \
                text_segment(file, bytes, segments[i].p_offset, segments[i].p_vaddr,               \
                             segments[i].p_filesz, segments[i].p_memsz);                           \
        for (int i = 0; i < head->e_shnum; i++) {                                                  \
            const Elf##CLASS##_Shdr *table = &sections[i];                                         \
            const char *names = file + sections[table->sh_link].sh_offset;                         \
            if (table->sh_type != SHT_SYMTAB)                                                      \
                continue;                                                                          \
            for (size_t s = 0; s < table->sh_size / sizeof(Elf##CLASS##_Sym); s++) {               \
                const Elf##CLASS##_Sym *symbol =                                                   \
                    (const Elf##CLASS##_Sym *)(const void *)(file + table->sh_offset) + s;         \
                if (symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < head->e_shnum)             \
                    text_symbol(names + symbol->st_name, symbol->st_value,                         \
                                (uint64_t)sections[symbol->st_shndx].sh_addr +                     \
                                    sections[symbol->st_shndx].sh_size);                           \
            }                                                                                      \
        }                                                                                          \
    }
TEXT_LOAD(64)
TEXT_LOAD(32)

static char *text_read(const char *path, size_t *bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    off_t end = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
    if (end <= (off_t)sizeof(Elf64_Ehdr))
        send_fatal("the program of kernels cannot be read: %s", strerror(errno));
    *bytes = (size_t)end;
    void *file = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (file == MAP_FAILED)
        send_fatal("the program of kernels cannot be mapped");
    close(fd);
    return file;
}

__attribute__((constructor)) static void text_begin(int argc, char **argv)
{
    const char *machine = getenv("LATPUT_MACHINE");
    char path[4096];
    size_t bytes;
    clock_gettime(CLOCK_MONOTONIC, &born);
    if (argc != 2 || !machine)
        send_fatal("the core made of text wants a program, and a script in LATPUT_MACHINE");
    snprintf(path, sizeof path, "%s/core.text", machine);
    text_script_read(path, &script, text_fail);
    text_map(KERNELS_AT, AREAS_BYTES);
    text_map(CODE_AT, AREAS_BYTES);
    char *file = text_read(argv[1], &bytes);
    bits = file[EI_CLASS] == ELFCLASS32 ? 32 : 64;
    (bits == 32 ? text_load_32 : text_load_64)(file, bytes);
    munmap(file, bytes);
}

static bool text_first(int line);

// Takes the script of this CPU, if it has one of its own.
static void text_script_of_cpu(int cpu)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/core.%d.text", getenv("LATPUT_MACHINE"), cpu);
    if (access(path, R_OK) == 0)
        text_script_read(path, &script, text_fail);
}

// The functions below are linked in place of the core's functions of these names.
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-declarations"

void __real_run_setup(const struct core_config *wanted, const struct times *found);
void __wrap_run_setup(const struct core_config *wanted, const struct times *found)
{
    config = wanted;
    text_script_of_cpu(wanted->cpu);
    for (int i = 0; i < script.loud_processes && !loud && wanted->mode == CORE_MODE_MEASURE &&
                    (int)wanted->nselected >= script.loud_kernels;
         i++)
        loud = text_first(1000 * script.loud_line + i);
    __real_run_setup(wanted, found);
}

uint64_t __wrap_time_now(void)
{
    tsc += NOW_TSC;
    return (uint64_t)tsc;
}

// It computes nothing on the CPU that it stands for, and need not be there.
int32_t __wrap_time_cpu(void)
{
    return config->cpu;
}

int __wrap_sched_setaffinity(pid_t pid, size_t bytes, const void *cpus)
{
    (void)pid, (void)bytes, (void)cpus;
    return 0;
}

void __wrap_guard_sleep_ms(uint32_t ms)
{
    tsc += ms * config->tsc_hz / 1000;
}

// Returns the time of a load in a chase through large data: that of the first level of memory that
// holds all of it.
static double text_load_clk(const struct core_kernel *kernel)
{
    const struct core_fill *fills = (const void *)(uintptr_t)kernel->fills;
    double bytes = 0;
    for (uint32_t i = 0; i < kernel->nfills; i++)
        if (fills[i].kind != CORE_FILL_ZERO && fills[i].kind != CORE_FILL_RANDOM)
            bytes = fmax(bytes, (double)fills[i].bytes);
    for (int i = 0; bytes > 0 && i < script.nlevels; i++)
        if (bytes <= script.levels[i].bytes || i + 1 == script.nlevels)
            return script.levels[i].clk;
    return script.load_clk;
}

static void text_remember(const struct code *code, const struct text_body *body)
{
    if (nvariants + VARIANTS_MAX > (size_t)1 << VARIANTS_BITS)
        send_fatal("more kernels than a core made of text holds");
    for (int i = 0; i < code->nvariants; i++)
        variants[nvariants++] = (struct variant){code->variants[i].entry, code->variants[i].end,
                                                 code->variants[i].copies, body};
}

struct code __real_code_add(const struct core_kernel *kernel, struct code_options options);
struct code __wrap_code_add(const struct core_kernel *kernel, struct code_options options)
{
    struct code code = __real_code_add(kernel, options);
    struct text_body *body = &bodies[nbodies++];
    const uint8_t *bytes = code_of(kernel, kernel->body);
    // The clock's own kernels are those of a 64-bit core.
    bool own = bytes >= (const uint8_t *)__executable_start && bytes < (const uint8_t *)_end;
    text_body_read(&script, bytes, kernel->body_bytes, own ? 64 : bits, text_load_clk(kernel),
                   body);
    text_remember(&code, body);
    return code;
}

static const struct variant *text_variant(uint64_t entry)
{
    size_t from = 0, to = nvariants;
    while (to - from > 1) {
        size_t middle = (from + to) / 2;
        if ((uint64_t)(uintptr_t)variants[middle].entry <= entry)
            from = middle;
        else
            to = middle;
    }
    return &variants[from];
}

// The file that says that a fault has come once, beside the script.
static bool text_first(int line)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/once.%d", getenv("LATPUT_MACHINE"), line);
    int fd = open(path, O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

// Executes a fault. Returns true if the body continues.
static bool text_suffer(const struct text_fault *fault)
{
    if (fault->once && !text_first(fault->line))
        return true;
    switch (fault->kind) {
    case TEXT_SIGNAL:
        guard_last = (struct guard_fault){fault->value, 1, 0, false};
        return false;
    case TEXT_EXIT:
        _exit(fault->value);
    case TEXT_KILL:
        kill(getpid(), SIGKILL);
        return false;
    case TEXT_STOP:
        kill(getpid(), SIGSTOP);
        return true;
    case TEXT_HANG:
        // Both count: what comes once computes, the others sleep.
        for (volatile bool computes = fault->once; true;)
            if (!computes)
                pause();
    case TEXT_WRITE:
        damaged = true;
        return true;
    }
    return true;
}

// From the least frequency to the most and back.
static double text_hz(double ms)
{
    if (!(script.drift_ms > 0))
        return script.least_hz;
    double phase = fmod(ms / script.drift_ms, 2);
    if (script.jumps)
        return phase < 1 ? script.least_hz : script.most_hz;
    return script.least_hz + (script.most_hz - script.least_hz) * (phase > 1 ? 2 - phase : phase);
}

// Returns true if the process measures several kernels, and has not for so long that the state has
// passed.
static bool text_early(const struct text_state *state)
{
    static bool asked[TEXT_LINES], first[TEXT_LINES];
    const long i = state - script.states;
    if (config->mode != CORE_MODE_MEASURE || config->nselected < 2)
        return false;
    if (!asked[i])
        first[i] = !state->once || text_first(state->line);
    asked[i] = true;
    return first[i] && tsc - FIRST_TSC < state->early_ms * config->tsc_hz / 1000;
}

// Returns true if the body, in so many copies, has the state.
static bool text_holds(const struct text_state *state, const struct variant *variant)
{
    enum { LOOP = 300 }; // usual loops have 384 instructions at least
    switch (state->when) {
    case TEXT_REGISTERS:
        return variant->body->high_registers;
    case TEXT_FILLERS:
        return variant->body->long_nops;
    case TEXT_COPIES:
        return variant->body->instructions * (int)variant->copies < LOOP;
    case TEXT_HIGH:
        return variant->body->upper_registers;
    case TEXT_EARLY:
        return text_early(state);
    default:
        return true;
    }
}

static double text_work_clk(const struct variant *variant, uint32_t iterations, double ms)
{
    bool busy = loud || (script.every_ms > 0 && ms >= script.busy_from_ms &&
                         fmod(ms - script.busy_from_ms, script.every_ms) < script.busy_ms);
    const struct text_state *state = variant->body->state;
    double clk = text_body_clk(&script, variant->body, variant->copies, busy ? 0.5 : 1);
    bool chain = clk <= variant->body->chain_clk * variant->copies;
    clk *= iterations * (1 + script.noise * text_random());
    clk += chain ? 0 : script.fill_clk;
    bool held = state && text_holds(state, variant) && text_random() < state->share;
    if (held && state->when == TEXT_WILD)
        return clk * (1 + (state->factor - 1) * text_random());
    return held ? clk * state->factor : clk;
}

// Returns what a timing takes longer since the code of the one before has pushed out its own.
static double text_evicted_clk(const struct variant *variant)
{
    static bool evicted;
    bool evicts = script.evicting_bytes > 0 &&
                  (double)(variant->end - variant->entry) > script.evicting_bytes;
    double clk = evicted && !evicts ? script.evicted_clk : 0;
    evicted = evicts;
    return clk;
}

void __wrap_core_enter(const struct core_setup *setup)
{
    const struct variant *variant = text_variant(setup->code);
    const bool off = undisturbed;
    undisturbed = false;
    core_state.begin_rsp = core_state.end_rsp = setup->stack;
    core_state.tsc_begin = core_state.tsc_end = (uint64_t)tsc;
    if (variant->body->lacking)
        guard_last = (struct guard_fault){SIGILL, 1, 0, false};
    if (variant->body->lacking || (variant->body->fault && !text_suffer(variant->body->fault)))
        return;
    double ms = tsc / config->tsc_hz * 1000;
    bool touches = variant->body->accesses && !touched;
    touched |= touches;
    double clk = script.overhead_clk + text_work_clk(variant, core_state.iterations, ms) +
                 text_evicted_clk(variant) + (touches ? script.touch_clk : 0);
    double end = tsc + clk * config->tsc_hz / text_hz(ms);
    double period_tsc = script.interrupt_ms * config->tsc_hz / 1000;
    double late = period_tsc > 0 && floor(end / period_tsc) > floor(tsc / period_tsc)
                      ? script.interrupt_us * config->tsc_hz / 1e6
                      : 0;
    tsc = end + late; // which comes after the timing while interrupts are off
    core_state.tsc_end = (uint64_t)(off ? end : tsc);
    for (int i = 0; i < CORE_TIMED_MAX; i++) {
        core_state.count_begin[i] = core_state.tsc_begin;
        core_state.count_end[i] = core_state.tsc_end;
    }
}

void __wrap_interrupts_off(void)
{
    undisturbed = config->interrupts_off;
}

// The walls protect from bodies, which are not executed here.
void __wrap_core_sealed(void (*work)(void))
{
    inside = true;
    damaged = false;
    work();
    inside = false;
    if (damaged && !guard_last.signal)
        seal_broken(CORE_EXIT_DAMAGED);
}

bool __wrap_seal_shut(void)
{
    return inside;
}

bool __wrap_guard_intact(void)
{
    return !damaged;
}

void __wrap_guard_setup(uint32_t permits)
{
    (void)permits;
}

void __wrap_guard_protect(const void *stack_from)
{
    (void)stack_from;
}

void __wrap_guard_drop_privileges(const struct core_config *wanted, uint32_t permits,
                                  const struct filter_call *calls, int ncalls)
{
    (void)wanted;
    (void)permits;
    (void)calls;
    (void)ncalls;
}

void __wrap_own_remember(void)
{
}

void __wrap_own_restore(void)
{
}

int __wrap_corunner_split(const struct core_config *wanted, const int32_t *cpus)
{
    (void)cpus;
    if (wanted->ncorunners || wanted->threads > 1)
        send_fatal("a core made of text is alone: it has no second thread");
    return -1;
}

static void text_sleep(double ns)
{
    struct timespec left = {(time_t)(ns / 1e9), (long)fmod(ns, 1e9)};
    if (ns > 0)
        nanosleep(&left, NULL);
}

// Waits, since the runner does not believe that more was timed than there was time for.
static void text_wait(const struct core_record *record)
{
    text_sleep(script.pace_ms * 1e6);
    struct timespec now;
    if (record->type != CORE_REC_TIMING || record->timing.outcome != OUTCOME_OK)
        return;
    for (uint32_t i = 0; i < record->timing.accepted; i++)
        claimed_tsc += record->timing.samples[i].kernel_tsc + record->timing.samples[i].after_tsc;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double passed_ns =
        (double)(now.tv_sec - born.tv_sec) * 1e9 + (double)(now.tv_nsec - born.tv_nsec);
    text_sleep(claimed_tsc / config->tsc_hz * 1e9 - SLACK_NS - passed_ns);
}

static void text_write(const void *bytes, size_t n)
{
    if (write(CORE_RECORD_FD, bytes, n) != (ssize_t)n)
        _exit(113);
}

// Executes what the script says about a record that is about to be sent.
static void text_befall(enum text_record_kind kind, struct core_record *record)
{
    switch (kind) {
    case TEXT_HALF:
        text_write(record, sizeof *record / 2);
        _exit(0);
    case TEXT_SILENT:
        _exit(0);
    case TEXT_TWICE:
        text_write(record, sizeof *record);
        break;
    case TEXT_UNKNOWN:
        record->type = UINT32_MAX;
        break;
    case TEXT_FOREIGN:
        record->type = CORE_REC_BEGIN;
        record->kernel = UINT32_MAX;
        break;
    }
}

void __wrap_send_record(const struct core_record *record)
{
    struct core_record sent = *record;
    send_sign(&sent);
    text_wait(record);
    records += config && config->mode == CORE_MODE_MEASURE && config->nselected > 1;
    for (int i = 0; i < script.nrecords; i++)
        if (script.records[i].number == records &&
            (!script.records[i].once || text_first(script.records[i].line)))
            text_befall(script.records[i].kind, &sent);
    touched = false;
    text_write(&sent, sizeof sent);
}
