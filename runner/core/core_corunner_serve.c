// SPDX-License-Identifier: MIT
// The processes of corunners (core_corunner.c): one for each CPU, split off before the system-call
// filter is loaded, with data and code of its own but for the areas that are shared. Who is idle
// spins with `pause`, which leaves the core to an SMT sibling, and sleeps when it is not called for
// a while.
#include "core_internal.h"

#include <emmintrin.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { ALERT_US = 3000 }; // a corunner without a call for so long sleeps

static struct corunners *corunners; // NULL: there is none
static double ticks_per_ns;
static int member; // number of this process

static void corunner_pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        send_fatal("cannot run on CPU %d: %s", cpu, strerror(errno));
}

int corunner_split(const struct core_config *config, const int32_t *cpus)
{
    ticks_per_ns = config->tsc_hz / 1e9;
    if (!config->ncorunners)
        return -1;
    corunners = corunner_map(config);
    if (!corunners)
        send_fatal("the address range for corunners is taken");
    pid_t parent = getpid();
    for (uint32_t i = 0; i < config->ncorunners; i++) {
        pid_t child = fork();
        if (child < 0)
            send_fatal("cannot make a process for CPU %d: %s", cpus[i], strerror(errno));
        if (child)
            continue;
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
            _exit(1);
        corunner_pin(cpus[i]);
        area_leave_shared();
        return member = (int)i;
    }
    return -1;
}

void corunner_prepare(struct kernel_run *run)
{
    const struct core_kernel *of = run->kernel;
    run->corunner = (struct core_kernel){.body = of->corunner,
                                         .body_bytes = of->corunner_bytes,
                                         .init = of->corunner_init,
                                         .init_bytes = of->corunner_init_bytes,
                                         .flags = CORE_UNROLLED | (of->flags & CORE_CLEAR_UPPER),
                                         .vec_bits = of->vec_bits,
                                         .vec_fill = of->vec_fill,
                                         .mem_fill = of->mem_fill,
                                         .gpr_fill = of->gpr_fill,
                                         .mask_fill = of->mask_fill};
}

// Waits to be called; `turn` is the last call that was heard.
static uint32_t corunner_wait(uint32_t turn)
{
    uint64_t alert = time_now() + (uint64_t)(ALERT_US * 1e3 * ticks_per_ns);
    uint32_t now;
    while ((now = __atomic_load_n(&corunners->turn, __ATOMIC_ACQUIRE)) == turn)
        if (time_now() < alert)
            _mm_pause();
        else
            guard_sleep_ms(1);
    return now;
}

void corunner_serve(struct kernel_run *runs, uint32_t n)
{
    const struct kernel_run *filled = NULL;
    for (uint32_t turn = 0;;) {
        turn = corunner_wait(turn);
        uint32_t called = corunners->kernel;
        if ((uint32_t)member < corunners->from || (uint32_t)member >= corunners->to)
            continue;
        struct kernel_run *run = NULL;
        for (uint32_t i = 0; i < n && !run; i++)
            run = runs[i].kernel->id == called ? &runs[i] : NULL;
        if (!run)
            continue;
        if (filled != run) {
            time_fill_data(run->kernel);
            area_fill(run->kernel, true);
        }
        filled = run;
        __atomic_add_fetch(&corunners->running, 1, __ATOMIC_ACQ_REL);
        time_kernel(&run->corunner, run->corunner_code.variants[0].entry, 1);
        struct guard_fault fault = guard_take_fault();
        if (fault.signal)
            corunners->fault = fault;
        while (__atomic_load_n(&corunners->going, __ATOMIC_ACQUIRE))
            _mm_pause();
        __atomic_sub_fetch(&corunners->running, 1, __ATOMIC_ACQ_REL);
    }
}
