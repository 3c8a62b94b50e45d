// SPDX-License-Identifier: MIT
// The processes of company (core_company.c): one for each CPU, split off before the system-call
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

enum { ALERT_US = 3000 }; // who was not called for so long sleeps

static struct company *company; // NULL: there is none
static double ticks_per_ns;
static int member; // of this process

static void company_pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        send_fatal("cannot run on CPU %d: %s", cpu, strerror(errno));
}

int company_split(const struct core_config *config, const int32_t *cpus)
{
    ticks_per_ns = config->tsc_hz / 1e9;
    if (!config->ncompany)
        return -1;
    company = company_map(config);
    if (!company)
        send_fatal("the address range for company is taken");
    pid_t parent = getpid();
    for (uint32_t i = 0; i < config->ncompany; i++) {
        pid_t child = fork();
        if (child < 0)
            send_fatal("cannot make a process for CPU %d: %s", cpus[i], strerror(errno));
        if (child)
            continue;
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
            _exit(1);
        company_pin(cpus[i]);
        area_leave_shared();
        return member = (int)i;
    }
    return -1;
}

void company_prepare(struct kernel_run *run)
{
    const struct core_kernel *of = run->kernel;
    run->company = (struct core_kernel){.body = of->company,
                                        .body_bytes = of->company_bytes,
                                        .init = of->company_init,
                                        .init_bytes = of->company_init_bytes,
                                        .flags = CORE_UNROLLED | (of->flags & CORE_CLEAR_UPPER),
                                        .vec_bits = of->vec_bits,
                                        .vec_fill = of->vec_fill,
                                        .mem_fill = of->mem_fill,
                                        .gpr_fill = of->gpr_fill,
                                        .mask_fill = of->mask_fill};
}

// Waits to be called; `turn` is the last call that was heard.
static uint32_t company_wait(uint32_t turn)
{
    uint64_t alert = time_now() + (uint64_t)(ALERT_US * 1e3 * ticks_per_ns);
    uint32_t now;
    while ((now = __atomic_load_n(&company->turn, __ATOMIC_ACQUIRE)) == turn)
        if (time_now() < alert)
            _mm_pause();
        else
            guard_sleep_ms(1);
    return now;
}

void company_serve(struct kernel_run *runs, uint32_t n)
{
    const struct kernel_run *filled = NULL;
    for (uint32_t turn = 0;;) {
        turn = company_wait(turn);
        uint32_t called = company->kernel;
        if ((uint32_t)member < company->from || (uint32_t)member >= company->to)
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
        __atomic_add_fetch(&company->running, 1, __ATOMIC_ACQ_REL);
        time_kernel(&run->company, run->company_code.variants[0].entry, 1);
        struct guard_fault fault = guard_take_fault();
        if (fault.signal)
            company->fault = fault;
        while (__atomic_load_n(&company->going, __ATOMIC_ACQUIRE))
            _mm_pause();
        __atomic_sub_fetch(&company->running, 1, __ATOMIC_ACQ_REL);
    }
}
