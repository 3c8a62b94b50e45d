// SPDX-License-Identifier: MIT
// Kernels of ring 0: the kernel module times them (kernel/README.md) in the place of core_enter,
// and all else is as with other kernels. The module knows a kernel by its code, and has none but
// its own; the filter allows one call, which runs such a kernel. The module also allows a process
// to turn interrupts off; that call is made before the filter.
#include "core_internal.h"

#include "kernel/latput_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int device = -1;
static CORE_OPEN struct latput_run request; // the module writes into it while bodies may run

_Static_assert((int)VARIANTS_MAX >= (int)LATPUT_VARIANTS, "the module's are all taken");

static const char *const exceptions[] = {
    [0] = "#DE",  [1] = "#DB",  [3] = "#BP",  [4] = "#OF",  [5] = "#BR",
    [6] = "#UD",  [7] = "#NM",  [10] = "#TS", [11] = "#NP", [12] = "#SS",
    [13] = "#GP", [14] = "#PF", [16] = "#MF", [17] = "#AC", [19] = "#XM"};
enum { VECTORS = sizeof exceptions / sizeof exceptions[0], VECTOR_UD = 6, VECTOR_GP = 13 };

static int ring0_open(void)
{
    int opened = open(LATPUT_DEVICE, O_RDWR | O_CLOEXEC);
    if (opened == -1)
        send_fatal("cannot open %s: %s", LATPUT_DEVICE, strerror(errno));
    return opened;
}

struct code ring0_find(const struct core_kernel *kernel)
{
    struct code code = {.nvariants = 0};
    struct latput_find find = {
        .init = (uint64_t)(uintptr_t)code_of(kernel, kernel->init),
        .body = (uint64_t)(uintptr_t)code_of(kernel, kernel->body),
        .init_bytes = kernel->init_bytes,
        .body_bytes = kernel->body_bytes,
    };
    if (device == -1)
        device = ring0_open();
    if (ioctl(device, LATPUT_FIND, &find) != 0)
        return code;
    for (uint32_t i = 0; i < LATPUT_VARIANTS; i++) {
        const uint8_t *name = (const uint8_t *)(uintptr_t)(find.number * LATPUT_VARIANTS + i);
        code.variants[code.nvariants++] = (struct code_variant){name, name, find.copies[i]};
    }
    return code;
}

void ring0_allow_interrupts(void)
{
    const uint32_t allowed = 1;
    int opened = ring0_open();
    if (ioctl(opened, LATPUT_INTERRUPTS, &allowed) != 0)
        send_fatal("the kernel module does not allow interrupts to be off: %s", strerror(errno));
    close(opened);
    // Newer versions of Linux take a fault for want of a page for an error while they are off.
    if (mlockall(MCL_CURRENT) != 0)
        send_fatal("cannot keep the core's memory in place: %s", strerror(errno));
    core_turns_off = true;
}

int ring0_filter_call(struct filter_call *call)
{
    if (device == -1)
        return 0;
    *call = (struct filter_call){
        SYS_ioctl, 3, {(uintptr_t)device, LATPUT_RUN, (uintptr_t)&request},
          0
    };
    return 1;
}

// A run that the module refuses is one that would take too long.
static void ring0_note_fault(long status)
{
    if (status != 0)
        guard_last = (struct guard_fault){SIGXCPU, 0, 0, false};
    else if (request.faulted)
        guard_last = (struct guard_fault){SIGSEGV, (int)request.vector, 0, false};
}

uint32_t ring0_time(const struct core_kernel *kernel, const uint8_t *name, uint32_t iterations)
{
    uint32_t number = (uint32_t)(uintptr_t)name;
    request = (struct latput_run){.number = number / LATPUT_VARIANTS,
                                  .variant = number % LATPUT_VARIANTS,
                                  .iterations = iterations,
                                  .gpr_fill = kernel->gpr_fill,
                                  .mem_fill = kernel->mem_fill};
    long status = core_call(SYS_ioctl, device, (long)LATPUT_RUN, (long)&request, 0);
    core_state.tsc_begin = request.tsc_begin;
    core_state.tsc_end = request.tsc_end;
    core_state.begin_rsp = 0;
    core_state.end_rsp = request.faulted ? 0 : (uint64_t)request.stack_moved;
    ring0_note_fault(status);
    uint64_t ticks = request.tsc_end - request.tsc_begin;
    return status != 0 || ticks > UINT32_MAX ? UINT32_MAX : (uint32_t)ticks;
}

bool ring0_takes_too_long(void)
{
    if (guard_last.signal != SIGXCPU)
        return false;
    guard_last = (struct guard_fault){0};
    return true;
}

enum outcome ring0_outcome(const struct core_kernel *kernel, const struct guard_fault *fault,
                           char text[CORE_TEXT_MAX])
{
    if (fault->signal == SIGXCPU) {
        snprintf(text, CORE_TEXT_MAX,
                 "would keep interrupts off for longer than the kernel module allows");
        return OUTCOME_NOT_MEASURABLE;
    }
    const char *name = fault->code >= 0 && fault->code < VECTORS ? exceptions[fault->code] : NULL;
    bool refused =
        fault->code == VECTOR_UD || (fault->code == VECTOR_GP && kernel->flags & CORE_PERMISSION);
    snprintf(text, CORE_TEXT_MAX, "%s in ring 0%s", name ? name : "an exception",
             !refused                   ? ""
             : fault->code == VECTOR_UD ? ": the CPU refuses the instruction"
                                        : ": the CPU, or the hypervisor, refuses it");
    return refused ? OUTCOME_UNSUPPORTED : OUTCOME_SIGNALLED;
}
